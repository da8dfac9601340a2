/* Snapshots of shared handles: tamis_write, tamis_save, tamis_copy, tamis_info and tamis_stat while
 * other threads add. A snapshot is a complete image, and contains every add that had returned
 * before. The test also runs under the thread sanitizer, without a suppression. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/room.h"

#include <pthread.h>
#include <sched.h>
#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>

enum { THREADS = 3, ROUND = 64, SNAPSHOTS = 8, CYCLE = 300 };

struct subject {
    uint32_t kind, flags, cell_bits;
};
static const struct subject subjects[] = {
    {TAMIS_BLOOM, 0, 0},         {TAMIS_PARTITIONED, 0, 0},
    {TAMIS_BLOCKED, 0, 0},       {TAMIS_BLOCKED, TAMIS_COMPACT, 0},
    {TAMIS_COUNT_MIN, 0, 32},    {TAMIS_COUNT_MIN, 0, 64},
    {TAMIS_TALLY, 0, 8},         {TAMIS_COUNT_SKETCH, 0, 32},
    {TAMIS_COUNT_SKETCH, 0, 64}, {TAMIS_SIGNED_TALLY, 0, 8},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static bool is_sketch(const struct subject *s)
{
    return s->kind >= TAMIS_COUNT_MIN;
}

static tamis *new_shared(const struct subject *s)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = s->kind, .flags = s->flags};
    p.cell_bits = s->cell_bits;
    if (is_sketch(s))
        p.bytes = 1 << 18;
    else
        p.items = THREADS * ROUND * CYCLE, p.fpr = 0.01;
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
    tamis *t;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    return t;
}

/* --- Adders, which add until they are stopped ------------------------------------------------- */

/* A filter gets new keys in each of CYCLE rounds, and then the same again. A sketch gets the same
 * keys in each round. */
struct adder {
    tamis *t;
    unsigned id;
    bool sketch;
    const bool *stop;
    uint64_t rounds, wrong; /* rounds that were finished */
    pthread_t thread;
};

