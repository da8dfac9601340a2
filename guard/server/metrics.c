#include "metrics.h"

static const unsigned STATUSES[GUARD_STATUSES] = {200, 204, 206, 304, 400, 404, 405,
                                                  413, 414, 416, 421, 429, 503};

int64_t guard_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t guard_microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

const char *guard_endpoint_name(enum guard_endpoint at)
{
    static const char *const names[GUARD_ENDPOINTS] = {
        "page", "filter", "delta", "removed", "confirm", "update", "metrics", "healthz", "other"};
    return names[at];
}

void guard_metrics_count(struct guard_metrics *m, enum guard_endpoint at, unsigned status)
{
    for (size_t i = 0; i < GUARD_STATUSES; i++)
        if (STATUSES[i] == status) m->requests[at][i]++;
}

static void print_requests(struct guard_metrics *m, struct guard_text *out)
{
    guard_text_add(out, "# HELP tamis_guard_requests_total Requests answered.\n"
                        "# TYPE tamis_guard_requests_total counter\n");
    for (size_t at = 0; at < GUARD_ENDPOINTS; at++) {
        for (size_t i = 0; i < GUARD_STATUSES; i++) {
            const unsigned long long n = m->requests[at][i];
            if (n == 0) continue;
            guard_text_add(out, "tamis_guard_requests_total{endpoint=\"%s\",status=\"%u\"} %llu\n",
                           guard_endpoint_name((enum guard_endpoint)at), STATUSES[i], n);
        }
    }
}

void guard_metrics_print(struct guard_metrics *m, const guard_manifest *about,
                         unsigned long long reloads, unsigned long long failed_reloads,
                         struct guard_text *out)
{
    const struct {
        const char *name, *type, *help;
        unsigned long long value;
    } rows[] = {
        {"confirm_prefixes_total", "counter", "Prefixes received.", m->prefixes},
        {"confirm_hashes_total", "counter", "Hashes returned.", m->hashes},
        {"sent_bytes_total", "counter", "Bytes of bodies sent.", m->sent},
        {"rate_limited_total", "counter", "Requests refused because there were too many.",
         m->limited},
        {"slow_connections_total", "counter", "Connections closed because they were too slow.",
         m->slow},
        {"refused_connections_total", "counter",
         "Connections closed because their client had too many.", m->refused},
        {"connections", "gauge", "Open connections.", m->connections},
        {"connection_limit", "gauge", "Connections that may be open.", m->most_connections},
        {"access_log_lost_lines_total", "counter", "Lines that the access log lacks.", m->log_lost},
        {"access_log_errors_total", "counter", "Failures of the access log's file.", m->log_errors},
        {"version", "gauge", "Served version.", about->version},
        {"base_version", "gauge", "Version of its base filter.", about->base},
        {"entries", "gauge", "Listed expressions.", about->entries},
        {"built_timestamp_seconds", "gauge", "Time at which it was built.",
         (unsigned long long)about->built},
        {"expires_timestamp_seconds", "gauge", "Time at which it expires, or 0.",
         (unsigned long long)about->expires},
        {"reloads_total", "counter", "New versions loaded.", reloads},
        {"failed_reloads_total", "counter", "New versions refused.", failed_reloads},
        {"uptime_seconds", "gauge", "Seconds since the start.",
         (unsigned long long)(guard_clock() - m->started) / 1000},
    };
    print_requests(m, out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        guard_text_add(
            out, "# HELP tamis_guard_%s %s\n# TYPE tamis_guard_%s %s\ntamis_guard_%s %llu\n",
            rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name, rows[i].value);
}
