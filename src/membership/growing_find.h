/* Finding and adding a key of a growing filter, for kernels with and without instructions for bits
 * (quotient_find.h). */
#ifndef TAMIS_GROWING_FIND_H
#define TAMIS_GROWING_FIND_H

#include "../core/bulk.h"
#include "../core/cpu.h"
#include "../core/single.h"
#include "growing.h"
#include "quotient_find.h"

/* Where a hash belongs in a table, and the fingerprint of as many bits as its slots have. */
struct aim {
    uint64_t home, f;
};

/* The hash without the bits that its share has in common, as a fraction u of 1, is multiplied by
 * the number of homes. The product is exact, with the whole hash, so that the place in a table of
 * twice the homes, or in half of the share, follows from the place in this one. */
static inline struct aim tamis__growing_aim(const struct section *s, tamis_hash h)
{
    const unsigned bits = s->variant;
    const uint64_t hi = h.hi << bits | h.lo >> 1 >> (63 - bits), lo = h.lo << bits;
    uint64_t fraction;
    struct aim a;
    tamis__multiply(hi, s->m, &fraction, &a.home);
    a.home += __builtin_add_overflow(fraction, tamis__mulhi(lo, s->m), &fraction);
    a.f = fraction >> (65 - s->cell_bits);
    return a;
}

/* Whether the first table, beside which there are shares, may have the hash. */
static inline bool tamis__first_may_have(const struct body *b, tamis_hash h)
{
    const uint8_t *summary = (const uint8_t *)(b->extra->directory + TAMIS__SHARE_PREFIXES);
    return tamis__bit(summary, h.hi >> (64 - TAMIS__SUMMARY_BITS));
}

/* The general search, apart from the usual one. */
bool tamis__growing_find_slowly(const struct section *s, struct aim a, uint64_t *after);

TAMIS__SPECIALIZED bool tamis__growing_find(const struct section *s, struct aim a, uint64_t *after,
                                            tamis__bit_counter *count, tamis__bit_selector *select)
{
    const enum tamis__found found =
        tamis__quotient_look(s->cells, s->cell_bits, a.home, a.f, after, count, select);
    return found == TAMIS__BEYOND ? tamis__growing_find_slowly(s, a, after) : found == TAMIS__THERE;
}

/* The slot of a home, which has an entry of it unless that was pushed to the right. */
static inline const uint8_t *tamis__growing_slot(const struct section *s, uint64_t home)
{
    return s->cells + home / 64 * tamis__block_bytes(s->cell_bits) + TAMIS__BLOCK_SLOTS +
           home % 64 * s->cell_bits / 8;
}

TAMIS__SPECIALIZED bool tamis__growing_has(const struct body *b, tamis_hash h,
                                           tamis__bit_counter *count, tamis__bit_selector *select)
{
    uint64_t after;
    const struct section *first = b->sections;
    if (tamis__has_shares(b)) {
        const struct section *s = tamis__share_of(b, h);
        const struct aim a = tamis__growing_aim(s, h);
        const bool found = tamis__growing_find(s, a, &after, count, select);
        if (!tamis__first_may_have(b, h)) return found;
        if (found) return true;
    }
    return tamis__growing_find(first, tamis__growing_aim(first, h), &after, count, select);
}

/* Stores a key at the place that find returned. */
enum tamis__added tamis__growing_store(const struct section *s, struct aim a, uint64_t after);
/* Adds a key for which a table has to grow. */
tamis_status tamis__growing_grow(tamis *t, tamis_hash h, bool *seen);

TAMIS__SPECIALIZED enum tamis__added tamis__growing_put(const struct body *b, tamis_hash h,
                                                        tamis__bit_counter *count,
                                                        tamis__bit_selector *select)
{
    uint64_t after;
    const struct section *s = b->sections;
    if (tamis__has_shares(b)) {
        if (tamis__first_may_have(b, h) &&
            tamis__growing_find(s, tamis__growing_aim(s, h), &after, count, select))
            return TAMIS__SEEN;
        s = tamis__share_of(b, h);
    }
    const struct aim a = tamis__growing_aim(s, h);
    if (tamis__growing_find(s, a, &after, count, select)) return TAMIS__SEEN;
    return tamis__growing_store(s, a, after);
}