static void keys_of(const struct adder *a, uint64_t round, uint64_t *numbers, tamis_bytes *keys)
{
    for (size_t i = 0; i < ROUND; i++) {
        numbers[i] = (a->sketch ? i : round % CYCLE * ROUND + i) * THREADS + a->id;
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
}

static void *add_until_stopped(void *arg)
{
    struct adder *a = arg;
    uint64_t numbers[ROUND], round = 0;
    tamis_bytes keys[ROUND];
    for (; !__atomic_load_n(a->stop, __ATOMIC_ACQUIRE); round++) {
        keys_of(a, round, numbers, keys);
        for (size_t i = 0; i < ROUND / 2; i++)
            a->wrong += tamis_add(a->t, keys[i].p, keys[i].len, NULL) != TAMIS_OK;
        a->wrong +=
            tamis_add_many(a->t, keys + ROUND / 2, ROUND - ROUND / 2, NULL, NULL) != TAMIS_OK;
        __atomic_store_n(&a->rounds, round + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

struct crowd {
    struct adder a[THREADS];
    uint64_t before[THREADS]; /* rounds before a snapshot */
    bool stop;
};

static void start(struct crowd *c, tamis *t, const struct subject *s)
{
    c->stop = false;
    for (unsigned i = 0; i < THREADS; i++) {
        c->a[i] = (struct adder){.t = t, .id = i, .sketch = is_sketch(s), .stop = &c->stop};
        CHECK(pthread_create(&c->a[i].thread, NULL, add_until_stopped, &c->a[i]) == 0);
    }
}

static void note_rounds(struct crowd *c)
{
    for (unsigned i = 0; i < THREADS; i++)
        c->before[i] = __atomic_load_n(&c->a[i].rounds, __ATOMIC_ACQUIRE);
}

static void finish(struct crowd *c)
{
    __atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(c->a[i].thread, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++) CHECK_THAT(c->a[i].wrong, ==, 0);
    note_rounds(c);
}

/* Checks that a snapshot has all rounds before it, and in a sketch no more than the rounds now and
 * one that has begun. The sketches have room for all keys, so their counts are exact, except that
 * rows of a count-sketch may have seen different rounds. */
static void check_snapshot(const struct crowd *c, const tamis *t)
{
    uint64_t numbers[ROUND];
    tamis_bytes keys[ROUND];
    for (unsigned i = 0; i < THREADS; i++) {
        const struct adder *a = &c->a[i];
        const uint64_t now = __atomic_load_n(&a->rounds, __ATOMIC_ACQUIRE);
        for (uint64_t round = 0; round < c->before[i] && round < CYCLE; round++) {
            keys_of(a, round, numbers, keys);
            CHECK_THAT(tamis_may_contain_many(t, keys, ROUND, NULL), ==, ROUND);
            if (!a->sketch) continue;
            for (size_t key = 0; key < ROUND; key++) {
                const int64_t count = tamis_upper(t, &numbers[key], sizeof numbers[key]);
                CHECK_THAT(count, >=, c->before[i]);
                CHECK_THAT(count, <=, now + 1);
            }
            break; /* all rounds have the same keys */
        }
    }
}

static uint64_t added_before(const struct crowd *c)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < THREADS; i++) sum += c->before[i] * ROUND;
    return sum;
}

/* --- Snapshots of every kind ------------------------------------------------------------------ */

struct image {
    uint8_t *p;
    size_t n;
    const struct crowd *c;
};

/* Waits until a thread has added something, unless they were stopped. */
static void let_them_add(const struct crowd *c)
{
    const uint64_t now = __atomic_load_n(&c->a[0].rounds, __ATOMIC_ACQUIRE);
    while (!c->stop && __atomic_load_n(&c->a[0].rounds, __ATOMIC_ACQUIRE) < now + 2) sched_yield();
}

static tamis_status keep_bytes(void *ctx, const void *bytes, size_t n)
{
    struct image *m = ctx;
    uint8_t *p = realloc(m->p, m->n + n);
    if (p == NULL) return TAMIS_ENOMEM;
    memcpy(p + m->n, bytes, n);
    m->p = p;
    m->n += n;
    if (m->n == n) let_them_add(m->c); /* the first piece has the checksums */
    return TAMIS_OK;
}

static tamis *by_write(tamis *t, const struct crowd *c)
{
    struct image m = {.c = c};
    tamis *read;
    CHECK_OK(tamis_write(t, keep_bytes, &m, NULL));
    CHECK_THAT(m.n, ==, tamis_image_size(t));
    CHECK_OK(tamis_load(m.p, m.n, NULL, &read, NULL)); /* verifies the checksums */
    free(m.p);
    return read;
}

static tamis *by_copy(tamis *t, const struct crowd *c)
{
    (void)c;
    tamis *copy;
    CHECK_OK(tamis_copy(t, &copy, NULL));
    return copy;
}

static char room[256];

static tamis *by_save(tamis *t, const struct crowd *c)
{
    (void)c;
    char path[sizeof room + 16];
    tamis *read;
    snprintf(path, sizeof path, "%s/x.tamis", room);
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_OK(tamis_open(path, NULL, &read, NULL));
    return read;
}

static tamis *by_pack(tamis *t, const struct crowd *c)
{
    struct image m = {.c = c};
    tamis *read;
    CHECK_OK(tamis_pack(t, keep_bytes, &m, NULL));
    CHECK_OK(tamis_unpack(m.p, m.n, NULL, &read, NULL));
    free(m.p);
    return read;
}

static void snapshots_are_complete(tamis *(*take)(tamis *t, const struct crowd *c))
{
    for (size_t s = 0; s < SUBJECTS; s++) {
        struct crowd c;
        tamis *t = new_shared(&subjects[s]);
        start(&c, t, &subjects[s]);
        for (int i = 0; i < SNAPSHOTS; i++) {
            note_rounds(&c);
            tamis *seen = take(t, &c);
            check_snapshot(&c, seen);
            tamis_close(seen);
        }
        finish(&c);
        tamis *seen = take(t, &c);
        check_snapshot(&c, seen);
        tamis_close(seen);
        tamis_close(t);
    }
}

static void written_images(void)
{
    snapshots_are_complete(by_write);
}

static void packed_images(void)
{
    snapshots_are_complete(by_pack);
}

static void copies(void)
{
    snapshots_are_complete(by_copy);
}

static void saved_files(void)
{
    enter_room(NULL, "snapshots", room, sizeof room);
    snapshots_are_complete(by_save);
    leave_room();
}

static void facts_are_those_of_a_moment(void)
{
    for (size_t s = 0; s < SUBJECTS; s++) {
        struct crowd c;
        tamis *t = new_shared(&subjects[s]);
        start(&c, t, &subjects[s]);
        for (int i = 0; i < SNAPSHOTS; i++) {
            tamis_facts f = {.struct_size = sizeof f}, g = f;
            note_rounds(&c);
            CHECK_OK(tamis_stat(t, &f));
            CHECK_OK(tamis_info(t, &g));
            CHECK_THAT(g.items, >=, f.items);
            CHECK_THAT(f.generation, ==, 1);
            CHECK_THAT(f.bytes, ==, tamis_image_size(t));
            if (is_sketch(&subjects[s])) CHECK_THAT(f.weight, >=, added_before(&c));
        }
        finish(&c);
        tamis_close(t);
    }
}

/* --- Copies and generations ------------------------------------------------------------------- */

/* The copy of a shared handle is shared: threads may add to it as well. */
static void copies_are_shared(void)
{
    for (size_t s = 0; s < SUBJECTS; s++) {
        struct crowd c, d;
        tamis *t = new_shared(&subjects[s]), *copy = by_copy(t, NULL);
        start(&c, t, &subjects[s]);
        start(&d, copy, &subjects[s]);
        tamis_close(by_copy(copy, NULL));
        finish(&c);
        finish(&d);
        check_snapshot(&c, t);
        check_snapshot(&d, copy);
        tamis_close(copy);
        tamis_close(t);
    }
}

static uint64_t generation_of(const tamis *t, int64_t *total)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_stat(t, &f));
    *total = (int64_t)f.items;
    return f.generation;
}

