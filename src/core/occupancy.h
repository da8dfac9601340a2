/* Balls thrown into cells: the expected number of hit cells, its variance, and what the number of
 * hit cells says about the number of balls. All statistics of Bloom filters are based on this
 * mathematics, which docs/ACCURACY.md derives. */
#ifndef TAMIS_OCCUPANCY_H
#define TAMIS_OCCUPANCY_H

#include <stdint.h>

/* Each item throws `throws` balls into each of `rows` rows of `cells` cells. If lines > 0, the rows
 * are divided into that many lines, and all balls of an item fall into one line (blocked). */
struct occupancy {
    double rows, cells, throws, lines;
};

/* A row of that many cells, and the logarithms of 1 - 1/cells and 1 - 1/(cells-1)^2. */
struct row {
    double cells, log_one, log_two;
};

/* The expected number of hit cells after n items, and its variance. */
double tamis__occupied(const struct occupancy *o, double n);
double tamis__occupied_variance(const struct occupancy *o, double n);

/* E[(Y/cells)^k], where Y is the number of hit cells of a single row without lines after n items.
 * This is the probability that k further balls all fall on hit cells. */
double tamis__all_hit(double cells, double throws, double n, unsigned k);

/* The rate of a line as a function of its keys, with what is known of it so far. */
struct line_rates;
typedef double tamis__line_rate(const struct line_rates *r, double keys);

#define TAMIS__KNOWN_LINES 192

struct line_rates {
    tamis__line_rate *rate;
    struct row row; /* of a line */
    uint32_t k;
    double least;                     /* the share of a sum below which a term is left out */
    double known[TAMIS__KNOWN_LINES]; /* of lines with 0, 1, ... keys; negative: unknown */
};

/* A term below this share of a sum does not change it. */
#define TAMIS__NO_SHARE 0x1p-54

void tamis__line_rates(struct line_rates *r, tamis__line_rate *rate, double cells, uint32_t k,
                       double least);

/* The rate of a line into whose cells each key throws k balls: tamis__all_hit, and an approximation
 * within 1e-9 of it for lines of at least 32 cells. */
tamis__line_rate tamis__line_hit, tamis__line_nearly_hit;

/* The mean rate of a line when n items fall on this many lines at random. */
double tamis__over_lines(double lines, double n, struct line_rates *r);

/* P[X >= c], where X is binomial (n, p). */
double tamis__binomial_tail(double n, double p, unsigned c);

/* The share of a row that is hit after this many balls: 1 - (1-1/cells)^balls. */
double tamis__hit_share(double cells, double balls);

/* The number of items that explains `hit` cells best, with the interval of all numbers that `hit`
 * does not contradict at z standard deviations. At every fill, the interval contains the true
 * number at least as often as a normal variable is within z (tests/library/test_estimate.c). high
 * is infinite if every cell is hit. */
struct estimate {
    double value, low, high;
};
struct estimate tamis__items_from_hits(const struct occupancy *o, double hit, double z);

/* Standard normal quantiles: for a two-sided interval of 99 %, and for three intervals that hold
 * together with 99 %. */
#define TAMIS__Z99 2.5758293035489004
#define TAMIS__Z99_OF_3 2.9351994688667050

#endif
