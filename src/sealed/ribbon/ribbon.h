/* The bumped ribbon: a static filter within half a percent of the smallest possible (ribbon.c tells
 * how).
 *
 * This is the core alone: arrays of 128-bit hashes in, layers of bits out. */
#ifndef TAMIS_RIBBON_H
#define TAMIS_RIBBON_H

#include "../../core/bits.h"
#include "../../kernels/kernels.h"

#include <tamis/tamis.h>

#define TAMIS__RIBBON_WIDTH 64u   /* slots that a key's window has, and a segment */
#define TAMIS__RIBBON_BUCKET 128u /* slots that share a threshold */
#define TAMIS__RIBBON_COLUMNS 32u /* at most */
#define TAMIS__RIBBON_LAYERS 8u   /* at most; enough for 10^12 keys */
#define TAMIS__RIBBON_SEGMENTS (UINT64_C(1) << 44) /* at most, in a layer: nothing overflows */
#define TAMIS__RIBBON_BATCH 128u                   /* hashes of one query, at most */

/* Segments 0 ... boundary-1 have `columns` columns, those from boundary on one more. */
struct ribbon_layer {
    uint64_t segments, boundary;
    uint32_t columns;
    bool last;           /* bumps nobody */
    bool homogeneous;    /* the last layer of a filter: every fingerprint is 0 */
    bool retrieves;      /* of a retrieval, see below: one column */
    uint32_t salt;       /* of a retrieval's last layer: which of the hashes could be solved */
    uint8_t *solution;   /* segment by segment, each of its columns a 64-bit little-endian word */
    uint8_t *thresholds; /* two bits a bucket; NULL in the last layer */
    uint64_t solution_bytes, threshold_bytes;
};

/* No layers: the empty set. */
struct ribbon {
    struct ribbon_layer layers[TAMIS__RIBBON_LAYERS];
    uint32_t count;
    uint64_t keys; /* different ones, that it was built for */
};

/* A filter of the n hashes with the rate 2^-columns, 1 <= columns <= 32, fractions welcome.
 * Repeated hashes count once. The bytes depend on the set of hashes and on columns only: not on
 * their order, not on the machine. The array is scratch: what is in it afterwards is of no use.
 * Beside it, and beside the result, the peak is 16 bytes a hash and 64 KiB. TAMIS_EINVAL: columns
 * out of range, or more hashes than layers can hold; TAMIS_ENOMEM. On failure *out is empty. */
tamis_status tamis__ribbon_build(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                 double columns, struct ribbon *out);

/* The same bytes by several threads (the peak is 64 KiB more for each), or from hashes beyond
 * memory: with a spill, n is 0 and the hashes are those of its runs, which stay as they are. Then
 * the peak beside the array and the result is the array once more, and 32 MiB for each thread, if
 * the hashes are uniform. Also TAMIS_EIO. */
struct ribbon_means {
    const tamis_memory *memory;
    uint32_t threads;          /* 0 is 1 */
    const struct spill *spill; /* or NULL */
    uint64_t room;             /* with a spill: hashes that the array has room for */
};
tamis_status tamis__ribbon_build_with(const struct ribbon_means *by, tamis_hash *hashes, uint64_t n,
                                      double columns, struct ribbon *out, tamis_error *why);
void tamis__ribbon_free(const tamis_memory *memory, struct ribbon *r);

/* The same with one column, and a bit for each key: lo of a hash is even when the key is to be
 * answered "maybe", and odd when it is to be answered "no". Keys may differ in that bit only if
 * they are the same key, which must not be. Asked with tamis__ribbon_enter of the first layer, and
 * with even hashes. A last layer that cannot be solved is tried with other salts; TAMIS_EINVAL when
 * none will do, which takes hashes that are no hashes. */
tamis_status tamis__ribbon_retrieval(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                     struct ribbon *out);

/* Bytes of solutions and thresholds that n different uniform hashes will take, on average; a plan,
 * not a promise. UINT64_MAX when there is no such filter. */
uint64_t tamis__ribbon_bytes(uint64_t n, double columns);

/* The shape of a filter's layer for n keys, without its bytes: homogeneous when it is the last.
 * False: too many. */
bool tamis__ribbon_shape(uint64_t n, double columns, bool is_last, struct ribbon_layer *l);

/* So many keys at most need no layer but the homogeneous one: measured, where both ways take as
 * much. */
#define TAMIS__RIBBON_FEW 700u

/* And what they do take. */
uint64_t tamis__ribbon_payload(const struct ribbon *r);

