/* Numbers that threads change at the same time, in handles with TAMIS_SHARED. All accesses are
 * relaxed: each number is right by itself, and a thread that was synchronized with an add sees what
 * the add has stored. */
#ifndef TAMIS_ATOMICS_H
#define TAMIS_ATOMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t tamis__load64(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Adds `more` to a number that stays at `most`, which is at most 2^63, and so is `more`. Returns
 * the number before; one above `most` counts as `most`. */
static inline uint64_t tamis__add_shared(uint64_t *p, uint64_t more, uint64_t most)
{
    uint64_t was = __atomic_load_n(p, __ATOMIC_RELAXED), sum;
    do {
        if (was >= most) return most;
        sum = was + more < most ? was + more : most;
    } while (!__atomic_compare_exchange_n(p, &was, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return was;
}

/* memcpy from bytes that other threads change by atomic operations. Both are aligned to words,
 * and n is a multiple of their size. */
static inline void tamis__copy_shared(void *to, const void *from, size_t n)
{
    typedef uintptr_t __attribute__((may_alias)) word;
    const word *source = from;
    word *target = to;
    for (size_t i = 0; i < n / sizeof *source; i++)
        target[i] = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
}

#endif
