/* RedisBloom's t-digest against sorted arrays: quantiles, fractions, ranks and trimmed means within
 * a stated bound, for several distributions, with merges and values at rest in between. Then its
 * ends: no observation, one, the greatest numbers, the greatest count, inputs that are hard to
 * sort, and values at rest that nobody made by adding. tests/redis/test_redis_compat.c has the
 * objects that RedisBloom made. */
#include "../../redis/redisbloom/tdigest.h"
#include "../support/redis_fields.h"

#include <float.h>
#include <math.h>

static uint64_t state;

/* Uniform in (0, 1). */
static double uniform(void)
{
    state += 0x9e3779b97f4a7c15;
    uint64_t x = state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return ((double)((x ^ x >> 31) >> 12) + 0.5) * 0x1p-52;
}

static struct compat_tdigest *digest(uint64_t compression)
{
    struct compat_tdigest *t;
    CHECK(compat_tdigest_create(&room, compression, &t) == COMPAT_OK);
    return t;
}

static void add(struct compat_tdigest *t, double x)
{
    CHECK(compat_tdigest_prepare(t, &room, 1) == COMPAT_OK);
    compat_tdigest_add(t, x);
}

static struct fields saved(struct compat_tdigest *t)
{
    struct fields f = {0};
    const struct compat_writer w = {&f, write_number, write_real, write_bytes};
    compat_tdigest_save(t, &w);
    return f;
}

static enum compat_status load(struct fields *f, struct compat_tdigest **out)
{
    const struct compat_reader r = {f, read_number, read_real, read_bytes};
    f->at = 0;
    return compat_tdigest_load(&r, 0, &memory, out);
}

/* --- Against sorted arrays -------------------------------------------------------------------- */

#define MOST 100000u
static double sorted[MOST];

