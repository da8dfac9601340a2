/* Kernels for 64-bit ARM, which always has NEON. A line of the blocked filter is four registers. */
#include "../core/single.h"
#include "../sealed/ribbon/ribbon.h"
#include "kernels.h"

#if defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

/* Returns words 2i and 2i+1 of the key's mask. Shift counts are signed: negative ones shift
 * right. */
static inline uint64x2_t mask_of(uint64_t lo, int i)
{
    const int64_t right[2] = {-12 * i, -12 * i - 6};
    const uint64x2_t bits = vshlq_u64(vdupq_n_u64(lo), vld1q_s64(right));
    const uint64x2_t six = vandq_u64(bits, vdupq_n_u64(63));
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(six));
}

static inline unsigned is_zero(uint64x2_t v)
{
    return (vgetq_lane_u64(v, 0) | vgetq_lane_u64(v, 1)) == 0;
}

static inline unsigned neon_line_has(const uint8_t *line, uint64_t lo)
{
    uint64x2_t missing = vdupq_n_u64(0);
    for (int j = 0; j < 4; j++) {
        const uint64x2_t words = vreinterpretq_u64_u8(vld1q_u8(line + 16 * j));
        missing = vorrq_u64(missing, vbicq_u64(mask_of(lo, j), words));
    }
    return is_zero(missing);
}

static void neon_line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                            const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        bits[i / 8] = (uint8_t)(bits[i / 8] | neon_line_has(line, h[i].lo) << i % 8);
    }
}

static inline unsigned neon_add_to_line(uint8_t *line, uint64_t lo)
{
    uint64x2_t missing = vdupq_n_u64(0);
    for (int j = 0; j < 4; j++) {
        const uint64x2_t words = vreinterpretq_u64_u8(vld1q_u8(line + 16 * j));
        const uint64x2_t mask = mask_of(lo, j);
        missing = vorrq_u64(missing, vbicq_u64(mask, words));
        vst1q_u8(line + 16 * j, vreinterpretq_u8_u64(vorrq_u64(words, mask)));
    }
    return is_zero(missing);
}

static void neon_line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                          const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    memset(seen, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        seen[i / 8] = (uint8_t)(seen[i / 8] | neon_add_to_line(line, h[i].lo) << i % 8);
    }
}

static void neon_packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    memset(seen, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        if (n - i > TAMIS__PACKED_AHEAD)
            TAMIS__PREFETCH(tamis__packed_line(table, words[i + TAMIS__PACKED_AHEAD]));
        uint8_t *line = tamis__packed_line(table, words[i]);
        seen[i / 8] = (uint8_t)(seen[i / 8] | neon_add_to_line(line, words[i]) << i % 8);
    }
}

TAMIS__SPECIALIZED uint8_t *neon_single_line(const struct section *s, tamis_hash h)
{
    return s->cells + tamis__line_of(h, s->m / TAMIS__LINE_BITS) * TAMIS__LINE_BYTES;
}

TAMIS__SPECIALIZED bool neon_single_has(const struct section *s, tamis_hash h)
{
    return neon_line_has(neon_single_line(s, h), h.lo);
}

TAMIS__SPECIALIZED bool neon_single_put(struct section *s, tamis_hash h)
{
    return neon_add_to_line(neon_single_line(s, h), h.lo);
}

TAMIS__ASK_SINGLE(neon_line, , neon_single_has)
TAMIS__ADD_SINGLE(neon_line, , neon_single_put)

const struct single tamis__line_single_neon = {single_neon_line_ask, single_neon_line_add,
                                               single_neon_line_ask_hash,
                                               single_neon_line_add_hash};

/* --- Ribbons ---------------------------------------------------------------------------------- */

