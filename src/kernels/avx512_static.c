/* AVX-512 kernels of the sealed kinds fuse and ribbon. */
#include "../sealed/fuse.h"
#include "../sealed/ribbon/ribbon.h"
#include "avx512.h"

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)

/* --- Ribbons, for processors that also shift pairs of words and count their bits -------------- */

/* Inlined, so that constant arguments are folded. */
#define INLINE static inline __attribute__((always_inline))
#define AVX512_BITS __attribute__((target("avx512f,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq")))

AVX512_BITS static inline __m512i avx512_static_ribbon_bytes(const struct ribbon_layer *l,
                                                             __m512i segments)
{
    const __m512i columns = _mm512_set1_epi64(l->columns);
    const __m512i boundary = _mm512_set1_epi64((long long)l->boundary);
    const __m512i more =
        _mm512_max_epi64(_mm512_sub_epi64(segments, boundary), _mm512_setzero_si512());
    return _mm512_slli_epi64(_mm512_add_epi64(_mm512_mullo_epi64(segments, columns), more), 3);
}

/* Aims hashes i to i+7. Returns which of them the layer bumps. */
AVX512_BITS static inline unsigned aim_eight(const struct ribbon_layer *l, const tamis_hash *h,
                                             size_t i, struct ribbon_aim *aim)
{
    const __m512i hi = high_halves(h + i);
    const uint64_t starts = tamis__ribbon_starts(l->segments);
    const __m512i start = mulhi(hi, _mm512_set1_epi64((long long)starts));
    const __m512i end = _mm512_add_epi64(start, _mm512_set1_epi64(TAMIS__RIBBON_WIDTH - 1));
    _mm512_storeu_si512(aim->start + i, start);
    _mm512_storeu_si512(aim->low + i, avx512_static_ribbon_bytes(l, _mm512_srli_epi64(start, 6)));
    _mm512_storeu_si512(aim->high + i, avx512_static_ribbon_bytes(l, _mm512_srli_epi64(end, 6)));
    if (l->last) return 0;
    /* A word has the thresholds of 32 buckets, and the array ends with a whole word. */
    const __m512i codes =
        _mm512_srlv_epi64(gather(l->thresholds, _mm512_srli_epi64(start, 12)),
                          _mm512_and_si512(_mm512_srli_epi64(start, 6), _mm512_set1_epi64(62)));
    const __m512i thresholds = _mm512_set_epi64(0, 0, 0, 0, 128, 48, 24, 0);
    const __m512i in_bucket = _mm512_and_si512(start, _mm512_set1_epi64(127));
    return _mm512_cmplt_epu64_mask(
        in_bucket,
        _mm512_permutexvar_epi64(_mm512_and_si512(codes, _mm512_set1_epi64(3)), thresholds));
}

/* Goes through memory: eight addresses are read from it faster than extracted from a register. */
AVX512_BITS void tamis__ribbon_aim_avx512(const struct ribbon_layer *l, const tamis_hash *h,
                                          size_t n, struct ribbon_aim *aim)
{
    const struct ribbon_layer own = *l; /* a copy that the stores cannot alias */
    const uint64_t starts = tamis__ribbon_starts(own.segments);
    size_t i = 0;
    for (; n - i >= 8; i += 8) aim->bumped[i / 8] = (uint8_t)aim_eight(&own, h, i, aim);
    if (i == n) return;
    unsigned marks = 0;
    for (; i < n; i++) {
        const uint64_t start = tamis__ribbon_start(h[i], starts);
        tamis__ribbon_aim_at(&own, start, i, aim);
        if (!own.last) marks |= (unsigned)tamis__ribbon_bumps(own.thresholds, start) << i % 8;
    }
    aim->bumped[n / 8] = (uint8_t)marks;
}

/* Loads eight words, or those in the mask and zeros; never reads a byte beyond them. Loads in
 * halves, see load_line in avx512.c. */
AVX512_BITS INLINE __m512i load_words(const uint8_t *from, __mmask8 live)
{
    if (live != 0xff) return _mm512_maskz_loadu_epi64(live, from);
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)from);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low),
                              _mm256_loadu_si256((const __m256i *)(const void *)(from + 32)), 1);
}

