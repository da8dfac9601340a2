/* Private releases: their exact cost; that the noise is as stated, and that a build with less
 * noise would be noticed; that only flipped bits come from the source; and what releases are
 * still good for. */
#define _POSIX_C_SOURCE 200809L
#include "../support/audit.h"
#include "../support/check.h"

#include <errno.h>
#include <tamis/inspect.h>

static struct randomness seeded(uint64_t *state)
{
    return (struct randomness){golden_noise, state};
}

static tamis *bitmap(uint64_t m, uint64_t planned, uint64_t keys)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = planned, .m = m, .k = 1};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    for (uint64_t i = 0; i < keys; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
    return t;
}

static tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

/* --- What it costs ---------------------------------------------------------------------------- */

/* For test_private_epsilon.py, which has rational numbers: epsilon asked, threshold, epsilon
 * told. */
static void test_thresholds(void)
{
    uint64_t state = 5;
    for (int i = 0; i < 400; i++) {
        const double u = ldexp((double)(splitmix(&state) >> 11), -53);
        const double asked = i == 0   ? TAMIS__LEAST_EPSILON
                             : i == 1 ? TAMIS__MOST_EPSILON
                             : i < 34 ? 0.5 * (i - 1)
                                      : 0.001 * pow(16000, u);
        const uint32_t threshold = tamis__flip_threshold(asked);
        CHECK(threshold >= 1 && threshold < TAMIS__FLIP_END);
        printf("threshold %a %u %a\n", asked, threshold, tamis__flip_epsilon(threshold));
    }
}

/* --- The noise -------------------------------------------------------------------------------- */

static void test_audit(void)
{
    uint64_t state = 20;
    const struct randomness source = seeded(&state);
    for (double epsilon = 0.5; epsilon < 5; epsilon *= 2) {
        const uint32_t t = tamis__flip_threshold(epsilon);
        CHECK(audit_flips(tamis__flip, t, 1e7, &source));
        CHECK(audit_flips(tamis__flip, t, 1e6, &tamis__system_random));
        CHECK(!audit_flips(halved_flip, t, 1e7, &source));
    }
}

/* Sources that are random in part only. */
static int sticky(void *ctx, void *to, size_t n)
{
    golden_noise(ctx, to, n);
    for (size_t i = 8; i < n; i += 8) /* every second word is the one before */
        memcpy((uint8_t *)to + i - 4, (uint8_t *)to + i - 8, 4);
    return 0;
}

static void test_audit_notices_dependence(void)
{
    uint64_t state = 21;
    const struct randomness source = {sticky, &state};
    CHECK(!audit_flips(tamis__flip, tamis__flip_threshold(2), 1e6, &source));
}

static void test_attack(void)
{
    uint64_t state = 22;
    const struct randomness source = seeded(&state);
    for (double epsilon = 0.5; epsilon < 5; epsilon *= 2) {
        const uint32_t t = tamis__flip_threshold(epsilon);
        const double honest = attack(tamis__flip, t, 200000, &source),
                     broken = attack(halved_flip, t, 200000, &source);
        printf("epsilon %.1f: at least %.3f, by half the flips %.3f\n", epsilon, honest, broken);
        CHECK_THAT(honest, <=, tamis__flip_epsilon(t));
        CHECK_THAT(honest, >, 0.7 * epsilon); /* the attack is one */
        CHECK_THAT(broken, >, tamis__flip_epsilon(t));
    }
}

/* Each release draws anew, from the system. */
static void test_system_random(void)
{
    tamis *from = bitmap(6400, 1000, 500), *a, *b;
    CHECK_OK(tamis_release(from, 1, &a, NULL));
    CHECK_OK(tamis_release(from, 1, &b, NULL));
    struct bytes one = image_of(a), two = image_of(b);
    CHECK(!bytes_equal(one, two));
    tamis_close(from);
    tamis_close(a);
    tamis_close(b);
    free(one.p);
    free(two.p);
}

/* --- Nothing else comes out ------------------------------------------------------------------- */

/* A source of random numbers that makes the release flip chosen bits. */
struct told {
    const uint8_t *flips;
    uint64_t at;
};

