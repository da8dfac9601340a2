/* window: it remembers and forgets the right keys, at the rate it promises. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"

#include <math.h>

static const uint32_t INNER[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static tamis_plan window_plan(uint32_t inner, uint32_t generations, uint64_t items, double fpr)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_WINDOW,
                          .items = items,
                          .fpr = fpr,
                          .generations = generations,
                          .inner_kind = inner};
    return p;
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

static void add(tamis *t, uint64_t key)
{
    CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
}

/* --- Against an exact memory ------------------------------------------------------------------ */

enum { UNIVERSE = 4000 };

/* When each key was added last, in rotations; -1: never. */
struct model {
    tamis *t;
    int64_t last[UNIVERSE], now;
    int64_t generations;
    uint64_t asked, wrong;
};

static bool remembered(const struct model *m, uint64_t key)
{
    return m->last[key] >= 0 && m->last[key] > m->now - m->generations;
}

static void replace(struct model *m, tamis *by)
{
    tamis_close(m->t);
    m->t = by;
}

static void step(struct model *m, uint64_t r)
{
    const uint64_t key = r % UNIVERSE;
    const unsigned what = (unsigned)(r >> 40) % 10000;
    tamis *other;
    if (what < 4000) {
        bool seen;
        CHECK_OK(tamis_add(m->t, &key, sizeof key, &seen));
        CHECK(seen || !remembered(m, key));
        m->last[key] = m->now;
    } else if (what < 9970) {
        const bool maybe = has(m->t, key);
        CHECK(maybe || !remembered(m, key));
        m->asked += !remembered(m, key);
        m->wrong += maybe && !remembered(m, key);
    } else if (what < 9980) {
        CHECK_OK(tamis_rotate(m->t, NULL));
        m->now++;
    } else if (what < 9990) {
        CHECK_OK(tamis_copy(m->t, &other, NULL));
        replace(m, other);
    } else {
        struct bytes image = image_of(m->t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &other, NULL));
        CHECK(same_image(m->t, other));
        replace(m, other);
        free(image.p);
    }
}

/* A generation gets 400 keys on average, and is planned for 1000. */
static void play(uint32_t inner, uint32_t generations, uint64_t seed, uint32_t operations)
{
    static struct model m;
    const tamis_plan p = window_plan(inner, generations, 1000 * generations, 0.01);
    m = (struct model){.t = create(&p, NULL), .generations = generations};
    for (size_t i = 0; i < UNIVERSE; i++) m.last[i] = -1;
    for (uint32_t i = 0; i < operations; i++) step(&m, splitmix(&seed));
    CHECK_THAT(m.asked, >, operations / 20);
    CHECK_THAT(m.wrong, <, 0.02 * (double)m.asked); /* a forgotten key is like any other */
    CHECK(!facts_of(m.t).may_miss);
    tamis_close(m.t);
}

static void a_million_operations(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) play(TAMIS_BLOCKED, 4, seed, 1000000);
    for (size_t i = 0; i < LENGTH(INNER); i++) {
        play(INNER[i], 2, 4, 200000);
        play(INNER[i], 7, 5, 200000);
    }
}

/* --- Rates ------------------------------------------------------------------------------------ */

static uint64_t count_wrong(const tamis *t, uint64_t asked)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < asked; i++) wrong += has(t, i + (UINT64_C(1) << 40));
    return wrong;
}

/* All generations full: 6.2 deviations, and 5 % for the scatter of the fill, on 12 comparisons. */
static void rates_are_as_promised(void)
{
    static const uint32_t counts[] = {2, 5};
    for (size_t i = 0; i < LENGTH(INNER); i++)
        for (size_t c = 0; c < LENGTH(counts); c++) {
            enum { ITEMS = 50000, ASKED = 1000000 };
            const tamis_plan p = window_plan(INNER[i], counts[c], ITEMS, 0.01);
            tamis *t = create(&p, NULL);
            for (uint64_t key = 0; key < ITEMS; key++) {
                if (key != 0 && key % (ITEMS / counts[c]) == 0) CHECK_OK(tamis_rotate(t, NULL));
                add(t, key);
            }
            for (uint64_t key = 0; key < ITEMS; key++) CHECK(has(t, key));
            const tamis_facts f = facts_of(t);
            const double wrong = (double)count_wrong(t, ASKED);
            const double now = f.fpr_now * ASKED, planned = f.fpr_planned * ASKED;
            CHECK_THAT(fabs(wrong - now), <, 6.2 * sqrt(now));
            CHECK_THAT(fabs(wrong - planned), <, 6.2 * sqrt(planned) + 0.05 * planned);
            CHECK_THAT(f.fpr_planned, <=, 0.01);
            CHECK(!f.overfull);
            CHECK_THAT(f.sections, ==, counts[c]);
            CHECK_THAT(f.items_low, <=, ITEMS);
            CHECK_THAT(f.items_high, >=, ITEMS);
            tamis_close(t);
        }
}

/* By itself: the last items less a generation are always there, the rate never exceeds the plan's,
 * and the oldest are forgotten. In batches of any size the same, to the bit. */
