/* tamis_options.threads in bulk calls: the bytes of the filter, the numbers and the answers do not
 * depend on it, for every source of keys, odd numbers of keys, small tables and scratch memory of
 * any size. Meant for -fsanitize=thread as well. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/resum.h"
#include "../support/tracking.h"

#include <tamis/columns.h>
#include <tamis/inspect.h>
#include <tamis/map.h>

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

/* The rows that may be members, of a whole column, of a part of it and of one with nulls. */
static void check_selection(const tamis *one, const tamis *many)
{
    static uint32_t x[KEYS], y[KEYS];
    static uint8_t valid[KEYS / 8 + 1];
    for (size_t i = 0; i < sizeof valid; i++) valid[i] = (uint8_t)(i * 37);
    for (int form = 0; form < 3; form++) {
        size_t a, b, c;
        const tamis_column rows = {.struct_size = sizeof rows,
                                   .rows = form == 0 ? KEYS : KEYS - 70003,
                                   .first = form == 0 ? 0 : 3,
                                   .data = values,
                                   .bytes = sizeof values,
                                   .width = 8,
                                   .validity = form == 2 ? valid : NULL};
        CHECK_OK(tamis_select_column(one, &rows, x, &a, NULL));
        CHECK_OK(tamis_select_column(many, &rows, y, &b, NULL));
        CHECK_OK(tamis_may_contain_column(many, &rows, NULL, &c, NULL));
        CHECK(a == b && a == c && memcmp(x, y, a * sizeof *x) == 0);
    }
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
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_DISTINCT; kind++) {
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
        if (kind == TAMIS_VALUE_MAP) {
            static const uint32_t nothing[900];
            CHECK_OK(tamis_add_value_many(one, described, nothing, 900, NULL, NULL));
            CHECK_OK(tamis_add_value_many(many, described, nothing, 900, NULL, NULL));
        } else {
            CHECK_OK(tamis_add_many(one, described, 900, NULL, NULL));
            CHECK_OK(tamis_add_many(many, described, 900, NULL, NULL));
        }
        if (sealed) {
            CHECK_OK(tamis_seal(one, NULL));
            CHECK_OK(tamis_seal(many, NULL));
        }
        check_answers(one, many);
        check_selection(one, many);
        tamis_close(one);
        tamis_close(many);
    }
}

/* A strict filter takes as many keys. */
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

/* Plans of every kind and variant. Those whose cells are divided into ranges have 1 MiB or more. */
static const struct {
    uint32_t kind, inner, flags, cell_bits, times;
    bool divided; /* among threads */
} shapes[] = {
    {TAMIS_BLOOM, 0, 0, 0, 5, true},
    {TAMIS_PARTITIONED, 0, 0, 0, 5, true},
    {TAMIS_BLOCKED, 0, 0, 0, 1, true},
    {TAMIS_BLOCKED, 0, TAMIS_COMPACT, 0, 1, true},
    {TAMIS_COUNTING, TAMIS_BLOOM, 0, 4, 2, true},
    {TAMIS_COUNTING, TAMIS_BLOOM, 0, 8, 1, true},
    {TAMIS_COUNTING, TAMIS_BLOOM, 0, 16, 1, true},
    {TAMIS_COUNTING, TAMIS_BLOCKED, 0, 4, 2, true},
    {TAMIS_COUNTING, TAMIS_BLOCKED, 0, 8, 1, true},
    {TAMIS_PAIR, 0, 0, 0, 1, false},
    {TAMIS_GROWING, 0, 0, 0, 1, false},
    {TAMIS_WINDOW, TAMIS_BLOCKED, 0, 0, 1, true},
    {TAMIS_WINDOW, TAMIS_BLOCKED, TAMIS_AUTO_ROTATE, 0, 1, false},
    {TAMIS_WINDOW, TAMIS_BLOOM, 0, 0, 5, false},
    {TAMIS_CUCKOO, 0, 0, 0, 1, false},
    {TAMIS_FUSE, 0, 0, 0, 1, true},
    {TAMIS_RIBBON, 0, 0, 0, 1, true},
    {TAMIS_EXACT, 0, 0, 0, 1, true},
    {TAMIS_COUNT_MIN, 0, 0, 0, 0, false},
    {TAMIS_COUNT_MIN, 0, TAMIS_CONSERVATIVE, 0, 0, false},
    {TAMIS_COUNT_SKETCH, 0, 0, 0, 0, false},
    {TAMIS_TALLY, 0, 0, 0, 0, false},
    {TAMIS_SIGNED_TALLY, 0, 0, 0, 0, false},
    {TAMIS_TOP, 0, 0, 0, 0, false},
    {TAMIS_WINDOW, TAMIS_TALLY, 0, 0, 0, false},
    {TAMIS_DISTINCT, 0, 0, 0, 0, false},
    {TAMIS_WINDOW, TAMIS_DISTINCT, 0, 0, 0, false},
};

static tamis *shaped(size_t shape, const tamis_options *o)
{
    const uint32_t kind = shapes[shape].kind, inner = shapes[shape].inner;
    const bool counts = kind >= TAMIS_COUNT_MIN || inner >= TAMIS_COUNT_MIN;
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = kind,
                          .inner_kind = inner,
                          .flags = shapes[shape].flags,
                          .cell_bits = shapes[shape].cell_bits,
                          .items = (uint64_t)KEYS * shapes[shape].times,
                          .fpr = counts ? 0 : 0.01,
                          .bytes = counts ? 1 << 16 : 0,
                          .excluded = kind == TAMIS_EXACT ? 10 : 0};
    tamis *t;
    CHECK_OK(tamis_create(&p, o, &t, NULL));
    return t;
}

