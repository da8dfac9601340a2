/* What the calls for maps refuse and report: other kinds, values that are too big, maps that are
 * not sealed or lack their key, plans, and calls that a map lacks. */
#define _POSIX_C_SOURCE 200809L
#include "../support/maps.h"

#include <math.h>
#include <tamis/columns.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/parts.h>
#include <tamis/publish.h>

static const tamis_bytes a_key = {"key", 3};
static const tamis_hash a_hash = {UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210)};

/* Every call fails like this, and sets what it would have set. */
static void check_lookups(const tamis *t, tamis_status expected, const char *words)
{
    uint32_t value = 7, many[1] = {7};
    uint8_t found[1] = {0xaa};
    tamis_error why;
    CHECK_THAT(tamis_value(t, "key", 3, &value), ==, expected);
    CHECK_THAT(value, ==, 0);
    CHECK_THAT(tamis_value_many(t, &a_key, 1, many, found, &why), ==, expected);
    CHECK(why.status == expected && strstr(why.text, words) != NULL);
    CHECK(many[0] == 7 && found[0] == 0xaa);
    CHECK_THAT(tamis_value_many(t, &a_key, 1, many, NULL, NULL), ==, expected);
}

static void check_adds(tamis *t, tamis_status expected, const char *words, uint32_t better)
{
    const uint32_t value = 1;
    size_t done = 7;
    tamis_error why;
    const uint64_t before = facts_of(t).items;
    CHECK_THAT(tamis_add_value(t, "key", 3, value, &why), ==, expected);
    CHECK(why.status == expected && strstr(why.text, words) != NULL);
    CHECK_THAT(why.better_kind, ==, better);
    CHECK_THAT(tamis_add_value_many(t, &a_key, &value, 1, &done, &why), ==, expected);
    CHECK(done == 0 && why.status == expected);
    CHECK_THAT(tamis_add_value_many(t, &a_key, &value, 1, NULL, NULL), ==, expected);
    CHECK_THAT(facts_of(t).items, ==, before);
}

static void other_kinds_have_no_values(void)
{
    uint32_t value = 7;
    uint8_t found = 0;
    size_t done = 7;
    tamis_error why;
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE || kind == TAMIS_VALUE_MAP)
            continue;
        const bool counts = kind >= TAMIS_COUNT_MIN;
        tamis_plan p = plan_of(kind, 1000);
        if (counts) p = (tamis_plan){.struct_size = sizeof p, .kind = kind, .bytes = 50000};
        tamis *t = create(&p, NULL);
        char words[100];
        snprintf(words, sizeof words, "%s %s have no values", tamis_kind_name(kind),
                 counts ? "" : "filters");
        check_lookups(t, TAMIS_EUNSUPPORTED, counts ? "have no values" : words);
        check_adds(t, TAMIS_EUNSUPPORTED, counts ? "have no values" : words, TAMIS_VALUE_MAP);
        CHECK_THAT(tamis_value_hashes(t, &a_hash, 1, &value, &found, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(why.better_kind, ==, TAMIS_VALUE_MAP);
        CHECK_THAT(tamis_add_value_hashes(t, &a_hash, &value, 1, &done, &why), ==,
                   TAMIS_EUNSUPPORTED);
        CHECK(why.better_kind == TAMIS_VALUE_MAP && done == 0);
        tamis_close(t);
    }
}

