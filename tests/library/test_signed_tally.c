/* signed-tally against a plain model of its own: every octet as a list of counters with their
 * lengths, written from docs/FORMAT.md. Images must be equal bit for bit, through joins of every
 * length, and merges. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "core/bits.h"

#define LINES 6u
#define MOST INT64_MAX

/* --- The model -------------------------------------------------------------------------------- */

/* value[p] is that of the counter that begins at byte p, size[p] its bytes; those of bytes inside
 * one mean nothing. */
struct octet {
    int64_t value[8];
    unsigned size[8];
};
struct model {
    struct octet octets[LINES][7];
    int64_t total;
};

static void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < LINES * 7; i++)
        for (unsigned p = 0; p < 8; p++) m->octets[i / 7][i % 7].size[p] = 1;
}

static unsigned begin(const struct octet *o, unsigned p)
{
    unsigned at = 0;
    while (at + o->size[at] <= p) at += o->size[at];
    return at;
}

static bool fits(int64_t v, unsigned size)
{
    const int64_t end = INT64_C(1) << (8 * size - 1) % 63;
    return size == 8 || (v >= -end && v < end);
}

/* A saturated sum stays saturated. */
static int64_t sum(int64_t a, int64_t b)
{
    int64_t s;
    if (a == MOST || a == -MOST) return a;
    if (__builtin_add_overflow(a, b, &s)) return b > 0 ? MOST : -MOST;
    return s < -MOST ? -MOST : s;
}

/* The counter at `at` and its neighbour are one, with the sum of all in them. */
static unsigned join(struct octet *o, unsigned at)
{
    const unsigned size = 2 * o->size[at], from = at / size * size;
    int64_t all = 0;
    for (unsigned i = from; i < from + size; i += o->size[i]) all += o->value[i];
    o->value[from] = all;
    o->size[from] = size;
    return from;
}

static void move(struct octet *o, unsigned p, int64_t w)
{
    unsigned at = begin(o, p);
    while (!fits(sum(o->value[at], w), o->size[at])) at = join(o, at);
    o->value[at] = sum(o->value[at], w);
}

struct spot {
    struct octet *o;
    unsigned p;
    bool minus;
};

static void model_find(struct model *m, tamis_hash h, struct spot *at)
{
    const uint64_t a = tamis__mulhi(h.hi, LINES);
    const uint64_t b = (a + 1 + tamis__mulhi(h.lo, LINES - 1)) % LINES;
    const uint64_t signs = tamis__remix(h.lo ^ h.hi) >> 59;
    for (unsigned line = 0; line < 2; line++) {
        uint64_t r = ((line == 0 ? h.hi : h.lo) & 0xffffffff) * 7;
        struct octet *o = m->octets[line == 0 ? a : b];
        const uint64_t first = r >> 32;
        r = (r & 0xffffffff) * 6;
        const uint64_t second = 1 + (r >> 32);
        uint64_t third = 0;
        if (line == 0) {
            r = (r & 0xffffffff) * 5;
            third = 1 + (r >> 32);
            if (third >= second) third++;
        }
        r = (r & 0xffffffff) * 512 >> 32;
        struct spot *s = at + 3 * line;
        s[0] = (struct spot){&o[first], (unsigned)r % 8, false};
        s[1] = (struct spot){&o[(first + second) % 7], (unsigned)r / 8 % 8, false};
        if (line == 0) s[2] = (struct spot){&o[(first + third) % 7], (unsigned)r / 64 % 8, false};
    }
    for (unsigned i = 0; i < 5; i++) at[i].minus = signs >> i & 1;
}

static int64_t opposite(int64_t w)
{
    return w == INT64_MIN ? INT64_MAX : -w;
}

static void model_add(struct model *m, tamis_hash h, int64_t w)
{
    struct spot at[5];
    model_find(m, h, at);
    for (int i = 0; i < 5; i++) move(at[i].o, at[i].p, at[i].minus ? opposite(w) : w);
    m->total = sum(m->total, w);
}

static int64_t model_count(struct model *m, tamis_hash h)
{
    struct spot at[5];
    int64_t v[5];
    model_find(m, h, at);
    for (int i = 0; i < 5; i++) {
        v[i] = at[i].o->value[begin(at[i].o, at[i].p)];
        if (at[i].minus) v[i] = -v[i];
        for (int j = i; j > 0 && v[j - 1] > v[j]; j--) {
            const int64_t x = v[j];
            v[j] = v[j - 1];
            v[j - 1] = x;
        }
    }
    return v[2];
}

