/* exact: what it was told of it knows; of everything else it has the rate that was planned. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/tracking.h"
#include "core/handle.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))
/* Members are numbers from 0 on, the excluded from here on, and those never named from there on. */
#define OTHER (UINT64_C(1) << 32)
#define STRANGER (UINT64_C(1) << 40)

static tamis_plan exact_plan(uint64_t items, uint64_t excluded, double fpr)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_EXACT,
                          .items = items,
                          .excluded = excluded,
                          .fpr = fpr};
    return p;
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

static void exclude(tamis *t, uint64_t from, uint64_t n)
{
    for (uint64_t key = from; key < from + n; key++)
        CHECK_OK(tamis_exclude(t, &key, sizeof key, NULL));
}

static void add(tamis *t, uint64_t from, uint64_t n)
{
    for (uint64_t key = from; key < from + n; key++) CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
}

static tamis *make(uint64_t items, uint64_t excluded, double fpr)
{
    const tamis_plan p = exact_plan(items, excluded, fpr);
    tamis *t = create(&p, NULL);
    add(t, 0, items);
    exclude(t, OTHER, excluded);
    CHECK_OK(tamis_seal(t, NULL));
    return t;
}

/* --- Promises --------------------------------------------------------------------------------- */

/* One at a time and in bulk. */
static void check_known(const tamis *t, uint64_t items, uint64_t excluded)
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

static void never_wrong_about_known_keys(void)
{
    static const struct {
        uint64_t items, excluded;
        double fpr;
    } cases[] = {{1, 0, 0.01},      {0, 5, 0.01},        {1, 1, 0},          {2, 1000, 0},
                 {300, 300, 0},     {699, 1, 0},         {1000, 10, 0.5},    {1000, 50000, 0},
                 {20000, 30000, 0}, {50000, 1000, 1e-5}, {30000, 300000, 0}, {200000, 100000, 0.01},
                 {500, 500000, 0},  {3, 0, 0.9},         {10000, 100, 1e-9}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        tamis_plan p =
            exact_plan(cases[i].items > 0 ? cases[i].items : 1, cases[i].excluded, cases[i].fpr);
        tamis *t = create(&p, NULL);
        add(t, 0, cases[i].items);
        exclude(t, OTHER, cases[i].excluded);
        CHECK_OK(tamis_seal(t, NULL));
        check_known(t, cases[i].items, cases[i].excluded);
        const tamis_facts f = facts_of(t);
        CHECK(f.sealed && !f.collecting && !f.overfull && !f.may_miss);
        if (cases[i].items > 0) CHECK_THAT(f.excluded, ==, cases[i].excluded);
        /* Saved and loaded it is the same. */
        struct bytes image = image_of(t);
        tamis *again;
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        check_known(again, cases[i].items, cases[i].excluded);
        CHECK(same_image(t, again));
        free(image.p);
        tamis_close(again);
        tamis_close(t);
    }
}

