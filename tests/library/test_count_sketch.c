/* What the lectures prove for count-sketch, and its purpose: weights of either sign. Each trial
 * has a sketch with its own seed and one query, so trials are independent, and the number that
 * breaks a bound of probability p is below a binomial (trials, p). The limits are where that has
 * a probability of 1e-10. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "core/occupancy.h"

#define FALSE_ALARM 1e-10

static unsigned limit(unsigned trials, double p)
{
    unsigned c = (unsigned)(trials * p);
    while (tamis__binomial_tail(trials, p, c) > FALSE_ALARM) c++;
    return c;
}

static tamis *rows_new(uint64_t m, uint32_t k, uint64_t seed)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_COUNT_SKETCH, .m = m, .k = k, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

/* Chebyshev's inequality is nearly tight for equal keys, just fewer than a third of the counters of
 * a row. */
static void test_norm_bound(void)
{
    const unsigned trials = 1500;
    const uint64_t m = 64, heavy = 21;
    for (uint32_t k = 1; k <= 5; k += 2) {
        unsigned beyond = 0;
        const double delta = tamis__binomial_tail(k, 1.0 / 3, (k + 1) / 2);
        for (unsigned trial = 0; trial < trials; trial++) {
            tamis *t = rows_new(m, k, 1000 + trial);
            for (uint64_t key = 0; key < heavy; key++)
                CHECK_OK(tamis_add_weight(t, &key, sizeof key, key % 2 ? 1000 : -1000, NULL));
            const double norm = sqrt((double)heavy) * 1000;
            beyond += fabs((double)ask_count(t, 999999).estimate) > sketch_facts(t).error * norm;
            tamis_close(t);
        }
        CHECK_THAT(beyond, <, limit(trials, delta));
        if (k == 1) CHECK_THAT(beyond, >, trials / 8); /* the bound is needed */
    }
}

/* A row meets one of the m/8 heaviest with a chance of at most 1/8; of all others, R the sum of
 * their squares, it sees more than sqrt(8 R / m) with at most 1/8: 1/4 a row, and the median needs
 * half of the rows. */
static void test_tail_bound(void)
{
    const unsigned trials = 300;
    const uint32_t m = 128;
    static const double alphas[3] = {0.8, 1.0, 1.3};
    for (size_t a = 0; a < 3; a++)
        for (uint32_t k = 1; k <= 5; k += 4) {
            unsigned beyond = 0;
            double rest = 0;
            struct stream z = zipf_stream(alphas[a], 5000, 2000, 11);
            for (uint32_t i = m / 8; i < z.universe; i++) /* about the heaviest are left out */
                rest += (double)z.truth[i] * (double)z.truth[i];
            for (unsigned trial = 0; trial < trials; trial++) {
                tamis *t = rows_new(m, k, trial);
                const uint32_t key = (trial * 7) % 2000;
                add_stream(t, &z, 0, z.n);
                const double wrong = (double)(ask_count(t, key).estimate - z.truth[key]);
                beyond += fabs(wrong) > sqrt(8 * rest / m);
                tamis_close(t);
            }
            CHECK_THAT(beyond, <, limit(trials, tamis__binomial_tail(k, 0.25, (k + 1) / 2)));
            stream_free(&z);
        }
}

/* The mean error of one row over many seeds is 0, within seven standard deviations (2.6e-12). */
static void test_unbiased(void)
{
    const unsigned trials = 2000;
    double sum = 0, squares = 0;
    for (uint64_t key = 1; key <= 300; key++) squares += (double)(key * key);
    for (unsigned trial = 0; trial < trials; trial++) {
        tamis *t = rows_new(32, 1, trial);
        for (uint64_t key = 1; key <= 300; key++)
            CHECK_OK(tamis_add_weight(t, &key, sizeof key, (int64_t)key, NULL));
        sum += (double)ask_count(t, 7).estimate - 7;
        tamis_close(t);
    }
    CHECK_THAT(fabs(sum / trials), <, 7 * sqrt(squares / 32 / trials));
}

static void test_plan_from_error(void)
{
    for (double error = 0.5; error > 1e-3; error /= 3)
        for (double delta = 0.3; delta > 0.02; delta /= 2) { /* 31 rows give 0.0296 */
            tamis_plan p = {.struct_size = sizeof p,
                            .kind = TAMIS_COUNT_SKETCH,
                            .error = error,
                            .delta = delta};
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK(p.error <= error && p.delta <= delta && p.k % 2 == 1);
            CHECK_THAT(p.m, ==, ceil(3 / (error * error) - 1e-6));
            const tamis_plan solved = p;
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK(memcmp(&solved, &p, sizeof p) == 0);
        }
    tamis_plan impossible = {
        .struct_size = sizeof impossible, .kind = TAMIS_COUNT_SKETCH, .m = 9, .delta = 0.02};
    CHECK_THAT(tamis_solve(&impossible, NULL, NULL), ==, TAMIS_EINVAL);
    tamis_plan even = {.struct_size = sizeof even, .kind = TAMIS_COUNT_SKETCH, .m = 100, .k = 4};
    CHECK_THAT(tamis_solve(&even, NULL, NULL), ==, TAMIS_EINVAL);
}

