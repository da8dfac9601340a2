/* Kernels for AVX2. A line of the blocked filter is two registers. AVX2 has no 64-bit product and
 * no useful gather, so the probes of classic filters stay scalar. */
#include "avx2.h"
#include "../sealed/ribbon/ribbon.h"

#if defined(__x86_64__) && defined(__GNUC__)

AVX2 static void avx2_line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                 const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    unsigned answers = 0;
    for (; n >= 8; n -= 8, h += 8) {
        unsigned eight = 0;
        for (unsigned j = 0; j < 8; j++) {
            eight |= avx2_query_one(table, lines, h[j]) << j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        if (ahead != NULL) ahead += 8;
        *bits++ = (uint8_t)eight;
    }
    if (n == 0) return;
    for (unsigned j = 0; j < n; j++) answers |= avx2_query_one(table, lines, h[j]) << j;
    *bits = (uint8_t)answers;
}

AVX2 static inline unsigned avx2_add_one(uint8_t *table, uint64_t lines, tamis_hash h)
{
    return avx2_add_to_line(table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES, h.lo);
}

AVX2 static inline unsigned avx2_query_any(const struct tables *t, tamis_hash h)
{
    const uint64_t at = tamis__line_of(h, t->lines) * TAMIS__LINE_BYTES;
    const struct line mask = avx2_line_mask(h.lo);
    for (uint32_t i = 0; i < t->count; i++)
        if (covers(avx2_load_line(tamis__table_at(t, i) + at), mask)) return 1;
    return 0;
}

AVX2 static void avx2_line_query_any(const struct tables *t, const tamis_hash *h,
                                     const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            if (ahead != NULL) tamis__prefetch_tables(t, ahead[i + j]);
            answers |= avx2_query_any(t, h[i + j]) << j;
        }
        bits[i / 8] = (uint8_t)answers;
    }
}

AVX2 static void avx2_line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                               const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    unsigned answers = 0;
    for (; n >= 8; n -= 8, h += 8) {
        unsigned eight = 0;
        for (unsigned j = 0; j < 8; j++) {
            eight |= avx2_add_one(table, lines, h[j]) << j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        if (ahead != NULL) ahead += 8;
        *seen++ = (uint8_t)eight;
    }
    if (n == 0) return;
    for (unsigned j = 0; j < n; j++) answers |= avx2_add_one(table, lines, h[j]) << j;
    *seen = (uint8_t)answers;
}

AVX2 static void avx2_packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            if (n - i > TAMIS__PACKED_AHEAD + j)
                TAMIS__PREFETCH(tamis__packed_line(table, words[i + j + TAMIS__PACKED_AHEAD]));
            answers |= avx2_add_to_line(tamis__packed_line(table, words[i + j]), words[i + j]) << j;
        }
        seen[i / 8] = (uint8_t)answers;
    }
}

/* --- Lines under locks ------------------------------------------------------------------------ */

#ifdef TAMIS__CHECKS_RACES
#define AVX2_LOCKED TAMIS__LOCKED_IN_C
#else

AVX2 unsigned tamis__add_waiting_avx2(struct line_lock *lock, uint8_t *at, uint64_t lo)
{
    tamis__await(&lock->held);
    return avx2_add_holding(lock, at, avx2_line_mask(lo));
}

AVX2 unsigned tamis__locked_add_one_avx2(struct line_locks *locks, uint8_t *table, uint64_t lines,
                                         tamis_hash h)
{
    return avx2_add_sharing(locks, table, lines, h);
}

AVX2 static void avx2_locked_add(struct line_locks *locks, uint8_t *table, uint64_t lines,
                                 const tamis_hash *h, const tamis_hash *ahead, size_t n,
                                 uint8_t *seen)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++)
            answers |= avx2_add_sharing(locks, table, lines, h[i + j]) << j;
        seen[i / 8] = (uint8_t)answers;
    }
}

AVX2 static void avx2_locked_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                   const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            const uint8_t *at = table + tamis__line_of(h[i + j], lines) * TAMIS__LINE_BYTES;
            answers |= covers(avx2_shared_load(at), avx2_line_mask(h[i + j].lo)) << j;
        }
        bits[i / 8] = (uint8_t)answers;
    }
}

