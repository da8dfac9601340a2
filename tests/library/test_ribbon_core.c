/* The core of the bumped ribbon: no key is lost, for any keys; the rate and the size are as
 * stated; every kernel gives the same bytes and answers; hostile bytes and missing memory do no
 * harm. */
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/tracking.h"
#include "core/cpu.h"
#include "core/hash.h"
#include "sealed/hash_sort.h"
#include "sealed/ribbon/ribbon.h"

#include <math.h>

static const struct kernels *tables[5];
static size_t n_tables;

static const double all_columns[] = {1, 2, 4, 7.3, 8, 12.5, 16, 24};
#define N_COLUMNS (sizeof all_columns / sizeof *all_columns)

static void *memory_for(size_t size)
{
    void *p = malloc(size != 0 ? size : 1);
    CHECK(p != NULL);
    return p;
}

static tamis_hash *random_hashes(uint64_t n, uint64_t seed)
{
    tamis_hash *h = memory_for((size_t)n * sizeof *h);
    for (uint64_t i = 0; i < n; i++) {
        h[i].lo = splitmix(&seed);
        h[i].hi = splitmix(&seed);
    }
    return h;
}

/* Builds from a copy, so that the hashes can be queried afterwards. */
static struct ribbon build_of(const tamis_hash *h, uint64_t n, double columns)
{
    struct ribbon r;
    tamis_hash *copy = memory_for((size_t)n * sizeof *h);
    memcpy(copy, h, (size_t)n * sizeof *h);
    CHECK_OK(tamis__ribbon_build(NULL, copy, n, columns, &r));
    free(copy);
    const char *wrong = tamis__ribbon_wrong(&r);
    if (wrong != NULL) printf("%s\n", wrong);
    CHECK(wrong == NULL);
    return r;
}

/* Room for the aims of two batches. */
struct aims {
    uint64_t words[2][TAMIS__RIBBON_AIM_WORDS(TAMIS__RIBBON_BATCH)];
    struct ribbon_aim of[2];
};

static void aims_open(struct aims *a)
{
    for (unsigned i = 0; i < 2; i++)
        a->of[i] = tamis__ribbon_aim_in(a->words[i], TAMIS__RIBBON_BATCH);
}

/* How many of the hashes may be in, asked in batches of `batch`; most were ahead before. */
static uint64_t count_in(const struct ribbon *r, const tamis_hash *h, uint64_t n, size_t batch)
{
    struct aims aims;
    struct ribbon_aim *aim = NULL;
    unsigned turn = 0;
    uint64_t count = 0;
    aims_open(&aims);
    if (n >= batch) tamis__ribbon_prefetch(r, h, batch, aim = &aims.of[turn++ % 2]);
    for (uint64_t at = 0; at < n; at += batch) {
        const size_t now = n - at < batch ? (size_t)(n - at) : batch;
        const tamis_hash *ahead = aim != NULL && at + 2 * now <= n ? h + at + now : NULL;
        uint8_t bits[TAMIS__RIBBON_BATCH / 8];
        struct ribbon_aim *next = ahead != NULL ? &aims.of[turn++ % 2] : NULL;
        tamis__ribbon_query(r, h + at, now, aim, ahead, next, bits);
        aim = next;
        for (size_t i = 0; i < now; i++) count += tamis__bit(bits, i);
        if (now % 8 != 0) CHECK(bits[now / 8] >> now % 8 == 0);
    }
    return count;
}

static bool same_bytes(const struct ribbon *a, const struct ribbon *b)
{
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct ribbon_layer *l = &a->layers[i], *m = &b->layers[i];
        if (l->segments != m->segments || l->boundary != m->boundary || l->columns != m->columns ||
            memcmp(l->solution, m->solution, (size_t)l->solution_bytes) != 0 ||
            (!l->homogeneous &&
             memcmp(l->thresholds, m->thresholds, (size_t)l->threshold_bytes) != 0))
            return false;
    }
    return true;
}

/* --- Keys ------------------------------------------------------------------------------------- */

