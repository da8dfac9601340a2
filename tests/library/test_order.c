/* The promise of identical bytes: the same plan and keys in the same order give the same image,
 * for every kind and every way to add. A second round of opening and saving raises the
 * generation and changes nothing else except the root (docs/FORMAT.md). In another order the
 * whole image is the same, or all of it except the number of items, or its cells differ as well.
 * The header says which is true for which kinds ("At rest"), and each line of the table below
 * shows it. */
#define _DEFAULT_SOURCE
#include "../support/filters.h"

#include <tamis/count.h>

enum same {
    WHOLE, /* the order does not matter */
    CELLS, /* it matters for the number of adds that changed something, and so for the root */
    NONE   /* it matters for the cells */
};

static const struct subject {
    const char *name;
    tamis_plan plan;
    enum same same;
    uint32_t threads;
    bool seal;
    bool few; /* keys, each many times */
} subjects[] = {
#define PLAN(...)                                                                                  \
    {                                                                                              \
        .struct_size = sizeof(tamis_plan), __VA_ARGS__                                             \
    }
    {.name = "bloom", .plan = PLAN(.kind = TAMIS_BLOOM, .items = 1000, .fpr = 0.1), .same = CELLS},
    {.name = "bloom, sealed",
     .plan = PLAN(.kind = TAMIS_BLOOM, .items = 1000, .fpr = 0.1),
     .same = CELLS,
     .seal = true},
    {.name = "partitioned",
     .plan = PLAN(.kind = TAMIS_PARTITIONED, .items = 1000, .fpr = 0.1),
     .same = CELLS},
    {.name = "blocked",
     .plan = PLAN(.kind = TAMIS_BLOCKED, .items = 1000, .fpr = 0.1),
     .same = CELLS},
    {.name = "compact",
     .plan = PLAN(.kind = TAMIS_BLOCKED, .flags = TAMIS_COMPACT, .items = 1000, .fpr = 0.1),
     .same = CELLS},
    {.name = "counting",
     .plan = PLAN(.kind = TAMIS_COUNTING, .items = 300, .fpr = 0.1),
     .same = WHOLE},
    {.name = "counting in lines",
     .plan = PLAN(.kind = TAMIS_COUNTING, .inner_kind = TAMIS_BLOCKED, .items = 300, .fpr = 0.1),
     .same = WHOLE},
    {.name = "pair", .plan = PLAN(.kind = TAMIS_PAIR, .items = 1000, .fpr = 0.1), .same = CELLS},
    {.name = "growing",
     .plan = PLAN(.kind = TAMIS_GROWING, .items = 100, .fpr = 0.1),
     .same = NONE},
    {.name = "removable growing",
     .plan = PLAN(.kind = TAMIS_GROWING, .flags = TAMIS_REMOVABLE, .items = 100, .fpr = 0.1),
     .same = NONE},
    {.name = "window",
     .plan = PLAN(.kind = TAMIS_WINDOW, .items = 1000, .fpr = 0.1),
     .same = CELLS},
    {.name = "turning window",
     .plan = PLAN(.kind = TAMIS_WINDOW, .flags = TAMIS_AUTO_ROTATE, .items = 1000, .fpr = 0.1),
     .same = NONE},
    {.name = "cuckoo",
     .plan = PLAN(.kind = TAMIS_CUCKOO, .items = 6000, .fpr = 0.01),
     .same = NONE},
    {.name = "fuse",
     .plan = PLAN(.kind = TAMIS_FUSE, .items = 1000, .fpr = 0.1),
     .same = WHOLE,
     .seal = true},
    {.name = "fuse, collecting",
     .plan = PLAN(.kind = TAMIS_FUSE, .items = 1000, .fpr = 0.1),
     .same = NONE},
    {.name = "ribbon",
     .plan = PLAN(.kind = TAMIS_RIBBON, .items = 1000, .fpr = 0.1),
     .same = WHOLE,
     .seal = true},
    {.name = "ribbon by threads",
     .plan = PLAN(.kind = TAMIS_RIBBON, .items = 1000, .fpr = 0.1),
     .same = WHOLE,
     .threads = 4,
     .seal = true},
    {.name = "ribbon, collecting",
     .plan = PLAN(.kind = TAMIS_RIBBON, .items = 1000, .fpr = 0.1),
     .same = NONE},
    {.name = "exact",
     .plan = PLAN(.kind = TAMIS_EXACT, .items = 1000, .fpr = 0.1),
     .same = WHOLE,
     .seal = true},
    {.name = "exact, collecting",
     .plan = PLAN(.kind = TAMIS_EXACT, .items = 1000, .fpr = 0.1),
     .same = NONE},
    {.name = "count-min", .plan = PLAN(.kind = TAMIS_COUNT_MIN, .bytes = 3000), .same = WHOLE},
    {.name = "conservative count-min",
     .plan = PLAN(.kind = TAMIS_COUNT_MIN, .flags = TAMIS_CONSERVATIVE, .bytes = 3000),
     .same = NONE},
    {.name = "count-sketch",
     .plan = PLAN(.kind = TAMIS_COUNT_SKETCH, .bytes = 3000),
     .same = WHOLE},
    {.name = "tally", .plan = PLAN(.kind = TAMIS_TALLY, .bytes = 1500), .same = NONE},
    {.name = "signed-tally",
     .plan = PLAN(.kind = TAMIS_SIGNED_TALLY, .m = 112),
     .same = NONE,
     .few = true},
    {.name = "top", .plan = PLAN(.kind = TAMIS_TOP, .bytes = 20000), .same = NONE},
    {.name = "window of count-min",
     .plan = PLAN(.kind = TAMIS_WINDOW, .inner_kind = TAMIS_COUNT_MIN, .bytes = 9000),
     .same = WHOLE},
    {.name = "distinct, tokens", .plan = PLAN(.kind = TAMIS_DISTINCT, .m = 1 << 15), .same = WHOLE},
    {.name = "distinct, registers", .plan = PLAN(.kind = TAMIS_DISTINCT, .m = 256), .same = WHOLE},
    {.name = "window of distinct",
     .plan = PLAN(.kind = TAMIS_WINDOW, .inner_kind = TAMIS_DISTINCT, .m = 256),
     .same = WHOLE},
    {.name = "window of tally",
     .plan = PLAN(.kind = TAMIS_WINDOW, .inner_kind = TAMIS_TALLY, .bytes = 4000),
     .same = NONE},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

/* A stream of N keys, of which a third are repeats, in one of several orders; and of few keys. */
#define N 3000u
#define ORDERS 5u
#define FEW 40u
static uint64_t numbers[ORDERS][N], rests[ORDERS][N];
static tamis_bytes streams[2][ORDERS][N];

static void make_orders(void)
{
    uint64_t state = 1;
    for (uint32_t o = 0; o < ORDERS; o++)
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t j = o == 1 ? N - 1 - i : i; /* backwards */
            numbers[o][i] = j % 3 == 0 ? j + 1 : j;
            streams[0][o][i] = (tamis_bytes){&numbers[o][i], sizeof numbers[o][i]};
            streams[1][o][i] = (tamis_bytes){&rests[o][i], sizeof rests[o][i]};
        }
    for (uint32_t o = 2; o < ORDERS; o++)
        for (uint32_t i = N - 1; i > 0; i--) {
            const uint32_t j = (uint32_t)(splitmix(&state) % (i + 1));
            const uint64_t kept = numbers[o][i];
            numbers[o][i] = numbers[o][j];
            numbers[o][j] = kept;
        }
    for (uint32_t o = 0; o < ORDERS; o++)
        for (uint32_t i = 0; i < N; i++) rests[o][i] = numbers[o][i] / (N / FEW);
}

