/* window of counts: "how often in the last hour", and what most often. A ring of generations of one
 * kind that tells how often.
 *
 *     newest                     oldest
 *     [ g0 ]  [ g1 ]  [ g2 ]  [ g3 ]          rotate: g3 is emptied and comes to the front
 *       ^ add          count: the sum of all
 *
 * See membership/window.c for how many generations an hour takes. It takes as much memory as they
 * do together; a half-life would take less, but what it tells is no count of anything.
 *
 * A count is the sum of what the generations say: never too low where theirs never are, and what
 * keys that never came count in all of them together is measured like that of one sketch (noise.c),
 * so the intervals hold as they are. Of items that are listed in some generation and not in
 * another, the other's tally tells its part. An item that is in no list may have been just below
 * the floor of each: the floors add up.
 *
 * Weights are not negative, whatever the kind: what is to be taken away may be in a generation that
 * is forgotten.
 *
 * In the image a generation is what its kind is alone, one section or, of top, three. */
#include "../core/error.h"
#include "../core/memory.h"
#include "../core/plan.h"
#include "../image/image.h"
#include "signed_counters.h"

#include <math.h>

#define MAX_GENERATIONS 256u
#define MOST_PARTS 3u /* sections of a generation */

static uint32_t window_of_counts_parts_of(const struct body *b)
{
    return b->count > 1 && b->sections[1].role == TAMIS__ROLE_ENTRIES ? MOST_PARTS : 1;
}

static const struct kind *inner_of(const struct body *b)
{
    return window_of_counts_parts_of(b) == 1 ? tamis__kind(b->sections->kind)
                                             : tamis__kind(TAMIS_TOP);
}

static uint32_t generations(const struct body *b)
{
    return b->count / window_of_counts_parts_of(b);
}

static struct body generation(const struct body *b, uint32_t i)
{
    struct body one = *b;
    one.count = window_of_counts_parts_of(b);
    one.sections = b->sections + (uint64_t)i * one.count;
    return one;
}

static struct batch window_of_counts_plain(const struct batch *keys)
{
    struct batch b = *keys;
    b.aim = b.next_aim = NULL; /* there is but one */
    return b;
}

/* --- Planning --------------------------------------------------------------------------------- */

static tamis_plan inner_plan(const tamis_plan *p)
{
    tamis_plan one = *p;
    one.kind = p->inner_kind;
    one.inner_kind = 0;
    one.generations = 0;
    one.bytes = 0;
    return one;
}

/* Of the image with all generations of a plan that is solved. */
static uint64_t window_of_counts_bytes_of(const tamis_plan *one, uint32_t n)
{
    struct section s[MOST_PARTS];
    const uint32_t parts = tamis__kind(one->kind)->layout(one, s);
    return tamis__repeated_bytes(s, parts, n);
}

struct window_budget {
    const tamis_plan *window;
    tamis_plan *one; /* the biggest generation that was found to fit */
};

/* Too few bytes for a generation fit as well: the search goes on to more. */
static bool generations_fit(void *ctx, uint64_t bytes)
{
    const struct window_budget *b = ctx;
    const tamis_plan *p = b->window;
    tamis_plan one = inner_plan(p);
    one.bytes = bytes;
    if (tamis__kind(p->inner_kind)->solve(&one, NULL, NULL) != TAMIS_OK) return true;
    if (window_of_counts_bytes_of(&one, p->generations) > p->bytes) return false;
    *b->one = one;
    return true;
}

/* The biggest plan of one generation with which the image of all has no more than p->bytes. */
static tamis_status fit(const tamis_plan *p, tamis_plan *one, tamis_error *why)
{
    struct window_budget b = {p, one};
    const uint64_t most = p->bytes / p->generations + 1;
    one->bytes = most;
    const tamis_status s = tamis__kind(p->inner_kind)->solve(one, NULL, why);
    if (s == TAMIS_OK) tamis__largest(0, most, generations_fit, &b);
    return s;
}

