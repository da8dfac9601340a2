/* The images in tests/golden/ are a promise: they open, give the same answers as before, and are
 * built byte for byte by the current code. No truncation, no extension and no flipped bit of
 * them goes unnoticed. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/golden.h"

#include <math.h>
#include <tamis/distinct.h>
#include <tamis/inspect.h>

static void test_rewritten_identically(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct bytes golden = read_golden(recipes[i].name);
        const tamis_options o = golden_options(&recipes[i]);
        tamis *t[3];
        CHECK_OK(tamis_load(golden.p, golden.n, &o, &t[0], NULL));
        CHECK_OK(tamis_view(golden.p, golden.n, &o, &t[1], NULL));
        CHECK_OK(tamis_copy(t[1], &t[2], NULL));
        for (size_t j = 0; j < 3; j++) {
            struct bytes again = image_of(t[j]);
            CHECK(bytes_equal(again, golden));
            free(again.p);
            tamis_close(t[j]);
        }
        free(golden.p);
    }
}

static void test_cooked_identically(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct bytes golden = read_golden(recipes[i].name);
        tamis *t;
        CHECK_OK(golden_cook(&recipes[i], &t));
        struct bytes again = image_of(t);
        if (!bytes_equal(again, golden)) printf("%s\n", recipes[i].name);
        CHECK(bytes_equal(again, golden));
        free(again.p);
        free(golden.p);
        tamis_close(t);
    }
}

/* What the names of the images say is in them. */
static void test_facts(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        const struct recipe *r = &recipes[i];
        struct bytes golden = read_golden(r->name);
        const tamis_options o = golden_options(r);
        tamis *t;
        CHECK_OK(tamis_load(golden.p, golden.n, &o, &t, NULL));
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(t, &f));
        const bool released = (r->also & GOLDEN_RELEASED) != 0;
        CHECK(f.kind == golden_kind(r) && f.seed == r->plan.seed && f.bytes == golden.n);
        CHECK(f.keyed == ((r->also & GOLDEN_KEYED) != 0));
        CHECK(f.sealed == (released || (r->also & GOLDEN_SEALED) != 0));
        const bool merged = (r->also & GOLDEN_MERGED) != 0 && !golden_counts(r);
        const bool tokens = f.kind == TAMIS_DISTINCT && f.cell_bits == 64;
        CHECK(f.items_estimated == (golden_distinct(r) ? !tokens : released || merged));
        CHECK(f.may_miss == (released || f.kind == TAMIS_PAIR));
        CHECK(f.strict == ((r->plan.flags & TAMIS_STRICT) != 0));
        CHECK((f.hash == TAMIS_CALLER_HASH) == ((r->plan.flags & TAMIS_HASH_CALLER) != 0));
        CHECK_THAT(f.generation, ==, (r->also & GOLDEN_AGAIN) != 0 ? 2 : 1);
        CHECK((f.items == 0) == (r->keys == 0));
        CHECK_THAT(f.encoding, ==, r->plan.encoding);
        CHECK_THAT(f.key_width, ==, golden_width(r));
        CHECK_THAT(f.epoch, ==, (r->also & GOLDEN_EPOCHS) != 0 ? GOLDEN_EPOCH + 1 : 0);
        tamis_close(t);
        free(golden.p);
    }
}

static size_t from_hex(const char *text, uint8_t *out)
{
    size_t n = 0;
    unsigned byte;
    for (; sscanf(text, "%2x", &byte) == 1; text += 2) out[n++] = (uint8_t)byte;
    return n;
}

static bool ask(const tamis *t, const uint8_t *key, size_t n)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    if (f.hash != TAMIS_CALLER_HASH) return tamis_may_contain(t, key, n);
    const tamis_hash h = {tamis__get64(key), tamis__get64(key + 8)};
    uint8_t bit;
    return tamis_may_contain_hashes(t, &h, 1, &bit) == 1;
}

