/* The bumped ribbon: a sealed filter within half a percent of the smallest possible (query.c
 * explains how).
 *
 * This is the core alone: arrays of 128-bit hashes in, layers of bits out. */
#ifndef TAMIS_RIBBON_H
#define TAMIS_RIBBON_H

#include "../../core/bits.h"
#include "../../kernels/kernels.h"

#include <tamis/tamis.h>

#define TAMIS__RIBBON_WIDTH 64u   /* slots in a key's window, and in a segment */
#define TAMIS__RIBBON_BUCKET 128u /* slots that share a threshold */
#define TAMIS__RIBBON_COLUMNS 32u /* the most columns of a filter */
#define TAMIS__RIBBON_VALUES 32u  /* the most columns of a map that hold a value */
#define TAMIS__RIBBON_ALL (TAMIS__RIBBON_COLUMNS + TAMIS__RIBBON_VALUES)
#define TAMIS__RIBBON_LAYERS 8u                    /* the most layers; enough for 10^12 keys */
#define TAMIS__RIBBON_SEGMENTS (UINT64_C(1) << 44) /* the most in a layer: nothing overflows */
#define TAMIS__RIBBON_BATCH 128u                   /* the most hashes of one query */

/* Segments 0 ... boundary-1 have `columns` columns, and those from boundary on one more. */
struct ribbon_layer {
    uint64_t segments, boundary;
    uint32_t columns;
    bool last;           /* bumps no keys */
    bool homogeneous;    /* the last layer of a filter: every fingerprint is 0 */
    bool retrieves;      /* belongs to a retrieval, see below: one column */
    uint32_t value_bits; /* of a map, see below: the first columns hold the value. 0: not a map */
    uint32_t salt;       /* last layer of a retrieval or map: which of its hash functions worked */
    uint8_t *solution;   /* segment by segment, each of its columns a 64-bit little-endian word */
    uint8_t *thresholds; /* two bits a bucket; NULL in the last layer */
    uint64_t solution_bytes, threshold_bytes;
};

/* A ribbon without layers is the empty set. */
struct ribbon {
    struct ribbon_layer layers[TAMIS__RIBBON_LAYERS];
    uint32_t count;
    uint64_t keys; /* the number of distinct keys that it was built from */
};

/* Builds a filter of the n hashes with the rate 2^-columns, 1 <= columns <= 32, fractions included.
 * Repeated hashes count once. The bytes depend only on the set of hashes and on columns, not on the
 * order of the hashes or on the machine. The array is used as scratch, and its contents are
 * undefined afterwards. In addition to the array and the result, the peak is 16 bytes a hash and 64
 * KiB. Fails with TAMIS_EINVAL if columns is out of range or there are more hashes than layers can
 * hold, or with TAMIS_ENOMEM. On failure *out is empty. */
tamis_status tamis__ribbon_build(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                 double columns, struct ribbon *out);

/* Builds the same bytes with several threads (the peak is 64 KiB more for each), or from hashes
 * that do not fit in memory: with a spill, n is 0 and the hashes are those of its runs, which are
 * not changed. Then the peak in addition to the array and the result is the size of the array, and
 * 32 MiB for each thread, if the hashes are uniform. May also fail with TAMIS_EIO. */
struct ribbon_means {
    const tamis_memory *memory;
    uint32_t threads;          /* 0 counts as 1 */
    const struct spill *spill; /* or NULL */
    uint64_t room;             /* with a spill: the hashes that the array has room for */
};
tamis_status tamis__ribbon_build_with(const struct ribbon_means *by, tamis_hash *hashes, uint64_t n,
                                      double columns, struct ribbon *out, tamis_error *why);
void tamis__ribbon_free(const tamis_memory *memory, struct ribbon *r);

/* Builds a ribbon of one column that retrieves a bit for each key. The lowest bit of lo is 0 if the
 * answer for the key is to be "maybe", and 1 if it is to be "no". It is not a part of the key, so
 * no two hashes may differ only in that bit. In a query, pass each hash through tamis__ribbon_enter
 * of the first layer, which clears the bit. A last layer that cannot be solved is tried with other
 * salts. Fails with TAMIS_EINVAL if none of them works, which only happens if the hashes are far
 * from random. */
