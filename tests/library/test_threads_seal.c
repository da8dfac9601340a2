/* The bytes of a ribbon are the same for any number of threads that seal it, in memory or beyond
 * it. */
#include "../support/spilling.h"
#include "core/threads.h"

/* Under a sanitizer, or emulated, the biggest would take minutes. */
#if defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define BIG 1300000u
#else
#define BIG 4500000u
#endif

static void bytes_do_not_know_the_threads(void)
{
    static const uint64_t sizes[] = {1, 500, 100000, 200000, BIG};
    static const uint32_t threads[] = {1, 2, 3, 8, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tamis *alone = sealed_ribbon(NULL, UNIFORM, sizes[i]);
        for (size_t j = 0; j < sizeof threads / sizeof *threads; j++) {
            const tamis_options o = {.struct_size = sizeof o, .threads = threads[j]};
            tamis *t = sealed_ribbon(&o, UNIFORM, sizes[i]);
            CHECK(same_image(alone, t));
            if (sizes[i] == BIG && threads[j] == 2) check_all_in(t, UNIFORM, BIG);
            tamis_close(t);
        }
        tamis_close(alone);
    }
}

/* Nor when the keys are in a file. */
static void nor_beyond_memory(void)
{
    tamis *alone = sealed_ribbon(NULL, UNIFORM, BIG);
    for (uint32_t threads = 2; threads <= 3; threads++) {
        const tamis_options o = spilling(16 * MIB, threads);
        tamis *t = sealed_ribbon(&o, UNIFORM, BIG);
        CHECK(same_image(alone, t));
        tamis_close(t);
    }
    tamis_close(alone);
}

/* --- Sharing work ----------------------------------------------------------------------------- */

static void mark(void *ctx, uint64_t job)
{
    ((uint8_t *)ctx)[job]++;
}

static void every_job_is_done_once(void)
{
    for (uint32_t threads = 0; threads < 70; threads += 1 + threads)
        for (uint64_t jobs = 0; jobs < 300; jobs += 1 + jobs) {
            uint8_t done[300] = {0};
            tamis__in_parallel(threads, jobs, mark, done);
            for (uint64_t i = 0; i < 300; i++) CHECK_THAT(done[i], ==, i < jobs ? 1 : 0);
        }
}

static const struct test tests[] = {
    {"bytes_do_not_know_the_threads", bytes_do_not_know_the_threads},
    {"nor_beyond_memory", nor_beyond_memory},
    {"every_job_is_done_once", every_job_is_done_once},
};
TEST_MAIN(tests)