/* answers.txt: see make_golden.c. */
static void test_answers(void)
{
    struct bytes text = read_golden("answers.txt");
    tamis *t = NULL;
    struct bytes image = {NULL, 0};
    size_t images = 0, present = 0, absent = 0, maybe = 0, missed = 0;
    const char *end = (const char *)text.p + text.n;
    for (const char *line = (const char *)text.p; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        char word[8], key[2 * GOLDEN_KEY_MAX + 1] = "";
        uint8_t raw[GOLDEN_KEY_MAX];
        int answer;
        if (sscanf(line, "image %500s", key) == 1) {
            tamis_close(t);
            free(image.p);
            CHECK(images < RECIPES && strcmp(key, recipes[images].name) == 0);
            image = read_golden(key);
            const tamis_options o = golden_options(&recipes[images++]);
            CHECK_OK(tamis_load(image.p, image.n, &o, &t, NULL));
            continue;
        }
        CHECK(sscanf(line, "%7s %500s %d", word, key, &answer) == 3);
        const bool in = strcmp(word, "in") == 0;
        CHECK(ask(t, raw, strcmp(key, "-") == 0 ? 0 : from_hex(key, raw)) == (answer == 1));
        missed += in && answer == 0;
        CHECK(!in || answer == 1 || golden_kind(&recipes[images - 1]) == TAMIS_PRIVATE);
        present += in;
        absent += !in;
        maybe += !in && answer == 1;
    }
    tamis_close(t);
    free(image.p);
    free(text.p);
    CHECK_THAT(images, ==, RECIPES);
    CHECK_THAT(present + absent, ==, 128 * RECIPES);
    CHECK_THAT(present, ==, 64 * (RECIPES - 3)); /* all except the three empty ones */
    CHECK_THAT(maybe, >, 0);                     /* false positives are part of the promise */
    CHECK_THAT(missed, >, 0);                    /* and of releases what they miss */
}

static const struct recipe *find_recipe(const char *name, const struct recipe *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i].name) == 0) return &list[i];
    return NULL;
}

/* Opens an image or a packed file; *out is its recipe. */
static tamis *open_named(const char *name, const struct recipe **out)
{
    const struct recipe *packed = find_recipe(name, packed_recipes, PACKED_RECIPES);
    const struct recipe *r = packed != NULL ? packed : find_recipe(name, recipes, RECIPES);
    CHECK(r != NULL);
    struct bytes file = read_golden(name);
    const tamis_options o = golden_options(r);
    tamis *t;
    if (packed != NULL)
        CHECK_OK(tamis_unpack(file.p, file.n, &o, &t, NULL));
    else
        CHECK_OK(tamis_load(file.p, file.n, &o, &t, NULL));
    free(file.p);
    *out = r;
    return t;
}

/* more-answers.txt: see make_vectors.c. */
static void test_more_answers(void)
{
    struct bytes text = read_golden("more-answers.txt");
    tamis *t = NULL;
    const struct recipe *r = NULL;
    size_t packed = 0, kinds = 0;
    bool positive[TAMIS_COUNT_MIN] = {false};
    const char *end = (const char *)text.p + text.n;
    for (const char *line = (const char *)text.p; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        char word[8], key[2 * GOLDEN_KEY_MAX + 1] = "";
        uint8_t raw[GOLDEN_KEY_MAX];
        int answer;
        if (sscanf(line, "image %500s", key) == 1) {
            tamis_close(t);
            t = open_named(key, &r);
            packed += strstr(key, ".packed") != NULL;
            continue;
        }
        CHECK(sscanf(line, "%7s %500s %d", word, key, &answer) == 3);
        CHECK(ask(t, raw, strcmp(key, "-") == 0 ? 0 : from_hex(key, raw)) == (answer == 1));
        CHECK(strcmp(word, "in") != 0 || answer == 1);
        if (strcmp(word, "not") == 0 && answer == 1 && golden_kind(r) < TAMIS_COUNT_MIN)
            positive[golden_kind(r)] = true;
    }
    tamis_close(t);
    free(text.p);
    for (size_t i = 0; i < TAMIS_COUNT_MIN; i++) kinds += positive[i];
    CHECK_THAT(packed, ==, PACKED_RECIPES);
    CHECK_THAT(kinds, ==, 13); /* each kind of filter has false positives here */
}

