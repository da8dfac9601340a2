/* Maximum likelihood for ExaLogLog registers.
 *
 * If n keys are spread over m registers, each register receives about n/m of them, and a value of
 * probability r arrives there as a Poisson process of mean y = r n/m. So a value has been received
 * with probability 1 - exp(-y), and is missing with probability exp(-y), independently of all
 * others. The logarithm of the likelihood is a sum over levels, which have the same r:
 *
 *     sum of  received * log(1 - exp(-y)) - missing * y
 *
 * It has one maximum, where the sum of received * r / (exp(y) - 1) is the sum of missing * r. */
#include "likelihood.h"

#include "../core/plan.h"
#include "distinct.h"

#include <math.h>

/* The Fisher information that a register has about log n is 8.4291, averaged over n (its relative
 * oscillation is 6e-5), so that the relative variance of an estimate from m registers is
 * 1 / (8.4291 m). The bias of the most likely n is 0.0917 n / m by the formula of D. R. Cox and
 * E. J. Snell (1968). bench/distinct/theory.py computes and checks both. */
#define INFORMATION 8.4291
#define BIAS 0.0917

/* Levels are counted from -7 on, because values below 1 are thought of as missing. */
#define BELOW 7u

double tamis__distinct_error(double registers)
{
    return tamis__tidy(sqrt(1 / (INFORMATION * registers)));
}

/* Adds the counts of up to 63 registers that begin at the same level, a byte for each level. */
static void evidence_unpack(struct evidence *e, unsigned first)
{
    for (unsigned i = 0; i < 8; i++) {
        const unsigned level = first + i; /* others than these only if registers are forged */
        if (level >= BELOW && level - BELOW < TAMIS__LEVELS)
            e->received[level - BELOW] += e->packed[first] >> 8 * i & 0xff;
    }
    e->packed[first] = 0;
    e->pending[first] = 0;
}

void tamis__evidence_add(struct evidence *e, uint32_t r)
{
    const unsigned greatest = r >> TAMIS__REGISTER_WINDOW;
    e->greatest[greatest]++;
    if (greatest == 0) return;
    /* All 25 values from greatest - 24 on as bits, so that levels are groups of four bits. */
    const unsigned least = greatest + BELOW * TAMIS__VALUES_PER_LEVEL - 1 - TAMIS__REGISTER_WINDOW;
    const uint32_t had =
        UINT32_C(1) << TAMIS__REGISTER_WINDOW | (r & ((UINT32_C(1) << TAMIS__REGISTER_WINDOW) - 1));
    uint32_t x = had << least % TAMIS__VALUES_PER_LEVEL;
    /* How many of each four are set, first in groups of four bits and then in bytes. */
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    uint64_t y = (x | (uint64_t)x << 16) & UINT64_C(0x0000ffff0000ffff);
    y = (y | y << 8) & UINT64_C(0x00ff00ff00ff00ff);
    y = (y | y << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    const unsigned first = least / TAMIS__VALUES_PER_LEVEL;
    e->packed[first] += y;
    if (++e->pending[first] == 63) evidence_unpack(e, first);
}

void tamis__evidence_close(struct evidence *e)
{
    /* How many registers know about a value: all whose greatest value is at most 24 more. */
    uint64_t knowing = 0;
    for (unsigned i = 0; i < TAMIS__EVIDENCE_LEVELS; i++) evidence_unpack(e, i);
    e->registers = 0;
    for (unsigned g = 0; g < 256; g++) e->registers += e->greatest[g];
    for (unsigned g = 0; g <= TAMIS__REGISTER_WINDOW; g++) knowing += e->greatest[g];
    for (unsigned value = 1; value <= TAMIS__MOST_VALUE; value++) {
        const unsigned reach = value + TAMIS__REGISTER_WINDOW;
        if (reach <= TAMIS__MOST_VALUE) knowing += e->greatest[reach];
        e->missing[(value - 1) / TAMIS__VALUES_PER_LEVEL] += knowing;
    }
    for (unsigned l = 0; l < TAMIS__LEVELS; l++) e->missing[l] -= e->received[l];
}

static double probability(unsigned level)
{
    return ldexp(1, -tamis__level_exponent(level));
}

/* The sum of missing * r: the rate at which further keys would change registers. */
static double rate_of_change(const struct evidence *e)
{
    double sum = 0;
    for (unsigned l = 0; l < TAMIS__LEVELS; l++) sum += (double)e->missing[l] * probability(l);
    return sum;
}

double tamis__unchanged_share(const struct evidence *e)
{
    const double changed = rate_of_change(e) / (double)e->registers;
    return changed < 1 ? 1 - changed : 0;
}

/* The sum of received * r / (exp(y) - 1) for x keys per register, and its derivative. */
struct slope {
    double value, derivative;
};

static struct slope slope_at(const struct evidence *e, double x)
{
    struct slope s = {0, 0};
    for (unsigned l = 0; l < TAMIS__LEVELS; l++) {
        const double r = probability(l), grown = e->received[l] != 0 ? expm1(r * x) : INFINITY;
        if (!(grown < INFINITY)) continue;
        const double part = (double)e->received[l] * r / grown;
        s.value += part;
        s.derivative -= part * r * (grown + 1) / grown;
    }
    return s;
}

/* The most likely number of keys per register, by Newton's method from the left of the root. The
 * function is convex and falls, so every step stays on the left. */
static double most_likely_share(const struct evidence *e, double missing)
{
    double received = 0, half = 0;
    for (unsigned l = 0; l < TAMIS__LEVELS; l++) {
        received += (double)e->received[l];
        half += (double)e->received[l] * probability(l) / 2;
    }
    double x = received / (missing + half); /* because y / (exp(y) - 1) >= 1 - y/2 */
    for (unsigned i = 0; i < 100; i++) {
        const struct slope s = slope_at(e, x);
        const double step = (missing - s.value) / s.derivative;
        x += step;
        if (!(step > x * 1e-12)) break;
    }
    return x;
}

struct estimate tamis__most_likely(const struct evidence *e, double z)
{
    const double m = (double)e->registers, missing = rate_of_change(e);
    if (e->greatest[0] == e->registers) return (struct estimate){0, 0, 0};
    if (!(missing > 0)) return (struct estimate){INFINITY, 0, INFINITY};
    const double x = most_likely_share(e, missing);
    /* The observed information about log n: minus the second derivative of the likelihood. */
    const double information = -x * x * slope_at(e, x).derivative;
    /* The formulas are those of a Poisson number of keys, whose own variance is not an error. */
    const double variance = 1 / information - 1 / (m * x);
    const double spread = z * sqrt(variance > 0 ? variance : 0);
    const double value = m * x / (1 + BIAS / m);
    return (struct estimate){value, floor(value * exp(-spread)), ceil(value * exp(spread))};
}
