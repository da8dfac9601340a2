/* How a key maps to cells and fingerprint in a binary fuse filter, for the builder (sealed/fuse.c,
 * whose essay explains the filter) and the kernels. */
#ifndef TAMIS_FUSE_H
#define TAMIS_FUSE_H

#include "../core/bits.h"
#include "../kernels/kernels.h"

#include <tamis/tamis.h>

#define TAMIS__FUSE_MOST_BITS 32u /* in a cell */
/* The log of the longest segment. Longer ones do not make filters smaller. */
#define TAMIS__FUSE_LONGEST 18u
#define TAMIS__FUSE_SPARE 8u /* bytes after the cells, so that eight can be read from any cell on */
#define TAMIS__FUSE_BATCH 128u /* the most hashes of one query */
#define TAMIS__FUSE_AIMS (TAMIS__FUSE_BATCH / 8)

/* A filter in which each key has d cells of `bits` bits. */
struct fuse {
    uint64_t cells, starts; /* starts: the number of cells that can be the first of a key */
    uint32_t d, bits, salt;
    unsigned log;         /* log of the length of a segment */
    const uint8_t *table; /* NULL if there is only a shape */
};

/* The edge of a key, which determines its cells, under a salt: one product of both halves, folded.
 * Keys that collide by chance under one salt do not under the next. */
#define TAMIS__FUSE_FLIP_LO UINT64_C(0xa0761d6478bd642f)
#define TAMIS__FUSE_FLIP_HI UINT64_C(0xe7037ed1a0b428db)

static inline uint64_t tamis__fuse_step(uint32_t salt)
{
    return salt * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t tamis__fuse_edge(tamis_hash h, uint32_t salt)
{
    return tamis__fold(h.lo ^ TAMIS__FUSE_FLIP_LO,
                       (h.hi + tamis__fuse_step(salt)) ^ TAMIS__FUSE_FLIP_HI);
}

/* The fingerprint of a key, which does not depend on the salt. */
static inline uint32_t tamis__fuse_print(tamis_hash h, uint32_t bits)
{
    return (uint32_t)(h.hi >> (64 - bits));
}

/* Whether the lower bits of v are the fingerprint. */
static inline bool tamis__fuse_is_print(tamis_hash h, uint64_t v, uint32_t bits)
{
    return (v << (64 - bits) ^ h.hi) >> (64 - bits) == 0;
}

/* Cell j of a key, in a filter with segments of this length. The upper bits of the edge determine
 * the first cell, and 18 lower bits each the others. */
static inline uint64_t tamis__fuse_cell(uint64_t edge, uint64_t first, uint64_t length, uint32_t j)
{
    if (j == 0) return first;
    return (first + j * length) ^ (edge >> 18 * (j - 1) & (length - 1));
}

/* All its cells. d is a constant where speed matters. */
static inline void tamis__fuse_cells(const struct fuse *f, uint32_t d, uint64_t edge,
                                     uint64_t at[4])
{
    const uint64_t first = tamis__mulhi(edge, f->starts);
    for (uint32_t j = 0; j < d; j++)
        at[j] = tamis__fuse_cell(edge, first, UINT64_C(1) << f->log, j);
}

/* The bits from the start of a cell on. The caller has to drop those above the cell. */
static inline uint64_t tamis__fuse_get(const uint8_t *table, uint64_t cell, uint32_t bits)
{
    const uint64_t at = cell * bits;
    return tamis__get64(table + (at >> 3)) >> (at & 7);
}

/* --- Where a query looks ---------------------------------------------------------------------- */

/* What a query keeps about eight keys from the prefetch of their cells to the read: their
 * fingerprints, and where their cells begin. Each table of kernels has its own representation: bit
 * offsets (scalar), or byte offsets and shifts. */
struct fuse_aim {
    uint64_t at[4][8];
    uint32_t print[8];
    uint8_t shift[4][8];
};

/* How many bytes to read for a cell: 1 if cells are bytes, otherwise the fewest of 2, 4 and 8 that
 * contain it wherever it begins. A longer read would touch lines that were not prefetched. */
static inline unsigned tamis__fuse_reach(uint32_t bits)
{
    const uint32_t step = bits & (0 - bits); /* cells begin at multiples of it */
    const uint32_t end = step < 8 ? bits + 8 - step : bits;
    return bits == 8 ? 1 : end <= 16 ? 2 : end <= 32 ? 4 : 8;
}

static inline uint64_t tamis__fuse_load(const uint8_t *p, unsigned reach)
{
    return reach == 1   ? *p
           : reach == 2 ? tamis__get16(p)
           : reach == 4 ? tamis__get32(p)
                        : tamis__get64(p);
}

#endif
