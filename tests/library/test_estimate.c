/* What filters report about their own contents: the number of items with its 99 % interval, the
 * sizes of union and intersection, and the occupancy mathematics behind them.
 *
 * Every seed is fixed, so a run repeats itself. "Chance of a false alarm" is the probability
 * that a correct library would have failed the comparison when the seeds were chosen; it is at
 * most 1e-9 for each. */
#include "../support/check.h"
#include "../support/keys.h"
#include "core/occupancy.h"

#include <math.h>
#include <stdbool.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Whether so many misses contradict a chance of at most 1 % each. Chernoff: P[X >= x] is at most
 * exp(-trials · D(x/trials || 1 %)); 20.8 makes that 1e-9. */
static bool too_many_misses(double misses, double trials)
{
    const double share = misses / trials, p = 0.01;
    if (share <= p) return false;
    const double no = share < 1 ? (1 - share) * log((1 - share) / (1 - p)) : 0;
    return trials * (share * log(share / p) + no) > 20.8;
}

/* --- The mathematics, exactly ----------------------------------------------------------------- */

/* One more ball into m cells: q[y] = P[y cells are hit]. */
static void throw_ball(size_t m, double *q)
{
    for (size_t y = m; y > 0; y--)
        q[y] = (q[y] * (double)y + q[y - 1] * (double)(m - y + 1)) / (double)m;
    q[0] = 0;
}

/* Distribution of the sum of `rows` independent counts distributed as row[0 ... m]. */
static void sum_rows(size_t m, size_t rows, const double *row, double *q)
{
    static double next[1024];
    memcpy(q, row, (m + 1) * sizeof *q);
    for (size_t r = 1; r < rows; r++) {
        memset(next, 0, ((r + 1) * m + 1) * sizeof *next);
        for (size_t i = 0; i <= r * m; i++)
            for (size_t j = 0; j <= m; j++) next[i + j] += q[i] * row[j];
        memcpy(q, next, ((r + 1) * m + 1) * sizeof *next);
    }
}

struct shape {
    size_t rows, cells, throws;
};
/* Bloom filters have one row, partitioned ones one throw. */
static const struct shape SHAPES[] = {
    {1, 5, 3},   {1, 64, 1}, {1, 64, 4}, {1, 100, 7}, {1, 128, 2}, {1, 128, 20}, {1, 511, 1},
    {1, 511, 7}, {3, 5, 1},  {2, 64, 1}, {4, 16, 1},  {7, 64, 1},  {14, 20, 1},  {20, 32, 1},
};
#define MOST_CELLS 1024

static struct occupancy occupancy_of(const struct shape *s)
{
    return (struct occupancy){(double)s->rows, (double)s->cells, (double)s->throws, 0};
}

/* Calls check with the exact distribution of the hit cells after n = 1, 2, ... items, up to nearly
 * full filters and far beyond. */
typedef void check_distribution(const struct shape *s, double n, const double *q);

static void for_each_distribution(check_distribution *check)
{
    static double row[MOST_CELLS], all[MOST_CELLS];
    for (size_t i = 0; i < LENGTH(SHAPES); i++) {
        const struct shape *s = &SHAPES[i];
        CHECK_THAT(s->rows * s->cells, <, MOST_CELLS);
        const size_t end = 2 + s->cells * 12 / s->throws;
        memset(row, 0, sizeof row);
        row[0] = 1;
        for (size_t n = 1; n <= end; n++) {
            for (size_t t = 0; t < s->throws; t++) throw_ball(s->cells, row);
            if (s->rows > 1 && n > 20 && n % (s->cells / 5) != 0) continue;
            sum_rows(s->cells, s->rows, row, all);
            check(s, (double)n, all);
        }
    }
}

static void check_moments(const struct shape *s, double n, const double *q)
{
    const struct occupancy o = occupancy_of(s);
    double mean = 0, variance = 0;
    for (size_t y = 0; y <= s->rows * s->cells; y++) mean += q[y] * (double)y;
    for (size_t y = 0; y <= s->rows * s->cells; y++) variance += q[y] * pow((double)y - mean, 2);
    CHECK_THAT(fabs(tamis__occupied(&o, n) - mean), <=, 1e-11 * mean);
    CHECK_THAT(fabs(tamis__occupied_variance(&o, n) - variance), <=, 1e-9 * variance + 1e-10);
}

static void mean_and_variance_are_exact(void)
{
    for_each_distribution(check_moments);
}

