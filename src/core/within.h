/* Adds to a range of the table: what lets threads share a bulk add to a kind whose probes go
 * anywhere. Each thread takes all keys, but sets only the cells of its own range. */
#ifndef TAMIS_WITHIN_H
#define TAMIS_WITHIN_H

#include "kind.h"

/* The probes of a group of keys: the byte of each cell, and the number of its first bit there. A
 * probe outside of the range goes to a spare cell that has all its bits set. */
#define TAMIS__WITHIN 256u
struct within {
    uint8_t *cell[TAMIS__WITHIN];
    uint8_t bit[TAMIS__WITHIN];
};

/* Sets the cells of n keys, of k probes each. Bit `at` + i of seen, which is 0 before, becomes 1 if
 * all cells of key i were in use. seen may be NULL. */
typedef void tamis__within_setter(const struct section *s, const struct within *w, size_t n,
                                  size_t at, uint8_t *seen);

/* struct kind.add_within, given how cells are set. The probes go to rows of s->m cells, or to one
 * row. */
void tamis__add_within(struct section *s, bool rows, struct range r, const tamis_hash *h, size_t n,
                       tamis__within_setter *set, uint8_t *seen);

#endif
