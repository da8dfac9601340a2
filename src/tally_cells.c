#include "tally_cells.h"

#define SPAN(j, p)                                                                                 \
    {                                                                                              \
        ((p) >> TALLY_LEVEL(j, p) << TALLY_LEVEL(j, p)) * 8, 64 - (8 << TALLY_LEVEL(j, p))         \
    }
#define SPANS(j)                                                                                   \
    {                                                                                              \
        SPAN(j, 0), SPAN(j, 1), SPAN(j, 2), SPAN(j, 3), SPAN(j, 4), SPAN(j, 5), SPAN(j, 6),        \
            SPAN(j, 7)                                                                             \
    }
#define SPANS_4(j) SPANS(j), SPANS((j) + 1), SPANS((j) + 2), SPANS((j) + 3)
#define SPANS_16(j) SPANS_4(j), SPANS_4((j) + 4), SPANS_4((j) + 8), SPANS_4((j) + 12)
#define SPANS_64(j) SPANS_16(j), SPANS_16((j) + 16), SPANS_16((j) + 32), SPANS_16((j) + 48)
const struct tally_span tamis__tally_spans[128][8] = {SPANS_64(0), SPANS_64(64)};

uint64_t tamis__tally_greatest(uint64_t octet, unsigned j, unsigned p, unsigned size)
{
    uint64_t most = 0;
    for (unsigned i = p; i < p + size; i += tally_size(j, i)) {
        const uint64_t v = tally_value(octet, j, i);
        if (v > most) most = v;
    }
    return most;
}

unsigned tamis__tally_joined(unsigned j, unsigned p)
{
    static const uint8_t quad[2] = {0x07, 0x70};
    switch (tally_size(j, p)) {
    case 1: return j | 1u << (p & 6);
    case 2: return j | quad[p >> 2];
    default: return 0x7f;
    }
}

/* The counter of byte p becomes at least t, and as long as that takes. */
static void raise_one(uint8_t *octet, uint8_t *joins, unsigned p, uint64_t t)
{
    const uint64_t was = tamis__get64(octet);
    const unsigned before = *joins;
    unsigned j = before;
    if (tally_value(was, j, p) >= t) return;
    while (t > tally_mask(tamis__tally_spans[j][p])) {
        j = tamis__tally_joined(j, p);
        const unsigned size = tally_size(j, p);
        const uint64_t most = tamis__tally_greatest(was, before, p & ~(size - 1), size);
        if (most > t) t = most;
    }
    const struct tally_span s = tamis__tally_spans[j][p];
    tamis__put64(octet, (was & ~(tally_mask(s) << s.shift)) | t << s.shift);
    *joins = (uint8_t)j;
}

void tamis__tally_raise(const struct tally_place *at, uint64_t t)
{
    for (unsigned i = 0; i < TALLY_PLACES; i++) raise_one(at[i].octet, at[i].joins, at[i].p, t);
}
