/* Blocked filters that threads share: exactly one thread learns that a key is new, the items are
 * exact, no bit is lost, and only threads that add new keys to the same lines wait for each other.
 * The test also runs under the thread sanitizer, without a suppression. */
#include "../support/check.h"
#include "../support/keys.h"
#include "core/cpu.h"
#include "core/locks.h"
#include "kernels/kernels.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <tamis/embed.h>
#include <tamis/inspect.h>
#include <unistd.h>

enum { KEYS = 12000, THREADS = 4, ROUND = 48 };

static uint64_t numbers[KEYS];
static tamis_bytes keys[KEYS];
static const struct kernels *tables[4];
static size_t n_tables;

static void make_keys(void)
{
    uint64_t seed = 22;
    for (size_t i = 0; i < KEYS; i++) {
        numbers[i] = splitmix(&seed);
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
}

static tamis *make(uint32_t flags, uint32_t plan_flags, uint64_t items)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_BLOCKED,
                             .items = items,
                             .fpr = 1e-4,
                             .flags = plan_flags};
    const tamis_options options = {.struct_size = sizeof options, .flags = flags};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &options, &t, NULL));
    return t;
}

static uint64_t items_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f}, g = f;
    CHECK_OK(tamis_stat(t, &f));
    CHECK_OK(tamis_info(t, &g));
    CHECK_THAT(f.items, ==, g.items);
    return f.items;
}

static uint64_t generation_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_stat(t, &f));
    return f.generation;
}

static bool same_cells(const tamis *a, const tamis *b)
{
    size_t n, m;
    const void *x = tamis_raw_cells(a, &n), *y = tamis_raw_cells(b, &m);
    return n != 0 && n == m && memcmp(x, y, n) == 0;
}

/* Whether each key has a cell that no other key has. Then each key is new when it is first added,
 * whatever the order. */
static bool are_always_new(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    uint8_t *users = calloc(f.m, 1);
    size_t good = 0;
    CHECK(users != NULL);
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t cells[16];
        const size_t n = tamis_cells_of(t, keys[i].p, keys[i].len, cells, 16);
        for (size_t j = 0; j < n; j++) {
            bool before = false; /* the compact variant may take a cell twice */
            for (size_t k = 0; k < j; k++) before = before || cells[k] == cells[j];
            if (!before && users[cells[j]] < 2) users[cells[j]]++;
        }
    }
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t cells[16];
        const size_t n = tamis_cells_of(t, keys[i].p, keys[i].len, cells, 16);
        bool alone = false;
        for (size_t j = 0; j < n; j++) alone = alone || users[cells[j]] == 1;
        good += alone;
    }
    free(users);
    return good == KEYS;
}

/* --- All threads add the same keys ------------------------------------------------------------ */

struct adder {
    tamis *t;
    pthread_barrier_t *start;
    uint8_t *firsts; /* how many threads got seen = false for the key; atomic */
    unsigned number;
    pthread_t thread;
};

static void note_first(struct adder *a, size_t i)
{
    __atomic_fetch_add(&a->firsts[i], 1, __ATOMIC_RELAXED);
}

/* In rounds that begin at the same time, so that threads meet. Some rounds go key by key. */
static void *add_all(void *arg)
{
    struct adder *a = arg;
    for (size_t at = 0; at < KEYS; at += ROUND) {
        uint8_t seen[ROUND / 8];
        bool known;
        pthread_barrier_wait(a->start);
        if (at / ROUND % 3 != 0) {
            tamis_add_many(a->t, keys + at, ROUND, seen, NULL);
            for (size_t i = 0; i < ROUND; i++)
                if ((seen[i / 8] >> i % 8 & 1) == 0) note_first(a, at + i);
        } else {
            for (size_t i = 0; i < ROUND; i++)
                if (tamis_add(a->t, keys[at + i].p, 8, &known) == TAMIS_OK && !known)
                    note_first(a, at + i);
        }
    }
    return NULL;
}

