/* fuse: collecting, sealing, and what the sealed filter promises. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/tracking.h"
#include "core/handle.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static tamis_plan fuse_plan(uint32_t d, uint64_t items, double fpr)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_FUSE, .items = items, .fpr = fpr, .k = d};
    return p;
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

/* Numbers from 0 on, each `times` times. */
static tamis *make(uint32_t d, uint64_t items, double fpr, unsigned times)
{
    const tamis_plan p = fuse_plan(d, items, fpr);
    tamis *t = create(&p, NULL);
    for (unsigned i = 0; i < times; i++)
        for (uint64_t key = 0; key < items; key++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
    CHECK_OK(tamis_seal(t, NULL));
    return t;
}

/* --- Promises --------------------------------------------------------------------------------- */

static void no_key_is_lost(void)
{
    static const uint64_t sizes[] = {1,  2,   3,   4,    5,     7,     8,     9,      20,
                                     63, 100, 333, 1000, 10000, 31623, 99999, 300000, 1000000};
    for (uint32_t d = 3; d <= 4; d++)
        for (size_t i = 0; i < LENGTH(sizes); i++) {
            tamis *t = make(d, sizes[i], 0.004, 1);
            for (uint64_t key = 0; key < sizes[i]; key++) CHECK(has(t, key));
            const tamis_facts f = facts_of(t);
            CHECK(f.sealed && f.read_only && !f.collecting && !f.may_miss && !f.overfull);
            CHECK(f.items == sizes[i] && f.k == d);
            tamis_close(t);
        }
}

/* The rate is 2^-f, exactly: 6.2 deviations each time. */
static void rates_are_exact(void)
{
    for (uint32_t d = 3; d <= 4; d++)
        for (int bits = 4; bits <= 20; bits += 2) {
            enum { ITEMS = 20000, ASKED = 2000000 };
            tamis *t = make(d, ITEMS, ldexp(1, -bits), 1);
            uint64_t wrong = 0;
            for (uint64_t key = ITEMS; key < ITEMS + ASKED; key++) wrong += has(t, key);
            const double expected = ldexp(ASKED, -bits);
            CHECK_THAT(facts_of(t).fpr_now, ==, ldexp(1, -bits));
            CHECK_THAT(fabs((double)wrong - expected), <, 6.2 * sqrt(expected) + 1);
            tamis_close(t);
        }
}

/* Every width of fingerprints, and whole cells at odd places. */
static void every_width_works(void)
{
    for (int bits = 4; bits <= 32; bits++) {
        tamis *t = make(3 + (uint32_t)bits % 2, 3000, ldexp(1, -bits), 1);
        CHECK_THAT(facts_of(t).cell_bits, ==, bits);
        for (uint64_t key = 0; key < 3000; key++) CHECK(has(t, key));
        tamis_close(t);
    }
}

static void space_is_near_the_bound(void)
{
    static const double most[] = {1.13, 1.08};
    for (uint32_t d = 3; d <= 4; d++) {
        tamis *t = make(d, 1000000, 1.0 / 256, 1);
        CHECK_THAT(facts_of(t).bound_ratio, <,
                   most[d - 3] + 0.003); /* the file, with header and sums */
        tamis_close(t);
    }
}

/* In tables that are prefetched for many keys and in one that is not, however the keys come. */
static void many_are_as_one(void)
{
    static const struct {
        uint64_t items;
        int bits;
    } shapes[] = {{1000000, 8}, {900000, 10}, {600000, 17}, {300000, 31}, {1000, 8}, {1000, 7}};
    static const size_t asks[] = {1, 2, 9, 127, 128, 129, 255, 256, 257, 1000, 4099};
    enum { MOST = 4099 };
    static uint64_t words[MOST];
    static tamis_bytes asked[MOST];
    static tamis_hash hashes[MOST];
    uint8_t by_key[MOST / 8 + 1], by_hash[MOST / 8 + 1];
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        tamis *t = make(3 + (uint32_t)i % 2, shapes[i].items, ldexp(1, -shapes[i].bits), 1);
        for (size_t j = 0; j < MOST; j++) {
            words[j] = j % 2 == 0 ? j : j + shapes[i].items;
            asked[j] = (tamis_bytes){&words[j], sizeof words[j]};
        }
        CHECK_OK(tamis_hash_many(t, asked, MOST, hashes));
        for (size_t a = 0; a < LENGTH(asks); a++) {
            const size_t n = asks[a], yes = tamis_may_contain_many(t, asked, n, by_key);
            size_t expected = 0;
            CHECK_THAT(tamis_may_contain_hashes(t, hashes, n, by_hash), ==, yes);
            CHECK(memcmp(by_key, by_hash, (n + 7) / 8) == 0);
            for (size_t j = 0; j < n; j++) {
                CHECK_THAT(by_key[j / 8] >> j % 8 & 1, ==, has(t, words[j]));
                expected += has(t, words[j]);
            }
            CHECK_THAT(yes, ==, expected);
        }
        tamis_close(t);
    }
}

