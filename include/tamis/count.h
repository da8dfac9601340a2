/* Sketches: how often did each key occur, and which keys occurred most often?
 *
 * A sketch keeps a count for every key that was ever added, in memory that does not grow.
 *
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TALLY, .bytes = 1 << 20};
 *     tamis *t;
 *     if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) ...
 *     tamis_add_weight(t, "example.org", 11, 1500, NULL);              // bytes sent, say
 *     tamis_estimate e;
 *     if (tamis_count(t, "example.org", 11, &e, NULL) == TAMIS_OK) ... // e.lower ... e.upper
 *
 * Keys share counters, so a count is an estimate with a confidence interval. tamis_add adds 1.
 * tamis_may_contain returns whether the count is not 0; for count-sketch and signed-tally, whose
 * counts can be too low, it always returns true. All other calls of tamis.h work on sketches as
 * well, unless they state otherwise, and the rules at the top of tamis.h hold here.
 *
 *   kind          error           negative weights   description
 *   tally         never too low   no                 counters of one byte that grow where needed;
 *                                                    7 to 60 times more accurate than count-min
 *                                                    in the same memory
 *   top           never too low   no                 a tally that also keeps the most frequent
 *                                                    items, with counters of their own
 *   signed-tally  either way      yes                a tally for weights of either sign; 2 to 3
 *                                                    times more accurate than count-sketch
 *   count-min     never too low   yes, unless        k rows of m counters; a count is the smallest
 *                                 conservative       of a key's k counters
 *   count-sketch  either way      yes                k rows of m signed counters; a count is the
 *                                                    median of a key's k counters
 *   window        as inner kind   no                 counts in the last generations: see below
 *
 * tamis_count also works on counting filters, up to the maximum of their counters, on cuckoo
 * filters, up to 2^32 copies of a key, and on growing filters with TAMIS_REMOVABLE, up to 6. For
 * all of them, `lower` is 0.
 *
 * Plans. Give bytes or m, or error for count-min and count-sketch; the table in tamis.h has all
 * fields. For count-min, error and delta mean: with a probability of at most delta, a count is too
 * high by more than error times the weight of all adds. This takes m = 2.718 / error counters in
 * each of k = ln(1 / delta) rows. For count-sketch, the error goes either way, and is relative to
 * the square root of the sum of all squared counts. Actual errors are far smaller than these
 * bounds, and tamis_estimate reports them. For tally, signed-tally and top no such formula exists,
 * because their error depends on the stream. With TAMIS_CONSERVATIVE, an add to a count-min raises
 * only those counters that are too low, which halves the error.
 *
 * Windows. "How often in the last hour" is a window with inner_kind TAMIS_TALLY or TAMIS_TOP and 13
 * generations, which you rotate every 5 minutes (tamis_rotate, or tamis_rotate_to, whose epoch
 * survives a restart). It covers the last 60 to 65 minutes. Counts and lists are those of all
 * generations together. A window of sketches never rotates by itself.
 *
 * Merging. The result has the counts of both streams together. For count-min and count-sketch it is
 * bit for bit what one sketch of both streams would be, unless counters are saturated. For tally,
 * signed-tally, top, conservative count-min and windows of these it is not. Counts that are never
 * too low stay so. */
/* clang-format off */
#ifndef TAMIS_COUNT_H
#define TAMIS_COUNT_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Counting --------------------------------------------------------------------------------- */

typedef struct tamis_estimate {
    int64_t estimate;      /* the best guess, within [lower, upper]                               */
    int64_t lower, upper;  /* confidence interval                                                 */
    double confidence;     /* probability that the true count is in [lower, upper], for keys that
                            * nobody chose against the hash: 0.99, or 1 if these are certain      */
    int64_t certain;       /* guaranteed minimum, even with adversarial keys: 0 unless the key has
                            * an entry in a top; INT64_MIN if counts can be too low               */
    bool below_noise;      /* so low that one in a thousand keys that never occurred reaches it   */
    bool judged;           /* `suspect` is known: only for a top whose counters are not saturated */
    bool suspect;          /* an attacker seems to have inflated the count: see "Poisoned counts" */
    uint8_t reserved_bytes[5];
    uint64_t reserved[2];
} tamis_estimate;
/* Upper bound: never below the true count, except for count-sketch and signed-tally, which can err
 * either way. INT64_MAX means "or more": the counters are saturated.
 *
 * Lower bound: the count in the sketch minus the noise, which is the weight of other keys in a
 * key's counters. (count-sketch, signed-tally: the upper bound is the count plus the noise.) The
 * noise is measured: it is what the sketch counts for keys that certainly never occurred. For an
 * item that a top lists, the lower bound is `certain`, with confidence 1. There is no lower bound
 * if counters are saturated and weights may be negative: then `lower` is 0, or INT64_MIN ("or
 * less") for count-sketch, signed-tally and windows of them.
 *
 * Poisoned counts: an attacker who knows the hash, or may add and query for long, can find keys
 * that share the counters of a victim, and so inflate the victim's count.
 *   - [lower, upper] assumes keys that nobody chose. [certain, upper] contains the true count for
 *     all keys, if the kind is never too low and no more was subtracted from a key than was added.
 *   - Both require a secret key (tamis_options.key). Without one it is easy to make keys with the
 *     same 64-bit hash, which every kind takes for one key.
 *   - Most kinds cannot judge a count, because a victim and a frequent key leave the same counters.
 *     A top can. A frequent key soon has an entry, and what shared counters add to its count is
 *     then at most the weight of all adds divided by the number of entries, or little more, unless
 *     somebody aimed at its buckets. A count is suspect if upper - certain exceeds twice that
 *     quotient; `lower` is then `certain`. A count that is judged and not suspect is wrong by at
 *     most twice the quotient. */

