/* What check prints before a line: its file (-H) and its number there (-n), as grep does. */
#ifndef TAMIS_CLI_LABEL_H
#define TAMIS_CLI_LABEL_H

#include "../input/lines.h"

#include <limits.h>

struct label {
    const struct args *args;
    const struct block *block;
    const char *at; /* how far lines were counted, */
    uint64_t line;  /* and which one begins there */
    char text[PATH_MAX + 64];
};

/* For the lines of one block, in their order. */
void label_begin(struct label *l, const struct args *a, const struct block *b);
/* Before line i, until the next call; empty unless it was asked for. */
tamis_bytes label_of(struct label *l, size_t i);
/* What the file of a block is called. */
const char *label_name(const struct block *b);

#endif
