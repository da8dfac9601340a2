/* tally against a plain model of its own: every octet as a list of counters with their lengths,
 * written from docs/FORMAT.md. Images must be equal bit for bit, through joins of every length, and
 * merges. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "core/cpu.h"

#define LINES 6u
#define MOST ((uint64_t)INT64_MAX)

/* --- The model -------------------------------------------------------------------------------- */

/* value[p] is that of the counter of byte p, for every byte of the counter; size[p] its bytes. */
struct octet {
    uint64_t value[8];
    unsigned size[8];
};
struct model {
    struct octet octets[LINES][7];
};

static void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < LINES * 7; i++)
        for (unsigned p = 0; p < 8; p++) m->octets[i / 7][i % 7].size[p] = 1;
}

static uint64_t capacity(unsigned size)
{
    return size == 8 ? MOST : (UINT64_C(1) << 8 * size) - 1;
}

static void join(struct octet *o, unsigned p)
{
    const unsigned size = 2 * o->size[p], from = p / size * size;
    uint64_t most = 0;
    for (unsigned i = from; i < from + size; i++)
        if (o->value[i] > most) most = o->value[i];
    for (unsigned i = from; i < from + size; i++) {
        o->value[i] = most;
        o->size[i] = size;
    }
}

static void set(struct octet *o, unsigned p, uint64_t v)
{
    const unsigned from = p / o->size[p] * o->size[p];
    for (unsigned i = from, end = from + o->size[p]; i < end; i++) o->value[i] = v;
}

static void raise_to(struct octet *o, unsigned p, uint64_t t)
{
    if (o->value[p] >= t) return;
    while (t > capacity(o->size[p])) join(o, p);
    if (o->value[p] < t) set(o, p, t);
}

struct spot {
    struct octet *o;
    unsigned p;
};

static void spots_in(struct octet *line, uint64_t u, struct spot *out)
{
    uint64_t r = u * 7;
    const unsigned first = (unsigned)(r >> 32);
    r = (r & 0xffffffff) * 6;
    const unsigned second = (first + 1 + (unsigned)(r >> 32)) % 7;
    r = (r & 0xffffffff) * 64;
    out[0] = (struct spot){&line[first], (unsigned)(r >> 32) % 8};
    out[1] = (struct spot){&line[second], (unsigned)(r >> 35)};
}

static uint64_t model_find(struct model *m, tamis_hash h, struct spot *at)
{
    const uint64_t a = tamis__mulhi(h.hi, LINES);
    const uint64_t b = (a + 1 + tamis__mulhi(h.lo, LINES - 1)) % LINES;
    uint64_t least = MOST;
    spots_in(m->octets[a], h.hi & 0xffffffff, at);
    spots_in(m->octets[b], h.lo & 0xffffffff, at + 2);
    for (int i = 0; i < 4; i++)
        if (at[i].o->value[at[i].p] < least) least = at[i].o->value[at[i].p];
    return least;
}

static void model_add(struct model *m, tamis_hash h, uint64_t w)
{
    struct spot at[4];
    const uint64_t least = model_find(m, h, at), t = w < MOST - least ? least + w : MOST;
    for (int i = 0; i < 4; i++) raise_to(at[i].o, at[i].p, t);
}

/* Sizes of both, then longer ones until all sums fit. */
static void merge_octet(struct octet *a, const struct octet *b)
{
    struct octet r = *a;
    for (unsigned p = 0; p < 8; p++)
        if (b->size[p] > r.size[p]) r.size[p] = b->size[p];
    for (unsigned p = 0; p < 8;) {
        const unsigned size = r.size[p];
        uint64_t x = 0, y = 0;
        for (unsigned i = p; i < p + size; i++) {
            if (a->value[i] > x) x = a->value[i];
            if (b->value[i] > y) y = b->value[i];
        }
        const uint64_t sum = x < MOST - y ? x + y : MOST;
        if (sum <= capacity(size)) {
            set(&r, p, sum);
            p += size;
        } else {
            for (unsigned i = p / (2 * size) * 2 * size, end = i + 2 * size; i < end; i++)
                r.size[i] = 2 * size;
            p = 0;
        }
    }
    *a = r;
}

static void model_write(const struct model *m, uint8_t *out)
{
    memset(out, 0, LINES * 64);
    for (unsigned i = 0; i < LINES * 7; i++) {
        const struct octet *o = &m->octets[i / 7][i % 7];
        uint8_t *line = out + 64 * (i / 7);
        unsigned j = 0;
        for (unsigned p = 0; p < 8; p += o->size[p]) {
            for (unsigned b = 0; b < o->size[p]; b++)
                line[8 * (i % 7) + p + b] = (uint8_t)(o->value[p] >> 8 * b);
            j |= o->size[p] == 2 ? 1u << p : o->size[p] == 4 ? 7u << p : o->size[p] == 8 ? 0x7f : 0;
        }
        line[56 + i % 7] = (uint8_t)j;
    }
}

