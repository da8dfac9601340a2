/* window: "seen in the last hour", "how often in the last hour", or "how many in the last hour". A
 * window has g generations of another kind, a plain filter or a sketch. Keys go to the newest
 * generation, a query asks all of them, and tamis_rotate forgets the oldest, whose memory becomes
 * that of the new newest one.
 *
 *     newest                     oldest
 *     [ g0 ]  [ g1 ]  [ g2 ]  [ g3 ]          rotate: g3 is emptied and moves to the front
 *       ^ add          query: any of them     count: the sum of all of them
 *
 * If it is rotated every quarter of an hour, a window of four generations remembers every key for
 * at least three quarters of an hour and at most a whole one. To remember keys for at least an
 * hour, take five. A key that is seen again while an older generation has it is added to the newest
 * as well, so it is remembered from the last time it was seen.
 *
 * The plan of a window of filters spreads its items over the generations. Each generation is made
 * for items/g, at the rate r with 1-(1-r)^g = fpr, because a non-member is looked up in all of
 * them. With TAMIS_AUTO_ROTATE an add rotates by itself before the newest generation gets more than
 * its share. The window then contains the last `items` keys, or up to one generation less.
 *
 * tamis_rotate_to rotates by epochs of the caller's clock. The handle keeps the epoch, and so does
 * the header of the image; a rotation itself knows nothing of it.
 *
 * Generations that are distinct sketches have registers from the start. The estimate of such a
 * window is that of their union.
 *
 * The section table has the number of items of each generation. A key in several generations counts
 * in each of them.
 *
 * This file has what all windows share, and what only windows of filters do. For windows of
 * sketches see frequency/window_of_counts.c. */
#include "../core/error.h"
#include "../core/gate.h"
#include "../core/generations.h"
#include "../core/plan.h"
#include "../image/image.h"

#include <math.h>

#define MAX_GENERATIONS 256u
/* In larger windows it is faster to ask one generation about a group of keys before the next one:
 * there are fewer pages at a time. A single key gains in every window. */
#define GROUPED_BYTES (8u << 20)
#define MIN_REGISTERS 16u /* in a generation that is a distinct sketch */
#define MOST_PROBES 64u   /* cells of a key in a generation that is a filter */

/* --- Planning --------------------------------------------------------------------------------- */

/* The bytes of a window whose generations have m registers each. */
static uint64_t bytes_of_distinct(const tamis_plan *plan, const struct kind *inner, uint64_t m)
{
    struct section s;
    tamis_plan one = tamis__generation_plan(plan);
    one.m = m;
    inner->layout(&one, &s);
    return tamis__repeated_bytes(&s, 1, plan->generations);
}

/* Each generation has the error of the window, because the estimate is that of their union. */
static tamis_status solve_distinct(tamis_plan *plan, const struct kind *inner, tamis_error *why)
{
    tamis_plan one = tamis__generation_plan(plan);
    const bool by_bytes = plan->m == 0 && plan->error == 0 && plan->bytes != 0;
    if ((plan->flags & TAMIS_AUTO_ROTATE) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a window of distinct rotates only when asked to");
    if (by_bytes) one.m = MIN_REGISTERS;
    tamis_status s = inner->solve(&one, NULL, why);
    while (s == TAMIS_OK && by_bytes && bytes_of_distinct(plan, inner, 2 * one.m) <= plan->bytes) {
        tamis_plan more = tamis__generation_plan(plan);
        more.m = 2 * one.m;
        if (inner->solve(&more, NULL, NULL) != TAMIS_OK) break;
        one = more;
    }
    if (s != TAMIS_OK) return s;
    const uint64_t bytes = bytes_of_distinct(plan, inner, one.m);
    if (plan->bytes != 0 && bytes > plan->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few: at least %llu are needed",
                           (unsigned long long)plan->bytes, (unsigned long long)bytes);
    plan->k = one.k;
    plan->m = one.m;
    plan->error = one.error;
    plan->bytes = bytes;
    return TAMIS_OK;
}

static tamis_status window_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    if (plan->inner_kind == 0) plan->inner_kind = TAMIS_BLOCKED;
    if (plan->generations == 0) plan->generations = 4;
    const struct kind *inner = tamis__kind(plan->inner_kind);
    const bool sketches = inner != NULL && tamis__window_sketch(inner) != NULL;
    const bool distinct = inner != NULL && (inner->traits & TAMIS__DISTINCT) != 0;
    if (!sketches && !distinct && (inner == NULL || inner->sizing == NULL))
        return tamis__fail(why, TAMIS_EINVAL, "a window is made of sketches or one of: %s",
                           tamis__kinds_of_parts(&(struct kind_names){0}));
    if (plan->generations < 2 || plan->generations > MAX_GENERATIONS)
        return tamis__fail(why, TAMIS_EINVAL, "a window has 2 to %u generations, not %u",
                           MAX_GENERATIONS, plan->generations);
    if (sketches) return tamis__solve_sketches(plan, why);
    if (distinct) return solve_distinct(plan, inner, why);
    struct sizing s = inner->sizing(plan);
    s.parts = plan->generations;
    s.shared = true;
    return tamis__solve_shape(plan, &s, promise, why);
}

