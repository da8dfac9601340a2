/* What the bytes of a line are for a filter that other programs made of numbers or of another
 * text. */
#ifndef TAMIS_CLI_ENCODE_H
#define TAMIS_CLI_ENCODE_H

#include "../input/lines.h"

struct encoding;
/* NULL: there is none of that name. */
const struct encoding *encoding_named(const char *name);
const char *encoding_name(const struct encoding *e);
/* Their names, for messages. */
#define ENCODINGS "string, utf16, int32, int64, uint32, uint64, float, double, hex"

/* The keys of a block's lines. Memory is kept from call to call; start with {0}, and free it in the
 * end. */
struct encoded {
    const tamis_bytes *keys; /* as many as lines */
    tamis_bytes *room;
    uint8_t *bytes;
    size_t n_room, n_bytes;
};
/* False after a message about the line, which tells its number when it knows how many were before
 * (UINT64_MAX: no). */
bool encode_lines(const struct encoding *e, const struct block *b, uint64_t before,
                  struct encoded *out);
void encoded_free(struct encoded *e);

#endif
