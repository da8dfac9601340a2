/* URLs as the guard compares them.
 *
 * A list of bad URLs is useful only if its maker and its users write a URL in the same way.
 * Therefore each URL is first brought into one canonical form and then split into the expressions
 * that a list may contain: the host or a suffix of it, and the path or a prefix of it. The rules
 * are those of Safe Browsing v4 ("URLs and Hashing"), with the addresses of v5. guard/url/url.c
 * states the rules, and tests/guard/test_guard_url.c has the published test vectors.
 *
 *     char room[GUARD_URL_ROOM(sizeof text)];
 *     guard_url url;
 *     guard_span expressions[GUARD_URL_EXPRESSIONS];
 *     if (guard_url_canonical(text, strlen(text), NULL, room, sizeof room, &url) != GUARD_URL_OK)
 *         return;
 *     const size_t n = guard_url_expressions(&url, expressions);
 *
 *     HTTP://user@A.B.C:80/x/../1/%32.html?param=1#top  has the canonical form
 *     http://a.b.c/1/2.html?param=1  and the expressions
 *     a.b.c/1/2.html?param=1  a.b.c/1/2.html  a.b.c/  a.b.c/1/
 *     b.c/1/2.html?param=1    b.c/1/2.html    b.c/    b.c/1/
 *
 * A URL that has no canonical form is refused with a reason. A refusal does not mean that the URL
 * is clean. The time is linear in the length, for any bytes. Nothing is allocated, and there is no
 * state. The same sources are compiled for the browser. */
#ifndef GUARD_URL_H
#define GUARD_URL_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers are never reused. */
typedef enum guard_url_status {
    GUARD_URL_OK = 0,
    GUARD_URL_EROOM = -1,    /* the caller's buffer is smaller than GUARD_URL_ROOM */
    GUARD_URL_ESCHEME = -2,  /* not http, https or ftp */
    GUARD_URL_ENOHOST = -3,  /* the host is empty */
    GUARD_URL_EHOST = -4,    /* a byte that no host may contain, like a stray ':' */
    GUARD_URL_EPORT = -5,    /* a port that is not a number up to 65535 */
    GUARD_URL_EADDRESS = -6, /* brackets without an IPv6 address in them */
    /* A name whose form in a browser is unknown (escaped_name). guard_url_canonical does not return
     * this, because parents of the name may be known all the same. */
    GUARD_URL_ENAME = -7
} guard_url_status;

/* Returns one line of text, never NULL. */
const char *guard_url_message(guard_url_status s);

/* The room that the canonical form of len bytes and the work on it may need. Each byte becomes at
 * most three. The remainder is for the scheme and for a host that grew: 1 is 0.0.0.1, and a short
 * name may have a long Punycode. */
#define GUARD_URL_ROOM(len) (3 * (size_t)(len) + GUARD_URL_NAME + 32)
#define GUARD_URL_NAME 256

typedef struct guard_url {
    const char *text;  /* in the caller's buffer; printable ASCII, NUL-terminated */
    size_t length;     /* without the NUL */
    size_t host;       /* where the host begins in text */
    size_t path;       /* where the host ends and the path begins; the path is never empty */
    size_t query;      /* where the path ends: the position of the '?', or length */
    bool address;      /* the host is an IPv4 or IPv6 address */
    bool escaped_name; /* the host has bytes >= 0x80 as %XX; browsers visit it under another name,
                        * if at all, so "not listed" means nothing */
} guard_url;

/* Converts a host of UTF-8 to ASCII (guard/version/idn.h has an implementation). The ASCII letters
 * of the host are in lower case, it has no empty labels, and at least one byte is >= 0x80. Writes
 * at most GUARD_URL_NAME bytes to `name` and returns how many, or returns 0 if the host cannot be
 * converted. A browser converts the host before it shows the URL to anyone, so the browser's build
 * has no such function. */
typedef size_t guard_url_idn(const char *host, size_t len, char *name);

/* Writes the canonical form of a URL to `room`, which has `size` bytes and must not overlap the
 * input. `idn` may be NULL. If it is NULL or fails, bytes >= 0x80 of the host stay escaped.
 *
 * The canonical form of a canonical URL is the same bytes. On failure the contents of `room` are
 * unspecified and *url is zero. */
guard_url_status guard_url_canonical(const void *bytes, size_t len, guard_url_idn *idn, char *room,
                                     size_t size, guard_url *url);

typedef struct guard_span {
    const char *bytes;
    size_t length;
} guard_span;

#define GUARD_URL_EXPRESSIONS 30 /* 5 hosts and 6 paths */

/* Stores all expressions of a canonical URL, each once, as pieces of its text, and returns how many
 * there are, from 1 to 30. The first is the URL itself without its scheme, which is what a list of
 * URLs contains. The order is host by host, the exact host first and then its suffixes from long to
 * short. For each host come the path with its query, the path without it, and the prefixes of the
 * path from "/" on. */
size_t guard_url_expressions(const guard_url *url, guard_span out[GUARD_URL_EXPRESSIONS]);

/* An entry of a list covers what is below it because its text is an expression of each page there.
 * The expressions are limited, so deep entries cover less. */
typedef enum guard_url_deep {
    GUARD_URL_DEEP_HOST = 1, /* more than five labels: hosts below it are not covered */
    GUARD_URL_DEEP_PATH = 2  /* a folder below three others: pages below it are not covered */
} guard_url_deep;

/* Returns which of these limits an entry with the first expression of this URL exceeds: 0, one of
 * them, or both combined with '|'. */
unsigned guard_url_depth(const guard_url *url);

#endif
