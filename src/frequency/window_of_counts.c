/* Windows of sketches: "how often in the last hour", and the most frequent items of that hour. The
 * generations of the window (membership/window.c) are sketches of one kind.
 *
 *     newest                     oldest
 *     [ g0 ]  [ g1 ]  [ g2 ]  [ g3 ]          rotate: g3 is emptied and moves to the front
 *       ^ add          count: the sum of all
 *
 * A window takes as much memory as its generations together. Counters with a half-life would take
 * less, but their value is not the count of anything.
 *
 * The count of a key is the sum of the counts in all generations. It is never too low if theirs
 * never are. The noise is measured as in a single sketch (noise.c), from the sums of keys that were
 * never added, so the intervals hold. If an item is listed in some generations and not in another,
 * the other's tally has its count there. An item that is in no list may have been just below the
 * floor of each generation: the floors add up.
 *
 * Weights must not be negative, whatever the kind, because the weight that is to be taken away may
 * be in a generation that was forgotten.
 *
 * In the image, a generation has the same sections as its kind has alone: one, or three for top. */
#include "../core/error.h"
#include "../core/generations.h"
#include "../core/memory.h"
#include "../image/image.h"
#include "signed_counters.h"

#ifdef TAMIS__WINDOWS_OF_SKETCHES

#define MOST_PARTS 3u /* sections of a generation */

/* --- Planning --------------------------------------------------------------------------------- */

/* Returns the bytes of the image with n generations of a solved plan. */
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

/* Also true if the bytes are too few for a generation, so that the search goes on to more. */
static bool generations_fit(void *ctx, uint64_t bytes)
{
    const struct window_budget *b = ctx;
    const tamis_plan *p = b->window;
    tamis_plan one = tamis__generation_plan(p);
    one.bytes = bytes;
    if (tamis__kind(p->inner_kind)->solve(&one, NULL, NULL) != TAMIS_OK) return true;
    if (window_of_counts_bytes_of(&one, p->generations) > p->bytes) return false;
    *b->one = one;
    return true;
}

/* Finds the biggest plan of one generation with which the image of all has at most p->bytes. */
static tamis_status fit(const tamis_plan *p, tamis_plan *one, tamis_error *why)
{
    struct window_budget b = {p, one};
    const uint64_t most = p->bytes / p->generations + 1;
    one->bytes = most;
    const tamis_status s = tamis__kind(p->inner_kind)->solve(one, NULL, why);
    if (s == TAMIS_OK) tamis__largest(0, most, generations_fit, &b);
    return s;
}

tamis_status tamis__solve_sketches(tamis_plan *p, tamis_error *why)
{
    if ((p->flags & TAMIS_AUTO_ROTATE) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a window of sketches rotates only when asked to");
    tamis_plan one = tamis__generation_plan(p);
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

const char *tamis__wrong_sketches(const struct body *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->sections[i].weight < 0) return "a generation has an impossible weight";
    return NULL;
}

/* --- Adding and counting ---------------------------------------------------------------------- */

/* A count that is saturated in one generation is saturated in all: it means "or more". */
static int64_t window_of_counts_sum(int64_t a, int64_t b)
{
    return tamis__merge_signed(a, b, INT64_MAX);
}

/* Adds the counts in the generations from `first` on, and what they know, to those in `out` and
 * keys->known. */
static void window_of_counts_add_up(const struct body *b, uint32_t first, const struct batch *keys,
                                    int64_t *out)
{
    int64_t in_one[TAMIS__MOST_BATCH];
    struct known known[TAMIS__MOST_BATCH];
    const struct sketch_ops *sketch = tamis__inner(b)->sketch;
    struct batch now = *keys;
    now.known = keys->known != NULL ? known : NULL;
    for (uint32_t i = first; i < tamis__generations(b); i++) {
        const struct body one = tamis__generation_at(b, i);
        if (keys->known != NULL) memset(known, 0, keys->n * sizeof *known);
        sketch->count(&one, &now, in_one);
        for (size_t j = 0; j < keys->n; j++) {
            out[j] = window_of_counts_sum(out[j], in_one[j]);
            if (keys->known == NULL) continue;
            struct known *k = &keys->known[j];
            k->certain = window_of_counts_sum(k->certain, known[j].certain);
            k->likely = window_of_counts_sum(k->likely, known[j].likely);
            k->saturated |= known[j].saturated;
        }
    }
}

static void window_of_counts_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    memset(out, 0, keys->n * sizeof *out);
    if (keys->known != NULL) memset(keys->known, 0, keys->n * sizeof *keys->known);
    window_of_counts_add_up(b, 0, keys, out);
}

