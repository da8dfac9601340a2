/* The law of a key in a binary fuse filter, for the builder (membership/fuse.c, whose essay tells
 * the rest) and the kernels. */
#ifndef TAMIS_FUSE_H
#define TAMIS_FUSE_H

#include "../core/bits.h"
#include "../kernels/kernels.h"

#include <tamis/tamis.h>

#define TAMIS__FUSE_MOST_BITS 32u /* of a cell */
#define TAMIS__FUSE_LONGEST 18u /* log of a segment's length: longer ones make no smaller filters */
#define TAMIS__FUSE_SPARE 8u    /* bytes after the cells, so that eight can be read anywhere */
#define TAMIS__FUSE_BATCH 128u  /* hashes of one query, at most */
#define TAMIS__FUSE_AIMS (TAMIS__FUSE_BATCH / 8)

/* d cells of `bits` bits for a key. */
struct fuse {
    uint64_t cells, starts; /* starts: cells of the segments where a key's first cell may be */
    uint32_t d, bits, salt;
    unsigned log;         /* of the segment's length */
    const uint8_t *table; /* NULL while there is only a shape */
};

/* What a key is to the cells, under a salt. One product of both halves, folded: keys that collide
 * by chance under one salt do not under the next. */
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

/* Of a key, under any salt. */
static inline uint32_t tamis__fuse_print(tamis_hash h, uint32_t bits)
{
    return (uint32_t)(h.hi >> (64 - bits));
}

/* The first cell by the upper bits, the others by 18 lower ones each. d is a constant where speed
 * matters. */
static inline void tamis__fuse_cells(const struct fuse *f, uint32_t d, uint64_t edge,
                                     uint64_t at[4])
{
    const uint64_t length = UINT64_C(1) << f->log, first = tamis__mulhi(edge, f->starts);
    at[0] = first;
    at[1] = (first + length) ^ (edge & (length - 1));
    at[2] = (first + 2 * length) ^ (edge >> 18 & (length - 1));
    if (d == 4) at[3] = (first + 3 * length) ^ (edge >> 36 & (length - 1));
}

/* The bits from those of a cell on; there are more above. */
static inline uint64_t tamis__fuse_get(const uint8_t *table, uint64_t cell, uint32_t bits)
{
    const uint64_t at = cell * bits;
    return tamis__get64(table + (at >> 3)) >> (at & 7);
}

/* --- Where a query looks ---------------------------------------------------------------------- */

/* What a query keeps of eight keys from the time their cells are prefetched to the time they are
 * read: their fingerprints, and where their cells begin. Each table of kernels has its own way to
 * write that down: the bits (scalar), or the bytes and the bits there. */
struct fuse_aim {
    uint64_t at[4][8];
    uint32_t print[8];
    uint8_t shift[4][8];
};

/* How many bytes to read for a cell: 1 when cells are bytes, else the fewest of 2, 4 and 8 that
 * hold it wherever it begins. Whoever reads more touches lines that were not prefetched. */
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
