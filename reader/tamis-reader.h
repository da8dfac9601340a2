/* tamis-reader.h: queries filters of Tamis on machines for which libtamis is too big.
 *
 * One file of C99 that calls no library and never allocates. It reads images of the kinds blocked
 * (also compact) and fuse (sealed), at any address, on machines of either byte order. Copy it into
 * a program, and in exactly one source file write
 *
 *     #define TAMIS_READER_IMPLEMENTATION
 *     #include "tamis-reader.h"
 *
 * and elsewhere only the second line. If that file also defines TAMIS_READER_NO_FUSE, fuse filters
 * are left out and refused; TAMIS_READER_NO_SIPHASH does the same for images with a secret key. On
 * a Cortex-M4 with gcc -Os, all of it takes less than 6 KiB of code and constants, and blocked
 * filters without secret keys take 4.5 KB. No call takes more than 1,280 bytes of stack there.
 *
 *     static const unsigned char image[] = {...};     // in flash, or mapped, or read from a file
 *     tamis_reader reader;
 *     tamis_reader_status s = tamis_reader_open(&reader, image, sizeof image);
 *     if (s != TAMIS_READER_OK) puts(tamis_reader_text(s));
 *     else if (!tamis_reader_may_contain(&reader, "key", 3)) puts("certainly not a member");
 *
 * An image is checked before it is used, and may come from an attacker: no call reads outside it.
 * Anything that the reader does not understand is an error, never a quiet "no". docs/FORMAT.md of
 * Tamis specifies the image. SPDX-License-Identifier: MIT. Copyright (c) the Tamis authors. */
#ifndef TAMIS_READER_H
#define TAMIS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TAMIS_READER_OK = 0,
    TAMIS_READER_ENOTIMAGE = 1,    /* it does not begin like an image; unpack a packed file first */
    TAMIS_READER_ETRUNCATED = 2,   /* the image is longer than the bytes that were given */
    TAMIS_READER_ECORRUPT = 3,     /* a checksum or a field is wrong, or bytes follow the image */
    TAMIS_READER_EVERSION = 4,     /* it was made for newer readers */
    TAMIS_READER_EUNSUPPORTED = 5, /* another kind, a fuse filter that is not sealed, or left out */
    TAMIS_READER_EKEY = 6          /* a key is missing, wrong, or given without need */
} tamis_reader_status;

/* Describes an open image. The members belong to the functions below. */
typedef struct {
    const uint8_t *cells; /* NULL: nothing is open */
    uint64_t secret[2];   /* the seed of XXH3, or the key of SipHash */
    uint64_t range; /* blocked: the number of lines; fuse: of cells that can be a key's first */
    uint32_t k, cell_bits, salt, key_bytes;
    uint16_t kind, variant, hash;
} tamis_reader;

/* Opens the image of exactly `size` bytes. Reads all of it once, to check every checksum. The image
 * must stay where it is, unchanged, as long as the reader is used; there is nothing to close. After
 * an error nothing is open, and the reader answers "maybe" for every key. */
tamis_reader_status tamis_reader_open(tamis_reader *reader, const void *image, size_t size);

/* The same for an image that was made with this secret key of 16 bytes. The reader keeps a copy of
 * the key. An image without a key is refused. */
tamis_reader_status tamis_reader_open_keyed(tamis_reader *reader, const void *image, size_t size,
                                            const void *key);

/* Returns false if the key is certainly not a member, and true for "maybe". The answer is "maybe"
 * as well if the reader cannot tell: if nothing is open, if the keys were hashed by the caller's
 * own function, or if the image states another length for its keys. Any number of threads may query
 * one reader. */
bool tamis_reader_may_contain(const tamis_reader *reader, const void *key, size_t len);

/* The same for a hash of 128 bits: the one that the caller's own function made, or one that the
 * image's hash function made elsewhere. */
bool tamis_reader_may_contain_hash(const tamis_reader *reader, uint64_t lo, uint64_t hi);

/* Returns a short English text, which need not be freed, for any number. */
const char *tamis_reader_text(tamis_reader_status status);

#ifdef __cplusplus
}
#endif
#endif

/* --- Implementation --------------------------------------------------------------------------- */

