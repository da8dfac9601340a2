/* pair: what it promises, which keys it misses, and how often. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"

#include <math.h>
#include <tamis/count.h>

static const uint32_t INNER[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static tamis *make(uint32_t inner, uint64_t items, double fpr)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_PAIR,
                          .items = items,
                          .fpr = fpr,
                          .inner_kind = inner};
    return create(&p, NULL);
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

static void add(tamis *t, uint64_t key)
{
    CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
}

static tamis_status take(tamis *t, uint64_t key)
{
    return tamis_remove(t, &key, sizeof key, NULL);
}

enum { UNIVERSE = 2000, ROUND = 8000 };

/* The exact set, and what was wrong. */
struct model {
    tamis *t;
    bool in[UNIVERSE];
    uint64_t asked, missed, asked_out, wrong;
};

/* Right after an add the key is there, right after a remove it is not, whatever came before. */
static void step(struct model *m, uint64_t r)
{
    const uint64_t key = r % UNIVERSE;
    const unsigned what = (unsigned)(r >> 40) % 1000;
    const bool before = has(m->t, key);
    if (what < 300) {
        bool seen;
        CHECK_OK(tamis_add(m->t, &key, sizeof key, &seen));
        CHECK(seen == before && has(m->t, key));
        m->in[key] = true;
    } else if (what < 600) {
        CHECK_THAT(take(m->t, key), ==, before ? TAMIS_OK : TAMIS_EABSENT);
        CHECK(!has(m->t, key));
        m->in[key] = false;
    } else if (m->in[key]) {
        m->asked++;
        m->missed += !before;
    } else {
        m->asked_out++;
        m->wrong += before;
    }
}

/* The keys that are left, into an empty pair: nobody is missed then. */
static void compact(struct model *m)
{
    CHECK_OK(tamis_clear(m->t));
    for (uint64_t key = 0; key < UNIVERSE; key++)
        if (m->in[key]) add(m->t, key);
    for (uint64_t key = 0; key < UNIVERSE; key++) CHECK(has(m->t, key) || !m->in[key]);
}

/* Planned for what a round adds and removes, both rates are at most 1 %. Keys are asked several
 * times, so a wrong answer counts several times: the bounds are twice and, for a hundred events,
 * wide enough. */
static void play(uint32_t inner, uint64_t seed, uint32_t operations)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    m.t = make(inner, ROUND / 2, 0.01);
    for (uint32_t i = 0; i < operations; i++) {
        if (i % ROUND == ROUND - 1) {
            CHECK(!facts_of(m.t).overfull && facts_of(m.t).may_miss);
            compact(&m);
        }
        step(&m, splitmix(&seed));
    }
    CHECK_THAT(m.asked, >, operations / 10);
    CHECK_THAT(m.missed, <, 0.02 * (double)m.asked);
    CHECK_THAT(m.asked_out, >, operations / 10);
    CHECK_THAT(m.wrong, <, 0.02 * (double)m.asked_out);
    tamis_close(m.t);
}

static void a_million_operations(void)
{
    for (size_t i = 0; i < LENGTH(INNER); i++)
        for (uint64_t seed = 1; seed <= 3; seed++) play(INNER[i], seed, i == 0 ? 1000000 : 200000);
}

/* The figures of tamis_info. Of LIVE keys that are in, miss_rate are missed, when REMOVED others
 * are gone: 6.2 deviations. And 002's claim: a pair has at most the false positives of its first
 * filter, key by key. */
