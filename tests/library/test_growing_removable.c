/* Growing filters from which keys can be removed, against an exact multiset: no member is missed,
 * the rate keeps its promise, and the items are counted, through many doublings. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/growing.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/tracking.h"
#include "core/handle.h"
#include "membership/growing.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/inspect.h>

enum { COPIES = 7 }; /* of equal entries, as documented */

static tamis_status add_number(tamis *t, uint64_t i)
{
    uint8_t key[8];
    tamis__put64(key, i);
    return tamis_add(t, key, 8, NULL);
}

static tamis_status remove_number(tamis *t, uint64_t i)
{
    uint8_t key[8];
    tamis__put64(key, i);
    return tamis_remove(t, key, 8, NULL);
}

static bool has_number(const tamis *t, uint64_t i)
{
    uint8_t key[8];
    tamis__put64(key, i);
    return tamis_may_contain(t, key, 8);
}

/* Bernstein: a sum of independent yes-or-no with this mean strays by more than this with a
 * probability below 1e-12. */
static double stray(double mean)
{
    const double l = log(2e12);
    return l / 3 + sqrt(l * l / 9 + 2 * l * mean);
}

/* --- The model -------------------------------------------------------------------------------- */

struct model {
    uint8_t *copies; /* of each number */
    uint64_t numbers, items;
};

static void check_members(const tamis *t, const struct model *m)
{
    for (uint64_t i = 0; i < m->numbers; i++)
        if (m->copies[i] != 0) CHECK(has_number(t, i));
    CHECK_THAT(facts_of(t).items, ==, m->items);
}

/* No count is too low. */
static void check_counts(const tamis *t, const struct model *m)
{
    for (uint64_t i = 0; i < m->numbers; i += 7) {
        uint8_t key[8];
        tamis_estimate e;
        tamis__put64(key, i);
        CHECK_OK(tamis_count(t, key, 8, &e, NULL));
        CHECK_THAT(e.upper, >=, (int64_t)m->copies[i]);
    }
}

/* The rate is the one that is reported, which is below the promise. */
static void check_rate(const tamis *t, double fpr)
{
    enum { ASKED = 200000 };
    const tamis_facts f = facts_of(t);
    CHECK(f.fpr_now <= f.fpr_planned && f.fpr_planned <= fpr && !f.overfull);
    const double wrong = (double)count_maybe(t, UINT64_C(1) << 40, (UINT64_C(1) << 40) + ASKED);
    CHECK_THAT(fabs(wrong - f.fpr_now * ASKED), <=, stray(f.fpr_now * ASKED));
}

static tamis *reloaded(tamis *t)
{
    struct bytes image = image_of(t);
    tamis *again;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    tamis_close(t);
    free(image.p);
    return again;
}

/* Adds and removes numbers at random, more adds than removes until the set has `most` items, then
 * more removes, and so on. Every fourth number is often added again. */
static void churn(tamis *t, struct model *m, uint64_t steps, unsigned adds_of_16, uint64_t *random)
{
    for (uint64_t step = 0; step < steps; step++) {
        const uint64_t r = splitmix(random);
        uint64_t i = (r >> 8) % m->numbers;
        if (r >> 60 == 0) i = i % 64 * 4;
        if (r % 16 < adds_of_16) {
            if (m->copies[i] == UINT8_MAX) continue;
            CHECK_OK(add_number(t, i));
            m->copies[i]++;
            m->items++;
        } else if (m->copies[i] != 0) {
            CHECK_OK(remove_number(t, i));
            m->copies[i]--;
            m->items--;
        }
    }
}

static void follow(double fpr, uint64_t numbers, uint64_t seed, unsigned rounds)
{
    struct model m = {.copies = calloc(numbers, 1), .numbers = numbers};
    tamis *t = make_removable(fpr, seed, NULL);
    uint64_t random = seed, begun = tamis_image_size(t);
    for (unsigned round = 0; round < rounds; round++) {
        churn(t, &m, numbers, round % 3 == 2 ? 5 : 12, &random);
        check_members(t, &m);
        check_counts(t, &m);
        check_rate(t, fpr);
        if (round % 2 == 0) t = reloaded(t);
    }
    CHECK_THAT(tamis_image_size(t), >, 4 * begun);
    for (uint64_t i = 0; i < numbers; i++)
        for (; m.copies[i] != 0; m.copies[i]--, m.items--) {
            CHECK(has_number(t, i));
            CHECK_OK(remove_number(t, i));
        }
    check_members(t, &m);
    check_rate(t, fpr);
    tamis_close(t);
    free(m.copies);
}

