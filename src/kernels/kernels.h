/* The inner loops, in one table per instruction set. Every table computes the same bits in memory
 * and the same answers; the scalar one is the oracle the others are tested against.
 *
 * Bit i of `seen` and `bits` answers for hash i. Whole bytes are written, spare bits zero. */
#ifndef TAMIS_KERNELS_H
#define TAMIS_KERNELS_H

#include "../core/bits.h"

#include <tamis/tamis.h>

/* Where the k probes of a key fall: probe j in row j of m bits, stride bits after row j-1. A stride
 * of 0 is the classic filter, in which all probes share one row. */
struct probes {
    uint64_t m, stride;
    uint32_t k;
};

/* A full-period multiplier modulo 2^64 with good lattice structure in up to 32 dimensions (P.
 * L'Ecuyer, "Tables of linear congruential generators of different sizes and good lattice
 * structure", 1999). Stepping x by it, with the key's other 64 bits as increment, makes k probes
 * that behave as independent ones even in filters of a few hundred bits, where the usual h1 + i·h2
 * is measurably worse (docs/ACCURACY.md). */
#define TAMIS__PROBE_MULTIPLIER UINT64_C(2862933555777941757)

static inline uint64_t tamis__next_probe(uint64_t x, tamis_hash h)
{
    return x * TAMIS__PROBE_MULTIPLIER + h.hi;
}

/* A line of the blocked filter: 8 words of 64 bits; a key has one bit in each. */
#define TAMIS__LINE_BYTES 64u
#define TAMIS__LINE_BITS 512u

static inline uint64_t tamis__line_of(tamis_hash h, uint64_t lines)
{
    return tamis__mulhi(h.hi, lines);
}

static inline unsigned tamis__line_bit(uint64_t lo, unsigned word)
{
    return (unsigned)(lo >> 6 * word) & 63;
}

/* The two lines of a key in a tally, which differ. */
static inline uint64_t tamis__tally_first(tamis_hash h, uint64_t lines)
{
    return tamis__mulhi(h.hi, lines);
}

static inline uint64_t tamis__tally_second(tamis_hash h, uint64_t lines, uint64_t first)
{
    const uint64_t line = first + 1 + tamis__mulhi(h.lo, lines - 1);
    return line >= lines ? line - lines : line;
}

/* A key as one word, for a table of up to 2^16 lines: the line above, the bits within it below. */
#define TAMIS__PACKED_BITS 48u

static inline uint64_t tamis__pack(uint64_t line, tamis_hash h)
{
    return line << TAMIS__PACKED_BITS | (h.lo & ((UINT64_C(1) << TAMIS__PACKED_BITS) - 1));
}

/* A packed key is prefetched so many before its turn. */
#define TAMIS__PACKED_AHEAD 64u

static inline uint8_t *tamis__packed_line(uint8_t *table, uint64_t word)
{
    return table + (word >> TAMIS__PACKED_BITS) * TAMIS__LINE_BYTES;
}

/* The compact variant: k bits anywhere in the line, the probes of a classic filter of 512 bits. */
static inline unsigned tamis__compact_bit(uint64_t x)
{
    return (unsigned)(x >> 55);
}

#if defined(__GNUC__)
/* Into the second-level cache, which on some machines keeps far more lines on their way than the
 * first: on Zen 4 a random line of 120 MB then costs 4.3 ns, and 8.1 when prefetched into the
 * first. */
#define TAMIS__PREFETCH(p) __builtin_prefetch(p, 0, 2)
#else
#define TAMIS__PREFETCH(p) ((void)(p))
#endif

/* To be written soon, into the first-level cache. */
#if defined(__GNUC__)
#define TAMIS__FETCH(p) __builtin_prefetch(p, 1, 3)
#else
#define TAMIS__FETCH(p) ((void)(p))
#endif

/* For functions that only prefetch: GCC takes their calls for calls without effect and drops them,
 * unless they are inlined before. */
#if defined(__GNUC__)
#define TAMIS__PREFETCHES static inline __attribute__((always_inline)) void
#else
#define TAMIS__PREFETCHES static inline void
#endif

/* Ask for the lines of n keys; NULL: of none. */
TAMIS__PREFETCHES tamis__prefetch_lines(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                        size_t n)
{
    if (h == NULL) return;
    for (size_t i = 0; i < n; i++)
        TAMIS__PREFETCH(table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES);
}

typedef void tamis__probe_prefetcher(const uint8_t *rows, const struct probes *p,
                                     const tamis_hash *h, size_t n);
typedef void tamis__probe_adder(uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                size_t n, uint8_t *seen);
typedef void tamis__probe_asker(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                size_t n, uint8_t *bits);
typedef void tamis__line_adder(uint8_t *table, uint64_t lines, const tamis_hash *h,
                               const tamis_hash *ahead, size_t n, uint8_t *seen);
typedef void tamis__line_asker(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                               const tamis_hash *ahead, size_t n, uint8_t *bits);
typedef void tamis__packed_adder(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen);
typedef void tamis__compact_adder(uint8_t *table, uint64_t lines, uint32_t k, const tamis_hash *h,
                                  size_t n, uint8_t *seen);
typedef void tamis__compact_asker(const uint8_t *table, uint64_t lines, uint32_t k,
                                  const tamis_hash *h, size_t n, uint8_t *bits);