/* Adds a few keys, then many in one call, and many in another one. */
static void fill(tamis *t, bool asked, uint8_t *seen, tamis_status *s, size_t *done)
{
    const size_t few = 77, many = 90001;
    tamis_add_many(t, described, few, NULL, NULL);
    s[0] = tamis_add_many(t, described + few, many, asked ? seen : NULL, &done[0]);
    tamis_rotate(t, NULL); /* windows; other kinds refuse */
    seen += (many + 7) / 8;
    s[1] = tamis_add_many(t, described + KEYS / 4, KEYS / 3, asked ? seen : NULL, &done[1]);
}

/* The same image, answers, statuses and numbers of keys with any number of threads. Two and five
 * threads have to answer, three and four do not. */
static void test_every_kind(void)
{
    static uint8_t x[KEYS / 4], y[KEYS / 4];
    make_values();
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        tamis_status s1[2], s2[2];
        size_t d1[2], d2[2];
        tamis *one = shaped(shape, NULL);
        memset(x, 0xaa, sizeof x);
        fill(one, true, x, s1, d1);
        for (uint32_t threads = 2; threads <= (shapes[shape].divided ? 5 : 2); threads++) {
            const bool asked = threads == 2 || threads == 5;
            const tamis_options o = {.struct_size = sizeof o, .threads = threads};
            tamis *many = shaped(shape, &o);
            memset(y, 0xaa, sizeof y);
            fill(many, asked, y, s2, d2);
            CHECK(s1[0] == s2[0] && s1[1] == s2[1] && d1[0] == d2[0] && d1[1] == d2[1]);
            CHECK(!asked || memcmp(x, y, sizeof x) == 0);
            check_same(one, many);
            tamis_close(many);
        }
        tamis_close(one);
    }
}

/* The same with little scratch memory, and with none of the memory that threads need. */
static void test_every_scratch(void)
{
    static const uint64_t scratch[] = {1, 1400000, 2500000};
    static uint8_t x[KEYS / 4], y[KEYS / 4];
    make_values();
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        tamis_status s[2];
        size_t d[2];
        if (!shapes[shape].divided || shapes[shape].flags != 0 || shapes[shape].cell_bits > 4)
            continue;
        tamis *one = shaped(shape, NULL);
        fill(one, true, x, s, d);
        for (size_t i = 0; i <= sizeof scratch / sizeof *scratch; i++) {
            struct tracker a;
            tracker_init(&a);
            const tamis_options o = {.struct_size = sizeof o,
                                     .threads = 3,
                                     .scratch_bytes = i < 3 ? scratch[i] : 0,
                                     .memory = &a.memory};
            tamis *many = shaped(shape, &o);
            if (i == 3) a.fail_at = a.calls + 1;
            fill(many, true, y, s, d);
            a.fail_at = 0;
            CHECK(memcmp(x, y, sizeof x) == 0);
            check_same(one, many);
            tamis_close(many);
            CHECK_THAT(a.blocks, ==, 0);
        }
        tamis_close(one);
    }
}

/* A collection whose limit is reached takes exactly the keys that fit, and the very first key is
 * the only new one. */
static void test_collections(void)
{
    static uint8_t seen[KEYS / 8 + 1];
    make_values();
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (uint32_t kind = TAMIS_FUSE; kind <= TAMIS_EXACT; kind++) {
            const tamis_plan p = {.struct_size = sizeof p,
                                  .kind = kind,
                                  .items = KEYS,
                                  .fpr = 0.01,
                                  .excluded = kind == TAMIS_EXACT ? 10 : 0};
            const tamis_options o = {
                .struct_size = sizeof o, .threads = threads, .max_bytes = 16u * 100000};
            const tamis_options unlimited = {.struct_size = sizeof o, .threads = threads};
            size_t done;
            tamis *t, *whole;
            CHECK_OK(tamis_create(&p, &unlimited, &whole, NULL));
            CHECK_OK(tamis_add_many(whole, described, KEYS, seen, NULL));
            CHECK(seen[0] == 0xfe && seen[1] == 0xff && seen[KEYS / 8] == (1u << KEYS % 8) - 1);
            CHECK_OK(tamis_create(&p, &o, &t, NULL));
            CHECK(tamis_add_many(t, described, KEYS, seen, &done) == TAMIS_EFULL);
            CHECK(done > 99000 && done < 100000 && seen[0] == 0xfe && seen[1] == 0xff);
            tamis_limit(t, 0);
            CHECK_OK(tamis_add_many(t, described + done, KEYS - done, NULL, NULL));
            check_same(t, whole);
            tamis_close(whole);
            CHECK_OK(tamis_seal(t, NULL));
            CHECK(tamis_may_contain_many(t, described, KEYS, NULL) == KEYS);
            tamis_close(t);
        }
}

static const struct test tests[] = {
    {"same bytes", test_same_bytes},
    {"scratch", test_scratch},
    {"no memory", test_no_memory},
    {"same answers", test_same_answers},
    {"seen and strict", test_seen_and_strict},
    {"every kind", test_every_kind},
    {"every scratch", test_every_scratch},
    {"collections", test_collections},
};

TEST_MAIN(tests)
