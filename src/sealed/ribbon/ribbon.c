/* ribbon: the bumped ribbon filter, the smallest of all: half a percent above the lower bound
 * (query.c explains how and why). This file makes a kind of it: planning, sections, sealing.
 *
 * It is a sealed kind. It reaches any rate from 1/2 to 2^-32, fractions included: a filter of 6.64
 * columns has 6 in one part of the table and 7 in the rest. Building cannot fail, keys may be
 * repeated, and the bytes depend only on the set of keys, not on their order.
 *
 * Its sections are those of the layers (sections.h). Before the seal there is one section, with the
 * hashes that were added. */
#include "../../core/bitrows.h"
#include "../../core/error.h"
#include "../../core/memory.h"
#include "../collect.h"
#include "sections.h"

#include <math.h>

#define ONE TAMIS__RIBBON_ONE
#define MAX_FIXED (TAMIS__RIBBON_COLUMNS * ONE)
#define MOST_ITEMS (TAMIS__MAX_ITEMS / TAMIS__RIBBON_COLUMNS)

/* --- Planning --------------------------------------------------------------------------------- */

static tamis_status ribbon_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    if (p->m != 0 || p->k != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the shape of a ribbon filter follows its keys");
    if (p->items > MOST_ITEMS)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    const uint32_t fixed = p->fpr != 0
                               ? tamis__ribbon_columns_for(p->fpr)
                               : tamis__ribbon_columns_within(p->items, p->bytes, ONE, MAX_FIXED);
    if (fixed > MAX_FIXED)
        return tamis__fail(why, TAMIS_EINVAL, "a ribbon has at most 32 columns: 2^-32, not %.3g",
                           p->fpr);
    if (p->items == 0) p->items = tamis__ribbon_items_within(p->bytes, fixed, MOST_ITEMS);
    const uint64_t bytes =
        fixed != 0 && p->items != 0 ? tamis__ribbon_image_bytes(p->items, fixed) : UINT64_MAX;
    if (p->bytes != 0 && bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few",
                           (unsigned long long)p->bytes);
    if (bytes == UINT64_MAX)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    const double rate = tamis__tidy(exp2(-(double)fixed / ONE));
    if (p->fpr == 0 || rate < p->fpr) p->fpr = rate;
    p->bytes = bytes;
    promise->fpr_asymptotic = p->fpr;
    return TAMIS_OK;
}

static uint32_t ribbon_layout(const tamis_plan *plan, struct section *out)
{
    if (out != NULL)
        *out = tamis__collection(TAMIS_RIBBON, tamis__ribbon_columns_for(plan->fpr), 1);
    return 1;
}

/* --- Sections and layers ---------------------------------------------------------------------- */

static const char *ribbon_view(const struct body *b, struct ribbon *out)
{
    uint32_t used = 0;
    out->count = 0;
    if (tamis__ribbon_is_nothing(b->sections))
        return tamis__ribbon_wrong_nothing(b->sections, b->count);
    const char *reason = tamis__ribbon_from_sections(b->sections, b->count, &used, out);
    if (reason != NULL) return reason;
    return used != b->count || out->layers[0].retrieves ? "the sections belong to another structure"
                                                        : NULL;
}

static const char *ribbon_wrong_shape(const struct body *b)
{
    struct ribbon r;
    const struct section *s = b->sections;
    for (uint32_t i = 0; i < b->count; i++)
        if (s[i].kind != TAMIS_RIBBON || s[i].cell_bits != 1)
            return "a section is not of this kind";
    if (tamis__collecting(b)) {
        if (s->variant != 0 || s->salt != 0 || s->boundary != 0 || s->k < ONE || s->k > MAX_FIXED)
            return "the collection has a wrong shape";
        return tamis__wrong_collection(b);
    }
    const char *reason = ribbon_view(b, &r);
    return reason != NULL || tamis__ribbon_is_nothing(s) ? reason : tamis__ribbon_wrong(&r);
}

static const char *ribbon_wrong_cells(const struct body *b)
{
    if (tamis__collecting(b)) return tamis__wrong_collection_cells(b);
    const bool nothing = tamis__ribbon_is_nothing(b->sections);
    /* Any bits of a ribbon are a valid solution. */
    return nothing ? tamis__ribbon_wrong_nothing_cells(b->sections) : NULL;
}

/* --- Sealing ---------------------------------------------------------------------------------- */

static tamis_status ribbon_no_memory(const struct section *s, tamis_error *why)
{
    return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to seal %llu keys",
                       (unsigned long long)s->m);
}

static uint32_t sections_of(const struct ribbon *r, const tamis_memory *memory, struct section *out)
{
    if (r->count > 0) return tamis__ribbon_to_sections(r, TAMIS_RIBBON, out);
    *out = tamis__ribbon_nothing(TAMIS_RIBBON);
    out->cells = tamis__alloc(memory, out->length);
    return out->cells != NULL ? 1 : 0;
}

/* All hashes are in the file, so the cells serve as scratch. */
static tamis_status build_from_file(struct body *b, struct ribbon *r, tamis_error *why)
{
    const struct section *s = b->sections;
    const struct ribbon_means by = {b->memory, b->extra->threads, b->extra->spill,
                                    tamis__collection_room(s)};
    tamis_hash *room = (tamis_hash *)(void *)s->cells;
    return tamis__ribbon_build_with(&by, room, 0, (double)s->k / ONE, r, why);
}

