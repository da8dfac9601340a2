/* TAMIS_SHARED for sketches: several threads add and count at the same time, and nothing is lost.
 * The test also runs under the thread sanitizer, without a suppression. */
#include "../support/sketches.h"
#include "../support/tracking.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, KEYS = 150 };

static bool can_share(const struct sketch *s)
{
    return s->flags == 0;
}

static tamis *new_shared(const struct sketch *s, uint64_t bytes, uint32_t flags)
{
    const tamis_plan plan = sketch_plan(s, bytes, 7);
    const tamis_options options = {.struct_size = sizeof options, .flags = flags};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &options, &t, NULL));
    return t;
}

/* --- Adding ----------------------------------------------------------------------------------- */

/* In each round, every thread adds every key once, by one of the calls that add, with a weight that
 * depends on key and round. `rounds` is how many it has finished. */
struct adder {
    tamis *t;
    unsigned id;
    bool falls;  /* some weights are negative */
    bool unsure; /* counts may be too low */
    uint64_t rounds, wrong;
    pthread_t thread;
};

static int64_t weight_in(const struct adder *a, uint64_t round, uint64_t key)
{
    if (round % 5 < 3) return 1; /* calls without weights */
    const int64_t w = (int64_t)((key + a->id) % 7) + 1;
    return a->falls && key % 3 == 0 && round % 2 == 0 ? -w : w;
}

static void add_round(struct adder *a, uint64_t round)
{
    uint64_t numbers[KEYS];
    tamis_bytes keys[KEYS];
    tamis_hash hashes[KEYS];
    int64_t weights[KEYS], counts[KEYS] = {0};
    uint8_t seen[(KEYS + 7) / 8];
    size_t done = KEYS;
    tamis_status s = TAMIS_OK;
    for (size_t i = 0; i < KEYS; i++) {
        numbers[i] = i;
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
        weights[i] = weight_in(a, round, i);
    }
    s = tamis_hash_many(a->t, keys, KEYS, hashes);
    if (s == TAMIS_OK && round % 5 == 0) s = tamis_add_many(a->t, keys, KEYS, seen, &done);
    if (s == TAMIS_OK && round % 5 == 1)
        for (size_t i = 0; i < KEYS && s == TAMIS_OK; i++)
            s = tamis_add(a->t, keys[i].p, keys[i].len, NULL);
    if (s == TAMIS_OK && round % 5 == 2)
        s = tamis_add_counted_hashes(a->t, hashes, NULL, KEYS, counts, &done, NULL);
    if (s == TAMIS_OK && round % 5 == 3)
        s = tamis_add_weight_many(a->t, keys, weights, KEYS, &done, NULL);
    if (s == TAMIS_OK && round % 5 == 4)
        for (size_t i = 0; i < KEYS && s == TAMIS_OK; i++)
            s = tamis_add_counted(a->t, keys[i].p, keys[i].len, weights[i], &counts[i], NULL);
    a->wrong += s != TAMIS_OK || done != KEYS;
    /* This thread alone has added 1 in each of the rounds so far, or more. */
    for (size_t i = 0; i < KEYS && !a->unsure && (round % 5 == 2 || round % 5 == 4); i++)
        a->wrong += counts[i] < (int64_t)round + 1;
}

static void *add_rounds(void *arg)
{
    struct adder *a = arg;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        add_round(a, round);
        __atomic_store_n(&a->rounds, round + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void start_adders(struct adder *a, tamis *t, bool falls, bool unsure)
{
    for (unsigned i = 0; i < THREADS; i++) {
        a[i] = (struct adder){.t = t, .id = i, .falls = falls, .unsure = unsure};
        CHECK(pthread_create(&a[i].thread, NULL, add_rounds, &a[i]) == 0);
    }
}

static void join_adders(struct adder *a)
{
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(a[i].thread, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++) CHECK_THAT(a[i].wrong, ==, 0);
}

/* How often the key was added by all threads, and with *all the weight of all keys. */
static int64_t true_count(uint64_t key, bool falls)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct adder a = {.id = i, .falls = falls};
        for (uint64_t round = 0; round < ROUNDS; round++) sum += weight_in(&a, round, key);
    }
    return sum;
}

struct image {
    uint8_t *p;
    size_t n;
};

static tamis_status keep_bytes(void *ctx, const void *bytes, size_t n)
{
    struct image *m = ctx;
    uint8_t *p = realloc(m->p, m->n + n);
    if (p == NULL) return TAMIS_ENOMEM;
    memcpy(p + m->n, bytes, n);
    m->p = p;
    m->n += n;
    return TAMIS_OK;
}

