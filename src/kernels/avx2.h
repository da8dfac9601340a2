/* Helpers that the AVX2 kernels share. */
#ifndef TAMIS_KERNELS_AVX2_H
#define TAMIS_KERNELS_AVX2_H

#include "../sealed/ribbon/ribbon.h"
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

struct line {
    __m256i low, high;
};

AVX2 static inline struct line avx2_line_mask(uint64_t key)
{
    const __m256i lo = _mm256_set1_epi64x((long long)key), one = _mm256_set1_epi64x(1);
    const __m256i six_bits = _mm256_set1_epi64x(63);
    const __m256i first = _mm256_srlv_epi64(lo, _mm256_set_epi64x(18, 12, 6, 0));
    const __m256i second = _mm256_srlv_epi64(lo, _mm256_set_epi64x(42, 36, 30, 24));
    const struct line mask = {_mm256_sllv_epi64(one, _mm256_and_si256(first, six_bits)),
                              _mm256_sllv_epi64(one, _mm256_and_si256(second, six_bits))};
    return mask;
}

AVX2 static inline struct line avx2_load_line(const uint8_t *at)
{
    const struct line l = {_mm256_loadu_si256((const __m256i *)at),
                           _mm256_loadu_si256((const __m256i *)(at + 32))};
    return l;
}

/* Reports whether the line has every bit of the mask. */
AVX2 static inline unsigned covers(struct line l, struct line mask)
{
    const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(l.low, mask.low),
                                            _mm256_andnot_si256(l.high, mask.high));
    return (unsigned)_mm256_testz_si256(missing, missing);
}

AVX2 static inline unsigned avx2_query_one(const uint8_t *table, uint64_t lines, tamis_hash h)
{
    return covers(avx2_load_line(table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES),
                  avx2_line_mask(h.lo));
}

AVX2 static inline unsigned avx2_add_to_line(uint8_t *at, uint64_t lo)
{
    const struct line old = avx2_load_line(at), mask = avx2_line_mask(lo);
    _mm256_store_si256((__m256i *)at, _mm256_or_si256(old.low, mask.low));
    _mm256_store_si256((__m256i *)(at + 32), _mm256_or_si256(old.high, mask.high));
    return covers(old, mask);
}

/* --- Lines under locks (locked.h) ------------------------------------------------------------- */

AVX2 static inline struct line avx2_shared_load(const uint8_t *at)
{
    struct line l;
    __asm__ volatile("vmovdqa %1, %0" : "=x"(l.low) : "m"(*(const __m256i *)at));
    __asm__ volatile("vmovdqa %1, %0" : "=x"(l.high) : "m"(*(const __m256i *)(at + 32)));
    return l;
}

AVX2 static inline void avx2_shared_or(uint8_t *at, struct line l, struct line mask)
{
    const __m256i low = _mm256_or_si256(l.low, mask.low), high = _mm256_or_si256(l.high, mask.high);
    __asm__ volatile("vmovdqa %1, %0" : "=m"(*(__m256i *)at) : "x"(low));
    __asm__ volatile("vmovdqa %1, %0" : "=m"(*(__m256i *)(at + 32)) : "x"(high));
}

/* Adds under the lock, which this thread has, and unlocks. */
AVX2 static inline unsigned avx2_add_holding(struct line_lock *lock, uint8_t *at, struct line mask)
{
    const struct line old = avx2_shared_load(at);
    const unsigned known = covers(old, mask);
    avx2_shared_or(at, old, mask);
    tamis__unlock_line(lock, !known);
    return known;
}

/* Waits for the lock first. It is not inlined, so that an add that need not wait has no stack
 * frame. */
unsigned tamis__add_waiting_avx2(struct line_lock *lock, uint8_t *at, uint64_t lo)
    __attribute__((cold));

AVX2 static inline unsigned avx2_add_sharing(struct line_locks *locks, uint8_t *table,
                                             uint64_t lines, tamis_hash h)
{
    const uint64_t number = tamis__line_of(h, lines);
    uint8_t *at = table + number * TAMIS__LINE_BYTES;
    const struct line mask = avx2_line_mask(h.lo);
    struct line_lock *lock = tamis__line_lock(locks, number);
    if (covers(avx2_shared_load(at), mask)) return 1;
    return tamis__try(&lock->held) ? avx2_add_holding(lock, at, mask)
                                   : tamis__add_waiting_avx2(lock, at, h.lo);
}

/* --- Ribbons ---------------------------------------------------------------------------------- */

AVX2 static inline __m256i load_four(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Returns four columns of a window. A shift by 64 gives zero. */
AVX2 static inline __m256i window_words(const uint8_t *low, const uint8_t *high, __m256i shift)
{
    const __m256i back = _mm256_sub_epi64(_mm256_set1_epi64x(TAMIS__RIBBON_WIDTH), shift);
    return _mm256_or_si256(_mm256_srlv_epi64(load_four(low), shift),
                           _mm256_sllv_epi64(load_four(high), back));
}

/* Returns eight columns of a key's window under its row, each folded to 32 bits. */
AVX2 static inline __m256i key_lanes(const uint8_t *low, const uint8_t *high, uint64_t start,
                                     tamis_hash h)
{
    const __m256i row = _mm256_or_si256(_mm256_set1_epi64x((long long)h.lo), _mm256_set1_epi64x(1));
    const __m256i shift = _mm256_and_si256(_mm256_set1_epi64x((long long)start),
                                           _mm256_set1_epi64x(TAMIS__RIBBON_WIDTH - 1));
    const __m256i a = _mm256_and_si256(window_words(low, high, shift), row);
    const __m256i b = _mm256_and_si256(window_words(low + 32, high + 32, shift), row);
    return _mm256_blend_epi32(_mm256_xor_si256(a, _mm256_srli_epi64(a, 32)),
                              _mm256_xor_si256(b, _mm256_slli_epi64(b, 32)), 0xaa);
}

#endif
#endif
