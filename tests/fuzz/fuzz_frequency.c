/* Sketches against an exact table: weights of either sign and of any size, merges, rotations and
 * images. A count that is promised never to be too low is not, a certain interval contains the
 * truth, a key alone is counted exactly, and no item that occurred often enough is missing from a
 * list. An add returns the count that a query right after it returns.
 *
 * ./run fuzz frequency */
#include "fuzz.h"

#include "../support/resum.h"
#include "plans.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#define KEYS 64u
#define BATCH 24u
#define MOST_STEPS 120u
#define MOST_LOOKS 6u /* each measures the noise, which takes longer than all the rest */
#define GENERATIONS 6u

__extension__ typedef __int128 exact; /* no sum of weights leaves it */

struct model {
    tamis *t;
    exact of[GENERATIONS][KEYS]; /* the newest first */
    bool ever[KEYS];
    bool spoiled;   /* more was taken from a key than it had, which harms others */
    uint64_t epoch; /* of a window; 0: none */
    exact moved;    /* the sum of all weights without their signs */
};

static tamis_plan plan;
static bool two_sided;
static tamis_bytes keys[KEYS];
static tamis_hash hashes[KEYS];
static uint8_t texts[KEYS][5000];

static const struct {
    uint32_t kind, inner;
} KINDS[] = {{TAMIS_COUNT_MIN, 0},
             {TAMIS_COUNT_SKETCH, 0},
             {TAMIS_TALLY, 0},
             {TAMIS_TOP, 0},
             {TAMIS_SIGNED_TALLY, 0},
             {TAMIS_WINDOW, TAMIS_COUNT_MIN},
             {TAMIS_WINDOW, TAMIS_TALLY},
             {TAMIS_WINDOW, TAMIS_TOP},
             {TAMIS_WINDOW, TAMIS_COUNT_SKETCH},
             {TAMIS_WINDOW, TAMIS_SIGNED_TALLY}};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static void make_keys(void)
{
    static const uint16_t lengths[] = {1, 3, 8, 20, 90, 300, 4096, 5000};
    for (uint32_t i = 0; i < KEYS; i++) {
        for (size_t b = 0; b < sizeof texts[i]; b++) texts[i][b] = (uint8_t)(i + b);
        keys[i] = (tamis_bytes){texts[i], i == 0 ? 0 : lengths[i % 8]};
    }
}

static bool by_hash(void)
{
    return (plan.flags & TAMIS_HASH_CALLER) != 0;
}

static bool lists(void)
{
    return plan.kind == TAMIS_TOP || plan.inner_kind == TAMIS_TOP;
}

static exact truth(const struct model *m, uint32_t i)
{
    exact sum = 0;
    for (uint32_t g = 0; g < GENERATIONS; g++) sum += m->of[g][i];
    return sum;
}

/* --- What is promised ------------------------------------------------------------------------- */

/* Whether nobody else has ever been here. */
static bool is_alone(const struct model *m, uint32_t i)
{
    for (uint32_t j = 0; j < KEYS; j++)
        if (j != i && m->ever[j]) return false;
    return true;
}

static void check_estimate(const struct model *m, uint32_t i, const tamis_estimate *e)
{
    const exact true_count = truth(m, i);
    must(e->lower <= e->estimate && e->estimate <= e->upper, "an interval");
    if (m->spoiled) return;
    must(two_sided || e->upper >= true_count || e->upper == INT64_MAX, "never too few");
    must(e->confidence < 1 || e->lower <= true_count || e->lower == INT64_MIN,
         "what is certain is true");
    if (m->moved > INT32_MAX || !is_alone(m, i)) return;
    must((two_sided ? e->estimate : e->upper) == true_count, "a key alone is counted exactly");
}

/* Without an interval. */
static int64_t upper(const struct model *m, uint32_t i)
{
    int64_t v;
    tamis_upper_hashes(m->t, &hashes[i], 1, &v);
    must(tamis_upper(m->t, keys[i].p, keys[i].len) == (by_hash() ? INT64_MAX : v),
         "a key is counted as its hash");
    return v;
}

static void check_uppers(const struct model *m, const tamis_estimate *e)
{
    int64_t of_hashes[KEYS], of_keys[KEYS];
    tamis_upper_hashes(m->t, hashes, KEYS, of_hashes);
    tamis_upper_many(m->t, keys, KEYS, of_keys);
    for (uint32_t i = 0; i < KEYS; i++) {
        const bool middle = two_sided && e[i].upper < INT64_MAX;
        /* The upper end of an interval may reach INT64_MAX by its margin. */
        must(of_hashes[i] == (middle ? e[i].estimate : e[i].upper) ||
                 (two_sided && of_hashes[i] == e[i].estimate),
             "a count without an interval is in it");
        must(of_keys[i] == (by_hash() ? INT64_MAX : of_hashes[i]), "keys are counted as hashes");
    }
}

