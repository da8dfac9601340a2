/* What count-min and count-sketch share, the sketches made of rows of counters. A key has one
 * counter in each of k rows of m counters; row j uses probe j, as in the partitioned filter. */
#ifndef TAMIS_COUNTER_ROWS_H
#define TAMIS_COUNTER_ROWS_H

#include "../core/kind.h"
#include "../kernels/kernels.h"

#define TAMIS__MAX_ROWS 32u

/* The bounds that the theory gives for a shape. */
struct row_bounds {
    uint32_t rows, odd;             /* the default k; 1 if k must be odd */
    double (*m_for)(double error);  /* the counters that a row needs for this error */
    double (*error_of)(double m);   /* the reverse */
    double (*delta_of)(uint32_t k); /* the probability of a greater error */
};

/* Complete a plan from bytes, or from error and delta, or from m and k. */
tamis_status tamis__solve_rows(tamis_plan *plan, const struct row_bounds *r, tamis_error *why);

/* Functions for struct kind. `odd`: k must be odd. */
uint32_t tamis__rows_section(const tamis_plan *plan, struct section *out);
const char *tamis__wrong_rows(const struct body *b, uint32_t kind, bool odd);
const char *tamis__wrong_row_ends(const struct body *b);
void tamis__counter_prefetch(const struct body *b, const struct batch *keys);
size_t tamis__counters_of(const struct body *b, tamis_hash h, uint64_t *cells, size_t max);

TAMIS__PREFETCHES tamis__prefetch_counters(const struct section *s, const tamis_hash *h, size_t n)
{
    const unsigned shift = s->cell_bits == 32 ? 2 : 3;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = h[i].lo;
        for (uint32_t j = 0; j < s->k; j++, x = tamis__next_probe(x, h[i]))
            TAMIS__PREFETCH(s->cells + ((j * s->m + tamis__mulhi(x, s->m)) << shift));
    }
}

#endif
