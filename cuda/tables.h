/* Where a key's cells are in a blocked, fuse or ribbon filter, and what they must hold, as
 * docs/FORMAT.md specifies. Like hash.h, this is compiled for devices and for the processor. The
 * functions at the end answer for one key alone; kernels share the lines of keys among lanes, with
 * the same functions for places and bits. */
#ifndef TAMIS_CUDA_TABLES_H
#define TAMIS_CUDA_TABLES_H

#include "hash.h"

#include <stdbool.h>

#define TABLE_LAYERS 8u /* the most layers of a ribbon */

/* A layer of a ribbon. */
struct table_layer {
    uint64_t segments, boundary;
    const uint64_t *solution;
    const uint8_t *thresholds; /* NULL in the last layer */
    uint32_t columns;
    bool last;
};

/* A filter as kernels see it. */
struct table {
    uint32_t kind;
    uint32_t layers; /* of a ribbon; 0: the empty set */
    uint64_t *cells;
    uint64_t bytes;        /* of all sections, with what is between them */
    uint64_t lines;        /* blocked */
    uint64_t starts, step; /* fuse: cells that can be a key's first; what the salt adds to hi */
    uint32_t d, bits, log;
    struct table_layer layer[TABLE_LAYERS];
};

/* --- blocked ---------------------------------------------------------------------------------- */

TAMIS_CUDA_FN uint64_t line_of(struct hash128 h, uint64_t lines)
{
    return mulhi64(h.hi, lines);
}

TAMIS_CUDA_FN uint64_t line_mask(uint64_t lo, unsigned word)
{
    return UINT64_C(1) << (lo >> 6 * word & 63);
}

/* --- fuse ------------------------------------------------------------------------------------- */

TAMIS_CUDA_FN uint64_t fuse_edge(struct hash128 h, uint64_t step)
{
    return fold64(h.lo ^ UINT64_C(0xa0761d6478bd642f),
                  (h.hi + step) ^ UINT64_C(0xe7037ed1a0b428db));
}

/* Cell j of a key whose first cell is `first`. */
TAMIS_CUDA_FN uint64_t fuse_cell(uint64_t edge, uint64_t first, uint32_t log, uint32_t j)
{
    if (j == 0) return first;
    return (first + ((uint64_t)j << log)) ^ (edge >> 18 * (j - 1) & ((UINT64_C(1) << log) - 1));
}

/* The bits from the start of a cell on, of which the caller drops those above the cell. A cell has
 * at most 32 bits, so it is in two words of 32. The second may be in another line, and is read only
 * if the cell reaches into it. */
TAMIS_CUDA_FN uint64_t fuse_read(const uint32_t *words, uint64_t cell, uint32_t bits)
{
    const uint64_t at = cell * bits;
    const uint32_t *p = words + (at >> 5);
    const unsigned shift = (unsigned)at & 31;
#if defined(__CUDA_ARCH__)
    uint64_t v = __ldg(p);
    if (shift + bits > 32) v |= (uint64_t)__ldg(p + 1) << 32;
#else
    uint64_t v = load32((const uint8_t *)p);
    if (shift + bits > 32) v |= (uint64_t)load32((const uint8_t *)(p + 1)) << 32;
#endif
    return v >> shift;
}

/* Whether the exclusive or of the cells is the key's fingerprint. */
TAMIS_CUDA_FN bool fuse_matches(uint64_t all, struct hash128 h, uint32_t bits)
{
    return (all ^ h.hi >> (64 - bits)) << (64 - bits) == 0;
}

/* --- ribbon ----------------------------------------------------------------------------------- */

TAMIS_CUDA_FN uint64_t remix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

TAMIS_CUDA_FN uint64_t ribbon_start(struct hash128 h, const struct table_layer *l)
{
    return mulhi64(h.hi, 64 * l->segments - 63);
}

/* Whether the layer bumps the key, whose window begins at this slot, to the next layer. */
TAMIS_CUDA_FN bool ribbon_bumps(const struct table_layer *l, uint64_t start)
{
    if (l->last) return false;
    const uint64_t bucket = start / 128;
    const unsigned code = l->thresholds[bucket / 4] >> 2 * (bucket % 4) & 3;
    /* For codes 0 to 3: the first 0, 24, 48 or 128 slots. */
    return start % 128 < (UINT32_C(0x80301800) >> 8 * code & 0xff);
}

