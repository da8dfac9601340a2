/* Filters that change, against an exact multiset: they are planned, added to, removed from, merged,
 * rotated, copied, converted, packed, written and read, in any order. No member gets a "no", and a
 * call that fails changes nothing.
 *
 * ./run fuzz ops */
#include "fuzz.h"

#include "../support/keys.h"
#include "../support/resum.h"
#include "plans.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#define UNIVERSE 256u
#define BATCH 40u
#define MOST_STEPS 300u

struct model {
    tamis *t;
    uint32_t count[UNIVERSE]; /* adds less removes */
    uint32_t born[UNIVERSE];  /* window: the rotation of the last add */
    uint32_t rotations;
    uint64_t epoch; /* of the window; 0: none */
    bool may_miss;  /* only what was just added is certain */
};

static tamis_plan plan;
static tamis_options options;
static tamis_facts facts;
static tamis_hash hashes[UNIVERSE];
static tamis_bytes keys[UNIVERSE];
static uint8_t key_bytes[UNIVERSE][40];

static const uint32_t KINDS[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED, TAMIS_COUNTING,
                                 TAMIS_PAIR,  TAMIS_GROWING,     TAMIS_WINDOW,  TAMIS_CUCKOO};

static bool by_hash(void)
{
    return (plan.flags & TAMIS_HASH_CALLER) != 0;
}

/* Keys of many lengths; hashes that are uniform, or hostile: equal in all but a few bits. */
static void make_universe(const tamis *t, struct feed *f)
{
    const bool hostile = feed_byte(f) % 2 != 0;
    const unsigned lo = feed_byte(f) % 64, hi = feed_byte(f) % 64;
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        uint64_t seed = i;
        for (size_t b = 0; b < sizeof key_bytes[i]; b++) key_bytes[i][b] = (uint8_t)(i + b * b);
        keys[i] = (tamis_bytes){key_bytes[i], i == 0 ? 0 : 1 + i % 39};
        hashes[i] = (tamis_hash){splitmix(&seed), splitmix(&seed)};
        if (hostile) hashes[i] = (tamis_hash){(uint64_t)(i % 8) << lo, (uint64_t)(i / 8) << hi};
    }
    if (!by_hash())
        must(tamis_hash_many(t, keys, UNIVERSE, hashes) == TAMIS_OK, "keys can be hashed");
}

static bool is_in(const struct model *m, uint32_t i)
{
    if (m->may_miss) return false;
    if (facts.kind == TAMIS_WINDOW)
        return m->count[i] > 0 && m->rotations - m->born[i] < plan.generations;
    return m->count[i] > 0;
}

static bool has(const tamis *t, uint32_t i)
{
    uint8_t bit;
    if (!by_hash()) return tamis_may_contain(t, keys[i].p, keys[i].len);
    return tamis_may_contain_hashes(t, &hashes[i], 1, &bit) == 1;
}

static void check_all(const struct model *m)
{
    uint8_t bits[UNIVERSE / 8];
    const size_t n = tamis_may_contain_hashes(m->t, hashes, UNIVERSE, bits);
    size_t set = 0;
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        const bool yes = bits[i / 8] >> i % 8 & 1;
        must(yes || !is_in(m, i), "never a wrong no");
        must(yes == has(m->t, i), "bulk and single agree");
        set += yes;
    }
    must(set == n, "as many as were counted");
    must(tamis_may_contain_hashes(m->t, hashes, UNIVERSE, NULL) == n, "without bits as many");
}