#if defined(TAMIS_READER_IMPLEMENTATION) && !defined(TAMIS_READER_IMPLEMENTED)
#define TAMIS_READER_IMPLEMENTED

#define TAMIS_READER_PRIME32_1 UINT64_C(0x9e3779b1)
#define TAMIS_READER_PRIME32_2 UINT64_C(0x85ebca77)
#define TAMIS_READER_PRIME32_3 UINT64_C(0xc2b2ae3d)
#define TAMIS_READER_PRIME64_1 UINT64_C(0x9e3779b185ebca87)
#define TAMIS_READER_PRIME64_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define TAMIS_READER_PRIME64_3 UINT64_C(0x165667b19e3779f9)
#define TAMIS_READER_PRIME64_4 UINT64_C(0x85ebca77c2b2ae63)
#define TAMIS_READER_PRIME64_5 UINT64_C(0x27d4eb2f165667c5)
#define TAMIS_READER_MIX UINT64_C(0x9fb21c651e98df25)

/* The numbers of hashes and kinds in images. */
enum { TAMIS_READER_XXH3 = 1, TAMIS_READER_SIPHASH = 2, TAMIS_READER_CALLER_HASH = 3 };
enum { TAMIS_READER_BLOCKED = 3, TAMIS_READER_FUSE = 9 };

typedef struct {
    uint64_t lo, hi;
} tamis_reader__wide;

/* Byte by byte, for any alignment and any byte order. Compilers make one load of it where the
 * machine allows that. */
static uint32_t tamis_reader__get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t tamis_reader__get64(const uint8_t *p)
{
    return tamis_reader__get32(p) | (uint64_t)tamis_reader__get32(p + 4) << 32;
}

static uint16_t tamis_reader__get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint64_t tamis_reader__swap64(uint64_t v)
{
    uint64_t out = 0;
    int i;
    for (i = 0; i < 8; i++, v >>= 8) out = out << 8 | (v & 255);
    return out;
}

/* The 128-bit product, from four of 64 bits. */
static tamis_reader__wide tamis_reader__multiply(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (uint32_t)mid;
    tamis_reader__wide out;
    out.lo = mid2 << 32 | (uint32_t)low;
    out.hi = ah * bh + (mid >> 32) + (mid2 >> 32);
    return out;
}

static uint64_t tamis_reader__fold(uint64_t a, uint64_t b)
{
    const tamis_reader__wide p = tamis_reader__multiply(a, b);
    return p.lo ^ p.hi;
}

/* --- XXH3, as its specification has it, with the default secret ------------------------------- */

static const uint8_t tamis_reader__secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};

/* The exclusive or of two neighbouring words of the secret. */
static uint64_t tamis_reader__flip(unsigned at)
{
    return tamis_reader__get64(tamis_reader__secret + at) ^
           tamis_reader__get64(tamis_reader__secret + at + 8);
}

static uint64_t tamis_reader__flip32(unsigned at)
{
    return tamis_reader__get32(tamis_reader__secret + at) ^
           tamis_reader__get32(tamis_reader__secret + at + 4);
}

static uint64_t tamis_reader__avalanche(uint64_t h)
{
    h = (h ^ h >> 37) * UINT64_C(0x165667919e3779f9);
    return h ^ h >> 32;
}

/* The finish of XXH64, which XXH3 has for less than four bytes. */
static uint64_t tamis_reader__avalanche64(uint64_t h)
{
    h = (h ^ h >> 33) * TAMIS_READER_PRIME64_2;
    h = (h ^ h >> 29) * TAMIS_READER_PRIME64_3;
    return h ^ h >> 32;
}

/* Reads a word of the input, or 0 in place of the word at `hole`. The root of an image is the sum
 * of bytes that contain it, with 0 in its place. */
static uint64_t tamis_reader__word(const uint8_t *p, const uint8_t *hole)
{
    return p == hole ? 0 : tamis_reader__get64(p);
}

static uint64_t tamis_reader__mix16(const uint8_t *p, const uint8_t *hole, unsigned at,
                                    uint64_t seed)
{
    const uint8_t *s = tamis_reader__secret + at;
    return tamis_reader__fold(tamis_reader__word(p, hole) ^ (tamis_reader__get64(s) + seed),
                              tamis_reader__word(p + 8, hole) ^
                                  (tamis_reader__get64(s + 8) - seed));
}

