/* The audit of the noise of a release: does each bit flip as often as the threshold says, whatever
 * its value, its place and its neighbours? And can an attacker distinguish two neighbouring sets
 * better than epsilon allows?
 *
 * HALVED is the same code, compiled to flip half as often: the audit must notice. */
#ifndef TAMIS_TEST_AUDIT_H
#define TAMIS_TEST_AUDIT_H

#include "golden.h"

#include "core/kind.h"
#include "private/flip.h"

#include <math.h>

/* The broken build, under other names. */
#define TAMIS__HALVED
#define tamis__flip halved_flip
#define tamis__flip_threshold halved_threshold
#define tamis__flip_epsilon halved_epsilon
#define tamis__flip_rate halved_rate
int halved_flip(uint8_t *cells, uint64_t bits, uint32_t threshold, const struct randomness *random);
uint32_t halved_threshold(double epsilon);
double halved_epsilon(uint32_t threshold);
double halved_rate(uint32_t threshold);
#include "private/flip.c"
#undef TAMIS__HALVED
#undef tamis__flip
#undef tamis__flip_threshold
#undef tamis__flip_epsilon
#undef tamis__flip_rate

typedef int (*flipper)(uint8_t *cells, uint64_t bits, uint32_t threshold,
                       const struct randomness *random);

/* Beyond 7.3 deviations once in 3e12: fewer than 300 counts in one audit are a false alarm less
 * than once in 1e9. */
#define AUDIT_Z 7.3

static inline bool fits(double count, double n, double p)
{
    const double off = fabs(count - n * p), limit = AUDIT_Z * sqrt(n * p * (1 - p)) + 1;
    if (off > limit) printf("%.0f of %.0f, %.6g expected\n", count, n, n * p);
    return off <= limit;
}

#define AUDIT_BITS 65536u
#define AUDIT_LAGS 24u

struct audit {
    double flips, bits;      /* in all */
    double of[2], were[2];   /* flips of bits that were 0, that were 1; such bits */
    double at[64];           /* by place in the word */
    double both[AUDIT_LAGS]; /* flips of a bit and the one so much further */
};

static inline void audit_block(struct audit *a, const uint8_t *before, const uint8_t *after)
{
    uint8_t flipped[AUDIT_BITS / 8];
    for (size_t i = 0; i < sizeof flipped; i++) flipped[i] = before[i] ^ after[i];
    for (size_t i = 0; i < AUDIT_BITS; i++) {
        const bool was = tamis__bit(before, i);
        a->were[was]++;
        if (!tamis__bit(flipped, i)) continue;
        a->flips++;
        a->of[was]++;
        a->at[i % 64]++;
        for (size_t lag = 1; lag < AUDIT_LAGS && i + lag < AUDIT_BITS; lag++)
            a->both[lag] += tamis__bit(flipped, i + lag);
    }
    a->bits += AUDIT_BITS;
}

/* Whether so many flips are what the threshold promises. */
static inline bool audit_flips(flipper flip, uint32_t threshold, double flips,
                               const struct randomness *random)
{
    static uint8_t before[AUDIT_BITS / 8], after[AUDIT_BITS / 8];
    struct audit a = {0};
    const double p = ldexp(threshold, -32);
    uint64_t state = 1;
    bool good = true;
    for (size_t i = 0; i < sizeof before; i += 8) tamis__put64(before + i, splitmix(&state));
    while (a.bits < flips && good) {
        memcpy(after, before, sizeof after);
        good = flip(after, AUDIT_BITS, threshold, random) == 0;
        audit_block(&a, before, after);
    }
    good = good && fits(a.flips, a.bits, p);
    for (int was = 0; was < 2; was++) good = good && fits(a.of[was], a.were[was], p);
    for (size_t i = 0; i < 64; i++) good = good && fits(a.at[i], a.bits / 64, p);
    /* Neighbouring products overlap, but are uncorrelated except for the square of p in each:
     * the variance is that of n products and, once for each neighbour, 2 n (p^3 - p^4). Twice
     * the binomial deviation exceeds both. */
    for (size_t lag = 1; lag < AUDIT_LAGS; lag++) {
        const double n = a.bits / AUDIT_BITS * (double)(AUDIT_BITS - lag), square = p * p;
        const double spread =
            sqrt(n * (square * (1 - square) + 2 * (p * square - square * square)));
        good = good && fabs(a.both[lag] - n * square) <= AUDIT_Z * spread + 1;
    }
    return good;
}

/* The likelihood-ratio attack on two sets, of which one has one key more: their filters differ in
 * one bit, and the attacker who looks at that bit is the best there is. What epsilon must at least
 * be to explain its success in n releases of each; beyond the truth less than once in 1e9. */
static inline double attack(flipper flip, uint32_t threshold, uint64_t n,
                            const struct randomness *random)
{
    double told[2] = {0, 0}; /* "the key is in", when it was not, when it was */
    for (uint64_t i = 0; i < 2 * n; i++) {
        const bool in = i % 2 == 1;
        uint8_t cells[8] = {0x11, in ? 0x20 : 0, 0, 0x42, 0, 0, 0, 0};
        flip(cells, 64, threshold, random);
        told[in] += tamis__bit(cells, 13);
    }
    const double count = (double)n, z = 6.2;
    const double hit = told[1] / count, wrong = told[0] / count;
    const double least = hit - z * sqrt(hit * (1 - hit) / count),
                 most = wrong + z * sqrt(wrong * (1 - wrong) / count);
    const double told_in = log(least / most);
    /* The same of "the key is not in". */
    const double least_not = (1 - wrong) - z * sqrt(wrong * (1 - wrong) / count),
                 most_not = (1 - hit) + z * sqrt(hit * (1 - hit) / count);
    return fmax(told_in, log(least_not / most_not));
}

#endif
