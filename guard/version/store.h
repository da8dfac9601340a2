/* The exact store: full hashes of the listed expressions, and on which lists they are. LMDB,
 * written once, in order. */
#ifndef GUARD_STORE_H
#define GUARD_STORE_H

#include "guard.h"

struct guard_entry {
    uint8_t hash[GUARD_HASH_SIZE];
    uint64_t labels; /* bit i: on list i */
};

/* Writes a new file with these entries, sorted and each once, down to the disk. */
bool guard_store_write(const char *path, const struct guard_entry *entries, size_t n,
                       guard_error *why);

struct guard_store;
/* The sum of the file must have been checked before: LMDB trusts what it reads. NULL after a
 * failure. */
struct guard_store *guard_store_open(const char *path, guard_error *why);
void guard_store_close(struct guard_store *s);

/* 1 found, 0 not, -1 it cannot tell. Any number of threads. */
int guard_store_find(const struct guard_store *s, const uint8_t hash[GUARD_HASH_SIZE],
                     uint64_t *labels);
/* Calls put with all entries, in order, that begin with these bytes (size 0: with all); false when
 * that failed or put returned false. */
typedef bool guard_put(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels);
bool guard_store_each(const struct guard_store *s, const uint8_t *prefix, size_t size,
                      guard_put *put, void *ctx);

#endif
