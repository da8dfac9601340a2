#include "occupancy.h"

#include <math.h>

/* Powers such as (1-1/m)^T are computed with log1p and expm1, because m may be as large as 2^52,
 * where 1-1/m keeps only one or two bits of 1/m. */

double tamis__hit_share(double cells, double balls)
{
    if (cells <= 1) return balls > 0 ? 1 : 0;
    return -expm1(balls * log1p(-1 / cells));
}

/* The expected share of the cells of a line, in one row, that an item hits if it falls on that
 * line. */
static double line_share(const struct occupancy *o)
{
    return tamis__hit_share(o->cells / o->lines, o->throws);
}

/* The logarithm of the probability that an item misses a given cell. */
static double log_miss(const struct occupancy *o)
{
    if (o->lines > 0) return log1p(-line_share(o) / o->lines);
    return o->throws * log1p(-1 / o->cells);
}

double tamis__occupied(const struct occupancy *o, double n)
{
    if (o->cells <= 1) return n > 0 ? o->rows * o->cells : 0;
    return o->rows * o->cells * -expm1(n * log_miss(o));
}

static struct row row_of(double c)
{
    const struct row r = {c, c > 1 ? log1p(-1 / c) : 0,
                          c > 2 ? log1p(-1 / ((c - 1) * (c - 1))) : 0};
    return r;
}

/* The variance of the number of hit cells of one row. Independent cells would give c·z(1-z), where
 * z is the share of empty cells. The cells are negatively associated, and their covariances reduce
 * it. (1-2/c)^T - z² is written as z²·((1-1/(c-1)²)^T - 1) to keep its digits. */
static double row_variance(const struct row *r, double balls)
{
    const double c = r->cells;
    if (c <= 1) return 0;
    const double z = exp(balls * r->log_one);
    const double apart = c > 2 ? expm1(balls * r->log_two) : (balls > 0 ? -1 : 0);
    return c * z * -expm1(balls * r->log_one) + c * (c - 1) * z * z * apart;
}

/* The same for a row whose items throw several balls, all into one line of w cells. Here cells of
 * the same line are positively associated. An item misses a given cell with probability 1-h, and
 * two given cells of one line with probability 1-s. */
static double lined_row_variance(const struct occupancy *o, double n)
{
    const double c = o->cells, lines = o->lines, w = c / lines, h = line_share(o) / lines;
    const double one = 1 - 1 / w, two = 1 - 2 / w, d = (1 - h) * (1 - h);
    const double z = exp(n * log1p(-h));
    const double together =
        (1 - 2 * pow(one, o->throws) + pow(two, o->throws)) / lines; /* 2h - s */
    const double same = expm1(n * log1p((together - h * h) / d));
    const double other = expm1(n * log1p(-h * h / d));
    return c * z * (1 - z) + c * z * z * ((w - 1) * same + (c - w) * other);
}

/* The covariance of two rows that share their lines. Given how many items each line has, the rows
 * are independent. So it is the variance of the sum over all lines of w·q^X, where w is the number
 * of cells that a row has in a line, q = 1-1/w, and X is the number of items of the line. */
static double line_covariance(const struct occupancy *o, double n)
{
    const double lines = o->lines, w = o->cells / lines, a = 1 / w;
    if (lines <= 1) return 0;
    const double mean = exp(n * log1p(-a / lines));
    const double d = 1 - a / lines;
    const double same = expm1(n * log1p(a * a * (1 - 1 / lines) / (lines * d * d)));
    const double other = expm1(n * log1p(-(a / lines) * (a / lines) / (d * d)));
    return w * w * mean * mean * (lines * same + lines * (lines - 1) * other);
}

double tamis__occupied_variance(const struct occupancy *o, double n)
{
    const struct row row = row_of(o->cells);
    double v = o->rows * (o->lines > 0 && o->throws > 1 ? lined_row_variance(o, n)
                                                        : row_variance(&row, o->throws * n));
    if (o->lines > 0) v += o->rows * (o->rows - 1) * line_covariance(o, n);
    return v > 0 ? v : 0;
}

