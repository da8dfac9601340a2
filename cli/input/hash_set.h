/* An exact set of 128-bit hashes within a memory budget. */
#ifndef TAMIS_CLI_HASH_SET_H
#define TAMIS_CLI_HASH_SET_H

#include <stdbool.h>
#include <tamis/tamis.h>

struct hash_set {
    tamis_hash *slots; /* a slot that is zero is empty */
    size_t n, room;    /* room is a power of two */
    bool has_zero;     /* the hash zero is in the set */
    uint64_t budget;   /* bytes */
};

/* Returns 1 when the hash is new and was added, 0 when it was in the set, and -1 when it is new but
 * exceeds the budget or the memory. */
int hash_set_add(struct hash_set *s, tamis_hash h);
/* Writes all hashes, in any order, to an array of s->n. */
void hash_set_list(const struct hash_set *s, tamis_hash *out);
void hash_set_free(struct hash_set *s);

#endif