TAMIS_CUDA_FN struct hash128 ribbon_next(struct hash128 h)
{
    h.lo ^= remix(h.hi + UINT64_C(0x9e3779b97f4a7c15));
    h.hi ^= remix(h.lo);
    return h;
}

/* Where a segment begins, in words. */
TAMIS_CUDA_FN uint64_t ribbon_word(const struct table_layer *l, uint64_t segment)
{
    return segment * l->columns + (segment > l->boundary ? segment - l->boundary : 0);
}

TAMIS_CUDA_FN uint32_t ribbon_columns(const struct table_layer *l, uint64_t segment)
{
    return l->columns + (segment >= l->boundary);
}

TAMIS_CUDA_FN uint64_t table_word(const uint64_t *p)
{
#if defined(__CUDA_ARCH__)
    return __ldg((const unsigned long long *)p);
#else
    return load64((const uint8_t *)p, NULL);
#endif
}

/* Where a key's window begins in the words of its first and of its last segment, and what its
 * columns must be. A window that begins with a segment has no slot in the next one, which may not
 * exist. */
struct ribbon_window {
    uint64_t low, high, row;
    uint32_t side, columns, shift;
};

TAMIS_CUDA_FN struct ribbon_window window_of(const struct table_layer *l, struct hash128 h,
                                             uint64_t start)
{
    struct ribbon_window w;
    w.low = ribbon_word(l, start / 64);
    w.high = ribbon_word(l, (start + 63) / 64);
    w.row = h.lo | 1;
    w.columns = ribbon_columns(l, start / 64);
    w.side = l->last ? 0 : (uint32_t)h.hi;
    w.shift = (uint32_t)(start % 64);
    return w;
}

/* Whether column c agrees, given its words in both segments. */
TAMIS_CUDA_FN bool ribbon_agrees(uint64_t low, uint64_t high, uint64_t row, uint32_t shift,
                                 uint32_t side, uint32_t c)
{
    /* In two steps, because a shift by 64 is undefined. */
    const uint64_t picked = (low >> shift | high << 1 << (63 - shift)) & row;
#if defined(__CUDA_ARCH__)
    const unsigned odd = __popcll((long long)picked) & 1;
#else
    const unsigned odd = (unsigned)__builtin_parityll(picked);
#endif
    return odd == (side >> c & 1);
}

/* --- One key alone ---------------------------------------------------------------------------- */

TAMIS_CUDA_FN bool line_has(const struct table *t, struct hash128 h)
{
    const uint64_t *line = t->cells + 8 * line_of(h, t->lines);
    uint64_t missing = 0;
    for (unsigned j = 0; j < 8; j++) missing |= ~table_word(line + j) & line_mask(h.lo, j);
    return missing == 0;
}

TAMIS_CUDA_FN bool fuse_has(const struct table *t, struct hash128 h, uint32_t d)
{
    const uint64_t edge = fuse_edge(h, t->step), first = mulhi64(edge, t->starts);
    uint64_t all = 0;
    for (uint32_t j = 0; j < d; j++)
        all ^= fuse_read((const uint32_t *)t->cells, fuse_cell(edge, first, t->log, j), t->bits);
    return fuse_matches(all, h, t->bits);
}

TAMIS_CUDA_FN bool ribbon_has(const struct table *t, struct hash128 h)
{
    for (uint32_t i = 0; i < t->layers; i++) {
        const struct table_layer *l = &t->layer[i];
        const uint64_t start = ribbon_start(h, l);
        if (ribbon_bumps(l, start)) {
            h = ribbon_next(h);
            continue;
        }
        const struct ribbon_window w = window_of(l, h, start);
        for (uint32_t c = 0; c < w.columns; c++)
            if (!ribbon_agrees(table_word(l->solution + w.low + c),
                               table_word(l->solution + w.high + c), w.row, w.shift, w.side, c))
                return false;
        return true;
    }
    return false;
}

#endif
