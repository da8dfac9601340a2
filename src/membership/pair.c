/* pair: one filter of the keys that were added and one of those that were removed.
 *
 *     may_contain(x) = added has x, and removed does not have x
 *
 * This makes deletion cheap: it takes twice a plain filter instead of four times. The price, for
 * which tamis_facts.may_miss is set, is that a "no" can be wrong. The second filter has false
 * positives like any other, and a member that is one of them is missed. A share
 * tamis_facts.miss_rate of the members gets a wrong "no", which is about the rate of `removed`: 0
 * while nothing was removed, and more than planned if the pair is overfull. On the other hand fewer
 * non-members get a "maybe": never one that `added` alone would reject, and a share of about
 * f(added) - f(removed) in all (the formula of the lectures), which differs little from f(added)
 * while f(removed) is small.
 *
 * Adding a key again after it was removed must bring it back, and no filter can forget a key
 * without harming others. So a key has lives: life j of x is x with its hash remixed by j. Adding a
 * removed key adds its next life, and removing it removes its current life.
 *
 *     life 0: added and removed
 *     life 1: added and removed
 *     life 2: added, not removed: x is a member, for the third time
 *
 *     may_contain(x): the first life that was not both added and removed decides: was it added?
 *
 * So a key is present right after its add and absent right after its removal: if its next life
 * looks added by chance, that one is removed as well. Each life takes the room of a key, and there
 * are MAX_LIVES of them. After that, add and remove fail with TAMIS_EFULL and change nothing, and
 * the key remains a member. The remedy is the one for all wear. Both filters only ever fill up,
 * which tamis_info reports as overfull and in both rates. Clear the pair and add the remaining keys
 * (`tamis compact`). */
#include "../core/error.h"
#include "../core/kind.h"

#include <math.h>

static tamis_status pair_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    if (plan->inner_kind == 0) plan->inner_kind = TAMIS_BLOCKED;
    const struct kind *inner = tamis__kind(plan->inner_kind);
    if (inner == NULL || inner->sizing == NULL)
        return tamis__fail(why, TAMIS_EINVAL, "a pair is made of one of: %s",
                           tamis__kinds_of_parts(&(struct kind_names){0}));
    struct sizing s = inner->sizing(plan);
    s.parts = 2;
    return tamis__solve_shape(plan, &s, promise, why);
}

static uint32_t pair_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 2;
    tamis__kind(plan->inner_kind)->layout(plan, out);
    out[1] = out[0];
    out[1].role = TAMIS__ROLE_REMOVED;
    return 2;
}

static const char *pair_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != 2) return "a pair has exactly two sections";
    if (tamis__inner(b)->sizing == NULL)
        return "the two filters are of a kind that a pair cannot have";
    if (s[0].role != TAMIS__ROLE_CELLS || s[1].role != TAMIS__ROLE_REMOVED)
        return "the two sections have wrong roles";
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

static const char *pair_wrong_cells(const struct body *b)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    const char *reason = tamis__inner(b)->wrong_cells(&added);
    return reason != NULL ? reason : tamis__inner(b)->wrong_cells(&removed);
}

static void pair_prefetch(const struct body *b, const struct batch *keys)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    tamis__inner(b)->prefetch(&added, keys);
    tamis__inner(b)->prefetch(&removed, keys);
}

#define MAX_LIVES 64u

static tamis_hash life(tamis_hash h, uint64_t j)
{
    const uint64_t step = j * UINT64_C(0x9e3779b97f4a7c15);
    const tamis_hash next = {tamis__remix(h.lo + step), tamis__remix(h.hi + step)};
    return j == 0 ? h : next;
}

static bool in_part(const struct body *b, uint32_t i, tamis_hash h)
{
    const struct body one = tamis__part(b, i);
    const struct batch key = {.hashes = &h, .n = 1};
    uint8_t bit;
    tamis__inner(b)->query(&one, &key, &bit);
    return bit != 0;
}

static void put_in_part(struct body *b, uint32_t i, tamis_hash h)
{
    struct body one = tamis__part(b, i);
    const struct batch key = {.hashes = &h, .n = 1};
    uint8_t unused;
    size_t done;
    tamis__inner(b)->add(&one, &key, &unused, &done);
}

/* Returns the first life from j on that was not both added and removed, or MAX_LIVES. *in is
 * whether it was added. */
