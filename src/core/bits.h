/* Small arithmetic for all of the library: byte order, wide products, checked sums, bit arrays. */
#ifndef TAMIS_BITS_H
#define TAMIS_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Keeps a function from being inlined, so that its buffers take stack only while it runs. tamis.h
 * promises how much stack a call takes. */
#if defined(__GNUC__)
#define TAMIS__APART __attribute__((noinline))
/* Compiled anew for each call, without what its constant arguments make unnecessary. */
#define TAMIS__SPECIALIZED static inline __attribute__((always_inline))
#else
#define TAMIS__APART
#define TAMIS__SPECIALIZED static inline
#endif

/* Whether kinds have functions of their own for single keys (single.h). The modules of web/ do
 * without them, because their code has to be fetched. */
#if defined TAMIS_LEAN || defined __wasm__
#define TAMIS__SINGLE(f) NULL
#else
#define TAMIS__SINGLES
#define TAMIS__SINGLE(f) f
#endif

/* Convert between the byte order of this machine and that of images, which is little-endian. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TAMIS__LITTLE64(v) __builtin_bswap64(v)
#define TAMIS__LITTLE32(v) __builtin_bswap32(v)
#else
#define TAMIS__LITTLE64(v) (v)
#define TAMIS__LITTLE32(v) (v)
#endif

static inline uint64_t tamis__get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return TAMIS__LITTLE64(v);
}

static inline void tamis__put64(uint8_t *p, uint64_t v)
{
    const uint64_t little = TAMIS__LITTLE64(v);
    memcpy(p, &little, 8);
}

static inline uint32_t tamis__get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return TAMIS__LITTLE32(v);
}

static inline void tamis__put32(uint8_t *p, uint32_t v)
{
    const uint32_t little = TAMIS__LITTLE32(v);
    memcpy(p, &little, 4);
}

static inline uint16_t tamis__get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline void tamis__put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

/* The high half of the 128-bit product. It maps a uniform 64-bit a to 0 ... b-1 without a
 * division. */
static inline uint64_t tamis__mulhi(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#else
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (uint32_t)mid;
    return ah * bh + (mid >> 32) + (mid2 >> 32);
#endif
}

/* The same value, about which the compiler knows nothing. GCC multiplies twice, with 32 and with 64
 * bits, where the lower bits of a product are also used alone. */
static inline uint64_t tamis__opaque(uint64_t v)
{
#if defined(__GNUC__) && defined(__x86_64__)
    __asm__("" : "+r"(v));
#endif
    return v;
}

/* Both halves of the 128-bit product. */
static inline void tamis__multiply(uint64_t a, uint64_t b, uint64_t *low, uint64_t *high)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    const wide p = (wide)a * b;
    *low = (uint64_t)p;
    *high = (uint64_t)(p >> 64);
#else
    *low = a * b;
    *high = tamis__mulhi(a, b);
#endif
}

/* The XOR of both halves of the 128-bit product. */
static inline uint64_t tamis__fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    /* Written as one product, because GCC would otherwise multiply twice. */
    __extension__ typedef unsigned __int128 wide;
    const wide p = (wide)a * b;
    return (uint64_t)(p >> 64) ^ (uint64_t)p;
#else
    return tamis__mulhi(a, b) ^ a * b;
#endif
}

/* Makes another hash from a hash, by a bijection: the finalizer of SplitMix64 (Steele, Lea, Flood,
 * 2014). */
static inline uint64_t tamis__remix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* False if the sum overflows. */
static inline bool tamis__sum(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool tamis__bit(const uint8_t *bits, uint64_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}

/* Returns n <= 64 bits from bit i on. Reads only bytes that contain one of them. */
static inline uint64_t tamis__get_bits(const uint8_t *bits, uint64_t i, unsigned n)
{
    uint64_t v = 0;
    for (unsigned got = 0; got < n;) {
        const unsigned at = (unsigned)(i + got) & 7, take = 8 - at < n - got ? 8 - at : n - got;
        const uint64_t part = (uint64_t)(bits[(i + got) >> 3] >> at) & ((1u << take) - 1);
        v |= part << got;
        got += take;
    }
    return v;
}

static inline unsigned tamis__popcount(uint64_t v)
{
#if defined(__POPCNT__) || defined(__aarch64__)
    return (unsigned)__builtin_popcountll(v);
#else
    /* Without the instruction, the builtin is a function call. Sums of 2, 4 and 8 bits in place
     * avoid it. */
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
#endif
}

#endif