static void was_added(struct model *m, uint32_t i, bool seen)
{
    must(seen || !is_in(m, i), "seen before, so said");
    m->count[i]++;
    m->born[i] = m->rotations;
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void may_fail_to_add(tamis_status s)
{
    must(s == TAMIS_OK || s == TAMIS_EFULL || s == TAMIS_ENOMEM || s == TAMIS_ESEALED,
         "added, or full, or sealed");
}

static void add_one(struct model *m, struct feed *f)
{
    const uint32_t i = feed_below(f, UNIVERSE);
    bool seen = false;
    uint8_t bit = 0;
    struct bytes before = image_of(m->t);
    const tamis_status s = by_hash() ? tamis_add_hashes(m->t, &hashes[i], 1, &bit, NULL)
                                     : tamis_add(m->t, keys[i].p, keys[i].len, &seen);
    may_fail_to_add(s);
    if (s == TAMIS_OK) {
        was_added(m, i, seen || bit != 0);
        must(has(m->t, i), "what was just added is in");
    } else {
        struct bytes after = image_of(m->t);
        must(bytes_equal(before, after), "a failed add changes nothing");
        free(after.p);
    }
    free(before.p);
}

/* The same keys to a copy, by a caller that does not want to know which were there. */
static void must_be_added(tamis *t, const tamis_hash *h, const tamis_bytes *k, size_t n,
                          tamis_status wanted, size_t wanted_done)
{
    size_t done = n;
    const tamis_status s =
        h != NULL ? tamis_add_hashes(t, h, n, NULL, &done) : tamis_add_many(t, k, n, NULL, &done);
    must(s == wanted && done == wanted_done, "added as far, asked or not");
}

static void add_batch(struct model *m, struct feed *f)
{
    uint32_t which[BATCH];
    tamis_bytes k[BATCH];
    tamis_hash h[BATCH];
    uint8_t seen[BATCH / 8 + 1];
    const uint32_t n = feed_below(f, BATCH + 1), first = feed_below(f, UNIVERSE),
                   stride = feed_byte(f);
    size_t done = n;
    for (uint32_t i = 0; i < n; i++) {
        which[i] = (first + i * stride) % UNIVERSE;
        k[i] = keys[which[i]];
        h[i] = hashes[which[i]];
    }
    const bool hashed = by_hash() || feed_byte(f) % 2 == 0;
    tamis *unasked;
    must(tamis_copy(m->t, &unasked, NULL) == TAMIS_OK, "a copy");
    const tamis_status s = hashed ? tamis_add_hashes(m->t, h, n, seen, &done)
                                  : tamis_add_many(m->t, k, n, seen, &done);
    may_fail_to_add(s);
    must_be_added(unasked, hashed ? h : NULL, k, n, s, done);
    struct bytes asked = image_of(m->t), not_asked = image_of(unasked);
    must(bytes_equal(asked, not_asked), "the same bytes, asked or not");
    free(asked.p);
    free(not_asked.p);
    tamis_close(unasked);
    must(done <= n && (s != TAMIS_OK || done == n), "done tells how many");
    for (uint32_t i = 0; i < done; i++) was_added(m, which[i], seen[i / 8] >> i % 8 & 1);
}

static void was_removed(struct model *m, uint32_t i)
{
    if (m->count[i] > 0) m->count[i]--;
    /* In a pair, removing one key may hide another. */
    if (facts.kind == TAMIS_PAIR) m->may_miss = true;
}

static tamis_status remove_key(tamis *t, uint32_t i, tamis_error *why)
{
    uint8_t absent = 0;
    if (!by_hash()) return tamis_remove(t, keys[i].p, keys[i].len, why);
    const tamis_status s = tamis_remove_hashes(t, &hashes[i], 1, &absent, why);
    if (s != TAMIS_OK || absent == 0) return s;
    why->text[0] = '-'; /* of many, the bit is the reason */
    return TAMIS_EABSENT;
}

/* A key that is in goes; one that is certainly not in is refused; others belong to somebody and
 * stay. */
static void remove_one(struct model *m, struct feed *f)
{
    const uint32_t i = feed_below(f, UNIVERSE);
    tamis_error why = {0};
    if (m->count[i] == 0 && has(m->t, i)) return;
    struct bytes before = image_of(m->t);
    const tamis_status s = remove_key(m->t, i, &why);
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    if (s == TAMIS_OK) {
        must(m->count[i] > 0, "a key that is not in cannot be removed");
        was_removed(m, i);
    } else if (s == TAMIS_EABSENT) {
        must(m->may_miss || m->count[i] == 0, "what is in can be removed");
    } else {
        must(s == TAMIS_EUNSUPPORTED || s == TAMIS_ESEALED || s == TAMIS_EFULL, "a reason");
        must(s != TAMIS_EUNSUPPORTED || tamis_kind_name(why.better_kind) != NULL, "a better kind");
    }
    struct bytes after = image_of(m->t);
    must(s == TAMIS_OK || bytes_equal(before, after), "a failed remove changes nothing");
    free(after.p);
    free(before.p);
}

static void remove_batch(struct model *m, struct feed *f)
{
    tamis_hash h[BATCH];
    uint32_t which[BATCH], n = 0;
    uint8_t absent[BATCH / 8 + 1] = {0};
    const uint32_t first = feed_below(f, UNIVERSE), most = feed_below(f, BATCH + 1);
    for (uint32_t i = first; i < UNIVERSE && n < most; i++) {
        if (m->count[i] == 0) continue;
        which[n] = i;
        h[n++] = hashes[i];
    }
    const tamis_status s = tamis_remove_hashes(m->t, h, n, absent, NULL);
    if (s != TAMIS_OK && s != TAMIS_EFULL && s != TAMIS_EABSENT) return;
    for (uint32_t i = 0; i < n; i++) {
        const bool missed = absent[i / 8] >> i % 8 & 1;
        must(!missed || facts.kind == TAMIS_PAIR, "what is in can be removed");
        was_removed(m, which[i]);
    }
}

static void merge(struct model *into, const struct model *from)
{
    tamis_error why = {0};
    struct bytes before = image_of(into->t);
    const tamis_status s = tamis_merge(into->t, from->t, &why);
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    if (s != TAMIS_OK) {
        struct bytes after = image_of(into->t);
        must(bytes_equal(before, after), "a failed merge changes nothing");
        free(after.p);
    }
    free(before.p);
    if (into->epoch != 0 && from->epoch != 0 && into->epoch != from->epoch)
        must(s == TAMIS_EMISMATCH, "windows of one epoch merge");
    if (s != TAMIS_OK) return;
    if (into->epoch == 0) into->epoch = from->epoch;
    into->may_miss |= from->may_miss;
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        /* Generations of equal age come together. */
        const uint32_t age = from->rotations - from->born[i];
        const bool younger = into->count[i] == 0 || age < into->rotations - into->born[i];
        if (from->count[i] > 0 && younger) into->born[i] = into->rotations - age;
        into->count[i] += from->count[i];
    }
}

