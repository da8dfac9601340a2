#include "hash.h"

#include "bits.h"
#include "cpu.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void tamis__hasher_init(struct hasher *h, uint64_t seed, const uint8_t *key)
{
    memset(h, 0, sizeof *h);
    h->usable = true;
    if (key == NULL) {
        h->id = TAMIS_XXH3;
        h->seed = seed;
        return;
    }
    h->id = TAMIS_SIPHASH;
    h->key[0] = tamis__get64(key);
    h->key[1] = tamis__get64(key + 8);
    const tamis_hash id = tamis__siphash(h->key, (const uint8_t *)"Tamis key id", 12);
    tamis__put64(h->key_id, id.lo);
    tamis__put64(h->key_id + 8, id.hi);
}

static inline tamis_hash xxh3(const tamis_bytes *key, uint64_t seed)
{
    /* A constant length lets the compiler drop all of XXH3 but the few instructions for 64-bit integers, the
     * commonest keys of programs. It wants a pointer even for no bytes. */
    const XXH128_hash_t x =
        key->len == 8 ? XXH3_128bits_withSeed(key->p, 8, seed)
                      : XXH3_128bits_withSeed(key->len != 0 ? key->p : "", key->len, seed);
    const tamis_hash h = {x.low64, x.high64};
    return h;
}

void tamis__hash_keys(const struct hasher *h, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    if (h->id == TAMIS_SIPHASH) {
        tamis__kernels()->siphash(h->key, keys, n, out);
        return;
    }
    tamis__word_hasher *words = tamis__kernels()->xxh3_words;
    size_t i = 0;
    if (words != NULL && n >= 8 && keys[0].len == 8) i = words(h->seed, keys, n, out);
    for (; i < n; i++) out[i] = xxh3(&keys[i], h->seed);
}

bool tamis__hasher_equal(const struct hasher *a, const struct hasher *b)
{
    return a->id == b->id && a->seed == b->seed && memcmp(a->key_id, b->key_id, 16) == 0;
}

uint64_t tamis__checksum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}
