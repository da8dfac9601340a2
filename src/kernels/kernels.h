/* The inner loops, in one table for each instruction set. Every table produces the same bits in
 * memory and the same answers. The scalar table is the oracle against which the others are tested.
 *
 * Bit i of `seen` and `bits` is the answer for hash i. Whole bytes are written, with unused bits
 * zero. */
#ifndef TAMIS_KERNELS_H
#define TAMIS_KERNELS_H

#include "../core/bits.h"
#include "lines.h"
#include "locked.h"

#include <tamis/tamis.h>

/* Where the k probes of a key fall: probe j is in row j of m bits, `stride` bits after row j-1. A
 * stride of 0 is the classic filter, in which all probes share one row. */
struct probes {
    uint64_t m, stride;
    uint32_t k;
    bool members; /* a query may expect that most keys are members */
};

/* A query of many keys tests so many probes of each first, and the others only of keys that pass
 * these. In a full filter of the best k, half of the bits are set, and one key in eight of those
 * that were never added passes. */
#define TAMIS__FIRST_PROBES 3u

/* How many probes of a key ahead a query prefetches. */
static inline uint32_t tamis__fetched_probes(const struct probes *p)
{
    return p->members || p->k < TAMIS__FIRST_PROBES ? p->k : TAMIS__FIRST_PROBES;
}

/* How many keys are tested before the other probes of those that passed. A multiple of 8. */
#define TAMIS__PROBED 32u

/* Returns the two lines of a key in a tally, which always differ. */
static inline uint64_t tamis__tally_first(tamis_hash h, uint64_t lines)
{
    return tamis__mulhi(h.hi, lines);
}

static inline uint64_t tamis__tally_second(tamis_hash h, uint64_t lines, uint64_t first)
{
    const uint64_t line = first + 1 + tamis__mulhi(h.lo, lines - 1);
    return line >= lines ? line - lines : line;
}

/* A key as one word, for a table of up to 2^16 lines: the line in the upper bits, the bits within
 * it in the lower ones. */
#define TAMIS__PACKED_BITS 48u

static inline uint64_t tamis__pack(uint64_t line, tamis_hash h)
{
    return line << TAMIS__PACKED_BITS | (h.lo & ((UINT64_C(1) << TAMIS__PACKED_BITS) - 1));
}

/* How many packed keys before its use a line is prefetched. */
#define TAMIS__PACKED_AHEAD 64u

static inline uint8_t *tamis__packed_line(uint8_t *table, uint64_t word)
{
    return table + (word >> TAMIS__PACKED_BITS) * TAMIS__LINE_BYTES;
}

#if defined(__GNUC__)
/* Prefetches into the second-level cache, which on some machines keeps far more lines in flight
 * than the first: on Zen 4 a random line of 120 MB then costs 4.3 ns, against 8.1 when prefetched
 * into the first. */
#define TAMIS__PREFETCH(p) __builtin_prefetch(p, 0, 2)
#else
#define TAMIS__PREFETCH(p) ((void)(p))
#endif

/* Whether there are keys to prefetch for. WebAssembly cannot prefetch, so its modules leave out
 * what prepares for that. */
#if defined(__wasm__)
#define TAMIS__AHEAD(keys) ((void)(keys), false)
#else
#define TAMIS__AHEAD(keys) ((keys) != NULL)
#endif

/* Prefetches into the first-level cache, to be written soon. */
#if defined(__GNUC__)
#define TAMIS__FETCH(p) __builtin_prefetch(p, 1, 3)
#else
#define TAMIS__FETCH(p) ((void)(p))
#endif

/* For functions that only prefetch: GCC treats calls of them as calls without effect and drops
 * them, unless they are inlined before. */
#if defined(__GNUC__)
#define TAMIS__PREFETCHES static inline __attribute__((always_inline)) void
#else
#define TAMIS__PREFETCHES static inline void
#endif

/* Prefetches the lines of n keys; a NULL h stands for none. */
TAMIS__PREFETCHES tamis__prefetch_lines(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                        size_t n)
{
    if (h == NULL) return;
    for (size_t i = 0; i < n; i++)
        TAMIS__PREFETCH(table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES);
}