/* Of one layer of a ribbon (ribbon.h) and at most a batch of its keys. First where they look, and
 * which of them the layer bumps; then the answers, which mean nothing for those. `ahead`: as many
 * aims to be prefetched on the way, or NULL. */
struct ribbon_layer;
struct ribbon_aim;
typedef void tamis__ribbon_aimer(const struct ribbon_layer *l, const tamis_hash *h, size_t n,
                                 struct ribbon_aim *aim);
typedef void tamis__ribbon_asker(const struct ribbon_layer *l, const tamis_hash *h,
                                 const struct ribbon_aim *aim, const struct ribbon_aim *ahead,
                                 size_t n, uint8_t *bits);
/* Of a binary fuse filter (fuse.h) and at most a batch of its keys. First where they look, and
 * `fetches`: ask the memory for it; then the answers, which need no more than that. `ahead`, unless
 * NULL: as many hashes to be aimed at and prefetched on the way. */
struct fuse;
struct fuse_aim;
typedef void tamis__fuse_aimer(const struct fuse *f, const tamis_hash *h, size_t n,
                               struct fuse_aim *aim, bool fetches);
typedef void tamis__fuse_asker(const struct fuse *f, const struct fuse_aim *aim, size_t n,
                               const tamis_hash *ahead, struct fuse_aim *next, uint8_t *bits);
/* Back substitution of a segment, from its last slot to its first: rows of the eliminated system, 0
 * where a slot has none, and their right-hand sides, of `columns` bits. words holds the following
 * segment's solution on entry and this one's on return; there is room for 32. */
typedef void tamis__ribbon_solver(const uint64_t *rows, const uint32_t *sides, uint32_t columns,
                                  uint64_t *words);
/* Adds of weight 1 to a tally: returns how many of the n keys it has added, up to the first one
 * with a counter that has to join another, which is for whoever calls. */
typedef size_t tamis__tally_adder(uint8_t *cells, uint64_t lines, const tamis_hash *h, size_t n);
/* SipHash-2-4-128 of many keys under one secret key. */
typedef void tamis__siphasher(const uint64_t key[2], const tamis_bytes *keys, size_t n,
                              tamis_hash *out);

/* XXH3-128 of keys of 8 bytes: as many of the first ones as this kernel takes at once, maybe none;
 * returns how many. */
typedef size_t tamis__word_hasher(uint64_t seed, const tamis_bytes *keys, size_t n,
                                  tamis_hash *out);

/* XXH3-128 of eight keys of 33 to 64 bytes. */
typedef void tamis__middle_hasher(uint64_t seed, const tamis_bytes *const keys[8], tamis_hash *out);

struct kernels {
    const char *name;
    tamis__probe_prefetcher *probe_prefetch;
    tamis__probe_adder *probe_add;
    tamis__probe_asker *probe_query;
    tamis__line_adder *line_add;
    tamis__line_asker *line_query;
    tamis__packed_adder *packed_add;
    tamis__compact_adder *compact_add;
    tamis__compact_asker *compact_query;
    tamis__ribbon_aimer *ribbon_aim;
    tamis__ribbon_asker *ribbon_query;
    tamis__ribbon_solver *ribbon_solve;
    tamis__fuse_aimer *fuse_aim;
    tamis__fuse_asker *fuse_query;
    tamis__tally_adder *tally_add; /* may be NULL: none is faster than the kind itself */
    tamis__siphasher *siphash;
    tamis__word_hasher *xxh3_words; /* these two may be NULL: none is faster than xxHash itself */
    tamis__middle_hasher *xxh3_eight;
};

extern const struct kernels tamis__scalar, tamis__avx2, tamis__avx512, tamis__neon;
/* tamis__avx512 for processors that also have VBMI2 and VPOPCNTDQ. */
extern const struct kernels tamis__avx512_bits;
/* Cells by relaxed atomics, for TAMIS_SHARED; hashes nothing. */
extern const struct kernels tamis__shared;

/* What other tables borrow from the scalar one. */
tamis__probe_prefetcher tamis__probe_prefetch;
tamis__probe_adder tamis__probe_add;
tamis__probe_asker tamis__probe_query;
tamis__compact_adder tamis__compact_add;
tamis__compact_asker tamis__compact_query;
tamis__ribbon_aimer tamis__ribbon_aim;
tamis__ribbon_asker tamis__ribbon_ask;
tamis__ribbon_solver tamis__ribbon_solve;
tamis__fuse_aimer tamis__fuse_aim;
tamis__fuse_asker tamis__fuse_ask;
/* And from that of AVX2. */
tamis__ribbon_aimer tamis__ribbon_aim_avx2;
tamis__ribbon_asker tamis__ribbon_ask_avx2;
tamis__ribbon_solver tamis__ribbon_solve_avx2;

/* And those of AVX-512 with one another. */
tamis__tally_adder tamis__tally_add_avx512;

/* SipHash of one key, and its last block: what is left after whole words of 8 bytes, and the
 * length. */
tamis_hash tamis__siphash(const uint64_t key[2], const uint8_t *p, size_t len);

static inline uint64_t tamis__siphash_last(const uint8_t *p, size_t len)
{
    uint64_t last = (uint64_t)len << 56;
    for (size_t i = len / 8 * 8; i < len; i++) last |= (uint64_t)p[i] << 8 * (i % 8);
    return last;
}

#endif
