/* Many readers of one handle: every const verb is called from many threads at once and gives the
 * answers that a single thread gets. The test is meant for -fsanitize=thread; without it, it
 * still compares answers. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"

#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#include <pthread.h>

#define THREADS 8
#define ROUNDS 20
#define ASKED 1000u

/* What one thread found out, to be compared after the join. */
struct finding {
    uint8_t many[(ASKED + 7) / 8], single[(ASKED + 7) / 8], hashed[(ASKED + 7) / 8];
    size_t maybe;
    tamis_facts facts;
    struct bytes image, copied;
    tamis_similarity like;
    uint64_t cells[8];
    size_t cell_count;
    bool failed;
};

struct reader {
    pthread_t thread;
    pthread_barrier_t *start;
    const tamis *t, *other;
    const tamis_bytes *keys;
    struct finding found;
};

static void look(const struct reader *r, struct finding *f)
{
    tamis_hash hashes[ASKED];
    memset(f, 0, sizeof *f);
    f->maybe = tamis_may_contain_many(r->t, r->keys, ASKED, f->many);
    for (size_t i = 0; i < ASKED; i++)
        if (tamis_may_contain(r->t, r->keys[i].p, r->keys[i].len))
            f->single[i / 8] = (uint8_t)(f->single[i / 8] | 1u << i % 8);
    f->failed |= tamis_hash_many(r->t, r->keys, ASKED, hashes) != TAMIS_OK;
    f->failed |= tamis_may_contain_hashes(r->t, hashes, ASKED, f->hashed) != f->maybe;
    f->facts.struct_size = sizeof f->facts;
    f->failed |= tamis_info(r->t, &f->facts) != TAMIS_OK;
    f->like.struct_size = sizeof f->like;
    f->failed |= tamis_compare(r->t, r->other, &f->like, NULL) != TAMIS_OK;
    f->cell_count = tamis_cells_of(r->t, "key", 3, f->cells, 8);
    f->image = image_of(r->t);
    tamis *copy;
    f->failed |= tamis_copy(r->t, &copy, NULL) != TAMIS_OK;
    f->failed |= tamis_merge(copy, r->other, NULL) != TAMIS_OK;
    f->copied = image_of(copy);
    tamis_close(copy);
}

static bool same_finding(const struct finding *a, const struct finding *b)
{
    return !a->failed && !b->failed && memcmp(a->many, b->many, sizeof a->many) == 0 &&
           memcmp(a->single, b->single, sizeof a->single) == 0 &&
           memcmp(a->hashed, b->hashed, sizeof a->hashed) == 0 && a->maybe == b->maybe &&
           memcmp(&a->facts, &b->facts, sizeof a->facts) == 0 &&
           memcmp(&a->like, &b->like, sizeof a->like) == 0 && a->cell_count == b->cell_count &&
           memcmp(a->cells, b->cells, sizeof a->cells) == 0 && bytes_equal(a->image, b->image) &&
           bytes_equal(a->copied, b->copied);
}

static void forget(struct finding *f)
{
    free(f->image.p);
    free(f->copied.p);
}

/* Checks would longjmp out of the wrong thread, so a thread only takes notes. */
static void *read_along(void *ctx)
{
    struct reader *r = ctx;
    pthread_barrier_wait(r->start);
    look(r, &r->found);
    for (int i = 1; i < ROUNDS; i++) {
        struct finding again;
        look(r, &again);
        r->found.failed |= !same_finding(&r->found, &again);
        forget(&again);
    }
    return NULL;
}

