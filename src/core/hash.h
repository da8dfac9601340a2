/* Hash functions: every key becomes 128 bits here. Also the checksums of images.
 *
 * There are two functions for keys. XXH3-128 is the fast one, for keys that no attacker chose,
 * because its seed is public. SipHash-2-4 is a pseudo-random function: without its 16-byte key
 * nobody can choose keys to attack a filter. */
#ifndef TAMIS_HASH_H
#define TAMIS_HASH_H

#include "key.h"

struct hasher {
    uint32_t id;         /* TAMIS_XXH3, ... */
    bool usable;         /* false: a keyed image without its key, or the caller's own hashes */
    uint64_t seed;       /* XXH3 */
    const uint64_t *key; /* SipHash: two words, which belong to the handle's key */
    uint8_t key_id[16];  /* zero unless keyed */
};

/* Selects SipHash if key is not NULL, or else XXH3 with this seed. */
void tamis__hasher_init(struct hasher *h, uint64_t seed, const struct tamis_key *key);

/* Require h->usable. */
tamis_hash tamis__hash_key(const struct hasher *h, const void *key, size_t len);
void tamis__hash_keys(const struct hasher *h, const tamis_bytes *keys, size_t n, tamis_hash *out);

/* The same for rows [row, row + n) of a column. */
struct column;
void tamis__hash_column(const struct hasher *h, const struct column *c, size_t row, size_t n,
                        tamis_hash *out);

/* Whether both are the same function with the same seed or key. */
bool tamis__hasher_equal(const struct hasher *a, const struct hasher *b);

/* XXH3-64 with seed 0. */
uint64_t tamis__checksum(const void *bytes, size_t n);

/* The same for bytes that arrive in pieces. */
struct summing {
    _Alignas(64) uint8_t state[576]; /* XXH3's */
};
void tamis__summing_start(struct summing *s);
void tamis__summing_add(struct summing *s, const void *bytes, size_t n);
uint64_t tamis__summing_end(const struct summing *s);

/* XXH64 with seed 0, the hash of Bloom filters in Parquet. */
uint64_t tamis__xxh64(const void *bytes, size_t n);

#endif
