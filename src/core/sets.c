/* The functions on whole sets: merge, convert, compare. */
#include "../frequency/noise.h"
#include "../image/image.h"
#include "bits.h"
#include "bulk.h"
#include "error.h"
#include "locks.h"
#include "single.h"
#include "sized.h"

#include <tamis/inspect.h>

static tamis_status check_alike(const tamis *a, const tamis *b, tamis_error *why)
{
    if (a == b) return tamis__fail(why, TAMIS_EINVAL, "the two filters are the same one");
    const struct kind *made_of_a = tamis__inner(&a->body), *made_of_b = tamis__inner(&b->body);
    if (a->kind == b->kind && made_of_a != made_of_b) /* windows, pairs */
        return tamis__fail(why, TAMIS_EMISMATCH, "one is made of %s, the other of %s",
                           made_of_a->name, made_of_b->name);
    if (a->kind != b->kind)
        return tamis__fail(why, TAMIS_EMISMATCH, "one is %s, the other %s", a->kind->name,
                           b->kind->name);
    if (a->hasher.id != b->hasher.id)
        return tamis__fail(why, TAMIS_EMISMATCH, "they use different hash functions");
    if (!tamis__hasher_equal(&a->hasher, &b->hasher))
        return tamis__fail(why, TAMIS_EMISMATCH, "they differ in their %s",
                           a->hasher.id == TAMIS_SIPHASH ? "secret key" : "seed");
    const tamis_status s = tamis__check_encodings(a, b, why);
    if (s != TAMIS_OK) return s;
    if (a->body.count != b->body.count)
        return tamis__fail(why, TAMIS_EMISMATCH, "they differ in their number of %s",
                           a->kind->rotate != NULL ? "generations" : "sections");
    if (tamis__counts_distinct(&a->body)) return TAMIS_OK;
    for (uint32_t i = 0; i < a->body.count; i++) {
        const struct section *x = &a->body.sections[i], *y = &b->body.sections[i];
        if (x->m != y->m || x->k != y->k || x->variant != y->variant ||
            x->cell_bits != y->cell_bits)
            return tamis__fail(why, TAMIS_EMISMATCH,
                               "they differ in shape: m = %llu, k = %u and m = %llu, k = %u",
                               (unsigned long long)x->m, x->k, (unsigned long long)y->m, y->k);
    }
    return TAMIS_OK;
}

/* The number of items of a union. It is known for multisets, and estimated from the bits for
 * sets. */
struct count {
    uint64_t items;
    double least; /* lower bound */
    bool exact;
};

static struct count count_union(const tamis *a, const tamis *b)
{
    struct count c;
    struct gauge g;
    c.exact = (a->kind->traits & TAMIS__MULTISET) != 0 || tamis__sketch(a) != NULL ||
              tamis__counts_distinct(&a->body);
    if (c.exact) {
        if (!tamis__sum(a->items, b->items, &c.items)) c.items = UINT64_MAX;
        c.least = (double)c.items;
        return c;
    }
    tamis__gauge(a, &b->body, TAMIS__Z99, &g);
    c.items = (uint64_t)(g.items.value + 0.5);
    c.least = g.items.low;
    return c;
}

tamis_status tamis__may_merge(const tamis *into, const tamis *from, tamis_error *why)
{
    if (((into->kind->traits | from->kind->traits) & TAMIS__NOISY) != 0)
        return tamis__unsupported(
            why, TAMIS_BLOOM,
            "private filters cannot be merged, because their noise adds up; merge the filters that "
            "they were released from");
    if (into->kind->merge == NULL)
        return tamis__unsupported(why, TAMIS_BLOCKED, "%s filters cannot be merged",
                                  into->kind->name);
    const tamis_status s = check_alike(into, from, why);
    if (s != TAMIS_OK) return s;
    const uint64_t a = tamis__extra(into)->epoch, b = tamis__extra(from)->epoch;
    if (a != 0 && b != 0 && a != b)
        return tamis__fail(why, TAMIS_EMISMATCH,
                           "the windows are at the epochs %llu and %llu; rotate both to the same "
                           "epoch first",
                           (unsigned long long)a, (unsigned long long)b);
    if (into->read_only) return tamis__fail(why, TAMIS_ESEALED, "the target is read-only");
    return TAMIS_OK;
}

tamis_status tamis_merge(tamis *into, const tamis *from, tamis_error *why)
{
    tamis_status s = tamis__may_merge(into, from, why);
    if (s != TAMIS_OK) return s;
    const struct count c = count_union(into, from);
    if (into->strict && c.least > (double)into->planned_items)
        return tamis__fail(why, TAMIS_EFULL,
                           "the union has about %llu items, more than the strict plan's %llu",
                           (unsigned long long)c.items, (unsigned long long)into->planned_items);
    s = into->kind->merge(&into->body, &from->body);
    if (s != TAMIS_OK) return tamis__refuse(why, s);
    tamis__noise_drop(into);
    tamis__older_drop(into);
    if ((into->kind->traits & TAMIS__SECTION_TOTALS) != 0)
        tamis__sum_totals(into);
    else
        tamis__set_items(into, c.items);
    into->items_estimated = into->items_estimated || from->items_estimated || !c.exact;
    if (tamis__is_suspect(from)) into->watch = TAMIS__SUSPICIOUS;
    if (into->stated == 0) tamis__state_keys(into, from->stated);
    if (tamis__extra(from)->epoch != 0) tamis__extra(into)->epoch = tamis__extra(from)->epoch;
    into->changed = true;
    return TAMIS_OK;
}