typedef void tamis__probe_prefetcher(const uint8_t *rows, const struct probes *p,
                                     const tamis_hash *h, size_t n);
/* `ahead`, unless NULL, has as many hashes, to be prefetched on the way. Prefetches between the
 * adds are faster than those of a whole group before them (27 against 38 ns, at 10 M keys). */
typedef void tamis__probe_adder(uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                const tamis_hash *ahead, size_t n, uint8_t *seen);
typedef void tamis__probe_asker(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                const tamis_hash *ahead, size_t n, uint8_t *bits);
typedef void tamis__line_adder(uint8_t *table, uint64_t lines, const tamis_hash *h,
                               const tamis_hash *ahead, size_t n, uint8_t *seen);
typedef void tamis__line_asker(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                               const tamis_hash *ahead, size_t n, uint8_t *bits);
/* Tables of the same number of lines, such as the generations of a window. The pointer to each is
 * `step` bytes after the pointer to the one before. */
struct tables {
    uint8_t *const *first;
    size_t step;
    uint32_t count;
    uint64_t lines;
};

static inline const uint8_t *tamis__table_at(const struct tables *t, uint32_t i)
{
    return *(uint8_t *const *)(const void *)((const char *)(const void *)t->first + i * t->step);
}

/* Prefetches the line of a key in every table. */
TAMIS__PREFETCHES tamis__prefetch_tables(const struct tables *t, tamis_hash h)
{
    const uint64_t at = tamis__line_of(h, t->lines) * TAMIS__LINE_BYTES;
    for (uint32_t i = 0; i < t->count; i++) TAMIS__PREFETCH(tamis__table_at(t, i) + at);
}

/* The answer is yes if any of the tables has all bits of the key. */
typedef void tamis__tables_asker(const struct tables *t, const tamis_hash *h,
                                 const tamis_hash *ahead, size_t n, uint8_t *bits);
typedef void tamis__packed_adder(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen);
typedef void tamis__compact_adder(uint8_t *table, uint64_t lines, uint32_t k, const tamis_hash *h,
                                  size_t n, uint8_t *seen);
typedef void tamis__compact_asker(const uint8_t *table, uint64_t lines, uint32_t k,
                                  const tamis_hash *h, size_t n, uint8_t *bits);
/* Kernels for one layer of a ribbon (ribbon.h) and at most a batch of its keys. The aimer computes
 * where the keys look and which of them the layer bumps. The asker computes the answers, which are
 * meaningless for bumped keys. `ahead` has as many aims, to be prefetched on the way, or is
 * NULL. */
struct ribbon_layer;
struct ribbon_aim;
typedef void tamis__ribbon_aimer(const struct ribbon_layer *l, const tamis_hash *h, size_t n,
                                 struct ribbon_aim *aim);
typedef void tamis__ribbon_asker(const struct ribbon_layer *l, const tamis_hash *h,
                                 const struct ribbon_aim *aim, const struct ribbon_aim *ahead,
                                 size_t n, uint8_t *bits);
/* The sums of the slots that a row picks from the window at slot `start`, one bit for each column
 * of the window's segment: what a map holds for the key. */
typedef uint64_t tamis__ribbon_adder(const struct ribbon_layer *l, uint64_t row, uint64_t start);
/* Kernels for a binary fuse filter (fuse.h) and at most a batch of its keys. The aimer computes
 * where the keys look and, with `fetches`, prefetches it. The asker computes the answers from that
 * alone. `ahead`, unless NULL, has as many hashes, to be aimed and prefetched on the way. */
struct fuse;
struct fuse_aim;
typedef void tamis__fuse_aimer(const struct fuse *f, const tamis_hash *h, size_t n,
                               struct fuse_aim *aim, bool fetches);
typedef void tamis__fuse_asker(const struct fuse *f, const struct fuse_aim *aim, size_t n,
                               const tamis_hash *ahead, struct fuse_aim *next, uint8_t *bits);
