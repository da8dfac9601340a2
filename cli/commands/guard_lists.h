/* The lists that 'guard build' is given. A directory stands for the lists in it. */
#ifndef TAMIS_CLI_GUARD_LISTS_H
#define TAMIS_CLI_GUARD_LISTS_H

#include <stdbool.h>
#include <stddef.h>

struct list_words {
    char **at;
    size_t n;
};

/* Copies the words, each directory replaced by the paths of its files that end in .txt, in the
 * order of their names. False after a message when a directory cannot be read or has none. */
bool list_words_of(char *const *words, size_t n, struct list_words *out);
void list_words_free(struct list_words *w);

#endif
