#include "hash.h"

#include "bits.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- SipHash-2-4 with 128-bit output (Aumasson, Bernstein; the reference's 16-byte variant) ----- */

static inline uint64_t rotl(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotl(v[1], 13) ^ v[0], v[0] = rotl(v[0], 32);
    v[2] += v[3], v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotl(v[1], 17) ^ v[2], v[2] = rotl(v[2], 32);
}

static inline void sip_absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

static inline uint64_t sip_finish(uint64_t v[4])
{
    for (int i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static tamis_hash siphash(const uint64_t key[2], const uint8_t *p, size_t len)
{
    /* "somepseudorandomlygeneratedbytes"; 0xee and 0xdd mark the 128-bit variant and its halves. */
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    const uint64_t tail_length = (uint64_t)len << 56;
    for (; len >= 8; p += 8, len -= 8) sip_absorb(v, tamis__get64(p));
    uint64_t last = tail_length;
    for (size_t i = 0; i < len; i++) last |= (uint64_t)p[i] << 8 * i;
    sip_absorb(v, last);
    tamis_hash h;
    v[2] ^= 0xee;
    h.lo = sip_finish(v);
    v[1] ^= 0xdd;
    h.hi = sip_finish(v);
    return h;
}

/* --- The front door ------------------------------------------------------------------------------ */

void tamis__hasher_init(struct hasher *h, uint64_t seed, const uint8_t *key)
{
    memset(h, 0, sizeof *h);
    h->usable = true;
    if (key == NULL) {
        h->id = TAMIS_HASH_XXH3;
        h->seed = seed;
        return;
    }
    h->id = TAMIS_HASH_SIPHASH;
    h->key[0] = tamis__get64(key);
    h->key[1] = tamis__get64(key + 8);
    const tamis_hash id = siphash(h->key, (const uint8_t *)"Tamis key id", 12);
    tamis__put64(h->key_id, id.lo);
    tamis__put64(h->key_id + 8, id.hi);
}

void tamis__hash_keys(const struct hasher *h, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    if (h->id == TAMIS_HASH_SIPHASH) {
        for (size_t i = 0; i < n; i++) out[i] = siphash(h->key, keys[i].p, keys[i].len);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        /* xxHash wants a pointer even for no bytes. */
        const void *p = keys[i].len != 0 ? keys[i].p : "";
        const XXH128_hash_t x = XXH3_128bits_withSeed(p, keys[i].len, h->seed);
        out[i].lo = x.low64;
        out[i].hi = x.high64;
    }
}

bool tamis__hasher_equal(const struct hasher *a, const struct hasher *b)
{
    return a->id == b->id && a->seed == b->seed && memcmp(a->key_id, b->key_id, 16) == 0;
}

uint64_t tamis__checksum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}