static void no_key_is_lost(void)
{
    static const uint64_t sizes[] = {0,   1,   2,   3,   10,  63,   64,   65,    66,     127,
                                     128, 129, 130, 200, 999, 1000, 1001, 10000, 100000, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tamis_hash *h = random_hashes(sizes[s], s + 1);
        for (size_t c = 0; c < N_COLUMNS; c++) {
            struct ribbon r = build_of(h, sizes[s], all_columns[c]);
            CHECK_THAT(count_in(&r, h, sizes[s], TAMIS__RIBBON_BATCH), ==, sizes[s]);
            if (sizes[s] <= 10000) CHECK_THAT(count_in(&r, h, sizes[s], 1 + c), ==, sizes[s]);
            tamis__ribbon_free(NULL, &r);
        }
        free(h);
    }
}

/* Every size, every column count: where rounding would go wrong. */
static void small_sets_are_right(void)
{
    for (uint64_t n = 0; n <= 200; n++) {
        tamis_hash *h = random_hashes(n, 1000 + n), *others = random_hashes(100, 5000 + n);
        for (double columns = 1; columns <= 32; columns += 1.75) {
            struct ribbon r = build_of(h, n, columns);
            CHECK_THAT(count_in(&r, h, n, TAMIS__RIBBON_BATCH), ==, n);
            if (n == 0) CHECK_THAT(count_in(&r, others, 100, 100), ==, 0);
            /* Whole segments of 64 slots, and never more than one to spare. */
            const double slots = (double)n * 13 / 12 + columns + 8 + 64;
            CHECK_THAT(tamis__ribbon_payload(&r), <=, slots / 8 * ceil(columns));
            CHECK_THAT(tamis__ribbon_payload(&r), ==, tamis__ribbon_bytes(n, columns));
            tamis__ribbon_free(NULL, &r);
        }
        free(h);
        free(others);
    }
}

/* The bytes depend on the set only. */
static void repeats_and_order_do_not_matter(void)
{
    static const uint64_t sizes[] = {1, 2, 40, 300, 5000, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint64_t n = sizes[s];
        tamis_hash *h = random_hashes(n, 77), *thrice = memory_for((size_t)n * 3 * sizeof *h);
        uint64_t seed = s;
        for (uint64_t i = 0; i < 3 * n; i++) thrice[i] = h[i % n];
        for (uint64_t i = 3 * n - 1; i > 0; i--) {
            const uint64_t j = splitmix(&seed) % (i + 1);
            const tamis_hash kept = thrice[i];
            thrice[i] = thrice[j];
            thrice[j] = kept;
        }
        struct ribbon once = build_of(h, n, 9.5), many = build_of(thrice, 3 * n, 9.5);
        CHECK(same_bytes(&once, &many));
        tamis__ribbon_free(NULL, &once);
        tamis__ribbon_free(NULL, &many);
        free(h);
        free(thrice);
    }
}

static tamis_hash hostile_hash(unsigned style, uint64_t i)
{
    uint64_t seed = i;
    const uint64_t random = splitmix(&seed), other = splitmix(&seed);
    const tamis_hash all[] = {{5, 7},                                 /* one key */
                              {random, UINT64_C(0x8000000000000000)}, /* one start, one side */
                              {random, other >> 30},                  /* one start */
                              {i, 0},                                 /* few bits below */
                              {0, i},                                 /* the same above */
                              {i, i},
                              {UINT64_C(1) << i % 64, UINT64_C(1) << i / 64 % 64},
                              {0, i << 44},        /* one row at every start */
                              {random & 3, other}, /* few different rows */
                              {UINT64_MAX - i % 100, UINT64_MAX - i},
                              {random, other & UINT64_C(0xffffffff00000000)}}; /* side 0 */
    return all[style % (sizeof all / sizeof *all)];
}

