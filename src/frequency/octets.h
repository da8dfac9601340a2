/* Lines of one-byte counters that join their neighbour when they are full, for tally, signed-tally
 * and top. Each kind defines what joining does to the values.
 *
 * A line is 64 bytes: seven octets of eight counters, seven bytes that record which counters have
 * joined, and a zero.
 *
 *     0        8        16       ...      48       56 57 58 59 60 61 62 63
 *     | octet 0| octet 1| octet 2|  ...   | octet 6| j0 j1 j2 j3 j4 j5 j6 0
 *
 *     j of an octet   bits 0, 2, 4, 6: bytes 0-1, 2-3, 4-5, 6-7 are one counter
 *                     bits 1, 5:       bytes 0-3, 4-7 are one counter
 *                     bit 3:           all eight bytes are one counter
 *
 * A bit implies those of its halves. Three bits cover a byte, and the number of them that are set
 * is the level of its counter: levels 0 to 3 have 1, 2, 4 and 8 bytes. */
#ifndef TAMIS_OCTETS_H
#define TAMIS_OCTETS_H

#include "../core/kind.h"
#include "../kernels/kernels.h"

#define TAMIS__OCTETS 7u
#define TAMIS__LINE_COUNTERS 56u /* before they join */
#define TAMIS__JOINS 56u         /* where j0 is */

#define TAMIS__LEVEL(j, p) (((j) >> ((p)&6) & 1) + ((j) >> (((p)&4) | 1) & 1) + ((j) >> 3 & 1))

/* The counter of byte p under j: its first bit, and 64 minus the number of its bits. A table of
 * 2 KiB, of which few cache lines are used, is faster than computing them. */
struct octet_span {
    uint8_t shift, spare;
};
extern const struct octet_span tamis__octet_spans[128][8];

/* j is checked when an image is opened. If a mapped file changes later, against the rules, the
 * answer is wrong, and nothing worse happens. */
static inline struct octet_span tamis__octet_span(unsigned j, unsigned p)
{
    return tamis__octet_spans[j & 127][p];
}

static inline uint64_t tamis__octet_mask(struct octet_span s)
{
    return ~UINT64_C(0) >> s.spare;
}

/* The size of the counter of byte p, in bytes. */
static inline unsigned tamis__octet_size(unsigned j, unsigned p)
{
    return 1u << TAMIS__LEVEL(j, p);
}

/* Returns j after the counter of byte p has joined its neighbour. */
static inline unsigned tamis__octet_joined(unsigned j, unsigned p)
{
    static const uint8_t quad[2] = {0x07, 0x70};
    switch (tamis__octet_size(j, p)) {
    case 1: return j | 1u << (p & 6);
    case 2: return j | quad[p >> 2];
    default: return 0x7f;
    }
}

static inline uint64_t tamis__octet_lines(const struct section *s)
{
    return s->length / TAMIS__LINE_BYTES;
}

TAMIS__PREFETCHES tamis__octet_fetch(const struct section *s, const tamis_hash *h, size_t n)
{
    const uint64_t lines = tamis__octet_lines(s);
    for (size_t i = 0; i < n; i++) {
        const uint64_t first = tamis__tally_first(h[i], lines);
        TAMIS__PREFETCH(s->cells + TAMIS__LINE_BYTES * first);
        TAMIS__PREFETCH(s->cells + TAMIS__LINE_BYTES * tamis__tally_second(h[i], lines, first));
    }
}

/* --- Functions for struct kind; `places` is the number of counters of a key --- */

tamis_status tamis__solve_octets(tamis_plan *p, uint32_t places, tamis_error *why);
uint32_t tamis__octets_section(const tamis_plan *plan, uint16_t kind, struct section *out);
const char *tamis__wrong_lines(const struct body *b, uint32_t kind, uint32_t places);
const char *tamis__wrong_octets(const struct body *b);
/* Merge octet by octet. A merger returns j of the sum of two octets, and sets the sum. */
typedef unsigned tamis__octet_merger(uint64_t a, unsigned ja, uint64_t b, unsigned jb,
                                     uint64_t *sum);
void tamis__merge_octets(struct section *into, const struct section *from,
                         tamis__octet_merger *merge);
void tamis__octet_prefetch(const struct body *b, const struct batch *keys);

#endif
