/* A hundred million adds by several threads, none lost. */
#include "../support/shared_adds.h"

static void a_hundred_million(void)
{
    enum { EACH = 25000000, THREADS = 4 };
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = kind,
                                 .items = (uint64_t)THREADS * EACH,
                                 .fpr = 0.01};
        const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_SHARED};
        struct worker w[MOST_THREADS];
        tamis *t;
        CHECK_OK(tamis_create(&plan, &options, &t, NULL));
        add_from_threads(t, THREADS, EACH, false, w);
        CHECK_THAT(count_missing(t, (uint64_t)THREADS * EACH), ==, 0);
        tamis_close(t);
    }
}

static const struct test tests[] = {{"a_hundred_million", a_hundred_million}};
TEST_MAIN(tests)