/* Adds a weight to a key, in the time of one add. A negative weight subtracts. Counters saturate at
 * their maximum and stay there (tamis_facts.saturated); they never wrap. Fails with
 * TAMIS_EUNSUPPORTED if t is a filter, or if the weight is negative and the kind cannot subtract,
 * and with TAMIS_EABSENT if the count of the key is certainly lower than what is to be subtracted.
 * Otherwise fails like tamis_add. */
TAMIS_API tamis_status tamis_add_weight(tamis *t, const void *key, size_t len, int64_t weight,
                                        tamis_error *why);
/* Adds a weight to each key; if weights is NULL, each is 1. After a failure the first *done keys
 * were added and no others; done may be NULL. */
TAMIS_API tamis_status tamis_add_weight_many(tamis *t, const tamis_bytes *keys,
                                             const int64_t *weights, size_t n, size_t *done,
                                             tamis_error *why);
/* The same with hashes: see tamis_add_hashes. Fails with TAMIS_EUNSUPPORTED for a top, because it
 * keeps the items themselves. */
TAMIS_API tamis_status tamis_add_weight_hashes(tamis *t, const tamis_hash *h,
                                               const int64_t *weights, size_t n, size_t *done,
                                               tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_hash64(tamis *t, const uint64_t *h, const int64_t *weights,
                                               size_t n, size_t *done, tamis_error *why);

/* Estimates the count of a key, in the time of one query. The first call also measures the noise:
 * it queries 16384 keys that never occurred, and needs 300 KB of memory meanwhile (TAMIS_ENOMEM).
 * The noise is measured again when the weight that was added since reaches 1/128 of all weight, or
 * of that part of it which is in shared counters. Fails with TAMIS_EUNSUPPORTED if the kind has no
 * counts or the caller hashes, with TAMIS_EKEY if t lacks its secret key, and with TAMIS_EINVAL if
 * the encoding of t excludes the length of the key. */
TAMIS_API tamis_status tamis_count(const tamis *t, const void *key, size_t len, tamis_estimate *out,
                                   tamis_error *why);
/* The same for n keys, or for n hashes; out has room for n estimates. */
TAMIS_API tamis_status tamis_count_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        tamis_estimate *out, tamis_error *why);
TAMIS_API tamis_status tamis_count_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          tamis_estimate *out, tamis_error *why);
TAMIS_API tamis_status tamis_count_hash64(const tamis *t, const uint64_t *h, size_t n,
                                          tamis_estimate *out, tamis_error *why);

/* --- Counts on the hot path ----------------------------------------------------------------------
 * A limit or a threshold needs one number for each event, not an interval:
 *
 *     int64_t count;
 *     if (tamis_add_counted(t, address, 16, 1, &count, NULL) == TAMIS_OK && count > 1000) ...
 *
 * These calls allocate nothing and measure no noise, and a query takes constant time. The number
 * that they return is, for
 *   - tally, top, count-min and windows of them: tamis_estimate.upper, which is never too low;
 *   - count-sketch, signed-tally and windows of them: the count in the sketch, which can be too low
 *     as well as too high; it is tamis_estimate.estimate, and [lower, upper] surrounds it;
 *   - counting, cuckoo and removable growing filters: tamis_estimate.upper, which is never too low;
 *   - windows: the sum over all generations, in the time of one count for each of them.
 * INT64_MAX means "or more". It is returned if the counters of the key are saturated (for
 * count-sketch and signed-tally, if any of them is), and also if the call cannot decide. An error
 * therefore never looks like a low count. */

/* Returns the count of a key. Returns INT64_MAX ("or more") if the kind has no counts, if t lacks
 * its secret key, if the caller hashes, or if the encoding of t excludes the length of the key;
 * tamis_count returns the reason. */
