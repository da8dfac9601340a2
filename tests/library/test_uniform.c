/* Hashes that are clearly not uniform are noticed when they are added, and sealed kinds refuse
 * to be sealed with them. Uniform hashes never are. All seeds are fixed: a check that passes
 * once always passes. src/core/uniform.c has the bounds. */
#define _DEFAULT_SOURCE
#include "../support/spilling.h"
#include "sealed/collect.h"

#include <pthread.h>
#include <tamis/count.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define N 1000u

static uint64_t mixed(uint64_t i)
{
    uint64_t state = i * UINT64_C(0x9e3779b97f4a7c15) + 99;
    return splitmix(&state);
}

static uint64_t turned(uint64_t v)
{
    return v << 32 | v >> 32;
}

static uint64_t reversed(uint64_t v)
{
    uint64_t r = 0;
    for (int i = 0; i < 8; i++) r = r << 8 | (v >> 8 * i & 255);
    return r;
}

/* What callers do wrong; the last ones only a seal can tell. */
enum { BAD = 21, LINEAR = 4 };
static tamis_hash bad(unsigned how, uint64_t i)
{
    const uint64_t h = mixed(i), g = mixed(i + (UINT64_C(1) << 40));
    const tamis_hash all[BAD + LINEAR] = {
        {h, 0},
        {0, h},
        {h, UINT64_C(0x123456789abcdef0)},
        {UINT64_MAX, h},
        {h, h},
        {h, ~h},
        {h, h + 1},
        {i, i},
        {i, ~i},
        {i, 0},
        {h, i},
        {i, h},
        {i << 40, 7},
        {h >> 32, g >> 32},                    /* two hashes of 32 bits */
        {h << 32, g},                          /* one of them in the wrong place */
        {h >> 1, g >> 1},                      /* never negative */
        {h, g | 1},                            /* an odd step */
        {h & ~UINT64_C(0xff00), g},            /* a byte that is missing */
        {i * 48 + (UINT64_C(0x7f) << 40), g},  /* addresses */
        {h & UINT64_C(0x7f7f7f7f7f7f7f7f), g}, /* text */
        {h, h ^ UINT64_C(0xa5a5a5a5a5a5a5a5)},
        {h, turned(h)},
        {h, reversed(h)},
        {h, h ^ h >> 31},
        {h ^ h << 13, h ^ h >> 7 ^ h << 17},
    };
    return all[how];
}

/* What is good enough, all of 64 bits of entropy but the first. */
enum { GOOD = 5 };
static tamis_hash good(unsigned how, uint64_t i)
{
    const uint64_t h = mixed(i), g = mixed(i + (UINT64_C(1) << 40));
    const tamis_hash all[GOOD] = {
        {h, g}, {h, mixed(h)}, {mixed(h), h}, {h, h * UINT64_C(0x9e3779b97f4a7c15)}, {h, h * 5}};
    return all[how];
}

/* --- Kinds --- */

static const tamis_plan plans[] = {
#define PLAN(...)                                                                                  \
    {                                                                                              \
        .struct_size = sizeof(tamis_plan), .flags = TAMIS_HASH_CALLER, __VA_ARGS__                 \
    }
    PLAN(.kind = TAMIS_BLOOM, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_PARTITIONED, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_BLOCKED, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_COUNTING, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_PAIR, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_GROWING, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_WINDOW, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_CUCKOO, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_FUSE, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_RIBBON, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_EXACT, .items = N, .fpr = 0.01),
    PLAN(.kind = TAMIS_COUNT_MIN, .bytes = 1 << 14),
    PLAN(.kind = TAMIS_COUNT_SKETCH, .bytes = 1 << 14),
    PLAN(.kind = TAMIS_TALLY, .bytes = 1 << 14),
    PLAN(.kind = TAMIS_SIGNED_TALLY, .bytes = 1 << 14),
    PLAN(.kind = TAMIS_WINDOW, .inner_kind = TAMIS_TALLY, .bytes = 1 << 16),
    PLAN(.kind = TAMIS_DISTINCT, .bytes = 1 << 14),
    PLAN(.kind = TAMIS_WINDOW, .inner_kind = TAMIS_DISTINCT, .bytes = 1 << 16),
};

static bool is_static(const tamis_plan *p)
{
    return p->kind >= TAMIS_FUSE && p->kind <= TAMIS_EXACT;
}

