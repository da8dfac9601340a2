/* URLs as the guard compares them.
 *
 * A list of bad URLs is of use only if the list's maker and whoever asks write a URL alike. So each
 * URL is first brought to one form, then taken apart into the expressions that a list may hold: the
 * host or a suffix of it, and the path or a beginning of it. The rules are those of Safe Browsing
 * v4 ("URLs and Hashing"), with the addresses of v5; guard/url/url.c tells them, tests/guard/test_guard_url.c
 * has the published vectors.
 *
 *     char room[GUARD_URL_ROOM(sizeof text)];
 *     guard_url url;
 *     guard_span expressions[GUARD_URL_EXPRESSIONS];
 *     if (guard_url_canonical(text, strlen(text), NULL, room, sizeof room, &url) != GUARD_URL_OK) ...
 *     const size_t n = guard_url_expressions(&url, expressions);
 *
 *     HTTP://user@A.B.C:80/x/../1/%32.html?param=1#top  gives  http://a.b.c/1/2.html?param=1  and
 *     a.b.c/1/2.html?param=1  a.b.c/1/2.html  a.b.c/  a.b.c/1/  b.c/1/2.html?param=1  b.c/1/2.html  b.c/  b.c/1/
 *
 * What has no such form is refused with a reason, and a refusal is not a "clean". Time is linear in
 * the length, whatever the bytes; nothing is allocated; there is no state. The same sources are
 * compiled for the browser. */
#ifndef GUARD_URL_H
#define GUARD_URL_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers are never reused. */
typedef enum guard_url_status {
    GUARD_URL_OK = 0,
    GUARD_URL_EROOM = -1,   /* the caller's buffer is smaller than GUARD_URL_ROOM */
    GUARD_URL_ESCHEME = -2, /* not http, https or ftp */
    GUARD_URL_ENOHOST = -3, /* nothing where the host should be */
    GUARD_URL_EHOST = -4,   /* a byte in the host that can be in none, like a stray ':' */
    GUARD_URL_EPORT = -5,   /* a port that is not a number up to 65535 */
    GUARD_URL_EADDRESS = -6 /* brackets without an IPv6 address in them */
} guard_url_status;

/* One line, never NULL. */
const char *guard_url_message(guard_url_status s);

/* What the canonical form of len bytes and the work on it may need. Each byte becomes three at
 * most; the rest is for the scheme and for a host that grew: 1 is 0.0.0.1, and a short name may
 * have a long Punycode. */
#define GUARD_URL_ROOM(len) (3 * (size_t)(len) + GUARD_URL_NAME + 32)
#define GUARD_URL_NAME 256

typedef struct guard_url {
    const char *text;  /* in the caller's buffer; printable ASCII, with a NUL behind it */
    size_t length;     /* without the NUL */
    size_t host;       /* where the host begins in text, */
    size_t path;       /* where it ends and the path begins, which is never empty, */
    size_t query;      /* and where that ends: the place of the '?', or length */
    bool address;      /* the host is an IPv4 or IPv6 address */
    bool escaped_name; /* the host has bytes >= 0x80, as %XX: no browser asks for it in this form */
} guard_url;

/* Turns a host of UTF-8 into ASCII (guard/version/idn.h has one). The host is in lower case as far as it is
 * ASCII, without empty labels, and has at least one byte >= 0x80. Writes at most GUARD_URL_NAME
 * bytes to `name`; returns how many, or 0: it cannot. The browser has done this before it tells
 * anyone the URL, so there is none of it there. */
typedef size_t guard_url_idn(const char *host, size_t len, char *name);

/* The canonical form of a URL, in `room` of `size` bytes, which must not overlap the input. `idn`
 * may be NULL; where it is, or cannot, bytes >= 0x80 of the host stay escaped.
 *
 * Of what is canonical, the canonical form is the same bytes. On failure `room` holds nothing of
 * use and *url is zero. */
guard_url_status guard_url_canonical(const void *bytes, size_t len, guard_url_idn *idn, char *room,
                                     size_t size, guard_url *url);

typedef struct guard_span {
    const char *bytes;
    size_t length;
} guard_span;

#define GUARD_URL_EXPRESSIONS 30 /* 5 hosts and 6 paths */

/* All expressions of a canonical URL, each once, as pieces of its text; returns how many, from 1 to
 * 30. The first is the URL itself without its scheme, which is what a list of URLs holds. Host by
 * host, the exact one first and then from long to short; of each the path with its query, without,
 * and its beginnings from "/" on. */
size_t guard_url_expressions(const guard_url *url, guard_span out[GUARD_URL_EXPRESSIONS]);

#endif
