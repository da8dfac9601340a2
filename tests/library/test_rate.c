/* The promises about rates: the formulae against exact computations, and the actual answers of
 * filters against the formulae.
 *
 * Every seed is fixed, so a run repeats itself. "Chance of a false alarm" is the probability
 * that a correct library would have failed the comparison when the seeds were chosen; it is at
 * most 1e-9 for each. */
#include "../support/check.h"
#include "../support/keys.h"
#include "core/occupancy.h"

#include <math.h>
#include <stdbool.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const uint32_t KINDS[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED};

/* --- Statistics ------------------------------------------------------------------------------- */

/* Two-sided normal tail of 6.4 deviations: 1.6e-10. */
#define DEVIATIONS 6.4

/* Whether `count` of `trials` contradicts every probability from low to high. Chernoff: each tail
 * is at most exp(-trials · D(share || p)); 22.2 makes both together at most 4.6e-10. */
static bool contradicts(double count, double trials, double low, double high)
{
    const double share = count / trials;
    if (share >= low && share <= high) return false;
    const double p = share < low ? low : high;
    const double yes = share > 0 ? share * log(share / p) : 0;
    const double no = share < 1 ? (1 - share) * log((1 - share) / (1 - p)) : 0;
    return trials * (yes + no) > 22.2;
}

/* Hit cells of m after so many balls, by the chain that adds ball after ball: q[y] = P[Y = y]. */
static void occupancy_chain(size_t m, size_t balls, double *q)
{
    for (size_t y = 0; y <= m; y++) q[y] = y == 0;
    for (size_t t = 0; t < balls; t++) {
        for (size_t y = m; y > 0; y--)
            q[y] = (q[y] * (double)y + q[y - 1] * (double)(m - y + 1)) / (double)m;
        q[0] = 0;
    }
}

/* E[(Y/m)^power]: with power k the rate of a bloom filter, with 2k its second moment. */
static double exact_moment(size_t m, size_t balls, double power)
{
    static double q[4097];
    CHECK(m < LENGTH(q));
    occupancy_chain(m, balls, q);
    double sum = 0;
    for (size_t y = 0; y <= m; y++) sum += q[y] * pow((double)y / (double)m, power);
    return sum;
}

static tamis_plan shape(uint32_t kind, uint64_t m, uint32_t k, uint64_t items)
{
    tamis_plan p = {.struct_size = sizeof p};
    p.kind = kind;
    p.m = m;
    p.k = k;
    p.items = items;
    return p;
}

static double rate_of(uint32_t kind, uint64_t m, uint32_t k, uint64_t items)
{
    tamis_plan p = shape(kind, m, k, items);
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    return p.fpr;
}

/* --- (a) The formulae ------------------------------------------------------------------------- */

/* What bloom.c promises of its correction: never below the truth, above it by at most k³/(40 m²)
 * where 40 % of the bits or more are set. The textbook's p^k is always below. */
static void check_bloom_rate(size_t m, uint32_t k, size_t items)
{
    const double exact = exact_moment(m, k * items, k);
    const double rate = rate_of(TAMIS_BLOOM, m, k, items);
    if (exact < 1e-17) return; /* where a plan's promise stops */
    CHECK_THAT(rate, >=, exact * (1 - 1e-11));
    const double hit = tamis__hit_share((double)m, (double)(k * items));
    const double cube = pow(k, 3) / pow((double)m, 2);
    if (hit >= 0.4) CHECK_THAT(rate / exact - 1, <=, cube / 40 + 1e-11);
    if (k > 2) CHECK_THAT(pow(hit, k), <, exact);
}

static void bloom_rate_is_the_expectation(void)
{
    static const size_t sizes[] = {64, 65, 96, 128, 200, 256, 512, 1024, 2048};
    static const uint32_t probes[] = {1, 2, 3, 4, 5, 7, 10, 14, 20, 30};
    static const double fills[] = {0.05, 0.25, 0.42, 0.5, 0.6, 0.75, 0.9};
    for (size_t a = 0; a < LENGTH(sizes); a++)
        for (size_t b = 0; b < LENGTH(probes); b++)
            for (size_t c = 0; c < LENGTH(fills); c++) {
                const double items = -log1p(-fills[c]) * (double)sizes[a] / probes[b];
                if (items >= 1) check_bloom_rate(sizes[a], probes[b], (size_t)items);
            }
}

