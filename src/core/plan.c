/* The planner. It contains no formula of any structure and names no kind. A kind states which parts
 * of a plan it accepts (struct kind.accepts) and provides its true rate as a function of shape and
 * items (struct sizing). Every question about a plan is then a search over that function, which
 * falls with m and rises with the items. All k are tried; there are at most 64. */
#include "plan.h"

#include "../image/image.h"
#include "../image/pack.h"
#include "encoding.h"
#include "error.h"
#include "kind.h"
#include "sized.h"

#include <math.h>
#include <string.h>

uint64_t tamis__cell_bytes(uint64_t cells)
{
    return (cells + 63) / 64 * 8;
}

uint64_t tamis__largest(uint64_t low, uint64_t high, tamis__fitting *fits, void *ctx)
{
    while (high - low > 1) {
        const uint64_t mid = low + (high - low) / 2;
        if (fits(ctx, mid))
            low = mid;
        else
            high = mid;
    }
    return low;
}

static uint32_t parts(const struct sizing *s)
{
    return s->parts != 0 ? s->parts : 1;
}

/* The bits of one part. */
static uint64_t bits(const struct sizing *s, uint64_t m, uint32_t k)
{
    return s->cells(m, k) * (s->cell_bits != 0 ? s->cell_bits : 1);
}

static uint64_t plan_image_bytes(const struct sizing *s, uint64_t m, uint32_t k)
{
    return tamis__image_bytes(tamis__cell_bytes(bits(s, m, k)), parts(s));
}

/* The largest m for this k that the format allows, in steps. */
static uint64_t most_steps(const struct sizing *s, uint32_t k)
{
    return TAMIS__MAX_CELLS / parts(s) / bits(s, s->step, k);
}

static double rate_of(const struct sizing *s, double m, uint32_t k, double items)
{
    if (!s->shared) return s->rate(m, k, items);
    const double one = s->rate(m, k, ceil(items / parts(s)));
    return one < 1 ? -expm1(parts(s) * log1p(-one)) : 1;
}

/* A search among the shapes of one k: the values that are given, and the limits to keep. */
struct search_for_shape {
    const struct sizing *s;
    uint32_t k;
    uint64_t m, bytes;
    double items, fpr;
};

static bool misses_rate(void *ctx, uint64_t steps)
{
    const struct search_for_shape *q = ctx;
    return !(rate_of(q->s, (double)(steps * q->s->step), q->k, q->items) <= q->fpr);
}

static bool keeps_budget(void *ctx, uint64_t steps)
{
    const struct search_for_shape *q = ctx;
    return plan_image_bytes(q->s, steps * q->s->step, q->k) <= q->bytes;
}

static bool keeps_rate(void *ctx, uint64_t items)
{
    const struct search_for_shape *q = ctx;
    return rate_of(q->s, (double)q->m, q->k, (double)items) <= q->fpr;
}

/* The smallest m that reaches the rate; 0: none does. */
static uint64_t m_for_rate(const struct sizing *s, uint32_t k, double items, double fpr)
{
    struct search_for_shape q = {.s = s, .k = k, .items = items, .fpr = fpr};
    const uint64_t most = most_steps(s, k);
    return misses_rate(&q, most) ? 0 : (tamis__largest(0, most, misses_rate, &q) + 1) * s->step;
}

/* The largest m whose image keeps the budget; 0: none does. */
static uint64_t plan_m_for_bytes(const struct sizing *s, uint32_t k, uint64_t bytes)
{
    struct search_for_shape q = {.s = s, .k = k, .bytes = bytes};
    return tamis__largest(0, most_steps(s, k) + 1, keeps_budget, &q) * s->step;
}

/* The most items that keep the rate; 0: not even one does. */
static uint64_t items_for_rate(const struct sizing *s, uint64_t m, uint32_t k, double fpr)
{
    struct search_for_shape q = {.s = s, .k = k, .m = m, .fpr = fpr};
    return tamis__largest(0, TAMIS__MAX_ITEMS + 1, keeps_rate, &q);
}

/* Mathematical libraries differ in the last bit or two of a result. A plan, which is part of the
 * image, must not. */
double tamis__tidy(double rate)
{
    int exponent;
    const double fraction = frexp(rate, &exponent);
    return ldexp(ceil(ldexp(fraction, 32)), exponent - 32);
}

