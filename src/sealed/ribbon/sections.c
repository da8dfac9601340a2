#include "sections.h"

#include "../../image/image.h"

#include <math.h>

enum {
    SOLVED = 0,
    LAST = TAMIS__RIBBON_LAST,
    NOTHING = TAMIS__RIBBON_VARIANTS
}; /* variants of a section of cells */

#define NOTHING_BYTES 8u
#define MOST_COLUMNS (TAMIS__RIBBON_COLUMNS * TAMIS__RIBBON_ONE)

/* Slightly fewer columns count as enough, so that solving a solved plan does not change it. */
uint32_t tamis__ribbon_columns_for(double rate)
{
    const double wanted = ceil(-log2(rate) * TAMIS__RIBBON_ONE - 1e-3);
    if (wanted < TAMIS__RIBBON_ONE) return TAMIS__RIBBON_ONE;
    return wanted > MOST_COLUMNS ? MOST_COLUMNS + 1 : (uint32_t)wanted;
}

/* --- Sizes ------------------------------------------------------------------------------------ */

uint64_t tamis__ribbon_image_bytes(uint64_t n, uint32_t fixed)
{
    const double columns = (double)fixed / TAMIS__RIBBON_ONE;
    const uint64_t payload = tamis__ribbon_bytes(n, columns);
    uint64_t sections = 1;
    for (uint64_t left = n; left > TAMIS__RIBBON_FEW; left /= 20) sections += 2;
    if (payload >= UINT64_C(1) << 49) return UINT64_MAX;
    const double scatter = 4 * sqrt((double)n) * (columns + 1) / 8;
    return tamis__image_bytes(payload + (uint64_t)scatter, 1) +
           tamis__sections_overhead(sections - 1);
}

struct ribbon_budget {
    uint64_t items, bytes;
    uint32_t fixed;
};

static bool items_keep_budget(void *ctx, uint64_t items)
{
    const struct ribbon_budget *b = ctx;
    return tamis__ribbon_image_bytes(items, b->fixed) <= b->bytes;
}

static bool columns_keep_budget(void *ctx, uint64_t fixed)
{
    const struct ribbon_budget *b = ctx;
    return tamis__ribbon_image_bytes(b->items, (uint32_t)fixed) <= b->bytes;
}

uint64_t tamis__ribbon_items_within(uint64_t bytes, uint32_t fixed, uint64_t most)
{
    struct ribbon_budget b = {.bytes = bytes, .fixed = fixed};
    return tamis__largest(0, most, items_keep_budget, &b);
}

uint32_t tamis__ribbon_columns_within(uint64_t items, uint64_t bytes, uint32_t least, uint32_t most)
{
    struct ribbon_budget b = {.items = items, .bytes = bytes};
    const uint64_t best = tamis__largest(least - 1, (uint64_t)most + 1, columns_keep_budget, &b);
    return best >= least ? (uint32_t)best : 0;
}

/* --- Sections --------------------------------------------------------------------------------- */

static struct section section_of(uint16_t role, uint32_t kind, const struct ribbon_layer *l)
{
    const bool cells = role != TAMIS__ROLE_THRESHOLDS;
    const struct section s = {.role = role,
                              .kind = (uint16_t)kind,
                              .variant = cells && l->last ? LAST : SOLVED,
                              .cell_bits =
                                  (uint16_t)(cells && l->value_bits != 0 ? l->value_bits : 1),
                              .k = cells ? l->columns : 2,
                              .salt = cells ? l->salt : 0,
                              .m = l->segments,
                              .boundary = cells ? l->boundary : 0,
                              .length = cells ? l->solution_bytes : l->threshold_bytes,
                              .cells = cells ? l->solution : l->thresholds};
    return s;
}

uint32_t tamis__ribbon_to_sections(const struct ribbon *r, uint32_t kind, struct section *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct ribbon_layer *l = &r->layers[i];
        out[n++] = section_of(l->retrieves ? TAMIS__ROLE_BITS : TAMIS__ROLE_CELLS, kind, l);
        if (!l->last) out[n++] = section_of(TAMIS__ROLE_THRESHOLDS, kind, l);
    }
    return n;
}

static const char *layer_from(const struct section *s, bool retrieves, struct ribbon_layer *l)
{
    *l = tamis__ribbon_layer(s, retrieves);
    const bool fits = s->role == (retrieves ? TAMIS__ROLE_BITS : TAMIS__ROLE_CELLS);
    return fits && s->variant <= LAST ? NULL : "a layer has no cells";
}

static const char *thresholds_from(const struct section *s, struct ribbon_layer *l)
{
    l->thresholds = s->cells;
    l->threshold_bytes = s->length;
    return s->m != l->segments || s->k != 2 || s->cell_bits != 1 || s->variant != 0 ||
                   s->boundary != 0 || s->salt != 0
               ? "the thresholds are wrong"
               : NULL;
}

const char *tamis__ribbon_from_sections(const struct section *s, uint32_t count, uint32_t *used,
                                        struct ribbon *out)
{
    const bool retrieves = count > 0 && s->role == TAMIS__ROLE_BITS;
    uint32_t i = 0;
    out->count = 0;
    for (bool last = false; !last;) {
        if (i == count) return "the last layer is missing";
        if (out->count == TAMIS__RIBBON_LAYERS) return "there are too many layers";
        struct ribbon_layer *l = &out->layers[out->count++];
        const char *reason = layer_from(s + i++, retrieves, l);
        if (reason != NULL) return reason;
        last = l->last;
        if (last) continue;
        if (i == count || s[i].role != TAMIS__ROLE_THRESHOLDS) return "a layer has no thresholds";
        reason = thresholds_from(s + i++, l);
        if (reason != NULL) return reason;
    }
    *used = i;
    return NULL;
}

struct section tamis__ribbon_nothing(uint32_t kind)
{
    const struct section s = {.role = TAMIS__ROLE_CELLS,
                              .kind = (uint16_t)kind,
                              .variant = NOTHING,
                              .cell_bits = 1,
                              .k = 1,
                              .length = NOTHING_BYTES};
    return s;
}

const char *tamis__ribbon_wrong_nothing(const struct section *s, uint32_t count)
{
    if (count != 1) return "an empty filter must have one section";
    return s->role != TAMIS__ROLE_CELLS || s->m != 0 || s->k != 1 || s->boundary != 0 ||
                   s->salt != 0 || s->length != NOTHING_BYTES
               ? "the empty filter has a wrong shape"
               : NULL;
}

const char *tamis__ribbon_wrong_nothing_cells(const struct section *s)
{
    return tamis__get64(s->cells) != 0 ? "the empty filter is not zero" : NULL;
}
