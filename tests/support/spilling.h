/* Ribbons of a given number of hashes, sealed by a given number of threads, in memory or beyond
 * it, for the tests of both. */
#ifndef TAMIS_TEST_SPILLING_H
#define TAMIS_TEST_SPILLING_H

#include "core/handle.h"
#include "filters.h"

#define MIB ((size_t)1 << 20)

/* Hash i of a set; some sets are hard. */
enum set { UNIFORM, REPEATED, ONE_START, ONE_ROW, COUNTED, CLUSTERED, SETS };

static inline tamis_hash hash_of(enum set set, uint64_t i)
{
    uint64_t seed = set == REPEATED ? i % 1000 : i; /* a thousand, however many come */
    const tamis_hash h = {splitmix(&seed), splitmix(&seed)};
    uint64_t cluster = i % 10000;
    const tamis_hash all[SETS] = {h,         h,      {h.lo, UINT64_MAX},
                                  {7, h.hi}, {i, i}, {h.lo, splitmix(&cluster)}};
    return all[set];
}

/* Where temporary files of tests go. */
static inline const char *temp_dir(void)
{
    return getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
}

static inline tamis_options spilling(uint64_t scratch, uint32_t threads)
{
    const tamis_options o = {.struct_size = sizeof o,
                             .scratch_bytes = scratch,
                             .threads = threads,
                             .temp_dir = temp_dir()};
    return o;
}

/* An empty ribbon with a rate of 2^-8. */
static inline tamis *new_ribbon(const tamis_options *o)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_RIBBON, .items = 1000, .fpr = 1.0 / 256};
    tamis *t;
    CHECK_OK(tamis_create(&p, o, &t, NULL));
    return t;
}

/* Hashes [from, to); how many were added before an add failed, and how. */
static inline tamis_status add_hashes(tamis *t, enum set set, uint64_t from, uint64_t to,
                                      uint64_t *added)
{
    tamis_hash h[1000];
    tamis_status s = TAMIS_OK;
    *added = 0;
    for (uint64_t at = from; at < to && s == TAMIS_OK;) {
        const size_t n = to - at < 1000 ? (size_t)(to - at) : 1000;
        size_t done;
        for (size_t i = 0; i < n; i++) h[i] = hash_of(set, at + i);
        s = tamis_add_hashes(t, h, n, NULL, &done);
        CHECK(done == n || s != TAMIS_OK);
        at += done;
        *added += done;
    }
    return s;
}

static inline void fill(tamis *t, enum set set, uint64_t from, uint64_t to)
{
    uint64_t added;
    CHECK_OK(add_hashes(t, set, from, to, &added));
    CHECK(added == to - from);
}

static inline tamis *sealed_ribbon(const tamis_options *o, enum set set, uint64_t n)
{
    tamis *t = new_ribbon(o);
    tamis_error why;
    fill(t, set, 0, n);
    /* Most hard sets are not uniform, which tamis_seal refuses. */
    CHECK_OK(set == UNIFORM ? tamis_seal(t, &why) : tamis__seal(t, &why));
    return t;
}

static inline void check_all_in(const tamis *t, enum set set, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const tamis_hash h = hash_of(set, i);
        uint8_t bit;
        CHECK_THAT(tamis_may_contain_hashes(t, &h, 1, &bit), ==, 1);
    }
}

#endif
