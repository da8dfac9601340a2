/* The counters of one key in a tally (frequency/tally.c) with AVX2: in four lanes, from computing
 * their places to storing them. Where tally.c uses a table, this code computes, because variable
 * shifts are cheap. The lanes are the first octet in each line, then the second in each. Counters
 * above INT64_MAX, which only a hostile image has, count as INT64_MAX, so that signed comparisons
 * hold. */
#ifndef TAMIS_AVX2_TALLY_H
#define TAMIS_AVX2_TALLY_H

#include "avx2.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define TAMIS__SINGLES_BY_AVX2

/* Whether the functions for single keys may use AVX2. */
static inline bool tamis__singles_by_avx2(const struct kernels *k)
{
    return k->line_single == &tamis__line_single_avx2;
}

struct avx2_tally {
    uint8_t *octet[4];
    __m256i octets, values, shift, room;
};

/* Returns INT64_MAX in the lanes that are negative. */
AVX2 TAMIS__SPECIALIZED __m256i avx2_limited(__m256i v)
{
    const __m256d most = _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX));
    const __m256d d = _mm256_castsi256_pd(v);
    return _mm256_castpd_si256(_mm256_blendv_pd(d, most, d));
}

AVX2 TAMIS__SPECIALIZED __m256i avx2_lesser(__m256i a, __m256i b)
{
    const __m256d greater = _mm256_castsi256_pd(_mm256_cmpgt_epi64(a, b));
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), greater));
}

AVX2 TAMIS__SPECIALIZED __m256i avx2_four(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

AVX2 TAMIS__SPECIALIZED __m128i avx2_two(const uint8_t *a, const uint8_t *b)
{
    return _mm_set_epi64x((int64_t)tamis__get64(b), (int64_t)tamis__get64(a));
}

/* Returns 0, 1, 2, 3 for counters of 1, 2, 4, 8 bytes: how many of the three bits of j that cover
 * a byte are set. */
AVX2 TAMIS__SPECIALIZED __m256i avx2_levels(__m256i j, __m256i byte)
{
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i pair = _mm256_and_si256(byte, _mm256_set1_epi64x(6));
    const __m256i quad = _mm256_or_si256(_mm256_and_si256(byte, _mm256_set1_epi64x(4)), one);
    const __m256i small = _mm256_add_epi64(_mm256_and_si256(_mm256_srlv_epi64(j, pair), one),
                                           _mm256_and_si256(_mm256_srlv_epi64(j, quad), one));
    return _mm256_add_epi64(small, _mm256_and_si256(_mm256_srli_epi64(j, 3), one));
}

/* Sets the place, value and room of each counter. */
AVX2 TAMIS__SPECIALIZED void avx2_tally_look(uint8_t *cells, uint64_t lines, tamis_hash h,
                                             struct avx2_tally *v)
{
    const uint64_t line = tamis__tally_first(h, lines);
    uint8_t *const a = cells + TAMIS__LINE_BYTES * line;
    uint8_t *const b = cells + TAMIS__LINE_BYTES * tamis__tally_second(h, lines, line);
    const __m128i seven = _mm_set1_epi64x(7);
    /* Only the lower halves of the lanes are multiplied. */
    __m128i r = _mm_mul_epu32(_mm_set_epi64x((int64_t)h.lo, (int64_t)h.hi), seven);
    const __m128i first = _mm_srli_epi64(r, 32);
    r = _mm_mul_epu32(r, _mm_set1_epi64x(6));
    __m128i second =
        _mm_add_epi64(_mm_sub_epi64(first, _mm_set1_epi64x(-1)), _mm_srli_epi64(r, 32));
    /* A negative difference is a large unsigned number, so the minimum wraps around. */
    second = _mm_min_epu32(second, _mm_sub_epi32(second, seven));
    /* Six bits are left for the two bytes. */
    const __m128i low_byte = _mm_and_si128(_mm_srli_epi64(r, 26), seven);
    const __m128i high_byte = _mm_and_si128(_mm_srli_epi64(r, 29), seven);
    v->octet[0] = a + 8 * _mm_cvtsi128_si64(first);
    v->octet[1] = b + 8 * _mm_extract_epi64(first, 1);
    v->octet[2] = a + 8 * _mm_cvtsi128_si64(second);
    v->octet[3] = b + 8 * _mm_extract_epi64(second, 1);
    v->octets = avx2_four(avx2_two(v->octet[0], v->octet[1]), avx2_two(v->octet[2], v->octet[3]));
    const __m256i joins = _mm256_broadcastsi128_si256(avx2_two(a + 56, b + 56));
    const __m256i byte = avx2_four(low_byte, high_byte);
    const __m256i level =
        avx2_levels(_mm256_srlv_epi64(joins, _mm256_slli_epi64(avx2_four(first, second), 3)), byte);
    v->shift = _mm256_slli_epi64(_mm256_sllv_epi64(_mm256_srlv_epi64(byte, level), level), 3);
    const __m256i bits = _mm256_sllv_epi64(_mm256_set1_epi64x(8), level);
    v->room =
        _mm256_srlv_epi64(_mm256_set1_epi64x(-1), _mm256_sub_epi64(_mm256_set1_epi64x(64), bits));
    v->values = avx2_limited(_mm256_and_si256(_mm256_srlv_epi64(v->octets, v->shift), v->room));
}

/* The least of the four, in all lanes. */
AVX2 TAMIS__SPECIALIZED __m256i avx2_least(__m256i v)
{
    const __m256i two = avx2_lesser(v, _mm256_permute4x64_epi64(v, 0x4e));
    return avx2_lesser(two, _mm256_shuffle_epi32(two, 0x4e));
}

AVX2 TAMIS__SPECIALIZED uint64_t avx2_first(__m256i v)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(v));
}

/* Raises the counters that are less than t, which all lanes have. Returns false, without a change,
 * if one of them has to join another. */
AVX2 TAMIS__SPECIALIZED bool avx2_tally_raise(const struct avx2_tally *v, __m256i t)
{
    const __m256i over = _mm256_cmpgt_epi64(t, avx2_limited(v->room));
    if (!_mm256_testz_si256(over, over)) return false;
    const __m256i change =
        _mm256_and_si256(_mm256_xor_si256(v->values, t), _mm256_cmpgt_epi64(t, v->values));
    const __m256i after = _mm256_xor_si256(v->octets, _mm256_sllv_epi64(change, v->shift));
    const __m128i low = _mm256_castsi256_si128(after), high = _mm256_extracti128_si256(after, 1);
    tamis__put64(v->octet[0], (uint64_t)_mm_cvtsi128_si64(low));
    _mm_storeh_pd((double *)(void *)v->octet[1], _mm_castsi128_pd(low));
    tamis__put64(v->octet[2], (uint64_t)_mm_cvtsi128_si64(high));
    _mm_storeh_pd((double *)(void *)v->octet[3], _mm_castsi128_pd(high));
    return true;
}

#endif
#endif
