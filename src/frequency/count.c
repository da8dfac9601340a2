/* Counts and weights: the verbs. A sketch returns what its counters contain; this file turns it
 * into an interval. */
#include "../core/bulk.h"
#include "../core/column.h"
#include "../core/encoding.h"
#include "../core/error.h"
#include "../core/generations.h"
#include "../core/memory.h"
#include "single_counts.h"

#include <tamis/count.h>

#define CONFIDENCE 0.99

static bool two_sided(const tamis *t)
{
    return tamis__sketch(t)->two_sided;
}

static bool conservative(const tamis *t)
{
    return tamis__sketch(t)->conservative != NULL && tamis__sketch(t)->conservative(&t->body);
}

bool tamis__takes_away(const tamis *t)
{
    return t->kind->remove != NULL && !conservative(t);
}

tamis_status tamis__cannot_take_away(const tamis *t, tamis_error *why)
{
    if (t->kind->rotate != NULL)
        return tamis__unsupported(why, TAMIS_SIGNED_TALLY,
                                  "nothing can be subtracted from a window, "
                                  "which forgets by itself");
    return tamis__unsupported(why, TAMIS_SIGNED_TALLY,
                              "this %s has conservative updates, so nothing can be subtracted",
                              t->kind->name);
}

/* --- Adding ----------------------------------------------------------------------------------- */

static tamis_status explain(const tamis *t, tamis_status s, tamis_error *why)
{
    if (s == TAMIS_EUNSUPPORTED) return tamis__cannot_take_away(t, why); /* a negative weight */
    return tamis__refuse(why, s);
}

static tamis_status count_may_add(const tamis *t, const struct keys *in, tamis_error *why)
{
    if (tamis__sketch(t) == NULL)
        return tamis__unsupported(why, TAMIS_TALLY, "%s %s do not support weights", t->kind->name,
                                  tamis__plural(&t->body));
    if (tamis__are_hashes(in) && tamis__keeps_items(t))
        return tamis__unsupported(why, TAMIS_TALLY, "a %s needs the items themselves, not hashes",
                                  t->kind->name);
    const tamis_status may = !tamis__are_hashes(in) ? tamis__may_change_keys(t)
                             : t->read_only         ? TAMIS_ESEALED
                                                    : TAMIS_OK;
    return tamis__refuse(why, may);
}

/* Adds the keys before the first of a wrong length, which is then the reason of the failure. */
static tamis_status count_add_right(tamis *t, const struct keys *in, size_t *added,
                                    tamis_error *why)
{
    struct keys right = *in;
    if (in->bytes != NULL) right.n = tamis__right_keys(t, in->bytes, in->n);
    const tamis_status s =
        in->column != NULL ? tamis__add_column(t, in->column, in->weights, in->counts, NULL, added)
                           : tamis__bulk_add(t, &right, NULL, added);
    if (s == TAMIS_OK && right.n < in->n)
        return tamis__check_length(t, in->bytes[right.n].len, why);
    return explain(t, s, why);
}

/* An error must not look like a count, so keys that were not added get "or more". */
static tamis_status count_add_all(tamis *t, const struct keys *in, size_t *done, tamis_error *why)
{
    size_t added = 0;
    tamis_status s = count_may_add(t, in, why);
    if (s == TAMIS_OK) {
        s = count_add_right(t, in, &added, why);
        if (in->hashes != NULL) tamis__watch_hashes(t, in->hashes, added);
    }
    if (done != NULL) *done = added;
    for (size_t i = added; in->counts != NULL && i < in->n; i++) in->counts[i] = INT64_MAX;
    return s;
}

tamis_status tamis_add_weight_many(tamis *t, const tamis_bytes *keys, const int64_t *weights,
                                   size_t n, size_t *done, tamis_error *why)
{
    const struct keys in = {.bytes = keys, .weights = weights, .n = n};
    return count_add_all(t, &in, done, why);
}

