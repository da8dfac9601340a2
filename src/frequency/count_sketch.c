/* count-sketch: a key has one signed counter in each of k rows, and its count is the median of them
 * (M. Charikar, K. Chen, M. Farach-Colton, "Finding frequent items in data streams", 2002).
 *
 *     add(key, w): adds w or -w to one counter in each of k rows; in each the key has a sign
 *     count(key):  the median of its k counters, each multiplied by the key's sign
 *
 *     k = 3, m = 4      row 0   5  0  2  0      "a" x 5 has the signs and columns +0 -2 +3
 *                       row 1   0  0 -7  0      "b" x 2 has the signs and columns +2 -2 -1
 *                       row 2   0 -2  0  5      count("b") = median(2, 7, 2) = 2
 *
 * In count-min, a counter is the sum of all keys that meet in it. Here other keys add and subtract
 * with equal probability, so their mean is 0: a count is too low as often as too high, and right on
 * average. Its variance in a row is at most F/m, where F is the sum of the squares of all counts.
 * So one row is wrong by more than sqrt(3 F / m) with a probability of at most 1/3 (Chebyshev), and
 * the median of k rows only when more than half of them are: delta is that binomial tail, computed
 * and not bounded. sqrt(F) is the length of the vector of counts, far below the weight of all adds
 * unless one key has most of it. As in count-min, the heaviest keys may be left out of F, except
 * with the probability of meeting one of them (tests/library/test_count_sketch.c).
 *
 * It is for streams that also take away: differences of two streams (merge one with the negative of
 * another), counts below 0, sums of weights of either sign. For streams that only add, count-min
 * and tally have an upper bound that always holds, and tally is more accurate as well.
 *
 * It cannot test membership: a count of 0 proves nothing, so the answer for every key is "maybe".
 *
 * A counter that reaches 2^31 - 1 (32 bits) or 2^63 - 1 (64 bits), or the negative of that, is
 * saturated: it stays there for ever and means "or more".
 *
 * Threads (TAMIS_SHARED). As in count-min, each counter is changed by one atomic operation. A query
 * that runs meanwhile may see an add in some rows only. */
#include "../core/atomics.h"
#include "../core/error.h"
#include "../core/occupancy.h"
#include "counter_rows.h"
#include "signed_counters.h"

#include <math.h>

/* --- Counters --------------------------------------------------------------------------------- */

static inline int64_t count_sketch_end(bool wide)
{
    return wide ? INT64_MAX : INT32_MAX;
}

static inline int64_t count_sketch_get(const uint8_t *cells, uint64_t i, bool wide)
{
    const int64_t v =
        wide ? (int64_t)tamis__get64(cells + 8 * i) : (int32_t)tamis__get32(cells + 4 * i);
    return v > -count_sketch_end(wide) ? v
                                       : -count_sketch_end(wide); /* an image may hold one less */
}

static inline void count_sketch_put(uint8_t *cells, uint64_t i, bool wide, int64_t v)
{
    if (wide)
        tamis__put64(cells + 8 * i, (uint64_t)v);
    else
        tamis__put32(cells + 4 * i, (uint32_t)v);
}

static bool count_sketch_is_wide(const struct section *s)
{
    return s->cell_bits == 64;
}

/* A probe chooses one of the 2m halves of a row: 2i is counter i with the sign plus, 2i + 1 is
 * counter i with the sign minus. */
TAMIS__SPECIALIZED void count_sketch_aim(tamis_hash h, uint64_t m, uint32_t k, uint64_t *at,
                                         bool *minus)
{
    uint64_t x = h.lo, row = 0;
    for (uint32_t j = 0; j < k; j++, x = tamis__next_probe(x, h), row += m) {
        const uint64_t half = tamis__mulhi(x, 2 * m);
        at[j] = row + half / 2;
        minus[j] = half % 2 != 0;
    }
}

/* --- Planning --------------------------------------------------------------------------------- */

static double count_sketch_m_for(double error)
{
    return 3 / (error * error);
}

static double count_sketch_error_of(double m)
{
    return sqrt(3 / m);
}

static double count_sketch_delta_of(uint32_t k)
{
    return tamis__binomial_tail(k, 1.0 / 3, (k + 1) / 2);
}

static tamis_status count_sketch_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    const struct row_bounds r = {5, 1, count_sketch_m_for, count_sketch_error_of,
                                 count_sketch_delta_of};
    (void)promise;
    return tamis__solve_rows(plan, &r, why);
}

static const char *count_sketch_wrong_shape(const struct body *b)
{
    return tamis__wrong_rows(b, TAMIS_COUNT_SKETCH, true);
}