struct shape {
    uint64_t m, items, bytes;
    uint32_t k;
    double fpr;
    double excess; /* for plans for transfer, see excess() */
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

/* The best shape for one k; its m is 0 if there is none. */
static struct shape shape_for_k(const tamis_plan *p, const struct sizing *s, uint32_t k)
{
    struct shape c = {p->m, p->items, 0, k, 0, 0};
    if (c.m == 0 && p->items != 0) {
        /* A budget far larger than needed stops at the lowest rate that a plan promises. */
        c.m = m_for_rate(s, k, (double)p->items, p->fpr != 0 ? p->fpr : TAMIS__MIN_FPR);
        /* Using the spare bits of the last word costs nothing. */
        if (c.m != 0) c.m = plan_m_for_bytes(s, k, plan_image_bytes(s, c.m, k));
    }
    if (p->m == 0 && (p->items == 0 || p->fpr == 0)) {
        const uint64_t most = plan_m_for_bytes(s, k, p->bytes);
        if (c.m == 0 || c.m > most) c.m = most;
    }
    if (c.m == 0 || c.m / s->step > most_steps(s, k)) return (struct shape){0};
    if (c.items == 0) c.items = items_for_rate(s, c.m, k, p->fpr);
    if (c.items == 0) return (struct shape){0};
    const double rate = rate_of(s, (double)c.m, k, (double)c.items);
    c.fpr = rate <= p->fpr && tamis__tidy(rate) > p->fpr ? p->fpr : tamis__tidy(rate);
    if (c.fpr < TAMIS__MIN_FPR) c.fpr = TAMIS__MIN_FPR;
    c.bytes = plan_image_bytes(s, c.m, k);
    c.excess = excess(p, s, &c);
    return c;
}

/* The code of a plan for transfer decides first, then whichever of items, bytes and rate the plan
 * left open. */
static bool better(const tamis_plan *p, const struct shape *a, const struct shape *b)
{
    if (b->m == 0 || a->m == 0) return a->m != 0;
    if (a->excess != b->excess) return a->excess < b->excess;
    if (p->items == 0 && a->items != b->items) return a->items > b->items;
    if (p->m == 0 && p->fpr != 0 && a->bytes != b->bytes) return a->bytes < b->bytes;
    return a->fpr != b->fpr ? a->fpr < b->fpr : a->bytes < b->bytes;
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

    struct shape best = {0};
    const uint32_t from = p->k != 0 ? p->k : s->k_min, to = p->k != 0 ? p->k : s->k_max;
    for (uint32_t k = from; k <= to; k++) {
        const struct shape c = shape_for_k(p, s, k);
        if (better(p, &c, &best)) best = c;
    }
    if (best.m == 0) {
        if (p->bytes != 0 && !(p->items != 0 && p->fpr != 0))
            return tamis__fail(why, TAMIS_EINVAL,
                               "%llu bytes are too few: at least %llu are needed",
                               (unsigned long long)p->bytes,
                               (unsigned long long)plan_image_bytes(s, s->step, from));
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    }
    if (p->bytes != 0 && best.bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "needs %llu bytes, more than the %llu given",
                           (unsigned long long)best.bytes, (unsigned long long)p->bytes);
    if (best.fpr >= 1)
        return tamis__fail(why, TAMIS_EINVAL, "so few bits would answer maybe to every key");
    if (p->fpr != 0 && best.fpr > p->fpr)
        return tamis__fail(why, TAMIS_EINVAL, "that shape gives a rate of %.3g, not %.3g", best.fpr,
                           p->fpr);
    p->m = best.m;
    p->k = best.k;
    p->items = best.items;
    p->fpr = best.fpr;
    p->bytes = best.bytes;
    /* Scaled up, the corrections for finite m vanish. The result is the textbook formula. */
    const double vast = 1048576;
    promise->fpr_asymptotic = rate_of(s, (double)p->m * vast, p->k, (double)p->items * vast);
    if (s->fill != NULL)
        promise->packed_bytes =
            tamis__packed_bytes(p->bytes, tamis__cell_bytes(bits(s, p->m, p->k)),
                                s->fill((double)p->m, p->k, (double)p->items));
    return TAMIS_OK;
}

tamis_status tamis__solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    const struct sizing s = tamis__kind(plan->kind)->sizing(plan);
    return tamis__solve_shape(plan, &s, promise, why);
}

/* Stirling's series. */
double tamis__ln_factorial(double n)
{
    const double half_ln_2_pi = 0.91893853320467274178;
    if (n < 2) return 0;
    return (n + 0.5) * log(n) - n + half_ln_2_pi + 1 / (12 * n) - 1 / (360 * n * n * n) +
           1 / (1260 * n * n * n * n * n);
}

