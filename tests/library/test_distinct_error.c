/* The counts of `distinct` are as accurate as docs/ACCURACY.md says: their variance, their bias and
 * the coverage of their intervals. The seeds are fixed. With other seeds, each limit would be
 * exceeded with a probability below 1e-9, which is 6 standard deviations of what is measured.
 * tests/long/test_long_distinct.c does the same with larger sketches. */
#include "../../bench/distinct/states.h"
#include "../support/check.h"

#include <tamis/distinct.h>

#ifndef RUNS
#define RUNS 110000u
#define SIZES                                                                                      \
    {4, 10000, RUNS, 3.745}, {8, 128, RUNS / 100, 0}, {8, 129, RUNS / 4, 1.582},                   \
    {                                                                                              \
        8, 1000, RUNS / 8, 1.721                                                                   \
    }
#endif
#define DEVIATIONS 6.0
#define GOAL 3.9

struct size {
    unsigned p;
    uint64_t n;
    unsigned runs;
    double predicted; /* bits x relative variance, by bench/distinct/theory.py; 0 if exact */
};
static const struct size sizes[] = {SIZES};

struct sums {
    double squares, bias;
    unsigned missed, exact, near;
    double promised;
};

static struct sums count_often(const struct size *size)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = UINT64_C(1) << size->p};
    const double n = (double)size->n;
    struct sums sums = {0};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (unsigned run = 0; run < size->runs; run++) {
        tamis_cardinality c = TAMIS_CARDINALITY_INIT;
        uint64_t state = states_seed(size->n << 8 | size->p, run);
        CHECK_OK(tamis_clear(t));
        CHECK_OK(states_fill(t, size->p, size->n, &state));
        CHECK_OK(tamis_distinct(t, &c, NULL));
        const double off = c.value / n - 1;
        sums.squares += off * off;
        sums.bias += off;
        sums.missed += c.low > n || c.high < n;
        sums.exact += c.exact && c.value == n && c.error == 0;
        sums.near += fabs(off) <= c.error;
        sums.promised = c.error;
    }
    tamis_close(t);
    return sums;
}

static void check_size(const struct size *size)
{
    const struct sums sums = count_often(size);
    const double runs = size->runs, product = ldexp(32, (int)size->p) * sums.squares / runs;
    if (size->predicted == 0) {
        CHECK_THAT(sums.exact, ==, size->runs);
        return;
    }
    printf("p %u, %llu keys: bits x variance %.3f, bias %+.4f errors, %.3f %% missed\n", size->p,
           (unsigned long long)size->n, product, sums.bias / runs / sums.promised,
           100 * sums.missed / runs);
    /* The prediction is that of many registers. With 16 of them, the variance is 1 % greater. */
    CHECK_THAT(product, <=,
               size->predicted * (1 + ldexp(0.25, -(int)size->p)) *
                   (1 + DEVIATIONS * sqrt(2 / runs)));
    CHECK(size->runs < RUNS || product <= GOAL);
    CHECK_THAT(fabs(sums.bias / runs), <, (0.05 + DEVIATIONS / sqrt(runs)) * sums.promised);
    CHECK_THAT(sums.missed, <=, 0.01 * runs + DEVIATIONS * sqrt(0.0099 * runs));
    /* Two thirds are within one error: 68 % for many keys, more for few. */
    CHECK_THAT(sums.near, >=, 0.667 * runs);
    /* A useless interval would never miss. It is generous if there are few keys per register, since
     * it ends at integers. */
    const double least = size->n >> size->p > 8 ? 0.01 : 0.008;
    if (size->n >> size->p > 2)
        CHECK_THAT(sums.missed, >=, least * runs - DEVIATIONS * sqrt(least * runs));
}

static void test_sizes(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_size(&sizes[i]);
}

/* Sketches to which few keys and all values of the lowest levels were added have the same
 * distribution of counts as sketches to which all keys were added. */
static void test_simulated_states(void)
{
    enum { P = 4, KEYS = 10000, SKETCHES = 4000 };
    double sums[2] = {0}, squares[2] = {0};
    const unsigned levels[2] = {0, states_first_level(P, KEYS)};
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = 1 << P};
    tamis *t;
    CHECK_THAT(levels[1], >=, 2);
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (unsigned run = 0; run < 2 * SKETCHES; run++) {
        uint64_t state = states_seed(3, run);
        tamis_cardinality c = TAMIS_CARDINALITY_INIT;
        CHECK_OK(tamis_clear(t));
        CHECK_OK(states_fill_from(t, P, KEYS, levels[run % 2], &state));
        CHECK_OK(tamis_distinct(t, &c, NULL));
        const double off = c.value / KEYS - 1;
        sums[run % 2] += off / SKETCHES;
        squares[run % 2] += off * off / SKETCHES;
    }
    tamis_close(t);
    const double variance = (squares[0] + squares[1]) / 2;
    CHECK_THAT(fabs(sums[0] - sums[1]), <, DEVIATIONS * sqrt(2 * variance / SKETCHES));
    CHECK_THAT(fabs(squares[0] - squares[1]), <, DEVIATIONS * variance * sqrt(4.0 / SKETCHES));
}

static const struct test tests[] = {
    {"variance, bias and coverage", test_sizes},
    {"simulated states", test_simulated_states},
};
TEST_MAIN(tests)
