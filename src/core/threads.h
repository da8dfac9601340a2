/* Work that several threads share. No other file of the library starts threads. */
#ifndef TAMIS_THREADS_H
#define TAMIS_THREADS_H

#include <stdint.h>

/* Runs jobs 0 ... jobs-1, each once, in any order and possibly at the same time, on at most this
 * many threads including the caller's. Returns when all are done. If the system refuses threads,
 * fewer do the work. Jobs cannot fail, and must not rely on running at the same time. */
void tamis__in_parallel(uint32_t threads, uint64_t jobs, void (*run)(void *ctx, uint64_t job),
                        void *ctx);

#endif
