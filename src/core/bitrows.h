/* What filters made of plain bits share: OR, counting, the check of spare bits, and the functions
 * of those whose k probes go to rows of bits. A kind has one row for each probe with the trait
 * TAMIS__ROWS, and otherwise one row for all probes. */
#ifndef TAMIS_BITROWS_H
#define TAMIS_BITROWS_H

#include "../kernels/kernels.h"
#include "kind.h"

/* The inner loops for this body, which are atomic if threads share it. */
const struct kernels *tamis__kernels_for(const struct body *b);

/* Returns a section of `cells` one-bit cells, except offset and cells. The second function returns
 * the reason why the body is not exactly one such section of this kind, or NULL. */
struct section tamis__bit_section(uint32_t kind, uint32_t k, uint64_t m, uint64_t cells);
const char *tamis__wrong_bit_section(const struct body *b, uint32_t kind, uint64_t cells);
/* Returns a reason if a bit at or beyond `cells` is set, or NULL. */
const char *tamis__wrong_spare_bits(const struct section *s, uint64_t cells);

/* struct kind.merge of one section of bits. It cannot fail. */
tamis_status tamis__or_cells(struct body *into, const struct body *from);

/* Returns the number of set bits in [from, to) of a, or of a|b unless b is NULL. */
uint64_t tamis__count_bits(const uint8_t *a, const uint8_t *b, uint64_t from, uint64_t to);

/* Functions of struct kind, for filters whose k probes go to rows of m bits. */
void tamis__rows_prefetch(const struct body *b, const struct batch *keys);
tamis_status tamis__rows_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done);
void tamis__rows_add_within(struct body *b, struct range r, const tamis_hash *h, size_t n,
                            uint8_t *seen);
void tamis__rows_query(const struct body *b, const struct batch *keys, uint8_t *bits);
size_t tamis__rows_cells_of(const struct body *b, tamis_hash h, uint64_t *cells, size_t max);

#endif