/* With room for all keys, every count is exact: no add was lost, and none counted twice. */
static void every_add_counts(void)
{
    for (size_t s = 0; s < SKETCHES; s++) {
        if (!can_share(&sketches[s])) continue;
        const bool falls = sketches[s].two_sided;
        tamis *t = new_shared(&sketches[s], 1 << 20, TAMIS_SHARED);
        struct adder a[THREADS];
        start_adders(a, t, falls, falls);
        join_adders(a);
        int64_t all = 0;
        for (uint64_t key = 0; key < KEYS; key++) {
            CHECK_THAT(tamis_upper(t, &key, sizeof key), ==, true_count(key, falls));
            all += true_count(key, falls);
        }
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_stat(t, &f));
        CHECK_THAT(f.weight, ==, all);
        CHECK_OK(tamis_info(t, &f));
        CHECK_THAT(f.weight, ==, all);
        tamis_close(t);
    }
}

/* Where keys share counters, no count is too low in a one-sided sketch. Sums do not depend on their
 * order, so count-min and count-sketch have the bytes of a single thread. */
static void crowded_counters(void)
{
    for (size_t s = 0; s < SKETCHES; s++) {
        if (!can_share(&sketches[s])) continue;
        const bool falls = sketches[s].two_sided;
        tamis *t = new_shared(&sketches[s], 1500, TAMIS_SHARED),
              *alone = new_shared(&sketches[s], 1500, 0);
        struct adder a[THREADS];
        start_adders(a, t, falls, falls);
        join_adders(a);
        for (unsigned i = 0; i < THREADS; i++) {
            struct adder one = {.t = alone, .id = i, .falls = falls, .unsure = falls};
            add_rounds(&one);
        }
        for (uint64_t key = 0; key < KEYS && !falls; key++)
            CHECK_THAT(tamis_upper(t, &key, sizeof key), >=, true_count(key, false));
        struct image x = {0}, y = {0};
        CHECK_OK(tamis_write(t, keep_bytes, &x, NULL));
        CHECK_OK(tamis_write(alone, keep_bytes, &y, NULL));
        CHECK(x.n == y.n && (memcmp(x.p, y.p, x.n) == 0 || !sketches[s].adds_up));
        free(x.p);
        free(y.p);
        tamis_close(t);
        tamis_close(alone);
    }
}

enum { HOT_BATCH = 128, HOT_BATCHES = 1000 };

struct hot {
    tamis *t;
    unsigned *ready; /* threads that have started */
    uint64_t wrong;
    pthread_t thread;
};

static void *add_hot_key(void *arg)
{
    struct hot *h = arg;
    tamis_hash hashes[HOT_BATCH];
    for (size_t i = 0; i < HOT_BATCH; i++) hashes[i] = (tamis_hash){12345, 67890};
    __atomic_fetch_add(h->ready, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(h->ready, __ATOMIC_ACQUIRE) < THREADS) {
    }
    for (int i = 0; i < HOT_BATCHES; i++)
        h->wrong += tamis_add_hashes(h->t, hashes, HOT_BATCH, NULL, NULL) != TAMIS_OK;
    return NULL;
}

/* All threads raise the same counters all the time. */
static void hot_key(void)
{
    for (size_t s = 0; s < SKETCHES; s++) {
        if (!can_share(&sketches[s])) continue;
        tamis *t = new_shared(&sketches[s], 1 << 14, TAMIS_SHARED);
        struct hot h[THREADS];
        unsigned ready = 0;
        const tamis_hash hot = {12345, 67890};
        int64_t count;
        for (unsigned i = 0; i < THREADS; i++) {
            h[i] = (struct hot){.t = t, .ready = &ready};
            CHECK(pthread_create(&h[i].thread, NULL, add_hot_key, &h[i]) == 0);
        }
        for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(h[i].thread, NULL) == 0);
        for (unsigned i = 0; i < THREADS; i++) CHECK_THAT(h[i].wrong, ==, 0);
        tamis_upper_hashes(t, &hot, 1, &count);
        CHECK_THAT(count, ==, (int64_t)THREADS * HOT_BATCHES * HOT_BATCH);
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_stat(t, &f));
        CHECK_THAT(f.weight, ==, count);
        tamis_close(t);
    }
}

