/* The growing filter loses no key however often it doubles, its rate stays below the promise,
 * and its space stays near that of a planned filter. test_quotient.c tests its table. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/growing.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/tracking.h"
#include "core/handle.h"
#include "core/memory.h"
#include "membership/growing.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/inspect.h>

/* Bernstein: a sum of independent yes-or-no with mean v strays by more than this with a chance
 * below 1e-12. */
static double stray(double mean)
{
    const double l = log(2e12);
    return l / 3 + sqrt(l * l / 9 + 2 * l * mean);
}

/* The homes of all tables, which grow with the set. */
static uint64_t slots_now(const tamis *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->body.count; i++) sum += t->body.sections[i].m;
    return sum;
}

/* --- Keys, rate, space ------------------------------------------------------------------------ */

static void check_reload(const tamis *t, uint64_t n)
{
    struct bytes image = image_of(t);
    tamis *again;
    CHECK(image.p != NULL);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK_THAT(count_maybe(again, 0, n), ==, n);
    tamis_close(again);
    free(image.p);
}

/* At many sizes: all keys are in, the rate is exactly the one said, and that is below
 * the promise. Two comparisons for each of 30 sizes: a chance below 1e-10 in all that a right
 * library fails, were the keys drawn anew; they are fixed. */
static void keeps_keys_and_rate(double fpr, uint32_t k, uint64_t most, uint64_t asked)
{
    tamis *t = make(fpr, k);
    const uint64_t first = slots_now(t);
    uint64_t checked = 0;
    for (uint64_t n = 0; n < most;) {
        const uint64_t step = 1 + n / 16;
        add_numbers(t, n, n + step);
        n += step;
        if (n < checked + checked / 2 && n < most) continue;
        checked = n;
        CHECK_THAT(count_maybe(t, 0, n), ==, n);
        const tamis_facts f = facts_of(t);
        CHECK_THAT(f.fpr_now, <=, f.fpr_planned);
        CHECK_THAT(f.fpr_planned, <=, fpr);
        CHECK(!f.overfull);
        check_reload(t, n);
        const double wrong = (double)count_maybe(t, UINT64_C(1) << 40, (UINT64_C(1) << 40) + asked);
        const double mean = f.fpr_now * (double)asked;
        CHECK_THAT(fabs(wrong - mean), <=, stray(mean));
        CHECK_THAT(wrong, <=, fpr * (double)asked + stray(fpr * (double)asked));
    }
    CHECK_THAT(slots_now(t), >=, first << 11);
    tamis_close(t);
}

static void keeps_one_in_a_hundred(void)
{
    keeps_keys_and_rate(0.01, 0, 1000000, 400000);
}

static void keeps_one_in_a_million(void)
{
    keeps_keys_and_rate(1e-6, 0, 500000, 400000);
}

/* Three bits of base: entries run out of bits, and their copies must still answer for all of
 * them. */
static void keeps_keys_without_bits(void)
{
    keeps_keys_and_rate(0.65, 3, 1500000, 200000);
    tamis *t = make(0.65, 3);
    add_numbers(t, 0, 2000000);
    uint64_t counts[64] = {0};
    for (uint32_t i = 0; i < t->body.count; i++) {
        const struct quotient q = tamis__growing_table(&t->body.sections[i]);
        tamis__quotient_lengths(&q, counts);
    }
    CHECK_THAT(counts[0], >, 1000);
    CHECK_THAT(count_maybe(t, 0, 2000000), ==, 2000000);
    const tamis_facts f = facts_of(t);
    CHECK(f.items_low <= 2000000 && 2000000 <= f.items_high);
    CHECK(f.items_estimate >= 1980000 && f.items_high < 2040000);
    tamis_close(t);
}

