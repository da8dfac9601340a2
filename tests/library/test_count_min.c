/* The bounds that the lectures prove for count-min, on the streams that come nearest to them,
 * and what conservative updates add. Each trial has a sketch with its own seed and one query, so
 * trials are independent, and the number that breaks a bound of probability p is below a
 * binomial (trials, p). The limits are where that has a probability of 1e-10. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "core/occupancy.h"

#define FALSE_ALARM 1e-10

/* The fewest that would be an alarm. */
static unsigned limit(unsigned trials, double p)
{
    unsigned c = (unsigned)(trials * p);
    while (tamis__binomial_tail(trials, p, c) > FALSE_ALARM) c++;
    return c;
}

static tamis *rows_new(uint64_t m, uint32_t k, uint64_t seed)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_COUNT_MIN, .m = m, .k = k, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static int64_t upper_of(const tamis *t, uint64_t key)
{
    return ask_count(t, key).upper;
}

/* Error and delta are met, and not outdone: Markov's inequality is tight for as many equal keys as
 * a row has counters, divided by e. With one key more the textbook's e is exceeded in every trial
 * where any of them is met. */
static void test_lecture_bound(void)
{
    const unsigned trials = 1500;
    const uint64_t m = 64, heavy = 23; /* 64 / e = 23.5 */
    for (uint32_t k = 1; k <= 3; k++) {
        const double delta = exp(-(double)k), met = pow(1 - pow(1 - 1.0 / (double)m, heavy), k);
        unsigned beyond = 0;
        for (unsigned trial = 0; trial < trials; trial++) {
            tamis *t = rows_new(m, k, 1000 + trial);
            for (uint64_t key = 0; key < heavy; key++)
                CHECK_OK(tamis_add_weight(t, &key, sizeof key, 1000, NULL));
            const tamis_facts f = sketch_facts(t);
            beyond += (double)upper_of(t, 999999) > f.error * (double)f.weight;
            tamis_close(t);
        }
        CHECK_THAT(beyond, <, limit(trials, delta));
        /* And the rows are independent: not all at once. */
        CHECK_THAT(beyond, <, limit(trials, met));
        CHECK_THAT(trials - beyond, <, limit(trials, 1 - met));
    }
}

/* Outside the heaviest m/4 keys, which a counter of the key meets with a chance of 1/4, a row has
 * the weight R of all others, more than 4R/m of which with a chance of at most 1/4: both together
 * 1/2 a row. */
static void test_tail_bound(void)
{
    const unsigned trials = 300;
    const uint32_t m = 128;
    static const double alphas[3] = {0.8, 1.0, 1.3};
    for (size_t a = 0; a < 3; a++)
        for (uint32_t k = 1; k <= 4; k += 3) {
            unsigned beyond = 0;
            struct stream z = zipf_stream(alphas[a], 5000, 2000, 11);
            int64_t rest = z.n;
            for (uint32_t i = 0; i < m / 4; i++) rest -= z.truth[i]; /* about the heaviest */
            for (unsigned trial = 0; trial < trials; trial++) {
                tamis *t = rows_new(m, k, trial);
                const uint32_t key = (trial * 7) % 2000;
                add_stream(t, &z, 0, z.n);
                const int64_t wrong = upper_of(t, key) - z.truth[key];
                CHECK(wrong >= 0);
                beyond += (double)wrong > 4.0 * (double)rest / m;
                tamis_close(t);
            }
            CHECK_THAT(beyond, <, limit(trials, pow(0.5, k)));
            stream_free(&z);
        }
}

static void test_plan_from_error(void)
{
    for (double error = 0.3; error > 1e-6; error /= 3)
        for (double delta = 0.4; delta > 1e-9; delta /= 7) {
            tamis_plan p = {
                .struct_size = sizeof p, .kind = TAMIS_COUNT_MIN, .error = error, .delta = delta};
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK_THAT(p.error, <=, error);
            CHECK_THAT(p.delta, <=, delta);
            CHECK_THAT(p.m, ==, ceil(2.718281828459045 / error));
            CHECK_THAT(p.k, ==, ceil(log(1 / delta)));
            const tamis_plan solved = p;
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK(memcmp(&solved, &p, sizeof p) == 0);
            p.error = error / 2;
            CHECK_THAT(tamis_solve(&p, NULL, NULL), ==, TAMIS_EINVAL);
            p = solved;
            p.bytes--;
            CHECK_THAT(tamis_solve(&p, NULL, NULL), ==, TAMIS_EINVAL);
        }
    tamis_plan rare = {.struct_size = sizeof rare, .kind = TAMIS_COUNT_MIN, .m = 9, .delta = 1e-14};
    CHECK_THAT(tamis_solve(&rare, NULL, NULL), ==, TAMIS_EINVAL); /* 32 rows give 1.3e-14 */
    rare.delta = 1.3e-14;
    CHECK_OK(tamis_solve(&rare, NULL, NULL));
    CHECK_THAT(rare.k, ==, 32);
}

/* No counter of a conservative sketch is above the plain one's, and the mean error is half or
 * less. */
static void test_conservative_is_better(void)
{
    static const double alphas[3] = {0.8, 1.0, 1.3};
    for (size_t a = 0; a < 3; a++) {
        struct stream z = zipf_stream(alphas[a], 500000, 100000, 5);
        tamis *plain = sketch_new(&sketches[0], 65536, 0);
        tamis *careful = sketch_new(&sketches[2], 65536, 0);
        add_stream(plain, &z, 0, z.n);
        add_stream(careful, &z, 0, z.n);
        tamis_estimate *p = count_universe(plain, z.universe);
        tamis_estimate *c = count_universe(careful, z.universe);
        double wrong_plain = 0, wrong = 0;
        for (uint32_t i = 0; i < z.universe; i++) {
            CHECK(z.truth[i] <= c[i].upper && c[i].upper <= p[i].upper);
            wrong_plain += (double)(p[i].upper - z.truth[i]);
            wrong += (double)(c[i].upper - z.truth[i]);
        }
        CHECK_THAT(wrong, <, 0.65 * wrong_plain);
        const tamis_facts f = sketch_facts(plain), g = sketch_facts(careful);
        CHECK(!f.conservative && g.conservative && f.m == g.m && f.cell_bits == 32);
        uint64_t cells[4];
        const uint64_t key = 3;
        CHECK_THAT(tamis_cells_of(plain, &key, sizeof key, cells, 4), ==, 4);
        for (uint32_t j = 0; j < 4; j++) {
            CHECK(cells[j] / f.m == j && tamis_cell(plain, cells[j]) >= (uint64_t)z.truth[3]);
            CHECK(tamis_cell(plain, cells[j]) >= tamis_cell(careful, cells[j]));
        }
        free(p);
        free(c);
        tamis_close(plain);
        tamis_close(careful);
        stream_free(&z);
    }
}

/* Counts that may be noise are marked at once: a key that never occurred could have them. */
static void test_distinct_items(void)
{
    tamis *t = sketch_new(&sketches[0], 65536, 0);
    for (uint64_t key = 0; key < 3000; key++)
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, 1 + (int64_t)key % 50, NULL));
    const tamis_facts f = sketch_facts(t);
    CHECK(f.items_low <= 3000 && 3000 <= f.items_high && f.items_high < 3400);
    tamis_close(t);
}

static const struct test tests[] = {
    {"lecture bound", test_lecture_bound},
    {"tail bound", test_tail_bound},
    {"plan from error", test_plan_from_error},
    {"conservative is better", test_conservative_is_better},
    {"distinct items", test_distinct_items},
};

TEST_MAIN(tests)
