#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 31 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of letters that must be added, dropped, changed, or swapped with a neighbour. */
static size_t edits(const char *a, size_t n, const char *b, size_t m)
{
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                            d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

/* Up to a third of the letters may be wrong, but no more than three; or the end is missing. A wild
 * guess would be worse than none. */
void consider(struct guess *g, const char *candidate)
{
    const size_t m = strlen(candidate);
    if (g->length > LONGEST || m > LONGEST) return;
    const bool begun = g->length >= 3 && strncmp(g->word, candidate, g->length) == 0;
    const size_t distance = begun ? 1 : edits(g->word, g->length, candidate, m);
    const size_t longer = g->length > m ? g->length : m;
    if (3 * distance > longer || distance > 3 || (g->best != NULL && distance >= g->distance))
        return;
    g->best = candidate;
    g->distance = distance;
}

const char *did_you_mean(const struct guess *g, const char *before)
{
    static char text[80];
    text[0] = '\0';
    if (g->best != NULL) snprintf(text, sizeof text, "; did you mean '%s%s'?", before, g->best);
    return text;
}