/* The bits that a set of at least so many items takes at most, at 1 %, however it has grown. */
static double most_bits(uint64_t items)
{
    static const struct {
        uint64_t items;
        double bits;
    } steps[] = {{250000, 19.0}, {130000, 19.4}, {100000, 19.8}, {50000, 23},
                 {20000, 27},    {8000, 34},     {1000, 55}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (items >= steps[i].items) return steps[i].bits;
    return 150;
}

/* At more than 400 sizes, and just after each growth of the first table. */
static void space_is_bounded_at_all_times(void)
{
    tamis *t = make(0.01, 0);
    add_numbers(t, 0, 50);
    CHECK_THAT(tamis_image_size(t), <, 1024);
    uint64_t sizes = 0;
    for (uint64_t n = 50; n < 2500000; sizes++) {
        const uint64_t step = n < 4096 ? 8 : n / 40;
        add_numbers(t, n, n + step);
        n += step;
        CHECK_THAT(8 * (double)tamis_image_size(t) / (double)n, <=, most_bits(n));
    }
    CHECK_THAT(sizes, >, 400);
    tamis_close(t);
}

/* Doubles the first table, as the version before did when it was full. */
static void double_first_table(tamis *t)
{
    struct section *s = t->body.sections, bigger = *s;
    const struct quotient from = tamis__growing_table(s);
    tamis__set_first_table(&bigger, s->k, tamis__growing_level(s) + 1);
    bigger.room = bigger.length;
    bigger.cells = tamis__alloc(NULL, bigger.length);
    struct quotient to = tamis__growing_table(&bigger);
    CHECK(bigger.cells != NULL && tamis__quotient_double(&from, &to, NULL));
    tamis__free(NULL, s->cells);
    *s = bigger;
}

/* Images of the version before have one table of any size. They open and go on growing, with all
 * keys, at the rate that they promised, and in little more space than one that began later. */
static void older_images_go_on_growing(void)
{
    for (unsigned level = 12; level <= 17; level++) {
        tamis *t = make(0.01, 0), *again;
        uint64_t n = 0;
        while (tamis__growing_level(t->body.sections) < level) {
            const struct quotient q = tamis__growing_table(t->body.sections);
            const uint64_t room =
                tamis__quotient_capacity(q.homes, true) - tamis__quotient_entries(&q);
            add_numbers(t, n, n + room);
            n += room;
            double_first_table(t);
        }
        struct bytes image = image_of(t);
        CHECK(t->body.count == 1);
        tamis_close(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        free(image.p);
        add_numbers(again, n, 400000);
        CHECK_THAT(again->body.count, >=, 33);
        CHECK_THAT(count_maybe(again, 0, 400000), ==, 400000);
        const tamis_facts f = facts_of(again);
        CHECK_THAT(f.fpr_now, <=, f.fpr_planned);
        CHECK_THAT(f.bits_per_item, <=, 23);
        const double wrong =
            (double)count_maybe(again, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 400000);
        CHECK_THAT(fabs(wrong - f.fpr_now * 400000), <=, stray(f.fpr_now * 400000));
        check_reload(again, 400000);
        tamis_close(again);
    }
}

/* A plan takes as much as a filter that has grown to its items. */
static void planned_sets_are_as_small(void)
{
    for (uint64_t items = 100; items < 3000000000; items += items / 7) {
        tamis_plan p = {
            .struct_size = sizeof p, .kind = TAMIS_GROWING, .items = items, .fpr = 0.01};
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        if (items < 30000000) CHECK_THAT(8 * (double)p.bytes / (double)items, <=, most_bits(items));
        if (items > 1000000) continue;
        tamis *t;
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_THAT(tamis_image_size(t), ==, p.bytes);
        tamis_close(t);
    }
}

/* The entries that one add moved: those of a section that was replaced. */
static uint64_t moved(const struct section *was, uint32_t count, const tamis *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0, now = 0; i < count; i++) {
        const struct section *s = &t->body.sections[now];
        const bool same = s->m == was[i].m && s->variant == was[i].variant;
        if (!same) sum += tamis__quotient_capacity(was[i].m, was[i].variant == 0);
        now += s->variant > was[i].variant ? 2 : 1;
    }
    return sum;
}

/* Up to 16 M keys, which 1,023 shares hold, shares of 2^15 homes or more are divided before they
 * are doubled, so no add moves more than the 31,488 entries of such a share. It is checked for all
 * adds up to 1.5 M keys, which divide many shares. */
static void no_add_moves_much(void)
{
    static struct section was[1024];
    tamis *t = make(0.01, 0);
    uint64_t most = 0, grown = 0;
    for (uint64_t n = 0; n < 1500000; n++) {
        const uint32_t count = t->body.count;
        const uint64_t bytes = n % 64 == 0 ? 0 : tamis_image_size(t);
        memcpy(was, t->body.sections, count * sizeof *was);
        add_numbers(t, n, n + 1);
        if (tamis_image_size(t) == bytes) continue;
        const uint64_t entries = moved(was, count, t);
        grown += entries != 0;
        if (entries > most) most = entries;
    }
    CHECK(grown > 200 && t->body.count > 60);
    CHECK_THAT(most, <=, 31488);
    CHECK_THAT(most, >, 15000);
    tamis_close(t);
}

/* 300 filters of each size: the 99 % interval misses the truth in more than 20 of them with a
 * chance below 1e-9, and the mean of the estimates is within 6.5 of its deviations (and a
 * ten-thousandth) of it. */
static void intervals_hold_the_truth(void)
{
    static const struct {
        double fpr;
        uint64_t items;
    } cases[] = {{0.65, 1}, {0.65, 100}, {0.65, 3000}, {0.01, 120}, {0.01, 5000}, {0.1, 2000}};
    enum { FILTERS = 300 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double truth = (double)cases[c].items;
        unsigned missed = 0;
        double mean = 0, square = 0;
        for (uint64_t seed = 1; seed <= FILTERS; seed++) {
            tamis *t = make_with(cases[c].fpr, 0, NULL, seed);
            add_numbers(t, 0, cases[c].items);
            const tamis_facts f = facts_of(t);
            CHECK(f.items_low <= f.items_estimate && f.items_estimate <= f.items_high);
            CHECK(f.items <= cases[c].items);
            missed += f.items_low > truth || f.items_high < truth;
            mean += f.items_estimate / FILTERS;
            square += (f.items_estimate - truth) * (f.items_estimate - truth) / FILTERS;
            tamis_close(t);
        }
        CHECK_THAT(missed, <=, 20);
        CHECK_THAT(fabs(mean - truth), <=, 6.5 * sqrt(square / FILTERS) + truth / 10000);
    }
}

/* --- The same in other ways ------------------------------------------------------------------- */

static void check_same(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(x.p != NULL && bytes_equal(x, y));
    free(x.p);
    free(y.p);
}

/* Saved, loaded, viewed and copied on the way; all but the generation, which counts the saves, is
 * the same. */
static void goes_on_after_a_rest(void)
{
    tamis *through = make(0.01, 0), *resting = make(0.01, 0);
    for (uint64_t n = 0; n < 60000; n += 1 + n / 3) {
        struct bytes image = image_of(resting);
        tamis *next, *view;
        CHECK(image.p != NULL);
        CHECK_OK(tamis_view(image.p, image.n, NULL, &view, NULL));
        CHECK_THAT(count_maybe(view, 0, n), ==, n);
        CHECK_THAT(tamis_add(view, "x", 1, NULL), ==, TAMIS_ESEALED);
        if (n % 2 == 0)
            CHECK_OK(tamis_copy(view, &next, NULL));
        else
            CHECK_OK(tamis_load(image.p, image.n, NULL, &next, NULL));
        tamis_close(view);
        tamis_close(resting);
        free(image.p);
        resting = next;
        add_numbers(resting, n, n + 1 + n / 3);
        add_numbers(through, n, n + 1 + n / 3);
        resting->generation = through->generation;
        check_same(through, resting);
    }
    CHECK_OK(tamis_clear(resting));
    CHECK_THAT(count_maybe(resting, 0, 1000), ==, 0);
    add_numbers(resting, 0, 1000);
    CHECK_THAT(count_maybe(resting, 0, 1000), ==, 1000);
    tamis_close(through);
    tamis_close(resting);
}

/* Also from a table that is big enough to be prefetched. */
static void batches_are_keys_one_by_one(void)
{
    static const uint64_t planned[] = {100, 900000};
    for (size_t p = 0; p < 2; p++) {
        const tamis_plan plan = {
            .struct_size = sizeof plan, .kind = TAMIS_GROWING, .items = planned[p], .fpr = 0.01};
        enum { N = 20000 };
        static uint8_t text[N][8], seen[N / 8], maybe[N / 8];
        static tamis_bytes keys[N];
        tamis *single, *many;
        CHECK_OK(tamis_create(&plan, NULL, &single, NULL));
        CHECK_OK(tamis_create(&plan, NULL, &many, NULL));
        for (uint64_t i = 0; i < N; i++) {
            tamis__put64(text[i], i % 5 == 0 ? i / 2 : i);
            keys[i] = (tamis_bytes){text[i], 8};
        }
        size_t done = 0;
        CHECK_OK(tamis_add_many(many, keys, N, seen, &done));
        CHECK_THAT(done, ==, N);
        for (size_t i = 0; i < N; i++) {
            bool known;
            CHECK_OK(tamis_add(single, text[i], 8, &known));
            CHECK(known == tamis__bit(seen, i));
        }
        check_same(single, many);
        CHECK_THAT(tamis_may_contain_many(many, keys, N, maybe), ==, N);
        CHECK_THAT(facts_of(many).items, ==, facts_of(single).items);
        tamis_close(single);
        tamis_close(many);
    }
}

/* --- Limits ----------------------------------------------------------------------------------- */

/* Adds until it fails; the failure changes nothing and leaves the keys before it in. */
static tamis_status fill_up(tamis *t, uint64_t *n)
{
    struct some_keys s;
    for (;;) {
        uint8_t seen[MANY / 8];
        size_t done = 0;
        numbers(&s, *n, *n + MANY);
        const tamis_status status = tamis_add_many(t, s.keys, MANY, seen, &done);
        *n += done;
        if (status == TAMIS_OK) continue;
        CHECK_THAT(done, <, MANY);
        for (size_t i = done; i < MANY; i++) CHECK(!tamis__bit(seen, i));
        struct bytes before = image_of(t);
        bool known = true;
        CHECK_THAT(tamis_add(t, s.keys[done].p, 8, &known), ==, status);
        CHECK(!known && !tamis_may_contain(t, s.keys[done].p, 8));
        struct bytes after = image_of(t);
        CHECK(before.p != NULL && bytes_equal(before, after));
        CHECK_THAT(count_maybe(t, 0, *n), ==, *n);
        free(before.p);
        free(after.p);
        return status;
    }
}

static void a_limit_of_bytes_is_kept(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 10000};
    tamis *t = make_with(0.01, 0, &o, 0);
    uint64_t n = 0;
    CHECK_THAT(fill_up(t, &n), ==, TAMIS_EFULL);
    CHECK_THAT(tamis_image_size(t), <=, 10000);
    CHECK_THAT(n, >=, 1900);
    tamis_limit(t, 20000);
    const uint64_t before = n;
    CHECK_THAT(fill_up(t, &n), ==, TAMIS_EFULL);
    CHECK_THAT(n, >=, before + 1500);
    CHECK_THAT(tamis_image_size(t), <=, 20000);
    tamis_limit(t, 10000); /* less than there is: nothing is lost */
    CHECK_THAT(count_maybe(t, 0, n), ==, n);
    CHECK_THAT(fill_up(t, &n), ==, TAMIS_EFULL);
    tamis_close(t);
}