static int as_told(void *ctx, void *to, size_t n)
{
    struct told *t = ctx;
    for (size_t i = 0; i < n; i += 4)
        tamis__put32((uint8_t *)to + i, tamis__bit(t->flips, t->at++) ? 0 : UINT32_MAX);
    return 0;
}

/* Two sources that differ in keys, plan and generation and come out with the same bits come out as
 * the same bytes. */
static void test_only_bits(void)
{
    enum { M = 3000 };
    tamis *first = bitmap(M, 100, 0), *second = bitmap(M, 777, 300), *out[2], *again;
    struct bytes image = image_of(second);
    tamis_close(second);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &second, NULL));
    CHECK_OK(tamis_add(second, "one more", 8, NULL)); /* generation 2 */
    uint8_t flips[2][M / 8] = {{0}};
    uint64_t state = 23;
    for (uint64_t i = 0; i < M; i++) {
        const uint64_t bit = splitmix(&state) >> 63;
        flips[0][i / 8] |= (uint8_t)(bit << i % 8);
        flips[1][i / 8] |= (uint8_t)((bit ^ tamis_cell(second, i)) << i % 8);
    }
    struct told told[2] = {{flips[0], 0}, {flips[1], 0}};
    const struct randomness by[2] = {{as_told, &told[0]}, {as_told, &told[1]}};
    CHECK_OK(tamis__release(first, 1, &by[0], &out[0], NULL));
    CHECK_OK(tamis__release(second, 1, &by[1], &out[1], NULL));
    CHECK_THAT(told[0].at, ==, M);
    struct bytes a = image_of(out[0]), b = image_of(out[1]);
    CHECK(bytes_equal(a, b));
    CHECK_OK(tamis_load(a.p, a.n, NULL, &again, NULL));
    CHECK(facts_of(again).sealed && facts_of(again).may_miss && facts_of(again).generation == 1);
    tamis_close(again);
    for (int i = 0; i < 2; i++) tamis_close(out[i]);
    tamis_close(first);
    tamis_close(second);
    free(image.p);
    free(a.p);
    free(b.p);
}

/* --- What is refused -------------------------------------------------------------------------- */

static int dry(void *ctx, void *to, size_t n)
{
    int *left = ctx;
    memset(to, 0, n);
    return (*left)-- > 0 ? 0 : EPERM;
}

static void test_refused_sources(void)
{
    static const tamis_plan plans[] = {
        {.struct_size = sizeof(tamis_plan), .kind = TAMIS_BLOOM, .items = 100, .m = 1000, .k = 2},
        {.struct_size = sizeof(tamis_plan),
         .kind = TAMIS_PARTITIONED,
         .items = 100,
         .m = 1000,
         .k = 1},
        {.struct_size = sizeof(tamis_plan), .kind = TAMIS_BLOCKED, .items = 100, .m = 1024},
        {.struct_size = sizeof(tamis_plan), .kind = TAMIS_TALLY, .m = 560}};
    static const double wrong[] = {0, -1, 0.0009, 16.1, NAN, INFINITY};
    tamis *t, *out;
    tamis_error why;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        CHECK_OK(tamis_create(&plans[i], NULL, &t, NULL));
        out = t;
        CHECK_THAT(tamis_release(t, 1, &out, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(out == NULL && why.better_kind == TAMIS_BLOOM && strstr(why.text, "k = 1") != NULL);
        tamis_close(t);
    }
    t = bitmap(5000, 100, 10);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_THAT(tamis_release(t, wrong[i], &out, &why), ==, TAMIS_EINVAL);
        CHECK(out == NULL);
    }
    for (int good = 0; good < 5; good++) { /* 5000 bits are five draws */
        int left = good;
        const struct randomness source = {dry, &left};
        CHECK_THAT(tamis__release(t, 1, &source, &out, &why), ==, TAMIS_EIO);
        CHECK(out == NULL && why.os == EPERM && why.text[0] != '\0');
    }
    CHECK_OK(tamis_release(t, 1, &out, NULL));
    tamis_close(t);
    CHECK_THAT(tamis_release(out, 1, &t, &why), ==, TAMIS_EUNSUPPORTED);
    tamis_close(out);
}

static tamis_status nowhere(void *ctx, const void *bytes, size_t n)
{
    (void)bytes, (void)n;
    ++*(int *)ctx;
    return TAMIS_OK;
}

