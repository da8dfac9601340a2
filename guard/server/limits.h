/* How often a client address may ask: a bucket of tokens for each of those seen lately, in a table
 * that never grows. Twice a second's worth at once, then so many a second. Of IPv6, all of a /64
 * are one client: they are one line. */
#ifndef GUARD_LIMITS_H
#define GUARD_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define GUARD_LIMITS_CLIENTS 8192 /* remembered at once, about */

struct guard_limits;
struct guard_limits *guard_limits_new(unsigned per_second); /* NULL: no memory */
void guard_limits_free(struct guard_limits *l);

/* Takes one token of this client's; `now` is in milliseconds and never goes back. False: there is
 * none; *wait is in how many seconds there will be one. Any number of threads. */
bool guard_limits_take(struct guard_limits *l, const struct sockaddr *client, int64_t now,
                       unsigned *wait);

#endif
