/* Small filters and queries on them, for the tests of the public verbs. */
#ifndef TAMIS_TEST_FILTERS_H
#define TAMIS_TEST_FILTERS_H

#include "check.h"
#include "keys.h"
#include "resum.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

static const uint8_t secret[16] = "a secret of 16..", other_secret[16] = "another secret..";

static inline tamis_plan plan_of(uint32_t kind, uint64_t items)
{
    return (tamis_plan){
        .struct_size = sizeof(tamis_plan), .kind = kind, .items = items, .fpr = 0.05};
}

static inline tamis *create(const tamis_plan *plan, const uint8_t *key)
{
    const tamis_options o = {.struct_size = sizeof o, .key = key};
    tamis *t;
    CHECK_OK(tamis_create(plan, &o, &t, NULL));
    return t;
}

static inline tamis *create_kind(uint32_t kind)
{
    const tamis_plan plan = plan_of(kind, 1000);
    return create(&plan, NULL);
}

static inline tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

static inline bool same_image(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(x.p != NULL && y.p != NULL);
    const bool same = bytes_equal(x, y);
    free(x.p);
    free(y.p);
    return same;
}

/* Two thousand keys of all styles, every tenth of which came before. */
#define MANY 1000u
static char key_text[2 * MANY][KEY_MAX];
static tamis_bytes keys[2 * MANY];

static inline void make_keys(void)
{
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        const uint64_t which = i % 10 == 9 ? i / 2 : i;
        keys[i] = (tamis_bytes){key_text[i],
                                make_key((enum key_style)(which % KEY_STYLES), which, key_text[i])};
    }
}

#endif