static void count(const struct model *m)
{
    tamis_estimate e[KEYS], one;
    const tamis_status s = by_hash() ? tamis_count_hashes(m->t, hashes, KEYS, e, NULL)
                                     : tamis_count_many(m->t, keys, KEYS, e, NULL);
    must(s == TAMIS_OK, "counts");
    for (uint32_t i = 0; i < KEYS; i++) check_estimate(m, i, &e[i]);
    check_uppers(m, e);
    const uint32_t last = KEYS - 1;
    if (by_hash()) return;
    must(tamis_count(m->t, keys[last].p, keys[last].len, &one, NULL) == TAMIS_OK, "counts one");
    must(one.estimate == e[last].estimate && one.lower == e[last].lower &&
             one.upper == e[last].upper,
         "one is as many");
}

/* Which key an entry of a list is; the fuzzer cannot make two of a print. */
static uint32_t listed_key(const tamis_heavy *h)
{
    uint32_t i = 0;
    while (i < KEYS && hashes[i].lo != h->hash) i++;
    must(i < KEYS, "only what was added is listed");
    if (h->item.p == NULL) return i;
    must(h->length == keys[i].len && h->item.len <= h->length, "the length of the whole item");
    must(memcmp(h->item.p, keys[i].p, h->item.len) == 0, "the beginning of its text");
    return i;
}

static void check_list(const struct model *m, const tamis_heavy *list, size_t n)
{
    bool there[KEYS] = {false};
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = listed_key(&list[i]);
        must(!there[key], "each is listed once");
        there[key] = true;
        check_estimate(m, key, &list[i].count);
        must(i == 0 || list[i - 1].count.estimate >= list[i].count.estimate, "in order");
    }
}

static void list(const struct model *m, struct feed *f)
{
    tamis_heavy top[KEYS], above[KEYS];
    size_t found = 0;
    tamis_error why = {0};
    tamis_facts x = {.struct_size = sizeof x};
    const int64_t weight = feed_weight(f);
    must(tamis_info(m->t, &x) == TAMIS_OK, "info");
    const size_t n = tamis_top(m->t, top, KEYS);
    must(n == tamis_top(m->t, NULL, 0) && (lists() || n == 0), "as many as there are");
    check_list(m, top, n);
    const tamis_status s = tamis_above(m->t, weight, above, KEYS, &found, &why);
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    must(!lists() || (s == TAMIS_OK) == (weight >= x.list_floor), "from the floor on");
    if (s != TAMIS_OK) return;
    must(found <= n, "no more than are listed");
    check_list(m, above, found);
    for (uint32_t i = 0; i < KEYS; i++) {
        bool there = false;
        for (size_t j = 0; j < found; j++) there = there || above[j].hash == hashes[i].lo;
        must(there || truth(m, i) < weight || truth(m, i) == 0, "whoever came so often is listed");
    }
}

static void look(const struct model *m, struct feed *f)
{
    tamis_facts x = {.struct_size = sizeof x};
    exact sum = 0;
    count(m);
    list(m, f);
    must(tamis_info(m->t, &x) == TAMIS_OK, "info");
    must(x.noise_median <= x.noise_99 && x.noise_99 <= x.noise_999, "noise in order");
    must(x.fill >= 0 && x.fill <= 1, "a share");
    must(x.epoch == m->epoch, "the epoch is kept");
    for (uint32_t i = 0; i < KEYS; i++) sum += truth(m, i);
    must(m->moved > INT64_MAX || m->spoiled || x.weight == sum, "the weight of all");
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void was_added(struct model *m, uint32_t i, int64_t w)
{
    const bool too_much = !two_sided && m->of[0][i] + w < 0;
    m->of[0][i] += w;
    m->moved += w < 0 ? -(exact)w : w;
    m->ever[i] = true;
    m->spoiled = m->spoiled || too_much;
}

static void may_refuse(const struct model *m, tamis_status s, uint32_t i, int64_t w)
{
    must(w < 0, "only what takes away is refused");
    if (s == TAMIS_EABSENT)
        must(m->spoiled || truth(m, i) + w < 0, "what is there can be taken away");
    else
        must(s == TAMIS_EUNSUPPORTED, "or never");
}

static void add_one(struct model *m, struct feed *f)
{
    const uint32_t i = feed_below(f, KEYS);
    const int64_t w = feed_weight(f);
    tamis_error why = {0};
    struct bytes before = image_of(m->t);
    int64_t count = -1;
    const tamis_status s =
        by_hash() ? tamis_add_counted_hashes(m->t, &hashes[i], &w, 1, &count, NULL, &why)
                  : tamis_add_counted(m->t, keys[i].p, keys[i].len, w, &count, &why);
    must(count == (s == TAMIS_OK ? upper(m, i) : INT64_MAX), "the count after an add");
    if (s == TAMIS_OK) {
        was_added(m, i, w);
    } else {
        struct bytes after = image_of(m->t);
        must(why.text[0] != '\0', "a reason has words");
        must(bytes_equal(before, after), "a failed add changes nothing");
        may_refuse(m, s, i, w);
        free(after.p);
    }
    free(before.p);
}

/* A batch has the counts that its keys get one by one. */
static void check_batch(tamis *t, const uint32_t *which, const int64_t *w, size_t n,
                        const int64_t *counts, size_t done)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = which[i];
        int64_t count = INT64_MAX;
        if (i < done && by_hash())
            tamis_add_counted_hashes(t, &hashes[key], &w[i], 1, &count, NULL, NULL);
        else if (i < done)
            tamis_add_counted(t, keys[key].p, keys[key].len, w[i], &count, NULL);
        must(counts[i] == count, "a batch is counted as its keys are");
    }
}

