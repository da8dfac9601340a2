/* tamis_distinct, for every kind whose cells show a number of distinct keys. */
#include "../core/error.h"
#include "../core/handle.h"
#include "../core/sized.h"
#include "../core/snapshot.h"
#include "distinct.h"

#include <math.h>
#include <tamis/distinct.h>

tamis_status tamis_distinct(const tamis *t, tamis_cardinality *out, tamis_error *why)
{
    struct gauge g;
    tamis_status s = tamis__check_struct(out, "tamis_cardinality", why);
    if (s != TAMIS_OK) return s;
    const bool distinct = tamis__counts_distinct(&t->body);
    const bool shows = (t->kind->traits & (TAMIS__COMPARES | TAMIS__GROWS)) != 0;
    if (!distinct && (!shows || t->kind->sealing != NULL))
        return tamis__unsupported(why, TAMIS_DISTINCT,
                                  "the cells of %s do not show how many distinct keys there are",
                                  t->kind->name);
    tamis *made = NULL;
    s = tamis__still(t, &made, why);
    if (s != TAMIS_OK) return s;
    tamis__gauge(made != NULL ? made : t, NULL, TAMIS__Z99, &g);
    tamis_close(made);
    tamis_cardinality r = {.value = g.items.value,
                           .low = g.items.low,
                           .high = g.items.high,
                           .exact = g.items.low == g.items.high};
    if (!(r.high < INFINITY)) r.value = INFINITY; /* a full filter shows only a lower bound */
    if (distinct && !r.exact) r.error = tamis__distinct_error((double)t->body.sections->m);
    tamis__give_struct(out, &r, sizeof r);
    return TAMIS_OK;
}
