/* Which bytes of a line are its key, and which its weight: --field, --delimiter and --weight-field. Reading lines
 * (lines.h) does it all; commands only check that the options make sense. */
#ifndef TAMIS_CLI_FIELDS_H
#define TAMIS_CLI_FIELDS_H

#include "cli.h"

/* EXIT_ERROR after a message when one of the options is useless without another. */
int check_fields(const struct args *a);

/* The same arguments for files whose lines are keys as they are: a list beside the input. */
struct args whole_lines(const struct args *a);

/* The delimiter in use. */
char delimiter_from(const struct args *a);
/* Field n of a line, from 1; false: it has fewer. A line without a delimiter is one field, even when it is empty. */
bool field_of(tamis_bytes line, uint64_t n, char delimiter, tamis_bytes *out);
/* A whole number, with a sign or without, that fits in 64 bits; nothing else may stand beside it. */
bool weight_of(tamis_bytes text, int64_t *out);

#endif