tamis_status tamis__ribbon_retrieval(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                     struct ribbon *out);

/* Builds a map with this many columns, of which value_bits (1 ... 32) hold the value of a key and
 * the others, at most 32, its fingerprint. The value is in the lower half of lo, which is not a
 * part of the key. Fails with TAMIS_EMISMATCH if a key has two values; map->twice is then its hash.
 * Otherwise fails like tamis__ribbon_retrieval. by->spill must be NULL. */
struct ribbon_map {
    double columns;
    uint32_t value_bits;
    tamis_hash twice;
};
tamis_status tamis__ribbon_map_build(const struct ribbon_means *by, tamis_hash *hashes, uint64_t n,
                                     struct ribbon_map *map, struct ribbon *out, tamis_error *why);

/* The bytes of solutions and thresholds that n distinct uniform hashes take on average: a plan, not
 * a promise. UINT64_MAX if there is no such filter. */
uint64_t tamis__ribbon_bytes(uint64_t n, double columns);

/* Sets the shape of a filter's layer for n keys, without its bytes. The last layer is homogeneous.
 * Returns false if there are too many keys. */
bool tamis__ribbon_shape(uint64_t n, double columns, bool is_last, struct ribbon_layer *l);

/* Up to this many keys need only the homogeneous layer. Measured: at this number both ways take the
 * same space. */
#define TAMIS__RIBBON_FEW 700u

/* The bytes of solutions and thresholds of a ribbon. */
uint64_t tamis__ribbon_payload(const struct ribbon *r);

/* Returns the reason why a shape is impossible, or NULL. Pointers are not examined. A ribbon that
 * passed can be queried safely, whatever the contents of its solution_bytes and threshold_bytes
 * bytes. */
const char *tamis__ribbon_wrong(const struct ribbon *r);

/* The probability that a uniform hash gets a "maybe". Reads all thresholds and some of the last
 * layer. */
double tamis__ribbon_rate(const struct ribbon *r);

/* Where keys look in the first layer, kept from prefetch to query. */
struct ribbon_aim;

/* Prefetches what a query will read in the first layer. n <= TAMIS__RIBBON_BATCH. */
void tamis__ribbon_prefetch(const struct ribbon *r, const tamis_hash *h, size_t n,
                            struct ribbon_aim *aim);

/* Bit i is the answer for hash i. Whole bytes are written, with spare bits zero. n <=
 * TAMIS__RIBBON_BATCH. `aim` is that of these hashes, or NULL if they were not prefetched. `ahead`
 * has n more hashes to be prefetched on the way, whose aim is written to *next, or is NULL. It must
 * be NULL if aim is. */
void tamis__ribbon_query(const struct ribbon *r, const tamis_hash *h, size_t n,
                         const struct ribbon_aim *aim, const tamis_hash *ahead,
                         struct ribbon_aim *next, uint8_t *bits);

/* --- How a key maps to a layer, for the builder and the kernels ------------------------------- */

/* The number of slots at which a window can start, with all its 64 slots inside the table. */
static inline uint64_t tamis__ribbon_starts(uint64_t segments)
{
    return segments * TAMIS__RIBBON_WIDTH - (TAMIS__RIBBON_WIDTH - 1);
}

static inline uint64_t tamis__ribbon_start(tamis_hash h, uint64_t starts)
{
    return tamis__mulhi(h.hi, starts);
}

/* Bit j belongs to slot start + j. */
static inline uint64_t tamis__ribbon_row(tamis_hash h)
{
    return h.lo | 1;
}

/* In a map. The row depends only on hi, because half of lo is the value and the other half the
 * fingerprint. Keys with equal hi are bumped, and differ in the next layer. */
static inline uint64_t tamis__ribbon_map_row(tamis_hash h)
{
    return tamis__remix(h.hi) | 1;
}

/* The fingerprint of a key: the right-hand side of the columns behind those of the value, of which
 * there are at most 32. */