static void test_refused_verbs(void)
{
    tamis *from = bitmap(5000, 100, 10), *t, *other;
    tamis_error why;
    tamis_similarity like = {.struct_size = sizeof like};
    double p;
    int pieces = 0;
    CHECK_OK(tamis_release(from, 1, &t, NULL));
    CHECK_OK(tamis_release(from, 1, &other, NULL));
    CHECK_THAT(tamis_add(t, "a", 1, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_clear(t), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_remove(t, "a", 1, &why), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_merge(t, other, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(strstr(why.text, "noise adds up") != NULL);
    CHECK_THAT(tamis_merge(from, t, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_compare(t, other, &like, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_pack(t, nowhere, &pieces, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(pieces == 0 && strstr(why.text, "does not shrink") != NULL);
    CHECK_THAT(tamis_probability(from, "a", 1, 0.5, &p, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_probability(t, "a", 1, 0, &p, &why), ==, TAMIS_EINVAL);
    CHECK_THAT(tamis_probability(t, "a", 1, 1, &p, &why), ==, TAMIS_EINVAL);
    CHECK_THAT(tamis_probability(t, "a", 1, NAN, &p, &why), ==, TAMIS_EINVAL);
    tamis_evidence e = {.struct_size = sizeof e};
    CHECK_THAT(tamis_evidence_of(from, 0.5, &e, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_evidence_of(t, 1, &e, &why), ==, TAMIS_EINVAL);
    e.struct_size--;
    CHECK_THAT(tamis_evidence_of(t, 0.5, &e, &why), ==, TAMIS_EINVAL);
    CHECK_THAT(tamis_evidence_of(t, 0.5, NULL, &why), ==, TAMIS_EINVAL);
    tamis_close(from);
    tamis_close(t);
    tamis_close(other);
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_PRIVATE, .items = 100, .fpr = 0.1};
    CHECK_THAT(tamis_create(&plan, NULL, &t, &why), ==, TAMIS_EUNSUPPORTED);
}

/* --- What it is good for ---------------------------------------------------------------------- */

/* Ten bits an item: the hits are 1 - p, the false ones p + (1-2p)(1 - e^-0.1), each within 6.5
 * deviations: a false alarm once in 1e10. The bits tell both rates. And of keys that are in as
 * often as not, as many are in as tamis_probability says. */
static void check_use(double epsilon)
{
    enum { N = 20000 };
    uint64_t state = (uint64_t)(epsilon * 1000);
    const struct randomness source = seeded(&state);
    tamis *from = bitmap(10 * N, N, N), *t;
    CHECK_OK(tamis__release(from, epsilon, &source, &t, NULL));
    const tamis_facts f = facts_of(t);
    double hits[2] = {0, 0}, sum[2] = {0, 0}, prob[2] = {0, 0};
    for (uint64_t i = 0; i < 2 * N; i++) {
        const bool in = i < N, yes = tamis_may_contain(t, &i, sizeof i);
        hits[in] += yes;
        sum[yes] += in;
    }
    for (uint64_t i = 0; prob[0] == 0 || prob[1] == 0; i++)
        CHECK_OK(tamis_probability(t, &i, sizeof i, 0.5, &prob[tamis_may_contain(t, &i, sizeof i)],
                                   NULL));
    const double p = 1 / (1 + exp(epsilon)), wrong = p + (1 - 2 * p) * -expm1(-0.1);
    CHECK_THAT(fabs(f.miss_rate - p), <, 1e-9);
    CHECK_THAT(fabs(hits[1] - N * (1 - p)), <, 6.5 * sqrt(N * p * (1 - p)) + 1);
    CHECK_THAT(fabs(hits[0] - N * wrong), <, 6.5 * sqrt(2 * N * wrong * (1 - wrong)));
    CHECK_THAT(fabs(hits[0] - N * f.fpr_now), <, 6.5 * sqrt(N * wrong * (1 - wrong)));
    for (int yes = 0; yes < 2; yes++) {
        const double asked = yes ? hits[0] + hits[1] : 2 * N - hits[0] - hits[1], q = prob[yes];
        CHECK_THAT(fabs(sum[yes] - asked * q), <, 6.5 * sqrt(asked * q * (1 - q)) + 1);
        CHECK_THAT(fabs(log(q / (1 - q))), <=, f.epsilon);
    }
    CHECK(f.items_low <= N && N <= f.items_high);
    tamis_close(from);
    tamis_close(t);
}

static void test_use(void)
{
    check_use(1);
    check_use(2);
    check_use(4);
    check_use(8);
}

/* An answer never moves the odds by more than epsilon, not even where the noise came out as it
 * hardly ever does. */
static void test_odds(void)
{
    static const uint8_t none[8] = {0}, all[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    for (int full = 0; full < 2; full++) {
        struct told told = {full ? all : none, 0};
        const struct randomness source = {as_told, &told};
        tamis *from = bitmap(64, 100, 0), *t;
        CHECK_OK(tamis__release(from, 1, &source, &t, NULL));
        double p;
        CHECK_OK(tamis_probability(t, "key", 3, 0.25, &p, NULL));
        const double odds = p / (1 - p) * 3;
        CHECK_THAT(fabs(log(odds)), <=, facts_of(t).epsilon);
        const tamis_facts f = facts_of(t);
        CHECK(full ? f.items_high == INFINITY : f.items_low == 0);
        CHECK(isfinite(f.items_estimate));
        tamis_evidence e = {.struct_size = sizeof e};
        CHECK_OK(tamis_evidence_of(t, 0.25, &e, NULL));
        CHECK(p == (full ? e.yes : e.no));
        /* With any number of items an answer may say nothing, and never more than epsilon. */
        CHECK_THAT(full ? e.yes_low : 0.25, ==, 0.25);
        CHECK(e.no_low <= e.no && e.no <= e.no_high && e.no_high <= 0.25);
        CHECK(e.yes_low >= 0.25 && e.yes_low <= e.yes && e.yes <= e.yes_high);
        CHECK_THAT(log(e.yes_high / (1 - e.yes_high) * 3), <=, f.epsilon);
        CHECK_THAT(-log(e.no_low / (1 - e.no_low) * 3), <=, f.epsilon);
        tamis_close(from);
        tamis_close(t);
    }
}

/* How much the answers of small filters are worth, whose few bits leave the number of items
 * uncertain. With n items, the bit of another key is set with probability q, and Bayes' rule is
 * exact: when a third of all keys are members, then among the keys with a yes, and among those
 * with a no, the share of members is as it says (6.5 deviations). The filter does not know n.
 * Its interval of 99 % contains the true share in at least as many cases (again 6.5 deviations),
 * and it is not idle: it is missed at times. */
static void check_evidence(double epsilon, uint64_t m, uint64_t n)
{
    enum { TRIALS = 20000 };
    uint64_t state = m + n;
    const struct randomness source = seeded(&state);
    const double a = (double)m, p = 1 / (1 + exp(epsilon));
    const double q = p + (1 - 2 * p) * -expm1((double)n * log1p(-1 / a));
    const double truth[2] = {p / (p + 2 * (1 - q)), (1 - p) / (1 - p + 2 * q)};
    double asked[2] = {0, 0}, in[2] = {0, 0}, covered[2] = {0, 0};
    for (uint64_t i = 0; i < TRIALS; i++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_BLOOM,
                                 .items = 100,
                                 .m = m,
                                 .k = 1,
                                 .seed = i};
        tamis_evidence e = {.struct_size = sizeof e};
        tamis *from, *t;
        CHECK_OK(tamis_create(&plan, NULL, &from, NULL));
        for (uint64_t key = 0; key < n; key++) CHECK_OK(tamis_add(from, &key, sizeof key, NULL));
        CHECK_OK(tamis__release(from, epsilon, &source, &t, NULL));
        CHECK_OK(tamis_evidence_of(t, 1.0 / 3, &e, NULL));
        covered[1] += e.yes_low <= truth[1] && truth[1] <= e.yes_high;
        covered[0] += e.no_low <= truth[0] && truth[0] <= e.no_high;
        for (uint64_t key = n - 1; key < n + 2; key++) { /* one that is in, and two that are not */
            const bool yes = tamis_may_contain(t, &key, sizeof key);
            asked[yes]++;
            in[yes] += key < n;
        }
        tamis_close(from);
        tamis_close(t);
    }
    for (int yes = 0; yes < 2; yes++) {
        const double x = truth[yes], share = covered[yes] / TRIALS;
        printf("epsilon %.1f, %g bits: %s %.4f, measured %.4f; covered %.4f\n", epsilon, a,
               yes ? "yes" : "no", x, in[yes] / asked[yes], share);
        CHECK_THAT(fabs(in[yes] - asked[yes] * x), <, 6.5 * sqrt(asked[yes] * x * (1 - x)));
        CHECK_THAT(share, >, 0.99 - 6.5 * sqrt(0.99 * 0.01 / TRIALS));
        CHECK_THAT(share, <, 1);
    }
}

static void test_evidence(void)
{
    check_evidence(1, 64, 20);
    check_evidence(2, 200, 50);
    check_evidence(4, 1000, 100);
}

/* 5,000 items in 20,000 bits. The mean is right except for the curvature of the logarithm, sd^2
 * / 2m. The intervals at 1.96 deviations cover 95 %, within 1.5 points: with 10,000 releases
 * that is 6.9 deviations of their share. */
static void check_estimate(double epsilon, double expected_sd)
{
    enum { M = 20000, N = 5000, TRIALS = 10000 };
    uint64_t state = (uint64_t)(epsilon * 100);
    const struct randomness source = seeded(&state);
    uint8_t cells[(M + 63) / 64 * 8];
    struct section s = {
        .role = 1, .kind = TAMIS_PRIVATE, .cell_bits = 1, .k = 1, .m = M, .cells = cells};
    const struct body b = {.sections = &s, .count = 1};
    double sum = 0, squares = 0, covered = 0;
    s.flip_threshold = tamis__flip_threshold(epsilon);
    for (int i = 0; i < TRIALS; i++) {
        struct gauge g = {0};
        memset(cells, 0, sizeof cells);
        for (int n = 0; n < N; n++) {
            const uint64_t cell = tamis__mulhi(splitmix(&state), M);
            cells[cell / 8] |= (uint8_t)(1u << cell % 8);
        }
        CHECK(tamis__flip(cells, M, s.flip_threshold, &source) == 0);
        tamis__kind(TAMIS_PRIVATE)->gauge(&b, NULL, 1.9599639845400545, &g);
        sum += g.items.value - N;
        squares += (g.items.value - N) * (g.items.value - N);
        covered += g.items.low <= N && N <= g.items.high;
    }
    const double mean = sum / TRIALS, sd = sqrt(squares / TRIALS - mean * mean);
    printf("epsilon %.1f: mean off by %.2f, sd %.1f, covered %.4f\n", epsilon, mean, sd,
           covered / TRIALS);
    CHECK_THAT(fabs(mean), <, sd * sd / M + 6.5 * sd / 100);
    CHECK_THAT(fabs(covered / TRIALS - 0.95), <, 0.015);
    CHECK_THAT(fabs(sd / expected_sd - 1), <, 0.05); /* 7 deviations of an sd are 5 % */
}

static void test_estimate(void)
{
    /* By sqrt(Var[Y]) / ((1-2p) e^(-n/m)); see membership/private.c. */
    for (double epsilon = 0.5; epsilon < 5; epsilon *= 2) {
        const struct occupancy o = {1, 20000, 1, 0};
        const double p = 1 / (1 + exp(epsilon)), slope = 1 - 2 * p;
        const double v = 20000 * p * (1 - p) + slope * slope * tamis__occupied_variance(&o, 5000);
        check_estimate(epsilon, sqrt(v) / (slope * exp(-0.25)));
    }
}

static const struct test tests[] = {
    {"thresholds", test_thresholds},
    {"audit of the noise", test_audit},
    {"audit notices dependence", test_audit_notices_dependence},
    {"attack on neighbours", test_attack},
    {"system random", test_system_random},
    {"only bits", test_only_bits},
    {"refused sources", test_refused_sources},
    {"refused verbs", test_refused_verbs},
    {"use", test_use},
    {"odds", test_odds},
    {"evidence", test_evidence},
    {"estimate", test_estimate},
};

TEST_MAIN(tests)