static tamis *tally_new(uint64_t lines, uint64_t seed)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_TALLY, .m = 56 * lines, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static bool same_cells(const tamis *t, const struct model *m)
{
    uint8_t expected[LINES * 64];
    struct bytes image = image_of(t);
    model_write(m, expected);
    const bool same = memcmp(image.p + image.n - sizeof expected, expected, sizeof expected) == 0;
    free(image.p);
    return same;
}

/* --- Tests ------------------------------------------------------------------------------------ */

/* Weights up to 2^(4 * scale). */
static void run(tamis *t, struct model *m, uint64_t *random, unsigned adds, unsigned scale)
{
    for (unsigned i = 0; i < adds; i++) {
        const tamis_hash h = {splitmix(random), splitmix(random)};
        const uint64_t w = splitmix(random) >> (64 - 4 * scale) >> splitmix(random) % 60;
        const int64_t weight = (int64_t)(w & MOST);
        if (splitmix(random) % 2 == 0) { /* the way of ones */
            CHECK_OK(tamis_add_weight_hashes(t, &h, NULL, 1, NULL, NULL));
            model_add(m, h, 1);
        } else {
            CHECK_OK(tamis_add_weight_hashes(t, &h, &weight, 1, NULL, NULL));
            model_add(m, h, (uint64_t)weight);
        }
        struct spot at[4];
        tamis_estimate e;
        if (i % 64 != 0) continue;
        CHECK_OK(tamis_count_hashes(t, &h, 1, &e, NULL));
        CHECK(e.upper == (int64_t)model_find(m, h, at));
    }
    CHECK(same_cells(t, m));
}

static void test_model(void)
{
    uint64_t random = 42;
    for (unsigned round = 0; round < 120; round++) {
        static struct model m;
        model_init(&m);
        tamis *t = tally_new(LINES, 0);
        for (unsigned scale = 1; scale <= 16; scale++) run(t, &m, &random, 60, scale);
        tamis_close(t);
    }
}

static void test_merges(void)
{
    uint64_t random = 43;
    for (unsigned round = 0; round < 400; round++) {
        static struct model m[2];
        tamis *t[2];
        for (int i = 0; i < 2; i++) {
            model_init(&m[i]);
            t[i] = tally_new(LINES, 0);
            run(t[i], &m[i], &random, 10 + round / 4, 1 + (round + 5 * (unsigned)i) % 16);
        }
        CHECK_OK(tamis_merge(t[0], t[1], NULL));
        for (unsigned o = 0; o < LINES * 7; o++)
            merge_octet(&m[0].octets[o / 7][o % 7], &m[1].octets[o / 7][o % 7]);
        CHECK(same_cells(t[0], &m[0]));
        tamis_close(t[0]);
        tamis_close(t[1]);
    }
}

/* Every instruction set makes the same bits of the same adds, many at a time. */
static void test_kernels(void)
{
    const struct kernels *tables[4], *before = tamis__kernels();
    const size_t n_tables = tamis__runnable_kernels(tables);
    static tamis_hash h[30000];
    for (uint64_t lines = 2; lines <= 200; lines = lines * 3 + 1) {
        uint64_t random = lines;
        struct bytes first = {NULL, 0};
        for (size_t i = 0; i < 30000; i++) { /* some keys thousands of times */
            uint64_t key = splitmix(&random) % (1 + splitmix(&random) % 3000);
            h[i] = (tamis_hash){splitmix(&key), splitmix(&key)};
        }
        for (size_t i = 0; i < n_tables; i++) {
            tamis__use_kernels(tables[i]);
            tamis *t = tally_new(lines, 0);
            for (size_t at = 0, n = 1; at < 30000; at += n, n = n * 2 % 4095)
                CHECK_OK(tamis_add_weight_hashes(t, h + at, NULL, n < 30000 - at ? n : 30000 - at,
                                                 NULL, NULL));
            struct bytes image = image_of(t);
            tamis_close(t);
            if (i == 0) first = image;
            if (!bytes_equal(image, first)) printf("%s\n", tables[i]->name);
            CHECK(bytes_equal(image, first));
            if (i != 0) free(image.p);
        }
        free(first.p);
    }
    tamis__use_kernels(before);
}

