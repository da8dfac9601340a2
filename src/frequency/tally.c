/* tally: conservative updates on one-byte counters that join their neighbour when they are full.
 *
 * Most keys of a stream are rare, so most counters of a sketch are small: a counter of 32 bits with
 * the value 20 wastes 27 of them. Here a counter begins as one byte. When it would overflow, it
 * joins its neighbour, 1 -> 2 -> 4 -> 8 bytes. So memory goes where it is needed, and four times as
 * many keys have counters of their own (R. Ben Basat, G. Einziger, M. Mitzenmacher, S. Vargaftik,
 * "SALSA: Self-Adjusting Lean Streaming Analytics", 2021). With conservative updates the mean error
 * is 7 to 60 times below that of 32-bit counters in the same memory (64 KiB to 1 MiB, ten million
 * adds).
 *
 * A key has four counters: one byte in each of two octets in each of two lines. Two lines cost two
 * cache misses instead of four. With one line, all keys of a line would suffer from the same giant
 * (at 64 KiB, 28 to 63 of the top 100 were wrong); two lines are no worse than rows. The count is
 * the least of the four. An add raises each of them to the count before + w and no further. A
 * counter that joins others takes the greatest of their values. So no count is ever too low: a
 * counter is at least the count of every key that has it, and joining only makes it greater. An add
 * raises the count of its key by exactly w: a counter joins others only to hold a value that is too
 * large for any of them.
 *
 * Only an overflow, which is rare, causes a branch on the values. octets.h describes the layout of
 * the lines.
 *
 * Merging: the counter of a byte is as long as the longer of the two, or longer. It holds the sum
 * of two values, the greatest that each sketch has in those bytes. All sums are computed from the
 * two sketches as they were, because adding while counters join would count twice.
 *
 * A counter is saturated at 2^63 - 1, which means "or more". Nothing can be taken away;
 * signed-tally is for that.
 *
 * Threads (TAMIS_SHARED). An add and a query lock both lines of their key (kernels/locked.h), so
 * each happens as a whole. The order of the adds decides about the bytes, as it does with one
 * thread. */
#include "../core/atomics.h"
#include "../core/cpu.h"
#include "../core/error.h"
#include "../kernels/avx2_tally.h"
#include "../kernels/locked.h"
#include "single_counts.h"
#include "tally_cells.h"

#include <math.h>

static tamis_status tally_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    (void)promise;
    return tamis__solve_octets(p, TALLY_PLACES, why);
}

static uint32_t tally_layout(const tamis_plan *plan, struct section *out)
{
    return tamis__octets_section(plan, TAMIS_TALLY, out);
}

static const char *tally_wrong_shape(const struct body *b)
{
    return tamis__wrong_lines(b, TAMIS_TALLY, TALLY_PLACES);
}

/* --- The verbs -------------------------------------------------------------------------------- */

static uint64_t tally_add_key(struct body *b, uint64_t lines, tamis_hash h, uint64_t w)
{
    uint8_t *cells = b->sections->cells;
    if (b->extra->locks == NULL) return tamis__tally_add(cells, lines, h, w);
    const uint64_t first = tamis__tally_first(h, lines);
    const uint64_t second = tamis__tally_second(h, lines, first);
    tamis__lock_lines(b->extra->locks, first, second);
    const uint64_t before = tamis__tally_add(cells, lines, h, w);
    tamis__unlock_lines(b->extra->locks, first, second);
    return before;
}

static uint64_t tally_count_key(const struct body *b, uint64_t lines, tamis_hash h)
{
    const uint8_t *cells = b->sections->cells;
    if (b->extra->locks == NULL) return tamis__tally_count(cells, lines, h);
    const uint64_t first = tamis__tally_first(h, lines);
    const uint64_t second = tamis__tally_second(h, lines, first);
    tamis__lock_lines(b->extra->locks, first, second);
    const uint64_t count = tamis__tally_count(cells, lines, h);
    tamis__unlock_lines(b->extra->locks, first, second);
    return count;
}

