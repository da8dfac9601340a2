/* What every canonical form must satisfy, whatever it was made from; and URLs that resemble real
 * ones, but worse. */
#ifndef TAMIS_TEST_URLS_H
#define TAMIS_TEST_URLS_H

#include "../../guard/url/list.h"
#include "keys.h"

#include <stdlib.h>
#include <string.h>

/* A block of its own, so that the address sanitizer sees a byte read beyond it. */
static inline char *exact_copy(const void *bytes, size_t n)
{
    char *p = calloc(n > 0 ? n : 1, 1);
    if (p == NULL) abort();
    if (n > 0) memcpy(p, bytes, n);
    return p;
}

/* Returns why a URL is not canonical, or NULL. */
static inline const char *url_fault(const guard_url *u, size_t input)
{
    const char *scheme[] = {"http://", "https://", "ftp://"};
    bool known = false;
    if (u->length + 1 > GUARD_URL_ROOM(input)) return "longer than stated";
    if (strlen(u->text) != u->length) return "no NUL behind it";
    for (size_t i = 0; i < 3; i++)
        known = known || (u->host == strlen(scheme[i]) && memcmp(u->text, scheme[i], u->host) == 0);
    if (!known) return "no scheme";
    if (!(u->host < u->path && u->path < u->query && u->query <= u->length))
        return "parts out of order";
    if (u->text[u->path] != '/') return "no path";
    if (u->query < u->length && u->text[u->query] != '?') return "no query";
    for (size_t i = 0; i < u->length; i++) {
        const char c = u->text[i];
        if (c <= 0x20 || c >= 0x7f || c == '#') return "a byte that is not escaped";
        if (i >= u->host && i < u->path && strchr(u->address ? "/?@\\" : "/?@\\[]:", c) != NULL)
            return "a byte that no host has";
        if (i >= u->host && i < u->path && c >= 'A' && c <= 'Z' && u->text[i - 1] != '%' &&
            u->text[i - 2] != '%')
            return "a host in upper case";
        if (i > u->path && i < u->query && c == '/' && u->text[i - 1] == '/') return "two slashes";
    }
    return NULL;
}

/* The same for its expressions: pieces of the text, each once. */
static inline const char *expressions_fault(const guard_url *u)
{
    guard_span e[GUARD_URL_EXPRESSIONS];
    const size_t n = guard_url_expressions(u, e);
    const size_t exact = u->length > u->query + 1 ? u->length : u->query;
    if (n < 1 || n > GUARD_URL_EXPRESSIONS) return "too few or too many expressions";
    if (e[0].bytes != u->text + u->host || e[0].length != exact - u->host)
        return "the first is not the URL";
    for (size_t i = 0; i < n; i++) {
        const size_t at = (size_t)(e[i].bytes - u->text), end = at + e[i].length;
        if (at < u->host || at >= u->path || end <= u->path || end > u->length)
            return "an expression beyond";
        if (at > u->host && (u->address || u->text[at - 1] != '.')) return "no suffix of the host";
        for (size_t j = 0; j < i; j++)
            if (e[i].length == e[j].length && memcmp(e[i].bytes, e[j].bytes, e[i].length) == 0)
                return "an expression twice";
    }
    return NULL;
}

/* Makes any input canonical, in memory of exactly the stated size, and that again; the reason why
 * it is wrong, or NULL. *status and, when it is OK, the text in *room (to be freed) are for the
 * caller. */
static inline const char *canonical_fault(const void *bytes, size_t n, guard_url_idn *idn,
                                          guard_url_status *status, char **text)
{
    char *in = exact_copy(bytes, n), *room = malloc(GUARD_URL_ROOM(n)), *again = NULL;
    const char *fault = NULL;
    guard_url u, v;
    if (room == NULL) abort();
    *status = guard_url_canonical(in, n, idn, room, GUARD_URL_ROOM(n), &u);
    if (n > 0 && memcmp(in, bytes, n) != 0) fault = "the input has changed";
    if (*status == GUARD_URL_OK) {
        const size_t size = GUARD_URL_ROOM(u.length);
        fault = fault != NULL ? fault : url_fault(&u, n);
        fault = fault != NULL ? fault : expressions_fault(&u);
        again = malloc(size);
        if (again == NULL) abort();
        if (fault == NULL &&
            (guard_url_canonical(u.text, u.length, idn, again, size, &v) != GUARD_URL_OK ||
             strcmp(u.text, v.text) != 0))
            fault = "of the canonical form another";
        if (fault == NULL && (u.host != v.host || u.path != v.path || u.query != v.query ||
                              u.address != v.address || u.escaped_name != v.escaped_name))
            fault = "the same text, other parts";
    } else if (u.text != NULL || u.length != 0 || u.address || u.escaped_name) {
        fault = "refused, but something is there";
    }
    free(in);
    free(again);
    *text = room;
    return fault;
}

