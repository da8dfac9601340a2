/* Distinct sketches and windows of them, against exact sets: keys are added in any order and again,
 * sketches of any two precisions are merged, rotated, copied, written and read. Whatever happened,
 * the cells are those that follow from the set of keys by docs/FORMAT.md, which is computed here
 * from sets of values. A call that fails changes nothing.
 *
 * ./run fuzz distinct */
#include "fuzz.h"

#include "../support/keys.h"
#include "../support/resum.h"
#include "core/bits.h"
#include "feed.h"

#include <math.h>
#include <tamis/distinct.h>
#include <tamis/hashes.h>
#include <tamis/inspect.h>

#define UNIVERSE 512u
#define BATCH 64u
#define MOST_STEPS 40u
#define GENERATIONS 4u
#define MIN_LOG 4u
#define LOGS 6u
#define MOST_VALUE 252u

struct model {
    tamis *t;
    unsigned log;
    uint32_t generations; /* 1: not a window */
    bool registers;       /* from the start, because it is or was shared, or a window */
    bool full;            /* it has, or a sketch that it was merged with had, too many tokens */
    bool in[GENERATIONS][UNIVERSE];
};

static tamis_hash universe[UNIVERSE];

/* Uniform hashes, or hostile ones, which are equal in all but a few bits. */
static void make_universe(struct feed *f)
{
    const bool hostile = feed_byte(f) % 2 != 0;
    const unsigned lo = feed_byte(f) % 64, hi = feed_byte(f) % 64;
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        uint64_t seed = i;
        universe[i] = (tamis_hash){splitmix(&seed), splitmix(&seed)};
        if (hostile)
            universe[i] = (tamis_hash){(uint64_t)(i % 32) << lo | i % 3, (uint64_t)(i / 8) << hi};
    }
}

/* --- What docs/FORMAT.md says ----------------------------------------------------------------- */

static unsigned model_value(tamis_hash h)
{
    unsigned zeros = 0;
    while (zeros < 62 && (h.lo >> (63 - zeros) & 1) == 0) zeros++;
    return 4 * zeros + (unsigned)(h.lo % 4) + 1;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The sorted tokens of a set. */
static size_t model_tokens(const bool *in, uint64_t *out)
{
    size_t n = 0, distinct = 0;
    for (uint32_t i = 0; i < UNIVERSE; i++)
        if (in[i]) out[n++] = universe[i].hi / 256 * 256 + model_value(universe[i]);
    qsort(out, n, sizeof *out, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || out[i] != out[i - 1]) out[distinct++] = out[i];
    return distinct;
}

/* The values that each register has received, a bit for each. */
static uint64_t had[1u << (MIN_LOG + LOGS - 1)][(MOST_VALUE + 64) / 64];

static void model_values(const bool *in, unsigned log)
{
    memset(had, 0, sizeof had);
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        const unsigned v = model_value(universe[i]);
        if (in[i]) had[universe[i].hi >> (64 - log)][v / 64] |= UINT64_C(1) << v % 64;
    }
}

static bool had_value(uint64_t index, unsigned v)
{
    return had[index][v / 64] >> v % 64 & 1;
}

static uint32_t model_register(uint64_t index)
{
    uint32_t word = MOST_VALUE / 64, bits = 0;
    while (word > 0 && had[index][word] == 0) word--;
    uint32_t greatest = 64 * word + 63;
    if (had[index][word] == 0) return 0;
    while (!had_value(index, greatest)) greatest--;
    for (uint32_t j = 1; j <= 24 && j < greatest; j++)
        if (had_value(index, greatest - j)) bits |= UINT32_C(1) << (24 - j);
    return greatest << 24 | bits;
}

static size_t most_of(unsigned log)
{
    return (size_t)1 << (log - 1);
}

/* --- The sketch and its model ----------------------------------------------------------------- */

/* Whether it has registers: tokens never return once there were too many. */
static bool has_registers(struct model *m)
{
    uint64_t tokens[UNIVERSE];
    if (!m->registers && model_tokens(m->in[0], tokens) > most_of(m->log)) m->full = true;
    return m->registers || m->full;
}

