/* count-min: a key has one counter in each of k rows, and its count is the least of them (G.
 * Cormode, S. Muthukrishnan, "An improved data stream summary: the count-min sketch and its
 * applications", 2005).
 *
 *     add(key, w): adds w to one counter in each of k rows
 *     count(key):  the least of these k counters
 *
 *     k = 2, m = 6    row 0   0 3 0 0  7 0    "a" x 3 in columns 1 and 4: count = min(3, 10) = 3
 *                     row 1   0 0 0 0 10 0    "b" x 7 in columns 4 and 4: count = min(7, 10) = 7
 *
 * The guarantee. All that was added for a key is in each of its counters, so no count is ever too
 * low. The excess comes from other keys. If N is the weight of all adds, a counter has N/m of it on
 * average. So one row is wrong by more than eN/m with a probability of at most 1/e (Markov), and
 * all k rows are with a probability of at most e^-k. That holds for every key and any stream. The
 * tail bound is better: unless a key meets one of the m/4 heaviest keys, only the weight of all
 * others counts (tests/library/test_count_min.c).
 *
 * In practice the error is far below eN/m, and more rows than 3 or 4 only make it worse, since they
 * make each row narrower: with 1 MiB and ten million adds (Zipf 1.0), the mean error is 17 with 2
 * rows, 21 with 3, 27 with 4, 56 with 8.
 *
 * Conservative update (C. Estan, G. Varghese, 2002), variant 1: the count after an add of w must be
 * at least the count before + w, and nothing requires more. So an add raises every counter of the
 * key to that value and no further. That halves the error, and nearly removes it for frequent keys.
 * It costs no more than a plain add, because the counters are stored without a branch (whether one
 * is too low is as good as random). But a counter is then no longer the sum of its keys, so nothing
 * can be taken away.
 *
 * Weights may be negative in variant 0: what was added may be taken away again. No counter goes
 * below 0. An add that would cause that fails with TAMIS_EABSENT, because the key certainly has
 * less weight.
 *
 * A counter that reaches 2^32 - 1 (32 bits) or 2^63 - 1 (64 bits) is saturated: it stays there for
 * ever and means "or more".
 *
 * Threads (TAMIS_SHARED). Sums do not depend on their order, so each counter is changed by one
 * atomic operation, and the result has the same bytes as that of a single thread. A query that runs
 * meanwhile may see an add in some rows only. Every row has all adds that had returned before, so
 * the least counter is still not too low. A conservative update reads all rows before it changes
 * one, and would lose weight if another thread came in between. */
#include "../core/atomics.h"
#include "../core/error.h"
#include "../core/occupancy.h"
#include "counter_rows.h"
#include "single_counts.h"

#include <math.h>

#define CONSERVATIVE 1u /* variant */

/* --- Counters --------------------------------------------------------------------------------- */

static inline uint64_t count_min_end(bool wide)
{
    return wide ? TAMIS__MOST_WEIGHT : UINT32_MAX;
}

static inline uint64_t count_min_get(const uint8_t *cells, uint64_t i, bool wide)
{
    if (!wide) return tamis__get32(cells + 4 * i);
    const uint64_t v = tamis__get64(cells + 8 * i);
    return v < TAMIS__MOST_WEIGHT ? v : TAMIS__MOST_WEIGHT; /* an image may hold more */
}

static inline void count_min_put(uint8_t *cells, uint64_t i, bool wide, uint64_t v)
{
    if (wide)
        tamis__put64(cells + 8 * i, v);
    else
        tamis__put32(cells + 4 * i, (uint32_t)v);
}

static bool count_min_is_wide(const struct section *s)
{
    return s->cell_bits == 64;
}

TAMIS__SPECIALIZED void count_min_aim(tamis_hash h, uint64_t m, uint32_t k, uint64_t *at)
{
    uint64_t x = h.lo, row = 0;
    for (uint32_t j = 0; j < k; j++, x = tamis__next_probe(x, h), row += m)
        at[j] = row + tamis__mulhi(x, m);
}