static void hostile_keys_are_kept(void)
{
    static const uint64_t sizes[] = {7, 500, 3000, 50000};
    for (unsigned style = 0; style < 11; style++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const uint64_t n = sizes[s];
            tamis_hash *h = memory_for((size_t)n * sizeof *h);
            for (uint64_t i = 0; i < n; i++) h[i] = hostile_hash(style, i);
            for (double columns = 1; columns < 32; columns += 7.4) {
                struct ribbon r = build_of(h, n, columns);
                CHECK_THAT(count_in(&r, h, n, TAMIS__RIBBON_BATCH), ==, n);
                /* Not kept twice over by wasted layers, either: at most one or two are. */
                const double bytes = (double)tamis__ribbon_bytes(n, columns);
                CHECK_THAT(tamis__ribbon_payload(&r), <=, 3.2 * bytes + 1000);
                tamis__ribbon_free(NULL, &r);
            }
            free(h);
        }
}

/* A uniform hash of a key that starts at this slot of so many. */
static tamis_hash hash_at(uint64_t slot, uint64_t starts, uint64_t *seed)
{
    const uint64_t step = UINT64_MAX / starts;
    tamis_hash h = {splitmix(seed), slot * step + splitmix(seed) % (step / 2) + step / 4};
    while (tamis__ribbon_start(h, starts) < slot) h.hi += step / 4;
    return h;
}

/* The builder works at three parts of the table at a time (ribbon_piece.c). Crowds around their
 * seams, where one part may undo what its neighbour has already used. */
static void crowds_at_seams_are_kept(void)
{
    enum { KEYS = 140000 };
    struct ribbon_layer l;
    CHECK(tamis__ribbon_shape(KEYS, 8, false, &l));
    const uint64_t starts = tamis__ribbon_starts(l.segments), part = starts / 3 / 128 * 128;
    tamis_hash *h = memory_for(KEYS * sizeof *h);
    for (uint64_t trial = 1; trial <= 40; trial++) {
        uint64_t seed = trial;
        const uint64_t before = 1 + splitmix(&seed) % 256, after = 1 + splitmix(&seed) % 256;
        const uint64_t crowd = 50 + splitmix(&seed) % 600;
        for (uint64_t i = 0; i < KEYS; i++) {
            const uint64_t r = splitmix(&seed), seam = part * (1 + r % 2);
            const uint64_t near = seam - before + (r >> 8) % (before + after);
            /* Most are where the other parts have to do for long, so that no part ends early. */
            const uint64_t far = starts - 1 - (r >> 8) % (part / 2);
            h[i] = hash_at(i < 2 * crowd ? near : far, starts, &seed);
        }
        struct ribbon r = build_of(h, KEYS, 8);
        CHECK_THAT(count_in(&r, h, KEYS, TAMIS__RIBBON_BATCH), ==, KEYS);
        tamis__ribbon_free(NULL, &r);
    }
    free(h);
}

/* The same around the border of two pieces, in a table that is full everywhere else. */
static void crowds_at_borders_are_kept(void)
{
    enum { KEYS = 1100000 };
    struct ribbon_layer l;
    CHECK(tamis__ribbon_shape(KEYS, 8, false, &l));
    const uint64_t starts = tamis__ribbon_starts(l.segments), border = (starts / 512 + 1) / 2 * 512;
    tamis_hash *h = random_hashes(KEYS, 5);
    for (uint64_t trial = 1; trial <= 6; trial++) {
        uint64_t seed = trial;
        const uint64_t before = 1 + splitmix(&seed) % 200, after = 1 + splitmix(&seed) % 200;
        const uint64_t crowd = 30 * trial;
        for (uint64_t i = 0; i < crowd; i++)
            h[i] = hash_at(border - before + splitmix(&seed) % (before + after), starts, &seed);
        struct ribbon r = build_of(h, KEYS, 8);
        CHECK_THAT(count_in(&r, h, KEYS, TAMIS__RIBBON_BATCH), ==, KEYS);
        tamis__ribbon_free(NULL, &r);
    }
    free(h);
}

