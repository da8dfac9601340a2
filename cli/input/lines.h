/* The lines of several files, one after the other, in blocks: any bytes, any length. Threads split
 * and hash the blocks; they come out in the order of the input. */
#ifndef TAMIS_CLI_LINES_H
#define TAMIS_CLI_LINES_H

#include "../frame/cli.h"

struct block {
    /* Without their ends; each is followed by its end in memory, even the last. The next one
     * follows it, unless lines were left out between them. */
    tamis_bytes *lines;
    tamis_bytes *keys;  /* what --field says of them; without it the lines themselves */
    int64_t *weights;   /* what --weight-field says; without it NULL */
    tamis_hash *hashes; /* of the keys, when a hasher was given */
    size_t n;
    uint64_t input_bytes; /* read so far, this block included */
    const char *path;     /* the one file that they are from, */
    const char *text;     /* where the block begins in memory, lines that were left out included, */
    uint64_t before;      /* and the lines of that file before it */
};

struct lines;
/* No paths: stdin, as is "-". The arguments say how lines end, whether compressed input is
 * unpacked, and which fields of a line are meant (check_fields before). hasher (or NULL) must live
 * as long. NULL: no memory. */
struct lines *lines_open(const struct args *a, char **paths, int n, const tamis *hasher,
                         unsigned threads);
/* The next block, valid until the next call; NULL: no more. A file that cannot be read is reported
 * and skipped; so are lines with too few fields, or with a weight that is no number, which are
 * counted. What has arrived is handed out at once: a slow pipe does not hold its lines back. A
 * signal of stop.h is the end, after the last whole line that was read. */
const struct block *lines_next(struct lines *l);
/* Whether lines_next would give something, or the end, within so many milliseconds. */
bool lines_wait(const struct lines *l, int milliseconds);
/* Where line i of that block stands: its number in the file, and the file. For messages. */
uint64_t lines_number(const struct lines *l, size_t i, const char **path);
/* Whether a file could not be read, or memory ran out; a message was given. */
bool lines_failed(const struct lines *l);
/* How many lines were left out: too few fields, or no weight. */
uint64_t lines_skipped(const struct lines *l);
/* Says on stderr how many lines were left out, if any, when all were read; unless quiet. */
void lines_close(struct lines *l);

/* Bytes of all files when each is a regular one that can be read twice; else 0. */
uint64_t lines_total_bytes(char **paths, int n);
/* Their number; false when a file could not be read, which was reported. */
bool lines_count(const struct args *a, char **paths, int n, uint64_t *count);

/* *array, of any type, with room for n of that size; false: no memory, and it is as it was. */
bool resize(void *array, size_t n, size_t size);

#endif