double tamis__two_set_bound(double n, double x)
{
    const double ln_2 = 0.69314718055994530942;
    if (n < 1 || x < 1) return 0;
    /* For large numbers the three terms are nearly equal, and their sum would lose the result. */
    if (n + x > 1e6) return (n * log2((n + x) / n) + x * log1p(n / x) / ln_2) / n;
    return (tamis__ln_factorial(n + x) - tamis__ln_factorial(n) - tamis__ln_factorial(x)) / ln_2 /
           n;
}

static double bound_of(const tamis_plan *p)
{
    const double rate = log2(1 / p->fpr);
    const double sets = tamis__two_set_bound((double)p->items, (double)p->excluded);
    return rate > sets ? rate : sets;
}

/* --- What a kind accepts ---------------------------------------------------------------------- */

#define PLAN_FLAGS                                                                                 \
    ((uint32_t)(TAMIS_STRICT | TAMIS_HASH_CALLER | TAMIS_COMPACT | TAMIS_AUTO_ROTATE |             \
                TAMIS_TRANSFER | TAMIS_CONSERVATIVE))

static const struct sketch_ops *plan_sketch(const struct kind *kind, const tamis_plan *p)
{
    return tamis__sketch_of(kind, tamis__kind(p->inner_kind));
}

/* A kind that is made of sketches accepts what these do. */
static uint32_t accepted_by(const struct kind *kind, const tamis_plan *p)
{
    const uint32_t filter = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR | TAMIS__PLANS_TWO;
    if (plan_sketch(kind, p) == kind->sketch) return kind->accepts;
    return (kind->accepts & ~filter) | tamis__kind(p->inner_kind)->accepts;
}

static uint32_t asked_by(const tamis_plan *p)
{
    return (p->flags & ~(uint32_t)TAMIS_HASH_CALLER) | (p->items != 0 ? TAMIS__PLANS_ITEMS : 0u) |
           (p->fpr != 0 ? TAMIS__PLANS_FPR : 0u) |
           (p->cell_bits != 0 ? TAMIS__PLANS_CELL_BITS : 0u) |
           (p->error != 0 || p->delta != 0 ? TAMIS__PLANS_ERROR : 0u) |
           (p->generations != 0 ? TAMIS__PLANS_GENERATIONS : 0u) |
           (p->excluded != 0 ? TAMIS__PLANS_EXCLUDED : 0u) |
           (p->inner_kind != 0 ? TAMIS__PLANS_INNER : 0u);
}

/* The reason why a kind does not accept a plan; `refused` is what it does not know. */
static tamis_status refuse_plan(const struct kind *kind, bool sketch, uint32_t refused,
                                tamis_error *why)
{
    static const struct {
        uint32_t what;
        const char *name;
    } only[] = {{TAMIS__PLANS_CELL_BITS, "counters are"},
                {TAMIS_CONSERVATIVE, "conservative updates are"},
                {TAMIS__PLANS_GENERATIONS | TAMIS_AUTO_ROTATE, "generations are"},
                {TAMIS__PLANS_EXCLUDED, "excluded keys are"},
                {TAMIS__PLANS_INNER, "an inner kind is"},
                {TAMIS_COMPACT, "the compact variant is"},
                {TAMIS_TRANSFER, "planning for transfer is"}};
    struct kind_names room;
    if ((refused & (TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR)) != 0)
        return tamis__fail(why, TAMIS_EINVAL,
                           "a sketch has no items and no false positives: plan it by bytes, error "
                           "or m");
    if ((refused & TAMIS__PLANS_ERROR) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "error and delta are only for sketches");
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if ((refused & only[i].what) != 0)
            return tamis__fail(why, TAMIS_EINVAL, "%s only for %s", only[i].name,
                               tamis__kinds_that_accept(only[i].what, &room));
    return sketch ? tamis__fail(why, TAMIS_EINVAL, "a sketch is never full")
                  : tamis__fail(why, TAMIS_EINVAL, "a %s filter is never full", kind->name);
}