TAMIS_API int64_t tamis_upper(const tamis *t, const void *key, size_t len);
/* The same for n keys, or for n hashes, which need no secret key; out has room for n counts. */
TAMIS_API void tamis_upper_many(const tamis *t, const tamis_bytes *keys, size_t n, int64_t *out);
TAMIS_API void tamis_upper_hashes(const tamis *t, const tamis_hash *h, size_t n, int64_t *out);
TAMIS_API void tamis_upper_hash64(const tamis *t, const uint64_t *h, size_t n, int64_t *out);

/* Adds a weight to a key like tamis_add_weight, and sets *count to what tamis_upper returns right
 * after it. This takes at most 1.35 times the instructions of the add alone, 1.4 times for a
 * count-sketch of 5 rows, and up to 3.5 times for one of more rows. In a window, it also takes a
 * count in each older generation. After a failure *count is INT64_MAX. Fails like tamis_add_weight.
 * If count is NULL, the call is tamis_add_weight. */
TAMIS_API tamis_status tamis_add_counted(tamis *t, const void *key, size_t len, int64_t weight,
                                         int64_t *count, tamis_error *why);
/* Adds a weight to each key like tamis_add_weight_many; if weights is NULL, each is 1. Sets
 * counts[i] to the count right after the i-th add, before the next one: a key that occurs three
 * times gets three counts. After a failure, the counts of the keys that were not added are
 * INT64_MAX. counts and done may be NULL. */
TAMIS_API tamis_status tamis_add_counted_many(tamis *t, const tamis_bytes *keys,
                                              const int64_t *weights, size_t n, int64_t *counts,
                                              size_t *done, tamis_error *why);
/* The same with hashes: see tamis_add_hashes. Fails with TAMIS_EUNSUPPORTED for a top. */
TAMIS_API tamis_status tamis_add_counted_hashes(tamis *t, const tamis_hash *h,
                                                const int64_t *weights, size_t n, int64_t *counts,
                                                size_t *done, tamis_error *why);
TAMIS_API tamis_status tamis_add_counted_hash64(tamis *t, const uint64_t *h,
                                                const int64_t *weights, size_t n, int64_t *counts,
                                                size_t *done, tamis_error *why);

/* --- The most frequent items: top ----------------------------------------------------------------
 * A tally that keeps the heaviest items themselves, with their texts, in the memory of its plan:
 *
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TOP, .bytes = 1 << 20};
 *     ...
 *     tamis_add(t, "example.org", 11, NULL);                       // for every request
 *     tamis_heavy top[20];
 *     size_t n = tamis_top(t, top, 20);                            // top[0] occurred most often
 *
 * From the moment that an item is listed, its occurrences are counted exactly. This exact part is
 * the lower bound of its count, which is therefore certain. (A statistical margin would not hold
 * here: if no item is frequent, the list has those items that met the most noise.) The order of the
 * stream matters little: an item may occur early or late, spread out or all at once. Items whose
 * hashes agree in 64 bits are one item; for two given items the probability is 5e-20. */
typedef struct tamis_heavy {
    tamis_bytes item;     /* valid until the next change. Only the beginning of a long item is kept:
                           * 4096 bytes, or an eighth of the room for texts. p is NULL if there was
                           * no room for the text, which happens to the lightest items first. If
                           * such an item gains enough weight, its text is kept soon after its next
                           * occurrence                                                           */
    uint64_t length;      /* length of the whole item, more than item.len if only the beginning was
                           * kept; 0 if p is NULL                                                 */
    uint64_t hash;        /* 64 bits of the item's hash (tamis_hash.lo), which identify it        */
    tamis_estimate count;
    uint64_t reserved[4];
} tamis_heavy;

/* Lists the n most frequent items, ordered by the estimates of their counts, the greatest first.
 * (Items with equal estimates are ordered by their bytes, or by hash if those were not kept.)
 * Returns how many were written, which is fewer than n if the list is shorter. If out is NULL,
 * returns the length of the list. Returns 0 for kinds other than top and windows of top. If there
 * is no memory to measure the noise (see tamis_count), each estimate is its upper bound and each
 * lower bound is `certain`. Reads all entries. */
TAMIS_API size_t tamis_top(const tamis *t, tamis_heavy *out, size_t n);

/* Lists all items whose count may be `weight` or more, in the same order. It never misses an item
 * whose true count is that high. Sets *found to their number, or to 0 on failure, and writes the
 * first n. out and found may be NULL. Fails with
 *   - TAMIS_EINVAL if weight is below tamis_facts.list_floor, because a lighter item may not have
 *     been kept; this includes every weight if counters are saturated;
 *   - TAMIS_EUNSUPPORTED for kinds other than top and windows of top;
 *   - TAMIS_ENOMEM as tamis_count does. */
TAMIS_API tamis_status tamis_above(const tamis *t, int64_t weight, tamis_heavy *out, size_t n,
                                   size_t *found, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
