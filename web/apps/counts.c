/* For the drawings of sketches: counts of keys, and the most frequent ones. Only the module of the
 * site's pages has this. */
#include "../common.h"

#include <string.h>
#include <tamis/count.h>

/* Puts the estimate, its bounds and its confidence into `web_numbers`. */
EXPORT(frequency) int web_frequency(const tamis *t, const void *key, size_t len)
{
    tamis_estimate e;
    const tamis_status s = tamis_count(t, key, len, &e, &web_why);
    if (s != TAMIS_OK) return s;
    const double out[] = {(double)e.estimate, (double)e.lower, (double)e.upper, e.confidence};
    memcpy(web_numbers, out, sizeof out);
    return s;
}

#define MOST 100
static tamis_heavy listed[MOST];

/* Lists the most frequent keys and returns how many there are. */
EXPORT(list) size_t web_list(const tamis *t, size_t n)
{
    return tamis_top(t, listed, n < MOST ? n : MOST);
}

/* Puts the key, as an address and a length, and its count with its bounds into `web_numbers`. */
EXPORT(listed) void web_listed(size_t i)
{
    const tamis_heavy *h = &listed[i];
    const double out[] = {(double)(uintptr_t)h->item.p, (double)h->item.len,
                          (double)h->count.estimate, (double)h->count.lower,
                          (double)h->count.upper};
    memcpy(web_numbers, out, sizeof out);
}
