/* Unpredictable bits, for noise that protects people. */
#ifndef TAMIS_RANDOM_H
#define TAMIS_RANDOM_H

#include <stddef.h>

/* fill writes n random bytes and returns 0. If it fails, it returns errno, or -1 on systems without
 * a generator. Tests have sources that can be repeated. */
struct randomness {
    int (*fill)(void *ctx, void *to, size_t n);
    void *ctx;
};

/* The system's generator. */
extern const struct randomness tamis__system_random;

#endif
