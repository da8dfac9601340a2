#if !defined(_GNU_SOURCE) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "spin.h"

#if !defined(__wasm__) && !defined(_WIN32)
#include <sched.h>
#endif

#ifndef _WIN32 /* threads.c has it for Windows */
void tamis__yield(void)
{
#ifndef __wasm__ /* which has only one thread */
    sched_yield();
#endif
}
#endif

/* A lock is held for some tens of nanoseconds, unless its thread lost the processor meanwhile. */
#define SPINS 100u

static void pause_a_little(unsigned round)
{
    if (round >= SPINS) {
        tamis__yield();
        return;
    }
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void tamis__await(uint32_t *lock)
{
    unsigned round = 0;
    do
        while (__atomic_load_n(lock, __ATOMIC_RELAXED) != 0)
            pause_a_little(round < SPINS ? round++ : SPINS);
    while (!tamis__try(lock));
}
