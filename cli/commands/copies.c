/* add --grow for the kinds that hold a line as often as it was added. Each line of the list stands
 * for one copy. Two things must hold, whatever the order of the list:
 *
 *   - No copy is lost, or a later remove would give a wrong "no". A line gets as many copies as the
 *     list has, but at most as many as the old filter shows. What it shows is never too low, but it
 *     is too high where other lines share all counters, or the fingerprint. So a removed copy stays
 *     removed, except with the probability of a false positive.
 *   - If the list lacks a copy, that is noticed. The copies that are kept must explain all of the
 *     old filter. In a counting filter they must raise each counter as high as it is there. In a
 *     cuckoo filter they must remove each fingerprint. Keys of one class (cuckoo.c) have the same
 *     places and fingerprint, so it does not matter which of their copies are removed.
 *
 * A saturated counter does not know its count. If all counters of a line are saturated, it is never
 * removed from the old filter. It gets enough copies to be saturated in the new one as well. Other
 * lines have a counter that is exact, so a lacking copy shows there, and a saturated counter only
 * has to be above 0. */
#include "copies.h"

#include <tamis/count.h>

/* So few that the estimates fit on the stack. */
enum { PART = 64 };

static tamis_status add_again(struct copies *c, tamis_hash h, uint64_t times)
{
    tamis_hash same[PART];
    tamis_status s = TAMIS_OK;
    for (size_t i = 0; i < PART; i++) same[i] = h;
    while (times > 0 && s == TAMIS_OK) {
        const size_t n = times < PART ? (size_t)times : PART;
        s = tamis_add_hashes(c->fresh, same, n, NULL, NULL);
        if (s == TAMIS_OK) s = tamis_add_hashes(c->trial, same, n, NULL, NULL);
        times -= n;
    }
    return s;
}

static tamis_status take_part(struct copies *c, tamis_hash *hashes, size_t n)
{
    tamis_estimate shown[PART];
    size_t kept = 0;
    tamis_status s = tamis_count_hashes(c->old, hashes, n, shown, NULL);
    for (size_t i = 0; i < n && s == TAMIS_OK; i++) {
        const tamis_hash h = hashes[i];
        uint64_t *seen = hash_counts_of(&c->seen, h);
        if (seen == NULL) return TAMIS_ENOMEM;
        const uint64_t before = (*seen)++;
        const bool saturated = shown[i].upper >= c->most;
        if (saturated && before == 0) s = add_again(c, h, (uint64_t)c->most);
        if (!saturated && before < (uint64_t)shown[i].upper) hashes[kept++] = h;
    }
    if (s == TAMIS_OK) s = tamis_add_hashes(c->fresh, hashes, kept, NULL, NULL);
    if (s != TAMIS_OK) return s;
    return c->kind == TAMIS_CUCKOO ? tamis_remove_hashes(c->trial, hashes, kept, NULL, NULL)
                                   : tamis_add_hashes(c->trial, hashes, kept, NULL, NULL);
}

tamis_status copies_take(struct copies *c, tamis_hash *hashes, size_t n)
{
    tamis_status s = TAMIS_OK;
    for (size_t at = 0; at < n && s == TAMIS_OK; at += PART)
        s = take_part(c, hashes + at, n - at < PART ? n - at : PART);
    return s;
}

double copies_lacking(const struct copies *c, const tamis_facts *old, const tamis_facts *trial)
{
    uint64_t counts = 0; /* each copy is counted k times */
    if (c->kind == TAMIS_CUCKOO) return (double)trial->items;
    for (uint64_t i = 0; i < old->m; i++) {
        const uint64_t was = tamis_cell(c->old, i), is = tamis_cell(c->trial, i);
        if (was < (uint64_t)c->most)
            counts += was > is ? was - is : 0;
        else
            counts += is == 0;
    }
    return (double)counts / old->k;
}

void copies_free(struct copies *c)
{
    hash_counts_free(&c->seen);
}