static inline uint32_t tamis__ribbon_print(tamis_hash h, uint32_t columns)
{
    return (uint32_t)((h.lo >> 32) & ((UINT64_C(1) << columns) - 1));
}

/* The right-hand side, with one bit for each column. In a retrieval it is that of a key whose
 * answer is "maybe". */
static inline uint32_t tamis__ribbon_side(tamis_hash h, bool homogeneous, uint32_t columns)
{
    return homogeneous ? 0 : (uint32_t)(h.hi & ((UINT64_C(1) << columns) - 1));
}

static inline uint32_t tamis__ribbon_columns(const struct ribbon_layer *l, uint64_t segment)
{
    return l->columns + (segment >= l->boundary);
}

/* Where a segment begins, in words. */
static inline uint64_t tamis__ribbon_word(const struct ribbon_layer *l, uint64_t segment)
{
    /* Without a branch, which would be unpredictable. */
    const uint64_t all_ones = 0 - (uint64_t)(segment > l->boundary);
    return segment * l->columns + ((segment - l->boundary) & all_ones);
}

/* For each code of a bucket, one byte: the number of its first slots whose keys are bumped, which
 * is 0, 24, 48 or all 128. */
#define TAMIS__RIBBON_THRESHOLDS UINT32_C(0x80301800)

static inline unsigned tamis__ribbon_threshold(unsigned code)
{
    return TAMIS__RIBBON_THRESHOLDS >> 8 * code & 0xff;
}

static inline unsigned tamis__ribbon_code(const uint8_t *thresholds, uint64_t bucket)
{
    return thresholds[bucket / 4] >> 2 * (bucket % 4) & 3;
}

static inline bool tamis__ribbon_bumps(const uint8_t *thresholds, uint64_t start)
{
    const unsigned code = tamis__ribbon_code(thresholds, start / TAMIS__RIBBON_BUCKET);
    return start % TAMIS__RIBBON_BUCKET < tamis__ribbon_threshold(code);
}

/* The hash of a bumped key in the next layer: two rounds of a Feistel network, so distinct hashes
 * stay distinct. */
static inline tamis_hash tamis__ribbon_next(tamis_hash h)
{
    h.lo ^= tamis__remix(h.hi + UINT64_C(0x9e3779b97f4a7c15));
    h.hi ^= tamis__remix(h.lo);
    return h;
}

/* The hash in the last layer of a retrieval for a salt other than 0, made from the hash for salt
 * 0. */
static inline tamis_hash tamis__ribbon_salted(uint32_t salt, tamis_hash h)
{
    h.lo = (h.lo & ~UINT64_C(1)) ^ (uint64_t)salt << 1;
    return tamis__ribbon_next(h);
}

/* The hash of a key that enters a layer other than the first, or any layer of a retrieval. */
static inline tamis_hash tamis__ribbon_enter(const struct ribbon_layer *l, tamis_hash h)
{
    h.lo &= ~(uint64_t)l->retrieves;
    h = tamis__ribbon_next(h);
    return l->salt != 0 ? tamis__ribbon_salted(l->salt, h) : h;
}

/* The same two rounds for a map, which keep the value. Distinct keys stay distinct. */
static inline tamis_hash tamis__ribbon_map_next(tamis_hash h)
{
    const uint64_t key = ~(uint64_t)UINT32_MAX;
    h.lo ^= tamis__remix(h.hi + UINT64_C(0x9e3779b97f4a7c15)) & key;
    h.hi ^= tamis__remix(h.lo & key);
    return h;
}

/* The hash in the last layer of a map for a salt other than 0, made from the hash for salt 0. */
static inline tamis_hash tamis__ribbon_map_salted(uint32_t salt, tamis_hash h)
{
    h.lo ^= (uint64_t)salt << 32;
    return tamis__ribbon_map_next(h);
}

/* A column of a window that begins at this slot of one segment and ends in another. */
static inline uint64_t tamis__ribbon_shifted(const uint8_t *low, const uint8_t *high,
                                             unsigned shift)
{
    /* The second word is shifted in two steps, because a shift by 64 is undefined. */
    return tamis__get64(low) >> shift | tamis__get64(high) << 1 << (63 - shift);
}