static tamis_status tally_add_weights(struct body *b, const struct batch *keys, uint8_t *seen,
                                      size_t *done, uint64_t *sum)
{
    const uint64_t lines = tamis__octet_lines(b->sections);
    *sum = 0;
    for (*done = 0; *done < keys->n; ++*done) {
        const size_t i = *done;
        const int64_t w = keys->weights != NULL ? keys->weights[i] : 1;
        if (w < 0) return TAMIS_EUNSUPPORTED;
        const uint64_t before = tally_add_key(b, lines, keys->hashes[i], (uint64_t)w);
        *sum = tamis__add_up(*sum, (uint64_t)w);
        if (keys->counts != NULL) keys->counts[i] = (int64_t)tamis__add_up(before, (uint64_t)w);
        if (seen != NULL) seen[i / 8] = (uint8_t)(seen[i / 8] | (before != 0) << i % 8);
    }
    return TAMIS_OK;
}

/* How many keys before its use a line is prefetched. Many of the instructions of an add wait for
 * its lines, so few adds are in flight at a time, and prefetching pays even if all lines are in the
 * second-level cache. */
#define AHEAD 12u

TAMIS__SPECIALIZED void tally_add_each(struct section *s, const struct batch *keys, int64_t *counts)
{
    /* Cells are bytes, which may alias anything, so fields of a struct would be read again after
     * each store. */
    const tamis_hash *h = keys->hashes;
    const size_t n = keys->n;
    const uint64_t lines = tamis__octet_lines(s);
    uint8_t *cells = s->cells;
    tamis__tally_adder *kernel = tamis__kernels()->tally_add;
    for (size_t i = 0; i < n; i++) {
        if (kernel != NULL) {
            i += kernel(cells, lines, h + i, n - i, counts != NULL ? counts + i : NULL);
            if (i == n) break;
        } else {
            const tamis_hash then = h[i + AHEAD < n ? i + AHEAD : i];
            const uint64_t first = tamis__tally_first(then, lines);
            TAMIS__FETCH(cells + TAMIS__LINE_BYTES * first);
            TAMIS__FETCH(cells + TAMIS__LINE_BYTES * tamis__tally_second(then, lines, first));
        }
        const uint64_t before = tamis__tally_add(cells, lines, h[i], 1);
        if (counts != NULL) counts[i] = (int64_t)tamis__add_up(before, 1);
    }
}

/* All weights are 1, and the caller does not ask which keys were present. */
static void tally_add_ones(struct section *s, const struct batch *keys)
{
    if (keys->counts != NULL)
        tally_add_each(s, keys, keys->counts);
    else
        tally_add_each(s, keys, NULL);
}

static tamis_status tally_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    struct section *s = b->sections;
    tamis_status status = TAMIS_OK;
    uint64_t sum = keys->n;
    if (keys->ahead != NULL) tamis__octet_fetch(s, keys->ahead, keys->n);
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    *done = keys->n;
    if (seen == NULL && keys->weights == NULL && b->extra->locks == NULL)
        tally_add_ones(s, keys);
    else
        status = tally_add_weights(b, keys, seen, done, &sum);
    if (tamis__in_use(b)) {
        tamis__add_shared(&b->extra->moved, sum, TAMIS__MOST_WEIGHT);
        tamis__add_shared((uint64_t *)&s->weight, sum, TAMIS__MOST_WEIGHT);
        return status;
    }
    b->extra->moved = tamis__add_up(b->extra->moved, sum);
    s->weight = tamis__add_weight(s->weight, sum);
    return status;
}

static void tally_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct section *s = b->sections;
    if (keys->ahead != NULL) tamis__octet_fetch(s, keys->ahead, keys->n);
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const bool some = tally_count_key(b, tamis__octet_lines(s), keys->hashes[i]) != 0;
        bits[i / 8] = (uint8_t)(bits[i / 8] | some << i % 8);
    }
}