static void refused_memory_changes_nothing(void)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    tamis *t = make_with(0.01, 0, &o, 0);
    uint64_t n = 0;
    a.fail_at = a.calls + 5;
    a.for_ever = true;
    CHECK_OK(tamis_add(t, "x", 1, NULL));
    for (unsigned step = 0; step < 60; step++) {
        struct some_keys s;
        size_t done = MANY;
        for (; done == MANY; n += done) {
            numbers(&s, n, n + MANY);
            const tamis_status status = tamis_add_many(t, s.keys, MANY, NULL, &done);
            CHECK(status == (done == MANY ? TAMIS_OK : TAMIS_ENOMEM));
        }
        CHECK_THAT(count_maybe(t, 0, n), ==, n);
        /* Handle, extra, and the cells of each section; with shares, also the sections and the
         * directory. */
        CHECK_THAT(a.blocks, ==, t->body.count == 1 ? 3 : t->body.count + 4);
        a.fail_at = a.calls + 1 + step; /* as many more blocks, then no more */
    }
    CHECK_THAT(n, >, 5000);
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
}

/* Keys that collide on purpose are refused before they take memory without end, and harm no
 * others: one home, in the middle or at the end of a share, and any fingerprint, so that growing
 * would help for a while. */
static void piles_do_not_make_it_grow(void)
{
    static const uint64_t items[] = {3000, 100000, 1500000};
    for (unsigned style = 0; style < 6; style++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_GROWING,
                                 .flags = TAMIS_HASH_CALLER,
                                 .items = items[style / 2],
                                 .fpr = 1e-6};
        tamis *t;
        uint64_t random = 5, n = 0;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        const uint64_t slots = slots_now(t);
        tamis_status s = TAMIS_OK;
        const uint64_t home = style % 2 == 0 ? UINT64_C(0x15a5) << 43 : UINT64_MAX << 42;
        for (; s == TAMIS_OK && n < 100000; n++) {
            const tamis_hash h = {splitmix(&random), home | splitmix(&random) >> 22};
            s = tamis_add_hashes(t, &h, 1, NULL, NULL);
        }
        CHECK_THAT(s, ==, TAMIS_EFULL);
        CHECK_THAT(slots_now(t), <=, slots + slots / 4 + 8192);
        random = 5;
        for (uint64_t i = 0; i < n - 1; i++) {
            const tamis_hash h = {splitmix(&random), home | splitmix(&random) >> 22};
            uint8_t bit;
            CHECK(tamis_may_contain_hashes(t, &h, 1, &bit) == 1);
        }
        tamis_close(t);
    }
}

