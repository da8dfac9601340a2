#include "hash.h"

#include "bits.h"
#include "cpu.h"

#define XXH_INLINE_ALL
#include <tamis/inspect.h>
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

static inline tamis_hash xxh3(const void *key, size_t len, uint64_t seed)
{
    /* With a constant length, the compiler keeps only the few instructions of XXH3 for 64-bit
     * integers, the most common keys of programs. XXH3 requires a valid pointer even for no
     * bytes. */
    const XXH128_hash_t x = len == 8 ? XXH3_128bits_withSeed(key, 8, seed)
                                     : XXH3_128bits_withSeed(len != 0 ? key : "", len, seed);
    const tamis_hash h = {x.low64, x.high64};
    return h;
}

tamis_hash tamis__hash_key(const struct hasher *h, const void *key, size_t len)
{
    return h->id == TAMIS_SIPHASH ? tamis__siphash(h->key, key, len) : xxh3(key, len, h->seed);
}

/* Keys of 33 to 64 bytes (URLs, UUIDs, digests in hexadecimal) are set aside until there are eight,
 * which are hashed together. */
static void xxh3_lanes(tamis__middle_hasher *eight, uint64_t seed, const tamis_bytes *keys,
                       size_t n, tamis_hash *out)
{
    const tamis_bytes *aside[8];
    tamis_hash hashes[8];
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++) {
        if (keys[i].len < 33 || keys[i].len > 64) {
            out[i] = xxh3(keys[i].p, keys[i].len, seed);
            continue;
        }
        aside[waiting++] = keys + i;
        if (waiting < 8) continue;
        eight(seed, aside, hashes);
        for (size_t j = 0; j < 8; j++) out[aside[j] - keys] = hashes[j];
        waiting = 0;
    }
    for (size_t j = 0; j < waiting; j++)
        out[aside[j] - keys] = xxh3(aside[j]->p, aside[j]->len, seed);
}

void tamis__hash_keys(const struct hasher *h, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    const struct kernels *k = tamis__kernels();
    if (h->id == TAMIS_SIPHASH) {
        k->siphash(h->key, keys, n, out);
        return;
    }
    size_t i = 0;
    if (k->xxh3_words != NULL && n >= 8 && keys[0].len == 8)
        i = k->xxh3_words(h->seed, keys, n, out);
    if (k->xxh3_eight != NULL && n >= 8)
        xxh3_lanes(k->xxh3_eight, h->seed, keys + i, n - i, out + i);
    else
        for (; i < n; i++) out[i] = xxh3(keys[i].p, keys[i].len, h->seed);
}

bool tamis__hasher_equal(const struct hasher *a, const struct hasher *b)
{
    return a->id == b->id && a->seed == b->seed && memcmp(a->key_id, b->key_id, 16) == 0;
}

uint64_t tamis__checksum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct summing), "room for XXH3's state");

void tamis__summing_start(struct summing *s)
{
    XXH3_state_t *state = (void *)s->state;
    XXH3_INITSTATE(state);
    XXH3_64bits_reset(state);
}

void tamis__summing_add(struct summing *s, const void *bytes, size_t n)
{
    XXH3_64bits_update((void *)s->state, bytes, n);
}

uint64_t tamis__summing_end(const struct summing *s)
{
    return XXH3_64bits_digest((const void *)s->state);
}

uint64_t tamis__xxh64(const void *bytes, size_t n)
{
    return XXH64(n != 0 ? bytes : "", n, 0);
}