/* Numbers to quote: 0.1 % holds from 93 bits for k = 7, and the plain formula would not do. */
static void the_correction_is_needed(void)
{
    CHECK_THAT(rate_of(TAMIS_BLOOM, 93, 7, 9) / exact_moment(93, 63, 7) - 1, <, 0.001);
    CHECK_THAT(rate_of(TAMIS_BLOOM, 971, 7, 100) / exact_moment(971, 700, 7) - 1, <, 3e-6);
    tamis_plan p = {.struct_size = sizeof p};
    p.kind = TAMIS_BLOOM;
    p.items = 100;
    p.fpr = 1e-4;
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    const double plain = pow(tamis__hit_share((double)p.m, 100.0 * p.k), p.k);
    CHECK_THAT(plain / exact_moment(p.m, 100 * p.k, p.k), <, 0.99);
}

static void partitioned_rate_is_the_product(void)
{
    for (uint32_t k = 1; k <= 64; k += 7)
        for (uint64_t m = 5; m < 2000; m = m * 3 + 1) {
            const uint64_t items = m / 2 + 1;
            const double row = exact_moment(m, items, 1), exact = pow(row, k);
            if (exact > 1e-17)
                CHECK_THAT(fabs(rate_of(TAMIS_PARTITIONED, m, k, items) / exact - 1), <, 5e-10);
        }
}

/* Opened by the binomial theorem, the mixture over the keys of a line is a sum of nine powers:
 * sum over i of C(8,i) (-1)^i (1 - (1-(63/64)^i)/L)^n. Its terms reach 70 and cancel, so it serves
 * for rates that are not tiny; blocked.c sums positive terms instead. */
static double blocked_by_powers(uint64_t lines, uint64_t items)
{
    static const int choose[] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
    long double sum = 0;
    for (int i = 0; i <= 8; i++) {
        const long double gone = 1 - powl(63.0L / 64, i);
        const long double term = expl((long double)items * log1pl(-gone / (long double)lines));
        sum += (i % 2 != 0 ? -1 : 1) * choose[i] * term;
    }
    return (double)sum;
}

static void blocked_rate_is_the_mixture(void)
{
    int compared = 0;
    for (uint64_t lines = 1; lines <= 2000000; lines = lines * 5 + (lines < 7))
        for (uint64_t load = 5; load <= 500; load = load * 7 / 4) {
            const double exact = blocked_by_powers(lines, lines * load + lines / 3);
            if (exact < 1e-6 || exact > 1 - 1e-9) continue;
            const double rate = rate_of(TAMIS_BLOCKED, lines * 512, 8, lines * load + lines / 3);
            CHECK_THAT(fabs(rate / exact - 1), <, 1e-7);
            compared++;
        }
    CHECK_THAT(compared, >, 60);
}

/* --- (b) Filters of some size, all styles of key ---------------------------------------------- */

#define ITEMS 50000u
#define NEGATIVES (1u << 21)
#define CHUNK 4096u

static const double RATES[] = {1e-1, 1e-2, 1e-3, 1e-4};
#define RATE_COUNT LENGTH(RATES)
#define FILTERS (LENGTH(KINDS) * RATE_COUNT)

struct measured {
    tamis *filter;
    tamis_facts facts;
    double positives;
};

/* E[g(X)] for X binomial (n, p), by the recurrence of its weights from X = 0; the tail beyond
 * 12 deviations is below 1e-20. */
static double binomial_mean(double n, double p, const double *g, size_t length)
{
    const double end = n * p + 12 * sqrt(n * p) + 40;
    double weight = exp(n * log1p(-p)), sum = 0;
    for (double x = 0; x <= n && x < end; x++) {
        CHECK_THAT(x, <, length);
        sum += weight * g[(size_t)x];
        weight *= (n - x) / (x + 1) * p / (1 - p);
    }
    return sum;
}

/* Second moment of the rate of a blocked filter, the mean over lines of R, the product of the
 * words' set shares: E[R²]/L + (1 - 1/L) E[R R'], where R' is another line's. */