/* Whether the add that is under way, if there is one, leaves the handle in a later generation. */
static bool is_later(const tamis *t, uint64_t generation)
{
    int64_t unused;
    for (unsigned i = 0; i < 1000000; i++) {
        if (generation_of(t, &unused) > generation) return true;
        sched_yield();
    }
    return false;
}

/* A handle that has more than the file has a later generation, even if the adds came while the file
 * was written. A handle that has not stays in the generation of the file. */
static void saved_generations(void)
{
    enter_room(NULL, "generations", room, sizeof room);
    for (size_t s = 0; s < SUBJECTS; s++) {
        struct crowd c;
        tamis *t = new_shared(&subjects[s]);
        int64_t here, there;
        start(&c, t, &subjects[s]);
        for (uint64_t i = 1; i <= SNAPSHOTS; i++) {
            tamis *saved = by_save(t, NULL);
            const uint64_t first = generation_of(saved, &there), now = generation_of(t, &here);
            CHECK(first <= i && (now == first || now == first + 1));
            CHECK(here == there || now == first + 1 || is_later(t, first));
            tamis_close(saved);
        }
        finish(&c);
        tamis_close(by_save(t, NULL));
        tamis *again = by_save(t, NULL);
        CHECK(generation_of(t, &here) == generation_of(again, &there));
        CHECK_THAT(here, ==, there);
        bool seen = false; /* a full filter may have it already */
        CHECK_OK(tamis_add(t, "another", 7, &seen));
        const bool more = is_sketch(&subjects[s]) || !seen;
        CHECK(generation_of(t, &here) == generation_of(again, &there) + more);
        tamis_close(again);
        tamis_close(t);
    }
    leave_room();
}

struct saver {
    tamis *t;
    bool done;
    pthread_t thread;
};

static void *save_often(void *arg)
{
    struct saver *s = arg;
    char path[sizeof room + 16];
    bool right = true;
    snprintf(path, sizeof path, "%s/z.tamis", room);
    for (int i = 0; i < SNAPSHOTS; i++) right &= tamis_save(s->t, path, NULL, NULL) == TAMIS_OK;
    __atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
    return right ? s : NULL;
}

/* One thread saves, and another takes snapshots of other forms. */
static void snapshots_during_a_save(void)
{
    enter_room(NULL, "saver", room, sizeof room);
    for (size_t s = 0; s < SUBJECTS; s++) {
        struct crowd c;
        struct saver saver = {.t = new_shared(&subjects[s])};
        void *right;
        int64_t items;
        start(&c, saver.t, &subjects[s]);
        CHECK(pthread_create(&saver.thread, NULL, save_often, &saver) == 0);
        do {
            note_rounds(&c);
            tamis *seen = by_copy(saver.t, &c);
            check_snapshot(&c, seen);
            CHECK_THAT(generation_of(saver.t, &items), <=, SNAPSHOTS + 1);
            tamis_close(seen);
        } while (!__atomic_load_n(&saver.done, __ATOMIC_ACQUIRE));
        CHECK(pthread_join(saver.thread, &right) == 0 && right != NULL);
        finish(&c);
        tamis_close(saver.t);
    }
    leave_room();
}

static const struct test tests[] = {
    {"written_images", written_images},
    {"packed_images", packed_images},
    {"copies", copies},
    {"saved_files", saved_files},
    {"facts_are_those_of_a_moment", facts_are_those_of_a_moment},
    {"copies_are_shared", copies_are_shared},
    {"saved_generations", saved_generations},
    {"snapshots_during_a_save", snapshots_during_a_save},
};
TEST_MAIN(tests)
