/* Turns lines into the bytes that other programs hash: numbers, or text in another encoding. */
#ifndef TAMIS_CLI_ENCODE_H
#define TAMIS_CLI_ENCODE_H

#include "../input/lines.h"

#include <tamis/tamis.h>

struct encoding;
/* NULL: no encoding has that name. */
const struct encoding *encoding_named(const char *name);
const char *encoding_name(const struct encoding *e);
/* Their names, for messages. */
#define ENCODINGS "string, utf16, int32, int64, uint32, uint64, float, double, hex"

/* The keys of the lines of a block. The memory is kept from call to call. Initialize it with {0},
 * and free it in the end. */
struct encoded {
    const tamis_bytes *keys; /* one for each line */
    tamis_bytes *room;
    uint8_t *bytes;
    size_t n_room, n_bytes;
};
/* Encodes the lines of b, the current block of `in`. False after a message about a line that cannot
 * be encoded. */
bool encode_lines(const struct encoding *e, const struct lines *in, const struct block *b,
                  struct encoded *out);
void encoded_free(struct encoded *e);

#endif