/* All at once, by sevens, or one by one. Keys that a full kind refuses do not matter here. */
static void give(tamis *t, const tamis_hash *h, size_t n, unsigned way)
{
    const size_t step = way == 0 ? n : way == 1 ? 7 : 1;
    for (size_t at = 0; at < n; at += step) {
        const size_t now = n - at < step ? n - at : step;
        const tamis_status s = tamis_add_hashes(t, h + at, now, NULL, NULL);
        CHECK(s == TAMIS_OK || s == TAMIS_EFULL);
    }
}

static bool is_suspect(const tamis *t)
{
    return facts_of(t).hash_suspect;
}

static void check_seal_refused(tamis *t)
{
    tamis_error why = {.offset = 0};
    CHECK_THAT(tamis_seal(t, &why), ==, TAMIS_EINVAL);
    CHECK(why.status == TAMIS_EINVAL && why.offset == UINT64_MAX);
    CHECK(strstr(why.text, "not uniform") != NULL);
    CHECK(is_suspect(t) && facts_of(t).collecting && !facts_of(t).sealed);
}

static void bad_hashes(void)
{
    tamis_hash h[N];
    for (size_t p = 0; p < COUNT(plans); p++)
        for (unsigned how = 0; how < BAD; how++)
            for (unsigned way = 0; way < 3; way++) {
                tamis *t = create(&plans[p], NULL);
                for (uint64_t i = 0; i < N; i++) h[i] = bad(how, i);
                CHECK(!is_suspect(t));
                give(t, h, N, way);
                /* A cuckoo filter is full before there is enough to judge by. */
                const bool is_full = plans[p].kind == TAMIS_CUCKOO && facts_of(t).items < 12;
                CHECK(is_suspect(t) || is_full);
                if (is_static(&plans[p])) check_seal_refused(t);
                CHECK_OK(tamis_clear(t));
                CHECK(!is_suspect(t));
                for (uint64_t i = 0; i < N; i++) h[i] = good(0, i);
                give(t, h, N, way);
                if (is_static(&plans[p])) CHECK_OK(tamis_seal(t, NULL));
                CHECK(!is_suspect(t));
                tamis_close(t);
            }
}

/* Weights, and keys that are excluded, are looked at as well. */
static void other_verbs(void)
{
    tamis_hash h[N];
    for (unsigned how = 0; how < BAD; how++) {
        for (uint64_t i = 0; i < N; i++) h[i] = bad(how, i);
        tamis *t = create(&plans[13], NULL);
        CHECK_OK(tamis_add_weight_hashes(t, h, NULL, N, NULL, NULL));
        CHECK(is_suspect(t));
        tamis_close(t);
        t = create(&plans[10], NULL);
        CHECK_OK(tamis_exclude_hashes(t, h, N, NULL));
        CHECK(is_suspect(t));
        for (uint64_t i = 0; i < N; i++) h[i] = good(0, i);
        give(t, h, N, 0);
        check_seal_refused(t);
        tamis_close(t);
    }
}

/* The more is wrong, the fewer are needed; and a second key by itself proves nothing. */
static void few_hashes(void)
{
    const size_t needed[BAD] = {[0] = 8, [1] = 8, [4] = 8, [5] = 8, [7] = 16, [13] = 24};
    for (unsigned how = 0; how < BAD; how++) {
        if (needed[how] == 0) continue;
        tamis *t = create(&plans[9], NULL);
        for (uint64_t i = 0; i < needed[how]; i++) {
            const tamis_hash h = bad(how, i);
            if (i < 2) CHECK(!is_suspect(t));
            give(t, &h, 1, 0);
        }
        CHECK(is_suspect(t));
        check_seal_refused(t);
        tamis_close(t);
    }
}

/* Halves of which one is a linear function of the other. */
static void linear_halves(void)
{
    tamis_hash h[N];
    for (uint32_t p = 8; p < 11; p++)
        for (unsigned how = BAD; how < BAD + LINEAR; how++)
            for (size_t n = 100; n <= N; n *= 10) {
                tamis *t = create(&plans[p], NULL);
                for (uint64_t i = 0; i < n; i++) h[i] = bad(how, i);
                give(t, h, n, 0);
                check_seal_refused(t);
                tamis_close(t);
            }
}

/* --- No false alarm --- */

