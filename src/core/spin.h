/* The lock of the library: a number that is 1 while a thread holds it. Threads hold it for less
 * than a microsecond, unless the system suspends them. So the others wait actively first, and then
 * give up their turn. */
#ifndef TAMIS_SPIN_H
#define TAMIS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* Lets other threads run. */
void tamis__yield(void);

/* Waits until no other thread holds the lock, and takes it. */
void tamis__await(uint32_t *lock);

/* Takes the lock, unless another thread holds it. */
static inline bool tamis__try(uint32_t *lock)
{
    return __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void tamis__lock(uint32_t *lock)
{
    if (!tamis__try(lock)) tamis__await(lock);
}

static inline void tamis__unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
