/* tamis_rotate_to: a window forgets by epochs, and its image records the epoch. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/resum.h"

#include <tamis/count.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const uint32_t INNER[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED};

static tamis_plan window_plan(uint32_t inner, uint32_t generations)
{
    const bool sketch = inner >= TAMIS_COUNT_MIN;
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_WINDOW,
                          .items = sketch ? 0 : 1000 * generations,
                          .fpr = sketch ? 0 : 0.01,
                          .m = sketch ? 56 * 200 : 0,
                          .generations = generations,
                          .inner_kind = inner};
    return p;
}

static tamis *window(uint32_t generations)
{
    const tamis_plan p = window_plan(TAMIS_BLOCKED, generations);
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

static uint64_t epoch_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_stat(t, &f));
    CHECK_THAT(f.epoch, ==, facts_of(t).epoch);
    return f.epoch;
}

static void check_refused(tamis *t, uint64_t epoch, tamis_status expected, const char *words)
{
    tamis_error why = {0};
    struct bytes before = image_of(t);
    CHECK_THAT(tamis_rotate_to(t, epoch, &why), ==, expected);
    CHECK(why.status == expected && strstr(why.text, words) != NULL);
    CHECK_THAT(tamis_rotate_to(t, epoch, NULL), ==, expected);
    struct bytes after = image_of(t);
    CHECK(bytes_equal(before, after));
    free(before.p);
    free(after.p);
}

/* --- Against an exact map --------------------------------------------------------------------- */

enum { UNIVERSE = 4000 };

/* The epoch in which each key was added last; 0: never. */
struct model {
    tamis *t;
    uint64_t last[UNIVERSE], now;
    uint64_t generations, asked, wrong;
};

static bool remembered(const struct model *m, uint64_t key)
{
    return m->last[key] != 0 && m->now - m->last[key] < m->generations;
}

static void replace(struct model *m, tamis *by)
{
    CHECK(same_image(m->t, by));
    tamis_close(m->t);
    m->t = by;
}

static void go_to(struct model *m, uint64_t r)
{
    const unsigned how = (unsigned)(r % 8);
    if (how == 0) { /* the past, and no epoch at all */
        check_refused(m->t, m->now - 1 - r / 8 % m->now, TAMIS_EINVAL, "epoch");
        return;
    }
    const uint64_t ahead = how == 1 ? 0 : how < 7 ? 1 + r / 8 % 2 : r / 8 % 1000;
    struct bytes before = image_of(m->t);
    CHECK_OK(tamis_rotate_to(m->t, m->now + ahead, NULL));
    if (ahead == 0) {
        struct bytes after = image_of(m->t);
        CHECK(bytes_equal(before, after));
        free(after.p);
    }
    free(before.p);
    m->now += ahead;
    CHECK_THAT(epoch_of(m->t), ==, m->now);
}

static void renew(struct model *m, uint64_t r)
{
    tamis *other;
    struct bytes image = image_of(m->t), packed = packed_of(m->t);
    if (r % 3 == 0)
        CHECK_OK(tamis_copy(m->t, &other, NULL));
    else if (r % 3 == 1)
        CHECK_OK(tamis_load(image.p, image.n, NULL, &other, NULL));
    else
        CHECK_OK(tamis_unpack(packed.p, packed.n, NULL, &other, NULL));
    CHECK_THAT(epoch_of(other), ==, m->now);
    replace(m, other);
    free(packed.p);
    free(image.p);
}

static void step(struct model *m, uint64_t r)
{
    const uint64_t key = r % UNIVERSE;
    const unsigned what = (unsigned)(r >> 40) % 10000;
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
    } else if (what < 9990) {
        go_to(m, splitmix(&r));
    } else {
        renew(m, splitmix(&r));
    }
}

/* The plan has 1 % of false positives; twice as many are never reached, because a generation gets
 * fewer keys than it was planned for. So a forgotten key is like any other. */
static void play(uint32_t inner, uint32_t generations, uint64_t seed)
{
    static struct model m;
    const tamis_plan p = window_plan(inner, generations);
    m = (struct model){.t = create(&p, NULL), .generations = generations, .now = 5000000};
    CHECK_OK(tamis_rotate_to(m.t, m.now, NULL));
    for (uint32_t i = 0; i < 100000; i++) step(&m, splitmix(&seed));
    CHECK_THAT(m.asked, >, 10000);
    CHECK_THAT(m.wrong, <, 0.02 * (double)m.asked);
    tamis_close(m.t);
}

static void against_an_exact_map(void)
{
    for (size_t i = 0; i < LENGTH(INNER); i++) {
        play(INNER[i], 2, 1);
        play(INNER[i], 5, 2);
    }
}

/* --- The contract ----------------------------------------------------------------------------- */

