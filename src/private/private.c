/* private: a set that can be published without revealing whether anyone is a member, in the sense
 * of differential privacy (C. Dwork, F. McSherry, K. Nissim, A. Smith, 2006). It is made from a
 * bloom filter with k = 1: each bit is flipped once with probability p (flip.h), and the result is
 * sealed.
 *
 *     the filter     0 0 1 0 0 0 0 1 0 0 1 0 0 0 0 0     secret
 *     the release    0 1 1 0 0 0 0 0 0 0 1 0 0 1 0 0     published: is bit 1 a key, or noise?
 *
 * The promise. Two sets are neighbours if one of them has a single item more. With k = 1 their
 * filters differ in at most one bit, so any given release is at most e^epsilon times as likely for
 * one as for the other, with epsilon = ln((1-p)/p). Whatever else they know, nobody who sees the
 * release can decide much better than before whether the item was a member. Replacing an item is
 * two steps, and costs 2 epsilon. With k bits per key the cost would be k times as high, which is
 * why only k = 1 is accepted. Everything else in the image is a function of m, the hash and p,
 * which the owner chose without looking at the data, and of the flipped bits. The image does not
 * contain the source's count of items, plan or generation.
 *
 * The price. A member is missed with probability p, exactly. A non-member gets a "maybe" with a
 * probability that is the share of set bits, again exactly. So an answer is evidence and not a
 * verdict (tamis_probability). Such a filter is for counting, comparing shares and querying many
 * keys, and not for a guard.
 *
 *     epsilon                            0.5    1     2     4     8
 *     missed, %                          38     27    12    1.8   0.03
 *
 * Counting. If X of m bits were set before the flips and Y after them, then E[Y] = mp + (1-2p) E[X]
 * and Var[Y] = mp(1-p) + (1-2p)^2 Var[X]. The mean and the variance of X for n items come from
 * occupancy.c. The estimate is the n for which the mean is Y. The confidence interval contains all
 * n that Y does not contradict at z standard deviations. Both tails are taken as those of a Poisson
 * variable of the same variance, as in occupancy.c: a few flips in an almost empty filter are
 * Poisson, and many are normal anyway. */
#include "../core/bitrows.h"
#include "../core/error.h"
#include "../core/plan.h"
#include "flip.h"

#include <math.h>

static tamis_status private_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    (void)plan, (void)promise;
    return tamis__fail(why, TAMIS_EUNSUPPORTED,
                       "a private filter is released from a bloom filter with k = 1, not planned");
}

static uint32_t private_layout(const tamis_plan *plan, struct section *out)
{
    (void)plan, (void)out;
    return 1;
}

static const char *private_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (s->k != 1) return "k is out of range";
    if (s->flip_threshold < 1 || s->flip_threshold >= TAMIS__FLIP_END)
        return "the flip probability is out of range";
    return tamis__wrong_bit_section(b, TAMIS_PRIVATE, s->m);
}

static const char *private_wrong_cells(const struct body *b)
{
    return tamis__wrong_spare_bits(b->sections, b->sections->m);
}

/* A model of the set bits: cells that items occupy, each flipped with probability p. */
struct noisy {
    struct occupancy cells;
    double p;
};

/* Whether `hit` set bits contradict n items. n may be infinite. */
static bool contradicts(const struct noisy *o, double n, double hit, double z)
{
    const double m = o->cells.cells, slope = 1 - 2 * o->p;
    const double occupied = n == INFINITY ? m : tamis__occupied(&o->cells, n);
    const double spread = n == INFINITY ? 0 : tamis__occupied_variance(&o->cells, n);
    const double v = m * o->p * (1 - o->p) + slope * slope * spread;
    const double off = fabs(hit - m * o->p - slope * occupied), c = off + v;
    const double root = 1 - 1 / (9 * c) - z / (3 * sqrt(c));
    return root > 0 && v < c * root * root * root;
}

/* Returns the boundary between `bad`, a number of items that is contradicted, and `good`, one that
 * is not. */
static double edge(const struct noisy *o, double bad, double good, double hit, double z)
{
    for (int i = 0; i < 200 && fabs(good - bad) > 1e-9 * (good + bad); i++) {
        const double n = (good + bad) / 2;
        if (contradicts(o, n, hit, z))
            bad = n;
        else
            good = n;
    }
    return good;
}

static struct estimate items_from(const struct noisy *o, double hit, double z)
{
    const double m = o->cells.cells, occupied = (hit - m * o->p) / (1 - 2 * o->p);
    struct estimate e = {0, 0, INFINITY};
    if (occupied > 0 && m > 1) /* if every bit is set, half a bit less: see occupancy.c */
        e.value = log1p(-fmin(occupied, m - 0.5) / m) / log1p(-1 / m);
    if (e.value > 0 && contradicts(o, 0, hit, z)) e.low = edge(o, 0, e.value, hit, z);
    if (occupied >= m || !contradicts(o, INFINITY, hit, z)) return e;
    double beyond = 2 * e.value + 64;
    while (!contradicts(o, beyond, hit, z) && beyond < 1e300) beyond *= 2;
    e.high = edge(o, beyond, e.value, hit, z);
    return e;
}

static void private_gauge(const struct body *b, const struct body *other, double z,
                          struct gauge *out)
{
    const struct section *s = b->sections;
    const struct noisy o = {{1, (double)s->m, 1, 0}, tamis__flip_rate(s->flip_threshold)};
    (void)other;
    out->hit = tamis__count_bits(s->cells, NULL, 0, s->m);
    out->cells = s->m;
    out->rate = (double)out->hit / (double)s->m;
    out->miss_rate = o.p;
    out->epsilon = tamis__flip_epsilon(s->flip_threshold);
    out->items = items_from(&o, (double)out->hit, z);
}

const struct kind tamis__private = {
    .id = TAMIS_PRIVATE,
    .name = "private",
    .traits = TAMIS__MISSES | TAMIS__NOISY,
    .accepts = TAMIS__PLANS_FILTER,
    .solve = private_solve,
    .layout = private_layout,
    .wrong_shape = private_wrong_shape,
    .wrong_cells = private_wrong_cells,
    .prefetch = tamis__rows_prefetch,
    .query = tamis__rows_query,
    .gauge = private_gauge,
    .cells_of = tamis__rows_cells_of,
};