static void what_maps_lack(void)
{
    tamis *t = make_map(100, 8, 0.01, NULL), *u, *out = NULL;
    const tamis_plan plan = map_plan(100, 8, 0.01);
    const tamis_options shared = {.struct_size = sizeof shared, .flags = TAMIS_SHARED};
    tamis_error why;
    tamis_estimate e;
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    size_t done;
    const uint64_t word = 1;
    u = create(&plan, NULL);
    CHECK_THAT(tamis_add(u, "key", 3, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_add_many(u, &a_key, 1, NULL, &done), ==, TAMIS_EUNSUPPORTED);
    CHECK(done == 0);
    CHECK_THAT(tamis_add_hashes(u, &a_hash, 1, NULL, &done), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_add_hash64(u, &word, 1, NULL, &done), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_add_weight(u, "key", 3, 2, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(facts_of(u).items, ==, 0);
    CHECK_THAT(tamis_exclude(u, "key", 3, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_remove(u, "key", 3, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_rotate(u, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_merge(u, u, &why), !=, TAMIS_OK);
    CHECK_THAT(tamis_count(t, "key", 3, &e, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_distinct(t, &n, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_convert(t, TAMIS_BLOOM, &out, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_release(t, 1, &out, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_create(&plan, &shared, &out, &why), !=, TAMIS_OK);
    CHECK(tamis_cells_of(t, "key", 3, NULL, 0) == 0);
    const tamis_options file = {.struct_size = sizeof file, .temp_dir = "/tmp"};
    CHECK_THAT(tamis_create(&plan, &file, &out, &why), ==, TAMIS_EUNSUPPORTED);
    tamis_close(t);
    tamis_close(u);
}

static void before_and_after_the_seal(void)
{
    const tamis_plan plan = map_plan(100, 8, 0.01);
    tamis *t = create(&plan, NULL);
    put_values(t, 0, 100, 8);
    CHECK(has(t, 5) && has(t, STRANGER)); /* everything is a maybe */
    CHECK_THAT(facts_of(t).fpr_now, ==, 1);
    check_lookups(t, TAMIS_EINVAL, "a map has no values before it is sealed");
    CHECK_OK(tamis_seal(t, NULL));
    check_adds(t, TAMIS_ESEALED, "", 0);
    CHECK_THAT(tamis_seal(t, NULL), ==, TAMIS_OK); /* it is sealed */
    check_values(t, 0, 100, 8, true);
    tamis_close(t);
}

static void values_that_are_too_big(void)
{
    for (uint32_t bits = 1; bits < 32; bits++) {
        const tamis_plan plan = map_plan(100, bits, 0.01);
        tamis *t = create(&plan, NULL);
        const uint32_t limit = UINT32_C(1) << bits, values[4] = {0, limit - 1, limit, 1};
        const tamis_bytes keys4[4] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
        const tamis_hash h[2] = {a_hash, {1, 2}};
        char words[100];
        tamis_error why;
        size_t done = 9;
        uint32_t found;
        snprintf(words, sizeof words, "the value %u has more than %u bits", limit, bits);
        CHECK_THAT(tamis_add_value(t, "c", 1, limit, &why), ==, TAMIS_EINVAL);
        CHECK(strcmp(why.text, words) == 0);
        CHECK_THAT(tamis_add_value(t, "c", 1, UINT32_MAX, NULL), ==, TAMIS_EINVAL);
        CHECK_THAT(tamis_add_value_many(t, keys4, values, 4, &done, &why), ==, TAMIS_EINVAL);
        CHECK(done == 2 && strcmp(why.text, words) == 0);
        CHECK_THAT(tamis_add_value_hashes(t, h, values + 1, 2, &done, &why), ==, TAMIS_EINVAL);
        CHECK(done == 1 && strcmp(why.text, words) == 0);
        CHECK_THAT(facts_of(t).items, ==, 3);
        CHECK_OK(tamis_seal(t, NULL));
        CHECK_OK(tamis_value(t, "b", 1, &found));
        CHECK_THAT(found, ==, limit - 1);
        CHECK_OK(tamis_value(t, "a", 1, &found));
        CHECK_THAT(found, ==, 0);
        tamis_close(t);
    }
}

static void without_the_secret_key(void)
{
    const tamis_plan plan = map_plan(100, 8, 0.01);
    const tamis_options keyed = {.struct_size = sizeof keyed, .key = secret},
                        other = {.struct_size = sizeof other, .key = other_secret},
                        keyless = {.struct_size = sizeof keyless, .flags = TAMIS_KEYLESS};
    tamis *t = create(&plan, secret), *u;
    uint32_t value;
    uint8_t found;
    put_values(t, 0, 100, 8);
    struct bytes open = image_of(t);
    CHECK_OK(tamis_seal(t, NULL));
    check_values(t, 0, 100, 8, true);
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, &keyless, &u, NULL));
    check_lookups(u, TAMIS_EKEY, "");
    CHECK(has(u, STRANGER));
    CHECK_OK(tamis_value_hashes(u, &a_hash, 1, &value, &found, NULL)); /* hashes need no key */
    tamis_close(u);
    CHECK_OK(tamis_load(open.p, open.n, &keyless, &u, NULL));
    check_adds(u, TAMIS_EKEY, "", 0);
    tamis_close(u);
    CHECK_THAT(tamis_load(image.p, image.n, &other, &u, NULL), ==, TAMIS_EKEY);
    CHECK_OK(tamis_load(image.p, image.n, &keyed, &u, NULL));
    check_values(u, 0, 100, 8, true);
    tamis_close(u);
    tamis_close(t);
    free(open.p);
    free(image.p);
}

static void keys_of_a_wrong_length(void)
{
    tamis_plan plan = map_plan(100, 8, 0.01);
    plan.encoding = TAMIS_KEYS_INT64;
    tamis *t = create(&plan, NULL);
    const uint64_t number = 5;
    const tamis_bytes two[2] = {{&number, 8}, a_key};
    const uint32_t values[2] = {1, 2};
    uint32_t found[2];
    uint8_t bits;
    size_t done = 9;
    tamis_error why;
    CHECK_THAT(tamis_add_value(t, "key", 3, 1, &why), ==, TAMIS_EINVAL);
    CHECK(strstr(why.text, "8 bytes") != NULL);
    CHECK_THAT(tamis_add_value_many(t, two, values, 2, &done, &why), ==, TAMIS_EINVAL);
    CHECK(done == 1 && strstr(why.text, "8 bytes") != NULL);
    CHECK_OK(tamis_seal(t, NULL));
    check_lookups(t, TAMIS_EINVAL, "8 bytes");
    CHECK_THAT(tamis_value_many(t, two, 2, found, &bits, &why), ==, TAMIS_EINVAL);
    CHECK_OK(tamis_value(t, &number, 8, found));
    CHECK_THAT(found[0], ==, 1);
    tamis_close(t);
}

/* No keys are a right number of keys. */
static void nothing_at_all(void)
{
    const tamis_plan plan = map_plan(1, 8, 0.01);
    tamis *t = create(&plan, NULL);
    size_t done = 9;
    uint32_t value = 9;
    uint8_t bits = 9;
    CHECK_OK(tamis_add_value_many(t, NULL, NULL, 0, &done, NULL));
    CHECK_THAT(done, ==, 0);
    CHECK_OK(tamis_add_value_hashes(t, NULL, NULL, 0, &done, NULL));
    CHECK_OK(tamis_add_value(t, NULL, 0, 200, NULL)); /* the empty key */
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_value_many(t, NULL, 0, NULL, NULL, NULL));
    CHECK_OK(tamis_value_hashes(t, NULL, 0, &value, &bits, NULL));
    CHECK(value == 9 && bits == 9);
    CHECK_OK(tamis_value(t, NULL, 0, &value));
    CHECK_THAT(value, ==, 200);
    tamis_close(t);
}

static void a_limit(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 4000};
    const tamis_plan plan = map_plan(50, 8, 0.01);
    tamis *t;
    tamis_error why;
    size_t done = 0;
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    const struct map_piece *p = map_piece_of(0, 1000, 8);
    CHECK_THAT(tamis_add_value_many(t, p->key, p->value, 1000, &done, &why), ==, TAMIS_EFULL);
    CHECK(done > 200 && done < 250 && facts_of(t).items == done);
    CHECK_OK(tamis_seal(t, NULL));
    check_values(t, 0, done, 8, true);
    tamis_close(t);
}

/* --- Plans ------------------------------------------------------------------------------------ */

static void plans(void)
{
    tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_VALUE_MAP, .items = 1000000, .fpr = 0.01};
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    CHECK_THAT(p.cell_bits, ==, 8); /* by default */
    for (uint32_t bits = 1; bits <= 32; bits++) {
        /* Any two of items, rate and bytes. */
        for (uint64_t items = 1; items < 3000000; items *= 12) {
            tamis_plan by_rate = map_plan(items, bits, bits % 3 == 0 ? 1 : 0.013);
            CHECK_OK(tamis_solve(&by_rate, NULL, NULL));
            tamis_plan by_bytes = by_rate, by_items = by_rate;
            by_bytes.fpr = 0;
            CHECK_OK(tamis_solve(&by_bytes, NULL, NULL));
            CHECK(by_bytes.fpr <= by_rate.fpr && by_bytes.bytes <= by_rate.bytes);
            by_items.items = 0;
            CHECK_OK(tamis_solve(&by_items, NULL, NULL));
            CHECK(by_items.items >= items && by_items.bytes <= by_rate.bytes);
            tamis_plan again = by_bytes;
            CHECK_OK(tamis_solve(&again, NULL, NULL));
            CHECK(memcmp(&again, &by_bytes, sizeof again) == 0);
        }
    }
    CHECK(tamis_kind_named("map") == TAMIS_VALUE_MAP);
    CHECK(strcmp(tamis_kind_name(TAMIS_VALUE_MAP), "map") == 0);
}

static void impossible_plans(void)
{
    static const struct {
        tamis_plan p;
        const char *words;
    } cases[] = {
        {{.items = 100, .fpr = 0.01, .cell_bits = 33}, "a value has 1 to 32 bits, not 33"},
        {{.items = 100, .fpr = 0.01, .m = 512}, "the shape of a map follows its keys"},
        {{.items = 100, .fpr = 0.01, .k = 3}, "the shape of a map follows its keys"},
        {{.items = 100, .fpr = 1e-12}, "a map reaches 2^-32, not 1e-12"},
        {{.items = 100, .fpr = 1.5}, "below 1, or 1"},
        {{.items = 100, .fpr = 0.01, .bytes = 200}, "200 bytes are too few"},
        {{.items = 100, .bytes = 10}, ""},
        {{.bytes = 100, .fpr = 0.01}, ""},
        {{.items = UINT64_C(1) << 52, .fpr = 0.01}, "2^52"},
        {{.items = 100, .fpr = 0.01, .excluded = 3}, "excluded keys"},
        {{.items = 100, .fpr = 0.01, .flags = TAMIS_STRICT}, ""},
        {{.items = 100, .fpr = 0.01, .flags = TAMIS_COMPACT}, "compact"},
        {{.items = 100, .fpr = 0.01, .generations = 3}, "generations"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        tamis_plan p = cases[i].p;
        tamis_error why = {0};
        p.struct_size = sizeof p;
        p.kind = TAMIS_VALUE_MAP;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        if (strstr(why.text, cases[i].words) == NULL) printf("%s\n", why.text);
        CHECK(why.text[0] != '\0' && strstr(why.text, cases[i].words) != NULL);
    }
    /* Only a map may have the rate 1, and no window is one of maps. */
    tamis_plan one = {.struct_size = sizeof one, .kind = TAMIS_RIBBON, .items = 9, .fpr = 1};
    CHECK_THAT(tamis_solve(&one, NULL, NULL), ==, TAMIS_EINVAL);
    tamis_plan window = {.struct_size = sizeof window,
                         .kind = TAMIS_WINDOW,
                         .inner_kind = TAMIS_VALUE_MAP,
                         .items = 100,
                         .fpr = 0.01};
    CHECK_THAT(tamis_solve(&window, NULL, NULL), ==, TAMIS_EINVAL);
}

static const struct test tests[] = {
    {"other_kinds_have_no_values", other_kinds_have_no_values},
    {"what_maps_lack", what_maps_lack},
    {"before_and_after_the_seal", before_and_after_the_seal},
    {"values_that_are_too_big", values_that_are_too_big},
    {"without_the_secret_key", without_the_secret_key},
    {"keys_of_a_wrong_length", keys_of_a_wrong_length},
    {"nothing_at_all", nothing_at_all},
    {"a_limit", a_limit},
    {"plans", plans},
    {"impossible_plans", impossible_plans},
};
TEST_MAIN(tests)