/* --- Planning --------------------------------------------------------------------------------- */

#define E 2.71828182845904523536

static double count_min_m_for(double error)
{
    return E / error;
}

static double count_min_error_of(double m)
{
    return E / m;
}

static double count_min_delta_of(uint32_t k)
{
    return exp(-(double)k);
}

static tamis_status count_min_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    const struct row_bounds r = {4, 0, count_min_m_for, count_min_error_of, count_min_delta_of};
    (void)promise;
    return tamis__solve_rows(plan, &r, why);
}

static uint32_t count_min_layout(const tamis_plan *plan, struct section *out)
{
    tamis__rows_section(plan, out);
    if (out != NULL) out->variant = (plan->flags & TAMIS_CONSERVATIVE) != 0 ? CONSERVATIVE : 0;
    return 1;
}

static const char *count_min_wrong_shape(const struct body *b)
{
    return tamis__wrong_rows(b, TAMIS_COUNT_MIN, false);
}

/* --- The verbs -------------------------------------------------------------------------------- */

/* The shape of a section. */
struct way {
    uint32_t k;
    bool wide, conservative, shared;
};

/* The count of a key, given the least of its counters, or a sum that would exceed them. */
TAMIS__SPECIALIZED int64_t count_min_value(uint64_t least, bool wide)
{
    return least < count_min_end(wide) ? (int64_t)least : INT64_MAX;
}

/* Adds w to every counter of a key, and returns the least of them before. */
TAMIS__SPECIALIZED uint64_t count_min_add_plainly(uint8_t *cells, uint64_t m, struct way y,
                                                  tamis_hash h, uint64_t w)
{
    const uint64_t most = count_min_end(y.wide);
    uint64_t x = h.lo, row = 0, least = UINT64_MAX;
    for (uint32_t j = 0; j < y.k; j++, x = tamis__next_probe(x, h), row += m) {
        const uint64_t at = row + tamis__mulhi(x, m), c = count_min_get(cells, at, y.wide);
        least = c < least ? c : least;
        count_min_put(cells, at, y.wide, c + w < most ? c + w : most);
    }
    return least;
}

/* Raises the counters that are less than the least + w, which it returns without w. */
TAMIS__SPECIALIZED uint64_t count_min_add_to_least(uint8_t *cells, uint64_t m, struct way y,
                                                   tamis_hash h, uint64_t w)
{
    uint64_t at[TAMIS__MAX_ROWS], c[TAMIS__MAX_ROWS], least = UINT64_MAX;
    const uint64_t most = count_min_end(y.wide);
    count_min_aim(h, m, y.k, at);
    for (uint32_t j = 0; j < y.k; j++) {
        c[j] = count_min_get(cells, at[j], y.wide);
        least = c[j] < least ? c[j] : least;
    }
    const uint64_t raised = least + w < most ? least + w : most;
    for (uint32_t j = 0; j < y.k; j++)
        count_min_put(cells, at[j], y.wide, raised > c[j] ? raised : c[j]);
    return least;
}

TAMIS__SPECIALIZED uint64_t count_min_add_key(uint8_t *cells, uint64_t m, struct way y,
                                              tamis_hash h, uint64_t w)
{
    return y.conservative ? count_min_add_to_least(cells, m, y, h, w)
                          : count_min_add_plainly(cells, m, y, h, w);
}

/* Fails with TAMIS_EABSENT if a counter that is not saturated has less than w. Then nothing has
 * changed. */
