#include "epoch.h"

#include <math.h>
#include <time.h>

uint64_t epoch_now(double period_seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const double periods = floor(((double)t.tv_sec + 1e-9 * (double)t.tv_nsec) / period_seconds);
    if (!(periods >= 1)) return 1; /* 0 means "no epoch" */
    return periods < 0x1p63 ? (uint64_t)periods : UINT64_MAX;
}
