/* The intervals of counts are true: among all keys, and among the thousand most frequent ones, the
 * share whose true count is within [lower, upper] is what `confidence` says.
 *
 * 16384 keys that never occurred make the margin, so the share it covers is off by 0.08 points
 * (one standard deviation); a limit 0.5 below is six of them, 1e-9. The thousand most frequent
 * keys of four seeds are 4000 more trials of 1 %, 0.16 points: a limit 1.5 below is eight of
 * both together. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"

#define SEEDS 4u
#define TOP 1000u

struct coverage {
    double all, top;   /* shares */
    double keys, tops; /* asked so far */
};

static void cover(struct coverage *c, const tamis *t, const struct stream *z)
{
    tamis_estimate *e = count_universe(t, z->universe);
    for (uint32_t i = 0; i < z->universe; i++) {
        const bool in = e[i].lower <= z->truth[i] && z->truth[i] <= e[i].upper;
        if (z->truth[i] == 0) continue;
        CHECK(e[i].confidence >= 0.99 && e[i].lower <= e[i].estimate &&
              e[i].estimate <= e[i].upper);
        c->all += in;
        c->keys++;
        if (i < TOP) c->top += in;
        if (i < TOP) c->tops++;
    }
    free(e);
}

static void check_coverage(const struct stream *z, const struct sketch *s, uint64_t bytes)
{
    struct coverage c = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        tamis *t = sketch_new(s, bytes, seed);
        add_stream(t, z, 0, z->n);
        cover(&c, t, z);
        tamis_close(t);
    }
    if (c.all < 0.985 * c.keys || c.top < 0.975 * c.tops)
        printf("%s of %u bytes: %.4f of all, %.4f of the top\n", s->name, (unsigned)bytes,
               c.all / c.keys, c.top / c.tops);
    CHECK(c.all >= 0.985 * c.keys);
    CHECK(c.top >= 0.975 * c.tops);
}

static void check_stream(double alpha, bool clustered)
{
    struct stream z = zipf_stream(alpha, 400000, 100000, 17);
    if (clustered) cluster(&z);
    for (size_t i = 0; i < SKETCHES; i++)
        for (uint64_t bytes = 1 << 14; bytes <= 1 << 18; bytes <<= 2)
            check_coverage(&z, &sketches[i], bytes);
    stream_free(&z);
}

static void test_coverage(void)
{
    check_stream(0.8, false);
    check_stream(1.0, false);
    check_stream(1.3, false);
}

static void test_coverage_in_clusters(void)
{
    check_stream(1.0, true);
}

/* A count right after an add needs no new look at the noise, and is covered as well. Keys count
 * alike, however often they are asked about: whether one is covered hardly changes on the way. */
static void test_counts_between_adds(void)
{
    struct stream z = zipf_stream(1.0, 200000, 50000, 4);
    for (size_t i = 0; i < SKETCHES; i++) {
        tamis *t = sketch_new(&sketches[i], 1 << 15, 0);
        int64_t *so_far = calloc(z.universe, sizeof *so_far);
        CHECK(so_far != NULL);
        double in = 0, keys = 0;
        for (uint32_t at = 0; at < z.n; at++) {
            const uint64_t key = z.keys[at];
            CHECK_OK(tamis_add_weight(t, &key, sizeof key, 1, NULL));
            so_far[key]++;
            const tamis_estimate e = ask_count(t, key);
            const bool covered = e.lower <= so_far[key] && so_far[key] <= e.upper;
            in += covered ? 1 / (double)z.truth[key] : 0;
            keys += so_far[key] == 1;
        }
        if (in < 0.985 * keys) printf("%s: %.4f\n", sketches[i].name, in / keys);
        CHECK_THAT(in, >=, 0.985 * keys);
        free(so_far);
        tamis_close(t);
    }
    stream_free(&z);
}

/* For a stream in which the first key has nearly all the weight: its weight is on few counters,
 * and the little that the others have is all the noise. The counts are asked for all the time,
 * or only at the end. */
