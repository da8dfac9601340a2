/* The state of an aggregate (sql/common/gather.h): it makes what one handle would make of the same
 * keys, in any number of parts, and fails cleanly. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/tracking.h"

#include "../../sql/common/gather.h"

#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/map.h>

#define MOST ((uint64_t)1 << 20)

/* --- States and handles ---------------------------------------------------------------------- */

enum { KEYS = 3000, PARTS = 7 };
static char key_texts[KEYS][24];
static size_t key_lengths[KEYS];

/* A key, of which one is empty, and its weight, which follows from the key, as the value of a key
 * of a map does. */
static tamis_bytes key_at(size_t i)
{
    if (key_lengths[i] == 0 && i != 11)
        key_lengths[i] = (size_t)snprintf(key_texts[i], sizeof *key_texts, "key-%zu", i * i % 2003);
    return (tamis_bytes){key_texts[i], key_lengths[i]};
}

static int64_t weight_at(size_t i)
{
    return (int64_t)(i * i % 2003 % 4);
}

struct subject {
    tamis_plan plan;
    bool in_order;  /* the image is that of one handle, to which the keys are added in order */
    bool any_order; /* and of any parts, combined in any order */
};

static const struct subject subjects[] = {
    {{.kind = TAMIS_AUTO, .items = 3000, .fpr = 0.01}, true, false},
    {{.kind = TAMIS_BLOOM, .items = 3000, .fpr = 0.01}, true, false},
    {{.kind = TAMIS_PARTITIONED, .items = 3000, .fpr = 0.01}, true, false},
    {{.kind = TAMIS_BLOCKED, .items = 3000, .bytes = 8000}, true, false},
    {{.kind = TAMIS_COUNTING, .items = 3000, .fpr = 0.01}, true, true},
    {{.kind = TAMIS_PAIR, .items = 3000, .fpr = 0.01}, false, false},
    {{.kind = TAMIS_GROWING, .fpr = 0.01}, false, false},
    {{.kind = TAMIS_CUCKOO, .items = 3000, .fpr = 0.01}, false, false},
    {{.kind = TAMIS_FUSE, .fpr = 0.01}, true, true},
    {{.kind = TAMIS_RIBBON, .fpr = 0.01}, true, true},
    {{.kind = TAMIS_VALUE_MAP, .fpr = 0.01, .cell_bits = 2}, true, true},
    {{.kind = TAMIS_COUNT_MIN, .bytes = 40000}, true, true},
    {{.kind = TAMIS_COUNT_SKETCH, .bytes = 40000}, true, true},
    {{.kind = TAMIS_TALLY, .bytes = 40000}, true, false},
    {{.kind = TAMIS_SIGNED_TALLY, .bytes = 40000}, true, false},
    {{.kind = TAMIS_TOP, .items = 50, .bytes = 100000}, true, false},
    {{.kind = TAMIS_DISTINCT, .error = 0.01}, true, true},
    {{.kind = TAMIS_DISTINCT, .bytes = 400}, true, true},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static tamis_plan plan_at(size_t i)
{
    tamis_plan plan = subjects[i].plan;
    plan.struct_size = sizeof plan;
    return plan;
}

static bool is_sketch_kind(uint32_t kind)
{
    return kind >= TAMIS_COUNT_MIN;
}

static bool is_sealed(uint32_t kind)
{
    return kind == TAMIS_FUSE || kind == TAMIS_RIBBON || kind == TAMIS_VALUE_MAP;
}

/* Kinds that get each key once. */
static bool is_of_hashes(uint32_t kind)
{
    return is_sealed(kind) || kind == TAMIS_CUCKOO || kind == TAMIS_GROWING || kind == TAMIS_PAIR;
}

/* The first n keys in one handle. */
static tamis *direct(size_t subject, size_t n)
{
    tamis_plan plan = plan_at(subject);
    tamis *t;
    tamis_cardinality number = TAMIS_CARDINALITY_INIT;
    tamis_plan d = {.struct_size = sizeof d, .kind = TAMIS_DISTINCT, .error = 0.001};
    tamis *seen;
    CHECK_OK(tamis_create(&d, NULL, &seen, NULL));
    for (size_t i = 0; i < n; i++) tamis_add(seen, key_at(i).p, key_at(i).len, NULL);
    CHECK_OK(tamis_distinct(seen, &number, NULL));
    if (is_sealed(plan.kind)) plan.items = number.value > 0 ? (uint64_t)number.value : 1;
    CHECK_OK(tamis_clear(seen));
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (size_t i = 0; i < n; i++) {
        const tamis_bytes key = key_at(i);
        bool again;
        if (is_sketch_kind(plan.kind) && plan.kind != TAMIS_DISTINCT) {
            CHECK_OK(tamis_add_weight(t, key.p, key.len, weight_at(i), NULL));
            continue;
        }
        CHECK_OK(tamis_add(seen, key.p, key.len, &again));
        if (plan.kind == TAMIS_VALUE_MAP)
            CHECK_OK(tamis_add_value(t, key.p, key.len, (uint32_t)weight_at(i), NULL));
        else if (!is_of_hashes(plan.kind) || !again)
            CHECK_OK(tamis_add(t, key.p, key.len, NULL));
    }
    tamis_close(seen);
    if (is_sealed(plan.kind)) CHECK_OK(tamis_seal(t, NULL));
    return t;
}

static struct gather *state_new(size_t subject, struct tracker *a)
{
    const tamis_plan plan = plan_at(subject);
    struct gather *g;
    CHECK_OK(gather_new(&plan, MOST, &a->memory, &g, NULL));
    CHECK(gather_has_plan(g, &plan));
    return g;
}

static tamis_status add_key(struct gather *g, size_t i)
{
    return gather_add(g, key_at(i), weight_at(i), NULL);
}

static struct bytes result_image(struct gather *g)
{
    const tamis *t;
    bool overfull;
    tamis_error why;
    const tamis_status s = gather_result(g, &t, &overfull, &why);
    if (s != TAMIS_OK) printf("%s\n", why.text);
    CHECK_OK(s);
    const struct bytes image = image_of(t);
    CHECK(image.p != NULL);
    return image;
}

/* Every key is a member, and no count is too low. */
static void check_answers(struct bytes image, size_t subject, size_t n)
{
    tamis *t;
    const uint32_t kind = subjects[subject].plan.kind;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &t, NULL));
    for (size_t i = 0; i < n && kind != TAMIS_PAIR; i++) {
        const tamis_bytes key = key_at(i);
        uint32_t value;
        if (!is_sketch_kind(kind)) CHECK(tamis_may_contain(t, key.p, key.len));
        if (kind == TAMIS_VALUE_MAP)
            CHECK(tamis_value(t, key.p, key.len, &value) == TAMIS_OK && value == weight_at(i));
        if (!is_sketch_kind(kind) || kind == TAMIS_DISTINCT) continue;
        int64_t sum = 0;
        for (size_t j = i % 500; j < n; j++)
            if (key_at(j).len == key.len && memcmp(key_at(j).p, key.p, key.len) == 0)
                sum += weight_at(j);
        if (kind != TAMIS_COUNT_SKETCH && kind != TAMIS_SIGNED_TALLY)
            CHECK(tamis_upper(t, key.p, key.len) >= sum);
        i += 37;
    }
    size_t wrong = 0;
    for (uint64_t i = 0; i < 1000; i++) wrong += tamis_may_contain(t, &i, sizeof i);
    /* 10 are expected, 20 from a pair; more than 80 with a probability below 1e-20. */
    CHECK(is_sketch_kind(kind) || wrong <= 80);
    tamis_close(t);
}