static inline __mmask8 live_columns(uint32_t columns, uint32_t c)
{
    return (__mmask8)(columns <= c ? 0 : columns - c >= 8 ? 0xff : (1u << (columns - c)) - 1);
}

/* The parities of up to eight columns in each row, one byte for every key. They are read after all
 * have been written, because a wide load right after narrow stores would wait for them. */
struct ribbon_found {
    uint8_t parities[TAMIS__RIBBON_COLUMNS / 8][TAMIS__RIBBON_BATCH];
};

/* Reads the windows of all keys, with as many columns as the last segment has, in groups of eight.
 * Where a segment has fewer columns, another segment follows, or the words are masked at the end of
 * the solution; those columns are not counted. Loads and prefetches alternate, key by key.
 * `are_lines` means that every segment is a line of eight columns. */
AVX512_BITS INLINE void read_windows(const struct ribbon_layer *l, const tamis_hash *h,
                                     const struct ribbon_aim *aim, const struct ribbon_aim *ahead,
                                     size_t n, uint32_t eights, bool are_lines,
                                     struct ribbon_found *found)
{
    const uint32_t most = tamis__ribbon_columns(l, l->segments - 1);
    const __m512i one = _mm512_set1_epi64(1);
#pragma GCC unroll 1
    for (size_t i = 0; i < n; i++) {
        const uint8_t *low = l->solution + aim->low[i], *high = l->solution + aim->high[i];
        const bool fits = are_lines || aim->high[i] + 64 * eights <= l->solution_bytes;
        const __m512i start = _mm512_set1_epi64((long long)aim->start[i]);
        const __m512i row = _mm512_or_si512(_mm512_set1_epi64((long long)h[i].lo), one);
        for (uint32_t e = 0; e < eights; e++) {
            const __mmask8 live = fits ? 0xff : live_columns(most, 8 * e);
            /* The shift takes its count modulo 64. */
            const __m512i window = _mm512_shrdv_epi64(load_words(low + 64 * e, live),
                                                      load_words(high + 64 * e, live), start);
            const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(window, row));
            found->parities[e][i] = _mm512_test_epi64_mask(ones, one);
        }
        if (ahead != NULL) tamis__ribbon_fetch(l, ahead, i);
    }
}

AVX512_BITS static inline uint64_t low_bytes(__m512i v)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(v));
}

/* Answers keys i to i+7, whose hashes are at h. */
AVX512_BITS INLINE uint8_t judge_eight(const struct ribbon_layer *l, const tamis_hash *h,
                                       const struct ribbon_aim *aim, uint32_t eights,
                                       bool are_lines, const struct ribbon_found *found, size_t i)
{
    const uint32_t most = tamis__ribbon_columns(l, l->segments - 1);
    const __m512i boundary = _mm512_set1_epi64((long long)(l->boundary * TAMIS__RIBBON_WIDTH));
    const __mmask8 has_most = _mm512_cmpge_epu64_mask(_mm512_loadu_si512(aim->start + i), boundary);
    __m512i sides = l->homogeneous ? _mm512_setzero_si512() : high_halves(h);
    uint64_t wrong = 0;
    for (uint32_t e = 0; e < eights; e++) {
        const __m512i counted =
            _mm512_mask_blend_epi64(has_most, _mm512_set1_epi64(live_columns(l->columns, 8 * e)),
                                    _mm512_set1_epi64(live_columns(most, 8 * e)));
        wrong |= (tamis__get64(found->parities[e] + i) ^ low_bytes(sides)) &
                 (are_lines ? UINT64_MAX : low_bytes(counted));
        sides = _mm512_srli_epi64(sides, 8);
    }
    return complete(wrong);
}

AVX512_BITS INLINE void ask_eights(const struct ribbon_layer *l, const tamis_hash *h,
                                   const struct ribbon_aim *aim, const struct ribbon_aim *ahead,
                                   size_t n, uint32_t eights, bool are_lines, uint8_t *bits)
{
    const struct ribbon_aim here = *aim; /* copies that the stores of answers cannot alias */
    const struct ribbon_aim there = ahead != NULL ? *ahead : here;
    struct ribbon_found found;
    size_t i = 0;
    read_windows(l, h, &here, ahead != NULL ? &there : NULL, n, eights, are_lines, &found);
    for (; n - i >= 8; i += 8)
        bits[i / 8] = judge_eight(l, h + i, &here, eights, are_lines, &found, i);
    if (i == n) return;
    tamis_hash few[8] = {{0, 0}};
    memcpy(few, h + i, (n - i) * sizeof *few);
    const unsigned last = judge_eight(l, few, &here, eights, are_lines, &found, i);
    bits[i / 8] = (uint8_t)(last & ((1u << (n - i)) - 1));
}