tamis_status tamis_add_weight_hashes(tamis *t, const tamis_hash *h, const int64_t *weights,
                                     size_t n, size_t *done, tamis_error *why)
{
    const struct keys in = {.hashes = h, .weights = weights, .n = n};
    return count_add_all(t, &in, done, why);
}

tamis_status tamis_add_weight_hash64(tamis *t, const uint64_t *h, const int64_t *weights, size_t n,
                                     size_t *done, tamis_error *why)
{
    const struct keys in = {.words = h, .weights = weights, .n = n};
    return count_add_all(t, &in, done, why);
}

tamis_status tamis_add_weight_column(tamis *t, const tamis_column *c, const int64_t *weights,
                                     size_t *done, tamis_error *why)
{
    return tamis_add_counted_column(t, c, weights, NULL, done, why);
}

tamis_status tamis_add_counted_many(tamis *t, const tamis_bytes *keys, const int64_t *weights,
                                    size_t n, int64_t *counts, size_t *done, tamis_error *why)
{
    const struct keys in = {.bytes = keys, .weights = weights, .counts = counts, .n = n};
    return count_add_all(t, &in, done, why);
}

tamis_status tamis_add_counted_hashes(tamis *t, const tamis_hash *h, const int64_t *weights,
                                      size_t n, int64_t *counts, size_t *done, tamis_error *why)
{
    const struct keys in = {.hashes = h, .weights = weights, .counts = counts, .n = n};
    return count_add_all(t, &in, done, why);
}

tamis_status tamis_add_counted_hash64(tamis *t, const uint64_t *h, const int64_t *weights, size_t n,
                                      int64_t *counts, size_t *done, tamis_error *why)
{
    const struct keys in = {.words = h, .weights = weights, .counts = counts, .n = n};
    return count_add_all(t, &in, done, why);
}

tamis_status tamis_add_counted_column(tamis *t, const tamis_column *given, const int64_t *weights,
                                      int64_t *counts, size_t *done, tamis_error *why)
{
    struct column c;
    if (done != NULL) *done = 0;
    const tamis_status s = tamis__column_open(t, given, &c, why);
    if (s != TAMIS_OK) return s;
    const struct keys in = {
        .column = &c, .row = c.first, .weights = weights, .counts = counts, .n = c.rows};
    return count_add_all(t, &in, done, why);
}

/* Not inlined, because the calls that do not come here need no frame. */
TAMIS__APART tamis_status tamis__weigh_any(tamis *t, const void *key, size_t len, int64_t weight,
                                           int64_t *count, tamis_error *why)
{
    const tamis_bytes item = {key, len};
    if (tamis__sketch(t) == NULL || tamis__may_change_keys(t) != TAMIS_OK ||
        tamis__wrong_length(t, len))
        return tamis_add_counted_many(t, &item, &weight, 1, count, NULL, why);
    const tamis_hash h = tamis__hash_key(&t->hasher, key, len);
    const struct batch one = {.hashes = &h,
                              .n = 1,
                              .weights = weight != 1 ? &weight : NULL, /* adds of 1 are faster */
                              .keys = &item,
                              .counts = count};
    size_t done;
    const tamis_status s = t->kind->add(&t->body, &one, NULL, &done);
    if (s == TAMIS_OK)
        tamis__sum_added(t);
    else if (count != NULL)
        *count = INT64_MAX;
    return s == TAMIS_OK ? s : explain(t, s, why);
}

tamis_status tamis_add_counted(tamis *t, const void *key, size_t len, int64_t weight,
                               int64_t *count, tamis_error *why)
{
    const struct sketch_ops *sketch = tamis__sketch(t);
    return sketch != NULL && tamis__adds_by_kind(t)
               ? sketch->weigh(t, key, len, weight, count, why)
               : tamis__weigh_any(t, key, len, weight, count, why);
}