static void sorting_is_sorting(void)
{
    static const uint64_t sizes[] = {0, 1, 2, 48, 49, 100, 5000, 20000, 100000, 500000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned style = 0; style < 12; style++) {
            const uint64_t n = sizes[s];
            const uint32_t threads = 1 + style % 4;
            tamis_hash *h = random_hashes(n, 3);
            if (style < 11)
                for (uint64_t i = 0; i < n; i++) h[i] = hostile_hash(style, i);
            uint64_t sum = 0, kept_sum = 0;
            for (uint64_t i = 0; i < n; i++) sum ^= h[i].lo * 3 + h[i].hi;
            void *scratch = memory_for((size_t)tamis__sort_scratch(n, threads));
            const uint64_t kept = tamis__sort_hashes(h, n, threads, scratch);
            CHECK(kept <= n && (kept > 0 || n == 0));
            for (uint64_t i = 0; i < kept; i++) kept_sum ^= h[i].lo * 3 + h[i].hi;
            for (uint64_t i = 1; i < kept; i++)
                CHECK(h[i - 1].hi < h[i].hi || (h[i - 1].hi == h[i].hi && h[i - 1].lo < h[i].lo));
            if (kept == n) CHECK(sum == kept_sum);
            if (style == 0 && n > 0) CHECK_THAT(kept, ==, 1);
            if (style == 3 || style == 11) CHECK_THAT(kept, ==, n);
            free(scratch);
            free(h);
        }
}

static int by_hash(const void *a, const void *b)
{
    const tamis_hash *x = a, *y = b;
    if (x->hi != y->hi) return x->hi < y->hi ? -1 : 1;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Hashes of a narrow range, as merged runs have them: wherever it begins, and however narrow. Each
 * hash comes twice. The model is qsort. */
static void narrow_ranges_are_sorted(void)
{
    static const uint64_t ranges[][2] = {{0, 0},
                                         {0, 1},
                                         {UINT64_MAX, 0},
                                         {UINT64_MAX - 6, 6},
                                         {(UINT64_C(1) << 63) - 1, 1},
                                         {(UINT64_C(1) << 63) - 70, 4095},
                                         {UINT64_C(0x123456789abcdef0), (UINT64_C(1) << 52) - 1},
                                         {UINT64_C(0x7fffffff00000000), UINT64_C(1) << 33},
                                         {1, UINT64_C(1) << 63},
                                         {0, UINT64_MAX - 1}};
    enum { MOST = 300000 };
    tamis_hash *model = memory_for(MOST * sizeof *model);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (uint32_t threads = 1; threads <= 3; threads++)
            for (uint64_t n = 100; n <= MOST; n = n == 100 ? 6000 : n == 6000 ? MOST : MOST + 1) {
                tamis_hash *h = random_hashes(n, n + threads);
                for (uint64_t i = 0; i < n; i++) {
                    h[i].hi = ranges[r][0] + h[i].hi % (ranges[r][1] + 1);
                    if (i >= n / 2) h[i] = h[i - n / 2];
                }
                memcpy(model, h, (size_t)n * sizeof *h);
                qsort(model, (size_t)n, sizeof *model, by_hash);
                void *scratch = memory_for((size_t)tamis__sort_scratch(n, threads));
                CHECK_THAT(tamis__sort_hashes(h, n, threads, scratch), ==, n / 2);
                for (uint64_t i = 0; i < n / 2; i++) CHECK(by_hash(&h[i], &model[2 * i]) == 0);
                free(scratch);
                free(h);
            }
    free(model);
}

/* --- Rates and sizes -------------------------------------------------------------------------- */

/* How far from n p the number of successes in n trials of probability p is at most, except once
 * in 10^9: by the inequality of Bernstein for both sides. */
static double bound(double n, double p)
{
    const double l = log(2e9);
    return l / 3 + sqrt(l * l / 9 + 2 * l * n * p * (1 - p));
}

static void rates_are_as_stated(void)
{
    enum { KEYS = 100000, OTHERS = 2000000 };
    tamis_hash *h = random_hashes(KEYS, 11), *others = random_hashes(OTHERS, 12);
    for (size_t c = 0; c < N_COLUMNS; c++) {
        struct ribbon r = build_of(h, KEYS, all_columns[c]);
        const double want = exp2(-all_columns[c]), rate = tamis__ribbon_rate(&r);
        CHECK_THAT(rate, <=, want * 1.0005);
        CHECK_THAT(rate, >=, want * 0.995);
        const double hits = (double)count_in(&r, others, OTHERS, TAMIS__RIBBON_BATCH);
        CHECK_THAT(fabs(hits - OTHERS * rate), <=, bound(OTHERS, rate));
        tamis__ribbon_free(NULL, &r);
    }
    free(h);
    free(others);
}

/* A homogeneous layer alone has a rate that depends on its luck. On average over seeds it is what
 * was asked for. */
static void small_rates_are_as_stated(void)
{
    static const uint64_t sizes[] = {1, 3, 20, 44, 46, 50, 100, 150, 250, 500, 1000};
    enum { TRIALS = 40, OTHERS = 5000 };
    static const double columns[] = {1, 3, 5.5, 8, 16};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            double sum = 0, hits = 0;
            for (uint64_t t = 0; t < TRIALS; t++) {
                tamis_hash *h = random_hashes(sizes[s], 100 + t), *others = NULL;
                struct ribbon r = build_of(h, sizes[s], columns[c]);
                sum += tamis__ribbon_rate(&r);
                others = random_hashes(OTHERS, 900 + t);
                hits += (double)count_in(&r, others, OTHERS, TAMIS__RIBBON_BATCH);
                tamis__ribbon_free(NULL, &r);
                free(h);
                free(others);
            }
            const double rate = sum / TRIALS;
            CHECK_THAT(rate, <=, 1.05 * exp2(-columns[c]));
            CHECK_THAT(rate, >=, 0.45 * exp2(-columns[c])); /* one segment: a whole column more */
            CHECK_THAT(fabs(hits - TRIALS * OTHERS * rate), <=, bound(TRIALS * OTHERS, rate));
        }
}

