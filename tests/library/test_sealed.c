/* What all sealed kinds promise, before and after the seal: every property below runs on every
 * variant of the table. What only one kind promises is in test_fuse.c, test_exact.c and
 * test_ribbon_core.c. */
#define _POSIX_C_SOURCE 200809L
#include "../support/sealed.h"
#include "../support/tracking.h"
#include "core/handle.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const struct variant {
    const char *name;
    uint32_t kind, k;
    bool excludes;      /* as many keys are excluded as are added, unless the property says more */
    bool any_order;     /* the image depends only on the set of keys */
    double planned_fpr; /* a plan for a rate of 0.01 has at least this rate */
    uint64_t
        items_lost; /* one part in so many of the items, when a plan has only rate and bytes; */
    uint64_t items_spare;     /* and as many more. Both 0: such a plan is refused. */
    uint64_t memory_excluded; /* how many keys are excluded in no_memory */
} variants[] = {
    {"fuse-3", TAMIS_FUSE, 3, false, false, 1.0 / 128, 2, 0, 0},
    {"fuse-4", TAMIS_FUSE, 4, false, false, 1.0 / 128, 2, 0, 0},
    {"ribbon", TAMIS_RIBBON, 0, false, true, 0.00999, 100, 64, 0},
    {"exact", TAMIS_EXACT, 0, false, true, 0, 0, 0, 0},
    {"exact-excluded", TAMIS_EXACT, 0, true, true, 0, 0, 0, 3000},
};
static const struct variant *v; /* the one under test */

static tamis_plan plan_for(uint64_t items, uint64_t excluded, double fpr)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = v->kind,
                          .k = v->k,
                          .items = items,
                          .excluded = excluded,
                          .fpr = fpr};
    return p;
}

static tamis_plan plan(uint64_t items, double fpr)
{
    return plan_for(items, v->excludes ? items : 0, fpr);
}

/* Adds n keys, and excludes as many others where the variant excludes keys. */
static void collect(tamis *t, uint64_t from, uint64_t n)
{
    add(t, from, n);
    if (v->excludes) exclude(t, OTHER + from, n);
}

static void check_collected(const tamis *t, uint64_t n)
{
    check_known(t, n, v->excludes ? n : 0);
}

/* Sealed, with numbers from 0 on, each `times` times. */
static tamis *make(uint64_t items, double fpr, unsigned times)
{
    const tamis_plan p = plan(items, fpr);
    tamis *t = create(&p, NULL);
    for (unsigned i = 0; i < times; i++) collect(t, 0, items);
    CHECK_OK(tamis_seal(t, NULL));
    return t;
}

/* --- Promises --------------------------------------------------------------------------------- */

static void no_key_is_lost(void)
{
    static const uint64_t sizes[] = {1,  2,   3,   4,    5,     7,     8,     9,      20,
                                     63, 100, 333, 1000, 10000, 31623, 99999, 300000, 1000000};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        tamis *t = make(sizes[i], 0.004, 1);
        check_collected(t, sizes[i]);
        const tamis_facts f = facts_of(t);
        CHECK(f.sealed && f.read_only && !f.collecting && !f.may_miss && !f.overfull);
        CHECK_THAT(f.items, ==, sizes[i]);
        CHECK_THAT(f.excluded, ==, v->excludes ? sizes[i] : 0);
        if (v->k != 0) CHECK_THAT(f.k, ==, v->k);
        tamis_close(t);
    }
}

/* Bulk answers are those of single keys, in tables that are prefetched for many keys and in small
 * ones that are not, for batches of all lengths. */
