/* Randomized response (S. L. Warner, 1965): every bit is flipped with the same probability, so that
 * no bit shows for certain what it was.
 *
 * The probability is exactly threshold / 2^32: a bit is flipped if 32 random bits are below the
 * threshold. Whatever value a bit comes out with, the odds between 0 and 1 as its original value
 * then change by a factor of at most (2^32 - threshold) / threshold, and epsilon is the logarithm
 * of this factor. Nothing in the sampling is rounded. Floating point only chooses the threshold,
 * and rounds it up. */
#ifndef TAMIS_FLIP_H
#define TAMIS_FLIP_H

#include "../core/random.h"

#include <stdint.h>

/* The range of epsilon. With less, a release says nothing; with more, it protects nobody. */
#define TAMIS__LEAST_EPSILON 0.001
#define TAMIS__MOST_EPSILON 16.0
/* From this threshold on, a bit would say nothing, or the opposite. */
#define TAMIS__FLIP_END (UINT32_C(1) << 31)

/* Returns the smallest threshold that costs no more than epsilon, or one more than that. Requires
 * an epsilon in the range above. */
uint32_t tamis__flip_threshold(double epsilon);
/* Returns the epsilon of a threshold, never less than the logarithm of the odds. */
double tamis__flip_epsilon(uint32_t threshold);
/* Returns the exact probability of a flip. */
double tamis__flip_rate(uint32_t threshold);

/* Flips each of the bits with that probability. Returns 0, or the error of random->fill; then some
 * bits may be flipped, and none may be published. */
int tamis__flip(uint8_t *cells, uint64_t bits, uint32_t threshold, const struct randomness *random);

#endif
