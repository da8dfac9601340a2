/* Which line and which bits of a blocked filter belong to a hash, as docs/FORMAT.md specifies. All
 * kernels share this arithmetic. It is plain C99, so that code for other processors can include it
 * as well. reader/tamis-reader.h must be a single file and repeats it;
 * tests/library/test_small_reader.c compares both. */
#ifndef TAMIS_LINES_H
#define TAMIS_LINES_H

#include "../core/bits.h"

#include <tamis/tamis.h>

/* A full-period multiplier modulo 2^64 with good lattice structure in up to 32 dimensions (P.
 * L'Ecuyer, "Tables of linear congruential generators of different sizes and good lattice
 * structure", 1999). Stepping x by it, with the key's other 64 bits as increment, makes k probes
 * that behave as independent ones even in filters of a few hundred bits, where the usual h1 + i·h2
 * is measurably worse (docs/ACCURACY.md). */
#define TAMIS__PROBE_MULTIPLIER UINT64_C(2862933555777941757)

static inline uint64_t tamis__next_probe(uint64_t x, tamis_hash h)
{
    return x * TAMIS__PROBE_MULTIPLIER + h.hi;
}

/* A line of the blocked filter has 8 words of 64 bits; a key has one bit in each word. */
#define TAMIS__LINE_BYTES 64u
#define TAMIS__LINE_BITS 512u

static inline uint64_t tamis__line_of(tamis_hash h, uint64_t lines)
{
    return tamis__mulhi(h.hi, lines);
}

static inline unsigned tamis__line_bit(uint64_t lo, unsigned word)
{
    return (unsigned)(lo >> 6 * word) & 63;
}

/* Reports whether the line has every bit of a key. */
static inline bool tamis__line_has(const uint8_t *line, uint64_t lo)
{
    uint64_t missing = 0;
    for (unsigned j = 0; j < 8; j++)
        missing |= ~tamis__get64(line + 8 * j) & UINT64_C(1) << tamis__line_bit(lo, j);
    return missing == 0;
}

/* Sets them, and reports whether the line had them before. */
static inline bool tamis__line_put(uint8_t *line, uint64_t lo)
{
    uint64_t missing = 0;
    for (unsigned j = 0; j < 8; j++) {
        const uint64_t word = tamis__get64(line + 8 * j);
        const uint64_t bit = UINT64_C(1) << tamis__line_bit(lo, j);
        missing |= bit & ~word;
        tamis__put64(line + 8 * j, word | bit);
    }
    return missing == 0;
}

/* The compact variant has k bits anywhere in the line, with the probes of a classic filter of 512
 * bits. */
static inline unsigned tamis__compact_bit(uint64_t x)
{
    return (unsigned)(x >> 55);
}

#endif
