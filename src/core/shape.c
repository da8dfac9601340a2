/* The shape of a plan. This file contains no formula of any structure and names no kind. A kind
 * provides its true rate as a function of shape and items (struct sizing). Every question about a
 * plan is then a search over that function, which falls with m and rises with the items.
 *
 * A search for one k starts from the closed form of the classic filter,
 *
 *     items·k / cells = -ln(1 - fpr^(1/k)),
 *
 * and refines it with secants in logarithms, in which the rate is almost a straight line. A filter
 * of lines has an approximate rate as well, which takes a fraction of the time (sizing.line_near).
 * It decides unless it is too close to the limit. The result is the one of a bisection over all m
 * or all items with the true rate, from which plans were made at first. Plans are part of images,
 * so it must remain the result.
 *
 * For k the search starts from the closed form as well. The rate of a shape is log-convex in k: it
 * is a mean of powers p^k, where p rises with k. So if some k is too large for a limit, all larger
 * ones are, and the search ends at the first k on each side that cannot be better than the best
 * one. */
#include "../image/image.h"
#include "../image/pack.h"
#include "error.h"
#include "occupancy.h"
#include "plan.h"

#include <math.h>

static uint32_t parts(const struct sizing *s)
{
    return s->parts != 0 ? s->parts : 1;
}

/* The bits of one part. */
static uint64_t bits(const struct sizing *s, uint64_t m, uint32_t k)
{
    return s->cells(m, k) * (s->cell_bits != 0 ? s->cell_bits : 1);
}

static uint64_t shape_bytes(const struct sizing *s, uint64_t m, uint32_t k)
{
    return tamis__image_bytes(tamis__cell_bytes(bits(s, m, k)), parts(s));
}

/* The largest m for this k that the format allows, in steps. */
static uint64_t most_steps(const struct sizing *s, uint32_t k)
{
    return TAMIS__MAX_CELLS / parts(s) / bits(s, s->step, k);
}

/* --- Rates ------------------------------------------------------------------------------------ */

/* The rates of a family, with those of its lines for one k that are known so far. */
struct rates {
    const struct sizing *s;
    struct line_rates exact, nearly;
};

static void rates_open(struct rates *r, const struct sizing *s)
{
    r->s = s;
    r->exact.k = r->nearly.k = 0; /* no k, so nothing is known */
}

static double part_rate(struct rates *r, bool nearly, double m, uint32_t k, double items)
{
    const struct sizing *s = r->s;
    if (s->line == NULL) return s->rate(m, k, items);
    nearly = nearly && s->line_near != NULL;
    struct line_rates *lines = nearly ? &r->nearly : &r->exact;
    if (lines->k != k)
        tamis__line_rates(lines, nearly ? s->line_near : s->line, s->line_cells, k,
                          nearly ? 1e-12 : TAMIS__NO_SHARE);
    return tamis__over_lines(m / s->line_cells, items, lines);
}

static double rate_of(struct rates *r, bool nearly, double m, uint32_t k, double items)
{
    if (!r->s->shared) return part_rate(r, nearly, m, k, items);
    const double one = part_rate(r, nearly, m, k, ceil(items / parts(r->s)));
    return one < 1 ? -expm1(parts(r->s) * log1p(-one)) : 1;
}

/* Approximate rates that differ by less than this share are not compared. It is far above the error
 * of the approximation and the noise of rounding, and above that of tamis__tidy. */
#define CLOSE 4e-9

static bool is_surely_above(double a, double b)
{
    return a > b * (1 + CLOSE);
}

/* --- Searches for one k ----------------------------------------------------------------------- */

/* A search for m, in steps, or for items, with the bounds that are certain so far: `low` and all
 * below are too few steps, or few enough items; `high` and all above are not. */
struct search_for_shape {
    struct rates *r;
    uint32_t k;
    uint64_t m; /* 0: m is sought; otherwise items are */
    double items, fpr;
    uint64_t low, high;
};

static double rate_at(const struct search_for_shape *q, bool nearly, uint64_t x)
{
    if (q->m != 0) return rate_of(q->r, nearly, (double)q->m, q->k, (double)x);
    return rate_of(q->r, nearly, (double)(x * q->r->s->step), q->k, q->items);
}

