/* Windows of distinct sketches: how many distinct keys there were in the last generations. The
 * model is one plain sketch of all keys that these generations got. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "core/handle.h"

#include <math.h>
#include <pthread.h>
#include <tamis/distinct.h>
#include <tamis/inspect.h>

static const tamis_options shared_options = {.struct_size = sizeof shared_options,
                                             .flags = TAMIS_SHARED};

static tamis *window_of(uint64_t registers, uint32_t generations, const tamis_options *o)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_WINDOW,
                             .inner_kind = TAMIS_DISTINCT,
                             .generations = generations,
                             .m = registers};
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    return t;
}

static void add_range(tamis *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_OK(tamis_add(t, &(uint64_t){TAMIS__LITTLE64(i)}, 8, NULL));
}

static tamis_cardinality distinct_in(const tamis *t)
{
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    CHECK_OK(tamis_distinct(t, &n, NULL));
    return n;
}

/* A sketch with registers, as generations have. */
static tamis *plain_of(uint64_t registers, uint64_t from, uint64_t to)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = registers};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &shared_options, &t, NULL));
    add_range(t, from, to);
    return t;
}

static bool equal_counts(const tamis *a, const tamis *b)
{
    const tamis_cardinality x = distinct_in(a), y = distinct_in(b);
    return x.value == y.value && x.low == y.low && x.high == y.high && x.error == y.error &&
           x.exact == y.exact;
}

/* --- Planning --------------------------------------------------------------------------------- */

static void test_plans(void)
{
    static const struct {
        double error;
        uint64_t bytes, m;
        uint32_t generations;
    } plans[] = {{0.01, 0, 2048, 0}, {0.3, 0, 16, 2}, {0, 100000, 4096, 6}, {0, 10000, 64, 20}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        tamis_plan p = {.struct_size = sizeof p,
                        .kind = TAMIS_WINDOW,
                        .inner_kind = TAMIS_DISTINCT,
                        .generations = plans[i].generations,
                        .error = plans[i].error,
                        .bytes = plans[i].bytes};
        tamis *t;
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        CHECK_THAT(p.m, ==, plans[i].m);
        CHECK_THAT(fabs(p.error * sqrt((double)p.m * 8.4291) - 1), <, 1e-9);
        CHECK_THAT(p.generations, ==, plans[i].generations != 0 ? plans[i].generations : 4);
        CHECK(plans[i].bytes == 0 || p.bytes <= plans[i].bytes);
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_THAT(tamis_image_size(t), ==, p.bytes);
        tamis_close(t);
        const tamis_plan solved = p;
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        CHECK(p.m == solved.m && p.error == solved.error && p.bytes == solved.bytes);
        if (plans[i].bytes == 0) continue;
        p = solved, p.m = 2 * solved.m, p.error = 0, p.bytes = plans[i].bytes; /* would not fit */
        CHECK_THAT(tamis_solve(&p, NULL, NULL), ==, TAMIS_EINVAL);
    }
}

static void test_bad_plans(void)
{
    static const tamis_plan bad[] = {
        {.error = 0},
        {.error = 0.31},
        {.error = NAN},
        {.bytes = 100},
        {.error = 0.01, .bytes = 20000},
        {.m = 24},
        {.m = 64, .generations = 1},
        {.m = 64, .generations = 257},
        {.m = 64, .items = 100},
        {.m = 64, .fpr = 0.01},
        {.m = 64, .flags = TAMIS_AUTO_ROTATE},
        {.m = 64, .flags = TAMIS_STRICT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_plan p = bad[i];
        tamis_error why = {.text = ""};
        p.struct_size = sizeof p;
        p.kind = TAMIS_WINDOW;
        p.inner_kind = TAMIS_DISTINCT;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(why.text[0] != 0);
    }
    tamis_plan pair = {.struct_size = sizeof pair,
                       .kind = TAMIS_PAIR,
                       .inner_kind = TAMIS_DISTINCT,
                       .items = 100,
                       .fpr = 0.01};
    CHECK_THAT(tamis_solve(&pair, NULL, NULL), ==, TAMIS_EINVAL);
}

/* --- Generations ------------------------------------------------------------------------------ */

/* After every rotation, the estimate is that of a plain sketch of the keys of the last three
 * generations, which overlap: a key in several counts once. */
static void test_last_generations(void)
{
    enum { STEP = 700, GENERATIONS = 3, ROUNDS = 7 };
    tamis *t = window_of(256, GENERATIONS, NULL);
    CHECK(distinct_in(t).value == 0 && distinct_in(t).exact);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t first = round < GENERATIONS ? 0 : round - (GENERATIONS - 1);
        add_range(t, round * STEP, (round + 2) * STEP);
        tamis *model = plain_of(256, first * STEP, (round + 2) * STEP);
        CHECK(equal_counts(t, model));
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(t, &f));
        CHECK(f.items_estimate == distinct_in(t).value && f.error == distinct_in(t).error);
        CHECK(f.items_estimated && !f.overfull && f.kind == TAMIS_WINDOW);
        CHECK(f.inner_kind == TAMIS_DISTINCT && f.generations == GENERATIONS);
        CHECK_OK(tamis_stat(t, &f));
        CHECK(f.items == 0 && !f.overfull);
        tamis_close(model);
        CHECK_OK(tamis_rotate(t, NULL));
    }
    for (unsigned i = 1; i < GENERATIONS; i++) CHECK_OK(tamis_rotate(t, NULL));
    CHECK(distinct_in(t).value == 0);
    tamis_close(t);
}