static void test_one_state(void)
{
    static const size_t sizes[] = {0, 1, 2, 50, 200, KEYS};
    for (size_t subject = 0; subject < SUBJECTS; subject++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct tracker a;
            tracker_init(&a);
            struct gather *g = state_new(subject, &a);
            for (size_t i = 0; i < sizes[s]; i++) {
                CHECK_OK(add_key(g, i));
                if (i == 20) free(result_image(g).p); /* rows may follow a result */
            }
            const struct bytes image = result_image(g), again = result_image(g);
            CHECK(bytes_equal(image, again));
            check_answers(image, subject, sizes[s]);
            tamis *t = direct(subject, sizes[s]);
            const struct bytes wanted = image_of(t);
            CHECK(!subjects[subject].in_order || bytes_equal(image, wanted));
            tamis_close(t);
            free(image.p);
            free(again.p);
            free(wanted.p);
            gather_free(g);
            CHECK(a.blocks == 0);
        }
}

/* Small states are small: with 100,000 groups in memory, that is what counts. */
static void test_small_states(void)
{
    for (size_t subject = 0; subject < SUBJECTS; subject++) {
        struct tracker a;
        tracker_init(&a);
        struct gather *g = state_new(subject, &a);
        for (size_t i = 0; i < 5; i++) CHECK_OK(add_key(g, i));
        CHECK_THAT(a.bytes, <=, 1000);
        const tamis *t;
        bool overfull;
        CHECK_OK(gather_result(g, &t, &overfull, NULL));
        gather_forget_result(g);
        CHECK_THAT(a.bytes, <=, 1000);
        gather_free(g);
        CHECK(a.blocks == 0);
    }
}

