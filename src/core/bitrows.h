/* What filters made of plain bits share: OR, counting, the check of spare bits, and the verbs of
 * those whose k probes go to rows of bits (bloom: one row for all; partitioned: one row each). */
#ifndef TAMIS_BITROWS_H
#define TAMIS_BITROWS_H

#include "../kernels/kernels.h"
#include "kind.h"

/* The inner loops for this body. */
const struct kernels *tamis__kernels_for(const struct body *b);

/* The table entry of a bit section, or the reason why it is none: a cells section of `cells`
 * bits. */
struct section tamis__bit_section(uint32_t kind, uint32_t k, uint64_t m, uint64_t cells);
const char *tamis__wrong_bit_section(const struct body *b, uint32_t kind, uint64_t cells);
/* A reason when a bit at or beyond `cells` is set. */
const char *tamis__wrong_spare_bits(const struct section *s, uint64_t cells);

tamis_status tamis__or_cells(struct body *into, const struct body *from);

/* Set bits in [from, to) of a, or of a|b when b is not NULL. */
uint64_t tamis__count_bits(const uint8_t *a, const uint8_t *b, uint64_t from, uint64_t to);

/* The verbs of filters whose k probes go to rows of m bits, one row for all (bloom) or one each
 * (partitioned): entries of struct kind. */
void tamis__rows_prefetch(const struct body *b, const struct batch *keys);
tamis_status tamis__rows_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done);
void tamis__rows_query(const struct body *b, const struct batch *keys, uint8_t *bits);
size_t tamis__rows_cells_of(const struct body *b, tamis_hash h, uint64_t *cells, size_t max);

#endif
