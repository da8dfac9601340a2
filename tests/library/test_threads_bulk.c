/* tamis_options.threads in bulk calls: the bytes of the filter, the numbers and the answers do not
 * depend on it, for every source of keys, odd numbers of keys, small tables and scratch memory of
 * any size. Meant for -fsanitize=thread as well. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/resum.h"
#include "../support/tracking.h"

#include <tamis/columns.h>
#include <tamis/inspect.h>

enum { KEYS = 200003 };
static uint64_t values[KEYS];
static tamis_bytes described[KEYS];
static tamis_hash wide[KEYS];

/* Every tenth key came before. */
static void make_values(void)
{
    uint64_t x = 5;
    for (size_t i = 0; i < KEYS; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        values[i] = i % 10 == 9 ? values[(x >> 33) % i] : x;
        described[i] = (tamis_bytes){&values[i], sizeof values[i]};
        wide[i] = tamis_hash64(values[i]);
    }
}

enum { BYTES, COLUMN, HASHES, WORDS, SOURCES };

static tamis *filled(int source, uint64_t items, uint32_t flags, const tamis_options *o, size_t n)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_BLOCKED,
                          .items = items,
                          .fpr = 0.01,
                          .flags = flags};
    const tamis_column c = {
        .struct_size = sizeof c, .rows = n, .data = values, .bytes = sizeof values, .width = 8};
    size_t done = 0;
    tamis *t;
    CHECK_OK(tamis_create(&p, o, &t, NULL));
    switch (source) {
    case BYTES: CHECK_OK(tamis_add_many(t, described, n, NULL, &done)); break;
    case COLUMN: CHECK_OK(tamis_add_column(t, &c, NULL, &done, NULL)); break;
    case HASHES: CHECK_OK(tamis_add_hashes(t, wide, n, NULL, &done)); break;
    default: CHECK_OK(tamis_add_hash64(t, values, n, NULL, &done)); break;
    }
    CHECK_THAT(done, ==, n);
    return t;
}

static void check_same(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(bytes_equal(x, y)); /* the number of items included */
    free(x.p);
    free(y.p);
}

static void test_same_bytes(void)
{
    static const uint32_t threads[] = {2, 3, 8, 64, UINT32_MAX}, flags[] = {0, TAMIS_COMPACT};
    static const uint64_t items[] = {1, 300, KEYS};
    make_values();
    for (int source = 0; source < SOURCES; source++)
        for (size_t f = 0; f < 2; f++)
            for (size_t i = 0; i < 3; i++) {
                tamis *one = filled(source, items[i], flags[f], NULL, KEYS);
                const tamis_options o = {.struct_size = sizeof o,
                                         .threads = threads[(f + i + (size_t)source) % 5]};
                tamis *many = filled(source, items[i], flags[f], &o, KEYS);
                check_same(one, many);
                tamis_close(one);
                tamis_close(many);
            }
}

/* From one round for each few pieces to one round for all, and none where there is no room. */
static void test_scratch(void)
{
    make_values();
    tamis *one = filled(BYTES, KEYS, 0, NULL, KEYS);
    for (uint64_t scratch = 1; scratch < 1u << 24; scratch *= 4) {
        const tamis_options o = {.struct_size = sizeof o, .threads = 3, .scratch_bytes = scratch};
        tamis *many = filled(BYTES, KEYS, 0, &o, KEYS);
        check_same(one, many);
        tamis_close(many);
    }
    tamis_close(one);
}

/* Each allocation fails in turn: one thread does the work. */
static void test_no_memory(void)
{
    make_values();
    tamis *one = filled(BYTES, KEYS, 0, NULL, KEYS);
    size_t failures = 0;
    for (size_t at = 1;; at++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_plan p = {
            .struct_size = sizeof p, .kind = TAMIS_BLOCKED, .items = KEYS, .fpr = 0.01};
        const tamis_options o = {.struct_size = sizeof o, .threads = 2, .memory = &a.memory};
        tamis *t;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        a.fail_at = a.calls + at;
        CHECK_OK(tamis_add_many(t, described, KEYS, NULL, NULL));
        a.fail_at = 0;
        check_same(one, t);
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
        if (!a.failed) break;
        failures++;
    }
    CHECK_THAT(failures, ==, 3);
    tamis_close(one);
}