/* lists.txt: see make_vectors.c. */
static void test_lists(void)
{
    struct bytes text = read_golden("lists.txt");
    tamis *t = NULL;
    const struct recipe *r;
    tamis_heavy list[256];
    size_t images = 0, items = 0, listed = 0;
    const char *end = (const char *)text.p + text.n;
    for (const char *line = (const char *)text.p; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        char item[2 * GOLDEN_KEY_MAX + 1] = "";
        uint8_t raw[GOLDEN_KEY_MAX];
        unsigned long long hash, length;
        long long count, lower;
        size_t i = 0;
        if (sscanf(line, "image %500s", item) == 1) {
            tamis_close(t);
            t = open_named(item, &r);
            listed += tamis_top(t, list, 256);
            images++;
            continue;
        }
        CHECK(sscanf(line, "%llx %500s %llu %lld %lld", &hash, item, &length, &count, &lower) == 5);
        for (const size_t n = tamis_top(t, NULL, 0); i < n && list[i].hash != hash;) i++;
        CHECK(i < tamis_top(t, NULL, 0) && list[i].length == length);
        CHECK(list[i].count.upper == count && list[i].count.certain == lower);
        CHECK((list[i].item.p == NULL) == (strcmp(item, "?") == 0));
        const size_t n = strspn(item, "-?") != 0 ? 0 : from_hex(item, raw);
        CHECK(list[i].item.len == n && (n == 0 || memcmp(list[i].item.p, raw, n) == 0));
        items++;
    }
    tamis_close(t);
    free(text.p);
    CHECK_THAT(images, ==, 3);
    CHECK_THAT(items, ==, listed);
}

/* counts.txt: see make_golden.c. */
static void test_counts(void)
{
    struct bytes text = read_golden("counts.txt");
    tamis *t = NULL;
    size_t counted = 0, images = 0, recipe = 0;
    const char *end = (const char *)text.p + text.n;
    for (const char *line = (const char *)text.p; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        char key[2 * GOLDEN_KEY_MAX + 1] = "";
        uint8_t raw[GOLDEN_KEY_MAX];
        long long count;
        tamis_estimate e;
        if (sscanf(line, "image %500s", key) == 1) {
            tamis_close(t);
            while (recipe < RECIPES && strcmp(key, recipes[recipe].name) != 0) recipe++;
            CHECK(recipe < RECIPES);
            const tamis_options o = golden_options(&recipes[recipe]);
            struct bytes image = read_golden(key);
            CHECK_OK(tamis_load(image.p, image.n, &o, &t, NULL));
            free(image.p);
            images++;
            continue;
        }
        CHECK(sscanf(line, "%500s %lld", key, &count) == 2);
        const size_t n = strcmp(key, "-") == 0 ? 0 : from_hex(key, raw);
        CHECK_OK(tamis_count(t, raw, n, &e, NULL));
        CHECK(golden_count(&recipes[recipe], &e) == count);
        counted++;
    }
    tamis_close(t);
    free(text.p);
    size_t expected = 0;
    for (size_t i = 0; i < RECIPES; i++) expected += golden_counts(&recipes[i]);
    CHECK_THAT(images, ==, expected);
    CHECK_THAT(counted, ==, 128 * expected);
}

/* distinct.txt: see make_golden.c. */
static void test_distinct(void)
{
    struct bytes text = read_golden("distinct.txt");
    size_t images = 0, expected = 0;
    const char *end = (const char *)text.p + text.n;
    for (const char *line = (const char *)text.p; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        char name[501];
        double value, low, high;
        const struct recipe *r;
        if (sscanf(line, "image %500s %lf %lf %lf", name, &value, &low, &high) != 4) continue;
        tamis *t = open_named(name, &r);
        tamis_cardinality n = TAMIS_CARDINALITY_INIT;
        CHECK_OK(tamis_distinct(t, &n, NULL));
        CHECK_THAT(fabs(n.value - value), <, 1e-6);
        CHECK(fabs(n.low - low) <= 1 && fabs(n.high - high) <= 1); /* they are rounded */
        CHECK(n.low <= (double)r->keys && (double)r->keys <= n.high);
        tamis_close(t);
        images++;
    }
    for (size_t i = 0; i < RECIPES; i++) expected += golden_distinct(&recipes[i]);
    CHECK_THAT(images, ==, expected);
    free(text.p);
}

