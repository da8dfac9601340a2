#ifndef TAMIS_CLI_BUILD_H
#define TAMIS_CLI_BUILD_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* The filter that `tamis build` would make of the words of these arguments, before it is sealed
 * (build.c). NULL after a message. */
tamis *build_filter(const struct args *a);

/* Reads lines, hashes them for `hasher`, and passes them to `use`, which may change the hashes, in
 * blocks. The verb is for the progress. False after a message, also if `use` fails. */
struct block;
typedef tamis_status use_hashes(void *ctx, const struct block *b);
bool read_hashes(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 use_hashes *use, void *ctx);

/* Hashes of lines. */
struct spool {
    tamis_hash *hashes; /* freed by the caller */
    size_t n, room;
};
/* A new filter, with what is known about it before a line is added. */
struct made {
    tamis *t; /* NULL: it failed, after a message */
    uint32_t kind;
    double asked; /* the rate that was asked for, or follows from the size that was */
};
/* `plan` is what the options ask for; the numbers of lines complete it. It is solved here, once. */
struct made create_filter(const struct args *a, const tamis_options *o, tamis_plan plan,
                          uint64_t lines, uint64_t never);
/* --kind map: reads all lines, creates the map and adds them (build_map.c). */
struct made build_map(const struct args *a, const tamis_options *o, const tamis_plan *plan);
/* False after a message when the fields do not fit --kind map, or are for it alone. */
bool check_map(struct args *a, const tamis_plan *plan);
/* The seal found two values for one key, the second one in this record: says where. */
void name_two_values(const struct args *a, uint64_t which, const char *why);
/* A record of these files, counted from 0 without those that were left out. */
struct found_line {
    const char *path;
    uint64_t line;
    char key[201]; /* its beginning */
};
/* False if the files cannot be read again. */
bool find_record(const struct args *a, char **paths, int n, uint64_t which, struct found_line *out);

/* Does the same, and keeps all hashes. */
bool spool_lines(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 struct spool *out);

#endif
