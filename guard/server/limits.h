/* The limit on requests per client address. Each client seen lately has a bucket of tokens, in a
 * table that never grows. A bucket holds two seconds' worth of requests and refills at the
 * permitted rate. All IPv6 addresses of a /64 count as one client, because one line usually has a
 * whole /64. */
#ifndef GUARD_LIMITS_H
#define GUARD_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define GUARD_LIMITS_CLIENTS 8192 /* remembered at the same time, approximately */

struct guard_limits;
struct guard_limits *guard_limits_new(unsigned per_second); /* NULL when memory runs out */
void guard_limits_free(struct guard_limits *l);

/* Takes one token from this client's bucket. `now` is in milliseconds and never decreases. Returns
 * false when the bucket is empty; *wait is then the number of seconds until the next token. Safe to
 * call from any number of threads. */
bool guard_limits_take(struct guard_limits *l, const struct sockaddr *client, int64_t now,
                       unsigned *wait);

#endif
