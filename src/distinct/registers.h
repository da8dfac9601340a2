/* The registers of a `distinct` sketch: ExaLogLog (O. Ertl, "ExaLogLog: space-efficient and
 * practical approximate distinct counting up to the exa-scale", 2024) with t = 2 and d = 24.
 *
 * A hash chooses one of m = 2^p registers, and a value k = 1, 2, ... for it. Small values are
 * frequent and large ones rare: the 4 values of level l = 0, 1, ... each have the probability
 * 2^-(l+3). A register remembers the greatest value u it has received, and which of the 24 values
 * below u it has received as well. What it forgets when u rises, the values below u - 24, depends
 * only on u, so keys may come in any order and any number of times.
 *
 *     bit  31 ... 24   23          22          ...   0
 *          greatest u  had u - 1?  had u - 2?        had u - 24?          0: no value yet
 *
 * The register index is the first p bits of `hi`, so a sketch of 2^p registers becomes one of
 * 2^(p-1) if each two neighbours are merged. */
#ifndef TAMIS_REGISTERS_H
#define TAMIS_REGISTERS_H

#include "../core/bits.h"

#include <tamis/tamis.h>

#define TAMIS__VALUES_PER_LEVEL 4u
#define TAMIS__REGISTER_WINDOW 24u
/* A value comes from the 62 upper bits of `lo`, of which 0 to 62 are zeros before the first one,
 * and from its two lowest bits. The last level has the rest of the probability, 2^-62. */
#define TAMIS__LEVELS 63u
#define TAMIS__MOST_VALUE (TAMIS__LEVELS * TAMIS__VALUES_PER_LEVEL)

static inline unsigned tamis__value_of(tamis_hash h)
{
    const unsigned zeros = (unsigned)__builtin_clzll(h.lo | 2);
    return zeros * TAMIS__VALUES_PER_LEVEL + (unsigned)(h.lo & 3) + 1;
}

/* -log2 of the probability of each value of a level. */
static inline int tamis__level_exponent(unsigned level)
{
    return (int)(level < TAMIS__LEVELS - 1 ? level + 3 : level + 2);
}

/* The register after it has received a value. */
static inline uint32_t tamis__register_with(uint32_t r, unsigned value)
{
    const unsigned greatest = r >> TAMIS__REGISTER_WINDOW;
    if (value <= greatest) {
        const unsigned below = greatest - value;
        if (below == 0 || below > TAMIS__REGISTER_WINDOW) return r;
        return r | UINT32_C(1) << (TAMIS__REGISTER_WINDOW - below);
    }
    const unsigned rise = value - greatest;
    const uint32_t top = greatest != 0 ? UINT32_C(1) << TAMIS__REGISTER_WINDOW : 0;
    const uint32_t had = top | (r & ((UINT32_C(1) << TAMIS__REGISTER_WINDOW) - 1));
    return (uint32_t)value << TAMIS__REGISTER_WINDOW |
           (rise <= TAMIS__REGISTER_WINDOW ? had >> rise : 0);
}

/* Whether the register has received a value, or has forgotten whether it has, so that receiving it
 * changes nothing. Which of the two holds cannot be predicted, so there is only one comparison. */
static inline bool tamis__register_knows(uint32_t r, unsigned value)
{
    /* Bit 63 - i is whether the register knows the value i below its greatest. */
    const unsigned beyond = 63 - TAMIS__REGISTER_WINDOW;
    const uint64_t known = (uint64_t)(r | UINT32_C(1) << TAMIS__REGISTER_WINDOW) << beyond |
                           ((UINT64_C(1) << beyond) - 1);
    const int64_t below = (int64_t)(r >> TAMIS__REGISTER_WINDOW) - (int64_t)value;
    const uint64_t far = (uint64_t)below < 63 ? (uint64_t)below : 63;
    return ((known << far & ~(uint64_t)below) >> 63) != 0;
}

/* The register that has received what either has. */
static inline uint32_t tamis__register_union(uint32_t a, uint32_t b)
{
    const uint32_t top = UINT32_C(1) << TAMIS__REGISTER_WINDOW;
    const uint32_t more = a > b ? a : b, less = a > b ? b : a;
    const unsigned behind = (more >> TAMIS__REGISTER_WINDOW) - (less >> TAMIS__REGISTER_WINDOW);
    const uint32_t had = less != 0 ? (less & (top - 1)) | top : 0;
    return more | (had >> (behind < 31 ? behind : 31) & (top - 1));
}

/* --- Tokens: what a small sketch keeps of a hash instead of registers --- */

/* The first 56 bits of `hi`, and the value. Two keys have the same token with a probability of
 * 2^-56 / 12. 0 is not a token. */
static inline uint64_t tamis__token_of(tamis_hash h)
{
    return (h.hi & ~UINT64_C(0xff)) | tamis__value_of(h);
}

static inline unsigned tamis__token_value(uint64_t token)
{
    return (unsigned)(token & 0xff);
}

#endif