tamis_status tamis__check_plan(const struct kind *kind, const tamis_plan *p, tamis_error *why)
{
    const uint32_t accepted = accepted_by(kind, p), refused = asked_by(p) & ~accepted;
    const int given =
        (p->items != 0) + (p->fpr != 0) + (p->bytes != 0 || p->m != 0) + (p->excluded != 0);
    if (refused != 0) return refuse_plan(kind, plan_sketch(kind, p) != NULL, refused, why);
    if (given < 2 && (accepted & TAMIS__PLANS_TWO) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a plan needs two of: items, fpr, bytes");
    return TAMIS_OK;
}

tamis_status tamis__solve_as(uint32_t id, tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    const struct kind *kind = tamis__kind(id);
    if (kind == NULL) return tamis__no_kind(id, TAMIS_EINVAL, why);
    p->kind = id;
    if (p->inner_kind != 0 && (kind->traits & TAMIS__HAS_PARTS) != 0 &&
        tamis__kind(p->inner_kind) == NULL)
        return tamis__no_kind(p->inner_kind, TAMIS_EINVAL, why);
    const tamis_status s = tamis__check_plan(kind, p, why);
    if (s != TAMIS_OK) return s;
    if (kind->solve == NULL)
        return tamis__unsupported(why, kind->instead, "%s filters are read-only here", kind->name);
    return kind->solve(p, promise, why);
}

static tamis_status check_values(const tamis_plan *p, tamis_error *why)
{
    if (p->fpr != 0 && !(p->fpr >= TAMIS__MIN_FPR && p->fpr < 1))
        return tamis__fail(why, TAMIS_EINVAL,
                           "the false-positive rate must be at least 1e-18 and below 1");
    if (p->items > TAMIS__MAX_ITEMS)
        return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 items are not supported");
    if ((p->flags & ~PLAN_FLAGS) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "unknown flag in the plan");
    return TAMIS_OK;
}

tamis_status tamis__solve_plan(tamis_plan *p, tamis_promise *r, tamis_error *why)
{
    memset(r, 0, sizeof *r);
    tamis_status s = check_values(p, why);
    if (s == TAMIS_OK) s = tamis__check_encoding(p, why);
    if (s == TAMIS_OK)
        s = p->kind == TAMIS_AUTO ? tamis__solve_auto(p, r, why)
                                  : tamis__solve_as(p->kind, p, r, why);
    if (s != TAMIS_OK) return s;
    r->bytes = p->bytes;
    if (plan_sketch(tamis__kind(p->kind), p) != NULL) return TAMIS_OK;
    r->fpr = p->fpr;
    r->bits_per_item = 8 * (double)p->bytes / (double)p->items;
    r->bound_bits = bound_of(p);
    r->bound_ratio = r->bits_per_item / r->bound_bits;
    return TAMIS_OK;
}

#ifdef TAMIS__SIZED
/* Compared field by field, because there may be padding between them. */
static bool is_same_plan(const tamis_plan *a, const tamis_plan *b)
{
    return a->kind == b->kind && a->flags == b->flags && a->items == b->items && a->fpr == b->fpr &&
           a->bytes == b->bytes && a->seed == b->seed && a->m == b->m && a->k == b->k &&
           a->cell_bits == b->cell_bits && a->generations == b->generations &&
           a->inner_kind == b->inner_kind && a->excluded == b->excluded && a->error == b->error &&
           a->delta == b->delta && a->encoding == b->encoding && a->key_width == b->key_width;
}

/* A shorter plan loses its last fields when it is written back. Solving it again must restore them,
 * because otherwise a filter made from it would not be the one that was promised. */
static tamis_status check_kept(const tamis_plan *solved, size_t size, tamis_error *why)
{
    if (size >= sizeof *solved) return TAMIS_OK;
    tamis_plan again = {.struct_size = 0};
    tamis_promise unused;
    memcpy(&again, solved, size);
    again.struct_size = sizeof again;
    if (tamis__solve_plan(&again, &unused, NULL) == TAMIS_OK && is_same_plan(&again, solved))
        return TAMIS_OK;
    return tamis__fail(why, TAMIS_EINVAL,
                       "the solved plan needs fields that a tamis_plan of struct_size %llu lacks",
                       (unsigned long long)size);
}
#else
#define check_kept(solved, size, why) TAMIS_OK
#endif

tamis_status tamis_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    tamis_plan p;
    tamis_promise r;
    tamis_status s = tamis__take_struct(&p, sizeof p, plan, "tamis_plan", why);
    if (s == TAMIS_OK && promise != NULL) s = tamis__check_struct(promise, "tamis_promise", why);
    if (s == TAMIS_OK) s = tamis__solve_plan(&p, &r, why);
    if (s == TAMIS_OK) s = check_kept(&p, plan->struct_size, why);
    if (s != TAMIS_OK) return s;
    tamis__give_struct(plan, &p, sizeof p);
    if (promise != NULL) tamis__give_struct(promise, &r, sizeof r);
    return TAMIS_OK;
}
