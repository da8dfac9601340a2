/* CSV as in RFC 4180: a field may be in quotes, and then contain delimiters, line ends and doubled
 * quotes. Records end with a newline, or a carriage return and a newline. As in most programs, a
 * quote inside a field that does not begin with one is an ordinary character. */
#ifndef TAMIS_CLI_CSV_H
#define TAMIS_CLI_CSV_H

#include <tamis/tamis.h>

/* The end of the last whole record of a text that begins with a record; `text` if there is none. A
 * final text must end with a newline, and nothing follows it.
 * A quote that is never closed spoils only its line: the next line begins a record again. So does a
 * quote that is not closed within 16 MiB, and one whose closing quote is in another line and is not
 * the end of a field. */
const char *csv_last_end(const char *text, const char *stop, char delimiter, bool final);

/* A field of a record, in quotes or not. */
struct csv_field {
    tamis_bytes raw;  /* without the quotes around it */
    bool has_doubled; /* quotes */
};

struct csv_record {
    const char *end; /* where its newline is */
    uint64_t found;  /* it has at least so many fields; all wanted ones up to there were read */
    uint64_t lines;  /* that it takes: one, and more if newlines are in quotes */
    const char *fault_at, *fault; /* where and why it is not CSV */
};

/* Reads the record at p of a final text (see above), and those of its fields whose numbers, from 1,
 * are in columns[0 ... n - 1]; 0 is for no field. False: it is not CSV; it then ends with the line
 * of the quote that is wrong. */
bool csv_read(const char *p, const char *stop, char delimiter, const uint64_t *columns, size_t n,
              struct csv_field *fields, struct csv_record *out);

/* Writes the bytes of a field, with single quotes. Returns their number. */
size_t csv_unquote(tamis_bytes raw, char *to);

#endif