/* What must be true of any line: it is one of the three, and an entry is an expression of the URL
 * that it names. */
static inline const char *line_fault(const void *bytes, size_t n, guard_url_idn *idn,
                                     guard_line_kind *kind)
{
    char *in = exact_copy(bytes, n), *room = malloc(GUARD_URL_ROOM(n));
    const char *fault = NULL;
    if (room == NULL) abort();
    const guard_line line = guard_list_line(in, n, idn, room, GUARD_URL_ROOM(n));
    const guard_span e = line.expression;
    *kind = line.kind;
    if (line.kind == GUARD_LINE_ENTRY) {
        char *url = malloc(7 + e.length), *again = malloc(GUARD_URL_ROOM(7 + e.length));
        guard_url u;
        guard_span all[GUARD_URL_EXPRESSIONS];
        if (url == NULL || again == NULL) abort();
        memcpy(url, "http://", 7);
        memcpy(url + 7, e.bytes, e.length);
        if (e.bytes < room || e.bytes + e.length > room + GUARD_URL_ROOM(n))
            fault = "an entry beyond the buffer";
        if (guard_url_canonical(url, 7 + e.length, NULL, again, GUARD_URL_ROOM(7 + e.length), &u) !=
            GUARD_URL_OK)
            fault = "an entry that is not an expression";
        else if (guard_url_expressions(&u, all) < 1 || all[0].length != e.length ||
                 memcmp(all[0].bytes, e.bytes, e.length) != 0)
            fault = "an entry that no URL has among its expressions";
        free(url);
        free(again);
    } else if (e.bytes != NULL || (line.reason != NULL) != (line.kind == GUARD_LINE_REJECT)) {
        fault = "neither an entry nor a reason";
    }
    free(in);
    free(room);
    return fault;
}

/* A hostile IDN: any byte >= 0x80 becomes any ASCII. */
static inline size_t mask_idn(const char *host, size_t len, char *name)
{
    if (len > GUARD_URL_NAME || len % 7 == 0) return 0;
    for (size_t i = 0; i < len; i++) name[i] = (char)(host[i] & 0x7f);
    return len;
}

/* Between bars. */
static const char url_pieces[] =
    "http://|https://|ftp://|HTTP:|mailto:|//|/|/|/|\\|?|#|@|:|:80|:99999|.|.|..|/../|"
    "/./|/..|/.|%2e|%2E%2e|%2f|%3F|%40|%3a|%23|%5c|%5B|%25|%2525|%25%32%35|%|%%|%4|%zz|"
    "%41|%00|%0a|%80|%c3%bc|\t|\r|\n| |+|www|evil|com|GOOD|a|b|1|0|255|256|0x|0x7f|017|"
    "08|4294967295|4294967296|[|]|[::1]|[::ffff:1.2.3.4]|[64:ff9b::7f00:1]|::|ffff|"
    "1.2.3.4|xn--bcher-kva|\xc3\xbc|\xe3\x80\x82|\xff|user:pass@|index.html|a=1&b=2|-|_|"
    "~|;|=|&|'|\"";

/* A URL of random pieces, at most `size` bytes. A piece is chosen by one of its bytes, so that long
 * ones come more often. */
static inline size_t random_url(uint64_t *state, char *out, size_t size)
{
    const unsigned style = (unsigned)(splitmix(state) % 8);
    const size_t parts = 1 + (size_t)(splitmix(state) % 16);
    size_t n = 0;
    /* Most begin so that they have a chance. */
    if (style < 4) n = (size_t)snprintf(out, size, "http://%s", style < 2 ? "a.b" : "");
    for (size_t i = 0; i < parts; i++) {
        const uint64_t r = splitmix(state);
        if (style == 7 || r % 16 == 0) {
            if (n < size) out[n++] = (char)(r >> 32);
            continue;
        }
        size_t at = (size_t)((r >> 16) % (sizeof url_pieces - 1)), end = at;
        while (at > 0 && url_pieces[at - 1] != '|') at--;
        while (url_pieces[end] != '|' && url_pieces[end] != 0) end++;
        if (n + (end - at) > size) break;
        memcpy(out + n, url_pieces + at, end - at);
        n += end - at;
    }
    return n;
}

#endif
