/* The quotient table of growing: a hash table of short values whose order determines the home of
 * each. */
#ifndef TAMIS_QUOTIENT_H
#define TAMIS_QUOTIENT_H

#include "../core/bits.h"

/* The table has home slots in blocks of 64, and a few more slots for entries that are pushed beyond
 * the last home. A slot has `width` bits, from 4 to 57, and is zero if unused. A table of zero
 * bytes is empty. One of a whole hash space has a power of two of homes, at least 128. One of a
 * share may have any number from 64 on. */
struct quotient {
    uint8_t *cells;
    uint64_t homes, blocks;
    unsigned width;
    bool whole;
};

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

/* The blocks of a table. Those of a whole have enough slots for the entries that a random table at
 * its capacity pushes beyond its last home, except with probability 1e-11. Shares are small, so
 * they have only 40 to 103 such slots: a table in which they are not enough grows a little early,
 * which happens to less than one in twenty. */
static inline uint64_t tamis__quotient_blocks(uint64_t homes, bool whole)
{
    if (!whole) return (homes + 103) / 64;
    return homes / 64 + (homes < 1024 ? 1 : homes < 4096 ? 2 : 3);
}

static inline struct quotient tamis__quotient(uint8_t *cells, uint64_t homes, unsigned width,
                                              bool whole)
{
    return (struct quotient){cells, homes, tamis__quotient_blocks(homes, whole), width, whole};
}

/* The length of a table: its blocks, zeros up to a multiple of 8, and the number of entries. */
static inline uint64_t tamis__quotient_bytes(uint64_t homes, unsigned width, bool whole)
{
    const uint64_t blocks = tamis__quotient_blocks(homes, whole);
    return (blocks * tamis__block_bytes(width) + 7) / 8 * 8 + 8;
}

/* The number of entries a table is meant for: 15/16 of the homes of a whole, 123/128 of those of a
 * share. Clusters grow with 1/(1-load)^2. */
static inline uint64_t tamis__quotient_capacity(uint64_t homes, bool whole)
{
    return whole ? homes / 16 * 15 : homes * 123 / 128;
}

/* Where the number of entries is kept. */
static inline uint8_t *tamis__quotient_count(const struct quotient *t)
{
    return t->cells + (t->blocks * tamis__block_bytes(t->width) + 7) / 8 * 8;
}

static inline uint64_t tamis__quotient_entries(const struct quotient *t)
{
    return tamis__get64(tamis__quotient_count(t));
}

/* Whether a home has entries. */
static inline bool tamis__quotient_occupied(const struct quotient *t, uint64_t home)
{
    const uint8_t *block = t->cells + home / 64 * tamis__block_bytes(t->width);
    return (tamis__get64(block + TAMIS__BLOCK_OCCUPIED) >> home % 64 & 1) != 0;
}

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
/* The same slot by slot, which quotient_find.h avoids where it can. */
bool tamis__quotient_find_slowly(const struct quotient *t, uint64_t home, uint64_t f,
                                 uint64_t *after);
/* Inserts an entry at the slot that find returned. Returns false, with nothing changed, if there is
 * no unused slot to its right or a block's offset would become too large. The capacity is not
 * checked. */
bool tamis__quotient_insert(struct quotient *t, uint64_t home, uint64_t after, uint64_t value);

/* What the run of a home has of a fingerprint. */
struct quotient_match {
    uint64_t entries; /* how many match; UINT64_MAX: the table is broken */
    uint64_t value;   /* the longest of them, which has the most bits */
    uint64_t slot;    /* the last one of this value */
    uint64_t copies;  /* how many have this value */
    uint64_t after;   /* the slot for a new entry of the home, unless the table is broken */
};
struct quotient_match tamis__quotient_longest(const struct quotient *t, uint64_t home, uint64_t f);
/* Removes the entry in this slot, which is in the run of this home. The table is then as if the
 * entry had never been inserted. */
void tamis__quotient_erase(struct quotient *t, uint64_t home, uint64_t slot);

/* The value without bits, which matches every fingerprint of its home. */
static inline uint64_t tamis__quotient_void(const struct quotient *t)
{
    return UINT64_C(1) << (t->width - 1);
}

/* Copies every entry of `from` to twice as many homes: the first bit of each fingerprint goes to
 * its home, and an entry without bits goes to both. It is then the only one there: the home drops
 * all others, because no query would need them. The homes are those of `to`, or, if `upper` is not
 * NULL, the lower half of them are those of `to` and the upper half those of `upper`. These must be
 * empty, with widths at most one smaller. Returns false if there is no room or `from` is broken. */
bool tamis__quotient_double(const struct quotient *from, struct quotient *to,
                            struct quotient *upper);
/* Sets bit i if the hash of an entry may begin with the `bits` bits of i, in a table of the whole
 * hash space with 2^log_homes homes and at least that many bits in homes and fingerprints. Returns
 * false if the table is broken; then not all bits are set. */
bool tamis__quotient_prefixes(const struct quotient *t, unsigned log_homes, unsigned bits,
                              uint8_t *set);
/* Adds the number of entries of l bits to counts[l], for all l < width. */
void tamis__quotient_lengths(const struct quotient *t, uint64_t counts[64]);
/* The same without entries that match only what another entry of the home matches as well. Runs of
 * more than 128 entries, which only keys that collide have, count as a whole. */
void tamis__quotient_outermost(const struct quotient *t, uint64_t counts[64]);
/* Returns the reason why these bytes are not a table, or NULL. Reads all of them. */
const char *tamis__quotient_wrong(const struct quotient *t);

/* The value of any slot. */
uint64_t tamis__quotient_slot(const struct quotient *t, uint64_t slot);

#endif