static void check_light_keys(tamis *t, const char *name, int64_t heavy, bool often)
{
    enum { LIGHT = 40000 };
    double in = 0, asked = 0;
    CHECK_OK(tamis_add_weight(t, "the heavy one", 13, heavy, NULL));
    for (uint64_t key = 0; key < LIGHT; key++) {
        if (often || key == 0) {
            const tamis_estimate e = ask_count(t, key + (key % 2) * LIGHT);
            in += e.lower <= 0 && 0 <= e.upper;
            asked++;
        }
        CHECK_OK(tamis_add_weight(t, &key, sizeof key, 1, NULL));
    }
    for (uint64_t key = 0; key < 2 * LIGHT; key++, asked++) {
        const tamis_estimate e = ask_count(t, key);
        const int64_t truth = key < LIGHT;
        in += e.lower <= truth && truth <= e.upper;
    }
    if (in < 0.985 * asked)
        printf("%s, heavy %g%s: %.4f\n", name, (double)heavy, often ? ", often" : "", in / asked);
    CHECK_THAT(in, >=, 0.985 * asked);
    tamis_close(t);
}

static void test_light_keys_beside_a_heavy_one(void)
{
    for (size_t i = 0; i < SKETCHES; i++)
        for (int64_t heavy = 1000000; heavy <= 1000000000; heavy *= 1000) {
            check_light_keys(sketch_new(&sketches[i], 1 << 14, 5), sketches[i].name, heavy, false);
            check_light_keys(sketch_new(&sketches[i], 1 << 14, 5), sketches[i].name, heavy, true);
        }
    const tamis_plan others[] = {{.kind = TAMIS_TOP},
                                 {.kind = TAMIS_WINDOW, .inner_kind = TAMIS_TALLY},
                                 {.kind = TAMIS_WINDOW, .inner_kind = TAMIS_TOP}};
    for (size_t i = 0; i < 3; i++) {
        tamis_plan p = others[i];
        tamis *t;
        p.struct_size = sizeof p;
        p.bytes = 1 << 16;
        p.generations = p.kind == TAMIS_WINDOW ? 3 : 0;
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        check_light_keys(t, tamis_kind_name(p.kind), 1000000000, false);
    }
}

/* Below the noise floor are nearly all keys that never came, and none that is far more frequent
 * than it. */
static void test_noise_floor(void)
{
    struct stream z = zipf_stream(1.0, 400000, 100000, 23);
    for (size_t i = 0; i < SKETCHES; i++) {
        tamis *t = sketch_new(&sketches[i], 1 << 15, 0);
        add_stream(t, &z, 0, z.n);
        const tamis_facts f = sketch_facts(t);
        CHECK(0 <= f.noise_median && f.noise_median <= f.noise_99 && f.noise_99 <= f.noise_999);
        CHECK(f.weight == z.n && f.items == z.n);
        double below = 0;
        for (uint64_t key = 0; key < 20000; key++)
            below += ask_count(t, key + 1000000000).below_noise;
        CHECK_THAT(below, >=, 0.995 * 20000); /* 99.9 % less a dozen deviations */
        for (uint64_t key = 0; key < 100; key++)
            if (z.truth[key] > 2 * f.noise_999) CHECK(!ask_count(t, key).below_noise);
        tamis_close(t);
    }
    stream_free(&z);
}

/* The best guess is better than the upper bound, by far where most counts are noise. */
static void test_estimate_beats_the_bound(void)
{
    struct stream z = zipf_stream(1.0, 400000, 100000, 29);
    for (size_t i = 0; i < SKETCHES; i++) {
        if (sketches[i].two_sided) continue;
        tamis *t = sketch_new(&sketches[i], 1 << 14, 0);
        add_stream(t, &z, 0, z.n);
        tamis_estimate *e = count_universe(t, z.universe);
        double bound = 0, guess = 0;
        for (uint32_t k = 0; k < z.universe; k++) {
            bound += fabs((double)(e[k].upper - z.truth[k]));
            guess += fabs((double)(e[k].estimate - z.truth[k]));
        }
        CHECK_THAT(guess, <, bound / 2);
        free(e);
        tamis_close(t);
    }
    stream_free(&z);
}

static const struct test tests[] = {
    {"coverage", test_coverage},
    {"coverage in clusters", test_coverage_in_clusters},
    {"counts between adds", test_counts_between_adds},
    {"light keys beside a heavy one", test_light_keys_beside_a_heavy_one},
    {"noise floor", test_noise_floor},
    {"estimate beats the bound", test_estimate_beats_the_bound},
};

TEST_MAIN(tests)
