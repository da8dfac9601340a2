/* counting: a classic filter with counters instead of bits, so that keys can be removed (L. Fan, P.
 * Cao, J. Almeida, A. Broder, "Summary cache", 2000).
 *
 *     add: each of the key's k counters + 1     remove: each - 1    may_contain: are all above 0?
 *
 *     k = 3, counters of 4 bits       0 0 1 0 0 0 0 2 0 0 1 0 0 0 1 1
 *     "a": 2, 7, 10   "b": 7, 14, 15      ^         ^     ^       ^ ^
 *     remove("a")                     0 0 0 0 0 0 0 1 0 0 0 0 0 0 1 1     "b" is still whole
 *
 * The guarantee. As long as only members are removed, a counter is at least the number of members
 * that share it, so no member is ever missed. A saturated counter (at 15, with 4 bits) does not
 * know how many adds it missed, so it stays there for ever. Some keys may then remain as false
 * positives after their removal, but none is missed. The removal of a key that has a counter at 0
 * is refused and changes nothing.
 *
 * How likely is saturation? n keys throw kn balls at m counters, so a counter is binomial (kn,
 * 1/m). At the best k, kn/m = ln 2, and P[counter >= 16] <= (e ln 2 / 16)^16 = 1.4e-15, which for
 * 10^10 counters is still less than 1.4e-5 in all. The promise contains m · P[counter >= 15], which
 * is computed rather than bounded.
 *
 * Two probes of one key may hit the same counter, which then counts both. The formula above counts
 * balls, and a removal subtracts both again.
 *
 * Layout 0 is the classic one. In layout 1 (inner kind blocked) all counters of a key are in one
 * line of 64 bytes, which has 128 counters of 4 bits. That takes one memory access instead of k.
 * Its rate and its overflow are means over lines that fill unevenly, computed as for the compact
 * variant of blocked. In either layout the rate is that of the filter of non-zero counters. */
#include "../core/bitrows.h"
#include "../core/error.h"
#include "../core/plan.h"
#include "../core/within.h"

#include <math.h>

#define MAX_K 64u
#define LINED 1u /* variant */
#define MAX_LINED_K 16u

/* --- Counters --------------------------------------------------------------------------------- */

static unsigned most(const struct section *s)
{
    return (1u << s->cell_bits) - 1;
}

static unsigned counting_get(const struct section *s, uint64_t i)
{
    if (s->cell_bits == 4) return s->cells[i >> 1] >> 4 * (i & 1) & 15;
    return s->cell_bits == 8 ? s->cells[i] : tamis__get16(s->cells + 2 * i);
}

static void counting_put(struct section *s, uint64_t i, unsigned v)
{
    if (s->cell_bits == 4) {
        uint8_t *byte = s->cells + (i >> 1);
        *byte = (uint8_t)((*byte & (15u << 4 * !(i & 1))) | v << 4 * (i & 1));
    } else if (s->cell_bits == 8) {
        s->cells[i] = (uint8_t)v;
    } else {
        tamis__put16(s->cells + 2 * i, (uint16_t)v);
    }
}

static unsigned per_line(const struct section *s)
{
    return TAMIS__LINE_BITS / s->cell_bits; /* 128, 64 or 32 */
}

static void counting_aim(const struct section *s, tamis_hash h, uint64_t at[MAX_K])
{
    uint64_t x = h.lo;
    if (s->variant == LINED) {
        const uint64_t n = per_line(s), line = tamis__mulhi(h.hi, s->m / n);
        for (uint32_t j = 0; j < s->k; j++, x = tamis__next_probe(x, h))
            at[j] = line * n + tamis__mulhi(x, n);
    } else {
        for (uint32_t j = 0; j < s->k; j++, x = tamis__next_probe(x, h))
            at[j] = tamis__mulhi(x, s->m);
    }
}

/* --- Planning --------------------------------------------------------------------------------- */

static double classic_rate(double m, uint32_t k, double items)
{
    return tamis__all_hit(m, k, items, k);
}

static uint64_t counting_cells(uint64_t m, uint32_t k)
{
    (void)k;
    return m;
}

