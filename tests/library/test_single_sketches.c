/* Calls with one key of a sketch give the same answers, errors, totals and bytes, whether the
 * functions of the kind or the general ones execute them, and so do bulk calls: for every shape,
 * keys of 0 to 300 bytes, seeds and secret keys, encodings, shared and read-only handles, and
 * weights of all sizes up to those that saturate counters and totals. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "core/cpu.h"
#include "core/encoding.h"
#include "core/handle.h"
#include "frequency/noise.h"

#include <tamis/count.h>

enum { KEYS = 1500, EVENTS = 3000, LONGEST = 300 };
static uint8_t texts[KEYS][LONGEST + 1];
static tamis_bytes some[EVENTS];
static tamis_hash hashes[EVENTS];
static int64_t weights[EVENTS];

/* A skewed stream of keys of this length, or of all lengths if it is larger than LONGEST. */
static void make_stream(size_t len)
{
    uint64_t random = 7;
    for (size_t i = 0; i < KEYS; i++)
        for (size_t j = 0; j < sizeof texts[i]; j++) texts[i][j] = (uint8_t)splitmix(&random);
    for (size_t i = 0; i < EVENTS; i++) {
        const size_t most = (size_t)KEYS >> splitmix(&random) % 10;
        const size_t which = (size_t)(splitmix(&random) % most);
        some[i] = (tamis_bytes){texts[which], len <= LONGEST ? len : 5 * which % (LONGEST + 1)};
        hashes[i] = tamis_hash_bytes(99, some[i].p, some[i].len);
    }
}

/* Mostly small weights. Large ones come late, because nothing changes a total that is saturated. */
static void make_weights(bool ones, bool large)
{
    static const int64_t few[] = {0, 1, 1, 1, 2, 3, 5, 200, 300, 70000},
                         big[] = {INT64_C(1) << 31, UINT32_MAX,     INT64_C(1) << 40,
                                  INT64_C(1) << 62, INT64_MAX - 10, INT64_MAX};
    uint64_t random = 11;
    for (size_t i = 0; i < EVENTS; i++) {
        const uint64_t r = splitmix(&random);
        weights[i] = ones ? 1 : few[r % (sizeof few / sizeof *few)];
        if (large && i > EVENTS / 2 && r % 64 == 0) {
            const size_t most = i > EVENTS * 3 / 4 ? 6 : 3;
            weights[i] = big[(r >> 32) % most];
        }
    }
}

struct subject {
    uint32_t kind, flags, k, cell_bits;
    uint64_t bytes;
    bool own;
};

static const struct subject subjects[] = {
    {.kind = TAMIS_COUNT_MIN, .bytes = 8192, .own = true},
    {.kind = TAMIS_COUNT_MIN, .bytes = 8192, .flags = TAMIS_CONSERVATIVE, .own = true},
    {.kind = TAMIS_COUNT_MIN, .bytes = 4096, .cell_bits = 64, .own = true},
    {.kind = TAMIS_COUNT_MIN,
     .bytes = 4096,
     .cell_bits = 64,
     .flags = TAMIS_CONSERVATIVE,
     .own = true},
    {.kind = TAMIS_COUNT_MIN, .bytes = 4096, .k = 1, .own = true},
    {.kind = TAMIS_COUNT_MIN, .bytes = 8192, .k = 7, .own = true},
    {.kind = TAMIS_COUNT_MIN, .bytes = 8192, .k = 32, .flags = TAMIS_CONSERVATIVE, .own = true},
    {.kind = TAMIS_TALLY, .bytes = 1536, .own = true},
    {.kind = TAMIS_TALLY, .bytes = 16384, .own = true},
    {.kind = TAMIS_TOP, .bytes = 32768, .own = true},
    {.kind = TAMIS_TOP, .bytes = 65536, .own = true},
    {.kind = TAMIS_COUNT_SKETCH, .bytes = 8192},
    {.kind = TAMIS_SIGNED_TALLY, .bytes = 8192},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

struct way {
    uint64_t seed;
    const uint8_t *key;
    uint32_t encoding, key_width, flags; /* of the options */
    size_t len;
};

static const struct way ways[] = {
    {.len = SIZE_MAX},
    {.len = 8, .seed = UINT64_C(0xfedcba9876543210)},
    {.len = SIZE_MAX, .key = secret},
    {.len = 8, .encoding = TAMIS_KEYS_INT64},
    {.len = 5, .encoding = TAMIS_KEYS_FIXED, .key_width = 5},
    {.len = 8, .flags = TAMIS_SHARED},
};
#define WAYS (sizeof ways / sizeof *ways)

/* NULL: this kind cannot be shared. */
static tamis *open_subject(const struct subject *s, const struct way *w)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = s->kind,
                             .flags = s->flags,
                             .k = s->k,
                             .cell_bits = s->cell_bits,
                             .bytes = s->bytes,
                             .seed = w->seed,
                             .encoding = w->encoding,
                             .key_width = w->key_width};
    const tamis_options options = {.struct_size = sizeof options, .key = w->key, .flags = w->flags};
    tamis *t;
    const tamis_status status = tamis_create(&plan, &options, &t, NULL);
    CHECK(status == TAMIS_OK || (w->flags != 0 && t == NULL));
    return t;
}