/* --- Plans ------------------------------------------------------------------------------------ */

static tamis_plan solved(uint64_t items, double fpr, uint64_t bytes, uint64_t m, uint32_t k)
{
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = TAMIS_GROWING,
                    .items = items,
                    .fpr = fpr,
                    .bytes = bytes,
                    .m = m,
                    .k = k};
    tamis_error why;
    if (tamis_solve(&p, NULL, &why) != TAMIS_OK) {
        CHECK(why.status == TAMIS_EINVAL && why.text[0] != '\0');
        p.struct_size = 0;
        return p;
    }
    tamis_plan again = p;
    CHECK_OK(tamis_solve(&again, NULL, NULL));
    CHECK(memcmp(&again, &p, sizeof p) == 0);
    CHECK(p.items >= items && (fpr == 0 || p.fpr <= fpr) && (bytes == 0 || p.bytes <= bytes));
    return p;
}

static bool refused(uint64_t items, double fpr, uint64_t bytes, uint64_t m, uint32_t k)
{
    return solved(items, fpr, bytes, m, k).struct_size == 0;
}

static void plans_are_solved(void)
{
    const tamis_plan p = solved(0, 0.01, 0, 0, 0);
    CHECK(p.items == 100 && p.fpr <= 0.01 && p.fpr > 0.009 && p.m == 128 && p.k == 9 &&
          p.bytes < 1024);
    CHECK_THAT(solved(121, 0.01, 0, 0, 0).m, ==, 256);
    CHECK_THAT(solved(1000000, 0.01, 0, 0, 0).m, ==, 1 << 21);
    CHECK_THAT(solved(0, 0.01, 0, 1 << 20, 0).items, ==, 15 << 16);
    CHECK_THAT(solved(0, 0.01, 1000000, 0, 0).items, >, 400000);
    CHECK_THAT(solved(0, 0.01, 0, 1024, 0).items, ==, 960);
    CHECK_THAT(solved(100, 0.01, 5000, 0, 0).m, ==, 128);
    CHECK_THAT(solved(0, 0.01, 5000, 0, 0).m, ==, 2048);
    CHECK_THAT(solved(100, 0, 0, 128, 9).fpr, <=, 0.01);
    CHECK_THAT(solved(100, 0.9, 0, 0, 0).k, ==, 3);
    CHECK_THAT(solved(100, 1e-14, 0, 0, 0).k, <=, 51);
    CHECK(refused(100, 0, 5000, 0, 0) && refused(0, 0, 5000, 0, 0)); /* no rate */
    CHECK(refused(100, 0.01, 500, 0, 0) && refused(0, 0.01, 500, 0, 0));
    CHECK(refused(100, 0.01, 0, 64, 0) && refused(100, 0.01, 0, 129, 0));
    CHECK(refused(100, 0.01, 0, UINT64_C(1) << 47, 0) && refused(1000, 0.01, 0, 128, 0));
    CHECK(refused(100, 0.01, 0, 0, 8) && refused(100, 0.9, 0, 0, 2) && refused(9, 0.1, 0, 0, 52));
    CHECK(refused(100, 1e-18, 0, 0, 0) && refused(UINT64_C(1) << 47, 0.01, 0, 0, 0));
    for (double fpr = 0.9; fpr > 1e-14; fpr *= 0.7) solved(12345, fpr, 0, 0, 0);
    for (uint64_t items = 1; items < UINT64_C(1) << 45; items *= 3) solved(items, 0.01, 0, 0, 0);
}