/* --- The verbs -------------------------------------------------------------------------------- */

static int64_t median(int64_t *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && v[j - 1] > v[j]; j--) tamis__order(&v[j - 1], &v[j]);
    return v[n / 2];
}

/* The count of a key, given its counters multiplied by its signs. */
TAMIS__SPECIALIZED int64_t count_sketch_value(int64_t *v, uint32_t k, bool wide)
{
    const int64_t mid = k == 5 ? tamis__median_of_5(v) : median(v, k);
    return mid == count_sketch_end(wide)    ? INT64_MAX
           : mid == -count_sketch_end(wide) ? -INT64_MAX
                                            : mid;
}

static inline int64_t count_sketch_load(const uint8_t *cells, uint64_t i, bool wide)
{
    const uint32_t *narrow = (const uint32_t *)(const void *)cells;
    const uint64_t *longs = (const uint64_t *)(const void *)cells;
    uint8_t copy[8];
    if (wide)
        tamis__put64(copy, TAMIS__LITTLE64(tamis__load64(longs + i)));
    else
        tamis__put32(copy, TAMIS__LITTLE32(__atomic_load_n(narrow + i, __ATOMIC_RELAXED)));
    return count_sketch_get(copy, 0, wide);
}

TAMIS__SPECIALIZED int64_t count_sketch_count_key(const struct section *s, uint32_t k, bool wide,
                                                  tamis_hash h, struct known *known, bool shared)
{
    uint64_t at[TAMIS__MAX_ROWS];
    bool minus[TAMIS__MAX_ROWS];
    int64_t v[TAMIS__MAX_ROWS];
    count_sketch_aim(h, s->m, k, at, minus);
    for (uint32_t j = 0; j < k; j++) {
        const int64_t c = shared ? count_sketch_load(s->cells, at[j], wide)
                                 : count_sketch_get(s->cells, at[j], wide);
        v[j] = tamis__with_sign(c, minus[j]);
    }
    if (known != NULL) known->saturated = tamis__any_saturated(v, k, count_sketch_end(wide));
    return count_sketch_value(v, k, wide);
}

TAMIS__SPECIALIZED int64_t count_sketch_upper(int64_t *v, uint32_t k, bool wide)
{
    const int64_t end = count_sketch_end(wide), mid = k == 5 ? tamis__median_of_5(v) : median(v, k);
    return tamis__upper(mid, k == 5 ? tamis__ends_of_5(v, end) : tamis__any_saturated(v, k, end));
}

/* Sets *count to the upper bound after the add, unless count is NULL. */
TAMIS__SPECIALIZED void count_sketch_add_key(struct section *s, uint32_t k, bool wide, tamis_hash h,
                                             int64_t w, int64_t *count)
{
    uint64_t at[TAMIS__MAX_ROWS];
    bool minus[TAMIS__MAX_ROWS];
    int64_t v[TAMIS__MAX_ROWS];
    count_sketch_aim(h, s->m, k, at, minus);
    for (uint32_t j = 0; j < k; j++) {
        const int64_t c =
            tamis__add_signed(count_sketch_get(s->cells, at[j], wide),
                              minus[j] ? tamis__negative(w) : w, count_sketch_end(wide));
        count_sketch_put(s->cells, at[j], wide, c);
        v[j] = tamis__with_sign(c, minus[j]);
    }
    if (count != NULL) *count = count_sketch_upper(v, k, wide);
}

