#include "octets.h"

#include "../core/error.h"
#include "../core/plan.h"
#include "../image/image.h"

#define MOST_LINES (TAMIS__MAX_CELLS / TAMIS__LINE_BITS)

#define SPAN(j, p)                                                                                 \
    {                                                                                              \
        ((p) >> TAMIS__LEVEL(j, p) << TAMIS__LEVEL(j, p)) * 8, 64 - (8 << TAMIS__LEVEL(j, p))      \
    }
#define SPANS(j)                                                                                   \
    {                                                                                              \
        SPAN(j, 0), SPAN(j, 1), SPAN(j, 2), SPAN(j, 3), SPAN(j, 4), SPAN(j, 5), SPAN(j, 6),        \
            SPAN(j, 7)                                                                             \
    }
#define SPANS_4(j) SPANS(j), SPANS((j) + 1), SPANS((j) + 2), SPANS((j) + 3)
#define SPANS_16(j) SPANS_4(j), SPANS_4((j) + 4), SPANS_4((j) + 8), SPANS_4((j) + 12)
#define SPANS_64(j) SPANS_16(j), SPANS_16((j) + 16), SPANS_16((j) + 32), SPANS_16((j) + 48)
const struct octet_span tamis__octet_spans[128][8] = {SPANS_64(0), SPANS_64(64)};

static bool octets_keep_budget(void *bytes, uint64_t lines)
{
    return tamis__image_bytes(TAMIS__LINE_BYTES * lines, 1) <= *(const uint64_t *)bytes;
}

static uint64_t octets_lines_for(uint64_t bytes)
{
    return tamis__largest(0, MOST_LINES + 1, octets_keep_budget, &bytes);
}

tamis_status tamis__solve_octets(tamis_plan *p, uint32_t places, tamis_error *why)
{
    if (p->error != 0 || p->delta != 0)
        return tamis__fail(why, TAMIS_EINVAL,
                           "no formula gives the error of a tally, which depends on the stream: "
                           "plan it by bytes");
    if (p->bytes == 0 && p->m == 0)
        return tamis__fail(why, TAMIS_EINVAL, "a plan needs one of: bytes, m");
    if ((p->k != 0 && p->k != places) || (p->cell_bits != 0 && p->cell_bits != 8))
        return tamis__fail(why, TAMIS_EINVAL, "this kind has %u counters a key, of 8 bits or more",
                           (unsigned)places);
    if (p->m % TAMIS__LINE_COUNTERS != 0)
        return tamis__fail(why, TAMIS_EINVAL, "m must be a multiple of %u", TAMIS__LINE_COUNTERS);
    const uint64_t lines = p->m != 0 ? p->m / TAMIS__LINE_COUNTERS : octets_lines_for(p->bytes);
    const uint64_t bytes = tamis__image_bytes(TAMIS__LINE_BYTES * (lines > 2 ? lines : 2), 1);
    if (lines > MOST_LINES)
        return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 bits are not supported");
    if (lines < 2 || (p->bytes != 0 && bytes > p->bytes))
        return tamis__fail(why, TAMIS_EINVAL, "that is too small: it takes %llu bytes",
                           (unsigned long long)bytes);
    p->m = lines * TAMIS__LINE_COUNTERS;
    p->k = places;
    p->cell_bits = 8;
    p->bytes = bytes;
    return TAMIS_OK;
}

uint32_t tamis__octets_section(const tamis_plan *plan, uint16_t kind, struct section *out)
{
    if (out != NULL)
        *out = (struct section){.role = TAMIS__ROLE_CELLS,
                                .kind = kind,
                                .cell_bits = 8,
                                .k = plan->k,
                                .m = plan->m,
                                .length = plan->m / TAMIS__LINE_COUNTERS * TAMIS__LINE_BYTES};
    return 1;
}

const char *tamis__wrong_lines(const struct body *b, uint32_t kind, uint32_t places)
{
    const struct section *s = b->sections;
    const uint64_t lines = s->m / TAMIS__LINE_COUNTERS;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != kind) return "the section is not of this kind";
    if (s->cell_bits != 8 || s->k != places) return "the counters are wrong";
    if (s->m % TAMIS__LINE_COUNTERS != 0 || lines < 2 || lines > MOST_LINES)
        return "m is out of range, or not a whole number of cache lines";
    if (s->length != lines * TAMIS__LINE_BYTES)
        return "the section's length does not fit its lines";
    return NULL;
}

const char *tamis__wrong_octets(const struct body *b)
{
    const struct section *s = b->sections;
    const uint64_t each = UINT64_C(0x0001010101010101); /* bit 0 of each j */
    for (uint64_t at = TAMIS__JOINS; at < s->length; at += TAMIS__LINE_BYTES) {
        const uint64_t j = tamis__get64(s->cells + at);
        const uint64_t quads = (j >> 1 & ~(j & j >> 2)) | (j >> 5 & ~(j >> 4 & j >> 6));
        const uint64_t whole = j >> 3 & ~(j >> 1 & j >> 5);
        if (((quads | whole | j >> 7) & each) != 0 || j >> 56 != 0)
            return "counters have joined in an impossible way";
    }
    return NULL;
}

void tamis__octet_prefetch(const struct body *b, const struct batch *keys)
{
    tamis__octet_fetch(b->sections, keys->hashes, keys->n);
}

void tamis__merge_octets(struct section *into, const struct section *from,
                         tamis__octet_merger *merge)
{
    for (uint64_t at = 0; at < into->length; at += TAMIS__LINE_BYTES)
        for (unsigned o = 0; o < TAMIS__OCTETS; o++) {
            uint8_t *mine = into->cells + at;
            const uint8_t *theirs = from->cells + at;
            uint64_t sum;
            mine[TAMIS__JOINS + o] =
                (uint8_t)merge(tamis__get64(mine + 8 * o), mine[TAMIS__JOINS + o],
                               tamis__get64(theirs + 8 * o), theirs[TAMIS__JOINS + o], &sum);
            tamis__put64(mine + 8 * o, sum);
        }
}