static tamis_status window_of_counts_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    (void)promise;
    if (p->generations == 0) p->generations = 4;
    if (p->generations < 2 || p->generations > MAX_GENERATIONS)
        return tamis__fail(why, TAMIS_EINVAL, "a window has 2 to %u generations, not %u",
                           MAX_GENERATIONS, p->generations);
    if ((p->flags & TAMIS_AUTO_ROTATE) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a window of counts rotates when it is told to");
    tamis_plan one = inner_plan(p);
    const bool by_bytes = p->m == 0 && p->error == 0 && p->bytes != 0;
    tamis_status s =
        by_bytes ? fit(p, &one, why) : tamis__kind(p->inner_kind)->solve(&one, NULL, why);
    if (s != TAMIS_OK) return s;
    if (p->bytes != 0 && window_of_counts_bytes_of(&one, p->generations) > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few for %u generations",
                           (unsigned long long)p->bytes, p->generations);
    const tamis_plan was = *p;
    *p = one;
    p->kind = was.kind;
    p->inner_kind = was.inner_kind;
    p->generations = was.generations;
    p->bytes = window_of_counts_bytes_of(&one, was.generations);
    return TAMIS_OK;
}

static uint32_t window_of_counts_layout(const tamis_plan *plan, struct section *out)
{
    tamis_plan one = inner_plan(plan);
    const struct kind *inner = tamis__kind(plan->inner_kind);
    const uint32_t parts = inner->layout(&one, out);
    for (uint32_t i = parts; out != NULL && i < parts * plan->generations; i++)
        out[i] = out[i - parts];
    return parts * plan->generations;
}

static const char *window_of_counts_wrong_shape(const struct body *b)
{
    const uint32_t parts = window_of_counts_parts_of(b);
    const struct kind *inner = inner_of(b);
    if (b->count % parts != 0 || generations(b) < 2 || generations(b) > MAX_GENERATIONS)
        return "the number of generations is wrong";
    if ((inner->traits & TAMIS__WEIGHS) == 0 || inner->rotate != NULL)
        return "the generations are of a kind that a window cannot have";
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i, *first = b->sections + i % parts;
        if (s->role != first->role || s->kind != first->kind || s->m != first->m ||
            s->k != first->k || s->variant != first->variant || s->cell_bits != first->cell_bits)
            return "the generations differ in shape";
        if (parts == 1 && s->role != TAMIS__ROLE_CELLS)
            return "a section does not contain counters";
        if (s->items > TAMIS__MOST_WEIGHT) return "a generation has an impossible weight";
    }
    for (uint32_t i = 0; i < generations(b); i++) {
        const struct body one = generation(b, i);
        const char *reason = inner->wrong_shape(&one);
        if (reason != NULL) return reason;
    }
    return NULL;
}

static const char *window_of_counts_wrong_cells(const struct body *b)
{
    const char *reason = NULL;
    for (uint32_t i = 0; i < generations(b) && reason == NULL; i++) {
        const struct body one = generation(b, i);
        reason = inner_of(b)->wrong_cells(&one);
    }
    return reason;
}

/* --- The verbs -------------------------------------------------------------------------------- */

static void window_of_counts_prefetch(const struct body *b, const struct batch *keys)
{
    const struct batch now = window_of_counts_plain(keys);
    const uint32_t touched = keys->unasked ? 1 : generations(b);
    for (uint32_t i = 0; i < touched; i++) {
        const struct body one = generation(b, i);
        inner_of(b)->prefetch(&one, &now);
    }
}

/* Which keys are in a generation from `first` on. */
static void window_of_counts_query_from(const struct body *b, uint32_t first,
                                        const struct batch *keys, uint8_t *bits)
{
    uint8_t in_one[TAMIS__MOST_BATCH / 8];
    const struct batch now = window_of_counts_plain(keys);
    for (uint32_t i = first; i < generations(b); i++) {
        const struct body one = generation(b, i);
        inner_of(b)->query(&one, &now, i == first ? bits : in_one);
        for (size_t j = 0; i != first && j < (keys->n + 7) / 8; j++)
            bits[j] = (uint8_t)(bits[j] | in_one[j]);
    }
}

static void window_of_counts_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    window_of_counts_query_from(b, 0, keys, bits);
}