static bool is_below(void *ctx, uint64_t x)
{
    const struct search_for_shape *q = ctx;
    if (x <= q->low || x >= q->high) return x <= q->low;
    return (rate_at(q, false, x) <= q->fpr) == (q->m != 0);
}

/* By how much x is below the one that is sought: positive if below, in logarithms of the rate. */
static double height(const struct search_for_shape *q, uint64_t x)
{
    const double h = log(rate_at(q, true, x) / q->fpr);
    return q->m != 0 ? -h : h;
}

static bool narrow_to(struct search_for_shape *q, uint64_t x, double h)
{
    if (h > CLOSE && x > q->low) q->low = x;
    if (h < -CLOSE && x < q->high) q->high = x;
    return fabs(h) > CLOSE;
}

/* x is too close to decide. Bounds it by the nearest ones on both sides that are not. */
static void narrow_around(struct search_for_shape *q, uint64_t x)
{
    const uint64_t first = (uint64_t)((double)x * CLOSE) + 1;
    for (uint64_t d = first; x > d && x - d > q->low; d *= 4)
        if (narrow_to(q, x - d, height(q, x - d))) break;
    for (uint64_t d = first; d < q->high - x; d *= 4)
        if (narrow_to(q, x + d, height(q, x + d))) break;
}

/* The cells of one part that the classic filter needs per item, and k probes, for this rate. */
static double closed_form(const struct search_for_shape *q)
{
    const struct sizing *s = q->r->s;
    const double fpr = s->shared ? q->fpr / parts(s) : q->fpr;
    const double cells = -(double)q->k / log1p(-pow(fpr, 1.0 / q->k));
    return s->shared ? cells / parts(s) : cells;
}

static double first_guess(const struct search_for_shape *q)
{
    const struct sizing *s = q->r->s;
    if (q->m != 0) return (double)s->cells(q->m, q->k) / closed_form(q);
    return q->items * closed_form(q) / (double)s->cells(s->step, q->k);
}

/* Secants through the last two points. Where they lead nowhere, because the rate is 1 or 0 or does
 * not change, the middle of what is left, in logarithms. */
static void narrow(struct search_for_shape *q)
{
    double guess = first_guess(q), last = 0, last_height = 0;
    double slope = -0.7 * q->k;
    for (int i = 0; i < 64 && q->high - q->low > 1; i++) {
        uint64_t x = guess < (double)q->high ? (uint64_t)guess : q->high - 1;
        if (x <= q->low) x = q->low + 1;
        if (x >= q->high) x = q->high - 1;
        const double h = height(q, x), at = log((double)x);
        if (!narrow_to(q, x, h)) {
            narrow_around(q, x);
            return;
        }
        if (i != 0) slope = (h - last_height) / (at - last);
        last = at;
        last_height = h;
        guess = exp(at - h / slope);
        if (!(slope < 0 && guess > 0 && i < 16))
            guess = sqrt((double)(q->low != 0 ? q->low : 1) * (double)q->high);
    }
}

/* The last one below, as a bisection from 0 to `high` finds it. */
static uint64_t bisect(struct search_for_shape *q, uint64_t high)
{
    return q->high - q->low == 1 ? q->low : tamis__largest(0, high, is_below, q);
}

/* The smallest m that reaches the rate; 0: none does. */
static uint64_t m_for_rate(struct rates *r, uint32_t k, double items, double fpr)
{
    const uint64_t most = most_steps(r->s, k);
    struct search_for_shape q = {.r = r, .k = k, .items = items, .fpr = fpr, .high = most};
    narrow(&q);
    if (q.high == most && !(rate_at(&q, false, most) <= fpr)) return 0;
    return (bisect(&q, most) + 1) * r->s->step;
}

/* The most items that keep the rate; 0: not even one does. */
static uint64_t items_for_rate(struct rates *r, uint64_t m, uint32_t k, double fpr)
{
    const uint64_t high = TAMIS__MAX_ITEMS + 1;
    struct search_for_shape q = {.r = r, .k = k, .m = m, .fpr = fpr, .high = high};
    narrow(&q);
    return bisect(&q, high);
}