static tamis_status take_key(struct section *s, tamis_hash h, uint64_t w)
{
    uint64_t at[TAMIS__MAX_ROWS];
    const bool wide = count_min_is_wide(s);
    if (s->variant == CONSERVATIVE) return TAMIS_EUNSUPPORTED;
    count_min_aim(h, s->m, s->k, at);
    for (uint32_t j = 0; j < s->k; j++) {
        const uint64_t v = count_min_get(s->cells, at[j], wide);
        if (v < w && v != count_min_end(wide)) return TAMIS_EABSENT;
    }
    for (uint32_t j = 0; j < s->k; j++) {
        const uint64_t v = count_min_get(s->cells, at[j], wide);
        if (v != count_min_end(wide)) count_min_put(s->cells, at[j], wide, v - w);
    }
    return TAMIS_OK;
}

TAMIS__SPECIALIZED uint64_t least_of(const struct section *s, tamis_hash h, uint32_t k, bool wide)
{
    uint64_t at[TAMIS__MAX_ROWS], least = UINT64_MAX;
    count_min_aim(h, s->m, k, at);
    for (uint32_t j = 0; j < k; j++) {
        const uint64_t v = count_min_get(s->cells, at[j], wide);
        least = v < least ? v : least;
    }
    return least;
}

/* --- Several threads -------------------------------------------------------------------------- */

static inline uint64_t count_min_load(const uint8_t *cells, uint64_t i, bool wide)
{
    const uint32_t *narrow = (const uint32_t *)(const void *)cells;
    if (!wide) return TAMIS__LITTLE32(__atomic_load_n(narrow + i, __ATOMIC_RELAXED));
    const uint64_t v = TAMIS__LITTLE64(tamis__load64((const uint64_t *)(const void *)cells + i));
    return v < TAMIS__MOST_WEIGHT ? v : TAMIS__MOST_WEIGHT;
}

