/* The top 100 of a log of URLs, in 64 KiB with all texts, is right in every order, and its
 * intervals contain the true counts. The log is fixed, so nothing depends on chance. */
#define _POSIX_C_SOURCE 200809L
#include "../../bench/accuracy/url_log.h"
#include "../support/check.h"

#include <tamis/inspect.h>

/* test_long_top.c has all ten million. */
#ifndef LINES
#define LINES 1000000u
#endif

static void check_counts(const tamis *t, const struct url_log *l)
{
    tamis_estimate *e = malloc(l->urls * sizeof *e);
    uint32_t came = 0, within = 0;
    CHECK(e != NULL);
    CHECK_OK(tamis_count_many(t, l->text, l->urls, e, NULL));
    for (uint32_t i = 0; i < l->urls; i++) {
        CHECK(e[i].upper >= l->truth[i]);
        CHECK(e[i].confidence < 1 || e[i].lower <= l->truth[i]);
        came += l->truth[i] != 0;
        within += l->truth[i] != 0 && e[i].lower <= l->truth[i];
    }
    CHECK_THAT(within, >=, 0.98 * came); /* of those with 99 % and those that are certain */
    free(e);
}

static void test_every_order(void)
{
    struct url_log l = url_log(LINES);
    for (enum log_order order = LOG_AS_IS; order < LOG_ORDERS; order++) {
        const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_TOP, .bytes = 1 << 16};
        tamis_heavy list[100];
        tamis *t;
        log_reorder(&l, order);
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_OK(log_add(t, &l));
        CHECK_THAT(tamis_image_size(t), <=, 1 << 16);
        CHECK_THAT(tamis_top(t, list, 100), ==, 100);
        if (log_found(&l, list, 100, 100) < 100) printf("%s\n", log_order_names[order]);
        CHECK_THAT(log_found(&l, list, 100, 100), >=, 100);
        check_counts(t, &l);
        /* Everything from the floor on, which leaves out few of the places. */
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(t, &f));
        tamis_heavy *above = malloc(f.entries * sizeof *above);
        size_t found = 0;
        uint32_t true_ones = 0;
        CHECK_OK(tamis_above(t, f.list_floor, above, f.entries, &found, NULL));
        for (uint32_t i = 0; i < l.urls; i++) true_ones += l.truth[i] >= f.list_floor;
        CHECK_THAT(found, >=, true_ones);
        CHECK_THAT(true_ones, >=, 0.7 * (double)f.entries);
        free(above);
        tamis_close(t);
    }
    url_log_free(&l);
}

static const struct test tests[] = {{"every order", test_every_order}};

TEST_MAIN(tests)