static void add_from_all(tamis *t, uint8_t *firsts)
{
    struct adder a[THREADS];
    pthread_barrier_t start;
    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        a[i] = (struct adder){.t = t, .start = &start, .firsts = firsts, .number = i};
        CHECK(pthread_create(&a[i].thread, NULL, add_all, &a[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(a[i].thread, NULL) == 0);
    pthread_barrier_destroy(&start);
}

static void one_thread_is_first(uint32_t plan_flags)
{
    tamis *alone = make(0, plan_flags, 4 * KEYS),
          *shared = make(TAMIS_SHARED, plan_flags, 4 * KEYS);
    static uint8_t firsts[KEYS];
    size_t wrong = 0;
    memset(firsts, 0, sizeof firsts);
    CHECK(are_always_new(alone));
    CHECK_OK(tamis_add_many(alone, keys, KEYS, NULL, NULL));
    add_from_all(shared, firsts);
    for (size_t i = 0; i < KEYS; i++) wrong += firsts[i] != 1;
    CHECK_THAT(wrong, ==, 0);
    CHECK_THAT(items_of(shared), ==, KEYS);
    CHECK(same_cells(alone, shared));
    tamis_close(alone);
    tamis_close(shared);
}

static void exactly_one_thread_is_first(void)
{
    for (size_t k = 0; k < n_tables; k++) {
        tamis__use_kernels(tables[k]);
        one_thread_is_first(0);
        one_thread_is_first(TAMIS_COMPACT);
    }
    tamis__use_kernels(tables[0]);
}

/* The threads of one call (tamis_options.threads) take the same locks. */
static void threads_of_a_call_count_once(void)
{
    enum { MANY = 1 << 17 };
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = MANY, .fpr = 0.01};
    const tamis_options crew = {.struct_size = sizeof crew, .flags = TAMIS_SHARED, .threads = 3};
    const tamis_options single = {.struct_size = sizeof single};
    tamis_hash *h = malloc(MANY * sizeof *h);
    tamis *a, *b;
    uint64_t seed = 5;
    CHECK(h != NULL);
    for (size_t i = 0; i < MANY; i++) {
        h[i].lo = splitmix(&seed);
        h[i].hi = splitmix(&seed);
    }
    CHECK_OK(tamis_create(&plan, &crew, &a, NULL));
    CHECK_OK(tamis_create(&plan, &single, &b, NULL));
    CHECK_OK(tamis_add_hashes(a, h, MANY, NULL, NULL));
    CHECK_OK(tamis_add_hashes(b, h, MANY, NULL, NULL));
    CHECK_THAT(items_of(a), ==, items_of(b)); /* a crew keeps the order within a line */
    CHECK(same_cells(a, b));
    tamis_close(a);
    tamis_close(b);
    free(h);
}

/* --- Who waits -------------------------------------------------------------------------------- */

struct one_add {
    tamis *t;
    uint64_t key;
    bool bulk, known;
    uint32_t started;
};

static void *add_it(void *arg)
{
    struct one_add *a = arg;
    const tamis_bytes key = {&a->key, sizeof a->key};
    uint8_t seen = 0;
    __atomic_store_n(&a->started, 1, __ATOMIC_RELEASE);
    if (a->bulk)
        tamis_add_many(a->t, &key, 1, &seen, NULL);
    else
        tamis_add(a->t, key.p, key.len, &a->known);
    if (a->bulk) a->known = seen != 0;
    return NULL;
}

static pthread_t start_adding(struct one_add *a)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, add_it, a) == 0);
    while (__atomic_load_n(&a->started, __ATOMIC_ACQUIRE) == 0) sched_yield();
    return thread;
}

/* While a lock is held, a new key of its lines is not added, and the add of a member returns. When
 * two threads have waited with the same new key, one of them is the first. */
