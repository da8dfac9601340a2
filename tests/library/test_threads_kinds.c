/* Many threads query one handle, for every kind: each verb that does not change it gives the
 * answers that a single thread gets. The test is meant for -fsanitize=thread; without it, it
 * still compares answers. test_threads.c does the same for copies, images and comparisons. */
#define _POSIX_C_SOURCE 200809L
#include "../support/models.h"

#include <tamis/count.h>
#include <tamis/foreign.h>
#include <tamis/inspect.h>

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 3, LISTED = 20 };

struct finding {
    uint8_t bits[MORE / 8 + 1];
    tamis_estimate counts[10];
    int64_t top[LISTED], above[LISTED];
    double probability;
    uint64_t cells[64], cell, generation;
    size_t listed, n_above;
    tamis_status statuses[4];
};

struct asker {
    pthread_t thread;
    pthread_barrier_t *start;
    const tamis *t;
    const tamis_foreign *foreign;
    struct finding found, again;
};

static void ask_lists(const tamis *t, const tamis_facts *facts, struct finding *f)
{
    tamis_heavy list[LISTED];
    f->listed = tamis_top(t, list, LISTED);
    for (size_t i = 0; i < f->listed; i++) f->top[i] = list[i].count.upper;
    f->statuses[2] = tamis_above(t, facts->list_floor + 1, list, LISTED, &f->n_above, NULL);
    for (size_t i = 0; i < f->n_above && i < LISTED; i++) f->above[i] = list[i].count.upper;
}

static void ask(const tamis *t, struct finding *f)
{
    tamis_facts facts = {.struct_size = sizeof facts};
    memset(f, 0, sizeof *f);
    tamis_may_contain_many(t, keys, MORE, f->bits);
    for (size_t i = 0; i < MORE; i++)
        if (tamis_may_contain(t, keys[i].p, keys[i].len) != (f->bits[i / 8] >> i % 8 & 1))
            f->bits[0] ^= 0xff;
    f->statuses[0] = tamis_count_many(t, keys, 10, f->counts, NULL);
    f->statuses[1] = tamis_info(t, &facts);
    f->generation = facts.generation;
    ask_lists(t, &facts, f);
    f->statuses[3] = tamis_probability(t, keys[0].p, keys[0].len, 0.5, &f->probability, NULL);
    if (tamis_cells_of(t, "x", 1, f->cells, 64) > 0) f->cell = tamis_cell(t, f->cells[0]);
}

static void ask_foreign(const tamis_foreign *foreign, struct finding *f)
{
    tamis_foreign_facts facts = {.struct_size = sizeof facts};
    memset(f, 0, sizeof *f);
    f->listed = tamis_foreign_may_contain_many(foreign, keys, MORE, f->bits);
    f->statuses[0] = tamis_foreign_info(foreign, &facts);
    f->probability = facts.fpr_now;
}

/* Checks would longjmp out of the wrong thread, so a thread only takes notes. */
static void *ask_along(void *ctx)
{
    struct asker *a = ctx;
    pthread_barrier_wait(a->start);
    for (int i = 0; i < ROUNDS; i++) {
        struct finding *f = i == 0 ? &a->found : &a->again;
        if (a->t != NULL)
            ask(a->t, f);
        else
            ask_foreign(a->foreign, f);
    }
    return NULL;
}

/* Counts are structs with padding: compared by their ends. */
static bool same_finding(const struct finding *a, const struct finding *b)
{
    for (size_t i = 0; i < 10; i++)
        if (a->counts[i].lower != b->counts[i].lower || a->counts[i].upper != b->counts[i].upper ||
            a->counts[i].estimate != b->counts[i].estimate)
            return false;
    return memcmp(a->bits, b->bits, sizeof a->bits) == 0 &&
           memcmp(a->top, b->top, sizeof a->top) == 0 &&
           memcmp(a->above, b->above, sizeof a->above) == 0 && a->probability == b->probability &&
           memcmp(a->cells, b->cells, sizeof a->cells) == 0 && a->cell == b->cell &&
           a->generation == b->generation && a->listed == b->listed && a->n_above == b->n_above &&
           memcmp(a->statuses, b->statuses, sizeof a->statuses) == 0;
}

static void run_askers(const tamis *t, const tamis_foreign *foreign)
{
    static struct asker askers[THREADS];
    pthread_barrier_t start;
    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.start = &start, .t = t, .foreign = foreign};
        CHECK(pthread_create(&askers[i].thread, NULL, ask_along, &askers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(askers[i].thread, NULL) == 0);
    pthread_barrier_destroy(&start);
    struct asker alone = {.t = t, .foreign = foreign};
    if (t != NULL)
        ask(t, &alone.found);
    else
        ask_foreign(foreign, &alone.found);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(same_finding(&askers[i].found, &alone.found) &&
              same_finding(&askers[i].again, &alone.found));
}

static void test_every_kind(void)
{
    make_models();
    for (size_t i = 0; i < n_models; i++) {
        const tamis_options o = model_options(&models[i], NULL);
        tamis *t;
        CHECK_OK(tamis_load(models[i].image.p, models[i].image.n, &o, &t, NULL));
        run_askers(t, NULL);
        tamis_close(t);
        CHECK_OK(tamis_view(models[i].image.p, models[i].image.n, &o, &t, NULL));
        run_askers(t, NULL);
        tamis_close(t);
    }
    free_models();
}

static void test_foreign(void)
{
    make_keys();
    for (uint32_t format = 1; tamis_foreign_name(format) != NULL; format++) {
        const tamis_foreign_plan p = {
            .struct_size = sizeof p, .format = format, .items = 500, .fpr = 0.01};
        tamis_foreign *f;
        CHECK_OK(tamis_foreign_create(&p, NULL, &f, NULL));
        CHECK_OK(tamis_foreign_add_many(f, keys, FIRST, NULL, NULL));
        run_askers(NULL, f);
        tamis_foreign_close(f);
    }
}

static const struct test tests[] = {
    {"every kind", test_every_kind},
    {"filters of other programs", test_foreign},
};

TEST_MAIN(tests)