static void no_member_is_missed(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        follow(0.01, 60000, seed, 6);
        follow(0.3, 40000, seed, 9);
        follow(1e-6, 40000, seed, 4);
    }
}

/* Where an entry has no bits left, there is no other one. */
static void check_voids(const tamis *t)
{
    uint64_t voids = 0;
    for (uint32_t i = 1; i < t->body.count; i++) {
        const struct quotient q = tamis__growing_table(&t->body.sections[i]);
        for (uint64_t home = 0; home < q.homes; home++) {
            const struct quotient_match some = tamis__quotient_longest(&q, home, 0);
            const struct quotient_match others = tamis__quotient_longest(&q, home, 1);
            const bool is_void = some.value == tamis__quotient_void(&q);
            if (is_void) CHECK(some.entries == 1 && some.after == some.slot + 1);
            if (is_void) CHECK(others.value == some.value && others.slot == some.slot);
            voids += is_void;
        }
    }
    CHECK_THAT(voids, >, 1000);
}

/* Three bits of base: the first entries run out of bits when the set has a million items. */
static void no_member_is_missed_without_bits(void)
{
    enum { N = 1900000, KEPT = 3 };
    tamis *t = make_removable(0.65, 1, NULL);
    add_numbers(t, 0, N);
    check_voids(t);
    CHECK_THAT(count_maybe(t, 0, N), ==, N);
    check_rate(t, 0.65);
    for (uint64_t i = 0; i < N; i++)
        if (i % KEPT != 0) CHECK_OK(remove_number(t, i));
    for (uint64_t i = 0; i < N; i += KEPT) CHECK(has_number(t, i));
    CHECK_THAT(facts_of(t).items, ==, (N + KEPT - 1) / KEPT);
    check_rate(t, 0.65);
    for (uint64_t i = N; i < 2 * N; i++) CHECK_OK(add_number(t, i));
    for (uint64_t i = 0; i < N; i += KEPT) CHECK(has_number(t, i));
    CHECK_THAT(count_maybe(t, N, 2 * N), ==, N);
    check_voids(t);
    check_rate(t, 0.65);
    tamis_close(t);
}

/* The cells are those of a filter that never had the keys. At a rate of one in a billion, none of
 * the keys looks like another. */
static void removed_keys_leave_nothing(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        tamis *t = make_removable(1e-9, seed, NULL);
        add_numbers(t, 0, 800);
        struct bytes before = image_of(t);
        add_numbers(t, 5000, 5200);
        for (uint64_t i = 5000; i < 5200; i++) {
            CHECK(has_number(t, i));
            CHECK_OK(remove_number(t, i));
            CHECK(!has_number(t, i));
            CHECK_THAT(remove_number(t, i), ==, TAMIS_EABSENT);
        }
        struct bytes after = image_of(t);
        CHECK(before.p != NULL && bytes_equal(before, after));
        free(before.p);
        free(after.p);
        tamis_close(t);
    }
}

static void absent_keys_change_nothing(void)
{
    tamis *t = make_removable(0.01, 1, NULL);
    add_numbers(t, 0, 5000);
    struct bytes before = image_of(t);
    uint64_t absent = 0;
    for (uint64_t i = 1000000; i < 1010000; i++) {
        if (has_number(t, i)) continue;
        CHECK_THAT(remove_number(t, i), ==, TAMIS_EABSENT);
        absent++;
    }
    struct bytes after = image_of(t);
    CHECK_THAT(absent, >, 9000);
    CHECK(before.p != NULL && bytes_equal(before, after));
    free(before.p);
    free(after.p);
    tamis_close(t);
}

/* --- Keys that are added again ---------------------------------------------------------------- */

