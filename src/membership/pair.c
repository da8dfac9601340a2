/* pair: a filter of the keys that were added and one of those that were removed.
 *
 *     may_contain(x) = added has x  and  removed has not x
 *
 * Cheap deletion: twice a plain filter instead of four times. And with a price, which is why tamis_facts.may_miss is
 * set: the second filter has false positives like any other, and a key that is in and falls on one is missed. Of
 * the keys that are in, the share removed's rate (tamis_facts.miss_rate) gets a wrong "no"; it is 0 while nothing
 * was removed. On the other hand fewer keys that were never added get a "maybe": f(added) · (1 - f(removed)), less
 * than f(added) alone, as the lecture says; the difference is small while f(removed) is.
 *
 * Adding a key again after it was removed must bring it back. removed forgets one of its bits then, the first; so
 * "added, hence present" holds for the moment after every add, without exception. What is lost: other removed
 * keys with that bit are no longer known as removed and are false positives until they are removed again. (They are
 * few: of R removed keys in a blocked filter of L lines, about R/(64 L).)
 *
 * Both filters only fill. Many adds and removes wear them out, which tamis_info shows as over_full and in both
 * rates; the cure is to clear and to add the keys that are left (`tamis compact`). */
#include "../error.h"
#include "../kind.h"

static tamis_status solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    if (plan->inner_kind == 0) plan->inner_kind = TAMIS_BLOCKED;
    const struct kind *inner = tamis__kind(plan->inner_kind);
    if (inner == NULL || inner->sizing == NULL)
        return tamis__fail(why, TAMIS_EINVAL,
                           "a pair is made of blocked, bloom or partitioned filters");
    struct sizing s = inner->sizing(plan);
    s.parts = 2;
    return tamis__solve_shape(plan, &s, promise, why);
}

static uint32_t layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 2;
    tamis__kind(plan->inner_kind)->layout(plan, out);
    out[1] = out[0];
    out[1].role = TAMIS__ROLE_REMOVED;
    return 2;
}

static const char *wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != 2) return "a pair has exactly two sections";
    if (tamis__inner(b)->sizing == NULL) return "a pair of filters that cannot be paired";
    if (s[0].role != TAMIS__ROLE_CELLS || s[1].role != TAMIS__ROLE_REMOVED)
        return "wrong roles of the two sections";
    if (s[0].kind != s[1].kind || s[0].m != s[1].m || s[0].k != s[1].k ||
        s[0].variant != s[1].variant)
        return "the two filters differ in shape";
    for (uint32_t i = 0; i < 2; i++) {
        const struct body one = tamis__part(b, i);
        const char *reason = tamis__inner(b)->wrong_shape(&one);
        if (reason != NULL) return reason;
    }
    return NULL;
}

static const char *wrong_cells(const struct body *b)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    const char *reason = tamis__inner(b)->wrong_cells(&added);
    return reason != NULL ? reason : tamis__inner(b)->wrong_cells(&removed);
}

static void prefetch(const struct body *b, const struct batch *keys)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    tamis__inner(b)->prefetch(&added, keys);
    tamis__inner(b)->prefetch(&removed, keys);
}

static void query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    uint8_t gone[TAMIS__MOST_BATCH / 8];
    tamis__inner(b)->query(&added, keys, bits);
    tamis__inner(b)->query(&removed, keys, gone);
    for (size_t i = 0; i < (keys->n + 7) / 8; i++) bits[i] = (uint8_t)(bits[i] & ~gone[i]);
}

/* No longer removed: its first bit goes. */
static void bring_back(const struct body *removed, tamis_hash h)
{
    uint64_t cell;
    tamis__inner(removed)->cells_of(removed, h, &cell, 1);
    uint8_t *byte = removed->sections->cells + (cell >> 3);
    *byte = (uint8_t)(*byte & ~(1u << (cell & 7)));
}

/* One after the other, since adding one may bring back another. */
static tamis_status add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    (void)done;
    if (keys->ahead != NULL) {
        const struct batch ahead = {keys->ahead, keys->n, NULL};
        prefetch(b, &ahead);
    }
    memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const struct batch one = {keys->hashes + i, 1, NULL};
        uint8_t known, gone;
        size_t unused;
        tamis__inner(b)->add(&added, &one, &known, &unused);
        tamis__inner(b)->query(&removed, &one, &gone);
        if (gone != 0) bring_back(&removed, keys->hashes[i]);
        seen[i / 8] = (uint8_t)(seen[i / 8] | (known != 0 && gone == 0) << i % 8);
    }
    return TAMIS_OK;
}

static tamis_status take_away(struct body *b, tamis_hash h)
{
    struct body removed = tamis__part(b, 1);
    const struct batch one = {&h, 1, NULL};
    uint8_t present, unused;
    size_t done;
    query(b, &one, &present);
    if (present == 0) return TAMIS_EABSENT;
    return tamis__inner(b)->add(&removed, &one, &unused, &done);
}

static void gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    struct gauge a = {0}, r = {0};
    (void)other;
    tamis__inner(b)->gauge(&added, NULL, z, &a);
    tamis__inner(b)->gauge(&removed, NULL, z, &r);
    out->hit = a.hit + r.hit;
    out->cells = a.cells + r.cells;
    out->rate = a.rate * (1 - r.rate);
    out->miss_rate = r.rate;
    out->items.value = a.items.value > r.items.value ? a.items.value - r.items.value : 0;
    out->items.low = a.items.low > r.items.high ? a.items.low - r.items.high : 0;
    out->items.high = a.items.high > r.items.low ? a.items.high - r.items.low : 0;
    out->held = a.items.low > r.items.low ? a.items.low : r.items.low;
}

static size_t cells_of(const struct body *b, tamis_hash h, uint64_t *cells, size_t max)
{
    const struct body added = tamis__part(b, 0);
    return tamis__inner(b)->cells_of(&added, h, cells, max);
}

const struct kind tamis__pair = {
    .id = TAMIS_PAIR,
    .name = "pair",
    .traits = TAMIS__MISSES,
    .roles = TAMIS__ROLE_REMOVED,
    .solve = solve,
    .layout = layout,
    .wrong_shape = wrong_shape,
    .wrong_cells = wrong_cells,
    .prefetch = prefetch,
    .add = add,
    .query = query,
    .remove = take_away,
    .gauge = gauge,
    .cells_of = cells_of,
};
