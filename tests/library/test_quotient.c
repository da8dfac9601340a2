/* Compares the quotient table with a plain list of its entries, after each of many inserts and
 * removals: clusters within a block, across two, and beyond the end. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "membership/quotient.h"

#include <tamis/tamis.h>

enum { HOMES = 128, MODEL_WIDTH = 9, FINGERPRINTS = 1 << (MODEL_WIDTH - 1) };

/* After all entries of its home, whether one matches or not. */
static bool insert(struct quotient *t, uint64_t home, uint64_t value)
{
    const uint64_t bytes = tamis__block_bytes(t->width);
    uint64_t at = 0;
    for (uint64_t q = 0; q <= home; q++) {
        if (at < q && (q == home || tamis__bit(t->cells + q / 64 * bytes, q % 64))) at = q;
        if (!tamis__bit(t->cells + q / 64 * bytes, q % 64)) continue;
        while (!tamis__bit(t->cells + at / 64 * bytes + 8, at % 64)) at++;
        at++;
    }
    uint64_t found = at;
    for (uint64_t f = 0; f < FINGERPRINTS; f++)
        if (!tamis__quotient_find(t, home, f, &found)) CHECK(found == at);
    return tamis__quotient_insert(t, home, at, value);
}

struct model {
    unsigned n[2 * HOMES];
    uint64_t values[2 * HOMES][256]; /* in the order they came */
};

/* Read as docs/FORMAT.md says, without rank, select or offsets. */
static void check_model(const struct quotient *t, const struct model *m)
{
    const uint64_t bytes = tamis__block_bytes(t->width);
    uint64_t next = 0;
    CHECK(tamis__quotient_wrong(t) == NULL);
    for (uint64_t home = 0; home < t->homes; home++) {
        const uint8_t *block = t->cells + home / 64 * bytes;
        CHECK(tamis__bit(block, home % 64) == (m->n[home] != 0));
        if (m->n[home] == 0) continue;
        if (next < home) next = home;
        for (unsigned i = 0; i < m->n[home]; i++, next++) {
            CHECK(next < t->blocks * 64);
            CHECK(tamis__quotient_slot(t, next) == m->values[home][i]);
            const uint8_t *at = t->cells + next / 64 * bytes;
            CHECK(tamis__bit(at + 8, next % 64) == (i == m->n[home] - 1));
            CHECK(tamis__get_bits(at + 18, next % 64 * t->width, t->width) == m->values[home][i]);
        }
    }
}

static bool model_has(const struct model *m, uint64_t home, uint64_t f)
{
    for (unsigned i = 0; i < m->n[home]; i++) {
        const uint64_t v = m->values[home][i];
        const unsigned zeros = (unsigned)__builtin_ctzll(v);
        if (v >> (zeros + 1) == f >> zeros) return true;
    }
    return false;
}

static void check_answers(const struct quotient *t, const struct model *m)
{
    for (uint64_t home = 0; home < t->homes; home++)
        for (uint64_t f = 0; f < FINGERPRINTS; f++)
            CHECK(tamis__quotient_find(t, home, f, NULL) == model_has(m, home, f));
}

static void model_put(struct model *m, uint64_t home, uint64_t value)
{
    m->values[home][m->n[home]++] = value;
}

/* All entries that match, the last of the longest ones, and how many equal it. */
static struct quotient_match model_matches(const struct model *m, uint64_t home, uint64_t f)
{
    struct quotient_match found = {.slot = UINT64_MAX};
    for (unsigned i = 0; i < m->n[home]; i++) {
        const uint64_t v = m->values[home][i];
        const unsigned zeros = (unsigned)__builtin_ctzll(v);
        if (v >> (zeros + 1) != f >> zeros) continue;
        found.entries++;
        if (found.value != 0 && zeros > (unsigned)__builtin_ctzll(found.value)) continue;
        found.copies = v == found.value ? found.copies + 1 : 1;
        found.value = v;
        found.slot = i;
    }
    return found;
}

