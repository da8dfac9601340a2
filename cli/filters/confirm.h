/* check --confirm: finds out which of the lines that a filter does not exclude are in the exact
 * set. A store (LMDB) is queried at once. A list is read when enough lines have been collected;
 * until then the lines wait, in their order. */
#ifndef TAMIS_CLI_CONFIRM_H
#define TAMIS_CLI_CONFIRM_H

#include "../input/lines.h"

/* A line is counted at once, and as found or absent as soon as that is known. */
struct totals {
    uint64_t lines, maybe, found, absent;
};

/* The message that a list or a store has lines which the filter excludes: it is not what the filter
 * was made of, or the filter misses them (waiting.c). */
void complain_of_excluded(const char *path, uint64_t lines, const tamis *t);

/* --- A store (store.c) ------------------------------------------------------------------------ */

struct store;
/* Whether the path is an LMDB: a directory, or a file with the first bytes of one. */
bool is_store(const char *path);
/* Reads all keys of the store, and shows the progress unless quiet. NULL after a message. The
 * filter must live as long as the store. */
struct store *store_open(const char *path, const tamis *t, bool quiet);
/* Reads all keys again if the store has changed. Clears the bits of keys that are not in the store,
 * and counts those that are. False after a message. */
bool store_confirm(struct store *s, const tamis_bytes *keys, size_t n, uint8_t *bits,
                   size_t *found);
void store_close(struct store *s);

/* --- A list (waiting.c) ----------------------------------------------------------------------- */

struct waiting;
/* The arguments and the filter must live as long. NULL after a message. */
struct waiting *waiting_open(const struct args *a, const tamis *t);
/* Takes a block; the lines whose bits are set may be in the set. Reads the list when no more lines
 * can wait. False after a message. */
bool waiting_add(struct waiting *w, const struct block *b, const uint8_t *bits, struct totals *t);
/* Reads the list for the lines that are left. False after a message. */
bool waiting_finish(struct waiting *w, struct totals *t);
void waiting_close(struct waiting *w);

#endif
