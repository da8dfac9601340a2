/* Balls thrown into cells: how many cells are hit, how surely, and what a count of hit cells says
 * about the number of balls. All the statistics of Bloom filters rest on this page of mathematics;
 * docs/ACCURACY.md derives it. */
#ifndef TAMIS_OCCUPANCY_H
#define TAMIS_OCCUPANCY_H

#include <stdint.h>

/* Each item throws `throws` balls into each of `rows` rows of `cells` cells. When lines > 0 the
 * rows are cut into that many lines and one item's balls all fall into one line (blocked). */
struct occupancy {
    double rows, cells, throws, lines;
};

/* Expected number of hit cells after n items, and its variance. */
double tamis__occupied(const struct occupancy *o, double n);
double tamis__occupied_variance(const struct occupancy *o, double n);

/* E[(Y/cells)^k], Y the hit cells of a single row without lines after n items: the chance that k
 * further balls all fall on hit cells. */
double tamis__all_hit(double cells, double throws, double n, unsigned k);

/* The mean of of_line(k, X), X the items of one of so many lines when n items fall on lines at
 * random. */
double tamis__over_lines(double lines, double n, double (*of_line)(uint32_t k, double items),
                         uint32_t k);

/* P[X >= c], X binomial (n, p). */
double tamis__binomial_tail(double n, double p, unsigned c);

/* Share of a row that is hit after so many balls: 1 - (1-1/cells)^balls. */
double tamis__hit_share(double cells, double balls);

/* The number of items that explains `hit` cells best, with the interval of all numbers that `hit`
 * does not contradict at z standard deviations: it holds the truth at least as often as a normal
 * variable stays within z, at every fill (tests/library/test_estimate.c). high is infinite when every cell
 * is hit. */
struct estimate {
    double value, low, high;
};
struct estimate tamis__items_from_hits(const struct occupancy *o, double hit, double z);

/* Standard normal quantiles: two-sided 99 %, and the same for three statements at once. */
#define TAMIS__Z99 2.5758293035489004
#define TAMIS__Z99_OF_3 2.9351994688667050

#endif