static uint64_t find_life(const struct body *b, tamis_hash h, uint64_t j, bool *in)
{
    for (; j < MAX_LIVES; j++) {
        const tamis_hash now = life(h, j);
        *in = in_part(b, 0, now);
        if (!*in || !in_part(b, 1, now)) return j;
    }
    *in = true; /* all lives are used up, so "maybe" */
    return MAX_LIVES;
}

static void pair_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    uint8_t gone[TAMIS__MOST_BATCH / 8];
    tamis__inner(b)->query(&added, keys, bits);
    tamis__inner(b)->query(&removed, keys, gone);
    for (size_t i = 0; i < keys->n; i++) {
        if ((bits[i / 8] & gone[i / 8] & 1u << i % 8) == 0) continue;
        bool in;
        find_life(b, keys->hashes[i], 1, &in);
        if (!in) bits[i / 8] = (uint8_t)(bits[i / 8] & ~(1u << i % 8));
    }
}

static tamis_status pair_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    if (keys->ahead != NULL) {
        const struct batch ahead = {.hashes = keys->ahead, .n = keys->n};
        pair_prefetch(b, &ahead);
    }
    memset(seen, 0, (keys->n + 7) / 8);
    for (*done = 0; *done < keys->n; ++*done) {
        const tamis_hash h = keys->hashes[*done];
        bool in;
        uint64_t j = find_life(b, h, 0, &in);
        if (j == MAX_LIVES) return TAMIS_EFULL;
        seen[*done / 8] = (uint8_t)(seen[*done / 8] | in << *done % 8);
        /* Once is enough, except in a forged image where more was removed than added. */
        for (; !in; j = find_life(b, h, j, &in)) put_in_part(b, 0, life(h, j));
    }
    return TAMIS_OK;
}

/* Removes all lives from the current one up to the next that does not look added. TAMIS_EFULL if
 * there is no such life left. */
static tamis_status pair_take_away(struct body *b, tamis_hash h)
{
    bool in;
    const uint64_t from = find_life(b, h, 0, &in);
    if (!in) return TAMIS_EABSENT;
    uint64_t to = from + 1;
    while (to < MAX_LIVES && in_part(b, 0, life(h, to))) to++;
    if (to >= MAX_LIVES) return TAMIS_EFULL;
    for (uint64_t j = from; j < to; j++) put_in_part(b, 1, life(h, j));
    return TAMIS_OK;
}

static void pair_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    const struct body added = tamis__part(b, 0), removed = tamis__part(b, 1);
    struct gauge a = {0}, r = {0};
    (void)other;
    tamis__inner(b)->gauge(&added, NULL, z, &a);
    tamis__inner(b)->gauge(&removed, NULL, z, &r);
    out->hit = a.hit + r.hit;
    out->cells = a.cells + r.cells;
    /* Every removed key was added before, so every bit of the second filter is set in the first.
     * Therefore a key that was never added and is in the second is in both, and its next life
     * decides. A forged image may differ. */
    const double first = a.rate > r.rate ? a.rate - r.rate : 0;
    out->rate = r.rate < 1 ? fmin(first / (1 - r.rate), 1) : 1;
    out->miss_rate = r.rate * (1 - out->rate);
    /* A share a.rate of the removed keys had a next life that looked added, which `removed`
     * contains, too. */
    const double once = 1 - a.rate;
    const struct estimate gone = {r.items.value * once, r.items.low * once, r.items.high};
    out->items.value = a.items.value > gone.value ? a.items.value - gone.value : 0;
    out->items.low = a.items.low > gone.high ? a.items.low - gone.high : 0;
    out->items.high = a.items.high > gone.low ? a.items.high - gone.low : 0;
    out->held = a.items.low > r.items.low ? a.items.low : r.items.low;
}

const struct kind tamis__pair = {
    .id = TAMIS_PAIR,
    .name = "pair",
    .traits = TAMIS__MISSES | TAMIS__HAS_PARTS,
    .accepts = TAMIS__PLANS_FILTER | TAMIS__PLANS_INNER,
    .roles = TAMIS__ROLE_REMOVED,
    .instead = TAMIS_COUNTING,
    .solve = TAMIS__FULL(pair_solve),
    .layout = TAMIS__FULL(pair_layout),
    .wrong_shape = pair_wrong_shape,
    .wrong_cells = pair_wrong_cells,
    .prefetch = TAMIS__FULL(pair_prefetch),
    .add = TAMIS__FULL(pair_add),
    .query = pair_query,
    .remove = TAMIS__FULL(pair_take_away),
    .gauge = pair_gauge,
};