/* One key alone, up to and over the end of each length, one by one and at once. */
static void test_every_length(void)
{
    static const uint64_t ends[] = {255, 65535, UINT32_MAX};
    const uint64_t key = 5;
    for (size_t i = 0; i < 3; i++) {
        tamis *t = tally_new(2, 0), *u;
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, (int64_t)ends[i] - 2, NULL));
        for (int64_t more = -1; more < 4; more++) {
            CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
            CHECK(ask_count(t, key).upper == (int64_t)ends[i] + more);
        }
        CHECK_OK(tamis_copy(t, &u, NULL));
        CHECK_OK(tamis_merge(t, u, NULL));
        CHECK(ask_count(t, key).upper == 2 * ((int64_t)ends[i] + 3));
        CHECK(sketch_facts(t).saturated == 0);
        tamis_close(t);
        tamis_close(u);
    }
}

/* In the same memory, at most a sixth of the mean error of count-min.
 * Streams and seeds are fixed: there is no chance in it. */
static void test_better_than_count_min(void)
{
    static const double alphas[3] = {0.8, 1.0, 1.3};
    static const struct sketch tally = {"tally", TAMIS_TALLY, 0, 8, false, false, false};
    for (size_t a = 0; a < 3; a++) {
        struct stream z = zipf_stream(alphas[a], 1000000, 200000, 31);
        for (uint64_t bytes = 1 << 14; bytes <= 1 << 18; bytes <<= 2) {
            tamis *t[2] = {sketch_new(&tally, bytes, 0), sketch_new(&sketches[0], bytes, 0)};
            double wrong[2] = {0, 0};
            for (int i = 0; i < 2; i++) {
                add_stream(t[i], &z, 0, z.n);
                tamis_estimate *e = count_universe(t[i], z.universe);
                for (uint32_t k = 0; k < z.universe; k++) {
                    CHECK(e[k].upper >= z.truth[k]);
                    if (z.truth[k] != 0) wrong[i] += (double)(e[k].upper - z.truth[k]);
                }
                free(e);
                tamis_close(t[i]);
            }
            CHECK_THAT(wrong[0], <, wrong[1] / 6);
        }
        stream_free(&z);
    }
}

/* Eight parts, merged: one-sided, and still far better than count-min. */
static void test_parts(void)
{
    struct stream z = zipf_stream(1.0, 800000, 200000, 37);
    static const struct sketch tally = {"tally", TAMIS_TALLY, 0, 8, false, false, false};
    tamis *into = sketch_new(&tally, 1 << 17, 0), *rows = sketch_new(&sketches[0], 1 << 17, 0);
    for (uint32_t part = 0; part < 8; part++) {
        tamis *from = sketch_new(&tally, 1 << 17, 0);
        add_stream(from, &z, z.n / 8 * part, z.n / 8 * (part + 1));
        CHECK_OK(tamis_merge(into, from, NULL));
        tamis_close(from);
    }
    add_stream(rows, &z, 0, z.n);
    tamis_estimate *e = count_universe(into, z.universe), *r = count_universe(rows, z.universe);
    double wrong = 0, of_rows = 0, top = 0;
    for (uint32_t k = 0; k < z.universe; k++) {
        CHECK(e[k].upper >= z.truth[k]);
        wrong += (double)(e[k].upper - z.truth[k]);
        of_rows += (double)(r[k].upper - z.truth[k]);
        if (k < 100) top += (double)(e[k].upper - z.truth[k]) / 100;
    }
    CHECK_THAT(wrong, <, of_rows / 6);
    CHECK_THAT(top, <, 20); /* adding while joining would give hundreds */
    free(e);
    free(r);
    tamis_close(into);
    tamis_close(rows);
    stream_free(&z);
}

/* Every j of an octet: those that nest are accepted, all others refused. */
static void test_impossible_joins(void)
{
    tamis *t = tally_new(3, 0), *out;
    struct bytes image = image_of(t);
    unsigned accepted = 0;
    for (unsigned where = 56; where < 64; where++)
        for (unsigned j = 0; j < 256; j++) {
            struct bytes bad = bytes_copy(image.p, image.n);
            bad.p[image.n - 128 + where] = (uint8_t)j;
            image_resum(bad.p, bad.n);
            const tamis_status s = tamis_load(bad.p, bad.n, NULL, &out, NULL);
            CHECK(s == TAMIS_OK || s == TAMIS_ECORRUPT);
            CHECK(where < 63 || (s == TAMIS_OK) == (j == 0));
            accepted += s == TAMIS_OK;
            tamis_close(out);
            free(bad.p);
        }
    CHECK_THAT(accepted, ==, 7 * 26 + 1); /* five ways for each half, and all eight together */
    free(image.p);
    tamis_close(t);
}

static const struct test tests[] = {
    {"model", test_model},
    {"merges", test_merges},
    {"kernels", test_kernels},
    {"every length", test_every_length},
    {"better than count-min", test_better_than_count_min},
    {"parts", test_parts},
    {"impossible joins", test_impossible_joins},
};

TEST_MAIN(tests)
