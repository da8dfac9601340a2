/* What count-sketch and signed-tally share: signed counters that stay saturated once they are, the
 * median of a key's counters, and the query and removal of a key. */
#ifndef TAMIS_SIGNED_COUNTERS_H
#define TAMIS_SIGNED_COUNTERS_H

#include "../core/atomics.h"
#include "../core/bulk.h"
#include "../core/kind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* a + b, limited to -most and most. If the counter a is saturated, it stays there. */
static inline int64_t tamis__add_signed(int64_t a, int64_t b, int64_t most)
{
    int64_t sum;
    if (a == most || a == -most) return a;
    if (__builtin_add_overflow(a, b, &sum)) sum = b > 0 ? INT64_MAX : -INT64_MAX;
    return sum > most ? most : sum < -most ? -most : sum;
}

/* Adds a weight to the totals of a body that other threads use. */
static inline void tamis__weigh_shared(struct body *b, int64_t w)
{
    int64_t *total = &b->sections->weight;
    int64_t was = __atomic_load_n(total, __ATOMIC_RELAXED);
    const int64_t size = w >= 0 ? w : w > -INT64_MAX ? -w : INT64_MAX;
    tamis__add_shared(&b->extra->moved, (uint64_t)size, TAMIS__MOST_WEIGHT);
    while (!__atomic_compare_exchange_n(total, &was, tamis__add_signed(was, w, INT64_MAX), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* tamis__add_signed for two counters, where b may be saturated as well. */
static inline int64_t tamis__merge_signed(int64_t a, int64_t b, int64_t most)
{
    const int64_t a_saturated = a == most || a == -most, b_saturated = b == most || b == -most;
    return b_saturated && !a_saturated ? b : tamis__add_signed(a, b, most);
}

static inline int64_t tamis__negative(int64_t w)
{
    return w > -INT64_MAX ? -w : INT64_MAX;
}

/* v, or -v if `minus`, without a branch: the signs of keys are as good as random. */
static inline int64_t tamis__with_sign(int64_t v, bool minus)
{
    const int64_t mask = -(int64_t)minus;
    return (v ^ mask) - mask;
}

static inline void tamis__order(int64_t *a, int64_t *b)
{
    const int64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

static inline int64_t tamis__median_of_5(int64_t *v)
{
    tamis__order(&v[0], &v[1]);
    tamis__order(&v[3], &v[4]);
    tamis__order(&v[0], &v[3]); /* v[0] and v[4] are now the least and the greatest of four */
    tamis__order(&v[1], &v[4]);
    tamis__order(&v[1], &v[2]);
    tamis__order(&v[2], &v[3]);
    return v[1] > v[2] ? v[1] : v[2];
}

/* The same as tamis__any_saturated for the five that tamis__median_of_5 has ordered: the least is
 * the first or the second, and the greatest is the fourth or the fifth. */
static inline bool tamis__ends_of_5(const int64_t *v, int64_t most)
{
    return ((v[0] == -most) | (v[1] == -most) | (v[3] == most) | (v[4] == most)) != 0;
}

static inline bool tamis__any_saturated(const int64_t *v, uint32_t n, int64_t most)
{
    bool saturated = false;
    for (uint32_t i = 0; i < n; i++) saturated |= v[i] == most || v[i] == -most;
    return saturated;
}

/* `query` of struct kind: "maybe" for every key, because weights may have cancelled out. */
static inline void tamis__query_maybe(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    (void)b;
    tamis__all_maybe(bits, keys->n);
}

/* `remove` of struct kind, given the kind's `add`: it adds the key with weight -1. */
static inline tamis_status tamis__take_one(struct body *b, tamis_hash h,
                                           tamis_status (*add)(struct body *, const struct batch *,
                                                               uint8_t *, size_t *))
{
    const int64_t one = -1;
    const struct batch key = {.hashes = &h, .n = 1, .weights = &one};
    size_t done;
    return add(b, &key, NULL, &done);
}

#endif
