/* What was probably meant by a word that nobody knows. */
#ifndef TAMIS_CLI_SUGGEST_H
#define TAMIS_CLI_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct guess {
    const char *word; /* what was typed */
    size_t length;
    const char *best; /* the nearest candidate so far that is near enough, or NULL */
    size_t distance;
};
void consider(struct guess *g, const char *candidate);
/* "; did you mean '--items'?", with what stands before the name, or "" without a guess; in a static
 * buffer. */
const char *did_you_mean(const struct guess *g, const char *before);

#endif
