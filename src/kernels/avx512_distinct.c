/* Which keys leave the registers of a distinct sketch as they are (distinct/registers.h), with
 * AVX-512: eight keys at once. */
#include "../distinct/registers.h"
#include "avx512.h"

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)

#define AVX512CD __attribute__((target("avx512f,avx512dq,avx512vl,avx512cd")))

/* Load eight registers. Without optimization gcc's intrinsic is a macro that converts a mask of 8
 * bits to a char. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
AVX512CD static inline __m256i gather_registers(const uint8_t *cells, __m512i i)
{
    return _mm512_i64gather_epi32(i, cells, 4);
}
#pragma GCC diagnostic pop

/* tamis__value_of of eight keys. */
AVX512CD static inline __m256i values_of(__m512i lo)
{
    const __m512i zeros = _mm512_lzcnt_epi64(_mm512_or_si512(lo, _mm512_set1_epi64(2)));
    const __m512i rest = _mm512_and_si512(lo, _mm512_set1_epi64(3));
    const __m512i value = _mm512_add_epi64(_mm512_slli_epi64(zeros, 2), rest);
    return _mm256_add_epi32(_mm512_cvtepi64_epi32(value), _mm256_set1_epi32(1));
}

/* tamis__register_knows of eight keys. A shift by more than 31 bits, or by a negative number of
 * them, gives 0 here. */
AVX512CD static inline uint8_t known_eight(__m256i r, __m256i value)
{
    const __m256i top = _mm256_set1_epi32(1 << TAMIS__REGISTER_WINDOW);
    const __m256i lower = _mm256_set1_epi32((1 << TAMIS__REGISTER_WINDOW) - 1);
    const __m256i had = _mm256_or_si256(_mm256_and_si256(r, lower), top);
    const __m256i greatest = _mm256_srli_epi32(r, TAMIS__REGISTER_WINDOW);
    const __m256i above = _mm256_add_epi32(value, _mm256_set1_epi32(TAMIS__REGISTER_WINDOW));
    const __m256i at = _mm256_sub_epi32(above, greatest);
    const __mmask8 has = _mm256_test_epi32_mask(_mm256_srlv_epi32(had, at), _mm256_set1_epi32(1));
    return (uint8_t)(has | _mm256_movepi32_mask(at));
}

AVX512CD void tamis__registers_know_avx512(const uint8_t *cells, unsigned log, const tamis_hash *h,
                                           size_t n, uint8_t *known)
{
    const __m128i shift = _mm_cvtsi32_si128((int)(64 - log));
    for (size_t i = 0; i < n; i += 8) {
        const __m512i index = _mm512_srl_epi64(high_halves(h + i), shift);
        known[i / 8] = known_eight(gather_registers(cells, index), values_of(low_halves(h + i)));
    }
}

#endif
