/* window: "seen in the last hour". g generations of a plain filter; keys go to the newest, a
 * question is asked of all, and tamis_rotate forgets the oldest, whose memory becomes the new
 * newest.
 *
 *     newest                     oldest
 *     [ g0 ]  [ g1 ]  [ g2 ]  [ g3 ]          rotate: g3 is emptied and comes to the front
 *       ^ add          query: any of them
 *
 * Rotated every quarter of an hour, four generations remember every key for at least three quarters
 * and at most a whole hour: for a whole one at least, take five. A key that is seen again while an
 * older generation has it is added to the newest all the same, so it is remembered from its last
 * time on.
 *
 * The plan spreads its items over the generations: each is made for items/g, at the rate r with
 * 1-(1-r)^g = fpr, since a key that was never added meets all of them. With TAMIS_AUTO_ROTATE an add
 * rotates by itself before the newest generation gets more than its share: then the window is the
 * last `items` keys, or a generation less.
 *
 * The section table counts the items of each generation. A key in several generations counts in
 * each of them. */
#include "../core/error.h"
#include "../core/kind.h"

#include <math.h>

#define MAX_GENERATIONS 256u

static tamis_status window_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    if (plan->inner_kind == 0) plan->inner_kind = TAMIS_BLOCKED;
    if (plan->generations == 0) plan->generations = 4;
    const struct kind *inner = tamis__kind(plan->inner_kind);
    if (inner == NULL || inner->sizing == NULL)
        return tamis__fail(why, TAMIS_EINVAL,
                           "a window is made of blocked, bloom or partitioned filters");
    if (plan->generations < 2 || plan->generations > MAX_GENERATIONS)
        return tamis__fail(why, TAMIS_EINVAL, "a window has 2 to %u generations, not %u",
                           MAX_GENERATIONS, plan->generations);
    if ((plan->flags & TAMIS_STRICT) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a window forgets, it is never full");
    struct sizing s = inner->sizing(plan);
    s.parts = plan->generations;
    s.shared = true;
    return tamis__solve_shape(plan, &s, promise, why);
}

static uint32_t window_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return plan->generations;
    tamis__kind(plan->inner_kind)->layout(plan, out);
    for (uint32_t i = 1; i < plan->generations; i++) out[i] = out[0];
    return plan->generations;
}

static const char *window_wrong_shape(const struct body *b)
{
    const struct section *first = b->sections;
    if (b->count < 2 || b->count > MAX_GENERATIONS) return "the number of generations is wrong";
    if (tamis__inner(b)->sizing == NULL)
        return "the generations are of a kind that a window cannot have";
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i;
        const struct body one = tamis__part(b, i);
        if (s->kind != first->kind || s->m != first->m || s->k != first->k ||
            s->variant != first->variant)
            return "the generations differ in shape";
        const char *reason = tamis__inner(b)->wrong_shape(&one);
        if (reason != NULL) return reason;
    }
    return NULL;
}

static const char *window_wrong_cells(const struct body *b)
{
    const char *reason = NULL;
    for (uint32_t i = 0; i < b->count && reason == NULL; i++) {
        const struct body one = tamis__part(b, i);
        reason = tamis__inner(b)->wrong_cells(&one);
    }
    return reason;
}

static void window_prefetch(const struct body *b, const struct batch *keys)
{
    const uint32_t touched = keys->unasked ? 1 : b->count;
    for (uint32_t i = 0; i < touched; i++) {
        const struct body one = tamis__part(b, i);
        tamis__inner(b)->prefetch(&one, keys);
    }
}

/* Which keys are in a generation from `first` on. */
static void window_query_from(const struct body *b, uint32_t first, const struct batch *keys,
                              uint8_t *bits)
{
    uint8_t in_one[TAMIS__MOST_BATCH / 8];
    for (uint32_t i = first; i < b->count; i++) {
        const struct body one = tamis__part(b, i);
        tamis__inner(b)->query(&one, keys, i == first ? bits : in_one);
        for (size_t j = 0; i != first && j < (keys->n + 7) / 8; j++)
            bits[j] = (uint8_t)(bits[j] | in_one[j]);
    }
}

static void window_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    window_query_from(b, 0, keys, bits);
}

