/* The distinct hashes of an aggregate whose kind cannot be merged. Each takes 21 to 43 bytes.
 *
 * If they have values (`values`), the value of a hash is in the lower half of lo, which maps do not
 * use. Hashes are then compared without it. */
#ifndef TAMIS_SQL_HASH_SET_H
#define TAMIS_SQL_HASH_SET_H

#include <tamis/tamis.h>

struct hash_set {
    tamis_hash *slots; /* NULL: empty */
    size_t log, used;
    bool values; /* set it before the first hash is added */
    bool zero;   /* the hash 0, which marks free slots: a hostile key may have it */
    uint32_t zero_value;
};

/* Adds a hash, unless it is there; then the set stays as it is, whatever the value. False: no
 * memory; nothing has changed. */
bool hash_set_add(struct hash_set *s, const tamis_memory *m, tamis_hash h);
/* Whether the hash is there. Sets *value to its value. */
bool hash_set_find(const struct hash_set *s, tamis_hash h, uint32_t *value);
size_t hash_set_count(const struct hash_set *s);
/* Writes hashes to out, n at most, from slot *at on, which it moves on. Returns 0 at the end.
 * Their order depends on all bits of a hash, so that they look as uniform as they are. */
size_t hash_set_take(const struct hash_set *s, size_t *at, tamis_hash *out, size_t n);
void hash_set_free(struct hash_set *s, const tamis_memory *m);

#endif