static double blocked_square(double lines, double items)
{
    static double first[1024], second[1024], both[1024];
    const struct occupancy word = {1, 64, 1, 0};
    for (size_t x = 0; x < LENGTH(first); x++) {
        const double mean = tamis__occupied(&word, (double)x) / 64;
        const double variance = tamis__occupied_variance(&word, (double)x) / 4096;
        first[x] = pow(mean, 8);
        second[x] = pow(mean * mean + variance, 8);
    }
    if (lines <= 1) return second[(size_t)items];
    for (size_t x = 0; x < LENGTH(both) && (double)x <= items; x++)
        both[x] =
            first[x] * binomial_mean(items - (double)x, 1 / (lines - 1), first, LENGTH(first));
    return binomial_mean(items, 1 / lines, second, LENGTH(second)) / lines +
           binomial_mean(items, 1 / lines, both, LENGTH(both)) * (1 - 1 / lines);
}

/* Variance of the rate of the finished filter, which differs from filter to filter with its fill.
 * Bloom's to first order, which suffices for large m; the others' exactly. */
static double variance_of_rate(const tamis_facts *f, double items)
{
    const double mean = f->fpr_planned;
    if (f->kind == TAMIS_BLOOM) {
        const struct occupancy o = {1, (double)f->m, f->k, 0};
        const double hit = tamis__occupied(&o, items);
        return pow(f->k * mean / hit, 2) * tamis__occupied_variance(&o, items);
    }
    if (f->kind == TAMIS_PARTITIONED) {
        const struct occupancy o = {1, (double)f->m, 1, 0};
        const double hit = tamis__occupied(&o, items);
        return mean * mean * (pow(1 + tamis__occupied_variance(&o, items) / (hit * hit), f->k) - 1);
    }
    return blocked_square((double)f->m / 512, items) - mean * mean;
}

static void make_filters(const uint8_t *key, struct measured *filters)
{
    for (size_t i = 0; i < FILTERS; i++) {
        tamis_plan p = {.struct_size = sizeof p};
        tamis_options o = {.struct_size = sizeof o};
        p.kind = KINDS[i / RATE_COUNT];
        p.fpr = RATES[i % RATE_COUNT];
        p.items = ITEMS;
        p.seed = key != NULL ? 0 : 20240917;
        o.key = key;
        filters[i].positives = 0;
        CHECK_OK(tamis_create(&p, &o, &filters[i].filter, NULL));
    }
}

/* Keys first ... first + CHUNK - 1 of the style, hashed. */
static void hash_chunk(const tamis *t, enum key_style style, uint64_t first, tamis_hash *hashes)
{
    static char text[CHUNK][KEY_MAX];
    static tamis_bytes keys[CHUNK];
    for (size_t i = 0; i < CHUNK; i++) {
        keys[i].p = text[i];
        keys[i].len = make_key(style, first + i, text[i]);
    }
    CHECK_OK(tamis_hash_many(t, keys, CHUNK, hashes));
}

/* The chance of a false alarm of each comparison: 4.6e-10 of the count, and for the planned rate
 * 1.6e-10 of the fill, which is close to normal in filters of this size. */
static void check_measured(const struct measured *m, double wanted)
{
    const tamis_facts *f = &m->facts;
    CHECK_THAT(f->fpr_planned, <=, wanted);
    CHECK(!contradicts(m->positives, NEGATIVES, f->fpr_now, f->fpr_now));
    const double spread = DEVIATIONS * sqrt(variance_of_rate(f, ITEMS));
    CHECK_THAT(spread, <, 0.15 * f->fpr_planned);
    CHECK_THAT(fabs(f->fpr_now - f->fpr_planned), <=, spread);
    CHECK(!contradicts(m->positives, NEGATIVES, f->fpr_planned - spread, f->fpr_planned + spread));
    if (wanted >= 1e-2) { /* the power of the comparison: a rate that is 10 % off does not pass */
        CHECK(contradicts(m->positives, NEGATIVES, 0.9 * f->fpr_now, 0.9 * f->fpr_now));
        CHECK(contradicts(m->positives, NEGATIVES, 1.1 * f->fpr_now, 1.1 * f->fpr_now));
    }
}