static void tamis_reader__stripe(uint64_t acc[8], const uint8_t *p, const uint8_t *hole,
                                 const uint8_t *secret)
{
    unsigned i;
    for (i = 0; i < 8; i++) {
        const uint64_t v = tamis_reader__word(p + 8 * i, hole);
        const uint64_t keyed = v ^ tamis_reader__get64(secret + 8 * i);
        acc[i ^ 1] += v;
        acc[i] += (uint64_t)(uint32_t)keyed * (keyed >> 32);
    }
}

static uint64_t tamis_reader__merge(const uint64_t acc[8], const uint8_t *secret, uint64_t start)
{
    unsigned i;
    for (i = 0; i < 4; i++)
        start += tamis_reader__fold(acc[2 * i] ^ tamis_reader__get64(secret + 16 * i),
                                    acc[2 * i + 1] ^ tamis_reader__get64(secret + 16 * i + 8));
    return tamis_reader__avalanche(start);
}

/* More than 240 bytes. The low half of the result is XXH3-64. */
static tamis_reader__wide tamis_reader__long(const uint8_t *p, size_t n, const uint8_t *hole,
                                             uint64_t seed)
{
    uint64_t acc[8] = {TAMIS_READER_PRIME32_3, TAMIS_READER_PRIME64_1, TAMIS_READER_PRIME64_2,
                       TAMIS_READER_PRIME64_3, TAMIS_READER_PRIME64_4, TAMIS_READER_PRIME32_2,
                       TAMIS_READER_PRIME64_5, TAMIS_READER_PRIME32_1};
    uint8_t secret[192];
    tamis_reader__wide out;
    size_t at;
    unsigned i;
    for (i = 0; i < 192; i++) {
        const uint64_t step = i & 8 ? 0 - seed : seed;
        const uint64_t word = tamis_reader__get64(tamis_reader__secret + (i & ~7u)) + step;
        secret[i] = (uint8_t)(word >> 8 * (i & 7));
    }
    for (at = 0, i = 0; at + 64 < n; at += 64) {
        tamis_reader__stripe(acc, p + at, hole, secret + 8 * i);
        if (++i < 16) continue;
        for (i = 0; i < 8; i++)
            acc[i] = (acc[i] ^ acc[i] >> 47 ^ tamis_reader__get64(secret + 128 + 8 * i)) *
                     TAMIS_READER_PRIME32_1;
        i = 0;
    }
    tamis_reader__stripe(acc, p + n - 64, hole, secret + 121);
    out.lo = tamis_reader__merge(acc, secret + 11, n * TAMIS_READER_PRIME64_1);
    out.hi = tamis_reader__merge(acc, secret + 117, ~(n * TAMIS_READER_PRIME64_2));
    return out;
}

/* A sum of an image. Its n bytes are a multiple of 8, and not 0. */
static uint64_t tamis_reader__sum(const uint8_t *p, size_t n, const uint8_t *hole)
{
    uint64_t acc = n * TAMIS_READER_PRIME64_1;
    size_t i;
    if (n > 240) return tamis_reader__long(p, n, hole, 0).lo;
#ifndef TAMIS_READER_NO_FUSE
    if (n <= 8) {
        const uint64_t v = tamis_reader__get64(p),
                       keyed = (v << 32 | v >> 32) ^ tamis_reader__flip(8);
        uint64_t h = keyed ^ (keyed << 49 | keyed >> 15) ^ (keyed << 24 | keyed >> 40);
        h *= TAMIS_READER_MIX;
        h = (h ^ ((h >> 35) + n)) * TAMIS_READER_MIX;
        return h ^ h >> 28;
    }
    if (n <= 16) {
        const uint64_t lo = tamis_reader__get64(p) ^ tamis_reader__flip(24);
        const uint64_t hi = tamis_reader__get64(p + n - 8) ^ tamis_reader__flip(40);
        return tamis_reader__avalanche(n + tamis_reader__swap64(lo) + hi +
                                       tamis_reader__fold(lo, hi));
    }
#endif
    if (n <= 128) {
        for (i = (n + 31) / 32; i-- > 0;)
            acc += tamis_reader__mix16(p + 16 * i, hole, (unsigned)(32 * i), 0) +
                   tamis_reader__mix16(p + n - 16 - 16 * i, hole, (unsigned)(32 * i + 16), 0);
        return tamis_reader__avalanche(acc);
    }
    for (i = 0; i < 8; i++) acc += tamis_reader__mix16(p + 16 * i, hole, (unsigned)(16 * i), 0);
    acc = tamis_reader__avalanche(acc);
    for (; i < n / 16; i++)
        acc += tamis_reader__mix16(p + 16 * i, hole, (unsigned)(16 * i - 125), 0);
    return tamis_reader__avalanche(acc + tamis_reader__mix16(p + n - 16, hole, 119, 0));
}