tamis_status tamis_add_weight(tamis *t, const void *key, size_t len, int64_t weight,
                              tamis_error *why)
{
    return tamis_add_counted(t, key, len, weight, NULL, why);
}

/* --- Counting --------------------------------------------------------------------------------- */

/* a + b, limited to INT64_MIN and INT64_MAX. */
static int64_t count_sum(int64_t a, int64_t b)
{
    int64_t s;
    if (!__builtin_add_overflow(a, b, &s)) return s;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

/* The largest value of a counter. */
static int64_t last(const tamis *t)
{
    const unsigned bits = t->body.sections->cell_bits;
    if (bits != 32) return INT64_MAX;
    return two_sided(t) ? INT32_MAX : UINT32_MAX;
}

/* How much of a count may be noise now, at 99 %. */
static int64_t margin(const tamis *t, const struct noise *n)
{
    const uint64_t since = tamis__moved(&t->body) - n->moved;
    const int64_t growth = (n->most_99 >> 6) + 1;
    return count_sum(n->most_99, since < (uint64_t)growth ? (int64_t)since : growth);
}

/* Any count from `least` on is possible, because a saturated counter has missed everything that was
 * taken away. */
static tamis_estimate unknown(int64_t v, int64_t least)
{
    return (tamis_estimate){.estimate = v, .lower = least, .confidence = 1};
}

static tamis_estimate one_sided_interval(const tamis *t, const struct noise *n, int64_t v)
{
    tamis_estimate e = {.estimate = v, .confidence = CONFIDENCE};
    const int64_t known = v < INT64_MAX ? v : last(t), unsure = margin(t, n);
    if (v == INT64_MAX && tamis__takes_away(t)) return unknown(v, 0);
    e.lower = known > unsure ? known - unsure : 0;
    e.below_noise = v <= n->most_999;
    if (e.below_noise) e.estimate = v - tamis__noise_below(n, v);
    return e;
}

static tamis_estimate two_sided_interval(const tamis *t, const struct noise *n, int64_t v)
{
    tamis_estimate e = {.estimate = v, .confidence = CONFIDENCE};
    const int64_t unsure = margin(t, n), end = last(t);
    e.below_noise = v <= n->most_999 && v >= -n->most_999;
    e.lower = v == -INT64_MAX ? INT64_MIN : count_sum(v < INT64_MAX ? v : end, -unsure);
    e.upper = v == INT64_MAX ? INT64_MAX : count_sum(v > -INT64_MAX ? v : -end, unsure);
    return e;
}

/* How much of the count that a key had in the tally, before it got its entry, was noise. The noise
 * was lower then. How much lower follows from the count at which the key got its entry, because
 * that grows along with the noise. Half of it was best for all orders of arrival
 * (docs/ACCURACY.md). */
static int64_t noise_before(const tamis *t, const struct noise *n, int64_t before)
{
    const double now = (double)tamis__sketch(t)->unlisted(&t->body);
    const double share = (double)before < now ? (double)before / now : 1;
    return (int64_t)(share * (double)n->half / 2);
}

/* The interval of a key with an entry. Only the count that it had before can be noise. No quantile
 * of the noise bounds that: a key may have its entry just because it had the most noise of all
 * keys. */
static tamis_estimate listed_interval(const tamis *t, const struct noise *n, int64_t v,
                                      struct known k)
{
    tamis_estimate e = {.lower = k.certain, .confidence = 1};
    const int64_t before = v - k.certain, unsure = margin(t, n);
    const bool fresh = k.likely < v && before <= n->most_999;
    e.estimate = fresh ? k.likely : v - noise_before(t, n, before);
    if (e.estimate < v - unsure) e.estimate = v - unsure; /* the estimate assumes usual noise */
    if (e.estimate < e.lower) e.estimate = e.lower;
    return e;
}

/* A count goes to the shared counters only if no entry has a lower one. Then all entries have at
 * least this count, except those in buckets that chance left half empty. So it is at most the
 * weight of all adds divided by the number of entries. More than twice that cannot be chance
 * (tests/library/test_adversary.c). In a window the floors of all generations add up, and so do
 * their weights. */
static void count_judge(const tamis *t, struct known k, tamis_estimate *e)
{
    e->certain = two_sided(t) ? INT64_MIN : k.certain;
    /* Saturated counters, or a saturated weight, allow no judgement. */
    e->judged = tamis__sketch(t)->listed != NULL && e->upper != INT64_MAX &&
                tamis__extra(t)->weight < INT64_MAX;
    if (!e->judged) return;
    const double entries = (double)t->body.sections[1].m;
    e->suspect = (double)(e->upper - k.certain) > 2 * (double)tamis__extra(t)->weight / entries;
    if (!e->suspect) return;
    e->lower = k.certain; /* the noise was measured with keys that nobody attacks */
    e->confidence = 1;
}

/* For filters that count. It writes field by field: a copy of the struct would load in one piece
 * what was stored in several, and waiting for that took a third of the time of a count. */
static inline void put_unweighed(int64_t v, tamis_estimate *out)
{
    out->estimate = out->upper = v;
    out->lower = out->certain = 0;
    out->confidence = 1;
    out->below_noise = out->judged = out->suspect = false;
}

tamis_estimate tamis__interval(const tamis *t, const struct noise *n, int64_t v, struct known k)
{
    tamis_estimate e = k.saturated     ? unknown(v, INT64_MIN)
                       : k.certain > 0 ? listed_interval(t, n, v, k)
                       : two_sided(t)  ? two_sided_interval(t, n, v)
                                       : one_sided_interval(t, n, v);
    if (k.saturated || !two_sided(t)) e.upper = tamis__upper(v, k.saturated);
    count_judge(t, k, &e);
    return e;
}

/* Check that keys can be counted, and get the noise; *made is as in noise.h. */
static tamis_status count_prepare(const tamis *t, bool keys, const struct noise **n,
                                  struct noise **made, tamis_error *why)
{
    *n = *made = NULL;
    if (tamis__sketch(t) == NULL && t->kind->count == NULL)
        return tamis__counts_distinct(&t->body)
                   ? tamis__unsupported(why, TAMIS_TALLY, "distinct sketches do not count each key")
                   : tamis__unsupported(why, TAMIS_TALLY, "%s filters do not count", t->kind->name);
    if (keys && !t->hasher.usable)
        return tamis__refuse(why,
                             t->hasher.id == TAMIS_CALLER_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY);
    if (tamis__sketch(t) != NULL) *n = tamis__noise(t, made);
    if (tamis__sketch(t) != NULL && *n == NULL)
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to distinguish counts from noise");
    return TAMIS_OK;
}

static void count_batch(const tamis *t, const struct batch *keys, int64_t *out)
{
    (tamis__sketch(t) != NULL ? tamis__sketch(t)->count : t->kind->count)(&t->body, keys, out);
}

struct counting {
    const tamis *t;
    const struct noise *noise;
    tamis_estimate *out;
};

static void count_count_group(void *counting, const struct batch *group, size_t from)
{
    const struct counting *c = counting;
    int64_t values[TAMIS__MOST_BATCH];
    struct known known[TAMIS__MOST_BATCH];
    struct batch b = *group;
    b.known = known;
    memset(known, 0, b.n * sizeof *known);
    count_batch(c->t, &b, values);
    if (tamis__sketch(c->t) == NULL)
        for (size_t i = 0; i < b.n; i++) put_unweighed(values[i], c->out + from + i);
    else
        for (size_t i = 0; i < b.n; i++)
            c->out[from + i] = tamis__interval(c->t, c->noise, values[i], known[i]);
}

static tamis_status count_all(const tamis *t, const struct keys *in, tamis_estimate *out,
                              tamis_error *why)
{
    struct counting c = {.t = t, .out = out};
    struct noise *made;
    tamis_status s = count_prepare(t, !tamis__are_hashes(in), &c.noise, &made, why);
    if (s == TAMIS_OK && in->bytes != NULL) s = tamis__check_lengths(t, in->bytes, in->n, why);
    if (s == TAMIS_OK) tamis__bulk_count(t, in, count_count_group, &c);
    tamis__free(t->body.memory, made);
    return s;
}

tamis_status tamis_count_many(const tamis *t, const tamis_bytes *keys, size_t n,
                              tamis_estimate *out, tamis_error *why)
{
    const struct keys in = {.bytes = keys, .n = n};
    return count_all(t, &in, out, why);
}

tamis_status tamis_count_hashes(const tamis *t, const tamis_hash *h, size_t n, tamis_estimate *out,
                                tamis_error *why)
{
    const struct keys in = {.hashes = h, .n = n};
    return count_all(t, &in, out, why);
}

tamis_status tamis_count_hash64(const tamis *t, const uint64_t *h, size_t n, tamis_estimate *out,
                                tamis_error *why)
{
    const struct keys in = {.words = h, .n = n};
    return count_all(t, &in, out, why);
}

tamis_status tamis_count_column(const tamis *t, const tamis_column *given, tamis_estimate *out,
                                tamis_error *why)
{
    struct column c;
    tamis_status s = tamis__column_open(t, given, &c, why);
    if (s != TAMIS_OK) return s;
    const struct keys in = {.column = &c, .row = c.first, .n = c.rows};
    s = count_all(t, &in, out, why);
    if (s != TAMIS_OK || c.validity == NULL) return s;
    for (size_t i = 0; i < c.rows; i++)
        if (!tamis__column_valid(&c, c.first + i)) out[i] = (tamis_estimate){.confidence = 1};
    return TAMIS_OK;
}

tamis_status tamis_count(const tamis *t, const void *key, size_t len, tamis_estimate *out,
                         tamis_error *why)
{
    const struct noise *noise;
    struct noise *made;
    tamis_status s = count_prepare(t, true, &noise, &made, why);
    if (s != TAMIS_OK) return s;
    s = tamis__check_length(t, len, why);
    if (s != TAMIS_OK) {
        tamis__free(t->body.memory, made);
        return s;
    }
    const tamis_hash h = tamis__hash_key(&t->hasher, key, len);
    int64_t v;
    struct known known = {0};
    const struct batch one = {.hashes = &h, .n = 1, .known = &known};
    count_batch(t, &one, &v);
    if (tamis__sketch(t) != NULL)
        *out = tamis__interval(t, noise, v, known);
    else
        put_unweighed(v, out);
    tamis__free(t->body.memory, made);
    return TAMIS_OK;
}

/* --- Counting on the hot path ----------------------------------------------------------------- */

/* Only two-sided sketches need `known`, which has room for as many as there are keys. */
static inline void upper_of_batch(const tamis *t, struct batch *keys, struct known *known,
                                  int64_t *out)
{
    const bool saturates = tamis__sketch(t) != NULL && two_sided(t);
    if (saturates) {
        keys->known = known;
        memset(known, 0, keys->n * sizeof *known);
    }
    count_batch(t, keys, out);
    for (size_t i = 0; i < keys->n && saturates; i++)
        out[i] = tamis__upper(out[i], known[i].saturated);
}

struct upper_bounds {
    const tamis *t;
    int64_t *out;
};

static void upper_of_group(void *bounds, const struct batch *group, size_t from)
{
    const struct upper_bounds *b = bounds;
    struct known known[TAMIS__MOST_BATCH];
    struct batch keys = *group;
    upper_of_batch(b->t, &keys, known, b->out + from);
}

static bool can_count(const tamis *t, bool keys)
{
    return (tamis__sketch(t) != NULL || t->kind->count != NULL) && (!keys || t->hasher.usable);
}

static void upper_of_all(const tamis *t, const struct keys *in, int64_t *out)
{
    struct upper_bounds b = {t, out};
    if (can_count(t, !tamis__are_hashes(in)))
        tamis__bulk_count(t, in, upper_of_group, &b);
    else
        for (size_t i = 0; i < in->n; i++) out[i] = INT64_MAX;
}

/* Keys of a wrong length are rare, and get "or more". */
void tamis_upper_many(const tamis *t, const tamis_bytes *keys, size_t n, int64_t *out)
{
    for (size_t at = 0; at < n;) {
        const size_t right = tamis__right_keys(t, keys + at, n - at);
        const struct keys in = {.bytes = keys + at, .n = right};
        upper_of_all(t, &in, out + at);
        at += right;
        if (at < n) out[at++] = INT64_MAX;
    }
}

void tamis_upper_hashes(const tamis *t, const tamis_hash *h, size_t n, int64_t *out)
{
    const struct keys in = {.hashes = h, .n = n};
    upper_of_all(t, &in, out);
}

void tamis_upper_hash64(const tamis *t, const uint64_t *h, size_t n, int64_t *out)
{
    const struct keys in = {.words = h, .n = n};
    upper_of_all(t, &in, out);
}

tamis_status tamis_upper_column(const tamis *t, const tamis_column *given, int64_t *out,
                                tamis_error *why)
{
    struct column c;
    const tamis_status s = tamis__column_open(t, given, &c, why);
    if (s != TAMIS_OK) return s;
    const struct keys in = {.column = &c, .row = c.first, .n = c.rows};
    upper_of_all(t, &in, out);
    for (size_t i = 0; c.validity != NULL && i < c.rows; i++)
        if (!tamis__column_valid(&c, c.first + i)) out[i] = 0;
    return TAMIS_OK;
}

static TAMIS__APART int64_t upper_any(const tamis *t, const void *key, size_t len)
{
    if (!can_count(t, true) || tamis__wrong_length(t, len)) return INT64_MAX;
    const tamis_hash h = tamis__hash_key(&t->hasher, key, len);
    struct batch one = {.hashes = &h, .n = 1};
    struct known known;
    int64_t v;
    upper_of_batch(t, &one, &known, &v);
    return v;
}

int64_t tamis_upper(const tamis *t, const void *key, size_t len)
{
    const struct sketch_ops *sketch = tamis__sketch(t);
    return sketch != NULL && tamis__asks_by_kind(t) ? sketch->upper(t, key, len)
                                                    : upper_any(t, key, len);
}

/* --- Looking inside --------------------------------------------------------------------------- */

void tamis__sketch_facts(const tamis *t, tamis_facts *out)
{
    out->conservative = conservative(t);
    out->weight = tamis__weight(t);
    out->items = out->weight > 0 ? (uint64_t)out->weight : 0;
    out->error = tamis__extra(t)->planned_error < 1 ? tamis__extra(t)->planned_error : 0;
    if (tamis__keeps_items(t)) out->entries = tamis__sketch(t)->slots(&t->body);
    if (t->kind->rotate == NULL) return;
    out->inner_kind = tamis__inner(&t->body)->id;
    out->generations = tamis__generations(&t->body);
}

tamis_status tamis__noise_facts(const tamis *t, tamis_facts *out)
{
    struct noise *made;
    const struct noise *n = tamis__noise(t, &made);
    if (n == NULL) return TAMIS_ENOMEM;
    out->noise_median = n->half;
    out->noise_99 = n->most_99;
    out->noise_999 = n->most_999;
    out->bits_per_item = out->bound_bits = out->bound_ratio = 0;
    out->bound = TAMIS_BOUND_NONE;
    if (tamis__keeps_items(t)) tamis__list_facts(t, out);
    tamis__free(t->body.memory, made);
    return TAMIS_OK;
}
