/* The benchmark of the kind `distinct`: build/bench-distinct. It shares clock, cores and memory
 * with the other benchmarks (../common).
 *
 *     states.h     sketches as after n keys                 errors.c   estimates and intervals
 *     sets.c       two sketches with common keys            speed.c    speed of the calls
 *     widths.c     registers of 24, 28 and 32 bits          main.c     what is run */
#ifndef TAMIS_BENCH_DISTINCT_H
#define TAMIS_BENCH_DISTINCT_H

#include "../common/lists.h"
#include "states.h"

#include <tamis/distinct.h>

/* Exits unless the status is TAMIS_OK. */
void must(tamis_status s);
/* An empty sketch with 2^p registers. A shared one has registers from the start. */
tamis *make_sketch(unsigned p, bool shared);

/* --- Runs that are independent of each other -------------------------------------------------- */

/* Calls once(ctx, run) for each run, in as many threads as there are cores. What a run does must
 * depend on its number only, and it may write only what belongs to that number. */
void in_threads(unsigned runs, void (*once)(void *ctx, unsigned run), void *ctx);

/* The least number of runs of an experiment is 10,000 in the full benchmark. */
void measure_errors(unsigned runs);
void measure_equal_tokens(unsigned pairs);
void measure_sets(unsigned runs);
void measure_speed(void);
void measure_widths(void);

#endif
