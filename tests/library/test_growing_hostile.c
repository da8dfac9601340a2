/* Images of growing filters that nobody wrote: whatever they contain is refused or harmless. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/growing.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "membership/growing.h"

#include <math.h>

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
    for (uint64_t i = 0; f.removable && i < 600; i++) {
        uint8_t key[8];
        tamis__put64(key, i < 300 ? i : UINT64_C(1) << 50 | (i - 300));
        const bool known = tamis_may_contain(t, key, 8);
        CHECK(tamis_remove(t, key, 8, NULL) == (known ? TAMIS_OK : TAMIS_EABSENT));
    }
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

/* The reader of a mapped file may see cells that no check has passed: finding, looking and growing
 * stay within them. `entry` is where the table's entry is in the image. */
static void try_unchecked(const struct bytes *image, size_t entry)
{
    const size_t at = (size_t)tamis__get64(image->p + entry + 48);
    const size_t length = (size_t)tamis__get64(image->p + entry + 56);
    struct bytes cells = bytes_copy(image->p + at, length);
    const bool whole = tamis__get16(image->p + entry + 4) == 0;
    const struct quotient t = tamis__quotient(cells.p, tamis__get64(image->p + entry + 16),
                                              tamis__get16(image->p + entry + 6), whole);
    uint64_t counts[64] = {0};
    for (uint64_t home = 0; home < t.homes; home++) {
        tamis__quotient_find(&t, home, home % 5, NULL);
        tamis__quotient_longest(&t, home, home % 5);
    }
    tamis__quotient_lengths(&t, counts);
    tamis__quotient_outermost(&t, counts);
    struct bytes room = bytes_new((size_t)tamis__quotient_bytes(2 * t.homes, t.width, whole));
    struct bytes more = bytes_new(room.n);
    memset(room.p, 0, room.n);
    memset(more.p, 0, more.n);
    struct quotient to = tamis__quotient(room.p, 2 * t.homes, t.width, whole);
    tamis__quotient_double(&t, &to, NULL);
    memset(room.p, 0, room.n);
    to = tamis__quotient(room.p, t.homes, t.width, whole);
    struct quotient upper = tamis__quotient(more.p, t.homes, t.width, whole);
    tamis__quotient_double(&t, &to, &upper);
    free(more.p);
    free(room.p);
    free(cells.p);
}