AVX512_BITS void tamis__ribbon_ask_avx512(const struct ribbon_layer *l, const tamis_hash *h,
                                          const struct ribbon_aim *aim,
                                          const struct ribbon_aim *ahead, size_t n, uint8_t *bits)
{
    const struct ribbon_layer own = *l; /* a copy that the stores of answers cannot alias */
    const uint32_t most = tamis__ribbon_columns(&own, own.segments - 1);
    if (n < 3) /* too few for groups of eight */
        tamis__ribbon_ask_avx2(l, h, aim, ahead, n, bits);
    else if (most == 8 && own.columns == 8)
        ask_eights(&own, h, aim, ahead, n, 1, true, bits);
    else if (most <= 8)
        ask_eights(&own, h, aim, ahead, n, 1, false, bits);
    else
        ask_eights(&own, h, aim, ahead, n, (most + 7) / 8, false, bits);
}

AVX512_BITS uint64_t tamis__ribbon_sums_avx512(const struct ribbon_layer *l, uint64_t row,
                                               uint64_t start)
{
    const struct ribbon_pair at = tamis__ribbon_pair(l, start);
    const uint32_t columns = tamis__ribbon_columns(l, start / TAMIS__RIBBON_WIDTH);
    const __m512i shift = _mm512_set1_epi64((long long)start); /* taken modulo 64 */
    const __m512i picked = _mm512_set1_epi64((long long)row), one = _mm512_set1_epi64(1);
    uint64_t sums = 0;
    for (uint32_t c = 0; c < columns; c += 8) {
        const __mmask8 live = live_columns(columns, c);
        const __m512i window = _mm512_shrdv_epi64(load_words(at.low + 8 * c, live),
                                                  load_words(at.high + 8 * c, live), shift);
        const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(window, picked));
        sums |= (uint64_t)_mm512_test_epi64_mask(ones, one) << c;
    }
    return sums;
}

/* Solves eight columns side by side, one slot after the other. */
AVX512_BITS void tamis__ribbon_solve_avx512(const uint64_t *rows, const uint32_t *sides,
                                            uint32_t columns, uint64_t *words)
{
    const __m512i one = _mm512_set1_epi64(1);
    for (uint32_t c = 0; c < columns; c += 8) {
        const __m512i columns_at = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                                                    _mm512_set1_epi64((long long)c));
        __m512i word = _mm512_loadu_si512(words + c);
        for (unsigned i = TAMIS__RIBBON_WIDTH; i-- > 0;) {
            const __m512i side = _mm512_srlv_epi64(_mm512_set1_epi64(sides[i]), columns_at);
            const __m512i row = _mm512_set1_epi64((long long)rows[i]);
            const __m512i after = _mm512_slli_epi64(word, 1);
            const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(after, row));
            const __m512i bit = _mm512_and_si512(_mm512_xor_si512(ones, side), one);
            word = _mm512_or_si512(after, bit);
        }
        _mm512_storeu_si512(words + c, word);
    }
}

/* --- Fuse ------------------------------------------------------------------------------------- */

/* What all keys have in common. */
struct fuse_lanes {
    __m512i starts, length, in_segment, step, bits;
    __m128i below; /* the fingerprint bits of hi */
    bool is_short;
};

AVX512 INLINE struct fuse_lanes avx512_static_lanes_of(const struct fuse *f)
{
    const long long length = 1ll << f->log;
    const struct fuse_lanes l = {.starts = _mm512_set1_epi64((long long)f->starts),
                                 .length = _mm512_set1_epi64(length),
                                 .in_segment = _mm512_set1_epi64(length - 1),
                                 .step = _mm512_set1_epi64((long long)tamis__fuse_step(f->salt)),
                                 .bits = _mm512_set1_epi64(f->bits),
                                 .below = _mm_cvtsi32_si128((int)(64 - f->bits)),
                                 .is_short = f->starts >> 32 == 0};
    return l;
}

