#include "buckets.h"

static const char *wrong_entry(const struct buckets *b, uint64_t slot)
{
    const struct entry e = slot_get(b, slot);
    const bool textless = tamis__get64(slot_print(b, slot) + 32) >> 63 != 0;
    if (e.print == 0)
        return e.count != 0 || e.error != 0 || e.text != 0 || textless ? "an entry is incomplete"
                                                                       : NULL;
    if (e.count == 0 || (e.error & ~FRESH) >= e.count) return "an entry has an impossible count";
    if (textless != (e.text == 0)) return "the text of an entry is incomplete";
    const struct bucket_pair p =
        tamis__bucket_pair(tamis__bucket_key((tamis_hash){e.print, 0}), b->n);
    const uint64_t one = tamis__bucket_find_in(b, p.first, e.print);
    const uint64_t other = tamis__bucket_find_in(b, p.second, e.print);
    if ((one == slot) == (other == slot) || (one != NO_SLOT && other != NO_SLOT))
        return "an entry is in a wrong bucket, or in two";
    return NULL;
}

const char *tamis__wrong_buckets(const struct buckets *b)
{
    for (uint64_t i = 0; i < b->n; i++) {
        const uint8_t *last = b->bytes + i * BUCKET + BUCKET_LAST;
        for (uint64_t s = i * BUCKET_WAYS; s < (i + 1) * BUCKET_WAYS; s++) {
            /* If a print is twice in a bucket, only the first is found; the second is reported. */
            const char *reason = wrong_entry(b, s);
            if (reason != NULL) return reason;
        }
        if ((tamis__get64(last) == 0) != (tamis__get64(last + 8) == 0) ||
            tamis__get64(last + 8) > TAMIS__MOST_WEIGHT)
            return "a bucket's last key is wrong";
    }
    return NULL;
}
