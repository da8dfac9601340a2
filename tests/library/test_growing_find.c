/* How growing filters look for a key: in all kernels, in every table, and with the summary of the
 * first table, the answers are those of the search slot by slot. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/growing.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "core/cpu.h"
#include "core/handle.h"
#include "membership/growing_find.h"

static const struct kernels *tables[4];
static size_t n_tables;

/* --- Words ------------------------------------------------------------------------------------ */

static void selects_the_nth_bit(void)
{
    uint64_t random = 1;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t word = splitmix(&random), rest;
        if (i % 3 == 1) word &= splitmix(&random) & splitmix(&random);
        if (i % 3 == 2) word |= splitmix(&random) | splitmix(&random);
        if (i < 2) word = i == 0 ? 0 : UINT64_MAX;
        rest = word;
        for (unsigned n = 0; n < 64; n++, rest &= rest - 1)
            CHECK(tamis__select(word, n) == (rest & (0 - rest)));
    }
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* In the lengths that entries may have; most have all bits. */
static uint64_t some_value(unsigned width, uint64_t *random)
{
    const uint64_t r = splitmix(random);
    const unsigned zeros = r % 4 != 0 ? 0 : (unsigned)(r / 4 % width);
    const uint64_t value = splitmix(random) >> (64 - width);
    return (value >> zeros | 1) << zeros;
}

static void check_table(const struct quotient *t, const uint64_t *values, uint64_t *random)
{
    for (uint64_t home = 0; home < t->homes; home++)
        for (unsigned i = 0; i < 6; i++) {
            const uint64_t r = splitmix(random);
            const uint64_t f = i < 4 ? values[r % t->homes] >> 1 ^ (i % 2 != 0 ? r >> 32 & 1 : 0)
                                     : r >> (65 - t->width);
            uint64_t after = 0, wanted = 0;
            const bool found = tamis__quotient_find_slowly(t, home, f, &wanted);
            CHECK(tamis__quotient_find(t, home, f, &after) == found);
            CHECK(found || after == wanted);
            CHECK(tamis__quotient_find(t, home, f, NULL) == found);
        }
}

/* Few fingerprints, so that runs are full of them; all loads; every width. */
static void finds_what_a_search_finds(void)
{
    uint64_t random = 2, values[300];
    for (unsigned width = 4; width <= 57; width++)
        for (unsigned round = 0; round < 8; round++) {
            const bool whole = round % 2 == 0;
            const uint64_t homes = whole ? 128u << round / 4 : 64 + splitmix(&random) % 200;
            struct bytes cells = bytes_new((size_t)tamis__quotient_bytes(homes, width, whole));
            memset(cells.p, 0, cells.n);
            struct quotient t = tamis__quotient(cells.p, homes, width, whole);
            for (uint64_t n = 0; n < homes; n++) values[n] = some_value(width, &random);
            for (uint64_t n = 0; n < tamis__quotient_capacity(homes, whole); n++) {
                const uint64_t r = splitmix(&random), home = round < 6 ? r % homes : r % homes / 2;
                uint64_t after;
                if (tamis__quotient_find_slowly(&t, home, values[n] >> 1, &after)) continue;
                if (!tamis__quotient_insert(&t, home, after, values[n])) break;
                if (n % 64 == 63) check_table(&t, values, &random);
            }
            check_table(&t, values, &random);
            free(cells.p);
        }
}

/* --- Filters ---------------------------------------------------------------------------------- */

static bool is_in_section(const struct section *s, tamis_hash h)
{
    const struct quotient t = tamis__growing_table(s);
    const struct aim a = tamis__growing_aim(s, h);
    return tamis__quotient_find_slowly(&t, a.home, a.f, NULL);
}

static bool is_anywhere(const struct body *b, tamis_hash h)
{
    return is_in_section(b->sections, h) ||
           (tamis__has_shares(b) && is_in_section(tamis__share_of(b, h), h));
}

enum { ASKED = 1000 };

/* Members, what differs from them in one bit of the hash, and others. */
static void check_answers(const tamis *t, uint64_t n, uint64_t *random)
{
    tamis_hash h[ASKED];
    uint8_t bits[ASKED / 8], wanted[ASKED / 8] = {0};
    for (size_t i = 0; i < ASKED; i++) {
        const uint64_t number = splitmix(random) % n;
        h[i] = tamis__hash_key(&t->hasher, &number, sizeof number);
        if (i % 3 == 1) h[i].hi ^= UINT64_C(1) << splitmix(random) % 64;
        if (i % 3 == 2) h[i] = (tamis_hash){splitmix(random), splitmix(random)};
        if (is_anywhere(&t->body, h[i])) wanted[i / 8] = (uint8_t)(wanted[i / 8] | 1u << i % 8);
    }
    tamis_may_contain_hashes(t, h, ASKED, bits);
    CHECK(memcmp(bits, wanted, sizeof bits) == 0);
    for (size_t i = 0; i < ASKED; i++)
        CHECK(t->single.own->ask_hash(t, h[i]) == ((wanted[i / 8] >> i % 8 & 1) != 0));
}

