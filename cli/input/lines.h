/* Reads the lines of several files, one after the other, in blocks. Lines may have any bytes and
 * any length. Threads split and hash the blocks, which are returned in the order of the input. With
 * --csv and --tsv, "line" means a record, which may have line ends in quotes. */
#ifndef TAMIS_CLI_LINES_H
#define TAMIS_CLI_LINES_H

#include "../frame/args.h"

#include <tamis/tamis.h>

struct block {
    /* Without their line ends, but in memory each line is followed by its end, even the last one.
     * The next line follows that, unless lines were left out between them. */
    tamis_bytes *lines;
    tamis_bytes *keys;   /* by --field and --crlf; without them the lines themselves */
    tamis_bytes *groups; /* by --by; without it NULL */
    int64_t *weights;    /* by --weight-field or --value-field; without them NULL */
    tamis_hash *hashes;  /* of the keys, if there is a hasher */
    size_t n;
    uint64_t input_bytes; /* read so far, this block included */
    const char *path;     /* the file that all of them are from */
    const char *text; /* the beginning of the block in memory, with the lines that were left out */
    uint64_t before;  /* the number of lines of that file before the block */
};

/* Why a filter or a sketch is refused as a file of lines. */
#define NOT_LINES                                                                                  \
    "is a filter or a sketch, not a file of lines; --raw would take its bytes for lines"

struct lines;
/* Without paths, and for "-", standard input is read. `how` and `hasher` (or NULL) must live as
 * long as the reader. NULL: not enough memory. */
struct lines *lines_open(const struct line_args *how, char **paths, int n, const tamis *hasher,
                         unsigned threads);
/* Called before lines_next: smaller blocks, of at most 8,192 lines, take less memory. */
void lines_save_memory(struct lines *l);
/* Called before lines_next by a command that recognizes filters and sketches itself. */
void lines_pass_filters(struct lines *l);
/* The next block, valid until the next call; NULL at the end. A file that cannot be read is
 * reported and skipped. So is a filter or a sketch, and with --strict-input a file in UTF-16,
 * unless --raw is given. Lines with too few fields, with a weight that is not a number, or that are
 * not CSV or JSON are skipped and counted. With --strict-input, the first of them is reported, and
 * the lines before it are the last ones. So are those before a line that cannot be a key of the
 * hasher. Lines are returned as soon as they have arrived, so a slow pipe does not delay them. A
 * signal of stop.h ends the input after the last whole line that was read. */
const struct block *lines_next(struct lines *l);
/* Whether lines_next would return within so many milliseconds. */
bool lines_wait(const struct lines *l, int milliseconds);
/* The number of line i of the current block in its file, and the file, for messages. */
uint64_t lines_number(const struct lines *l, size_t i, const char **path);
/* Called before lines_next by a command that prints lines: with --header, the header of the first
 * file is printed before them, and a file with another header is an error. */
void lines_print_header(struct lines *l);
/* Whether a file could not be read or memory ran out; a message was printed. */
bool lines_failed(const struct lines *l);
/* The number of lines that were skipped. */
uint64_t lines_skipped(const struct lines *l);
/* After the last block: whether there were lines, but all of them were skipped; a message was
 * printed. */
bool lines_lack_keys(const struct lines *l);
/* Unless quiet, and if all lines were read, prints how many lines were skipped. */
void lines_close(struct lines *l, bool quiet);

/* The bytes of all files if each is a regular file, which can be read twice; otherwise 0. */
uint64_t lines_total_bytes(char **paths, int n);
/* Counts the lines of the files, or the records of CSV that have a key. False after a message when
 * a file cannot be read. */
bool lines_count(const struct line_args *how, char **paths, int n, uint64_t *count);

/* Resizes *array, of any type, to n elements of that size. False when memory is lacking; then it is
 * unchanged. */
bool resize(void *array, size_t n, size_t size);

#endif
