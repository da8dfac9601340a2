/* map: a sealed kind that holds a value of 1 to 32 bits for each key ("maplets": M. A. Bender et
 * al., "Time to replace your filter: how maplets simplify system design", 2025).
 *
 * It is a ribbon (ribbon/query.c) with more columns. A slot holds r bits of values and c bits of
 * fingerprints. For every member, the sum of the slots that its row picks is its value, followed by
 * its fingerprint:
 *
 *     Z             [..][..][..] ... [ ][a][b][c][d][e] ... [y][z][ ] ...    r + c bits each
 *     row                               1  0  1  1  0        0  1
 *     a member:                         a     ^c ^d     ...     ^z   ==  value, fingerprint
 *
 * For a non-member the sum is r + c fair coins that are independent of the table. So the
 * fingerprint is right with probability 2^-c, the rate, and the value is then arbitrary. With c = 0
 * the map does not know its members, and costs nothing but the values.
 *
 * Space: r + c bits a key, and what ribbons cost: two bits for each 128 slots, and a slot in a
 * thousand that stays free. That is 0.3 % at 16 bits and 0.2 % at 24. A fraction of a column costs
 * up to 0.09 bits, as in a filter.
 *
 * A key is 96 bits of its hash: hi, which gives the window and the row, and the upper half of lo,
 * which is the fingerprint. Until the seal, the lower half of lo is the value, so that a collection
 * of keys with values is one of hashes (collect.h). It is combined with hi, because the words of a
 * collection have to look uniform (core/uniform.h). Two keys in a billion agree in 96 bits with
 * probability 6e-12, and then have one value.
 *
 * The last layer cannot be homogeneous, because its sides are given. It is solved with the first of
 * 64 salts that works, like that of a retrieval. */
#include "../core/cpu.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "collect.h"
#include "ribbon/sections.h"

#include <math.h>

#define ONE TAMIS__RIBBON_ONE
#define DEFAULT_BITS 8u
#define MOST_ITEMS (TAMIS__MAX_ITEMS / TAMIS__RIBBON_ALL)

/* --- Planning --------------------------------------------------------------------------------- */

/* The columns of fingerprints, in 65536ths; more than 32 · 65536 if the rate cannot be reached. */
static uint32_t print_columns(double rate)
{
    if (rate > 0.5) return (uint32_t)ceil(-log2(rate) * ONE - 1e-3);
    return tamis__ribbon_columns_for(rate);
}

static tamis_status map_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    if (p->cell_bits == 0) p->cell_bits = DEFAULT_BITS;
    if (p->cell_bits > TAMIS__RIBBON_VALUES)
        return tamis__fail(why, TAMIS_EINVAL, "a value has 1 to 32 bits, not %u", p->cell_bits);
    if (p->m != 0 || p->k != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the shape of a map follows its keys");
    if (p->items > MOST_ITEMS)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    const uint32_t values = p->cell_bits * ONE, most = values + TAMIS__RIBBON_COLUMNS * ONE;
    const uint32_t fixed = p->fpr != 0
                               ? values + print_columns(p->fpr)
                               : tamis__ribbon_columns_within(p->items, p->bytes, values, most);
    if (fixed > most)
        return tamis__fail(why, TAMIS_EINVAL, "a map reaches 2^-32, not %.3g", p->fpr);
    if (p->items == 0) p->items = tamis__ribbon_items_within(p->bytes, fixed, MOST_ITEMS);
    const uint64_t bytes =
        fixed != 0 && p->items != 0 ? tamis__ribbon_image_bytes(p->items, fixed) : UINT64_MAX;
    if (p->bytes != 0 && bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few",
                           (unsigned long long)p->bytes);
    if (bytes == UINT64_MAX)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    const double rate = tamis__tidy(exp2(-(double)(fixed - values) / ONE));
    if (p->fpr == 0 || rate < p->fpr) p->fpr = rate;
    p->bytes = bytes;
    promise->fpr_asymptotic = p->fpr;
    return TAMIS_OK;
}

static uint32_t map_layout(const tamis_plan *plan, struct section *out)
{
    const uint32_t fixed = plan->cell_bits * ONE + print_columns(plan->fpr);
    if (out != NULL) *out = tamis__collection(TAMIS_VALUE_MAP, fixed, plan->cell_bits);
    return 1;
}

/* --- Collecting ------------------------------------------------------------------------------- */

/* Combines the lower half of lo with hi, or undoes that. */
static tamis_hash masked(tamis_hash h)
{
    h.lo ^= tamis__remix(h.hi) & UINT32_MAX;
    return h;
}

static tamis_hash with_value(tamis_hash h, uint32_t value)
{
    h.lo = (h.lo & ~(uint64_t)UINT32_MAX) | value;
    return h;
}

