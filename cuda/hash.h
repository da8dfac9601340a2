/* XXH3-128 of a key, for devices: C99 that nvcc compiles for both sides, so that a test on a
 * machine without a device runs the very arithmetic of the kernels
 * (tests/cuda/test_cuda_arithmetic.c).
 *
 * reader/tamis-reader.h has the same hash for small machines. It reads byte by byte and multiplies
 * with 32 bits, because it may call no extension of a compiler. A device must read whole aligned
 * words, and has an instruction for the high half of a product, so neither serves the other. */
#ifndef TAMIS_CUDA_HASH_H
#define TAMIS_CUDA_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define TAMIS_CUDA_FN static __host__ __device__ __forceinline__
/* Big functions, of which one copy is enough. */
#define TAMIS_CUDA_BIG static __host__ __device__ __noinline__
#else
#define TAMIS_CUDA_FN static inline
#define TAMIS_CUDA_BIG static inline
#endif

#define XXH_P32_1 UINT64_C(0x9e3779b1)
#define XXH_P32_2 UINT64_C(0x85ebca77)
#define XXH_P32_3 UINT64_C(0xc2b2ae3d)
#define XXH_P64_1 UINT64_C(0x9e3779b185ebca87)
#define XXH_P64_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define XXH_P64_3 UINT64_C(0x165667b19e3779f9)
#define XXH_P64_4 UINT64_C(0x85ebca77c2b2ae63)
#define XXH_P64_5 UINT64_C(0x27d4eb2f165667c5)
#define XXH_MIX UINT64_C(0x9fb21c651e98df25)

struct hash128 {
    uint64_t lo, hi;
};

TAMIS_CUDA_FN uint64_t mulhi64(uint64_t a, uint64_t b)
{
#if defined(__CUDA_ARCH__)
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#endif
}

TAMIS_CUDA_FN uint64_t fold64(uint64_t a, uint64_t b)
{
    return mulhi64(a, b) ^ a * b;
}

TAMIS_CUDA_FN uint64_t swap64(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return (uint64_t)__byte_perm((uint32_t)v, 0, 0x0123) << 32 |
           __byte_perm((uint32_t)(v >> 32), 0, 0x0123);
#else
    return __builtin_bswap64(v);
#endif
}

/* Reads 8 bytes at any alignment. A device reads only whole aligned words, of which the second may
 * reach beyond the key. It must not reach beyond `end`, where the memory of the keys ends; there
 * the bytes are read one by one. */