static void rates_are_as_reported(void)
{
    for (size_t i = 0; i < LENGTH(INNER); i++) {
        enum { LIVE = 100000, REMOVED = 100000, ASKED = 1000000 };
        tamis *t = make(INNER[i], LIVE + REMOVED, 0.01);
        tamis_plan p = {.struct_size = sizeof p, .kind = INNER[i], .items = LIVE + REMOVED};
        const tamis_facts empty = facts_of(t);
        p.m = empty.m;
        p.k = empty.k;
        tamis *alone = create(&p, NULL);
        for (uint64_t key = 0; key < LIVE + REMOVED; key++) {
            add(t, key);
            add(alone, key);
        }
        CHECK_THAT(facts_of(t).miss_rate, ==, 0);
        for (uint64_t key = 0; key < LIVE; key++) CHECK(has(t, key));
        uint64_t absent = 0, missed = 0, wrong = 0, wrong_alone = 0;
        for (uint64_t key = LIVE; key < LIVE + REMOVED; key++) absent += take(t, key) != TAMIS_OK;
        const tamis_facts f = facts_of(t);
        for (uint64_t key = LIVE; key < LIVE + REMOVED; key++) CHECK(!has(t, key));
        for (uint64_t key = 0; key < LIVE; key++) missed += !has(t, key);
        for (uint64_t key = 0; key < ASKED; key++) {
            const bool in_pair = has(t, key + 10000000), in_one = has(alone, key + 10000000);
            CHECK(in_one || !in_pair);
            wrong += in_pair;
            wrong_alone += in_one;
        }
        const double misses = f.miss_rate * LIVE, wrongs = f.fpr_now * ASKED;
        CHECK_THAT(f.miss_rate, >, 0);
        CHECK_THAT(fabs((double)missed - misses), <, 6.2 * sqrt(misses) + 1);
        CHECK_THAT(fabs((double)wrong - wrongs), <, 6.2 * sqrt(wrongs));
        CHECK_THAT(wrong, <, wrong_alone);
        CHECK_THAT(absent, <, 0.01 * REMOVED); /* those whose bits others had set already */
        CHECK_THAT(f.items_low, <=, LIVE);
        CHECK_THAT(f.items_high, >=, LIVE);
        CHECK(!f.overfull);
        tamis_close(t);
        tamis_close(alone);
    }
}

/* Lives: a key comes and goes many times, and nobody else notices. */
static void keys_come_back(void)
{
    enum { OTHERS = 5000, TIMES = 60 };
    tamis *t = make(TAMIS_BLOCKED, 2 * OTHERS, 0.01);
    for (uint64_t key = 0; key < OTHERS; key++) add(t, key);
    for (uint64_t key = 0; key < OTHERS; key += 2) take(t, key);
    uint8_t before[OTHERS];
    for (uint64_t key = 0; key < OTHERS; key++) before[key] = has(t, key);
    const uint64_t key = OTHERS;
    for (int i = 0; i < TIMES; i++) {
        add(t, key);
        CHECK(has(t, key));
        CHECK_OK(take(t, key));
        CHECK(!has(t, key));
    }
    unsigned changed = 0;
    for (uint64_t other = 0; other < OTHERS; other++) changed += before[other] != has(t, other);
    CHECK_THAT(changed, <, 20); /* what 60 more keys in each filter do */
    int rounds = TIMES;
    for (tamis_status s = TAMIS_OK; s == TAMIS_OK; rounds++) {
        struct bytes image = image_of(t);
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
        CHECK(has(t, key));
        struct bytes added = image_of(t);
        s = take(t, key);
        CHECK(has(t, key) == (s != TAMIS_OK));
        if (s != TAMIS_OK) { /* no 65th life: it stays in, and nothing has changed */
            struct bytes after = image_of(t);
            CHECK(s == TAMIS_EFULL && bytes_equal(added, after));
            free(after.p);
        }
        free(image.p);
        free(added.p);
    }
    CHECK(rounds > 60 && rounds <= 64);
    const uint64_t items = facts_of(t).items;
    tamis_error why;
    const tamis_bytes one = {&key, sizeof key};
    uint8_t absent;
    CHECK_OK(tamis_add(t, &key, sizeof key, NULL)); /* it is in already */
    CHECK_THAT(tamis_remove_many(t, &one, 1, &absent, &why), ==, TAMIS_EFULL);
    CHECK(absent == 0 && has(t, key) && facts_of(t).items == items);
    /* Among several keys, the others are still removed. */
    const uint64_t before_it = OTHERS + 1, after_it = OTHERS + 2;
    const tamis_bytes some[] = {{&before_it, 8}, one, {&after_it, 8}};
    CHECK_OK(tamis_add_many(t, some, 3, NULL, NULL));
    CHECK_THAT(tamis_remove_many(t, some, 3, &absent, &why), ==, TAMIS_EFULL);
    CHECK(absent == 0 && has(t, key) && !has(t, before_it) && !has(t, after_it));
    tamis_close(t);
}

/* Forged: more was removed than ever added. Adding a key must bring it in all the same. */
static void forged_removals(void)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_PAIR, .items = 100, .fpr = 0.01};
    tamis *t = create(&p, NULL);
    struct bytes image = image_of(t);
    tamis_close(t);
    const uint64_t offset = tamis__get64(image.p + 128 + 64 + 48);
    const uint64_t length = tamis__get64(image.p + 128 + 64 + 56);
    for (unsigned fill = 0x55; fill <= 0xff; fill += 0xaa) {
        memset(image.p + offset, (int)fill, (size_t)length);
        image_resum(image.p, image.n);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &t, NULL));
        for (uint64_t key = 0; key < 50; key++)
            if (tamis_add(t, &key, sizeof key, NULL) == TAMIS_OK) CHECK(has(t, key));
        tamis_close(t);
    }
    free(image.p);
}

