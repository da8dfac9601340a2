#include "hashes.h"

#include "../core/bits.h"

uint64_t tamis__fnv1(const void *key, size_t len)
{
    const uint8_t *p = key;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < len; i++) h = h * UINT64_C(1099511628211) ^ p[i];
    return h;
}

/* Reads the n < 8 last bytes, little-endian. */
static uint64_t tail(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static uint64_t hashes_turn(uint64_t v, unsigned by)
{
    return v << by | v >> (64 - by);
}

static uint64_t finish(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

tamis_hash tamis__murmur3(const void *key, size_t len)
{
    const uint64_t c1 = UINT64_C(0x87c37b91114253d5), c2 = UINT64_C(0x4cf5ad432745937f);
    const uint8_t *p = key;
    uint64_t h1 = 0, h2 = 0;
    size_t left = len;
    for (; left >= 16; left -= 16, p += 16) {
        h1 ^= hashes_turn(tamis__get64(p) * c1, 31) * c2;
        h1 = (hashes_turn(h1, 27) + h2) * 5 + 0x52dce729;
        h2 ^= hashes_turn(tamis__get64(p + 8) * c2, 33) * c1;
        h2 = (hashes_turn(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    if (left > 8) h2 ^= hashes_turn(tail(p + 8, left - 8) * c2, 33) * c1;
    if (left >= 8) h1 ^= hashes_turn(tamis__get64(p) * c1, 31) * c2;
    if (left > 0 && left < 8) h1 ^= hashes_turn(tail(p, left) * c1, 31) * c2;
    h1 ^= len;
    h2 ^= len;
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    h1 += h2;
    h2 += h1;
    return (tamis_hash){h1, h2};
}
