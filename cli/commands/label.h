/* What check prints before a line: its file (-H) and its number there (-n), as grep does. */
#ifndef TAMIS_CLI_LABEL_H
#define TAMIS_CLI_LABEL_H

#include "../input/lines.h"

#include <limits.h>

struct label {
    const struct args *args;
    const struct block *block;
    const char *at; /* lines were counted up to here */
    uint64_t line;  /* the number of the line that begins there */
    char text[PATH_MAX + 64];
};

/* Starts the labels of a block, whose lines follow in their order. */
void label_begin(struct label *l, const struct args *a, const struct block *b);
/* The label of line i, until the next call; empty unless -H or -n is given. */
tamis_bytes label_of(struct label *l, size_t i);
/* The name of the file of a block. */
const char *label_name(const struct block *b);

#endif