static void check_cells(struct model *m)
{
    const bool registers = has_registers(m);
    struct bytes image = image_of(m->t);
    uint64_t tokens[UNIVERSE] = {0};
    must(image.p != NULL && tamis__get32(image.p + 104) == m->generations, "its sections");
    must(tamis__get64(image.p + 56) == 0, "no items");
    for (uint32_t g = 0; g < m->generations; g++) {
        const uint8_t *entry = image.p + 128 + 64 * g, *cells = image.p + tamis__get64(entry + 48);
        const uint64_t length = tamis__get64(entry + 56);
        must(tamis__get64(entry + 16) == UINT64_C(1) << m->log, "its precision");
        must(tamis__get16(entry + 4) == !registers, "tokens or registers");
        const size_t n = registers ? (size_t)1 << m->log : model_tokens(m->in[g], tokens);
        must(length == (registers ? 4 * n : 8 * (n != 0 ? n : 1)), "its length");
        if (registers) model_values(m->in[g], m->log);
        for (size_t i = 0; i < n && registers; i++)
            must(tamis__get32(cells + 4 * i) == model_register(i), "a register");
        for (size_t i = 0; i < length / 8 && !registers; i++)
            must(tamis__get64(cells + 8 * i) == (i < n ? tokens[i] : 0), "a token");
    }
    free(image.p);
}

static void check_answers(struct model *m)
{
    uint8_t bits[UNIVERSE / 8];
    uint64_t tokens[UNIVERSE];
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    tamis_may_contain_hashes(m->t, universe, UNIVERSE, bits);
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        uint8_t one = 0;
        const bool maybe = bits[i / 8] >> i % 8 & 1;
        for (uint32_t g = 0; g < m->generations; g++) must(maybe || !m->in[g][i], "no wrong no");
        tamis_may_contain_hashes(m->t, &universe[i], 1, &one);
        must(maybe == (one == 1), "bulk and single agree");
    }
    must(tamis_distinct(m->t, &n, NULL) == TAMIS_OK, "it can be estimated");
    must(n.low <= n.value && n.value <= n.high && n.value >= 0 && !isnan(n.value), "an interval");
    if (has_registers(m)) return;
    must(n.exact && n.value == (double)model_tokens(m->in[0], tokens), "exact");
}

static void model_create(struct model *m, struct feed *f)
{
    const uint8_t how = feed_byte(f);
    memset(m, 0, sizeof *m);
    m->log = MIN_LOG + feed_byte(f) % LOGS;
    const bool shared = how % 4 == 1;
    const tamis_options o = {.struct_size = sizeof o, .flags = shared ? TAMIS_SHARED : 0u};
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = TAMIS_DISTINCT,
                    .flags = TAMIS_HASH_CALLER,
                    .m = UINT64_C(1) << m->log};
    m->generations = how < 128 ? 1 : 2 + how % (GENERATIONS - 1);
    m->registers = shared || m->generations > 1;
    if (m->generations > 1) {
        p.kind = TAMIS_WINDOW;
        p.inner_kind = TAMIS_DISTINCT;
        p.generations = m->generations;
    }
    must(tamis_create(&p, &o, &m->t, NULL) == TAMIS_OK, "it can be made");
}

/* --- Steps ------------------------------------------------------------------------------------ */

static bool is_member(const struct model *m, uint32_t i)
{
    for (uint32_t g = 0; g < m->generations; g++)
        if (m->in[g][i]) return true;
    return false;
}