static void check_waiting(uint32_t plan_flags, bool bulk)
{
    tamis *t = make(TAMIS_SHARED, plan_flags, 1000);
    struct line_locks *locks = t->body.extra->locks;
    struct one_add old = {.t = t, .key = 1, .bulk = bulk};
    struct one_add fresh = {.t = t, .key = 2, .bulk = bulk}, twin = fresh;
    CHECK(locks != NULL);
    CHECK_OK(tamis_add(t, &old.key, sizeof old.key, NULL));
    for (uint64_t i = 0; i <= locks->last; i++) CHECK(tamis__try(&(&locks->locks[i])->held));
    CHECK(pthread_join(start_adding(&old), NULL) == 0);
    CHECK(old.known);
    const pthread_t waits = start_adding(&fresh), waits_too = start_adding(&twin);
    for (int i = 0; i < 2000; i++) {
        CHECK(
            !tamis_may_contain(t, &fresh.key, sizeof fresh.key)); /* and the query does not wait */
        sched_yield();
    }
    CHECK_THAT(items_of(t), ==, 1);
    for (uint64_t i = 0; i <= locks->last; i++) tamis__unlock_line(&locks->locks[i], false);
    CHECK(pthread_join(waits, NULL) == 0 && pthread_join(waits_too, NULL) == 0);
    CHECK(fresh.known != twin.known && tamis_may_contain(t, &fresh.key, sizeof fresh.key));
    CHECK_THAT(items_of(t), ==, 2);
    tamis_close(t);
}

/* In the child of a fork, a lock may stay held for ever. Queries and adds of members do not need
 * it. */
static void a_child_may_query(void)
{
    tamis *t = make(TAMIS_SHARED, 0, 1000);
    bool seen = false;
    int status = -1;
    CHECK_OK(tamis_add(t, keys[0].p, 8, NULL));
    CHECK_OK(tamis_add(t, keys[1].p, 8, NULL));
    for (uint64_t i = 0; i <= t->body.extra->locks->last; i++)
        CHECK(tamis__try(&(&t->body.extra->locks->locks[i])->held));
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const bool good = tamis_add(t, keys[0].p, 8, &seen) == TAMIS_OK && seen &&
                          tamis_may_contain_many(t, keys, 2, NULL) == 2;
        tamis_close(t);
        _exit(good ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    tamis_close(t);
}

static void only_new_keys_wait(void)
{
    for (size_t k = 0; k < n_tables; k++) {
        tamis__use_kernels(tables[k]);
        for (int bulk = 0; bulk < 2; bulk++) {
            check_waiting(0, bulk != 0);
            check_waiting(TAMIS_COMPACT, bulk != 0);
        }
    }
    tamis__use_kernels(tables[0]);
}

/* --- Items and generations -------------------------------------------------------------------- */

struct image {
    uint8_t bytes[1 << 16];
    size_t n;
};

static tamis_status keep(void *ctx, const void *bytes, size_t n)
{
    struct image *i = ctx;
    if (n > sizeof i->bytes - i->n) return TAMIS_EIO;
    memcpy(i->bytes + i->n, bytes, n);
    i->n += n;
    return TAMIS_OK;
}

static void add_some(tamis *t, size_t from, size_t n)
{
    CHECK_OK(tamis_add_many(t, keys + from, n, NULL, NULL));
}

static void items_survive_writing_and_copying(void)
{
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_SHARED};
    static struct image image;
    tamis *t = make(TAMIS_SHARED, 0, 1000), *loaded, *copy;
    add_some(t, 0, 100);
    CHECK_OK(tamis_write(t, keep, &image, NULL));
    CHECK_OK(tamis_load(image.bytes, image.n, &options, &loaded, NULL));
    CHECK_THAT(items_of(loaded), ==, 100);
    add_some(loaded, 50, 100);
    CHECK_THAT(items_of(loaded), ==, 150);
    CHECK_OK(tamis_copy(loaded, &copy, NULL));
    add_some(copy, 150, 10);
    add_some(loaded, 200, 1);
    CHECK_THAT(items_of(copy), ==, 160);
    CHECK_THAT(items_of(loaded), ==, 151);
    CHECK_OK(tamis_clear(loaded));
    CHECK_THAT(items_of(loaded), ==, 0);
    add_some(loaded, 0, 7);
    CHECK_THAT(items_of(loaded), ==, 7);
    CHECK_OK(tamis_merge(loaded, copy, NULL));
    const uint64_t merged = items_of(loaded); /* an estimate */
    CHECK(merged > 150 && merged < 170);
    add_some(loaded, 500, 3);
    CHECK_THAT(items_of(loaded), ==, merged + 3);
    tamis_close(t);
    tamis_close(loaded);
    tamis_close(copy);
}