static void measure(enum key_style style, const uint8_t *key, struct measured *filters)
{
    static tamis_hash hashes[CHUNK];
    static uint8_t bits[CHUNK / 8];
    make_filters(key, filters);
    for (uint64_t first = 0; first < ITEMS; first += CHUNK) {
        const size_t n = ITEMS - first < CHUNK ? (size_t)(ITEMS - first) : CHUNK;
        hash_chunk(filters[0].filter, style, first, hashes);
        for (size_t i = 0; i < FILTERS; i++)
            CHECK_OK(tamis_add_hashes(filters[i].filter, hashes, n, NULL, NULL));
    }
    for (uint64_t first = 0; first < NEGATIVES; first += CHUNK) {
        hash_chunk(filters[0].filter, style, ITEMS + first, hashes);
        for (size_t i = 0; i < FILTERS; i++)
            filters[i].positives +=
                (double)tamis_may_contain_hashes(filters[i].filter, hashes, CHUNK, bits);
    }
    for (size_t i = 0; i < FILTERS; i++) {
        filters[i].facts.struct_size = sizeof filters[i].facts;
        CHECK_OK(tamis_info(filters[i].filter, &filters[i].facts));
        tamis_close(filters[i].filter);
        check_measured(&filters[i], RATES[i % RATE_COUNT]);
    }
}

/* Over all styles together the rare positives suffice for a closer look: at 1e-4, 40 % off fails.
 * Chernoff's bound holds for the mean of unequal chances as well (Hoeffding, 1956). */
static void measured_rates_match(void)
{
    static const uint8_t key[16] = "sixteen secrets";
    struct measured filters[FILTERS];
    double positives[FILTERS] = {0}, expected[FILTERS] = {0};
    for (int run = 0; run <= KEY_STYLES; run++) {
        const bool keyed = run == KEY_STYLES;
        measure(keyed ? KEY_URL : (enum key_style)run, keyed ? key : NULL, filters);
        for (size_t i = 0; i < FILTERS; i++) {
            CHECK(filters[i].facts.keyed == keyed);
            positives[i] += filters[i].positives;
            expected[i] += filters[i].facts.fpr_now / (KEY_STYLES + 1);
        }
    }
    const double trials = (double)NEGATIVES * (KEY_STYLES + 1);
    for (size_t i = 0; i < FILTERS; i++) {
        CHECK(!contradicts(positives[i], trials, expected[i], expected[i]));
        CHECK(contradicts(positives[i], trials, 0.6 * expected[i], 0.6 * expected[i]));
        CHECK(contradicts(positives[i], trials, 1.4 * expected[i], 1.4 * expected[i]));
    }
}

/* --- (c) Tiny filters, averaged over seeds ---------------------------------------------------- */

#define SEEDS 20000u
#define ASKED 256u
#define MOST_KEYS (ASKED + 256u)

struct tiny {
    uint32_t kind, k;
    uint64_t m, items;
};

/* Mean and second moment of the rate of one filter, over all filters of this shape. */
static void exact_rate(const struct tiny *t, double *mean, double *square)
{
    if (t->kind == TAMIS_BLOOM) {
        *mean = exact_moment(t->m, t->k * t->items, t->k);
        *square = exact_moment(t->m, t->k * t->items, 2.0 * t->k);
    } else if (t->kind == TAMIS_PARTITIONED) {
        *mean = pow(exact_moment(t->m, t->items, 1), t->k);
        *square = pow(exact_moment(t->m, t->items, 2), t->k);
    } else {
        *mean = blocked_by_powers(t->m / 512, t->items);
        *square = blocked_square((double)t->m / 512, (double)t->items);
    }
}

static size_t answers_of_library(const struct tiny *t, uint64_t seed, const tamis_bytes *keys)
{
    uint8_t bits[ASKED / 8];
    tamis *filter;
    tamis_plan p = shape(t->kind, t->m, t->k, t->items);
    p.seed = seed;
    CHECK_OK(tamis_create(&p, NULL, &filter, NULL));
    CHECK_OK(tamis_add_many(filter, keys + ASKED, t->items, NULL, NULL));
    const size_t positives = tamis_may_contain_many(filter, keys, ASKED, bits);
    tamis_close(filter);
    return positives;
}

