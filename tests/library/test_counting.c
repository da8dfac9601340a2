/* counting: removing works for every key that was added and refuses others, and the counters
 * behave as the mathematics says. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "core/occupancy.h"

#include <math.h>
#include <tamis/count.h>

/* The layouts: bits of a counter, and whether a key's counters share a line. */
static const struct shape {
    uint32_t bits, inner;
} SHAPES[] = {{4, TAMIS_BLOOM},   {8, TAMIS_BLOOM},   {16, TAMIS_BLOOM},
              {4, TAMIS_BLOCKED}, {8, TAMIS_BLOCKED}, {16, TAMIS_BLOCKED}};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static tamis_plan counting_plan(const struct shape *s, uint64_t items, double fpr)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_COUNTING,
                          .items = items,
                          .fpr = fpr,
                          .cell_bits = s->bits,
                          .inner_kind = s->inner};
    return p;
}

static tamis *make(const struct shape *s, uint64_t items, double fpr)
{
    const tamis_plan p = counting_plan(s, items, fpr);
    return create(&p, NULL);
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

static tamis_estimate count_of(const tamis *t, uint64_t key)
{
    tamis_estimate e;
    CHECK_OK(tamis_count(t, &key, sizeof key, &e, NULL));
    return e;
}

static tamis_status take(tamis *t, uint64_t key)
{
    return tamis_remove(t, &key, sizeof key, NULL);
}

/* --- Against an exact multiset ---------------------------------------------------------------- */

enum { UNIVERSE = 3000, MOST_COPIES = 3 };

static void check_key(const tamis *t, uint64_t key, unsigned copies)
{
    const bool maybe = has(t, key);
    CHECK(maybe || copies == 0);
    const tamis_estimate e = count_of(t, key);
    CHECK(e.upper >= copies && e.lower <= copies && (maybe || e.upper == 0));
}

/* A key that is not in is removed only when the filter can tell: then it refuses and nothing
 * changes. */
static void try_absent(tamis *t, uint64_t key)
{
    if (has(t, key)) return;
    struct bytes before = image_of(t);
    CHECK_THAT(take(t, key), ==, TAMIS_EABSENT);
    struct bytes after = image_of(t);
    CHECK(bytes_equal(before, after));
    free(before.p);
    free(after.p);
}

static void play(const struct shape *shape, uint64_t seed, uint32_t operations)
{
    static unsigned copies[UNIVERSE];
    tamis *t = make(shape, UNIVERSE, 0.02);
    uint64_t total = 0;
    memset(copies, 0, sizeof copies);
    for (uint32_t i = 0; i < operations; i++) {
        const uint64_t r = splitmix(&seed), key = r % UNIVERSE;
        const unsigned what = (unsigned)(r >> 40) % 1000;
        if (what < 400 && copies[key] < MOST_COPIES) {
            bool seen;
            CHECK_OK(tamis_add(t, &key, sizeof key, &seen));
            CHECK(seen || copies[key] == 0);
            copies[key]++;
            total++;
        } else if (what < 800 && copies[key] > 0) {
            CHECK_OK(take(t, key));
            copies[key]--;
            total--;
        } else if (what < 998) {
            check_key(t, key, copies[key]);
        } else if (what < 999) {
            try_absent(t, key + UNIVERSE);
        } else {
            tamis *copy;
            CHECK_OK(tamis_copy(t, &copy, NULL));
            tamis_close(t);
            t = copy;
        }
    }
    for (uint64_t key = 0; key < UNIVERSE; key++) check_key(t, key, copies[key]);
    const tamis_facts f = facts_of(t);
    CHECK_THAT(f.items, ==, total);
    CHECK(!f.may_miss); /* though three copies at a time bring some counters to their end */
    tamis_close(t);
}

static void a_million_operations(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            play(&SHAPES[s], seed, s == 0 ? 1000000 : 100000);
}

/* --- Removing --------------------------------------------------------------------------------- */

/* With everything removed, every counter is 0 again; in bulk, too. */
static void removing_all_leaves_nothing(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        enum { N = 5000 };
        tamis *t = make(&SHAPES[s], N, 0.01), *empty = make(&SHAPES[s], N, 0.01);
        static uint64_t words[N];
        static tamis_bytes k[N];
        static uint8_t absent[(N + 7) / 8];
        for (size_t i = 0; i < N; i++) {
            words[i] = i / 2; /* all of them twice */
            k[i] = (tamis_bytes){&words[i], sizeof words[i]};
        }
        CHECK_OK(tamis_add_many(t, k, N, NULL, NULL));
        CHECK_THAT(facts_of(t).items, ==, N);
        CHECK_OK(tamis_remove_many(t, k, N, absent, NULL));
        for (size_t i = 0; i < sizeof absent; i++) CHECK_THAT(absent[i], ==, 0);
        CHECK(same_image(t, empty));
        CHECK_OK(tamis_remove_many(t, k, N, absent, NULL));
        for (size_t i = 0; i < N; i++) CHECK((absent[i / 8] >> i % 8 & 1) != 0);
        CHECK(same_image(t, empty));
        tamis_close(t);
        tamis_close(empty);
    }
}