/* Counters that several threads saturate stay there. */
static void saturated_counters_stay(void)
{
    for (size_t s = 0; s < SKETCHES; s++) {
        if (!can_share(&sketches[s])) continue;
        tamis *t = new_shared(&sketches[s], 1 << 16, TAMIS_SHARED);
        struct adder a[THREADS];
        const uint64_t key = 5;
        const int64_t least = sketches[s].cell_bits == 32 ? (int64_t)INT32_MAX * 2 : INT64_MAX;
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, least - 10, NULL));
        start_adders(a, t, false, sketches[s].two_sided);
        join_adders(a);
        CHECK(tamis_upper(t, &key, sizeof key) == INT64_MAX);
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(t, &f));
        CHECK_THAT(f.saturated, >, 0);
        CHECK(sketches[s].cell_bits == 32 || f.weight == INT64_MAX);
        tamis_close(t);
    }
}

/* --- Counting meanwhile ----------------------------------------------------------------------- */

/* The rounds that all threads have finished: each added 1 or more to every key. */
static int64_t finished(const struct adder *a)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < THREADS; i++) sum += __atomic_load_n(&a[i].rounds, __ATOMIC_ACQUIRE);
    return (int64_t)sum;
}

static void look_around(const tamis *t, const struct adder *a, bool one_sided)
{
    uint64_t numbers[KEYS];
    tamis_bytes keys[KEYS];
    tamis_estimate e[KEYS];
    int64_t counts[KEYS];
    uint8_t bits[(KEYS + 7) / 8];
    tamis_facts f = {.struct_size = sizeof f};
    for (size_t i = 0; i < KEYS; i++) {
        numbers[i] = i;
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
    const int64_t least = finished(a);
    tamis_upper_many(t, keys, KEYS, counts);
    CHECK_OK(tamis_count_many(t, keys, KEYS, e, NULL));
    for (size_t i = 0; i < KEYS; i++) {
        CHECK(e[i].lower <= e[i].estimate && e[i].estimate <= e[i].upper);
        if (one_sided) CHECK(counts[i] >= least && e[i].upper >= least);
    }
    if (one_sided) CHECK(tamis_upper(t, &numbers[3], 8) >= least);
    CHECK(least == 0 || tamis_may_contain_many(t, keys, KEYS, bits) == KEYS);
    CHECK(least == 0 || tamis_may_contain(t, &numbers[1], 8));
    CHECK_OK(tamis_count(t, &numbers[2], 8, &e[0], NULL));
    CHECK_OK(tamis_stat(t, &f));
    CHECK(f.weight >= least * KEYS);
    CHECK_OK(tamis_info(t, &f));
    CHECK(f.weight >= least * KEYS && f.fill > 0);
}

static void counts_are_never_too_low(void)
{
    for (size_t s = 0; s < SKETCHES; s++) {
        if (!can_share(&sketches[s])) continue;
        tamis *t = new_shared(&sketches[s], 1 << 14, TAMIS_SHARED);
        const uint64_t key = 0;
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, 1, NULL));
        struct adder a[THREADS];
        start_adders(a, t, false, sketches[s].two_sided);
        while (finished(a) < THREADS * ROUNDS) look_around(t, a, !sketches[s].two_sided);
        join_adders(a);
        look_around(t, a, !sketches[s].two_sided);
        tamis_close(t);
    }
}

/* The noise that one thread measures is not taken away from another, and is measured again when
 * much was added. */
static void noise_grows_with_the_weight(void)
{
    tamis *t = new_shared(&sketches[0], 4096, TAMIS_SHARED);
    tamis_estimate before, after;
    CHECK_OK(tamis_count(t, "never", 5, &before, NULL));
    CHECK(before.upper == 0 && !before.suspect);
    struct adder a[THREADS];
    start_adders(a, t, false, false);
    join_adders(a);
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_count(t, "never", 5, &after, NULL));
    CHECK_OK(tamis_info(t, &f));
    CHECK_THAT(f.noise_99, >, 0);
    CHECK_THAT(after.upper - after.lower, <=, f.noise_99 + (f.noise_99 >> 6) + 1);
    CHECK_THAT(after.lower, ==, 0);
    tamis_close(t);
}

/* --- Who was first ---------------------------------------------------------------------------- */

enum { NEW_KEYS = 3000 };

struct first {
    tamis *t;
    uint64_t told_new;
    pthread_t thread;
};

static void *ask_if_new(void *arg)
{
    struct first *f = arg;
    for (uint64_t key = 0; key < NEW_KEYS; key++) {
        bool seen = true;
        if (tamis_add(f->t, &key, sizeof key, &seen) != TAMIS_OK) f->told_new += NEW_KEYS;
        f->told_new += !seen;
    }
    return NULL;
}

