/* Streams without heavy lines: a top lists the keys of them that met the most noise, so no quantile
 * of the noise of any key holds for it. Its intervals must be certain, and contain the truth
 * nevertheless.
 *
 * Streams and seeds are fixed. That the lower bounds of listed keys hold does not depend on
 * chance, except for two keys with the same 64-bit hash: 3e-8 for a million keys if the seed
 * were not fixed. Among the keys that are not listed 99 % must be covered: 16384 keys that never
 * occurred make the margin, so the share it covers is off by 0.08 points (one standard
 * deviation), and a limit 0.5 below is six of them, 1e-9. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"

#define MOST_LISTED 4000u

static tamis *top_new(uint64_t bytes, uint32_t generations)
{
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = generations != 0 ? TAMIS_WINDOW : TAMIS_TOP,
                          .inner_kind = generations != 0 ? TAMIS_TOP : 0,
                          .generations = generations,
                          .bytes = bytes};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

/* n keys that come once each, in no order. */
static struct stream distinct_stream(uint32_t n)
{
    struct stream s = {n, n, malloc(n * sizeof *s.keys), malloc(n * sizeof *s.truth)};
    CHECK(s.keys != NULL && s.truth != NULL);
    for (uint32_t i = 0; i < n; i++) {
        s.keys[i] = i;
        s.truth[i] = 1;
    }
    return s;
}

static void check_listed(const tamis_heavy *h, const tamis *t, const struct stream *z)
{
    CHECK_THAT(h->item.len, ==, 8);
    uint64_t key;
    memcpy(&key, h->item.p, 8);
    CHECK(key < z->universe);
    const tamis_estimate *e = &h->count, again = ask_count(t, key);
    CHECK(e->confidence == 1 && e->lower == e->certain && e->lower >= 1);
    CHECK(e->lower <= z->truth[key] && z->truth[key] <= e->upper);
    CHECK(e->lower <= e->estimate && e->estimate <= e->upper);
    /* To be listed is what chose it: asked for by its name it gets the same answer. */
    CHECK(again.lower == e->lower && again.upper == e->upper && again.confidence == 1);
}

static void check_others(const tamis *t, const struct stream *z)
{
    tamis_estimate *e = count_universe(t, z->universe);
    double within = 0, came = 0;
    for (uint32_t i = 0; i < z->universe; i++) {
        CHECK(e[i].upper >= z->truth[i] && (e[i].confidence < 1 || e[i].lower <= z->truth[i]));
        if (z->truth[i] == 0 || e[i].confidence == 1) continue;
        came++;
        within += e[i].lower <= z->truth[i];
    }
    CHECK(came > 0 && within >= 0.985 * came);
    free(e);
}

static void check_stream(struct stream z, uint64_t bytes, uint32_t generations)
{
    static tamis_heavy list[MOST_LISTED];
    tamis *t = top_new(bytes, generations);
    for (uint32_t i = 0, parts = generations != 0 ? generations : 1; i < parts; i++) {
        if (i > 0) CHECK_OK(tamis_rotate(t, NULL));
        add_stream(t, &z, z.n / parts * i, i + 1 < parts ? z.n / parts * (i + 1) : z.n);
    }
    const size_t n = tamis_top(t, list, 100);
    CHECK_THAT(n, ==, 100);
    for (size_t i = 0; i < n; i++) check_listed(&list[i], t, &z);
    const tamis_facts f = sketch_facts(t);
    size_t found = 0;
    CHECK_OK(tamis_above(t, f.list_floor, list, MOST_LISTED, &found, NULL));
    CHECK(found <= MOST_LISTED);
    for (size_t i = 0; i < found; i++) check_listed(&list[i], t, &z);
    check_others(t, &z);
    tamis_close(t);
    stream_free(&z);
}

static void test_distinct_lines(void)
{
    check_stream(distinct_stream(100000), 1 << 15, 0);
    check_stream(distinct_stream(1000000), 64000, 0);
    check_stream(distinct_stream(300000), 1 << 20, 0);
    check_stream(distinct_stream(300000), 1 << 18, 4);
}

static void test_zipf_of_a_half(void)
{
    check_stream(zipf_stream(0.5, 400000, 400000, 31), 1 << 15, 0);
    check_stream(zipf_stream(0.5, 1000000, 1000000, 32), 1 << 17, 0);
    check_stream(zipf_stream(0.5, 400000, 400000, 33), 1 << 17, 3);
}

/* A certain interval may be narrow: for a heavy line, only its count before it was listed is
 * unknown. */
static void test_heavy_among_them(void)
{
    struct stream z = distinct_stream(400000);
    tamis *t = top_new(1 << 16, 0);
    for (uint32_t i = 0; i < 400000; i += 100) { /* line 7 is every hundredth */
        z.keys[i] = 7;
        z.truth[7]++;
    }
    add_stream(t, &z, 0, z.n);
    tamis_heavy first;
    CHECK_THAT(tamis_top(t, &first, 1), ==, 1);
    CHECK(memcmp(first.item.p, &(uint64_t){7}, 8) == 0);
    CHECK((double)first.count.lower >= 0.99 * (double)z.truth[7] &&
          first.count.lower <= z.truth[7]);
    CHECK(first.count.confidence == 1 && first.count.upper >= z.truth[7]);
    tamis_close(t);
    stream_free(&z);
}

static const struct test tests[] = {
    {"distinct lines", test_distinct_lines},
    {"Zipf of a half", test_zipf_of_a_half},
    {"heavy among them", test_heavy_among_them},
};

TEST_MAIN(tests)