/* One stream less another: what is left is what differs, and the intervals say so. */
static void test_difference(void)
{
    struct stream z = zipf_stream(1.0, 200000, 50000, 8);
    tamis *t = rows_new(1 << 12, 5, 0), *less = rows_new(1 << 12, 5, 0);
    add_stream(t, &z, 0, z.n);
    for (uint32_t i = 0; i < z.n; i++) {
        const uint64_t key = z.keys[i];
        if (key % 100 == 3) continue; /* one in a hundred keys is not taken away */
        CHECK_OK(tamis_add_weight(less, &key, sizeof key, -1, NULL));
    }
    const uint64_t extra = 4; /* and one more than there was */
    CHECK_OK(tamis_add_weight(less, &extra, sizeof extra, -5000, NULL));
    CHECK(sketch_facts(less).weight < 0 && sketch_facts(less).items == 0);
    struct bytes image = image_of(less);
    tamis *again;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK(sketch_facts(again).weight == sketch_facts(less).weight);
    CHECK_OK(tamis_merge(t, again, NULL));
    double in = 0, wrong = 0;
    tamis_estimate *e = count_universe(t, z.universe);
    for (uint32_t k = 0; k < z.universe; k++) {
        const int64_t truth = k == extra ? -5000 : k % 100 == 3 ? z.truth[k] : 0;
        in += e[k].lower <= truth && truth <= e[k].upper;
        wrong += fabs((double)(e[k].estimate - truth)) / z.universe;
    }
    CHECK_THAT(in, >=, 0.985 * z.universe);
    CHECK_THAT(wrong, <, 10);
    CHECK(e[extra].upper < -4000 && !e[extra].below_noise && e[3].lower > 1000);
    free(e);
    free(image.p);
    tamis_close(again);
    tamis_close(less);
    tamis_close(t);
    stream_free(&z);
}

static void test_ends_of_both_signs(void)
{
    const uint64_t key = 3;
    for (uint32_t bits = 32; bits <= 64; bits += 32)
        for (int sign = -1; sign <= 1; sign += 2) {
            const tamis_plan p = {.struct_size = sizeof p,
                                  .kind = TAMIS_COUNT_SKETCH,
                                  .m = 50,
                                  .k = 3,
                                  .cell_bits = bits};
            const int64_t far = sign > 0 ? INT64_MAX : -INT64_MAX;
            tamis *t;
            CHECK_OK(tamis_create(&p, NULL, &t, NULL));
            CHECK_OK(tamis_add_weight(t, &key, 8, far, NULL));
            CHECK_OK(tamis_add_weight(t, &key, 8, sign > 0 ? INT64_MIN : INT64_MAX, NULL));
            const tamis_estimate e = ask_count(t, key); /* where it was, for ever */
            CHECK(e.estimate == far);
            CHECK(e.upper == INT64_MAX && e.lower == INT64_MIN && e.confidence == 1);
            CHECK_THAT(sketch_facts(t).saturated, ==, 3);
            tamis_close(t);
        }
}

/* If one row of three is saturated, the median stays where it was. But the key itself may have
 * saturated it, and what it lost since is missing in that row only. */
static void one_row_ends(bool window)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = window ? TAMIS_WINDOW : TAMIS_COUNT_SKETCH,
                          .inner_kind = window ? TAMIS_COUNT_SKETCH : 0,
                          .generations = window ? 3 : 0,
                          .m = 1000,
                          .k = 3,
                          .flags = TAMIS_HASH_CALLER};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    /* The first row goes by lo alone, the others by hi as well. */
    const tamis_hash h[2] = {{UINT64_C(1) << 60, 1},
                             {UINT64_C(1) << 60, UINT64_C(1) << 63 | 12345}};
    const int64_t weights[] = {10, INT32_MAX};
    CHECK_OK(tamis_add_weight_hashes(t, h, weights, 2, NULL, NULL));
    CHECK_THAT(sketch_facts(t).saturated, ==, 3);
    if (window) CHECK_OK(tamis_rotate(t, NULL)); /* in any of its generations */
    tamis_estimate e[3];
    const tamis_hash asked[3] = {h[0], h[1], {UINT64_C(1) << 59, 7}};
    CHECK_OK(tamis_count_hashes(t, asked, 3, e, NULL));
    CHECK(e[0].estimate == 10 && e[0].lower == INT64_MIN && e[0].upper == INT64_MAX);
    CHECK(e[1].estimate == INT64_MAX && e[1].lower == INT64_MIN);
    CHECK(e[2].estimate == 0 && e[2].lower > -1000 &&
          e[2].upper < 1000); /* of others enough is left */
    tamis_close(t);
}

static void test_one_row_ends(void)
{
    one_row_ends(false);
    one_row_ends(true);
}

static const struct test tests[] = {
    {"norm bound", test_norm_bound},     {"tail bound", test_tail_bound},
    {"unbiased", test_unbiased},         {"plan from error", test_plan_from_error},
    {"difference", test_difference},     {"ends of both signs", test_ends_of_both_signs},
    {"one row ends", test_one_row_ends},
};

TEST_MAIN(tests)
