/* Adding lines to a filter or sketch, for add, count and top (add.c). */
#ifndef TAMIS_CLI_ADD_H
#define TAMIS_CLI_ADD_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* Observes the lines as they are added. */
struct watch {
    void *ctx;
    /* Called after each block with its number of lines, and with 0 while there is nothing to
     * read. */
    void (*added)(void *ctx, uint64_t lines);
    bool (*stop)(void *ctx);
};

/* Adds the lines of files, with their weights if there are any. EXIT_ERROR after a message, or with
 * *reason for one; w may be NULL. */
int add_lines(const struct args *a, tamis *t, char **files, int n, const char *verb,
              const struct watch *w, const char **reason);

#endif
