/* Random bits come from the system's generator only. A seed of our own, made from the clock or a
 * password, could be guessed, and then the noise could be removed again. On systems without a
 * generator, nothing can be released. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "random.h"

#include <stdint.h>

#if defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) ||    \
    defined(__NetBSD__)
#include <errno.h>
#include <unistd.h>
#if defined(__linux__) || defined(__APPLE__) /* the others declare getentropy in unistd.h */
#include <sys/random.h>
#endif

/* The most bytes that getentropy returns at once. */
#define PIECE 256u

static int random_fill(void *ctx, void *to, size_t n)
{
    (void)ctx;
    for (uint8_t *at = to; n > 0;) {
        const size_t take = n < PIECE ? n : PIECE;
        if (getentropy(at, take) != 0) return errno;
        at += take;
        n -= take;
    }
    return 0;
}
#elif defined(_WIN32)
#include <errno.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <bcrypt.h> /* needs windows.h before it */

static int random_fill(void *ctx, void *to, size_t n)
{
    (void)ctx;
    for (uint8_t *at = to; n > 0;) {
        const ULONG take = n < ULONG_MAX ? (ULONG)n : ULONG_MAX;
        if (BCryptGenRandom(NULL, at, take, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0) return EIO;
        at += take;
        n -= take;
    }
    return 0;
}
#else
static int random_fill(void *ctx, void *to, size_t n)
{
    (void)ctx, (void)to, (void)n;
    return -1;
}
#endif

const struct randomness tamis__system_random = {random_fill, NULL};