static void turning(void)
{
    enum { ITEMS = 4000, GENERATIONS = 4, ADDED = 40000 };
    tamis_plan p = window_plan(0, GENERATIONS, ITEMS, 0.01);
    p.flags = TAMIS_AUTO_ROTATE;
    tamis *t = create(&p, NULL), *bulk = create(&p, NULL);
    CHECK(facts_of(t).auto_rotate);
    static uint64_t words[ADDED];
    static tamis_bytes k[ADDED];
    for (uint64_t key = 0; key < ADDED; key++) {
        words[key] = key;
        k[key] = (tamis_bytes){&words[key], sizeof words[key]};
        add(t, key);
        if (key % 500 != 0) continue;
        for (uint64_t back = 0; back <= key && back < ITEMS - ITEMS / GENERATIONS; back++)
            CHECK(has(t, key - back));
        const tamis_facts f = facts_of(t);
        CHECK(!f.overfull);
        CHECK_THAT(f.fpr_now, <, 1.2 * f.fpr_planned);
        CHECK_THAT(f.items, <=, ITEMS);
    }
    uint64_t remembered = 0;
    for (uint64_t key = 0; key < ADDED - 2 * ITEMS; key++) remembered += has(t, key);
    CHECK_THAT(remembered, <, 0.02 * ADDED);
    for (uint64_t at = 0, n = 1; at < ADDED; at += n, n = n * 7 % 1009 + 1) {
        const size_t now = ADDED - at < n ? ADDED - at : n;
        CHECK_OK(tamis_add_many(bulk, k + at, now, NULL, NULL));
    }
    CHECK(same_image(t, bulk));
    struct bytes image = image_of(t);
    tamis *again;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    for (uint64_t key = ADDED; key < ADDED + 5000; key++) { /* it goes on turning */
        add(t, key);
        add(again, key);
    }
    CHECK(facts_of(again).auto_rotate && facts_of(again).items == facts_of(t).items);
    for (uint64_t key = 0; key < ADDED + 5000; key++) CHECK(has(t, key) == has(again, key));
    free(image.p);
    tamis_close(again);
    tamis_close(t);
    tamis_close(bulk);
}

/* --- Together --------------------------------------------------------------------------------- */

static void merging_generation_by_generation(void)
{
    const tamis_plan p = window_plan(0, 3, 3000, 0.01);
    tamis *a = create(&p, NULL), *b = create(&p, NULL), *all = create(&p, NULL);
    for (uint64_t round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < 500; i++) {
            const uint64_t key = round * 1000 + i;
            add(i % 2 == 0 ? a : b, key);
            add(all, key);
        }
        if (round == 3) break;
        CHECK_OK(tamis_rotate(a, NULL));
        CHECK_OK(tamis_rotate(b, NULL));
        CHECK_OK(tamis_rotate(all, NULL));
    }
    CHECK_OK(tamis_merge(a, b, NULL));
    for (int g = 0; g < 3; g++) { /* and forgets as one */
        for (uint64_t key = 0; key < 10000; key++) CHECK(has(a, key) == has(all, key));
        CHECK_OK(tamis_rotate(a, NULL));
        CHECK_OK(tamis_rotate(all, NULL));
    }
    CHECK_THAT(facts_of(a).items, ==, 0);
    tamis_close(a);
    tamis_close(b);
    tamis_close(all);
}

/* A filter of all generations would be overfull: there is none with the same answers. */
static void no_plain_filter(void)
{
    tamis *t = create_kind(TAMIS_WINDOW), *plain;
    tamis_error why;
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++)
        CHECK_THAT(tamis_convert(t, kind, &plain, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(plain == NULL);
    tamis_close(t);
}

/* A window is overfull if its rate is above the plan, not if one generation has a little more
 * than its share and the others are empty. */
static void overfull_by_the_rate(void)
{
    const tamis_plan p = window_plan(0, 4, 4000, 0.01);
    tamis *t = create(&p, NULL);
    for (uint64_t key = 0; key < 1010; key++) add(t, key);
    CHECK(!facts_of(t).overfull);
    for (uint64_t key = 0; key < 4000; key++) add(t, key);
    CHECK(facts_of(t).overfull && facts_of(t).fpr_now > 0.01);
    tamis_close(t);
}

static void plans(void)
{
    tamis_error why;
    tamis_plan p = window_plan(TAMIS_COUNTING, 4, 100, 0.01);
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p = window_plan(0, 1, 100, 0.01);
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p = window_plan(0, 257, 100, 0.01);
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p = window_plan(0, 4, 100, 0.01);
    p.flags = TAMIS_STRICT;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p = plan_of(TAMIS_BLOOM, 100);
    p.flags = TAMIS_AUTO_ROTATE;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    for (uint32_t g = 2; g <= 256; g += g < 10 ? 1 : 61) {
        p = window_plan(0, g, 100000, 0.01);
        CHECK_OK(tamis_solve(&p, NULL, &why));
        const tamis_plan solved = p;
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(memcmp(&p, &solved, sizeof p) == 0);
        tamis *t = create(&p, NULL);
        CHECK_THAT(tamis_image_size(t), ==, p.bytes);
        tamis_close(t);
        p.m = p.k = 0;
        p.items = 0;
        CHECK_OK(tamis_solve(&p, NULL, &why));
        CHECK(p.items >= solved.items && p.bytes <= solved.bytes && p.fpr <= solved.fpr);
    }
    tamis *t = create_kind(TAMIS_WINDOW);
    CHECK_THAT(tamis_remove(t, "x", 1, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(tamis_rotate(t, &why), ==, TAMIS_ESEALED);
    tamis_close(t);
}

static const struct test tests[] = {
    {"a_million_operations", a_million_operations},
    {"rates_are_as_promised", rates_are_as_promised},
    {"turning", turning},
    {"merging_generation_by_generation", merging_generation_by_generation},
    {"no_plain_filter", no_plain_filter},
    {"overfull_by_the_rate", overfull_by_the_rate},
    {"plans", plans},
};
TEST_MAIN(tests)