static void sizes_are_as_stated(void)
{
    static const struct {
        uint64_t n;
        double columns, ratio;
    } cells[] = {{1000000, 8, 1.006}, {1000000, 12, 1.006},  {1000000, 16, 1.006},
                 {1000000, 4, 1.012}, {1000000, 7.3, 1.017}, {1000000, 12.5, 1.012},
                 {1000000, 1, 1.025}, {100000, 8, 1.01},     {10000, 8, 1.05},
                 {2000, 8, 1.15},     {1000, 8, 1.12},       {1000000, 32, 1.006}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const double bits = (double)cells[i].n * cells[i].columns;
        tamis_hash *h = random_hashes(cells[i].n, i);
        struct ribbon r = build_of(h, cells[i].n, cells[i].columns);
        const double got = 8 * (double)tamis__ribbon_payload(&r);
        const double planned = 8 * (double)tamis__ribbon_bytes(cells[i].n, cells[i].columns);
        CHECK_THAT(got / bits, <=, cells[i].ratio);
        CHECK_THAT(fabs(got - planned), <=, 0.001 * bits + 128 * ceil(cells[i].columns));
        tamis__ribbon_free(NULL, &r);
        free(h);
    }
}

static void absurd_plans_are_refused(void)
{
    static const double columns[] = {0, 0.99, -1, 64.01, 1e300, NAN, INFINITY};
    tamis_hash h = {1, 2};
    struct ribbon r;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        CHECK_THAT(tamis__ribbon_build(NULL, &h, 1, columns[i], &r), ==, TAMIS_EINVAL);
        CHECK(r.count == 0 && tamis__ribbon_bytes(1000, columns[i]) == UINT64_MAX);
    }
    CHECK_THAT(tamis__ribbon_build(NULL, &h, UINT64_MAX, 8, &r), ==, TAMIS_EINVAL);
    CHECK_THAT(tamis__ribbon_build(NULL, &h, 1, 32.01, &r), ==, TAMIS_EINVAL); /* only in a map */
    CHECK(tamis__ribbon_bytes(UINT64_MAX, 8) == UINT64_MAX);
    CHECK(tamis__ribbon_bytes(UINT64_C(1) << 40, 8) < UINT64_C(1028) << 30);
    CHECK(tamis__sort_scratch(UINT64_MAX, 1) == UINT64_MAX);
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void kernels_build_the_same(void)
{
    static const uint64_t sizes[] = {1, 40, 300, 3000, 60000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tamis_hash *h = random_hashes(sizes[s], 31);
        for (double columns = 1; columns <= 32; columns += 0.5 + (double)s) {
            tamis__use_kernels(&tamis__scalar);
            struct ribbon want = build_of(h, sizes[s], columns);
            for (size_t t = 0; t < n_tables; t++) {
                tamis__use_kernels(tables[t]);
                struct ribbon got = build_of(h, sizes[s], columns);
                CHECK(same_bytes(&want, &got));
                CHECK_THAT(count_in(&got, h, sizes[s], TAMIS__RIBBON_BATCH), ==, sizes[s]);
                tamis__ribbon_free(NULL, &got);
            }
            tamis__ribbon_free(NULL, &want);
        }
        free(h);
    }
    tamis__use_kernels(tables[0]);
}