/* The general functions are those of a kind that has none of its own. */
static struct chosen general_functions(void)
{
    const tamis_plan plan = plan_of(TAMIS_COUNTING, 10);
    tamis *t = create(&plan, NULL);
    const struct chosen functions = t->single;
    tamis_close(t);
    return functions;
}

static void check_choice(const tamis *t, const struct subject *s, const struct way *w)
{
    const struct chosen general = general_functions();
    const bool own = s->own && !t->body.shared;
    const bool words = own && w->key == NULL && (w->encoding == 0 || w->len == 8);
    CHECK((t->single.ask != general.ask) == words);
    CHECK((t->single.own != general.own) == own);
    CHECK((t->single.add != general.add) == (words && !t->read_only));
    CHECK((own && t->own_adds) == (own && !t->read_only && s->kind != TAMIS_TOP));
    CHECK(!words || (tamis__sketch(t)->weigh != NULL && tamis__sketch(t)->upper != NULL));
}

static void check_same_totals(const tamis *a, const tamis *b)
{
    CHECK_THAT(tamis__extra(a)->weight, ==, tamis__extra(b)->weight);
    CHECK_THAT(a->body.extra->moved, ==, b->body.extra->moved);
    CHECK_THAT(a->body.sections->weight, ==, b->body.sections->weight);
    CHECK(a->changed == b->changed);
    CHECK((tamis__extra(a)->noise == NULL) == (tamis__extra(b)->noise == NULL));
}

static tamis_bytes event(size_t i)
{
    /* Some keys have a length that an encoding forbids. */
    return i % 97 == 5 ? (tamis_bytes){some[i].p, some[i].len + i % 3} : some[i];
}

static void check_same_add(tamis *one, tamis *general, size_t i)
{
    const tamis_bytes key = event(i);
    bool seen[2] = {i % 4 == 0, i % 4 == 0};
    const bool asks = i % 3 != 0;
    const tamis_status s = tamis_add(one, key.p, key.len, asks ? &seen[0] : NULL);
    CHECK_THAT(s, ==, tamis_add(general, key.p, key.len, asks ? &seen[1] : NULL));
    CHECK(seen[0] == seen[1]);
    const bool wrong = tamis__wrong_length(one, key.len);
    CHECK_THAT(s, ==, one->read_only ? TAMIS_ESEALED : wrong ? TAMIS_EINVAL : TAMIS_OK);
}

static void check_same_weight(tamis *one, tamis *general, size_t i, int64_t weight)
{
    const tamis_bytes key = event(i);
    int64_t count[2] = {-7, -7};
    tamis_error why[2] = {{.status = TAMIS_OK}, {.status = TAMIS_OK}};
    const bool counts = i % 3 != 0, explains = i % 2 != 0;
    const tamis_status s = tamis_add_counted(one, key.p, key.len, weight, counts ? &count[0] : NULL,
                                             explains ? &why[0] : NULL);
    CHECK_THAT(s, ==,
               tamis_add_counted(general, key.p, key.len, weight, counts ? &count[1] : NULL,
                                 explains ? &why[1] : NULL));
    CHECK_THAT(count[0], ==, count[1]);
    CHECK(why[0].status == why[1].status && strcmp(why[0].text, why[1].text) == 0);
    if (s != TAMIS_OK || !counts) return;
    CHECK_THAT(count[0], ==, tamis_upper(one, key.p, key.len));
}

static void check_same_answers(const tamis *one, const tamis *general, size_t i)
{
    const tamis_bytes key = event(i);
    CHECK_THAT(tamis_upper(one, key.p, key.len), ==, tamis_upper(general, key.p, key.len));
    CHECK(tamis_may_contain(one, key.p, key.len) == tamis_may_contain(general, key.p, key.len));
    CHECK(tamis_may_contain_hashes(one, &hashes[i], 1, NULL) ==
          tamis_may_contain_hashes(general, &hashes[i], 1, NULL));
}

