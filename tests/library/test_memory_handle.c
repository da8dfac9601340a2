/* A handle is one block of memory besides its cells, and a small one, because programs keep a
 * filter for each user, file or block of a table. */
#include "../support/filters.h"
#include "core/handle.h"
#include "core/memory.h"

#include <tamis/embed.h>
#include <tamis/hashes.h>

/* What a plain filter takes besides its cells, on a machine of 64 bits. */
enum { MOST_BYTES = 192 };

/* Counts what is allocated and not freed. The size is kept before each block. */
struct counter {
    tamis_memory memory;
    size_t blocks, bytes;
};

static void *counted_alloc(void *ctx, size_t size)
{
    struct counter *c = ctx;
    uint64_t *p = malloc(size + 16);
    if (p == NULL) return NULL;
    p[0] = size;
    c->blocks++;
    c->bytes += size;
    return p + 2;
}

static void counted_free(void *ctx, void *p)
{
    struct counter *c = ctx;
    uint64_t *block = (uint64_t *)p - 2;
    c->blocks--;
    c->bytes -= (size_t)block[0];
    free(block);
}

static void counter_open(struct counter *c)
{
    *c = (struct counter){.memory = {.ctx = c, .alloc = counted_alloc, .free = counted_free}};
}

/* The cells of all sections are blocks of their own. */
static void check_counts(const struct counter *c, size_t sections, uint64_t cells)
{
    const uint64_t in_cells = sections == 0 ? 0 : tamis__alloc_bytes(cells);
    CHECK_THAT(c->blocks, ==, 1 + sections);
    CHECK_THAT(c->bytes - in_cells, <=, MOST_BYTES);
    CHECK_THAT(c->bytes, >, in_cells);
}

static uint64_t cells_of(const tamis *t)
{
    size_t n;
    CHECK(tamis_raw_cells(t, &n) != NULL);
    return n;
}

static void test_created(void)
{
    const uint32_t kinds[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_CUCKOO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct counter c;
        counter_open(&c);
        const tamis_options o = {.struct_size = sizeof o, .memory = &c.memory};
        const tamis_plan plan = plan_of(kinds[i], 100);
        tamis *t, *copy;
        CHECK_OK(tamis_create(&plan, &o, &t, NULL));
        check_counts(&c, 1, cells_of(t));
        CHECK_OK(tamis_add(t, "a", 1, NULL));
        CHECK(tamis_may_contain(t, "a", 1));
        check_counts(&c, 1, cells_of(t));
        CHECK_OK(tamis_copy(t, &copy, NULL));
        const struct counter both = c;
        tamis_close(t);
        check_counts(&c, 1, cells_of(copy));
        CHECK_THAT(both.bytes, ==, 2 * c.bytes);
        tamis_close(copy);
        CHECK(c.blocks == 0 && c.bytes == 0);
    }
}

/* A view has no cells of its own, and what was needed to check the image is freed. */
static void check_opened(tamis *t)
{
    _Alignas(64) static uint8_t place[16384];
    tamis *view, *loaded;
    struct bytes image = image_of(t);
    struct counter c;
    counter_open(&c);
    const tamis_options o = {.struct_size = sizeof o, .memory = &c.memory};
    CHECK(image.n <= sizeof place);
    memcpy(place, image.p, image.n);
    CHECK_OK(tamis_view(place, image.n, &o, &view, NULL));
    check_counts(&c, 0, 0);
    tamis_close(view);
    CHECK_OK(tamis_load(image.p, image.n, &o, &loaded, NULL));
    CHECK_THAT(facts_of(loaded).sections, ==, 1);
    check_counts(&c, 1, loaded->body.sections->length);
    tamis_close(loaded);
    CHECK(c.blocks == 0);
    free(image.p);
}