static void check_copies(const tamis *t, uint64_t n, uint64_t *random)
{
    struct bytes image = image_of(t);
    tamis *copy, *loaded;
    CHECK_OK(tamis_copy(t, &copy, NULL));
    CHECK_OK(tamis_load(image.p, image.n, NULL, &loaded, NULL));
    check_answers(copy, n, random);
    check_answers(loaded, n, random);
    tamis_close(copy);
    tamis_close(loaded);
    free(image.p);
}

/* Keys one by one and in groups. All kernels make the same bytes. */
static struct bytes grown_with(const struct kernels *k, double fpr, uint32_t base, uint64_t most)
{
    uint64_t random = 3;
    tamis__use_kernels(k);
    tamis *t = make(fpr, base);
    for (uint64_t n = 0; n < most;) {
        const uint64_t one = n, step = 1 + n / 4;
        CHECK_OK(tamis_add(t, &one, sizeof one, NULL));
        add_numbers(t, n + 1, n + step);
        n += step;
        check_answers(t, n, &random);
        if (n > most / 2) check_copies(t, n, &random);
    }
    struct bytes image = image_of(t);
    CHECK_OK(tamis_clear(t));
    check_answers(t, 100, &random);
    tamis_close(t);
    return image;
}

static void kernels_agree(void)
{
    static const struct {
        double fpr;
        uint32_t base;
    } shapes[] = {{0.65, 3}, {0.01, 0}, {1e-6, 0}, {0, 46}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct bytes wanted =
            grown_with(tables[n_tables - 1], shapes[i].fpr, shapes[i].base, 150000);
        for (size_t k = 0; k + 1 < n_tables; k++) {
            struct bytes image = grown_with(tables[k], shapes[i].fpr, shapes[i].base, 150000);
            CHECK(bytes_equal(image, wanted));
            free(image.p);
        }
        free(wanted.p);
    }
    tamis__use_kernels(tables[0]);
}

/* --- The summary ------------------------------------------------------------------------------ */

static uint64_t summary_bits(const tamis *t)
{
    uint64_t set = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << TAMIS__SUMMARY_BITS; i++)
        set += tamis__first_may_have(&t->body, (tamis_hash){0, i << (64 - TAMIS__SUMMARY_BITS)});
    return set;
}

/* A key of the first table has one prefix, or several if so many bits of it are not known. */
static void the_summary_is_short(void)
{
    tamis *t = make(0.01, 0), *copy;
    add_numbers(t, 0, 10000);
    CHECK(tamis__has_shares(&t->body));
    CHECK_THAT(summary_bits(t), <=, 3840);
    CHECK_THAT(summary_bits(t), >, 3000);
    /* In a broken table anything may be. */
    struct section *s = t->body.sections;
    const struct quotient q = tamis__growing_table(s);
    for (uint64_t b = 0; b < q.blocks; b++)
        memset(s->cells + b * tamis__block_bytes(q.width) + TAMIS__BLOCK_RUN_ENDS, 0, 8);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    CHECK_THAT(summary_bits(copy), ==, UINT64_C(1) << TAMIS__SUMMARY_BITS);
    tamis_close(copy);
    memset(s->cells, 0xff, 8); /* homes with runs that have no slots in use */
    for (uint64_t b = 0; b < q.blocks; b++)
        memset(s->cells + b * tamis__block_bytes(q.width) + TAMIS__BLOCK_RUN_ENDS, 0xff, 8);
    memset(s->cells + TAMIS__BLOCK_SLOTS, 0, 8);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    CHECK_THAT(summary_bits(copy), ==, UINT64_C(1) << TAMIS__SUMMARY_BITS);
    tamis_close(copy);
    tamis_close(t);
}

static void list_kernels(void)
{
    n_tables = tamis__runnable_kernels(tables);
    CHECK(n_tables > 0);
}

static const struct test tests[] = {
    {"list_kernels", list_kernels},
    {"selects_the_nth_bit", selects_the_nth_bit},
    {"finds_what_a_search_finds", finds_what_a_search_finds},
    {"kernels_agree", kernels_agree},
    {"the_summary_is_short", the_summary_is_short},
};

TEST_MAIN(tests)
