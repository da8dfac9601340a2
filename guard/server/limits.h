/* The limits on requests and on connections per client. All IPv6 addresses of a /64 count as one
 * client, because one line usually has a whole /64. */
#ifndef GUARD_LIMITS_H
#define GUARD_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Returns the client behind an address, never 0: the network half of an IPv6 address, or the IPv4
 * address, also when it arrives as an IPv6 address, either mapped (::ffff:0:0/96) or translated
 * (64:ff9b::/96). */
uint64_t guard_client_of(const struct sockaddr *address);

/* --- Requests --------------------------------------------------------------------------------- */

/* Each client seen lately has a bucket of tokens, in a table that never grows. A bucket holds two
 * seconds' worth of requests and refills at the permitted rate. */

#define GUARD_LIMITS_CLIENTS 8192 /* remembered at the same time, approximately */

struct guard_limits;
struct guard_limits *guard_limits_new(unsigned per_second); /* NULL when memory runs out */
void guard_limits_free(struct guard_limits *l);

/* Takes one token from this client's bucket. `now` is in milliseconds and never decreases. Returns
 * false when the bucket is empty; *wait is then the number of seconds until the next token. Safe to
 * call from any number of threads. */
bool guard_limits_take(struct guard_limits *l, const struct sockaddr *client, int64_t now,
                       unsigned *wait);

/* --- Connections ------------------------------------------------------------------------------ */

/* Counts the open connections of each client, for a known maximum of connections in all. The calls
 * must not run at the same time. */
struct guard_places;
struct guard_places *guard_places_new(unsigned connections, unsigned per_client);
void guard_places_free(struct guard_places *p);

/* Takes one of the client's places. Returns false when all are taken. */
bool guard_places_enter(struct guard_places *p, uint64_t client);
/* Returns a place that guard_places_enter has granted. */
void guard_places_leave(struct guard_places *p, uint64_t client);

#endif
