/* TAMIS_SHARED for windows: threads add and query while others rotate. The test also runs under the
 * thread sanitizer, without a suppression. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "core/handle.h"

#include <pthread.h>
#include <sched.h>

enum { ADDERS = 3, GENERATIONS = 4, TURNS = 60, MOST_GROUPS = 1500, GROUP = 40 };

static const uint32_t INNER[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED};
#define KINDS (sizeof INNER / sizeof *INNER)

static tamis *make(uint32_t inner, uint32_t generations, uint64_t items, uint32_t plan_flags,
                   uint32_t flags)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_WINDOW,
                             .inner_kind = inner,
                             .generations = generations,
                             .items = items,
                             .fpr = 0.01,
                             .flags = plan_flags};
    const tamis_options options = {.struct_size = sizeof options, .flags = flags};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &options, &t, NULL));
    return t;
}

static bool has(const tamis *t, uint64_t key)
{
    return tamis_may_contain(t, &key, sizeof key);
}

static uint64_t load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

/* --- Rotations by one thread while others add ------------------------------------------------- */

struct turning {
    tamis *t;
    uint64_t begun; /* rotations, counted before each begins */
    uint64_t added; /* groups that all threads added */
    uint64_t over;
};

struct adder {
    struct turning *in;
    uint64_t first;             /* keys are first + i */
    uint64_t n;                 /* groups that were added, in a circle */
    uint64_t when[MOST_GROUPS]; /* `begun` before each group was added the last time */
    uint64_t lost, unseen, checked;
    pthread_t thread;
};

/* A rotation that has begun may still take place after the add. */
static bool must_have(uint64_t before, uint64_t after)
{
    return after - before + 1 <= GENERATIONS - 1;
}

