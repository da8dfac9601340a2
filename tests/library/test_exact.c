/* What only exact promises, which knows excluded keys as well as members. test_sealed.c has what it
 * shares with the other sealed kinds. */
#define _POSIX_C_SOURCE 200809L
#include "../support/sealed.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static tamis_plan exact_plan(uint64_t items, uint64_t excluded, double fpr)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_EXACT,
                          .items = items,
                          .excluded = excluded,
                          .fpr = fpr};
    return p;
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
        /* A loaded copy gives the same answers. */
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
    CHECK(strstr(why.text, "added key 78 is the same as excluded key 501") != NULL);
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

/* The image does not depend on the order of the keys, on repeated keys of either list, or on
 * whether keys come one at a time. */
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
    {"a_key_on_both_lists", a_key_on_both_lists},
    {"other_kinds_cannot", other_kinds_cannot},
    {"only_the_sets_count", only_the_sets_count},
    {"limits", limits},
};
TEST_MAIN(tests)
