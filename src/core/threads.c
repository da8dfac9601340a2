/* Threads exist for one call only, so that nothing waits in the background of a program that only
 * wants a filter. Starting a thread takes 20 microseconds, so callers have jobs of a millisecond or
 * more. */
#if !defined(_GNU_SOURCE) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "threads.h"

#include <stddef.h>

struct work {
    void (*run)(void *ctx, uint64_t job);
    void *ctx;
    uint64_t jobs, next; /* next: atomic */
};

static void *take_jobs(void *work)
{
    struct work *w = work;
    for (;;) {
        const uint64_t job = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (job >= w->jobs) return NULL;
        w->run(w->ctx, job);
    }
}

#ifdef __wasm__

void tamis__in_parallel(uint32_t threads, uint64_t jobs, void (*run)(void *ctx, uint64_t job),
                        void *ctx)
{
    struct work w = {run, ctx, jobs, 0};
    (void)threads;
    take_jobs(&w);
}

#else

#include <pthread.h>
#include <signal.h>

#define MOST_THREADS 64u

/* Starts at most n threads, and returns how many. They block all signals, which the program's own
 * threads must handle. */
static uint32_t start(pthread_t *threads, uint32_t n, struct work *w)
{
    sigset_t all, before;
    uint32_t started = 0;
    sigfillset(&all);
    if (n == 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
    while (started < n && pthread_create(&threads[started], NULL, take_jobs, w) == 0) started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void tamis__in_parallel(uint32_t threads, uint64_t jobs, void (*run)(void *ctx, uint64_t job),
                        void *ctx)
{
    pthread_t others[MOST_THREADS];
    struct work w = {run, ctx, jobs, 0};
    const uint32_t most = threads < MOST_THREADS ? threads : MOST_THREADS;
    const uint64_t useful = jobs < most ? jobs : most;
    const uint32_t started = start(others, useful > 1 ? (uint32_t)useful - 1 : 0, &w);
    take_jobs(&w);
    for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
}

#endif