static void *add_groups(void *arg)
{
    struct adder *a = arg;
    struct turning *in = a->in;
    for (; load(&in->over) == 0; a->n++) {
        const uint64_t now = a->n % MOST_GROUPS;
        uint64_t numbers[GROUP];
        tamis_bytes group[GROUP];
        uint8_t bits[GROUP / 8];
        const uint64_t before = load(&in->begun);
        for (size_t i = 0; i < GROUP; i++) {
            numbers[i] = a->first + now * GROUP + i;
            group[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
        }
        a->when[now] = before;
        tamis_add_many(in->t, group, GROUP - 1, a->n % 3 == 0 ? bits : NULL, NULL);
        tamis_add(in->t, &numbers[GROUP - 1], sizeof *numbers, NULL);
        const size_t found = tamis_may_contain_many(in->t, group, GROUP, bits);
        bool seen = true;
        tamis_add(in->t, &numbers[GROUP - 1], sizeof *numbers, &seen);
        if (must_have(before, load(&in->begun))) {
            a->lost += GROUP - found;
            a->unseen += !seen;
            a->checked++;
        }
        __atomic_fetch_add(&in->added, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* Rotates after every few groups, so that the adders see few rotations at a time. */
static void keep_turning(struct turning *in)
{
    for (uint64_t i = 0; i < TURNS; i++) {
        const uint64_t until = load(&in->added) + 1 + i % 5;
        while (load(&in->added) < until) sched_yield();
        __atomic_fetch_add(&in->begun, 1, __ATOMIC_SEQ_CST);
        CHECK_OK(tamis_rotate(in->t, NULL));
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_stat(in->t, &f));
    }
    __atomic_store_n(&in->over, 1, __ATOMIC_SEQ_CST);
}

static uint64_t keys_of(const struct adder *a)
{
    return (a->n < MOST_GROUPS ? a->n : MOST_GROUPS) * GROUP;
}

/* After the last rotation: keys of the newest generations, and then none. */
static void check_rest(const struct turning *in, const struct adder *adders)
{
    uint64_t kept = 0;
    for (size_t k = 0; k < ADDERS; k++)
        for (uint64_t i = 0; i < keys_of(&adders[k]); i++)
            if (must_have(adders[k].when[i / GROUP], in->begun)) {
                CHECK(has(in->t, adders[k].first + i));
                kept++;
            }
    CHECK_THAT(kept, >, 0);
    for (size_t i = 0; i < GENERATIONS; i++) CHECK_OK(tamis_rotate(in->t, NULL));
    const tamis_facts f = facts_of(in->t);
    CHECK(f.items == 0 && f.fill == 0);
    for (size_t k = 0; k < ADDERS; k++)
        for (uint64_t i = 0; i < keys_of(&adders[k]); i++) CHECK(!has(in->t, adders[k].first + i));
}

static void rotations_lose_no_new_key(void)
{
    static struct adder adders[ADDERS];
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct turning in = {make(INNER[kind], GENERATIONS, 100000, 0, TAMIS_SHARED), 0, 0, 0};
        uint64_t checked = 0;
        for (size_t k = 0; k < ADDERS; k++) {
            adders[k] = (struct adder){.in = &in, .first = (uint64_t)k << 32};
            CHECK(pthread_create(&adders[k].thread, NULL, add_groups, &adders[k]) == 0);
        }
        keep_turning(&in);
        for (size_t k = 0; k < ADDERS; k++) CHECK(pthread_join(adders[k].thread, NULL) == 0);
        for (size_t k = 0; k < ADDERS; k++) {
            CHECK_THAT(adders[k].lost, ==, 0);
            CHECK_THAT(adders[k].unseen, ==, 0);
            checked += adders[k].checked;
        }
        CHECK_THAT(checked, >, 0);
        check_rest(&in, adders);
        tamis_close(in.t);
    }
}

/* --- Rotations by all threads, with one clock ------------------------------------------------- */

enum { LAST_EPOCH = 6, CLOCKED = 8 };

struct clocked {
    tamis *t;
    uint64_t arrived, failed;
};

/* All threads see an epoch at the same time. One of them rotates. */
static void *follow_clock(void *arg)
{
    struct clocked *c = arg;
    for (uint64_t epoch = 1; epoch <= LAST_EPOCH; epoch++) {
        __atomic_fetch_add(&c->arrived, 1, __ATOMIC_SEQ_CST);
        while (load(&c->arrived) < epoch * ADDERS) sched_yield();
        bool ok = tamis_rotate_to(c->t, epoch, NULL) == TAMIS_OK;
        for (uint64_t i = 0; i < 50; i++) {
            const uint64_t key = epoch << 32 | i;
            ok = tamis_add(c->t, &key, sizeof key, NULL) == TAMIS_OK && ok;
        }
        __atomic_fetch_add(&c->failed, !ok, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void each_epoch_rotates_once(void)
{
    for (unsigned round = 0; round < 100; round++) {
        pthread_t threads[ADDERS];
        tamis *t = make(INNER[round % KINDS], CLOCKED, 10000, 0, TAMIS_SHARED);
        struct clocked c = {t, 0, 0};
        const uint64_t mark = 7;
        const uint8_t *first = t->body.sections->cells;
        CHECK_OK(tamis_add(t, &mark, sizeof mark, NULL));
        for (size_t k = 0; k < ADDERS; k++)
            CHECK(pthread_create(&threads[k], NULL, follow_clock, &c) == 0);
        for (size_t k = 0; k < ADDERS; k++) CHECK(pthread_join(threads[k], NULL) == 0);
        CHECK_THAT(c.failed, ==, 0);
        CHECK_THAT(facts_of(t).epoch, ==, LAST_EPOCH);
        CHECK(t->body.sections[LAST_EPOCH - 1].cells == first);
        for (unsigned i = LAST_EPOCH - 1; i < CLOCKED - 1; i++) CHECK_OK(tamis_rotate(t, NULL));
        CHECK(has(t, mark));
        tamis_close(t);
    }
}

/* --- Automatic rotation ----------------------------------------------------------------------- */

enum { SHARE = 1000, EACH = 20000 };

struct filler {
    tamis *t;
    uint64_t first;
    pthread_t thread;
};

static void *fill_window(void *arg)
{
    const struct filler *f = arg;
    uint64_t numbers[200];
    tamis_bytes group[200];
    for (uint64_t at = 0; at < EACH; at += 200) {
        for (size_t i = 0; i < 200; i++) {
            numbers[i] = f->first + at + i;
            group[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
        }
        tamis_add_many(f->t, group, 100, NULL, NULL);
        for (size_t i = 100; i < 200; i++) tamis_add(f->t, &numbers[i], sizeof numbers[i], NULL);
    }
    return NULL;
}

/* A generation gets its share and no key more, as with one thread. */
static void automatic_rotation_keeps_the_share(void)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct filler fillers[ADDERS];
        tamis *t =
            make(INNER[kind], GENERATIONS, GENERATIONS * SHARE, TAMIS_AUTO_ROTATE, TAMIS_SHARED);
        for (size_t k = 0; k < ADDERS; k++) {
            fillers[k] = (struct filler){.t = t, .first = (uint64_t)k << 32};
            CHECK(pthread_create(&fillers[k].thread, NULL, fill_window, &fillers[k]) == 0);
        }
        for (size_t k = 0; k < ADDERS; k++) CHECK(pthread_join(fillers[k].thread, NULL) == 0);
        CHECK_THAT(t->body.sections[0].items, <=, SHARE);
        for (size_t i = 1; i < GENERATIONS; i++) CHECK_THAT(t->body.sections[i].items, ==, SHARE);
        uint64_t found = 0;
        for (size_t k = 0; k < ADDERS; k++)
            for (uint64_t i = 0; i < EACH; i++) found += has(t, fillers[k].first + i);
        CHECK_THAT(found, >=, facts_of(t).items);
        CHECK_THAT(found, <, ADDERS * EACH / 2);
        tamis_close(t);
    }
}

/* --- One thread ------------------------------------------------------------------------------- */

/* The same calls make the same image, shared or not. */
static void sharing_changes_no_byte(void)
{
    for (size_t kind = 0; kind < 2 * KINDS; kind++) {
        const uint32_t turning = kind % 2 != 0 ? TAMIS_AUTO_ROTATE : 0;
        tamis *shared = make(INNER[kind / 2], 5, 500, turning, TAMIS_SHARED);
        tamis *alone = make(INNER[kind / 2], 5, 500, turning, 0);
        make_keys();
        for (size_t at = 0; at + 150 <= 2 * MANY; at += 150) {
            uint8_t a[19], b[19];
            CHECK_OK(tamis_add_many(shared, keys + at, 150, a, NULL));
            CHECK_OK(tamis_add_many(alone, keys + at, 150, b, NULL));
            CHECK(memcmp(a, b, sizeof a) == 0);
            CHECK_OK(tamis_rotate_to(shared, at / 300 + 1, NULL));
            CHECK_OK(tamis_rotate_to(alone, at / 300 + 1, NULL));
            CHECK(facts_of(shared).items == facts_of(alone).items);
            CHECK(same_image(shared, alone));
        }
        CHECK_THAT(tamis_rotate_to(shared, 1, NULL), ==, TAMIS_EINVAL);
        CHECK(same_image(shared, alone));
        tamis *copy, *loaded, *other;
        struct bytes image = image_of(shared);
        const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
        CHECK_OK(tamis_copy(shared, &copy, NULL));
        CHECK_OK(tamis_load(image.p, image.n, &o, &loaded, NULL));
        CHECK_OK(tamis_load(image.p, image.n, NULL, &other, NULL));
        CHECK_OK(tamis_rotate(shared, NULL));
        CHECK_OK(tamis_rotate(copy, NULL));
        CHECK_OK(tamis_rotate(loaded, NULL));
        CHECK_OK(tamis_rotate(other, NULL));
        CHECK(same_image(shared, copy) && same_image(other, loaded));
        CHECK_OK(tamis_clear(loaded));
        CHECK_THAT(facts_of(loaded).items, ==, 0);
        free(image.p);
        tamis_close(loaded);
        tamis_close(other);
        tamis_close(copy);
        tamis_close(alone);
        tamis_close(shared);
    }
}

static void windows_of_sketches_are_refused(void)
{
    static const uint32_t sketches[] = {TAMIS_TALLY, TAMIS_TOP, TAMIS_COUNT_MIN, TAMIS_COUNT_SKETCH,
                                        TAMIS_SIGNED_TALLY};
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
    for (size_t i = 0; i < sizeof sketches / sizeof *sketches; i++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_WINDOW,
                                 .inner_kind = sketches[i],
                                 .generations = 3,
                                 .bytes = 1 << 18};
        tamis *t = (tamis *)1;
        tamis_error why;
        CHECK_THAT(tamis_create(&plan, &o, &t, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(t == NULL && why.text[0] != '\0');
    }
}

/* An allocator that fails once it has given out `left` blocks. */
static unsigned left, held;

static void *give(void *ctx, size_t size)
{
    (void)ctx;
    if (left == 0) return NULL;
    left--;
    held++;
    return malloc(size);
}

static void take(void *ctx, void *p)
{
    (void)ctx;
    held -= p != NULL;
    free(p);
}

static void too_little_memory_leaves_nothing(void)
{
    const tamis_memory memory = {.alloc = give, .free = take};
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED, .memory = &memory};
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_WINDOW, .items = 100, .fpr = 0.01};
    tamis *t = NULL;
    unsigned failed = 0;
    for (unsigned n = 0; t == NULL; n++) {
        left = n;
        const tamis_status s = tamis_create(&plan, &o, &t, NULL);
        CHECK(s == (t != NULL ? TAMIS_OK : TAMIS_ENOMEM));
        CHECK(t != NULL || held == 0);
        failed += t == NULL;
    }
    const unsigned whole = held;
    CHECK_THAT(failed, ==, whole);
    for (unsigned n = 0; n < whole; n++) {
        tamis *copy;
        left = n;
        CHECK_THAT(tamis_copy(t, &copy, NULL), ==, TAMIS_ENOMEM);
        CHECK_THAT(held, ==, whole);
    }
    tamis_close(t);
    CHECK_THAT(held, ==, 0);
}

static const struct test tests[] = {
    {"rotations_lose_no_new_key", rotations_lose_no_new_key},
    {"each_epoch_rotates_once", each_epoch_rotates_once},
    {"automatic_rotation_keeps_the_share", automatic_rotation_keeps_the_share},
    {"sharing_changes_no_byte", sharing_changes_no_byte},
    {"windows_of_sketches_are_refused", windows_of_sketches_are_refused},
    {"too_little_memory_leaves_nothing", too_little_memory_leaves_nothing},
};
TEST_MAIN(tests)
