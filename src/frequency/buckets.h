/* The entries of a top, in buckets of four. The entry of a key is in one of the key's two buckets.
 *
 *     0        32       64       96       112          120      128
 *     | print  | count  | error  | text   | last print | since  |
 *
 *     print       4 x u64: 64 bits of the hash; 0: no entry
 *     count       4 x u64: never less than the true count; bit 63: the entry has no text
 *     error       4 x u64: the true count is at least count - error; bit 63: most likely just that
 *     text        4 x u32: where the text is, in units of 8 bytes; 0: there is none
 *     last print  u64: the last key that was added with this as its first bucket and got no entry
 *     since       u64: the weight of that key since it became the last
 *
 * An add of a key that has an entry touches only the first of a bucket's two cache lines. */
#ifndef TAMIS_BUCKETS_H
#define TAMIS_BUCKETS_H

#include "../core/kind.h"
#include "../kernels/avx2_tally.h"

#define BUCKET 128u
#define BUCKET_WAYS 4u
#define BUCKET_LAST 112u /* where the last key begins */
#define MOST_BUCKETS (UINT64_C(1) << 30)
#define TEXTLESS (UINT64_C(1) << 63)
#define FRESH (UINT64_C(1) << 63)

struct buckets {
    uint8_t *bytes;
    uint64_t n; /* the number of buckets, at least 2 */
};

/* An entry outside its bucket: count without TEXTLESS, error with FRESH. */
struct entry {
    uint64_t print, count, error;
    uint32_t text;
};

/* The hash of a key as the entries and the tally of a top use it: the print, and 64 bits that are
 * derived from it. */
static inline tamis_hash tamis__bucket_key(tamis_hash h)
{
    const uint64_t print = h.lo != 0 ? h.lo : 1;
    return (tamis_hash){print, tamis__remix(print)};
}

/* The two buckets of a key, which always differ. */
struct bucket_pair {
    uint64_t first, second;
};

static inline struct bucket_pair tamis__bucket_pair(tamis_hash key, uint64_t n)
{
    const uint64_t z = key.hi * UINT64_C(0x9e3779b97f4a7c15);
    struct bucket_pair p = {tamis__mulhi(z, n), 0};
    p.second = p.first + 1 + tamis__mulhi(z << 32 | z >> 32, n - 1);
    p.second -= p.second >= n ? n : 0;
    return p;
}

/* The number of a slot is 4 times that of its bucket, plus its place in the bucket. */
static inline uint8_t *slot_print(const struct buckets *b, uint64_t slot)
{
    return b->bytes + slot / BUCKET_WAYS * BUCKET + slot % BUCKET_WAYS * 8;
}

static inline uint64_t slot_count(const struct buckets *b, uint64_t slot)
{
    return tamis__get64(slot_print(b, slot) + 32) & ~TEXTLESS;
}

static inline uint64_t slot_error(const struct buckets *b, uint64_t slot)
{
    return tamis__get64(slot_print(b, slot) + 64);
}

static inline uint8_t *slot_text(const struct buckets *b, uint64_t slot)
{
    return b->bytes + slot / BUCKET_WAYS * BUCKET + 96 + slot % BUCKET_WAYS * 4;
}

static inline struct entry slot_get(const struct buckets *b, uint64_t slot)
{
    return (struct entry){tamis__get64(slot_print(b, slot)), slot_count(b, slot),
                          slot_error(b, slot), tamis__get32(slot_text(b, slot))};
}

static inline void slot_put(const struct buckets *b, uint64_t slot, struct entry e)
{
    const uint64_t flag = e.print != 0 && e.text == 0 ? TEXTLESS : 0;
    tamis__put64(slot_print(b, slot), e.print);
    tamis__put64(slot_print(b, slot) + 32, e.count | flag);
    tamis__put64(slot_print(b, slot) + 64, e.error);
    tamis__put32(slot_text(b, slot), e.text);
}

#define NO_SLOT UINT64_MAX

static inline uint64_t tamis__bucket_find_in(const struct buckets *b, uint64_t bucket,
                                             uint64_t print)
{
    const uint8_t *p = b->bytes + bucket * BUCKET;
    unsigned hit = 0;
    for (unsigned i = 0; i < BUCKET_WAYS; i++)
        hit |= (unsigned)(tamis__get64(p + 8 * i) == print) << i;
    return hit != 0 ? bucket * BUCKET_WAYS + (unsigned)__builtin_ctz(hit) : NO_SLOT;
}

