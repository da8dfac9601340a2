/* Guesses what an unknown word was meant to be. */
#ifndef TAMIS_CLI_SUGGEST_H
#define TAMIS_CLI_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct guess {
    const char *word; /* what was typed */
    size_t length;
    const char *best; /* the nearest candidate that is near enough, or NULL */
    size_t distance;
};
void consider(struct guess *g, const char *candidate);
/* "; did you mean '--items'?", with `before` in front of the name, or "" without a guess. In a
 * static buffer. */
const char *did_you_mean(const struct guess *g, const char *before);

#endif