/* The probability that a given counter of a line is saturated. */
static double end_in_128(const struct line_rates *r, double keys)
{
    return tamis__binomial_tail(r->k * keys, 1.0 / 128, 15);
}

static double end_in_64(const struct line_rates *r, double keys)
{
    return tamis__binomial_tail(r->k * keys, 1.0 / 64, 255);
}

static double end_in_32(const struct line_rates *r, double keys)
{
    return tamis__binomial_tail(r->k * keys, 1.0 / 32, 65535);
}

/* The probability that any of m counters is saturated after n items, bounded by the sum over all
 * counters. */
static double counting_overflow(double m, uint32_t k, unsigned bits, bool lined, double n)
{
    struct line_rates in_line;
    tamis__line_rates(&in_line,
                      bits == 4   ? end_in_128
                      : bits == 8 ? end_in_64
                                  : end_in_32,
                      TAMIS__LINE_BITS / bits, k, TAMIS__NO_SHARE);
    const double one = lined ? tamis__over_lines(m * bits / TAMIS__LINE_BITS, n, &in_line)
                             : tamis__binomial_tail(k * n, 1 / m, (1u << bits) - 1);
    return m * one < 1 ? m * one : 1;
}

static tamis_status counting_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    struct sizing s = {
        .step = 1, .k_min = 1, .k_max = MAX_K, .rate = classic_rate, .cells = counting_cells};
    if (plan->cell_bits == 0) plan->cell_bits = 4;
    if (plan->inner_kind == 0) plan->inner_kind = TAMIS_BLOOM;
    if (plan->cell_bits != 4 && plan->cell_bits != 8 && plan->cell_bits != 16)
        return tamis__fail(why, TAMIS_EINVAL, "a counter has 4, 8 or 16 bits, not %u",
                           plan->cell_bits);
    if (plan->inner_kind != TAMIS_BLOOM && plan->inner_kind != TAMIS_BLOCKED)
        return tamis__fail(why, TAMIS_EINVAL, "counters lie as in bloom or as in blocked");
    s.cell_bits = plan->cell_bits;
    if (plan->inner_kind == TAMIS_BLOCKED) {
        s.step = TAMIS__LINE_BITS / plan->cell_bits;
        s.k_max = MAX_LINED_K;
        s.line_cells = (uint32_t)s.step;
        s.line = tamis__line_hit;
        s.line_near = tamis__line_nearly_hit;
    }
    const tamis_status status = tamis__solve_shape(plan, &s, promise, why);
    if (status == TAMIS_OK)
        promise->overflow =
            counting_overflow((double)plan->m, plan->k, plan->cell_bits,
                              plan->inner_kind == TAMIS_BLOCKED, (double)plan->items);
    return status;
}

static uint32_t counting_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 1;
    *out = tamis__bit_section(TAMIS_COUNTING, plan->k, plan->m, plan->m * plan->cell_bits);
    out->cell_bits = (uint16_t)plan->cell_bits;
    out->variant = plan->inner_kind == TAMIS_BLOCKED ? LINED : 0;
    return 1;
}

static const char *counting_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    const bool lined = s->variant == LINED;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != TAMIS_COUNTING) return "the section is not of this kind";
    if (s->cell_bits != 4 && s->cell_bits != 8 && s->cell_bits != 16)
        return "the counters have a wrong size";
    if (s->k < 1 || s->k > (lined ? MAX_LINED_K : MAX_K)) return "k is out of range";
    if (s->m < 1 || s->m > TAMIS__MAX_CELLS / s->cell_bits)
        return "the number of counters is out of range";
    if (lined && s->m % per_line(s) != 0) return "m is not a whole number of cache lines";
    if (s->length != tamis__cell_bytes(s->m * s->cell_bits))
        return "the section's length does not fit its counters";
    return NULL;
}

static const char *counting_wrong_cells(const struct body *b)
{
    return tamis__wrong_spare_bits(b->sections, b->sections->m * b->sections->cell_bits);
}

/* --- The verbs -------------------------------------------------------------------------------- */

