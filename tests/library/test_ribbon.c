/* ribbon: collecting, sealing, and what the sealed filter promises. test_ribbon_core.c looks
 * inside. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/tracking.h"
#include "core/handle.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static tamis_plan ribbon_plan(uint64_t items, double fpr)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_RIBBON, .items = items, .fpr = fpr};
    return p;
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

/* Numbers from 0 on, each `times` times. */
static tamis *make(uint64_t items, double fpr, unsigned times)
{
    const tamis_plan p = ribbon_plan(items, fpr);
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
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        tamis *t = make(sizes[i], 0.004, 1);
        for (uint64_t key = 0; key < sizes[i]; key++) CHECK(has(t, key));
        const tamis_facts f = facts_of(t);
        CHECK(f.sealed && f.read_only && !f.collecting && !f.may_miss && !f.overfull);
        CHECK_THAT(f.items, ==, sizes[i]);
        tamis_close(t);
    }
}

/* Any rate: what is planned, what tamis_info says and what is measured, 6.2 deviations each
 * time. */
static void rates_are_exact(void)
{
    static const double rates[] = {0.5, 0.3, 0.1, 0.05, 0.01, 0.003, 0.001, 1e-4, 1e-5};
    for (size_t i = 0; i < LENGTH(rates); i++) {
        enum { ITEMS = 20000, ASKED = 3000000 };
        tamis *t = make(ITEMS, rates[i], 1);
        uint64_t wrong = 0;
        for (uint64_t key = ITEMS; key < ITEMS + ASKED; key++) wrong += has(t, key);
        const tamis_facts f = facts_of(t);
        const double expected = f.fpr_now * ASKED, planned = rates[i] * ASKED;
        CHECK(f.fpr_planned <= rates[i] && f.fpr_planned > 0.999 * rates[i]);
        CHECK_THAT(fabs((double)wrong - expected), <, 6.2 * sqrt(expected) + 1);
        CHECK_THAT((double)wrong, <, planned + 6.2 * sqrt(planned) + 0.01 * planned);
        tamis_close(t);
    }
}

static void space_is_near_the_bound(void)
{
    static const struct {
        uint64_t items;
        double fpr, most;
    } cases[] = {{1000000, 1.0 / 256, 1.006},
                 {1000000, 1.0 / 16, 1.012},
                 {1000000, 0.01, 1.018},
                 {100000, 1.0 / 256, 1.02}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        tamis *t = make(cases[i].items, cases[i].fpr, 1);
        CHECK_THAT(facts_of(t).bits_per_item / -log2(cases[i].fpr), <, cases[i].most);
        tamis_close(t);
    }
}

/* --- Before the seal -------------------------------------------------------------------------- */

static void collecting_says_maybe(void)
{
    const tamis_plan p = ribbon_plan(100, 0.01);
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
    const tamis_plan p = ribbon_plan(100, 0.01);
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
    const tamis_plan p = ribbon_plan(100, 1e-6);
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
    tamis *once = make(1000, 0.01, 1), *often = make(1000, 0.01, 5);
    for (uint64_t key = 0; key < 1000; key++) CHECK(has(often, key));
    CHECK_THAT(facts_of(often).items, ==, 1000);
    CHECK(same_image(once, often));
    tamis_close(once);
    tamis_close(often);
    const tamis_plan p = ribbon_plan(10, 0.01);
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
        tamis_plan p = ribbon_plan(N, 0.01);
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
    for (uint64_t items = 1; items < UINT64_C(1) << 38; items = items * 7 + 1) {
        tamis_plan p = ribbon_plan(items, 0.01);
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(p.fpr <= 0.01 && p.fpr > 0.00999);
        const tamis_plan solved = p;
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(memcmp(&p, &solved, sizeof p) == 0);
        p.fpr = 0; /* from items and bytes: the same rate again, or a little less */
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(p.fpr <= solved.fpr && p.bytes <= solved.bytes);
        p = solved;
        p.items = 0; /* from rate and bytes */
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(p.bytes <= solved.bytes && p.items + items / 100 + 64 >= items);
    }
    /* The planned bytes are enough, and not much more than that. */
    for (uint64_t items = 1000; items <= 1000000; items *= 10) {
        tamis_plan p = ribbon_plan(items, 0.001);
        CHECK_OK(tamis_solve(&p, NULL, &why));
        tamis *t = make(items, 0.001, 1);
        CHECK_THAT(tamis_image_size(t), <=, p.bytes);
        CHECK_THAT((double)tamis_image_size(t), >, 0.8 * (double)p.bytes);
        tamis_close(t);
    }
    /* 1 M URLs in 2,000,000 bytes: about 1 in 60,000. */
    tamis_plan guard = ribbon_plan(1000000, 0);
    guard.bytes = 2000000;
    CHECK_OK(tamis_solve(&guard, NULL, &why));
    CHECK_THAT(guard.fpr, <, 1.0 / 57000);
    static const struct {
        uint32_t k;
        uint64_t items, bytes, m;
        double fpr;
    } wrong[] = {{5, 100, 0, 0, 0.01},
                 {0, 100, 0, 512, 0.01},
                 {0, 100, 0, 0, 1e-12},
                 {0, 100, 200, 0, 0.01},
                 {0, 100, 10, 0, 0},
                 {0, 0, 100, 0, 0.01},
                 {0, UINT64_C(1) << 52, 0, 0, 0.01}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        tamis_plan p = ribbon_plan(wrong[i].items, wrong[i].fpr);
        p.bytes = wrong[i].bytes;
        p.m = wrong[i].m;
        p.k = wrong[i].k;
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
        const tamis_plan p = ribbon_plan(100, 0.01);
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

/* The order of the keys, and how often they come, do not matter. */
static void only_the_set_counts(void)
{
    enum { N = 5000 };
    const tamis_plan p = ribbon_plan(N, 0.01);
    tamis *a = create(&p, NULL), *b = create(&p, NULL);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t other = N - 1 - i;
        CHECK_OK(tamis_add(a, &i, sizeof i, NULL));
        CHECK_OK(tamis_add(b, &other, sizeof other, NULL));
    }
    CHECK_OK(tamis_seal(a, NULL));
    CHECK_OK(tamis_seal(b, NULL));
    CHECK(same_image(a, b));
    tamis_close(a);
    tamis_close(b);
}

static void limits(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 2000};
    const tamis_plan p = ribbon_plan(50, 0.01);
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
    {"space_is_near_the_bound", space_is_near_the_bound},
    {"collecting_says_maybe", collecting_says_maybe},
    {"clearing_a_collection", clearing_a_collection},
    {"nothing_at_all", nothing_at_all},
    {"duplicates_are_welcome", duplicates_are_welcome},
    {"poor_hashes", poor_hashes},
    {"plans", plans},
    {"no_memory", no_memory},
    {"only_the_set_counts", only_the_set_counts},
    {"limits", limits},
};
TEST_MAIN(tests)
