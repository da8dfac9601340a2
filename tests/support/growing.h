/* Growing filters of numbers. */
#ifndef TAMIS_TEST_GROWING_H
#define TAMIS_TEST_GROWING_H

#include "check.h"
#include "core/bits.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

enum { MANY = 1000 };

static inline tamis *make_with(double fpr, uint32_t k, const tamis_options *o, uint64_t seed)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_GROWING, .fpr = fpr, .k = k, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    return t;
}

/* From which keys can be removed. */
static inline tamis *make_removable(double fpr, uint64_t seed, const tamis_options *o)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_GROWING,
                             .flags = TAMIS_REMOVABLE,
                             .fpr = fpr,
                             .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    return t;
}

static inline tamis *make(double fpr, uint32_t k)
{
    return make_with(fpr, k, NULL, 0);
}

static inline tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

struct some_keys {
    uint8_t text[MANY][8];
    tamis_bytes keys[MANY];
};

static inline size_t numbers(struct some_keys *s, uint64_t from, uint64_t to)
{
    const size_t n = to - from < MANY ? (size_t)(to - from) : MANY;
    for (size_t i = 0; i < n; i++) {
        tamis__put64(s->text[i], from + i);
        s->keys[i] = (tamis_bytes){s->text[i], 8};
    }
    return n;
}

static inline void add_numbers(tamis *t, uint64_t from, uint64_t to)
{
    struct some_keys s;
    for (uint64_t at = from; at < to; at += MANY)
        CHECK_OK(tamis_add_many(t, s.keys, numbers(&s, at, to), NULL, NULL));
}

static inline uint64_t count_maybe(const tamis *t, uint64_t from, uint64_t to)
{
    struct some_keys s;
    uint8_t bits[MANY / 8];
    uint64_t maybe = 0;
    for (uint64_t at = from; at < to; at += MANY)
        maybe += tamis_may_contain_many(t, s.keys, numbers(&s, at, to), bits);
    return maybe;
}

#endif
