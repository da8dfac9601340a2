/* --header: the first record of a file, which names its columns. */
#ifndef TAMIS_CLI_HEADER_H
#define TAMIS_CLI_HEADER_H

#include "split.h"

struct header {
    bool print;       /* the first one; all files must have the same */
    tamis_bytes text; /* of the first file, with its line end, in memory of its own */
    const char *path; /* that file */
};

/* Reads the header at the beginning of a text, and finds the columns that the options name. *length
 * becomes its length, with the line end. False after a message. */
bool header_read(struct header *h, const struct form *f, const char *path, const char *text,
                 size_t size, size_t *length, struct columns *columns);
void header_free(struct header *h);

#endif
