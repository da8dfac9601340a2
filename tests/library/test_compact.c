/* The compact variant of blocked: the rate it promises, the space it saves, and its own
 * estimates. */
#include "../support/check.h"
#include "../support/keys.h"
#include "core/occupancy.h"

#include <math.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

static tamis *make(uint64_t items, double fpr, uint64_t seed)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_BLOCKED,
                             .flags = TAMIS_COMPACT,
                             .items = items,
                             .fpr = fpr,
                             .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    return t;
}

static void add_numbers(tamis *t, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
}

static uint64_t count_maybe(const tamis *t, uint64_t from, uint64_t n)
{
    uint64_t maybe = 0;
    for (uint64_t i = from; i < from + n; i++) maybe += tamis_may_contain(t, &i, sizeof i);
    return maybe;
}

/* 6.2 deviations on each of 8 comparisons: a chance below 1e-8 in all that a right library fails,
 * were the keys drawn anew; they are fixed. The planned rate gets room for the scatter of the fill,
 * 2 % here. */
static void rates_are_as_promised(void)
{
    static const double rates[] = {1e-1, 1e-2, 1e-3, 1e-4};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        enum { ITEMS = 100000, ASKED = 2000000 };
        tamis *t = make(ITEMS, rates[r], 0);
        add_numbers(t, ITEMS);
        CHECK_THAT(count_maybe(t, 0, ITEMS), ==, ITEMS);
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(t, &f));
        const double wrong = (double)count_maybe(t, 1000000, ASKED);
        const double expected = f.fpr_now * ASKED, planned = f.fpr_planned * ASKED;
        CHECK_THAT(fabs(wrong - expected), <, 6.2 * sqrt(expected));
        CHECK_THAT(fabs(wrong - planned), <, 6.2 * sqrt(planned) + 0.1 * planned);
        tamis_close(t);
    }
}

static void space_is_as_promised(void)
{
    static const struct {
        double fpr, bits, split;
    } wanted[] = {{0.01, 9.95, 10.15}, {0.001, 15.6, 15.8}};
    for (size_t i = 0; i < 2; i++) {
        tamis_plan p = {
            .struct_size = sizeof p, .kind = TAMIS_BLOCKED, .items = 1000000, .fpr = wanted[i].fpr};
        tamis_promise r = {.struct_size = sizeof r};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK_THAT(r.bits_per_item, <=, wanted[i].split);
        p = (tamis_plan){.struct_size = sizeof p,
                         .items = 1000000,
                         .fpr = wanted[i].fpr,
                         .flags = TAMIS_COMPACT};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK(p.kind == TAMIS_BLOCKED);
        CHECK_THAT(r.bits_per_item, <=, wanted[i].bits);
        tamis_plan again = p;
        CHECK_OK(tamis_solve(&again, NULL, NULL));
        CHECK(memcmp(&again, &p, sizeof p) == 0);
    }
}

/* 400 filters: the 99 % interval misses the truth in more than 20 of them with a chance below
 * 1e-9. */
static void intervals_hold_the_truth(void)
{
    static const uint64_t fills[] = {3, 200, 1000, 4000};
    for (size_t k = 0; k < sizeof fills / sizeof *fills; k++) {
        unsigned missed = 0;
        double mean = 0, square = 0;
        for (uint64_t seed = 1; seed <= 400; seed++) {
            tamis *t = make(1000, 0.01, seed);
            add_numbers(t, fills[k]);
            tamis_facts f = {.struct_size = sizeof f};
            CHECK_OK(tamis_info(t, &f));
            missed += f.items_low > (double)fills[k] || f.items_high < (double)fills[k];
            mean += f.fill * (double)f.m / 400;
            square += f.fill * (double)f.m * f.fill * (double)f.m / 400;
            if (seed == 400) {
                /* Mean and variance of the set bits are those of occupancy.c: the mean within 6.4
                 * deviations, the variance within a half (a chi square of 399 degrees: below
                 * 1e-10). */
                const struct occupancy o = {1, (double)f.m, f.k, (double)f.m / 512};
                const double variance = tamis__occupied_variance(&o, (double)fills[k]);
                CHECK_THAT(fabs(mean - tamis__occupied(&o, (double)fills[k])), <,
                           6.4 * sqrt(variance / 400) + 1e-9);
                if (variance > 1) CHECK_THAT(fabs((square - mean * mean) / variance - 1), <, 0.5);
            }
            tamis_close(t);
        }
        CHECK_THAT(missed, <=, 20);
    }
}

static void cells_are_the_ones_set(void)
{
    tamis *t = make(100, 0.001, 9);
    uint64_t cells[16];
    const size_t k = tamis_cells_of(t, "key", 3, cells, 16);
    for (size_t i = 0; i < k; i++) CHECK(tamis_cell(t, cells[i]) == 0);
    CHECK_OK(tamis_add(t, "key", 3, NULL));
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    CHECK(k == f.k);
    for (size_t i = 0; i < k; i++)
        CHECK(tamis_cell(t, cells[i]) == 1 && cells[i] / 512 == cells[0] / 512);
    tamis_close(t);
}

static void only_blocked_is_compact(void)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_PARTITIONED; kind++) {
        tamis_plan p = {
            .struct_size = sizeof p, .kind = kind, .flags = TAMIS_COMPACT, .items = 10, .fpr = 0.1};
        tamis_error why;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(why.text[0] != '\0');
    }
    /* The same m and k, but other bits: not to be merged. */
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_BLOCKED, .items = 10, .m = 1024, .k = 8};
    tamis *split, *compact;
    CHECK_OK(tamis_create(&p, NULL, &split, NULL));
    p.flags = TAMIS_COMPACT;
    CHECK_OK(tamis_create(&p, NULL, &compact, NULL));
    CHECK_THAT(tamis_merge(split, compact, NULL), ==, TAMIS_EMISMATCH);
    tamis_close(split);
    tamis_close(compact);
}

static const struct test tests[] = {
    {"rates_are_as_promised", rates_are_as_promised},
    {"space_is_as_promised", space_is_as_promised},
    {"intervals_hold_the_truth", intervals_hold_the_truth},
    {"cells_are_the_ones_set", cells_are_the_ones_set},
    {"only_blocked_is_compact", only_blocked_is_compact},
};
TEST_MAIN(tests)