/* Only adds of new keys begin a new generation. */
static void generations_count_changes(void)
{
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_SHARED};
    const char *path = "test_threads_locked.tamis";
    tamis *t = make(TAMIS_SHARED, 0, 1000), *opened, *copy;
    add_some(t, 0, 100);
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_THAT(generation_of(t), ==, 1);
    CHECK_OK(tamis_open(path, &options, &opened, NULL));
    tamis *both[] = {t, opened};
    for (int i = 0; i < 2; i++) {
        add_some(both[i], 0, 100);
        CHECK_THAT(generation_of(both[i]), ==, 1);
        add_some(both[i], 100, 1);
        CHECK_THAT(generation_of(both[i]), ==, 2);
        CHECK_OK(tamis_copy(both[i], &copy, NULL));
        CHECK_THAT(generation_of(copy), ==, 2);
        tamis_close(copy);
    }
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_THAT(generation_of(t), ==, 2);
    add_some(t, 100, 1);
    CHECK_THAT(generation_of(t), ==, 2);
    tamis_close(t);
    tamis_close(opened);
    remove(path);
}

/* A hostile image may have UINT64_MAX items already. */
static void items_do_not_wrap(void)
{
    tamis *t = make(TAMIS_SHARED, 0, 1000);
    t->items = UINT64_MAX - 1;
    add_some(t, 0, 3);
    CHECK(tamis__items(t) == UINT64_MAX);
    tamis_close(t);
}

struct budget {
    int left, held;
};

static void *budget_alloc(void *ctx, size_t size)
{
    struct budget *b = ctx;
    void *p = b->left-- > 0 ? malloc(size) : NULL;
    b->held += p != NULL;
    return p;
}

static void budget_free(void *ctx, void *p)
{
    struct budget *b = ctx;
    b->held -= p != NULL;
    free(p);
}

/* Without memory for its locks, no shared handle is made or copied, and nothing is leaked. */
static void locks_need_memory(void)
{
    struct budget b = {0};
    const tamis_memory memory = {.ctx = &b, .alloc = budget_alloc, .free = budget_free};
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = 1000, .fpr = 0.01};
    const tamis_options options = {
        .struct_size = sizeof options, .flags = TAMIS_SHARED, .memory = &memory};
    tamis *t = NULL, *copy = NULL;
    int made = 0, copied = 0;
    for (tamis_status s = TAMIS_ENOMEM; s != TAMIS_OK; made++) {
        b.left = made;
        s = tamis_create(&plan, &options, &t, NULL);
        CHECK(s == TAMIS_OK || (s == TAMIS_ENOMEM && t == NULL && b.held == 0));
    }
    const int held = b.held;
    CHECK_OK(tamis_add(t, "a", 1, NULL));
    for (tamis_status s = TAMIS_ENOMEM; s != TAMIS_OK; copied++) {
        b.left = copied;
        s = tamis_copy(t, &copy, NULL);
        CHECK(s == TAMIS_OK || (s == TAMIS_ENOMEM && copy == NULL && b.held == held));
    }
    CHECK(copy->body.extra->locks != NULL && copy->body.extra->locks != t->body.extra->locks);
    CHECK(tamis__items(t) == 1 && tamis__items(copy) == 1);
    tamis_close(t);
    tamis_close(copy);
    CHECK_THAT(b.held, ==, 0);
}

static const struct test tests[] = {
    {"exactly_one_thread_is_first", exactly_one_thread_is_first},
    {"threads_of_a_call_count_once", threads_of_a_call_count_once},
    {"only_new_keys_wait", only_new_keys_wait},
    {"a_child_may_query", a_child_may_query},
    {"items_survive_writing_and_copying", items_survive_writing_and_copying},
    {"generations_count_changes", generations_count_changes},
    {"items_do_not_wrap", items_do_not_wrap},
    {"locks_need_memory", locks_need_memory},
};

int main(int argc, char **argv)
{
    make_keys();
    n_tables = tamis__runnable_kernels(tables);
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
