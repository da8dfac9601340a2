/* Maps for tests: key i is the number i, and its value is random bits that follow from i. Keys from
 * STRANGER on (sealed.h) are not added. */
#ifndef TAMIS_TEST_MAPS_H
#define TAMIS_TEST_MAPS_H

#include "sealed.h"

#include <tamis/map.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static inline uint32_t value_of(uint64_t key, uint32_t bits)
{
    uint64_t state = key ^ UINT64_C(0x6d6170);
    return (uint32_t)(splitmix(&state) >> (64 - bits));
}

static inline tamis_plan map_plan(uint64_t items, uint32_t bits, double fpr)
{
    return (tamis_plan){.struct_size = sizeof(tamis_plan),
                        .kind = TAMIS_VALUE_MAP,
                        .items = items != 0 ? items : 1,
                        .fpr = fpr,
                        .cell_bits = bits};
}

/* Some keys with their values. */
enum { MAP_PIECE = 1000 };
struct map_piece {
    uint64_t number[MAP_PIECE];
    tamis_bytes key[MAP_PIECE];
    uint32_t value[MAP_PIECE];
    size_t n;
};

/* The keys from this one on, at most a piece of them. */
static inline const struct map_piece *map_piece_of(uint64_t from, uint64_t n, uint32_t bits)
{
    static struct map_piece p;
    p.n = n < MAP_PIECE ? (size_t)n : MAP_PIECE;
    for (size_t i = 0; i < p.n; i++) {
        p.number[i] = from + i;
        p.key[i] = (tamis_bytes){&p.number[i], sizeof *p.number};
        p.value[i] = value_of(from + i, bits);
    }
    return &p;
}

static inline void put_values(tamis *t, uint64_t from, uint64_t n, uint32_t bits)
{
    for (uint64_t at = 0; at < n; at += MAP_PIECE) {
        const struct map_piece *p = map_piece_of(from + at, n - at, bits);
        size_t done = 0;
        CHECK_OK(tamis_add_value_many(t, p->key, p->value, p->n, &done, NULL));
        CHECK_THAT(done, ==, p->n);
    }
}

/* A sealed map of the keys 0 ... n-1. */
static inline tamis *make_map(uint64_t n, uint32_t bits, double fpr, const tamis_options *o)
{
    const tamis_plan plan = map_plan(n, bits, fpr);
    tamis_error why;
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    put_values(t, 0, n, bits);
    const tamis_status s = tamis_seal(t, &why);
    if (s != TAMIS_OK) printf("%s\n", why.text);
    CHECK_OK(s);
    return t;
}

/* All calls give the same answer for these keys; returns how many may be members. Members have
 * their values. */
static inline uint64_t check_values(const tamis *t, uint64_t from, uint64_t n, uint32_t bits,
                                    bool members)
{
    static tamis_hash h[MAP_PIECE];
    static uint32_t many[MAP_PIECE], hashed[MAP_PIECE];
    static uint8_t found[MAP_PIECE / 8 + 1], of_hash[MAP_PIECE / 8 + 1],
        has_bits[MAP_PIECE / 8 + 1];
    uint64_t yes = 0;
    for (uint64_t at = 0; at < n; at += MAP_PIECE) {
        const struct map_piece *p = map_piece_of(from + at, n - at, bits);
        CHECK_OK(tamis_hash_many(t, p->key, p->n, h));
        CHECK_OK(tamis_value_many(t, p->key, p->n, many, found, NULL));
        CHECK_OK(tamis_value_hashes(t, h, p->n, hashed, of_hash, NULL));
        const size_t maybe = tamis_may_contain_many(t, p->key, p->n, has_bits);
        CHECK(memcmp(many, hashed, p->n * sizeof *many) == 0);
        CHECK(memcmp(found, of_hash, (p->n + 7) / 8) == 0);
        CHECK(memcmp(found, has_bits, (p->n + 7) / 8) == 0);
        CHECK(!members || maybe == p->n);
        yes += maybe;
        for (size_t i = 0; i < p->n; i++) {
            uint32_t one = 1;
            const bool in = found[i / 8] >> i % 8 & 1;
            const tamis_status s = tamis_value(t, &p->number[i], sizeof *p->number, &one);
            CHECK_THAT(s, ==, in ? TAMIS_OK : TAMIS_EABSENT);
            CHECK(one == many[i] && (in || one == 0) && (uint64_t)one >> bits == 0);
            CHECK(has(t, p->number[i]) == in);
            if (members) CHECK_THAT(one, ==, p->value[i]);
        }
    }
    return yes;
}

#endif