static void tamis_reader__mix32(tamis_reader__wide *acc, const uint8_t *p, const uint8_t *q,
                                unsigned at, uint64_t seed)
{
    acc->lo += tamis_reader__mix16(p, NULL, at, seed);
    acc->lo ^= tamis_reader__get64(q) + tamis_reader__get64(q + 8);
    acc->hi += tamis_reader__mix16(q, NULL, at + 16, seed);
    acc->hi ^= tamis_reader__get64(p) + tamis_reader__get64(p + 8);
}

/* A key of 17 to 240 bytes. */
static tamis_reader__wide tamis_reader__medium(const uint8_t *p, size_t n, uint64_t seed)
{
    tamis_reader__wide acc, out;
    size_t i;
    acc.lo = n * TAMIS_READER_PRIME64_1;
    acc.hi = 0;
    if (n <= 128) {
        for (i = (n + 31) / 32; i-- > 0;)
            tamis_reader__mix32(&acc, p + 16 * i, p + n - 16 - 16 * i, (unsigned)(32 * i), seed);
    } else {
        for (i = 0; i < n / 32; i++) {
            const unsigned at = (unsigned)(i < 4 ? 32 * i : 32 * i - 125);
            tamis_reader__mix32(&acc, p + 32 * i, p + 32 * i + 16, at, seed);
            if (i != 3) continue;
            acc.lo = tamis_reader__avalanche(acc.lo);
            acc.hi = tamis_reader__avalanche(acc.hi);
        }
        tamis_reader__mix32(&acc, p + n - 16, p + n - 32, 103, 0 - seed);
    }
    out.lo = tamis_reader__avalanche(acc.lo + acc.hi);
    out.hi = 0 - tamis_reader__avalanche(acc.lo * TAMIS_READER_PRIME64_1 +
                                         acc.hi * TAMIS_READER_PRIME64_4 +
                                         (n - seed) * TAMIS_READER_PRIME64_2);
    return out;
}

/* A key of up to 3 bytes. */
static tamis_reader__wide tamis_reader__tiny(const uint8_t *p, size_t n, uint64_t seed)
{
    tamis_reader__wide out;
    uint32_t lo, hi;
    if (n == 0) {
        out.lo = tamis_reader__avalanche64(seed ^ tamis_reader__flip(64));
        out.hi = tamis_reader__avalanche64(seed ^ tamis_reader__flip(80));
        return out;
    }
    lo = (uint32_t)p[0] << 16 | (uint32_t)p[n >> 1] << 24 | p[n - 1] | (uint32_t)n << 8;
    hi = (uint32_t)(tamis_reader__swap64(lo) >> 32);
    hi = hi << 13 | hi >> 19;
    out.lo = tamis_reader__avalanche64(lo ^ (tamis_reader__flip32(0) + seed));
    out.hi = tamis_reader__avalanche64(hi ^ (tamis_reader__flip32(8) - seed));
    return out;
}