static void add_batch(struct model *m, struct feed *f)
{
    tamis_bytes k[BATCH];
    tamis_hash h[BATCH];
    int64_t w[BATCH];
    uint32_t which[BATCH];
    size_t done;
    const uint32_t n = feed_below(f, BATCH + 1);
    const bool plain = feed_byte(f) % 4 == 0; /* each counts 1 */
    tamis *before;
    must(tamis_copy(m->t, &before, NULL) == TAMIS_OK, "copy");
    for (uint32_t i = 0; i < n; i++) {
        which[i] = feed_below(f, KEYS);
        w[i] = plain ? 1 : feed_weight(f);
        k[i] = keys[which[i]];
        h[i] = hashes[which[i]];
    }
    const int64_t *weights = plain ? NULL : w;
    const bool hashed = by_hash() || (!lists() && feed_byte(f) % 2 == 0);
    int64_t counts[BATCH];
    const tamis_status s = hashed
                               ? tamis_add_counted_hashes(m->t, h, weights, n, counts, &done, NULL)
                               : tamis_add_counted_many(m->t, k, weights, n, counts, &done, NULL);
    must(done <= n && (s == TAMIS_OK) == (done == n), "done tells how many");
    check_batch(before, which, w, n, counts, done);
    tamis_close(before);
    for (size_t i = 0; i < done; i++) was_added(m, which[i], w[i]);
    if (s != TAMIS_OK) may_refuse(m, s, which[done], w[done]);
}

static void merge(struct model *into, const struct model *from)
{
    const bool differ = into->epoch != 0 && from->epoch != 0 && into->epoch != from->epoch;
    const tamis_status s = tamis_merge(into->t, from->t, NULL);
    must(s == (differ ? TAMIS_EMISMATCH : TAMIS_OK), "sketches of a plan merge, at one epoch");
    if (s != TAMIS_OK) return;
    if (into->epoch == 0) into->epoch = from->epoch;
    for (uint32_t g = 0; g < GENERATIONS; g++)
        for (uint32_t i = 0; i < KEYS; i++) into->of[g][i] += from->of[g][i];
    for (uint32_t i = 0; i < KEYS; i++) into->ever[i] |= from->ever[i];
    into->spoiled |= from->spoiled;
    into->moved += from->moved;
}

static void was_rotated(struct model *m)
{
    memmove(&m->of[1], &m->of[0], (GENERATIONS - 1) * sizeof m->of[0]);
    memset(&m->of[0], 0, sizeof m->of[0]);
    /* What has left the window is forgotten. */
    for (uint32_t g = plan.generations; g < GENERATIONS; g++) memset(&m->of[g], 0, sizeof m->of[g]);
}

static void rotate(struct model *m)
{
    const tamis_status s = tamis_rotate(m->t, NULL);
    must((s == TAMIS_OK) == (plan.kind == TAMIS_WINDOW), "a window rotates, and nothing else");
    if (s == TAMIS_OK) was_rotated(m);
}

