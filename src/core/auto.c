/* TAMIS_AUTO: the choice between blocked and bloom. */
#include "kind.h"

#include <math.h>

/* blocked is several times faster than bloom. bloom is worth its cache misses only where blocked
 * takes at least a fifth more space: at rates of 10 %, and of 0.01 % and below
 * (docs/ACCURACY.md). */
#define WORTH_THE_SPEED 1.2

/* Bits per item, divided by their lower bound log2(1/fpr), so that plans with unequal rates can be
 * compared. */
static double price(const tamis_plan *p)
{
    return (double)p->bytes / (double)p->items / log2(1 / p->fpr);
}

tamis_status tamis__solve_auto(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    tamis_plan bloom = *p, blocked = *p;
    tamis_promise bloom_promise = *promise;
    const struct kind *a_blocked = tamis__kind(TAMIS_BLOCKED), *a_bloom = tamis__kind(TAMIS_BLOOM);
    /* A plan that only one of them accepts is made for that one, and so is every plan in a build
     * that has only one of them. */
    if (a_blocked == NULL || (a_bloom != NULL && tamis__check_plan(a_blocked, p, NULL) != TAMIS_OK))
        return tamis__solve_as(TAMIS_BLOOM, p, promise, why);
    if (a_bloom == NULL || tamis__check_plan(a_bloom, p, NULL) != TAMIS_OK)
        return tamis__solve_as(TAMIS_BLOCKED, p, promise, why);
    const tamis_status with_blocked = tamis__solve_as(TAMIS_BLOCKED, &blocked, promise, NULL);
    const tamis_status with_bloom =
        tamis__solve_as(TAMIS_BLOOM, &bloom, &bloom_promise, with_blocked == TAMIS_OK ? NULL : why);
    if (with_bloom != TAMIS_OK && with_blocked != TAMIS_OK) return with_bloom;
    if (with_bloom != TAMIS_OK ||
        (with_blocked == TAMIS_OK && price(&blocked) <= WORTH_THE_SPEED * price(&bloom))) {
        *p = blocked;
    } else {
        *p = bloom;
        *promise = bloom_promise;
    }
    return TAMIS_OK;
}