/* Returns the counter before. */
static uint64_t raise_narrow(uint32_t *p, uint64_t w)
{
    uint32_t was = __atomic_load_n(p, __ATOMIC_RELAXED), sum;
    do {
        const uint64_t v = TAMIS__LITTLE32(was);
        if (v == UINT32_MAX) break;
        sum = v + w < UINT32_MAX ? (uint32_t)(v + w) : UINT32_MAX;
    } while (!__atomic_compare_exchange_n(p, &was, TAMIS__LITTLE32(sum), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return TAMIS__LITTLE32(was);
}

static uint64_t raise_wide(uint64_t *p, uint64_t w)
{
    uint64_t was = __atomic_load_n(p, __ATOMIC_RELAXED), sum;
    do {
        const uint64_t v = TAMIS__LITTLE64(was);
        if (v >= TAMIS__MOST_WEIGHT) return TAMIS__MOST_WEIGHT;
        sum = tamis__add_up(v, w);
    } while (!__atomic_compare_exchange_n(p, &was, TAMIS__LITTLE64(sum), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return TAMIS__LITTLE64(was);
}

static uint64_t count_min_add_shared(uint8_t *cells, uint64_t m, struct way y, tamis_hash h,
                                     uint64_t w)
{
    uint64_t at[TAMIS__MAX_ROWS], least = UINT64_MAX;
    count_min_aim(h, m, y.k, at);
    for (uint32_t j = 0; j < y.k; j++) {
        const uint64_t was = y.wide ? raise_wide((uint64_t *)(void *)cells + at[j], w)
                                    : raise_narrow((uint32_t *)(void *)cells + at[j], w);
        least = was < least ? was : least;
    }
    return least;
}

static uint64_t least_of_shared(const struct section *s, tamis_hash h)
{
    uint64_t at[TAMIS__MAX_ROWS], least = UINT64_MAX;
    const bool wide = count_min_is_wide(s);
    count_min_aim(h, s->m, s->k, at);
    for (uint32_t j = 0; j < s->k; j++) {
        const uint64_t v = count_min_load(s->cells, at[j], wide);
        least = v < least ? v : least;
    }
    return least;
}

/* --- One thread ------------------------------------------------------------------------------- */

TAMIS__SPECIALIZED uint32_t count_min_lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The usual case: four rows of 32 bits, all weights 1, and the caller does not ask which keys were
 * present. The speed depends on how many keys the processor has in flight, so every instruction
 * counts: counters stay in 32 bits, and the rows are separate arguments, so that the compiler does
 * not compute one from another (a tenth more keys a second). */
#define FOUR_ROWS uint8_t *r0, uint8_t *r1, uint8_t *r2, uint8_t *r3, uint64_t m

TAMIS__SPECIALIZED void add_to_all(FOUR_ROWS, const struct batch *keys, int64_t *counts)
{
    uint8_t *const row[4] = {r0, r1, r2, r3};
    const tamis_hash *h = keys->hashes;
    for (const tamis_hash *last = h + keys->n; h < last; h++) {
        const tamis_hash key = *h;
        uint64_t x = key.lo;
        uint32_t least = UINT32_MAX;
        for (int j = 0; j < 4; j++, x = tamis__next_probe(x, key)) {
            uint8_t *p = row[j] + 4 * tamis__mulhi(x, m);
            uint32_t c = tamis__get32(p);
            c += c != UINT32_MAX;
            tamis__put32(p, c);
            least = count_min_lesser(least, c);
        }
        if (counts != NULL) *counts++ = count_min_value(least, false);
    }
}

TAMIS__SPECIALIZED void add_to_least(FOUR_ROWS, const struct batch *keys, int64_t *counts)
{
    uint8_t *const row[4] = {r0, r1, r2, r3};
    const tamis_hash *h = keys->hashes;
    for (const tamis_hash *last = h + keys->n; h < last; h++) {
        const tamis_hash key = *h;
        uint64_t x = key.lo;
        uint8_t *p[4];
        uint32_t c[4];
        for (int j = 0; j < 4; j++, x = tamis__next_probe(x, key)) {
            p[j] = row[j] + 4 * tamis__mulhi(x, m);
            c[j] = tamis__get32(p[j]);
        }
        /* This wraps to 0 if all four are saturated, so they stay as they are. */
        const uint32_t raised =
            count_min_lesser(count_min_lesser(c[0], c[1]), count_min_lesser(c[2], c[3])) + 1;
        for (int j = 0; j < 4; j++) tamis__put32(p[j], c[j] > raised ? c[j] : raised);
        if (counts != NULL) *counts++ = count_min_value(raised != 0 ? raised : UINT32_MAX, false);
    }
}

static TAMIS__APART void add_plain(FOUR_ROWS, const struct batch *keys)
{
    add_to_all(r0, r1, r2, r3, m, keys, NULL);
}

static TAMIS__APART void add_plain_counted(FOUR_ROWS, const struct batch *keys)
{
    add_to_all(r0, r1, r2, r3, m, keys, keys->counts);
}

static TAMIS__APART void add_conservative(FOUR_ROWS, const struct batch *keys)
{
    add_to_least(r0, r1, r2, r3, m, keys, NULL);
}

static TAMIS__APART void add_conservative_counted(FOUR_ROWS, const struct batch *keys)
{
    add_to_least(r0, r1, r2, r3, m, keys, keys->counts);
}

static void count_min_add_ones(struct section *s, const struct batch *keys)
{
    static void (*const adders[2][2])(FOUR_ROWS, const struct batch *keys) = {
        {add_plain, add_plain_counted}, {add_conservative, add_conservative_counted}};
    adders[s->variant == CONSERVATIVE][keys->counts != NULL](
        s->cells, s->cells + 4 * s->m, s->cells + 8 * s->m, s->cells + 12 * s->m, s->m, keys);
}

TAMIS__SPECIALIZED tamis_status count_min_add_each(struct section *s, const struct batch *keys,
                                                   struct way y, uint8_t *seen, size_t *done,
                                                   int64_t *counts)
{
    for (*done = 0; *done < keys->n; ++*done) {
        const size_t i = *done;
        const int64_t w = keys->weights != NULL ? keys->weights[i] : 1;
        uint64_t after = 0;
        if (w < 0) {
            const tamis_status status = take_key(s, keys->hashes[i], 0 - (uint64_t)w);
            if (status != TAMIS_OK) return status;
            if (counts != NULL) after = least_of(s, keys->hashes[i], y.k, y.wide);
        } else {
            const uint64_t before = (y.shared ? count_min_add_shared : count_min_add_key)(
                s->cells, s->m, y, keys->hashes[i], (uint64_t)w);
            after = before + (uint64_t)w;
            if (seen != NULL) seen[i / 8] = (uint8_t)(seen[i / 8] | (before != 0) << i % 8);
        }
        if (counts != NULL) counts[i] = count_min_value(after, y.wide);
    }
    return TAMIS_OK;
}

static tamis_status count_min_add_weights(struct section *s, const struct batch *keys, struct way y,
                                          uint8_t *seen, size_t *done)
{
    return keys->counts != NULL ? count_min_add_each(s, keys, y, seen, done, keys->counts)
                                : count_min_add_each(s, keys, y, seen, done, NULL);
}

static void count_min_weigh(struct body *b, int64_t w)
{
    struct section *s = b->sections;
    const uint64_t size = w >= 0           ? (uint64_t)w
                          : w == INT64_MIN ? TAMIS__MOST_WEIGHT
                                           : 0 - (uint64_t)w;
    if (tamis__in_use(b) && w >= 0) {
        tamis__add_shared(&b->extra->moved, size, TAMIS__MOST_WEIGHT);
        tamis__add_shared((uint64_t *)&s->weight, size, TAMIS__MOST_WEIGHT);
        return;
    }
    const uint64_t weight = (uint64_t)s->weight;
    b->extra->moved = tamis__add_up(b->extra->moved, size);
    if (w >= 0)
        s->weight = tamis__add_weight(s->weight, size);
    else if (weight < TAMIS__MOST_WEIGHT) /* otherwise it is saturated */
        s->weight = weight > size ? (int64_t)(weight - size) : 0;
}

/* Adds up the weights of the first `done` keys, which were added. */
static void count_min_add_up(struct body *b, const struct batch *keys, size_t done)
{
    if (keys->weights == NULL) count_min_weigh(b, (int64_t)done);
    for (size_t i = 0; i < done && keys->weights != NULL; i++) count_min_weigh(b, keys->weights[i]);
}

static tamis_status count_min_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                  size_t *done)
{
    struct section *s = b->sections;
    const struct way y = {s->k, count_min_is_wide(s), s->variant == CONSERVATIVE, tamis__in_use(b)};
    tamis_status status = TAMIS_OK;
    if (keys->ahead != NULL) tamis__prefetch_counters(s, keys->ahead, keys->n);
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    *done = keys->n;
    if (seen != NULL || keys->weights != NULL || y.k != 4 || y.wide || y.shared)
        status = count_min_add_weights(s, keys, y, seen, done);
    else
        count_min_add_ones(s, keys);
    count_min_add_up(b, keys, *done);
    return status;
}

static tamis_status count_min_take_away(struct body *b, tamis_hash h)
{
    const int64_t one = -1;
    const struct batch key = {.hashes = &h, .n = 1, .weights = &one};
    size_t done;
    return count_min_add(b, &key, NULL, &done);
}

static void count_min_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct section *s = b->sections;
    if (keys->ahead != NULL) tamis__prefetch_counters(s, keys->ahead, keys->n);
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const uint64_t least = tamis__in_use(b)
                                   ? least_of_shared(s, keys->hashes[i])
                                   : least_of(s, keys->hashes[i], s->k, count_min_is_wide(s));
        const bool some = least != 0;
        bits[i / 8] = (uint8_t)(bits[i / 8] | some << i % 8);
    }
}

static void count_min_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    const struct section *s = b->sections;
    const bool wide = count_min_is_wide(s);
    if (keys->ahead != NULL) tamis__prefetch_counters(s, keys->ahead, keys->n);
    if (tamis__in_use(b)) {
        for (size_t i = 0; i < keys->n; i++)
            out[i] = count_min_value(least_of_shared(s, keys->hashes[i]), wide);
        return;
    }
    for (size_t i = 0; i < keys->n; i++) {
        const uint64_t v = s->k == 4 && !wide ? least_of(s, keys->hashes[i], 4, false)
                                              : least_of(s, keys->hashes[i], s->k, wide);
        out[i] = count_min_value(v, wide);
    }
}

