/* Windows of sketches, against exact counts of each generation. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "../support/tracking.h"

static const struct {
    uint32_t kind, flags;
    bool two_sided, lists;
} inners[] = {
    {TAMIS_TALLY, 0, false, false},
    {TAMIS_COUNT_MIN, 0, false, false},
    {TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE, false, false},
    {TAMIS_COUNT_SKETCH, 0, true, false},
    {TAMIS_TOP, 0, false, true},
    {TAMIS_SIGNED_TALLY, 0, true, false},
};
#define INNERS 6

#define UNIVERSE 1500u
#define MOST_GENERATIONS 7u

static tamis_plan plan_of(size_t inner, uint32_t generations, uint64_t bytes)
{
    return (tamis_plan){.struct_size = sizeof(tamis_plan),
                        .kind = TAMIS_WINDOW,
                        .inner_kind = inners[inner].kind,
                        .flags = inners[inner].flags,
                        .generations = generations,
                        .items = inners[inner].lists ? 10 : 0,
                        .bytes = bytes};
}

static tamis *window_new(size_t inner, uint32_t generations, uint64_t bytes)
{
    const tamis_plan p = plan_of(inner, generations, bytes);
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static bool same(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(x.p != NULL && y.p != NULL);
    const bool equal = bytes_equal(x, y);
    free(x.p);
    free(y.p);
    return equal;
}

/* The newest first. */
struct model {
    size_t inner;
    uint32_t generations;
    tamis *t;
    int64_t truth[MOST_GENERATIONS][UNIVERSE];
    uint64_t random;
};

static int64_t truth_of(const struct model *m, uint32_t key)
{
    int64_t all = 0;
    for (uint32_t g = 0; g < m->generations; g++) all += m->truth[g][key];
    return all;
}

static uint32_t pick(struct model *m, uint32_t below)
{
    return (uint32_t)(splitmix(&m->random) >> 32) % below;
}

static void model_add(struct model *m, uint32_t n)
{
    uint64_t room[300];
    tamis_bytes keys[300];
    int64_t weights[300];
    for (uint32_t i = 0; i < n; i++) {
        room[i] = pick(m, 1 + pick(m, 1 + pick(m, UNIVERSE)));
        weights[i] = pick(m, 4);
        keys[i] = (tamis_bytes){&room[i], sizeof room[i]};
        m->truth[0][room[i]] += weights[i];
    }
    CHECK_OK(tamis_add_weight_many(m->t, keys, weights, n, NULL, NULL));
}

static void model_rotate(struct model *m)
{
    CHECK_OK(tamis_rotate(m->t, NULL));
    memmove(m->truth[1], m->truth[0], (m->generations - 1) * sizeof m->truth[0]);
    memset(m->truth[0], 0, sizeof m->truth[0]);
}

static void model_travel(struct model *m)
{
    struct bytes image = image_of(m->t);
    tamis *again, *copy;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK_OK(tamis_copy(again, &copy, NULL));
    CHECK(same(again, m->t) && same(copy, m->t));
    tamis_close(m->t);
    tamis_close(again);
    free(image.p);
    m->t = copy;
}

/* Every item that came so often is listed, once, with its text and an interval that holds. */
static void check_lists(const struct model *m)
{
    static tamis_heavy list[4000];
    static uint8_t met[UNIVERSE];
    const tamis_facts f = sketch_facts(m->t);
    size_t found = 0;
    CHECK(f.entries <= 4000);
    CHECK_THAT(tamis_above(m->t, f.list_floor - 1, list, 1, &found, NULL), ==, TAMIS_EINVAL);
    CHECK_OK(tamis_above(m->t, f.list_floor, list, 4000, &found, NULL));
    memset(met, 0, sizeof met);
    for (size_t i = 0; i < found; i++) {
        CHECK(list[i].item.p != NULL && list[i].item.len == 8); /* there is room for all of these */
        uint64_t key; /* as it was added, in this machine's order */
        memcpy(&key, list[i].item.p, sizeof key);
        CHECK(key < UNIVERSE && met[key] == 0);
        met[key] = 1;
        CHECK(list[i].count.upper >= truth_of(m, (uint32_t)key));
        CHECK(list[i].count.confidence < 1 || list[i].count.lower <= truth_of(m, (uint32_t)key));
        CHECK(i == 0 || list[i - 1].count.estimate >= list[i].count.estimate);
        CHECK(ask_count(m->t, key).estimate == list[i].count.estimate);
    }
    for (uint32_t k = 0; k < UNIVERSE; k++) CHECK(met[k] || truth_of(m, k) < f.list_floor);
    CHECK_THAT(tamis_top(m->t, list, 4000), ==, f.listed);
}

