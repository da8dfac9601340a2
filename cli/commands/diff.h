/* The two halves of the command diff: diff.c finds out what its operands are, and diff_lines.c
 * compares lines. */
#ifndef TAMIS_CLI_DIFF_H
#define TAMIS_CLI_DIFF_H

#include "../frame/args.h"

enum { FIRST_COLUMN, SECOND_COLUMN, COMMON_COLUMN, COLUMNS };

struct operand {
    const char *name; /* for messages */
    const char *path; /* a regular file, which can be read several times: as given, or a copy */
    int copy;         /* the descriptor of the copy, or -1 */
    char copy_path[32];
};

/* Whether the column is wanted: -1, -2, -3. */
bool has_column(const struct args *a, int column);
/* Compares two files of lines. Returns the exit status. */
int diff_lines(const struct args *a, const struct operand operands[2]);

#endif
