/* What naive noise reveals: attacks on filters that were made "anonymous" in ways that are in use.
 * The noise under attack is simulated here and seeded, so that two runs print the same. The
 * library's noise is random and cannot be seeded. */
#include "accuracy.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define K 7u

static uint64_t random_64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns whether an event of probability p happens now. */
static int happens(double p, uint64_t *state)
{
    return ldexp((double)(random_64(state) >> 11), -53) < p;
}

static tamis *filter_of(uint64_t m, uint64_t keys)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = keys, .m = m, .k = K};
    tamis *t;
    if (tamis_create(&p, NULL, &t, NULL) != TAMIS_OK) exit(1);
    for (uint64_t i = 0; i < keys; i++)
        if (tamis_add(t, &i, sizeof i, NULL) != TAMIS_OK) exit(1);
    return t;
}

/* Returns how many of a key's bits are set in what the attacker holds. */
static unsigned bits_of(const tamis *t, uint64_t key, const uint8_t *bits)
{
    uint64_t cells[K];
    unsigned set = 0;
    tamis_cells_of(t, &key, sizeof key, cells, K);
    for (unsigned j = 0; j < K; j++) set += bits[cells[j]];
    return set;
}

/* If each release has fresh noise, the majority of the releases has none. */
static void print_averaging(void)
{
    enum { M = 10000, N = 1000, OTHERS = 100000, MOST = 99 };
    static const unsigned releases[] = {1, 3, 9, 33, MOST};
    static uint8_t votes[M], guess[M];
    const double p = 1 / (1 + exp(1));
    tamis *t = filter_of(M, N);
    uint64_t state = 1;
    unsigned done = 0;
    memset(votes, 0, sizeof votes);
    printf("| releases | wrong bits | members that show all 7 bits | others that do |\n"
           "|---|---|---|---|\n");
    for (size_t row = 0; row < sizeof releases / sizeof *releases; row++) {
        unsigned wrong = 0, found = 0, accused = 0;
        for (; done < releases[row]; done++)
            for (unsigned i = 0; i < M; i++)
                votes[i] = (uint8_t)(votes[i] + (tamis_cell(t, i) ^ (unsigned)happens(p, &state)));
        for (unsigned i = 0; i < M; i++) {
            guess[i] = votes[i] > done / 2;
            wrong += guess[i] != tamis_cell(t, i);
        }
        for (uint64_t i = 0; i < N; i++) found += bits_of(t, i, guess) == K;
        for (uint64_t i = N; i < N + OTHERS; i++) accused += bits_of(t, i, guess) == K;
        printf("| %u | %.2f %% | %.1f %% | %.2f %% |\n", done, 100.0 * wrong / M, 100.0 * found / N,
               100.0 * accused / OTHERS);
    }
    printf("\n");
    tamis_close(t);
}

/* The k bits of a key are k statements about it. Prints the probability that all of them are set
 * for a member and for a non-member. */
static void print_many_bits(void)
{
    enum { RELEASES = 1000000 };
    const double p = 1 / (1 + exp(1));
    uint64_t state = 2;
    printf(
        "| bits per key | with the key | without it | odds | epsilon |\n|---|---|---|---|---|\n");
    for (unsigned k = 1; k <= 5; k += 2) {
        double all[2] = {0, 0};
        for (unsigned i = 0; i < 2 * RELEASES; i++) {
            unsigned set = 0;
            for (unsigned j = 0; j < k; j++) set += (i % 2) ^ (unsigned)happens(p, &state);
            all[i % 2] += set == k;
        }
        printf("| %u | %.2f %% | %.3f %% | %.1f | %.2f |\n", k, 100 * all[1] / RELEASES,
               100 * all[0] / RELEASES, all[1] / all[0], log(all[1] / all[0]));
    }
    printf("\n");
}

/* Noise derived from a password is the same each day, and cancels out in the difference of two
 * days. */
static void print_password(void)
{
    enum { M = 20000, N = 1000, NEW = 50, OTHERS = 1000000 };
    static uint8_t difference[M];
    static const double rates[] = {0.05, 0.25, 0.45};
    printf("| flipped | bits that differ | new members accused | others accused |\n"
           "|---|---|---|---|\n");
    for (size_t row = 0; row < sizeof rates / sizeof *rates; row++) {
        tamis *today = filter_of(M, N), *tomorrow = filter_of(M, N + NEW);
        uint64_t noise[2] = {3, 3}; /* the password */
        unsigned differ = 0, found = 0, accused = 0;
        for (unsigned i = 0; i < M; i++) {
            const uint64_t a = tamis_cell(today, i) ^ (unsigned)happens(rates[row], &noise[0]),
                           b = tamis_cell(tomorrow, i) ^ (unsigned)happens(rates[row], &noise[1]);
            difference[i] = (uint8_t)(a ^ b);
            differ += difference[i];
        }
        for (uint64_t i = N; i < N + NEW; i++) found += bits_of(today, i, difference) >= 4;
        for (uint64_t i = N + NEW; i < N + NEW + OTHERS; i++)
            accused += bits_of(today, i, difference) >= 4;
        printf("| %.0f %% | %u | %u of %u | %u of %u |\n", 100 * rates[row], differ, found, NEW,
               accused, OTHERS);
        tamis_close(today);
        tamis_close(tomorrow);
    }
    printf("\n");
}

/* How useful proper noise is at ten bits per item: by the formula, which
 * tests/library/test_private.c compares with releases. */
static void print_use(void)
{
    static const double epsilons[] = {0.5, 1, 2, 4, 8};
    const double filled = -expm1(-0.1), m = 20000, n = 5000, empty = exp(-n / m);
    printf("| epsilon | missed | wrong yes | a yes makes 1 %% | sd of the count of 5,000 in 20,000 "
           "bits |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        const double p = 1 / (1 + exp(epsilons[i])), slope = 1 - 2 * p;
        const double wrong = p + slope * filled;
        const double v = m * p * (1 - p) + slope * slope * m * empty * (1 - (1 + n / m) * empty);
        printf("| %g | %.3g %% | %.3g %% | %.3g %% | %.0f |\n", epsilons[i], 100 * p, 100 * wrong,
               100 * 0.01 * (1 - p) / (0.01 * (1 - p) + 0.99 * wrong), sqrt(v) / (slope * empty));
    }
    printf("\n");
}

void print_private(void)
{
    print_averaging();
    print_many_bits();
    print_password();
    print_use();
}