static double items_for(const struct occupancy *o, double hit)
{
    const double share = hit / (o->rows * o->cells);
    if (o->cells <= 1) return hit > 0 ? 1 : 0;
    return log1p(-share) / log_miss(o);
}

/* The fewest items that `hit` does not contradict: those whose expected hits plus z standard
 * deviations reach it. The distribution of the hits is skewed towards few, so its upper tail is
 * lighter than that of the normal distribution. */
static double fewest_items(const struct occupancy *o, double hit, double z, double high)
{
    double low = 0;
    for (int i = 0; i < 200 && high - low > 1e-9 * high; i++) {
        const double n = (low + high) / 2;
        if (tamis__occupied(o, n) + z * sqrt(tamis__occupied_variance(o, n)) < hit)
            low = n;
        else
            high = n;
    }
    return (low + high) / 2;
}

/* The most items that `hit` does not contradict. Here the tail is the heavy one. The balls that hit
 * nothing new in a nearly empty filter, and the empty cells of a nearly full one, are few and
 * almost Poisson. So c, the number of empty cells less a shift that makes its mean v, is treated as
 * Poisson with the variance v of the cells. In between, its tail is slightly heavier than the true
 * one. n is too high if P[Poisson(v) >= c] is below the tail of z. That probability is the tail of
 * a gamma distribution, computed here by the cube root of E. B. Wilson and M. M. Hilferty
 * (1931). */
static double occupancy_most_items(const struct occupancy *o, double hit, double z, double low,
                                   double high)
{
    for (int i = 0; i < 200 && high - low > 1e-9 * high; i++) {
        const double n = (low + high) / 2;
        const double v = tamis__occupied_variance(o, n), c = tamis__occupied(o, n) - hit + v;
        const double root = c > 0 ? 1 - 1 / (9 * c) - z / (3 * sqrt(c)) : 0;
        if (v < c * root * root * root)
            high = n;
        else
            low = n;
    }
    return (low + high) / 2;
}

struct estimate tamis__items_from_hits(const struct occupancy *o, double hit, double z)
{
    const double all = o->rows * o->cells;
    struct estimate e = {0, 0, 0};
    if (hit <= 0) return e;
    /* If every cell is hit, the most likely number is infinite. Half a cell less gives a number
     * that is at least plausible, and `high` shows that there is no upper bound. */
    e.value = items_for(o, hit < all ? hit : all - 0.5);
    const double most = items_for(o, all - 0.5) * 4 + 64;
    /* Half a cell is the usual continuity correction for whole numbers. The Poisson tail needs
     * none. */
    e.low = fewest_items(o, hit - 0.5, z, e.value);
    e.high = hit < all ? occupancy_most_items(o, hit, z, e.value, most) : INFINITY;
    if (e.value < 1) e.value = 1; /* a hit cell proves an item */
    if (e.low < 1) e.low = 1;
    if (e.high < 1) e.high = 1;
    return e;
}

/* The k-th moment of a normal variable with mean p and variance v is the sum of term(i) = C(k,i)
 * p^(k-i) v^(i/2) (i-1)!! over even i. Each term follows from the one before. */
static double all_hit_in(const struct row *r, double throws, double n, unsigned k)
{
    const double c = r->cells;
    const double p = c > 1 ? c * -expm1(n * (throws * r->log_one)) / c : n > 0;
    const double variance = row_variance(r, throws * n), v = variance > 0 ? variance / (c * c) : 0;
    if (p <= 0) return 0;
    double term = pow(p, k), sum = term;
    for (unsigned i = 0; i + 2 <= k; i += 2) {
        term *= (double)(k - i) * (double)(k - i - 1) / (i + 2) * v / (p * p);
        sum += term;
    }
    return sum < 1 ? sum : 1;
}

double tamis__all_hit(double cells, double throws, double n, unsigned k)
{
    const struct row r = row_of(cells);
    return all_hit_in(&r, throws, n, k);
}

/* --- Lines ------------------------------------------------------------------------------------ */

