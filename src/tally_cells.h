/* The counters of a tally, as frequency/tally.c describes them: for tally itself, and for top, whose light part is one. */
#ifndef TAMIS_TALLY_CELLS_H
#define TAMIS_TALLY_CELLS_H

#include "kernels/kernels.h"
#include "kind.h"

#define TALLY_LINE 64u
#define TALLY_OCTETS 7u
#define TALLY_COUNTERS 56u /* of a line, before they join */
#define TALLY_JOINS 56u    /* where the bytes begin that tell who has joined */
#define TALLY_PLACES 4u
#define TALLY_MOST_LINES (TAMIS__MAX_CELLS / 512)

/* --- One octet ------------------------------------------------------------------------------------------------ */

#define TALLY_LEVEL(j, p) (((j) >> ((p)&6) & 1) + ((j) >> (((p)&4) | 1) & 1) + ((j) >> 3 & 1))

/* For the counter of byte p under j: its first bit, and 64 less its bits. */
struct tally_span {
    uint8_t shift, spare;
};
extern const struct tally_span tamis__tally_spans[128][8];

static inline uint64_t tally_mask(struct tally_span s)
{
    return ~UINT64_C(0) >> s.spare;
}

/* Bytes of the counter of byte p. */
static inline unsigned tally_size(unsigned j, unsigned p)
{
    return 1u << TALLY_LEVEL(j, p);
}

static inline uint64_t tally_value(uint64_t octet, unsigned j, unsigned p)
{
    const struct tally_span s = tamis__tally_spans[j][p];
    const uint64_t v = octet >> s.shift & tally_mask(s);
    return v < TAMIS__MOST_WEIGHT ? v : TAMIS__MOST_WEIGHT;
}

/* The greatest counter in `size` bytes from p on, which end where counters do. */
uint64_t tamis__tally_greatest(uint64_t octet, unsigned j, unsigned p, unsigned size);

/* j when the counter of byte p has joined its neighbour. */
unsigned tamis__tally_joined(unsigned j, unsigned p);

/* --- The counters of a key -------------------------------------------------------------------------------------- */

struct tally_place {
    uint8_t *octet, *joins;
    unsigned p;
};

/* Two octets of a line and a byte in each, from 32 uniform bits. */
static inline void tally_places_in(uint8_t *line, uint32_t bits, struct tally_place *out)
{
    uint64_t r = (uint64_t)bits * TALLY_OCTETS;
    const unsigned first = (unsigned)(r >> 32);
    r = (uint64_t)(uint32_t)r * (TALLY_OCTETS - 1);
    unsigned second = first + 1 + (unsigned)(r >> 32);
    second -= second >= TALLY_OCTETS ? TALLY_OCTETS : 0;
    r = (uint64_t)(uint32_t)r * 64;
    out[0] =
        (struct tally_place){line + 8 * first, line + TALLY_JOINS + first, (unsigned)(r >> 32) & 7};
    out[1] =
        (struct tally_place){line + 8 * second, line + TALLY_JOINS + second, (unsigned)(r >> 35)};
}

static inline void tally_aim(uint8_t *cells, uint64_t lines, tamis_hash h, struct tally_place *out)
{
    const uint64_t first = tamis__tally_first(h, lines);
    tally_places_in(cells + TALLY_LINE * first, (uint32_t)h.hi, out);
    tally_places_in(cells + TALLY_LINE * tamis__tally_second(h, lines, first), (uint32_t)h.lo,
                    out + 2);
}

/* What they hold. */
struct tally_view {
    struct tally_place at[TALLY_PLACES];
    struct tally_span span[TALLY_PLACES];
    uint64_t octet[TALLY_PLACES], value[TALLY_PLACES];
    uint64_t count; /* the least */
    uint64_t room;  /* what fits all of them */
};

static inline void tally_look(uint8_t *cells, uint64_t lines, tamis_hash h, struct tally_view *v)
{
    tally_aim(cells, lines, h, v->at);
    v->count = TAMIS__MOST_WEIGHT;
    v->room = UINT64_MAX;
    for (unsigned i = 0; i < TALLY_PLACES; i++) {
        v->octet[i] = tamis__get64(v->at[i].octet);
        v->span[i] = tamis__tally_spans[*v->at[i].joins][v->at[i].p];
        const uint64_t mask = tally_mask(v->span[i]);
        v->value[i] = v->octet[i] >> v->span[i].shift & mask;
        v->count = v->value[i] < v->count ? v->value[i] : v->count;
        v->room = mask < v->room ? mask : v->room;
    }
}

/* Those that are less than t become t, and as long as that takes. */
void tamis__tally_raise(const struct tally_place *at, uint64_t t);

static inline void tally_raise_to(const struct tally_view *v, uint64_t t)
{
    if (t > v->room) {
        tamis__tally_raise(v->at, t);
        return;
    }
    for (unsigned i = 0; i < TALLY_PLACES; i++) {
        /* No branch: whether a counter is too low is as good as random. */
        const uint64_t more = (v->value[i] ^ t) & (0 - (uint64_t)(v->value[i] < t));
        tamis__put64(v->at[i].octet, v->octet[i] ^ more << v->span[i].shift);
    }
}

/* The count before. */
static inline uint64_t tally_add(uint8_t *cells, uint64_t lines, tamis_hash h, uint64_t w)
{
    struct tally_view v;
    tally_look(cells, lines, h, &v);
    tally_raise_to(&v, tamis__add_up(v.count, w));
    return v.count;
}

static inline uint64_t tally_count(const uint8_t *cells, uint64_t lines, tamis_hash h)
{
    struct tally_place at[TALLY_PLACES];
    uint64_t least = TAMIS__MOST_WEIGHT;
    tally_aim((uint8_t *)(uintptr_t)cells, lines, h, at);
    for (unsigned i = 0; i < TALLY_PLACES; i++) {
        const struct tally_span s = tamis__tally_spans[*at[i].joins][at[i].p];
        const uint64_t v = tamis__get64(at[i].octet) >> s.shift & tally_mask(s);
        least = v < least ? v : least;
    }
    return least;
}

#endif
