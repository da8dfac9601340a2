/* A window computes the cells of a key once for all generations. Its answers are those of separate
 * filters, one for each generation, for every kind, every kernel, single keys and groups. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "core/cpu.h"
#include "core/generations.h"
#include "core/handle.h"

enum { MOST_GENERATIONS = 61, SHARE = 300, UNIVERSE = 8192 };

/* The window, and its generations as separate filters, the newest first. */
struct parted {
    tamis *window, *parts[MOST_GENERATIONS];
    uint32_t generations;
};

static const struct kernels *tables[4];
static size_t n_tables;

static struct parted start(uint32_t inner, uint32_t generations, bool compact)
{
    struct parted p = {.generations = generations};
    tamis_plan plan = {.struct_size = sizeof plan,
                       .kind = TAMIS_WINDOW,
                       .inner_kind = inner,
                       .generations = generations,
                       .items = SHARE * generations,
                       .fpr = 0.05,
                       .seed = 7};
    p.window = create(&plan, NULL);
    const struct section *s = p.window->body.sections;
    for (uint32_t i = 0; i < p.window->body.count && compact; i++) { /* plans cannot ask for it */
        p.window->body.sections[i].variant = 1;
        p.window->body.sections[i].k = 5;
    }
    const tamis_plan one = {.struct_size = sizeof one,
                            .kind = inner,
                            .items = SHARE,
                            .m = s->m,
                            .k = s->k,
                            .flags = compact ? TAMIS_COMPACT : 0,
                            .seed = 7};
    for (uint32_t i = 0; i < generations; i++) p.parts[i] = create(&one, NULL);
    return p;
}

static void finish(struct parted *p)
{
    for (uint32_t i = 0; i < p->generations; i++) tamis_close(p->parts[i]);
    tamis_close(p->window);
}

static void turn(struct parted *p)
{
    tamis *oldest = p->parts[p->generations - 1];
    memmove(p->parts + 1, p->parts, (p->generations - 1) * sizeof *p->parts);
    p->parts[0] = oldest;
    CHECK_OK(tamis_clear(oldest));
    CHECK_OK(tamis_rotate(p->window, NULL));
}

/* Whether any of the parts has the key. */
static bool any_has(const struct parted *p, uint64_t key)
{
    for (uint32_t i = 0; i < p->generations; i++)
        if (tamis_may_contain(p->parts[i], &key, sizeof key)) return true;
    return false;
}

static bool bit_of(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

/* Adds n random keys with one call, and checks what it says about each. */
static void add_group(struct parted *p, size_t n, uint64_t *state)
{
    enum { MOST = 300 };
    uint64_t numbers[MOST];
    tamis_bytes at[MOST] = {{0}};
    uint8_t seen[(MOST + 7) / 8];
    CHECK(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = splitmix(state) % UNIVERSE;
        at[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
    if (n == 1) {
        bool known;
        CHECK_OK(tamis_add(p->window, numbers, sizeof *numbers, &known));
        seen[0] = known;
    } else {
        CHECK_OK(tamis_add_many(p->window, at, n, seen, NULL));
    }
    for (size_t i = 0; i < n; i++) {
        CHECK(bit_of(seen, i) == any_has(p, numbers[i]));
        CHECK_OK(tamis_add(p->parts[0], &numbers[i], sizeof numbers[i], NULL));
    }
}

/* All keys at once, in groups of n, and one by one. */
static void same_answers(const struct parted *p, size_t n)
{
    static uint64_t numbers[UNIVERSE];
    static tamis_bytes at[UNIVERSE];
    uint8_t bits[UNIVERSE / 8];
    size_t found = 0, expected = 0;
    for (size_t i = 0; i < UNIVERSE; i++) {
        numbers[i] = i;
        at[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
    for (size_t from = 0; from + n <= UNIVERSE; from += n) {
        found += tamis_may_contain_many(p->window, at + from, n, bits);
        for (size_t i = 0; i < n; i++) {
            const bool maybe = any_has(p, numbers[from + i]);
            CHECK(bit_of(bits, i) == maybe);
            CHECK(tamis_may_contain(p->window, &numbers[from + i], sizeof *numbers) == maybe);
            expected += maybe;
        }
    }
    CHECK_THAT(found, ==, expected);
    CHECK_THAT(found, <, UNIVERSE / n * n); /* or it would prove nothing */
}

static void play(uint32_t inner, uint32_t generations, bool compact)
{
    static const size_t groups[] = {1, 2, 8, 13, 128, 300};
    struct parted p = start(inner, generations, compact);
    uint64_t state = inner + generations;
    for (uint32_t round = 0; round < generations + 3; round++) {
        for (size_t i = 0; i < 3; i++) add_group(&p, groups[(round + 2 * i) % 6] / 4 + 1, &state);
        if (round % 16 == 0) same_answers(&p, groups[round / 16 % 6]);
        turn(&p);
    }
    same_answers(&p, 1);
    same_answers(&p, 129);
    finish(&p);
}

static void filters_answer_as_their_parts(void)
{
    static const uint32_t generations[] = {2, 4, 13, MOST_GENERATIONS};
    for (size_t t = 0; t < n_tables; t++) {
        tamis__use_kernels(tables[t]);
        for (size_t g = 0; g < 4; g++) {
            for (uint32_t inner = TAMIS_BLOOM; inner <= TAMIS_BLOCKED; inner++)
                play(inner, generations[g], false);
            play(TAMIS_BLOCKED, generations[g], true);
        }
    }
    tamis__use_kernels(tables[0]);
}

/* Sections of a megabyte, whose lines are prefetched a group ahead. */
static void large_filters_answer_as_their_parts(void)
{
    for (uint32_t inner = TAMIS_BLOOM; inner <= TAMIS_BLOCKED; inner++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_WINDOW,
                                 .inner_kind = inner,
                                 .generations = 3,
                                 .items = 3000000,
                                 .fpr = 0.01};
        tamis *t = create(&plan, NULL);
        CHECK(t->body.sections->length >= 1 << 20);
        static uint64_t numbers[3000];
        static tamis_bytes at[3000];
        uint8_t bits[3000 / 8];
        for (uint64_t i = 0; i < 3000; i++) {
            numbers[i] = i;
            at[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
        }
        for (size_t g = 0; g < 3; g++) {
            CHECK_OK(tamis_add_many(t, at + 900 * g, 900, bits, NULL));
            if (g < 2) CHECK_OK(tamis_rotate(t, NULL));
        }
        CHECK_THAT(tamis_may_contain_many(t, at, 2700, bits), ==, 2700);
        CHECK_THAT(tamis_may_contain_many(t, at + 2700, 300, bits), <, 30);
        CHECK_OK(tamis_add_many(t, at, 2700, bits, NULL));
        for (size_t i = 0; i < 2700; i++) CHECK(bit_of(bits, i));
        tamis_close(t);
    }
}

static const struct test tests[] = {
    {"filters_answer_as_their_parts", filters_answer_as_their_parts},
    {"large_filters_answer_as_their_parts", large_filters_answer_as_their_parts},
};

int main(int argc, char **argv)
{
    n_tables = tamis__runnable_kernels(tables);
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
