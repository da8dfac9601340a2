/* What maps promise about values: every member has its value in every call, at every size, rate and
 * width, whatever the order of the keys, the threads and the way of the image. */
#define _POSIX_C_SOURCE 200809L
#include "../support/maps.h"
#include "../support/saving.h"
#include "../support/tracking.h"
#include "core/cpu.h"
#include "core/handle.h"

#include <unistd.h>

static const double all_rates[] = {1, 0.7, 0.5, 0.01, 0x1p-8, 0x1p-16, 0x1p-32};
static const uint32_t all_bits[] = {1, 3, 8, 16, 31, 32};

/* --- Members ---------------------------------------------------------------------------------- */

static void check_map(const tamis *t, uint64_t n, uint32_t bits, double fpr)
{
    const tamis_facts f = facts_of(t);
    CHECK(f.kind == TAMIS_VALUE_MAP && f.sealed && f.read_only && !f.collecting);
    CHECK(!f.may_miss && !f.overfull && f.cell_bits == bits && f.items == n);
    CHECK_THAT(f.fpr_planned, <=, fpr);
    /* Keys are bumped more from some segments than from others, which matters if there are few. */
    CHECK_THAT(f.fpr_now, <=, n == 0 ? 0 : (n < 10000 ? 1.1 : 1.01) * fpr);
    CHECK_THAT(check_values(t, 0, n, bits, true), ==, n);
    const uint64_t asked = n < 1000 ? 300 : 1000;
    const uint64_t yes = check_values(t, STRANGER, asked, bits, false);
    if (n == 0) CHECK_THAT(yes, ==, 0);
    if (n != 0 && fpr == 1) CHECK_THAT(yes, ==, asked);
}

static void every_member_has_its_value(void)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 64, 700, 701, 5000, 100000};
    for (size_t s = 0; s < LENGTH(sizes); s++)
        for (size_t b = 0; b < LENGTH(all_bits); b++)
            for (size_t r = 0; r < LENGTH(all_rates); r++) {
                if (sizes[s] > 10000 && (b + r) % 4 != 0) continue;
                tamis *t = make_map(sizes[s], all_bits[b], all_rates[r], NULL);
                check_map(t, sizes[s], all_bits[b], all_rates[r]);
                tamis_close(t);
            }
}

/* One key after the other, hashes, and many keys at once make the same collection. */
static void adds_agree(void)
{
    enum { N = 1000 };
    const tamis_plan plan = map_plan(N, 12, 0.01);
    tamis *one = create(&plan, NULL), *many = create(&plan, NULL), *hashed = create(&plan, NULL);
    const struct map_piece *p = map_piece_of(0, N, 12);
    static tamis_hash h[N];
    size_t done = 0;
    CHECK_OK(tamis_hash_many(one, p->key, N, h));
    for (size_t i = 0; i < N; i++) {
        CHECK_OK(tamis_add_value(one, p->key[i].p, p->key[i].len, p->value[i], NULL));
        h[i].lo ^= i * 7919 & UINT32_MAX; /* is not used */
    }
    CHECK_OK(tamis_add_value_many(many, p->key, p->value, N, NULL, NULL));
    CHECK_OK(tamis_add_value_hashes(hashed, h, p->value, N, &done, NULL));
    CHECK_THAT(done, ==, N);
    CHECK(same_image(one, many) && same_image(one, hashed));
    CHECK_OK(tamis_seal(hashed, NULL));
    check_map(hashed, N, 12, 0.01);
    tamis_close(one);
    tamis_close(many);
    tamis_close(hashed);
}

static void order_and_repeats_do_not_matter(void)
{
    static const uint64_t sizes[] = {1, 500, 3000};
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        const uint64_t n = sizes[s];
        const tamis_plan plan = map_plan(n, 9, 0.02);
        tamis *a = make_map(n, 9, 0.02, NULL), *b = create(&plan, NULL);
        for (uint64_t i = n; i-- > 0;) put_values(b, i, 1, 9);
        put_values(b, 0, n / 2 + 1, 9);
        CHECK_THAT(facts_of(b).items, ==, n + n / 2 + 1);
        CHECK_OK(tamis_seal(b, NULL));
        CHECK_THAT(facts_of(b).items, ==, n);
        CHECK(same_image(a, b));
        tamis_close(a);
        tamis_close(b);
    }
}

