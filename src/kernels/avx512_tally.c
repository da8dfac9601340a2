/* The adds of a tally (frequency/tally.c) with AVX-512. The four counters of a key are in four
 * lanes, from computing their places to storing them. Where tally.c uses a table, this code
 * computes, because variable shifts are cheap. The lanes are the first octet in each line, then the
 * second in each. */
#include "avx512.h"

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)

#define OCTETS 7
#define AHEAD 12u /* as in tally.c */

struct places {
    __m128i first, second; /* octets in line a and in line b */
    __m256i byte;          /* byte within its octet */
};

AVX512 static inline struct places places_of(tamis_hash h)
{
    struct places p;
    const __m128i low = _mm_set1_epi64x(0xffffffff), octets = _mm_set1_epi64x(OCTETS);
    const __m128i bits = _mm_set_epi64x((int64_t)(uint32_t)h.lo, (int64_t)(uint32_t)h.hi);
    __m128i r = _mm_mul_epu32(bits, octets);
    p.first = _mm_srli_epi64(r, 32);
    r = _mm_mul_epu32(_mm_and_si128(r, low), _mm_set1_epi64x(OCTETS - 1));
    const __m128i next = _mm_add_epi64(p.first, _mm_set1_epi64x(1));
    const __m128i second = _mm_add_epi64(next, _mm_srli_epi64(r, 32));
    /* A negative difference is a large unsigned number, so the minimum wraps around. */
    p.second = _mm_min_epu64(second, _mm_sub_epi64(second, octets));
    r = _mm_slli_epi64(_mm_and_si128(r, low), 6);
    const __m128i three = _mm_set1_epi64x(7), byte = _mm_and_si128(_mm_srli_epi64(r, 32), three);
    p.byte = _mm256_set_m128i(_mm_srli_epi64(r, 35), byte);
    return p;
}

AVX512 static inline __m128i two(const uint8_t *a, const uint8_t *b)
{
    return _mm_set_epi64x((int64_t)tamis__get64(b), (int64_t)tamis__get64(a));
}

AVX512 static inline void put_two(uint8_t *a, uint8_t *b, __m128i v)
{
    tamis__put64(a, (uint64_t)_mm_cvtsi128_si64(v));
    tamis__put64(b, (uint64_t)_mm_extract_epi64(v, 1));
}

AVX512 static inline uint8_t *octet(uint8_t *line, int64_t number)
{
    return line + 8 * number;
}

/* Returns bit `at` of each lane. */
AVX512 static inline __m256i bit(__m256i lanes, __m256i at)
{
    return _mm256_and_si256(_mm256_srlv_epi64(lanes, at), _mm256_set1_epi64x(1));
}

/* Returns 0, 1, 2, 3 for counters of 1, 2, 4, 8 bytes. */
AVX512 static inline __m256i levels(__m256i joins, __m256i byte)
{
    const __m256i pair = _mm256_and_si256(byte, _mm256_set1_epi64x(6));
    const __m256i quad = _mm256_and_si256(byte, _mm256_set1_epi64x(4));
    const __m256i small = _mm256_add_epi64(
        bit(joins, pair), bit(joins, _mm256_or_si256(quad, _mm256_set1_epi64x(1))));
    return _mm256_add_epi64(small, bit(joins, _mm256_set1_epi64x(3)));
}

/* Adds 1 for a key of lines a and b, and sets *count to its count. Returns false, without a change,
 * if a counter has to join another. */
AVX512 static inline bool avx512_tally_add_one(uint8_t *a, uint8_t *b, tamis_hash h, int64_t *count)
{
    const __m256i most = _mm256_set1_epi64x(INT64_MAX), one = _mm256_set1_epi64x(1);
    const struct places p = places_of(h);
    uint8_t *const a1 = octet(a, _mm_cvtsi128_si64(p.first));
    uint8_t *const b1 = octet(b, _mm_extract_epi64(p.first, 1));
    uint8_t *const a2 = octet(a, _mm_cvtsi128_si64(p.second));
    uint8_t *const b2 = octet(b, _mm_extract_epi64(p.second, 1));
    const __m256i octets = _mm256_set_m128i(two(a2, b2), two(a1, b1));
    const __m256i tails = _mm256_broadcastsi128_si256(two(a + 8 * OCTETS, b + 8 * OCTETS));
    const __m256i numbers = _mm256_set_m128i(p.second, p.first);
    const __m256i joins = _mm256_srlv_epi64(tails, _mm256_slli_epi64(numbers, 3));
    const __m256i level = levels(joins, p.byte);
    const __m256i begin = _mm256_sllv_epi64(_mm256_srlv_epi64(p.byte, level), level);
    const __m256i shift = _mm256_slli_epi64(begin, 3);
    const __m256i bits = _mm256_sllv_epi64(_mm256_set1_epi64x(8), level);
    const __m256i spare = _mm256_sub_epi64(_mm256_set1_epi64x(64), bits);
    const __m256i room = _mm256_srlv_epi64(_mm256_set1_epi64x(-1), spare);
    const __m256i v = _mm256_and_si256(_mm256_srlv_epi64(octets, shift), room);
    __m256i least = _mm256_min_epu64(v, _mm256_permute4x64_epi64(v, 0x4e));
    least = _mm256_min_epu64(least, _mm256_shuffle_epi32(least, 0x4e));
    least = _mm256_min_epu64(least, most);
    const __m256i t = _mm256_min_epu64(_mm256_add_epi64(least, one), most);
    if (_mm256_cmpgt_epu64_mask(t, room) != 0) return false;
    const __m256i change = _mm256_xor_si256(v, _mm256_max_epu64(v, t));
    const __m256i after = _mm256_xor_si256(octets, _mm256_sllv_epi64(change, shift));
    put_two(a1, b1, _mm256_castsi256_si128(after));
    put_two(a2, b2, _mm256_extracti128_si256(after, 1));
    *count = _mm_cvtsi128_si64(_mm256_castsi256_si128(t));
    return true;
}

AVX512 static inline __attribute__((always_inline)) size_t
avx512_tally_add_all(uint8_t *cells, uint64_t lines, const tamis_hash *h, size_t n, int64_t *counts)
{
    for (size_t i = 0; i < n; i++) {
        const tamis_hash then = h[i + AHEAD < n ? i + AHEAD : i];
        uint64_t a = tamis__tally_first(then, lines);
        TAMIS__FETCH(cells + TAMIS__LINE_BYTES * a);
        TAMIS__FETCH(cells + TAMIS__LINE_BYTES * tamis__tally_second(then, lines, a));
        a = tamis__tally_first(h[i], lines);
        uint8_t *other = cells + TAMIS__LINE_BYTES * tamis__tally_second(h[i], lines, a);
        int64_t count;
        if (!avx512_tally_add_one(cells + TAMIS__LINE_BYTES * a, other, h[i], &count)) return i;
        if (counts != NULL) counts[i] = count;
    }
    return n;
}

AVX512 size_t tamis__tally_add_avx512(uint8_t *cells, uint64_t lines, const tamis_hash *h, size_t n,
                                      int64_t *counts)
{
    return counts != NULL ? avx512_tally_add_all(cells, lines, h, n, counts)
                          : avx512_tally_add_all(cells, lines, h, n, NULL);
}

#endif
