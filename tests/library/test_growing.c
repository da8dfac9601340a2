/* The growing filter loses no key however often it doubles, its rate stays below the promise,
 * and its space stays near that of a planned filter. test_quotient.c tests its table. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/tracking.h"
#include "core/handle.h"
#include "membership/quotient.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/inspect.h>

/* --- Keys and filters ------------------------------------------------------------------------- */

enum { MANY = 1000 };

static tamis *make_with(double fpr, uint32_t k, const tamis_options *o, uint64_t seed)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_GROWING, .fpr = fpr, .k = k, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    return t;
}

static tamis *make(double fpr, uint32_t k)
{
    return make_with(fpr, k, NULL, 0);
}

static tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

struct some_keys {
    uint8_t text[MANY][8];
    tamis_bytes keys[MANY];
};

static size_t numbers(struct some_keys *s, uint64_t from, uint64_t to)
{
    const size_t n = to - from < MANY ? (size_t)(to - from) : MANY;
    for (size_t i = 0; i < n; i++) {
        tamis__put64(s->text[i], from + i);
        s->keys[i] = (tamis_bytes){s->text[i], 8};
    }
    return n;
}

static void add_numbers(tamis *t, uint64_t from, uint64_t to)
{
    struct some_keys s;
    for (uint64_t at = from; at < to; at += MANY)
        CHECK_OK(tamis_add_many(t, s.keys, numbers(&s, at, to), NULL, NULL));
}

static uint64_t count_maybe(const tamis *t, uint64_t from, uint64_t to)
{
    struct some_keys s;
    uint8_t bits[MANY / 8];
    uint64_t maybe = 0;
    for (uint64_t at = from; at < to; at += MANY)
        maybe += tamis_may_contain_many(t, s.keys, numbers(&s, at, to), bits);
    return maybe;
}

/* Bernstein: a sum of independent yes-or-no with mean v strays by more than this with a chance
 * below 1e-12. */
static double stray(double mean)
{
    const double l = log(2e12);
    return l / 3 + sqrt(l * l / 9 + 2 * l * mean);
}

static uint64_t slots_now(const tamis *t)
{
    return t->body.sections->m;
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

/* At every size of the table: all keys are in, the rate is exactly the one said, and that is below
 * the promise. Two comparisons for each of 15 sizes: a chance below 1e-10 in all that a right
 * library fails, were the keys drawn anew; they are fixed. */
static void keeps_keys_and_rate(double fpr, uint32_t k, uint64_t most, uint64_t asked)
{
    tamis *t = make(fpr, k);
    const uint64_t first = slots_now(t);
    for (uint64_t n = 0; n < most;) {
        const uint64_t was = slots_now(t), step = 1 + n / 16;
        add_numbers(t, n, n + step);
        n += step;
        if (slots_now(t) == was && n < most) continue;
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
    CHECK_THAT(slots_now(t), >=, first << 12);
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
    add_numbers(t, 0, 400000);
    uint64_t counts[64] = {0};
    const struct section *s = t->body.sections;
    const struct quotient q =
        tamis__quotient(s->cells, (unsigned)__builtin_ctzll(s->m), s->cell_bits);
    tamis__quotient_lengths(&q, counts);
    CHECK_THAT(counts[0], >, 1000);
    CHECK_THAT(count_maybe(t, 0, 400000), ==, 400000);
    tamis_close(t);
}

static double planned_bits(uint64_t items)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_BLOCKED, .items = items, .fpr = 0.01};
    tamis_promise r = {.struct_size = sizeof r};
    CHECK_OK(tamis_solve(&p, &r, NULL));
    return r.bits_per_item;
}

static void space_is_near_a_planned_filter(void)
{
    tamis *t = make(0.01, 0);
    uint64_t n = 100;
    add_numbers(t, 0, n);
    CHECK_THAT(tamis_image_size(t), <, 1024);
    while (n < 1000000) {
        const uint64_t bytes = tamis_image_size(t), slots = slots_now(t);
        /* One by one where the table may double. */
        const uint64_t step = n + n / 4 < slots / 16 * 15 ? n / 8 : 1;
        add_numbers(t, n, n + step);
        n += step;
        const double planned = step > 1 || slots_now(t) != slots ? planned_bits(n) : 0;
        if (planned == 0) continue;
        CHECK_THAT(8 * (double)tamis_image_size(t) / (double)n, <=, 4.5 * planned);
        if (slots_now(t) != slots)
            CHECK_THAT(8 * (double)bytes / (double)(n - 1), <=, 2.2 * planned);
    }
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
    for (unsigned times = 0; times < 3; times++) {
        struct some_keys s;
        size_t done = MANY;
        for (; done == MANY; n += done) {
            numbers(&s, n, n + MANY);
            const tamis_status status = tamis_add_many(t, s.keys, MANY, NULL, &done);
            CHECK(status == (done == MANY ? TAMIS_OK : TAMIS_ENOMEM));
        }
        CHECK_THAT(count_maybe(t, 0, n), ==, n);
        CHECK_THAT(a.blocks, ==, 3); /* handle, extra, cells */
        a.fail_at = a.calls + 2;     /* one more doubling, then no more */
    }
    CHECK_THAT(n, >, 5000);
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
}

