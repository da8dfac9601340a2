/* What a kind of structure is to the rest of the library: one table of functions.
 *
 * Adding a kind is one file, one line in kind.c, one section of docs/FORMAT.md, and its tests. */
#ifndef TAMIS_KIND_H
#define TAMIS_KIND_H

#include "occupancy.h"

#include <tamis/tamis.h>

/* A section of the image: the same bytes in memory as at rest. */
enum { TAMIS__ROLE_CELLS = 1 };
struct section {
    uint16_t role, kind, variant, cell_bits;
    uint32_t k;
    uint64_t m;
    uint64_t offset, length; /* in the image, bytes */
    uint8_t *cells;          /* length bytes, 64-byte aligned */
};

/* The sections of one structure; kinds that are made of others hand slices of theirs on. */
struct body {
    struct section *sections;
    uint32_t count;
    bool shared; /* several threads add and ask at once */
};

/* Keys as the kinds see them. */
struct batch {
    const tamis_hash *hashes;
    size_t n;
    const tamis_hash *ahead; /* n more, to be prefetched on the way; or NULL */
};

/* What the cells say. */
struct gauge {
    struct occupancy occupancy;
    uint64_t hit, cells; /* set cells, all cells */
    double rate;         /* chance that a random key finds all its cells set */
};

struct kind {
    uint32_t id;
    const char *name;
    uint16_t variants; /* the highest number of a layout variant */

    /* Complete a plan (items, fpr and bytes as tamis_solve promises; m, k) and set
     * promise->fpr_asymptotic. */
    tamis_status (*solve)(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
    /* Describe the sections of a solved plan in out (all but offset and cells); returns how many.
     * With out NULL, only counts. */
    uint32_t (*layout)(const tamis_plan *plan, struct section *out);

    /* The reason why sections from a hostile table (cells not loaded yet) cannot be this kind's, or
     * NULL. What passes makes every later access safe, whatever the cells hold. */
    const char *(*wrong_shape)(const struct body *b);
    /* The same for the cells themselves. Must not read them all. */
    const char *(*wrong_cells)(const struct body *b);

    /* Whether a key is a line of 64 bytes, number mulhi(hi, lines), and the lower 48 bits of lo, and nothing
     * else: then partition.c may add. NULL: never. */
    bool (*packs)(const struct body *b);
    /* Keys packed by tamis__pack into lines that start at `first`. */
    void (*add_packed)(struct body *b, uint64_t first, const uint64_t *words, size_t n,
                       uint8_t *seen);
    /* Ask the memory for what add and query will touch; answers nothing. */
    void (*prefetch)(const struct body *b, const struct batch *keys);
    /* Bit i of seen/bits answers for hash i; the callee clears the spare bits of the last byte. */
    void (*add)(struct body *b, const struct batch *keys, uint8_t *seen);
    void (*query)(const struct body *b, const struct batch *keys, uint8_t *bits);
    /* Equal shapes are checked before. */
    void (*merge)(struct body *into, const struct body *from);
    /* Of the union with `other` when that is not NULL. Reads every cell. */
    void (*gauge)(const struct body *b, const struct body *other, struct gauge *out);
    /* The cells of one key, in probe order; returns how many, writes at most max. */
    size_t (*cells_of)(const struct body *b, tamis_hash h, uint64_t *cells, size_t max);
};

extern const struct kind tamis__bloom, tamis__partitioned, tamis__blocked;

/* NULL when there is no such kind. */
const struct kind *tamis__kind(uint32_t id);

#endif
