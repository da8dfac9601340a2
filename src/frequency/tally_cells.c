#include "tally_cells.h"

uint64_t tamis__tally_greatest(uint64_t octet, unsigned j, unsigned p, unsigned size)
{
    uint64_t most = 0;
    for (unsigned i = p; i < p + size; i += tamis__octet_size(j, i)) {
        const uint64_t v = tamis__tally_value(octet, j, i);
        if (v > most) most = v;
    }
    return most;
}

/* Raises the counter of byte p to at least t. It joins its neighbours until that fits. */
static void raise_one(uint8_t *octet, uint8_t *joins, unsigned p, uint64_t t)
{
    const uint64_t was = tamis__get64(octet);
    const unsigned before = *joins;
    unsigned j = before;
    if (tamis__tally_value(was, j, p) >= t) return;
    while (t > tamis__octet_mask(tamis__octet_span(j, p))) {
        j = tamis__octet_joined(j, p);
        const unsigned size = tamis__octet_size(j, p);
        const uint64_t most = tamis__tally_greatest(was, before, p & ~(size - 1), size);
        if (most > t) t = most;
    }
    const struct octet_span s = tamis__octet_span(j, p);
    tamis__put64(octet, (was & ~(tamis__octet_mask(s) << s.shift)) | t << s.shift);
    *joins = (uint8_t)j;
}

void tamis__tally_raise(uint8_t *cells, uint64_t lines, tamis_hash h, uint64_t t)
{
    struct tally_place at[TALLY_PLACES];
    tamis__tally_aim(cells, lines, h, at);
    for (unsigned i = 0; i < TALLY_PLACES; i++) raise_one(at[i].octet, at[i].joins, at[i].p, t);
}