/* Adds w to a counter that other threads change, and returns it after that. */
static int64_t count_sketch_move(uint8_t *cells, uint64_t i, bool wide, int64_t w)
{
    uint32_t *narrow = (uint32_t *)(void *)cells + i;
    uint64_t *longs = (uint64_t *)(void *)cells + i;
    for (;;) {
        const int64_t c = count_sketch_load(cells, i, wide);
        const int64_t sum = tamis__add_signed(c, w, count_sketch_end(wide));
        if (sum == c) return c; /* no weight, or a saturated counter */
        uint64_t was = TAMIS__LITTLE64((uint64_t)c);
        uint32_t small = TAMIS__LITTLE32((uint32_t)c);
        if (wide ? __atomic_compare_exchange_n(longs, &was, TAMIS__LITTLE64((uint64_t)sum), true,
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)
                 : __atomic_compare_exchange_n(narrow, &small, TAMIS__LITTLE32((uint32_t)sum), true,
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return sum;
    }
}

static void count_sketch_add_shared(struct body *b, const struct batch *keys)
{
    const struct section *s = b->sections;
    const bool wide = count_sketch_is_wide(s);
    for (size_t i = 0; i < keys->n; i++) {
        const int64_t w = keys->weights != NULL ? keys->weights[i] : 1;
        uint64_t at[TAMIS__MAX_ROWS];
        bool minus[TAMIS__MAX_ROWS];
        int64_t v[TAMIS__MAX_ROWS] = {0};
        count_sketch_aim(keys->hashes[i], s->m, s->k, at, minus);
        for (uint32_t j = 0; j < s->k; j++) {
            const int64_t c =
                count_sketch_move(s->cells, at[j], wide, minus[j] ? tamis__negative(w) : w);
            v[j] = tamis__with_sign(c, minus[j]);
        }
        if (keys->counts != NULL) keys->counts[i] = count_sketch_upper(v, s->k, wide);
        if (keys->weights != NULL) tamis__weigh_shared(b, w);
    }
    if (keys->weights == NULL) tamis__weigh_shared(b, (int64_t)keys->n);
}

static inline void count_sketch_order(int32_t *a, int32_t *b)
{
    const int32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

/* The counters of a batch of keys in five rows of 32 bits, multiplied by the keys' signs. They are
 * collected first, because the compiler can then compute the medians of several keys at a time. */
struct five_rows {
    int32_t of[5][TAMIS__MOST_BATCH];
};

/* count_sketch_upper of each key. */
static void count_sketch_uppers(const struct five_rows *v, size_t n, int64_t *out)
{
    int32_t mid[TAMIS__MOST_BATCH], saturated = 0;
    for (size_t i = 0; i < n; i++) { /* as in tamis__median_of_5 */
        int32_t a = v->of[0][i], b = v->of[1][i], c = v->of[2][i], d = v->of[3][i], e = v->of[4][i];
        count_sketch_order(&a, &b);
        count_sketch_order(&d, &e);
        count_sketch_order(&a, &d);
        count_sketch_order(&b, &e);
        count_sketch_order(&b, &c);
        count_sketch_order(&c, &d);
        saturated |= (a == -INT32_MAX) | (b == -INT32_MAX) | (d == INT32_MAX) | (e == INT32_MAX);
        mid[i] = b > c ? b : c;
    }
    for (size_t i = 0; i < n; i++) out[i] = mid[i];
    for (size_t i = 0; i < n && saturated != 0; i++) {
        int64_t one[5];
        for (unsigned j = 0; j < 5; j++) one[j] = v->of[j][i];
        out[i] = count_sketch_upper(one, 5, false);
    }
}

/* Adds keys of weight 1 to five rows of 32 bits. A counter c becomes c + 1 or c - 1 without a
 * branch, unless it is saturated. */
TAMIS__SPECIALIZED void count_sketch_add_each(struct section *s, const struct batch *keys,
                                              struct five_rows *after)
{
    const tamis_hash *h = keys->hashes;
    const size_t n = keys->n;
    const uint64_t m = s->m;
    uint8_t *cells = s->cells;
    for (size_t i = 0; i < n; i++) {
        uint64_t at[5];
        bool minus[5];
        count_sketch_aim(h[i], m, 5, at, minus);
        for (uint32_t j = 0; j < 5; j++) {
            int64_t c = count_sketch_get(cells, at[j], false);
            const int64_t moves = c < INT32_MAX && c > -INT32_MAX;
            c += tamis__with_sign(moves, minus[j]);
            count_sketch_put(cells, at[j], false, c);
            if (after != NULL) after->of[j][i] = (int32_t)tamis__with_sign(c, minus[j]);
        }
    }
}

static TAMIS__APART void count_sketch_add_ones_counted(struct section *s, const struct batch *keys)
{
    struct five_rows after;
    count_sketch_add_each(s, keys, &after);
    count_sketch_uppers(&after, keys->n, keys->counts);
}

static void count_sketch_add_ones(struct section *s, const struct batch *keys)
{
    if (keys->counts != NULL)
        count_sketch_add_ones_counted(s, keys);
    else
        count_sketch_add_each(s, keys, NULL);
}

TAMIS__SPECIALIZED void count_sketch_add_weights(struct body *b, const struct batch *keys,
                                                 uint32_t k, bool wide, int64_t *counts)
{
    struct section *s = b->sections;
    int64_t total = s->weight;
    for (size_t i = 0; i < keys->n; i++) {
        const int64_t w = keys->weights != NULL ? keys->weights[i] : 1;
        count_sketch_add_key(s, k, wide, keys->hashes[i], w, counts != NULL ? &counts[i] : NULL);
        total = tamis__add_signed(total, w, INT64_MAX);
        b->extra->moved =
            tamis__add_up(b->extra->moved, (uint64_t)(w < 0 ? tamis__negative(w) : w));
    }
    s->weight = total;
}

static void count_sketch_add_counted(struct body *b, const struct batch *keys)
{
    const struct section *s = b->sections;
    const bool wide = count_sketch_is_wide(s);
    if (s->k == 5 && wide)
        count_sketch_add_weights(b, keys, 5, true, keys->counts);
    else if (s->k == 5)
        count_sketch_add_weights(b, keys, 5, false, keys->counts);
    else
        count_sketch_add_weights(b, keys, s->k, wide, keys->counts);
}

static tamis_status count_sketch_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                     size_t *done)
{
    struct section *s = b->sections;
    if (keys->ahead != NULL) tamis__prefetch_counters(s, keys->ahead, keys->n);
    if (seen != NULL) tamis__all_maybe(seen, keys->n); /* a count of 0 proves nothing */
    *done = keys->n;
    if (tamis__in_use(b)) {
        count_sketch_add_shared(b, keys);
    } else if (keys->weights == NULL && s->k == 5 && !count_sketch_is_wide(s)) {
        count_sketch_add_ones(s, keys);
        b->extra->moved = tamis__add_up(b->extra->moved, keys->n);
        s->weight = tamis__add_signed(s->weight, (int64_t)keys->n, INT64_MAX);
    } else if (keys->counts != NULL) {
        count_sketch_add_counted(b, keys);
    } else {
        count_sketch_add_weights(b, keys, s->k, count_sketch_is_wide(s), NULL);
    }
    return TAMIS_OK;
}

static tamis_status count_sketch_take_away(struct body *b, tamis_hash h)
{
    return tamis__take_one(b, h, count_sketch_add);
}

static void count_sketch_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    const struct section *s = b->sections;
    const bool wide = count_sketch_is_wide(s), usual = s->k == 5 && !wide;
    if (keys->ahead != NULL) tamis__prefetch_counters(s, keys->ahead, keys->n);
    for (size_t i = 0; i < keys->n; i++) {
        struct known *known = keys->known != NULL ? &keys->known[i] : NULL;
        out[i] = tamis__in_use(b)
                     ? count_sketch_count_key(s, s->k, wide, keys->hashes[i], known, true)
                 : usual ? count_sketch_count_key(s, 5, false, keys->hashes[i], known, false)
                         : count_sketch_count_key(s, s->k, wide, keys->hashes[i], known, false);
    }
}

static tamis_status count_sketch_merge(struct body *into, const struct body *from)
{
    struct section *s = into->sections;
    const struct section *f = from->sections;
    const bool wide = count_sketch_is_wide(s);
    const int64_t most = count_sketch_end(wide);
    for (uint64_t i = 0; i < s->m * s->k; i++) {
        const int64_t a = count_sketch_get(s->cells, i, wide),
                      b = count_sketch_get(f->cells, i, wide);
        count_sketch_put(s->cells, i, wide, tamis__merge_signed(a, b, most));
    }
    s->weight = tamis__add_signed(s->weight, f->weight, INT64_MAX);
    return TAMIS_OK;
}

static void count_sketch_gauge(const struct body *b, const struct body *other, double z,
                               struct gauge *out)
{
    const struct section *s = b->sections;
    const bool wide = count_sketch_is_wide(s);
    (void)other;
    (void)z;
    out->cells = s->m * s->k;
    for (uint64_t i = 0; i < out->cells; i++) {
        const int64_t v = count_sketch_get(s->cells, i, wide);
        out->hit += v != 0;
        out->saturated += v == count_sketch_end(wide) || v == -count_sketch_end(wide);
    }
    out->rate = 1;
    out->items = (struct estimate){0, 0, INFINITY}; /* keys may have cancelled out */
}

static const struct sketch_ops count_sketch_sketch = {.two_sided = true,
                                                      .count = count_sketch_count};

const struct kind tamis__count_sketch = {
    .id = TAMIS_COUNT_SKETCH,
    .name = "count-sketch",
    .traits = TAMIS__SECTION_TOTALS | TAMIS__SHARES,
    .accepts = TAMIS__PLANS_CELL_BITS | TAMIS__PLANS_ERROR,
    .sketch = &count_sketch_sketch,
    .solve = count_sketch_solve,
    .layout = tamis__rows_section,
    .wrong_shape = count_sketch_wrong_shape,
    .wrong_cells = tamis__wrong_row_ends,
    .prefetch = tamis__counter_prefetch,
    .add = count_sketch_add,
    .query = tamis__query_maybe,
    .remove = count_sketch_take_away,
    .merge = count_sketch_merge,
    .gauge = count_sketch_gauge,
};