/* A small group lists its keys as a top with room for all of them does; a big one does not. */
static void test_few(void)
{
    const size_t top = SUBJECTS - 3;
    static tamis_heavy few[GATHER_FEW], wanted[GATHER_FEW];
    struct tracker a;
    CHECK(subjects[top].plan.kind == TAMIS_TOP);
    tracker_init(&a);
    struct gather *g = state_new(top, &a);
    size_t listed = 0, most = 0;
    CHECK(gather_few(g, few, 10, &listed) && listed == 0);
    for (size_t i = 0; i < KEYS; i++) {
        CHECK_OK(gather_add(g, key_at(i % 60), 1, NULL));
        if (!gather_few(g, few, 20, &listed)) break;
        most = i + 1;
        if (i % 40 != 0) continue;
        struct gather *same = state_new(top, &a);
        const tamis *t;
        bool overfull;
        CHECK_OK(gather_combine(same, g, NULL));
        CHECK_OK(gather_result(same, &t, &overfull, NULL));
        CHECK(tamis_top(t, wanted, 20) == listed && listed == (i < 19 ? i + 1 : 20));
        for (size_t j = 0; j < listed; j++) {
            CHECK(few[j].item.len == wanted[j].item.len && few[j].length == few[j].item.len);
            CHECK(memcmp(few[j].item.p, wanted[j].item.p, few[j].item.len) == 0);
            CHECK(few[j].count.estimate == wanted[j].count.estimate);
            CHECK(few[j].count.lower == few[j].count.upper && few[j].count.confidence >= 1);
        }
        gather_free(same);
    }
    CHECK(most > 100 && most < 400);
    gather_free(g);
    /* Empty keys take the least room. */
    g = state_new(top, &a);
    for (size_t i = 0; i < KEYS && gather_few(g, few, 2, &listed); i++)
        CHECK_OK(gather_add(g, (tamis_bytes){"", 0}, 1, NULL));
    CHECK(listed == 1 && few[0].count.estimate > 300 && few[0].item.len == 0);
    gather_free(g);
    CHECK(a.blocks == 0);
}

struct text_sink {
    struct bytes to;
    size_t room;
};

static tamis_status put_text(void *ctx, const void *p, size_t n)
{
    struct text_sink *s = ctx;
    if (s->to.n + n > s->room) {
        s->room = 2 * (s->to.n + n);
        s->to.p = realloc(s->to.p, s->room);
        if (s->to.p == NULL) abort();
    }
    memcpy(s->to.p + s->to.n, p, n);
    s->to.n += n;
    return TAMIS_OK;
}

/* The state as bytes, exactly as many as it says. */
static struct bytes written(const struct gather *g)
{
    struct text_sink s = {0};
    CHECK_OK(gather_write(g, put_text, &s, NULL));
    CHECK(s.to.n == gather_size(g));
    const struct bytes exact = bytes_copy(s.to.p, s.to.n);
    free(s.to.p);
    return exact;
}

