/* The quotient table of growing: a hash table of short values whose order determines the home of
 * each. */
#ifndef TAMIS_QUOTIENT_H
#define TAMIS_QUOTIENT_H

#include "../core/bits.h"

/* The table has 2^log home slots in blocks of 64, and a few more blocks for entries that are pushed
 * beyond the last home. A slot has `width` bits, from 4 to 57, and is zero if unused. A table of
 * zero bytes is empty. */
struct quotient {
    uint8_t *cells;
    unsigned log, width;
    uint64_t blocks;
};

#define TAMIS__QUOTIENT_MIN_LOG 7u
#define TAMIS__QUOTIENT_MAX_LOG 46u

/* Offsets in a block: which of its 64 homes have a run, which of its 64 slots end one, how many of
 * its first slots belong to homes of earlier blocks, and the slots. */
#define TAMIS__BLOCK_OCCUPIED 0u
#define TAMIS__BLOCK_RUN_ENDS 8u
#define TAMIS__BLOCK_OFFSET 16u
#define TAMIS__BLOCK_SLOTS 18u

static inline uint64_t tamis__block_bytes(unsigned width)
{
    return TAMIS__BLOCK_SLOTS + 8 * (uint64_t)width;
}

struct quotient tamis__quotient(uint8_t *cells, unsigned log, unsigned width);
/* The length of a table: its blocks, zeros up to a multiple of 8, and the number of entries. */
uint64_t tamis__quotient_bytes(unsigned log, unsigned width);
/* The number of entries a table is meant for, 15/16 of its homes. Clusters grow with
 * 1/(1-load)^2. */
uint64_t tamis__quotient_capacity(unsigned log);
uint64_t tamis__quotient_entries(const struct quotient *t);

/* A value is l <= width-1 bits of a fingerprint, then a 1, then zeros. Returns whether f, of
 * width-1 bits, begins with those l bits. An unused slot, which is in a run only if the table is
 * broken, matches everything. */
static inline bool tamis__quotient_match(uint64_t value, uint64_t f)
{
    return ((f << 1 | 1) ^ value) <= ((value & (0 - value)) << 1) - 1;
}

/* Returns whether an entry of this home matches. In a broken table it returns true where the table
 * is broken. If no entry matches and `after` is not NULL, *after is the slot for a new entry of
 * this home. */
bool tamis__quotient_find(const struct quotient *t, uint64_t home, uint64_t f, uint64_t *after);
/* Inserts an entry at the slot that find returned. Returns false, with nothing changed, if there is
 * no unused slot to its right or a block's offset would become too large. The capacity is not
 * checked. */
bool tamis__quotient_insert(struct quotient *t, uint64_t home, uint64_t after, uint64_t value);
/* Copies every entry of `from` to `to`, which must be empty, with a log one larger and a width at
 * most one smaller. The first bit of each fingerprint goes to its home; an entry without bits goes
 * to both. Returns false if there is no room or `from` is broken. */
bool tamis__quotient_double(const struct quotient *from, struct quotient *to);
/* Adds the number of entries of l bits to counts[l], for all l < width. */
void tamis__quotient_lengths(const struct quotient *t, uint64_t counts[64]);
/* Returns the reason why these bytes are not a table, or NULL. Reads all of them. */
const char *tamis__quotient_wrong(const struct quotient *t);

/* The value of any slot. */
uint64_t tamis__quotient_slot(const struct quotient *t, uint64_t slot);

#endif