static void many_are_as_one(void)
{
    static const struct {
        uint64_t items;
        int bits;
    } shapes[] = {{1000000, 8}, {900000, 10}, {600000, 17}, {300000, 31}, {1000, 8}, {1000, 7}};
    static const size_t asks[] = {1, 2, 9, 127, 128, 129, 255, 256, 257, 1000, 4099};
    enum { MOST = 4099 };
    static uint64_t words[MOST];
    static tamis_bytes asked[MOST];
    static tamis_hash hashes[MOST];
    uint8_t by_key[MOST / 8 + 1], by_hash[MOST / 8 + 1];
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        tamis *t = make(shapes[i].items, ldexp(1, -shapes[i].bits), 1);
        for (size_t j = 0; j < MOST; j++) {
            words[j] = j % 2 == 0 ? j : j + shapes[i].items;
            asked[j] = (tamis_bytes){&words[j], sizeof words[j]};
        }
        CHECK_OK(tamis_hash_many(t, asked, MOST, hashes));
        for (size_t a = 0; a < LENGTH(asks); a++) {
            const size_t n = asks[a], yes = tamis_may_contain_many(t, asked, n, by_key);
            size_t expected = 0;
            CHECK_THAT(tamis_may_contain_hashes(t, hashes, n, by_hash), ==, yes);
            CHECK(memcmp(by_key, by_hash, (n + 7) / 8) == 0);
            for (size_t j = 0; j < n; j++) {
                CHECK_THAT(by_key[j / 8] >> j % 8 & 1, ==, has(t, words[j]));
                expected += has(t, words[j]);
            }
            CHECK_THAT(yes, ==, expected);
        }
        tamis_close(t);
    }
}

/* --- Before the seal -------------------------------------------------------------------------- */

static void collecting_says_maybe(void)
{
    const tamis_plan p = plan(100, 0.01);
    tamis *t = create(&p, NULL), *again;
    bool seen;
    CHECK(has(t, 1)); /* any key may be a member, even if none was added */
    CHECK_OK(tamis_add(t, "a", 1, &seen));
    CHECK(!seen);
    CHECK_OK(tamis_add(t, "b", 1, &seen));
    CHECK(seen); /* likewise */
    CHECK(facts_of(t).collecting && facts_of(t).fpr_now == 1 && !facts_of(t).sealed);
    collect(t, 0, 1000);
    CHECK(has(t, OTHER));
    /* A filter that was saved while it collected continues from there. */
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK(facts_of(again).collecting && facts_of(again).items == 1002);
    collect(t, 1000, 1000);
    collect(again, 1000, 1000);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(again, NULL));
    for (uint64_t key = 0; key < 20000; key++) {
        CHECK(has(t, key) == has(again, key));
        CHECK(has(t, STRANGER + key) == has(again, STRANGER + key));
    }
    check_collected(t, 2000);
    check_collected(again, 2000);
    tamis_error why;
    CHECK_OK(tamis_seal(t, &why)); /* to seal again changes nothing */
    CHECK_THAT(tamis_add(t, "c", 1, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_clear(t), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_merge(t, again, &why), ==, TAMIS_EUNSUPPORTED);
    free(image.p);
    tamis_close(t);
    tamis_close(again);
}

static void clearing_a_collection(void)
{
    const tamis_plan p = plan(100, 0.01);
    tamis *t = create(&p, NULL), *fresh = create(&p, NULL);
    collect(t, 0, 1000);
    CHECK_OK(tamis_clear(t));
    CHECK(same_image(t, fresh));
    collect(t, 5000, 100);
    collect(fresh, 5000, 100);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(fresh, NULL));
    CHECK(same_image(t, fresh));
    for (uint64_t key = 5000; key < 5100; key++) CHECK(has(t, key));
    tamis_close(t);
    tamis_close(fresh);
}

static void nothing_at_all(void)
{
    const tamis_plan p = plan(100, 1e-6);
    tamis *t = create(&p, NULL);
    CHECK_OK(tamis_seal(t, NULL));
    uint64_t wrong = 0;
    for (uint64_t key = 0; key < 100000; key++) wrong += has(t, key);
    CHECK_THAT(wrong, <, 8); /* 0.1 expected */
    tamis_close(t);
}

/* --- Keys that are hard ----------------------------------------------------------------------- */