static void check_all(const struct model *m)
{
    tamis_estimate *e = count_universe(m->t, UNIVERSE);
    uint32_t came = 0, within = 0;
    int64_t all = 0;
    for (uint32_t k = 0; k < UNIVERSE; k++) {
        const int64_t truth = truth_of(m, k);
        const uint64_t key = k;
        all += truth;
        came += truth != 0;
        within += truth != 0 && e[k].lower <= truth && truth <= e[k].upper;
        if (!inners[m->inner].two_sided) CHECK(e[k].upper >= truth && e[k].lower >= 0);
        CHECK(e[k].confidence < 1 || e[k].lower <= truth);
        CHECK(truth == 0 || tamis_may_contain(m->t, &key, sizeof key));
        CHECK_THAT(ask_count(m->t, k).upper, ==, e[k].upper);
    }
    /* The intervals have 99 % each. Seeds are fixed, so the result does not depend on chance. */
    CHECK_THAT(within, >=, 0.95 * came);
    const tamis_facts f = sketch_facts(m->t);
    CHECK(f.weight == all && f.kind == TAMIS_WINDOW);
    CHECK(f.inner_kind == inners[m->inner].kind && f.generations == m->generations);
    if (inners[m->inner].lists) check_lists(m);
    free(e);
}

static void test_model(void)
{
    for (size_t inner = 0; inner < INNERS; inner++)
        for (uint32_t g = 2; g <= MOST_GENERATIONS; g += 5) {
            static struct model m;
            memset(&m, 0, sizeof m);
            m.inner = inner;
            m.generations = g;
            m.random = 100 * inner + g;
            m.t = window_new(inner, g, 12000 * g);
            for (uint32_t i = 0; i < 400; i++) {
                model_add(&m, 1 + pick(&m, 300));
                if (i % 23 == 22) model_rotate(&m);
                if (i % 50 == 49) model_travel(&m);
                if (i % 60 == 59) check_all(&m);
            }
            for (uint32_t i = 0; i < g; i++) model_rotate(&m);
            CHECK(sketch_facts(m.t).weight == 0 && ask_count(m.t, 1).upper == 0);
            check_all(&m);
            tamis_close(m.t);
        }
}

/* Few keys: exactly what came in the generations that are left. */
static void test_forgets(void)
{
    for (size_t inner = 0; inner < INNERS; inner++) {
        tamis *t = window_new(inner, 3, 30000);
        for (uint64_t round = 1; round <= 8; round++) {
            const uint64_t always = 1, now = 100 + round;
            CHECK_OK(tamis_add_weight(t, &always, 8, (int64_t)round, NULL));
            CHECK_OK(tamis_add_weight(t, &now, 8, 50, NULL));
            const int64_t expected = (int64_t)(round < 3 ? round * (round + 1) / 2 : 3 * round - 3);
            CHECK_THAT(ask_count(t, 1).estimate, ==, expected);
            CHECK_THAT(ask_count(t, now).estimate, ==, 50);
            CHECK_THAT(ask_count(t, now - 2).estimate, ==, round >= 3 ? 50 : 0);
            CHECK_THAT(ask_count(t, now - 3).estimate, ==, 0);
            tamis_heavy list[10];
            if (inners[inner].lists)
                CHECK_THAT(tamis_top(t, list, 10), ==, (round < 3 ? round : 3) + 1);
            CHECK_OK(tamis_rotate(t, NULL));
        }
        tamis_close(t);
    }
}