static void run_readers(const tamis *t, const tamis *other, const tamis_bytes *keys)
{
    static struct reader readers[THREADS];
    pthread_barrier_t start;
    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        readers[i].start = &start;
        readers[i].t = t;
        readers[i].other = other;
        readers[i].keys = keys;
        CHECK(pthread_create(&readers[i].thread, NULL, read_along, &readers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(readers[i].thread, NULL) == 0);
    pthread_barrier_destroy(&start);

    struct finding alone;
    look(&readers[0], &alone);
    CHECK(memcmp(alone.many, alone.single, sizeof alone.many) == 0);
    CHECK(memcmp(alone.many, alone.hashed, sizeof alone.many) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(same_finding(&readers[i].found, &alone));
        forget(&readers[i].found);
    }
    forget(&alone);
}

static void test_many_readers(void)
{
    static char text[ASKED][KEY_MAX];
    tamis_bytes keys[ASKED];
    for (uint32_t i = 0; i < ASKED; i++)
        keys[i] = (tamis_bytes){text[i], make_key(KEY_URL, i, text[i])};
    static const uint8_t secret[16] = "sixteen bytes...";
    for (uint32_t kind = 1; kind <= 3; kind++)
        for (int keyed = 0; keyed < 2; keyed++) {
            const tamis_plan plan = {
                .struct_size = sizeof plan, .kind = kind, .items = 600, .fpr = 0.1};
            const tamis_options o = {.struct_size = sizeof o, .key = keyed != 0 ? secret : NULL};
            tamis *t, *other;
            CHECK_OK(tamis_create(&plan, &o, &t, NULL));
            CHECK_OK(tamis_create(&plan, &o, &other, NULL));
            CHECK_OK(tamis_add_many(t, keys, 500, NULL, NULL));
            CHECK_OK(tamis_add_many(other, keys + 250, 500, NULL, NULL));
            run_readers(t, other, keys);
            tamis_close(t);
            tamis_close(other);
        }
}

/* Different handles are independent: each thread fills its own, and each gets the same image. The
 * first use of the library in a process may well be in two threads at once. */
struct writer {
    pthread_t thread;
    struct bytes image;
};

static void *fill_one(void *ctx)
{
    struct writer *w = ctx;
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    tamis *t;
    if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) return NULL;
    for (uint32_t i = 0; i < 1000; i++) tamis_add(t, &i, sizeof i, NULL);
    w->image = image_of(t);
    tamis_close(t);
    return NULL;
}

static void test_independent_handles(void)
{
    struct writer writers[THREADS];
    memset(writers, 0, sizeof writers);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&writers[i].thread, NULL, fill_one, &writers[i]) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(writers[i].thread, NULL) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(writers[i].image.p != NULL && bytes_equal(writers[i].image, writers[0].image));
    for (size_t i = 0; i < THREADS; i++) free(writers[i].image.p);
}

/* The first count of a sketch makes what all others use, whichever thread is first. */
struct counter {
    pthread_t thread;
    pthread_barrier_t *start;
    const tamis *t;
    tamis_estimate count, copied;
    int64_t noise;
    bool failed;
};

static void *count_along(void *ctx)
{
    struct counter *c = ctx;
    const uint32_t key = 7;
    tamis_facts f = {.struct_size = sizeof f};
    tamis *copy;
    pthread_barrier_wait(c->start);
    c->failed |= tamis_count(c->t, &key, sizeof key, &c->count, NULL) != TAMIS_OK;
    c->failed |= tamis_copy(c->t, &copy, NULL) != TAMIS_OK;
    c->failed |= tamis_count(copy, &key, sizeof key, &c->copied, NULL) != TAMIS_OK;
    c->failed |= tamis_info(c->t, &f) != TAMIS_OK;
    c->noise = f.noise_99;
    tamis_close(copy);
    return NULL;
}

static void test_counters_at_once(void)
{
    static const uint32_t kinds[] = {TAMIS_COUNT_MIN, TAMIS_COUNT_SKETCH, TAMIS_TALLY,
                                     TAMIS_SIGNED_TALLY};
    for (size_t which = 0; which < sizeof kinds / sizeof *kinds; which++)
        for (uint32_t round = 0; round < 5; round++) {
            const uint32_t kind = kinds[which];
            const tamis_plan plan = {.struct_size = sizeof plan, .kind = kind, .bytes = 4000};
            struct counter c[THREADS];
            pthread_barrier_t start;
            tamis *t;
            memset(c, 0, sizeof c);
            CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
            for (uint32_t i = 0; i < 5000; i++) tamis_add(t, &i, sizeof i, NULL);
            CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
            for (size_t i = 0; i < THREADS; i++) {
                c[i].start = &start;
                c[i].t = t;
                CHECK(pthread_create(&c[i].thread, NULL, count_along, &c[i]) == 0);
            }
            for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(c[i].thread, NULL) == 0);
            for (size_t i = 0; i < THREADS; i++) {
                CHECK(!c[i].failed && c[i].noise == c[0].noise && c[i].noise > 0);
                CHECK(c[i].count.lower == c[0].count.lower && c[i].count.upper >= 1);
                CHECK(c[i].count.estimate == c[i].copied.estimate);
            }
            pthread_barrier_destroy(&start);
            tamis_close(t);
        }
}

/* Independent handles first: it is the one that meets an untouched library. */
static const struct test tests[] = {
    {"independent handles", test_independent_handles},
    {"many readers", test_many_readers},
    {"counters at once", test_counters_at_once},
};

TEST_MAIN(tests)