/* The reason why a shape cannot be (pointers are not looked at), or NULL. A ribbon that passed may
 * be asked whatever its solution_bytes and threshold_bytes bytes hold. */
const char *tamis__ribbon_wrong(const struct ribbon *r);

/* Chance that a uniform hash is answered "maybe". Reads all thresholds and some of the last
 * layer. */
double tamis__ribbon_rate(const struct ribbon *r);

/* Where keys look in the first layer, kept from prefetch to query. */
struct ribbon_aim;

/* Ask the memory for what a query will touch in the first layer; n <= TAMIS__RIBBON_BATCH. */
void tamis__ribbon_prefetch(const struct ribbon *r, const tamis_hash *h, size_t n,
                            struct ribbon_aim *aim);

/* Bit i answers for hash i; n <= TAMIS__RIBBON_BATCH; whole bytes are written, spare bits zero.
 * aim: of these hashes, or NULL: they were not prefetched. `ahead`: n more hashes to be prefetched
 * on the way, with their aim in *next; or NULL. It must be NULL when aim is. */
void tamis__ribbon_query(const struct ribbon *r, const tamis_hash *h, size_t n,
                         const struct ribbon_aim *aim, const tamis_hash *ahead,
                         struct ribbon_aim *next, uint8_t *bits);

/* --- The law of a key in a layer, for the builder and the kernels ----------------------------- */

/* A window has its 64 slots inside the table. */
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

/* One bit for each column; of a retrieval, as "maybe" has it. */
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
    /* Without a branch, which no processor could foresee. */
    const uint64_t all_ones = 0 - (uint64_t)(segment > l->boundary);
    return segment * l->columns + ((segment - l->boundary) & all_ones);
}

/* The slots of a bucket whose keys are bumped, by the bucket's code, a byte each: none, 24, 48 or
 * all. */
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

/* The hash of a bumped key in the next layer: two rounds of a Feistel network, so different ones
 * stay different. */
static inline tamis_hash tamis__ribbon_next(tamis_hash h)
{
    h.lo ^= tamis__remix(h.hi + UINT64_C(0x9e3779b97f4a7c15));
    h.hi ^= tamis__remix(h.lo);
    return h;
}

/* The last layer of a retrieval has a hash for every salt but 0, made from that for 0. */
static inline tamis_hash tamis__ribbon_salted(uint32_t salt, tamis_hash h)
{
    h.lo = (h.lo & ~UINT64_C(1)) ^ (uint64_t)salt << 1;
    return tamis__ribbon_next(h);
}

/* The hash of a key that comes to a layer which is not the first, or to any of a retrieval. */
static inline tamis_hash tamis__ribbon_enter(const struct ribbon_layer *l, tamis_hash h)
{
    h.lo &= ~(uint64_t)l->retrieves;
    h = tamis__ribbon_next(h);
    return l->salt != 0 ? tamis__ribbon_salted(l->salt, h) : h;
}

/* --- Where a query looks ---------------------------------------------------------------------- */

/* By byte offsets in the solution: the segments of the first and of the last slot of each key's
 * window; and a bit for each key: whether the layer bumps it. Whole bytes, spare bits zero. The
 * arrays are as long as the batch, to save stack. */
struct ribbon_aim {
    uint64_t *start, *low, *high;
    uint8_t *bumped;
};

/* Words for n keys, a multiple of 8. */
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
    /* A window that begins with a segment has no slot in the next, which may not exist. */
    aim->high[i] =
        8 * tamis__ribbon_word(l, (start + TAMIS__RIBBON_WIDTH - 1) / TAMIS__RIBBON_WIDTH);
}

/* Ask the memory for window i. Of fewer columns than eight, kernels read eight: a load with a mask
 * costs more than the line that it saves. */
TAMIS__PREFETCHES tamis__ribbon_fetch(const struct ribbon_layer *l, const struct ribbon_aim *aim,
                                      size_t i)
{
    const uint32_t columns = tamis__ribbon_columns(l, l->segments - 1);
    const uint64_t last = aim->high[i] + 8 * (columns < 8 ? 8 : columns) - 1;
    TAMIS__PREFETCH(l->solution + aim->low[i]);
    TAMIS__PREFETCH(l->solution + aim->high[i]);
    if (columns == 8 && l->columns == 8) return; /* segments are lines */
    TAMIS__PREFETCH(l->solution + last);
    if (columns <= 8) return;
    for (uint64_t at = aim->low[i] + 64; at < last; at += 64) TAMIS__PREFETCH(l->solution + at);
}

#endif
