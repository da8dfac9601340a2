/* Kernels for AVX2: a line of the blocked filter is two registers. There is no 64-bit product and no useful
 * gather, so the probes of classic filters stay scalar. */
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

struct line {
    __m256i low, high;
};

AVX2 static inline struct line line_mask(uint64_t key)
{
    const __m256i lo = _mm256_set1_epi64x((long long)key), one = _mm256_set1_epi64x(1);
    const __m256i six_bits = _mm256_set1_epi64x(63);
    const __m256i first = _mm256_srlv_epi64(lo, _mm256_set_epi64x(18, 12, 6, 0));
    const __m256i second = _mm256_srlv_epi64(lo, _mm256_set_epi64x(42, 36, 30, 24));
    const struct line mask = {_mm256_sllv_epi64(one, _mm256_and_si256(first, six_bits)),
                              _mm256_sllv_epi64(one, _mm256_and_si256(second, six_bits))};
    return mask;
}

AVX2 static inline struct line load(const uint8_t *at)
{
    const struct line l = {_mm256_load_si256((const __m256i *)at),
                           _mm256_load_si256((const __m256i *)(at + 32))};
    return l;
}

/* Whether the line has every bit of the mask. */
AVX2 static inline unsigned covers(struct line l, struct line mask)
{
    const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(l.low, mask.low),
                                            _mm256_andnot_si256(l.high, mask.high));
    return (unsigned)_mm256_testz_si256(missing, missing);
}

AVX2 static inline unsigned query_one(const uint8_t *table, uint64_t lines, tamis_hash h)
{
    return covers(load(table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES), line_mask(h.lo));
}

AVX2 static inline unsigned add_to_line(uint8_t *at, uint64_t lo)
{
    const struct line old = load(at), mask = line_mask(lo);
    _mm256_store_si256((__m256i *)at, _mm256_or_si256(old.low, mask.low));
    _mm256_store_si256((__m256i *)(at + 32), _mm256_or_si256(old.high, mask.high));
    return covers(old, mask);
}

AVX2 static void line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                            const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++)
            answers |= query_one(table, lines, h[i + j]) << j;
        bits[i / 8] = (uint8_t)answers;
    }
}

AVX2 static void line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                          const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++)
            answers |= add_to_line(table + tamis__line_of(h[i + j], lines) * TAMIS__LINE_BYTES,
                                   h[i + j].lo)
                       << j;
        seen[i / 8] = (uint8_t)answers;
    }
}

AVX2 static void packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            if (n - i > TAMIS__PACKED_AHEAD + j)
                TAMIS__PREFETCH(tamis__packed_line(table, words[i + j + TAMIS__PACKED_AHEAD]));
            answers |= add_to_line(tamis__packed_line(table, words[i + j]), words[i + j]) << j;
        }
        seen[i / 8] = (uint8_t)answers;
    }
}

#define LANES 4
#define TARGET AVX2
#include "siphash_lanes.h"

const struct kernels tamis__avx2 = {
    .name = "avx2",
    .probe_prefetch = tamis__probe_prefetch,
    .probe_add = tamis__probe_add,
    .probe_query = tamis__probe_query,
    .line_add = line_add,
    .line_query = line_query,
    .packed_add = packed_add,
    .compact_add = tamis__compact_add,
    .compact_query = tamis__compact_query,
    .siphash = siphash_lanes,
};

#endif