/* Returns the slot of a key's entry, or NO_SLOT. */
static inline uint64_t tamis__bucket_find(const struct buckets *b, struct bucket_pair p,
                                          uint64_t print)
{
    const uint8_t *one = b->bytes + p.first * BUCKET, *other = b->bytes + p.second * BUCKET;
    unsigned hit = 0;
    /* No branch between the buckets: which of them has the entry is as good as random. */
    for (unsigned i = 0; i < BUCKET_WAYS; i++) {
        hit |= (unsigned)(tamis__get64(one + 8 * i) == print) << i;
        hit |= (unsigned)(tamis__get64(other + 8 * i) == print) << (BUCKET_WAYS + i);
    }
    if (hit == 0) return NO_SLOT;
    const unsigned way = (unsigned)__builtin_ctz(hit);
    return (way < BUCKET_WAYS ? p.first : p.second) * BUCKET_WAYS + way % BUCKET_WAYS;
}

/* Returns the least count in a bucket. A free slot counts as 0. */
static inline uint64_t tamis__bucket_least_count(const struct buckets *b, uint64_t bucket)
{
    const uint8_t *counts = b->bytes + bucket * BUCKET + 32;
    uint64_t least = TAMIS__MOST_WEIGHT;
    for (unsigned i = 0; i < BUCKET_WAYS; i++) {
        const uint64_t count = tamis__get64(counts + 8 * i) & ~TEXTLESS;
        least = count < least ? count : least;
    }
    return least;
}

/* Returns the first slot of a bucket that has the least count. A free slot counts as 0. */
static inline uint64_t tamis__bucket_least(const struct buckets *b, uint64_t bucket)
{
    uint64_t least = bucket * BUCKET_WAYS;
    for (uint64_t s = least + 1; s < (bucket + 1) * BUCKET_WAYS; s++)
        if (slot_count(b, s) < slot_count(b, least)) least = s;
    return least;
}

/* The same for both buckets of a key. If the counts are equal, it is in the first. */
static inline uint64_t tamis__bucket_least_of(const struct buckets *b, struct bucket_pair p)
{
    const uint64_t one = tamis__bucket_least(b, p.first), other = tamis__bucket_least(b, p.second);
    return slot_count(b, other) < slot_count(b, one) ? other : one;
}

#ifdef TAMIS__SINGLES_BY_AVX2

AVX2 TAMIS__SPECIALIZED __m256i avx2_bucket_load(const struct buckets *b, uint64_t bucket,
                                                 unsigned at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)(b->bytes + bucket * BUCKET + at));
}

/* tamis__bucket_find. For one key, GCC would branch on the bucket if it were a condition. */
AVX2 TAMIS__SPECIALIZED uint64_t avx2_bucket_find(const struct buckets *b, struct bucket_pair p,
                                                  uint64_t print)
{
    const __m256i all = _mm256_set1_epi64x((int64_t)print);
    const __m256i one = _mm256_cmpeq_epi64(all, avx2_bucket_load(b, p.first, 0));
    const __m256i other = _mm256_cmpeq_epi64(all, avx2_bucket_load(b, p.second, 0));
    const unsigned first = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(one));
    const unsigned second = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(other));
    const unsigned hit = first | second << BUCKET_WAYS;
    if (hit == 0) return NO_SLOT;
    const unsigned way = (unsigned)__builtin_ctz(hit);
    const uint64_t in_second = 0 - (uint64_t)(way / BUCKET_WAYS);
    return (p.first ^ ((p.first ^ p.second) & in_second)) * BUCKET_WAYS + way % BUCKET_WAYS;
}

/* Returns the least count in both buckets of a key. */
AVX2 TAMIS__SPECIALIZED uint64_t avx2_bucket_least(const struct buckets *b, struct bucket_pair p)
{
    const __m256i counts = _mm256_set1_epi64x((int64_t)~TEXTLESS);
    return avx2_first(
        avx2_least(avx2_lesser(_mm256_and_si256(counts, avx2_bucket_load(b, p.first, 32)),
                               _mm256_and_si256(counts, avx2_bucket_load(b, p.second, 32)))));
}
#endif

/* Returns the reason why the bytes cannot be entries, or NULL. */
const char *tamis__wrong_buckets(const struct buckets *b);

#endif