/* --- One key ---------------------------------------------------------------------------------- */

#ifdef TAMIS__SINGLES

TAMIS__SPECIALIZED int64_t count_min_put_single(struct section *s, struct way y, tamis_hash h,
                                                uint64_t w)
{
    return count_min_value(count_min_add_key(s->cells, s->m, y, h, w) + w, y.wide);
}

TAMIS__SPECIALIZED int64_t count_min_put_plain(tamis *t, tamis_hash h, tamis_bytes key, uint64_t w)
{
    const struct way y = {.k = 4};
    (void)key;
    return count_min_put_single(t->body.sections, y, h, w);
}

TAMIS__SPECIALIZED int64_t count_min_put_least(tamis *t, tamis_hash h, tamis_bytes key, uint64_t w)
{
    const struct way y = {.k = 4, .conservative = true};
    (void)key;
    return count_min_put_single(t->body.sections, y, h, w);
}

TAMIS__SPECIALIZED int64_t count_min_put_any(tamis *t, tamis_hash h, tamis_bytes key, uint64_t w)
{
    struct section *s = t->body.sections;
    const struct way y = {s->k, count_min_is_wide(s), s->variant == CONSERVATIVE, false};
    (void)key;
    return count_min_put_single(s, y, h, w);
}

TAMIS__SPECIALIZED int64_t count_min_count_four(const struct section *s, tamis_hash h)
{
    return count_min_value(least_of(s, h, 4, false), false);
}