#define AVX2_LOCKED                                                                                \
    .locked_add = avx2_locked_add, .locked_add_one = tamis__locked_add_one_avx2,                   \
    .locked_query = avx2_locked_query, .locked_single = &tamis__locked_single_avx2
#endif

/* --- Ribbons ---------------------------------------------------------------------------------- */

AVX2 static inline unsigned signs(__m256i v)
{
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(v));
}

AVX2 static inline __m256i avx2_ribbon_bytes(const struct ribbon_layer *l, __m256i segments)
{
    const __m256i columns = _mm256_set1_epi64x(l->columns);
    const __m256i boundary = _mm256_set1_epi64x((long long)l->boundary);
    const __m256i more = _mm256_and_si256(_mm256_sub_epi64(segments, boundary),
                                          _mm256_cmpgt_epi64(segments, boundary));
    return _mm256_slli_epi64(_mm256_add_epi64(_mm256_mul_epu32(segments, columns), more), 3);
}

/* Aims hashes i to i+3 of a layer with fewer than 2^32 starts. Returns which of them it bumps. */
AVX2 static inline unsigned aim_four(const struct ribbon_layer *l, const tamis_hash *h, size_t i,
                                     struct ribbon_aim *aim)
{
    const __m256i hi = _mm256_permute4x64_epi64(
        _mm256_unpackhi_epi64(load_four(h + i), load_four(h + i + 2)), 0xd8);
    const __m256i starts = _mm256_set1_epi64x((long long)tamis__ribbon_starts(l->segments));
    const __m256i start =
        _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hi, 32), starts),
                                           _mm256_srli_epi64(_mm256_mul_epu32(hi, starts), 32)),
                          32);
    const __m256i end = _mm256_add_epi64(start, _mm256_set1_epi64x(TAMIS__RIBBON_WIDTH - 1));
    _mm256_storeu_si256((__m256i *)(void *)(aim->start + i), start);
    _mm256_storeu_si256((__m256i *)(void *)(aim->low + i),
                        avx2_ribbon_bytes(l, _mm256_srli_epi64(start, 6)));
    _mm256_storeu_si256((__m256i *)(void *)(aim->high + i),
                        avx2_ribbon_bytes(l, _mm256_srli_epi64(end, 6)));
    if (l->last) return 0;
    /* A word has the thresholds of 32 buckets, and the array ends with a whole word. */
    long long words[4];
    for (unsigned j = 0; j < 4; j++)
        words[j] = (long long)tamis__get64(l->thresholds + 8 * (aim->start[i + j] >> 12));
    const __m256i codes =
        _mm256_srlv_epi64(_mm256_set_epi64x(words[3], words[2], words[1], words[0]),
                          _mm256_and_si256(_mm256_srli_epi64(start, 6), _mm256_set1_epi64x(62)));
    const __m256i eight_codes =
        _mm256_slli_epi64(_mm256_and_si256(codes, _mm256_set1_epi64x(3)), 3);
    const __m256i thresholds = _mm256_and_si256(
        _mm256_srlv_epi64(_mm256_set1_epi64x(TAMIS__RIBBON_THRESHOLDS), eight_codes),
        _mm256_set1_epi64x(0xff));
    const __m256i in_bucket = _mm256_and_si256(start, _mm256_set1_epi64x(127));
    return signs(_mm256_cmpgt_epi64(thresholds, in_bucket));
}

AVX2 void tamis__ribbon_aim_avx2(const struct ribbon_layer *l, const tamis_hash *h, size_t n,
                                 struct ribbon_aim *aim)
{
    const struct ribbon_layer own = *l; /* a copy that the stores cannot alias */
    const uint64_t starts = tamis__ribbon_starts(own.segments);
    if (starts >> 32 != 0) {
        tamis__ribbon_aim(l, h, n, aim);
        return;
    }
    size_t i = 0;
    for (; n - i >= 8; i += 8)
        aim->bumped[i / 8] =
            (uint8_t)(aim_four(&own, h, i, aim) | aim_four(&own, h, i + 4, aim) << 4);
    if (i == n) return;
    unsigned marks = 0;
    for (; i < n; i++) {
        const uint64_t start = tamis__ribbon_start(h[i], starts);
        tamis__ribbon_aim_at(&own, start, i, aim);
        if (!own.last) marks |= (unsigned)tamis__ribbon_bumps(own.thresholds, start) << i % 8;
    }
    aim->bumped[n / 8] = (uint8_t)marks;
}