TAMIS__PREFETCHES counting_prefetch_keys(const struct section *s, const tamis_hash *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t at[MAX_K];
        counting_aim(s, h[i], at);
        const uint32_t places = s->variant == LINED ? 1 : s->k;
        for (uint32_t j = 0; j < places; j++) TAMIS__PREFETCH(s->cells + at[j] * s->cell_bits / 8);
    }
}

static void counting_prefetch(const struct body *b, const struct batch *keys)
{
    counting_prefetch_keys(b->sections, keys->hashes, keys->n);
}

static bool counting_present(const struct section *s, const uint64_t *at)
{
    bool all = true;
    for (uint32_t j = 0; j < s->k; j++) all &= counting_get(s, at[j]) != 0;
    return all;
}

static tamis_status counting_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                 size_t *done)
{
    struct section *s = b->sections;
    (void)done;
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t at[MAX_K];
        if (TAMIS__AHEAD(keys->ahead)) counting_prefetch_keys(s, keys->ahead + i, 1);
        counting_aim(s, keys->hashes[i], at);
        if (seen != NULL) seen[i / 8] = (uint8_t)(seen[i / 8] | counting_present(s, at) << i % 8);
        for (uint32_t j = 0; j < s->k; j++) {
            const unsigned v = counting_get(s, at[j]);
            if (v < most(s)) counting_put(s, at[j], v + 1);
        }
    }
    return TAMIS_OK;
}

#ifndef TAMIS_LEAN
TAMIS__SPECIALIZED void count_within(const struct section *s, const struct within *w, size_t n,
                                     size_t at, uint8_t *seen, unsigned bits)
{
    const unsigned full = (1u << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        const size_t from = i * s->k;
        unsigned all = 1;
        for (size_t j = from; j < from + s->k && seen != NULL; j++) {
            const unsigned word = bits == 16 ? tamis__get16(w->cell[j]) : *w->cell[j];
            all &= (word >> w->bit[j] & full) != 0;
        }
        if (seen != NULL) seen[(at + i) / 8] = (uint8_t)(seen[(at + i) / 8] | all << (at + i) % 8);
        for (size_t j = from; j < from + s->k; j++) {
            const unsigned word = bits == 16 ? tamis__get16(w->cell[j]) : *w->cell[j];
            const unsigned one = (unsigned)((word >> w->bit[j] & full) != full) << w->bit[j];
            if (bits == 16)
                tamis__put16(w->cell[j], (uint16_t)(word + one));
            else
                *w->cell[j] = (uint8_t)(word + one);
        }
    }
}

static void counting_set_within(const struct section *s, const struct within *w, size_t n,
                                size_t at, uint8_t *seen)
{
    if (s->cell_bits == 4)
        count_within(s, w, n, at, seen, 4);
    else if (s->cell_bits == 8)
        count_within(s, w, n, at, seen, 8);
    else
        count_within(s, w, n, at, seen, 16);
}

static void counting_add_within(struct body *b, struct range r, const tamis_hash *h, size_t n,
                                uint8_t *seen)
{
    tamis__add_within(b->sections, false, r, h, n, counting_set_within, seen);
}
#endif

static void counting_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct section *s = b->sections;
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t at[MAX_K];
        if (TAMIS__AHEAD(keys->ahead)) counting_prefetch_keys(s, keys->ahead + i, 1);
        counting_aim(s, keys->hashes[i], at);
        bits[i / 8] = (uint8_t)(bits[i / 8] | counting_present(s, at) << i % 8);
    }
}

static tamis_status counting_take_away(struct body *b, tamis_hash h)
{
    struct section *s = b->sections;
    uint64_t at[MAX_K], taken = 0;
    counting_aim(s, h, at);
    for (uint32_t j = 0; j < s->k; j++) {
        const unsigned v = counting_get(s, at[j]);
        if (v == 0) { /* also if two probes share a counter that was 1: undo */
            for (uint32_t i = 0; i < j; i++)
                if ((taken >> i & 1) != 0) counting_put(s, at[i], counting_get(s, at[i]) + 1);
            return TAMIS_EABSENT;
        }
        if (v == most(s)) continue;
        counting_put(s, at[j], v - 1);
        taken |= UINT64_C(1) << j;
    }
    return TAMIS_OK;
}

