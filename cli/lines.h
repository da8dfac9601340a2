/* The lines of several files, one after the other, in blocks: any bytes, any length. Threads split and hash
 * the blocks; they come out in the order of the input. */
#ifndef TAMIS_CLI_LINES_H
#define TAMIS_CLI_LINES_H

#include "cli.h"

struct block {
    tamis_bytes
        *lines; /* without their ends; each is followed by its end in memory, even the last */
    tamis_hash *hashes; /* of the lines, when a hasher was given */
    size_t n;
    uint64_t input_bytes; /* read so far, this block included */
};

struct lines;
/* No paths: stdin, as is "-". The arguments say how lines end and whether compressed input is unpacked. hasher (or NULL)
 * must live as long. NULL: no memory. */
struct lines *lines_open(const struct args *a, char **paths, int n, const tamis *hasher,
                         unsigned threads);
/* The next block, valid until the next call; NULL: no more. A file that cannot be read is reported and
 * skipped. What has arrived is handed out at once: a slow pipe does not hold its lines back. */
const struct block *lines_next(struct lines *l);
/* Whether a file could not be read, or memory ran out; a message was given. */
bool lines_failed(const struct lines *l);
void lines_close(struct lines *l);

/* Bytes of all files when each is a regular one that can be read twice; else 0. */
uint64_t lines_total_bytes(char **paths, int n);
/* Their number; false when a file could not be read, which was reported. */
bool lines_count(const struct args *a, char **paths, int n, uint64_t *count);

#endif