/* What the keys of a layer have in common. For all keys, as many columns are read as the last
 * segment has. Where a segment has fewer, another segment follows, so the read stays within the
 * solution. The columns that come from there are not counted. */
struct ribbon_shape {
    const uint8_t *solution;
    uint64_t boundary,
        last_high; /* slot; the last byte from which all columns, in groups of eight, can be read */
    uint32_t columns, sides;
    /* For each group of eight columns, four bits a column, one for each of four keys: the columns
     * that count for all keys, and the first bit of the column that counts from the boundary on. */
    uint32_t counted[4], extra[4];
};

/* The order of eight columns: the first four and the second four alternate. */
static inline uint32_t avx2_lanes_of(uint32_t columns, uint32_t c)
{
    static const uint32_t lanes[9] = {0x0,       0x1,       0x101,     0x10101,   0x1010101,
                                      0x1010111, 0x1011111, 0x1111111, 0x11111111};
    return lanes[columns <= c ? 0 : columns - c < 8 ? columns - c : 8];
}

static inline struct ribbon_shape shape_of(const struct ribbon_layer *l)
{
    const uint32_t columns = tamis__ribbon_columns(l, l->segments - 1);
    const uint64_t size = (columns + 7) / 8 * 64;
    struct ribbon_shape s = {.solution = l->solution,
                             .boundary = l->boundary * TAMIS__RIBBON_WIDTH,
                             .last_high = l->solution_bytes - size,
                             .columns = columns,
                             .sides = l->homogeneous ? 0 : UINT32_MAX};
    for (uint32_t i = 0; 8 * i < columns; i++) {
        s.counted[i] = 15 * avx2_lanes_of(l->columns, 8 * i);
        s.extra[i] = avx2_lanes_of(columns, 8 * i) ^ avx2_lanes_of(l->columns, 8 * i);
    }
    return s;
}

/* Returns the parities of four keys' columns in the sign bits of bytes: each fold makes room for
 * another key. */
