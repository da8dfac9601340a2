/* The arithmetic of the device (cuda/hash.h, cuda/tables.h) on the processor, against the library:
 * hashes of all lengths, and answers for golden and random images. The kernels call these very
 * functions, so that this is tested where there is no device and no nvcc. */
#define _POSIX_C_SOURCE 200809L
#include "../../cuda/image.h"

#include "../support/check.h"
#include "../support/golden.h"

/* --- Hashes ----------------------------------------------------------------------------------- */

#define LONGEST 20000

static const uint8_t *random_bytes(void)
{
    static uint8_t bytes[LONGEST + 8];
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(splitmix(&state) >> 56);
    return bytes;
}

static const uint64_t seeds[] = {0, 1, GOLDEN_SEED, UINT64_MAX};

static void check_hash(const uint8_t *p, size_t n, uint64_t seed)
{
    const tamis_hash want = tamis_hash_bytes(seed, p, n);
    const struct hash128 got = hash_bytes(p, n, p + n, seed);
    CHECK(got.lo == want.lo && got.hi == want.hi);
}

static void test_hashes(void)
{
    const uint8_t *bytes = random_bytes();
    uint64_t state = 2;
    for (size_t s = 0; s < 4; s++)
        for (size_t n = 0; n <= 1100; n++) check_hash(bytes + n % 8, n, seeds[s]);
    for (size_t i = 0; i < 2000; i++) {
        const size_t n = (size_t)(splitmix(&state) % LONGEST);
        check_hash(bytes + splitmix(&state) % (LONGEST - n), n, splitmix(&state));
    }
}

static void test_words(void)
{
    uint64_t state = 3;
    for (size_t i = 0; i < 4000; i++) {
        const uint64_t v = splitmix(&state), seed = seeds[i % 4];
        uint8_t bytes[8];
        for (unsigned j = 0; j < 8; j++) bytes[j] = (uint8_t)(v >> 8 * j);
        const tamis_hash want = tamis_hash_bytes(seed, bytes, 8);
        const struct hash128 got = hash_word(v, word_flip(seed));
        CHECK(got.lo == want.lo && got.hi == want.hi);
    }
}

/* --- Answers ---------------------------------------------------------------------------------- */

static bool has(const struct table *t, struct hash128 h)
{
    return t->kind == TAMIS_BLOCKED ? line_has(t, h)
           : t->kind == TAMIS_FUSE  ? fuse_has(t, h, t->d)
                                    : ribbon_has(t, h);
}

/* Compares the answers for n random hashes and those at the ends. Returns how many are "maybe". */
static size_t compare(const tamis *t, const struct table *table, uint64_t seed, size_t n)
{
    static const uint64_t ends[3] = {0, 1, UINT64_MAX};
    uint64_t state = seed;
    size_t maybe = 0;
    for (size_t i = 0; i < n + 9; i++) {
        tamis_hash h = {splitmix(&state), splitmix(&state)};
        if (i >= n) h = (tamis_hash){ends[(i - n) % 3], ends[(i - n) / 3]};
        const bool want = tamis_may_contain_hashes(t, &h, 1, NULL) == 1;
        CHECK(has(table, (struct hash128){h.lo, h.hi}) == want);
        maybe += want;
    }
    return maybe;
}

/* What an upload does, with the cells in memory of the host. */
static struct table place(struct bytes image, uint64_t **cells, struct shape *shape)
{
    CHECK_OK(tamis_cuda__shape(image.p, image.n, shape, NULL));
    CHECK(shape->first + shape->table.bytes == image.n);
    *cells = malloc((size_t)shape->table.bytes + 8);
    CHECK(*cells != NULL);
    memcpy(*cells, image.p + shape->first, (size_t)shape->table.bytes);
    struct table table = shape->table;
    tamis_cuda__place(&table, *cells);
    return table;
}

static void compare_golden(const char *name)
{
    struct bytes image = read_golden(name);
    const uint8_t *key = image.p[28] == TAMIS_SIPHASH ? golden_secret : NULL;
    const tamis_options o = {.struct_size = sizeof o, .key = key};
    struct shape shape;
    uint64_t *cells;
    tamis *t;
    CHECK_OK(tamis_load(image.p, image.n, &o, &t, NULL));
    const struct table table = place(image, &cells, &shape);
    compare(t, &table, 7, 20000);
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    CHECK(shape.plan.kind == f.kind && shape.plan.seed == f.seed && shape.hash == f.hash);
    CHECK(shape.plan.encoding == f.encoding && shape.key_width == f.key_width);
    CHECK(shape.sealed == f.sealed && memcmp(shape.key_id, f.key_id, 16) == 0);
    free(cells);
    tamis_close(t);
    free(image.p);
}

