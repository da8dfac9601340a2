/* The tables of a growing filter, which growing.c fills and growing_plan.c lays out. */
#ifndef TAMIS_GROWING_H
#define TAMIS_GROWING_H

#include "../core/handle.h"
#include "quotient.h"

/* The levels of tables: the logarithm, rounded down, of the homes that the whole hash space would
 * have if it were all like this table. */
#define TAMIS__GROWING_MIN_LEVEL 7u
#define TAMIS__GROWING_MAX_LEVEL 46u
/* The level at which the first table of a filter of this version stops growing. */
#define TAMIS__GROWING_FIRST_LEVEL 12u
/* From 3 on the promise is below 1. Up to 51, and up to 46 in a filter with shares, F is at most
 * 56, so that a slot fits in eight bytes wherever it begins. */
#define TAMIS__GROWING_MIN_BASE 3u
#define TAMIS__GROWING_MAX_BASE 51u
#define TAMIS__MOST_SHARED_BASE 46u

/* The bits by which the hash space is divided into shares: at first, and at most. */
#define TAMIS__SHARE_BITS 5u
#define TAMIS__MOST_SHARE_BITS 10u
#define TAMIS__SHARE_PREFIXES (1u << TAMIS__MOST_SHARE_BITS)
#define TAMIS__FIRST_SHARES (1u << TAMIS__SHARE_BITS)
#define TAMIS__SHARE_LEVEL 11u /* where shares begin */
/* How many levels below that of a first table of an earlier version, which may be large, the shares
 * begin, so that they take an eighth of its size. */
#define TAMIS__OLDER_HEAD_START 3u
/* The prefixes of hashes of which a filter with shares knows whether its first table has them. */
#define TAMIS__SUMMARY_BITS 15u
#define TAMIS__SUMMARY_BYTES ((1u << TAMIS__SUMMARY_BITS) / 8)
_Static_assert(TAMIS__DIRECTORY_BYTES ==
                   TAMIS__SHARE_PREFIXES * sizeof(uint16_t) + TAMIS__SUMMARY_BYTES,
               "the directory and the summary of the first table are one block");
/* The most sections of an image. */
#define TAMIS__MOST_SHARES 1024u
/* A share of this many homes or more is divided instead of doubled. */
#define TAMIS__DIVIDED_FROM (UINT64_C(1) << 14)

/* A section is the table of the hashes that begin with `variant` bits which are its own: 0 of them
 * in the first table of a filter, and as many as its sections need to be in order in the others. */
static inline bool tamis__is_share(const struct section *s)
{
    return s->variant != 0;
}

static inline bool tamis__has_shares(const struct body *b)
{
    return b->count > 1;
}

static inline unsigned tamis__log(uint64_t v)
{
    return 63u - (unsigned)__builtin_clzll(v);
}

static inline unsigned tamis__growing_level(const struct section *s)
{
    return s->variant + tamis__log(s->m);
}

static inline struct quotient tamis__growing_table(const struct section *s)
{
    return tamis__quotient(s->cells, s->m, s->cell_bits, !tamis__is_share(s));
}

/* The share of a hash. */
static inline struct section *tamis__share_of(const struct body *b, tamis_hash h)
{
    return b->sections + b->extra->directory[h.hi >> (64 - TAMIS__MOST_SHARE_BITS)];
}

/* The level of the first table; 0 if it has no homes, which no shape allows. */
static inline unsigned tamis__first_level(const struct body *b)
{
    return b->sections->m != 0 ? tamis__log(b->sections->m) : 0;
}

/* F of a first table, and of a share in a filter whose first table has the level `first`, if the
 * whole hash space would have so many homes. */
unsigned tamis__first_bits(unsigned base, unsigned level);
unsigned tamis__share_bits(unsigned base, unsigned first, uint64_t homes);
/* The rate that no number of keys exceeds. */
double tamis__growing_rate(unsigned base);

/* Sets everything but the cells. */
void tamis__set_first_table(struct section *s, unsigned base, unsigned level);
void tamis__set_share(struct section *s, unsigned base, unsigned first, unsigned bits, uint64_t m);
/* The homes of the smallest share, of number i of 2^bits, with room for so many items and at least
 * this level. */
uint64_t tamis__share_homes(uint32_t i, unsigned bits, unsigned level, uint64_t items);

tamis_status tamis__growing_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
uint32_t tamis__growing_layout(const tamis_plan *plan, struct section *out);
const char *tamis__growing_wrong_shape(const struct body *b);

/* The result of adding a key to a table. */
enum tamis__added { TAMIS__SEEN, TAMIS__STORED, TAMIS__NO_ROOM };

/* --- For growing_removable.c ------------------------------------------------------------------ */

/* Adds a key to a table that has grown. */
typedef enum tamis__added tamis__growing_storer(const struct section *s, tamis_hash h);

/* Doubles or divides the section of a hash that has no room otherwise, and adds it. */
tamis_status tamis__growing_enlarge(struct body *b, uint32_t at, tamis_hash h,
                                    tamis__growing_storer *store);

/* Functions of struct kind that both tables have. */
bool tamis__growing_ready(struct body *b);
void tamis__growing_prefetch(const struct body *b, const struct batch *keys);
void tamis__growing_query(const struct body *b, const struct batch *keys, uint8_t *bits);
const char *tamis__growing_wrong_cells(const struct body *b);
/* That of filters from which keys can be removed. */
void tamis__growing_gauge_own(const struct body *b, const struct body *other, double z,
                              struct gauge *out);

#endif
