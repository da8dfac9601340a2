/* What a sketch says of keys that never came: the source of its error bars.
 *
 * A key that never came should count 0, so its count is pure error: what its counters have of other
 * keys. Hashes are uniform, so any hashes that nobody added stand for all such keys (D. Ting,
 * "Count-Min: optimal estimation and tight error bounds using empirical error distributions",
 * 2018), and a key that did come sees as much of the others, or less where updates are
 * conservative. */
#ifndef TAMIS_NOISE_H
#define TAMIS_NOISE_H

#include "../core/handle.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#ifndef TAMIS_LEAN
/* Nothing is known any more. The handle must be for us alone. */
void tamis__noise_drop(tamis *t);

/* The same, unless so little has been added since that the noise is much the same; for adds, after
 * which a count is often wanted. */
void tamis__noise_age(tamis *t);

/* --- What the verbs of core leave to count.c --- */

/* Whether weights may be negative here, and the reason why not. */
bool tamis__takes_away(const tamis *t);
tamis_status tamis__cannot_take_away(const tamis *t, tamis_error *why);

/* The part of tamis_info that is about weights, and the undoing of what is not. */
tamis_status tamis__weight_facts(const tamis *t, tamis_facts *out);
#else /* no kind that weighs */
static inline void tamis__noise_drop(tamis *t)
{
    (void)t;
}
static inline void tamis__noise_age(tamis *t)
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
static inline tamis_status tamis__weight_facts(const tamis *t, tamis_facts *out)
{
    (void)t, (void)out;
    return TAMIS_OK;
}
#endif

/* The quantiles of what keys that never came count, or how far from 0 that is where it may be
 * either side. */
struct noise {
    int64_t half, most_99, most_999;
    uint64_t moved;       /* struct body.moved, then */
    uint64_t weight;      /* of all adds, then */
    int64_t sorted[1024]; /* every 16th of them */
};

/* What keys see now; *made is to be freed when it is not NULL. NULL: no memory. Several threads may
 * ask at once. */
const struct noise *tamis__noise(const tamis *t, struct noise **made);

/* The interval for a count of a kind that weighs. */
tamis_estimate tamis__interval(const tamis *t, const struct noise *n, int64_t v, struct known k);

/* The part of tamis_info that is about items that are listed. */
void tamis__list_facts(const tamis *t, tamis_facts *out);

/* The median of those that are at most v. */
int64_t tamis__noise_below(const struct noise *n, int64_t v);

#endif
