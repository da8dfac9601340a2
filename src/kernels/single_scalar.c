/* The functions for single keys (core/single.h) of filters made of bits, in plain C. */
#include "../core/single.h"
#include "../sealed/ribbon/sections.h"
#include "kernels.h"

#ifdef TAMIS__SINGLES

/* --- Probes in rows of bits ------------------------------------------------------------------- */

/* The stride is 0, or as long as a row. It stops at the first 0: only the memory of one key is
 * waited for, so most of the probes of a non-member would be in vain. */
TAMIS__SPECIALIZED bool single_probes_hit(const struct section *s, tamis_hash h, uint64_t stride)
{
    const uint8_t *rows = s->cells;
    const uint64_t m = s->m;
    uint64_t x = h.lo, row = 0;
    for (uint32_t j = s->k;;) {
        const uint64_t at = row + tamis__mulhi(x, m);
        if ((rows[at >> 3] & 1u << (at & 7)) == 0) return false;
        if (--j == 0) return true;
        x = tamis__next_probe(x, h);
        row += stride;
    }
}

TAMIS__SPECIALIZED bool single_put_probes(struct section *s, tamis_hash h, uint64_t stride)
{
    uint8_t *rows = s->cells;
    const uint64_t m = s->m;
    uint64_t x = h.lo, row = 0;
    unsigned all = 1;
    for (uint32_t j = s->k; j > 0; j--) {
        const uint64_t at = row + tamis__mulhi(x, m);
        const unsigned byte = rows[at >> 3];
        all &= byte >> (at & 7);
        rows[at >> 3] = (uint8_t)(byte | 1u << (at & 7));
        x = tamis__next_probe(x, h);
        row += stride;
    }
    return all & 1;
}

TAMIS__SPECIALIZED bool single_probe_has(const struct section *s, tamis_hash h)
{
    return single_probes_hit(s, h, 0);
}

TAMIS__SPECIALIZED bool single_rows_have(const struct section *s, tamis_hash h)
{
    return single_probes_hit(s, h, s->m);
}

TAMIS__SPECIALIZED bool single_probe_put(struct section *s, tamis_hash h)
{
    return single_put_probes(s, h, 0);
}

TAMIS__SPECIALIZED bool single_rows_put(struct section *s, tamis_hash h)
{
    return single_put_probes(s, h, s->m);
}

TAMIS__ASK_SINGLE(probe, , single_probe_has)
TAMIS__ADD_SINGLE(probe, , single_probe_put)
TAMIS__ASK_SINGLE(rows, , single_rows_have)
TAMIS__ADD_SINGLE(rows, , single_rows_put)

const struct single tamis__probe_single = {single_probe_ask, single_probe_add,
                                           single_probe_ask_hash, single_probe_add_hash};
const struct single tamis__rows_single = {single_rows_ask, single_rows_add, single_rows_ask_hash,
                                          single_rows_add_hash};

/* --- Lines ------------------------------------------------------------------------------------ */

TAMIS__SPECIALIZED uint8_t *single_line(const struct section *s, tamis_hash h)
{
    return s->cells + tamis__line_of(h, s->m / TAMIS__LINE_BITS) * TAMIS__LINE_BYTES;
}

TAMIS__SPECIALIZED bool single_line_has(const struct section *s, tamis_hash h)
{
    return tamis__line_has(single_line(s, h), h.lo);
}

TAMIS__SPECIALIZED bool single_line_put(struct section *s, tamis_hash h)
{
    return tamis__line_put(single_line(s, h), h.lo);
}

TAMIS__ASK_SINGLE(line, , single_line_has)
TAMIS__ADD_SINGLE(line, , single_line_put)

const struct single tamis__line_single = {single_line_ask, single_line_add, single_line_ask_hash,
                                          single_line_add_hash};

/* --- Lines under locks ------------------------------------------------------------------------ */

TAMIS__SPECIALIZED bool sharing_has(const struct section *s, tamis_hash h)
{
    const uint64_t line = tamis__line_of(h, s->m / TAMIS__LINE_BITS);
    return tamis__locked_has(s->cells + line * TAMIS__LINE_BYTES, h.lo) != 0;
}

TAMIS__SPECIALIZED tamis_status sharing_put(tamis *t, tamis_hash h, bool *seen)
{
    const struct section *s = t->body.sections;
    const unsigned known =
        tamis__locked_add_one(t->body.extra->locks, s->cells, s->m / TAMIS__LINE_BITS, h);
    if (seen != NULL) *seen = known != 0;
    return TAMIS_OK;
}

TAMIS__ASK_SINGLE(sharing, , sharing_has)
TAMIS__ADD_SINGLE_BY(sharing, , sharing_put)

const struct single tamis__locked_single = {single_sharing_ask, single_sharing_add,
                                            single_sharing_ask_hash, single_sharing_add_hash};

/* --- Ribbons ---------------------------------------------------------------------------------- */

TAMIS__SPECIALIZED bool single_ribbon_has(const struct section *s, tamis_hash h)
{
    const struct ribbon_place at = tamis__ribbon_find(s, h);
    const struct ribbon_layer l = tamis__ribbon_layer(at.section, false);
    return tamis__ribbon_solves(&l, at.h, at.start, 0);
}

TAMIS__ASK_SINGLE(ribbon, , single_ribbon_has)

const struct single tamis__ribbon_single = {.ask = single_ribbon_ask,
                                            .ask_hash = single_ribbon_ask_hash};

#endif
