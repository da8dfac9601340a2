/* The functions of sketches for one key (core/single.h). A kind supplies two functions that are
 * always inlined:
 *
 *     put(t, h, key, w)   adds w >= 0 to the counters of a key with the hash h, but not to totals,
 *                         and returns the count after the add, INT64_MAX if it is saturated
 *     count_of(s, h)      returns the count of a key
 *
 * TARGET is empty or the attribute of an instruction set. A sketch that keeps its items has no
 * add_hash. */
#ifndef TAMIS_SINGLE_COUNTS_H
#define TAMIS_SINGLE_COUNTS_H

#include "../core/single.h"
#include "noise.h"

/* tamis_add_counted of any handle and any arguments. */
tamis_status tamis__weigh_any(tamis *t, const void *key, size_t len, int64_t weight, int64_t *count,
                              tamis_error *why);

/* Adds a weight to the totals of a sketch that is not shared. Only its first section has a
 * weight. */
static inline tamis_status tamis__weigh_one(tamis *t, uint64_t w)
{
    struct section *s = t->body.sections;
    struct handle_extra *extra = tamis__extra(t);
    extra->of_body.moved = tamis__add_up(extra->of_body.moved, w);
    s->weight = extra->weight = tamis__add_weight(s->weight, w);
    t->changed = true;
    if (extra->noise != NULL) tamis__noise_age(t);
    return TAMIS_OK;
}

/* Defines single_NAME_add. */
#define TAMIS__UPDATE_SINGLE(name, TARGET, put)                                                    \
    TARGET TAMIS__SPECIALIZED tamis_status single_##name##_adding(tamis *t, tamis_hash h,          \
                                                                  tamis_bytes key, bool *seen)     \
    {                                                                                              \
        const int64_t after = put(t, h, key, 1);                                                   \
        if (seen != NULL) *seen = after > 1;                                                       \
        return tamis__weigh_one(t, 1);                                                             \
    }                                                                                              \
    TARGET TAMIS__LEAF static TAMIS__APART tamis_status single_##name##_add_other(                 \
        tamis *t, const void *key, size_t len, bool *seen)                                         \
    {                                                                                              \
        if (tamis__wrong_length(t, len)) {                                                         \
            if (seen != NULL) *seen = false;                                                       \
            return TAMIS_EINVAL;                                                                   \
        }                                                                                          \
        const tamis_hash h = tamis__xxh3(key, len, t->hasher.seed);                                \
        return single_##name##_adding(t, h, (tamis_bytes){key, len}, seen);                        \
    }                                                                                              \
    TARGET TAMIS__LEAF static tamis_status single_##name##_add(tamis *t, const void *key,          \
                                                               size_t len, bool *seen)             \
    {                                                                                              \
        if (len != 8) return single_##name##_add_other(t, key, len, seen);                         \
        const tamis_hash h = tamis__xxh3_word(t->hasher.flip, tamis__get64(key));                  \
        return single_##name##_adding(t, h, (tamis_bytes){key, len}, seen);                        \
    }

/* Defines single_NAME_add_hash, after TAMIS__UPDATE_SINGLE. */
#define TAMIS__UPDATE_SINGLE_HASH(name, TARGET)                                                    \
    TARGET TAMIS__LEAF static tamis_status single_##name##_add_hash(tamis *t, tamis_hash h,        \
                                                                    bool *seen)                    \
    {                                                                                              \
        return single_##name##_adding(t, h, (tamis_bytes){NULL, 0}, seen);                         \
    }

/* Defines single_NAME_weigh, which is tamis_add_counted. */
#define TAMIS__WEIGH_SINGLE(name, TARGET, put)                                                     \
    TARGET TAMIS__SPECIALIZED tamis_status single_##name##_weighing(                               \
        tamis *t, tamis_hash h, tamis_bytes key, int64_t weight, int64_t *count)                   \
    {                                                                                              \
        const int64_t after = put(t, h, key, (uint64_t)weight);                                    \
        if (count != NULL) *count = after;                                                         \
        return tamis__weigh_one(t, (uint64_t)weight);                                              \
    }                                                                                              \
    TARGET TAMIS__LEAF static TAMIS__APART tamis_status single_##name##_weigh_other(               \
        tamis *t, const void *key, size_t len, int64_t weight, int64_t *count, tamis_error *why)   \
    {                                                                                              \
        if (weight < 0 || tamis__wrong_length(t, len))                                             \
            return tamis__weigh_any(t, key, len, weight, count, why);                              \
        const tamis_hash h = tamis__xxh3(key, len, t->hasher.seed);                                \
        return single_##name##_weighing(t, h, (tamis_bytes){key, len}, weight, count);             \
    }                                                                                              \
    TARGET TAMIS__LEAF static TAMIS__APART tamis_status single_##name##_weigh(                     \
        tamis *t, const void *key, size_t len, int64_t weight, int64_t *count, tamis_error *why)   \
    {                                                                                              \
        if (len != 8 || weight < 0)                                                                \
            return single_##name##_weigh_other(t, key, len, weight, count, why);                   \
        const tamis_hash h = tamis__xxh3_word(t->hasher.flip, tamis__get64(key));                  \
        return single_##name##_weighing(t, h, (tamis_bytes){key, len}, weight, count);             \
    }

/* Defines single_NAME_upper, which is tamis_upper. */
#define TAMIS__UPPER_SINGLE(name, TARGET, count_of)                                                \
    TARGET TAMIS__LEAF static TAMIS__APART int64_t single_##name##_upper_other(                    \
        const tamis *t, const void *key, size_t len)                                               \
    {                                                                                              \
        if (tamis__wrong_length(t, len)) return INT64_MAX;                                         \
        return count_of(t->body.sections, tamis__xxh3(key, len, t->hasher.seed));                  \
    }                                                                                              \
    TARGET TAMIS__LEAF static TAMIS__APART int64_t single_##name##_upper(                          \
        const tamis *t, const void *key, size_t len)                                               \
    {                                                                                              \
        if (len != 8) return single_##name##_upper_other(t, key, len);                             \
        return count_of(t->body.sections, tamis__xxh3_word(t->hasher.flip, tamis__get64(key)));    \
    }

#endif