static void replace(struct model *m, tamis *by)
{
    tamis_close(m->t);
    m->t = by;
}

/* By copy, by load, by view and copy, by pack and unpack: the same bytes each time. */
static void renew(struct model *m, uint8_t how)
{
    struct bytes image = image_of(m->t), second;
    tamis *again, *view;
    tamis_options o = options;
    o.flags = 0;
    must(image.p != NULL, "write");
    if (how % 4 == 0) {
        must(tamis_copy(m->t, &again, NULL) == TAMIS_OK, "copy");
    } else if (how % 4 == 1) {
        must(tamis_load(image.p, image.n, &o, &again, NULL) == TAMIS_OK, "load");
    } else if (how % 4 == 2) {
        must(tamis_view(image.p, image.n, &o, &view, NULL) == TAMIS_OK, "view");
        must(tamis_copy(view, &again, NULL) == TAMIS_OK, "copy of a view");
        tamis_close(view);
    } else {
        struct bytes packed = packed_of(m->t);
        must(packed.p != NULL, "no bigger than promised");
        must(tamis_unpack(packed.p, packed.n, &o, &again, NULL) == TAMIS_OK, "unpack");
        free(packed.p);
    }
    second = image_of(again);
    must(bytes_equal(image, second), "the same bytes");
    free(image.p);
    free(second.p);
    replace(m, again);
}

static void convert(const struct model *m)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_CUCKOO; kind++) {
        tamis *plain;
        tamis_error why = {0};
        const tamis_status s = tamis_convert(m->t, kind, &plain, &why);
        must((s == TAMIS_OK) == (plain != NULL), "a handle or a reason");
        must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
        for (uint32_t i = 0; i < UNIVERSE && s == TAMIS_OK; i++)
            must(has(plain, i) == has(m->t, i), "the same answers");
        tamis_close(plain);
    }
}

static void look(const struct model *m, const struct model *other)
{
    tamis_facts x = {.struct_size = sizeof x};
    tamis_similarity like = {.struct_size = sizeof like};
    must(tamis_info(m->t, &x) == TAMIS_OK, "info");
    must(x.fill >= 0 && x.fill <= 1 && x.fpr_now >= 0 && x.fpr_now <= 1, "shares are shares");
    must(x.fpr_now_low <= x.fpr_now && x.fpr_now <= x.fpr_now_high, "a rate in its interval");
    must(x.items_low <= x.items_estimate && x.items_estimate <= x.items_high,
         "an estimate in its interval");
    must(x.bytes == tamis_image_size(m->t), "as long as it says");
    if (tamis_compare(m->t, other->t, &like, NULL) == TAMIS_OK)
        must(like.jaccard_low <= like.jaccard && like.jaccard <= like.jaccard_high &&
                 like.jaccard_low >= 0 && like.jaccard_high <= 1,
             "likeness in its interval");
    for (uint32_t i = 0; i < UNIVERSE; i += 16) {
        tamis_estimate e;
        if (tamis_count_hashes(m->t, &hashes[i], 1, &e, NULL) != TAMIS_OK) continue;
        must(e.lower <= e.estimate && e.estimate <= e.upper, "an interval");
        must(e.upper >= (int64_t)m->count[i], "a count is never too low");
    }
}