/* A key counts as often as it was added until it is kept for ever. */
static void copies_are_counted(void)
{
    tamis *t = make_removable(1e-9, 1, NULL);
    tamis_estimate e;
    for (unsigned n = 1; n <= 3 * COPIES; n++) {
        bool seen = n == 1;
        CHECK_OK(tamis_add(t, "again", 5, &seen));
        CHECK(seen == (n > 1));
        CHECK_OK(tamis_count(t, "again", 5, &e, NULL));
        CHECK(e.upper == (n < COPIES ? (int64_t)n : INT64_MAX));
        CHECK_THAT(facts_of(t).items, ==, n);
    }
    for (unsigned n = 3 * COPIES; n > 0; n--) CHECK_OK(tamis_remove(t, "again", 5, NULL));
    CHECK(tamis_may_contain(t, "again", 5));
    CHECK_THAT(facts_of(t).items, ==, 0);
    tamis_clear(t);
    for (unsigned n = 1; n < COPIES; n++) CHECK_OK(tamis_add(t, "again", 5, NULL));
    for (unsigned n = 1; n < COPIES; n++) {
        CHECK(tamis_may_contain(t, "again", 5));
        CHECK_OK(tamis_remove(t, "again", 5, NULL));
    }
    CHECK(!tamis_may_contain(t, "again", 5));
    CHECK_THAT(tamis_remove(t, "again", 5, NULL), ==, TAMIS_EABSENT);
    tamis_close(t);
}

/* Ten thousand equal keys take no more room than seven, and harm no others. */
static void many_copies_take_no_room(void)
{
    tamis *t = make_removable(0.01, 1, NULL);
    add_numbers(t, 0, 1000);
    const uint64_t bytes = tamis_image_size(t);
    for (uint64_t i = 0; i < 1000000; i++) CHECK_OK(add_number(t, i % 100));
    CHECK_THAT(tamis_image_size(t), ==, bytes);
    CHECK_THAT(facts_of(t).items, ==, 1001000);
    for (uint64_t i = 100; i < 1000; i++) CHECK_OK(remove_number(t, i));
    CHECK_THAT(count_maybe(t, 0, 100), ==, 100);
    check_rate(t, 0.01);
    tamis_close(t);
}

/* Every key seven times: all find room while the shares double at the load where they always do,
 * or a little earlier. */
static void sets_of_copies_grow(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        tamis *t = make_removable(0.01, seed, NULL);
        for (unsigned copy = 0; copy < COPIES; copy++) add_numbers(t, 0, 6000);
        const tamis_facts f = facts_of(t);
        CHECK_THAT(f.items, ==, COPIES * 6000);
        CHECK_THAT(f.fill, >, 0.45);
        CHECK_THAT(count_maybe(t, 0, 6000), ==, 6000);
        tamis_close(t);
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

static void batches_are_keys_one_by_one(void)
{
    enum { N = 30000 };
    static uint8_t text[N][8], seen[N / 8], absent[N / 8];
    static tamis_bytes keys[N];
    tamis *single = make_removable(0.01, 1, NULL), *many = make_removable(0.01, 1, NULL);
    for (uint64_t i = 0; i < N; i++) {
        tamis__put64(text[i], i % 5 == 0 ? i / 3 : i);
        keys[i] = (tamis_bytes){text[i], 8};
    }
    CHECK_OK(tamis_add_many(many, keys, N, seen, NULL));
    for (size_t i = 0; i < N; i++) {
        bool known;
        CHECK_OK(tamis_add(single, text[i], 8, &known));
        CHECK(known == tamis__bit(seen, i));
    }
    check_same(single, many);
    tamis_clear(many);
    tamis_clear(single);
    CHECK_OK(tamis_add_many(many, keys, N, NULL, NULL));
    CHECK_OK(tamis_add_many(single, keys, N, seen, NULL));
    check_same(single, many);
    CHECK_OK(tamis_remove_many(many, keys + N / 2, N / 2, absent, NULL));
    for (size_t i = N / 2; i < N; i++) {
        const bool gone = tamis_remove(single, text[i], 8, NULL) == TAMIS_EABSENT;
        CHECK(gone == tamis__bit(absent, i - N / 2));
    }
    check_same(single, many);
    tamis *copy;
    CHECK_OK(tamis_copy(many, &copy, NULL));
    CHECK_OK(tamis_remove(copy, keys[0].p, 8, NULL));
    CHECK_THAT(facts_of(copy).items, ==, facts_of(many).items - 1);
    tamis_close(copy);
    tamis_close(single);
    tamis_close(many);
}

/* Views and sealed filters keep their keys. */
static void read_only_filters_refuse(void)
{
    tamis *t = make_removable(0.01, 1, NULL), *view;
    add_numbers(t, 0, 100);
    struct bytes image = image_of(t);
    CHECK_OK(tamis_view(image.p, image.n, NULL, &view, NULL));
    CHECK(facts_of(view).removable);
    CHECK_THAT(remove_number(view, 1), ==, TAMIS_ESEALED);
    CHECK_THAT(count_maybe(view, 0, 100), ==, 100);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(remove_number(t, 1), ==, TAMIS_ESEALED);
    tamis_close(view);
    tamis_close(t);
    free(image.p);
}

/* --- Limits ----------------------------------------------------------------------------------- */

/* An add that finds no room changes nothing, and after a removal there is room again. */
static void removals_make_room(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 20000};
    tamis *t = make_removable(0.01, 1, &o);
    uint64_t n = 0;
    tamis_status s;
    while ((s = add_number(t, n)) == TAMIS_OK) n++;
    CHECK(s == TAMIS_EFULL && n > 1500 && !has_number(t, n));
    CHECK_THAT(tamis_image_size(t), <=, 20000);
    CHECK_THAT(count_maybe(t, 0, n), ==, n);
    for (uint64_t i = 0; i < n; i += 2) CHECK_OK(remove_number(t, i));
    CHECK_OK(add_number(t, n));
    for (uint64_t i = 1; i < n; i += 2) CHECK(has_number(t, i));
    tamis_close(t);
}