/* Epochs a little earlier and later, the last one, and none. */
static void rotate_to(struct model *m, struct feed *f)
{
    const uint8_t ahead = feed_byte(f);
    const uint64_t epoch = ahead == 255 ? UINT64_MAX : ahead == 254 ? 0 : m->epoch + ahead - 20;
    const tamis_status s = tamis_rotate_to(m->t, epoch, NULL);
    const tamis_status expected = plan.kind != TAMIS_WINDOW        ? TAMIS_EUNSUPPORTED
                                  : epoch == 0 || epoch < m->epoch ? TAMIS_EINVAL
                                                                   : TAMIS_OK;
    must(s == expected, "forwards, in a window");
    if (s != TAMIS_OK) return;
    const uint64_t due = m->epoch == 0 ? 0 : epoch - m->epoch;
    for (uint64_t i = 0; i < due && i < GENERATIONS; i++) was_rotated(m);
    m->epoch = epoch;
}

static void renew(struct model *m, uint8_t how)
{
    struct bytes image = image_of(m->t);
    const tamis_options o = {.struct_size = sizeof o};
    tamis *again;
    must(image.p != NULL, "write");
    if (how % 3 == 0) {
        must(tamis_copy(m->t, &again, NULL) == TAMIS_OK, "copy");
    } else if (how % 3 == 1) {
        must(tamis_load(image.p, image.n, &o, &again, NULL) == TAMIS_OK, "load");
    } else {
        struct bytes packed = packed_of(m->t);
        must(packed.p != NULL, "no bigger than promised");
        must(tamis_unpack(packed.p, packed.n, &o, &again, NULL) == TAMIS_OK, "unpack");
        free(packed.p);
    }
    struct bytes second = image_of(again);
    must(bytes_equal(image, second), "the same bytes");
    free(image.p);
    free(second.p);
    tamis_close(m->t);
    m->t = again;
}

static void clear(struct model *m)
{
    tamis *t = m->t;
    must(tamis_clear(t) == TAMIS_OK, "clear");
    *m = (struct model){.t = t};
}

static void step(struct model *m, struct model *other, struct feed *f, unsigned *looks)
{
    const uint8_t what = feed_byte(f);
    if (what < 110)
        add_one(m, f);
    else if (what < 170)
        add_batch(m, f);
    else if (what < 190)
        rotate(m);
    else if (what < 200)
        rotate_to(m, f);
    else if (what < 215)
        merge(m, other);
    else if (what < 230)
        renew(m, what);
    else if (what < 234)
        clear(m);
    else if (++*looks < MOST_LOOKS)
        look(m, f);
}

/* --- One input -------------------------------------------------------------------------------- */

/* The keys' own hashes, or a caller's that are nearly alike. */
static void make_hashes(const tamis *t, struct feed *f)
{
    const unsigned lo = feed_byte(f) % 64, hi = feed_byte(f) % 64;
    for (uint32_t i = 0; i < KEYS; i++)
        hashes[i] = (tamis_hash){(uint64_t)i << lo, (uint64_t)i << hi};
    if (!by_hash()) must(tamis_hash_many(t, keys, KEYS, hashes) == TAMIS_OK, "hash");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model a, b;
    struct feed f = {data, size};
    const uint8_t first = feed_byte(&f);
    tamis_plan asked = feed_plan(&f, KINDS[first % N_KINDS].kind);
    tamis_options o = {.struct_size = sizeof o, .max_bytes = PLAN_BYTES};
    unsigned looks = 0;
    asked.inner_kind = KINDS[first % N_KINDS].inner;
    if (asked.kind == TAMIS_WINDOW) asked.generations = 2 + asked.generations % (GENERATIONS - 1);
    if (keys[0].p == NULL) make_keys();
    if (!solve_plan(&asked, &plan)) return 0;
    /* A shared handle gives the same answers. Top, windows of sketches and some others cannot. */
    if (size % 2 != 0 && plan.kind != TAMIS_TOP && plan.kind != TAMIS_WINDOW &&
        (plan.flags & TAMIS_CONSERVATIVE) == 0)
        o.flags = TAMIS_SHARED;
    a = b = (struct model){0};
    if (tamis_create(&plan, &o, &a.t, NULL) == TAMIS_OK &&
        tamis_create(&plan, &o, &b.t, NULL) == TAMIS_OK) {
        const uint32_t inner = plan.kind == TAMIS_WINDOW ? plan.inner_kind : plan.kind;
        two_sided = inner == TAMIS_COUNT_SKETCH || inner == TAMIS_SIGNED_TALLY;
        make_hashes(a.t, &f);
        for (unsigned i = 0; f.left > 0 && i < MOST_STEPS; i++)
            step(first < 128 || i % 2 == 0 ? &a : &b, first < 128 || i % 2 == 0 ? &b : &a, &f,
                 &looks);
        look(&a, &f);
    }
    tamis_close(a.t);
    tamis_close(b.t);
    return 0;
}