static tamis_status window_of_counts_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                         size_t *done)
{
    struct body newest = generation(b, 0);
    struct batch now = window_of_counts_plain(keys);
    uint8_t before[TAMIS__MOST_BATCH / 8];
    for (size_t i = 0; keys->weights != NULL && i < now.n; i++)
        if (keys->weights[i] < 0) now.n = i;
    if (now.n != keys->n) now.ahead = NULL; /* of which there are as many */
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    *done = 0;
    if (now.n == 0) return keys->n == 0 ? TAMIS_OK : TAMIS_EUNSUPPORTED;
    if (seen != NULL) window_of_counts_query_from(b, 1, &now, before);
    const tamis_status s = inner_of(b)->add(&newest, &now, seen, done);
    b->moved = newest.moved;
    for (size_t i = 0; seen != NULL && i < (*done + 7) / 8; i++)
        seen[i] = (uint8_t)(seen[i] | before[i]);
    if (s != TAMIS_OK) return s;
    *done = now.n;
    return now.n == keys->n ? TAMIS_OK : TAMIS_EUNSUPPORTED;
}

static void window_of_counts_rotate(struct body *b)
{
    const uint32_t parts = window_of_counts_parts_of(b);
    for (uint32_t p = 0; p < parts; p++) {
        struct section oldest = b->sections[b->count - parts + p];
        for (uint32_t i = b->count - parts + p; i >= parts; i -= parts) {
            const uint64_t place = b->sections[i].offset;
            b->sections[i] = b->sections[i - parts];
            b->sections[i].offset = place;
        }
        oldest.offset = b->sections[p].offset;
        oldest.items = 0;
        memset(oldest.cells, 0, (size_t)oldest.length);
        b->sections[p] = oldest;
    }
    b->summed = false;
}

/* What has reached its end in one generation is at its end in all: the end means "or more". */
static int64_t window_of_counts_sum(int64_t a, int64_t b)
{
    return tamis__merge_signed(a, b, INT64_MAX);
}

static void window_of_counts_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    int64_t in_one[TAMIS__MOST_BATCH];
    struct known known[TAMIS__MOST_BATCH];
    struct batch now = window_of_counts_plain(keys);
    now.known = keys->known != NULL ? known : NULL;
    memset(out, 0, keys->n * sizeof *out);
    for (uint32_t i = 0; i < generations(b); i++) {
        const struct body one = generation(b, i);
        if (keys->known != NULL) memset(known, 0, keys->n * sizeof *known);
        inner_of(b)->count(&one, &now, in_one);
        for (size_t j = 0; j < keys->n; j++) {
            out[j] = window_of_counts_sum(out[j], in_one[j]);
            if (keys->known == NULL) continue;
            struct known *k = &keys->known[j];
            if (i == 0) *k = (struct known){0};
            k->certain = window_of_counts_sum(k->certain, known[j].certain);
            k->likely = window_of_counts_sum(k->likely, known[j].likely);
            k->ended |= known[j].ended;
        }
    }
}

/* --- Lists ------------------------------------------------------------------------------------ */

static uint64_t window_of_counts_slots(const struct body *b)
{
    const struct body one = generation(b, 0);
    return inner_of(b)->slots(&one) * generations(b);
}

static uint64_t window_of_counts_slot_of(const struct body *b, tamis_hash h)
{
    for (uint32_t i = 0; i < generations(b); i++) {
        const struct body one = generation(b, i);
        const uint64_t slot = inner_of(b)->slot_of(&one, h);
        if (slot != UINT64_MAX) return slot + i * inner_of(b)->slots(&one);
    }
    return UINT64_MAX;
}

/* What all generations know of an item is told where the newest has it, with the newest text that
 * there is. */
static bool window_of_counts_listed(const struct body *b, uint64_t slot, struct listed *out)
{
    const struct kind *inner = inner_of(b);
    const struct body first = generation(b, 0);
    const uint64_t each = inner->slots(&first);
    const struct body one = generation(b, (uint32_t)(slot / each));
    if (!inner->listed(&one, slot % each, out)) return false;
    const tamis_hash h = {out->hash, 0};
    if (window_of_counts_slot_of(b, h) != slot) return false;
    struct known known;
    const struct batch key = {.hashes = &h, .n = 1, .known = &known};
    window_of_counts_count(b, &key, &out->count);
    out->known = known;
    for (uint32_t i = (uint32_t)(slot / each) + 1; i < generations(b) && out->item.p == NULL; i++) {
        const struct body older = generation(b, i);
        const uint64_t there = inner->slot_of(&older, h);
        struct listed other;
        if (there == UINT64_MAX || !inner->listed(&older, there, &other)) continue;
        out->item = other.item;
        out->length = other.length;
    }
    return true;
}