/* Parts of the keys, of very different sizes, each of which goes to another process or not. */
static void test_parts(void)
{
    static const size_t ends[PARTS + 1] = {0, 0, 1, 5, 300, 1200, 1201, KEYS};
    for (size_t subject = 0; subject < SUBJECTS; subject++)
        for (unsigned round = 0; round < 6; round++) {
            struct tracker a;
            tracker_init(&a);
            struct gather *whole = state_new(subject, &a), *all;
            for (size_t i = 0; i < KEYS; i++) CHECK_OK(add_key(whole, i));
            CHECK_OK(gather_like(whole, &a.memory, &all, NULL));
            for (size_t p = 0; p < PARTS; p++) {
                const size_t part = (p * 3 + round) % PARTS; /* in another order each time */
                struct gather *g = state_new(subject, &a), *read = NULL;
                for (size_t i = ends[part]; i < ends[part + 1]; i++) CHECK_OK(add_key(g, i));
                if ((part + round) % 2 == 0) {
                    const struct bytes w = written(g);
                    CHECK_OK(gather_read((tamis_bytes){w.p, w.n}, &a.memory, &read, NULL));
                    free(w.p);
                }
                CHECK_OK(gather_combine(all, read != NULL ? read : g, NULL));
                gather_free(g);
                gather_free(read);
            }
            const struct bytes image = result_image(all), wanted = result_image(whole);
            check_answers(image, subject, KEYS);
            CHECK(!subjects[subject].any_order || bytes_equal(image, wanted));
            CHECK(image.n == wanted.n || subjects[subject].plan.kind == TAMIS_GROWING);
            free(image.p);
            free(wanted.p);
            gather_free(all);
            gather_free(whole);
            CHECK(a.blocks == 0);
        }
}

static void test_unions(void)
{
    struct tracker a;
    tracker_init(&a);
    struct gather *u, *v, *empty;
    const tamis *t;
    bool overfull;
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .error = 0.01};
    struct gather *whole, *part;
    CHECK_OK(gather_new_union(MOST, &a.memory, &u, NULL));
    CHECK_OK(gather_result(u, &t, &overfull, NULL));
    CHECK(t == NULL);
    CHECK_OK(gather_like(u, &a.memory, &empty, NULL));
    CHECK_OK(gather_like(u, &a.memory, &v, NULL));
    CHECK_OK(gather_new(&plan, MOST, &a.memory, &whole, NULL));
    for (size_t p = 0; p < PARTS; p++) {
        CHECK_OK(gather_new(&plan, MOST, &a.memory, &part, NULL));
        for (size_t i = p; i < KEYS; i += PARTS) {
            CHECK_OK(add_key(part, i));
            CHECK_OK(add_key(whole, i));
        }
        const struct bytes image = result_image(part);
        CHECK_OK(gather_add_image(p % 2 == 0 ? u : v, (tamis_bytes){image.p, image.n}, NULL));
        image.p[image.n - 1] ^= 1;
        CHECK(gather_add_image(u, (tamis_bytes){image.p, image.n}, NULL) == TAMIS_ECORRUPT);
        free(image.p);
        gather_free(part);
    }
    CHECK(gather_combine(u, whole, NULL) == TAMIS_EMISMATCH);
    CHECK(gather_combine(whole, u, NULL) == TAMIS_EMISMATCH);
    CHECK_OK(gather_combine(u, empty, NULL));
    CHECK_OK(gather_combine(empty, u, NULL)); /* into a union of nothing */
    const struct bytes w = written(v);
    gather_free(v);
    CHECK_OK(gather_read((tamis_bytes){w.p, w.n}, &a.memory, &v, NULL));
    CHECK_OK(gather_combine(empty, v, NULL));
    const struct bytes image = result_image(empty), wanted = result_image(whole);
    CHECK(bytes_equal(image, wanted));
    free(w.p);
    free(image.p);
    free(wanted.p);
    gather_free(u);
    gather_free(v);
    gather_free(empty);
    gather_free(whole);
    CHECK(a.blocks == 0);
}

/* --- Values of a map -------------------------------------------------------------------------- */

static struct gather *map_of(uint32_t bits, struct tracker *a)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_VALUE_MAP, .fpr = 0.01, .cell_bits = bits};
    struct gather *g;
    CHECK_OK(gather_new(&plan, MOST, &a->memory, &g, NULL));
    return g;
}