/* Back substitution of a segment, from its last slot to its first: the rows of the eliminated
 * system (0 for a slot without one) and their right-hand sides of `columns` bits. `words` holds the
 * following segment's solution on entry and this segment's on return; it has room for 32. */
typedef void tamis__ribbon_solver(const uint64_t *rows, const uint32_t *sides, uint32_t columns,
                                  uint64_t *words);
/* Adds keys of weight 1 to a tally. Returns how many of the n keys were added, up to the first one
 * with a counter that has to join another; the caller adds that one. `counts`, unless it is NULL,
 * gets the count of each key right after its add. */
typedef size_t tamis__tally_adder(uint8_t *cells, uint64_t lines, const tamis_hash *h, size_t n,
                                  int64_t *counts);
/* Bit i of `known` is whether hash i leaves its register in a distinct sketch of 2^log registers as
 * it is. n is a multiple of 8. */
typedef void tamis__register_asker(const uint8_t *cells, unsigned log, const tamis_hash *h,
                                   size_t n, uint8_t *known);
/* Adds to lines that locks protect, and counts the new keys with the locks (locked.h). */
typedef void tamis__locked_adder(struct line_locks *locks, uint8_t *table, uint64_t lines,
                                 const tamis_hash *h, const tamis_hash *ahead, size_t n,
                                 uint8_t *seen);
/* The same for one key. Returns whether it was seen before, 0 or 1. */
typedef unsigned tamis__locked_single_adder(struct line_locks *locks, uint8_t *table,
                                            uint64_t lines, tamis_hash h);
/* SipHash-2-4-128 of many keys under one secret key. */
typedef void tamis__siphasher(const uint64_t key[2], const tamis_bytes *keys, size_t n,
                              tamis_hash *out);

/* Computes XXH3-128 of keys of 8 bytes, for as many of the first keys as this kernel takes at once,
 * possibly none. Returns how many. */
typedef size_t tamis__word_hasher(uint64_t seed, const tamis_bytes *keys, size_t n,
                                  tamis_hash *out);
/* The same for an array of such keys, with any alignment. */
typedef size_t tamis__row_hasher(uint64_t seed, const uint8_t *words, size_t n, tamis_hash *out);

/* XXH3-128 of eight keys at once. */
typedef void tamis__lane_hasher(uint64_t seed, const uint8_t *const keys[8],
                                const uint64_t lengths[8], tamis_hash *out);

/* The functions for single keys (core/single.h): of bits in rows, which all tables share, of lines,
 * and of ribbons. For one key AVX2 is faster than AVX-512: a query of a blocked filter in the cache
 * takes 5.0 against 7.9 ns on Zen 4. */
struct single;
extern const struct single tamis__probe_single, tamis__rows_single;
extern const struct single tamis__line_single, tamis__line_single_avx2, tamis__line_single_neon;
extern const struct single tamis__locked_single, tamis__locked_single_avx2;
extern const struct single tamis__ribbon_single, tamis__ribbon_single_avx2;

/* Instructions for bits: none, POPCNT, which counts those of a word, and also PDEP, which seeks the
 * n-th, where it is fast (core/cpu.c). Growing filters choose their own kernels by this
 * (membership/growing_find.h), so that a build without them contains none. */
enum tamis__bit_skill { TAMIS__BITS_IN_C, TAMIS__BITS_POPCNT, TAMIS__BITS_PDEP };