static void hostile_images_are_harmless(void)
{
    /* Those beyond the bar are of filters from which keys can be removed. */
    static const uint64_t sizes[] = {0, 60, 120, 500, 1900, 5000, /* | */ 0, 500, 5000};
    uint64_t random = 77, taken = 0, kept_out = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tamis *t = i < 6 ? make(0.01, 0) : make_removable(0.01, 0, NULL);
        add_numbers(t, 0, sizes[i]);
        struct bytes good = image_of(t), bad = bytes_copy(good.p, good.n);
        const size_t entry = t->body.count == 1 ? 128 : 192; /* the first table or share */
        const size_t cells = (size_t)tamis__get64(good.p + entry + 48);
        tamis_close(t);
        CHECK(try_image(&good));
        const unsigned rounds = i < 5 ? 2000 : 400;
        for (unsigned round = 0; round < rounds; round++) {
            memcpy(bad.p, good.p, good.n);
            const uint64_t flips = 1 + splitmix(&random) % 4;
            for (uint64_t j = 0; j < flips; j++) {
                /* Anywhere in the cells, or among the 18 bytes that steer a block. */
                uint64_t byte = splitmix(&random) % (good.n - cells);
                const uint64_t block = tamis__block_bytes(tamis__get16(good.p + entry + 6));
                if (round % 2 == 0) byte = byte / block * block + byte % 18;
                if (byte >= good.n - cells) byte = 0;
                bad.p[cells + byte] ^= (uint8_t)(1u << splitmix(&random) % 8);
            }
            if (round % 20 == 0)
                for (size_t j = cells; j < bad.n; j++) bad.p[j] = (uint8_t)splitmix(&random);
            image_resum(bad.p, bad.n);
            try_unchecked(&bad, entry);
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
static void check_shapes(uint64_t keys, const struct field *fields, size_t count)
{
    tamis *t = make(0.01, 0);
    add_numbers(t, 0, keys);
    struct bytes good = image_of(t), bad = bytes_copy(good.p, good.n);
    tamis_close(t);
    for (size_t f = 0; f < count; f++)
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

static void hostile_shapes_are_refused(void)
{
    static const struct field first[] = {{130, 2}, {132, 2}, {134, 2}, {136, 4},
                                         {144, 8}, {152, 8}, {184, 8}};
    /* Those of the first table, of a share and of the last one. A share may have other homes. */
    static const struct field shares[] = {{130, 2},  {132, 2},  {134, 2},  {136, 4}, {194, 2},
                                          {196, 2},  {198, 2},  {200, 4},  {216, 8}, {248, 8},
                                          {2178, 2}, {2180, 2}, {2182, 2}, {2184, 4}};
    check_shapes(100, first, sizeof first / sizeof *first);
    check_shapes(6000, shares, sizeof shares / sizeof *shares);
}

/* A share that is not there, and one that is there twice. No first table, and two. */
static void shares_that_are_no_partition_are_refused(void)
{
    tamis *t = make(0.01, 0);
    add_numbers(t, 0, 4000);
    for (unsigned d = 4; d <= 11; d++) {
        const struct body was = t->body;
        const struct section last = was.sections[32];
        t->body.sections[32].variant = (uint16_t)d;
        t->body.sections[32].cell_bits =
            (uint16_t)(tamis__share_bits(last.k, 12, last.m << (d < 11 ? d : 10)) + 1);
        CHECK((tamis__growing_wrong_shape(&t->body) == NULL) == (d == 5));
        t->body.sections[32] = last;
        t->body.count = d < 8 ? 32 : 1; /* the last one is missing, or all are */
        CHECK((tamis__growing_wrong_shape(&t->body) == NULL) == (d >= 8));
        t->body = was;
    }
    CHECK(tamis__growing_wrong_shape(&t->body) == NULL);
    t->body.sections++;
    t->body.count--;
    CHECK(tamis__growing_wrong_shape(&t->body) != NULL);
    t->body.sections--;
    t->body.count++;
    const struct section share = t->body.sections[1];
    t->body.sections[1] = t->body.sections[0];
    CHECK(tamis__growing_wrong_shape(&t->body) != NULL);
    t->body.sections[1] = share;
    tamis_close(t);
}

/* A removable filter has shares and an empty first table of the smallest size. */
static void other_first_tables_are_not_removable(void)
{
    tamis *t = make_removable(0.01, 0, NULL);
    add_numbers(t, 0, 4000);
    const struct kind *kind = t->kind;
    struct section *first = t->body.sections, was = *first;
    CHECK(kind->wrong_shape(&t->body) == NULL && kind->wrong_cells(&t->body) == NULL);
    struct quotient q = tamis__growing_table(first);
    CHECK(tamis__quotient_insert(&q, 5, 5, 1));
    CHECK(kind->wrong_cells(&t->body) != NULL && tamis__growing_wrong_cells(&t->body) == NULL);
    tamis__quotient_erase(&q, 5, 5);
    CHECK(kind->wrong_cells(&t->body) == NULL);
    tamis__set_first_table(first, first->k, 8);
    CHECK(kind->wrong_shape(&t->body) != NULL && tamis__growing_wrong_shape(&t->body) == NULL);
    *first = was;
    const uint32_t count = t->body.count;
    t->body.count = 1;
    CHECK(kind->wrong_shape(&t->body) != NULL && tamis__growing_wrong_shape(&t->body) == NULL);
    t->body.count = count;
    tamis_close(t);
}

/* A consistent table of entries almost all without bits, which no doubling would thin out. */
static void void_tables_do_not_grow_for_ever(void)
{
    tamis *t = make(0.65, 3);
    const struct section *s = t->body.sections;
    struct quotient q = tamis__quotient(s->cells, 128, s->cell_bits, true);
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
    {"hostile_images_are_harmless", hostile_images_are_harmless},
    {"hostile_shapes_are_refused", hostile_shapes_are_refused},
    {"shares_that_are_no_partition_are_refused", shares_that_are_no_partition_are_refused},
    {"other_first_tables_are_not_removable", other_first_tables_are_not_removable},
    {"void_tables_do_not_grow_for_ever", void_tables_do_not_grow_for_ever},
};
TEST_MAIN(tests)
