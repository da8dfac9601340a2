/* Every kind that shrinks, grows, forgets or is sealed, in tables beyond 2^32 bits: members are
 * found, others are not, removed keys are gone, and a file restores it all. Needs 8 GiB of
 * memory and 1.5 GiB in TMPDIR; does nothing on a 32-bit machine. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/saving.h"
#include "core/handle.h"

#include <unistd.h>

#define KEYS_IN UINT64_C(4000000)
#define ASKED UINT64_C(1000000)
#define BATCH 1000u

static uint64_t numbers[BATCH];
static tamis_bytes batch[BATCH];

static void prepare(uint64_t from)
{
    for (uint64_t i = 0; i < BATCH; i++) {
        numbers[i] = from + i;
        batch[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
}

static void add(tamis *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i += BATCH) {
        prepare(i);
        CHECK_OK(tamis_add_many(t, batch, BATCH, NULL, NULL));
    }
}

static uint64_t ask(const tamis *t, uint64_t from, uint64_t to)
{
    uint64_t maybe = 0;
    uint8_t bits[BATCH / 8];
    for (uint64_t i = from; i < to; i += BATCH) {
        prepare(i);
        maybe += tamis_may_contain_many(t, batch, BATCH, bits);
    }
    return maybe;
}

static bool is_beyond(const tamis *t)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < t->body.count; i++) bytes += t->body.sections[i].length;
    return bytes > UINT64_C(1) << 29;
}

/* All of them at rates so low that not one wrong answer is expected among a million: at most five
 * are let pass. */
static void check_answers(const tamis *t, uint64_t from, uint64_t to)
{
    CHECK_THAT(ask(t, from, to), ==, to - from);
    CHECK_THAT(ask(t, UINT64_C(1) << 40, (UINT64_C(1) << 40) + ASKED), <=, 5);
}

static tamis *through_a_file(tamis *t)
{
    char path[512];
    const char *tmp = getenv("TMPDIR");
    tamis *opened;
    snprintf(path, sizeof path, "%s/tamis-kinds-%ld.tamis", tmp != NULL ? tmp : "/tmp",
             (long)getpid());
    CHECK_OK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), NULL));
    tamis_close(t);
    CHECK_OK(tamis_open(path, NULL, &opened, NULL));
    CHECK(remove(path) == 0);
    return opened;
}

static tamis *make(const tamis_plan *plan)
{
    tamis *t = create(plan, NULL);
    CHECK(is_beyond(t));
    add(t, 0, KEYS_IN);
    check_answers(t, 0, KEYS_IN);
    return through_a_file(t);
}

static void remove_half(tamis *t)
{
    uint8_t absent[BATCH / 8];
    for (uint64_t i = 0; i < KEYS_IN / 2; i += BATCH) {
        prepare(i);
        CHECK_OK(tamis_remove_many(t, batch, BATCH, absent, NULL));
        for (size_t b = 0; b < sizeof absent; b++) CHECK_THAT(absent[b], ==, 0);
    }
    CHECK_THAT(ask(t, 0, KEYS_IN / 2), <=, 5);
    check_answers(t, KEYS_IN / 2, KEYS_IN);
}

static void run(tamis_plan plan)
{
    if (sizeof(size_t) < 8) return;
    plan.struct_size = sizeof plan;
    tamis *t = make(&plan);
    check_answers(t, 0, KEYS_IN);
    if (plan.kind == TAMIS_WINDOW) {
        for (uint32_t i = 0; i + 1 < plan.generations; i++) CHECK_OK(tamis_rotate(t, NULL));
        check_answers(t, 0, KEYS_IN);
        CHECK_OK(tamis_rotate(t, NULL));
        CHECK_THAT(ask(t, 0, KEYS_IN), ==, 0);
    } else if (plan.kind != TAMIS_GROWING) {
        remove_half(t);
    }
    tamis_close(t);
}

static void big_counting(void)
{
    run((tamis_plan){.kind = TAMIS_COUNTING, .items = 100000000, .m = UINT64_C(1) << 31, .k = 8});
}

static void big_counting_in_lines(void)
{
    run((tamis_plan){.kind = TAMIS_COUNTING,
                     .items = 100000000,
                     .m = UINT64_C(1) << 31,
                     .k = 8,
                     .inner_kind = TAMIS_BLOCKED});
}

static void big_pair(void)
{
    run((tamis_plan){.kind = TAMIS_PAIR, .items = 100000000, .m = UINT64_C(1) << 32});
}

static void big_window(void)
{
    run((tamis_plan){
        .kind = TAMIS_WINDOW, .items = 300000000, .m = UINT64_C(1) << 32, .generations = 3});
}

static void big_cuckoo(void)
{
    run((tamis_plan){.kind = TAMIS_CUCKOO, .items = 200000000, .fpr = 1e-8});
}

static void big_growing(void)
{
    run((tamis_plan){.kind = TAMIS_GROWING, .items = 240000000, .fpr = 1e-4});
}

static void big_fuse(void)
{
    if (sizeof(size_t) < 8) return;
    const uint64_t n = 125000000;
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_FUSE,
                             .items = n,
                             .fpr = 1.0 / (UINT64_C(1) << 32)};
    tamis *t = create(&plan, NULL);
    add(t, 0, n);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK(is_beyond(t));
    check_answers(t, 0, n);
    t = through_a_file(t);
    check_answers(t, n - KEYS_IN, n);
    tamis_close(t);
}

static const struct test tests[] = {
    {"big_counting", big_counting}, {"big_counting_in_lines", big_counting_in_lines},
    {"big_pair", big_pair},         {"big_window", big_window},
    {"big_cuckoo", big_cuckoo},     {"big_growing", big_growing},
    {"big_fuse", big_fuse},
};
TEST_MAIN(tests)