/* Every other key: what is planned, said and measured, 6.2 deviations each time. */
static void strangers_have_the_rate(void)
{
    static const struct {
        uint64_t items, excluded;
        double fpr;
    } cases[] = {{20000, 20000, 0.3},  {20000, 1000, 0.1}, {20000, 20000, 0.01},
                 {20000, 20000, 1e-3}, {20000, 0, 1e-4},   {2000, 200000, 0},
                 {300, 100, 0.02},     {20000, 20000, 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        enum { ASKED = 2000000 };
        tamis *t = make(cases[i].items, cases[i].excluded, cases[i].fpr);
        uint64_t wrong = 0;
        for (uint64_t key = STRANGER; key < STRANGER + ASKED; key++) wrong += has(t, key);
        const tamis_facts f = facts_of(t);
        const double expected = f.fpr_now * ASKED;
        if (cases[i].fpr != 0) CHECK_THAT(f.fpr_planned, <=, cases[i].fpr);
        CHECK_THAT(fabs((double)wrong - expected), <, 6.2 * sqrt(expected) + 1);
        /* A last layer of few keys has the luck of the draw; it is a small part of the whole. */
        CHECK_THAT((double)wrong, <,
                   1.05 * f.fpr_planned * ASKED + 6.2 * sqrt(f.fpr_planned * ASKED));
        tamis_close(t);
    }
}

/* The whole image against the bound, and what is said of that bound against the factorials. */
static void space(void)
{
    static const struct {
        uint64_t items, excluded;
        double fpr, most;
    } cases[] = {{300000, 300000, 0, 1.03},
                 {200000, 20000, 1.0 / 40000, 1.02},
                 {100000, 100000, 1e-3, 1.04},
                 {20000, 2000000, 0, 1.14},
                 {100000, 1000000, 0, 1.13}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const double n = (double)cases[i].items, x = (double)cases[i].excluded;
        tamis *t = make(cases[i].items, cases[i].excluded, cases[i].fpr);
        const tamis_facts f = facts_of(t);
        const double sets = (lgamma(n + x + 1) - lgamma(n + 1) - lgamma(x + 1)) / log(2) / n;
        const double rate = log2(1 / f.fpr_now), bound = sets > rate ? sets : rate;
        CHECK_THAT(fabs(f.bound_bits - bound), <, 0.01);
        CHECK_THAT(f.bits_per_item, <, cases[i].most * bound);
        tamis_plan p = exact_plan(cases[i].items, cases[i].excluded, cases[i].fpr);
        tamis_promise r = {.struct_size = sizeof r};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK_THAT(f.bytes, <=, r.bytes);
        CHECK_THAT((double)f.bytes, >, 0.9 * (double)r.bytes);
        CHECK_THAT(fabs(r.bound_bits - bound), <, 0.01);
        tamis_close(t);
    }
}

/* --- Both lists ------------------------------------------------------------------------------- */

static void a_key_on_both_lists(void)
{
    const tamis_plan p = exact_plan(1000, 1000, 0.01);
    tamis *t = create(&p, NULL);
    tamis_error why;
    const uint64_t both = 77;
    add(t, 0, 1000);
    exclude(t, OTHER, 500);
    CHECK_OK(tamis_exclude(t, &both, sizeof both, NULL));
    exclude(t, OTHER + 500, 400);
    CHECK_THAT(tamis_seal(t, &why), ==, TAMIS_EINVAL);
    CHECK_THAT(why.offset, ==, 500);
    CHECK(strstr(why.text, "key 78 that was added is key 501 that was excluded") != NULL);
    CHECK(facts_of(t).collecting && facts_of(t).items == 1000 && facts_of(t).excluded == 901);
    CHECK_OK(tamis_clear(t));
    CHECK(facts_of(t).excluded == 0);
    add(t, 0, 10);
    exclude(t, OTHER, 10);
    CHECK_OK(tamis_seal(t, &why));
    check_known(t, 10, 10);
    CHECK_THAT(tamis_exclude(t, "x", 1, &why), ==, TAMIS_ESEALED);
    tamis_close(t);
}

static void other_kinds_cannot(void)
{
    for (uint32_t kind = TAMIS_BLOOM; kind < TAMIS_EXACT; kind++) {
        tamis *t = create_kind(kind);
        tamis_error why;
        CHECK_THAT(tamis_exclude(t, "a", 1, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(why.better_kind, ==, TAMIS_EXACT);
        tamis_close(t);
    }
}

/* Repeated keys on either list, in any order, at once or one by one: the same bytes. */
static void only_the_sets_count(void)
{
    const tamis_plan p = exact_plan(3000, 2000, 0.01);
    tamis *a = create(&p, NULL), *b = create(&p, NULL);
    static tamis_hash h[5000];
    for (uint64_t key = 0; key < 5000; key++) {
        const tamis_bytes one = {&key, sizeof key};
        CHECK_OK(tamis_hash_many(a, &one, 1, &h[key]));
    }
    CHECK_OK(tamis_exclude_hashes(a, h + 3000, 2000, NULL));
    CHECK_OK(tamis_add_hashes(a, h, 3000, NULL, NULL));
    for (uint64_t key = 2999; key < 3000; key--) CHECK_OK(tamis_add(b, &key, sizeof key, NULL));
    CHECK_OK(tamis_add(b, &(uint64_t){7}, sizeof(uint64_t), NULL));
    CHECK_THAT(facts_of(b).items, ==, 3001);
    for (int twice = 0; twice < 2; twice++) {
        for (uint64_t key = 3000; key < 5000; key++) {
            const tamis_bytes one = {&key, sizeof key};
            CHECK_OK(tamis_exclude_many(b, &one, 1, NULL));
        }
    }
    CHECK_THAT(facts_of(b).excluded, ==, 4000);
    CHECK_OK(tamis_seal(a, NULL));
    CHECK_OK(tamis_seal(b, NULL));
    CHECK_THAT(facts_of(b).excluded, ==, 2000);
    CHECK_THAT(facts_of(b).items, ==, 3000);
    CHECK(same_image(a, b));
    tamis_close(a);
    tamis_close(b);
}

static void poor_hashes(void)
{
    for (int how = 0; how < 4; how++) {
        enum { N = 4000 };
        tamis_plan p = exact_plan(N, N, 0.01);
        p.flags = TAMIS_HASH_CALLER;
        tamis *t = create(&p, NULL);
        static tamis_hash h[2 * N];
        uint8_t bits[N / 8];
        for (uint64_t i = 0; i < 2 * N; i++) {
            const tamis_hash made[4] = {{i, i}, {i << 40, 7}, {7, i << 40}, {i, ~i}};
            h[i] = made[how];
        }
        CHECK_OK(tamis_add_hashes(t, h, N, NULL, NULL));
        CHECK_OK(tamis_exclude_hashes(t, h + N, N, NULL));
        CHECK_THAT(tamis_exclude(t, "a", 1, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_seal(t, NULL), ==, TAMIS_EINVAL);
        CHECK_OK(tamis__seal(t, NULL));
        CHECK_THAT(tamis_may_contain_hashes(t, h, N, bits), ==, N);
        CHECK_THAT(tamis_may_contain_hashes(t, h + N, N, bits), ==, 0);
        tamis_close(t);
    }
}

/* --- Plans and memory ------------------------------------------------------------------------- */

static void plans(void)
{
    tamis_error why;
    for (uint64_t items = 1; items < UINT64_C(1) << 38; items = items * 7 + 1) {
        for (uint64_t excluded = 0; excluded < UINT64_C(1) << 40; excluded = excluded * 30 + 1) {
            tamis_plan p = exact_plan(items, excluded, excluded % 2 == 0 ? 0.01 : 0);
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK(excluded % 2 != 0 || p.fpr <= 0.01);
            const tamis_plan solved = p;
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK(memcmp(&p, &solved, sizeof p) == 0);
            p.fpr = 0; /* from items and bytes: the same rate again, or a little less */
            CHECK_OK(tamis_solve(&p, NULL, &why));
            CHECK(p.fpr <= solved.fpr && p.bytes <= solved.bytes);
        }
    }
    static const struct {
        uint64_t items, excluded, bytes, m;
        double fpr;
    } wrong[] = {
        {0, 100, 1000, 0, 0},   {100, 0, 0, 0, 0},          {100, 100, 0, 512, 0},
        {100, 100, 10, 0, 0.1}, {100, 100, 0, 0, 1e-12},    {0, 0, 100, 0, 0.01},
        {100, 100, 10, 0, 0},   {100, UINT64_MAX, 0, 0, 0}, {UINT64_C(1) << 52, 1, 0, 0, 0}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        tamis_plan p = exact_plan(wrong[i].items, wrong[i].excluded, wrong[i].fpr);
        p.bytes = wrong[i].bytes;
        p.m = wrong[i].m;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    }
    tamis_plan ribbon = {
        .struct_size = sizeof ribbon, .kind = TAMIS_RIBBON, .items = 10, .fpr = 0.1};
    ribbon.excluded = 10;
    CHECK_THAT(tamis_solve(&ribbon, NULL, &why), ==, TAMIS_EINVAL);
}

/* Every allocation of collecting and sealing fails once: nothing is lost, nothing leaks, and it
 * works when tried again. */
static void no_memory(void)
{
    for (size_t fail_at = 1;; fail_at++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_plan p = exact_plan(900, 3000, 0.01);
        tamis *t;
        tamis_error why;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        a.calls = 0;
        a.fail_at = fail_at;
        for (uint64_t key = 0; key < 900; key++) {
            if (tamis_add(t, &key, sizeof key, NULL) != TAMIS_OK)
                CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        }
        for (uint64_t key = OTHER; key < OTHER + 3000; key++) {
            if (tamis_exclude(t, &key, sizeof key, &why) != TAMIS_OK) {
                CHECK_THAT(why.status, ==, TAMIS_ENOMEM);
                CHECK_OK(tamis_exclude(t, &key, sizeof key, NULL));
            }
        }
        const tamis_status s = tamis_seal(t, &why);
        if (s != TAMIS_OK) {
            CHECK(s == TAMIS_ENOMEM && why.text[0] != '\0' && facts_of(t).collecting);
            CHECK_OK(tamis_seal(t, &why));
        }
        check_known(t, 900, 3000);
        const bool failed = a.failed;
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
        if (!failed) return;
    }
}

static void before_the_seal(void)
{
    const tamis_plan p = exact_plan(100, 100, 0.01);
    tamis *t = create(&p, NULL), *again;
    add(t, 0, 50);
    exclude(t, OTHER, 60);
    CHECK(has(t, OTHER)); /* it cannot be certain yet */
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    add(t, 50, 50);
    add(again, 50, 50);
    exclude(t, OTHER + 60, 40);
    exclude(again, OTHER + 60, 40);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(again, NULL));
    check_known(again, 100, 100);
    for (uint64_t key = STRANGER; key < STRANGER + 5000; key++)
        CHECK(has(t, key) == has(again, key));
    free(image.p);
    tamis_close(again);
    tamis_close(t);
}

static void limits(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 4000};
    const tamis_plan p = exact_plan(50, 50, 0.01);
    tamis *t;
    tamis_error why;
    tamis_status s = TAMIS_OK;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    add(t, 0, 50);
    for (uint64_t i = 0; i < 1000 && s == TAMIS_OK; i++) s = tamis_exclude(t, &i, sizeof i, &why);
    CHECK_THAT(s, ==, TAMIS_EFULL);
    CHECK_THAT(tamis_image_size(t), <=, 4000);
    tamis_close(t);
}

static const struct test tests[] = {
    {"never_wrong_about_known_keys", never_wrong_about_known_keys},
    {"strangers_have_the_rate", strangers_have_the_rate},
    {"space", space},
    {"a_key_on_both_lists", a_key_on_both_lists},
    {"other_kinds_cannot", other_kinds_cannot},
    {"only_the_sets_count", only_the_sets_count},
    {"poor_hashes", poor_hashes},
    {"plans", plans},
    {"no_memory", no_memory},
    {"before_the_seal", before_the_seal},
    {"limits", limits},
};
TEST_MAIN(tests)