static void test_golden(void)
{
    static const char *const names[] = {"blocked.tamis",
                                        "blocked-seeded.tamis",
                                        "blocked-keyed.tamis",
                                        "blocked-empty.tamis",
                                        "blocked-chunks.tamis",
                                        "blocked-int64.tamis",
                                        "fuse.tamis",
                                        "fuse-4-keyed.tamis",
                                        "ribbon.tamis",
                                        "ribbon-layers-keyed.tamis",
                                        "ribbon-sha256-keyed.tamis"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) compare_golden(names[i]);
}

/* Filters of random keys, for rates that make every number of columns and bits. */
static void compare_filter(tamis_plan plan, uint64_t members)
{
    struct shape shape;
    uint64_t *cells;
    tamis *t;
    plan.struct_size = sizeof plan;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint64_t i = 0; i < members; i++) CHECK_OK(tamis_add(t, &i, 8, NULL));
    if (plan.kind != TAMIS_BLOCKED) CHECK_OK(tamis_seal(t, NULL));
    struct bytes image = image_of(t);
    const struct table table = place(image, &cells, &shape);
    for (uint64_t i = 0; i < members; i++) {
        const tamis_hash h = tamis_hash_bytes(plan.seed, &i, 8);
        CHECK(has(&table, (struct hash128){h.lo, h.hi}));
    }
    compare(t, &table, members + 1, 5000);
    free(cells);
    free(image.p);
    tamis_close(t);
}

static void test_random(void)
{
    for (uint32_t bits = 4; bits <= 32; bits++) {
        const double rate = 1.0 / (double)(UINT64_C(1) << bits);
        compare_filter((tamis_plan){.kind = TAMIS_FUSE, .items = 700, .fpr = rate}, 700);
        compare_filter((tamis_plan){.kind = TAMIS_FUSE, .items = 900, .fpr = rate, .k = 4}, 900);
        compare_filter((tamis_plan){.kind = TAMIS_RIBBON, .items = 3000, .fpr = rate}, 3000);
        if (bits < 32)
            compare_filter((tamis_plan){.kind = TAMIS_RIBBON, .items = 3000, .fpr = rate * 0.7},
                           3000);
    }
    compare_filter((tamis_plan){.kind = TAMIS_RIBBON, .items = 200000, .fpr = 0.01}, 200000);
    compare_filter((tamis_plan){.kind = TAMIS_RIBBON, .items = 10, .fpr = 0.01}, 0);
    compare_filter((tamis_plan){.kind = TAMIS_BLOCKED, .items = 50000, .fpr = 0.01, .seed = 9},
                   50000);
}

/* --- Refusals --------------------------------------------------------------------------------- */

static void expect_refusal(const char *name, tamis_status want, const char *part)
{
    struct bytes image = read_golden(name);
    struct shape shape;
    tamis_error why;
    CHECK_THAT(tamis_cuda__shape(image.p, image.n, &shape, &why), ==, want);
    CHECK(why.status == want && strstr(why.text, part) != NULL);
    if (want == TAMIS_EUNSUPPORTED) CHECK(why.better_kind == TAMIS_BLOCKED);
    free(image.p);
}

static void test_refusals(void)
{
    expect_refusal("blocked-compact.tamis", TAMIS_EUNSUPPORTED, "compact");
    expect_refusal("cuckoo.tamis", TAMIS_EUNSUPPORTED, "not cuckoo");
    expect_refusal("growing.tamis", TAMIS_EUNSUPPORTED, "not growing");
    expect_refusal("tally.tamis", TAMIS_EUNSUPPORTED, "not tally");
    expect_refusal("fuse-collecting.tamis", TAMIS_EINVAL, "sealed");
    expect_refusal("ribbon-collecting.tamis", TAMIS_EINVAL, "sealed");
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {{"hashes", test_hashes},
                                        {"words", test_words},
                                        {"golden", test_golden},
                                        {"random", test_random},
                                        {"refusals", test_refusals}};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