/* On every machine: these were computed once. */
static void bytes_are_the_same_everywhere(void)
{
    static const struct {
        uint64_t n;
        double columns;
        uint64_t sum;
    } cells[] = {{1, 8, UINT64_C(0x1284fbf48b912ed0)},
                 {100, 5.25, UINT64_C(0x61a405d775a668c2)},
                 {3000, 1, UINT64_C(0x8a31c55782f53ce9)},
                 {20000, 6.64, UINT64_C(0xfea8db3d57e54d1d)},
                 {200000, 13.5, UINT64_C(0x66baaf0c0907025e)},
                 {2200000, 3.2, UINT64_C(0xfd3f00374147d258)}}; /* in pieces */
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        tamis_hash *h = random_hashes(cells[i].n, 2024 + i);
        struct ribbon r = build_of(h, cells[i].n, cells[i].columns);
        uint64_t sum = r.count;
        for (uint32_t j = 0; j < r.count; j++) {
            const struct ribbon_layer *l = &r.layers[j];
            sum = sum * 31 + tamis__checksum(l->solution, (size_t)l->solution_bytes);
            if (l->homogeneous) continue;
            sum = sum * 31 + tamis__checksum(l->thresholds, (size_t)l->threshold_bytes);
        }
        if (sum != cells[i].sum)
            printf("cell %zu: UINT64_C(0x%016llx)\n", i, (unsigned long long)sum);
        CHECK(sum == cells[i].sum);
        tamis__ribbon_free(NULL, &r);
        free(h);
    }
}

/* Exactly as big as stated, so that a step beyond is seen, and full of random bytes. */
static uint8_t *random_bytes(uint64_t n, uint64_t *seed)
{
    void *p = NULL;
    if (n == 0) return NULL;
    CHECK(posix_memalign(&p, 64, (size_t)n) == 0);
    for (uint64_t i = 0; i < n; i++) ((uint8_t *)p)[i] = (uint8_t)splitmix(seed);
    return p;
}

static struct ribbon random_ribbon(uint64_t seed)
{
    struct ribbon r;
    memset(&r, 0, sizeof r);
    r.count = 1 + (uint32_t)(splitmix(&seed) % TAMIS__RIBBON_LAYERS);
    for (uint32_t i = 0; i < r.count; i++) {
        struct ribbon_layer *l = &r.layers[i];
        l->segments = 1 + splitmix(&seed) % (seed % 3 == 0 ? 3 : 40);
        l->boundary = seed % 2 == 0 ? l->segments : 1 + splitmix(&seed) % l->segments;
        l->columns = seed % 5 == 0 ? 8 : 1 + (uint32_t)(splitmix(&seed) % 32);
        if (l->columns == 32) l->boundary = l->segments;
        l->last = l->homogeneous = i == r.count - 1;
        l->solution_bytes = 8 * (l->segments * l->columns + l->segments - l->boundary);
        l->threshold_bytes = l->homogeneous ? 0 : (l->segments * 64 - 64) / 128 / 32 * 8 + 8;
        l->solution = random_bytes(l->solution_bytes, &seed);
        l->thresholds = random_bytes(l->threshold_bytes, &seed);
    }
    CHECK(tamis__ribbon_wrong(&r) == NULL);
    return r;
}

