/* How often each of many 128-bit hashes occurred, exactly. */
#ifndef TAMIS_CLI_HASH_COUNTS_H
#define TAMIS_CLI_HASH_COUNTS_H

#include <tamis/tamis.h>

struct hash_counts {
    struct hash_count *slots; /* a slot whose count is 0 is empty */
    size_t n, room;           /* room is a power of two */
};

/* The number of the hash, which is 0 if it is new, to be made greater at once. NULL: not enough
 * memory. Valid until the next call. */
uint64_t *hash_counts_of(struct hash_counts *c, tamis_hash h);
void hash_counts_free(struct hash_counts *c);

#endif
