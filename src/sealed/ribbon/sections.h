/* Converts a ribbon to sections of an image and back, for the kinds that are made of ribbons.
 *
 * Each layer is a section of cells, which a section of thresholds follows in all layers except the
 * last. */
#ifndef TAMIS_RIBBON_SECTIONS_H
#define TAMIS_RIBBON_SECTIONS_H

#include "../../core/kind.h"
#include "ribbon.h"

#define TAMIS__RIBBON_SECTIONS (2 * TAMIS__RIBBON_LAYERS) /* the most sections */
/* The highest variant of the sections of a ribbon. */
#define TAMIS__RIBBON_VARIANTS 2u

#define TAMIS__RIBBON_ONE 65536u /* columns of a plan are counted in 65536ths */

/* The fewest columns for a rate, in 65536ths; more than 32 · 65536 if it cannot be reached. */
uint32_t tamis__ribbon_columns_for(double rate);

/* Writes the sections of r, which then own its bytes. Returns how many there are. */
uint32_t tamis__ribbon_to_sections(const struct ribbon *r, uint32_t kind, struct section *out);

/* Makes a ribbon of the first *used sections. Their role determines whether it is a retrieval.
 * Returns NULL, or the reason why they are not a ribbon. Cells are not examined. */
const char *tamis__ribbon_from_sections(const struct section *s, uint32_t count, uint32_t *used,
                                        struct ribbon *out);

/* The empty set, as one section. Its cells must be allocated and zero. */
struct section tamis__ribbon_nothing(uint32_t kind);
static inline bool tamis__ribbon_is_nothing(const struct section *s)
{
    return s->variant == TAMIS__RIBBON_VARIANTS;
}
/* These return the reason why the sections or their cells are not the empty set, or NULL. */
const char *tamis__ribbon_wrong_nothing(const struct section *s, uint32_t count);
const char *tamis__ribbon_wrong_nothing_cells(const struct section *s);

#endif
