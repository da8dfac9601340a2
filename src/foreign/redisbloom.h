/* RedisBloom's Bloom filters: hashes, formulas and layouts. The library, which reads and writes its
 * files, and the Redis module (redis/redisbloom), which keeps them in memory, share this header. It
 * depends only on libc. The facts are from RedisBloom's replies; its code, which has another
 * licence, was not used. */
#ifndef TAMIS_REDISBLOOM_LAYOUT_H
#define TAMIS_REDISBLOOM_LAYOUT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Options of a filter. */
enum {
    REDISBLOOM_NO_ROUND = 1, /* the bits of a link are not a power of two */
    REDISBLOOM_ENTRIES_ARE_BITS = 2,
    REDISBLOOM_HASH_64 = 4,
    REDISBLOOM_FIXED = 8, /* the filter does not grow */
    REDISBLOOM_OPTIONS = 15
};

/* The data of SCANDUMP, little-endian and packed: this header, an entry for each link, and the bits
 * of each link. A chunk belongs to one link. */
enum {
    REDISBLOOM_ITEMS = 0,     /* u64 */
    REDISBLOOM_LINKS = 8,     /* u32 */
    REDISBLOOM_SETTINGS = 12, /* u32: the options */
    REDISBLOOM_GROWTH = 16,   /* u32 */
    REDISBLOOM_HEADER = 20
};
enum {
    REDISBLOOM_LINK_BYTES = 0,          /* u64 */
    REDISBLOOM_LINK_BITS = 8,           /* u64 */
    REDISBLOOM_LINK_ITEMS = 16,         /* u64 */
    REDISBLOOM_LINK_ERROR = 24,         /* f64 */
    REDISBLOOM_LINK_BITS_PER_ITEM = 32, /* f64 */
    REDISBLOOM_LINK_PROBES = 40,        /* u32 */
    REDISBLOOM_LINK_CAPACITY = 44,      /* u64 */
    REDISBLOOM_LINK_LOG2 = 52,          /* u8: log2 of the bits in old filters; otherwise 0 */
    REDISBLOOM_LINK = 53
};
enum { REDISBLOOM_CHUNK = 16 << 20 }; /* maximum bytes */

/* The type of its values in RDB files, and the versions of their layout. */
#define REDISBLOOM_TYPE "MBbloom--"
enum { REDISBLOOM_OLDEST_LAYOUT = 2, REDISBLOOM_GROWTH_SINCE = 4, REDISBLOOM_LAYOUT = 4 };

/* The constants have fifteen digits, as in RedisBloom. Then the fields agree to the last bit, and
 * so does the number of probes, which RedisBloom checks when it loads. */
static inline double redisbloom_bits_per_item(double error)
{
    return -log(error) / 0.480453013918201; /* ln(2)^2 */
}

static inline double redisbloom_probes(double bits_per_item)
{
    return ceil(0.693147180559945 * bits_per_item); /* ln(2) */
}

static inline uint64_t redisbloom_bytes(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* Austin Appleby's MurmurHash64A, which is in the public domain. */
static inline uint64_t redisbloom_murmur64(const void *key, size_t len, uint64_t seed)
{
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    const uint8_t *p = key;
    uint64_t h = seed ^ len * m;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t k = redisbloom_bytes(p, 8) * m;
        k = (k ^ k >> 47) * m;
        h = (h ^ k) * m;
    }
    if (len > 0) h = (h ^ redisbloom_bytes(p, len)) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

/* Probe i of a key is bit (a + i * b mod 2^64) mod bits. */
struct redisbloom_hash {
    uint64_t a, b;
};

static inline struct redisbloom_hash redisbloom_hash(const void *key, size_t len)
{
    const uint64_t a = redisbloom_murmur64(key, len, UINT64_C(0xc6a4a7935bd1e995));
    return (struct redisbloom_hash){a, redisbloom_murmur64(key, len, a)};
}

#endif
