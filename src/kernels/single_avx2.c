/* The functions for single keys (core/single.h) with AVX2. */
#include "../core/single.h"
#include "../sealed/ribbon/sections.h"
#include "avx2.h"

#if defined(__x86_64__) && defined(__GNUC__)

AVX2 TAMIS__SPECIALIZED bool avx2_single_has(const struct section *s, tamis_hash h)
{
    return avx2_query_one(s->cells, s->m / TAMIS__LINE_BITS, h);
}

AVX2 TAMIS__SPECIALIZED bool avx2_single_put(struct section *s, tamis_hash h)
{
    const uint64_t line = tamis__line_of(h, s->m / TAMIS__LINE_BITS);
    return avx2_add_to_line(s->cells + line * TAMIS__LINE_BYTES, h.lo);
}

TAMIS__ASK_SINGLE(avx2_line, AVX2, avx2_single_has)
TAMIS__ADD_SINGLE(avx2_line, AVX2, avx2_single_put)

const struct single tamis__line_single_avx2 = {single_avx2_line_ask, single_avx2_line_add,
                                               single_avx2_line_ask_hash,
                                               single_avx2_line_add_hash};

/* --- Lines under locks ------------------------------------------------------------------------ */

#ifndef TAMIS__CHECKS_RACES

AVX2 TAMIS__SPECIALIZED bool avx2_sharing_has(const struct section *s, tamis_hash h)
{
    const uint64_t line = tamis__line_of(h, s->m / TAMIS__LINE_BITS);
    return covers(avx2_shared_load(s->cells + line * TAMIS__LINE_BYTES), avx2_line_mask(h.lo));
}

AVX2 TAMIS__SPECIALIZED tamis_status avx2_sharing_put(tamis *t, tamis_hash h, bool *seen)
{
    const struct section *s = t->body.sections;
    const unsigned known =
        avx2_add_sharing(t->body.extra->locks, s->cells, s->m / TAMIS__LINE_BITS, h);
    if (seen != NULL) *seen = known != 0;
    return TAMIS_OK;
}

TAMIS__ASK_SINGLE(avx2_sharing, AVX2, avx2_sharing_has)
TAMIS__ADD_SINGLE_BY(avx2_sharing, AVX2, avx2_sharing_put)

const struct single tamis__locked_single_avx2 = {single_avx2_sharing_ask, single_avx2_sharing_add,
                                                 single_avx2_sharing_ask_hash,
                                                 single_avx2_sharing_add_hash};
#endif

/* --- Ribbons ---------------------------------------------------------------------------------- */

/* Returns a bit for each of eight columns of a window: the parity under the key's row. */
AVX2 TAMIS__SPECIALIZED unsigned avx2_parities(const uint8_t *low, const uint8_t *high,
                                               uint64_t start, tamis_hash h)
{
    const __m256i in_order = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
    /* The parity of n is bit 31 - n. */
    const __m256i of_nibble = _mm256_set1_epi32(0x69960000);
    __m256i v = key_lanes(low, high, start, h);
    v = _mm256_xor_si256(v, _mm256_srli_epi32(v, 16));
    v = _mm256_xor_si256(v, _mm256_srli_epi32(v, 8));
    v = _mm256_xor_si256(v, _mm256_srli_epi32(v, 4));
    v = _mm256_sllv_epi32(of_nibble, _mm256_and_si256(v, _mm256_set1_epi32(15)));
    v = _mm256_permutevar8x32_epi32(v, in_order);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(v));
}

/* Reads eight columns at a time. Where a segment has fewer, another segment follows, except at the
 * end of the solution, where the columns are read one by one. */
AVX2 TAMIS__SPECIALIZED bool avx2_ribbon_has(const struct section *s, tamis_hash h)
{
    const struct ribbon_place at = tamis__ribbon_find(s, h);
    const struct ribbon_layer l = tamis__ribbon_layer(at.section, false);
    const uint64_t segment = at.start / TAMIS__RIBBON_WIDTH;
    const uint64_t next = (at.start + TAMIS__RIBBON_WIDTH - 1) / TAMIS__RIBBON_WIDTH;
    const uint64_t low = 8 * tamis__ribbon_word(&l, segment);
    const uint64_t high = 8 * tamis__ribbon_word(&l, next);
    const uint32_t columns = tamis__ribbon_columns(&l, segment);
    const uint32_t side = tamis__ribbon_side(at.h, l.homogeneous, columns);
    for (uint32_t c = 0; c < columns; c += 8) {
        if (high + 8 * c + 64 > l.solution_bytes)
            return tamis__ribbon_solves(&l, at.h, at.start, c);
        const unsigned got =
            avx2_parities(l.solution + low + 8 * c, l.solution + high + 8 * c, at.start, at.h);
        const unsigned counted = columns - c < 8 ? (1u << (columns - c)) - 1 : 0xff;
        if (((got ^ side >> c) & counted) != 0) return false;
    }
    return true;
}

TAMIS__ASK_SINGLE(avx2_ribbon, AVX2, avx2_ribbon_has)

const struct single tamis__ribbon_single_avx2 = {.ask = single_avx2_ribbon_ask,
                                                 .ask_hash = single_avx2_ribbon_ask_hash};

#endif