/* Exactly one thread learns that a key is new in a tally, and at least one in a count-min. */
static void somebody_is_first(void)
{
    for (size_t s = 0; s < SKETCHES; s++) {
        if (!can_share(&sketches[s]) || sketches[s].two_sided) continue;
        tamis *t = new_shared(&sketches[s], 1 << 22, TAMIS_SHARED);
        struct first f[THREADS];
        uint64_t told_new = 0;
        for (unsigned i = 0; i < THREADS; i++) {
            f[i] = (struct first){.t = t};
            CHECK(pthread_create(&f[i].thread, NULL, ask_if_new, &f[i]) == 0);
        }
        for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(f[i].thread, NULL) == 0);
        for (unsigned i = 0; i < THREADS; i++) told_new += f[i].told_new;
        if (sketches[s].kind == TAMIS_TALLY)
            CHECK_THAT(told_new, ==, NEW_KEYS);
        else
            CHECK_THAT(told_new, >=, NEW_KEYS);
        tamis_close(t);
    }
}

/* --- What is refused -------------------------------------------------------------------------- */

static void the_reason_names_the_parts(void)
{
    const uint32_t kinds[] = {TAMIS_TOP, TAMIS_COUNT_MIN, TAMIS_COUNTING, TAMIS_CUCKOO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool sketch = kinds[i] >= TAMIS_COUNT_MIN;
        tamis_plan p = {.struct_size = sizeof p, .kind = kinds[i]};
        if (sketch)
            p.bytes = 1 << 16;
        else
            p.items = 100, p.fpr = 0.01;
        if (kinds[i] == TAMIS_COUNT_MIN) p.flags = TAMIS_CONSERVATIVE;
        const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
        tamis *t = (tamis *)1;
        tamis_error why = {.text = ""};
        CHECK_THAT(tamis_create(&p, &o, &t, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(t == NULL);
        CHECK_THAT(why.better_kind, ==, sketch ? TAMIS_TALLY : TAMIS_BLOCKED);
        CHECK((strstr(why.text, "tamis_part") != NULL) == (kinds[i] != TAMIS_CUCKOO));
        CHECK(strlen(why.text) + 1 < sizeof why.text);
    }
}

/* Each allocation fails in turn: a handle with locks, its copy, its image and its counts. */
static void no_memory(void)
{
    for (size_t fail = 1, failed = 1; failed != 0; fail++) {
        struct tracker memory;
        tracker_init(&memory);
        memory.fail_at = fail;
        const tamis_plan plan = sketch_plan(&sketches[4], 1 << 14, 0);
        const tamis_options o = {
            .struct_size = sizeof o, .flags = TAMIS_SHARED, .memory = &memory.memory};
        tamis *t = NULL, *copy = NULL;
        tamis_error why = {.text = ""};
        tamis_estimate e;
        struct image m = {0};
        tamis_status s = tamis_create(&plan, &o, &t, &why);
        if (s == TAMIS_OK) s = tamis_add_weight(t, "a", 1, 3, &why);
        if (s == TAMIS_OK) s = tamis_count(t, "a", 1, &e, &why);
        if (s == TAMIS_OK) s = tamis_copy(t, &copy, &why);
        if (s == TAMIS_OK) s = tamis_write(t, keep_bytes, &m, &why);
        CHECK(s == TAMIS_OK || (s == TAMIS_ENOMEM && why.text[0] != '\0'));
        CHECK(t == NULL || s == TAMIS_OK || m.n == 0);
        failed = s != TAMIS_OK;
        if (t != NULL) CHECK_OK(tamis_add_weight(t, "b", 1, 3, &why));
        tamis_close(t);
        tamis_close(copy);
        free(m.p);
        CHECK_THAT(memory.blocks, ==, 0);
    }
}

static const struct test tests[] = {
    {"every_add_counts", every_add_counts},
    {"crowded_counters", crowded_counters},
    {"hot_key", hot_key},
    {"saturated_counters_stay", saturated_counters_stay},
    {"counts_are_never_too_low", counts_are_never_too_low},
    {"noise_grows_with_the_weight", noise_grows_with_the_weight},
    {"somebody_is_first", somebody_is_first},
    {"the_reason_names_the_parts", the_reason_names_the_parts},
    {"no_memory", no_memory},
};
TEST_MAIN(tests)
