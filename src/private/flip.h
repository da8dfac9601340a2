/* Randomized response (S. L. Warner, 1965): every bit is flipped with the same small chance, so
 * that none of them says for sure what it was.
 *
 * The chance is threshold / 2^32 to the last bit: 32 random bits below the threshold flip. Then a
 * bit that was b comes out as any given value with odds of at most (2^32 - threshold) to threshold
 * between b = 0 and b = 1, and epsilon is the logarithm of these odds. Nothing in the sampling is
 * rounded; floating point only chooses the threshold, upwards. */
#ifndef TAMIS_FLIP_H
#define TAMIS_FLIP_H

#include "../core/random.h"

#include <stdint.h>

/* Less says nothing, more protects nobody. */
#define TAMIS__LEAST_EPSILON 0.001
#define TAMIS__MOST_EPSILON 16.0
/* From here on a bit would say nothing, or the opposite. */
#define TAMIS__FLIP_END (UINT32_C(1) << 31)

/* The least threshold, or one more, that costs no more than epsilon, which is in range. */
uint32_t tamis__flip_threshold(double epsilon);
/* What it costs: never less than the logarithm of the odds. */
double tamis__flip_epsilon(uint32_t threshold);
/* The chance itself, exactly. */
double tamis__flip_rate(uint32_t threshold);

/* Flip each of the bits, or not. 0, or what random->fill said: then some may be flipped, and none
 * may be published. */
int tamis__flip(uint8_t *cells, uint64_t bits, uint32_t threshold, const struct randomness *random);

#endif