/* A key may be added any number of times. */
static void duplicates_are_welcome(void)
{
    tamis *once = make(1000, 0.01, 1), *often = make(1000, 0.01, 5);
    check_collected(often, 1000);
    /* Repeated keys take no room and are counted once. */
    CHECK_THAT(facts_of(often).items, ==, 1000);
    CHECK_THAT(tamis_image_size(often), ==, tamis_image_size(once));
    if (v->any_order) CHECK(same_image(once, often));
    tamis_close(once);
    tamis_close(often);
    const tamis_plan p = plan(10, 0.01);
    tamis *t = create(&p, NULL);
    for (int i = 0; i < 100000; i++) CHECK_OK(tamis_add(t, "the same", 8, NULL));
    CHECK_OK(tamis_seal(t, NULL));
    CHECK(tamis_may_contain(t, "the same", 8));
    tamis_close(t);
}

/* The order of the keys does not matter. */
static void only_the_set_counts(void)
{
    enum { N = 5000 };
    const tamis_plan p = plan(N, 0.01);
    tamis *a = create(&p, NULL), *b = create(&p, NULL);
    for (uint64_t i = 0; i < N; i++) {
        collect(a, i, 1);
        collect(b, N - 1 - i, 1);
    }
    CHECK_OK(tamis_seal(a, NULL));
    CHECK_OK(tamis_seal(b, NULL));
    if (v->any_order) CHECK(same_image(a, b));
    check_collected(a, N);
    check_collected(b, N);
    tamis_close(a);
    tamis_close(b);
}

/* A caller's hashes that have few bits, equal halves, or one half in common. tamis_seal refuses
 * them; the solver below it handles them nevertheless. */
static void poor_hashes(void)
{
    for (int how = 0; how < 4; how++) {
        enum { N = 5000 };
        tamis_plan p = plan(N, 0.01);
        p.flags = TAMIS_HASH_CALLER;
        tamis *t = create(&p, NULL);
        static tamis_hash h[2 * N];
        uint8_t bits[N / 8];
        for (uint64_t i = 0; i < 2 * N; i++) {
            const tamis_hash made[4] = {{i, i}, {i << 40, 7}, {7, i << 40}, {i, ~i}};
            h[i] = made[how];
        }
        CHECK_OK(tamis_add_hashes(t, h, N, NULL, NULL));
        if (v->excludes) {
            CHECK_OK(tamis_exclude_hashes(t, h + N, N, NULL));
            CHECK_THAT(tamis_exclude(t, "a", 1, NULL), ==, TAMIS_EUNSUPPORTED);
        }
        CHECK_THAT(tamis_seal(t, NULL), ==, TAMIS_EINVAL);
        CHECK_OK(tamis__seal(t, NULL));
        CHECK_THAT(tamis_may_contain_hashes(t, h, N, bits), ==, N);
        if (v->excludes) CHECK_THAT(tamis_may_contain_hashes(t, h + N, N, bits), ==, 0);
        tamis_close(t);
    }
}

/* --- Plans and memory ------------------------------------------------------------------------- */

static void check_plan(uint64_t items, uint64_t excluded, double fpr)
{
    tamis_error why;
    tamis_plan p = plan_for(items, excluded, fpr);
    CHECK_OK(tamis_solve(&p, NULL, &why));
    if (fpr != 0) CHECK(p.fpr <= fpr && p.fpr >= v->planned_fpr);
    const tamis_plan solved = p;
    CHECK_OK(tamis_solve(&p, NULL, &why));
    CHECK(memcmp(&p, &solved, sizeof p) == 0);
    p.fpr = 0; /* from items and bytes: the same rate again, or a little less */
    CHECK_OK(tamis_solve(&p, NULL, &why));
    CHECK(p.fpr <= solved.fpr && p.bytes <= solved.bytes);
    p = solved;
    p.items = 0; /* from rate and bytes: as many items, or nearly */
    if (v->items_lost == 0) {
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    } else {
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(p.bytes <= solved.bytes);
        CHECK(p.items + items / v->items_lost + v->items_spare >= items);
    }
}

