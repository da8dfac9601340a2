/* The quotient table of growing: a hash table of short values whose order tells where each
 * belongs. */
#ifndef TAMIS_QUOTIENT_H
#define TAMIS_QUOTIENT_H

#include "../core/bits.h"

/* 2^log home slots in blocks of 64, and a few blocks more for what the last ones push beyond the
 * end. A slot has `width` bits, from 4 to 57; zero is an unused one. All bytes zero: an empty
 * table. */
struct quotient {
    uint8_t *cells;
    unsigned log, width;
    uint64_t blocks;
};

#define TAMIS__QUOTIENT_MIN_LOG 7u
#define TAMIS__QUOTIENT_MAX_LOG 46u

/* Of a block before its slots: which of its 64 homes have a run, which of its 64 slots end one, and
 * how many of its first slots belong to homes of earlier blocks. */
#define TAMIS__BLOCK_OCCUPIED 0u
#define TAMIS__BLOCK_RUN_ENDS 8u
#define TAMIS__BLOCK_OFFSET 16u
#define TAMIS__BLOCK_SLOTS 18u

static inline uint64_t tamis__block_bytes(unsigned width)
{
    return TAMIS__BLOCK_SLOTS + 8 * (uint64_t)width;
}

struct quotient tamis__quotient(uint8_t *cells, unsigned log, unsigned width);
/* Length of a table: its blocks, zeros up to a multiple of 8, and the number of entries. */
uint64_t tamis__quotient_bytes(unsigned log, unsigned width);
/* The entries a table is meant for, 15/16 of its homes. Clusters grow with 1/(1-load)^2. */
uint64_t tamis__quotient_capacity(unsigned log);
uint64_t tamis__quotient_entries(const struct quotient *t);

/* A value is l <= width-1 bits of a fingerprint, then a 1, then zeros. Whether those l bits begin
 * the width-1 bits of f. An unused slot, which no run holds unless its table is broken, matches
 * everything. */
static inline bool tamis__quotient_match(uint64_t value, uint64_t f)
{
    return ((f << 1 | 1) ^ value) <= ((value & (0 - value)) << 1) - 1;
}

/* Whether an entry of this home matches. Of a broken table: true, where it is broken. When none
 * does and `after` is not NULL, *after is the slot where one of this home would be put. */
bool tamis__quotient_find(const struct quotient *t, uint64_t home, uint64_t f, uint64_t *after);
/* Put an entry where find said. False, and nothing has changed: no slot is left that way. Does not
 * look at the capacity. */
bool tamis__quotient_insert(struct quotient *t, uint64_t home, uint64_t after, uint64_t value);
/* Copy every entry of `from` to `to`, which is empty and has one log more and a width of at least
 * one less: the first bit of a fingerprint goes to its home; an entry without bits goes to both.
 * False: no room, or broken. */
bool tamis__quotient_double(const struct quotient *from, struct quotient *to);
/* Adds to counts[l], l < width, the entries of l bits. */
void tamis__quotient_lengths(const struct quotient *t, uint64_t counts[64]);
/* The reason why these bytes are no table, or NULL. Reads them all. */
const char *tamis__quotient_wrong(const struct quotient *t);

/* The value of any slot. */
uint64_t tamis__quotient_slot(const struct quotient *t, uint64_t slot);

#endif
