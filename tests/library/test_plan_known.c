/* Plans are part of images, so they never change. (Those of cuckoo changed once, for large sets at
 * high rates, when the stash made longer fingerprints unnecessary; shapes that were solved before
 * are still solutions of themselves.) tests/golden/plans.txt has the solutions that a
 * bisection with the true rate found for every k, m and number of items. The faster searches of the
 * planner find the same ones, and what they rely on is true: the approximate rate of a line is
 * within 1e-9 of the true one, and more keys never lower either of them. */
#include "../support/check.h"
#include "../support/golden.h"
#include "core/occupancy.h"
#include "core/plan.h"

#include <math.h>
#include <tamis/tamis.h>

/* Reads numbers from a line, and notes where the next ones are. */
static uint64_t next_count(char **at)
{
    return strtoull(*at, at, 10);
}

static double next_rate(char **at)
{
    return strtod(*at, at);
}

static tamis_plan next_shape(char **at)
{
    tamis_plan p = {.struct_size = sizeof p};
    p.items = next_count(at);
    p.fpr = next_rate(at);
    p.bytes = next_count(at);
    p.m = next_count(at);
    p.k = (uint32_t)next_count(at);
    return p;
}

static void check_known_plan(char *line)
{
    char *at = line;
    uint32_t head[5];
    for (int i = 0; i < 5; i++) head[i] = (uint32_t)next_count(&at);
    tamis_plan p = next_shape(&at);
    tamis_promise promise = {.struct_size = sizeof promise};
    p.kind = head[0];
    p.flags = head[1];
    p.inner_kind = head[2];
    p.generations = head[3];
    p.cell_bits = head[4];
    at = strchr(at, '=') + 1;
    CHECK_THAT(tamis_solve(&p, &promise, NULL), ==, strtol(at, &at, 10));
    if (*at == '\0') return; /* refused */
    const tamis_plan want = next_shape(&at);
    CHECK_THAT(p.items, ==, want.items);
    CHECK_THAT(p.fpr, ==, want.fpr);
    CHECK_THAT(p.bytes, ==, want.bytes);
    CHECK_THAT(p.m, ==, want.m);
    CHECK_THAT(p.k, ==, want.k);
    CHECK_THAT(fabs(promise.fpr_asymptotic / next_rate(&at) - 1), <, 1e-10);
}

static void known_plans(void)
{
    struct bytes file = read_golden("plans.txt");
    int plans = 0;
    char *text = malloc(file.n + 1);
    CHECK(text != NULL);
    memcpy(text, file.p, file.n);
    text[file.n] = '\0';
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        if (*line == '#') continue;
        check_known_plan(line);
        plans++;
    }
    CHECK_THAT(plans, ==, 450);
    free(text);
    free(file.p);
}

static void check_lines(uint32_t cells, uint32_t k)
{
    struct line_rates exact, near;
    double last = 0, last_near = 0;
    tamis__line_rates(&exact, tamis__line_hit, cells, k, TAMIS__NO_SHARE);
    tamis__line_rates(&near, tamis__line_nearly_hit, cells, k, TAMIS__NO_SHARE);
    for (double keys = 0; keys < 5000; keys += keys < 300 ? 1 : 97) {
        const double a = tamis__line_hit(&exact, keys), b = tamis__line_nearly_hit(&near, keys);
        CHECK_THAT(fabs(a - b), <=, 1e-9 * a);
        CHECK_THAT(a, >=, last * (1 - 1e-12));
        CHECK_THAT(b, >=, last_near * (1 - 1e-9));
        CHECK(a <= 1 && b <= 1);
        last = a;
        last_near = b;
    }
}

static void approximate_rates_are_close(void)
{
    static const uint32_t cells[] = {32, 64, 128, 512};
    for (int i = 0; i < 4; i++)
        for (uint32_t k = 1; k <= 16; k++) check_lines(cells[i], k);
}

static bool is_at_most(void *ctx, uint64_t n)
{
    return n <= *(const uint64_t *)ctx;
}

static void guesses_do_not_matter(void)
{
    for (uint64_t high = 1; high < 40; high++)
        for (uint64_t limit = 0; limit < high; limit++)
            for (uint64_t guess = 0; guess < 42; guess++)
                CHECK_THAT(tamis__largest_near(0, high, guess, is_at_most, &limit), ==, limit);
}

static const struct test tests[] = {
    {"known_plans", known_plans},
    {"approximate_rates_are_close", approximate_rates_are_close},
    {"guesses_do_not_matter", guesses_do_not_matter},
};
TEST_MAIN(tests)