/* Churn wears a pair out, which it says; clearing and adding what is left cures it. */
static void wear_and_cure(void)
{
    enum { LIVE = 1000, ROUNDS = 4 };
    tamis *t = make(TAMIS_BLOCKED, LIVE, 0.01);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < LIVE; i++) add(t, round * LIVE + i);
        for (uint64_t i = 0; i < LIVE && round + 1 < ROUNDS; i++) take(t, round * LIVE + i);
    }
    CHECK(facts_of(t).overfull);
    CHECK_THAT(facts_of(t).miss_rate, >, 0.1);
    CHECK_OK(tamis_clear(t));
    for (uint64_t i = 0; i < LIVE; i++) add(t, (ROUNDS - 1) * LIVE + i);
    CHECK(!facts_of(t).overfull);
    CHECK_THAT(facts_of(t).miss_rate, ==, 0);
    for (uint64_t i = 0; i < LIVE; i++) CHECK(has(t, (ROUNDS - 1) * LIVE + i));
    tamis_close(t);
}

static void refusals(void)
{
    tamis_error why;
    tamis *a = make(0, 100, 0.01), *b = make(0, 100, 0.01), *plain;
    tamis_estimate e;
    tamis_similarity s = {.struct_size = sizeof s};
    CHECK_THAT(tamis_merge(a, b, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(why.better_kind, ==, TAMIS_BLOCKED);
    CHECK_THAT(tamis_compare(a, b, &s, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_count(a, "x", 1, &e, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_convert(a, TAMIS_BLOCKED, &plain, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(plain == NULL);
    tamis_close(a);
    tamis_close(b);
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_PAIR, .items = 100, .fpr = 0.01};
    p.inner_kind = TAMIS_COUNTING;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p.inner_kind = TAMIS_PAIR;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    p.inner_kind = 0;
    CHECK_OK(tamis_solve(&p, NULL, &why));
    const tamis_plan solved = p;
    CHECK_OK(tamis_solve(&p, NULL, &why));
    CHECK(memcmp(&p, &solved, sizeof p) == 0);
}

/* In bulk as one by one, and the same through a file. */
static void bulk_is_single(void)
{
    make_keys();
    for (size_t i = 0; i < LENGTH(INNER); i++) {
        tamis *one = make(INNER[i], 4 * MANY, 0.05), *bulk = make(INNER[i], 4 * MANY, 0.05), *again;
        uint8_t seen[2 * MANY / 8], absent[2 * MANY / 8];
        for (int round = 0; round < 2; round++) {
            CHECK_OK(tamis_add_many(bulk, keys, 2 * MANY, seen, NULL));
            for (size_t k = 0; k < 2 * MANY; k++) {
                bool was;
                CHECK_OK(tamis_add(one, keys[k].p, keys[k].len, &was));
                CHECK(was == (seen[k / 8] >> k % 8 & 1));
            }
            CHECK_OK(tamis_remove_many(bulk, keys, MANY, absent, NULL));
            for (size_t k = 0; k < MANY; k++)
                CHECK((tamis_remove(one, keys[k].p, keys[k].len, NULL) == TAMIS_EABSENT) ==
                      (absent[k / 8] >> k % 8 & 1));
            CHECK(same_image(one, bulk));
        }
        struct bytes image = image_of(bulk);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        CHECK(same_image(again, bulk));
        for (size_t k = 0; k < 2 * MANY; k++)
            CHECK(tamis_may_contain(again, keys[k].p, keys[k].len) ==
                  tamis_may_contain(one, keys[k].p, keys[k].len));
        free(image.p);
        tamis_close(one);
        tamis_close(bulk);
        tamis_close(again);
    }
}

static const struct test tests[] = {
    {"a_million_operations", a_million_operations},
    {"rates_are_as_reported", rates_are_as_reported},
    {"keys_come_back", keys_come_back},
    {"forged_removals", forged_removals},
    {"wear_and_cure", wear_and_cure},
    {"refusals", refusals},
    {"bulk_is_single", bulk_is_single},
};
TEST_MAIN(tests)