/* The chance that the interval at z misses n, given the distribution of the hits. */
static double miss_chance(const struct shape *s, double n, const double *q, double z)
{
    static struct estimate known[MOST_CELLS];
    static const struct shape *of;
    static double at;
    const struct occupancy o = occupancy_of(s);
    const size_t all = s->rows * s->cells;
    if (of != s || at < z || at > z)
        for (size_t y = 0; y <= all; y++) known[y] = tamis__items_from_hits(&o, (double)y, z);
    of = s;
    at = z;
    double missed = 0;
    for (size_t y = 0; y <= all; y++)
        if (n < known[y].low || n > known[y].high) missed += q[y];
    return missed;
}

static double widest_miss;

static void check_coverage(const struct shape *s, double n, const double *q)
{
    const double missed = miss_chance(s, n, q, TAMIS__Z99);
    CHECK_THAT(missed, <=, 0.01);
    if (missed > widest_miss) widest_miss = missed;
}

static void check_coverage_of_three(const struct shape *s, double n, const double *q)
{
    CHECK_THAT(miss_chance(s, n, q, TAMIS__Z99_OF_3), <=, 0.01 / 3);
}

/* Not a statistical test: for every n the misses are summed exactly. The intervals must also be
 * no wider than needed, or [0, infinity] would pass. */
static void intervals_cover_exactly(void)
{
    widest_miss = 0;
    for_each_distribution(check_coverage);
    CHECK_THAT(widest_miss, >, 0.008);
    for_each_distribution(check_coverage_of_three);
}

/* --- Through the library ---------------------------------------------------------------------- */

#define SEEDS 20000u
#define MOST_KEYS 2048u

static tamis_bytes KEYS[MOST_KEYS];

static void make_keys(enum key_style style)
{
    static char text[MOST_KEYS][KEY_MAX];
    for (size_t i = 0; i < MOST_KEYS; i++) {
        KEYS[i].p = text[i];
        KEYS[i].len = make_key(style, i, text[i]);
    }
}

/* Small filters of each kind, 511 to 2048 bits. */
static tamis *small_filter(uint32_t kind, uint64_t seed)
{
    tamis *t;
    tamis_plan p = {.struct_size = sizeof p};
    p.kind = kind;
    p.items = 50;
    p.m = kind == TAMIS_BLOOM ? 600 : kind == TAMIS_PARTITIONED ? 73 : 2048;
    p.k = kind == TAMIS_BLOCKED ? 8 : 7;
    p.seed = seed;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static struct occupancy small_occupancy(uint32_t kind)
{
    if (kind == TAMIS_BLOOM) return (struct occupancy){1, 600, 7, 0};
    if (kind == TAMIS_PARTITIONED) return (struct occupancy){7, 73, 1, 0};
    return (struct occupancy){8, 256, 1, 4};
}

static size_t items_for_fill(uint32_t kind, double fill)
{
    const struct occupancy o = small_occupancy(kind);
    return (size_t)ceil(-log1p(-fill) * o.cells / o.throws);
}

/* Moments of the hit cells over the seeds, and how often the interval misses; shrunk to half its
 * width it must be found out. */
static void check_items_interval(uint32_t kind, size_t n)
{
    const struct occupancy o = small_occupancy(kind);
    const double mean = tamis__occupied(&o, (double)n), cells = o.rows * o.cells;
    double missed = 0, shrunk = 0, first = 0, second = 0, fourth = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tamis *t = small_filter(kind, seed);
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_add_many(t, KEYS, n, NULL, NULL));
        CHECK_OK(tamis_info(t, &f));
        tamis_close(t);
        CHECK(f.items_low <= f.items_estimate && f.items_estimate <= f.items_high);
        const double low = (f.items_low + f.items_estimate) / 2;
        const double high = (f.items_high + f.items_estimate) / 2;
        missed += f.items_low > (double)n || f.items_high < (double)n;
        shrunk += low > (double)n || high < (double)n;
        const double off = floor(f.fill * cells + 0.5) - mean;
        first += off;
        second += off * off;
        fourth += pow(off, 4);
    }
    CHECK(!too_many_misses(missed, SEEDS));
    if (n >= 30) CHECK(too_many_misses(shrunk, SEEDS));
    /* 6.4 deviations of a mean of 20,000 values: below 1e-9 with some skewness of the values. */
    const double variance = tamis__occupied_variance(&o, (double)n);
    CHECK_THAT(fabs(first), <=, 6.4 * sqrt(SEEDS * variance) + 1e-6);
    const double of_square = fourth / SEEDS - pow(second / SEEDS, 2);
    if (n >= 30) CHECK_THAT(fabs(second / SEEDS - variance), <=, 6.4 * sqrt(of_square / SEEDS));
}

static void check_items_intervals(uint32_t kind)
{
    static const size_t few[] = {1, 2, 3, 5, 10};
    static const double fills[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95};
    make_keys(KEY_INTEGER);
    for (size_t i = 0; i < LENGTH(few); i++) check_items_interval(kind, few[i]);
    for (size_t i = 0; i < LENGTH(fills); i++)
        check_items_interval(kind, items_for_fill(kind, fills[i]));
}