/* --- Before the seal -------------------------------------------------------------------------- */

static void collecting_says_maybe(void)
{
    const tamis_plan p = fuse_plan(3, 100, 0.01);
    tamis *t = create(&p, NULL), *again;
    bool seen;
    CHECK(has(t, 1)); /* it cannot be certain */
    CHECK_OK(tamis_add(t, "a", 1, &seen));
    CHECK(!seen);
    CHECK_OK(tamis_add(t, "b", 1, &seen));
    CHECK(seen); /* likewise */
    CHECK(facts_of(t).collecting && facts_of(t).fpr_now == 1 && !facts_of(t).sealed);
    for (uint64_t key = 0; key < 1000; key++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
    /* Saved before that, it goes on where it was. */
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK(facts_of(again).collecting && facts_of(again).items == 1002);
    for (uint64_t key = 1000; key < 2000; key++) {
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        CHECK_OK(tamis_add(again, &key, sizeof key, NULL));
    }
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(again, NULL));
    for (uint64_t key = 0; key < 20000; key++) CHECK(has(t, key) == has(again, key));
    for (uint64_t key = 0; key < 2000; key++) CHECK(has(t, key));
    tamis_error why;
    CHECK_OK(tamis_seal(t, &why)); /* once more is nothing */
    CHECK_THAT(tamis_add(t, "c", 1, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_clear(t), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_merge(t, again, &why), ==, TAMIS_EUNSUPPORTED);
    free(image.p);
    tamis_close(t);
    tamis_close(again);
}

static void clearing_a_collection(void)
{
    const tamis_plan p = fuse_plan(3, 100, 0.01);
    tamis *t = create(&p, NULL), *fresh = create(&p, NULL);
    for (uint64_t key = 0; key < 1000; key++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
    CHECK_OK(tamis_clear(t));
    CHECK(same_image(t, fresh));
    for (uint64_t key = 5000; key < 5100; key++) {
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        CHECK_OK(tamis_add(fresh, &key, sizeof key, NULL));
    }
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(fresh, NULL));
    CHECK(same_image(t, fresh));
    for (uint64_t key = 5000; key < 5100; key++) CHECK(has(t, key));
    tamis_close(t);
    tamis_close(fresh);
}

static void nothing_at_all(void)
{
    const tamis_plan p = fuse_plan(4, 100, 1e-6);
    tamis *t = create(&p, NULL);
    CHECK_OK(tamis_seal(t, NULL));
    uint64_t wrong = 0;
    for (uint64_t key = 0; key < 100000; key++) wrong += has(t, key);
    CHECK_THAT(wrong, <, 8); /* 0.1 expected */
    tamis_close(t);
}

/* --- Keys that are hard ----------------------------------------------------------------------- */

/* Repeated keys are welcome, however often. */
static void duplicates_are_welcome(void)
{
    tamis *once = make(3, 1000, 0.01, 1), *often = make(3, 1000, 0.01, 5);
    for (uint64_t key = 0; key < 1000; key++) CHECK(has(often, key));
    /* They take no room, and do not count. */
    CHECK_THAT(facts_of(often).items, ==, 1000);
    CHECK_THAT(tamis_image_size(often), ==, tamis_image_size(once));
    tamis_close(once);
    tamis_close(often);
    const tamis_plan p = fuse_plan(4, 10, 0.01);
    tamis *t = create(&p, NULL);
    for (int i = 0; i < 100000; i++) CHECK_OK(tamis_add(t, "the same", 8, NULL));
    CHECK_OK(tamis_seal(t, NULL));
    CHECK(tamis_may_contain(t, "the same", 8));
    tamis_close(t);
}

/* Hashes that a caller made: few bits, equal halves, one half for all. They are refused; what
 * solves for hashes copes with them all the same. */
static void poor_hashes(void)
{
    for (int how = 0; how < 4; how++) {
        enum { N = 5000 };
        tamis_plan p = fuse_plan(3, N, 0.01);
        p.flags = TAMIS_HASH_CALLER;
        tamis *t = create(&p, NULL);
        static tamis_hash h[N];
        for (uint64_t i = 0; i < N; i++) {
            const tamis_hash made[4] = {{i, i}, {i << 40, 7}, {7, i << 40}, {i, ~i}};
            h[i] = made[how];
        }
        CHECK_OK(tamis_add_hashes(t, h, N, NULL, NULL));
        CHECK_THAT(tamis_seal(t, NULL), ==, TAMIS_EINVAL);
        CHECK_OK(tamis__seal(t, NULL));
        uint8_t bits[N / 8];
        CHECK_THAT(tamis_may_contain_hashes(t, h, N, bits), ==, N);
        tamis_close(t);
    }
}

/* --- Plans and memory ------------------------------------------------------------------------- */

static void plans(void)
{
    tamis_error why;
    for (uint32_t d = 3; d <= 4; d++)
        for (uint64_t items = 1; items < UINT64_C(1) << 40; items = items * 7 + 1) {
            tamis_plan p = fuse_plan(d, items, 0.01);
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK_THAT(p.fpr, ==, 1.0 / 128);
            const tamis_plan solved = p;
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK(memcmp(&p, &solved, sizeof p) == 0);
            p.fpr = 0; /* from items and bytes: the same rate again */
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK(p.fpr <= solved.fpr && p.bytes <= solved.bytes);
            p = solved;
            p.items = 0; /* from rate and bytes: as many items, or nearly */
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK(p.bytes <= solved.bytes && p.items >= items / 2);
        }
    /* What is promised is what comes out, when the keys come apart at once. */
    tamis_plan p = fuse_plan(3, 50000, 0.001);
    CHECK_OK(tamis_solve(&p, NULL, &why));
    tamis *t = make(3, 50000, 0.001, 1);
    CHECK_THAT(tamis_image_size(t), ==, p.bytes);
    tamis_close(t);
    static const struct {
        uint32_t k;
        uint64_t items, bytes, m;
        double fpr;
    } wrong[] = {{5, 100, 0, 0, 0.01},
                 {3, 100, 0, 512, 0.01},
                 {3, 100, 0, 0, 1e-12},
                 {3, 100, 200, 0, 0.01},
                 {3, 100, 10, 0, 0},
                 {3, 0, 100, 0, 0.01},
                 {3, UINT64_C(1) << 52, 0, 0, 0.01}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        p = fuse_plan(wrong[i].k, wrong[i].items, wrong[i].fpr);
        p.bytes = wrong[i].bytes;
        p.m = wrong[i].m;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    }
}

/* Every allocation of collecting and sealing fails once: nothing is lost, nothing leaks, and it
 * works when tried again. */
static void no_memory(void)
{
    for (size_t fail_at = 1;; fail_at++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_plan p = fuse_plan(3, 100, 0.01);
        tamis *t;
        tamis_error why;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        a.calls = 0;
        a.fail_at = fail_at;
        for (uint64_t key = 0; key < 500; key++) {
            tamis_status s = tamis_add(t, &key, sizeof key, NULL);
            if (s != TAMIS_OK) CHECK_THAT(s, ==, TAMIS_ENOMEM);
            if (s != TAMIS_OK) s = tamis_add(t, &key, sizeof key, NULL);
            CHECK_OK(s);
        }
        CHECK_THAT(facts_of(t).items, ==, 500);
        const tamis_status s = tamis_seal(t, &why);
        if (s != TAMIS_OK) {
            CHECK(s == TAMIS_ENOMEM && why.text[0] != '\0' && facts_of(t).collecting);
            CHECK_OK(tamis_seal(t, &why));
        }
        for (uint64_t key = 0; key < 500; key++) CHECK(has(t, key));
        const bool failed = a.failed;
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
        if (!failed) return;
    }
}

/* Sealing takes twice the hashes, beside the hashes, and a little more in small sets. */
static void peak_memory(void)
{
    for (uint32_t d = 3; d <= 4; d++) {
        enum { N = 200000 };
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_plan p = fuse_plan(d, N, 1e-9);
        tamis *t;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        for (uint64_t key = 0; key < N; key++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        const size_t before = a.bytes;
        a.peak = 0;
        CHECK_OK(tamis_seal(t, NULL));
        CHECK_THAT(a.peak - before, <, 2.1 * 16 * N);
        tamis_close(t);
    }
}

static void limits(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 2000};
    const tamis_plan p = fuse_plan(3, 50, 0.01);
    tamis *t;
    size_t done;
    tamis_hash h[200];
    for (uint64_t i = 0; i < 200; i++) h[i] = (tamis_hash){i, i};
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    CHECK_THAT(tamis_add_hashes(t, h, 200, NULL, &done), ==, TAMIS_EFULL);
    CHECK_THAT(tamis_image_size(t), <=, 2000);
    CHECK_THAT(facts_of(t).items, ==, done);
    tamis_close(t);
}

static const struct test tests[] = {
    {"no_key_is_lost", no_key_is_lost},
    {"rates_are_exact", rates_are_exact},
    {"every_width_works", every_width_works},
    {"space_is_near_the_bound", space_is_near_the_bound},
    {"many_are_as_one", many_are_as_one},
    {"collecting_says_maybe", collecting_says_maybe},
    {"clearing_a_collection", clearing_a_collection},
    {"nothing_at_all", nothing_at_all},
    {"duplicates_are_welcome", duplicates_are_welcome},
    {"poor_hashes", poor_hashes},
    {"plans", plans},
    {"no_memory", no_memory},
    {"peak_memory", peak_memory},
    {"limits", limits},
};
TEST_MAIN(tests)