static tamis_status build_from_memory(struct body *b, struct ribbon *r, tamis_error *why)
{
    const struct section *s = b->sections;
    const struct ribbon_means by = {.memory = b->memory, .threads = b->extra->threads};
    tamis_hash *h = tamis__alloc(b->memory, (s->m + 1) * sizeof *h);
    if (h == NULL) return ribbon_no_memory(s, why);
    for (uint64_t i = 0; i < s->m; i++) h[i] = tamis__collected(s, i);
    const tamis_status status = tamis__ribbon_build_with(&by, h, s->m, (double)s->k / ONE, r, why);
    tamis__free(b->memory, h);
    return status == TAMIS_ENOMEM ? ribbon_no_memory(s, why) : status;
}

static tamis_status ribbon_seal(struct body *b, uint64_t *distinct, tamis_error *why)
{
    const struct section *s = b->sections;
    struct ribbon r = {.count = 0};
    struct section sections[TAMIS__RIBBON_SECTIONS];
    tamis_status status = TAMIS_OK;
    const bool spilled = tamis__spilled(b);
    if (spilled) status = tamis__spill_collection(b, why);
    if (status == TAMIS_OK)
        status = spilled ? build_from_file(b, &r, why) : build_from_memory(b, &r, why);
    if (status != TAMIS_OK) return status;
    const uint32_t n = sections_of(&r, b->memory, sections);
    *distinct = r.keys;
    if (n > 0 && tamis__replace_sections(b, sections, n)) return TAMIS_OK;
    if (n > 0 && r.count == 0) tamis__free(b->memory, sections[0].cells);
    tamis__ribbon_free(b->memory, &r);
    return ribbon_no_memory(s, why);
}

/* --- Queries ---------------------------------------------------------------------------------- */

#define AIMED 120u
_Static_assert(TAMIS__RIBBON_AIM_WORDS(AIMED) <= TAMIS__AIM_WORDS, "aims have room");

static void ribbon_prefetch(const struct body *b, const struct batch *keys)
{
    struct ribbon r;
    if (tamis__collecting(b) || keys->aim == NULL) return;
    ribbon_view(b, &r);
    struct ribbon_aim aim = tamis__ribbon_aim_in(keys->aim, AIMED);
    tamis__ribbon_prefetch(&r, keys->hashes, keys->n, &aim);
}

static void ribbon_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    struct ribbon r;
    if (tamis__collecting(b)) {
        tamis__say_maybe(keys, bits);
        return;
    }
    ribbon_view(b, &r);
    if (keys->aim == NULL) {
        tamis__ribbon_query(&r, keys->hashes, keys->n, NULL, NULL, NULL, bits);
        return;
    }
    const struct ribbon_aim aim = tamis__ribbon_aim_in(keys->aim, AIMED);
    struct ribbon_aim next = tamis__ribbon_aim_in(keys->next_aim, AIMED);
    tamis__ribbon_query(&r, keys->hashes, keys->n, &aim, keys->ahead, &next, bits);
}

/* They read the sections, so there is no view to be made in each call. */
static const struct single *ribbon_single(const struct body *b)
{
    if (tamis__collecting(b) || tamis__ribbon_is_nothing(b->sections)) return NULL;
    return tamis__kernels_for(b)->ribbon_single;
}

static void ribbon_gauge(const struct body *b, const struct body *other, double z,
                         struct gauge *out)
{
    struct ribbon r;
    (void)other, (void)z;
    out->cells = out->hit = 1;
    out->rate = 1;
    if (tamis__collecting(b)) return;
    ribbon_view(b, &r);
    out->rate = r.count != 0 ? tamis__ribbon_rate(&r) : 0;
}

static const struct sealed_ops ribbon_sealing = {
    .seal = TAMIS__FULL(ribbon_seal), .reserve = TAMIS__FULL(tamis__reserve), .spills = true};

const struct kind tamis__ribbon = {
    .id = TAMIS_RIBBON,
    .name = "ribbon",
    .traits = TAMIS__MULTISET | TAMIS__GROWS | TAMIS__BOUNDARIES,
    .accepts = TAMIS__PLANS_FILTER,
    .variants = TAMIS__RIBBON_VARIANTS,
    .roles = TAMIS__ROLE_THRESHOLDS,
    .aimed = AIMED,
    .instead = TAMIS_FUSE,
    .sealing = &ribbon_sealing,
    .solve = TAMIS__FULL(ribbon_solve),
    .layout = TAMIS__FULL(ribbon_layout),
    .wrong_shape = ribbon_wrong_shape,
    .wrong_cells = ribbon_wrong_cells,
    .prefetch = TAMIS__FULL(ribbon_prefetch),
    .add = TAMIS__FULL(tamis__collect),
    .query = ribbon_query,
    .single = TAMIS__SINGLE(ribbon_single),
    .clear = TAMIS__FULL(tamis__clear_collection),
    .gauge = ribbon_gauge,
};