static void threads_make_the_same_bytes(void)
{
    static const struct {
        uint64_t n;
        uint32_t bits;
        double fpr;
    } cases[] = {{10, 8, 0.01}, {20000, 8, 0.01}, {400000, 8, 0.01}, {300000, 32, 0x1p-8}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const tamis_options three = {.struct_size = sizeof three, .threads = 3};
        tamis *a = make_map(cases[i].n, cases[i].bits, cases[i].fpr, NULL);
        tamis *b = make_map(cases[i].n, cases[i].bits, cases[i].fpr, &three);
        CHECK(same_image(a, b));
        check_values(b, cases[i].n / 2, 3000, cases[i].bits, cases[i].n > 10000);
        tamis_close(a);
        tamis_close(b);
    }
}

/* Every table of kernels builds the same map, and gives the same answers. */
static void kernels_make_the_same_bytes(void)
{
    const struct kernels *tables[4];
    const size_t n = tamis__runnable_kernels(tables);
    for (size_t b = 0; b < LENGTH(all_bits); b++) {
        tamis *right = make_map(3000, all_bits[b], 0.003, NULL);
        const uint64_t yes = check_values(right, STRANGER, 3000, all_bits[b], false);
        for (size_t i = 0; i < n; i++) {
            tamis__use_kernels(tables[i]);
            tamis *t = make_map(3000, all_bits[b], 0.003, NULL);
            CHECK(same_image(t, right));
            check_values(t, 0, 3000, all_bits[b], true);
            CHECK_THAT(check_values(t, STRANGER, 3000, all_bits[b], false), ==, yes);
            tamis_close(t);
        }
        tamis__use_kernels(tables[0]);
        tamis_close(right);
    }
}

/* Values that are all alike leave the collection uniform. */
static void equal_values(void)
{
    for (uint32_t value = 0; value < 4; value += 3) {
        const tamis_plan plan = map_plan(5000, 2, 0.1);
        tamis *t = create(&plan, NULL);
        for (uint64_t i = 0; i < 5000; i++) CHECK_OK(tamis_add_value(t, &i, sizeof i, value, NULL));
        CHECK_OK(tamis_seal(t, NULL));
        CHECK(!facts_of(t).hash_suspect);
        for (uint64_t i = 0; i < 5000; i++) {
            uint32_t found;
            CHECK_OK(tamis_value(t, &i, sizeof i, &found));
            CHECK_THAT(found, ==, value);
        }
        tamis_close(t);
    }
}

/* --- Images ----------------------------------------------------------------------------------- */

static void check_again(tamis *again, const tamis *t, uint64_t n, uint32_t bits)
{
    CHECK(same_image(again, t));
    check_values(again, 0, n, bits, true);
    tamis_close(again);
}

static void saved_and_opened(void)
{
    static const struct {
        uint64_t n;
        uint32_t bits;
        double fpr;
    } cases[] = {{0, 5, 0.01}, {1, 32, 0x1p-32}, {690, 8, 1}, {3000, 13, 0.01}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char path[] = "/tmp/tamis-map-XXXXXX";
        const uint64_t n = cases[i].n;
        const uint32_t bits = cases[i].bits;
        tamis *t = make_map(n, bits, cases[i].fpr, NULL), *again;
        const int fd = mkstemp(path);
        CHECK(fd >= 0 && close(fd) == 0);
        CHECK_OK(tamis_save(t, path, NULL, NULL));
        CHECK_OK(tamis_open(path, NULL, &again, NULL));
        check_again(again, t, n, bits);
        const tamis_options mapped = {.struct_size = sizeof mapped, .flags = TAMIS_MAP};
        CHECK_OK(tamis_open(path, &mapped, &again, NULL));
        check_again(again, t, n, bits);
        unlink(path);
        struct bytes image = image_of(t), packed = packed_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        check_again(again, t, n, bits);
        CHECK_OK(tamis_view(image.p, image.n, NULL, &again, NULL));
        check_again(again, t, n, bits);
        CHECK_OK(tamis_unpack(packed.p, packed.n, NULL, &again, NULL));
        check_again(again, t, n, bits);
        CHECK_OK(tamis_copy(t, &again, NULL));
        check_again(again, t, n, bits);
        free(image.p);
        free(packed.p);
        tamis_close(t);
    }
}