AVX2 static inline __m256i parities(const __m256i k[4])
{
    const __m256i odd_bytes = _mm256_set1_epi16((short)0xff00);
    const __m256i of_nibble = _mm256_broadcastsi128_si256(
        _mm_set_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    const __m256i even =
        _mm256_blend_epi16(_mm256_xor_si256(k[0], _mm256_srli_epi32(k[0], 16)),
                           _mm256_xor_si256(k[2], _mm256_slli_epi32(k[2], 16)), 0xaa);
    const __m256i odd =
        _mm256_blend_epi16(_mm256_xor_si256(k[1], _mm256_srli_epi32(k[1], 16)),
                           _mm256_xor_si256(k[3], _mm256_slli_epi32(k[3], 16)), 0xaa);
    const __m256i all =
        _mm256_blendv_epi8(_mm256_xor_si256(even, _mm256_srli_epi16(even, 8)),
                           _mm256_xor_si256(odd, _mm256_slli_epi16(odd, 8)), odd_bytes);
    const __m256i nibbles =
        _mm256_and_si256(_mm256_xor_si256(all, _mm256_srli_epi16(all, 4)), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(of_nibble, nibbles);
}

/* Compares columns c to c+7 of keys i to i+3: bit 4·lane + key is set where a column is wrong and
 * counts. */
AVX2 static inline uint32_t wrong_four(const struct ribbon_shape *s, const tamis_hash *h,
                                       const struct ribbon_aim *aim, size_t i, uint32_t c)
{
    const __m256i bit_of_lane =
        _mm256_set_epi32((int)0x80808080, 0x08080808, 0x40404040, 0x04040404, 0x20202020,
                         0x02020202, 0x10101010, 0x01010101);
    const __m256i before = _mm256_set1_epi64x((long long)s->boundary - 1);
    const uint32_t counted =
        s->counted[c / 8] |
        signs(_mm256_cmpgt_epi64(load_four(aim->start + i), before)) * s->extra[c / 8];
    __m256i lanes[4];
    uint32_t sides = 0;
    for (unsigned k = 0; k < 4; k++) {
        lanes[k] = key_lanes(s->solution + aim->low[i + k] + 8 * c,
                             s->solution + aim->high[i + k] + 8 * c, aim->start[i + k], h[i + k]);
        sides |= (uint32_t)(uint8_t)(h[i + k].hi >> c) << 8 * k;
    }
    const __m256i want = _mm256_and_si256(_mm256_set1_epi32((int)(sides & s->sides)), bit_of_lane);
    const __m256i wrong = _mm256_xor_si256(parities(lanes), _mm256_cmpeq_epi8(want, bit_of_lane));
    return (uint32_t)_mm256_movemask_epi8(wrong) & counted;
}

/* Takes four bits per lane for four keys, and the same for four more keys. Returns the keys that
 * have no bit set. */
static inline unsigned right_of(uint64_t wrong)
{
    wrong |= wrong >> 16;
    wrong |= wrong >> 8;
    wrong |= wrong >> 4;
    return 0xff ^ (unsigned)((wrong & 15) | (wrong >> 28 & 0xf0));
}

/* Answers keys i to i+7 with up to eight columns. */
AVX2 static inline unsigned avx2_ribbon_eight(const struct ribbon_shape *s, const tamis_hash *h,
                                              const struct ribbon_aim *aim, size_t i)
{
    const uint64_t second = wrong_four(s, h, aim, i + 4, 0);
    return right_of(wrong_four(s, h, aim, i, 0) | second << 32);
}

/* Does the same for more columns. It is a separate function, because both in one would need too
 * many registers. */
AVX2 __attribute__((noinline)) static unsigned ribbon_eight_wide(const struct ribbon_shape *s,
                                                                 const tamis_hash *h,
                                                                 const struct ribbon_aim *aim,
                                                                 size_t i)
{
    uint64_t wrong = 0;
    for (uint32_t c = 0; c < s->columns; c += 8)
        wrong |= wrong_four(s, h, aim, i, c) | (uint64_t)wrong_four(s, h, aim, i + 4, c) << 32;
    return right_of(wrong);
}

/* Reports whether eight columns can be read at once everywhere without passing the end of the
 * solution. */
AVX2 static inline bool has_room(const struct ribbon_shape *s, const struct ribbon_aim *aim,
                                 size_t i)
{
    const __m256i last = _mm256_set1_epi64x((long long)s->last_high);
    return s->columns % 8 == 0 ||
           signs(_mm256_or_si256(_mm256_cmpgt_epi64(load_four(aim->high + i), last),
                                 _mm256_cmpgt_epi64(load_four(aim->high + i + 4), last))) == 0;
}

/* Does the same as the oracle, with the instruction that counts bits, which every processor with
 * AVX2 has. */
#define AVX2_POPCNT __attribute__((target("avx2,popcnt")))

AVX2_POPCNT static unsigned avx2_ribbon_one(const struct ribbon_layer *l, tamis_hash h,
                                            const struct ribbon_aim *aim, size_t i)
{
    const uint8_t *low = l->solution + aim->low[i], *high = l->solution + aim->high[i];
    const unsigned shift = aim->start[i] % TAMIS__RIBBON_WIDTH;
    const uint32_t columns = tamis__ribbon_columns(l, aim->start[i] / TAMIS__RIBBON_WIDTH);
    const uint32_t side = tamis__ribbon_side(h, l->homogeneous, columns);
    uint64_t wrong = 0;
    for (uint32_t c = 0; c < columns; c++) {
        const uint64_t window = tamis__get64(low + 8 * c) >> shift | tamis__get64(high + 8 * c)
                                                                         << 1 << (63 - shift);
        wrong |= (uint64_t)__builtin_popcountll(window & tamis__ribbon_row(h)) ^ side >> c;
    }
    return (wrong & 1) == 0;
}

/* Answers up to eight keys, one by one. */
AVX2_POPCNT __attribute__((noinline)) static uint8_t ribbon_few(const struct ribbon_layer *l,
                                                                const tamis_hash *h,
                                                                const struct ribbon_aim *aim,
                                                                size_t i, size_t n)
{
    unsigned answers = 0;
    for (unsigned j = 0; j < 8 && i + j < n; j++)
        answers |= avx2_ribbon_one(l, h[i + j], aim, i + j) << j;
    return (uint8_t)answers;
}

AVX2 __attribute__((noinline)) static void
ribbon_many(const struct ribbon_layer *l, const tamis_hash *h, const struct ribbon_aim *aim,
            const struct ribbon_aim *ahead, size_t n, uint8_t *bits)
{
    const struct ribbon_layer own = *l; /* a copy that the stores of answers cannot alias */
    const struct ribbon_shape shape = shape_of(l);
    for (size_t i = 0; i < n; i += 8) {
        if (n - i < 8 || !has_room(&shape, aim, i))
            bits[i / 8] = ribbon_few(&own, h, aim, i, n);
        else if (shape.columns <= 8)
            bits[i / 8] = (uint8_t)avx2_ribbon_eight(&shape, h, aim, i);
        else
            bits[i / 8] = (uint8_t)ribbon_eight_wide(&shape, h, aim, i);
        for (size_t j = i; ahead != NULL && j < i + 8 && j < n; j++)
            tamis__ribbon_fetch(&own, ahead, j);
    }
}

AVX2 void tamis__ribbon_ask_avx2(const struct ribbon_layer *l, const tamis_hash *h,
                                 const struct ribbon_aim *aim, const struct ribbon_aim *ahead,
                                 size_t n, uint8_t *bits)
{
    if (n < 8 && ahead == NULL)
        *bits = ribbon_few(l, h, aim, 0, n);
    else
        ribbon_many(l, h, aim, ahead, n, bits);
}

AVX2_POPCNT uint64_t tamis__ribbon_sums_avx2(const struct ribbon_layer *l, uint64_t row,
                                             uint64_t start)
{
    const struct ribbon_pair at = tamis__ribbon_pair(l, start);
    const uint32_t columns = tamis__ribbon_columns(l, start / TAMIS__RIBBON_WIDTH);
    uint64_t sums = 0;
    for (uint32_t c = 0; c < columns; c++) {
        const uint64_t window =
            tamis__ribbon_shifted(at.low + 8 * c, at.high + 8 * c, start % TAMIS__RIBBON_WIDTH);
        sums |= ((uint64_t)__builtin_popcountll(window & row) & 1) << c;
    }
    return sums;
}

AVX2_POPCNT void tamis__ribbon_solve_avx2(const uint64_t *rows, const uint32_t *sides,
                                          uint32_t columns, uint64_t *words)
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

#define AVX2_COMMON                                                                                \
    .name = "avx2", .probe_prefetch = tamis__probe_prefetch, .probe_add = tamis__probe_add,        \
    .probe_query = tamis__probe_query, .line_add = avx2_line_add, .line_query = avx2_line_query,   \
    .line_single = &tamis__line_single_avx2, .line_query_any = avx2_line_query_any,                \
    .packed_add = avx2_packed_add, .compact_add = tamis__compact_add,                              \
    .compact_query = tamis__compact_query, .ribbon_aim = tamis__ribbon_aim_avx2,                   \
    .ribbon_query = tamis__ribbon_ask_avx2, .ribbon_single = &tamis__ribbon_single_avx2,           \
    .ribbon_solve = tamis__ribbon_solve_avx2, .ribbon_sums = tamis__ribbon_sums_avx2,              \
    .fuse_aim = tamis__fuse_aim, .fuse_query = tamis__fuse_ask,                                    \
    .registers_know = tamis__registers_know_avx2, AVX2_LOCKED, .siphash = siphash_lanes_4

const struct kernels tamis__avx2 = {AVX2_COMMON, .bits = TAMIS__BITS_POPCNT};
const struct kernels tamis__avx2_pdep = {AVX2_COMMON, .bits = TAMIS__BITS_PDEP};

#endif