struct search_for_bytes {
    const struct sizing *s;
    uint32_t k;
    uint64_t bytes;
};

static bool keeps_budget(void *ctx, uint64_t steps)
{
    const struct search_for_bytes *q = ctx;
    return shape_bytes(q->s, steps * q->s->step, q->k) <= q->bytes;
}

/* The largest m whose image keeps the budget; 0: none does. */
static uint64_t m_for_bytes(const struct sizing *s, uint32_t k, uint64_t bytes)
{
    struct search_for_bytes q = {.s = s, .k = k, .bytes = bytes};
    const uint64_t most = most_steps(s, k);
    const double each = (double)bits(s, s->step, k) * parts(s) / 8;
    double x = (double)bytes / each;
    for (int i = 0; i < 2; i++) { /* an image is almost proportional to m */
        x = x < (double)most ? x : (double)most;
        x += ((double)bytes - (double)shape_bytes(s, (uint64_t)x * s->step, k)) / each;
        x = x > 0 ? x : 0;
    }
    const uint64_t guess = x < (double)most ? (uint64_t)x : most;
    return tamis__largest_near(0, most + 1, guess, keeps_budget, &q) * s->step;
}

/* --- The best shape --------------------------------------------------------------------------- */

struct shape {
    uint64_t m, items, bytes;
    uint32_t k;
    double nearly; /* the approximate rate; 0: not computed yet */
    double fpr;    /* the true one, rounded up; 0: not computed yet */
    double excess; /* for plans for transfer, see excess() */
};

/* A plan, its family of shapes, and the best of those that were considered. */
struct contest {
    const tamis_plan *p;
    struct rates rates;
    struct shape best;
};

/* A plan for transfer chooses the smallest image whose code is this close to the lower bound
 * (pack.c): 2 % of the bits set, or fewer. This leaves some room for the metadata, so that the
 * whole stays within 1.25 times the bound. */
#define NEAR_ENOUGH 1.24

/* Bits of code per item, divided by the bound; 0: close enough, or not a plan for transfer. */
static double excess(const tamis_plan *p, const struct sizing *s, const struct shape *c)
{
    if (s->fill == NULL) return 0;
    if (c->fpr >= 1 || (p->bytes != 0 && c->bytes > p->bytes)) return INFINITY;
    const double items = (double)c->items, cells = (double)s->cells(c->m, c->k);
    const double coded = cells * tamis__coded_bits(s->fill((double)c->m, c->k, items)) / items;
    const double ratio = coded / log2(1 / c->fpr);
    return ratio <= NEAR_ENOUGH ? 0 : ratio;
}

/* Computes the true rate of a shape. */
static void complete_shape(struct contest *t, struct shape *c)
{
    if (c->m == 0 || c->fpr > 0) return;
    const double limit = t->p->fpr;
    const double rate = rate_of(&t->rates, false, (double)c->m, c->k, (double)c->items);
    c->fpr = rate <= limit && tamis__tidy(rate) > limit ? limit : tamis__tidy(rate);
    if (c->fpr < TAMIS__MIN_FPR) c->fpr = TAMIS__MIN_FPR;
    c->excess = excess(t->p, t->rates.s, c);
}

/* The approximate rate of a shape, or the lowest rate that a plan promises if that is higher. */
static double near_rate(struct contest *t, struct shape *c)
{
    if (c->nearly <= 0)
        c->nearly =
            fmax(rate_of(&t->rates, true, (double)c->m, c->k, (double)c->items), TAMIS__MIN_FPR);
    return c->nearly;
}