tamis_status tamis_convert(const tamis *t, uint32_t kind, tamis **out, tamis_error *why)
{
    struct section shape;
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    if (kind == t->kind->id)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "it is of kind %s already, so there is nothing to convert",
                           t->kind->name);
    const tamis_options same = tamis__same_options(t);
    if (t->kind->plain == NULL || !t->kind->plain(&t->body, &shape, NULL) || shape.kind != kind)
        return tamis__fail(
            why, TAMIS_EUNSUPPORTED, "no %s filter gives the same answers as this %s filter",
            tamis_kind_name(kind) != NULL ? tamis_kind_name(kind) : "such", t->kind->name);
    if (tamis__kind(kind) == NULL) return tamis__no_kind(kind, TAMIS_EUNSUPPORTED, why);
    tamis *plain = tamis__new(tamis__kind(kind), &same, 1, false);
    if (plain == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    plain->body.sections[0] = shape;
    if (!tamis__alloc_cells(plain, true)) {
        tamis_close(plain);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)shape.length);
    }
    t->kind->plain(&t->body, &shape, plain->body.sections->cells);
    plain->hasher = t->hasher;
    plain->planned_items = t->planned_items;
    plain->planned_fpr = t->planned_fpr;
    plain->strict = t->strict;
    tamis__state_keys(plain, t->stated);
    if (tamis__is_suspect(t)) plain->watch = TAMIS__SUSPICIOUS;
    plain->changed = true;
    struct gauge g;
    tamis__gauge(plain, NULL, TAMIS__Z99, &g);
    plain->items = (uint64_t)(g.items.value + 0.5);
    plain->items_estimated = true;
    tamis__choose(plain);
    *out = plain;
    return TAMIS_OK;
}

static double at_least(double v, double least)
{
    return v > least ? v : least;
}

/* |A without B| = |A or B| - |B|, which is at most |A|. */
static void set_difference(const struct estimate *a, const struct estimate *b,
                           const struct estimate *both, double *value, double *low, double *high)
{
    const double most = both->high - b->low;
    *value = at_least(both->value - b->value, 0);
    *low = at_least(both->low - b->high, 0);
    *high = most < a->high ? at_least(most, 0) : a->high;
}

/* A union has at least as many items as either set, and at most as many as both. The estimates of
 * distinct sketches may say otherwise if they differ in precision or if hashes are not uniform. */
static void limit_union(struct estimate *both, const struct estimate *a, const struct estimate *b)
{
    const double most = a->high + b->high;
    both->value = at_least(at_least(both->value, a->value), b->value);
    both->low = at_least(at_least(both->low, a->low), b->low);
    both->high = at_least(both->high, both->value);
    if (both->low > most) both->low = most;
}

tamis_status tamis_compare(const tamis *a, const tamis *b, tamis_similarity *out, tamis_error *why)
{
    tamis_status s = tamis__check_struct(out, "tamis_similarity", why);
    if (s != TAMIS_OK) return s;
    if ((a->kind->traits & TAMIS__COMPARES) == 0 && !tamis__counts_distinct(&a->body))
        return tamis__unsupported(why, TAMIS_BLOCKED, "%s filters cannot be compared",
                                  a->kind->name);
    s = check_alike(a, b, why);
    if (s != TAMIS_OK) return s;
    struct gauge ga, gb, gu;
    /* |A and B| = |A| + |B| - |A or B|. With 99 % confidence, all three intervals hold. */
    tamis__gauge(a, NULL, TAMIS__Z99_OF_3, &ga);
    tamis__gauge(b, NULL, TAMIS__Z99_OF_3, &gb);
    tamis__gauge(a, &b->body, TAMIS__Z99_OF_3, &gu);
    const struct estimate ea = ga.items, eb = gb.items;
    struct estimate eu = gu.items;
    limit_union(&eu, &ea, &eb);
    const double smaller_high = ea.high < eb.high ? ea.high : eb.high;
    const double most = ea.high + eb.high - eu.low;
    tamis_similarity r = {
        .union_items = eu.value,
        .union_low = eu.low,
        .union_high = eu.high,
        .common_items = at_least(ea.value + eb.value - eu.value, 0),
        .common_low = at_least(ea.low + eb.low - eu.high, 0),
        .common_high = most < smaller_high ? at_least(most, 0) : smaller_high,
    };
    set_difference(&ea, &eb, &eu, &r.first_only, &r.first_only_low, &r.first_only_high);
    set_difference(&eb, &ea, &eu, &r.second_only, &r.second_only_low, &r.second_only_high);
    r.jaccard = eu.value > 0 ? r.common_items / eu.value : 0;
    r.jaccard_low = eu.high > 0 ? r.common_low / eu.high : 0;
    r.jaccard_high = eu.low > 0 && r.common_high < eu.low ? r.common_high / eu.low : 1;
    if (eu.value <= 0) r.jaccard_high = 0;
    tamis__give_struct(out, &r, sizeof r);
    return TAMIS_OK;
}