static void items_of_bloom(void)
{
    check_items_intervals(TAMIS_BLOOM);
}

static void items_of_partitioned(void)
{
    check_items_intervals(TAMIS_PARTITIONED);
}

static void items_of_blocked(void)
{
    check_items_intervals(TAMIS_BLOCKED);
}

/* --- Two filters ------------------------------------------------------------------------------ */

#define PAIRS 4000u

struct misses {
    double joint, common, jaccard, shrunk;
};

static bool outside(double low, double high, double truth)
{
    return truth < low || truth > high;
}

/* A holds keys [0, a), B holds [a - both, a - both + b). */
static void compare_once(uint32_t kind, uint64_t seed, const size_t sizes[3], struct misses *m)
{
    const size_t a = sizes[0], b = sizes[1], both = sizes[2];
    const double joint = (double)(a + b - both), common = (double)both;
    tamis *x = small_filter(kind, seed), *y = small_filter(kind, seed);
    tamis_similarity s = {.struct_size = sizeof s};
    CHECK_OK(tamis_add_many(x, KEYS, a, NULL, NULL));
    CHECK_OK(tamis_add_many(y, KEYS + a - both, b, NULL, NULL));
    CHECK_OK(tamis_compare(x, y, &s, NULL));
    CHECK(s.union_low <= s.union_items && s.union_items <= s.union_high);
    CHECK(s.common_low <= s.common_items && s.common_items <= s.common_high && s.common_low >= 0);
    CHECK(s.jaccard_low <= s.jaccard && s.jaccard <= s.jaccard_high);
    CHECK(s.jaccard_low >= 0 && s.jaccard_high <= 1);
    m->joint += outside(s.union_low, s.union_high, joint);
    m->common += outside(s.common_low, s.common_high, common);
    m->jaccard += outside(s.jaccard_low, s.jaccard_high, common / joint);
    m->shrunk +=
        outside((s.union_low + s.union_items) / 2, (s.union_high + s.union_items) / 2, joint);
    tamis_close(x);
    tamis_close(y);
}

static void two_filters(void)
{
    static const uint32_t kinds[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED};
    /* of A, of B, of both: disjoint, overlapping, one inside the other, equal */
    static const size_t sets[][3] = {{30, 40, 0},   {60, 60, 6},  {50, 70, 25},
                                     {20, 100, 20}, {60, 60, 60}, {150, 150, 75},
                                     {1, 1, 0},     {1, 1, 1},    {2, 90, 1}};
    make_keys(KEY_TEXT);
    for (size_t k = 0; k < LENGTH(kinds); k++)
        for (size_t i = 0; i < LENGTH(sets); i++) {
            struct misses m = {0, 0, 0, 0};
            for (uint64_t seed = 1; seed <= PAIRS; seed++)
                compare_once(kinds[k], seed, sets[i], &m);
            CHECK(!too_many_misses(m.joint, PAIRS));
            CHECK(!too_many_misses(m.common, PAIRS));
            CHECK(!too_many_misses(m.jaccard, PAIRS));
            if (sets[i][1] >= 60) CHECK(too_many_misses(m.shrunk, PAIRS));
        }
}

/* Large enough that chance hardly matters: the estimates are near the truth, intervals narrow. */
static void large_sets(void)
{
    static tamis_hash h[300000];
    uint64_t state = 1;
    for (size_t i = 0; i < LENGTH(h); i++) h[i] = (tamis_hash){splitmix(&state), splitmix(&state)};
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        tamis *a, *b;
        tamis_similarity s = {.struct_size = sizeof s};
        tamis_plan p = {.struct_size = sizeof p};
        p.kind = kind;
        p.flags = TAMIS_HASH_CALLER;
        p.items = 200000;
        p.fpr = 0.01;
        CHECK_OK(tamis_create(&p, NULL, &a, NULL));
        CHECK_OK(tamis_create(&p, NULL, &b, NULL));
        CHECK_OK(tamis_add_hashes(a, h, 200000, NULL, NULL));
        CHECK_OK(tamis_add_hashes(b, h + 100000, 200000, NULL, NULL));
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        /* Half the width is 2.9 deviations or more, so 1.1 widths are 6.4: a false alarm has the
         * chance 2e-10. */
        CHECK_THAT(fabs(s.union_items - 300000), <, 1.1 * (s.union_high - s.union_low));
        CHECK_THAT(fabs(s.common_items - 100000), <, 1.1 * (s.common_high - s.common_low));
        CHECK_THAT(s.union_high - s.union_low, <, 3000);
        CHECK_THAT(s.common_high - s.common_low, <, 6000);
        CHECK_THAT(fabs(s.jaccard - 1.0 / 3), <, 0.01);
        /* Merged, it says about itself what compare said about the union. */
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_merge(a, b, NULL));
        CHECK_OK(tamis_info(a, &f));
        CHECK_THAT(f.items_estimate, ==, s.union_items);
        CHECK_THAT(fabs((double)f.items - s.union_items), <=, 0.5);
        CHECK(f.items_estimated && f.overfull);
        tamis_close(a);
        tamis_close(b);
    }
}