/* A key whose probes meet in one counter counts there twice, and nothing else can be removed in its
 * name. */
static void meeting_probes(void)
{
    tamis_plan p = counting_plan(&SHAPES[0], 20, 0);
    p.m = 12;
    p.k = 7;
    for (uint64_t key = 0; key < 500; key++) {
        tamis *t = create(&p, NULL), *empty = create(&p, NULL);
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        CHECK_THAT(count_of(t, key).upper, ==, 1);
        struct bytes before = image_of(t);
        for (uint64_t other = 1000; other < 1010; other++)
            if (take(t, other) != TAMIS_OK) {
                struct bytes after = image_of(t);
                CHECK(bytes_equal(before, after));
                free(after.p);
            } else {
                CHECK_OK(tamis_add(t, &other, sizeof other, NULL));
            }
        CHECK_OK(take(t, key));
        CHECK(same_image(t, empty));
        free(before.p);
        tamis_close(t);
        tamis_close(empty);
    }
}

static void refusals(void)
{
    tamis *t = make(&SHAPES[0], 100, 0.01);
    tamis_error why;
    CHECK_OK(tamis_add(t, "a", 1, NULL));
    CHECK_THAT(tamis_remove(t, "b", 1, &why), ==, TAMIS_EABSENT);
    CHECK(why.status == TAMIS_EABSENT && why.text[0] != '\0');
    CHECK_THAT(tamis_rotate(t, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.better_kind == TAMIS_WINDOW && strstr(why.text, "window") != NULL);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(tamis_remove(t, "a", 1, &why), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_remove_many(t, keys, 0, NULL, &why), ==, TAMIS_ESEALED);
    tamis_close(t);
    t = create_kind(TAMIS_BLOCKED);
    CHECK_THAT(tamis_remove(t, "a", 1, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.better_kind == TAMIS_CUCKOO && strstr(why.text, "use the kind cuckoo") != NULL);
    tamis_estimate e;
    CHECK_THAT(tamis_count(t, "a", 1, &e, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(why.better_kind, ==, TAMIS_TALLY);
    tamis_close(t);
}

/* --- The end of a counter --------------------------------------------------------------------- */

static void counters_stick(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        const unsigned end = (1u << SHAPES[s].bits) - 1;
        if (end > 1000) continue;
        tamis *t = make(&SHAPES[s], 1000, 0.01);
        const uint64_t key = 7, other = 8;
        CHECK_OK(tamis_add(t, &other, sizeof other, NULL));
        for (unsigned i = 0; i < end - 2; i++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        if (facts_of(t).saturated == 0) CHECK_THAT(count_of(t, key).upper, ==, end - 2);
        for (unsigned i = 0; i < 10; i++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        CHECK_THAT(count_of(t, key).upper, ==, INT64_MAX);
        CHECK(facts_of(t).saturated > 0 && facts_of(t).overflow == 1);
        for (unsigned i = 0; i < 2 * end; i++) CHECK_OK(take(t, key));
        CHECK(has(t, key) && has(t, other)); /* for ever, and nothing else was harmed */
        tamis_close(t);
    }
}

/* The lectures: at the best k a counter reaches 16 with at most (e ln 2 / 16)^16 = 1.4e-15, and any
 * of 10^10 with less than 1.4e-5. */
static void the_bound_of_the_lectures(void)
{
    const double bound = pow(exp(1) * log(2) / 16, 16);
    CHECK_THAT(bound, <, 1.4e-15);
    CHECK_THAT(bound, >, 1.3e-15);
    CHECK_THAT(1e10 * bound, <, 1.4e-5);
    static const double sizes[] = {100, 1e4, 1e6, 1e9, 1e10};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        CHECK_THAT(tamis__binomial_tail(sizes[i] * log(2), 1 / sizes[i], 16), <=, bound);
    tamis_plan p = counting_plan(&SHAPES[0], 100000000, 0.01);
    tamis_promise r = {.struct_size = sizeof r};
    CHECK_OK(tamis_solve(&p, &r, NULL));
    CHECK_THAT(r.overflow, <, 1e-4); /* any of 10^9 counters */
    CHECK_THAT(r.overflow, >, 0);
    /* The same from the counters, once the planned items are in. */
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        p = counting_plan(&SHAPES[s], 1000, 0.01);
        CHECK_OK(tamis_solve(&p, &r, NULL));
        tamis *t = create(&p, NULL);
        CHECK_THAT(facts_of(t).overflow, ==, 0);
        for (uint64_t i = 0; i < p.items; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
        const double now = facts_of(t).overflow;
        CHECK_THAT(fabs(now - r.overflow), <=, 1e-9 * r.overflow);
        tamis_close(t);
    }
}

/* The tail itself, against sums of exact terms. */
static void binomial_tails(void)
{
    CHECK_THAT(tamis__binomial_tail(10, 0.5, 0), ==, 1);
    CHECK_THAT(fabs(tamis__binomial_tail(10, 0.5, 5) - 638.0 / 1024), <, 1e-15);
    CHECK_THAT(fabs(tamis__binomial_tail(10, 0.5, 6) - 386.0 / 1024), <, 1e-15);
    CHECK_THAT(fabs(tamis__binomial_tail(10, 0.5, 10) - 1.0 / 1024), <, 1e-17);
    CHECK_THAT(tamis__binomial_tail(10, 0.5, 11), ==, 0);
    CHECK_THAT(fabs(tamis__binomial_tail(3, 0.25, 1) - 37.0 / 64), <, 1e-15);
    /* Poisson: P[X >= 2] = 1 - 2/e at mean 1. */
    CHECK_THAT(fabs(tamis__binomial_tail(1e12, 1e-12, 2) - (1 - 2 / exp(1))), <, 1e-9);
}

/* In an overfull filter many counters saturate. Their expected number is the sum of the
 * probabilities. The counters are negatively associated and scatter less than independent ones:
 * 6.2 deviations are below 1e-9. In the other layout lines vary together: at most 128 counters
 * move as one. */
static void counters_end_as_often_as_promised(void)
{
    static const struct shape shapes[] = {{4, TAMIS_BLOOM}, {4, TAMIS_BLOCKED}};
    for (size_t s = 0; s < LENGTH(shapes); s++) {
        enum { COUNTERS = 1 << 17, K = 6, ITEMS = 7 * COUNTERS / K };
        tamis_plan p = counting_plan(&shapes[s], ITEMS, 0);
        p.m = COUNTERS;
        p.k = K;
        tamis_promise r = {.struct_size = sizeof r};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK_THAT(r.overflow, ==, 1); /* at least one is all but certain */
        tamis *t = create(&p, NULL);
        for (uint64_t i = 0; i < ITEMS; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
        const double ended = (double)facts_of(t).saturated;
        double one = tamis__binomial_tail((double)ITEMS * K, 1.0 / COUNTERS, 15), spread = 1;
        if (shapes[s].inner == TAMIS_BLOCKED) {
            double lines = COUNTERS / 128.0;
            double mean = 0, weight = pow(1 - 1 / lines, ITEMS), x;
            for (x = 0; x < 1000; x++) { /* the mean over lines, summed plainly */
                mean += weight * tamis__binomial_tail(x * K, 1.0 / 128, 15);
                weight *= (ITEMS - x) / (x + 1) / (lines - 1);
            }
            one = mean;
            spread = sqrt(128);
        }
        const double expected = COUNTERS * one;
        CHECK_THAT(expected, >, 100);
        CHECK_THAT(fabs(ended - expected), <, 6.2 * spread * sqrt(expected));
        tamis_close(t);
    }
}

/* --- Rates and space -------------------------------------------------------------------------- */

/* 6.2 deviations on 12 comparisons, the planned rate with 5 % for the scatter of the fill: below
 * 1e-8 in all. */
static void rates_are_as_promised(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        enum { ITEMS = 50000, ASKED = 1000000 };
        tamis *t = make(&SHAPES[s], ITEMS, 0.01);
        for (uint64_t i = 0; i < 2 * ITEMS; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
        for (uint64_t i = ITEMS; i < 2 * ITEMS; i++) CHECK_OK(take(t, i));
        const tamis_facts f = facts_of(t);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < ITEMS; i++) CHECK(has(t, i));
        for (uint64_t i = 0; i < ASKED; i++) wrong += has(t, i + 1000000);
        const double now = f.fpr_now * ASKED, planned = f.fpr_planned * ASKED;
        CHECK_THAT(fabs((double)wrong - now), <, 6.2 * sqrt(now));
        CHECK_THAT(fabs((double)wrong - planned), <, 6.2 * sqrt(planned) + 0.05 * planned);
        CHECK_THAT(f.items_low, <=, ITEMS);
        CHECK_THAT(f.items_high, >=, ITEMS);
        tamis_close(t);
    }
}

/* The same key again and again fills nothing: neither overfull nor below the lower bound. */
static void repeats_are_not_items(void)
{
    tamis *t = make(&SHAPES[5], 1000, 0.01);
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t key = i % 10;
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
    }
    const tamis_facts f = facts_of(t);
    CHECK(f.items == 20000 && !f.overfull && f.bound_ratio > 1);
    CHECK(f.saturated == 0 && f.overflow < 1e-9);
    tamis_close(t);
}

static void four_bits_for_one(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        tamis_plan p = counting_plan(&SHAPES[s], 1000000, 0.01), again;
        tamis_promise r = {.struct_size = sizeof r};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        if (SHAPES[s].inner == TAMIS_BLOOM) CHECK_THAT(r.bits_per_item, <, 9.61 * SHAPES[s].bits);
        again = p;
        CHECK_OK(tamis_solve(&again, NULL, NULL));
        CHECK(memcmp(&again, &p, sizeof p) == 0);
        p.items = 0; /* from rate and bytes: the same again, or a little more */
        p.m = p.k = 0;
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        CHECK(p.items >= again.items && p.bytes <= again.bytes);
    }
}

static void wrong_plans(void)
{
    tamis_error why;
    tamis_plan p = counting_plan(&SHAPES[0], 100, 0.01);
    p.cell_bits = 5;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p.cell_bits = 4;
    p.inner_kind = TAMIS_PARTITIONED;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p = plan_of(TAMIS_BLOOM, 100);
    p.cell_bits = 4;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p.cell_bits = 0;
    p.inner_kind = TAMIS_BLOOM;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    const tamis_options shared = {.struct_size = sizeof shared, .flags = TAMIS_SHARED};
    tamis *t;
    p = counting_plan(&SHAPES[0], 100, 0.01);
    CHECK_THAT(tamis_create(&p, &shared, &t, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(t == NULL && why.better_kind == TAMIS_BLOCKED);
}

/* --- Together --------------------------------------------------------------------------------- */

/* Merging is counting all keys in one, to the bit, saturation included. */
static void merging_adds(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        tamis_plan p = counting_plan(&SHAPES[s], 100, 0);
        p.m = 4096;
        p.k = 5;
        tamis *a = create(&p, NULL), *b = create(&p, NULL), *all = create(&p, NULL);
        for (uint64_t i = 0; i < 6000; i++) {
            CHECK_OK(tamis_add(i % 3 == 0 ? a : b, &i, sizeof i, NULL));
            CHECK_OK(tamis_add(all, &i, sizeof i, NULL));
        }
        CHECK_OK(tamis_merge(a, b, NULL));
        CHECK(same_image(a, all));
        CHECK_THAT(facts_of(a).items, ==, 6000);
        CHECK(!facts_of(a).items_estimated);
        if (SHAPES[s].bits == 4) CHECK_THAT(facts_of(a).saturated, >, 0);
        tamis_close(a);
        tamis_close(b);
        tamis_close(all);
    }
}

/* A plain filter of what is left, bit for bit the one that was built from those keys alone. */
static void converting_to_bloom(void)
{
    for (size_t s = 0; s < LENGTH(SHAPES); s++) {
        tamis *t = make(&SHAPES[s], 2000, 0.01), *plain;
        tamis_error why;
        for (uint64_t i = 0; i < 3000; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
        for (uint64_t i = 0; i < 1000; i++) CHECK_OK(take(t, i));
        CHECK_THAT(tamis_convert(t, TAMIS_BLOCKED, &plain, &why), ==, TAMIS_EUNSUPPORTED);
        const tamis_status status = tamis_convert(t, TAMIS_BLOOM, &plain, &why);
        if (SHAPES[s].inner == TAMIS_BLOCKED) {
            CHECK(status == TAMIS_EUNSUPPORTED && plain == NULL);
            tamis_close(t);
            continue;
        }
        CHECK_OK(status);
        const tamis_facts f = facts_of(t);
        const tamis_plan p = {
            .struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = 2000, .m = f.m, .k = f.k};
        tamis *bloom = create(&p, NULL);
        for (uint64_t i = 1000; i < 3000; i++) CHECK_OK(tamis_add(bloom, &i, sizeof i, NULL));
        for (uint64_t i = 0; i < f.m; i++)
            CHECK_THAT(tamis_cell(plain, i), ==, tamis_cell(bloom, i));
        for (uint64_t i = 0; i < 20000; i++) CHECK(has(plain, i) == has(t, i));
        CHECK_THAT(facts_of(plain).bytes * SHAPES[s].bits, <, 1.15 * (double)f.bytes);
        tamis_close(bloom);
        tamis_close(plain);
        tamis_close(t);
    }
}

static const struct test tests[] = {
    {"a_million_operations", a_million_operations},
    {"removing_all_leaves_nothing", removing_all_leaves_nothing},
    {"meeting_probes", meeting_probes},
    {"refusals", refusals},
    {"counters_stick", counters_stick},
    {"the_bound_of_the_lectures", the_bound_of_the_lectures},
    {"binomial_tails", binomial_tails},
    {"counters_end_as_often_as_promised", counters_end_as_often_as_promised},
    {"rates_are_as_promised", rates_are_as_promised},
    {"repeats_are_not_items", repeats_are_not_items},
    {"four_bits_for_one", four_bits_for_one},
    {"wrong_plans", wrong_plans},
    {"merging_adds", merging_adds},
    {"converting_to_bloom", converting_to_bloom},
};
TEST_MAIN(tests)
