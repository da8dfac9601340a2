/* What the server counts of itself. No URL, no prefix, no address. */
#ifndef GUARD_METRICS_H
#define GUARD_METRICS_H

#include "../version/guard.h"
#include "../version/text.h"

#include <stdatomic.h>

enum guard_endpoint {
    GUARD_AT_PAGE,
    GUARD_AT_FILTER,
    GUARD_AT_DELTA,
    GUARD_AT_REMOVED,
    GUARD_AT_CONFIRM,
    GUARD_AT_UPDATE,
    GUARD_AT_METRICS,
    GUARD_AT_HEALTHZ,
    GUARD_AT_OTHER,
    GUARD_ENDPOINTS
};

#define GUARD_STATUSES 11

/* All zero at first. */
struct guard_metrics {
    atomic_ullong requests[GUARD_ENDPOINTS][GUARD_STATUSES];
    atomic_ullong prefixes, hashes; /* asked to be confirmed; returned */
    atomic_ullong sent;             /* bytes of bodies that were taken whole */
    atomic_ullong limited, slow;    /* requests refused; connections cut */
    atomic_ullong connections;      /* open now */
    atomic_ullong active;           /* requests that are being answered now */
    int64_t started;                /* milliseconds of the clock that never goes back */
};

int64_t guard_clock(void); /* that clock */
void guard_metrics_count(struct guard_metrics *m, enum guard_endpoint at, unsigned status);
/* Prometheus' text. */
void guard_metrics_print(struct guard_metrics *m, const guard_manifest *about,
                         unsigned long long reloads, unsigned long long failed_reloads,
                         struct guard_text *out);

#endif