TAMIS__SPECIALIZED int64_t count_min_count_any(const struct section *s, tamis_hash h)
{
    const bool wide = count_min_is_wide(s);
    return count_min_value(least_of(s, h, s->k, wide), wide);
}

TAMIS__SPECIALIZED bool count_min_has_four(const struct section *s, tamis_hash h)
{
    return least_of(s, h, 4, false) != 0;
}

TAMIS__SPECIALIZED bool count_min_has_any(const struct section *s, tamis_hash h)
{
    return least_of(s, h, s->k, count_min_is_wide(s)) != 0;
}

TAMIS__UPDATE_SINGLE(plain_rows, , count_min_put_plain)
TAMIS__UPDATE_SINGLE_HASH(plain_rows, )
TAMIS__WEIGH_SINGLE(plain_rows, , count_min_put_plain)
TAMIS__UPDATE_SINGLE(least_rows, , count_min_put_least)
TAMIS__UPDATE_SINGLE_HASH(least_rows, )
TAMIS__WEIGH_SINGLE(least_rows, , count_min_put_least)
TAMIS__UPDATE_SINGLE(any_rows, , count_min_put_any)
TAMIS__UPDATE_SINGLE_HASH(any_rows, )
TAMIS__WEIGH_SINGLE(any_rows, , count_min_put_any)
TAMIS__UPPER_SINGLE(four_rows, , count_min_count_four)
TAMIS__UPPER_SINGLE(any_rows, , count_min_count_any)
TAMIS__ASK_SINGLE(four_rows, , count_min_has_four)
TAMIS__ASK_SINGLE(any_rows, , count_min_has_any)

static bool count_min_is_usual(const struct section *s)
{
    return s->k == 4 && !count_min_is_wide(s);
}