/* m for items and, if it is not 0, a rate, or as many bytes as the plan has. */
static uint64_t m_for_items(struct contest *t, uint32_t k)
{
    const tamis_plan *p = t->p;
    const struct sizing *s = t->rates.s;
    const double items = (double)p->items;
    const uint64_t most = p->fpr == 0 ? m_for_bytes(s, k, p->bytes) : 0;
    /* A budget far larger than needed stops at the lowest rate that a plan promises. */
    const double fpr = p->fpr != 0 ? p->fpr : TAMIS__MIN_FPR;
    if (most != 0 && is_surely_above(rate_of(&t->rates, true, (double)most, k, items), fpr))
        return most;
    uint64_t m = m_for_rate(&t->rates, k, items, fpr);
    /* Using the spare bits of the last word costs nothing. */
    if (m != 0) m = m_for_bytes(s, k, shape_bytes(s, m, k));
    return p->fpr == 0 && (m == 0 || m > most) ? most : m;
}

/* The best shape for one k, without its true rate; its m is 0 if there is none. */
static struct shape shape_for_k(struct contest *t, uint32_t k)
{
    const tamis_plan *p = t->p;
    const struct sizing *s = t->rates.s;
    struct shape c = {.m = p->m, .items = p->items, .k = k};
    if (c.m == 0) c.m = p->items != 0 ? m_for_items(t, k) : m_for_bytes(s, k, p->bytes);
    if (c.m == 0 || c.m / s->step > most_steps(s, k)) return (struct shape){0};
    if (c.items == 0) c.items = items_for_rate(&t->rates, c.m, k, p->fpr);
    if (c.items == 0) return (struct shape){0};
    c.bytes = shape_bytes(s, c.m, k);
    if (s->fill != NULL) complete_shape(t, &c);
    if (s->line_near != NULL) near_rate(t, &c); /* while the rates of lines with this k are known */
    return c;
}

/* The code of a plan for transfer decides first, then whichever of items, bytes and rate the plan
 * left open, and at last the smaller k. */
static bool is_better(struct contest *t, struct shape *a, struct shape *b)
{
    const tamis_plan *p = t->p;
    if (b->m == 0 || a->m == 0) return a->m != 0;
    if (a->excess != b->excess) return a->excess < b->excess;
    if (p->items == 0 && a->items != b->items) return a->items > b->items;
    if (p->m == 0 && p->fpr != 0 && a->bytes != b->bytes) return a->bytes < b->bytes;
    if (is_surely_above(near_rate(t, a), near_rate(t, b))) return false;
    if (is_surely_above(near_rate(t, b), near_rate(t, a))) return true;
    complete_shape(t, a);
    complete_shape(t, b);
    if (a->fpr != b->fpr) return a->fpr < b->fpr;
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->k < b->k;
}

/* The largest m with this k that can be as good as the best shape: that of its bytes, or of all
 * bytes if those are given. 0: none. */
static uint64_t roomiest_m(const struct contest *t, uint32_t k)
{
    const tamis_plan *p = t->p;
    if (p->m != 0) return p->m;
    return m_for_bytes(t->rates.s, k, p->items != 0 && p->fpr != 0 ? t->best.bytes : p->bytes);
}

/* The rate with this k of the best shape's items in as much room, divided by the rate to reach.
 * Above 1, no shape with this k can be better. 0: nothing is known. */
static double hopelessness(struct contest *t, uint32_t k, uint64_t m)
{
    const tamis_plan *p = t->p;
    const bool rate_is_open = p->items != 0 && (p->m != 0 || p->fpr == 0);
    if (m == 0 || m / t->rates.s->step > most_steps(t->rates.s, k)) return 0;
    const double limit = rate_is_open ? near_rate(t, &t->best) : p->fpr;
    return rate_of(&t->rates, true, (double)m, k, (double)t->best.items) / limit;
}

/* By how much the logarithm of a rate may fall because another k loses less when m is rounded down
 * to whole steps. 0 if all k have the same cells. */
static double lost_to_steps(const struct sizing *s, uint64_t m, uint32_t k)
{
    return s->cells(s->step, 2) > s->cells(s->step, 1) ? 2.0 * k * (double)s->step / (double)m : 0;
}