/* Turns the counts after an add to the newest generation into those of the window. */
static TAMIS__APART void count_older(const struct body *b, const struct batch *keys)
{
    struct known known[TAMIS__MOST_BATCH];
    struct batch older = *keys;
    if (tamis__inner(b)->sketch->two_sided) {
        older.known = known;
        memset(known, 0, keys->n * sizeof *known);
    }
    window_of_counts_add_up(b, 1, &older, keys->counts);
    for (size_t i = 0; i < keys->n && older.known != NULL; i++)
        keys->counts[i] = tamis__upper(keys->counts[i], known[i].saturated);
}

tamis_status tamis__add_to_sketches(struct body *b, const struct batch *keys, uint8_t *seen,
                                    size_t *done)
{
    struct body newest = tamis__generation_at(b, 0);
    struct batch now = *keys;
    uint8_t before[TAMIS__MOST_BATCH / 8];
    for (size_t i = 0; keys->weights != NULL && i < now.n; i++)
        if (keys->weights[i] < 0) now.n = i;
    if (now.n != keys->n) now.ahead = NULL; /* it must have as many keys */
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    *done = 0;
    if (now.n == 0) return keys->n == 0 ? TAMIS_OK : TAMIS_EUNSUPPORTED;
    if (seen != NULL) tamis__query_generations(b, 1, &now, before);
    const tamis_status s = tamis__inner(b)->add(&newest, &now, seen, done);
    for (size_t i = 0; seen != NULL && i < (*done + 7) / 8; i++)
        seen[i] = (uint8_t)(seen[i] | before[i]);
    if (s != TAMIS_OK) return s;
    *done = now.n;
    if (keys->counts != NULL) count_older(b, &now);
    return now.n == keys->n ? TAMIS_OK : TAMIS_EUNSUPPORTED;
}

/* --- Lists ------------------------------------------------------------------------------------ */

static uint64_t window_of_counts_slots(const struct body *b)
{
    const struct body one = tamis__generation_at(b, 0);
    return tamis__inner(b)->sketch->slots(&one) * tamis__generations(b);
}

static uint64_t window_of_counts_slot_of(const struct body *b, tamis_hash h)
{
    const struct sketch_ops *sketch = tamis__inner(b)->sketch;
    for (uint32_t i = 0; i < tamis__generations(b); i++) {
        const struct body one = tamis__generation_at(b, i);
        const uint64_t slot = sketch->slot_of(&one, h);
        if (slot != UINT64_MAX) return slot + i * sketch->slots(&one);
    }
    return UINT64_MAX;
}

/* An item is listed in the slot of the newest generation that has it, with what all generations
 * know about it and the newest text that there is. */
