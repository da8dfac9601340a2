/* check --confirm: which of the lines that a filter cannot exclude are in the exact set. A store
 * (LMDB) is asked at once. A list is read when the lines to look for are together: they wait for
 * it, in their order. */
#ifndef TAMIS_CLI_CONFIRM_H
#define TAMIS_CLI_CONFIRM_H

#include "../frame/cli.h"
#include "../input/lines.h"

/* Every line counts; it is found or absent as soon as that is known. */
struct totals {
    uint64_t lines, maybe, found, absent;
};

/* A list or a store that has lines which the filter excludes is not what the filter was made of, or
 * the filter misses them: says so, and returns false (waiting.c). */
bool complain_of_excluded(const char *path, uint64_t lines, const tamis *t);

/* --- A store (store.c) ------------------------------------------------------------------------ */

struct store;
/* Whether the path leads to an LMDB: a directory, or a file that begins like one. */
bool is_store(const char *path);
/* Reads all its keys, and shows how far it is unless quiet. NULL after a message. The filter must
 * live as long. */
struct store *store_open(const char *path, const tamis *t, bool quiet);
/* Reads all keys again when the store has changed. Clears the bits of keys that are not in, and
 * counts those that are. False after a message. */
bool store_confirm(struct store *s, const tamis_bytes *keys, size_t n, uint8_t *bits,
                   size_t *found);
void store_close(struct store *s);

/* --- A list (waiting.c) ----------------------------------------------------------------------- */

struct waiting;
/* The arguments and the filter must live as long. NULL after a message. */
struct waiting *waiting_open(const struct args *a, const tamis *t);
/* A block of which the lines with set bits are maybes. Reads the list when no more can wait. False
 * after a message. */
bool waiting_add(struct waiting *w, const struct block *b, const uint8_t *bits, struct totals *t);
/* Reads the list for what is left. False after a message. */
bool waiting_finish(struct waiting *w, struct totals *t);
void waiting_close(struct waiting *w);

#endif