static void tally_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    const struct section *s = b->sections;
    const uint64_t lines = tamis__octet_lines(s);
    if (keys->ahead != NULL) tamis__octet_fetch(s, keys->ahead, keys->n);
    for (size_t i = 0; i < keys->n; i++)
        out[i] = (int64_t)tally_count_key(b, lines, keys->hashes[i]);
}

/* --- One key ---------------------------------------------------------------------------------- */

#ifdef TAMIS__SINGLES

TAMIS__SPECIALIZED int64_t tally_put_single(tamis *t, tamis_hash h, tamis_bytes key, uint64_t w)
{
    const struct section *s = t->body.sections;
    (void)key;
    return (int64_t)tamis__add_up(tamis__tally_add(s->cells, tamis__octet_lines(s), h, w), w);
}

TAMIS__SPECIALIZED int64_t tally_count_single(const struct section *s, tamis_hash h)
{
    return (int64_t)tamis__tally_count(s->cells, tamis__octet_lines(s), h);
}

TAMIS__SPECIALIZED bool tally_has_single(const struct section *s, tamis_hash h)
{
    return tally_count_single(s, h) != 0;
}

TAMIS__UPDATE_SINGLE(tally, , tally_put_single)
TAMIS__UPDATE_SINGLE_HASH(tally, )
TAMIS__WEIGH_SINGLE(tally, , tally_put_single)
TAMIS__UPPER_SINGLE(tally, , tally_count_single)
TAMIS__ASK_SINGLE(tally, , tally_has_single)

static const struct single tally_in_c = {single_tally_ask, single_tally_add, single_tally_ask_hash,
                                         single_tally_add_hash};

#ifdef TAMIS__SINGLES_BY_AVX2

AVX2 TAMIS__SPECIALIZED int64_t avx2_tally_put_single(tamis *t, tamis_hash h, tamis_bytes key,
                                                      uint64_t w)
{
    const struct section *s = t->body.sections;
    const uint64_t lines = tamis__octet_lines(s);
    struct avx2_tally v;
    (void)key;
    avx2_tally_look(s->cells, lines, h, &v);
    const __m256i sums =
        avx2_limited(_mm256_add_epi64(avx2_least(v.values), _mm256_set1_epi64x((int64_t)w)));
    const uint64_t after = avx2_first(sums);
    if (!avx2_tally_raise(&v, sums)) tamis__tally_raise(s->cells, lines, h, after);
    return (int64_t)after;
}

TAMIS__UPDATE_SINGLE(avx2_tally, AVX2, avx2_tally_put_single)
TAMIS__UPDATE_SINGLE_HASH(avx2_tally, AVX2)
TAMIS__WEIGH_SINGLE(avx2_tally, AVX2, avx2_tally_put_single)

static const struct single tally_by_avx2 = {single_tally_ask, single_avx2_tally_add,
                                            single_tally_ask_hash, single_avx2_tally_add_hash};

static const struct single *tally_single(const struct body *b)
{
    if (b->shared) return NULL;
    return tamis__singles_by_avx2(tamis__kernels()) ? &tally_by_avx2 : &tally_in_c;
}

static tamis_status tally_weigh_single(tamis *t, const void *key, size_t len, int64_t weight,
                                       int64_t *count, tamis_error *why)
{
    return t->single.add == single_avx2_tally_add
               ? single_avx2_tally_weigh(t, key, len, weight, count, why)
               : single_tally_weigh(t, key, len, weight, count, why);
}
#else
#define tally_weigh_single single_tally_weigh

static const struct single *tally_single(const struct body *b)
{
    return b->shared ? NULL : &tally_in_c;
}
#endif
#endif

/* --- Merging and looking inside --------------------------------------------------------------- */