static const struct single *count_min_single(const struct body *b)
{
    static const struct single plain = {single_four_rows_ask, single_plain_rows_add,
                                        single_four_rows_ask_hash, single_plain_rows_add_hash};
    static const struct single least = {single_four_rows_ask, single_least_rows_add,
                                        single_four_rows_ask_hash, single_least_rows_add_hash};
    static const struct single any = {single_any_rows_ask, single_any_rows_add,
                                      single_any_rows_ask_hash, single_any_rows_add_hash};
    if (b->shared) return NULL;
    if (!count_min_is_usual(b->sections)) return &any;
    return b->sections->variant == CONSERVATIVE ? &least : &plain;
}

static tamis_status count_min_weigh_single(tamis *t, const void *key, size_t len, int64_t weight,
                                           int64_t *count, tamis_error *why)
{
    const struct section *s = t->body.sections;
    if (!count_min_is_usual(s)) return single_any_rows_weigh(t, key, len, weight, count, why);
    return s->variant == CONSERVATIVE ? single_least_rows_weigh(t, key, len, weight, count, why)
                                      : single_plain_rows_weigh(t, key, len, weight, count, why);
}

static int64_t count_min_upper_single(const tamis *t, const void *key, size_t len)
{
    return count_min_is_usual(t->body.sections) ? single_four_rows_upper(t, key, len)
                                                : single_any_rows_upper(t, key, len);
}
#endif

/* --- Merging and looking inside --------------------------------------------------------------- */

static tamis_status count_min_merge(struct body *into, const struct body *from)
{
    struct section *s = into->sections;
    const bool wide = count_min_is_wide(s);
    for (uint64_t i = 0; i < s->m * s->k; i++) {
        const uint64_t sum =
            count_min_get(s->cells, i, wide) + count_min_get(from->sections->cells, i, wide);
        count_min_put(s->cells, i, wide, sum < count_min_end(wide) ? sum : count_min_end(wide));
    }
    s->weight = tamis__merge_weights(s->weight, from->sections->weight);
    return TAMIS_OK;
}

static void count_min_gauge(const struct body *b, const struct body *other, double z,
                            struct gauge *out)
{
    const struct section *s = b->sections;
    const struct occupancy o = {s->k, (double)s->m, 1, 0};
    const bool wide = count_min_is_wide(s);
    out->rate = 1;
    for (uint32_t row = 0; row < s->k; row++) {
        uint64_t hit = 0;
        for (uint64_t i = row * s->m; i < (row + 1) * s->m; i++) {
            const uint64_t v = count_min_get(s->cells, i, wide);
            hit += v != 0 || (other != NULL && count_min_get(other->sections->cells, i, wide) != 0);
            out->saturated += v == count_min_end(wide);
        }
        out->hit += hit;
        out->rate *= (double)hit / (double)s->m;
    }
    out->cells = s->m * s->k;
    out->items = tamis__items_from_hits(&o, (double)out->hit, z);
}

static bool count_min_conservative(const struct body *b)
{
    return b->sections->variant == CONSERVATIVE;
}

static const struct sketch_ops count_min_sketch = {.count = count_min_count,
                                                   .conservative = count_min_conservative,
                                                   .weigh = TAMIS__SINGLE(count_min_weigh_single),
                                                   .upper = TAMIS__SINGLE(count_min_upper_single)};

const struct kind tamis__count_min = {
    .id = TAMIS_COUNT_MIN,
    .name = "count-min",
    .traits = TAMIS__SECTION_TOTALS | TAMIS__SHARES,
    .accepts = TAMIS__PLANS_CELL_BITS | TAMIS__PLANS_ERROR | TAMIS_CONSERVATIVE,
    .sketch = &count_min_sketch,
    .variants = CONSERVATIVE,
    .solve = count_min_solve,
    .layout = count_min_layout,
    .wrong_shape = count_min_wrong_shape,
    .wrong_cells = tamis__wrong_row_ends,
    .prefetch = tamis__counter_prefetch,
    .add = count_min_add,
    .query = count_min_query,
    .single = TAMIS__SINGLE(count_min_single),
    .remove = count_min_take_away,
    .merge = count_min_merge,
    .gauge = count_min_gauge,
    .cells_of = tamis__counters_of,
};
