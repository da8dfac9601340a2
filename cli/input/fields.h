/* Which bytes of a line are its key, its weight and its group, by --field, --delimiter,
 * --weight-field, --by and --list-field. The reader of lines (lines.h) applies them; commands only
 * check the options. */
#ifndef TAMIS_CLI_FIELDS_H
#define TAMIS_CLI_FIELDS_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* False after a message when one of the options is useless without another. */
bool check_fields(const struct line_args *how);

/* How the lines of a list beside the input are read: the key is the whole line, whatever the format
 * of the input, or with --list-field that field of lines in the same format. */
struct line_args list_lines(const struct line_args *how);

/* --delimiter blanks: any number of spaces and tabs separates two fields. Blanks at the beginning
 * and the end of a line are ignored. */
enum { BLANKS = 256 };
/* The delimiter in use: a byte, or BLANKS. */
int delimiter_from(const struct line_args *how);
/* Field n of a line, from 1; false when the line has fewer. A line without a delimiter is one
 * field, even if it is empty. With BLANKS an empty line has no field. */
bool field_of(tamis_bytes line, uint64_t n, int delimiter, tamis_bytes *out);
/* The line without the carriage return that may end it, which is not part of a number. */
tamis_bytes without_return(tamis_bytes line);
/* The column of a number in each line: that of --weight-field or of --value-field, which are not
 * combined. */
const struct column *number_column(const struct line_args *how);
/* The most that --value-field accepts. */
#define MOST_VALUE INT64_C(4294967295)
/* Parses a whole number up to MOST_VALUE, of digits alone. */
bool value_of(tamis_bytes text, int64_t *out);
/* Parses a whole number of 64 bits, with or without a sign. A lone - is 0, because Apache writes it
 * as the size of an answer without a body. False for anything else. */
bool weight_of(tamis_bytes text, int64_t *out);

#endif