/* values.txt: see make_golden.c. */
static void test_values(void)
{
    struct bytes text = read_golden("values.txt");
    tamis *t = NULL;
    const struct recipe *r = NULL;
    size_t images = 0, present = 0, absent = 0, expected = 0;
    const char *end = (const char *)text.p + text.n;
    for (const char *line = (const char *)text.p; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        char key[2 * GOLDEN_KEY_MAX + 1] = "", word[16];
        uint8_t raw[GOLDEN_KEY_MAX], found;
        uint32_t value;
        if (sscanf(line, "image %500s", key) == 1) {
            tamis_close(t);
            t = open_named(key, &r);
            images++;
            continue;
        }
        CHECK(sscanf(line, "%500s %15s", key, word) == 2);
        const size_t n = strcmp(key, "-") == 0 ? 0 : from_hex(key, raw);
        CHECK_OK(golden_value_of(r, t, raw, n, &value, &found));
        const bool in = strcmp(word, "-") != 0;
        CHECK(found == in);
        CHECK(value == (in ? strtoul(word, NULL, 10) : 0));
        present += in;
        absent += !in;
    }
    tamis_close(t);
    free(text.p);
    for (size_t i = 0; i < RECIPES; i++) expected += golden_values(&recipes[i]);
    CHECK_THAT(images, ==, expected);
    CHECK_THAT(present + absent, ==, 128 * expected);
    CHECK(present > 4 * 64 && absent > 3 * 60); /* the values of some strangers are arbitrary */
}

static void check_refused(const uint8_t *p, size_t n, const tamis_options *o, bool in_place)
{
    tamis *t = (tamis *)(uintptr_t)1;
    tamis_error why;
    const tamis_status s = in_place ? tamis_view(p, n, o, &t, &why) : tamis_load(p, n, o, &t, &why);
    if (s == TAMIS_OK) printf("undetected, %zu bytes\n", n);
    CHECK(s != TAMIS_OK && t == NULL);
    CHECK(why.status == s && why.text[0] != '\0');
}

static void test_every_truncation(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct bytes golden = read_golden(recipes[i].name);
        const tamis_options o = golden_options(&recipes[i]);
        for (size_t n = 0; n < golden.n; n++) {
            check_refused(golden.p, n, &o, false);
            check_refused(golden.p, n, &o, true);
        }
        free(golden.p);
    }
}

/* A short image has its own end in memory too, so that ASan sees a reader that goes on. */
static void test_truncation_reads_no_further(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct bytes golden = read_golden(recipes[i].name);
        const tamis_options o = golden_options(&recipes[i]);
        for (size_t n = 0; n < golden.n && n < 1000; n++) {
            struct bytes cut = bytes_copy(golden.p, n);
            check_refused(cut.p, cut.n, &o, false);
            check_refused(cut.p, cut.n, &o, true);
            free(cut.p);
        }
        free(golden.p);
    }
}

static void test_every_extension(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct bytes golden = read_golden(recipes[i].name);
        const tamis_options o = golden_options(&recipes[i]);
        for (size_t more = 1; more <= 128; more++)
            for (int with = 0; with < 256; with += 255) {
                struct bytes longer = bytes_new(golden.n + more);
                memcpy(longer.p, golden.p, golden.n);
                memset(longer.p + golden.n, with, more);
                check_refused(longer.p, longer.n, &o, false);
                check_refused(longer.p, longer.n, &o, true);
                free(longer.p);
            }
        free(golden.p);
    }
}

/* In the big image, the number of cell bits to the next one that is flipped. The copy is the
 * same check behind another memcpy. Other machines are mostly emulated and compute the same
 * sums. */
#define COPY_STRIDE 61
#if defined(__x86_64__) || defined(__aarch64__)
#define VIEW_STRIDE 1
#else
#define VIEW_STRIDE 61
#endif

static void test_every_bit(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct bytes golden = read_golden(recipes[i].name);
        const tamis_options o = golden_options(&recipes[i]);
        for (size_t bit = 0; bit < golden.n * 8; bit++) {
            const bool all = bit < 8 * 1024;
            golden.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (all || bit % VIEW_STRIDE == 0) check_refused(golden.p, golden.n, &o, true);
            if (all || bit % COPY_STRIDE == 0) check_refused(golden.p, golden.n, &o, false);
            golden.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(golden.p);
    }
}

static const struct test tests[] = {
    {"rewritten identically", test_rewritten_identically},
    {"cooked identically", test_cooked_identically},
    {"facts", test_facts},
    {"answers", test_answers},
    {"counts", test_counts},
    {"distinct", test_distinct},
    {"values", test_values},
    {"more answers", test_more_answers},
    {"lists", test_lists},
    {"every truncation", test_every_truncation},
    {"truncation reads no further", test_truncation_reads_no_further},
    {"every extension", test_every_extension},
    {"every bit", test_every_bit},
};

TEST_MAIN(tests)