/* A key of 4 to 16 bytes. */
static tamis_reader__wide tamis_reader__short(const uint8_t *p, size_t n, uint64_t seed)
{
    tamis_reader__wide m;
    if (n <= 8) {
        const uint64_t v = tamis_reader__get32(p) | (uint64_t)tamis_reader__get32(p + n - 4) << 32;
        seed ^= tamis_reader__swap64(seed) & UINT64_C(0xffffffff00000000);
        m = tamis_reader__multiply(v ^ (tamis_reader__flip(16) + seed),
                                   TAMIS_READER_PRIME64_1 + (n << 2));
        m.hi += m.lo << 1;
        m.lo ^= m.hi >> 3;
        m.lo = (m.lo ^ m.lo >> 35) * TAMIS_READER_MIX;
        m.lo ^= m.lo >> 28;
    } else {
        const uint64_t lo = tamis_reader__get64(p), hi = tamis_reader__get64(p + n - 8);
        const uint64_t top = hi ^ (tamis_reader__flip(48) + seed);
        tamis_reader__wide q = tamis_reader__multiply(lo ^ hi ^ (tamis_reader__flip(32) - seed),
                                                      TAMIS_READER_PRIME64_1);
        q.lo += (uint64_t)(n - 1) << 54;
        q.hi += top + (uint64_t)(uint32_t)top * (TAMIS_READER_PRIME32_2 - 1);
        m = tamis_reader__multiply(q.lo ^ tamis_reader__swap64(q.hi), TAMIS_READER_PRIME64_2);
        m.hi += q.hi * TAMIS_READER_PRIME64_2;
        m.lo = tamis_reader__avalanche(m.lo);
    }
    m.hi = tamis_reader__avalanche(m.hi);
    return m;
}

static tamis_reader__wide tamis_reader__xxh3(const uint8_t *p, size_t n, uint64_t seed)
{
    if (n < 4) return tamis_reader__tiny(p, n, seed);
    if (n <= 16) return tamis_reader__short(p, n, seed);
    if (n <= 240) return tamis_reader__medium(p, n, seed);
    return tamis_reader__long(p, n, NULL, seed);
}

/* --- SipHash-2-4 with 128 bits, for images with a secret key ---------------------------------- */

#ifndef TAMIS_READER_NO_SIPHASH
static uint64_t tamis_reader__rotate(uint64_t v, unsigned by)
{
    return v << by | v >> (64 - by);
}

