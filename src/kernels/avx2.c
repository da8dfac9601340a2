/* Kernels for AVX2: a line of the blocked filter is two registers. There is no 64-bit product and no useful
 * gather, so the probes of classic filters stay scalar. */
#include "../ribbon.h"
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

/* --- Ribbons ------------------------------------------------------------------------------------------------- */

/* What a layer's keys have in common. All are asked as many columns as the last segment has: where there are fewer,
 * another segment follows, so that the memory does not end; what comes from there is not counted. */
struct ribbon_shape {
    const uint8_t *solution;
    uint64_t boundary; /* slot */
    uint32_t columns, sides;
    uint8_t
        counted[2]
               [4]; /* lanes, for keys before the boundary and from it on, of eight columns each */
};

/* Lanes of those columns from c on that there are: first and second four in turns. */
static inline uint8_t lanes_of(uint32_t columns, uint32_t c)
{
    static const uint8_t lanes[9] = {0, 0x01, 0x05, 0x15, 0x55, 0x57, 0x5f, 0x7f, 0xff};
    return lanes[columns <= c ? 0 : columns - c < 8 ? columns - c : 8];
}

static struct ribbon_shape shape_of(const struct ribbon_layer *l)
{
    struct ribbon_shape s = {.solution = l->solution,
                             .boundary = l->boundary * TAMIS__RIBBON_WIDTH,
                             .columns = tamis__ribbon_columns(l, l->segments - 1),
                             .sides = l->homogeneous ? 0 : UINT32_MAX};
    for (uint32_t i = 0; 8 * i < s.columns; i++) {
        s.counted[0][i] = lanes_of(l->columns, 8 * i);
        s.counted[1][i] = lanes_of(s.columns, 8 * i);
    }
    return s;
}

/* Four words, or the `left` ones that there are and zeros. */
AVX2 static inline __m256i load_words(const uint8_t *from, uint32_t left)
{
    if (left >= 4) return _mm256_loadu_si256((const __m256i *)(const void *)from);
    const __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
    return _mm256_maskload_epi64((const long long *)(const void *)from,
                                 _mm256_cmpgt_epi64(_mm256_set1_epi64x(left), lanes));
}

/* Four columns of a window under its row; none beyond the last. A shift by 64 leaves nothing. */
AVX2 static inline __m256i window_words(const uint8_t *low, const uint8_t *high, int shift,
                                        __m256i row, int32_t left)
{
    if (left <= 0) return _mm256_setzero_si256();
    const __m256i first =
        _mm256_srl_epi64(load_words(low, (uint32_t)left), _mm_cvtsi32_si128(shift));
    const __m256i second =
        _mm256_sll_epi64(load_words(high, (uint32_t)left), _mm_cvtsi32_si128(64 - shift));
    return _mm256_and_si256(_mm256_or_si256(first, second), row);
}

/* The parities of four columns and of four more in the signs of eight lanes. Each word is folded to 32 bits first. */
AVX2 static inline __m256i parities(__m256i a, __m256i b)
{
    __m256i x = _mm256_blend_epi32(_mm256_xor_si256(a, _mm256_srli_epi64(a, 32)),
                                   _mm256_xor_si256(b, _mm256_slli_epi64(b, 32)), 0xaa);
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 4));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 2));
    return _mm256_xor_si256(x, _mm256_slli_epi32(x, 1));
}

AVX2 static inline unsigned ribbon_one(const struct ribbon_shape *s, tamis_hash h,
                                       const struct ribbon_aim *aim, size_t i)
{
    const __m256i to_sign = _mm256_set_epi32(24, 28, 25, 29, 26, 30, 27, 31);
    const __m256i row = _mm256_set1_epi64x((long long)tamis__ribbon_row(h));
    const int shift = (int)(aim->start[i] % TAMIS__RIBBON_WIDTH);
    const uint8_t *counted = s->counted[aim->start[i] >= s->boundary];
    const uint8_t *low = s->solution + aim->low[i], *high = s->solution + aim->high[i];
    uint32_t side = (uint32_t)h.hi & s->sides;
    unsigned wrong = 0;
    for (int32_t left = (int32_t)s->columns; left > 0; left -= 8) {
        const __m256i got = parities(window_words(low, high, shift, row, left),
                                     window_words(low + 32, high + 32, shift, row, left - 4));
        const __m256i want = _mm256_sllv_epi32(_mm256_set1_epi32((int)side), to_sign);
        const __m256i differ = _mm256_xor_si256(got, want);
        wrong |= (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(differ)) & *counted++;
        low += 64;
        high += 64;
        side >>= 8;
    }
    return wrong == 0;
}

AVX2 void tamis__ribbon_ask_avx2(const struct ribbon_layer *l, const tamis_hash *h,
                                 const struct ribbon_aim *aim, const struct ribbon_aim *ahead,
                                 size_t n, uint8_t *bits)
{
    const struct ribbon_layer own = *l; /* which no write of answers can change */
    const struct ribbon_shape shape = shape_of(l);
    for (size_t i = 0; i < n; i += 8) {
        const unsigned few = n - i < 8 ? (unsigned)(n - i) : 8;
        unsigned answers = 0;
        for (unsigned j = 0; j < few; j++) answers |= ribbon_one(&shape, h[i + j], aim, i + j) << j;
        bits[i / 8] = (uint8_t)answers;
        for (unsigned j = 0; ahead != NULL && j < few; j++) tamis__ribbon_fetch(&own, ahead, i + j);
    }
}

/* As the oracle does it, with the instruction that counts bits, which every processor with AVX2 has. */
__attribute__((target("avx2,popcnt"))) void tamis__ribbon_solve_avx2(const uint64_t *rows,
                                                                     const uint32_t *sides,
                                                                     uint32_t columns,
                                                                     uint64_t *words)
{
    for (unsigned i = TAMIS__RIBBON_WIDTH; i-- > 0;) {
        const uint64_t row = rows[i], side = sides[i];
        for (uint32_t c = 0; c < columns; c++) {
            const uint64_t after = words[c] << 1;
            const uint64_t ones = (uint64_t)__builtin_popcountll(after & row);
            words[c] = after | ((ones ^ side >> c) & 1);
        }
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
    .ribbon_aim = tamis__ribbon_aim,
    .ribbon_query = tamis__ribbon_ask_avx2,
    .ribbon_solve = tamis__ribbon_solve_avx2,
    .fuse_aim = tamis__fuse_aim,
    .fuse_query = tamis__fuse_ask,
    .siphash = siphash_lanes,
};

#endif
