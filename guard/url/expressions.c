/* Which entries of a list match a URL: those for its host and its parent domains, and for its path
 * and the folders above it.
 *
 *     http://  a.b.c.d.e.f.g  /1/2/3/4/5.html  ?q
 *              |   | | | |    |__|_|_|       |  |
 *              hosts begin    paths end ________|
 *
 * In the canonical form the path follows the host directly, so each expression is one piece of the
 * text.
 *
 * - Hosts: the exact host, and up to four suffixes of its last five labels, never the last label
 *   alone. An address has only its exact form. (Safe Browsing v5 starts at the registrable domain
 *   instead. That takes a list of public suffixes, which a browser's worker does not have. A parent
 *   that v4 asks for in vain costs one lookup.)
 * - Paths: with the query if there is one, without it, and up to four prefixes that end in a
 * slash. */
#include "url.h"

#define MOST_HOSTS 5
#define MOST_PATHS 6
#define MOST_SUFFIXES 4
#define MOST_FOLDERS 4

/* Stores where each host begins: the exact host first, then its suffixes from long to short. */
static size_t host_starts(const guard_url *u, size_t starts[MOST_HOSTS])
{
    size_t dots[MOST_SUFFIXES], n = 0, found = 0;
    starts[n++] = u->host;
    if (u->address) return n;
    bool last_label = true;
    for (size_t i = u->path; i > u->host && found < MOST_SUFFIXES; i--) {
        if (u->text[i - 1] != '.') continue;
        if (!last_label) dots[found++] = i;
        last_label = false;
    }
    while (found > 0) starts[n++] = dots[--found];
    return n;
}

/* Stores where each path ends: with the query, without it, then the prefixes from short to long. */
static size_t path_ends(const guard_url *u, size_t ends[MOST_PATHS])
{
    size_t n = 0, folders = 0;
    if (u->length > u->query + 1) ends[n++] = u->length;
    ends[n++] = u->query;
    for (size_t i = u->path; i + 1 < u->query && folders < MOST_FOLDERS; i++) {
        if (u->text[i] != '/') continue;
        ends[n++] = i + 1;
        folders++;
    }
    return n;
}

size_t guard_url_expressions(const guard_url *u, guard_span out[GUARD_URL_EXPRESSIONS])
{
    size_t starts[MOST_HOSTS], ends[MOST_PATHS], n = 0;
    const size_t hosts = host_starts(u, starts), paths = path_ends(u, ends);
    for (size_t h = 0; h < hosts; h++)
        for (size_t p = 0; p < paths; p++)
            out[n++] = (guard_span){u->text + starts[h], ends[p] - starts[h]};
    return n;
}

static size_t count_of(const guard_url *u, size_t from, size_t to, char c)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) n += u->text[i] == c;
    return n;
}

unsigned guard_url_depth(const guard_url *u)
{
    /* Without its query, if that is empty, a URL is listed as its path. */
    const bool folder = u->length <= u->query + 1 && u->text[u->query - 1] == '/';
    unsigned deep = 0;
    if (!u->address && count_of(u, u->host, u->path, '.') > MOST_SUFFIXES)
        deep |= GUARD_URL_DEEP_HOST;
    if (folder && count_of(u, u->path, u->query, '/') > MOST_FOLDERS) deep |= GUARD_URL_DEEP_PATH;
    return deep;
}
