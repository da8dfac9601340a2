/* RedisBloom's t-digest: quantiles of a stream of numbers in fixed memory (Dunning, "Computing
 * Extremely Accurate Quantiles Using t-Digests"). */
#ifndef TAMIS_REDISBLOOM_TDIGEST_H
#define TAMIS_REDISBLOOM_TDIGEST_H

#include "compat.h"

/* A centroid: the mean of `weight` observations. */
struct compat_tdigest_node {
    double mean;
    int64_t weight;
};

struct compat_tdigest {
    uint64_t compression;
    double min, max;          /* DBL_MAX and -DBL_MAX while there are no observations */
    uint32_t capacity;        /* the most nodes: 6 * compression + 10 */
    uint32_t room;            /* nodes that the array has; below capacity only after a load */
    uint32_t merged, pending; /* nodes in order, and nodes behind them in any order */
    int64_t merged_weight;    /* sum over the former */
    int64_t pending_weight;   /* sum over the latter */
    uint64_t merges;          /* how often pending nodes were merged */
    struct compat_tdigest_node *nodes;
};

#define COMPAT_TDIGEST_COMPRESSION 100
/* The greatest compression, for which RedisBloom's capacity still fits its type. */
#define COMPAT_TDIGEST_MOST_COMPRESSION ((INT32_MAX - 10) / 6)
/* The most observations. RDB values contain weights as doubles, which are exact up to there. */
#define COMPAT_TDIGEST_MOST (INT64_C(1) << 53)

/* COMPAT_NO_MEMORY also for a compression of 0 or beyond the greatest. */
enum compat_status compat_tdigest_create(const struct compat_room *room, uint64_t compression,
                                         struct compat_tdigest **out);
void compat_tdigest_free(const tamis_memory *memory, struct compat_tdigest *t);
/* NULL without memory. */
struct compat_tdigest *compat_tdigest_copy(const tamis_memory *memory,
                                           const struct compat_tdigest *t);
/* Forgets all observations; the compression stays. */
void compat_tdigest_reset(struct compat_tdigest *t);

/* Prepares for n adds, which then cannot fail. COMPAT_OVERFLOW if there would be more than
 * COMPAT_TDIGEST_MOST observations; COMPAT_NO_MEMORY can occur only after a load. */
enum compat_status compat_tdigest_prepare(struct compat_tdigest *t, const struct compat_room *room,
                                          uint64_t n);
/* Adds a finite number. */
void compat_tdigest_add(struct compat_tdigest *t, double value);
/* Adds the observations of another digest, whose pending nodes are merged. COMPAT_OVERFLOW as
 * above. `into` must come from compat_tdigest_create. */
enum compat_status compat_tdigest_merge(struct compat_tdigest *into, struct compat_tdigest *from);

/* The following merge the pending nodes first, as in RedisBloom: a question changes the digest, and
 * the estimates after later adds. All return NaN, or -2 for a rank, if there are no observations;
 * otherwise values are within [min, max]. */

/* Estimates the number below which a fraction q of the observations is; q is in [0, 1]. */
double compat_tdigest_quantile(struct compat_tdigest *t, double q);
/* Estimates the fraction of observations below x, plus half of those that are equal to x. */
double compat_tdigest_cdf(struct compat_tdigest *t, double x);
/* Estimates how many observations are below x (above, if reverse), plus half of those that are
 * equal. Beyond the last one this is the number of observations, and before the first one -1. */
int64_t compat_tdigest_rank(struct compat_tdigest *t, double x, bool reverse);
/* Estimates the observation of a rank, counted from 0 at the smallest (at the greatest, if
 * reverse). Infinite if there are not so many observations. */
double compat_tdigest_by_rank(struct compat_tdigest *t, uint64_t rank, bool reverse);
/* Estimates the mean of the observations between two quantiles, 0 <= low < high <= 1. */
double compat_tdigest_trimmed_mean(struct compat_tdigest *t, double low, double high);

static inline int64_t compat_tdigest_count(const struct compat_tdigest *t)
{
    return t->merged_weight + t->pending_weight;
}
uint64_t compat_tdigest_node_bytes(const struct compat_tdigest *t);

/* Merges the pending nodes as well: the encoding has no place for them. */
void compat_tdigest_save(struct compat_tdigest *t, const struct compat_writer *w);
enum compat_status compat_tdigest_load(const struct compat_reader *r, int encver,
                                       const tamis_memory *memory, struct compat_tdigest **out);

#endif