/* --- Prefetching ------------------------------------------------------------------------------ */

TAMIS__PREFETCHES tamis__growing_prefetch_keys(const struct body *b, const tamis_hash *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct section *s = tamis__has_shares(b) ? tamis__share_of(b, h[i]) : b->sections;
        const uint64_t home = tamis__growing_aim(s, h[i]).home;
        const uint8_t *slot = tamis__growing_slot(s, home);
        TAMIS__PREFETCH(s->cells + home / 64 * tamis__block_bytes(s->cell_bits));
        TAMIS__PREFETCH(slot - 1); /* for the first slot, the last byte before the slots */
        TAMIS__PREFETCH(slot + 24);
    }
}

TAMIS__PREFETCHES tamis__growing_prefetch_for(const struct body *b, const struct batch *keys)
{
    if (TAMIS__AHEAD(keys->ahead))
        tamis__growing_prefetch_keys(b, keys->ahead, keys->n);
    else if (keys->n > 1 && tamis__has_shares(b))
        tamis__growing_prefetch_keys(b, keys->hashes, keys->n);
}

/* --- What a kernel consists of ---------------------------------------------------------------- */

struct growing_kernel {
    void (*query)(const struct body *b, const struct batch *keys, uint8_t *bits);
    enum tamis__added (*put)(const struct body *b, tamis_hash h);
    struct single single, asks; /* asks: of filters whose keys can be removed, only the queries */
};
/* The fastest one that the processor runs. */
const struct growing_kernel *tamis__growing_kernel(void);

/* Whether kernels/growing_bits.c has kernels. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TAMIS_LEAN)
#define TAMIS__GROWING_BITS
#endif
extern const struct growing_kernel tamis__growing_in_c, tamis__growing_popcnt, tamis__growing_pdep;

/* Defines the functions of a kernel, and its table tamis__growing_NAME. TARGET is empty or the
 * attribute of an instruction set. */
#define TAMIS__GROWING_KERNEL(name, TARGET, count, select)                                         \
    TARGET static void growing_##name##_query(const struct body *b, const struct batch *keys,      \
                                              uint8_t *bits)                                       \
    {                                                                                              \
        tamis__growing_prefetch_for(b, keys);                                                      \
        memset(bits, 0, (keys->n + 7) / 8);                                                        \
        for (size_t i = 0; i < keys->n; i++)                                                       \
            bits[i / 8] =                                                                          \
                (uint8_t)(bits[i / 8] | tamis__growing_has(b, keys->hashes[i], count, select)      \
                                            << i % 8);                                             \
    }                                                                                              \
    TARGET static enum tamis__added growing_##name##_put(const struct body *b, tamis_hash h)       \
    {                                                                                              \
        return tamis__growing_put(b, h, count, select);                                            \
    }                                                                                              \
    TARGET TAMIS__SPECIALIZED bool single_growing_##name##_has(const tamis *t, tamis_hash h)       \
    {                                                                                              \
        return tamis__growing_has(&t->body, h, count, select);                                     \
    }                                                                                              \
    TARGET TAMIS__SPECIALIZED tamis_status single_growing_##name##_put(tamis *t, tamis_hash h,     \
                                                                       bool *seen)                 \
    {                                                                                              \
        const enum tamis__added added = tamis__growing_put(&t->body, h, count, select);            \
        if (added == TAMIS__NO_ROOM) return tamis__growing_grow(t, h, seen);                       \
        return tamis__count_one(t, added == TAMIS__SEEN, seen);                                    \
    }                                                                                              \
    TAMIS__ASK_SINGLE_BY(growing_##name, TARGET, single_growing_##name##_has)                      \
    TAMIS__ADD_SINGLE_BY(growing_##name, TARGET, single_growing_##name##_put)                      \
    const struct growing_kernel tamis__growing_##name = {                                          \
        growing_##name##_query,                                                                    \
        growing_##name##_put,                                                                      \
        {single_growing_##name##_ask, single_growing_##name##_add,                                 \
         single_growing_##name##_ask_hash, single_growing_##name##_add_hash},                      \
        {.ask = single_growing_##name##_ask, .ask_hash = single_growing_##name##_ask_hash}};

#endif