/* Stores the bytes of eight keys' cells, and the bits within them; cells of eight bits are
 * bytes. */
AVX512 INLINE void aim_eight_cells(const struct fuse_lanes *l, uint32_t d, bool are_bytes,
                                   const tamis_hash *h, struct fuse_aim *aim)
{
    const __m512i flip_lo = _mm512_set1_epi64((long long)TAMIS__FUSE_FLIP_LO);
    const __m512i flip_hi = _mm512_set1_epi64((long long)TAMIS__FUSE_FLIP_HI);
    const __m512i hi = high_halves(h), a = _mm512_xor_si512(low_halves(h), flip_lo);
    const __m512i b = _mm512_xor_si512(_mm512_add_epi64(hi, l->step), flip_hi);
    const __m512i edge = _mm512_xor_si512(mulhi(a, b), _mm512_mullo_epi64(a, b));
    __m512i first = l->is_short ? mulhi_short(edge, l->starts) : mulhi(edge, l->starts);
    __m512i in_segment = _mm512_setzero_si512();
    _mm256_storeu_si256((__m256i *)(void *)aim->print,
                        _mm512_cvtepi64_epi32(_mm512_srl_epi64(hi, l->below)));
    for (uint32_t j = 0; j < d; j++) {
        const __m512i cell = _mm512_xor_si512(first, in_segment);
        const __m512i bit = are_bytes ? cell : _mm512_mullo_epi64(cell, l->bits);
        const __m512i shift = _mm512_and_si512(bit, _mm512_set1_epi64(7));
        _mm512_storeu_si512(aim->at[j], are_bytes ? cell : _mm512_srli_epi64(bit, 3));
        if (!are_bytes) /* the lower half of the 128-bit product */
            _mm_storel_epi64((__m128i *)(void *)aim->shift[j], _mm512_cvtepi64_epi8(shift));
        in_segment = _mm512_and_si512(_mm512_srli_epi64(edge, 18 * j), l->in_segment);
        first = _mm512_add_epi64(first, l->length);
    }
}

/* Aims up to eight keys. If there are fewer, one of them is repeated. */
AVX512 INLINE void aim_cells(const struct fuse_lanes *l, uint32_t d, bool are_bytes,
                             const tamis_hash *h, size_t n, struct fuse_aim *aim)
{
    if (n >= 8) {
        aim_eight_cells(l, d, are_bytes, h, aim);
        return;
    }
    tamis_hash few[8];
    for (size_t j = 0; j < 8; j++) few[j] = h[j < n ? j : 0];
    aim_eight_cells(l, d, are_bytes, few, aim);
}

AVX512 INLINE void aim_all(const struct fuse *f, uint32_t d, bool are_bytes, const tamis_hash *h,
                           size_t n, struct fuse_aim *aim, bool fetches)
{
    const struct fuse_lanes l = avx512_static_lanes_of(f);
    for (size_t i = 0; i < n; i += 8, aim++) {
        aim_cells(&l, d, are_bytes, h + i, n - i, aim);
        for (uint32_t c = 0; fetches && c < d; c++)
            for (size_t j = 0; j < 8; j++) TAMIS__PREFETCH(f->table + aim->at[c][j]);
    }
}

AVX512 void tamis__fuse_aim_avx512(const struct fuse *f, const tamis_hash *h, size_t n,
                                   struct fuse_aim *aim, bool fetches)
{
    const struct fuse own = *f; /* a copy that the stores cannot alias */
    if (own.d == 3 && own.bits == 8)
        aim_all(&own, 3, true, h, n, aim, fetches);
    else if (own.d == 3)
        aim_all(&own, 3, false, h, n, aim, fetches);
    else
        aim_all(&own, 4, own.bits == 8, h, n, aim, fetches);
}

/* What was read for a batch of keys: all cells or, if they are bytes, their sums. The values are
 * written one by one and read when all are complete, because a wide load right after narrow stores
 * would wait for them. */
struct fuse_found {
    uint32_t cells[4][TAMIS__FUSE_BATCH];
    uint8_t sums[TAMIS__FUSE_BATCH];
};

