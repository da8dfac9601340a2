/* What sketches made of rows of counters share: count-min and count-sketch. A key has one counter
 * in each of k rows of m counters; row j takes probe j, as in the partitioned filter. */
#ifndef TAMIS_COUNTER_ROWS_H
#define TAMIS_COUNTER_ROWS_H

#include "../core/kind.h"
#include "../kernels/kernels.h"

#define TAMIS__MAX_ROWS 32u

/* What the textbook promises of a shape. */
struct row_bounds {
    uint32_t rows, odd;            /* by default; whether k must be odd */
    double (*m_for)(double error); /* counters of a row for that error, and the error of so many */
    double (*error_of)(double m);
    double (*delta_of)(uint32_t k);
};

/* Complete a plan from bytes, or from error and delta, or from m and k. */
tamis_status tamis__solve_rows(tamis_plan *plan, const struct row_bounds *r, tamis_error *why);

/* Entries of struct kind, of which k is odd where the bounds say so. */
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
