/* Finding a key in a quotient table without branches that depend on the key. No processor can
 * predict them, and after a wrong guess it waits for the memory of this key before it goes on to
 * the next one.
 *
 * It is enough to look at one block. A word has a 1 for each place where a run may begin: the first
 * slot that homes of earlier blocks have left, and the slot after each run end. Bit n of them, from
 * 0 on, belongs to the home that has n occupied homes before it in its block. The run begins there,
 * or at the home itself if that is later, and ends before the next bit:
 *
 *     slot        0    1    2    3    4    5    6    7
 *     value       a0   b1   c1   d1   e3   .    f6   .          as in quotient.c
 *     may begin   1    1    0    0    1    1    0    1          home 3 has two before it: slot 4
 *
 * The slots of the run are compared all at once, in one word. What does not fit in the word or the
 * block is searched slot by slot, which happens to one key in fifteen. */
#ifndef TAMIS_QUOTIENT_FIND_H
#define TAMIS_QUOTIENT_FIND_H

#include "quotient.h"

/* Two operations that some processors have instructions for: the number of bits, and a word that
 * has only the n-th bit of another, from 0 on, or none if that has no more than n. */
typedef unsigned tamis__bit_counter(uint64_t word);
typedef uint64_t tamis__bit_selector(uint64_t word, unsigned n);

/* Counts bits in all bytes at once, and then in the byte that has the n-th. */
TAMIS__SPECIALIZED uint64_t tamis__select(uint64_t word, unsigned n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t sums = word - (word >> 1 & UINT64_C(0x5555555555555555));
    sums = (sums & UINT64_C(0x3333333333333333)) + (sums >> 2 & UINT64_C(0x3333333333333333));
    /* Byte i becomes the number of set bits in bytes 0 ... i. */
    sums = ((sums + (sums >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * ones;
    const uint64_t reached = ((sums | tops) - (n + 1) * ones) & tops;
    if (reached == 0) return 0;
    const unsigned byte = (unsigned)__builtin_ctzll(reached) & 56;
    const uint64_t left = n - (sums << 8 >> byte & 255);
    /* Byte i becomes bit i of the byte, and then the number of set bits in 0 ... i. */
    uint64_t bits = (word >> byte & 255) * ones & UINT64_C(0x8040201008040201);
    bits = ((bits + (tops - ones)) >> 7 & ones) * ones;
    const uint64_t passed = ((bits | tops) - (left + 1) * ones) & tops;
    return UINT64_C(1) << (byte + ((unsigned)__builtin_ctzll(passed) >> 3));
}

/* For each width of slots, a word with a 1 for each of them, from the lowest on. */
extern const uint64_t tamis__quotient_lanes[58];

/* Whether one of the slots in the lowest bits of a word matches f. */
static inline bool tamis__quotient_matches(uint64_t word, unsigned bits, unsigned width, uint64_t f)
{
    const uint64_t lanes = tamis__quotient_lanes[width];
    /* The bits below the fingerprint, and the lowest 1. Slots in use are not zero, so no slot
     * borrows from the next; one in a broken run matches and may spoil only those after it. */
    const uint64_t rest = word ^ (word - lanes);
    const uint64_t differs = ((f << 1 | 1) * lanes ^ word) & ~rest;
    const uint64_t equal = (differs - lanes) & ~differs & lanes << (width - 1);
    return (equal & ((UINT64_C(1) << bits) - 1)) != 0;
}

enum tamis__found { TAMIS__NOT_THERE, TAMIS__THERE, TAMIS__BEYOND };

/* tamis__quotient_find in the block of the home. If *known is false, the home has no entries. */
TAMIS__SPECIALIZED enum tamis__found
tamis__quotient_look(const uint8_t *cells, unsigned width, uint64_t home, uint64_t f,
                     uint64_t *after, tamis__bit_counter *count, tamis__bit_selector *select)
{
    const unsigned within = (unsigned)(home % 64);
    const uint8_t *block = cells + home / 64 * tamis__block_bytes(width);
    const uint64_t homes = tamis__get64(block + TAMIS__BLOCK_OCCUPIED);
    const uint64_t ends = tamis__get64(block + TAMIS__BLOCK_RUN_ENDS);
    const unsigned skipped = tamis__get16(block + TAMIS__BLOCK_OFFSET);
    const unsigned known = (unsigned)(homes >> within & 1);
    if (skipped > 63) return TAMIS__BEYOND;
    const uint64_t starts = ends >> skipped << skipped << 1 | UINT64_C(1) << skipped;
    const uint64_t from = select(starts, count(homes & ((UINT64_C(1) << within) - 1)));
    const uint64_t beyond = starts & (0 - (from << 1));
    if (beyond == 0) return TAMIS__BEYOND;
    const unsigned least = (unsigned)__builtin_ctzll(from), end = (unsigned)__builtin_ctzll(beyond);
    const unsigned start = least > within ? least : within;
    const unsigned bits = (end - start) * width; /* wraps in a broken table */
    if (bits > 57 && known != 0) return TAMIS__BEYOND;
    const unsigned bit = start * width, last = 8 * width - 8;
    const unsigned byte = bit / 8 < last ? bit / 8 : last;
    const uint64_t word = tamis__get64(block + TAMIS__BLOCK_SLOTS + byte) >> (bit - 8 * byte);
    *after = home - within + (known != 0 ? end : start);
    return (enum tamis__found)(known & tamis__quotient_matches(word, bits & 63, width, f));
}

#endif