/* One rotation for each epoch that passed, and never for the first one or the same one. */
static void as_often_as_is_due(void)
{
    for (uint64_t ahead = 0; ahead < 8; ahead++) {
        tamis *one = window(4), *other = window(4);
        add(one, 1);
        add(other, 1);
        CHECK_OK(tamis_rotate_to(one, 100, NULL)); /* only recorded */
        CHECK(has(one, 1) && epoch_of(one) == 100);
        CHECK_OK(tamis_rotate_to(one, 100 + ahead, NULL));
        CHECK_OK(tamis_rotate_to(other, 100 + ahead, NULL));
        for (uint64_t i = 0; i < ahead; i++) CHECK_OK(tamis_rotate(other, NULL));
        CHECK(has(one, 1) == (ahead < 4));
        CHECK(same_image(one, other));
        tamis_close(one);
        tamis_close(other);
    }
}

/* However far it is: also from the first to the last epoch of all. */
static void far_ahead_is_empty(void)
{
    tamis *t = window(256);
    add(t, 7);
    CHECK_OK(tamis_rotate_to(t, 1, NULL));
    CHECK(has(t, 7));
    CHECK_OK(tamis_rotate_to(t, UINT64_MAX, NULL));
    CHECK(!has(t, 7) && facts_of(t).items == 0);
    CHECK_THAT(epoch_of(t), ==, UINT64_MAX);
    check_refused(t, UINT64_MAX - 1, TAMIS_EINVAL, "in the past");
    tamis_close(t);
}

static void refusals(void)
{
    const tamis_plan blocked = {.struct_size = sizeof blocked, .items = 100, .fpr = 0.01};
    tamis *t = create(&blocked, NULL);
    check_refused(t, 5, TAMIS_EUNSUPPORTED, "cannot rotate");
    tamis_close(t);
    t = window(3);
    check_refused(t, 0, TAMIS_EINVAL, "epoch 0");
    CHECK_OK(tamis_rotate_to(t, 5, NULL));
    check_refused(t, 0, TAMIS_EINVAL, "epoch 0");
    check_refused(t, 4, TAMIS_EINVAL, "epoch 4 is in the past: the window is at epoch 5");
    CHECK_OK(tamis_seal(t, NULL));
    check_refused(t, 6, TAMIS_ESEALED, "read-only");
    check_refused(t, 5, TAMIS_ESEALED, "read-only");
    CHECK_THAT(epoch_of(t), ==, 5);
    tamis_close(t);
}

/* A rotation by hand, or by a full generation, is one more. */
static void other_rotations_keep_the_epoch(void)
{
    tamis_plan p = window_plan(TAMIS_BLOCKED, 3);
    tamis *t = create(&p, NULL);
    CHECK_OK(tamis_rotate(t, NULL));
    CHECK_THAT(epoch_of(t), ==, 0);
    CHECK_OK(tamis_rotate_to(t, 9, NULL));
    add(t, 1);
    CHECK_OK(tamis_rotate(t, NULL));
    CHECK_THAT(epoch_of(t), ==, 9);
    CHECK_OK(tamis_rotate_to(t, 10, NULL));
    CHECK(has(t, 1));
    CHECK_OK(tamis_rotate_to(t, 11, NULL));
    CHECK(!has(t, 1));
    tamis_close(t);
    p.flags = TAMIS_AUTO_ROTATE;
    t = create(&p, NULL);
    CHECK_OK(tamis_rotate_to(t, 9, NULL));
    for (uint64_t i = 0; i < 1500; i++) add(t, i);
    CHECK_THAT(epoch_of(t), ==, 9);
    CHECK_OK(tamis_rotate_to(t, 10, NULL));
    CHECK(has(t, 0) && has(t, 1499));
    CHECK_OK(tamis_rotate_to(t, 11, NULL));
    CHECK(has(t, 1499)); /* and 0 was in the generation before, which is gone */
    CHECK_OK(tamis_rotate_to(t, 12, NULL));
    CHECK(!has(t, 1499) && facts_of(t).items == 0);
    tamis_close(t);
}

static void clear_drops_it(void)
{
    tamis *t = window(3), *fresh = window(3);
    CHECK_OK(tamis_rotate_to(t, 9, NULL));
    add(t, 1);
    CHECK_OK(tamis_clear(t));
    CHECK(epoch_of(t) == 0 && same_image(t, fresh));
    CHECK_OK(tamis_rotate_to(t, 2, NULL)); /* it was in the past */
    CHECK_THAT(epoch_of(t), ==, 2);
    tamis_close(t);
    tamis_close(fresh);
}

static void merges(void)
{
    for (int first = 0; first < 3; first++)
        for (int second = 0; second < 3; second++) {
            tamis *a = window(3), *b = window(3);
            tamis_error why = {0};
            if (first > 0) CHECK_OK(tamis_rotate_to(a, (uint64_t)first, NULL));
            if (second > 0) CHECK_OK(tamis_rotate_to(b, (uint64_t)second, NULL));
            add(a, 1);
            add(b, 2);
            const bool differ = first != 0 && second != 0 && first != second;
            struct bytes before = image_of(a);
            const tamis_status s = tamis_merge(a, b, &why);
            CHECK_THAT(s, ==, differ ? TAMIS_EMISMATCH : TAMIS_OK);
            if (differ) {
                struct bytes after = image_of(a);
                CHECK(bytes_equal(before, after) && strstr(why.text, "epoch") != NULL);
                CHECK_OK(tamis_rotate_to(first < second ? a : b, 2, NULL));
                CHECK_OK(tamis_merge(a, b, &why));
                free(after.p);
            }
            CHECK(has(a, 1) && has(a, 2));
            CHECK_THAT(epoch_of(a), ==, (uint64_t)(first > second ? first : second));
            free(before.p);
            tamis_close(a);
            tamis_close(b);
        }
}

