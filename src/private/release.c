/* Releases a filter as a private one, and evaluates what a release says about a key: see
 * private.c. */
#include "release.h"

#include "../core/bulk.h"
#include "../core/error.h"
#include "../core/single.h"
#include "../core/sized.h"
#include "../image/image.h"
#include "flip.h"

#include <math.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>

static tamis_status check_source(const tamis *from, double epsilon, tamis_error *why)
{
    const struct section *s = from->body.sections;
    if (!(epsilon >= TAMIS__LEAST_EPSILON && epsilon <= TAMIS__MOST_EPSILON))
        return tamis__fail(why, TAMIS_EINVAL, "epsilon must be between %g and %g",
                           TAMIS__LEAST_EPSILON, TAMIS__MOST_EPSILON);
    if ((from->kind->traits & TAMIS__NOISY) != 0)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "this filter is private already; copy it, because more noise protects "
                           "nobody better");
    if (from->kind->id != TAMIS_BLOOM || s->k != 1) {
        tamis__fail(why, TAMIS_EUNSUPPORTED,
                    "only a bloom filter with k = 1 can be released; this %s filter has k = %u, "
                    "and k bits per key cost k times the privacy",
                    from->kind->name, s->k);
        if (why != NULL && tamis__kind(TAMIS_BLOOM) != NULL) why->better_kind = TAMIS_BLOOM;
        return TAMIS_EUNSUPPORTED;
    }
    if (from->newer)
        return tamis__fail(why, TAMIS_EVERSION,
                           "this filter has a newer format, which cannot be released");
    return TAMIS_OK;
}

/* Everything except the bits follows from the shape or from these bits, so that it reveals nothing
 * more about the keys. The plan is for the number of items that set half of the bits of the
 * source. */
static void set_public_facts(tamis *t)
{
    const struct section *s = t->body.sections;
    const double items = floor(log(2) * (double)s->m);
    struct gauge g = {0};
    t->kind->gauge(&t->body, NULL, TAMIS__Z99, &g);
    t->planned_items = items > 1 ? (uint64_t)items : 1;
    t->planned_fpr = 0.5; /* whatever the noise: p / 2 + (1 - p) / 2 */
    t->items = (uint64_t)(fmin(g.items.value, (double)TAMIS__MAX_ITEMS) + 0.5);
    t->items_estimated = true;
    t->sealed = t->read_only = t->changed = true;
}

tamis_status tamis__release(const tamis *from, double epsilon, const struct randomness *random,
                            tamis **out, tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    const tamis_options same = tamis__same_options(from);
    const tamis_status status = check_source(from, epsilon, why);
    if (status != TAMIS_OK) return status;
    if (tamis__kind(TAMIS_PRIVATE) == NULL)
        return tamis__no_kind(TAMIS_PRIVATE, TAMIS_EUNSUPPORTED, why);
    const struct section *s = from->body.sections;
    tamis *t = tamis__new(tamis__kind(TAMIS_PRIVATE), &same, 1, true);
    if (t == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    t->body.sections[0] = *s;
    t->body.sections->kind = TAMIS_PRIVATE;
    t->body.sections->flip_threshold = tamis__flip_threshold(epsilon);
    if (!tamis__alloc_cells(t, false)) {
        tamis_close(t);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)s->length);
    }
    struct section *noisy = t->body.sections;
    memcpy(noisy->cells, s->cells, (size_t)s->length);
    const int os = tamis__flip(noisy->cells, noisy->m, noisy->flip_threshold, random);
    if (os != 0) {
        tamis_close(t);
        tamis__fail(why, TAMIS_EIO,
                    "the system provides no random numbers, which a release requires");
        if (why != NULL && os > 0) why->os = os;
        return TAMIS_EIO;
    }
    t->hasher = from->hasher;
    tamis__state_keys(t, from->stated);
    set_public_facts(t);
    tamis__choose(t);
    *out = t;
    return TAMIS_OK;
}

tamis_status tamis_release(const tamis *from, double epsilon, tamis **out, tamis_error *why)
{
    return tamis__release(from, epsilon, &tamis__system_random, out, why);
}

/* --- Evidence about a key --------------------------------------------------------------------- */

/* Returns the probability that a key is a member, by Bayes' rule. `in` and `out` are the
 * probabilities of the observed bit for a member and for a non-member. */