/* Keys that collide on purpose are refused before they take memory without end, and harm no
 * others. */
static void piles_do_not_make_it_grow(void)
{
    for (unsigned style = 0; style < 2; style++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_GROWING,
                                 .flags = TAMIS_HASH_CALLER,
                                 .items = 100000,
                                 .fpr = 0.01};
        tamis *t;
        uint64_t random = 5, n = 0;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        const uint64_t slots = slots_now(t);
        tamis_status s = TAMIS_OK;
        /* One home, in the middle or at the end, and any fingerprint: doubling would help for a
         * while. */
        const uint64_t home = style == 0 ? UINT64_C(0xffff) << 47 : UINT64_MAX << 47;
        CHECK_THAT(slots, ==, 1 << 17);
        for (; s == TAMIS_OK && n < 10000; n++) {
            const tamis_hash h = {0, home | splitmix(&random) >> 17};
            s = tamis_add_hashes(t, &h, 1, NULL, NULL);
        }
        CHECK_THAT(s, ==, TAMIS_EFULL);
        CHECK_THAT(slots_now(t), ==, slots);
        random = 5;
        for (uint64_t i = 0; i < n - 1; i++) {
            const tamis_hash h = {0, home | splitmix(&random) >> 17};
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

static unsigned fingerprint_bits(uint32_t k, unsigned log)
{
    const tamis_plan p = {.struct_size = sizeof p, .m = UINT64_C(1) << log, .k = k};
    struct section s;
    CHECK_THAT(tamis__kind(TAMIS_GROWING)->layout(&p, &s), ==, 1);
    return s.cell_bits - 1u;
}

/* The sum at the top of growing.c, from every first table to the last one; and an entry that keeps
 * its bits fits every later table. */
static void promise_holds_for_ever(void)
{
    for (double fpr = 0.9; fpr > 1e-14; fpr *= 0.7) {
        const uint32_t k = solved(100, fpr, 0, 0, 0).k;
        for (unsigned first = 7; first <= 46; first++) {
            double rate = 15.0 / 16 * pow(2, -(double)fingerprint_bits(k, first));
            for (unsigned log = first + 1; log <= 46; log++) {
                rate += 15.0 / 16 * pow(2, -(double)fingerprint_bits(k, log) - 1);
                CHECK(fingerprint_bits(k, log) + 1 >= fingerprint_bits(k, log - 1));
            }
            CHECK_THAT(rate, <=, fpr);
        }
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

/* --- Hostile images --------------------------------------------------------------------------- */

/* Whatever was let in can be used. */
static void use(tamis *t)
{
    const tamis_facts f = facts_of(t);
    CHECK(f.fill >= 0 && f.fill <= 1 && f.fpr_now >= 0 && f.fpr_now <= 1);
    CHECK(isfinite(f.items_high) && f.items_low <= f.items_estimate);
    count_maybe(t, 0, 300);
    for (uint64_t i = 0; i < 300; i++) {
        uint8_t key[8];
        tamis__put64(key, UINT64_C(1) << 50 | i);
        const tamis_status s = tamis_add(t, key, 8, NULL);
        CHECK(s == TAMIS_OK || s == TAMIS_EFULL);
        CHECK(s != TAMIS_OK || tamis_may_contain(t, key, 8));
    }
    CHECK_THAT(tamis_image_size(t), <=, 8 * f.bytes);
    facts_of(t);
}

static bool try_image(const struct bytes *image)
{
    tamis *t;
    tamis_error why;
    const tamis_status s = tamis_load(image->p, image->n, NULL, &t, &why);
    CHECK(s == TAMIS_OK || (s == TAMIS_ECORRUPT && why.text[0] != '\0') || s == TAMIS_EVERSION);
    if (s == TAMIS_OK) use(t);
    tamis_close(t);
    return s == TAMIS_OK;
}

/* The reader of a mapped file may see cells that no check has passed: finding and looking stay
 * within them. */
static void try_unchecked(const struct bytes *image)
{
    const size_t at = (size_t)tamis__get64(image->p + 176);
    struct bytes cells = bytes_copy(image->p + at, image->n - at);
    const struct quotient t =
        tamis__quotient(cells.p, (unsigned)__builtin_ctzll(tamis__get64(image->p + 144)),
                        tamis__get16(image->p + 134));
    uint64_t counts[64] = {0};
    for (uint64_t home = 0; home < UINT64_C(1) << t.log; home++)
        tamis__quotient_find(&t, home, home % 5, NULL);
    tamis__quotient_lengths(&t, counts);
    struct bytes room = bytes_new((size_t)tamis__quotient_bytes(t.log + 1, t.width));
    memset(room.p, 0, room.n);
    struct quotient to = tamis__quotient(room.p, t.log + 1, t.width);
    tamis__quotient_double(&t, &to);
    free(room.p);
    free(cells.p);
}

static void hostile_images_are_harmless(void)
{
    static const uint64_t sizes[] = {0, 60, 120, 500, 1900};
    uint64_t random = 77, taken = 0, kept_out = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tamis *t = make(0.01, 0);
        add_numbers(t, 0, sizes[i]);
        struct bytes good = image_of(t), bad = bytes_copy(good.p, good.n);
        const size_t cells = (size_t)tamis__get64(good.p + 176);
        tamis_close(t);
        CHECK(try_image(&good));
        for (unsigned round = 0; round < 2000; round++) {
            memcpy(bad.p, good.p, good.n);
            const uint64_t flips = 1 + splitmix(&random) % 4;
            for (uint64_t j = 0; j < flips; j++) {
                /* Anywhere in the cells, or among the 18 bytes that steer a block. */
                uint64_t byte = splitmix(&random) % (good.n - cells);
                const uint64_t block = tamis__block_bytes(tamis__get16(good.p + 134));
                if (round % 2 == 0) byte = byte / block * block + byte % 18;
                if (byte >= good.n - cells) byte = 0;
                bad.p[cells + byte] ^= (uint8_t)(1u << splitmix(&random) % 8);
            }
            if (round % 20 == 0)
                for (size_t j = cells; j < bad.n; j++) bad.p[j] = (uint8_t)splitmix(&random);
            image_resum(bad.p, bad.n);
            try_unchecked(&bad);
            if (try_image(&bad))
                taken++;
            else
                kept_out++;
        }
        free(good.p);
        free(bad.p);
    }
    CHECK(taken > 100 && kept_out > 1000);
}

/* Fields of the section table, each with every value that may hurt; the lengths stay as they
 * are. */
static void hostile_shapes_are_refused(void)
{
    static const struct field fields[] = {{130, 2}, {132, 2}, {134, 2}, {136, 4},
                                          {144, 8}, {152, 8}, {184, 8}};
    tamis *t = make(0.01, 0);
    add_numbers(t, 0, 100);
    struct bytes good = image_of(t), bad = bytes_copy(good.p, good.n);
    tamis_close(t);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (unsigned v = 0; v < 70; v++) {
            const uint64_t was = get_field(good.p, fields[f]);
            const uint64_t value = v < 64 ? UINT64_C(1) << v : v == 64 ? 0 : was + v - 67;
            memcpy(bad.p, good.p, good.n);
            put_field(bad.p, fields[f], value);
            if (get_field(bad.p, fields[f]) == was) continue;
            image_resum(bad.p, bad.n);
            CHECK(!try_image(&bad));
        }
    free(good.p);
    free(bad.p);
}

/* A consistent table of entries almost all without bits, which no doubling would thin out. */
static void void_tables_do_not_grow_for_ever(void)
{
    tamis *t = make(0.65, 3);
    const struct section *s = t->body.sections;
    struct quotient q = tamis__quotient(s->cells, 7, s->cell_bits);
    const uint64_t empty = UINT64_C(1) << (s->cell_bits - 1);
    for (uint64_t home = 0; home < 120; home++)
        CHECK(tamis__quotient_insert(&q, home, home, home < 110 ? empty : 1));
    struct bytes image = image_of(t);
    tamis_close(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &t, NULL));
    tamis_status status = TAMIS_OK;
    for (uint64_t i = 0; i < 300 && status == TAMIS_OK; i++) {
        uint8_t key[8];
        tamis__put64(key, i);
        status = tamis_add(t, key, 8, NULL);
    }
    CHECK_THAT(status, ==, TAMIS_EFULL);
    CHECK_THAT(tamis_image_size(t), ==, image.n);
    tamis_close(t);
    free(image.p);
}

static const struct test tests[] = {
    {"keeps_one_in_a_hundred", keeps_one_in_a_hundred},
    {"keeps_one_in_a_million", keeps_one_in_a_million},
    {"keeps_keys_without_bits", keeps_keys_without_bits},
    {"space_is_near_a_planned_filter", space_is_near_a_planned_filter},
    {"intervals_hold_the_truth", intervals_hold_the_truth},
    {"goes_on_after_a_rest", goes_on_after_a_rest},
    {"batches_are_keys_one_by_one", batches_are_keys_one_by_one},
    {"a_limit_of_bytes_is_kept", a_limit_of_bytes_is_kept},
    {"refused_memory_changes_nothing", refused_memory_changes_nothing},
    {"piles_do_not_make_it_grow", piles_do_not_make_it_grow},
    {"plans_are_solved", plans_are_solved},
    {"promise_holds_for_ever", promise_holds_for_ever},
    {"what_it_cannot_do_it_says", what_it_cannot_do_it_says},
    {"hostile_images_are_harmless", hostile_images_are_harmless},
    {"hostile_shapes_are_refused", hostile_shapes_are_refused},
    {"void_tables_do_not_grow_for_ever", void_tables_do_not_grow_for_ever},
};
TEST_MAIN(tests)