static void test_opened(void)
{
    const uint32_t kinds[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_CUCKOO,
                              TAMIS_FUSE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_plan plan = plan_of(kinds[i], 1000);
        tamis *t = create(&plan, NULL);
        for (uint64_t k = 0; k < 1000; k++) CHECK_OK(tamis_add(t, &k, sizeof k, NULL));
        CHECK_OK(tamis_seal(t, NULL));
        check_opened(t);
        tamis_close(t);
    }
}

/* Few hashes from the caller are watched in a block of their own, until they have shown that they
 * are uniform, or that they are not. */
static void test_hashes(void)
{
    for (unsigned uniform = 0; uniform < 2; uniform++) {
        struct counter c;
        counter_open(&c);
        const tamis_options o = {.struct_size = sizeof o, .memory = &c.memory};
        const tamis_plan plan = plan_of(TAMIS_BLOCKED, 1000);
        tamis *t, *copy;
        CHECK_OK(tamis_create(&plan, &o, &t, NULL));
        for (uint64_t i = 0; i < 200; i++) {
            const tamis_hash mixed = tamis_hash_bytes(0, &i, sizeof i), bad = {i, 0};
            CHECK_OK(tamis_add_hashes(t, uniform != 0 ? &mixed : &bad, 1, NULL, NULL));
            if (i > 0) continue;
            CHECK_THAT(c.blocks, ==, 3);
            CHECK_OK(tamis_copy(t, &copy, NULL));
            CHECK_THAT(c.blocks, ==, 6);
            tamis_close(copy);
        }
        check_counts(&c, 1, cells_of(t));
        CHECK(facts_of(t).hash_suspect == (uniform == 0));
        tamis_close(t);
        CHECK(c.blocks == 0 && c.bytes == 0);
    }
}

/* A secret key is shared by any number of handles, and they need no more than others. */
static void test_keyed(void)
{
    static const uint8_t bytes[16] = {1};
    struct counter c;
    counter_open(&c);
    const tamis_plan plan = plan_of(TAMIS_BLOCKED, 100);
    tamis_key *key;
    tamis *t;
    CHECK_OK(tamis_key_new(bytes, NULL, &key, NULL));
    const tamis_options o = {.struct_size = sizeof o, .memory = &c.memory, .shared_key = key};
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    check_counts(&c, 1, cells_of(t));
    tamis_close(t);
    tamis_key_close(key);
    CHECK(c.blocks == 0);
}

/* A sealed filter of one section keeps its place; one of more sections has a block for them. */
static void test_sealed_kinds(void)
{
    const uint32_t kinds[] = {TAMIS_FUSE, TAMIS_RIBBON, TAMIS_EXACT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct counter c;
        counter_open(&c);
        const tamis_options o = {.struct_size = sizeof o, .memory = &c.memory};
        tamis_plan plan = plan_of(kinds[i], 5000);
        tamis *t, *copy, *again;
        CHECK_OK(tamis_create(&plan, &o, &t, NULL));
        for (uint64_t k = 0; k < 5000; k++) CHECK_OK(tamis_add(t, &k, sizeof k, NULL));
        CHECK_OK(tamis_seal(t, NULL));
        const size_t sections = facts_of(t).sections;
        CHECK_THAT(c.blocks, ==, 1 + sections + (sections > 1));
        if (sections == 1) check_counts(&c, 1, t->body.sections->length);
        /* Its copies have all in one block. */
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK_OK(tamis_copy(copy, &again, NULL));
        tamis_close(t);
        tamis_close(copy);
        CHECK_THAT(c.blocks, ==, 1 + sections);
        for (uint64_t k = 0; k < 5000; k++) CHECK(tamis_may_contain(again, &k, sizeof k));
        tamis_close(again);
        CHECK(c.blocks == 0 && c.bytes == 0);
    }
}

static const struct test tests[] = {
    {"created", test_created},
    {"opened", test_opened},
    {"hashes of the caller", test_hashes},
    {"keyed", test_keyed},
    {"sealed kinds", test_sealed_kinds},
};

TEST_MAIN(tests)