static double posterior(double prior, double in, double out)
{
    return prior * in / (prior * in + (1 - prior) * out);
}

static tamis_status check_question(const tamis *t, double prior, tamis_error *why)
{
    if ((t->kind->traits & TAMIS__NOISY) == 0)
        return tamis__unsupported(why, TAMIS_PRIVATE,
                                  "%s filters answer no or maybe, not with a probability; "
                                  "tamis_info reports their rate",
                                  t->kind->name);
    if (!(prior > 0 && prior < 1))
        return tamis__fail(why, TAMIS_EINVAL, "the prior must be above 0 and below 1");
    return TAMIS_OK;
}

/* Returns the probability that noise or one of n items sets the bit of a non-member. */
static double set_by_others(double cells, double n, double p)
{
    const struct occupancy o = {1, cells, 1, 0};
    const double share = n < INFINITY ? tamis__occupied(&o, n) / cells : 1;
    return fmin(p + (1 - 2 * p) * share, 1 - p);
}

/* The rule is exact, except that the number of items is estimated. The more items there are, the
 * less an answer says, so the bounds of their confidence interval give the bounds of the
 * probabilities. */
static void release_weigh(const tamis *t, double prior, tamis_evidence *out)
{
    struct gauge g = {0};
    t->kind->gauge(&t->body, NULL, TAMIS__Z99, &g);
    /* By chance, the share of set bits may be less than the noise alone sets on average. No answer
     * may count for more than epsilon. */
    const double p = g.miss_rate, cells = (double)g.cells;
    const double set = fmin(fmax(g.rate, p), 1 - p);
    const double few = fmin(set, set_by_others(cells, g.items.low, p)),
                 many = fmax(set, set_by_others(cells, g.items.high, p));
    out->yes = posterior(prior, 1 - p, set);
    out->yes_low = posterior(prior, 1 - p, many);
    out->yes_high = posterior(prior, 1 - p, few);
    out->no = posterior(prior, p, 1 - set);
    out->no_low = posterior(prior, p, 1 - few);
    out->no_high = posterior(prior, p, 1 - many);
}

tamis_status tamis_evidence_of(const tamis *t, double prior, tamis_evidence *out, tamis_error *why)
{
    tamis_evidence e;
    tamis_status status = tamis__check_struct(out, "tamis_evidence", why);
    if (status == TAMIS_OK) status = check_question(t, prior, why);
    if (status != TAMIS_OK) return status;
    release_weigh(t, prior, &e);
    tamis__give_struct(out, &e, sizeof e);
    return TAMIS_OK;
}

static tamis_status release_answer(const tamis *t, const struct keys *in, double prior, double *out,
                                   tamis_error *why)
{
    tamis_evidence e;
    tamis_status status = check_question(t, prior, why);
    if (status != TAMIS_OK) return status;
    if (in->bytes != NULL && !t->hasher.usable)
        return tamis__refuse(why,
                             t->hasher.id == TAMIS_CALLER_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY);
    if (in->bytes != NULL) status = tamis__check_lengths(t, in->bytes, in->n, why);
    if (status != TAMIS_OK) return status;
    release_weigh(t, prior, &e);
    for (size_t at = 0; at < in->n; at += TAMIS__MOST_BATCH) {
        tamis_hash room[TAMIS__MOST_BATCH];
        uint8_t bits[TAMIS__MOST_BATCH / 8];
        const size_t rest = in->n - at, n = rest < TAMIS__MOST_BATCH ? rest : TAMIS__MOST_BATCH;
        const struct batch b = {.hashes = tamis__hash_group(t, in, at, n, room), .n = n};
        t->kind->query(&t->body, &b, bits);
        for (size_t i = 0; i < n; i++) out[at + i] = tamis__bit(bits, i) ? e.yes : e.no;
    }
    return TAMIS_OK;
}

tamis_status tamis_probability_hashes(const tamis *t, const tamis_hash *h, size_t n, double prior,
                                      double *out, tamis_error *why)
{
    const struct keys in = {.hashes = h, .n = n};
    return release_answer(t, &in, prior, out, why);
}

tamis_status tamis_probability(const tamis *t, const void *key, size_t len, double prior,
                               double *out, tamis_error *why)
{
    const tamis_bytes one = {key, len};
    const struct keys in = {.bytes = &one, .n = 1};
    return release_answer(t, &in, prior, out, why);
}