TAMIS_CUDA_FN uint64_t load64(const uint8_t *p, const uint8_t *end)
{
#if defined(__CUDA_ARCH__)
    const uint64_t *word = (const uint64_t *)((uintptr_t)p & ~(uintptr_t)7);
    const unsigned shift = 8 * ((unsigned)(uintptr_t)p & 7);
    uint64_t v = 0;
    if (shift == 0) return __ldg((const unsigned long long *)word);
    if ((const uint8_t *)(word + 2) <= end)
        return __ldg((const unsigned long long *)word) >> shift |
               __ldg((const unsigned long long *)word + 1) << (64 - shift);
    for (unsigned i = 0; i < 8; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
#else
    uint64_t v;
    (void)end;
    memcpy(&v, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
#endif
}

TAMIS_CUDA_FN uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The default secret as words. Word i with a seed is that of the secret which XXH3 derives from the
 * seed for long keys. */
TAMIS_CUDA_FN uint64_t secret_word(unsigned i)
{
    const uint64_t words[24] = {
        UINT64_C(0xbe4ba423396cfeb8), UINT64_C(0x1cad21f72c81017c), UINT64_C(0xdb979083e96dd4de),
        UINT64_C(0x1f67b3b7a4a44072), UINT64_C(0x78e5c0cc4ee679cb), UINT64_C(0x2172ffcc7dd05a82),
        UINT64_C(0x8e2443f7744608b8), UINT64_C(0x4c263a81e69035e0), UINT64_C(0xcb00c391bb52283c),
        UINT64_C(0xa32e531b8b65d088), UINT64_C(0x4ef90da297486471), UINT64_C(0xd8acdea946ef1938),
        UINT64_C(0x3f349ce33f76faa8), UINT64_C(0x1d4f0bc7c7bbdcf9), UINT64_C(0x3159b4cd4be0518a),
        UINT64_C(0x647378d9c97e9fc8), UINT64_C(0xc3ebd33483acc5ea), UINT64_C(0xeb6313faffa081c5),
        UINT64_C(0x49daf0b751dd0d17), UINT64_C(0x9e68d429265516d3), UINT64_C(0xfca1477d58be162b),
        UINT64_C(0xce31d07ad1b8f88f), UINT64_C(0x280416958f3acb45), UINT64_C(0x7e404bbbcafbd7af)};
    return words[i];
}

TAMIS_CUDA_FN uint64_t seeded_word(unsigned i, uint64_t seed)
{
    return secret_word(i) + (i & 1 ? 0 - seed : seed);
}

/* Eight bytes of the secret from byte `at` on. */
TAMIS_CUDA_FN uint64_t seeded64(unsigned at, uint64_t seed)
{
    const unsigned word = at >> 3, shift = 8 * (at & 7);
    if (shift == 0) return seeded_word(word, seed);
    return seeded_word(word, seed) >> shift | seeded_word(word + 1, seed) << (64 - shift);
}

TAMIS_CUDA_FN uint64_t secret64(unsigned at)
{
    return seeded64(at, 0);
}

TAMIS_CUDA_FN uint64_t avalanche(uint64_t h)
{
    h = (h ^ h >> 37) * UINT64_C(0x165667919e3779f9);
    return h ^ h >> 32;
}

/* The finish of XXH64, which XXH3 has for less than four bytes. */
TAMIS_CUDA_FN uint64_t avalanche_xxh64(uint64_t h)
{
    h = (h ^ h >> 33) * XXH_P64_2;
    h = (h ^ h >> 29) * XXH_P64_3;
    return h ^ h >> 32;
}

/* What the seed does to keys of 4 to 8 bytes; the host computes it once. */
TAMIS_CUDA_FN uint64_t word_flip(uint64_t seed)
{
    seed ^= swap64(seed) & UINT64_C(0xffffffff00000000);
    return (secret_word(2) ^ secret_word(3)) + seed;
}

/* A key of n = 4 to 8 bytes: v has the first four below the last four. */
TAMIS_CUDA_FN struct hash128 hash_upto8(uint64_t v, unsigned n, uint64_t flip)
{
    const uint64_t a = v ^ flip, b = XXH_P64_1 + ((uint64_t)n << 2);
    struct hash128 h = {a * b, mulhi64(a, b)};
    h.hi += h.lo << 1;
    h.lo ^= h.hi >> 3;
    h.lo = (h.lo ^ h.lo >> 35) * XXH_MIX;
    h.lo ^= h.lo >> 28;
    h.hi = avalanche(h.hi);
    return h;
}

/* A key of 8 bytes, as a little-endian integer. */
TAMIS_CUDA_FN struct hash128 hash_word(uint64_t v, uint64_t flip)
{
    return hash_upto8(v, 8, flip);
}

TAMIS_CUDA_FN struct hash128 hash_upto3(const uint8_t *p, size_t n, uint64_t seed)
{
    struct hash128 h;
    if (n == 0) {
        h.lo = avalanche_xxh64(seed ^ secret_word(8) ^ secret_word(9));
        h.hi = avalanche_xxh64(seed ^ secret_word(10) ^ secret_word(11));
        return h;
    }
    const uint32_t lo =
        (uint32_t)p[0] << 16 | (uint32_t)p[n >> 1] << 24 | p[n - 1] | (uint32_t)n << 8;
    const uint32_t swapped = (uint32_t)(swap64(lo) >> 32);
    const uint32_t hi = swapped << 13 | swapped >> 19;
    const uint64_t first = secret_word(0), second = secret_word(1);
    h.lo = avalanche_xxh64(lo ^ ((uint64_t)((uint32_t)first ^ (uint32_t)(first >> 32)) + seed));
    h.hi = avalanche_xxh64(hi ^ ((uint64_t)((uint32_t)second ^ (uint32_t)(second >> 32)) - seed));
    return h;
}

TAMIS_CUDA_FN struct hash128 hash_upto16(const uint8_t *p, size_t n, const uint8_t *end,
                                         uint64_t seed)
{
    const uint64_t lo = load64(p, end), hi = load64(p + n - 8, end);
    const uint64_t top = hi ^ ((secret_word(6) ^ secret_word(7)) + seed);
    const uint64_t mixed = lo ^ hi ^ ((secret_word(4) ^ secret_word(5)) - seed);
    const uint64_t low = mixed * XXH_P64_1 + ((uint64_t)(n - 1) << 54);
    const uint64_t high =
        mulhi64(mixed, XXH_P64_1) + top + (uint64_t)(uint32_t)top * (XXH_P32_2 - 1);
    const uint64_t last = low ^ swap64(high);
    struct hash128 h;
    h.lo = avalanche(last * XXH_P64_2);
    h.hi = avalanche(mulhi64(last, XXH_P64_2) + high * XXH_P64_2);
    return h;
}

/* Sixteen bytes at p with those at q, under the secret from byte `at` on. */
TAMIS_CUDA_FN void hash_mix32(struct hash128 *acc, const uint8_t *p, const uint8_t *q,
                              const uint8_t *end, unsigned at, uint64_t seed)
{
    const uint64_t p0 = load64(p, end), p1 = load64(p + 8, end);
    const uint64_t q0 = load64(q, end), q1 = load64(q + 8, end);
    acc->lo += fold64(p0 ^ (secret64(at) + seed), p1 ^ (secret64(at + 8) - seed));
    acc->lo ^= q0 + q1;
    acc->hi += fold64(q0 ^ (secret64(at + 16) + seed), q1 ^ (secret64(at + 24) - seed));
    acc->hi ^= p0 + p1;
}

TAMIS_CUDA_FN struct hash128 hash_finish(struct hash128 acc, size_t n, uint64_t seed)
{
    struct hash128 h;
    h.lo = avalanche(acc.lo + acc.hi);
    h.hi = 0 - avalanche(acc.lo * XXH_P64_1 + acc.hi * XXH_P64_4 + (n - seed) * XXH_P64_2);
    return h;
}

/* A key of 17 to 128 bytes. The steps are written out, so that the secret's words are constants of
 * the instructions. */
TAMIS_CUDA_FN struct hash128 hash_upto128(const uint8_t *p, size_t n, const uint8_t *end,
                                          uint64_t seed)
{
    struct hash128 acc = {n * XXH_P64_1, 0};
    if (n > 96) hash_mix32(&acc, p + 48, p + n - 64, end, 96, seed);
    if (n > 64) hash_mix32(&acc, p + 32, p + n - 48, end, 64, seed);
    if (n > 32) hash_mix32(&acc, p + 16, p + n - 32, end, 32, seed);
    hash_mix32(&acc, p, p + n - 16, end, 0, seed);
    return hash_finish(acc, n, seed);
}

TAMIS_CUDA_BIG struct hash128 hash_upto240(const uint8_t *p, size_t n, const uint8_t *end,
                                           uint64_t seed)
{
    struct hash128 acc = {n * XXH_P64_1, 0};
    for (unsigned i = 0; i < n / 32; i++) {
        const unsigned at = i < 4 ? 32 * i : 32 * i - 125;
        hash_mix32(&acc, p + 32 * i, p + 32 * i + 16, end, at, seed);
        if (i != 3) continue;
        acc.lo = avalanche(acc.lo);
        acc.hi = avalanche(acc.hi);
    }
    hash_mix32(&acc, p + n - 16, p + n - 32, end, 103, 0 - seed);
    return hash_finish(acc, n, seed);
}

TAMIS_CUDA_FN void hash_stripe(uint64_t acc[8], const uint8_t *p, const uint8_t *end, unsigned at,
                               uint64_t seed)
{
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t v = load64(p + 8 * i, end), keyed = v ^ seeded64(at + 8 * i, seed);
        acc[i ^ 1] += v;
        acc[i] += (uint64_t)(uint32_t)keyed * (keyed >> 32);
    }
}

TAMIS_CUDA_FN uint64_t hash_merge(const uint64_t acc[8], unsigned at, uint64_t seed, uint64_t start)
{
    for (unsigned i = 0; i < 4; i++)
        start += fold64(acc[2 * i] ^ seeded64(at + 16 * i, seed),
                        acc[2 * i + 1] ^ seeded64(at + 16 * i + 8, seed));
    return avalanche(start);
}

/* A key of more than 240 bytes. */
TAMIS_CUDA_BIG struct hash128 hash_long(const uint8_t *p, size_t n, const uint8_t *end,
                                        uint64_t seed)
{
    uint64_t acc[8] = {XXH_P32_3, XXH_P64_1, XXH_P64_2, XXH_P64_3,
                       XXH_P64_4, XXH_P32_2, XXH_P64_5, XXH_P32_1};
    unsigned stripe = 0;
    struct hash128 h;
    for (size_t at = 0; at + 64 < n; at += 64) {
        hash_stripe(acc, p + at, end, 8 * stripe, seed);
        if (++stripe < 16) continue;
        for (unsigned i = 0; i < 8; i++)
            acc[i] = (acc[i] ^ acc[i] >> 47 ^ seeded_word(16 + i, seed)) * XXH_P32_1;
        stripe = 0;
    }
    hash_stripe(acc, p + n - 64, end, 121, seed);
    h.lo = hash_merge(acc, 11, seed, n * XXH_P64_1);
    h.hi = hash_merge(acc, 117, seed, ~(n * XXH_P64_2));
    return h;
}

/* The n bytes at p. No byte at `end` or behind it is read. */
TAMIS_CUDA_FN struct hash128 hash_bytes(const uint8_t *p, size_t n, const uint8_t *end,
                                        uint64_t seed)
{
    if (n > 240) return hash_long(p, n, end, seed);
    if (n > 128) return hash_upto240(p, n, end, seed);
    if (n > 16) return hash_upto128(p, n, end, seed);
    if (n > 8) return hash_upto16(p, n, end, seed);
    if (n < 4) return hash_upto3(p, n, seed);
    return hash_upto8(load32(p) | (uint64_t)load32(p + n - 4) << 32, (unsigned)n, word_flip(seed));
}

#endif
