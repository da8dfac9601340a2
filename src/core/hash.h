/* The front door of every key: bytes in, 128 bits out. Also the sums of images.
 *
 * Two functions. XXH3-128 is the fast one, for data that nobody chose against us: its seed is
 * public. SipHash-2-4 is a pseudo-random function: without the 16-byte key nobody can aim at a
 * filter. */
#ifndef TAMIS_HASH_H
#define TAMIS_HASH_H

#include <tamis/tamis.h>

struct hasher {
    uint32_t id;        /* TAMIS_HASH_... */
    bool usable;        /* false: a keyed image without its key, or the caller's own hashes */
    uint64_t seed;      /* XXH3 */
    uint64_t key[2];    /* SipHash */
    uint8_t key_id[16]; /* zero unless keyed */
};

/* Keyed when key is not NULL (16 bytes), else seeded. */
void tamis__hasher_init(struct hasher *h, uint64_t seed, const uint8_t *key);

/* h->usable must be true. */
tamis_hash tamis__hash_key(const struct hasher *h, const void *key, size_t len);
void tamis__hash_keys(const struct hasher *h, const tamis_bytes *keys, size_t n, tamis_hash *out);

/* Same id, and same seed or same key. */
bool tamis__hasher_equal(const struct hasher *a, const struct hasher *b);

/* XXH3-64, seed 0. */
uint64_t tamis__checksum(const void *bytes, size_t n);

/* The same of bytes that come in pieces. */
struct summing {
    _Alignas(64) uint8_t state[576]; /* XXH3's */
};
void tamis__summing_start(struct summing *s);
void tamis__summing_add(struct summing *s, const void *bytes, size_t n);
uint64_t tamis__summing_end(const struct summing *s);

/* XXH64, seed 0, which Parquet has. */
uint64_t tamis__xxh64(const void *bytes, size_t n);

#endif
