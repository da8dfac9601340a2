/* Which entries of a list a URL answers to: those of its host and of its parent domains, of its
 * path and of the folders above.
 *
 *     http://  a.b.c.d.e.f.g  /1/2/3/4/5.html  ?q
 *              |   | | | |    |__|_|_|       |  |
 *              hosts begin    paths end ________|
 *
 * In the canonical form the path follows the host, so that each expression is one piece of it. Of
 * hosts: the exact one, and up to four from its last five labels on, never the last alone; of
 * addresses only the exact one. (v5 begins with the registrable domain instead, which takes a list
 * of public suffixes that a browser's worker has not; a parent that v4 asks for in vain costs one
 * lookup.) Of paths: with the query if there is any, without, and up to four beginnings that end in
 * a slash. */
#include "url.h"

#define MOST_HOSTS 5
#define MOST_PATHS 6
#define MOST_SUFFIXES 4
#define MOST_FOLDERS 4

/* Where each begins, the exact host first, the others from long to short. */
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

/* Where each ends: with the query, without, then from short to long. */
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