/* Counts the bits of two columns' windows under the row, byte by byte. A shift by 64 gives zero. */
static inline uint8x16_t count_two(const uint8_t *low, const uint8_t *high, int64_t shift,
                                   uint64_t row)
{
    const uint64x2_t first = vshlq_u64(vreinterpretq_u64_u8(vld1q_u8(low)), vdupq_n_s64(-shift));
    const uint64x2_t second =
        vshlq_u64(vreinterpretq_u64_u8(vld1q_u8(high)), vdupq_n_s64(64 - shift));
    return vcntq_u8(vreinterpretq_u8_u64(vandq_u64(vorrq_u64(first, second), vdupq_n_u64(row))));
}

/* Compares the parities of eight columns with their bits of the side. Returns 0 if all agree. */
static inline uint64_t neon_ribbon_eight(const uint8_t *low, const uint8_t *high, int64_t shift,
                                         uint64_t row, uint32_t side)
{
    static const uint8_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t a =
        vpaddq_u8(count_two(low, high, shift, row), count_two(low + 16, high + 16, shift, row));
    const uint8x16_t b = vpaddq_u8(count_two(low + 32, high + 32, shift, row),
                                   count_two(low + 48, high + 48, shift, row));
    const uint8x16_t pairs = vpaddq_u8(a, b);
    const uint8x8_t counts = vpadd_u8(vget_low_u8(pairs), vget_high_u8(pairs));
    const uint8x8_t wrong =
        veor_u8(vtst_u8(counts, vdup_n_u8(1)), vtst_u8(vdup_n_u8((uint8_t)side), vld1_u8(bits)));
    return vget_lane_u64(vreinterpret_u64_u8(wrong), 0);
}

static inline unsigned neon_ribbon_one(const struct ribbon_layer *l, tamis_hash h,
                                       const struct ribbon_aim *aim, size_t i)
{
    const uint8_t *low = l->solution + aim->low[i], *high = l->solution + aim->high[i];
    const int64_t shift = (int64_t)(aim->start[i] % TAMIS__RIBBON_WIDTH);
    const uint64_t row = tamis__ribbon_row(h);
    uint32_t left = tamis__ribbon_columns(l, aim->start[i] / TAMIS__RIBBON_WIDTH);
    uint32_t side = tamis__ribbon_side(h, l->homogeneous, left);
    uint64_t wrong = 0;
    for (; left >= 8; left -= 8, low += 64, high += 64, side >>= 8)
        wrong |= neon_ribbon_eight(low, high, shift, row, side);
    if (left != 0) { /* its segment may end at the end of the memory */
        uint8_t words[2][64] = {{0}, {0}};
        memcpy(words[0], low, 8 * left);
        memcpy(words[1], high, 8 * left);
        wrong |= neon_ribbon_eight(words[0], words[1], shift, row, side);
    }
    return wrong == 0;
}

static void ribbon_ask(const struct ribbon_layer *l, const tamis_hash *h,
                       const struct ribbon_aim *aim, const struct ribbon_aim *ahead, size_t n,
                       uint8_t *bits)
{
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        bits[i / 8] = (uint8_t)(bits[i / 8] | neon_ribbon_one(l, h[i], aim, i) << i % 8);
        if (ahead != NULL) tamis__ribbon_fetch(l, ahead, i);
    }
}

#define LANES 2
#define TARGET
#include "siphash_lanes.h"

const struct kernels tamis__neon = {
    .name = "neon",
    .probe_prefetch = tamis__probe_prefetch,
    .probe_add = tamis__probe_add,
    .probe_query = tamis__probe_query,
    .line_add = neon_line_add,
    .line_query = neon_line_query,
    .line_single = &tamis__line_single_neon,
    .line_query_any = tamis__line_query_any,
    .packed_add = neon_packed_add,
    .compact_add = tamis__compact_add,
    .compact_query = tamis__compact_query,
    .ribbon_aim = tamis__ribbon_aim,
    .ribbon_query = ribbon_ask,
    .ribbon_single = &tamis__ribbon_single,
    .ribbon_solve = tamis__ribbon_solve,
    .ribbon_sums = tamis__ribbon_sums,
    .fuse_aim = tamis__fuse_aim,
    .fuse_query = tamis__fuse_ask,
    TAMIS__LOCKED_IN_C,
    .siphash = siphash_lanes_2,
};

#endif
