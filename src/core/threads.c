/* Threads exist for one call only, so that nothing waits in the background of a program that only
 * wants a filter. Starting a thread takes 20 microseconds, so callers have jobs of a millisecond or
 * more. */
#if !defined(_GNU_SOURCE) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "threads.h"

#include "spin.h"

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

#define MOST_THREADS 64u

#ifdef _WIN32
#include <process.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

void tamis__yield(void)
{
    SwitchToThread();
}

typedef HANDLE thread_handle;

static unsigned __stdcall take_jobs_there(void *work)
{
    take_jobs(work);
    return 0;
}

static uint32_t start(thread_handle *threads, uint32_t n, struct work *w)
{
    uint32_t started = 0;
    while (started < n) {
        threads[started] = (HANDLE)_beginthreadex(NULL, 0, take_jobs_there, w, 0, NULL);
        if (threads[started] == NULL) break;
        started++;
    }
    return started;
}

static void join(thread_handle thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

#else
#include <pthread.h>
#include <signal.h>

typedef pthread_t thread_handle;

/* Starts at most n threads, and returns how many. They block all signals, which the program's own
 * threads must handle. */
static uint32_t start(thread_handle *threads, uint32_t n, struct work *w)
{
    sigset_t all, before;
    uint32_t started = 0;
    sigfillset(&all);
    if (n == 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
    while (started < n && pthread_create(&threads[started], NULL, take_jobs, w) == 0) started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void join(thread_handle thread)
{
    pthread_join(thread, NULL);
}
#endif

void tamis__in_parallel(uint32_t threads, uint64_t jobs, void (*run)(void *ctx, uint64_t job),
                        void *ctx)
{
    thread_handle others[MOST_THREADS];
    struct work w = {run, ctx, jobs, 0};
    const uint32_t most = threads < MOST_THREADS ? threads : MOST_THREADS;
    const uint64_t useful = jobs < most ? jobs : most;
    const uint32_t started = start(others, useful > 1 ? (uint32_t)useful - 1 : 0, &w);
    take_jobs(&w);
    for (uint32_t i = 0; i < started; i++) join(others[i]);
}

#endif