/* The usual short cut, probe i at h1 + i·h2 mod m, on the same hashes. */
static size_t answers_of_double_hashing(const struct tiny *t, uint64_t seed,
                                        const tamis_bytes *keys)
{
    bool bits[1024] = {false};
    tamis_hash h[MOST_KEYS];
    tamis *filter;
    tamis_plan p = shape(t->kind, t->m, t->k, t->items);
    p.seed = seed;
    CHECK(t->m <= LENGTH(bits) && ASKED + t->items <= LENGTH(h));
    CHECK_OK(tamis_create(&p, NULL, &filter, NULL));
    CHECK_OK(tamis_hash_many(filter, keys, ASKED + t->items, h));
    tamis_close(filter);
    for (size_t i = ASKED; i < ASKED + t->items; i++)
        for (uint32_t j = 0; j < t->k; j++)
            bits[(h[i].lo % t->m + j * (h[i].hi % t->m)) % t->m] = true;
    size_t positives = 0;
    for (size_t i = 0; i < ASKED; i++) {
        bool all = true;
        for (uint32_t j = 0; j < t->k && all; j++)
            all = bits[(h[i].lo % t->m + j * (h[i].hi % t->m)) % t->m];
        positives += all;
    }
    return positives;
}

typedef size_t answers(const struct tiny *t, uint64_t seed, const tamis_bytes *keys);

/* Deviations between the positives and their exact expectation. The sum has 20,000 independent
 * terms; at 6.4 deviations a false alarm has the chance 1.6e-10, and below 1e-9 with what their
 * skewness adds to the normal tail. */
static double deviation(const struct tiny *t, answers *count)
{
    static char text[MOST_KEYS][KEY_MAX];
    static tamis_bytes keys[MOST_KEYS];
    for (size_t i = 0; i < LENGTH(keys); i++) {
        keys[i].p = text[i];
        keys[i].len = make_key(KEY_INTEGER, i, text[i]);
    }
    double mean, square, positives = 0;
    exact_rate(t, &mean, &square);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) positives += (double)count(t, seed, keys);
    const double variance =
        ASKED * (mean - square) + (double)ASKED * ASKED * (square - mean * mean);
    return (positives - SEEDS * (ASKED * mean)) / sqrt(SEEDS * variance);
}

/* Ordinary sizes near the best k, then many probes in crowded filters, where probes that depend on
 * each other would show most. */
static const struct tiny TINY[] = {
    {TAMIS_BLOOM, 7, 96, 10},        {TAMIS_BLOOM, 7, 100, 10},
    {TAMIS_BLOOM, 4, 64, 10},        {TAMIS_BLOOM, 3, 127, 30},
    {TAMIS_BLOOM, 7, 480, 50},       {TAMIS_BLOOM, 7, 1000, 100},
    {TAMIS_BLOOM, 20, 128, 10},      {TAMIS_BLOOM, 30, 256, 16},
    {TAMIS_BLOOM, 64, 1024, 40},     {TAMIS_PARTITIONED, 7, 14, 10},
    {TAMIS_PARTITIONED, 3, 5, 2},    {TAMIS_PARTITIONED, 7, 144, 100},
    {TAMIS_PARTITIONED, 30, 10, 20}, {TAMIS_PARTITIONED, 64, 16, 40},
    {TAMIS_BLOCKED, 8, 512, 50},     {TAMIS_BLOCKED, 8, 512, 100},
    {TAMIS_BLOCKED, 8, 2048, 200},
};

static void tiny_filters_keep_the_expectation(void)
{
    for (size_t i = 0; i < LENGTH(TINY); i++)
        CHECK_THAT(fabs(deviation(&TINY[i], answers_of_library)), <, DEVIATIONS);
}

/* The same comparison refuses double hashing at every size above with four probes or more. */
static void double_hashing_does_not(void)
{
    for (size_t i = 0; i < LENGTH(TINY); i++)
        if (TINY[i].kind == TAMIS_BLOOM && TINY[i].k >= 4)
            CHECK_THAT(deviation(&TINY[i], answers_of_double_hashing), >, DEVIATIONS);
}

static const struct test tests[] = {
    {"bloom_rate_is_the_expectation", bloom_rate_is_the_expectation},
    {"the_correction_is_needed", the_correction_is_needed},
    {"partitioned_rate_is_the_product", partitioned_rate_is_the_product},
    {"blocked_rate_is_the_mixture", blocked_rate_is_the_mixture},
    {"measured_rates_match", measured_rates_match},
    {"tiny_filters_keep_the_expectation", tiny_filters_keep_the_expectation},
    {"double_hashing_does_not", double_hashing_does_not},
};
TEST_MAIN(tests)
