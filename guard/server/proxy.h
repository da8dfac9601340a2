/* The client behind trusted proxies. A proxy that passes a request on adds the address from which
 * it got the request to the right end of the field "X-Forwarded-For". What is to the left of that
 * was written by whoever sent the request, so only addresses that a trusted proxy has added count.
 *
 * The field "Forwarded" (RFC 7239) is not read: a proxy that writes one of the two fields passes
 * the other one on as the client wrote it. */
#ifndef GUARD_PROXY_H
#define GUARD_PROXY_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#define GUARD_PROXIES 16

/* The proxies whose word is taken for the address of a client. */
struct guard_proxies {
    struct {
        struct in6_addr address; /* an IPv4 address as ::ffff:0:0/96 */
        unsigned bits;
    } networks[GUARD_PROXIES];
    size_t n;
    bool local; /* those that connect through a Unix socket */
};

/* Adds "ADDRESS", "ADDRESS/BITS" or "unix". Returns NULL on success, otherwise what is wrong with
 * the text. */
const char *guard_proxies_add(struct guard_proxies *p, const char *text);

/* Reports whether a connection from here is one of a trusted proxy. NULL is never trusted. */
bool guard_proxies_trust(const struct guard_proxies *p, const struct sockaddr *peer);

/* The way of a request that arrived from a trusted proxy. Initialize it with the proxies, and add
 * every field "X-Forwarded-For" in the order of the request. Then `known` means that `client` is
 * the nearest address that is not one of a trusted proxy; if all are, the farthest one. Something
 * that is not an address hides everything to its left: then the client is the proxy that reported
 * it. Without `known`, that proxy is the one of the connection itself. */
struct guard_trail {
    const struct guard_proxies *proxies;
    bool known;
    struct in6_addr client;
};
void guard_trail_add(struct guard_trail *t, const char *field);

#endif