static void test_merge(void)
{
    for (size_t inner = 0; inner < INNERS; inner++) {
        static struct model m[2];
        memset(m, 0, sizeof m);
        for (int i = 0; i < 2; i++) {
            m[i].inner = inner;
            m[i].generations = 4;
            m[i].random = 7 + (uint64_t)i;
            m[i].t = window_new(inner, 4, 40000);
            for (uint32_t j = 0; j < 40; j++) {
                model_add(&m[i], 300);
                if (j % 9 == 8) model_rotate(&m[i]);
            }
        }
        tamis *other = window_new(inner, 5, 50000);
        CHECK_THAT(tamis_merge(m[0].t, other, NULL), ==, TAMIS_EMISMATCH);
        CHECK_OK(tamis_merge(m[0].t, m[1].t, NULL));
        for (uint32_t g = 0; g < 4; g++)
            for (uint32_t k = 0; k < UNIVERSE; k++) m[0].truth[g][k] += m[1].truth[g][k];
        check_all(&m[0]);
        tamis_close(other);
        tamis_close(m[0].t);
        tamis_close(m[1].t);
    }
}

/* The counters of a top are a tally, but the two windows are not alike. */
static void test_mismatch(void)
{
    tamis_error why;
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = TAMIS_WINDOW,
                    .inner_kind = TAMIS_TALLY,
                    .generations = 3,
                    .m = 560};
    tamis *tally = NULL, *top = NULL;
    CHECK_OK(tamis_create(&p, NULL, &tally, NULL));
    p.inner_kind = TAMIS_TOP;
    p.generations = 2;
    CHECK_OK(tamis_create(&p, NULL, &top, NULL));
    CHECK_THAT(tamis_merge(tally, top, &why), ==, TAMIS_EMISMATCH);
    CHECK(strstr(why.text, "one is made of tally, the other of top") != NULL);
    tamis_close(tally);
    tamis_close(top);
}

static void test_plans(void)
{
    for (size_t inner = 0; inner < INNERS; inner++)
        for (uint32_t g = 2; g <= 256; g *= 4)
            for (uint64_t bytes = 4000 * g; bytes < 4000000; bytes *= 3) {
                tamis_plan p = plan_of(inner, g, bytes), again;
                CHECK_OK(tamis_solve(&p, NULL, NULL));
                CHECK(p.bytes <= bytes && (double)p.bytes > 0.95 * (double)bytes - 300.0 * g);
                again = p;
                CHECK_OK(tamis_solve(&again, NULL, NULL));
                CHECK(memcmp(&again, &p, sizeof p) == 0);
                tamis *t;
                CHECK_OK(tamis_create(&p, NULL, &t, NULL));
                CHECK_THAT(tamis_image_size(t), ==, p.bytes);
                tamis_close(t);
            }
    for (size_t inner = 0; inner < INNERS; inner++) {
        tamis_error why = {.text = ""};
        tamis_plan p[5];
        for (size_t i = 0; i < 5; i++) p[i] = plan_of(inner, 4, 20000);
        p[0].generations = 1;
        p[1].generations = 257;
        p[2].flags |= TAMIS_AUTO_ROTATE;
        p[3].bytes = 500;
        p[4].fpr = 0.1;
        for (size_t i = 0; i < 5; i++) {
            CHECK_THAT(tamis_solve(&p[i], NULL, &why), ==, TAMIS_EINVAL);
            CHECK(why.text[0] != '\0');
        }
    }
}

