/* Helpers that the AVX-512 kernels share. */
#ifndef TAMIS_KERNELS_AVX512_H
#define TAMIS_KERNELS_AVX512_H

#include "kernels.h"

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

/* Returns the high halves of the 128-bit products x·m, from four products of 32-bit halves. */
AVX512 static inline __m512i mulhi(__m512i x, __m512i m)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const __m512i xh = _mm512_srli_epi64(x, 32), mh = _mm512_srli_epi64(m, 32);
    const __m512i ll = _mm512_mul_epu32(x, m), lh = _mm512_mul_epu32(x, mh);
    const __m512i hl = _mm512_mul_epu32(xh, m), hh = _mm512_mul_epu32(xh, mh);
    /* Neither sum overflows: (2^32-1)^2 + 2^32-1 < 2^64. */
    const __m512i t = _mm512_add_epi64(hl, _mm512_srli_epi64(ll, 32));
    const __m512i w = _mm512_add_epi64(lh, _mm512_and_si512(t, low));
    return _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(t, 32)),
                            _mm512_srli_epi64(w, 32));
}

/* Does the same for m below 2^32. */
AVX512 static inline __m512i mulhi_short(__m512i x, __m512i m)
{
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), m);
    return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(_mm512_mul_epu32(x, m), 32)),
                             32);
}

/* Takes a byte of missing words for each of eight keys. Returns the keys that miss none. */
AVX512 static inline uint8_t complete(uint64_t missing)
{
    const __m128i zero = _mm_setzero_si128();
    return (uint8_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_set_epi64x(-1, (long long)missing), zero));
}

/* Returns the low halves of eight hashes. */
AVX512 static inline __m512i low_halves(const tamis_hash *h)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_epi64(_mm512_loadu_si512(h), even, _mm512_loadu_si512(h + 4));
}

AVX512 static inline __m512i high_halves(const tamis_hash *h)
{
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_permutex2var_epi64(_mm512_loadu_si512(h), odd, _mm512_loadu_si512(h + 4));
}

/* Load eight words at these addresses, or with these indices. Without optimization gcc's intrinsic
 * is a macro that converts a mask of 8 bits to a char. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
AVX512 static inline __m512i gather_at(__m512i addresses)
{
    return _mm512_i64gather_epi64(addresses, NULL, 1);
}

AVX512 static inline __m512i gather(const void *words, __m512i i)
{
    return _mm512_i64gather_epi64(i, words, 8);
}
#pragma GCC diagnostic pop

/* Defined in avx512_hash.c. */
tamis__word_hasher tamis__xxh3_words_avx512;
tamis__row_hasher tamis__xxh3_rows_avx512;
tamis__lane_hasher tamis__xxh3_short_avx512, tamis__xxh3_long_avx512;

/* Defined in avx512_static.c. The ribbon kernels also require VBMI2 and VPOPCNTDQ. */
tamis__ribbon_aimer tamis__ribbon_aim_avx512;
tamis__ribbon_asker tamis__ribbon_ask_avx512;
tamis__ribbon_solver tamis__ribbon_solve_avx512;
tamis__ribbon_adder tamis__ribbon_sums_avx512;
tamis__fuse_aimer tamis__fuse_aim_avx512;
tamis__fuse_asker tamis__fuse_ask_avx512;

#endif
#endif