/* Answers without kernels and batches, by the law as docs/FORMAT.md will have it. */
static bool by_the_law(const struct ribbon *r, tamis_hash h)
{
    for (uint32_t i = 0; i < r->count; i++, h = tamis__ribbon_next(h)) {
        const struct ribbon_layer *l = &r->layers[i];
        const uint64_t start = tamis__mulhi(h.hi, 64 * l->segments - 63), bucket = start / 128;
        static const unsigned thresholds[] = {0, 24, 48, 128};
        if (!l->homogeneous &&
            start % 128 < thresholds[l->thresholds[bucket / 4] >> 2 * (bucket % 4) & 3])
            continue;
        for (unsigned c = 0; c < l->columns + (start / 64 >= l->boundary); c++) {
            bool sum = l->homogeneous ? 0 : h.hi >> c & 1;
            for (unsigned j = 0; j < 64; j++) {
                const uint64_t slot = start + j, segment = slot / 64;
                uint64_t word = segment * l->columns + c;
                if (segment > l->boundary) word += segment - l->boundary;
                sum ^= ((h.lo | 1) >> j & 1) != 0 && tamis__bit(l->solution, 64 * word + slot % 64);
            }
            if (sum) return false;
        }
        return true;
    }
    return false;
}

static void check_answers(const struct ribbon *r, uint64_t seed)
{
    tamis_hash *h = random_hashes(TAMIS__RIBBON_BATCH, seed);
    for (size_t n = 1; n <= TAMIS__RIBBON_BATCH; n += 1 + seed % 9) {
        uint8_t want[TAMIS__RIBBON_BATCH / 8 + 1] = {0}, got[TAMIS__RIBBON_BATCH / 8 + 1];
        struct aims aims;
        aims_open(&aims);
        want[(n + 7) / 8] = 0xaa; /* the byte after the answers must stay */
        for (size_t i = 0; i < n; i++) want[i / 8] |= (uint8_t)(by_the_law(r, h[i]) << i % 8);
        for (size_t t = 0; t < n_tables; t++) {
            memset(got, 0xaa, sizeof got);
            tamis__use_kernels(tables[t]);
            tamis__ribbon_query(r, h, n, NULL, NULL, NULL, got);
            CHECK(memcmp(want, got, (n + 7) / 8 + 1) == 0);
            memset(got, 0xaa, sizeof got);
            tamis__ribbon_prefetch(r, h, n, &aims.of[0]);
            tamis__ribbon_query(r, h, n, &aims.of[0], h, &aims.of[1], got);
            CHECK(memcmp(want, got, (n + 7) / 8 + 1) == 0);
            memset(got, 0xaa, sizeof got);
            tamis__ribbon_query(r, h, n, &aims.of[1], NULL, NULL, got);
            CHECK(memcmp(want, got, (n + 7) / 8 + 1) == 0);
        }
    }
    tamis__use_kernels(tables[0]);
    free(h);
}

/* Also the hostile bytes: nothing reads beyond, whatever they hold. */
static void kernels_answer_the_same(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct ribbon r = random_ribbon(seed);
        const double rate = tamis__ribbon_rate(&r);
        CHECK(rate >= 0 && rate <= 1);
        check_answers(&r, seed);
        for (uint32_t i = 0; i < r.count; i++) {
            free(r.layers[i].solution);
            free(r.layers[i].thresholds);
        }
    }
}

/* --- Shapes and memory ------------------------------------------------------------------------ */