static bool window_of_counts_listed(const struct body *b, uint64_t slot, struct listed *out)
{
    const struct sketch_ops *inner = tamis__inner(b)->sketch;
    const struct body first = tamis__generation_at(b, 0);
    const uint64_t each = inner->slots(&first);
    const struct body one = tamis__generation_at(b, (uint32_t)(slot / each));
    if (!inner->listed(&one, slot % each, out)) return false;
    const tamis_hash h = {out->hash, 0};
    if (window_of_counts_slot_of(b, h) != slot) return false;
    struct known known = {0};
    const struct batch key = {.hashes = &h, .n = 1, .known = &known};
    window_of_counts_count(b, &key, &out->count);
    out->known = known;
    for (uint32_t i = (uint32_t)(slot / each) + 1; i < tamis__generations(b) && out->item.p == NULL;
         i++) {
        const struct body older = tamis__generation_at(b, i);
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
    for (uint32_t i = 0; i < tamis__generations(b); i++) {
        const struct body one = tamis__generation_at(b, i);
        all = window_of_counts_sum(all, tamis__inner(b)->sketch->unlisted(&one));
    }
    return all;
}

/* Finds the item with this hash, or the place for it, in an index of a power of two. */
static uint32_t *find_listable(uint32_t *index, uint64_t size, const struct listable *all,
                               uint64_t hash)
{
    uint64_t at = tamis__remix(hash) & (size - 1);
    while (index[at] != 0 && all[index[at] - 1].hash != hash) at = (at + 1) & (size - 1);
    return &index[at];
}

/* The items of one generation. In a generation that does not list an item, its count is at most
 * what that one does not list. So `most` begins with the sum of this over all generations. */
static uint64_t add_listables(const struct body *b, uint32_t generation, int64_t unlisted,
                              struct listable *all, uint64_t n, uint32_t *index, uint64_t size)
{
    const struct body one = tamis__generation_at(b, generation);
    const struct sketch_ops *inner = tamis__inner(b)->sketch;
    const uint64_t each = inner->slots(&one);
    const int64_t less = inner->unlisted(&one);
    for (uint64_t slot = 0; slot < each; slot++) {
        struct listed item;
        if (!inner->listed(&one, slot, &item)) continue;
        uint32_t *place = find_listable(index, size, all, item.hash);
        if (*place == 0) {
            all[n++] = (struct listable){slot + generation * each, item.hash, unlisted};
            *place = (uint32_t)n;
        }
        struct listable *c = &all[*place - 1];
        if (unlisted == INT64_MAX || c->most == INT64_MAX) continue; /* nothing is known */
        c->most = window_of_counts_sum(c->most - less, item.count);
    }
    return n;
}

static struct listable *window_of_counts_listables(const struct body *b, uint64_t *n)
{
    const uint64_t slots = window_of_counts_slots(b);
    uint64_t size = 16;
    while (size < 2 * slots) size *= 2;
    struct listable *all = tamis__alloc_unset(b->memory, slots * sizeof *all);
    uint32_t *index = slots < UINT32_MAX ? tamis__alloc(b->memory, size * sizeof *index) : NULL;
    *n = 0;
    if (all == NULL || index == NULL) {
        tamis__free(b->memory, all);
        tamis__free(b->memory, index);
        return NULL;
    }
    const int64_t unlisted = window_of_counts_unlisted(b);
    for (uint32_t i = 0; i < tamis__generations(b); i++)
        *n = add_listables(b, i, unlisted, all, *n, index, size);
    tamis__free(b->memory, index);
    return all;
}

/* --- Merging ---------------------------------------------------------------------------------- */

static void copy_cells(const struct body *b, uint8_t *room, bool back)
{
    for (uint32_t i = 0; i < b->count; room += b->sections[i++].length) {
        uint8_t *cells = b->sections[i].cells;
        memcpy(back ? cells : room, back ? room : cells, (size_t)b->sections[i].length);
    }
}

/* Merges generation by generation. If one may fail after others succeeded, a copy is kept to undo
 * them. */
tamis_status tamis__merge_sketches(struct body *into, const struct body *from)
{
    const struct kind *inner = tamis__inner(into);
    const bool may_fail = inner->sketch->listed != NULL;
    uint64_t bytes = into->count * sizeof *into->sections;
    for (uint32_t i = 0; i < into->count; i++) bytes += into->sections[i].length;
    struct section *kept = may_fail ? tamis__alloc(into->memory, bytes) : NULL;
    if (may_fail && kept == NULL) return TAMIS_ENOMEM;
    if (may_fail) {
        memcpy(kept, into->sections, into->count * sizeof *kept);
        copy_cells(into, (uint8_t *)(kept + into->count), false);
    }
    tamis_status s = TAMIS_OK;
    for (uint32_t i = 0; i < tamis__generations(into) && s == TAMIS_OK; i++) {
        struct body a = tamis__generation_at(into, i);
        const struct body b = tamis__generation_at(from, i);
        s = inner->merge(&a, &b);
    }
    if (s != TAMIS_OK) {
        memcpy(into->sections, kept, into->count * sizeof *kept);
        copy_cells(into, (uint8_t *)(kept + into->count), true);
    }
    tamis__free(into->memory, kept);
    return s;
}

/* --- The tables ------------------------------------------------------------------------------- */

static bool window_of_counts_conservative(const struct body *b)
{
    const struct body one = tamis__generation_at(b, 0);
    const struct sketch_ops *sketch = tamis__inner(b)->sketch;
    return sketch->conservative != NULL && sketch->conservative(&one);
}

const struct sketch_ops *tamis__window_sketch(const struct kind *inner)
{
    static const struct sketch_ops one_sided = {.count = window_of_counts_count,
                                                .conservative = window_of_counts_conservative},
                                   two_sided = {.count = window_of_counts_count, .two_sided = true},
                                   lists = {.count = window_of_counts_count,
                                            .slots = window_of_counts_slots,
                                            .slot_of = window_of_counts_slot_of,
                                            .listed = window_of_counts_listed,
                                            .unlisted = window_of_counts_unlisted,
                                            .listables = window_of_counts_listables};
    const struct sketch_ops *sketch = inner->sketch;
    if (sketch == NULL) return NULL;
    return sketch->listed != NULL ? &lists : sketch->two_sided ? &two_sided : &one_sided;
}
#endif