/* What first tables up to a level add to the rate, if each is filled before the next. */
static double rate_of_first(uint32_t k, unsigned last)
{
    double rate = 0;
    for (unsigned level = 7; level <= last; level++)
        rate += 15.0 / 16 * pow(2, -(double)tamis__first_bits(k, level) - (level > 7 ? 1 : 0));
    return rate;
}

/* The same for shares that begin at a level, up to the highest. An entry that keeps its bits fits
 * every later table, and every slot fits in a word. */
static double rate_of_shares(uint32_t k, unsigned table, unsigned first)
{
    double rate = 0;
    for (uint32_t i = 0; i < 32; i++) {
        const uint64_t least = tamis__share_homes(i, 5, first, 0) << 5;
        unsigned before = 0;
        for (uint64_t homes = least; homes >> 47 == 0; homes *= 2) {
            const unsigned f = tamis__share_bits(k, table, homes);
            CHECK(f + 1 >= before && f >= k && f <= 56);
            rate += 123.0 / 128 / 32 * pow(2, -(double)f - (homes > least ? 1 : 0));
            before = f;
        }
    }
    return rate;
}

/* The sum at the top of growing.c, for every first table and wherever shares begin. */
static void promise_holds_for_ever(void)
{
    for (uint32_t k = 3; k <= 51; k++) {
        const tamis_plan p = solved(100, 0, 0, 128, k);
        CHECK(p.fpr == rate_of_first(p.k, 46));
        if (k > 46) continue; /* without shares */
        for (unsigned table = 7; table <= 12; table++)
            for (unsigned first = 11; first < 46; first++)
                CHECK_THAT(rate_of_first(p.k, table) + rate_of_shares(p.k, table, first), <=,
                           p.fpr);
        for (unsigned table = 13; table < 45; table++)
            CHECK_THAT(rate_of_first(p.k, table) + rate_of_shares(p.k, table, table - 3), <=,
                       p.fpr);
    }
}

