/* LABEL.state: what a server said about a list. */
#ifndef GUARD_FETCH_STATE_H
#define GUARD_FETCH_STATE_H

#include "../version/manifest.h"
#include "download.h"

struct guard_fetch_state {
    char url[2 * GUARD_HASH_SIZE + 1], list[2 * GUARD_HASH_SIZE + 1]; /* sums, in hexadecimal */
    struct guard_tags tags;
};

/* Returns false if the file is not one with a text of guard_fetch_state_print. A name that is not
 * that of a regular file is not opened, because that could take for ever. */
bool guard_fetch_state_read(const char *path, struct guard_fetch_state *out);
/* Writes the text, with a NUL, and returns its length. Tags contain printable ASCII alone. */
size_t guard_fetch_state_print(const struct guard_fetch_state *s, char *text);
#define GUARD_FETCH_STATE_BYTES (2 * GUARD_TAG_SIZE + 4 * GUARD_HASH_SIZE + 64)

#endif