/* --- The ways to add --- */

enum way { SINGLE, BULK, PIECES, HASHES, WEIGHTS, WAYS };

static void add_by(tamis *t, const tamis_bytes *in, enum way way)
{
    static tamis_hash h[N];
    uint8_t seen[N / 8 + 1];
    switch (way) {
    case SINGLE:
        for (size_t i = 0; i < N; i++) CHECK_OK(tamis_add(t, in[i].p, in[i].len, NULL));
        break;
    case BULK: CHECK_OK(tamis_add_many(t, in, N, NULL, NULL)); break;
    case PIECES:
        for (size_t at = 0, n = 1; at < N; at += n, n = (n * 7 + 3) % 500 + 1)
            CHECK_OK(tamis_add_many(t, in + at, n < N - at ? n : N - at, seen, NULL));
        break;
    case HASHES:
        CHECK_OK(tamis_hash_many(t, in, N, h));
        CHECK_OK(tamis_add_hashes(t, h, N, NULL, NULL));
        break;
    default: CHECK_OK(tamis_add_weight_many(t, in, NULL, N, NULL, NULL));
    }
}

/* What is excluded comes in two orders as well. */
static void exclude_some(tamis *t, const struct subject *s, uint32_t order)
{
    for (uint64_t i = 0; i < 500 && s->plan.kind == TAMIS_EXACT; i++) {
        const uint64_t key = N + (order % 2 == 0 ? i : 499 - i);
        CHECK_OK(tamis_exclude(t, &key, sizeof key, NULL));
    }
}

