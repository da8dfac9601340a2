/* partitioned: k rows of m bits, with one probe in each (the form taught with hash functions h1 ...
 * hk, each with its own table).
 *
 *     k = 3, m = 5               row 0  0 1 1 0 0      a key is present if its
 *     "thisisavirus.com"  2,1,4  row 1  1 1 0 0 0      bit is set in every row
 *     "totallynot..."     1,0,4  row 2  0 0 0 0 1
 *     "verynormalsite.com" 2,0,4: set in all three rows, though never added: a false positive.
 *
 * The rows are independent and each gets n probes, so the textbook formula is exact at every size:
 *
 *     rate = (1-(1-1/m)^n)^k
 *
 * It takes as much space as `bloom`, except for small filters, where it helps that two probes of a
 * key never fall on the same bit. Rows need not be a whole number of bytes; row j begins at bit
 * j·m. */
#include "../core/bitrows.h"
#include "../core/plan.h"

#include <math.h>

#define MAX_K 64u

static double partitioned_rate(double m, uint32_t k, double items)
{
    return pow(tamis__hit_share(m, items), k);
}

static uint64_t partitioned_cells(uint64_t m, uint32_t k)
{
    return m * k; /* below 2^58: m <= 2^52, k <= 64 */
}

static struct sizing partitioned_sizing(const tamis_plan *plan)
{
    (void)plan;
    const struct sizing s = {.step = 1,
                             .k_min = 1,
                             .k_max = MAX_K,
                             .rate = partitioned_rate,
                             .cells = partitioned_cells};
    return s;
}

static uint32_t partitioned_layout(const tamis_plan *plan, struct section *out)
{
    if (out != NULL)
        *out = tamis__bit_section(TAMIS_PARTITIONED, plan->k, plan->m,
                                  partitioned_cells(plan->m, plan->k));
    return 1;
}

static const char *partitioned_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (s->k < 1 || s->k > MAX_K) return "k is out of range";
    if (s->m > TAMIS__MAX_CELLS) return "m is out of range";
    return tamis__wrong_bit_section(b, TAMIS_PARTITIONED, partitioned_cells(s->m, s->k));
}

static const char *partitioned_wrong_cells(const struct body *b)
{
    return tamis__wrong_spare_bits(b->sections, partitioned_cells(b->sections->m, b->sections->k));
}

static void partitioned_gauge(const struct body *b, const struct body *other, double z,
                              struct gauge *out)
{
    const struct section *s = b->sections;
    const uint8_t *with = other != NULL ? other->sections->cells : NULL;
    const struct occupancy o = {s->k, (double)s->m, 1, 0};
    out->cells = partitioned_cells(s->m, s->k);
    out->hit = 0;
    out->rate = 1;
    for (uint32_t j = 0; j < s->k; j++) {
        const uint64_t hit = tamis__count_bits(s->cells, with, j * s->m, (j + 1) * s->m);
        out->hit += hit;
        out->rate *= (double)hit / (double)s->m;
    }
    out->items = tamis__items_from_hits(&o, (double)out->hit, z);
}

static const struct single *partitioned_single(const struct body *b)
{
    (void)b;
    return &tamis__rows_single;
}

const struct kind tamis__partitioned = {
    .id = TAMIS_PARTITIONED,
    .name = "partitioned",
    .traits = TAMIS__COMPARES | TAMIS__SHARES | TAMIS__ROWS,
    .accepts = TAMIS__PLANS_FILTER,
    .solve = tamis__solve,
    .sizing = partitioned_sizing,
    .layout = partitioned_layout,
    .wrong_shape = partitioned_wrong_shape,
    .wrong_cells = partitioned_wrong_cells,
    .prefetch = TAMIS__FULL(tamis__rows_prefetch),
    .add = tamis__rows_add,
    .add_within = TAMIS__FULL(tamis__rows_add_within),
    .query = tamis__rows_query,
    .single = TAMIS__SINGLE(partitioned_single),
    .merge = TAMIS__FULL(tamis__or_cells),
    .gauge = partitioned_gauge,
    .cells_of = tamis__rows_cells_of,
};
