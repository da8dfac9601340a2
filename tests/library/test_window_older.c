/* A window of sketches keeps what it measured about its older generations, and a short list does
 * not look up items that cannot be in it. Neither changes an answer: those of a window that was
 * just loaded, and those of the whole list, are the same. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "core/handle.h"
#include "frequency/noise.h"

#include <tamis/count.h>

enum { ASKED = 60, MOST_LISTED = 4000 };

static tamis *make(uint32_t inner, uint32_t generations)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_WINDOW,
                          .inner_kind = inner,
                          .generations = generations,
                          .items = inner == TAMIS_TOP ? 20 : 0,
                          .bytes = generations * 8192};
    return create(&p, NULL);
}

/* Few keys are frequent and many are rare. Which ones changes with time. */
static void add_some(tamis *t, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = splitmix(state), range = UINT64_C(1) << r % 13;
        const uint64_t key = (r >> 20) % range + (r >> 60 == 0 ? *state >> 40 : 0);
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
    }
}

static void same_estimate(const tamis_estimate *a, const tamis_estimate *b)
{
    CHECK(a->estimate == b->estimate && a->lower == b->lower && a->upper == b->upper);
    CHECK(a->certain == b->certain && a->below_noise == b->below_noise);
}

static void same_item(const tamis_heavy *a, const tamis_heavy *b)
{
    CHECK(a->hash == b->hash && a->length == b->length && a->item.len == b->item.len);
    same_estimate(&a->count, &b->count);
}

/* The whole list, its beginnings, and the items above a count. */
static void same_lists(const tamis *t, const tamis *fresh)
{
    static tamis_heavy all[MOST_LISTED], some[MOST_LISTED];
    const size_t n = tamis_top(fresh, all, MOST_LISTED);
    CHECK(n < MOST_LISTED && n == tamis_top(t, NULL, 0));
    for (size_t k = 0; k <= n; k = 2 * k + 1) {
        CHECK_THAT(tamis_top(t, some, k), ==, k);
        for (size_t i = 0; i < k; i++) same_item(&some[i], &all[i]);
    }
    const int64_t floor = (int64_t)facts_of(fresh).list_floor;
    for (int64_t above = floor; above < floor * 3 + 50; above += 1 + above / 4) {
        size_t found, expected = 0;
        CHECK_OK(tamis_above(t, above, some, MOST_LISTED, &found, NULL));
        for (size_t i = 0; i < n; i++) {
            if (all[i].count.upper < above) continue;
            CHECK(expected < found);
            same_item(&some[expected++], &all[i]);
        }
        CHECK_THAT(found, ==, expected);
    }
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The counts of the samples, as the window itself adds them up. */
static void right_noise(const tamis *t)
{
    static int64_t counts[TAMIS__SAMPLES];
    uint64_t state = TAMIS__FIRST_SAMPLE;
    for (size_t i = 0; i < TAMIS__SAMPLES; i++) {
        const tamis_hash h = tamis__next_sample(&state);
        const struct batch one = {.hashes = &h, .n = 1};
        tamis__sketch(t)->count(&t->body, &one, &counts[i]);
        if (counts[i] < 0) counts[i] = -counts[i];
    }
    qsort(counts, TAMIS__SAMPLES, sizeof *counts, by_value);
    for (size_t i = 0; i < 1024; i++)
        CHECK_THAT(tamis__extra(t)->noise->sorted[i], ==, counts[i * (TAMIS__SAMPLES / 1024) + 8]);
}

/* Everything that a window which was loaded from its image says. */
static void same_as_loaded(const tamis *t)
{
    struct bytes image = image_of(t);
    tamis *fresh;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &fresh, NULL));
    CHECK(tamis__extra(fresh)->older == NULL);
    for (uint64_t key = 0; key < ASKED; key++) {
        tamis_estimate a, b;
        const uint64_t asked = key * key;
        CHECK_OK(tamis_count(t, &asked, sizeof asked, &a, NULL));
        CHECK_OK(tamis_count(fresh, &asked, sizeof asked, &b, NULL));
        same_estimate(&a, &b);
    }
    CHECK(tamis__extra(t)->noise != NULL && tamis__extra(fresh)->noise != NULL);
    CHECK(memcmp(tamis__extra(t)->noise->sorted, tamis__extra(fresh)->noise->sorted,
                 sizeof tamis__extra(t)->noise->sorted) == 0);
    if (tamis__keeps_items(t)) same_lists(t, fresh);
    tamis_close(fresh);
    free(image.p);
}