static void test_value_bits(void)
{
    static const struct {
        int64_t most;
        uint32_t bits;
    } cases[] = {{0, 1}, {1, 1}, {2, 2}, {3, 2}, {4, 3}, {255, 8}, {256, 9}, {UINT32_MAX, 32}};
    struct tracker a;
    tracker_init(&a);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gather *g = map_of(0, &a);
        const tamis *t;
        bool overfull;
        uint32_t value;
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(gather_add(g, (tamis_bytes){"a", 1}, cases[i].most, NULL));
        CHECK_OK(gather_add(g, (tamis_bytes){"b", 1}, 0, NULL));
        CHECK_OK(gather_result(g, &t, &overfull, NULL));
        CHECK_OK(tamis_stat(t, &f));
        CHECK(f.cell_bits == cases[i].bits && f.sealed);
        CHECK(tamis_value(t, "a", 1, &value) == TAMIS_OK && value == cases[i].most);
        CHECK(tamis_value(t, "b", 1, &value) == TAMIS_OK && value == 0);
        gather_free(g);
    }
    CHECK(a.blocks == 0);
}

/* A value without room, and a key with two values, name what is wrong and leave the state as it
 * was. Between two states, only the values are known. */
static void test_wrong_values(void)
{
    struct tracker a;
    tracker_init(&a);
    tamis_error why;
    struct gather *g = map_of(3, &a), *other = map_of(3, &a), *wide = map_of(0, &a);
    const tamis_bytes key = {"k\xe9y\n'", 5}, longer = {key_texts, 500};
    CHECK_OK(gather_add(g, key, 7, NULL));
    CHECK_OK(gather_add(g, key, 7, NULL));
    CHECK(gather_add(g, key, 5, &why) == TAMIS_EINVAL);
    CHECK(strcmp(why.text, "the key 'k\\xe9y\\x0a'' has two values, 5 and 7") == 0);
    CHECK(gather_add(g, key, 8, &why) == TAMIS_EINVAL);
    CHECK(strcmp(why.text, "the value of a key must be from 0 to 7, not 8") == 0);
    CHECK(gather_add(g, key, -1, &why) == TAMIS_EINVAL);
    CHECK(gather_add(wide, key, INT64_C(1) << 32, &why) == TAMIS_EINVAL);
    CHECK(strstr(why.text, "from 0 to 4294967295, not 4294967296") != NULL);
    CHECK_OK(gather_add(wide, longer, UINT32_MAX - 1, NULL));
    CHECK(gather_add(wide, longer, UINT32_MAX, &why) == TAMIS_EINVAL);
    CHECK(strstr(why.text, "...' has two values, 4294967294 and 4294967295") != NULL);
    CHECK_OK(gather_add(other, key, 5, NULL));
    CHECK(gather_combine(g, other, &why) == TAMIS_EINVAL);
    CHECK(strcmp(why.text, "a key has two values, 5 and 7") == 0);
    CHECK(gather_combine(g, wide, &why) == TAMIS_EMISMATCH);
    const tamis *t;
    bool overfull;
    uint32_t value;
    CHECK_OK(gather_result(g, &t, &overfull, NULL));
    CHECK(tamis_value(t, key.p, key.len, &value) == TAMIS_OK && value == 7);
    gather_free(g);
    gather_free(other);
    gather_free(wide);
    CHECK(a.blocks == 0);
}

/* --- Failures --------------------------------------------------------------------------------- */

static void test_refused_plans(void)
{
    struct tracker a;
    tracker_init(&a);
    tamis_error why;
    struct gather *g = (struct gather *)&a;
    static const uint32_t kinds[] = {TAMIS_WINDOW, TAMIS_EXACT, TAMIS_PRIVATE};
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        plan.kind = kinds[i];
        CHECK(gather_new(&plan, MOST, &a.memory, &g, &why) == TAMIS_EINVAL && g == NULL);
        CHECK(strstr(why.text, tamis_kind_name(kinds[i])) != NULL);
    }
    plan.kind = TAMIS_AUTO;
    plan.items = (uint64_t)1 << 40;
    CHECK(gather_new(&plan, MOST, &a.memory, &g, &why) == TAMIS_EFULL && g == NULL);
    CHECK(strstr(why.text, " bytes, but a value of this database has at most 1048576") != NULL);
    CHECK_THAT(a.peak, <, 2000);
    plan.fpr = 2;
    CHECK(gather_new(&plan, MOST, &a.memory, &g, &why) == TAMIS_EINVAL && g == NULL);
    CHECK(a.blocks == 0);
    /* Plans that differ are not combined. */
    struct gather *other;
    plan = (tamis_plan){.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    CHECK_OK(gather_new(&plan, MOST, &a.memory, &g, NULL));
    plan.items++;
    CHECK(!gather_has_plan(g, &plan) && gather_plan(g)->items == 1000);
    CHECK_OK(gather_new(&plan, MOST, &a.memory, &other, NULL));
    CHECK(gather_combine(g, other, &why) == TAMIS_EMISMATCH);
    gather_free(g);
    gather_free(other);
    gather_free(NULL);
    CHECK(a.blocks == 0);
}