static void good_hashes(void)
{
    tamis_hash h[N];
    for (size_t p = 0; p < COUNT(plans); p++)
        for (unsigned how = 0; how < GOOD; how++)
            for (unsigned way = 0; way < 3; way++)
                for (size_t n = 1; n <= N; n *= 10) {
                    tamis *t = create(&plans[p], NULL);
                    for (uint64_t i = 0; i < n; i++) h[i] = good(how, i);
                    give(t, h, n, way);
                    if (is_static(&plans[p])) CHECK_OK(tamis_seal(t, NULL));
                    CHECK(!is_suspect(t));
                    tamis_close(t);
                }
}

/* Many calls of all lengths on one handle, with hashes of the library, keyed and not, some keys of
 * which come far more often than others, and long runs of one. */
static void many_calls(void)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000000, .fpr = 0.01};
    for (int keyed = 0; keyed < 2; keyed++) {
        tamis *t = create(&plan, keyed != 0 ? secret : NULL);
        uint64_t state = 5, next = 0;
        for (uint32_t call = 0; call < 100000; call++) {
            uint64_t number[200];
            tamis_bytes key[200];
            tamis_hash h[200];
            const uint64_t r = splitmix(&state), n = 1 + r % 200, hot = r >> 32 & 3;
            for (uint64_t i = 0; i < n; i++) {
                number[i] = hot == 3 ? 7 : hot == 2 ? splitmix(&state) % 5 : next++;
                key[i] = (tamis_bytes){&number[i], 8};
            }
            CHECK_OK(tamis_hash_many(t, key, n, h));
            CHECK_OK(tamis_add_hashes(t, h, n, NULL, NULL));
        }
        CHECK(!is_suspect(t));
        tamis_close(t);
    }
}

/* Handles with little in them, each of which is judged by that. */
static void many_handles(void)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        tamis *t = create(&plans[i % 3 + 8], NULL);
        for (uint64_t n = i % 150; n > 0; n -= n < 6 ? n : 6) {
            tamis_hash h[6];
            for (int j = 0; j < 6; j++) h[j] = good(0, next++);
            give(t, h, n < 6 ? n : 6, 0);
        }
        CHECK(!is_suspect(t));
        CHECK_OK(tamis_seal(t, NULL));
        tamis_close(t);
    }
}

static void one_key_again_and_again(void)
{
    tamis_hash h[N];
    for (size_t p = 0; p < COUNT(plans); p++) {
        if (plans[p].kind == TAMIS_CUCKOO) continue;
        tamis *t = create(&plans[p], NULL);
        for (uint32_t i = 0; i < N; i++) h[i] = good(0, 1);
        give(t, h, N, 0);
        give(t, h, N, 2);
        for (uint32_t i = 0; i < N; i++) h[i] = good(0, i % 2);
        give(t, h, N, 0);
        CHECK(!is_suspect(t));
        if (is_static(&plans[p])) CHECK_OK(tamis_seal(t, NULL));
        tamis_close(t);
    }
}

/* Somebody who chooses some of the keys: it is noticed, and does not stop the seal. */
static void some_chosen_keys(void)
{
    static tamis_hash h[20 * N];
    for (uint32_t p = 8; p < 11; p++) {
        tamis *t = create(&plans[p], NULL);
        for (uint64_t i = 0; i < 20 * N; i++) h[i] = good(0, i);
        for (uint64_t i = 0; i < N; i++) h[4 * N + i].hi |= UINT64_C(1) << 63;
        give(t, h, 4 * N, 0);
        CHECK(!is_suspect(t));
        give(t, h + 4 * N, 16 * N, 0);
        CHECK(is_suspect(t));
        CHECK_OK(tamis_seal(t, NULL));
        CHECK(is_suspect(t));
        tamis_close(t);
    }
}

/* --- It stays --- */

static tamis *reloaded(const tamis *t)
{
    tamis *u;
    struct bytes b = image_of(t);
    CHECK_OK(tamis_load(b.p, b.n, NULL, &u, NULL));
    free(b.p);
    return u;
}

