/* The noise of a sketch: the counts of keys that were never added. It is where the intervals come
 * from.
 *
 * The count of a key that was never added should be 0, so it is pure error: the weight of other
 * keys in its counters. Hashes are uniform, so any hashes that nobody added represent all such keys
 * (D. Ting, "Count-Min: optimal estimation and tight error bounds using empirical error
 * distributions", 2018). A key that was added has as much weight of others in its counters, or less
 * if updates are conservative. */
#ifndef TAMIS_NOISE_H
#define TAMIS_NOISE_H

#include "../core/handle.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#ifndef TAMIS_LEAN
/* Forget the measured noise. No other thread may use the handle. */
void tamis__noise_drop(tamis *t);

/* The same, unless so little was added since the measurement that the noise has hardly changed. For
 * adds, which are often followed by a count. */
void tamis__noise_age(tamis *t);

/* Before a window rotates this often: update what is kept about its older generations. The noise
 * itself is dropped as well. */
void tamis__noise_rotate(tamis *t, uint64_t times);
/* Forget what is kept about the older generations of a window. */
void tamis__older_drop(tamis *t);

/* --- What the verbs of core leave to count.c --- */

/* Whether weights may be negative, and the reason why not. */
bool tamis__takes_away(const tamis *t);
tamis_status tamis__cannot_take_away(const tamis *t, tamis_error *why);

/* Set the facts that only sketches have: those known without reading the counters, and those for
 * which the counters are read. The latter also resets what a sketch does not have. */
void tamis__sketch_facts(const tamis *t, tamis_facts *out);
tamis_status tamis__noise_facts(const tamis *t, tamis_facts *out);
#else /* there are no sketches */
static inline void tamis__noise_drop(tamis *t)
{
    (void)t;
}
static inline void tamis__noise_age(tamis *t)
{
    (void)t;
}
static inline void tamis__noise_rotate(tamis *t, uint64_t times)
{
    (void)t, (void)times;
}
static inline void tamis__older_drop(tamis *t)
{
    (void)t;
}
static inline bool tamis__takes_away(const tamis *t)
{
    (void)t;
    return false;
}
static inline tamis_status tamis__cannot_take_away(const tamis *t, tamis_error *why)
{
    (void)t, (void)why;
    return TAMIS_EUNSUPPORTED;
}
static inline void tamis__sketch_facts(const tamis *t, tamis_facts *out)
{
    (void)t, (void)out;
}
static inline tamis_status tamis__noise_facts(const tamis *t, tamis_facts *out)
{
    (void)t, (void)out;
    return TAMIS_OK;
}
#endif

/* Quantiles of the counts of keys that were never added; in a two-sided sketch, of their absolute
 * values. */
struct noise {
    int64_t half, most_99, most_999;
    uint64_t moved;       /* struct body.extra->moved at the time */
    uint64_t weight;      /* the absolute weight of the sketch at the time */
    int64_t sorted[1024]; /* every 16th count */
};

/* How many keys that were never added are counted. With so many, the share of keys within the 99 %
 * quantile has a standard deviation of 0.08 percentage points. */
#define TAMIS__SAMPLES 16384u

/* The hash of the next such key. */
#define TAMIS__FIRST_SAMPLE UINT64_C(0x7461a15c6e6f6973)
static inline tamis_hash tamis__next_sample(uint64_t *state)
{
    tamis_hash h;
    h.lo = tamis__remix(*state += UINT64_C(0x9e3779b97f4a7c15));
    h.hi = tamis__remix(*state += UINT64_C(0x9e3779b97f4a7c15));
    return h;
}

/* Counts all of them in a window, whose older generations are counted only the first time. False:
 * not a window of sketches, or its counts have to be added up one by one. */
#ifdef TAMIS__WINDOWS_OF_SKETCHES
bool tamis__sample_window(const tamis *t, int64_t *out);
#else
static inline bool tamis__sample_window(const tamis *t, int64_t *out)
{
    (void)t, (void)out;
    return false;
}
#endif

/* Returns the present noise, or NULL if there is not enough memory. The caller frees *made.
 * Several threads may call it at the same time. */
const struct noise *tamis__noise(const tamis *t, struct noise **made);

/* The interval for the count v of a key. */
tamis_estimate tamis__interval(const tamis *t, const struct noise *n, int64_t v, struct known k);

/* Set the facts about listed items. */
void tamis__list_facts(const tamis *t, tamis_facts *out);

/* The median of the counts that are at most v. */
int64_t tamis__noise_below(const struct noise *n, int64_t v);

#endif