static const uint32_t SKETCHES[] = {TAMIS_TOP, TAMIS_TALLY, TAMIS_COUNT_MIN, TAMIS_COUNT_SKETCH,
                                    TAMIS_SIGNED_TALLY};
#define KINDS (sizeof SKETCHES / sizeof *SKETCHES)

/* The noise is kept for a while, so it is dropped where it is compared. */
static void ask(tamis *t)
{
    tamis__noise_drop(t);
    same_as_loaded(t);
}

static void rotations_change_no_answer(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        tamis *t = make(SKETCHES[k], 13);
        uint64_t state = k, epoch = 1;
        CHECK_OK(tamis_rotate_to(t, epoch, NULL));
        for (unsigned round = 0; round < 30; round++) {
            add_some(t, 300 + 100 * (round % 4), &state);
            if (round % 3 != 2) ask(t);
            if (round % 5 == 4) add_some(t, 50, &state);
            epoch += round % 7 == 0 ? 3 : round % 8 == 0 ? 2 : 1;
            CHECK_OK(tamis_rotate_to(t, epoch, NULL));
            if (round % 4 != 3) ask(t);
            if (round % 4 == 2) right_noise(t);
        }
        CHECK(tamis__extra(t)->older != NULL);
        tamis_close(t);
    }
}

static void other_changes_are_noticed(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        tamis *t = make(SKETCHES[k], 8), *other = make(SKETCHES[k], 8);
        uint64_t state = k;
        for (unsigned round = 0; round < 10; round++) {
            add_some(t, 300, &state);
            add_some(other, 200, &state);
            ask(t);
            CHECK_OK(tamis_rotate(t, NULL));
            CHECK_OK(tamis_rotate(other, NULL));
        }
        CHECK(tamis__extra(t)->older != NULL);
        CHECK_OK(tamis_merge(t, other, NULL));
        ask(t);
        tamis *copy;
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK_OK(tamis_clear(t));
        add_some(t, 300, &state);
        ask(t);
        ask(copy);
        tamis_close(copy);
        tamis_close(other);
        tamis_close(t);
    }
}

/* Counts that cannot be added up and taken away again. */
static void huge_counts_are_added_up_anew(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        tamis *t = make(SKETCHES[k], 6);
        uint64_t state = k;
        for (unsigned round = 0; round < 10; round++) {
            add_some(t, 200, &state);
            for (uint64_t key = 0; key < 3000 && (round == 3 || round == 5); key++) {
                CHECK_OK(tamis_add_weight(t, &key, sizeof key, INT64_MAX / 2, NULL));
            }
            ask(t);
            right_noise(t);
            CHECK_OK(tamis_rotate(t, NULL));
            ask(t);
            right_noise(t);
        }
        tamis_close(t);
    }
}

/* A program that stops asking does not pay for it for ever. */
static void unused_sums_are_dropped(void)
{
    tamis *t = make(TAMIS_TALLY, 16);
    uint64_t state = 1;
    for (unsigned round = 0; round < 20; round++) {
        add_some(t, 100, &state);
        CHECK_OK(tamis_rotate(t, NULL));
    }
    CHECK(tamis__extra(t)->older == NULL);
    ask(t);
    for (unsigned i = 0; i < 16 / 4; i++) {
        CHECK(tamis__extra(t)->older != NULL);
        CHECK_OK(tamis_rotate(t, NULL));
    }
    ask(t);
    CHECK(tamis__extra(t)->older != NULL);
    for (unsigned i = 0; i < 16; i++) CHECK_OK(tamis_rotate(t, NULL));
    CHECK(tamis__extra(t)->older == NULL);
    ask(t);
    CHECK_OK(tamis_rotate_to(t, 1, NULL));
    CHECK(tamis__extra(t)->older != NULL);
    CHECK_OK(tamis_rotate_to(t, 100, NULL));
    CHECK(tamis__extra(t)->older == NULL);
    tamis_close(t);
}

static const struct test tests[] = {
    {"rotations_change_no_answer", rotations_change_no_answer},
    {"other_changes_are_noticed", other_changes_are_noticed},
    {"huge_counts_are_added_up_anew", huge_counts_are_added_up_anew},
    {"unused_sums_are_dropped", unused_sums_are_dropped},
};
TEST_MAIN(tests)