static uint32_t window_layout(const tamis_plan *plan, struct section *out)
{
    const tamis_plan one = tamis__generation_plan(plan);
    const uint32_t parts = tamis__kind(one.kind)->layout(&one, out);
    const uint32_t count = parts * plan->generations;
    for (uint32_t i = parts; out != NULL && i < count; i++) out[i] = out[i - parts];
    return count;
}

/* --- Images ----------------------------------------------------------------------------------- */

static const char *window_wrong_shape(const struct body *b)
{
    const uint32_t parts = tamis__part_sections(b), n = tamis__generations(b);
    const struct kind *inner = tamis__inner(b);
    const bool sketches = tamis__window_sketch(inner) != NULL;
    if (b->count % parts != 0 || n < 2 || n > MAX_GENERATIONS)
        return "the number of generations is wrong";
    if (inner->sizing == NULL && !sketches && (inner->traits & TAMIS__DISTINCT) == 0)
        return "the generations are of a kind that a window cannot have";
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i, *first = b->sections + i % parts;
        if (s->role != first->role || s->kind != first->kind || s->m != first->m ||
            s->k != first->k || s->variant != first->variant || s->cell_bits != first->cell_bits)
            return "the generations differ in shape";
        if (parts == 1 && s->role != TAMIS__ROLE_CELLS) return "a generation without cells";
        if ((inner->traits & TAMIS__DISTINCT) != 0 && s->variant != 0)
            return "a generation has tokens instead of registers";
    }
    const char *reason = sketches ? tamis__wrong_sketches(b) : NULL;
    struct body one;
    for (uint32_t i = 0; i < n && reason == NULL; i++) {
        one = tamis__generation_at(b, i);
        reason = inner->wrong_shape(&one);
    }
    return reason;
}

static const char *window_wrong_cells(const struct body *b)
{
    const struct kind *inner = tamis__inner(b);
    const char *reason = NULL;
    struct body one;
    for (uint32_t i = 0; i < tamis__generations(b) && reason == NULL; i++) {
        one = tamis__generation_at(b, i);
        reason = inner->wrong_cells(&one);
    }
    return reason;
}

/* --- The verbs -------------------------------------------------------------------------------- */

static void window_prefetch(const struct body *b, const struct batch *keys)
{
    const struct kind *inner = tamis__inner(b);
    const uint32_t touched = keys->unasked ? 1 : tamis__generations(b);
    struct gate_slot *slot = tamis__gate_enter(b->extra->gate);
    for (uint32_t i = 0; i < touched; i++) {
        const struct body one = tamis__generation_at(b, i);
        inner->prefetch(&one, keys);
    }
    tamis__gate_leave(slot);
}

/* Tests four bits at a time, because a branch after each would be mispredicted half the time. Other
 * threads may be setting bits. */
static bool window_has_bits(const uint8_t *cells, const uint64_t *at, size_t k)
{
    unsigned all = 1;
    for (size_t j = 0; j < k; j++) {
        all &= (unsigned)__atomic_load_n(cells + at[j] / 8, __ATOMIC_RELAXED) >> at[j] % 8;
        if (j % 4 == 3 && all == 0) return false;
    }
    return all != 0;
}

/* One key in generations that are filters of bits: its cells are the same in each. */
static bool window_query_one(const struct body *some, const struct kind *inner, tamis_hash h)
{
    uint64_t at[MOST_PROBES];
    const struct body first = tamis__part(some, 0);
    const size_t k = inner->cells_of(&first, h, at, MOST_PROBES);
    for (uint32_t i = 0; i < some->count; i++)
        if (window_has_bits(some->sections[i].cells, at, k)) return true;
    return false;
}