static void refused_memory_changes_nothing(void)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    tamis *t = make_removable(0.01, 1, &o);
    uint64_t n = 0;
    for (unsigned step = 0; step < 20; step++) {
        a.fail_at = a.calls + 1 + step;
        a.for_ever = true;
        tamis_status s;
        while ((s = add_number(t, n)) == TAMIS_OK) n++;
        CHECK_THAT(s, ==, TAMIS_ENOMEM);
        CHECK(!has_number(t, n) || facts_of(t).items == n);
        CHECK_OK(remove_number(t, n - 1)); /* takes no memory */
        CHECK_THAT(count_maybe(t, 0, n - 1), ==, n - 1);
        CHECK_OK(add_number(t, n - 1));
        CHECK_THAT(facts_of(t).items, ==, n);
    }
    a.fail_at = 0;
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
}

/* Keys that collide on purpose are refused before they take memory without end. */
static void piles_do_not_make_it_grow(void)
{
    for (unsigned style = 0; style < 2; style++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_GROWING,
                                 .flags = TAMIS_HASH_CALLER | TAMIS_REMOVABLE,
                                 .items = 100000,
                                 .fpr = 1e-6};
        const uint64_t home = style == 0 ? UINT64_C(0x15a5) << 43 : UINT64_MAX << 42;
        tamis *t;
        uint64_t random = 5, n = 0;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        const uint64_t bytes = tamis_image_size(t);
        tamis_status s = TAMIS_OK;
        for (; s == TAMIS_OK && n < 100000; n++) {
            const tamis_hash h = {splitmix(&random), home | splitmix(&random) >> 22};
            s = tamis_add_hashes(t, &h, 1, NULL, NULL);
        }
        CHECK_THAT(s, ==, TAMIS_EFULL);
        CHECK_THAT(tamis_image_size(t), <=, 2 * bytes);
        random = 5;
        for (uint64_t i = 0; i < n - 1; i++) {
            const tamis_hash h = {splitmix(&random), home | splitmix(&random) >> 22};
            CHECK(tamis_may_contain_hashes(t, &h, 1, NULL) == 1);
            CHECK_OK(tamis_remove_hashes(t, &h, 1, NULL, NULL));
        }
        CHECK_THAT(facts_of(t).fill, ==, 0);
        tamis_close(t);
    }
}

/* --- Plans ------------------------------------------------------------------------------------ */