static void window_rotate(struct body *b)
{
    struct section oldest = b->sections[b->count - 1];
    for (uint32_t i = b->count - 1; i > 0; i--) {
        const uint64_t place = b->sections[i].offset;
        b->sections[i] = b->sections[i - 1];
        b->sections[i].offset = place;
    }
    oldest.offset = b->sections[0].offset;
    oldest.items = 0;
    memset(oldest.cells, 0, (size_t)oldest.length);
    b->sections[0] = oldest;
    b->summed = false;
}

/* A key counts as an item if it is new to the newest generation, whatever the older ones hold. They
 * are queried only if the caller wants to know. */
static void add_to_newest(struct body *b, const struct batch *keys, uint8_t *seen)
{
    struct body newest = tamis__part(b, 0);
    uint8_t known[TAMIS__MOST_BATCH / 8];
    size_t unused;
    if (seen != NULL) window_query_from(b, 1, keys, seen);
    tamis__inner(b)->add(&newest, keys, known, &unused);
    for (size_t i = 0; i < keys->n; i++) /* those of a hostile image may stand at the very end */
        b->sections->items += !(known[i / 8] >> i % 8 & 1) && b->sections->items < UINT64_MAX;
    for (size_t i = 0; seen != NULL && i < (keys->n + 7) / 8; i++)
        seen[i] = (uint8_t)(seen[i] | known[i]);
}

static tamis_status window_add(struct body *b, const struct batch *keys, uint8_t *seen,
                               size_t *done)
{
    (void)done;
    const uint64_t items = b->sections->items;
    const uint64_t room = b->turn_at == 0      ? UINT64_MAX
                          : b->turn_at > items ? b->turn_at - items
                                               : 0;
    if (keys->n <= room) {
        add_to_newest(b, keys, seen);
        return TAMIS_OK;
    }
    /* A generation may become full among them. */
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const struct batch one = {.hashes = keys->hashes + i, .n = 1};
        uint8_t known = 0;
        if (b->sections->items >= b->turn_at) window_rotate(b);
        add_to_newest(b, &one, seen != NULL ? &known : NULL);
        if (seen != NULL && known != 0) seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
    }
    return TAMIS_OK;
}

static tamis_status window_merge(struct body *into, const struct body *from)
{
    for (uint32_t i = 0; i < into->count; i++) {
        struct body a = tamis__part(into, i);
        const struct body b = tamis__part(from, i);
        struct gauge g = {0};
        tamis__inner(into)->merge(&a, &b);
        tamis__inner(into)->gauge(&a, NULL, TAMIS__Z99, &g);
        into->sections[i].items = (uint64_t)(g.items.value + 0.5);
    }
    return TAMIS_OK;
}

static void window_gauge(const struct body *b, const struct body *other, double z,
                         struct gauge *out)
{
    double none = 0; /* logarithm of the chance that no generation says maybe */
    uint64_t fullest = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct body one = tamis__part(b, i);
        struct body with = {0};
        struct gauge g = {0};
        if (other != NULL) with = tamis__part(other, i);
        tamis__inner(b)->gauge(&one, other != NULL ? &with : NULL, z, &g);
        none += g.rate < 1 ? log1p(-g.rate) : -INFINITY;
        out->hit += g.hit;
        out->cells += g.cells;
        out->items.value += g.items.value;
        out->items.low += g.items.low;
        out->items.high += g.items.high;
        if (b->sections[i].items > fullest) fullest = b->sections[i].items;
    }
    out->rate = -expm1(none);
    /* The fewest items of a plan whose share for a generation, rounded up, is that. */
    if (fullest != 0) out->held = (double)(fullest - 1) * b->count + 1;
}

const struct kind tamis__window = {
    .id = TAMIS_WINDOW,
    .name = "window",
    .traits = TAMIS__SECTION_ITEMS,
    .solve = TAMIS__FULL(window_solve),
    .layout = TAMIS__FULL(window_layout),
    .wrong_shape = window_wrong_shape,
    .wrong_cells = window_wrong_cells,
    .prefetch = TAMIS__FULL(window_prefetch),
    .add = TAMIS__FULL(window_add),
    .query = window_query,
    .rotate = window_rotate,
    .merge = TAMIS__FULL(window_merge),
    .gauge = window_gauge,
};
