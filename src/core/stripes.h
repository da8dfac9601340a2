/* Locks for kinds whose cells cannot be changed by single atomic operations, in handles with
 * TAMIS_SHARED. A structure has far more lines of 64 bytes than locks, so lines share them. */
#ifndef TAMIS_STRIPES_H
#define TAMIS_STRIPES_H

#include <tamis/tamis.h>

/* A lock is a byte: 1 while a thread holds it. A thread holds it for less than a microsecond,
 * unless the system suspends it; the others therefore wait actively first, and then give up their
 * turn. */
void tamis__await(uint8_t *lock);

static inline void tamis__lock(uint8_t *lock)
{
    if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) tamis__await(lock);
}

static inline void tamis__unlock(uint8_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* With 8 threads that hold two locks each all the time, an add finds one of its two locks taken
 * with a probability of one in nine. Each lock has a cache line of its own: if several shared one,
 * threads would wait for each other's line. */
#define TAMIS__STRIPES 256u
struct stripes {
    struct {
        uint8_t lock, spare[63];
    } of[TAMIS__STRIPES];
};

/* NULL: not enough memory. tamis__free frees them. */
struct stripes *tamis__stripes(const tamis_memory *memory);

static inline uint8_t *tamis__stripe(struct stripes *s, uint64_t line)
{
    return &s->of[line % TAMIS__STRIPES].lock;
}

/* Locks two lines, which may have the same lock. All threads take the lower lock first, so that
 * none waits for ever. */
static inline void tamis__lock_lines(struct stripes *s, uint64_t a, uint64_t b)
{
    uint8_t *x = tamis__stripe(s, a), *y = tamis__stripe(s, b);
    tamis__lock(x < y ? x : y);
    if (x != y) tamis__lock(x < y ? y : x);
}

static inline void tamis__unlock_lines(struct stripes *s, uint64_t a, uint64_t b)
{
    uint8_t *x = tamis__stripe(s, a), *y = tamis__stripe(s, b);
    tamis__unlock(x);
    if (x != y) tamis__unlock(y);
}

#endif