static int64_t window_of_counts_unlisted(const struct body *b)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < generations(b); i++) {
        const struct body one = generation(b, i);
        all = window_of_counts_sum(all, inner_of(b)->unlisted(&one));
    }
    return all;
}

/* --- Together, and looking inside ------------------------------------------------------------- */

static void copy_cells(const struct body *b, uint8_t *room, bool back)
{
    for (uint32_t i = 0; i < b->count; room += b->sections[i++].length) {
        uint8_t *cells = b->sections[i].cells;
        memcpy(back ? cells : room, back ? room : cells, (size_t)b->sections[i].length);
    }
}

/* Generation by generation. Where one may fail after others have not, there is a way back. */
static tamis_status window_of_counts_merge(struct body *into, const struct body *from)
{
    const struct kind *inner = inner_of(into);
    const bool may_fail = (inner->traits & TAMIS__TEXTS) != 0;
    uint64_t bytes = into->count * sizeof *into->sections;
    for (uint32_t i = 0; i < into->count; i++) bytes += into->sections[i].length;
    struct section *kept = may_fail ? tamis__alloc(into->memory, bytes) : NULL;
    if (may_fail && kept == NULL) return TAMIS_ENOMEM;
    if (may_fail) {
        memcpy(kept, into->sections, into->count * sizeof *kept);
        copy_cells(into, (uint8_t *)(kept + into->count), false);
    }
    tamis_status s = TAMIS_OK;
    for (uint32_t i = 0; i < generations(into) && s == TAMIS_OK; i++) {
        struct body a = generation(into, i);
        const struct body b = generation(from, i);
        s = inner->merge(&a, &b);
    }
    if (s != TAMIS_OK) {
        memcpy(into->sections, kept, into->count * sizeof *kept);
        copy_cells(into, (uint8_t *)(kept + into->count), true);
    }
    tamis__free(into->memory, kept);
    return s;
}

static void window_of_counts_gauge(const struct body *b, const struct body *other, double z,
                                   struct gauge *out)
{
    double none = 0; /* logarithm of the chance that no generation says maybe */
    (void)other;
    for (uint32_t i = 0; i < generations(b); i++) {
        const struct body one = generation(b, i);
        struct gauge g = {.rate = 0};
        inner_of(b)->gauge(&one, NULL, z, &g);
        none += g.rate < 1 ? log1p(-g.rate) : -INFINITY;
        out->hit += g.hit;
        out->cells += g.cells;
        out->saturated += g.saturated;
    }
    out->rate = -expm1(none);
    out->items =
        (struct estimate){0, 0, INFINITY}; /* an item of several generations would count in each */
}

#define VERBS                                                                                      \
    .id = TAMIS_WINDOW, .name = "window", .solve = window_of_counts_solve,                         \
    .layout = window_of_counts_layout, .wrong_shape = window_of_counts_wrong_shape,                \
    .wrong_cells = window_of_counts_wrong_cells, .prefetch = window_of_counts_prefetch,            \
    .add = window_of_counts_add, .query = window_of_counts_query, .count = window_of_counts_count, \
    .rotate = window_of_counts_rotate, .merge = window_of_counts_merge,                            \
    .gauge = window_of_counts_gauge

const struct kind tamis__windows_of_counts[3] = {
    {VERBS, .traits = TAMIS__WEIGHS | TAMIS__SECTION_ITEMS},
    {VERBS, .traits = TAMIS__WEIGHS | TAMIS__SECTION_ITEMS | TAMIS__TWO_SIDED},
    {VERBS, .traits = TAMIS__WEIGHS | TAMIS__SECTION_ITEMS | TAMIS__TEXTS,
     .roles = TAMIS__ROLE_TEXTS, .slots = window_of_counts_slots,
     .slot_of = window_of_counts_slot_of, .listed = window_of_counts_listed,
     .unlisted = window_of_counts_unlisted},
};
