/* Images of distinct sketches whose sums are right and whose content is not: each is refused with a
 * reason, and what is accepted can be used. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/resum.h"
#include "core/bits.h"

#include <tamis/distinct.h>
#include <tamis/hashes.h>
#include <tamis/inspect.h>

enum { REGISTERS = 64, MOST = REGISTERS / 2, CELLS = 256 }; /* where the cells of an image begin */

/* An image of n tokens, which are those of the hashes {1, i << 8}: value 4 * 62 + 2. */
static struct bytes tokens_image(uint64_t n)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_DISTINCT,
                             .flags = TAMIS_HASH_CALLER,
                             .m = REGISTERS};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint64_t i = 1; i <= n; i++)
        CHECK_OK(tamis_add_hashes(t, &(tamis_hash){1, i << 8}, 1, NULL, NULL));
    const struct bytes image = image_of(t);
    tamis_close(t);
    return image;
}

static void check_image(struct bytes image, const char *reason)
{
    tamis *t;
    tamis_error why = {.text = ""};
    image_resum(image.p, image.n);
    const tamis_status s = tamis_load(image.p, image.n, NULL, &t, &why);
    CHECK_THAT(s, ==, reason == NULL ? TAMIS_OK : TAMIS_ECORRUPT);
    if (reason != NULL) {
        if (strstr(why.text, reason) == NULL)
            printf("\"%s\" instead of \"%s\"\n", why.text, reason);
        CHECK(t == NULL && strstr(why.text, reason) != NULL);
    } else {
        tamis_cardinality n = TAMIS_CARDINALITY_INIT;
        CHECK_OK(tamis_distinct(t, &n, NULL));
        CHECK(n.low <= n.value && n.value <= n.high);
        for (uint64_t i = 0; i < 3 * MOST; i++)
            CHECK_OK(tamis_add_hashes(t, &(tamis_hash){i, i * UINT64_C(0x9e3779b97f4a7c15)}, 1,
                                      NULL, NULL));
        CHECK_OK(tamis_distinct(t, &n, NULL));
        tamis_close(t);
    }
    free(image.p);
}

/* n tokens, of which one is changed. */
static void check_token(uint64_t n, uint64_t at, uint64_t token, const char *reason)
{
    const struct bytes image = tokens_image(n);
    tamis__put64(image.p + CELLS + 8 * at, token);
    check_image(image, reason);
}

static void test_tokens(void)
{
    check_token(5, 4, 5 << 8 | 250, NULL);
    check_token(5, 4, 4 << 8 | 250, "order"); /* a second one */
    check_token(5, 4, 3 << 8 | 250, "order"); /* too low */
    check_token(5, 4, 4 << 8 | 249, "order"); /* by its value alone */
    check_token(5, 0, 9 << 8 | 250, "order"); /* too high */
    check_token(5, 2, 3 << 8, "no value");    /* values are 1 to 252 */
    check_token(5, 2, 3 << 8 | 253, "no value");
    check_token(5, 2, 3 << 8 | 255, "no value");
    check_token(5, 2, 3 << 8 | 252, NULL);
    check_token(5, 2, 3 << 8 | 1, NULL);
    check_token(5, 4, UINT64_MAX, "no value");
    check_token(5, 4, UINT64_MAX - 3, NULL);
    check_token(5, 0, 0, "no value"); /* only the empty sketch has it */
    check_token(1, 0, 0, NULL);
    check_token(0, 0, 1, NULL);
}

/* An image with one section of this shape and of n zero bytes, or with registers. */
static struct bytes shaped(uint32_t variant, uint32_t cell_bits, uint64_t m, size_t n)
{
    const struct bytes from = tokens_image(1), image = bytes_new(CELLS + n);
    memset(image.p, 0, image.n);
    memcpy(image.p, from.p, CELLS);
    tamis__put64(image.p + 112, image.n);
    tamis__put16(image.p + 132, (uint16_t)variant);
    tamis__put16(image.p + 134, (uint16_t)cell_bits);
    tamis__put64(image.p + 144, m);
    tamis__put64(image.p + 184, n);
    for (size_t i = 0; variant == 1 && i < n / 8; i++)
        tamis__put64(image.p + CELLS + 8 * i, (i + 1) << 8 | 1);
    free(from.p);
    return image;
}