static void it_stays(void)
{
    tamis_hash h[N];
    for (size_t p = 0; p < COUNT(plans); p++) {
        tamis *t = create(&plans[p], NULL), *copy, *fresh = create(&plans[p], NULL);
        for (uint64_t i = 0; i < N; i++) h[i] = bad(0, i);
        give(t, h, N / 8, 0);
        tamis *again = reloaded(t);
        CHECK(is_suspect(again) && same_image(t, again));
        if (is_static(&plans[p])) check_seal_refused(again);
        CHECK_OK(tamis_copy(again, &copy, NULL));
        CHECK(is_suspect(copy));
        if (tamis_merge(fresh, again, NULL) == TAMIS_OK) CHECK(is_suspect(fresh));
        CHECK_OK(tamis_clear(again));
        tamis *cleared = reloaded(again);
        CHECK(!is_suspect(cleared));
        tamis_close(t), tamis_close(again), tamis_close(copy), tamis_close(fresh);
        tamis_close(cleared);
    }
    tamis *counting = create(&plans[3], NULL), *plain, *released;
    give(counting, h, N / 8, 0);
    CHECK_OK(tamis_convert(counting, TAMIS_BLOOM, &plain, NULL));
    CHECK(is_suspect(plain));
    tamis_close(counting), tamis_close(plain);
    /* A release says nothing of its source but the bits. */
    const tamis_plan bitmap = {.struct_size = sizeof bitmap,
                               .flags = TAMIS_HASH_CALLER,
                               .kind = TAMIS_BLOOM,
                               .items = 100,
                               .m = 4096,
                               .k = 1};
    tamis *source = create(&bitmap, NULL);
    give(source, h, N / 8, 0);
    CHECK(is_suspect(source));
    CHECK_OK(tamis_release(source, 1, &released, NULL));
    CHECK(!is_suspect(released));
    tamis_close(source), tamis_close(released);
}

/* Byte 24 of the header, bit 1, and nothing else: docs/FORMAT.md. */
static void where_it_is_kept(void)
{
    tamis_hash h[N];
    tamis *t = create(&plans[3], NULL);
    for (uint64_t i = 0; i < N; i++) h[i] = good(0, i);
    give(t, h, N, 0);
    struct bytes b = image_of(t);
    CHECK(tamis__get32(b.p + 24) == 0);
    free(b.p);
    for (uint64_t i = 0; i < N; i++) h[i] = bad(4, i);
    give(t, h, N, 0);
    b = image_of(t);
    CHECK(tamis__get32(b.p + 24) == 2);
    free(b.p);
    tamis_close(t);
}

/* A seal that is refused may be the first to notice. The image then differs, and its generation. */
static void a_refusal_is_a_change(void)
{
    tamis_hash h[N];
    for (uint32_t p = 8; p < 11; p++) {
        tamis *t = create(&plans[p], NULL);
        for (uint64_t i = 0; i < N; i++) h[i] = bad(BAD, i);
        give(t, h, N, 0);
        CHECK(!is_suspect(t));
        tamis *second = reloaded(t);
        check_seal_refused(second);
        tamis *third = reloaded(second);
        CHECK(is_suspect(third) && facts_of(t).generation == 1);
        CHECK_THAT(facts_of(third).generation, ==, 2);
        check_seal_refused(third);
        CHECK(same_image(second, third));
        tamis_close(t), tamis_close(second), tamis_close(third);
    }
}

/* --- Hashes beyond memory --- */

static void in_a_file(void)
{
    enum { MANY_HASHES = 100000 };
    const tamis_options o = {.struct_size = sizeof o, .scratch_bytes = 1, .temp_dir = temp_dir()};
    for (unsigned how = 0; how < BAD + LINEAR; how += 4) {
        tamis *t;
        tamis_hash h[N];
        CHECK_OK(tamis_create(&plans[9], &o, &t, NULL));
        for (uint64_t at = 0; at < MANY_HASHES; at += N) {
            for (uint64_t i = 0; i < N; i++) h[i] = bad(how, at + i);
            give(t, h, N, 0);
        }
        check_seal_refused(t);
        CHECK_OK(tamis_clear(t));
        for (uint64_t at = 0; at < MANY_HASHES; at += N) {
            for (uint64_t i = 0; i < N; i++) h[i] = good(0, at + i);
            give(t, h, N, 0);
        }
        CHECK_OK(tamis_seal(t, NULL));
        CHECK(!is_suspect(t));
        tamis_close(t);
    }
}

/* Two whole runs in the file, and n hashes that are left in memory. */
static tamis *two_runs_and(uint64_t n, unsigned how)
{
    const tamis_options o = {.struct_size = sizeof o, .scratch_bytes = 1, .temp_dir = temp_dir()};
    tamis *t;
    CHECK_OK(tamis_create(&plans[9], &o, &t, NULL));
    const uint64_t runs = 2 * t->body.extra->spill->most;
    for (uint64_t i = 0; i < runs + n; i++) {
        const tamis_hash h = bad(how, i);
        CHECK_OK(tamis_add_hashes(t, &h, 1, NULL, NULL));
    }
    if (n == 0) CHECK_OK(tamis__spill_collection(&t->body, NULL));
    CHECK(t->body.extra->spill->end == runs && t->body.sections->m == n);
    return t;
}

