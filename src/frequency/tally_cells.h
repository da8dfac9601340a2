/* The counters of a tally (tally.c), for tally itself and for top, which has a tally for the keys
 * without an entry. */
#ifndef TAMIS_TALLY_CELLS_H
#define TAMIS_TALLY_CELLS_H

#include "octets.h"

#define TALLY_PLACES 4u

/* --- One octet -------------------------------------------------------------------------------- */

static inline uint64_t tamis__tally_value(uint64_t octet, unsigned j, unsigned p)
{
    const struct octet_span s = tamis__octet_span(j, p);
    const uint64_t v = octet >> s.shift & tamis__octet_mask(s);
    return v < TAMIS__MOST_WEIGHT ? v : TAMIS__MOST_WEIGHT;
}

/* Returns the greatest counter in `size` bytes from p on, which must contain whole counters. */
uint64_t tamis__tally_greatest(uint64_t octet, unsigned j, unsigned p, unsigned size);

/* --- The counters of a key -------------------------------------------------------------------- */

struct tally_place {
    uint8_t *octet, *joins;
    unsigned p;
};

/* Chooses two octets of a line, and a byte in each, from 32 uniform bits. */
static inline void tamis__tally_places_in(uint8_t *line, uint32_t bits, struct tally_place *out)
{
    uint64_t r = (uint64_t)bits * TAMIS__OCTETS;
    const unsigned first = (unsigned)(r >> 32);
    r = (uint64_t)(uint32_t)r * (TAMIS__OCTETS - 1);
    unsigned second = first + 1 + (unsigned)(r >> 32);
    second -= second >= TAMIS__OCTETS ? TAMIS__OCTETS : 0;
    r = (uint64_t)(uint32_t)r * 64;
    out[0] = (struct tally_place){line + 8 * first, line + TAMIS__JOINS + first,
                                  (unsigned)(r >> 32) & 7};
    out[1] =
        (struct tally_place){line + 8 * second, line + TAMIS__JOINS + second, (unsigned)(r >> 35)};
}

static inline void tamis__tally_aim(uint8_t *cells, uint64_t lines, tamis_hash h,
                                    struct tally_place *out)
{
    const uint64_t first = tamis__tally_first(h, lines);
    tamis__tally_places_in(cells + TAMIS__LINE_BYTES * first, (uint32_t)h.hi, out);
    tamis__tally_places_in(cells + TAMIS__LINE_BYTES * tamis__tally_second(h, lines, first),
                           (uint32_t)h.lo, out + 2);
}

/* The contents of a key's counters. */
struct tally_view {
    struct tally_place at[TALLY_PLACES];
    struct octet_span span[TALLY_PLACES];
    uint64_t value[TALLY_PLACES];
    uint64_t count; /* the least value */
    uint64_t room;  /* the greatest value that fits in all of them */
};

static inline void tamis__tally_look(uint8_t *cells, uint64_t lines, tamis_hash h,
                                     struct tally_view *v)
{
    tamis__tally_aim(cells, lines, h, v->at);
    v->count = TAMIS__MOST_WEIGHT;
    v->room = UINT64_MAX;
    for (unsigned i = 0; i < TALLY_PLACES; i++) {
        v->span[i] = tamis__octet_span(*v->at[i].joins, v->at[i].p);
        const uint64_t mask = tamis__octet_mask(v->span[i]);
        v->value[i] = tamis__get64(v->at[i].octet) >> v->span[i].shift & mask;
        v->count = v->value[i] < v->count ? v->value[i] : v->count;
        v->room = mask < v->room ? mask : v->room;
    }
}

/* Raises the counters of a key that are less than t to t. They join their neighbours until that
 * fits. */
void tamis__tally_raise(uint8_t *cells, uint64_t lines, tamis_hash h, uint64_t t);

/* The same, after a look at the counters of this key. */
static inline void tamis__tally_raise_to(const struct tally_view *v, uint8_t *cells, uint64_t lines,
                                         tamis_hash h, uint64_t t)
{
    if (t > v->room) {
        /* It aims again, because the view would have to be in memory for a call that is rare. */
        tamis__tally_raise(cells, lines, h, t);
        return;
    }
    for (unsigned i = 0; i < TALLY_PLACES; i++) {
        /* No branch: whether a counter is too low is as good as random. */
        const uint64_t more = (v->value[i] ^ t) & (0 - (uint64_t)(v->value[i] < t));
        uint8_t *octet = v->at[i].octet;
        tamis__put64(octet, tamis__get64(octet) ^ more << v->span[i].shift);
    }
}

/* Returns the count before. */
static inline uint64_t tamis__tally_add(uint8_t *cells, uint64_t lines, tamis_hash h, uint64_t w)
{
    struct tally_view v;
    tamis__tally_look(cells, lines, h, &v);
    tamis__tally_raise_to(&v, cells, lines, h, tamis__add_up(v.count, w));
    return v.count;
}

static inline uint64_t tamis__tally_count(const uint8_t *cells, uint64_t lines, tamis_hash h)
{
    struct tally_place at[TALLY_PLACES];
    uint64_t least = TAMIS__MOST_WEIGHT;
    tamis__tally_aim((uint8_t *)(uintptr_t)cells, lines, h, at);
    for (unsigned i = 0; i < TALLY_PLACES; i++) {
        const struct octet_span s = tamis__octet_span(*at[i].joins, at[i].p);
        const uint64_t v = tamis__get64(at[i].octet) >> s.shift & tamis__octet_mask(s);
        least = v < least ? v : least;
    }
    return least;
}

#endif
