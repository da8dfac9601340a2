/* A ribbon as sections of an image, and back: for the kinds that are made of ribbons.
 *
 * Each layer is a section of cells, and all but the last have a section of thresholds after it. */
#ifndef TAMIS_RIBBON_SECTIONS_H
#define TAMIS_RIBBON_SECTIONS_H

#include "../../core/kind.h"
#include "ribbon.h"

#define TAMIS__RIBBON_SECTIONS (2 * TAMIS__RIBBON_LAYERS) /* at most */
/* The highest variant of their sections. */
#define TAMIS__RIBBON_VARIANTS 2u

#define TAMIS__RIBBON_ONE 65536u /* columns of a plan are counted in 65536ths */

/* Fewest columns for a rate, in 65536ths; more than 32 · 65536 when there are none. */
uint32_t tamis__ribbon_columns_for(double rate);

/* The sections of r, whose bytes they are from then on; returns how many. */
uint32_t tamis__ribbon_to_sections(const struct ribbon *r, uint32_t kind, struct section *out);

/* The ribbon that the first of these sections are, *used of them; its roles say whether it is a
 * retrieval. A reason when they are none. Cells are not looked at. */
const char *tamis__ribbon_from_sections(const struct section *s, uint32_t count, uint32_t *used,
                                        struct ribbon *out);

/* The empty set: one section. Its cells must be allocated and zero. */
struct section tamis__ribbon_nothing(uint32_t kind);
static inline bool tamis__ribbon_is_nothing(const struct section *s)
{
    return s->variant == TAMIS__RIBBON_VARIANTS;
}
/* Reasons, or NULL. */
const char *tamis__ribbon_wrong_nothing(const struct section *s, uint32_t count);
const char *tamis__ribbon_wrong_nothing_cells(const struct section *s);

#endif
