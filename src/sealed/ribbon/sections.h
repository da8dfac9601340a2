/* Plans a ribbon, and converts it to sections of an image and back, for the kinds that are made of
 * ribbons.
 *
 * Each layer is a section of cells, which a section of thresholds follows in all layers except the
 * last. */
#ifndef TAMIS_RIBBON_SECTIONS_H
#define TAMIS_RIBBON_SECTIONS_H

#include "../../core/kind.h"
#include "ribbon.h"

#define TAMIS__RIBBON_SECTIONS (2 * TAMIS__RIBBON_LAYERS) /* the most sections */
/* The highest variant of the sections of a ribbon, and that of the cells of a last layer. */
#define TAMIS__RIBBON_VARIANTS 2u
#define TAMIS__RIBBON_LAST 1u

#define TAMIS__RIBBON_ONE 65536u /* columns of a plan are counted in 65536ths */

/* The fewest columns for a rate, in 65536ths; more than 32 · 65536 if it cannot be reached. */
uint32_t tamis__ribbon_columns_for(double rate);

/* The size of the image for n uniform hashes. The layers after the first contain what the one
 * before bumps, which varies a little. UINT64_MAX: there is none. */
uint64_t tamis__ribbon_image_bytes(uint64_t n, uint32_t fixed);
/* The most items within a budget of bytes, up to `most`; 0 if there is none. */
uint64_t tamis__ribbon_items_within(uint64_t bytes, uint32_t fixed, uint64_t most);
/* The most columns within it, from `least` to `most`; 0 if not even `least` is. */
uint32_t tamis__ribbon_columns_within(uint64_t items, uint64_t bytes, uint32_t least,
                                      uint32_t most);

/* Writes the sections of r, which then own its bytes. Returns how many there are. */
uint32_t tamis__ribbon_to_sections(const struct ribbon *r, uint32_t kind, struct section *out);

/* A layer other than the empty set, from its section of cells, without its thresholds. */
static inline struct ribbon_layer tamis__ribbon_layer(const struct section *s, bool retrieves)
{
    const bool last = s->variant == TAMIS__RIBBON_LAST;
    return (struct ribbon_layer){.segments = s->m,
                                 .boundary = s->boundary,
                                 .columns = s->k,
                                 .last = last,
                                 .homogeneous = last && !retrieves && s->kind != TAMIS_VALUE_MAP,
                                 .retrieves = retrieves,
                                 .value_bits = s->kind == TAMIS_VALUE_MAP ? s->cell_bits : 0,
                                 .salt = s->salt,
                                 .solution = s->cells,
                                 .solution_bytes = s->length};
}

/* The section of the layer in which a filter keeps a key, and there the key's hash and the first
 * slot of its window. */
struct ribbon_place {
    const struct section *section;
    tamis_hash h;
    uint64_t start;
};

static inline struct ribbon_place tamis__ribbon_find(const struct section *s, tamis_hash h)
{
    for (;;) {
        const struct ribbon_layer l = tamis__ribbon_layer(s, false);
        const uint64_t start = tamis__ribbon_start(h, tamis__ribbon_starts(l.segments));
        if (l.last || !tamis__ribbon_bumps(s[1].cells, start))
            return (struct ribbon_place){s, h, start};
        s += 2; /* its cells and thresholds */
        h = tamis__ribbon_next(h);
    }
}

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