static void check_matches(const struct quotient *t, const struct model *m)
{
    for (uint64_t home = 0; home < t->homes; home++)
        for (uint64_t f = 0; f < FINGERPRINTS; f += 3) {
            const struct quotient_match a = tamis__quotient_longest(t, home, f);
            const struct quotient_match b = model_matches(m, home, f);
            CHECK(a.entries == b.entries && a.value == b.value && a.copies == b.copies);
            if (b.entries != 0) CHECK(a.after - a.slot == m->n[home] - b.slot);
        }
}

/* Removes all entries in a random order. The layout stays that of the list, so it is as if those
 * that are gone had never been there. */
static void check_removals(struct quotient *t, struct model *m, uint64_t *random)
{
    for (uint64_t left = tamis__quotient_entries(t); left > 0; left--) {
        uint64_t home = splitmix(random) % t->homes;
        while (m->n[home] == 0) home = (home + 1) % t->homes;
        const unsigned i = (unsigned)(splitmix(random) % m->n[home]);
        const struct quotient_match all = tamis__quotient_longest(t, home, 0);
        tamis__quotient_erase(t, home, all.after - m->n[home] + i);
        memmove(m->values[home] + i, m->values[home] + i + 1,
                (--m->n[home] - i) * sizeof *m->values[home]);
        check_model(t, m);
        if (left % 16 == 0) check_matches(t, m);
        CHECK_THAT(tamis__quotient_entries(t), ==, left - 1);
    }
}

static void twice_of(const struct model *m, uint64_t homes, unsigned width, struct model *twice)
{
    memset(twice, 0, sizeof *twice);
    for (uint64_t home = 0; home < homes; home++)
        for (unsigned i = 0; i < m->n[home]; i++) {
            const uint64_t v = m->values[home][i], top = v >> (MODEL_WIDTH - 1);
            const uint64_t rest = v << 1 & (2 * FINGERPRINTS - 1);
            const uint64_t aligned =
                (rest != 0 ? rest : FINGERPRINTS) << (width + 1 - MODEL_WIDTH) >> 1;
            if (rest == 0 || top == 0) model_put(twice, 2 * home, aligned);
            if (rest == 0 || top == 1) model_put(twice, 2 * home + 1, aligned);
        }
    /* An entry without bits is the only one of its home. */
    for (uint64_t home = 0; home < 2 * homes; home++)
        for (unsigned i = 0; i < twice->n[home]; i++)
            if (twice->values[home][i] == UINT64_C(1) << (width - 1)) {
                twice->values[home][0] = twice->values[home][i];
                twice->n[home] = 1;
            }
}

static struct quotient new_table(uint64_t homes, unsigned width, bool whole, struct bytes *cells)
{
    *cells = bytes_new((size_t)tamis__quotient_bytes(homes, width, whole));
    memset(cells->p, 0, cells->n);
    return tamis__quotient(cells->p, homes, width, whole);
}

/* What a doubled table must hold. */
static void check_doubled(const struct quotient *t, const struct model *m, unsigned width)
{
    static struct model twice;
    struct bytes cells;
    struct quotient to = new_table(2 * t->homes, width, t->whole, &cells);
    twice_of(m, t->homes, width, &twice);
    CHECK(tamis__quotient_double(t, &to, NULL));
    check_model(&to, &twice);
    free(cells.p);
}

/* What the halves of a divided table must hold: the homes of the doubled one. */
static void check_divided(const struct quotient *t, const struct model *m, unsigned width)
{
    static struct model twice;
    struct bytes low, high;
    struct quotient lower = new_table(t->homes, width, false, &low);
    struct quotient upper = new_table(t->homes, width, false, &high);
    twice_of(m, t->homes, width, &twice);
    CHECK(tamis__quotient_double(t, &lower, &upper));
    check_model(&lower, &twice);
    memmove(twice.n, twice.n + t->homes, t->homes * sizeof *twice.n);
    memmove(twice.values, twice.values + t->homes, t->homes * sizeof *twice.values);
    check_model(&upper, &twice);
    free(low.p);
    free(high.p);
}