/* A collection is saved in the middle, and cleared. */
static void collections_are_saved(void)
{
    const tamis_plan plan = map_plan(2000, 7, 0.01);
    const tamis_options steady = {.struct_size = sizeof steady, .flags = TAMIS_STEADY};
    tamis *t = create(&plan, NULL), *again, *all = make_map(2000, 7, 0.01, NULL);
    put_values(t, 0, 900, 7);
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, &steady, &again, NULL));
    put_values(again, 900, 1100, 7);
    CHECK_OK(tamis_seal(again, NULL));
    CHECK(same_image(again, all));
    CHECK_OK(tamis_clear(t));
    CHECK_THAT(facts_of(t).items, ==, 0);
    put_values(t, 0, 2000, 7);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK(same_image(t, all));
    CHECK_THAT(tamis_clear(t), ==, TAMIS_ESEALED);
    free(image.p);
    tamis_close(t);
    tamis_close(again);
    tamis_close(all);
}

/* --- Failures of the seal --------------------------------------------------------------------- */

static void check_twice(tamis *t, uint64_t offset, const char *text)
{
    tamis_error why;
    struct bytes before = image_of(t);
    for (int again = 0; again < 2; again++) {
        CHECK_THAT(tamis_seal(t, &why), ==, TAMIS_EINVAL);
        CHECK_THAT(why.offset, ==, offset);
        if (strcmp(why.text, text) != 0) printf("%s\n", why.text);
        CHECK(strcmp(why.text, text) == 0);
        CHECK_THAT(tamis_seal(t, NULL), ==, TAMIS_EINVAL);
    }
    struct bytes after = image_of(t);
    CHECK(bytes_equal(before, after) && facts_of(t).collecting && has(t, 5));
    free(before.p);
    free(after.p);
}

static void two_values_for_a_key(void)
{
    static const uint64_t sizes[] = {100, 20000};
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        const tamis_plan plan = map_plan(sizes[s], 8, 0.01);
        tamis *t = create(&plan, NULL), *again;
        const uint64_t key = 77;
        char text[200];
        put_values(t, 0, sizes[s], 8);
        put_values(t, key, 1, 8); /* once more with the same value */
        CHECK_OK(tamis_add_value(t, &key, sizeof key, value_of(key, 8) ^ 1, NULL));
        put_values(t, sizes[s], 10, 8);
        snprintf(text, sizeof text, "key %llu has the value %u, and as key 78 it had the value %u",
                 (unsigned long long)sizes[s] + 2, value_of(key, 8) ^ 1, value_of(key, 8));
        check_twice(t, sizes[s] + 1, text);
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        check_twice(again, sizes[s] + 1, text);
        free(image.p);
        tamis_close(again);
        CHECK_OK(tamis_clear(t));
        put_values(t, 0, 10, 8);
        CHECK_OK(tamis_seal(t, NULL));
        tamis_close(t);
    }
}

/* Nothing is lost when memory is missing, wherever that happens. */
static void seals_without_memory(void)
{
    static const uint64_t sizes[] = {0, 500, 1500};
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_plan plan = map_plan(sizes[s], 32, 0x1p-8);
        tamis *t, *right = make_map(sizes[s], 32, 0x1p-8, NULL);
        CHECK_OK(tamis_create(&plan, &o, &t, NULL));
        put_values(t, 0, sizes[s], 32);
        size_t tries = 0;
        for (tamis_status st = TAMIS_ENOMEM; st != TAMIS_OK; tries++) {
            tamis_error why;
            a.calls = 0;
            a.fail_at = tries + 1;
            const size_t blocks = a.blocks;
            st = tamis_seal(t, &why);
            if (st == TAMIS_OK) break;
            CHECK(st == TAMIS_ENOMEM && why.status == st && why.text[0] != '\0');
            CHECK_THAT(a.blocks, ==, blocks);
            CHECK(facts_of(t).collecting && facts_of(t).items == sizes[s]);
        }
        a.fail_at = 0;
        CHECK_THAT(tries, >, sizes[s] == 0 ? 1 : 4);
        CHECK(same_image(t, right));
        tamis_close(t);
        tamis_close(right);
        CHECK_THAT(a.blocks, ==, 0);
    }
}

/* --- The caller's hashes ---------------------------------------------------------------------- */

static tamis_hash caller_hash(uint64_t i)
{
    uint64_t state = i * UINT64_C(0x9e3779b97f4a7c15) + 1;
    const uint64_t lo = splitmix(&state), hi = splitmix(&state);
    return (tamis_hash){lo, hi};
}

static tamis *caller_map(uint32_t bits, double fpr)
{
    tamis_plan plan = map_plan(1000, bits, fpr);
    plan.flags = TAMIS_HASH_CALLER;
    return create(&plan, NULL);
}

