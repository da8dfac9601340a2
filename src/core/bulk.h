/* Bulk calls and single keys. */
#ifndef TAMIS_BULK_H
#define TAMIS_BULK_H

#include "handle.h"

/* The keys of a call, from one source; the others are NULL. */
struct keys {
    const tamis_bytes *bytes;    /* to be hashed */
    const struct column *column; /* the same, in rows from `row` on */
    const tamis_hash *hashes;
    const uint64_t *words;  /* hashes of 64 bits */
    const int64_t *weights; /* for sketches; NULL: all 1 */
    const uint32_t *values; /* as in struct batch */
    int64_t *counts;        /* as in struct batch */
    size_t row, n;
};

/* Whether the caller supplied hashes. */
static inline bool tamis__are_hashes(const struct keys *in)
{
    return in->hashes != NULL || in->words != NULL;
}

/* TAMIS_OK, or the reason why only the first *done keys were added. seen may be NULL. */
tamis_status tamis__bulk_add(tamis *t, const struct keys *in, uint8_t *seen, size_t *done);

/* Returns how many keys may be members. bits may be NULL. */
size_t tamis__bulk_query(const tamis *t, const struct keys *in, uint8_t *bits);

/* Calls `use` with each group of keys, which are prefetched, and the number of its first key. The
 * caller has checked that keys can be hashed. */
typedef void tamis__counter(void *ctx, const struct batch *group, size_t from);
void tamis__bulk_count(const tamis *t, const struct keys *in, tamis__counter *use, void *ctx);

/* One key. seen may be NULL. */
tamis_status tamis__add_key(tamis *t, const tamis_bytes *key, tamis_hash h, bool *seen);
bool tamis__query_key(const tamis *t, tamis_hash h);

/* The answers of a filter that cannot decide. Returns n. bits may be NULL. */
size_t tamis__all_maybe(uint8_t *bits, size_t n);

/* n of the keys, from one on. */
struct keys tamis__keys_from(const struct keys *all, size_t at, size_t n);

/* tamis__bulk_query with this thread alone. */
size_t tamis__stream_query(const tamis *t, const struct keys *in, uint8_t *bits);

/* --- For the functions that add --- */

/* The hashes of keys [at, at + n). They are computed into `room` unless the caller supplied
 * them. */
const tamis_hash *tamis__hash_group(const tamis *t, const struct keys *in, size_t at, size_t n,
                                    tamis_hash *room);

/* The items, or in a sketch the weight, of a handle whose sections have totals of their own: after
 * any change, and after an add, which changes only the first section. */
void tamis__sum_totals(tamis *t);
void tamis__sum_added(tamis *t);
/* The items of all sections of a shared window whose gate the caller has entered or closed. */
uint64_t tamis__sum_items(const struct body *b);
/* The weight of a sketch that was just opened. */
void tamis__sum_weight(tamis *t);

/* Count n keys that were new. */
void tamis__count_items(tamis *t, size_t n);

/* Count n keys that were added with these answers, which may be NULL unless tamis__needs_seen. */
void tamis__count_added(tamis *t, size_t n, const uint8_t *seen);

#endif
