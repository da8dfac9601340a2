/* Kernels for 64-bit ARM, where NEON is always there: a line of the blocked filter is four registers. */
#include "kernels.h"

#if defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

/* Words 2i and 2i+1 of the key's mask. Shift counts are signed: negative ones go right. */
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

static void line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                       const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64x2_t missing = vdupq_n_u64(0);
        for (int j = 0; j < 4; j++) {
            const uint64x2_t words = vreinterpretq_u64_u8(vld1q_u8(line + 16 * j));
            missing = vorrq_u64(missing, vbicq_u64(mask_of(h[i].lo, j), words));
        }
        bits[i / 8] = (uint8_t)(bits[i / 8] | is_zero(missing) << i % 8);
    }
}

static inline unsigned add_to_line(uint8_t *line, uint64_t lo)
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

static void line_add(uint8_t *table, uint64_t lines, const tamis_hash *h, const tamis_hash *ahead,
                     size_t n, uint8_t *seen)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    memset(seen, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        seen[i / 8] = (uint8_t)(seen[i / 8] | add_to_line(line, h[i].lo) << i % 8);
    }
}

static void packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    memset(seen, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        if (n - i > TAMIS__PACKED_AHEAD)
            TAMIS__PREFETCH(tamis__packed_line(table, words[i + TAMIS__PACKED_AHEAD]));
        uint8_t *line = tamis__packed_line(table, words[i]);
        seen[i / 8] = (uint8_t)(seen[i / 8] | add_to_line(line, words[i]) << i % 8);
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
    .line_add = line_add,
    .line_query = line_query,
    .packed_add = packed_add,
    .compact_add = tamis__compact_add,
    .compact_query = tamis__compact_query,
    .ribbon_aim = tamis__ribbon_aim,
    .ribbon_query = tamis__ribbon_ask,
    .ribbon_solve = tamis__ribbon_solve,
    .siphash = siphash_lanes,
};

#endif