/* Returns j of the sum of two octets, and sets the sum. Counters are as short as possible, but not
 * shorter than in either octet. */
static unsigned tally_merge_octets(uint64_t a, unsigned ja, uint64_t b, unsigned jb, uint64_t *sum)
{
    unsigned j = ja | jb;
    *sum = 0;
    for (unsigned p = 0; p < 8;) {
        const unsigned size = tamis__octet_size(j, p);
        const uint64_t v = tamis__add_up(tamis__tally_greatest(a, ja, p, size),
                                         tamis__tally_greatest(b, jb, p, size));
        if (v <= tamis__octet_mask(tamis__octet_span(j, p))) {
            *sum |= v << tamis__octet_span(j, p).shift;
            p += size;
        } else { /* start again with a longer counter, at most seven times */
            j = tamis__octet_joined(j, p);
            *sum = 0;
            p = 0;
        }
    }
    return j;
}

static tamis_status tally_merge(struct body *into, const struct body *from)
{
    struct section *s = into->sections;
    tamis__merge_octets(s, from->sections, tally_merge_octets);
    s->weight = tamis__merge_weights(s->weight, from->sections->weight);
    return TAMIS_OK;
}

/* Returns how many bytes of an octet have a counter that is not 0, and adds the number of saturated
 * counters to *ends. */
static unsigned used(uint64_t octet, unsigned j, uint64_t *ends)
{
    unsigned bytes = 0;
    for (unsigned p = 0; p < 8; p += tamis__octet_size(j, p)) {
        const uint64_t v = tamis__tally_value(octet, j, p);
        bytes += v != 0 ? tamis__octet_size(j, p) : 0;
        *ends += v == TAMIS__MOST_WEIGHT;
    }
    return bytes;
}

/* The rate is the probability that all four counters of a key that was never added are in use. */
static void tally_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    const struct section *s = b->sections;
    const double lines = (double)tamis__octet_lines(s);
    double sum = 0, squares = 0;
    (void)other;
    (void)z;
    for (uint64_t at = 0; at < s->length; at += TAMIS__LINE_BYTES) {
        double shares = 0, square = 0;
        for (unsigned o = 0; o < TAMIS__OCTETS; o++) {
            const uint8_t *line = s->cells + at;
            const unsigned n =
                used(tamis__get64(line + 8 * o), line[TAMIS__JOINS + o], &out->saturated);
            out->hit += n;
            shares += n / 8.0;
            square += n / 8.0 * n / 8.0;
        }
        const double both = (shares * shares - square) / (TAMIS__OCTETS * (TAMIS__OCTETS - 1));
        sum += both;
        squares += both * both;
    }
    out->cells = s->m;
    out->rate = (sum * sum - squares) / (lines * (lines - 1));
    if (!(out->rate >= 0)) out->rate = 0; /* rounding */
    if (out->rate > 1) out->rate = 1;
    out->items = (struct estimate){0, 0, INFINITY}; /* unknown once counters have joined */
}

static const struct sketch_ops tally_sketch = {.count = tally_count,
                                               .weigh = TAMIS__SINGLE(tally_weigh_single),
                                               .upper = TAMIS__SINGLE(single_tally_upper)};

const struct kind tamis__tally = {
    .id = TAMIS_TALLY,
    .name = "tally",
    .traits = TAMIS__SECTION_TOTALS | TAMIS__SHARES | TAMIS__STRIPED,
    .accepts = TAMIS__PLANS_CELL_BITS | TAMIS__PLANS_ERROR,
    .sketch = &tally_sketch,
    .solve = tally_solve,
    .layout = tally_layout,
    .wrong_shape = tally_wrong_shape,
    .wrong_cells = tamis__wrong_octets,
    .prefetch = tamis__octet_prefetch,
    .add = tally_add,
    .query = tally_query,
    .single = TAMIS__SINGLE(tally_single),
    .merge = tally_merge,
    .gauge = tally_gauge,
};