struct kernels {
    const char *name;
    tamis__probe_prefetcher *probe_prefetch;
    tamis__probe_adder *probe_add;
    tamis__probe_asker *probe_query;
    tamis__line_adder *line_add;
    tamis__line_asker *line_query;
    const struct single *line_single;
    tamis__tables_asker *line_query_any;
    tamis__packed_adder *packed_add;
    tamis__compact_adder *compact_add;
    tamis__compact_asker *compact_query;
    tamis__ribbon_aimer *ribbon_aim;
    tamis__ribbon_asker *ribbon_query;
    const struct single *ribbon_single;
    tamis__ribbon_solver *ribbon_solve;
    tamis__ribbon_adder *ribbon_sums;
    tamis__fuse_aimer *fuse_aim;
    tamis__fuse_asker *fuse_query;
    /* These two may be NULL if nothing is faster than the kind itself. */
    tamis__tally_adder *tally_add;
    tamis__register_asker *registers_know;
    enum tamis__bit_skill bits;
    /* Not in tamis__shared. */
    tamis__locked_adder *locked_add;
    tamis__locked_single_adder *locked_add_one;
    tamis__line_asker *locked_query;
    const struct single *locked_single;
    tamis__siphasher *siphash;
    /* These may be NULL if nothing is faster than xxHash itself. */
    tamis__word_hasher *xxh3_words;
    tamis__row_hasher *xxh3_rows;
    tamis__lane_hasher *xxh3_short; /* 17 to 32 bytes */
    tamis__lane_hasher *xxh3_long;  /* 33 to 64 bytes */
};

extern const struct kernels tamis__scalar, tamis__avx2, tamis__avx512, tamis__neon;
/* tamis__avx2 for processors with a fast PDEP. */
extern const struct kernels tamis__avx2_pdep;
/* tamis__avx512 for processors that also have VBMI2 and VPOPCNTDQ. */
extern const struct kernels tamis__avx512_bits;
/* Accesses cells by relaxed atomics, for TAMIS_SHARED without locks; has no hash functions. */
extern const struct kernels tamis__shared;

/* Functions that other tables take from the scalar one. */
tamis__probe_prefetcher tamis__probe_prefetch;
tamis__probe_adder tamis__probe_add;
tamis__probe_asker tamis__probe_query;
tamis__tables_asker tamis__line_query_any;
tamis__compact_adder tamis__compact_add;
tamis__compact_asker tamis__compact_query;
tamis__ribbon_aimer tamis__ribbon_aim;
tamis__ribbon_asker tamis__ribbon_ask;
tamis__ribbon_solver tamis__ribbon_solve;
tamis__ribbon_adder tamis__ribbon_sums;
tamis__fuse_aimer tamis__fuse_aim;
tamis__fuse_asker tamis__fuse_ask;
/* Functions in C for lines that locks protect, and all of a table for such lines. The compact
 * variant has no others. */
tamis__locked_adder tamis__locked_add;
tamis__locked_single_adder tamis__locked_add_one;
tamis__line_asker tamis__locked_query;
unsigned tamis__locked_has(const uint8_t *line, uint64_t lo);
void tamis__locked_compact_add(struct line_locks *locks, uint8_t *table, uint64_t lines, uint32_t k,
                               const tamis_hash *h, size_t n, uint8_t *seen);
#define TAMIS__LOCKED_IN_C                                                                         \
    .locked_add = tamis__locked_add, .locked_add_one = tamis__locked_add_one,                      \
    .locked_query = tamis__locked_query, .locked_single = TAMIS__SINGLE(&tamis__locked_single)
/* Functions of the table of AVX2, most of which other tables take. */
tamis__locked_single_adder tamis__locked_add_one_avx2;
tamis__ribbon_aimer tamis__ribbon_aim_avx2;
tamis__ribbon_asker tamis__ribbon_ask_avx2;
tamis__ribbon_solver tamis__ribbon_solve_avx2;
tamis__ribbon_adder tamis__ribbon_sums_avx2;
tamis__register_asker tamis__registers_know_avx2;

/* Functions that the two tables of AVX-512 share. */
tamis__tally_adder tamis__tally_add_avx512;
tamis__register_asker tamis__registers_know_avx512;

/* SipHash of one key, and its last block: the bytes left after whole words of 8 bytes, and the
 * length. */
tamis_hash tamis__siphash(const uint64_t key[2], const uint8_t *p, size_t len);

static inline uint64_t tamis__siphash_last(const uint8_t *p, size_t len)
{
    uint64_t last = (uint64_t)len << 56;
    for (size_t i = len / 8 * 8; i < len; i++) last |= (uint64_t)p[i] << 8 * (i % 8);
    return last;
}

#endif