static tamis_status map_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    tamis_hash room[TAMIS__MOST_BATCH];
    struct batch with = *keys;
    *done = 0;
    if (keys->values == NULL) return TAMIS_EUNSUPPORTED;
    for (size_t i = 0; i < keys->n; i++)
        room[i] = masked(with_value(keys->hashes[i], keys->values[i]));
    with.hashes = room;
    return tamis__collect(b, &with, seen, done);
}

/* --- Sections and layers ---------------------------------------------------------------------- */

static const char *map_view(const struct body *b, struct ribbon *out)
{
    uint32_t used = 0;
    out->count = 0;
    if (tamis__ribbon_is_nothing(b->sections))
        return tamis__ribbon_wrong_nothing(b->sections, b->count);
    const char *reason = tamis__ribbon_from_sections(b->sections, b->count, &used, out);
    if (reason != NULL) return reason;
    return used != b->count ? "the sections belong to another structure" : NULL;
}

static const char *map_wrong_shape(const struct body *b)
{
    struct ribbon r;
    const struct section *s = b->sections;
    const uint32_t value_bits = s->cell_bits;
    if (value_bits < 1 || value_bits > TAMIS__RIBBON_VALUES) return "a value has 1 to 32 bits";
    for (uint32_t i = 0; i < b->count; i++) {
        const bool layer = s[i].role != TAMIS__ROLE_THRESHOLDS;
        if (s[i].kind != TAMIS_VALUE_MAP || s[i].cell_bits != (layer ? value_bits : 1) ||
            s[i].role == TAMIS__ROLE_BITS)
            return "a section is not of this kind";
    }
    if (tamis__collecting(b)) {
        const uint32_t least = value_bits * ONE;
        if (s->variant != 0 || s->salt != 0 || s->boundary != 0 || s->k < least ||
            s->k > least + TAMIS__RIBBON_COLUMNS * ONE)
            return "the collection has a wrong shape";
        return tamis__wrong_collection(b);
    }
    const char *reason = map_view(b, &r);
    return reason != NULL || tamis__ribbon_is_nothing(s) ? reason : tamis__ribbon_wrong(&r);
}

static const char *map_wrong_cells(const struct body *b)
{
    const struct section *s = b->sections;
    if (tamis__collecting(b)) {
        for (uint64_t i = 0; i < s->m && s->cell_bits < 32; i++)
            if ((masked(tamis__collected(s, i)).lo & UINT32_MAX) >> s->cell_bits != 0)
                return "a value has too many bits";
        return tamis__wrong_collection_cells(b);
    }
    /* Any bits of a ribbon are a valid solution. */
    return tamis__ribbon_is_nothing(s) ? tamis__ribbon_wrong_nothing_cells(s) : NULL;
}

/* --- Sealing ---------------------------------------------------------------------------------- */

static tamis_status map_no_memory(const struct section *s, tamis_error *why)
{
    return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to seal %llu keys",
                       (unsigned long long)s->m);
}

/* The key was added with two values: says where. */
static tamis_status two_values(const struct section *s, tamis_hash key, tamis_error *why)
{
    uint64_t first = UINT64_MAX, i = 0;
    uint32_t value = 0, other = 0;
    for (; i < s->m; i++) {
        const tamis_hash h = masked(tamis__collected(s, i));
        if (h.hi != key.hi || h.lo >> 32 != key.lo >> 32) continue;
        other = (uint32_t)h.lo;
        if (first == UINT64_MAX)
            first = i, value = other;
        else if (other != value)
            break;
    }
    tamis__fail(why, TAMIS_EINVAL,
                "key %llu has the value %lu, and as key %llu it had the value %lu",
                (unsigned long long)i + 1, (unsigned long)other, (unsigned long long)first + 1,
                (unsigned long)value);
    if (why != NULL) why->offset = i;
    return TAMIS_EINVAL;
}

static tamis_status map_build(struct body *b, struct ribbon *r, tamis_error *why)
{
    const struct section *s = b->sections;
    const struct ribbon_means by = {.memory = b->memory, .threads = b->extra->threads};
    struct ribbon_map map = {.columns = (double)s->k / ONE, .value_bits = s->cell_bits};
    tamis_hash *h = tamis__alloc(b->memory, (s->m + 1) * sizeof *h);
    if (h == NULL) return map_no_memory(s, why);
    for (uint64_t i = 0; i < s->m; i++) h[i] = masked(tamis__collected(s, i));
    const tamis_status status = tamis__ribbon_map_build(&by, h, s->m, &map, r, why);
    tamis__free(b->memory, h);
    if (status == TAMIS_EMISMATCH) return two_values(s, map.twice, why);
    return status == TAMIS_ENOMEM ? map_no_memory(s, why) : status;
}

