/* What the server counts about its own work. The metrics contain no URL, no prefix and no
 * address. */
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

#define GUARD_STATUSES 13

/* Initialize it with zeros. */
struct guard_metrics {
    atomic_ullong requests[GUARD_ENDPOINTS][GUARD_STATUSES];
    atomic_ullong prefixes, hashes; /* prefixes that clients asked to confirm; hashes returned */
    atomic_ullong sent;             /* bytes of bodies that were sent completely */
    atomic_ullong limited, slow;    /* requests refused; connections cut */
    atomic_ullong refused;          /* connections refused, because their client has too many */
    atomic_ullong log_lost, log_errors; /* lines of the access log; failures of its file */
    atomic_ullong connections;          /* currently open */
    atomic_ullong active;               /* requests that are being answered, except monitoring */
    int64_t started;                    /* guard_clock() when the server started */
    unsigned most_connections;
};

int64_t guard_clock(void);        /* milliseconds of the monotonic clock */
int64_t guard_microseconds(void); /* the same clock */
const char *guard_endpoint_name(enum guard_endpoint at);
void guard_metrics_count(struct guard_metrics *m, enum guard_endpoint at, unsigned status);
/* Prints the metrics in Prometheus' text format. */
void guard_metrics_print(struct guard_metrics *m, const guard_manifest *about,
                         unsigned long long reloads, unsigned long long failed_reloads,
                         struct guard_text *out);

#endif