/* Generations that are filters of bits. False: they have to be asked one after the other. */
static bool window_query_bits(const struct body *b, const struct kind *inner, uint32_t first,
                              const struct batch *keys, uint8_t *bits)
{
    struct body some = *b;
    some.sections += first;
    some.count -= first;
    if (keys->n != 1 && some.sections->length > GROUPED_BYTES / some.count) return false;
    if (inner->query_any != NULL && inner->query_any(&some, keys, bits)) return true;
    if (keys->ahead != NULL && keys->n != 1) return false; /* a kernel has more misses in flight */
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++)
        bits[i / 8] =
            (uint8_t)(bits[i / 8] | window_query_one(&some, inner, keys->hashes[i]) << i % 8);
    return true;
}

void tamis__query_generations(const struct body *b, uint32_t first, const struct batch *keys,
                              uint8_t *bits)
{
    const struct kind *inner = tamis__inner(b);
    const uint32_t n = tamis__generations(b);
    uint8_t in_one[TAMIS__MOST_BATCH / 8];
    if (first < n && inner->sizing != NULL && window_query_bits(b, inner, first, keys, bits))
        return;
    for (uint32_t i = first; i < n; i++) {
        const struct body one = tamis__generation_at(b, i);
        inner->query(&one, keys, i == first ? bits : in_one);
        for (size_t j = 0; i != first && j < (keys->n + 7) / 8; j++)
            bits[j] = (uint8_t)(bits[j] | in_one[j]);
        if (keys->n == 1 && bits[0] != 0) return;
    }
}

static void window_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    struct gate_slot *slot = tamis__gate_enter(b->extra->gate);
    tamis__query_generations(b, 0, keys, bits);
    tamis__gate_leave(slot);
}

/* Only what differs between generations moves, so threads may read the shape of a shared window at
 * any time. */
static void window_rotate(struct body *b)
{
    const uint32_t parts = tamis__part_sections(b);
    for (uint32_t p = 0; p < parts; p++) {
        struct section *s = b->sections + p;
        const uint32_t last = b->count - parts;
        uint8_t *emptied = s[last].cells;
        const uint64_t room = s[last].room;
        for (uint32_t i = last; i >= parts; i -= parts) {
            s[i].cells = s[i - parts].cells;
            s[i].room = s[i - parts].room;
            s[i].items = s[i - parts].items;
        }
        s->cells = emptied;
        s->room = room;
        s->items = 0;
        memset(emptied, 0, (size_t)s->length);
    }
    b->extra->summed = false;
}

static void window_count_new(struct body *b, size_t n, const uint8_t *known)
{
    uint64_t *items = &b->sections->items;
    size_t fresh = n;
    for (size_t i = 0; i < (n + 7) / 8; i++) fresh -= tamis__popcount(known[i]);
    if (b->extra->gate != NULL)
        __atomic_fetch_add(items, fresh, __ATOMIC_SEQ_CST);
    else /* in a hostile image there may be UINT64_MAX already */
        *items = fresh <= UINT64_MAX - *items ? *items + fresh : UINT64_MAX;
}

/* A key counts as an item if it is new to the newest generation, whatever the older ones contain.
 * They are queried only if the caller wants to know. Distinct sketches have no number of items. */
static void add_to_newest(struct body *b, const struct kind *inner, const struct batch *keys,
                          uint8_t *seen)
{
    struct body newest = tamis__part(b, 0);
    uint8_t known[TAMIS__MOST_BATCH / 8];
    size_t unused;
    if (seen != NULL) tamis__query_generations(b, 1, keys, seen);
    inner->add(&newest, keys, known, &unused);
    if ((inner->traits & TAMIS__DISTINCT) == 0) window_count_new(b, keys->n, known);
    for (size_t i = 0; seen != NULL && i < (keys->n + 7) / 8; i++)
        seen[i] = (uint8_t)(seen[i] | known[i]);
}

/* How many keys the newest generation has room for. */
static uint64_t room_in_newest(const struct body *b)
{
    const uint64_t items = __atomic_load_n(&b->sections->items, __ATOMIC_SEQ_CST);
    if (b->extra->turn_at == 0) return UINT64_MAX;
    return b->extra->turn_at > items ? b->extra->turn_at - items : 0;
}

/* The newest generation may become full within this batch. */
static void add_and_turn(struct body *b, const struct kind *inner, const struct batch *keys,
                         uint8_t *seen)
{
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const struct batch one = {.hashes = keys->hashes + i, .n = 1};
        uint8_t known = 0;
        if (b->sections->items >= b->extra->turn_at) window_rotate(b);
        add_to_newest(b, inner, &one, seen != NULL ? &known : NULL);
        if (seen != NULL && known != 0) seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
    }
}

