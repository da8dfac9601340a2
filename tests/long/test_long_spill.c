/* A hundred million keys in a ribbon, within 256 MiB beside the filter itself. Takes 3.4 GB in
 * $TMPDIR. */
#include "../support/spilling.h"
#include "../support/tracking.h"

#define KEYS UINT64_C(100000000)

static void within_256_mib(void)
{
    struct tracker a;
    tracker_init(&a);
    tamis_options o = spilling(192 * MIB, 2);
    o.memory = &a.memory;
    tamis *t = sealed_ribbon(&o, UNIFORM, KEYS);
    const size_t size = (size_t)tamis_image_size(t);
    CHECK_THAT(a.peak, <=, size + 256 * MIB);
    CHECK_THAT(size, <=, 1.006 * (double)KEYS);
    check_all_in(t, UNIFORM, KEYS);
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
    printf("peak %zu bytes, of which %zu are the filter\n", a.peak, size);
}

/* Pieces by the dozen, at a size that still fits this machine's memory. */
static void the_same_as_in_memory(void)
{
    const tamis_options o = spilling(100 * MIB, 2);
    tamis *in_memory = sealed_ribbon(NULL, UNIFORM, KEYS / 5);
    tamis *t = sealed_ribbon(&o, UNIFORM, KEYS / 5);
    CHECK(same_image(in_memory, t));
    tamis_close(t);
    tamis_close(in_memory);
}

static const struct test tests[] = {{"within_256_mib", within_256_mib},
                                    {"the_same_as_in_memory", the_same_as_in_memory}};
TEST_MAIN(tests)