static void test_overfull(void)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    struct gather *g;
    const tamis *t;
    bool overfull;
    tamis_error why;
    CHECK_OK(gather_new(&plan, MOST, &a.memory, &g, NULL));
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK_OK(gather_add(g, (tamis_bytes){&i, sizeof i}, 1, NULL));
        const bool asked = i == 899 || i == 1099;
        if (!asked) continue;
        CHECK_OK(gather_result(g, &t, &overfull, NULL));
        CHECK(overfull == (i == 1099));
    }
    CHECK(gather_result(g, &t, &overfull, &why) == TAMIS_EFULL && t == NULL);
    CHECK(strstr(why.text, "plan more items") != NULL);
    gather_free(g);
    CHECK(a.blocks == 0);
}

/* Adds keys, sends the state, combines it, and asks for the result, all of which may lack memory.
 * Returns the first failure. */
static tamis_status run_all(size_t subject, size_t n, struct tracker *a)
{
    const tamis_plan plan = plan_at(subject);
    struct gather *g = NULL, *read = NULL, *other = NULL;
    const tamis *t;
    bool overfull;
    struct bytes w = {0};
    tamis_status s = gather_new(&plan, MOST, &a->memory, &g, NULL);
    for (size_t i = 0; i < n && s == TAMIS_OK; i++) s = add_key(g, i);
    struct text_sink sink = {0};
    if (s == TAMIS_OK) s = gather_write(g, put_text, &sink, NULL);
    w = sink.to;
    if (s == TAMIS_OK) s = gather_read((tamis_bytes){w.p, w.n}, &a->memory, &read, NULL);
    if (s == TAMIS_OK) s = gather_like(g, &a->memory, &other, NULL);
    if (s == TAMIS_OK) s = gather_combine(other, read, NULL);
    if (s == TAMIS_OK) s = gather_combine(other, g, NULL);
    if (s == TAMIS_OK) s = gather_result(other, &t, &overfull, NULL);
    free(w.p);
    gather_free(g);
    gather_free(read);
    gather_free(other);
    return s;
}

static void test_no_memory(void)
{
    size_t refused = 0;
    for (size_t subject = 0; subject < SUBJECTS; subject++)
        for (size_t n = 3; n <= 400; n += 397)
            for (unsigned for_ever = 0; for_ever < 2; for_ever++)
                for (size_t fail_at = 1;; fail_at++) {
                    struct tracker a;
                    tracker_init(&a);
                    a.fail_at = fail_at;
                    a.for_ever = for_ever != 0;
                    const tamis_status s = run_all(subject, n, &a);
                    CHECK(a.blocks == 0);
                    /* The library can do without some memory. */
                    CHECK(s == TAMIS_OK || (s == TAMIS_ENOMEM && a.failed));
                    refused += s != TAMIS_OK;
                    if (!a.failed) break;
                    CHECK(fail_at < 2000);
                }
    CHECK_THAT(refused, >, 20 * SUBJECTS);
}

/* Damaged bytes are refused, or are a state with which everything else works. */
static void use_damaged(struct bytes w)
{
    struct tracker a;
    tracker_init(&a);
    struct gather *g, *other;
    const tamis *t;
    bool overfull;
    if (gather_read((tamis_bytes){w.p, w.n}, &a.memory, &g, NULL) == TAMIS_OK) {
        if (gather_plan(g)->struct_size != 0) gather_add(g, key_at(3), 1, NULL); /* no union */
        gather_result(g, &t, &overfull, NULL);
        if (gather_like(g, &a.memory, &other, NULL) == TAMIS_OK) {
            gather_combine(other, g, NULL);
            gather_result(other, &t, &overfull, NULL);
            gather_free(other);
        }
        const struct bytes again = written(g);
        free(again.p);
        gather_free(g);
    } else {
        CHECK(g == NULL);
    }
    CHECK(a.blocks == 0);
}