static void plans(void)
{
    const uint64_t most = UINT64_C(1) << (v->kind == TAMIS_FUSE ? 40 : 38);
    for (uint64_t items = 1; items < most; items = items * 7 + 1) {
        check_plan(items, 0, 0.01);
        if (!v->excludes) continue;
        for (uint64_t excluded = 1; excluded < UINT64_C(1) << 40; excluded = excluded * 30 + 1)
            check_plan(items, excluded, excluded % 2 == 0 ? 0.01 : 0);
    }
}

/* Every allocation of collecting and sealing fails once: nothing is lost, nothing leaks, and the
 * call works when it is repeated. */
static bool runs_out_of_memory(size_t fail_at)
{
    const uint64_t added = v->excludes ? 900 : 500;
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    const tamis_plan p = plan_for(v->excludes ? added : 100, v->memory_excluded, 0.01);
    tamis *t;
    tamis_error why;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    a.calls = 0;
    a.fail_at = fail_at;
    for (uint64_t key = 0; key < added; key++) {
        tamis_status s = tamis_add(t, &key, sizeof key, NULL);
        if (s != TAMIS_OK) CHECK_THAT(s, ==, TAMIS_ENOMEM);
        if (s != TAMIS_OK) s = tamis_add(t, &key, sizeof key, NULL);
        CHECK_OK(s);
    }
    for (uint64_t key = OTHER; key < OTHER + v->memory_excluded; key++) {
        if (tamis_exclude(t, &key, sizeof key, &why) != TAMIS_OK) {
            CHECK_THAT(why.status, ==, TAMIS_ENOMEM);
            CHECK_OK(tamis_exclude(t, &key, sizeof key, NULL));
        }
    }
    CHECK_THAT(facts_of(t).items, ==, added);
    const tamis_status s = tamis_seal(t, &why);
    if (s != TAMIS_OK) {
        CHECK(s == TAMIS_ENOMEM && why.text[0] != '\0' && facts_of(t).collecting);
        CHECK_OK(tamis_seal(t, &why));
    }
    check_known(t, added, v->memory_excluded);
    const bool failed = a.failed;
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
    return failed;
}

static void no_memory(void)
{
    size_t fail_at = 1;
    while (runs_out_of_memory(fail_at)) fail_at++;
    CHECK_THAT(fail_at, >, 1);
}

static void limits(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 2000};
    const tamis_plan p = plan(50, 0.01);
    tamis *t;
    size_t done;
    tamis_hash h[200];
    for (uint64_t i = 0; i < 200; i++) h[i] = (tamis_hash){i, i};
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    CHECK_THAT(tamis_add_hashes(t, h, 200, NULL, &done), ==, TAMIS_EFULL);
    CHECK_THAT(tamis_image_size(t), <=, 2000);
    CHECK_THAT(facts_of(t).items, ==, done);
    tamis_close(t);
}

/* --- Properties of which each kind has its own cases ------------------------------------------ */

static const struct variant *variant_of(const char *name)
{
    size_t i = 0;
    while (i < LENGTH(variants) && strcmp(variants[i].name, name) != 0) i++;
    CHECK_THAT(i, <, LENGTH(variants));
    return &variants[i];
}

static tamis *make_for(uint64_t items, uint64_t excluded, double fpr)
{
    const tamis_plan p = plan_for(items, excluded, fpr);
    tamis *t = create(&p, NULL);
    add(t, 0, items);
    exclude(t, OTHER, excluded);
    CHECK_OK(tamis_seal(t, NULL));
    return t;
}

/* The rate that is planned, the one that tamis_info reports and the one that is measured: 6.2
 * standard deviations each time. */