/* The intervals depend on the noise, which is kept from one count to the next. */
static void check_same_counts(const tamis *one, const tamis *general, size_t i)
{
    const tamis_bytes key = some[i];
    tamis_estimate a, b;
    CHECK_OK(tamis_count(one, key.p, key.len, &a, NULL));
    CHECK_OK(tamis_count(general, key.p, key.len, &b, NULL));
    CHECK(a.estimate == b.estimate && a.lower == b.lower && a.upper == b.upper);
    CHECK_THAT(tamis__extra(one)->noise->moved, ==, tamis__extra(general)->noise->moved);
}

/* One handle has the functions of its kind, the other the general ones. */
static void check_against_general(const struct subject *s, const struct way *w)
{
    tamis *one = open_subject(s, w), *general = open_subject(s, w);
    if (one == NULL) return;
    check_choice(one, s, w);
    general->single = general_functions();
    for (size_t i = 0; i < EVENTS; i++) {
        const int64_t weight = weights[i];
        if (i % 7 == 0)
            check_same_add(one, general, i);
        else
            check_same_weight(one, general, i, i % 41 == 0 ? -weight : weight);
        if (i % 101 == 0) {
            check_same_weight(one, general, i, INT64_MIN);
            one->changed = general->changed = false;
        }
        const size_t done = i % 53 == 0;
        size_t added[2] = {9, 9};
        if (done != 0)
            CHECK(tamis_add_hashes(one, &hashes[i], 1, NULL, &added[0]) ==
                  tamis_add_hashes(general, &hashes[i], 1, NULL, &added[1]));
        CHECK(added[0] == added[1]);
        check_same_answers(one, general, (i * 31 + 7) % EVENTS);
        if (!one->body.shared && i > EVENTS / 3 && i % 300 < 3) check_same_counts(one, general, i);
        check_same_totals(one, general);
    }
    CHECK(same_image(one, general));
    tamis_close(one);
    tamis_close(general);
}

/* One handle gets single calls, the other bulk calls. */
static void check_against_bulk(const struct subject *s, const struct way *w)
{
    static int64_t counts[EVENTS];
    static uint8_t bits[EVENTS / 8 + 1];
    tamis *one = open_subject(s, w), *many = open_subject(s, w);
    if (one == NULL) return;
    CHECK_OK(tamis_add_many(many, some, EVENTS / 2, bits, NULL));
    CHECK_OK(tamis_add_counted_many(many, some, weights, EVENTS, counts, NULL, NULL));
    for (size_t i = 0; i < EVENTS / 2; i++) {
        bool seen = false;
        CHECK_OK(tamis_add(one, some[i].p, some[i].len, &seen));
        CHECK(seen == (bits[i / 8] >> i % 8 & 1));
    }
    for (size_t i = 0; i < EVENTS; i++) {
        int64_t count;
        CHECK_OK(tamis_add_counted(one, some[i].p, some[i].len, weights[i], &count, NULL));
        CHECK_THAT(count, ==, counts[i]);
    }
    CHECK_THAT(tamis__weight(one), ==, tamis__weight(many));
    CHECK_THAT(tamis__moved(&one->body), ==, tamis__moved(&many->body));
    CHECK(same_image(one, many));
    tamis_upper_many(many, some, EVENTS, counts);
    tamis_may_contain_many(many, some, EVENTS, bits);
    for (size_t i = 0; i < EVENTS; i++) {
        CHECK_THAT(tamis_upper(one, some[i].p, some[i].len), ==, counts[i]);
        CHECK(tamis_may_contain(one, some[i].p, some[i].len) == (bits[i / 8] >> i % 8 & 1));
    }
    tamis_close(one);
    tamis_close(many);
}

static void check_all(const struct way *w, bool depends_on_kernels)
{
    make_stream(w->len);
    for (int mode = 0; mode < 3; mode++) {
        make_weights(mode == 0, mode == 2);
        for (size_t s = 0; s < SUBJECTS; s++) {
            const uint32_t kind = subjects[s].kind;
            if (depends_on_kernels && kind != TAMIS_TALLY && kind != TAMIS_TOP) continue;
            check_against_general(&subjects[s], w);
            check_against_bulk(&subjects[s], w);
        }
    }
}

static void test_all(void)
{
    for (size_t w = 0; w < WAYS; w++) check_all(&ways[w], false);
}