/* False if k, and all that are farther from the best one, cannot be better. */
static bool consider(struct contest *t, uint32_t k)
{
    if (t->best.m != 0 && t->rates.s->fill == NULL) {
        const uint64_t m = roomiest_m(t, k);
        const double ratio = hopelessness(t, k, m);
        if (ratio > 1 + CLOSE) return log(ratio) <= lost_to_steps(t->rates.s, m, k);
    }
    struct shape c = shape_for_k(t, k);
    if (is_better(t, &c, &t->best)) t->best = c;
    return true;
}

/* The best k of the classic filter. */
static uint32_t likely_k(const tamis_plan *p, const struct sizing *s)
{
    double k = log2(1 / p->fpr);
    if (p->fpr == 0 || (p->m != 0 && p->items != 0)) {
        const double cells =
            p->m != 0 ? (double)s->cells(p->m, 1)
                      : 8 * (double)p->bytes / parts(s) / (s->cell_bits != 0 ? s->cell_bits : 1);
        k = 0.7 * cells / (double)p->items * (s->shared ? parts(s) : 1);
    }
    return k <= s->k_min ? s->k_min : k >= s->k_max ? s->k_max : (uint32_t)(k + 0.5);
}

static void consider_all(struct contest *t)
{
    const tamis_plan *p = t->p;
    const uint32_t first = p->k != 0 ? p->k : likely_k(p, t->rates.s);
    consider(t, first);
    for (uint32_t k = first + 1; p->k == 0 && k <= t->rates.s->k_max && consider(t, k);) k++;
    for (uint32_t k = first - 1; p->k == 0 && k >= t->rates.s->k_min && consider(t, k);) k--;
    complete_shape(t, &t->best);
}

static tamis_status check_best(const tamis_plan *p, const struct sizing *s,
                               const struct shape *best, tamis_error *why)
{
    if (best->m == 0) {
        if (p->bytes != 0 && !(p->items != 0 && p->fpr != 0))
            return tamis__fail(
                why, TAMIS_EINVAL, "%llu bytes are too few: at least %llu are needed",
                (unsigned long long)p->bytes,
                (unsigned long long)shape_bytes(s, s->step, p->k != 0 ? p->k : s->k_min));
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    }
    if (p->bytes != 0 && best->bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "needs %llu bytes, more than the %llu given",
                           (unsigned long long)best->bytes, (unsigned long long)p->bytes);
    if (best->fpr >= 1)
        return tamis__fail(why, TAMIS_EINVAL, "so few bits would answer maybe to every key");
    if (p->fpr != 0 && best->fpr > p->fpr)
        return tamis__fail(why, TAMIS_EINVAL, "that shape gives a rate of %.3g, not %.3g",
                           best->fpr, p->fpr);
    return TAMIS_OK;
}

tamis_status tamis__solve_shape(tamis_plan *p, const struct sizing *s, tamis_promise *promise,
                                tamis_error *why)
{
    if (p->k != 0 && (p->k < s->k_min || p->k > s->k_max))
        return tamis__fail(why, TAMIS_EINVAL, "k must be from %u to %u, not %u", s->k_min, s->k_max,
                           p->k);
    if (p->m % s->step != 0)
        return tamis__fail(why, TAMIS_EINVAL, "m must be a multiple of %u bits", (unsigned)s->step);
    if (p->m > TAMIS__MAX_CELLS)
        return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 bits are not supported");

    struct contest t;
    t.p = p;
    t.best = (struct shape){0};
    rates_open(&t.rates, s);
    consider_all(&t);
    const struct shape *best = &t.best;
    const tamis_status status = check_best(p, s, best, why);
    if (status != TAMIS_OK) return status;
    p->m = best->m;
    p->k = best->k;
    p->items = best->items;
    p->fpr = best->fpr;
    p->bytes = best->bytes;
    /* Scaled up, the corrections for finite m vanish. The result is the textbook formula. */
    const double vast = 1048576;
    promise->fpr_asymptotic =
        rate_of(&t.rates, false, (double)p->m * vast, p->k, (double)p->items * vast);
    if (s->fill != NULL)
        promise->packed_bytes =
            tamis__packed_bytes(p->bytes, tamis__cell_bytes(bits(s, p->m, p->k)),
                                s->fill((double)p->m, p->k, (double)p->items));
    return TAMIS_OK;
}