static int compare(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

enum { UNIFORM, NORMAL, EXPONENTIAL, HEAVY, STEPS, RISING, FALLING, LUMPY, DISTRIBUTIONS };

static double draw(int distribution, unsigned i)
{
    const double u = uniform();
    switch (distribution) {
    case NORMAL: return sqrt(-2 * log(u)) * cos(6.283185307179586 * uniform());
    case EXPONENTIAL: return -log(u);
    case HEAVY: return pow(u, -3);
    case STEPS: return floor(20 * u);
    case RISING: return i;
    case FALLING: return -(double)i;
    case LUMPY: return u < 0.9 ? 0 : 1 + u;
    default: return u;
    }
}

/* How many of the n sorted numbers are below x, or at most x. */
static unsigned number_below(double x, unsigned n, bool or_equal)
{
    unsigned low = 0, high = n;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (sorted[middle] < x || (or_equal && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How far an index is from those of the numbers equal to x. */
static double distance(double index, double x, unsigned n)
{
    const double from = number_below(x, n, false), to = number_below(x, n, true);
    return index < from ? from - index : index > to ? index - to : 0;
}

/* The greatest weight that the rule permits for a node at fraction q of n observations. */
static double greatest_weight(double q, double n, double compression)
{
    return n * q * (1 - q) * 2 * 3.141592653589793 * log(n) / compression;
}

/* A continuous density within a node is close to uniform, so an estimate is off by less than half a
 * node. Where the density jumps, as between the steps, an interpolation means little, and the bound
 * is two nodes. One observation more is for rounding. The seed is fixed. */
static void check_estimates(struct compat_tdigest *t, int distribution, unsigned n)
{
    const double nodes = distribution <= EXPONENTIAL ? 0.5 : 2;
    double last = -INFINITY, worst = 0;
    for (unsigned i = 0; i <= 1000; i++) {
        const double q = i / 1000.0, x = compat_tdigest_quantile(t, q), off = distance(q * n, x, n);
        const double bound = 1 + nodes * (1 + greatest_weight(q, n, (double)t->compression));
        CHECK_THAT(off, <=, bound);
        if (off > worst) worst = off;
        CHECK(x >= last);
        last = x;
        const double there = sorted[i < 1000 ? (unsigned)(q * n) : n - 1];
        const double index = compat_tdigest_cdf(t, there) * n;
        CHECK_THAT(distance(index, there, n), <=, bound);
        CHECK_THAT(fabs((double)compat_tdigest_rank(t, there, false) - index), <=, 0.5);
        CHECK_THAT(fabs((double)compat_tdigest_rank(t, there, true) - (n - index)), <=, 0.5);
    }
    if (distribution == NORMAL && n == MOST && t->compression >= 100) /* docs/REDIS.md */
        CHECK_THAT(worst, <=, (t->compression == 100 ? 0.004 : 0.001) * n);
    CHECK(compat_tdigest_quantile(t, 0) == sorted[0] && t->min == sorted[0]);
    CHECK(compat_tdigest_quantile(t, 1) == sorted[n - 1] && t->max == sorted[n - 1]);
    CHECK(compat_tdigest_cdf(t, nextafter(sorted[0], -INFINITY)) == 0);
    CHECK(compat_tdigest_cdf(t, nextafter(sorted[n - 1], INFINITY)) == 1);
}

/* A trimmed mean lies between the quantiles that it would have with an error of the same bound. */
static void check_trimmed(struct compat_tdigest *t, unsigned n)
{
    for (unsigned i = 0; i < 10; i++) {
        const double low = i / 20.0, high = 1 - i / 20.0;
        const double off = 2 + 2 * greatest_weight(low, n, (double)t->compression);
        double sum = 0, least = 0, most = 0;
        const unsigned from = (unsigned)floor(low * n), to = (unsigned)ceil(high * n);
        for (unsigned j = from; j < to; j++) {
            const double down = j - off, up = j + off;
            sum += sorted[j];
            least += sorted[down < 0 ? 0 : (unsigned)down];
            most += sorted[up > n - 1 ? n - 1 : (unsigned)up];
        }
        const double mean = compat_tdigest_trimmed_mean(t, low, high), count = to - from;
        CHECK(mean >= least / count && mean <= most / count);
        if (i == 0) CHECK_THAT(fabs(mean - sum / count), <=, 1e-9 * (1 + fabs(sum / count)));
    }
}

static void test_model(void)
{
    for (int d = 0; d < DISTRIBUTIONS; d++)
        for (unsigned n = 10; n <= MOST; n *= 10)
            for (uint64_t c = 20; c <= 500; c *= 5) {
                struct compat_tdigest *t = digest(c);
                state = 5;
                for (unsigned i = 0; i < n; i++) add(t, sorted[i] = draw(d, i));
                qsort(sorted, n, sizeof *sorted, compare);
                CHECK_THAT(compat_tdigest_count(t), ==, n);
                check_estimates(t, d, n);
                check_trimmed(t, n);
                CHECK_THAT(t->merged, <, c + 10);
                compat_tdigest_free(&memory, t);
            }
    CHECK_THAT(live, ==, 0);
}

/* Parts that were saved, loaded, added to and merged are within the same bounds. */
static void test_merged(void)
{
    struct compat_tdigest *sum = digest(100);
    unsigned n = 0;
    state = 6;
    for (unsigned part = 0; part < 20; part++) {
        struct compat_tdigest *t = digest(part % 2 ? 100 : 150);
        for (unsigned i = 0; i < 1000; i++) {
            add(t, sorted[n++] = draw(NORMAL, i));
            if (i % 300 != 299) continue;
            struct fields f = saved(t), again;
            compat_tdigest_free(&memory, t);
            CHECK(load(&f, &t) == COMPAT_OK);
            again = saved(t);
            CHECK(again.len == f.len && memcmp(again.p, f.p, f.len) == 0);
            free(f.p);
            free(again.p);
        }
        CHECK(compat_tdigest_merge(sum, t) == COMPAT_OK);
        compat_tdigest_free(&memory, t);
    }
    qsort(sorted, n, sizeof *sorted, compare);
    check_estimates(sum, NORMAL, n);
    check_trimmed(sum, n);
    compat_tdigest_free(&memory, sum);
    CHECK_THAT(live, ==, 0);
}

/* Ranks of few observations are exact. */
static void test_ranks(void)
{
    struct compat_tdigest *t = digest(100);
    for (unsigned i = 1; i <= 5; i++)
        for (unsigned j = 0; j < i; j++) add(t, i);
    for (unsigned rank = 0, value = 1; rank < 15; rank++) {
        if (rank == value * (value + 1) / 2) value++;
        CHECK_THAT(compat_tdigest_by_rank(t, rank, false), ==, value);
        CHECK_THAT(compat_tdigest_by_rank(t, 14 - rank, true), ==, value);
    }
    CHECK(compat_tdigest_by_rank(t, 15, false) == (double)INFINITY);
    CHECK(compat_tdigest_by_rank(t, 15, true) == -(double)INFINITY);
    CHECK(compat_tdigest_rank(t, 0.5, false) == -1 && compat_tdigest_rank(t, 0.5, true) == 15);
    CHECK(compat_tdigest_rank(t, 5.5, false) == 15 && compat_tdigest_rank(t, 5.5, true) == -1);
    CHECK_THAT(compat_tdigest_rank(t, 3, false), ==, 4); /* 3 below and half of 3 */
    CHECK_THAT(compat_tdigest_rank(t, 3, true), ==, 10); /* 9 above and half of 3 */
    compat_tdigest_free(&memory, t);
    /* Cuts that are neighbouring numbers leave one observation. */
    for (unsigned n = 3; n < 40; n++) {
        t = digest(1000);
        for (unsigned i = 1; i <= n; i++) add(t, i);
        for (unsigned k = 1; k < n; k++) {
            const double low = (double)k / n;
            const double mean = compat_tdigest_trimmed_mean(t, low, nextafter(low, 1));
            CHECK(mean >= k && mean <= k + 2);
        }
        compat_tdigest_free(&memory, t);
    }
    CHECK_THAT(live, ==, 0);
}

/* --- Ends ------------------------------------------------------------------------------------- */

static void check_empty(struct compat_tdigest *t)
{
    CHECK(isnan(compat_tdigest_quantile(t, 0.5)) && isnan(compat_tdigest_cdf(t, 0)));
    CHECK(isnan(compat_tdigest_trimmed_mean(t, 0, 1)) && isnan(compat_tdigest_by_rank(t, 0, true)));
    CHECK_THAT(compat_tdigest_rank(t, 0, false), ==, -2);
    CHECK(t->min == DBL_MAX && t->max == -DBL_MAX && compat_tdigest_count(t) == 0);
}

static void check_one(struct compat_tdigest *t, double x)
{
    for (unsigned i = 0; i <= 4; i++) CHECK(compat_tdigest_quantile(t, i / 4.0) == x);
    CHECK(compat_tdigest_cdf(t, x) == 0.5 && compat_tdigest_trimmed_mean(t, 0.1, 0.2) == x);
    CHECK(compat_tdigest_rank(t, x, false) == 0 && compat_tdigest_rank(t, x, true) == 0);
    CHECK(compat_tdigest_by_rank(t, 0, false) == x);
    CHECK(t->min == x && t->max == x && compat_tdigest_count(t) == 1);
}

static void test_few(void)
{
    struct compat_tdigest *t = digest(1), *again;
    check_empty(t);
    add(t, -7.5);
    check_one(t, -7.5);
    struct fields f = saved(t);
    CHECK(load(&f, &again) == COMPAT_OK);
    check_one(again, -7.5);
    free(f.p);
    compat_tdigest_reset(t);
    check_empty(t);
    CHECK(compat_tdigest_merge(t, again) == COMPAT_OK);
    check_one(t, -7.5);
    compat_tdigest_free(&memory, t);
    compat_tdigest_free(&memory, again);
    CHECK(compat_tdigest_create(&room, 0, &t) == COMPAT_NO_MEMORY && t == NULL);
    CHECK(compat_tdigest_create(&room, UINT64_MAX, &t) == COMPAT_NO_MEMORY && t == NULL);
    CHECK(compat_tdigest_create(&room, COMPAT_TDIGEST_MOST_COMPRESSION, &t) == COMPAT_NO_MEMORY);
    /* 1 MiB has room for 65,536 nodes, less the one for what is around them. */
    CHECK(compat_tdigest_create(&room, 10921, &t) == COMPAT_NO_MEMORY);
    CHECK(compat_tdigest_create(&room, 10900, &t) == COMPAT_OK);
    compat_tdigest_free(&memory, t);
    CHECK_THAT(live, ==, 0);
}

/* Where RedisBloom's formulas leave the range of doubles, replies stay finite and in order. */
static void test_greatest_numbers(void)
{
    for (uint64_t c = 1; c <= 20; c += 19) {
        struct compat_tdigest *t = digest(c), *again;
        double mean = 0, last = -DBL_MAX;
        state = 7;
        for (unsigned i = 0; i < 5000; i++) {
            const double x = i == 0 ? DBL_MAX : (2 * uniform() - 1) * (i % 2 ? DBL_MAX : 1e308);
            add(t, x);
            mean += x / 5000;
        }
        for (unsigned i = 0; i <= 1000; i++) {
            const double x = compat_tdigest_quantile(t, i / 1000.0);
            CHECK(x >= last && x <= DBL_MAX);
            CHECK_THAT(fabs(compat_tdigest_cdf(t, x) - i / 1000.0), <=, 0.01);
            last = x;
        }
        CHECK_THAT(fabs(compat_tdigest_trimmed_mean(t, 0, 1) - mean), <, 1e300);
        struct fields f = saved(t);
        CHECK(load(&f, &again) == COMPAT_OK);
        free(f.p);
        compat_tdigest_free(&memory, again);
        compat_tdigest_free(&memory, t);
    }
    CHECK_THAT(live, ==, 0);
}

/* Doubling by merges ends at the greatest count, with an error that changes nothing. */
static void test_greatest_count(void)
{
    struct compat_tdigest *t = digest(100), *twice;
    add(t, 1);
    add(t, 2);
    for (unsigned i = 1; i < 53; i++) {
        twice = digest(100);
        CHECK(compat_tdigest_merge(twice, t) == COMPAT_OK);
        CHECK(compat_tdigest_merge(twice, t) == COMPAT_OK);
        compat_tdigest_free(&memory, t);
        t = twice;
    }
    CHECK(compat_tdigest_count(t) == COMPAT_TDIGEST_MOST);
    struct fields before = saved(t), after;
    CHECK(compat_tdigest_prepare(t, &room, 1) == COMPAT_OVERFLOW);
    CHECK(compat_tdigest_prepare(t, &room, UINT64_MAX) == COMPAT_OVERFLOW);
    CHECK(load(&before, &twice) == COMPAT_OK);
    CHECK(compat_tdigest_merge(t, twice) == COMPAT_OVERFLOW);
    after = saved(t);
    CHECK(before.len == after.len && memcmp(before.p, after.p, before.len) == 0);
    CHECK(compat_tdigest_quantile(t, 0) == 1 && compat_tdigest_quantile(t, 1) == 2);
    free(before.p);
    free(after.p);
    compat_tdigest_free(&memory, t);
    compat_tdigest_free(&memory, twice);
    CHECK_THAT(live, ==, 0);
}

/* Most of these values are equal, so their order among equals decides about the nodes. The sums
 * are those of the nodes that the library of RedisBloom 2.8.20 makes of the same values. */
static void test_equal_values(void)
{
    static const struct {
        uint64_t compression, nodes, sum;
    } wanted[] = {{1, 7, UINT64_C(0xc154c1aebc5ef7fd)},
                  {20, 15, UINT64_C(0x890978d763baa25f)},
                  {100, 37, UINT64_C(0x4fae82bd964f7a32)},
                  {1000, 300, UINT64_C(0x4f86a046aa180da0)}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        struct compat_tdigest *t = digest(wanted[k].compression);
        state = 8;
        for (unsigned i = 0; i < 30000; i++) {
            const double u = uniform();
            add(t, i % 3 == 0 ? floor(5 * u) : u < 0.97 ? 0 : floor(1000 * u) / 8);
        }
        compat_tdigest_cdf(t, 0);
        CHECK_THAT(t->merged, ==, wanted[k].nodes);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < t->merged; i++) {
            uint64_t bits;
            memcpy(&bits, &t->nodes[i].mean, sizeof bits);
            sum = (sum ^ bits) * UINT64_C(0x100000001b3);
            sum = (sum ^ (uint64_t)t->nodes[i].weight) * UINT64_C(0x100000001b3);
            sum ^= sum >> 29;
        }
        CHECK(sum == wanted[k].sum);
        compat_tdigest_free(&memory, t);
    }
    CHECK_THAT(live, ==, 0);
}

/* A median of the middle is the second smallest each time, so the limit of the work is reached, and
 * the rest is sorted in another way. */
static void test_hard_to_sort(void)
{
    enum { N = 6000 };
    static double values[N];
    static unsigned place[N];
    for (unsigned i = 0; i < N; i++) place[i] = i;
    /* Follows partition(): the pivots are given the least numbers that are left. */
    for (unsigned low = 0; low + 2 < N; low++) {
        const unsigned middle = (low + N - 1) / 2, pivot = place[middle];
        place[middle] = place[N - 1];
        values[pivot] = low;
        place[N - 1] = place[low];
        place[low] = pivot;
    }
    values[place[N - 2]] = N;
    values[place[N - 1]] = N + 1;
    struct compat_tdigest *t = digest(1000);
    for (unsigned i = 0; i < N; i++) {
        add(t, values[i]);
        sorted[i] = values[i];
    }
    CHECK_THAT(t->pending, ==, N);
    qsort(sorted, N, sizeof *sorted, compare);
    check_estimates(t, RISING, N);
    for (unsigned i = 1; i < t->merged; i++) CHECK(t->nodes[i - 1].mean <= t->nodes[i].mean);
    compat_tdigest_free(&memory, t);
    CHECK_THAT(live, ==, 0);
}

/* --- Values at rest --------------------------------------------------------------------------- */

struct header {
    double compression, min, max;
    uint64_t capacity, merged, pending, merges;
    double merged_weight, pending_weight;
};

/* The fields of a value with these nodes. */
static struct fields forged(struct header h, const double *means, const double *weights, size_t n)
{
    struct fields f = {0};
    write_real(&f, h.compression);
    write_real(&f, h.min);
    write_real(&f, h.max);
    write_number(&f, h.capacity);
    write_number(&f, h.merged);
    write_number(&f, h.pending);
    write_number(&f, h.merges);
    write_real(&f, h.merged_weight);
    write_real(&f, h.pending_weight);
    for (size_t i = 0; i < n; i++) write_real(&f, means[i]);
    for (size_t i = 0; i < n; i++) write_real(&f, weights[i]);
    return f;
}

static enum compat_status load_forged(struct header h, const double *means, const double *weights,
                                      size_t n, struct compat_tdigest **out)
{
    struct fields f = forged(h, means, weights, n);
    const enum compat_status s = load(&f, out);
    free(f.p);
    return s;
}

static const struct header sound = {20, 1, 9, 130, 3, 0, 1, 6, 0};
static const double sound_means[] = {1, 4, 9}, sound_weights[] = {1, 4, 1};

static void refuse(struct header h, const double *means, const double *weights)
{
    struct compat_tdigest *t;
    CHECK(load_forged(h, means, weights, 3, &t) == COMPAT_BAD && t == NULL);
    CHECK_THAT(live, ==, 0);
}

static void test_forged_headers(void)
{
    struct compat_tdigest *t;
    CHECK(load_forged(sound, sound_means, sound_weights, 3, &t) == COMPAT_OK);
    CHECK_THAT(compat_tdigest_count(t), ==, 6);
    compat_tdigest_free(&memory, t);
    static const double reals[] = {0, -1, 1.5, 21, 1e9, 1e300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        struct header h = sound;
        h.compression = reals[i];
        refuse(h, sound_means, sound_weights);
        h = sound;
        h.merged_weight = reals[i];
        refuse(h, sound_means, sound_weights);
        h = sound;
        h.pending_weight = reals[i];
        if (reals[i] != 0) refuse(h, sound_means, sound_weights);
        h = sound;
        h.min = reals[i] == 0 || reals[i] == -1 ? 2 : reals[i];
        refuse(h, sound_means, sound_weights);
        h = sound;
        h.max = reals[i] > 9 && isfinite(reals[i]) ? 8 : reals[i];
        refuse(h, sound_means, sound_weights);
    }
    static const uint64_t numbers[] = {2, 4, 131, 129, UINT32_MAX, (uint64_t)1 << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct header h = sound;
        h.capacity = numbers[i];
        refuse(h, sound_means, sound_weights);
        h = sound;
        h.merged = numbers[i];
        refuse(h, sound_means, sound_weights);
        h = sound;
        h.pending = numbers[i];
        refuse(h, sound_means, sound_weights);
        h = sound;
        h.merges = (uint64_t)1 << 63 | numbers[i];
        refuse(h, sound_means, sound_weights);
    }
    /* Another version of the encoding. */
    struct fields f = forged(sound, sound_means, sound_weights, 3);
    const struct compat_reader r = {&f, read_number, read_real, read_bytes};
    CHECK(compat_tdigest_load(&r, 1, &memory, &t) == COMPAT_BAD && t == NULL);
    free(f.p);
    CHECK_THAT(live, ==, 0);
}

static void test_forged_nodes(void)
{
    static const double odd[] = {-1, 0.5, 10, 0x1p53, 0x1p63, 1e300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t at = 0; at < 3; at++) {
            double means[] = {1, 4, 9}, weights[] = {1, 4, 1};
            means[at] = odd[i];
            refuse(sound, means, sound_weights); /* out of order, or of the range */
            weights[at] = odd[i];
            refuse(sound, sound_means, weights);
        }
    refuse(sound, (const double[]){1, 9, 4}, sound_weights);
    refuse(sound, sound_means, (const double[]){2, 4, 1}); /* more than the total */
    refuse(sound, sound_means, (const double[]){1, 2, 1}); /* less by two */
    /* The sum is right, and the weight is a fraction. */
    struct header h = sound;
    h.merged_weight = 6.5;
    refuse(h, sound_means, (const double[]){1, 4.5, 1});
    /* Two great weights whose sum is beyond the greatest count. */
    h = sound;
    h.merged_weight = 0x1p53;
    refuse(h, sound_means, (const double[]){0x1p52, 0x1p52, 1});
    /* A header that promises two thousand million nodes gets the memory of those that come. */
    h = (struct header){COMPAT_TDIGEST_MOST_COMPRESSION, 1, 9, 2147483644, 2147483644, 0, 1, 6, 0};
    refuse(h, sound_means, sound_weights);
    struct compat_tdigest *t;
    h.merged = 3;
    CHECK(load_forged(h, sound_means, sound_weights, 3, &t) == COMPAT_OK);
    CHECK_THAT(compat_tdigest_node_bytes(t), <=, 65536);
    CHECK(compat_tdigest_prepare(t, &room, 1) == COMPAT_NO_MEMORY); /* 34 GB */
    CHECK_THAT(compat_tdigest_quantile(t, 0.5), ==, 4);
    compat_tdigest_free(&memory, t);
    CHECK_THAT(live, ==, 0);
}

/* Beyond the means of the first and the last node there is one observation at each end, and the
 * others are spread evenly. The second digest is so wide that differences exceed doubles. */
static void test_tails(void)
{
    struct compat_tdigest *t;
    static const double weights[] = {50, 50}, few[] = {2, 2};
    for (int wide = 0; wide < 2; wide++) {
        const double unit = wide ? DBL_MAX / 50 : 1;
        const double means[] = {10 * unit, 20 * unit};
        struct header h = {20, -50 * unit, 50 * unit, 130, 2, 0, 1, 100, 0};
        static const struct {
            double x, q;
        } known[] = {{-20, 0.13}, {10, 0.25}, {15, 0.5}, {17.5, 0.625}, {35, 0.87}};
        CHECK(load_forged(h, means, weights, 2, &t) == COMPAT_OK);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            const double x = compat_tdigest_quantile(t, known[i].q);
            CHECK_THAT(fabs(x / unit - known[i].x), <, 1e-9);
            CHECK_THAT(fabs(compat_tdigest_cdf(t, known[i].x * unit) - known[i].q), <, 1e-12);
        }
        CHECK_THAT(compat_tdigest_cdf(t, h.min), ==, 0.005);
        CHECK_THAT(compat_tdigest_cdf(t, h.max), ==, 0.995);
        compat_tdigest_free(&memory, t);
        /* With a weight of 2 there is nothing between the end and the middle of the node. */
        h.merged_weight = 4;
        CHECK(load_forged(h, means, few, 2, &t) == COMPAT_OK);
        CHECK(compat_tdigest_quantile(t, 0.2) == h.min);
        CHECK(compat_tdigest_quantile(t, 0.25) == means[0]);
        CHECK(compat_tdigest_quantile(t, 0.75) == h.max);
        compat_tdigest_free(&memory, t);
    }
    CHECK_THAT(live, ==, 0);
}

/* More nodes than are allocated at once, in a copy and after a rest, wherever memory ends. */
static void test_many_nodes(void)
{
    const struct compat_room big = {&memory, 1u << 23};
    struct compat_tdigest *t, *other = NULL;
    CHECK(compat_tdigest_create(&big, 40000, &t) == COMPAT_OK);
    for (unsigned i = 0; i < 10000; i++) compat_tdigest_add(t, i * 0.001);
    struct fields f = saved(t), g;
    CHECK_THAT(t->merged, >, 4096);
    compat_tdigest_add(t, 60);
    for (int i = 0; i < 2; i++) {
        const long before = live;
        for (allowed = 0; other == NULL; allowed++) {
            const long n = allowed;
            if (i == 1)
                load(&f, &other);
            else
                other = compat_tdigest_copy(&memory, t);
            allowed = n;
            CHECK(other != NULL || live == before);
        }
        CHECK_THAT(allowed, >, 2);
        allowed = -1;
        if (i == 1) {
            CHECK_THAT(other->room, <, other->capacity);
            allowed = 0;
            CHECK(compat_tdigest_prepare(other, &big, 1) == COMPAT_NO_MEMORY);
            allowed = -1;
            CHECK(compat_tdigest_prepare(other, &room, 1) == COMPAT_NO_MEMORY);
            CHECK(compat_tdigest_prepare(other, &big, 1) == COMPAT_OK);
            compat_tdigest_add(other, 60);
            CHECK_THAT(other->room, ==, other->capacity);
        }
        CHECK_THAT(other->pending, ==, 1);
        g = saved(other);
        compat_tdigest_free(&memory, other);
        other = NULL;
        struct fields wanted = saved(t);
        CHECK(wanted.len == g.len && memcmp(wanted.p, g.p, g.len) == 0);
        free(g.p);
        free(wanted.p);
    }
    free(f.p);
    compat_tdigest_free(&memory, t);
    CHECK_THAT(live, ==, 0);
}

/* A digest that is full of nodes which the rule does not merge: weights grow so fast towards the
 * middle that no two neighbours fit into one. */
static void test_full_of_nodes(void)
{
    double means[16], weights[16], sum = 0;
    for (unsigned i = 0; i < 16; i++) {
        means[i] = i;
        weights[i] = pow(80, i < 8 ? i : 15 - i);
        sum += weights[i];
    }
    struct compat_tdigest *t;
    const struct header h = {1, 0, 15, 16, 16, 0, 1, sum, 0};
    CHECK(load_forged(h, means, weights, 16, &t) == COMPAT_OK);
    for (unsigned i = 0; i < 100; i++) {
        add(t, i % 16);
        CHECK_THAT(t->merged + t->pending, <=, 16);
    }
    CHECK(compat_tdigest_count(t) == (int64_t)sum + 100);
    double last = 0;
    for (unsigned i = 0; i <= 100; i++) {
        const double x = compat_tdigest_quantile(t, i / 100.0);
        CHECK(x >= last && x <= 15);
        last = x;
    }
    compat_tdigest_free(&memory, t);
    CHECK_THAT(live, ==, 0);
}

/* What RedisBloom before 2026 leaves where a digest with one observation was loaded. */
static void test_lost_observation(void)
{
    struct compat_tdigest *t;
    /* One pending node that is not there. */
    struct header h = {100, 42, 42, 610, 0, 1, 0, 0, 1};
    CHECK(load_forged(h, NULL, NULL, 0, &t) == COMPAT_OK);
    check_one(t, 42);
    add(t, 43);
    CHECK_THAT(compat_tdigest_quantile(t, 1), ==, 43);
    compat_tdigest_free(&memory, t);
    /* The same, merged with what has become of another: min or max is a zero that never was. */
    for (int sign = -1; sign <= 1; sign += 2) {
        h = (struct header){100, sign < 0 ? -42 : 0, sign < 0 ? 0 : 42, 610, 0, 2, 0, 0, 1};
        CHECK(load_forged(h, NULL, NULL, 0, &t) == COMPAT_OK);
        check_one(t, sign * 42);
        compat_tdigest_free(&memory, t);
    }
    /* Two of those: no observation is left. */
    h = (struct header){100, 0, 0, 610, 0, 1, 0, 0, 0};
    CHECK(load_forged(h, NULL, NULL, 0, &t) == COMPAT_OK);
    check_empty(t);
    compat_tdigest_free(&memory, t);
    /* Later observations, a node of weight 0 below the least of them, and a total that counts the
     * lost one. */
    h = (struct header){100, 42, 50, 610, 3, 0, 1, 3, 0};
    CHECK(load_forged(h, (const double[]){0, 44, 50}, (const double[]){0, 1, 1}, 3, &t) ==
          COMPAT_OK);
    CHECK_THAT(compat_tdigest_count(t), ==, 2);
    CHECK(compat_tdigest_quantile(t, 1) == 50 && compat_tdigest_quantile(t, 0) == 42);
    CHECK_THAT(compat_tdigest_cdf(t, 42), ==, 0.25);
    struct compat_tdigest *sum = digest(100);
    CHECK(compat_tdigest_merge(sum, t) == COMPAT_OK && sum->min == 42 && sum->max == 50);
    compat_tdigest_free(&memory, sum);
    compat_tdigest_free(&memory, t);
    /* Two nodes of weight 0 have become NaN. */
    CHECK(load_forged(h, (const double[]){NAN, 44, 50}, (const double[]){0, 1, 2}, 3, &t) ==
          COMPAT_OK);
    CHECK_THAT(compat_tdigest_trimmed_mean(t, 0, 1), ==, 48);
    compat_tdigest_free(&memory, t);
    /* An empty digest of the first versions, whose max was the least positive number. */
    h = (struct header){100, DBL_MAX, DBL_MIN, 610, 0, 0, 0, 0, 0};
    CHECK(load_forged(h, NULL, NULL, 0, &t) == COMPAT_OK);
    check_empty(t);
    compat_tdigest_free(&memory, t);
    CHECK_THAT(live, ==, 0);
}

static const struct test tests[] = {
    {"estimates are within their bounds", test_model},
    {"also of parts that were saved and merged", test_merged},
    {"ranks of few observations", test_ranks},
    {"no observation, and one", test_few},
    {"the greatest numbers", test_greatest_numbers},
    {"the greatest count", test_greatest_count},
    {"equal values", test_equal_values},
    {"an input that is hard to sort", test_hard_to_sort},
    {"forged headers are refused", test_forged_headers},
    {"forged nodes are refused", test_forged_nodes},
    {"tails", test_tails},
    {"many nodes", test_many_nodes},
    {"a digest without a free node", test_full_of_nodes},
    {"an observation that RedisBloom has lost", test_lost_observation},
};

TEST_MAIN(tests)