static const struct rate {
    const char *variant;
    uint64_t items, excluded;
    double fpr;
    double least; /* the planned rate is at least this share of fpr */
    double slack; /* a last layer of few keys may have a rate above the plan; it is a small part */
} rates[] = {
#define FUSE_RATE(fpr)                                                                             \
    {"fuse-3", 20000, 0, fpr, 1, 0},                                                               \
    {                                                                                              \
        "fuse-4", 20000, 0, fpr, 1, 0                                                              \
    }
    FUSE_RATE(0x1p-4),
    FUSE_RATE(0x1p-6),
    FUSE_RATE(0x1p-8),
    FUSE_RATE(0x1p-10),
    FUSE_RATE(0x1p-12),
    FUSE_RATE(0x1p-14),
    FUSE_RATE(0x1p-16),
    FUSE_RATE(0x1p-18),
    FUSE_RATE(0x1p-20),
    {"ribbon", 20000, 0, 0.5, 0.999, 0.01},
    {"ribbon", 20000, 0, 0.3, 0.999, 0.01},
    {"ribbon", 20000, 0, 0.1, 0.999, 0.01},
    {"ribbon", 20000, 0, 0.05, 0.999, 0.01},
    {"ribbon", 20000, 0, 0.01, 0.999, 0.01},
    {"ribbon", 20000, 0, 0.003, 0.999, 0.01},
    {"ribbon", 20000, 0, 0.001, 0.999, 0.01},
    {"ribbon", 20000, 0, 1e-4, 0.999, 0.01},
    {"ribbon", 20000, 0, 1e-5, 0.999, 0.01},
    {"exact", 20000, 20000, 0.3, 0, 0.05},
    {"exact", 20000, 1000, 0.1, 0, 0.05},
    {"exact", 20000, 20000, 0.01, 0, 0.05},
    {"exact", 20000, 20000, 1e-3, 0, 0.05},
    {"exact", 20000, 0, 1e-4, 0, 0.05},
    {"exact", 2000, 200000, 0, 0, 0.05},
    {"exact", 300, 100, 0.02, 0, 0.05},
    {"exact", 20000, 20000, 0, 0, 0.05},
};

static void rates_are_exact(void)
{
    for (size_t i = 0; i < LENGTH(rates); i++) {
        const struct rate *c = &rates[i];
        v = variant_of(c->variant);
        const uint64_t asked = v->kind == TAMIS_RIBBON ? 3000000 : 2000000;
        tamis *t = make_for(c->items, c->excluded, c->fpr);
        uint64_t wrong = 0;
        for (uint64_t key = STRANGER; key < STRANGER + asked; key++) wrong += has(t, key);
        const tamis_facts f = facts_of(t);
        const double expected = f.fpr_now * (double)asked, planned = f.fpr_planned * (double)asked;
        if (c->fpr != 0) CHECK(f.fpr_planned <= c->fpr && f.fpr_planned >= c->least * c->fpr);
        if (v->kind == TAMIS_FUSE) CHECK_THAT(f.fpr_now, ==, c->fpr);
        CHECK_THAT(fabs((double)wrong - expected), <, 6.2 * sqrt(expected) + 1);
        CHECK_THAT((double)wrong, <, (1 + c->slack) * planned + 6.2 * sqrt(planned) + 1);
        tamis_close(t);
    }
}

/* The whole image, with header and sums, against the bound, and the bound that is reported against
 * the factorials. A plan states enough bytes, and not many more. */
static const struct space {
    const char *variant;
    uint64_t items, excluded;
    double fpr;
    double most;  /* times the bound; 0: not asked */
    double least; /* share of the planned bytes */
} spaces[] = {
    {"fuse-3", 1000000, 0, 0x1p-8, 1.133, 1},
    {"fuse-4", 1000000, 0, 0x1p-8, 1.083, 1},
    {"fuse-3", 50000, 0, 0.001, 0, 1},
    {"ribbon", 1000000, 0, 0x1p-8, 1.006, 0.8},
    {"ribbon", 1000000, 0, 0x1p-4, 1.012, 0.8},
    {"ribbon", 1000000, 0, 0.01, 1.018, 0.8},
    {"ribbon", 100000, 0, 0x1p-8, 1.02, 0.8},
    {"ribbon", 1000, 0, 0.001, 0, 0.8},
    {"ribbon", 10000, 0, 0.001, 0, 0.8},
    {"ribbon", 100000, 0, 0.001, 0, 0.8},
    {"ribbon", 1000000, 0, 0.001, 0, 0.8},
    {"exact", 300000, 300000, 0, 1.03, 0.9},
    {"exact", 200000, 20000, 1.0 / 40000, 1.02, 0.9},
    {"exact", 100000, 100000, 1e-3, 1.04, 0.9},
    {"exact", 20000, 2000000, 0, 1.14, 0.9},
    {"exact", 100000, 1000000, 0, 1.13, 0.9},
};