/* --- The ends --------------------------------------------------------------------------------- */

static void empty_filters(void)
{
    make_keys(KEY_SHORT);
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        tamis *a = small_filter(kind, 1), *b = small_filter(kind, 1);
        tamis_facts f = {.struct_size = sizeof f};
        tamis_similarity s = {.struct_size = sizeof s};
        CHECK_OK(tamis_info(a, &f));
        CHECK(f.items == 0 && f.items_estimate <= 0 && f.items_low <= 0 && f.items_high <= 0);
        CHECK(f.fill <= 0 && f.fpr_now <= 0 && !f.overfull);
        CHECK(isfinite(f.bits_per_item) && isfinite(f.bound_bits) && isfinite(f.bound_ratio));
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        CHECK(s.union_high <= 0 && s.common_high <= 0 && s.jaccard_high <= 0 && s.jaccard >= 0);
        CHECK_OK(tamis_add_many(b, KEYS, 20, NULL, NULL));
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        CHECK(s.union_low <= 20 && s.union_high >= 20);
        CHECK(s.common_items <= 0 && s.common_high <= 0 && s.jaccard_high <= 0);
        tamis_close(a);
        tamis_close(b);
    }
}

/* A full filter tells only that there are many. */
static void full_filters(void)
{
    make_keys(KEY_SHORT);
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        tamis *a = small_filter(kind, 1), *b = small_filter(kind, 1);
        tamis_facts f = {.struct_size = sizeof f};
        tamis_similarity s = {.struct_size = sizeof s};
        for (uint32_t i = 0; f.fill < 1; i++) {
            CHECK_THAT(i, <, 100000);
            CHECK_OK(tamis_add(a, &i, sizeof i, NULL));
            CHECK_OK(tamis_info(a, &f));
        }
        CHECK(isinf(f.items_high) && isfinite(f.items_estimate) && isfinite(f.items_low));
        CHECK(f.items_low <= f.items_estimate && f.items_low > 50 && f.overfull && f.fpr_now >= 1);
        CHECK_OK(tamis_add_many(b, KEYS, 20, NULL, NULL));
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        CHECK(isinf(s.union_high) && isfinite(s.union_items) && isfinite(s.common_items));
        CHECK(s.common_low <= 0 && s.common_high >= 20 && isfinite(s.common_high));
        CHECK(s.jaccard >= 0 && s.jaccard <= 1 && s.jaccard_low <= 0);
        CHECK_OK(tamis_merge(b, a, NULL));
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        CHECK(isinf(s.common_high) && s.jaccard_low <= 0 && s.jaccard_high >= 1);
        tamis_close(a);
        tamis_close(b);
    }
}

/* The formulae at the largest sizes a plan may have: no NaN, and powers that keep their digits. */
static void vast_filters(void)
{
    const double vast = 4503599627370496; /* 2^52 */
    const struct occupancy shapes[] = {
        {1, vast, 7, 0}, {64, vast / 64, 1, 0}, {8, vast / 8, 1, vast / 512}, {1, 2, 1, 0}};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        const struct occupancy *o = &shapes[i];
        for (double n = 1; n < 1e15; n *= 10) {
            const double hit = floor(tamis__occupied(o, n) + 0.5);
            const double v = tamis__occupied_variance(o, n);
            const struct estimate e = tamis__items_from_hits(o, hit, TAMIS__Z99);
            CHECK(v >= 0 && v <= o->rows * o->rows * o->cells);
            CHECK(e.low <= e.value && e.value <= e.high && e.low >= 1);
            if (o->cells > 2) {
                CHECK_THAT(fabs(e.value / n - 1), <, 1e-6 + 0.5 / n);
                CHECK(e.low <= n && e.high >= n && e.high < 2 * n + 2);
            }
        }
    }
}

static const struct test tests[] = {
    {"mean_and_variance_are_exact", mean_and_variance_are_exact},
    {"intervals_cover_exactly", intervals_cover_exactly},
    {"items_of_bloom", items_of_bloom},
    {"items_of_partitioned", items_of_partitioned},
    {"items_of_blocked", items_of_blocked},
    {"two_filters", two_filters},
    {"large_sets", large_sets},
    {"empty_filters", empty_filters},
    {"full_filters", full_filters},
    {"vast_filters", vast_filters},
};
TEST_MAIN(tests)
