/* Repeats a measurement while its budget lasts. */
#include "bench.h"

#include <stdlib.h>

#define MOST_REPETITIONS 15u

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct timing repeat(double (*once)(void *ctx), void *ctx, uint64_t n)
{
    double ns[MOST_REPETITIONS];
    unsigned count = 0;
    const double end = seconds() + settings.budget;
    do ns[count++] = 1e9 * once(ctx) / (double)n;
    while (count < MOST_REPETITIONS && (count < settings.least || seconds() < end));
    qsort(ns, count, sizeof *ns, ascending);
    const double median = count % 2 != 0 ? ns[count / 2] : (ns[count / 2 - 1] + ns[count / 2]) / 2;
    return (struct timing){.ns = median, .min_ns = ns[0], .repetitions = count};
}