static void tamis_reader__sip_rounds(uint64_t v[4], unsigned n)
{
    while (n-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = tamis_reader__rotate(v[1], 13) ^ v[0];
        v[3] = tamis_reader__rotate(v[3], 16) ^ v[2];
        v[0] = tamis_reader__rotate(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = tamis_reader__rotate(v[3], 21) ^ v[0];
        v[1] = tamis_reader__rotate(v[1], 17) ^ v[2];
        v[2] = tamis_reader__rotate(v[2], 32);
    }
}

static tamis_reader__wide tamis_reader__siphash(const uint64_t key[2], const uint8_t *p, size_t n)
{
    uint64_t v[4];
    tamis_reader__wide out;
    size_t at = 0;
    v[0] = key[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee;
    v[2] = key[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = key[1] ^ UINT64_C(0x7465646279746573);
    for (;;) {
        const bool last = n - at < 8;
        uint64_t word = last ? (uint64_t)n << 56 : 0;
        unsigned i;
        for (i = 0; i < 8 && at + i < n; i++) word |= (uint64_t)p[at + i] << 8 * i;
        v[3] ^= word;
        tamis_reader__sip_rounds(v, 2);
        v[0] ^= word;
        if (last) break;
        at += 8;
    }
    v[2] ^= 0xee;
    tamis_reader__sip_rounds(v, 4);
    out.lo = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    tamis_reader__sip_rounds(v, 4);
    out.hi = v[0] ^ v[1] ^ v[2] ^ v[3];
    return out;
}
#endif

/* --- Opening: nothing is used before it was checked ------------------------------------------- */

static bool tamis_reader__zero(const uint8_t *p, size_t n)
{
    while (n > 0)
        if (p[--n] != 0) return false;
    return true;
}

/* Checks what can be checked before the checksums, and where the only section is. */
static tamis_reader_status tamis_reader__start(const uint8_t *h, size_t size)
{
    static const uint8_t magic[8] = {0x89, 0x54, 0x41, 0x4d, 0x49, 0x53, 0x0d, 0x0a};
    uint64_t length, metadata;
    unsigned i;
    for (i = 0; i < 8; i++)
        if (i >= size || h[i] != magic[i])
            return i >= size ? TAMIS_READER_ETRUNCATED : TAMIS_READER_ENOTIMAGE;
    if (size < 128) return TAMIS_READER_ETRUNCATED;
    if (tamis_reader__get16(h + 8) > 1 || !tamis_reader__zero(h + 16, 4))
        return TAMIS_READER_EVERSION;
    if (tamis_reader__get64(h + 112) > size) return TAMIS_READER_ETRUNCATED;
    if (tamis_reader__get16(h + 8) == 0 || tamis_reader__get32(h + 12) != 128 ||
        tamis_reader__get64(h + 112) != size)
        return TAMIS_READER_ECORRUPT;
    switch (tamis_reader__get16(h + 30)) {
    case TAMIS_READER_BLOCKED: break;
#ifndef TAMIS_READER_NO_FUSE
    case TAMIS_READER_FUSE: break;
#endif
    default: return TAMIS_READER_EUNSUPPORTED;
    }
    if (tamis_reader__get32(h + 104) != 1 || size < 192) return TAMIS_READER_ECORRUPT;
    length = tamis_reader__get64(h + 184);
    if (length < 8 || length > size) return TAMIS_READER_ECORRUPT;
    metadata = 192 + 8 * ((length + 65535) >> 16);
    if (tamis_reader__get64(h + 176) != ((metadata + 63) & ~UINT64_C(63)) ||
        tamis_reader__get64(h + 176) + length != size || length % 8 != 0)
        return TAMIS_READER_ECORRUPT;
    return TAMIS_READER_OK;
}

/* Checks the root, and then every sum of the section. */
static bool tamis_reader__sums(const uint8_t *h, size_t size)
{
    const size_t offset = (size_t)tamis_reader__get64(h + 176);
    const size_t metadata = 192 + 8 * ((size - offset + 65535) >> 16);
    const uint8_t *sum = h + 192;
    size_t at, n;
    if (tamis_reader__sum(h, metadata, h + 120) != tamis_reader__get64(h + 120) ||
        !tamis_reader__zero(h + metadata, offset - metadata))
        return false;
    for (at = offset; at < size; at += n, sum += 8) {
        n = size - at < 65536 ? size - at : 65536;
        if (tamis_reader__sum(h + at, n, NULL) != tamis_reader__get64(sum)) return false;
    }
    return true;
}

/* Checks the rest of the header. A rate is a double in 0 < rate <= 1, and such doubles are in the
 * order of their bits. The flags 4 and 8 at 20 are only for windows, and 16 only for growing. The
 * upper bytes of the flags at 24 state how keys are encoded. */
static tamis_reader_status tamis_reader__header(tamis_reader *r, const uint8_t *h)
{
    const uint64_t rate = tamis_reader__get64(h + 72);
    const unsigned encoding = h[25];
    const uint32_t width = tamis_reader__get16(h + 26);
    r->hash = tamis_reader__get16(h + 28);
    r->kind = tamis_reader__get16(h + 30);
    r->secret[0] = tamis_reader__get64(h + 32);
    r->secret[1] = 0;
    r->key_bytes = encoding == 2 ? 8 : encoding == 3 ? width : encoding == 4 ? 32 : 0;
    if (r->hash == 0 || r->hash > TAMIS_READER_CALLER_HASH) return TAMIS_READER_EVERSION;
    if (tamis_reader__get16(h + 10) == 0 || (h[20] & 28) != 0 ||
        (encoding <= 5 && (encoding == 3) != (width != 0)) ||
        (r->hash != TAMIS_READER_XXH3 && r->secret[0] != 0) ||
        (r->hash == TAMIS_READER_SIPHASH) == tamis_reader__zero(h + 40, 16) ||
        rate - 1 >= UINT64_C(0x3ff0000000000000) || tamis_reader__zero(h + 64, 8) ||
        !tamis_reader__zero(h + 80, 16) ||
        tamis_reader__get64(h + 96) - 1 >= UINT64_C(0x7fffffffffffffff) ||
        !tamis_reader__zero(h + 108, 4))
        return TAMIS_READER_ECORRUPT;
    return TAMIS_READER_OK;
}

static tamis_reader_status tamis_reader__blocked(tamis_reader *r, const uint8_t *h)
{
    const uint64_t m = tamis_reader__get64(h + 144), length = tamis_reader__get64(h + 184);
    if (r->variant > 1) return TAMIS_READER_EVERSION;
    if ((r->variant == 0 ? r->k != 8 : r->k < 1 || r->k > 16) || r->cell_bits != 1 ||
        r->salt != 0 || m % 512 != 0 || m > UINT64_C(1) << 52 || length != m >> 3)
        return TAMIS_READER_ECORRUPT;
    r->range = m >> 9;
    return TAMIS_READER_OK;
}

#ifndef TAMIS_READER_NO_FUSE
static tamis_reader_status tamis_reader__fuse(tamis_reader *r, const uint8_t *h)
{
    const uint8_t *end = h + (size_t)tamis_reader__get64(h + 112);
    const uint64_t m = tamis_reader__get64(h + 144), length = tamis_reader__get64(h + 184);
    uint64_t bits;
    if (r->variant > 18) return TAMIS_READER_EVERSION;
    if ((r->k != 3 && r->k != 4) || r->cell_bits < 4 || r->cell_bits > 32 ||
        m > UINT64_C(1) << 47 || m < (uint64_t)r->k << r->variant ||
        (m & ((UINT64_C(1) << r->variant) - 1)) != 0 || (h[20] & 1) == 0)
        return TAMIS_READER_ECORRUPT;
    bits = m * r->cell_bits;
    if (length != ((bits + 63) >> 6 << 3) + 8) return TAMIS_READER_ECORRUPT;
    /* Bits after the last cell: the last eight bytes, and some of the eight before. */
    if (!tamis_reader__zero(end - 8, 8) ||
        (bits % 64 != 0 && tamis_reader__get64(end - 16) >> bits % 64 != 0))
        return TAMIS_READER_ECORRUPT;
    r->range = m - ((uint64_t)(r->k - 1) << r->variant);
    return TAMIS_READER_OK;
}
#endif

static tamis_reader_status tamis_reader__section(tamis_reader *r, const uint8_t *h)
{
    const uint8_t *e = h + 128;
    const uint16_t role = tamis_reader__get16(e);
    r->variant = tamis_reader__get16(e + 4);
    r->cell_bits = tamis_reader__get16(e + 6);
    r->k = tamis_reader__get32(e + 8);
    r->salt = tamis_reader__get32(e + 12);
    if (tamis_reader__get16(e + 2) != r->kind || !tamis_reader__zero(e + 24, 24))
        return TAMIS_READER_ECORRUPT;
#ifndef TAMIS_READER_NO_FUSE
    if (r->kind == TAMIS_READER_FUSE) {
        if (role == 3) return TAMIS_READER_EUNSUPPORTED; /* hashes until it is sealed */
        return role == 1 ? tamis_reader__fuse(r, h) : TAMIS_READER_EVERSION;
    }
#endif
    return role == 1 ? tamis_reader__blocked(r, h) : TAMIS_READER_EVERSION;
}

static tamis_reader_status tamis_reader__key(tamis_reader *r, const uint8_t *h, const uint8_t *key)
{
    if (r->hash != TAMIS_READER_SIPHASH) return key == NULL ? TAMIS_READER_OK : TAMIS_READER_EKEY;
#ifdef TAMIS_READER_NO_SIPHASH
    (void)h;
    return TAMIS_READER_EUNSUPPORTED;
#else
    {
        static const uint8_t name[12] = {'T', 'a', 'm', 'i', 's', ' ',
                                         'k', 'e', 'y', ' ', 'i', 'd'};
        tamis_reader__wide id;
        if (key == NULL) return TAMIS_READER_EKEY;
        r->secret[0] = tamis_reader__get64(key);
        r->secret[1] = tamis_reader__get64(key + 8);
        id = tamis_reader__siphash(r->secret, name, sizeof name);
        return id.lo == tamis_reader__get64(h + 40) && id.hi == tamis_reader__get64(h + 48)
                   ? TAMIS_READER_OK
                   : TAMIS_READER_EKEY;
    }
#endif
}

tamis_reader_status tamis_reader_open_keyed(tamis_reader *reader, const void *image, size_t size,
                                            const void *key)
{
    const uint8_t *h = (const uint8_t *)image;
    tamis_reader_status s = tamis_reader__start(h, size);
    reader->cells = NULL;
    if (s == TAMIS_READER_OK && !tamis_reader__sums(h, size)) s = TAMIS_READER_ECORRUPT;
    if (s == TAMIS_READER_OK) s = tamis_reader__header(reader, h);
    if (s == TAMIS_READER_OK) s = tamis_reader__section(reader, h);
    if (s == TAMIS_READER_OK) s = tamis_reader__key(reader, h, (const uint8_t *)key);
    if (s == TAMIS_READER_OK) reader->cells = h + (size_t)tamis_reader__get64(h + 176);
    return s;
}

tamis_reader_status tamis_reader_open(tamis_reader *reader, const void *image, size_t size)
{
    return tamis_reader_open_keyed(reader, image, size, NULL);
}

/* --- Queries ---------------------------------------------------------------------------------- */

static bool tamis_reader__in_line(const tamis_reader *r, uint64_t lo, uint64_t hi)
{
    const uint8_t *line = r->cells + (size_t)tamis_reader__multiply(hi, r->range).hi * 64;
    uint32_t j;
    for (j = 0; j < r->k; j++) {
        const unsigned bit =
            r->variant == 0 ? (unsigned)(64 * j + (lo & 63)) : (unsigned)(lo >> 55);
        if ((line[bit / 8] >> bit % 8 & 1) == 0) return false;
        lo = r->variant == 0 ? lo >> 6 : lo * UINT64_C(2862933555777941757) + hi;
    }
    return true;
}

#ifndef TAMIS_READER_NO_FUSE
static bool tamis_reader__in_cells(const tamis_reader *r, uint64_t lo, uint64_t hi)
{
    const uint64_t step = r->salt * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t length = UINT64_C(1) << r->variant;
    uint64_t edge = tamis_reader__fold(lo ^ UINT64_C(0xa0761d6478bd642f),
                                       (hi + step) ^ UINT64_C(0xe7037ed1a0b428db));
    const uint64_t first = tamis_reader__multiply(edge, r->range).hi;
    uint64_t all = hi >> (64 - r->cell_bits);
    uint32_t j;
    for (j = 0; j < r->k; j++) {
        const uint64_t cell = j == 0 ? first : (first + j * length) ^ (edge & (length - 1));
        const uint64_t bit = cell * r->cell_bits;
        all ^= tamis_reader__get64(r->cells + (size_t)(bit >> 3)) >> (bit & 7);
        if (j > 0) edge >>= 18;
    }
    return all << (64 - r->cell_bits) == 0;
}
#endif

bool tamis_reader_may_contain_hash(const tamis_reader *reader, uint64_t lo, uint64_t hi)
{
    if (reader->cells == NULL) return true;
#ifndef TAMIS_READER_NO_FUSE
    if (reader->kind == TAMIS_READER_FUSE) return tamis_reader__in_cells(reader, lo, hi);
#endif
    return tamis_reader__in_line(reader, lo, hi);
}

bool tamis_reader_may_contain(const tamis_reader *reader, const void *key, size_t len)
{
    const uint8_t *p = (const uint8_t *)key;
    tamis_reader__wide h;
    if (reader->cells == NULL || (reader->key_bytes != 0 && reader->key_bytes != len)) return true;
    if (reader->hash == TAMIS_READER_XXH3) {
        h = tamis_reader__xxh3(p, len, reader->secret[0]);
        return tamis_reader_may_contain_hash(reader, h.lo, h.hi);
    }
#ifndef TAMIS_READER_NO_SIPHASH
    if (reader->hash == TAMIS_READER_SIPHASH) {
        h = tamis_reader__siphash(reader->secret, p, len);
        return tamis_reader_may_contain_hash(reader, h.lo, h.hi);
    }
#endif
    return true;
}

const char *tamis_reader_text(tamis_reader_status status)
{
    switch (status) {
    case TAMIS_READER_OK: return "no error";
    case TAMIS_READER_ENOTIMAGE: return "not a Tamis image";
    case TAMIS_READER_ETRUNCATED: return "the image is truncated";
    case TAMIS_READER_ECORRUPT: return "the image is damaged";
    case TAMIS_READER_EVERSION: return "the image needs a newer reader";
    case TAMIS_READER_EUNSUPPORTED: return "this reader does not read such filters";
    case TAMIS_READER_EKEY: return "the secret key is missing or wrong";
    }
    return "unknown status";
}

#endif
