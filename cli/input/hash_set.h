/* An exact set of 128-bit hashes within a budget of memory. */
#ifndef TAMIS_CLI_HASH_SET_H
#define TAMIS_CLI_HASH_SET_H

#include <stdbool.h>
#include <tamis/tamis.h>

struct hash_set {
    tamis_hash *slots; /* zero: empty */
    size_t n, room;    /* room is a power of two */
    bool has_zero;     /* the hash that is zero */
    uint64_t budget;   /* bytes */
};

/* 1: it is new, and in now; 0: it was in; -1: it is new, and beyond the budget or the memory there
 * is. */
int hash_set_add(struct hash_set *s, tamis_hash h);
/* All hashes, in any order, into an array of s->n. */
void hash_set_list(const struct hash_set *s, tamis_hash *out);
void hash_set_free(struct hash_set *s);

#endif