static void add_some(struct model *m, struct feed *f, bool many)
{
    tamis_hash batch[BATCH];
    uint32_t which[BATCH], n = many ? 1 + feed_below(f, BATCH) : 1;
    const uint32_t first = feed_below(f, UNIVERSE), step = many ? feed_byte(f) : 0;
    uint8_t seen[BATCH / 8] = {0};
    size_t done = 0;
    for (uint32_t i = 0; i < n; i++) {
        which[i] = (first + i * step) % UNIVERSE;
        batch[i] = universe[which[i]];
    }
    const bool asked = feed_byte(f) % 2 != 0;
    must(tamis_add_hashes(m->t, batch, n, asked ? seen : NULL, &done) == TAMIS_OK, "it is added");
    must(done == n, "all of them");
    for (uint32_t i = 0; i < n; i++) {
        must(!asked || (seen[i / 8] >> i % 8 & 1) || !is_member(m, which[i]), "seen, so said");
        m->in[0][which[i]] = true;
    }
}

static void merge(struct model *into, struct model *from)
{
    const tamis_status s = tamis_merge(into->t, from->t, NULL);
    if (into->generations != from->generations) {
        must(s == TAMIS_EMISMATCH, "windows of other lengths are refused");
        return;
    }
    must(s == TAMIS_OK, "they can be merged");
    into->full = has_registers(into) || has_registers(from);
    if (from->log < into->log) into->log = from->log;
    for (uint32_t g = 0; g < into->generations; g++)
        for (uint32_t i = 0; i < UNIVERSE; i++) into->in[g][i] |= from->in[g][i];
}

static void rotate(struct model *m)
{
    const tamis_status s = tamis_rotate(m->t, NULL);
    must(s == (m->generations > 1 ? TAMIS_OK : TAMIS_EUNSUPPORTED), "only windows rotate");
    if (s != TAMIS_OK) return;
    for (uint32_t g = m->generations - 1; g > 0; g--)
        memcpy(m->in[g], m->in[g - 1], sizeof m->in[g]);
    memset(m->in[0], 0, sizeof m->in[0]);
}

static void replace(struct model *m, bool by_copy)
{
    tamis *t;
    if (by_copy) {
        must(tamis_copy(m->t, &t, NULL) == TAMIS_OK, "it can be copied");
    } else {
        struct bytes image = image_of(m->t);
        must(tamis_load(image.p, image.n, NULL, &t, NULL) == TAMIS_OK, "what it writes, it reads");
        m->full = has_registers(m);
        m->registers = m->generations > 1; /* it is no longer shared */
        free(image.p);
    }
    tamis_close(m->t);
    m->t = t;
}

static void clear(struct model *m)
{
    must(tamis_clear(m->t) == TAMIS_OK, "it can be cleared");
    m->full = false;
    memset(m->in, 0, sizeof m->in);
}

static void compare(const struct model *a, const struct model *b)
{
    tamis_similarity s = {.struct_size = sizeof s};
    const tamis_status status = tamis_compare(a->t, b->t, &s, NULL);
    must(status == (a->generations == b->generations ? TAMIS_OK : TAMIS_EMISMATCH), "compared");
    if (status != TAMIS_OK) return;
    must(s.union_low <= s.union_high && s.common_low <= s.common_high, "intervals");
    must(s.common_items <= s.union_items, "a part of the union");
    must(s.jaccard_low >= 0 && s.jaccard_high <= 1 && s.first_only_low <= s.first_only_high,
         "intervals in range");
}

static void step(struct model *m, struct model *other, struct feed *f)
{
    switch (feed_byte(f) % 16) {
    case 0:
    case 1:
    case 2:
    case 3: add_some(m, f, false); break;
    case 4: merge(m, other); break;
    case 5: rotate(m); break;
    case 6: replace(m, true); break;
    case 7: replace(m, false); break;
    case 8: clear(m); break;
    case 9: compare(m, other); break;
    default: add_some(m, f, true); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model models[2];
    struct feed f = {data, size};
    make_universe(&f);
    model_create(&models[0], &f);
    model_create(&models[1], &f);
    for (unsigned i = 0; i < MOST_STEPS && f.left > 0; i++) {
        struct model *m = &models[feed_byte(&f) % 2];
        step(m, m == models ? models + 1 : models, &f);
        check_cells(m);
    }
    for (unsigned i = 0; i < 2; i++) {
        check_cells(&models[i]);
        check_answers(&models[i]);
        tamis_close(models[i].t);
    }
    return 0;
}