static void wrong_shapes_are_refused(void)
{
    tamis_hash *h = random_hashes(5000, 8);
    struct ribbon r = build_of(h, 5000, 7.5), bad;
    free(h);
    CHECK_THAT(r.count, >=, 2);
#define REFUSED(change) (bad = r, (change), tamis__ribbon_wrong(&bad) != NULL)
    CHECK(REFUSED(bad.count = TAMIS__RIBBON_LAYERS + 1));
    CHECK(REFUSED(bad.count = 1));
    CHECK(REFUSED(bad.layers[0].homogeneous = true));
    CHECK(REFUSED(bad.layers[0].segments = 0));
    CHECK(REFUSED(bad.layers[0].segments++));
    CHECK(REFUSED(bad.layers[0].segments--));
    CHECK(REFUSED(bad.layers[0].segments = UINT64_MAX));
    CHECK(REFUSED(bad.layers[0].segments += TAMIS__RIBBON_SEGMENTS));
    CHECK(REFUSED(bad.layers[0].boundary = 0));
    CHECK(REFUSED(bad.layers[0].boundary--));
    CHECK(REFUSED(bad.layers[0].boundary = bad.layers[0].segments + 1));
    CHECK(REFUSED(bad.layers[0].columns = 0));
    CHECK(REFUSED(bad.layers[0].columns++));
    CHECK(REFUSED(bad.layers[0].columns = 32));
    CHECK(REFUSED(bad.layers[0].columns = UINT32_MAX));
    CHECK(REFUSED(bad.layers[0].solution_bytes--));
    CHECK(REFUSED(bad.layers[0].threshold_bytes = 0));
    CHECK(REFUSED(bad.layers[r.count - 1].threshold_bytes = 8));
#undef REFUSED
    tamis__ribbon_free(NULL, &r);
}

static void every_allocation_fails(void)
{
    enum { KEYS = 30000 };
    tamis_hash *h = random_hashes(KEYS, 21), *copy = memory_for(KEYS * sizeof *h);
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (size_t n = 1;; n++) {
            struct tracker a;
            struct ribbon r;
            tracker_init(&a);
            a.fail_at = n;
            a.for_ever = for_ever != 0;
            memcpy(copy, h, KEYS * sizeof *h);
            const tamis_status status = tamis__ribbon_build(&a.memory, copy, KEYS, 8, &r);
            if (!a.failed) {
                CHECK_OK(status);
                CHECK_THAT(n, >, 5);
                CHECK_THAT(count_in(&r, h, KEYS, 128), ==, KEYS);
                /* Scratch: the sort's, whatever the layers. */
                const double payload = (double)tamis__ribbon_payload(&r);
                CHECK_THAT(a.peak, <=, 16.0 * KEYS + payload + 65536 + 2000);
                tamis__ribbon_free(&a.memory, &r);
                CHECK_THAT(a.blocks, ==, 0);
                break;
            }
            CHECK_THAT(status, ==, TAMIS_ENOMEM);
            CHECK(r.count == 0 && a.blocks == 0);
        }
    free(h);
    free(copy);
}

static const struct test tests[] = {
    {"no_key_is_lost", no_key_is_lost},
    {"small_sets_are_right", small_sets_are_right},
    {"repeats_and_order_do_not_matter", repeats_and_order_do_not_matter},
    {"hostile_keys_are_kept", hostile_keys_are_kept},
    {"crowds_at_seams_are_kept", crowds_at_seams_are_kept},
    {"crowds_at_borders_are_kept", crowds_at_borders_are_kept},
    {"sorting_is_sorting", sorting_is_sorting},
    {"narrow_ranges_are_sorted", narrow_ranges_are_sorted},
    {"rates_are_as_stated", rates_are_as_stated},
    {"small_rates_are_as_stated", small_rates_are_as_stated},
    {"sizes_are_as_stated", sizes_are_as_stated},
    {"absurd_plans_are_refused", absurd_plans_are_refused},
    {"kernels_build_the_same", kernels_build_the_same},
    {"bytes_are_the_same_everywhere", bytes_are_the_same_everywhere},
    {"kernels_answer_the_same", kernels_answer_the_same},
    {"wrong_shapes_are_refused", wrong_shapes_are_refused},
    {"every_allocation_fails", every_allocation_fails},
};

int main(int argc, char **argv)
{
    n_tables = tamis__runnable_kernels(tables);
#if defined(__x86_64__)
    /* For processors that lack some of what this one has. */
    if (tables[0] == &tamis__avx512_bits) tables[n_tables++] = &tamis__avx512;
#endif
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