AVX512 INLINE __m256i widen_eight(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

/* Answers keys i to i+7. */
AVX512 INLINE uint8_t avx512_static_judge(const struct fuse *f, uint32_t d, bool are_bytes,
                                          const struct fuse_aim *aim,
                                          const struct fuse_found *found, size_t i)
{
    __m256i sum = _mm256_loadu_si256((const __m256i *)(const void *)aim->print);
    if (are_bytes) return _mm256_cmpeq_epi32_mask(sum, widen_eight(found->sums + i));
    for (uint32_t c = 0; c < d; c++) {
        const void *cells = found->cells[c] + i;
        const __m256i words = _mm256_loadu_si256((const __m256i *)cells);
        sum = _mm256_xor_si256(sum, _mm256_srlv_epi32(words, widen_eight(aim->shift[c])));
    }
    return _mm256_testn_epi32_mask(sum, _mm256_set1_epi32((int)(UINT32_MAX >> (32 - f->bits))));
}

/* Loads and prefetches alternate, key by key. Unrolled, the loads would wait in a row, and GCC
 * would gather the sums in one register: 6.2 against 5.2 ns per key in 11 MB. */
AVX512 INLINE void ask_all(const struct fuse *f, uint32_t d, unsigned reach,
                           const struct fuse_aim *aim, size_t n, const tamis_hash *ahead,
                           struct fuse_aim *next, uint8_t *bits)
{
    const bool are_bytes = reach == 1;
    const struct fuse_lanes l = avx512_static_lanes_of(f);
    const uint8_t *table = f->table;
    struct fuse_found found;
    for (size_t i = 0; i < n; i += 8) {
        const struct fuse_aim *a = aim + i / 8;
        struct fuse_aim *b = ahead != NULL ? next + i / 8 : NULL;
        if (ahead != NULL) aim_cells(&l, d, are_bytes, ahead + i, n - i, b);
#pragma GCC unroll 1
        for (size_t j = 0; j < 8; j++) {
            unsigned sum = 0;
            for (uint32_t c = 0; c < d; c++) {
                if (ahead != NULL) TAMIS__PREFETCH(table + b->at[c][j]);
                const uint64_t cell = tamis__fuse_load(table + a->at[c][j], reach);
                sum ^= (unsigned)cell;
                if (!are_bytes) found.cells[c][i + j] = (uint32_t)cell;
            }
            if (are_bytes) found.sums[i + j] = (uint8_t)sum;
        }
    }
    for (size_t i = 0; i < n; i += 8)
        bits[i / 8] = avx512_static_judge(f, d, are_bytes, aim + i / 8, &found, i);
    if (n % 8 != 0) bits[n / 8] = (uint8_t)(bits[n / 8] & ((1u << n % 8) - 1));
}

/* Handles cells that may reach into a fifth byte. */
AVX512 static void ask_wide(const struct fuse *f, const struct fuse_aim *aim, size_t n,
                            uint8_t *bits)
{
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const struct fuse_aim *a = aim + i / 8;
        uint64_t sum = a->print[i % 8];
        for (uint32_t c = 0; c < f->d; c++)
            sum ^= tamis__get64(f->table + a->at[c][i % 8]) >> a->shift[c][i % 8];
        bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)(sum << (64 - f->bits) == 0) << i % 8);
    }
}

AVX512 void tamis__fuse_ask_avx512(const struct fuse *f, const struct fuse_aim *aim, size_t n,
                                   const tamis_hash *ahead, struct fuse_aim *next, uint8_t *bits)
{
    const struct fuse own = *f; /* a copy that the stores cannot alias */
    switch (10 * own.d + tamis__fuse_reach(own.bits)) {
    case 31: ask_all(&own, 3, 1, aim, n, ahead, next, bits); break;
    case 32: ask_all(&own, 3, 2, aim, n, ahead, next, bits); break;
    case 34: ask_all(&own, 3, 4, aim, n, ahead, next, bits); break;
    case 41: ask_all(&own, 4, 1, aim, n, ahead, next, bits); break;
    case 42: ask_all(&own, 4, 2, aim, n, ahead, next, bits); break;
    case 44: ask_all(&own, 4, 4, aim, n, ahead, next, bits); break;
    default:
        if (ahead != NULL) tamis__fuse_aim_avx512(&own, ahead, n, next, true);
        ask_wide(&own, aim, n, bits);
    }
}

#endif