static int64_t sum_in(const struct octet *o, unsigned from, unsigned size)
{
    int64_t all = 0;
    for (unsigned i = from; i < from + size; i += o->size[i]) all += o->value[i];
    return all;
}

/* Sizes of both, then longer ones until all sums fit. */
static void merge_octet(struct octet *a, const struct octet *b)
{
    struct octet r = *a;
    for (unsigned p = 0; p < 8; p += r.size[p])
        while (r.size[p] < b->size[begin(b, p)]) r.size[p] *= 2;
    for (unsigned p = 0; p < 8;) {
        const unsigned size = r.size[p];
        const int64_t x = sum_in(a, p, size), y = sum_in(b, p, size);
        const bool ended = y == MOST || y == -MOST;
        const int64_t v = ended && x != MOST && x != -MOST ? y : sum(x, y);
        r.value[p] = v;
        if (fits(v, size)) {
            p += size;
        } else {
            r.size[p / (2 * size) * 2 * size] = 2 * size;
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
                line[8 * (i % 7) + p + b] = (uint8_t)((uint64_t)o->value[p] >> 8 * b);
            j |= o->size[p] == 2 ? 1u << p : o->size[p] == 4 ? 7u << p : o->size[p] == 8 ? 0x7f : 0;
        }
        line[56 + i % 7] = (uint8_t)j;
    }
}

/* --- The tests -------------------------------------------------------------------------------- */

static tamis *signed_new(uint64_t lines)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_SIGNED_TALLY, .m = 56 * lines};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static bool same_cells(const tamis *t, const struct model *m)
{
    uint8_t cells[LINES * 64];
    model_write(m, cells);
    struct bytes image = image_of(t);
    const bool same = memcmp(image.p + image.n - sizeof cells, cells, sizeof cells) == 0;
    free(image.p);
    return same;
}

/* Weights of either sign and of up to 4 * scale bits, by every verb that adds. */
static void run(tamis *t, struct model *m, uint64_t *random, unsigned n, unsigned scale)
{
    for (unsigned i = 0; i < n; i++) {
        const uint64_t key = splitmix(random) % 40, r = splitmix(random);
        const tamis_bytes bytes = {&key, sizeof key};
        tamis_hash h;
        int64_t w = (int64_t)(r >> (64 - 4 * scale));
        w = r & 1 ? w : opposite(w);
        CHECK_OK(tamis_hash_many(t, &bytes, 1, &h));
        switch (r % 3) {
        case 0: CHECK_OK(tamis_add_weight(t, &key, sizeof key, w, NULL)); break;
        case 1: CHECK_OK(tamis_add_weight_hashes(t, &h, &w, 1, NULL, NULL)); break;
        default:
            w = r & 2 ? 1 : -1;
            if (w == 1)
                CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
            else
                CHECK_OK(tamis_remove(t, &key, sizeof key, NULL));
        }
        model_add(m, h, w);
        if (i % 20 == 0) CHECK_THAT(ask_count(t, key).estimate, ==, model_count(m, h));
    }
    CHECK(same_cells(t, m));
}

static void test_model(void)
{
    uint64_t random = 42;
    for (unsigned round = 0; round < 120; round++) {
        static struct model m;
        model_init(&m);
        tamis *t = signed_new(LINES);
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
            t[i] = signed_new(LINES);
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

/* One key alone, over the ends of each length, up and down; and for ever at the last one. */
static void test_every_length(void)
{
    static const int64_t ends[] = {127, 32767, INT32_MAX};
    const uint64_t key = 5;
    for (int down = 0; down < 2; down++) {
        const int64_t sign = down ? -1 : 1;
        tamis *t = signed_new(2);
        for (size_t i = 0; i < 3; i++) {
            CHECK_OK(tamis_clear(t));
            CHECK_OK(tamis_add_weight(t, &key, sizeof key, sign * (ends[i] - 2), NULL));
            for (int64_t more = -1; more < 4; more++) {
                CHECK_OK(tamis_add_weight(t, &key, sizeof key, sign, NULL));
                CHECK(ask_count(t, key).estimate == sign * (ends[i] + more));
            }
            CHECK_OK(tamis_add_weight(t, &key, sizeof key, -sign * (ends[i] + 3), NULL));
            CHECK(ask_count(t, key).estimate == 0);
        }
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, sign * MOST, NULL));
        CHECK_THAT(sketch_facts(t).saturated, ==, 5);
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, -sign * 1000, NULL));
        const tamis_estimate e = ask_count(t, key);
        CHECK(e.upper == INT64_MAX && e.lower == INT64_MIN && e.confidence == 1);
        tamis_close(t);
    }
}