static struct bytes made(const struct subject *s, uint32_t order, enum way way)
{
    const tamis_options o = {.struct_size = sizeof o, .threads = s->threads};
    tamis *t;
    tamis_error why;
    if (tamis_create(&s->plan, &o, &t, &why) != TAMIS_OK) printf("%s: %s\n", s->name, why.text);
    CHECK(t != NULL);
    add_by(t, streams[s->few][order], way);
    exclude_some(t, s, order);
    if (s->seal) CHECK_OK(tamis_seal(t, NULL));
    struct bytes image = image_of(t);
    tamis_close(t);
    return image;
}

/* --- Comparing --- */

/* Items of header and sections, and the root: docs/FORMAT.md. */
static void blank_items(struct bytes image)
{
    const uint32_t sections = tamis__get32(image.p + 104);
    memset(image.p + 56, 0, 8);
    memset(image.p + 120, 0, 8);
    for (uint32_t i = 0; i < sections; i++) memset(image.p + 128 + 64 * i + 24, 0, 8);
}

static enum same compare(struct bytes a, struct bytes b)
{
    if (bytes_equal(a, b)) return WHOLE;
    struct bytes x = bytes_copy(a.p, a.n), y = bytes_copy(b.p, b.n);
    blank_items(x), blank_items(y);
    const bool equal = bytes_equal(x, y);
    free(x.p), free(y.p);
    return equal ? CELLS : NONE;
}

static void the_same_order(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        const bool distinct =
            s->plan.kind == TAMIS_DISTINCT || s->plan.inner_kind == TAMIS_DISTINCT;
        const bool counts =
            (s->plan.kind >= TAMIS_COUNT_MIN || s->plan.inner_kind >= TAMIS_COUNT_MIN) && !distinct;
        for (uint32_t order = 0; order < ORDERS; order++) {
            struct bytes first = made(s, order, SINGLE);
            for (enum way way = BULK; way < WAYS; way++) {
                if (way == HASHES && s->plan.kind == TAMIS_TOP) continue;
                if (way == WEIGHTS && !counts) continue;
                struct bytes b = made(s, order, way);
                if (!bytes_equal(first, b)) printf("%s, way %d\n", s->name, (int)way);
                CHECK(bytes_equal(first, b));
                free(b.p);
            }
            free(first.p);
        }
    }
}

static void another_order(void)
{
    bool all = true;
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        struct bytes first = made(s, 0, BULK);
        enum same worst = WHOLE;
        for (uint32_t order = 1; order < ORDERS; order++) {
            struct bytes b = made(s, order, BULK);
            const enum same now = compare(first, b);
            if (now > worst) worst = now;
            free(b.p);
        }
        free(first.p);
        if (worst != s->same) printf("%s: %d\n", s->name, (int)worst);
        all = all && worst == s->same;
    }
    CHECK(all);
}

/* The second half of the keys, to the image that was saved after the first. */
static struct bytes made_in_two_rounds(const struct subject *s, uint32_t flags)
{
    const tamis_options o = {.struct_size = sizeof o, .threads = s->threads, .flags = flags};
    const tamis_bytes *in = streams[s->few][0];
    tamis *t = create(&s->plan, NULL), *u;
    CHECK_OK(tamis_add_many(t, in, N / 2, NULL, NULL));
    struct bytes first = image_of(t);
    CHECK_OK(tamis_load(first.p, first.n, &o, &u, NULL));
    CHECK_OK(tamis_add_many(u, in + N / 2, N - N / 2, NULL, NULL));
    exclude_some(u, s, 0);
    if (s->seal) CHECK_OK(tamis_seal(u, NULL));
    struct bytes image = image_of(u);
    free(first.p);
    tamis_close(t), tamis_close(u);
    return image;
}