static void rotate(struct model *m)
{
    const tamis_status s = tamis_rotate(m->t, NULL);
    must(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EUNSUPPORTED, "rotate");
    must(s != TAMIS_OK || facts.kind == TAMIS_WINDOW, "only a window rotates");
    if (s == TAMIS_OK) m->rotations++;
}

/* Epochs a little earlier and later, the last one, and none. */
static void rotate_to(struct model *m, struct feed *f)
{
    const uint8_t ahead = feed_byte(f);
    const uint64_t epoch = ahead == 255 ? UINT64_MAX : ahead == 254 ? 0 : m->epoch + ahead - 20;
    tamis_facts x = {.struct_size = sizeof x};
    tamis_error why = {0};
    must(tamis_stat(m->t, &x) == TAMIS_OK && x.epoch == m->epoch, "the epoch is kept");
    struct bytes before = image_of(m->t);
    const tamis_status s = tamis_rotate_to(m->t, epoch, &why);
    const tamis_status expected = facts.kind != TAMIS_WINDOW       ? TAMIS_EUNSUPPORTED
                                  : x.read_only                    ? TAMIS_ESEALED
                                  : epoch == 0 || epoch < m->epoch ? TAMIS_EINVAL
                                                                   : TAMIS_OK;
    must(s == expected, "forwards, in a window");
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    struct bytes after = image_of(m->t);
    must(bytes_equal(before, after) == (s != TAMIS_OK || epoch == m->epoch),
         "what fails, and the same epoch, change nothing");
    free(after.p);
    free(before.p);
    if (s != TAMIS_OK) return;
    const uint64_t due = m->epoch == 0 ? 0 : epoch - m->epoch;
    m->rotations += due < plan.generations ? (uint32_t)due : plan.generations;
    m->epoch = epoch;
}

static void clear(struct model *m)
{
    tamis *t = m->t;
    if (tamis_clear(t) != TAMIS_OK) return;
    *m = (struct model){.t = t, .may_miss = (plan.flags & TAMIS_AUTO_ROTATE) != 0};
    for (uint32_t i = 0; i < UNIVERSE; i++) must(!has(t, i), "an empty filter holds nothing");
}

static void step(struct model *m, struct model *other, struct feed *f)
{
    const uint8_t what = feed_byte(f);
    if (what < 80)
        add_one(m, f);
    else if (what < 120)
        add_batch(m, f);
    else if (what < 160)
        remove_one(m, f);
    else if (what < 180)
        remove_batch(m, f);
    else if (what < 200)
        check_all(m);
    else if (what < 212)
        merge(m, other);
    else if (what < 224)
        renew(m, what);
    else if (what < 230)
        convert(m);
    else if (what < 236)
        look(m, other);
    else if (what < 246)
        rotate(m);
    else if (what < 250)
        rotate_to(m, f);
    else if (what < 254)
        clear(m);
    else
        must(tamis_seal(m->t, NULL) == TAMIS_OK, "seal");
}

/* --- One input -------------------------------------------------------------------------------- */

static tamis *create(void)
{
    tamis *t;
    tamis_error why = {0};
    const tamis_status s = tamis_create(&plan, &options, &t, &why);
    must((s == TAMIS_OK) == (t != NULL), "a handle or a reason");
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t secret[16] = "sixteen bytes..";
    struct feed f = {data, size};
    const uint8_t first = feed_byte(&f);
    const tamis_plan asked = feed_plan(&f, KINDS[first % 8]);
    const uint8_t how = feed_byte(&f);
    if (!solve_plan(&asked, &plan)) return 0;
    options = (tamis_options){.struct_size = sizeof options,
                              .max_bytes = PLAN_BYTES,
                              .key = how % 4 == 1 && !by_hash() ? secret : NULL,
                              .flags = how % 4 == 2 ? TAMIS_SHARED : 0};
    if (options.key != NULL) plan.seed = 0;
    struct model a = {.t = create()}, b = {.t = create()};
    facts = (tamis_facts){.struct_size = sizeof facts};
    /* Sketches are another target's. */
    if (a.t != NULL && b.t != NULL && tamis_info(a.t, &facts) == TAMIS_OK &&
        facts.fpr_planned > 0) {
        a.may_miss = b.may_miss = (plan.flags & TAMIS_AUTO_ROTATE) != 0;
        make_universe(a.t, &f);
        for (unsigned i = 0; f.left > 0 && i < MOST_STEPS; i++)
            step(first < 128 || i % 2 == 0 ? &a : &b, first < 128 || i % 2 == 0 ? &b : &a, &f);
        check_all(&a);
        check_all(&b);
    }
    tamis_close(a.t);
    tamis_close(b.t);
    return 0;
}
