/* Work that several threads share. This is the only room that starts any. */
#ifndef TAMIS_THREADS_H
#define TAMIS_THREADS_H

#include <stdint.h>

/* Jobs 0 ... jobs-1, each once, in any order and at the same time, by at most so many threads, the
 * caller's included; returns when all are done. Threads that the system refuses are done without:
 * jobs cannot fail, and may not count on being together. */
void tamis__in_parallel(uint32_t threads, uint64_t jobs, void (*run)(void *ctx, uint64_t job),
                        void *ctx);

#endif