/* Homes anywhere, at the border of two blocks, and at the end of the table. */
static uint64_t pick_home(unsigned style, uint64_t r, uint64_t homes)
{
    const uint64_t near = style % 4 == 1 ? 58 + r % 8 : homes - 6 + r % 6;
    return style % 4 == 0 || (style % 4 == 3 && (r >> 32 & 1) != 0) ? (r >> 8) % homes : near;
}

static void check_table_is_the_list(uint64_t homes, bool whole)
{
    struct bytes cells;
    struct quotient t = new_table(homes, MODEL_WIDTH, whole, &cells);
    struct bytes before = bytes_new(cells.n);
    static struct model m;
    uint64_t random = 1, refused = 0;
    for (unsigned round = 0; round < 40; round++) {
        memset(cells.p, 0, cells.n);
        memset(&m, 0, sizeof m);
        for (unsigned i = 0; i < tamis__quotient_capacity(homes, whole); i++) {
            const uint64_t home = pick_home(round, splitmix(&random), homes);
            const uint64_t length = splitmix(&random) % MODEL_WIDTH;
            const uint64_t bits = splitmix(&random) & ((UINT64_C(1) << length) - 1);
            const uint64_t value = (bits << 1 | 1) << (MODEL_WIDTH - 1 - length);
            memcpy(before.p, cells.p, cells.n);
            if (insert(&t, home, value)) {
                model_put(&m, home, value);
            } else {
                CHECK(memcmp(before.p, cells.p, cells.n) == 0);
                refused++;
            }
            check_model(&t, &m);
            if (i % 16 == 15) check_answers(&t, &m);
        }
        check_matches(&t, &m);
        /* In other rounds the end would have no room for twice the empty ones, or for those of the
         * lower half. */
        if (round % 4 <= 1) check_doubled(&t, &m, MODEL_WIDTH - 1);
        if (round % 4 <= 1) check_doubled(&t, &m, MODEL_WIDTH + 5);
        if (round % 4 == 0) check_divided(&t, &m, MODEL_WIDTH - 1);
        if (round % 4 == 0) check_divided(&t, &m, MODEL_WIDTH);
        check_removals(&t, &m, &random);
    }
    CHECK_THAT(refused, >, 50); /* the end of the table was reached */
    free(cells.p);
    free(before.p);
}

static void table_is_the_list(void)
{
    check_table_is_the_list(HOMES, true);
}

/* Any number of homes, with little room beyond the last one. */
static void share_is_the_list(void)
{
    check_table_is_the_list(88, false);
    check_table_is_the_list(HOMES - 1, false);
}

/* The outermost entries match exactly the fingerprints that any entry matches, and each of them
 * once. */
static void outermost_entries_are_apart(void)
{
    struct bytes cells;
    struct quotient t = new_table(HOMES, MODEL_WIDTH, true, &cells);
    uint64_t random = 4;
    for (unsigned round = 0; round < 20; round++) {
        uint64_t matched = 0, covered = 0, counts[64] = {0};
        memset(cells.p, 0, cells.n);
        for (unsigned i = 0; i < 100; i++)
            insert(&t, splitmix(&random) % 10, splitmix(&random) % (2 * FINGERPRINTS - 1) + 1);
        for (uint64_t home = 0; home < HOMES; home++)
            for (uint64_t f = 0; f < FINGERPRINTS; f++)
                matched += tamis__quotient_find(&t, home, f, NULL);
        tamis__quotient_outermost(&t, counts);
        for (unsigned l = 0; l < MODEL_WIDTH; l++) covered += counts[l] * (FINGERPRINTS >> l);
        CHECK_THAT(covered, ==, matched);
    }
    free(cells.p);
}

