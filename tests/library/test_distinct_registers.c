/* The registers of distinct sketches (distinct/registers.h) against sets of values, and the kernels
 * against the functions in C. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "core/cpu.h"
#include "distinct/registers.h"

#include <string.h>

enum { VALUES = TAMIS__MOST_VALUE + 1 };

struct set {
    bool had[VALUES];
};

static uint32_t register_of(const struct set *s)
{
    uint32_t greatest = 0, bits = 0;
    for (uint32_t v = 1; v < VALUES; v++)
        if (s->had[v]) greatest = v;
    for (uint32_t below = 1; below <= 24 && below < greatest; below++)
        if (s->had[greatest - below]) bits |= UINT32_C(1) << (24 - below);
    return greatest << 24 | bits;
}

/* A random set whose values are around `middle`; none of them if it is 0. */
static struct set random_set(uint64_t *random)
{
    struct set s;
    const uint64_t middle = splitmix(random) % VALUES, width = 1 + splitmix(random) % 60;
    const uint64_t n = splitmix(random) % 30;
    memset(&s, 0, sizeof s);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t v = middle + splitmix(random) % width;
        if (v >= 1 && v < VALUES) s.had[v] = true;
    }
    return s;
}

/* For every value: what receiving it gives, and whether it was known. */
static void test_values(void)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 3000; round++) {
        const struct set s = random_set(&random);
        const uint32_t r = register_of(&s);
        for (unsigned v = 1; v < VALUES; v++) {
            struct set with = s;
            with.had[v] = true;
            const uint32_t expected = register_of(&with);
            CHECK_THAT(tamis__register_with(r, v), ==, expected);
            CHECK_THAT(tamis__register_knows(r, v), ==, (expected == r));
        }
    }
}

static void test_unions(void)
{
    uint64_t random = 2;
    for (unsigned round = 0; round < 300000; round++) {
        const struct set a = random_set(&random), b = random_set(&random);
        struct set both = a;
        for (unsigned v = 1; v < VALUES; v++) both.had[v] |= b.had[v];
        const uint32_t x = register_of(&a), y = register_of(&b), expected = register_of(&both);
        CHECK_THAT(tamis__register_union(x, y), ==, expected);
        CHECK_THAT(tamis__register_union(y, x), ==, expected);
        CHECK_THAT(tamis__register_union(x, x), ==, x);
    }
}

/* The values of hashes have the probabilities that the estimate assumes: those of level l are
 * 2^-(l+3) each. 2^-62 is the rest. */
static void test_levels(void)
{
    double sum = 0;
    for (unsigned zeros = 0; zeros < 64; zeros++)
        for (uint64_t rest = 0; rest < 4; rest++) {
            const uint64_t lo = (zeros < 62 ? UINT64_C(1) << (63 - zeros) : 0) | rest;
            const unsigned level = zeros < 62 ? zeros : 62;
            CHECK_THAT(tamis__value_of((tamis_hash){lo, 0}), ==, 4 * level + rest + 1);
        }
    for (unsigned l = 0; l < TAMIS__LEVELS; l++) {
        double p = 4;
        for (int i = 0; i < tamis__level_exponent(l); i++) p /= 2;
        sum += p;
    }
    CHECK(sum == 1);
}

/* All kernels that have it, with registers and hashes of any kind. */
static void test_kernels(void)
{
    enum { LOG = 6, N = 128 };
    static _Alignas(64) uint8_t cells[4 << LOG];
    const struct kernels *all[4];
    const size_t tables = tamis__runnable_kernels(all);
    uint64_t random = 3;
    for (unsigned round = 0; round < 20000; round++) {
        tamis_hash h[N];
        uint8_t known[N / 8];
        const size_t n = 8 * (1 + splitmix(&random) % (N / 8));
        for (size_t i = 0; i < 1 << LOG; i++) {
            const struct set s = random_set(&random);
            if (round % 8 == i % 8) tamis__put32(cells + 4 * i, register_of(&s));
        }
        for (size_t i = 0; i < n; i++) {
            const unsigned zeros = (unsigned)(splitmix(&random) % 64);
            h[i] = (tamis_hash){splitmix(&random) >> zeros, splitmix(&random)};
        }
        for (size_t k = 0; k < tables; k++) {
            if (all[k]->registers_know == NULL) continue;
            all[k]->registers_know(cells, LOG, h, n, known);
            for (size_t i = 0; i < n; i++) {
                const uint32_t r = tamis__get32(cells + 4 * (h[i].hi >> (64 - LOG)));
                CHECK((known[i / 8] >> i % 8 & 1) ==
                      tamis__register_knows(r, tamis__value_of(h[i])));
            }
        }
    }
}

static const struct test tests[] = {
    {"values", test_values},
    {"unions", test_unions},
    {"levels", test_levels},
    {"kernels", test_kernels},
};

TEST_MAIN(tests)