/* Two rounds differ from one in generation and root alone, and replicas not even in those. */
static void two_rounds(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct bytes one = made(&subjects[i], 0, BULK);
        struct bytes two = made_in_two_rounds(&subjects[i], 0);
        struct bytes steady = made_in_two_rounds(&subjects[i], TAMIS_STEADY);
        CHECK(bytes_equal(one, steady));
        CHECK(tamis__get64(one.p + 96) == 1 && tamis__get64(two.p + 96) == 2);
        CHECK(tamis__get64(one.p + 120) != tamis__get64(two.p + 120));
        memcpy(two.p + 96, one.p + 96, 8);
        memcpy(two.p + 120, one.p + 120, 8);
        if (!bytes_equal(one, two)) printf("%s\n", subjects[i].name);
        CHECK(bytes_equal(one, two));
        free(one.p), free(two.p), free(steady.p);
    }
}

/* Sealed kinds with more distinct keys, so that ribbons have several pieces. */
static void big_seals(void)
{
    enum { BIG = 300000 };
    const uint32_t kinds[] = {TAMIS_FUSE, TAMIS_RIBBON, TAMIS_EXACT};
    for (size_t i = 0; i < 3; i++) {
        const tamis_plan plan = plan_of(kinds[i], BIG);
        tamis *t[3];
        for (uint32_t j = 0; j < 3; j++) {
            const tamis_options o = {.struct_size = sizeof o, .threads = j};
            CHECK_OK(tamis_create(&plan, &o, &t[j], NULL));
            for (uint64_t n = 0; n < BIG; n++) {
                const uint64_t key = j == 0 ? n : j == 1 ? BIG - 1 - n : (n * 7919 + 13) % BIG;
                CHECK_OK(tamis_add(t[j], &key, sizeof key, NULL));
            }
            CHECK_OK(tamis_seal(t[j], NULL));
        }
        CHECK(same_image(t[0], t[1]) && same_image(t[0], t[2]));
        for (uint32_t j = 0; j < 3; j++) tamis_close(t[j]);
    }
}

/* Adds that are dealt out to parts of a big table, against those that are not, backwards. */
static void partitioned_adds(void)
{
    const uint64_t lines = UINT64_C(1) << 20, n = lines + 5000;
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = n, .m = 512 * lines};
    const tamis_options none = {.struct_size = sizeof none, .scratch_bytes = 1};
    tamis *parted, *plain;
    uint64_t *forth = malloc(n * sizeof *forth), *back = malloc(n * sizeof *back);
    tamis_bytes *in = malloc(n * sizeof *in);
    CHECK(forth != NULL && back != NULL && in != NULL);
    CHECK_OK(tamis_create(&plan, NULL, &parted, NULL));
    CHECK_OK(tamis_create(&plan, &none, &plain, NULL));
    for (uint64_t i = 0; i < n; i++) forth[i] = back[n - 1 - i] = i;
    for (uint64_t i = 0; i < n; i++) in[i] = (tamis_bytes){&forth[i], 8};
    CHECK_OK(tamis_add_many(parted, in, n, NULL, NULL));
    for (uint64_t i = 0; i < n; i++) in[i] = (tamis_bytes){&back[i], 8};
    CHECK_OK(tamis_add_many(plain, in, n, NULL, NULL));
    struct bytes a = image_of(parted), b = image_of(plain);
    CHECK_THAT(compare(a, b), <=, CELLS);
    free(a.p), free(b.p), free(forth), free(back), free(in);
    tamis_close(parted), tamis_close(plain);
}

int main(int argc, char **argv)
{
    const struct test tests[] = {
        {"the_same_order", the_same_order},
        {"another_order", another_order},
        {"two_rounds", two_rounds},
        {"big_seals", big_seals},
        {"partitioned_adds", partitioned_adds},
    };
    make_orders();
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