static void test_shapes(void)
{
    check_image(shaped(1, 64, REGISTERS, 8 * MOST), NULL);
    check_image(shaped(1, 64, REGISTERS, 8 * (MOST + 1)), "does not fit"); /* too many */
    check_image(shaped(1, 64, 16, 8 * 8), NULL);
    check_image(shaped(1, 64, 16, 8 * 9), "does not fit");
    check_image(shaped(1, 64, 1 << 20, 8 * 2048), NULL);
    check_image(shaped(1, 64, 1 << 20, 8 * 2049), "does not fit");
    check_image(shaped(1, 64, REGISTERS, 8 * 3 + 4), "does not fit");
    check_image(shaped(1, 32, REGISTERS, 8), "64 bits");
    check_image(shaped(0, 32, REGISTERS, 4 * REGISTERS), NULL);
    check_image(shaped(0, 64, REGISTERS, 4 * REGISTERS), "32 bits");
    check_image(shaped(0, 32, REGISTERS, 4 * REGISTERS - 8), "does not fit");
    check_image(shaped(0, 32, REGISTERS, 4 * REGISTERS + 8), "does not fit");
    check_image(shaped(0, 32, 8, 32), "range");
    check_image(shaped(0, 32, 48, 192), "range");
    check_image(shaped(1, 64, UINT64_C(1) << 27, 8), "range");
    check_image(shaped(1, 64, UINT64_C(1) << 63, 8), "range");
    check_image(shaped(1, 64, 0, 8), "range");
    struct bytes items = shaped(0, 32, REGISTERS, 4 * REGISTERS);
    tamis__put64(items.p + 56, 1);
    check_image(items, "no items");
    struct bytes two = shaped(0, 32, REGISTERS, 4 * REGISTERS);
    tamis__put32(two.p + 136, 2);
    check_image(two, "k is not 1");
}

static void check_register(uint32_t r, const char *reason)
{
    const struct bytes image = shaped(0, 32, REGISTERS, 4 * REGISTERS);
    tamis__put32(image.p + CELLS + 4 * (REGISTERS - 1), r);
    check_image(image, reason);
}

static void test_registers(void)
{
    check_register(UINT32_C(0), NULL);
    check_register(UINT32_C(1), "state"); /* bits without a greatest value */
    check_register(UINT32_C(1) << 23, "state");
    check_register(UINT32_C(1) << 24, NULL);                        /* 1 alone */
    check_register(UINT32_C(1) << 24 | UINT32_C(1) << 23, "state"); /* 1 and 0 */
    check_register(UINT32_C(2) << 24 | UINT32_C(1) << 23, NULL);    /* 2 and 1 */
    check_register(UINT32_C(2) << 24 | UINT32_C(1) << 22, "state");
    check_register(UINT32_C(24) << 24 | UINT32_C(0xfffffe), NULL); /* 24 to 1 */
    check_register(UINT32_C(24) << 24 | UINT32_C(1), "state");
    check_register(UINT32_C(25) << 24 | UINT32_C(0xffffff), NULL);
    check_register(UINT32_C(252) << 24 | UINT32_C(0xffffff), NULL);
    check_register(UINT32_C(253) << 24, "state");
    check_register(UINT32_MAX, "state");
}

/* If all registers are as full as can be, the number of keys is unknown, not wrong. */
static void test_full(void)
{
    struct bytes image = shaped(0, 32, REGISTERS, 4 * REGISTERS);
    tamis *t;
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    for (size_t i = 0; i < REGISTERS; i++)
        tamis__put32(image.p + CELLS + 4 * i, UINT32_C(252) << 24 | UINT32_C(0xffffff));
    image_resum(image.p, image.n);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &t, NULL));
    CHECK_OK(tamis_distinct(t, &n, NULL));
    CHECK(n.value > 1e300 && n.high > 1e300 && !n.exact);
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    CHECK(f.items == UINT64_MAX);
    tamis_close(t);
    free(image.p);
}

static const struct test tests[] = {
    {"tokens", test_tokens},
    {"shapes", test_shapes},
    {"registers", test_registers},
    {"full registers", test_full},
};

TEST_MAIN(tests)