/* All that was added and taken away again leaves nothing, whatever has joined: sums lose
 * nothing. */
static void test_nothing_left(void)
{
    uint64_t random = 7;
    tamis *t = signed_new(20);
    static uint64_t keys[20000];
    static int64_t weights[20000];
    for (int sign = 1; sign >= -1; sign -= 2)
        for (unsigned i = 0; i < 20000; i++) {
            if (sign == 1) {
                keys[i] = splitmix(&random) % 5000;
                weights[i] = (int64_t)(splitmix(&random) >> 44) - (1 << 18);
            }
            CHECK_OK(tamis_add_weight(t, &keys[i], 8, sign * weights[i], NULL));
        }
    for (uint64_t key = 0; key < 5000; key++) {
        const tamis_estimate e = ask_count(t, key);
        CHECK(e.estimate == 0 && e.lower <= 0 && e.upper >= 0);
    }
    CHECK(sketch_facts(t).weight == 0);
    tamis_close(t);
}

/* Half of a stream is taken away again: in the same memory at most 5/8 of count-sketch's mean
 * error, and at most a third of count-min's. Streams and seeds are fixed: there is no chance in
 * it. */
static void test_better_than_rows(void)
{
    static const double alphas[3] = {0.8, 1.0, 1.3};
    static const uint32_t kinds[3] = {TAMIS_SIGNED_TALLY, TAMIS_COUNT_SKETCH, TAMIS_COUNT_MIN};
    if (getenv("TEST_BRIEFLY") != NULL) return; /* under emulation */
    for (size_t a = 0; a < 3; a++) {
        struct stream z = zipf_stream(alphas[a], 1000000, 200000, 31);
        for (uint64_t bytes = 1 << 14; bytes <= 1 << 18; bytes <<= 2) {
            double wrong[3] = {0, 0, 0};
            for (int i = 0; i < 3; i++) {
                const tamis_plan p = {.struct_size = sizeof p, .kind = kinds[i], .bytes = bytes};
                tamis *t;
                CHECK_OK(tamis_create(&p, NULL, &t, NULL));
                add_stream(t, &z, 0, z.n);
                for (uint32_t k = 0; k < z.universe; k++) {
                    const uint64_t key = k;
                    CHECK_OK(tamis_add_weight(t, &key, sizeof key, -(z.truth[k] / 2), NULL));
                }
                tamis_estimate *e = count_universe(t, z.universe);
                uint32_t within = 0;
                for (uint32_t k = 0; k < z.universe; k++) {
                    const int64_t left = z.truth[k] - z.truth[k] / 2;
                    const int64_t says =
                        i == 2 ? e[k].upper : e[k].estimate; /* what counters say */
                    wrong[i] += fabs((double)(says - left));
                    within += e[k].lower <= left && left <= e[k].upper;
                }
                CHECK_THAT(within, >, 0.985 * z.universe);
                free(e);
                tamis_close(t);
            }
            printf("%.1f %7llu bytes: %8.2f, count-sketch %8.2f, count-min %8.2f\n", alphas[a],
                   (unsigned long long)bytes, wrong[0] / z.universe, wrong[1] / z.universe,
                   wrong[2] / z.universe);
            CHECK_THAT(wrong[0], <, wrong[1] * 0.625);
            CHECK_THAT(wrong[0], <, wrong[2] / 3);
        }
        stream_free(&z);
    }
}

static const struct test tests[] = {
    {"model", test_model},
    {"merges", test_merges},
    {"every length", test_every_length},
    {"nothing left", test_nothing_left},
    {"better than rows", test_better_than_rows},
};

TEST_MAIN(tests)
