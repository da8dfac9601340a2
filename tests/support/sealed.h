/* Keys for the tests of sealed kinds: members are numbers from 0 on, excluded keys are numbers
 * from OTHER on, and keys on neither list are numbers from STRANGER on. */
#ifndef TAMIS_TEST_SEALED_H
#define TAMIS_TEST_SEALED_H

#include "filters.h"

#define OTHER (UINT64_C(1) << 32)
#define STRANGER (UINT64_C(1) << 40)

static inline bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

static inline void add(tamis *t, uint64_t from, uint64_t n)
{
    for (uint64_t key = from; key < from + n; key++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
}

static inline void exclude(tamis *t, uint64_t from, uint64_t n)
{
    for (uint64_t key = from; key < from + n; key++)
        CHECK_OK(tamis_exclude(t, &key, sizeof key, NULL));
}

/* Every answer about a member is yes and every answer about an excluded key is no, one key at a
 * time and in bulk. */
static inline void check_known(const tamis *t, uint64_t items, uint64_t excluded)
{
    enum { PIECE = 1000 };
    uint64_t key[PIECE];
    tamis_bytes b[PIECE];
    uint8_t bits[PIECE / 8];
    for (uint64_t i = 0; i < items; i++) CHECK(has(t, i));
    for (uint64_t i = 0; i < excluded; i++) CHECK(!has(t, OTHER + i));
    for (uint64_t at = 0; at < items + excluded; at += PIECE) {
        const uint64_t n = items + excluded - at < PIECE ? items + excluded - at : PIECE;
        uint64_t in = 0;
        for (uint64_t i = 0; i < n; i++) {
            const bool member = at + i < items;
            key[i] = member ? at + i : OTHER + at + i - items;
            b[i] = (tamis_bytes){&key[i], sizeof *key};
            in += member;
        }
        CHECK_THAT(tamis_may_contain_many(t, b, n, bits), ==, in);
    }
}

#endif
