/* Compares partitioned bulk calls with streaming ones on a table beyond the caches: they give
 * the same cells, answers and counts, with any amount of scratch memory. */
#include "../support/check.h"
#include "../support/keys.h"
#include "core/handle.h"

#include <tamis/tamis.h>

/* 64 MiB, where partitioning begins, and keys enough for it. */
#define TABLE_BITS (UINT64_C(512) << 20)
#define KEYS ((size_t)2200000)

/* An allocator that counts, and refuses on demand. */
struct counter {
    unsigned allocations;
    bool refuse;
};

static void *counted_alloc(void *ctx, size_t size)
{
    struct counter *c = ctx;
    if (c->refuse) return NULL;
    c->allocations++;
    return malloc(size);
}

static void counted_free(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

static tamis *make(uint64_t scratch, const tamis_memory *memory)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = 2 * KEYS, .m = TABLE_BITS};
    const tamis_options options = {
        .struct_size = sizeof options, .scratch_bytes = scratch, .memory = memory};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &options, &t, NULL));
    return t;
}

static tamis_hash *make_hashes(size_t n, uint64_t seed)
{
    tamis_hash *h = malloc(n * sizeof *h);
    CHECK(h != NULL);
    for (size_t i = 0; i < n; i++) h[i] = (tamis_hash){splitmix(&seed), splitmix(&seed)};
    for (size_t i = 0; i < n; i += 7) h[i] = h[i / 2]; /* repeats, near and far */
    return h;
}

static bool same_cells(const tamis *a, const tamis *b)
{
    return memcmp(a->body.sections->cells, b->body.sections->cells,
                  (size_t)a->body.sections->length) == 0;
}

/* A filter whose scratch is too small to partition: the streaming path. */
enum { NO_SCRATCH = 1 };

static void check_against_streaming(uint64_t scratch, unsigned wanted_allocations)
{
    struct counter counter = {0, false};
    const tamis_memory memory = {.ctx = &counter, .alloc = counted_alloc, .free = counted_free};
    tamis *t = make(scratch, &memory), *plain = make(NO_SCRATCH, NULL);
    tamis_hash *h = make_hashes(KEYS, 1), *other = make_hashes(KEYS, 2);
    uint8_t *got = malloc(KEYS / 8 + 1), *want = malloc(KEYS / 8 + 1);
    CHECK(got != NULL && want != NULL);
    memcpy(other, h, KEYS / 2 * sizeof *h); /* half of them in */

    counter.allocations = 0;
    CHECK_OK(tamis_add_hashes(t, h, KEYS - 3, NULL, NULL));
    CHECK_THAT(counter.allocations > 0, ==, wanted_allocations > 0); /* it took the way we test */
    CHECK_OK(tamis_add_hashes(plain, h, KEYS - 3, NULL, NULL));
    CHECK(same_cells(t, plain));
    CHECK_THAT(t->items, ==, plain->items);

    memset(got, 0xff, KEYS / 8 + 1);
    memset(want, 0xff, KEYS / 8 + 1);
    counter.allocations = 0;
    CHECK_THAT(tamis_may_contain_hashes(t, other, KEYS - 3, got), ==,
               tamis_may_contain_hashes(plain, other, KEYS - 3, want));
    CHECK_THAT(counter.allocations, ==, 0); /* queries need no scratch */
    CHECK(memcmp(got, want, KEYS / 8 + 1) == 0);

    free(got);
    free(want);
    free(h);
    free(other);
    tamis_close(t);
    tamis_close(plain);
}

static void any_scratch_gives_the_same(void)
{
    check_against_streaming(0, 1);       /* the default */
    check_against_streaming(3000000, 1); /* buffers that fill up many times */
    check_against_streaming(NO_SCRATCH, 0);
}

static void refused_scratch_is_no_error(void)
{
    struct counter counter = {0, false};
    const tamis_memory memory = {.ctx = &counter, .alloc = counted_alloc, .free = counted_free};
    tamis *t = make(0, &memory), *plain = make(NO_SCRATCH, NULL);
    tamis_hash *h = make_hashes(KEYS, 3);
    uint8_t *bits = malloc(KEYS / 8 + 1);
    counter.refuse = true;
    CHECK_OK(tamis_add_hashes(t, h, KEYS, NULL, NULL));
    CHECK_OK(tamis_add_hashes(plain, h, KEYS, NULL, NULL));
    CHECK(same_cells(t, plain));
    CHECK_THAT(tamis_may_contain_hashes(t, h, KEYS, bits), ==, KEYS);
    free(bits);
    free(h);
    tamis_close(t);
    tamis_close(plain);
}

