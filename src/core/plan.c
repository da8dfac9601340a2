/* The planner: what a kind accepts of a plan (struct kind.accepts), and what a solved plan
 * promises. shape.c finds the shape. */
#include "plan.h"

#include "encoding.h"
#include "error.h"
#include "kind.h"
#include "sized.h"

#include <math.h>
#include <string.h>
#include <tamis/inspect.h>

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

uint64_t tamis__largest_near(uint64_t low, uint64_t high, uint64_t guess, tamis__fitting *fits,
                             void *ctx)
{
    const bool fit = guess <= low || (guess < high && fits(ctx, guess));
    if (fit && guess > low) low = guess;
    if (!fit && guess < high) high = guess;
    for (uint64_t d = 1; high - low > d; d *= 2) {
        const uint64_t at = fit ? low + d : high - d;
        const bool also = fits(ctx, at);
        if (also)
            low = at;
        else
            high = at;
        if (also != fit) break;
    }
    return tamis__largest(low, high, fits, ctx);
}

/* Mathematical libraries differ in the last bit or two of a result. A plan, which is part of the
 * image, must not. */
double tamis__tidy(double rate)
{
    int exponent;
    const double fraction = frexp(rate, &exponent);
    return ldexp(ceil(ldexp(fraction, 32)), exponent - 32);
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

/* Up to this rate, no kind is below log2(1/rate) + log2(e), which omits terms that vanish as the
 * rate falls. A Bloom filter has log2(e)·log2(1/rate) bits, which are fewer from 10.4 % on. */
#define MOST_DYNAMIC 0.1

uint32_t tamis__bound(const struct kind *kind, double rate, double n, double x, uint32_t value_bits,
                      double *bits)
{
    const double log2_e = 1.44269504088896340736;
    *bits = log2(1 / rate);
    if ((kind->traits & TAMIS__VALUES) != 0) *bits += value_bits;
    if ((kind->traits & TAMIS__EXCLUDES) != 0) {
        const double sets = tamis__two_set_bound(n, x);
        if (sets <= *bits) return TAMIS_BOUND_STATIC;
        *bits = sets;
        return TAMIS_BOUND_TWO_SET;
    }
    if (kind->sealing != NULL) return TAMIS_BOUND_STATIC;
    if ((kind->traits & (TAMIS__GROWS | TAMIS__NOISY)) != 0) {
        *bits = 0;
        return TAMIS_BOUND_NONE;
    }
    if (rate > MOST_DYNAMIC) return TAMIS_BOUND_STATIC;
    *bits += log2_e;
    return TAMIS_BOUND_DYNAMIC;
}

const char *tamis_bound_name(uint32_t bound)
{
    static const char *const names[] = {NULL, "static", "dynamic", "two-set"};
    return bound < sizeof names / sizeof *names ? names[bound] : NULL;
}

/* --- What a kind accepts ---------------------------------------------------------------------- */

#define PLAN_FLAGS                                                                                 \
    ((uint32_t)(TAMIS_STRICT | TAMIS_HASH_CALLER | TAMIS_COMPACT | TAMIS_AUTO_ROTATE |             \
                TAMIS_TRANSFER | TAMIS_CONSERVATIVE | TAMIS_REMOVABLE))

static const struct sketch_ops *plan_sketch(const struct kind *kind, const tamis_plan *p)
{
    return tamis__sketch_of(kind, tamis__kind(p->inner_kind));
}

/* Whether it has an error instead of items and a false-positive rate. */
static bool has_error(const struct kind *kind, const tamis_plan *p)
{
    const struct kind *inner = kind->rotate != NULL ? tamis__kind(p->inner_kind) : NULL;
    const uint32_t traits = kind->traits | (inner != NULL ? inner->traits : 0u);
    return plan_sketch(kind, p) != NULL || (traits & TAMIS__DISTINCT) != 0;
}

/* A kind that is made of sketches accepts what these do. */
static uint32_t accepted_by(const struct kind *kind, const tamis_plan *p)
{
    const uint32_t filter = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR | TAMIS__PLANS_TWO;
    if (!has_error(kind, p) || (kind->traits & TAMIS__HAS_PARTS) == 0) return kind->accepts;
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
    } only[] = {{TAMIS__PLANS_CELL_BITS, "bits of a counter or value are"},
                {TAMIS_CONSERVATIVE, "conservative updates are"},
                {TAMIS__PLANS_GENERATIONS | TAMIS_AUTO_ROTATE, "generations are"},
                {TAMIS__PLANS_EXCLUDED, "excluded keys are"},
                {TAMIS__PLANS_INNER, "an inner kind is"},
                {TAMIS_COMPACT, "the compact variant is"},
                {TAMIS_TRANSFER, "planning for transfer is"},
                {TAMIS_REMOVABLE, "planning for removals is"}};
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
    if (refused != 0) return refuse_plan(kind, has_error(kind, p), refused, why);
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
    /* A map without fingerprints is still of use. */
    const bool all = p->fpr == 1 && p->kind == TAMIS_VALUE_MAP;
    if (p->fpr != 0 && !(p->fpr >= TAMIS__MIN_FPR && p->fpr < 1) && !all)
        return tamis__fail(why, TAMIS_EINVAL,
                           "the false-positive rate must be at least 1e-18 and below 1%s",
                           p->kind == TAMIS_VALUE_MAP ? ", or 1" : "");
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
    if (has_error(tamis__kind(p->kind), p)) return TAMIS_OK;
    r->fpr = p->fpr;
    r->bits_per_item = 8 * (double)p->bytes / (double)p->items;
    r->bound = tamis__bound(tamis__kind(p->kind), p->fpr, (double)p->items, (double)p->excluded,
                            p->cell_bits, &r->bound_bits);
    if (r->bound != TAMIS_BOUND_NONE) r->bound_ratio = r->bits_per_item / r->bound_bits;
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