/* What is left in memory does not clear the file when it is too little to judge by, and neither
 * does a small run, which is what a seal that failed leaves of it. */
static void little_is_left(void)
{
    const uint64_t left[] = {0, 1, 2, 3, 73, 74};
    const unsigned hows[] = {0, 4, 16, BAD, BAD + 3};
    for (size_t i = 0; i < COUNT(left) * COUNT(hows); i++) {
        tamis *t = two_runs_and(left[i % COUNT(left)], hows[i / COUNT(left)]);
        check_seal_refused(t);
        CHECK_OK(tamis__spill_collection(&t->body, NULL));
        check_seal_refused(t);
        tamis_close(t);
    }
}

/* Uniform hashes clear the rest when there are enough of them: in memory, or as a run. */
static void enough_is_left(void)
{
    for (uint64_t n = 0; n <= 200; n += 100) {
        for (int in_file = 0; in_file < 2; in_file++) {
            tamis *t = two_runs_and(1, 0);
            CHECK_OK(tamis__spill_collection(&t->body, NULL));
            for (uint64_t i = 0; i < n; i++) {
                const tamis_hash h = good(0, i);
                give(t, &h, 1, 0);
            }
            if (in_file != 0) CHECK_OK(tamis__spill_collection(&t->body, NULL));
            if (n == 0)
                check_seal_refused(t);
            else
                CHECK(!tamis__suspect_hashes(&t->body));
            tamis_close(t);
        }
    }
}

/* A run of one key over and over, which says nothing, and three hashes that somebody chose. */
static void a_run_of_one_key(void)
{
    tamis *t = two_runs_and(0, 0);
    CHECK_OK(tamis_clear(t));
    for (uint64_t i = 0; i <= t->body.extra->spill->most; i++) {
        const tamis_hash h = good(0, i / 1000);
        give(t, &h, 1, 0);
    }
    CHECK_OK(tamis__spill_collection(&t->body, NULL));
    for (uint64_t i = 0; i < 3; i++) {
        const tamis_hash h = bad(0, i);
        give(t, &h, 1, 0);
    }
    CHECK_OK(tamis_seal(t, NULL));
    tamis_close(t);
}

/* --- Threads --- */

struct work {
    tamis *t;
    uint64_t from;
    bool is_bad;
};

static void *add_some(void *ctx)
{
    const struct work *w = ctx;
    for (uint64_t i = w->from; i < w->from + 300; i++) {
        const tamis_hash h = w->is_bad ? bad(0, i) : good(0, i);
        if (tamis_add_hashes(w->t, &h, 1, NULL, NULL) != TAMIS_OK) abort();
    }
    return NULL;
}

static void by_threads(void)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
    for (int is_bad = 0; is_bad < 2; is_bad++)
        for (uint32_t p = 0; p < 3; p++) {
            struct work w[4];
            pthread_t id[4];
            tamis *t;
            CHECK_OK(tamis_create(&plans[p], &o, &t, NULL));
            for (unsigned i = 0; i < 4; i++) {
                w[i] = (struct work){t, i * 1000, is_bad != 0};
                CHECK(pthread_create(&id[i], NULL, add_some, &w[i]) == 0);
            }
            for (unsigned i = 0; i < 4; i++) CHECK(pthread_join(id[i], NULL) == 0);
            CHECK(is_suspect(t) == (is_bad != 0));
            tamis_close(t);
        }
}

int main(int argc, char **argv)
{
    const struct test tests[] = {
        {"bad_hashes", bad_hashes},
        {"other_verbs", other_verbs},
        {"few_hashes", few_hashes},
        {"linear_halves", linear_halves},
        {"good_hashes", good_hashes},
        {"many_calls", many_calls},
        {"many_handles", many_handles},
        {"one_key_again_and_again", one_key_again_and_again},
        {"some_chosen_keys", some_chosen_keys},
        {"it_stays", it_stays},
        {"where_it_is_kept", where_it_is_kept},
        {"a_refusal_is_a_change", a_refusal_is_a_change},
        {"in_a_file", in_a_file},
        {"little_is_left", little_is_left},
        {"enough_is_left", enough_is_left},
        {"a_run_of_one_key", a_run_of_one_key},
        {"by_threads", by_threads},
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
