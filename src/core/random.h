/* Bits that nobody can foretell, for noise that protects somebody. */
#ifndef TAMIS_RANDOM_H
#define TAMIS_RANDOM_H

#include <stddef.h>

/* fill: n random bytes and 0, or errno when there are none, -1 where there never are. Tests have
 * sources that repeat themselves. */
struct randomness {
    int (*fill)(void *ctx, void *to, size_t n);
    void *ctx;
};

/* The system's. */
extern const struct randomness tamis__system_random;

#endif
