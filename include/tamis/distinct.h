/* How many distinct keys? Like sort -u | wc -l, without keeping the keys.
 *
 *     tamis_plan plan = TAMIS_PLAN_INIT;
 *     plan.kind = TAMIS_DISTINCT;
 *     plan.error = 0.01;                             // 8 KB
 *     tamis *t;
 *     if (tamis_create(&plan, NULL, &t, &why) != TAMIS_OK) ...
 *     tamis_add(t, "a key", 5, NULL);                // and many more, in any order, repeatedly
 *     tamis_cardinality n = TAMIS_CARDINALITY_INIT;
 *     tamis_distinct(t, &n, &why);                   // about n.value; between n.low and n.high
 *
 * The plan of a distinct sketch has `error`, the relative standard error of its counts (at most
 * 0.3), or `bytes`, or both. Two thirds of all counts are within one such error of the truth, and
 * 99 % within 2.6 of them. The table shows sizes of images with their errors:
 *
 *     bytes    320    1,280   4,352   8,448   16,640   65,792   1,048,896
 *     error    8.6 %  2.2 %   1.1 %   0.76 %  0.54 %   0.27 %   0.067 %
 *
 * Small sets take 8 bytes per key and are counted exactly: sets of up to 2,048 keys if there are
 * at least 4,096 registers (m; 4 bytes each), and otherwise of m/2 keys. Two keys count as one
 * there with a probability of 2^-59.5, so a count of 2,048 is wrong with a probability below 3e-12.
 * A shared handle (TAMIS_SHARED) has no such sets, since registers are what threads can share.
 *
 * An add changes nothing if the key was added before. Keys may come in any order and any number of
 * times, from any number of sketches that are merged: the image is the same, byte for byte.
 * tamis_merge requires the same hash and seed or secret key. If the sketches differ in size, the
 * result has the smaller one and its error. tamis_compare estimates what two sketches have in
 * common.
 *
 * A window of distinct sketches (kind TAMIS_WINDOW, inner_kind TAMIS_DISTINCT) answers how many
 * distinct keys there were in the last hour, for example. A key in several generations counts once.
 * Each generation takes as many bytes as a sketch of the same error, however few keys there are.
 *
 * If strangers choose the keys, use a secret key (tamis_options.key). Otherwise they can find keys
 * that do not change the count, or a few that make it huge.
 *
 * `seen` of an add is false if the key is certainly new, and true if nothing changed. A query
 * answers whether an add would change nothing: its "no" is always right, but most answers are
 * "maybe". `items` in tamis_facts is the count of tamis_distinct, or 0 from tamis_stat. */
/* clang-format off */
#ifndef TAMIS_DISTINCT_PUBLIC_H
#define TAMIS_DISTINCT_PUBLIC_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_cardinality {
    size_t struct_size; /* sizeof(tamis_cardinality)                                              */
    double value;       /* the number of distinct keys; infinite if the structure is so full that
                         * it cannot be estimated                                                 */
    double low, high;   /* 99 % confidence interval                                               */
    double error;       /* relative standard error of the estimates of such a sketch; 0 if exact,
                         * and for filters                                                        */
    bool exact;         /* value is the number itself                                             */
} tamis_cardinality;
#define TAMIS_CARDINALITY_INIT TAMIS_INIT(tamis_cardinality)

/* Estimates the number of distinct keys from the cells, all of which it reads. Besides distinct
 * sketches and windows of them it accepts the kinds whose bits show it: bloom, partitioned,
 * blocked, counting and growing. Fails with TAMIS_EUNSUPPORTED for other kinds, and with
 * TAMIS_ENOMEM if there is no memory for a snapshot of a shared handle, to which other threads may
 * add meanwhile. After a failure *out is unchanged. */
TAMIS_API tamis_status tamis_distinct(const tamis *t, tamis_cardinality *out, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
