/* Which bytes of a line are its key, and which its weight: --field, --delimiter, --weight-field,
 * --list-field. Reading lines (lines.h) does it all; commands only check that the options make
 * sense. */
#ifndef TAMIS_CLI_FIELDS_H
#define TAMIS_CLI_FIELDS_H

#include "../frame/cli.h"

/* EXIT_ERROR after a message when one of the options is useless without another. */
int check_fields(const struct args *a);
/* The same for freq, which may read no lines (freq.c). */
int check_freq(const struct args *a);

/* The same arguments for a list beside the input: its lines are keys as they are, or by
 * --list-field. */
struct args list_lines(const struct args *a);

/* --delimiter blanks: any number of spaces and tabs separates two fields; those around a line count
 * for nothing. */
enum { BLANKS = 256 };
/* The delimiter in use: a byte, or BLANKS. */
int delimiter_from(const struct args *a);
/* Field n of a line, from 1; false: it has fewer. A line without a delimiter is one field, even
 * when it is empty; by blanks an empty line has none. */
bool field_of(tamis_bytes line, uint64_t n, int delimiter, tamis_bytes *out);
/* The line without the carriage return that it may end with, which is no part of a number. */
tamis_bytes without_return(tamis_bytes line);
/* A whole number, with a sign or without, that fits in 64 bits, and nothing else; or -, which is 0:
 * so Apache writes the size of an answer that has no body. */
bool weight_of(tamis_bytes text, int64_t *out);

#endif