static void space_is_near_the_bound(void)
{
    for (size_t i = 0; i < LENGTH(spaces); i++) {
        const struct space *c = &spaces[i];
        v = variant_of(c->variant);
        const double n = (double)c->items, x = (double)c->excluded;
        tamis *t = make_for(c->items, c->excluded, c->fpr);
        const tamis_facts f = facts_of(t);
        const double sets = (lgamma(n + x + 1) - lgamma(n + 1) - lgamma(x + 1)) / log(2) / n;
        const double rate = log2(1 / f.fpr_now), bound = sets > rate ? sets : rate;
        CHECK_THAT(fabs(f.bound_bits - bound), <, 0.01);
        CHECK_THAT(f.bound, ==, sets > rate ? TAMIS_BOUND_TWO_SET : TAMIS_BOUND_STATIC);
        if (c->most != 0) CHECK_THAT(f.bits_per_item, <, c->most * bound);
        if (c->most != 0) CHECK_THAT(f.bound_ratio, <, c->most);
        if (c->most != 0 && x == 0) CHECK_THAT(f.bits_per_item / -log2(c->fpr), <, c->most);
        tamis_plan p = plan_for(c->items, c->excluded, c->fpr);
        tamis_promise r = {.struct_size = sizeof r};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK(f.bytes == tamis_image_size(t) && p.bytes == r.bytes);
        CHECK_THAT(f.bytes, <=, r.bytes);
        CHECK_THAT((double)f.bytes, >=, c->least * (double)r.bytes);
        if (v->kind == TAMIS_EXACT) CHECK_THAT(fabs(r.bound_bits - bound), <, 0.01);
        tamis_close(t);
    }
}

static const struct refused {
    uint32_t kind, k;
    uint64_t items, excluded, bytes, m;
    double fpr;
} refused[] = {
    {TAMIS_FUSE, 5, 100, 0, 0, 0, 0.01},
    {TAMIS_FUSE, 3, 100, 0, 0, 512, 0.01},
    {TAMIS_FUSE, 3, 100, 0, 0, 0, 1e-12},
    {TAMIS_FUSE, 3, 100, 0, 200, 0, 0.01},
    {TAMIS_FUSE, 3, 100, 0, 10, 0, 0},
    {TAMIS_FUSE, 3, 0, 0, 100, 0, 0.01},
    {TAMIS_FUSE, 3, UINT64_C(1) << 52, 0, 0, 0, 0.01},
    {TAMIS_FUSE, 3, 10, 10, 0, 0, 0.1},
    {TAMIS_RIBBON, 5, 100, 0, 0, 0, 0.01},
    {TAMIS_RIBBON, 0, 100, 0, 0, 512, 0.01},
    {TAMIS_RIBBON, 0, 100, 0, 0, 0, 1e-12},
    {TAMIS_RIBBON, 0, 100, 0, 200, 0, 0.01},
    {TAMIS_RIBBON, 0, 100, 0, 10, 0, 0},
    {TAMIS_RIBBON, 0, 0, 0, 100, 0, 0.01},
    {TAMIS_RIBBON, 0, UINT64_C(1) << 52, 0, 0, 0, 0.01},
    {TAMIS_RIBBON, 0, 10, 10, 0, 0, 0.1},
    {TAMIS_EXACT, 0, 0, 100, 1000, 0, 0},
    {TAMIS_EXACT, 0, 100, 0, 0, 0, 0},
    {TAMIS_EXACT, 0, 100, 100, 0, 512, 0},
    {TAMIS_EXACT, 0, 100, 100, 10, 0, 0.1},
    {TAMIS_EXACT, 0, 100, 100, 0, 0, 1e-12},
    {TAMIS_EXACT, 0, 0, 0, 100, 0, 0.01},
    {TAMIS_EXACT, 0, 100, 100, 10, 0, 0},
    {TAMIS_EXACT, 0, 100, UINT64_MAX, 0, 0, 0},
    {TAMIS_EXACT, 0, UINT64_C(1) << 52, 1, 0, 0, 0},
};