static tamis_status map_seal(struct body *b, uint64_t *distinct, tamis_error *why)
{
    const struct section *s = b->sections;
    struct ribbon r = {.count = 0};
    struct section sections[TAMIS__RIBBON_SECTIONS];
    const tamis_status status = map_build(b, &r, why);
    if (status != TAMIS_OK) return status;
    uint32_t n = tamis__ribbon_to_sections(&r, TAMIS_VALUE_MAP, sections);
    *distinct = r.keys;
    if (r.count == 0) {
        sections[0] = tamis__ribbon_nothing(TAMIS_VALUE_MAP);
        sections[0].cell_bits = s->cell_bits;
        sections[0].cells = tamis__alloc(b->memory, sections[0].length);
        n = sections[0].cells != NULL;
    }
    if (n > 0 && tamis__replace_sections(b, sections, n)) return TAMIS_OK;
    if (n > 0 && r.count == 0) tamis__free(b->memory, sections[0].cells);
    tamis__ribbon_free(b->memory, &r);
    return map_no_memory(s, why);
}

/* --- Queries ---------------------------------------------------------------------------------- */

/* The hash of a key that enters a layer, from its hash for salt 0. */
static inline tamis_hash enter(const struct section *layer, tamis_hash h)
{
    return layer->salt != 0 ? tamis__ribbon_map_salted(layer->salt, h) : h;
}

/* It reads the sections, so there is no view to be made for each key. */
static bool map_value(const struct body *b, tamis_hash h, uint32_t *value)
{
    const struct section *s = b->sections;
    if (tamis__ribbon_is_nothing(s)) return false;
    struct ribbon_layer l = tamis__ribbon_layer(s, false);
    h = enter(s, h);
    uint64_t start = tamis__ribbon_start(h, tamis__ribbon_starts(l.segments));
    while (!l.last && tamis__ribbon_bumps(s[1].cells, start)) {
        s += 2; /* its cells and thresholds */
        l = tamis__ribbon_layer(s, false);
        h = enter(s, tamis__ribbon_map_next(h));
        start = tamis__ribbon_start(h, tamis__ribbon_starts(l.segments));
    }
    const uint32_t columns = tamis__ribbon_columns(&l, start / TAMIS__RIBBON_WIDTH);
    const uint64_t sums = tamis__kernels()->ribbon_sums(&l, tamis__ribbon_map_row(h), start);
    *value = (uint32_t)(sums & ((UINT64_C(1) << l.value_bits) - 1));
    return sums >> l.value_bits == tamis__ribbon_print(h, columns - l.value_bits);
}

static void map_prefetch(const struct body *b, const struct batch *keys)
{
    const struct section *s = b->sections;
    if (tamis__collecting(b) || tamis__ribbon_is_nothing(s)) return;
    const struct ribbon_layer l = tamis__ribbon_layer(s, false);
    const uint64_t starts = tamis__ribbon_starts(l.segments);
    for (size_t i = 0; i < keys->n; i++) {
        const uint64_t start = tamis__ribbon_start(keys->hashes[i], starts);
        const struct ribbon_pair at = tamis__ribbon_pair(&l, start);
        const uint32_t columns = tamis__ribbon_columns(&l, start / TAMIS__RIBBON_WIDTH);
        const uint8_t *last = at.high + 8 * columns - 1;
        TAMIS__PREFETCH(last);
        for (const uint8_t *p = at.low; p < last; p += 64) TAMIS__PREFETCH(p);
    }
}

static void map_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    uint32_t value;
    tamis__say_maybe(keys, bits);
    if (tamis__collecting(b)) return;
    for (size_t i = 0; i < keys->n; i++)
        if (!map_value(b, keys->hashes[i], &value))
            bits[i / 8] = (uint8_t)(bits[i / 8] & ~(1u << i % 8));
}

static void map_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    struct ribbon r;
    (void)other, (void)z;
    out->cells = out->hit = 1;
    out->rate = 1;
    if (tamis__collecting(b)) return;
    map_view(b, &r);
    out->rate = r.count != 0 ? tamis__ribbon_rate(&r) : 0;
}

static const struct sealed_ops map_sealing = {.seal = TAMIS__FULL(map_seal), .value = map_value};

const struct kind tamis__value_map = {
    .id = TAMIS_VALUE_MAP,
    .name = "map",
    .traits = TAMIS__MULTISET | TAMIS__GROWS | TAMIS__BOUNDARIES | TAMIS__VALUES,
    .accepts = (TAMIS__PLANS_FILTER & ~(uint32_t)TAMIS_STRICT) | TAMIS__PLANS_CELL_BITS,
    .variants = TAMIS__RIBBON_VARIANTS,
    .roles = TAMIS__ROLE_THRESHOLDS,
    .instead = TAMIS_FUSE,
    .sealing = &map_sealing,
    .solve = TAMIS__FULL(map_solve),
    .layout = TAMIS__FULL(map_layout),
    .wrong_shape = map_wrong_shape,
    .wrong_cells = map_wrong_cells,
    .prefetch = TAMIS__FULL(map_prefetch),
    .add = TAMIS__FULL(map_add),
    .query = map_query,
    .clear = TAMIS__FULL(tamis__clear_collection),
    .gauge = map_gauge,
};