/* Where a window begins in its first and in its last segment. */
struct ribbon_pair {
    const uint8_t *low, *high;
};

static inline struct ribbon_pair tamis__ribbon_pair(const struct ribbon_layer *l, uint64_t start)
{
    /* A window that begins with a segment has no slot in the next segment, which may not exist. */
    const uint64_t next = (start + TAMIS__RIBBON_WIDTH - 1) / TAMIS__RIBBON_WIDTH;
    return (struct ribbon_pair){l->solution +
                                    8 * tamis__ribbon_word(l, start / TAMIS__RIBBON_WIDTH),
                                l->solution + 8 * tamis__ribbon_word(l, next)};
}

/* Whether a layer's columns from column c on have the right-hand side of a key whose window begins
 * at slot `start`. */
static inline bool tamis__ribbon_solves(const struct ribbon_layer *l, tamis_hash h, uint64_t start,
                                        uint32_t c)
{
    const uint64_t segment = start / TAMIS__RIBBON_WIDTH, row = tamis__ribbon_row(h);
    const unsigned shift = start % TAMIS__RIBBON_WIDTH;
    const struct ribbon_pair at = tamis__ribbon_pair(l, start);
    const uint32_t columns = tamis__ribbon_columns(l, segment);
    const uint32_t side = tamis__ribbon_side(h, l->homogeneous, columns);
    for (; c < columns; c++) {
        const uint64_t window = tamis__ribbon_shifted(at.low + 8 * c, at.high + 8 * c, shift);
        if ((unsigned)__builtin_parityll(window & row) != (side >> c & 1)) return false;
    }
    return true;
}

/* --- Where a query looks ---------------------------------------------------------------------- */

/* For each key of a batch: the first slot of its window, the byte offsets in the solution of the
 * segments of its first and its last slot, and a bit that is set if the layer bumps it. The bits
 * are in whole bytes, with spare bits zero. The arrays are as long as the batch, to save stack. */
struct ribbon_aim {
    uint64_t *start, *low, *high;
    uint8_t *bumped;
};

/* The number of words for the aims of n keys, where n is a multiple of 8. */
#define TAMIS__RIBBON_AIM_WORDS(n) (3 * (n) + ((n) / 8 + 7) / 8)

static inline struct ribbon_aim tamis__ribbon_aim_in(uint64_t *words, size_t n)
{
    return (struct ribbon_aim){words, words + n, words + 2 * n, (uint8_t *)(words + 3 * n)};
}

static inline void tamis__ribbon_aim_at(const struct ribbon_layer *l, uint64_t start, size_t i,
                                        struct ribbon_aim *aim)
{
    aim->start[i] = start;
    aim->low[i] = 8 * tamis__ribbon_word(l, start / TAMIS__RIBBON_WIDTH);
    /* A window that begins with a segment has no slot in the next segment, which may not exist. */
    aim->high[i] =
        8 * tamis__ribbon_word(l, (start + TAMIS__RIBBON_WIDTH - 1) / TAMIS__RIBBON_WIDTH);
}

/* Prefetches window i. If there are fewer than eight columns, kernels read eight all the same: a
 * masked load costs more than the line that it saves. */
TAMIS__PREFETCHES tamis__ribbon_fetch(const struct ribbon_layer *l, const struct ribbon_aim *aim,
                                      size_t i)
{
    const uint32_t columns = tamis__ribbon_columns(l, l->segments - 1);
    const uint64_t last = aim->high[i] + 8 * (columns < 8 ? 8 : columns) - 1;
    TAMIS__PREFETCH(l->solution + aim->low[i]);
    TAMIS__PREFETCH(l->solution + aim->high[i]);
    if (columns == 8 && l->columns == 8) return; /* each segment is a line */
    TAMIS__PREFETCH(l->solution + last);
    if (columns <= 8) return;
    for (uint64_t at = aim->low[i] + 64; at < last; at += 64) TAMIS__PREFETCH(l->solution + at);
}

#endif