static void plans_that_are_refused(void)
{
    for (size_t i = 0; i < LENGTH(refused); i++) {
        const struct refused *c = &refused[i];
        tamis_plan p = {.struct_size = sizeof p,
                        .kind = c->kind,
                        .k = c->k,
                        .items = c->items,
                        .excluded = c->excluded,
                        .bytes = c->bytes,
                        .m = c->m,
                        .fpr = c->fpr};
        tamis_error why;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    }
}

/* 1 M URLs in 2,000,000 bytes: about 1 in 60,000. */
static void a_ribbon_for_the_guard(void)
{
    tamis_error why;
    v = variant_of("ribbon");
    tamis_plan p = plan(1000000, 0);
    p.bytes = 2000000;
    CHECK_OK(tamis_solve(&p, NULL, &why));
    CHECK_THAT(p.fpr, <, 1.0 / 57000);
}

/* docs/FORMAT.md, "Sealed kinds": zero bytes stand for a collection without hashes. */
static void an_empty_collection_is_zero(void)
{
    const tamis_plan p = plan(10, 0.01);
    tamis *t = create(&p, NULL), *back;
    struct bytes image = image_of(t);
    tamis_close(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &back, NULL));
    tamis_close(back);
    for (size_t i = 1; i <= 16; i++) { /* the cells of the last collection */
        image.p[image.n - i] = 1;
        image_resum(image.p, image.n);
        CHECK_THAT(tamis_load(image.p, image.n, NULL, &back, NULL), ==, TAMIS_ECORRUPT);
        image.p[image.n - i] = 0;
    }
    free(image.p);
}

static const struct test properties[] = {
    {"no_key_is_lost", no_key_is_lost},
    {"many_are_as_one", many_are_as_one},
    {"collecting_says_maybe", collecting_says_maybe},
    {"clearing_a_collection", clearing_a_collection},
    {"an_empty_collection_is_zero", an_empty_collection_is_zero},
    {"nothing_at_all", nothing_at_all},
    {"duplicates_are_welcome", duplicates_are_welcome},
    {"only_the_set_counts", only_the_set_counts},
    {"poor_hashes", poor_hashes},
    {"plans", plans},
    {"no_memory", no_memory},
    {"limits", limits},
};

static const struct test tables[] = {
    {"rates_are_exact", rates_are_exact},
    {"space_is_near_the_bound", space_is_near_the_bound},
    {"plans_that_are_refused", plans_that_are_refused},
    {"a_ribbon_for_the_guard", a_ribbon_for_the_guard},
};

/* Every property on every variant, named "VARIANT PROPERTY", and then the tables. */
int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (size_t i = 0; i < LENGTH(variants) * LENGTH(properties) + LENGTH(tables); i++) {
        const size_t table = i - LENGTH(variants) * LENGTH(properties);
        struct test one;
        char name[80];
        if (table < LENGTH(tables)) {
            one = tables[table];
        } else {
            v = &variants[i / LENGTH(properties)];
            one = properties[i % LENGTH(properties)];
            snprintf(name, sizeof name, "%s %s", v->name, one.name);
            one.name = name;
        }
        if (!is_wanted(one.name, argc, argv)) continue;
        fflush(stdout);
        if (passes(&one))
            passed++;
        else
            failed++;
    }
    return concluded(passed, failed);
}