static void what_it_cannot_do_it_says(void)
{
    tamis *a = make(0.01, 0), *b = make(0.01, 0);
    tamis_estimate e;
    tamis_similarity like = {.struct_size = sizeof like};
    CHECK_OK(tamis_add(a, "key", 3, NULL));
    CHECK_THAT(tamis_remove(a, "key", 3, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_count(a, "key", 3, &e, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_merge(a, b, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_rotate(a, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_compare(a, b, &like, NULL), ==, TAMIS_EUNSUPPORTED);
    tamis_close(a);
    tamis_close(b);
}

static const struct test tests[] = {
    {"keeps_one_in_a_hundred", keeps_one_in_a_hundred},
    {"keeps_one_in_a_million", keeps_one_in_a_million},
    {"keeps_keys_without_bits", keeps_keys_without_bits},
    {"space_is_bounded_at_all_times", space_is_bounded_at_all_times},
    {"older_images_go_on_growing", older_images_go_on_growing},
    {"planned_sets_are_as_small", planned_sets_are_as_small},
    {"no_add_moves_much", no_add_moves_much},
    {"intervals_hold_the_truth", intervals_hold_the_truth},
    {"goes_on_after_a_rest", goes_on_after_a_rest},
    {"batches_are_keys_one_by_one", batches_are_keys_one_by_one},
    {"a_limit_of_bytes_is_kept", a_limit_of_bytes_is_kept},
    {"refused_memory_changes_nothing", refused_memory_changes_nothing},
    {"piles_do_not_make_it_grow", piles_do_not_make_it_grow},
    {"plans_are_solved", plans_are_solved},
    {"promise_holds_for_ever", promise_holds_for_ever},
    {"what_it_cannot_do_it_says", what_it_cannot_do_it_says},
};
TEST_MAIN(tests)