/* Counts, and lists, of the last epochs. */
static void windows_of_sketches(void)
{
    static const uint32_t kinds[] = {TAMIS_TALLY, TAMIS_COUNT_MIN, TAMIS_TOP, TAMIS_COUNT_SKETCH,
                                     TAMIS_SIGNED_TALLY};
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        tamis_plan p = window_plan(kinds[i], 4);
        if (kinds[i] == TAMIS_TOP) p.items = 10;
        tamis *t = create(&p, NULL);
        int64_t weight[40] = {0};
        uint64_t state = i;
        for (uint64_t now = 1, e = 1; e < 40; e = now) {
            tamis_estimate got;
            CHECK_OK(tamis_rotate_to(t, e, NULL));
            weight[e] = (int64_t)(splitmix(&state) % 1000);
            CHECK_OK(tamis_add_weight(t, "a key alone", 11, weight[e], NULL));
            int64_t sum = 0;
            for (uint64_t back = 0; back < 4 && back < e; back++) sum += weight[e - back];
            CHECK_OK(tamis_count(t, "a key alone", 11, &got, NULL));
            CHECK_THAT(got.estimate, ==, sum);
            CHECK_THAT(facts_of(t).weight, ==, sum);
            now += 1 + splitmix(&state) % 5;
        }
        tamis_close(t);
    }
}

/* --- The image -------------------------------------------------------------------------------- */

/* Only the flag, the epoch and the root differ from the image of a window without one. */
static void only_its_own_bytes(void)
{
    tamis *without = window(3), *with = window(3);
    CHECK_OK(tamis_rotate_to(with, UINT64_C(0x1122334455667788), NULL));
    add(without, 1);
    add(with, 1);
    struct bytes a = image_of(without), b = image_of(with);
    CHECK_THAT(tamis__get32(b.p + 20), ==, 8);
    CHECK_THAT(tamis__get64(b.p + 80), ==, UINT64_C(0x1122334455667788));
    tamis__put32(b.p + 20, 0);
    tamis__put64(b.p + 80, 0);
    image_resum(b.p, b.n);
    CHECK(bytes_equal(a, b));
    free(a.p);
    free(b.p);
    tamis_close(without);
    tamis_close(with);
}

/* An epoch that is recorded, or passes, is a change; the same one is not. */
static void raises_the_generation(void)
{
    tamis *t = window(3), *again;
    for (uint64_t round = 0; round < 3; round++) {
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        free(image.p);
        tamis_close(t);
        t = again;
        CHECK_OK(tamis_rotate_to(t, round < 2 ? round + 4 : round + 3, NULL));
        CHECK_THAT(facts_of(t).generation, ==, round < 2 ? round + 2 : 3);
    }
    tamis_close(t);
}

static void check_load(const tamis *t, uint32_t flags, uint64_t epoch, tamis_status expected)
{
    struct bytes image = image_of(t);
    tamis *out;
    tamis_error why = {0};
    tamis__put32(image.p + 20, flags);
    tamis__put64(image.p + 80, epoch);
    image_resum(image.p, image.n);
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &out, &why), ==, expected);
    if (expected == TAMIS_ECORRUPT) CHECK(why.offset == 80 && strstr(why.text, "epoch") != NULL);
    if (expected == TAMIS_OK) CHECK_THAT(epoch_of(out), ==, epoch);
    tamis_close(out);
    free(image.p);
}

static void images_that_are_refused(void)
{
    const tamis_plan blocked = {.struct_size = sizeof blocked, .items = 100, .fpr = 0.01};
    tamis *t = window(3), *other = create(&blocked, NULL);
    check_load(t, 0, 0, TAMIS_OK);
    check_load(t, 8, 1, TAMIS_OK);
    check_load(t, 8 | 4 | 1, UINT64_MAX, TAMIS_OK);
    check_load(t, 8, 0, TAMIS_ECORRUPT);
    check_load(t, 0, 1, TAMIS_ECORRUPT);
    check_load(other, 8, 1, TAMIS_ECORRUPT);
    check_load(other, 0, 1, TAMIS_ECORRUPT);
    check_load(other, 8, 0, TAMIS_ECORRUPT);
    tamis_close(t);
    tamis_close(other);
}

static const struct test tests[] = {
    {"against an exact map", against_an_exact_map},
    {"as often as is due", as_often_as_is_due},
    {"far ahead is empty", far_ahead_is_empty},
    {"refusals", refusals},
    {"other rotations keep the epoch", other_rotations_keep_the_epoch},
    {"clear drops it", clear_drops_it},
    {"merges", merges},
    {"windows of sketches", windows_of_sketches},
    {"only its own bytes", only_its_own_bytes},
    {"raises the generation", raises_the_generation},
    {"images that are refused", images_that_are_refused},
};

TEST_MAIN(tests)
