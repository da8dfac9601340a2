#include "flip.h"

#include "../core/bits.h"

#include <math.h>

#define WORDS 1024u

uint32_t tamis__flip_threshold(double epsilon)
{
    /* exp may be off by a few units in the last place. With this margin the threshold is still not
     * below the true one. The margin is at most a hundredth of one step. */
    const double exact = ldexp(1, 32) / (1 + exp(epsilon));
    return (uint32_t)ceil(exact * (1 + 1e-12));
}

double tamis__flip_epsilon(uint32_t threshold)
{
    const double below = ldexp(1, 32) - 2.0 * threshold;
    return log1p(below / threshold) * (1 + 1e-15);
}

double tamis__flip_rate(uint32_t threshold)
{
    return ldexp(threshold, -32);
}

static bool flips(const uint8_t *four, uint32_t threshold)
{
#ifdef TAMIS__HALVED /* set by a test that must detect it */
    threshold /= 2;
#endif
    return tamis__get32(four) < threshold;
}

int tamis__flip(uint8_t *cells, uint64_t bits, uint32_t threshold, const struct randomness *random)
{
    uint8_t noise[4 * WORDS];
    int failed = 0;
    for (uint64_t at = 0; at < bits && failed == 0; at += WORDS) {
        const size_t n = bits - at < WORDS ? (size_t)(bits - at) : WORDS;
        failed = random->fill(random->ctx, noise, 4 * n);
        for (size_t i = 0; i < n && failed == 0; i++)
            if (flips(noise + 4 * i, threshold))
                cells[(at + i) / 8] = (uint8_t)(cells[(at + i) / 8] ^ 1u << (at + i) % 8);
    }
    for (volatile uint8_t *p = noise; p < noise + sizeof noise; p++) *p = 0; /* a secret */
    return failed;
}
