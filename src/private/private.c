/* private: a set published without betraying anyone in it, in the sense of differential privacy (C.
 * Dwork, F. McSherry, K. Nissim, A. Smith, 2006). Made from a bloom filter with k = 1 by flipping
 * each of its bits with a chance of p (flip.h), once; then sealed.
 *
 *     the filter     0 0 1 0 0 0 0 1 0 0 1 0 0 0 0 0        secret
 *     the release    0 1 1 0 0 0 0 0 0 0 1 0 0 1 0 0        to be published: is bit 1 a key, or noise?
 *
 * The promise. Two sets are neighbours when one has a single item more. With k = 1 their filters
 * differ in one bit at the most, so whatever is published is at most e^epsilon times as likely for
 * the one as for the other, with epsilon = ln((1-p)/p): nobody who sees the release, whatever else
 * they know, can tell much better than before whether the item was there. (To exchange an item is
 * two steps, and costs 2 epsilon. With k bits per key it would be k times as much: that is why only
 * k = 1 is taken.) All else that is in the image is a function of m, the hash and p, which the
 * owner chose without looking at the data, and of the flipped bits: no count of items, no plan, no
 * generation of the source.
 *
 * The price. A key that is in is missed with the chance p, exactly; of keys that are not in, the
 * share of set bits gets a "yes", again exactly. So an answer is evidence rather than a verdict
 * (tamis_probability), and such a filter is for counting, comparing shares and asking about many
 * keys, not for a guard.
 *
 *     epsilon                            0.5    1     2     4     8
 *     missed, %                          38     27    12    1.8   0.03
 *
 * Counting. X of m bits were set before, Y are after: E[Y] = mp + (1-2p)X, and Var[Y] = mp(1-p) +
 * (1-2p)^2 Var[X], with the mean and variance of X for n items from occupancy.c. The estimate is
 * the n whose mean is Y; the interval holds all n that Y does not contradict at z deviations. Both
 * tails are taken for those of a Poisson variable of the same variance, as in occupancy.c: a few
 * flips in a filter that is all but empty are just that, and many are normal anyway. */
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

/* How set bits come about: so many cells, flipped with a chance of p. */
struct noisy {
    struct occupancy cells;
    double p;
};

/* Whether n items are out of the question when `hit` bits are set; n may be infinite. */
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

/* Between a number that is contradicted and one that is not. */
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
    if (occupied > 0 && m > 1) /* with every bit set, half a bit short of that: see occupancy.c */
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
