#ifndef TAMIS_CLI_BUILD_H
#define TAMIS_CLI_BUILD_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* The filter that `tamis build` would make of the words of these arguments, before it is sealed
 * (build.c). NULL after a message. */
tamis *build_filter(const struct args *a);

/* Hashes of lines. */
struct spool {
    tamis_hash *hashes; /* freed by the caller */
    size_t n, room;
};
/* Reads lines, hashes them for the filter, and keeps the hashes, or adds them to it. The verb is
 * for the progress. False after a message. */
bool spool_lines(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 struct spool *out);
bool feed_lines(const struct args *a, char **paths, int n, tamis *t, const char *verb);

#endif
