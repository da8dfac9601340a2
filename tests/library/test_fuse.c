/* What only fuse promises; test_sealed.c has what it shares with the other sealed kinds. */
#define _POSIX_C_SOURCE 200809L
#include "../support/sealed.h"
#include "../support/tracking.h"

#include <math.h>

static tamis_plan fuse_plan(uint32_t d, uint64_t items, double fpr)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_FUSE, .items = items, .fpr = fpr, .k = d};
    return p;
}

/* Fingerprints of every width, so that cells begin at every bit of a byte. */
static void every_width_works(void)
{
    for (int bits = 4; bits <= 32; bits++) {
        const tamis_plan p = fuse_plan(3 + (uint32_t)bits % 2, 3000, ldexp(1, -bits));
        tamis *t = create(&p, NULL);
        add(t, 0, 3000);
        CHECK_OK(tamis_seal(t, NULL));
        CHECK_THAT(facts_of(t).cell_bits, ==, bits);
        check_known(t, 3000, 0);
        tamis_close(t);
    }
}

/* Sealing takes at most 2.1 times the memory of the hashes, in addition to the hashes. */
static void peak_memory(void)
{
    for (uint32_t d = 3; d <= 4; d++) {
        enum { N = 200000 };
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_plan p = fuse_plan(d, N, 1e-9);
        tamis *t;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        add(t, 0, N);
        const size_t before = a.bytes;
        a.peak = 0;
        CHECK_OK(tamis_seal(t, NULL));
        CHECK_THAT(a.peak - before, <, 2.1 * 16 * N);
        tamis_close(t);
    }
}

static const struct test tests[] = {
    {"every_width_works", every_width_works},
    {"peak_memory", peak_memory},
};
TEST_MAIN(tests)