static void check_answers(tamis *one, tamis *many)
{
    static uint8_t x[KEYS / 8 + 1], y[KEYS / 8 + 1];
    memset(x, 0xaa, sizeof x);
    memset(y, 0xaa, sizeof y);
    const tamis_column c = {
        .struct_size = sizeof c, .rows = KEYS, .data = values, .bytes = sizeof values, .width = 8};
    size_t found;
    const size_t n = tamis_may_contain_many(one, described, KEYS, x);
    CHECK(tamis_may_contain_many(many, described, KEYS, y) == n && memcmp(x, y, sizeof x) == 0);
    CHECK(tamis_may_contain_many(many, described, KEYS, NULL) == n);
    CHECK_OK(tamis_may_contain_column(many, &c, y, &found, NULL));
    CHECK(found == n && memcmp(x, y, sizeof x) == 0);
    CHECK(tamis_may_contain_hashes(many, wide, KEYS, y) ==
          tamis_may_contain_hashes(one, wide, KEYS, x));
    CHECK(memcmp(x, y, sizeof x) == 0);
    CHECK(tamis_may_contain_hash64(many, values, KEYS, y) ==
          tamis_may_contain_hash64(one, values, KEYS, x));
    CHECK(memcmp(x, y, sizeof x) == 0);
}

/* Queries of every kind, of which only some keys are members. */
static void test_same_answers(void)
{
    make_values();
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_TOP; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE) continue;
        const bool counts = kind >= TAMIS_COUNT_MIN, sealed = kind >= TAMIS_FUSE && !counts;
        const tamis_plan p = {.struct_size = sizeof p,
                              .kind = kind,
                              .items = counts ? 0 : 2000,
                              .fpr = counts ? 0 : 0.05,
                              .bytes = counts ? 1 << 16 : 0};
        const tamis_options o = {.struct_size = sizeof o, .threads = 3};
        tamis *one, *many;
        CHECK_OK(tamis_create(&p, NULL, &one, NULL));
        CHECK_OK(tamis_create(&p, &o, &many, NULL));
        CHECK_OK(tamis_add_many(one, described, 900, NULL, NULL));
        CHECK_OK(tamis_add_many(many, described, 900, NULL, NULL));
        if (sealed) {
            CHECK_OK(tamis_seal(one, NULL));
            CHECK_OK(tamis_seal(many, NULL));
        }
        check_answers(one, many);
        tamis_close(one);
        tamis_close(many);
    }
}

/* With answers, by one thread; a strict filter takes as many keys. */
static void test_seen_and_strict(void)
{
    make_values();
    static uint8_t x[KEYS / 8 + 1], y[KEYS / 8 + 1];
    const tamis_options o = {.struct_size = sizeof o, .threads = 4};
    for (int strict = 0; strict < 2; strict++) {
        const tamis_plan p = {.struct_size = sizeof p,
                              .kind = TAMIS_BLOCKED,
                              .items = 150000,
                              .fpr = 1e-4,
                              .flags = strict != 0 ? TAMIS_STRICT : 0};
        tamis *one, *many, *unasked;
        size_t a, b, c;
        CHECK_OK(tamis_create(&p, NULL, &one, NULL));
        CHECK_OK(tamis_create(&p, &o, &many, NULL));
        CHECK_OK(tamis_create(&p, &o, &unasked, NULL));
        const tamis_status s = tamis_add_many(one, described, KEYS, x, &a);
        CHECK(s == (strict != 0 ? TAMIS_EFULL : TAMIS_OK));
        CHECK(tamis_add_many(many, described, KEYS, y, &b) == s && a == b);
        CHECK(tamis_add_many(unasked, described, KEYS, NULL, &c) == s && a == c);
        CHECK(memcmp(x, y, sizeof x) == 0);
        check_same(one, many);
        check_same(one, unasked);
        tamis_close(one);
        tamis_close(many);
        tamis_close(unasked);
    }
}

static const struct test tests[] = {
    {"same bytes", test_same_bytes},
    {"scratch", test_scratch},
    {"no memory", test_no_memory},
    {"same answers", test_same_answers},
    {"seen and strict", test_seen_and_strict},
};

TEST_MAIN(tests)
