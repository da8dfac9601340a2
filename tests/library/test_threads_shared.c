/* TAMIS_SHARED: several threads add and query at the same time. The test also runs under the
 * thread sanitizer, without a suppression. */
#include "../support/shared_adds.h"

#include <tamis/inspect.h>

enum { EACH = 20000, THREADS = 4 };

static tamis *make(uint32_t kind, uint32_t flags)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = kind, .items = THREADS * EACH, .fpr = 0.01};
    const tamis_options options = {.struct_size = sizeof options, .flags = flags};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &options, &t, NULL));
    return t;
}

/* The bits are those of the same keys added one after the other. */
static void no_bit_is_lost(void)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        struct worker w[MOST_THREADS];
        tamis *shared = make(kind, TAMIS_SHARED), *alone = make(kind, 0);
        add_from_threads(shared, THREADS, EACH, false, w);
        struct worker one = {.t = alone, .from = 0, .to = THREADS * EACH};
        work(&one);
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(shared, &f));
        for (uint64_t cell = 0; cell < f.m * (kind == TAMIS_PARTITIONED ? f.k : 1); cell++)
            CHECK(tamis_cell(shared, cell) == tamis_cell(alone, cell));
        uint64_t told_new = 0;
        for (unsigned i = 0; i < THREADS; i++) told_new += w[i].told_new;
        CHECK_THAT(f.items, ==, told_new); /* the counter loses nothing either */
        tamis_close(shared);
        tamis_close(alone);
    }
}

/* When all threads add the same keys, at least one of them gets "not seen" for each new key. */
static void somebody_sees_each_key_first(void)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        struct worker w[MOST_THREADS];
        tamis *shared = make(kind, TAMIS_SHARED), *alone = make(kind, 0);
        add_from_threads(shared, THREADS, EACH, true, w);
        struct worker one = {.t = alone, .from = 0, .to = EACH};
        work(&one);
        uint64_t told_new = 0;
        for (unsigned i = 0; i < THREADS; i++) told_new += w[i].told_new;
        CHECK_THAT(told_new, >=, one.told_new);
        CHECK_THAT(count_missing(shared, EACH), ==, 0);
        tamis_close(shared);
        tamis_close(alone);
    }
}

static void strict_or_mapped_is_refused(void)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .items = 10, .fpr = 0.01, .flags = TAMIS_STRICT};
    tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_SHARED};
    tamis *t = (tamis *)1;
    tamis_error why;
    CHECK_THAT(tamis_create(&plan, &options, &t, &why), ==, TAMIS_EINVAL);
    CHECK(t == NULL && why.text[0] != '\0');
    options.flags |= TAMIS_MAP;
    CHECK_THAT(tamis_open("/dev/null", &options, &t, &why), ==, TAMIS_EINVAL);
    options.flags = TAMIS_SHARED;
    CHECK_THAT(tamis_view("", 0, &options, &t, &why), ==, TAMIS_EINVAL);
}

static const struct test tests[] = {
    {"no_bit_is_lost", no_bit_is_lost},
    {"somebody_sees_each_key_first", somebody_sees_each_key_first},
    {"strict_or_mapped_is_refused", strict_or_mapped_is_refused},
};
TEST_MAIN(tests)
