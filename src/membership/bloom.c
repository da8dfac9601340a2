/* bloom: the classic filter (B. H. Bloom, "Space/time trade-offs in hash coding with allowable
 * errors", 1970). It has m bits, and each key has k probes anywhere among them. With k = 1 it is
 * the hashed bitmap.
 *
 *     add(x):  bits[p0(x)] = bits[p1(x)] = ... = 1        may_contain(x): are all of them 1?
 *
 *     m = 16, k = 3                 0 0 1 0 0 0 0 1 0 0 1 0 0 0 0 0
 *     after add("a"): 2, 7, 10          ^         ^     ^
 *     may_contain("b"): 2, 5, 10        1     0         1      certainly not: bit 5 is 0
 *
 * The rate. After n keys a bit is set with probability p = 1-(1-1/m)^(kn), and textbooks give p^k
 * as the false-positive rate. That is a little too low: a new key meets the filter's actual share
 * of set bits, Y/m, which varies, so the rate is E[(Y/m)^k] > (E[Y]/m)^k. The difference vanishes
 * for large m, and is 2 % at 100 items and 1e-4. We compute the expectation from the exact mean and
 * variance of Y (occupancy.c), and the moments of the normal distribution for the rest:
 *
 *     E[(p + d)^k] = sum over even i of C(k, i) p^(k-i) v^(i/2) (i-1)!!,   v = Var(Y)/m^2
 *
 * tests/library/test_rate.c compares it with the exact occupancy distribution. It is never below
 * that rate. If at least 40 % of the bits are set, it exceeds that rate by a share of at most
 * k^3/(40 m^2), which is 0.1 % for 93 bits and k = 7.
 *
 * Given the bits, the current rate is exactly (Y/m)^k.
 *
 * At 1 % it needs 9.6 bits an item, 1.44 times the lower bound, and k = 7 random memory accesses,
 * which is why `blocked` exists. Its virtues: it reaches any rate at the same factor, a union is an
 * OR, and everybody knows it. */
#include "../core/bitrows.h"
#include "../core/plan.h"

#include <math.h>

#define MAX_K 64u

static double bloom_rate(double m, uint32_t k, double items)
{
    return tamis__all_hit(m, k, items, k);
}

static double bloom_fill(double m, uint32_t k, double items)
{
    return tamis__hit_share(m, k * items);
}

static uint64_t bloom_cells(uint64_t m, uint32_t k)
{
    (void)k;
    return m;
}

static struct sizing bloom_sizing(const tamis_plan *plan)
{
    struct sizing s = {
        .step = 1, .k_min = 1, .k_max = MAX_K, .rate = bloom_rate, .cells = bloom_cells};
    if ((plan->flags & TAMIS_TRANSFER) != 0) s.fill = bloom_fill;
    return s;
}

static uint32_t bloom_layout(const tamis_plan *plan, struct section *out)
{
    if (out != NULL) *out = tamis__bit_section(TAMIS_BLOOM, plan->k, plan->m, plan->m);
    return 1;
}

static const char *bloom_wrong_shape(const struct body *b)
{
    if (b->sections->k < 1 || b->sections->k > MAX_K) return "k is out of range";
    return tamis__wrong_bit_section(b, TAMIS_BLOOM, b->sections->m);
}

static const char *bloom_wrong_cells(const struct body *b)
{
    return tamis__wrong_spare_bits(b->sections, b->sections->m);
}

static void bloom_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    const struct section *s = b->sections;
    const uint8_t *with = other != NULL ? other->sections->cells : NULL;
    const struct occupancy o = {1, (double)s->m, s->k, 0};
    out->hit = tamis__count_bits(s->cells, with, 0, s->m);
    out->cells = s->m;
    out->rate = pow((double)out->hit / (double)s->m, s->k);
    out->items = tamis__items_from_hits(&o, (double)out->hit, z);
}

static const struct single *bloom_single(const struct body *b)
{
    (void)b;
    return &tamis__probe_single;
}

const struct kind tamis__bloom = {
    .id = TAMIS_BLOOM,
    .name = "bloom",
    .traits = TAMIS__COMPARES | TAMIS__SHARES,
    .accepts = TAMIS__PLANS_FILTER | TAMIS_TRANSFER,
    .solve = tamis__solve,
    .sizing = bloom_sizing,
    .layout = bloom_layout,
    .wrong_shape = bloom_wrong_shape,
    .wrong_cells = bloom_wrong_cells,
    .prefetch = TAMIS__FULL(tamis__rows_prefetch),
    .add = tamis__rows_add,
    .add_within = TAMIS__FULL(tamis__rows_add_within),
    .query = tamis__rows_query,
    .single = TAMIS__SINGLE(bloom_single),
    .merge = TAMIS__FULL(tamis__or_cells),
    .gauge = bloom_gauge,
    .cells_of = tamis__rows_cells_of,
};
