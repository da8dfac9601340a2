/* Kernels for handles that several threads add to and query at the same time (TAMIS_SHARED), except
 * blocked filters whose lines have locks (locked.h). Every access to a cell is a relaxed atomic
 * one. A bit, once set, is never lost. A bit is tested before it is set, because an atomic OR costs
 * far more than a load.
 *
 * On a big-endian machine an atomic word is not the word of the format, so bytes are used
 * throughout. The bits are therefore the same on every machine. */
#include "kernels.h"

static unsigned shared_set_bit(uint8_t *cells, uint64_t at)
{
    uint8_t *byte = cells + (at >> 3);
    const uint8_t bit = (uint8_t)(1u << (at & 7));
    if ((__atomic_load_n(byte, __ATOMIC_RELAXED) & bit) != 0) return 1;
    return (__atomic_fetch_or(byte, bit, __ATOMIC_RELAXED) & bit) != 0;
}

static unsigned get_bit(const uint8_t *cells, uint64_t at)
{
    return __atomic_load_n(cells + (at >> 3), __ATOMIC_RELAXED) >> (at & 7) & 1;
}

static void shared_answer(uint8_t *bits, size_t i, unsigned yes)
{
    if (i % 8 == 0) bits[i / 8] = 0;
    bits[i / 8] = (uint8_t)(bits[i / 8] | yes << i % 8);
}

static void shared_probe_add(uint8_t *rows, const struct probes *p, const tamis_hash *h,
                             const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = h[i].lo, row = 0;
        unsigned all = 1;
        if (ahead != NULL) tamis__probe_prefetch(rows, p, ahead + i, 1);
        for (uint32_t j = 0; j < p->k; j++) {
            all &= shared_set_bit(rows, row + tamis__mulhi(x, p->m));
            x = tamis__next_probe(x, h[i]);
            row += p->stride;
        }
        shared_answer(seen, i, all);
    }
}

static void shared_probe_query(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                               const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = h[i].lo, row = 0;
        unsigned all = 1;
        if (ahead != NULL) tamis__probe_prefetch(rows, p, ahead + i, 1);
        for (uint32_t j = 0; j < p->k; j++) {
            all &= get_bit(rows, row + tamis__mulhi(x, p->m));
            x = tamis__next_probe(x, h[i]);
            row += p->stride;
        }
        shared_answer(bits, i, all);
    }
}

static unsigned shared_add_to_line(uint8_t *line, uint64_t lo)
{
    unsigned all = 1;
    for (unsigned j = 0; j < 8; j++) all &= shared_set_bit(line, 64 * j + tamis__line_bit(lo, j));
    return all;
}

static void shared_line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                            const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i++)
        shared_answer(
            seen, i,
            shared_add_to_line(table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES, h[i].lo));
}

static void shared_packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        if (n - i > TAMIS__PACKED_AHEAD)
            TAMIS__PREFETCH(tamis__packed_line(table, words[i + TAMIS__PACKED_AHEAD]));
        shared_answer(seen, i, shared_add_to_line(tamis__packed_line(table, words[i]), words[i]));
    }
}

static void shared_line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                              const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        unsigned all = 1;
        for (unsigned j = 0; j < 8; j++) all &= get_bit(line, 64 * j + tamis__line_bit(h[i].lo, j));
        shared_answer(bits, i, all);
    }
}

static unsigned shared_query_any(const struct tables *t, tamis_hash h)
{
    const uint64_t at = tamis__line_of(h, t->lines) * TAMIS__LINE_BYTES;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint8_t *line = tamis__table_at(t, i) + at;
        unsigned all = 1;
        for (unsigned j = 0; j < 8; j++) all &= get_bit(line, 64 * j + tamis__line_bit(h.lo, j));
        if (all) return 1;
    }
    return 0;
}

static void shared_line_query_any(const struct tables *t, const tamis_hash *h,
                                  const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (size_t i = 0; i < n; i++) {
        if (ahead != NULL) tamis__prefetch_tables(t, ahead[i]);
        shared_answer(bits, i, shared_query_any(t, h[i]));
    }
}

static void compact_add(uint8_t *table, uint64_t lines, uint32_t k, const tamis_hash *h, size_t n,
                        uint8_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64_t x = h[i].lo;
        unsigned all = 1;
        for (uint32_t j = 0; j < k; j++) {
            all &= shared_set_bit(line, tamis__compact_bit(x));
            x = tamis__next_probe(x, h[i]);
        }
        shared_answer(seen, i, all);
    }
}

static void shared_compact_query(const uint8_t *table, uint64_t lines, uint32_t k,
                                 const tamis_hash *h, size_t n, uint8_t *bits)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64_t x = h[i].lo;
        unsigned all = 1;
        for (uint32_t j = 0; j < k; j++) {
            all &= get_bit(line, tamis__compact_bit(x));
            x = tamis__next_probe(x, h[i]);
        }
        shared_answer(bits, i, all);
    }
}

const struct kernels tamis__shared = {
    .name = "shared",
    .probe_prefetch = tamis__probe_prefetch,
    .probe_add = shared_probe_add,
    .probe_query = shared_probe_query,
    .line_add = shared_line_add,
    .line_query = shared_line_query,
    .line_query_any = shared_line_query_any,
    .packed_add = shared_packed_add,
    .compact_add = compact_add,
    .compact_query = shared_compact_query,
    .ribbon_aim = tamis__ribbon_aim,
    .ribbon_query = tamis__ribbon_ask,
    .ribbon_solve = tamis__ribbon_solve,
    .ribbon_sums = tamis__ribbon_sums,
    .fuse_aim = tamis__fuse_aim,
    .fuse_query = tamis__fuse_ask,
};