static void test_epochs(void)
{
    tamis *t = window_of(256, 3, NULL);
    CHECK_OK(tamis_rotate_to(t, 10, NULL));
    add_range(t, 0, 1000);
    CHECK_OK(tamis_rotate_to(t, 12, NULL));
    add_range(t, 500, 2000);
    tamis *both = plain_of(256, 0, 2000), *last = plain_of(256, 500, 2000);
    CHECK(equal_counts(t, both));
    CHECK_OK(tamis_rotate_to(t, 13, NULL));
    CHECK(equal_counts(t, last));
    CHECK_THAT(tamis_rotate_to(t, 12, NULL), ==, TAMIS_EINVAL);
    CHECK(equal_counts(t, last));
    CHECK_OK(tamis_rotate_to(t, 99, NULL));
    CHECK(distinct_in(t).value == 0);
    tamis_close(t), tamis_close(both), tamis_close(last);
}

/* `seen` and queries are those of all generations. */
static void test_seen_in_any_generation(void)
{
    tamis *t = window_of(4096, 3, NULL);
    add_range(t, 0, 500);
    CHECK_OK(tamis_rotate(t, NULL));
    add_range(t, 500, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        bool seen = false;
        const uint64_t key = TAMIS__LITTLE64(i);
        CHECK(tamis_may_contain(t, &key, 8));
        CHECK_OK(tamis_add(t, &key, 8, &seen));
        CHECK(seen);
    }
    unsigned maybe = 0;
    for (uint64_t i = 5000; i < 6000; i++)
        maybe += tamis_may_contain(t, &(uint64_t){TAMIS__LITTLE64(i)}, 8);
    CHECK_THAT(maybe, <, 500);
    tamis_close(t);
}

/* --- Images, copies, merges ------------------------------------------------------------------- */

static void test_images(void)
{
    tamis *t = window_of(64, 4, NULL), *again, *copy;
    for (uint64_t g = 0; g < 5; g++) {
        add_range(t, g * 300, g * 300 + 400);
        if (g < 4) CHECK_OK(tamis_rotate(t, NULL));
    }
    const struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK(equal_counts(t, again));
    CHECK_OK(tamis_copy(again, &copy, NULL));
    CHECK_OK(tamis_rotate(t, NULL));
    CHECK_OK(tamis_rotate(copy, NULL));
    CHECK(equal_counts(t, copy) && !equal_counts(t, again));
    free(image.p);
    tamis_close(t), tamis_close(again), tamis_close(copy);
}

static void check_forged(struct bytes image, const char *reason)
{
    tamis *t;
    tamis_error why;
    image_resum(image.p, image.n);
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    CHECK(t == NULL && strstr(why.text, reason) != NULL);
    free(image.p);
}

/* Tokens in the generations, a window that turns, and items: none of them exists. */
static void test_forged_images(void)
{
    tamis *t = window_of(64, 2, NULL);
    struct bytes tokens = image_of(t), turning = image_of(t), items = image_of(t);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *entry = tokens.p + 128 + 64 * i, *cells = tokens.p + tamis__get64(entry + 48);
        tamis__put16(entry + 4, 1);
        tamis__put16(entry + 6, 64);
        for (uint64_t j = 0; j < 32; j++) tamis__put64(cells + 8 * j, (j + 1) << 8 | 1);
    }
    check_forged(tokens, "tokens instead of registers");
    tamis__put32(turning.p + 20, 4);
    check_forged(turning, "turning");
    tamis__put64(items.p + 56, 5);
    tamis__put64(items.p + 128 + 24, 5);
    check_forged(items, "no items");
    tamis_close(t);
}

