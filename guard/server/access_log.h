/* The access log: one line for each answer, without any URL, prefix or query. */
#ifndef GUARD_ACCESS_LOG_H
#define GUARD_ACCESS_LOG_H

#include "../version/guard.h"
#include "metrics.h"

#include <sys/socket.h>

struct guard_access_log;

/* One answer. */
struct guard_access {
    enum guard_endpoint at;
    unsigned status;
    uint64_t bytes;  /* of the body */
    bool complete;   /* the client got all of it */
    int64_t elapsed; /* microseconds from the head of the request to the end of the answer */
    const struct sockaddr *client;
};

/* Opens the file, or standard output if it is "-", and starts the thread that writes to it.
 * Failures of that thread are counted in `m`, and each sort is printed once. Returns NULL after a
 * failure, with the reason in *why. */
struct guard_access_log *guard_access_log_open(const char *path, enum guard_log_clients clients,
                                               struct guard_metrics *m, guard_error *why);
/* Writes what is left, for a second at most, and closes the file. */
void guard_access_log_close(struct guard_access_log *log);

/* Adds a line. It never waits for the file: if lines arrive faster than they can be written, they
 * are dropped and counted. */
void guard_access_log_add(struct guard_access_log *log, const struct guard_access *a);

/* Writes the lines so far to the old file and opens the path again, so that a file that was renamed
 * meanwhile is complete. If this fails, the old file stays in use. */
void guard_access_log_reopen(struct guard_access_log *log);

/* Writes one line without a file: at most GUARD_ACCESS_LINE bytes, with its line end. `ms` are
 * milliseconds since 1970. Returns its length. */
#define GUARD_ACCESS_LINE 160
size_t guard_access_line(char line[GUARD_ACCESS_LINE], int64_t ms, enum guard_log_clients clients,
                         const struct guard_access *a);

#endif