static void the_caller_hashes(void)
{
    tamis *t = caller_map(10, 0.01);
    uint32_t value, found;
    uint8_t bit;
    tamis_error why;
    for (uint64_t i = 0; i < 3000; i++) {
        const tamis_hash h = caller_hash(i);
        value = value_of(i, 10);
        CHECK_OK(tamis_add_value_hashes(t, &h, &value, 1, NULL, NULL));
    }
    CHECK_THAT(tamis_add_value(t, "key", 3, 1, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(tamis_value(t, "key", 3, &found), ==, TAMIS_EUNSUPPORTED);
    const tamis_bytes key = {"key", 3};
    CHECK_THAT(tamis_value_many(t, &key, 1, &found, &bit, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.status == TAMIS_EUNSUPPORTED && why.text[0] != '\0');
    for (uint64_t i = 0; i < 3000; i++) {
        tamis_hash h = caller_hash(i);
        h.lo ^= i & UINT32_MAX; /* is not used */
        CHECK_OK(tamis_value_hashes(t, &h, 1, &found, &bit, NULL));
        CHECK(bit == 1 && found == value_of(i, 10));
    }
    tamis_close(t);
}

/* Keys that have the same window and row: only another layer or another salt tells them apart. The
 * rest of the keys differ in hi alone, or in lo alone. */
static void hashes_that_agree_in_a_half(void)
{
    static const uint64_t sizes[] = {2, 3, 8, 300, 5000};
    for (size_t s = 0; s < LENGTH(sizes); s++)
        for (uint64_t alike = 2; alike <= 8 && alike <= sizes[s]; alike += 3)
            for (int low = 0; low < 2; low++) {
                tamis *t = caller_map(6, 0.05);
                uint32_t value, found;
                uint8_t bit;
                static tamis_hash h[5000];
                for (uint64_t i = 0; i < sizes[s]; i++) {
                    h[i] = caller_hash(i);
                    if (i < alike && low) h[i].lo = h[0].lo;
                    if (i < alike && !low) h[i].hi = h[0].hi;
                    value = value_of(i, 6);
                    CHECK_OK(tamis_add_value_hashes(t, &h[i], &value, 1, NULL, NULL));
                }
                CHECK_OK(tamis__seal(t, NULL));
                for (uint64_t i = 0; i < sizes[s]; i++) {
                    CHECK_OK(tamis_value_hashes(t, &h[i], 1, &found, &bit, NULL));
                    CHECK(bit == 1 && found == value_of(i, 6));
                }
                if (sizes[s] <= 700 && !low) CHECK(t->body.sections->salt != 0);
                tamis_close(t);
            }
}

static void hashes_that_are_not_uniform(void)
{
    for (int style = 0; style < 4; style++) {
        tamis *t = caller_map(8, 0.01);
        tamis_error why = {0};
        for (uint64_t i = 0; i < 2000; i++) {
            const tamis_hash r = caller_hash(i);
            const tamis_hash made[] = {{r.lo, 0}, {i, i}, {0, r.hi}, {i << 32, 5}};
            const uint32_t value = value_of(i, 8);
            CHECK_OK(tamis_add_value_hashes(t, &made[style], &value, 1, NULL, NULL));
        }
        /* The upper half of lo is the whole key where hi is constant. */
        CHECK_THAT(tamis_seal(t, &why), ==, TAMIS_EINVAL);
        CHECK(strstr(why.text, "not uniform") != NULL);
        CHECK(facts_of(t).collecting && facts_of(t).items == 2000);
        tamis_close(t);
    }
}

static const struct test tests[] = {
    {"every_member_has_its_value", every_member_has_its_value},
    {"adds_agree", adds_agree},
    {"order_and_repeats_do_not_matter", order_and_repeats_do_not_matter},
    {"threads_make_the_same_bytes", threads_make_the_same_bytes},
    {"kernels_make_the_same_bytes", kernels_make_the_same_bytes},
    {"equal_values", equal_values},
    {"saved_and_opened", saved_and_opened},
    {"collections_are_saved", collections_are_saved},
    {"two_values_for_a_key", two_values_for_a_key},
    {"seals_without_memory", seals_without_memory},
    {"the_caller_hashes", the_caller_hashes},
    {"hashes_that_agree_in_a_half", hashes_that_agree_in_a_half},
    {"hashes_that_are_not_uniform", hashes_that_are_not_uniform},
};
TEST_MAIN(tests)