static void answers_of_a_broken_table_are_maybe(void)
{
    struct bytes cells = bytes_new((size_t)tamis__quotient_bytes(HOMES, MODEL_WIDTH, true));
    struct quotient t = tamis__quotient(cells.p, HOMES, MODEL_WIDTH, true);
    memset(cells.p, 0, cells.n);
    cells.p[0] = 1; /* a run at home 0 that ends nowhere */
    CHECK(tamis__quotient_find(&t, 0, 5, NULL));
    CHECK(tamis__quotient_longest(&t, 0, 5).entries == UINT64_MAX);
    CHECK(tamis__quotient_wrong(&t) != NULL);
    for (uint64_t b = 0; b < t.blocks; b++) /* slots that look used, offsets beyond the end */
        memset(cells.p + b * tamis__block_bytes(t.width), 0xff,
               (size_t)tamis__block_bytes(t.width));
    for (uint64_t home = 0; home < HOMES; home++) {
        CHECK(tamis__quotient_find(&t, home, 5, NULL));
        CHECK(tamis__quotient_longest(&t, home, 5).entries != 0);
    }
    CHECK(tamis__quotient_wrong(&t) != NULL);
    free(cells.p);
}

/* The check notices any one bit that is not part of a fingerprint: words that steer, unused
 * slots, spare bytes, the number of entries. In a used slot only an emptied one is wrong. */
static void every_bit_is_checked(void)
{
    struct bytes cells = bytes_new((size_t)tamis__quotient_bytes(HOMES, MODEL_WIDTH, true));
    struct quotient t = tamis__quotient(cells.p, HOMES, MODEL_WIDTH, true);
    const uint64_t bytes = tamis__block_bytes(t.width);
    uint64_t random = 9;
    memset(cells.p, 0, cells.n);
    for (unsigned i = 0; i < 100; i++)
        insert(&t, pick_home(i % 4, splitmix(&random), HOMES), splitmix(&random) % 3 + 1);
    CHECK(tamis__quotient_wrong(&t) == NULL);
    CHECK_THAT(tamis__quotient_slot(&t, 3 * 64 - 1), ==, 0);
    for (uint64_t i = 0; i < cells.n * 8; i++) {
        const uint64_t block = i / 8 / bytes, in_block = i - block * bytes * 8;
        bool is_used = false;
        if (block < t.blocks && in_block >= 18 * 8)
            is_used = tamis__quotient_slot(&t, block * 64 + (in_block - 18 * 8) / t.width) != 0;
        cells.p[i / 8] ^= (uint8_t)(1u << i % 8);
        if (is_used)
            is_used = tamis__quotient_slot(&t, block * 64 + (in_block - 18 * 8) / t.width) != 0;
        CHECK((tamis__quotient_wrong(&t) == NULL) == is_used);
        cells.p[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    free(cells.p);
}

/* 1087 entries of home 0 fill 1023 slots of the blocks after theirs, the most there may be.
 * Doubled, they begin one slot later. */
static void piles_are_refused(void)
{
    enum { N = 2048, WIDTH = 13 };
    struct bytes cells = bytes_new((size_t)tamis__quotient_bytes(N, WIDTH, true));
    struct bytes room = bytes_new((size_t)tamis__quotient_bytes(2 * N, WIDTH, true));
    struct quotient t = tamis__quotient(cells.p, N, WIDTH, true);
    struct quotient to = tamis__quotient(room.p, 2 * N, WIDTH, true);
    memset(cells.p, 0, cells.n);
    memset(room.p, 0, room.n);
    for (uint64_t i = 0; i < 1087; i++)
        CHECK(tamis__quotient_insert(&t, 0, i, UINT64_C(1) << (WIDTH - 1) | (i << 1 | 1)));
    CHECK(tamis__quotient_wrong(&t) == NULL);
    CHECK(!tamis__quotient_insert(&t, 0, 1087, 1));
    CHECK(tamis__quotient_insert(&t, 1500, 1500, 1));
    CHECK(!tamis__quotient_double(&t, &to, NULL));
    free(room.p);
    free(cells.p);
}

static const struct test tests[] = {
    {"table_is_the_list", table_is_the_list},
    {"share_is_the_list", share_is_the_list},
    {"outermost_entries_are_apart", outermost_entries_are_apart},
    {"every_bit_is_checked", every_bit_is_checked},
    {"piles_are_refused", piles_are_refused},
    {"answers_of_a_broken_table_are_maybe", answers_of_a_broken_table_are_maybe},
};
TEST_MAIN(tests)
