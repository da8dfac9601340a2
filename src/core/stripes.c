#include "stripes.h"

#include "memory.h"

#ifdef __wasm__
#define give_turn() ((void)0) /* there is only one thread */
#else
#include <sched.h>
#define give_turn() ((void)sched_yield())
#endif

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

/* Some microseconds, in which a thread that runs has long released the lock. */
#define LOOKS 100u

void tamis__await(uint8_t *lock)
{
    do {
        for (unsigned i = 0; __atomic_load_n(lock, __ATOMIC_RELAXED) != 0; i++) {
            PAUSE();
            if (i % LOOKS == LOOKS - 1) give_turn();
        }
    } while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0);
}

struct stripes *tamis__stripes(const tamis_memory *memory)
{
    return tamis__alloc(memory, sizeof(struct stripes));
}