static void test_damaged_states(void)
{
    uint64_t random = 25;
    for (size_t subject = 0; subject < SUBJECTS; subject++)
        for (size_t n = 0; n <= 400; n = 4 * n + 4) {
            struct tracker a;
            tracker_init(&a);
            struct gather *g = state_new(subject, &a);
            for (size_t i = 0; i < n; i++) CHECK_OK(add_key(g, i));
            const struct bytes w = written(g);
            for (size_t cut = 0; cut < w.n; cut += 1 + cut / 100) {
                struct gather *read;
                const struct bytes short_one = bytes_copy(w.p, cut);
                CHECK(gather_read((tamis_bytes){short_one.p, cut}, &a.memory, &read, NULL) !=
                          TAMIS_OK &&
                      read == NULL);
                free(short_one.p);
            }
            for (unsigned i = 0; i < 150; i++) {
                const struct bytes damaged = bytes_copy(w.p, w.n);
                const uint64_t r = splitmix(&random);
                const size_t head = w.n < 160 ? w.n : 160;
                damaged.p[(r & 1) != 0 ? r / 2 % w.n : r / 2 % head] ^=
                    (uint8_t)(1u << (r >> 60 & 7));
                if (i == 0) memset(damaged.p, 0xff, sizeof(uint32_t)); /* another method */
                if (i >= 1 && i <= 4) damaged.p[0] = (uint8_t)(i - 1);
                use_damaged(damaged);
                free(damaged.p);
            }
            free(w.p);
            gather_free(g);
            CHECK(a.blocks == 0);
        }
}

static bool is_read(struct bytes w, struct tracker *a)
{
    struct gather *g;
    tamis_error why;
    const tamis_status s = gather_read((tamis_bytes){w.p, w.n}, &a->memory, &g, &why);
    gather_free(g);
    CHECK(s == TAMIS_OK || (s == TAMIS_ECORRUPT && g == NULL));
    return s == TAMIS_OK;
}

/* States that are whole, but whose parts do not belong together. They begin with the method, the
 * limit, the size of the rest and the plan. */
static void test_mixed_states(void)
{
    enum { METHOD = 0, SIZE = 16, PLAN = 24, IMAGE = 1 };
    struct tracker a;
    tracker_init(&a);
    for (size_t subject = 0; subject < SUBJECTS; subject++)
        for (size_t n = 0; n <= 1000; n = 8 * n + 8) {
            struct gather *g = state_new(subject, &a);
            for (size_t i = 0; i < n; i++) CHECK_OK(add_key(g, i));
            const struct bytes w = written(g), longer = bytes_new(w.n + 1);
            memcpy(longer.p, w.p, w.n);
            longer.p[w.n] = 0;
            CHECK(is_read(w, &a) && !is_read(longer, &a));
            const uint64_t size = get_field(w.p, (struct field){SIZE, 8});
            put_field(longer.p, (struct field){SIZE, 8}, size + 1);
            CHECK(!is_read(longer, &a));
            /* Keys instead of hashes, and the other way round; an image instead of both. */
            const uint8_t method = w.p[METHOD];
            for (uint8_t other = 0; other < 3; other++) {
                w.p[METHOD] = other;
                CHECK(is_read(w, &a) == (other == method || (size == 0 && other + method == 0)));
            }
            w.p[METHOD] = method;
            /* An image and the plan of another kind. */
            const tamis_plan plan = plan_at((subject + 1) % SUBJECTS);
            memcpy(w.p + PLAN, &plan, sizeof plan);
            if (method == IMAGE && plan.kind != subjects[subject].plan.kind) CHECK(!is_read(w, &a));
            free(w.p);
            free(longer.p);
            gather_free(g);
        }
    CHECK(a.blocks == 0);
}

static const struct test tests[] = {
    {"one state is one handle", test_one_state},
    {"small states take little memory", test_small_states},
    {"small states list their keys", test_few},
    {"parts in any order make the whole", test_parts},
    {"unions of images", test_unions},
    {"bits of values", test_value_bits},
    {"wrong values", test_wrong_values},
    {"plans that are refused", test_refused_plans},
    {"more items than planned", test_overfull},
    {"no memory", test_no_memory},
    {"damaged states", test_damaged_states},
    {"states of mixed parts", test_mixed_states},
};

TEST_MAIN(tests)
