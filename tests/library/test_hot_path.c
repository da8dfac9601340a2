/* Adds with and without the count after them, for test_hot_path_cost.py, which counts the
 * instructions of each function whose name begins with cost_. */
#define _POSIX_C_SOURCE 200809L
#include "../support/subjects.h"

enum { N = 2048 };
static uint64_t which[N];
static tamis_bytes keys[N];
static tamis_hash hashes[N];
static int64_t counts[N];

static void cost_one_add(tamis *t)
{
    for (size_t i = 0; i < N; i++)
        if (tamis_add(t, &which[i], sizeof which[i], NULL) != TAMIS_OK) abort();
}

static void cost_one_counted(tamis *t)
{
    for (size_t i = 0; i < N; i++)
        if (tamis_add_counted(t, &which[i], sizeof which[i], 1, &counts[i], NULL) != TAMIS_OK)
            abort();
}

static void cost_many_add(tamis *t)
{
    if (tamis_add_weight_many(t, keys, NULL, N, NULL, NULL) != TAMIS_OK) abort();
}

static void cost_many_counted(tamis *t)
{
    if (tamis_add_counted_many(t, keys, NULL, N, counts, NULL, NULL) != TAMIS_OK) abort();
}

static void cost_hashes_add(tamis *t)
{
    if (tamis_add_weight_hashes(t, hashes, NULL, N, NULL, NULL) != TAMIS_OK) abort();
}

static void cost_hashes_counted(tamis *t)
{
    if (tamis_add_counted_hashes(t, hashes, NULL, N, counts, NULL, NULL) != TAMIS_OK) abort();
}

static void cost_one_upper(tamis *t)
{
    for (size_t i = 0; i < N; i++) counts[i] = tamis_upper(t, &which[i], sizeof which[i]);
}

static void cost_many_upper(tamis *t)
{
    tamis_upper_many(t, keys, N, counts);
}

/* The instructions of a function are those until this one is called. */
static __attribute__((noinline)) void cost_end(void)
{
    __asm__ volatile("");
}

static void (*const costs[])(tamis *t) = {cost_one_add,      cost_one_counted, cost_many_add,
                                          cost_many_counted, cost_hashes_add,  cost_hashes_counted,
                                          cost_one_upper,    cost_many_upper};
#define COSTS (sizeof costs / sizeof *costs)

/* Each begins with the same content, of which a part is in an older generation. */
static void test_costs(void)
{
    uint64_t random = 1;
    for (size_t i = 0; i < N; i++) {
        which[i] = splitmix(&random) % (1 + splitmix(&random) % 20000);
        keys[i] = (tamis_bytes){&which[i], sizeof which[i]};
    }
    for (size_t i = 0; i < SUBJECTS; i++)
        for (size_t c = 0; c < COSTS; c++) {
            const bool by_hash = costs[c] == cost_hashes_add || costs[c] == cost_hashes_counted;
            if (by_hash && subjects[i].lists) continue;
            tamis *t = subject_new(&subjects[i], 5 << 18, NULL);
            CHECK_OK(tamis_add_many(t, keys, N, NULL, NULL));
            if (subjects[i].kind == TAMIS_WINDOW) CHECK_OK(tamis_rotate(t, NULL));
            CHECK_OK(tamis_hash_many(t, keys, N, hashes));
            costs[c](t);
            cost_end();
            CHECK(c % 2 == 0 || counts[0] > 0);
            tamis_close(t);
            printf("subject: %s\n", subjects[i].name);
        }
}

static const struct test tests[] = {
    {"costs", test_costs},
};

TEST_MAIN(tests)
