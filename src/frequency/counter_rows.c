#include "counter_rows.h"

#include "../core/error.h"
#include "../core/plan.h"
#include "../image/image.h"

#include <math.h>

static uint64_t counter_rows_bytes_of(const tamis_plan *p, uint64_t m)
{
    return tamis__image_bytes(tamis__cell_bytes(m * p->k * p->cell_bits), 1);
}

static uint64_t most_m(const tamis_plan *p)
{
    return TAMIS__MAX_CELLS / p->k / p->cell_bits;
}

static bool counter_rows_keep_budget(void *plan, uint64_t m)
{
    const tamis_plan *p = plan;
    return counter_rows_bytes_of(p, m) <= p->bytes;
}

/* Returns the widest rows that keep the budget; 0 if none do. */
static uint64_t counter_rows_m_for_bytes(tamis_plan *p)
{
    return tamis__largest(0, most_m(p) + 1, counter_rows_keep_budget, p);
}

static tamis_status check_asked(const tamis_plan *p, const struct row_bounds *r, tamis_error *why)
{
    if (p->cell_bits != 32 && p->cell_bits != 64)
        return tamis__fail(why, TAMIS_EINVAL, "a counter has 32 or 64 bits, not %u", p->cell_bits);
    if (p->k > TAMIS__MAX_ROWS)
        return tamis__fail(why, TAMIS_EINVAL, "k must be from 1 to %u, not %u", TAMIS__MAX_ROWS,
                           p->k);
    if (r->odd && p->k != 0 && p->k % 2 == 0)
        return tamis__fail(why, TAMIS_EINVAL, "a median needs an odd k, not %u", p->k);
    if (p->error != 0 && !(p->error > 0 && p->error < 1))
        return tamis__fail(why, TAMIS_EINVAL, "the error must be above 0 and below 1");
    if (p->delta != 0 && !(p->delta > 0 && p->delta < 1))
        return tamis__fail(why, TAMIS_EINVAL, "delta must be above 0 and below 1");
    if (p->bytes == 0 && p->error == 0 && p->m == 0)
        return tamis__fail(why, TAMIS_EINVAL, "a plan needs one of: bytes, error, m");
    return TAMIS_OK;
}

static uint32_t rows_for(const struct row_bounds *r, double delta)
{
    const uint32_t step = 1 + r->odd;
    uint32_t k = 1;
    while (k + step <= TAMIS__MAX_ROWS && r->delta_of(k) > delta) k += step;
    return k;
}

tamis_status tamis__solve_rows(tamis_plan *p, const struct row_bounds *r, tamis_error *why)
{
    const double rounding = 1 + 1e-12;
    if (p->cell_bits == 0) p->cell_bits = 32;
    const tamis_status s = check_asked(p, r, why);
    if (s != TAMIS_OK) return s;
    if (p->k == 0) p->k = p->delta != 0 ? rows_for(r, p->delta) : r->rows;
    if (p->delta != 0 && r->delta_of(p->k) > p->delta * rounding)
        return tamis__fail(why, TAMIS_EINVAL, "%u rows give a delta of %.3g, not %.3g", p->k,
                           r->delta_of(p->k), p->delta);
    if (p->m == 0) {
        const double wanted = p->error != 0 ? ceil(r->m_for(p->error) / rounding) : 0;
        if (wanted > (double)most_m(p))
            return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 bits are not supported");
        p->m = p->error != 0 ? (uint64_t)wanted : counter_rows_m_for_bytes(p);
        if (p->m == 0)
            return tamis__fail(
                why, TAMIS_EINVAL, "%llu bytes are too few: at least %llu are needed",
                (unsigned long long)p->bytes, (unsigned long long)counter_rows_bytes_of(p, 1));
    }
    if (p->m > most_m(p))
        return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 bits are not supported");
    const double error = r->error_of((double)p->m), delta = r->delta_of(p->k);
    if (p->error != 0 && error > p->error * rounding)
        return tamis__fail(why, TAMIS_EINVAL, "that shape gives an error of %.3g, not %.3g", error,
                           p->error);
    if (p->bytes != 0 && counter_rows_bytes_of(p, p->m) > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "needs %llu bytes, more than the %llu given",
                           (unsigned long long)counter_rows_bytes_of(p, p->m),
                           (unsigned long long)p->bytes);
    p->bytes = counter_rows_bytes_of(p, p->m);
    p->delta = delta;
    p->error = error < 1 ? error : 0; /* 1 or more promises nothing */
    return TAMIS_OK;
}

uint32_t tamis__rows_section(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 1;
    *out = (struct section){.role = TAMIS__ROLE_CELLS,
                            .kind = (uint16_t)plan->kind,
                            .cell_bits = (uint16_t)plan->cell_bits,
                            .k = plan->k,
                            .m = plan->m,
                            .length = tamis__cell_bytes(plan->m * plan->k * plan->cell_bits)};
    return 1;
}

const char *tamis__wrong_rows(const struct body *b, uint32_t kind, bool odd)
{
    const struct section *s = b->sections;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != kind) return "the section is not of this kind";
    if (s->cell_bits != 32 && s->cell_bits != 64) return "the counters have a wrong size";
    if (s->k < 1 || s->k > TAMIS__MAX_ROWS || (odd && s->k % 2 == 0)) return "k is out of range";
    if (s->m < 1 || s->m > TAMIS__MAX_CELLS / s->k / s->cell_bits)
        return "the number of counters is out of range";
    if (s->length != tamis__cell_bytes(s->m * s->k * s->cell_bits))
        return "the section's length does not fit its counters";
    return NULL;
}

const char *tamis__wrong_row_ends(const struct body *b)
{
    const struct section *s = b->sections;
    const uint64_t used = s->m * s->k * s->cell_bits / 8;
    for (uint64_t i = used; i < s->length; i++)
        if (s->cells[i] != 0) return "a bit beyond the last one is set";
    return NULL;
}

void tamis__counter_prefetch(const struct body *b, const struct batch *keys)
{
    tamis__prefetch_counters(b->sections, keys->hashes, keys->n);
}

size_t tamis__counters_of(const struct body *b, tamis_hash h, uint64_t *cells, size_t max)
{
    const struct section *s = b->sections;
    uint64_t x = h.lo;
    for (uint32_t j = 0; j < s->k && j < max; j++, x = tamis__next_probe(x, h))
        cells[j] = j * s->m + tamis__mulhi(x, s->m);
    return s->k;
}
