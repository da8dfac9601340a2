/* Hash functions: every key becomes 128 bits here. Also the checksums of images.
 *
 * There are two functions for keys. XXH3-128 is the fast one, for keys that no attacker chose,
 * because its seed is public. SipHash-2-4 is a pseudo-random function: without its 16-byte key
 * nobody can choose keys to attack a filter. */
#ifndef TAMIS_HASH_H
#define TAMIS_HASH_H

#include "bits.h"
#include "key.h"

struct hasher {
    uint16_t id; /* TAMIS_XXH3, ... */
    bool usable; /* false: a keyed image without its key, or the caller's own hashes */
    union {
        struct {           /* unless SipHash */
            uint64_t seed; /* 0 for the caller's own hashes */
            uint64_t flip; /* tamis__xxh3_flip of the seed */
        };
        struct tamis_key *key; /* SipHash, if usable. A handle's hasher owns it. */
        uint8_t key_id[16];    /* SipHash, otherwise */
    };
};

/* Selects SipHash if key is not NULL, or else XXH3 with this seed. */
void tamis__hasher_init(struct hasher *h, uint64_t seed, struct tamis_key *key);

/* The seed, which is 0 unless it is XXH3; the secret key or NULL; and the 16 bytes of its id, which
 * are zero unless keyed. */
uint64_t tamis__hasher_seed(const struct hasher *h);
struct tamis_key *tamis__hasher_key(const struct hasher *h);
const uint8_t *tamis__hasher_key_id(const struct hasher *h);

/* XXH3-128 of any key, and of one of 8 bytes, which is the most common length in programs. The
 * latter is inlined, and its flip depends only on the seed. */
tamis_hash tamis__xxh3(const void *key, size_t len, uint64_t seed);

static inline uint64_t tamis__xxh3_flip(uint64_t seed)
{
    const uint32_t low = (uint32_t)seed;
    const uint32_t swapped = low >> 24 | (low >> 8 & 0xff00) | (low << 8 & 0xff0000) | low << 24;
    return UINT64_C(0xc4f023344dc994ac) + (seed ^ (uint64_t)swapped << 32);
}

static inline tamis_hash tamis__xxh3_word(uint64_t flip, uint64_t word)
{
    tamis_hash h;
    tamis__multiply(word ^ flip, UINT64_C(0x9e3779b185ebcaa7), &h.lo, &h.hi);
    h.hi += h.lo << 1;
    h.lo ^= h.hi >> 3;
    h.lo = (h.lo ^ h.lo >> 35) * UINT64_C(0x9fb21c651e98df25);
    h.lo ^= h.lo >> 28;
    h.hi = (h.hi ^ h.hi >> 37) * UINT64_C(0x165667919e3779f9);
    h.hi ^= h.hi >> 32;
    return h;
}

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