static int64_t counting_count_key(const struct section *s, tamis_hash h)
{
    uint64_t at[MAX_K];
    int64_t least = INT64_MAX;
    counting_aim(s, h, at);
    for (uint32_t j = 0; j < s->k; j++) {
        const unsigned v = counting_get(s, at[j]);
        unsigned times = 0; /* how often one add counts here */
        for (uint32_t i = 0; i < s->k; i++) times += at[i] == at[j];
        if (v != most(s) && v / times < least) least = v / times;
    }
    return least;
}

static void counting_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (TAMIS__AHEAD(keys->ahead)) counting_prefetch_keys(b->sections, keys->ahead + i, 1);
        out[i] = counting_count_key(b->sections, keys->hashes[i]);
    }
}

static tamis_status counting_merge(struct body *into, const struct body *from)
{
    struct section *s = into->sections;
    for (uint64_t i = 0; i < s->m; i++) {
        const unsigned sum = counting_get(s, i) + counting_get(from->sections, i);
        counting_put(s, i, sum < most(s) ? sum : most(s));
    }
    return TAMIS_OK;
}

static void counting_gauge(const struct body *b, const struct body *other, double z,
                           struct gauge *out)
{
    const struct section *s = b->sections;
    const uint64_t line = s->variant == LINED ? per_line(s) : s->m;
    const double lines = (double)(s->m / line);
    const struct occupancy o = {1, (double)s->m, s->k, s->variant == LINED ? lines : 0};
    double rates = 0;
    uint64_t balls = 0;
    for (uint64_t from = 0; from < s->m; from += line) {
        uint64_t hit = 0;
        for (uint64_t i = from; i < from + line; i++) {
            const unsigned v = counting_get(s, i);
            hit += v != 0 || (other != NULL && counting_get(other->sections, i) != 0);
            out->saturated += v == most(s);
            balls += v;
        }
        out->hit += hit;
        rates += pow((double)hit / (double)line, s->k);
    }
    out->cells = s->m;
    out->rate = rates / lines;
    out->items = tamis__items_from_hits(&o, (double)out->hit, z);
    out->held = out->items.low; /* a repeated key does not make other keys look present */
    out->overflow = counting_overflow((double)s->m, s->k, s->cell_bits, s->variant == LINED,
                                      ceil((double)balls / s->k));
    if (out->saturated != 0) out->overflow = 1; /* it has happened */
}

static bool counting_plain(const struct body *b, struct section *out, uint8_t *bits)
{
    const struct section *s = b->sections;
    if (s->variant == LINED) return false; /* no plain kind has lines of 128 bits */
    *out = tamis__bit_section(TAMIS_BLOOM, s->k, s->m, s->m);
    for (uint64_t i = 0; bits != NULL && i < s->m; i++)
        bits[i >> 3] = (uint8_t)(bits[i >> 3] | (counting_get(s, i) != 0) << (i & 7));
    return true;
}

static size_t counting_cells_of(const struct body *b, tamis_hash h, uint64_t *out, size_t max)
{
    uint64_t at[MAX_K];
    counting_aim(b->sections, h, at);
    for (uint32_t j = 0; j < b->sections->k && j < max; j++) out[j] = at[j];
    return b->sections->k;
}

const struct kind tamis__counting = {
    .id = TAMIS_COUNTING,
    .name = "counting",
    .traits = TAMIS__MULTISET | TAMIS__COMPARES | TAMIS__LINED_VARIANT,
    .accepts = TAMIS__PLANS_FILTER | TAMIS__PLANS_CELL_BITS | TAMIS__PLANS_INNER,
    .variants = LINED,
    .solve = counting_solve,
    .layout = counting_layout,
    .wrong_shape = counting_wrong_shape,
    .wrong_cells = counting_wrong_cells,
    .prefetch = TAMIS__FULL(counting_prefetch),
    .add = counting_add,
    .add_within = TAMIS__FULL(counting_add_within),
    .query = counting_query,
    .remove = counting_take_away,
    .count = counting_count,
    .merge = TAMIS__FULL(counting_merge),
    .gauge = counting_gauge,
    .plain = TAMIS__FULL(counting_plain),
    .cells_of = counting_cells_of,
};
