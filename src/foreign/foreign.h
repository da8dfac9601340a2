/* Declarations that the files of foreign formats share. A format is one `struct foreign_format` and
 * one file. The operations in foreign.c name a format only to recognise a file and for the facts
 * that no other format has. */
#ifndef TAMIS_FOREIGN_INSIDE_H
#define TAMIS_FOREIGN_INSIDE_H

#include <tamis/foreign.h>

#include "../core/bits.h"
#include "../core/error.h"
#include "../core/memory.h"

/* The smallest positive double is 2^-1074, so no rate requires more probes. This bounds the time
 * that a hostile file can make a query take. */
enum { MOST_PROBES = 1075 };

/* One filter; RedisBloom has chains of them. */
struct link {
    const uint8_t *bits;
    uint8_t *own; /* the same bits if they may be changed, otherwise NULL */
    uint64_t bytes, m;
    uint32_t k;
    uint32_t strategy;            /* guava */
    uint64_t items, capacity;     /* redisbloom: the number of items above which nothing is added */
    double error, bits_per_entry; /* redisbloom, as they stand in the file */
    uint8_t log2;                 /* redisbloom: m is that power of two, or 0 */
};

struct tamis_foreign {
    const struct foreign_format *format;
    const tamis_memory *memory;
    void *owned; /* the bits, or NULL if the caller owns them */
    bool items_known, unnamed_hash;
    uint64_t items, planned_items;
    double fpr_planned;
    uint32_t options, growth; /* redisbloom */
    const uint8_t *extra;
    size_t extra_size;
    uint32_t n_links;
    struct link links[];
};

struct foreign_format {
    uint32_t id, family; /* formats of one family have the same bits */
    const char *name;
    /* Reports whether a file that begins like this has the format, complete or not. NULL if that
     * cannot be determined. */
    bool (*begins)(const uint8_t *p, size_t n);
    tamis_status (*open)(const uint8_t *p, size_t n, const tamis_options *o, tamis_foreign **out,
                         tamis_error *why);
    /* Sets everything of the empty filter except the memory for its bits. */
    tamis_status (*shape)(const tamis_foreign_plan *plan, tamis_foreign *f, tamis_error *why);
    tamis_hash (*hash)(const void *key, size_t len);
    /* Reports whether all bits of the key are set. If `own` (link.own) is not NULL, sets them. */
    bool (*probe)(const struct link *l, uint8_t *own, tamis_hash h);
    /* The first byte that a query reads. */
    uint64_t (*first_byte)(const struct link *l, tamis_hash h);
    /* Passes on what `put` returns, and leaves the reason for that to tamis_foreign_write. */
    tamis_status (*write)(const tamis_foreign *f, tamis_sink put, void *ctx, tamis_error *why);
};

extern const struct foreign_format tamis__foreign_parquet, tamis__foreign_dcso,
    tamis__foreign_redisbloom, tamis__foreign_redis_dump, tamis__foreign_guava;

/* Makes a handle with room for this many links, and with its own bits if bytes is not 0. Returns
 * NULL after TAMIS_ENOMEM. */
tamis_foreign *tamis__foreign_new(const struct foreign_format *format, const tamis_options *o,
                                  uint32_t links, uint64_t bytes, tamis_error *why);

/* Reports whether the bit was set; sets it if own is not NULL. */
static inline bool tamis__touch(const struct link *l, uint8_t *own, uint64_t byte, unsigned bit)
{
    const uint8_t mask = (uint8_t)(1u << bit);
    const bool was = (l->bits[byte] & mask) != 0;
    if (own != NULL) own[byte] |= mask;
    return was;
}

/* The number of set bits, the false-positive rate, and an estimate of the number of items. The rate
 * is the share of set bits to the power of k; for Parquet's filters it is the mean over the blocks
 * (sbbf.c). */
struct census {
    uint64_t ones;
    double rate, items;
};
struct census tamis__sbbf_census(const struct link *l);

/* Reads the header of a Parquet filter of which n bytes are available. Returns its length, or 0
 * after an error. *bytes is within what the format allows, but the bytes need not be there. */
size_t tamis__sbbf_header(const uint8_t *p, size_t n, uint64_t *bytes, bool *unnamed_hash,
                          tamis_error *why);
/* Makes a handle for `bytes` of bits, which the caller puts in `owned`. Opened bits are only read,
 * so links[0].own stays NULL. */
tamis_foreign *tamis__sbbf_new(const tamis_options *o, uint64_t bytes, bool unnamed_hash,
                               tamis_error *why);

/* Checks one link of a RedisBloom filter, read from either form. Returns a reason, or NULL if it is
 * valid. */
const char *tamis__redis_wrong_link(const struct link *l);
/* The last step of opening either form: hands f out, or closes it if the totals do not agree with
 * the links. */
tamis_status tamis__redis_finish(tamis_foreign *f, tamis_foreign **out, tamis_error *why);
tamis_hash tamis__redis_hash(const void *key, size_t len);
bool tamis__redis_probe(const struct link *l, uint8_t *own, tamis_hash h);
uint64_t tamis__redis_first_byte(const struct link *l, tamis_hash h);
tamis_status tamis__redis_shape(const tamis_foreign_plan *plan, tamis_foreign *f, tamis_error *why);

#endif
