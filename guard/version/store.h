/* The exact store: an LMDB database, written once in order, that maps the full hash of each listed
 * expression to the lists that contain it. */
#ifndef GUARD_STORE_H
#define GUARD_STORE_H

#include "guard.h"

struct guard_entry {
    uint8_t hash[GUARD_HASH_SIZE];
    uint64_t labels; /* bit i is set if list i contains it */
};

/* Writes these entries, sorted and each once, to a new file and syncs it to disk. */
bool guard_store_write(const char *path, const struct guard_entry *entries, size_t n,
                       guard_error *why);

struct guard_store;
/* Opens a store with the size, the checksum and the number of entries that the manifest names. LMDB
 * trusts what it reads and maps its file, so it gets a copy in memory that nobody can change: a
 * store overwritten in place would refute what is listed, and a truncated one would end the
 * program. Returns NULL after a failure. */
struct guard_store *guard_store_open(const char *path, const guard_part *part, uint64_t entries,
                                     guard_error *why);
void guard_store_close(struct guard_store *s);

/* Returns 1 if found, 0 if not, -1 if LMDB fails. Safe for any number of threads. */
int guard_store_find(const struct guard_store *s, const uint8_t hash[GUARD_HASH_SIZE],
                     uint64_t *labels);
/* Calls put for all entries that begin with these bytes, in order; a size of 0 selects all. Returns
 * false if that failed or put returned false. */
typedef bool guard_put(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels);
bool guard_store_each(const struct guard_store *s, const uint8_t *prefix, size_t size,
                      guard_put *put, void *ctx);

#endif