/* Keys, not hashes; and answers in order when they are wanted. */
static void keys_and_seen_answers(void)
{
    tamis *t = make(0, NULL), *plain = make(NO_SCRATCH, NULL);
    uint64_t *numbers = malloc(KEYS * sizeof *numbers);
    tamis_bytes *keys = malloc(KEYS * sizeof *keys);
    uint8_t *got = malloc(KEYS / 8 + 1), *want = malloc(KEYS / 8 + 1);
    CHECK(numbers != NULL && keys != NULL && got != NULL && want != NULL);
    for (size_t i = 0; i < KEYS; i++) {
        numbers[i] = i % 5 == 0 ? i / 2 : i;
        keys[i] = (tamis_bytes){&numbers[i], sizeof *numbers};
    }
    CHECK_OK(tamis_add_many(t, keys, KEYS / 2, NULL, NULL));
    CHECK_OK(tamis_add_many(plain, keys, KEYS / 2, NULL, NULL));
    CHECK_OK(tamis_add_many(t, keys, KEYS, got, NULL));
    CHECK_OK(tamis_add_many(plain, keys, KEYS, want, NULL));
    CHECK(memcmp(got, want, KEYS / 8) == 0 && same_cells(t, plain));
    CHECK_THAT(tamis_may_contain_many(t, keys, KEYS, got), ==, KEYS);
    CHECK_THAT(t->items, ==, plain->items);
    free(numbers);
    free(keys);
    free(got);
    free(want);
    tamis_close(t);
    tamis_close(plain);
}

/* A strict plan stops at the same key. */
static void strict_plans_stop_in_time(void)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_BLOCKED,
                             .flags = TAMIS_STRICT,
                             .items = KEYS / 2,
                             .m = TABLE_BITS};
    tamis *t;
    size_t done = 0;
    tamis_hash *h = make_hashes(KEYS, 4);
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    CHECK_THAT(tamis_add_hashes(t, h, KEYS, NULL, &done), ==, TAMIS_EFULL);
    CHECK_THAT(t->items, ==, KEYS / 2);
    CHECK_THAT(done, >=, KEYS / 2);
    tamis_close(t);
    free(h);
}

/* The answers, and where it stops, are those of one key at a time. */
static void strict_answers_are_as_one_by_one(void)
{
    enum { PLANNED = 300, TRIED = 1000 };
    for (size_t room = 0; room < 20; room++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_BLOCKED,
                                 .flags = TAMIS_STRICT,
                                 .items = PLANNED,
                                 .m = 1 << 16};
        tamis *t, *single;
        tamis_hash h[TRIED];
        uint8_t seen[TRIED / 8];
        size_t done, stop = TRIED;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        CHECK_OK(tamis_create(&plan, NULL, &single, NULL));
        tamis_hash *fresh = make_hashes(TRIED, 5 + room);
        for (size_t i = 0; i < TRIED; i++) /* half of them repeated */
            h[i] = fresh[i % 2 == 0 ? i : (i / 2 + room) % (i + 1)];
        memset(seen, 0xff, sizeof seen);
        CHECK_OK(tamis_add_hashes(t, h, room, NULL, NULL));
        CHECK_OK(tamis_add_hashes(single, h, room, NULL, NULL));
        CHECK_THAT(tamis_add_hashes(t, h, TRIED, seen, &done), ==, TAMIS_EFULL);
        for (size_t i = 0; i < TRIED; i++) {
            uint8_t known = 0;
            if (stop == TRIED && tamis_add_hashes(single, h + i, 1, &known, NULL) != TAMIS_OK)
                stop = i;
            CHECK_THAT(seen[i / 8] >> i % 8 & 1, ==, stop == TRIED ? known : 0);
        }
        CHECK_THAT(done, ==, stop);
        CHECK_THAT(t->items, ==, PLANNED);
        CHECK(same_cells(t, single));
        free(fresh);
        tamis_close(t);
        tamis_close(single);
    }
}

static const struct test tests[] = {
    {"any_scratch_gives_the_same", any_scratch_gives_the_same},
    {"refused_scratch_is_no_error", refused_scratch_is_no_error},
    {"keys_and_seen_answers", keys_and_seen_answers},
    {"strict_plans_stop_in_time", strict_plans_stop_in_time},
    {"strict_answers_are_as_one_by_one", strict_answers_are_as_one_by_one},
};
TEST_MAIN(tests)