static tamis_status solve(tamis_plan p, tamis_plan *out, tamis_error *why)
{
    p.struct_size = sizeof p;
    p.flags |= TAMIS_REMOVABLE;
    *out = p;
    return tamis_solve(out, NULL, why);
}

static void plans_are_solved(void)
{
    tamis_plan p;
    tamis_error why;
    CHECK_OK(solve((tamis_plan){.kind = TAMIS_GROWING, .fpr = 0.01}, &p, NULL));
    CHECK(p.items == 1920 && p.k == 9 && p.fpr <= 0.01 && p.bytes < 16384);
    tamis_plan again = p;
    CHECK_OK(tamis_solve(&again, NULL, NULL));
    CHECK(memcmp(&again, &p, sizeof p) == 0);
    for (uint64_t items = 1; items < 3000000; items *= 3) {
        tamis *t;
        CHECK_OK(solve((tamis_plan){.kind = TAMIS_GROWING, .items = items, .fpr = 0.02}, &p, NULL));
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_THAT(tamis_image_size(t), ==, p.bytes);
        tamis_close(t);
    }
    CHECK_OK(solve((tamis_plan){.kind = TAMIS_GROWING, .fpr = 0.01, .bytes = 1000000}, &p, NULL));
    CHECK(p.items > 400000 && p.bytes <= 1000000);
    CHECK_THAT(solve((tamis_plan){.kind = TAMIS_GROWING, .fpr = 0.01, .bytes = 9999}, &p, &why), ==,
               TAMIS_EINVAL);
    CHECK(strstr(why.text, "more than the 9999 given") != NULL);
    CHECK_THAT(solve((tamis_plan){.kind = TAMIS_GROWING, .fpr = 1e-14}, &p, NULL), ==,
               TAMIS_EINVAL);
    CHECK_THAT(solve((tamis_plan){.kind = TAMIS_GROWING, .k = 47}, &p, &why), ==, TAMIS_EINVAL);
    CHECK(strstr(why.text, "k must be at most 46") != NULL);
    CHECK_OK(solve((tamis_plan){.kind = TAMIS_GROWING, .k = 46}, &p, NULL));
    CHECK_THAT(solve((tamis_plan){.kind = TAMIS_CUCKOO, .items = 9, .fpr = 0.1}, &p, &why), ==,
               TAMIS_EINVAL);
    CHECK(strstr(why.text, "only for growing") != NULL);
}

/* Other growing filters refuse, and name the flag. */
static void what_it_cannot_do_it_says(void)
{
    tamis *a = make_removable(0.01, 1, NULL), *b = make_removable(0.01, 1, NULL), *c;
    tamis_error why;
    CHECK_OK(tamis_add(a, "key", 3, NULL));
    CHECK_THAT(tamis_merge(a, b, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_convert(a, TAMIS_BLOOM, &c, NULL), ==, TAMIS_EUNSUPPORTED);
    tamis_close(a);
    tamis_close(b);
    a = make(0.01, 0);
    add_numbers(a, 0, 10);
    CHECK_THAT(tamis_remove(a, "key", 3, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(strstr(why.text, "TAMIS_REMOVABLE") != NULL && why.better_kind == TAMIS_GROWING);
    CHECK(!facts_of(a).removable && count_maybe(a, 0, 10) == 10);
    tamis_close(a);
}

static const struct test tests[] = {
    {"no_member_is_missed", no_member_is_missed},
    {"no_member_is_missed_without_bits", no_member_is_missed_without_bits},
    {"removed_keys_leave_nothing", removed_keys_leave_nothing},
    {"absent_keys_change_nothing", absent_keys_change_nothing},
    {"copies_are_counted", copies_are_counted},
    {"many_copies_take_no_room", many_copies_take_no_room},
    {"sets_of_copies_grow", sets_of_copies_grow},
    {"batches_are_keys_one_by_one", batches_are_keys_one_by_one},
    {"read_only_filters_refuse", read_only_filters_refuse},
    {"removals_make_room", removals_make_room},
    {"refused_memory_changes_nothing", refused_memory_changes_nothing},
    {"piles_do_not_make_it_grow", piles_do_not_make_it_grow},
    {"plans_are_solved", plans_are_solved},
    {"what_it_cannot_do_it_says", what_it_cannot_do_it_says},
};
TEST_MAIN(tests)