/* What is negative is refused, and nothing after it is added. */
static void test_negative_weights(void)
{
    for (size_t inner = 0; inner < INNERS; inner++) {
        const uint64_t keys[3] = {1, 2, 3};
        const tamis_bytes k[3] = {{&keys[0], 8}, {&keys[1], 8}, {&keys[2], 8}};
        const int64_t weights[3] = {10, -4, 7};
        tamis *t = window_new(inner, 3, 30000), *u = window_new(inner, 3, 30000);
        tamis_error why = {.text = ""};
        size_t done = 9;
        CHECK_THAT(tamis_add_weight_many(t, k, weights, 3, &done, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(done == 1 && why.text[0] != '\0');
        CHECK_THAT(tamis_add_weight(t, &keys[0], 8, -1, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_remove(t, &keys[0], 8, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK_OK(tamis_add_weight(u, &keys[0], 8, 10, NULL));
        CHECK(same(t, u));
        tamis_close(t);
        tamis_close(u);
    }
}

/* Weights that end, in all generations. */
static void test_ends(void)
{
    for (size_t inner = 0; inner < INNERS; inner++) {
        const uint64_t key = 1;
        tamis *t = window_new(inner, 4, 30000), *again;
        for (int i = 0; i < 4; i++) {
            CHECK_OK(tamis_add_weight(t, &key, 8, INT64_MAX, NULL));
            CHECK_THAT(ask_count(t, 1).upper, ==, INT64_MAX);
            if (i < 3) CHECK_OK(tamis_rotate(t, NULL));
        }
        CHECK(sketch_facts(t).weight == INT64_MAX);
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        CHECK(same(t, again));
        free(image.p);
        tamis_close(again);
        tamis_close(t);
    }
}

/* Nothing has changed when a merge finds no memory, whichever allocation it is. */
static void test_merge_without_memory(void)
{
    size_t n = 1;
    for (bool failed = true; failed; n++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_plan p = plan_of(4, 3, 30000);
        tamis *t, *u;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        for (uint64_t k = 0; k < 500; k++) {
            CHECK_OK(tamis_add(t, &k, 8, NULL));
            if (k % 200 == 199) CHECK_OK(tamis_rotate(t, NULL));
        }
        CHECK_OK(tamis_copy(t, &u, NULL));
        a.fail_at = a.calls + n;
        const tamis_status s = tamis_merge(t, u, NULL);
        failed = a.failed;
        a.fail_at = 0;
        CHECK_THAT(s, ==, failed ? TAMIS_ENOMEM : TAMIS_OK);
        CHECK(same(t, u) == failed);
        tamis_close(t);
        tamis_close(u);
        CHECK_THAT(a.blocks, ==, 0);
    }
    CHECK_THAT(n, >, 6);
}

/* What has reached its end in one generation is unknown in all, whatever the others have: "or more"
 * stays so. */
static void test_ends_stay(void)
{
    const uint64_t key = 1u << 30;
    for (size_t inner = 0; inner < INNERS; inner++)
        for (uint64_t others = 100; others <= 20000; others += 19900) {
            const bool narrow = inners[inner].kind == TAMIS_COUNT_SKETCH;
            const int64_t weight = narrow ? INT64_C(3000000000) : INT64_MAX;
            tamis *t = window_new(inner, 3, 1 << 16);
            CHECK_OK(tamis_add_weight(t, &key, sizeof key, weight, NULL));
            for (int i = 0; i < 2; i++) {
                CHECK_OK(tamis_rotate(t, NULL));
                for (uint64_t k = 0; k < others; k++) CHECK_OK(tamis_add(t, &k, sizeof k, NULL));
            }
            const tamis_estimate e = ask_count(t, key);
            CHECK(e.upper == INT64_MAX && e.lower <= weight);
            tamis_close(t);
        }
}

static const struct test tests[] = {
    {"model", test_model},
    {"forgets", test_forgets},
    {"merge", test_merge},
    {"mismatch", test_mismatch},
    {"plans", test_plans},
    {"negative weights", test_negative_weights},
    {"ends", test_ends},
    {"ends stay", test_ends_stay},
    {"merge without memory", test_merge_without_memory},
};

TEST_MAIN(tests)