/* Each generation is merged with its counterpart, at the lower precision of both. */
static void test_merges(void)
{
    static const uint64_t m[][2] = {{256, 256}, {64, 1024}, {1024, 64}};
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        const uint64_t lower = m[i][0] < m[i][1] ? m[i][0] : m[i][1];
        tamis *a = window_of(m[i][0], 2, NULL), *b = window_of(m[i][1], 2, NULL);
        tamis *both = window_of(lower, 2, NULL);
        tamis_similarity s = {.struct_size = sizeof s};
        add_range(a, 0, 1000), add_range(both, 0, 1000);
        add_range(b, 800, 3000), add_range(both, 800, 3000);
        CHECK_OK(tamis_rotate(a, NULL));
        CHECK_OK(tamis_rotate(b, NULL));
        CHECK_OK(tamis_rotate(both, NULL));
        add_range(a, 900, 4000), add_range(both, 900, 4000);
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        CHECK(s.union_low <= 4000 && s.union_high >= 4000);
        CHECK(s.common_low <= 2200 && s.common_high >= 2200);
        CHECK(s.second_only_low <= 0 && s.first_only_low <= 1800 && s.first_only_high >= 1800);
        CHECK_OK(tamis_merge(a, b, NULL));
        CHECK(s.union_items == distinct_in(a).value || m[i][0] != m[i][1]);
        struct bytes x = image_of(a), y = image_of(both);
        CHECK(x.p != NULL && bytes_equal(x, y));
        free(x.p), free(y.p);
        CHECK_OK(tamis_rotate(a, NULL));
        CHECK_OK(tamis_rotate(both, NULL));
        add_range(a, 7000, 7100), add_range(both, 7000, 7100);
        x = image_of(a), y = image_of(both);
        CHECK(bytes_equal(x, y));
        free(x.p), free(y.p);
        tamis_close(a), tamis_close(b), tamis_close(both);
    }
}

static void test_merge_refuses(void)
{
    tamis *a = window_of(64, 2, NULL), *b = window_of(64, 3, NULL), *plain = plain_of(64, 0, 10);
    tamis_error why;
    CHECK_THAT(tamis_merge(a, b, &why), ==, TAMIS_EMISMATCH);
    CHECK(strcmp(why.text, "they differ in their number of generations") == 0);
    CHECK_THAT(tamis_merge(a, plain, &why), ==, TAMIS_EMISMATCH);
    CHECK_THAT(
        tamis_compare(a, plain, &(tamis_similarity){.struct_size = sizeof(tamis_similarity)}, &why),
        ==, TAMIS_EMISMATCH);
    tamis_close(a), tamis_close(b), tamis_close(plain);
}

/* --- Threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 20000 };
struct worker {
    tamis *t;
    uint64_t from;
};

static void *add_in_thread(void *p)
{
    const struct worker *w = p;
    add_range(w->t, w->from, w->from + EACH);
    return NULL;
}

/* Adds from several threads while one rotates by epochs: nothing is lost while the epoch is the
 * same, and the end is that of adding everything in one thread. */
static void test_shared(void)
{
    tamis *t = window_of(1024, 3, &shared_options);
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){t, i * EACH / 2};
        CHECK(pthread_create(&threads[i], NULL, add_in_thread, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < 100; i++) CHECK_OK(tamis_rotate_to(t, 1, NULL));
    (void)distinct_in(t);
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_OK(tamis_rotate_to(t, 2, NULL));
    tamis *one = window_of(1024, 3, NULL);
    CHECK_OK(tamis_rotate_to(one, 1, NULL));
    add_range(one, 0, (THREADS + 1) * EACH / 2);
    CHECK_OK(tamis_rotate_to(one, 2, NULL));
    const struct bytes x = image_of(t), y = image_of(one);
    CHECK(x.p != NULL && bytes_equal(x, y));
    free(x.p), free(y.p);
    tamis_close(t), tamis_close(one);
}

static void *rotate_in_thread(void *p)
{
    for (unsigned i = 0; i < 200; i++) CHECK_OK(tamis_rotate(p, NULL));
    return NULL;
}

/* Estimates while others add and rotate: whatever is in the window, it is at most what was ever
 * added. */
static void test_estimates_meanwhile(void)
{
    tamis *t = window_of(256, 3, &shared_options);
    pthread_t threads[2];
    struct worker worker = {t, 0};
    CHECK(pthread_create(&threads[0], NULL, add_in_thread, &worker) == 0);
    CHECK(pthread_create(&threads[1], NULL, rotate_in_thread, t) == 0);
    for (unsigned i = 0; i < 50; i++) {
        const tamis_cardinality n = distinct_in(t);
        CHECK(n.value >= 0 && n.value < 1.5 * EACH && n.low <= n.high);
    }
    CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
    tamis_close(t);
}

static const struct test tests[] = {
    {"plans", test_plans},
    {"bad plans", test_bad_plans},
    {"the last generations", test_last_generations},
    {"epochs", test_epochs},
    {"seen in any generation", test_seen_in_any_generation},
    {"images", test_images},
    {"forged images", test_forged_images},
    {"merges", test_merges},
    {"merges that are refused", test_merge_refuses},
    {"shared by threads", test_shared},
    {"estimates meanwhile", test_estimates_meanwhile},
};

TEST_MAIN(tests)
