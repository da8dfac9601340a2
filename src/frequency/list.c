/* Lists of the most frequent items. A sketch provides the items in its slots; this file computes
 * their intervals and sorts them. */
#include "../core/error.h"
#include "../core/memory.h"
#include "noise.h"

#include <tamis/count.h>

/* The order of a list: by estimate, then by bytes, and by hash if not all bytes are kept. */
static bool list_goes_before(const tamis_heavy *a, const tamis_heavy *b)
{
    if (a->count.estimate != b->count.estimate) return a->count.estimate > b->count.estimate;
    if ((a->item.p == NULL) != (b->item.p == NULL)) return a->item.p != NULL;
    const size_t least = a->item.len < b->item.len ? a->item.len : b->item.len;
    const int by = least != 0 ? memcmp(a->item.p, b->item.p, least) : 0;
    if (by != 0) return by < 0;
    if (a->length != b->length) return a->length < b->length;
    return a->hash < b->hash;
}

/* A heap with the last item of the order on top: list[at] moves down to its place. */
static void list_sift(tamis_heavy *list_list, size_t at, size_t n)
{
    const tamis_heavy one = list_list[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && list_goes_before(&list_list[child], &list_list[child + 1])) child++;
        if (!list_goes_before(&one, &list_list[child])) break;
        list_list[at] = list_list[child];
        at = child;
    }
    list_list[at] = one;
}

static void list_put(tamis_heavy *list_list, size_t *held, size_t n, const tamis_heavy *one)
{
    if (*held == n) {
        if (n == 0 || !list_goes_before(one, list_list)) return;
        list_list[0] = *one;
        list_sift(list_list, 0, n);
        return;
    }
    size_t at = (*held)++;
    for (; at > 0 && list_goes_before(&list_list[(at - 1) / 2], one); at = (at - 1) / 2)
        list_list[at] = list_list[(at - 1) / 2];
    list_list[at] = *one;
}

static void list_sort(tamis_heavy *list_list, size_t n)
{
    while (n > 1) {
        const tamis_heavy last = list_list[0];
        list_list[0] = list_list[--n];
        list_list[n] = last;
        list_sift(list_list, 0, n);
    }
}

/* Writes the first n items whose count may be `weight` or more, and returns how many there are. An
 * estimate is never above the count. So an item whose count can at most be below the last estimate
 * of a full list is not looked up. */
static size_t list_list(const tamis *t, const struct noise *noise, int64_t weight, tamis_heavy *out,
                        size_t n)
{
    size_t found = 0, held = 0;
    uint64_t slots = tamis__sketch(t)->slots(&t->body);
    struct listable *some =
        tamis__sketch(t)->listables != NULL ? tamis__sketch(t)->listables(&t->body, &slots) : NULL;
    if (some == NULL) slots = tamis__sketch(t)->slots(&t->body);
    for (uint64_t i = 0; i < slots; i++) {
        struct listed one;
        if (some != NULL && some[i].most < weight) continue;
        if (some != NULL && weight <= 0 && held == n &&
            (n == 0 || some[i].most < out[0].count.estimate)) {
            found++;
            continue;
        }
        if (!tamis__sketch(t)->listed(&t->body, some != NULL ? some[i].slot : i, &one) ||
            one.count < weight)
            continue;
        found++;
        if (n == 0) continue;
        tamis_heavy h = {.item = one.item, .length = one.length, .hash = one.hash};
        h.count = (tamis_estimate){.estimate = one.count,
                                   .lower = one.known.certain,
                                   .upper = one.count,
                                   .confidence = 1,
                                   .certain = one.known.certain};
        if (noise != NULL) h.count = tamis__interval(t, noise, one.count, one.known);
        list_put(out, &held, n, &h);
    }
    tamis__free(t->body.memory, some);
    list_sort(out, held);
    return found;
}

size_t tamis_top(const tamis *t, tamis_heavy *out, size_t n)
{
    struct noise *made = NULL;
    if (!tamis__keeps_items(t)) return 0;
    if (out == NULL) return list_list(t, NULL, 0, NULL, 0);
    const struct noise *noise = tamis__noise(t, &made);
    const size_t found = list_list(t, noise, 0, out, n);
    tamis__free(t->body.memory, made);
    return found < n ? found : n;
}

static int64_t list_floor(const tamis *t)
{
    const int64_t unlisted = tamis__sketch(t)->unlisted(&t->body);
    return unlisted < INT64_MAX ? unlisted + 1 : INT64_MAX;
}

tamis_status tamis_above(const tamis *t, int64_t weight, tamis_heavy *out, size_t n, size_t *found,
                         tamis_error *why)
{
    if (found != NULL) *found = 0;
    if (!tamis__keeps_items(t))
        return tamis__unsupported(
            why, TAMIS_TOP, "kind %s keeps no items, so there is nothing to list", t->kind->name);
    if (tamis__sketch(t)->unlisted(&t->body) == INT64_MAX)
        return tamis__fail(why, TAMIS_EINVAL,
                           "its counters are saturated, so any item may be missing from the list");
    if (weight <= tamis__sketch(t)->unlisted(&t->body))
        return tamis__fail(why, TAMIS_EINVAL,
                           "items that occurred %lld times may be missing from the list; ask for "
                           "%lld or more, or give it more memory",
                           (long long)weight, (long long)list_floor(t));
    struct noise *made;
    const struct noise *noise = tamis__noise(t, &made);
    if (noise == NULL)
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to distinguish counts from noise");
    const size_t all = list_list(t, noise, weight, out, out != NULL ? n : 0);
    if (found != NULL) *found = all;
    tamis__free(t->body.memory, made);
    return TAMIS_OK;
}

void tamis__list_facts(const tamis *t, tamis_facts *out)
{
    out->listed = list_list(t, NULL, 0, NULL, 0);
    out->list_floor = list_floor(t);
}