/* Each thread reserves the room that its keys need if all are new, so that together they do not
 * exceed it. A key counts as an item before its room is given back. If there may be too little
 * room, the thread closes the gate, and then knows how much there is. */
static void add_with_others(struct body *b, const struct kind *inner, const struct batch *keys,
                            uint8_t *seen)
{
    struct gate *g = b->extra->gate;
    struct gate_slot *slot = tamis__gate_enter(g);
    const uint64_t reserved =
        b->extra->turn_at != 0 ? __atomic_add_fetch(&g->reserved, keys->n, __ATOMIC_SEQ_CST) : 0;
    const bool fits = reserved <= room_in_newest(b);
    if (fits) add_to_newest(b, inner, keys, seen);
    if (b->extra->turn_at != 0) __atomic_fetch_sub(&g->reserved, keys->n, __ATOMIC_SEQ_CST);
    tamis__gate_leave(slot);
    if (fits) return;
    tamis__gate_close(g);
    add_and_turn(b, inner, keys, seen);
    tamis__gate_open(g);
}

static tamis_status window_add(struct body *b, const struct batch *keys, uint8_t *seen,
                               size_t *done)
{
    const struct kind *inner = tamis__inner(b);
    if (tamis__window_sketch(inner) != NULL) return tamis__add_to_sketches(b, keys, seen, done);
    if (b->extra->gate != NULL)
        add_with_others(b, inner, keys, seen);
    else if (keys->n <= room_in_newest(b))
        add_to_newest(b, inner, keys, seen);
    else
        add_and_turn(b, inner, keys, seen);
    return TAMIS_OK;
}

static tamis_status window_merge(struct body *into, const struct body *from)
{
    const struct kind *inner = tamis__inner(into);
    const bool distinct = (inner->traits & TAMIS__DISTINCT) != 0;
    if (tamis__window_sketch(inner) != NULL) return tamis__merge_sketches(into, from);
    for (uint32_t i = 0; i < into->count; i++) {
        struct body a = tamis__part(into, i);
        const struct body b = tamis__part(from, i);
        struct gauge g = {0};
        inner->merge(&a, &b); /* none of these kinds allocates memory */
        if (distinct) continue;
        inner->gauge(&a, NULL, TAMIS__Z99, &g);
        into->sections[i].items = (uint64_t)(g.items.value + 0.5);
    }
    return TAMIS_OK;
}

static void window_gauge(const struct body *b, const struct body *other, double z,
                         struct gauge *out)
{
    const struct kind *inner = tamis__inner(b);
    double none = 0; /* logarithm of the probability that no generation answers "maybe" */
    uint64_t fullest = 0;
    if ((inner->traits & TAMIS__DISTINCT) != 0) { /* a key in several generations counts once */
        inner->gauge(b, other, z, out);
        return;
    }
    for (uint32_t i = 0; i < tamis__generations(b); i++) {
        const struct body one = tamis__generation_at(b, i);
        struct body with = {0};
        struct gauge g = {0};
        if (other != NULL) with = tamis__generation_at(other, i);
        inner->gauge(&one, other != NULL ? &with : NULL, z, &g);
        none += g.rate < 1 ? log1p(-g.rate) : -INFINITY;
        out->hit += g.hit;
        out->cells += g.cells;
        out->saturated += g.saturated;
        out->items.value += g.items.value;
        out->items.low += g.items.low;
        out->items.high += g.items.high;
        if (one.sections->items > fullest) fullest = one.sections->items;
    }
    out->rate = -expm1(none);
    /* A key in several generations counts in each of them. Generations that are sketches count
     * every add, so they say nothing about the number of distinct keys. */
    if (tamis__window_sketch(inner) != NULL) out->items = (struct estimate){0, 0, INFINITY};
    /* The fewest items of a plan whose share per generation, rounded up, is `fullest`. */
    if (fullest != 0) out->held = (double)(fullest - 1) * b->count + 1;
}

const struct kind tamis__window = {
    .id = TAMIS_WINDOW,
    .name = "window",
    .traits = TAMIS__SECTION_TOTALS | TAMIS__HAS_PARTS | TAMIS__SHARES,
    .accepts = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR | TAMIS__PLANS_TWO | TAMIS__PLANS_GENERATIONS |
               TAMIS__PLANS_INNER | TAMIS_AUTO_ROTATE,
    .instead = TAMIS_BLOCKED,
#ifdef TAMIS__WINDOWS_OF_SKETCHES
    .sketch_of = tamis__window_sketch,
#endif
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