/* The same with the other tables of kernels. */
static void test_kernels(void)
{
    const struct kernels *runnable[4];
    const size_t tables = tamis__runnable_kernels(runnable);
    for (size_t k = 1; k < tables; k++) {
        tamis__use_kernels(runnable[k]);
        check_all(&ways[0], true);
        check_all(&ways[1], true);
    }
    tamis__use_kernels(runnable[0]);
}

/* Copies and loaded handles choose again, and a view refuses adds. */
static void test_copies(void)
{
    make_stream(8);
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        tamis *t = open_subject(s, &ways[0]), *copy, *loaded, *view, *of_view;
        CHECK_OK(tamis_add_many(t, some, EVENTS, NULL, NULL));
        struct bytes image = image_of(t);
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK_OK(tamis_load(image.p, image.n, NULL, &loaded, NULL));
        uint8_t *place = aligned_alloc(64, (image.n + 63) / 64 * 64);
        CHECK(place != NULL);
        memcpy(place, image.p, image.n);
        CHECK_OK(tamis_view(place, image.n, NULL, &view, NULL));
        CHECK_OK(tamis_copy(view, &of_view, NULL));
        tamis *const all[] = {t, copy, loaded, of_view};
        for (size_t j = 0; j < 4; j++) {
            check_choice(all[j], s, &ways[0]);
            CHECK_OK(tamis_add_weight(all[j], some[j].p, 8, 3, NULL));
            CHECK_OK(tamis_add(all[j], some[0].p, 8, NULL));
        }
        check_choice(view, s, &ways[0]);
        CHECK(view->read_only);
        int64_t count = 5;
        bool seen = true;
        CHECK_THAT(tamis_add(view, some[0].p, 8, &seen), ==, TAMIS_ESEALED);
        CHECK_THAT(tamis_add_counted(view, some[0].p, 8, 1, &count, NULL), ==, TAMIS_ESEALED);
        CHECK(!seen && count == INT64_MAX);
        CHECK(memcmp(place, image.p, image.n) == 0);
        for (size_t j = 0; j < EVENTS; j++) CHECK(!s->own || tamis_upper(view, some[j].p, 8) >= 1);
        for (size_t j = 0; j < 4; j++) tamis_close(all[j]);
        tamis_close(view);
        free(place);
        free(image.p);
    }
}

/* A hostile image may have any weight. */
static void test_impossible_weights(void)
{
    static const int64_t impossible[] = {-5, INT64_MIN, -1, INT64_MAX - 1, INT64_MAX};
    make_stream(8);
    for (size_t i = 0; i < SUBJECTS * 5; i++) {
        const struct subject *s = &subjects[i / 5];
        tamis *one = open_subject(s, &ways[0]), *general = open_subject(s, &ways[0]);
        one->body.sections->weight = general->body.sections->weight = impossible[i % 5];
        general->single = general_functions();
        for (size_t j = 0; j < 10; j++) {
            check_same_add(one, general, j);
            check_same_totals(one, general);
            check_same_weight(one, general, j, j % 3 == 0 ? -1 : 1);
            check_same_totals(one, general);
        }
        tamis_close(one);
        tamis_close(general);
    }
}

/* A hostile image may have counters of 8 bytes that are greater than any count. */
static void test_impossible_counters(void)
{
    make_stream(8);
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        if (s->kind != TAMIS_TALLY && s->kind != TAMIS_TOP) continue;
        tamis *one = open_subject(s, &ways[0]), *general = open_subject(s, &ways[0]);
        const struct section *cells = one->body.sections;
        uint64_t random = 5;
        for (uint64_t at = 0; at < cells->length; at++) {
            const unsigned r = (unsigned)splitmix(&random) & 255;
            cells->cells[at] = (uint8_t)(at % 64 < 56    ? r | (r & 1) << 7
                                         : at % 64 == 63 ? 0
                                         : r % 3 == 0    ? 0
                                                         : 0x7f);
        }
        memcpy(general->body.sections->cells, cells->cells, (size_t)cells->length);
        general->single = general_functions();
        for (size_t j = 0; j < EVENTS; j++) {
            check_same_add(one, general, j);
            check_same_weight(one, general, j, j % 5 == 0 ? INT64_C(1) << 62 : 1);
            check_same_answers(one, general, j);
        }
        CHECK(memcmp(cells->cells, general->body.sections->cells, (size_t)cells->length) == 0);
        tamis_close(one);
        tamis_close(general);
    }
}

static const struct test tests[] = {
    {"all", test_all},
    {"kernels", test_kernels},
    {"copies", test_copies},
    {"impossible weights", test_impossible_weights},
    {"impossible counters", test_impossible_counters},
};

TEST_MAIN(tests)
