#ifndef TAMIS_CLI_BUILD_H
#define TAMIS_CLI_BUILD_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* The filter that `tamis build` would make of the words of these arguments, before it is sealed
 * (build.c). NULL after a message. */
tamis *build_filter(const struct args *a);

/* Reads lines, hashes them for `hasher`, and passes the hashes to `use`, which may change them, in
 * blocks. The verb is for the progress. False after a message, also if `use` fails. */
typedef tamis_status use_hashes(void *ctx, tamis_hash *hashes, size_t n);
bool read_hashes(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 use_hashes *use, void *ctx);

/* Hashes of lines. */
struct spool {
    tamis_hash *hashes; /* freed by the caller */
    size_t n, room;
};
/* Does the same, and keeps all hashes. */
bool spool_lines(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 struct spool *out);

#endif