void tamis__line_rates(struct line_rates *r, tamis__line_rate *rate, double cells, uint32_t k,
                       double least)
{
    r->rate = rate;
    r->least = least;
    r->row = row_of(cells);
    r->k = k;
    for (int i = 0; i < TAMIS__KNOWN_LINES; i++) r->known[i] = -1;
}

double tamis__line_hit(const struct line_rates *r, double keys)
{
    return all_hit_in(&r->row, r->k, keys, r->k);
}

/* Differences from 1 lose a few of their digits here, and no term of the sum is below 1e-11 of
 * it. */
double tamis__line_nearly_hit(const struct line_rates *r, double keys)
{
    const double c = r->row.cells, balls = keys * r->k;
    const double z = exp(balls * r->row.log_one), p = 1 - z;
    const double v = z * p / c + (1 - 1 / c) * z * z * (exp(balls * r->row.log_two) - 1);
    if (p <= 0) return 0;
    const double ratio = v > 0 ? v / (p * p) : 0;
    double power = 1, square = p, term = 1, sum = 1;
    for (unsigned i = 0; i + 2 <= r->k && term > 1e-11 * sum; i += 2) {
        term *= (double)(r->k - i) * (double)(r->k - i - 1) / (i + 2) * ratio;
        sum += term;
    }
    for (unsigned k = r->k; k != 0; k >>= 1, square *= square)
        if ((k & 1) != 0) power *= square;
    return sum * power < 1 ? sum * power : 1;
}

/* Lines that are so much rarer than the most common ones are left out. */
#define LEAST_WEIGHT 1e-25

static double rate_of_line(struct line_rates *r, double keys)
{
    if (keys >= TAMIS__KNOWN_LINES) return r->rate(r, keys);
    double *known = &r->known[(int)keys];
    if (*known < 0) *known = r->rate(r, keys);
    return *known;
}

double tamis__over_lines(double lines, double n, struct line_rates *r)
{
    const double p = 1 / lines, load = n * p;
    if (lines <= 1) return r->rate(r, n);
    /* With so many items per line, all lines have nearly the same number. */
    if (load > 4096) return r->rate(r, load);
    /* The weights are relative to that of the mode, and follow from the recurrence of the binomial
     * distribution. They are divided by their sum, so no factorial of a large number is needed. */
    const double odds = p / (1 - p), mode = floor((n + 1) * p);
    double total = 0, sum = 0, weight = 1;
    /* Ends where the sums no longer change, since no rate is above 1. */
    for (double x = mode; x <= n && weight > LEAST_WEIGHT && weight > r->least * sum; x++) {
        total += weight;
        sum += weight * rate_of_line(r, x);
        weight *= (n - x) / (x + 1) * odds;
    }
    weight = 1;
    for (double x = mode; x > 0; x--) {
        weight *= x / ((n - x + 1) * odds);
        if (weight < LEAST_WEIGHT) break;
        const double product = weight * rate_of_line(r, x - 1);
        if (weight < r->least * total && product < r->least * sum)
            break; /* fewer keys, less rate */
        total += weight;
        sum += product;
    }
    return sum / total;
}

double tamis__binomial_tail(double n, double p, unsigned c)
{
    if (c == 0 || p >= 1) return n >= c ? 1 : 0;
    if (n < c) return 0;
    /* The term at c is computed in logarithms, and the terms after it by recurrence: each is
     * (n-i)/(i+1) · p/(1-p) times the one before. If c is below the mean, the tail is nearly 1, and
     * its complement is summed from 0 instead. */
    double log_term = n * log1p(-p), sum = 0;
    const double odds = p / (1 - p);
    if (c <= n * p) {
        for (unsigned i = 0; i < c; i++) {
            sum += exp(log_term);
            log_term += log((n - i) / (i + 1.0) * odds);
        }
        return sum < 1 ? 1 - sum : 0;
    }
    for (unsigned i = 0; i < c; i++) log_term += log((n - i) / (i + 1.0) * odds);
    double term = exp(log_term);
    for (double i = c; i <= n && term > sum * 1e-17; i++) {
        sum += term;
        term *= (n - i) / (i + 1) * odds;
    }
    return sum;
}
