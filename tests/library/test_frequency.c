/* The promises that all sketches make, against exact counts. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "../support/tracking.h"

#define SECRET ((const uint8_t *)"a secret of 16..")

static bool same(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(x.p != NULL && y.p != NULL);
    const bool equal = bytes_equal(x, y);
    free(x.p);
    free(y.p);
    return equal;
}

/* --- A sketch against the exact counts: random operations, copies and images ------------------ */

#define UNIVERSE 3000u
#define OPERATIONS 250000u
#define BATCH 200u

struct model {
    const struct sketch *s;
    tamis *t;
    int64_t truth[UNIVERSE], sum;
    uint64_t random;
};

static uint32_t pick(struct model *m, uint32_t below)
{
    return (uint32_t)(splitmix(&m->random) >> 32) % below;
}

/* Mostly small, sometimes more than 16 bits can tell, seldom 2^40 where counters have 64 bits. */
static int64_t pick_weight(struct model *m, uint32_t key)
{
    const uint32_t dice = pick(m, 1000);
    if (m->s->takes_away && dice < 300)
        return -(int64_t)pick(m, (uint32_t)m->truth[key] % 1000 + 1);
    if (dice == 999 && m->s->cell_bits == 64) return INT64_C(1) << 40;
    return dice > 990 ? pick(m, 100000) : pick(m, 5);
}

static void model_add(struct model *m)
{
    const uint64_t key = pick(m, UNIVERSE);
    const int64_t w = pick_weight(m, (uint32_t)key);
    CHECK_OK(tamis_add_weight(m->t, &key, sizeof key, w, NULL));
    m->truth[key] += w;
    m->sum += w;
}

static void model_add_batch(struct model *m, bool hashed)
{
    uint64_t which[BATCH];
    int64_t weights[BATCH];
    tamis_bytes keys[BATCH];
    tamis_hash h[BATCH];
    const uint32_t n = 1 + pick(m, BATCH);
    for (uint32_t i = 0; i < n; i++) {
        which[i] = pick(m, UNIVERSE);
        weights[i] = pick_weight(m, (uint32_t)which[i]);
        keys[i] = (tamis_bytes){&which[i], sizeof which[i]};
        m->truth[which[i]] += weights[i];
        m->sum += weights[i];
    }
    size_t done = 0;
    CHECK_OK(tamis_hash_many(m->t, keys, n, h));
    CHECK_OK(hashed ? tamis_add_weight_hashes(m->t, h, weights, n, &done, NULL)
                    : tamis_add_weight_many(m->t, keys, weights, n, &done, NULL));
    CHECK_THAT(done, ==, n);
}

static void model_ask(struct model *m)
{
    const uint32_t key = pick(m, UNIVERSE);
    const tamis_estimate e = ask_count(m->t, key);
    if (!m->s->two_sided) CHECK(e.upper >= m->truth[key] && e.lower >= 0);
    const uint64_t k = key;
    CHECK(m->truth[key] == 0 || tamis_may_contain(m->t, &k, sizeof k));
}

static void model_travel(struct model *m)
{
    struct bytes image = image_of(m->t);
    tamis *again, *copy;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK_OK(tamis_copy(again, &copy, NULL));
    CHECK(same(again, m->t) && same(copy, m->t));
    tamis_close(m->t);
    tamis_close(again);
    free(image.p);
    m->t = copy;
}

static void check_all(const struct model *m)
{
    tamis_estimate *e = count_universe(m->t, UNIVERSE);
    for (uint32_t i = 0; i < UNIVERSE && !m->s->two_sided; i++) CHECK(e[i].upper >= m->truth[i]);
    free(e);
    CHECK(sketch_facts(m->t).weight == m->sum);
}

static void run_model(const struct sketch *s, uint64_t seed)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    m.s = s;
    m.random = seed;
    m.t = sketch_new(s, 8192, seed);
    for (uint32_t done = 0; done < OPERATIONS; done++) {
        const uint32_t dice = pick(&m, 1000);
        if (dice < 700)
            model_add(&m);
        else if (dice < 990)
            model_ask(&m);
        else if (dice < 998)
            model_add_batch(&m, dice % 2 == 0);
        else if (done % 16 == 0)
            model_travel(&m);
    }
    check_all(&m);
    CHECK_OK(tamis_clear(m.t));
    CHECK(sketch_facts(m.t).weight == 0 && ask_count(m.t, 5).upper == 0);
    tamis_close(m.t);
}

static void test_model(void)
{
    for (size_t i = 0; i < SKETCHES; i++)
        for (uint64_t seed = 1; seed <= 4; seed++) run_model(&sketches[i], seed);
}

/* --- Few keys in much room are counted exactly --- */

static void test_exact_when_alone(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        tamis *t = sketch_new(&sketches[i], 1 << 16, 0);
        for (uint64_t key = 0; key < 20; key++)
            CHECK_OK(tamis_add_weight(t, &key, sizeof key, (int64_t)(key * key * key), NULL));
        for (uint64_t key = 0; key < 20; key++) {
            const tamis_estimate e = ask_count(t, key);
            CHECK(e.estimate == (int64_t)(key * key * key));
            CHECK(e.lower == e.estimate && e.upper == e.estimate);
            CHECK(e.below_noise == (key == 0));
        }
        CHECK(ask_count(t, 99).upper == 0);
        tamis_close(t);
    }
}

/* --- The plan --- */

static void test_plans(void)
{
    for (size_t i = 0; i < SKETCHES; i++)
        for (uint64_t bytes = 400; bytes < 3000000; bytes += bytes / 3) {
            tamis_plan p = sketch_plan(&sketches[i], bytes, 0);
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK(p.bytes <= bytes && (double)p.bytes > 0.9 * (double)bytes - 300);
            tamis_plan again = p;
            CHECK_OK(tamis_solve(&again, NULL, NULL));
            CHECK(memcmp(&again, &p, sizeof p) == 0);
            tamis *t;
            CHECK_OK(tamis_create(&p, NULL, &t, NULL));
            CHECK_THAT(tamis_image_size(t), ==, p.bytes);
            tamis_close(t);
        }
}

static void check_no_plan(tamis_plan p)
{
    tamis_error why = {.text = ""};
    p.struct_size = sizeof p;
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    CHECK(why.text[0] != '\0');
}

static void test_plans_that_make_no_sense(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        const tamis_plan good = sketch_plan(&sketches[i], 5000, 0);
        tamis_plan p = good;
        p.items = 10;
        check_no_plan(p);
        p = good;
        p.fpr = 0.1;
        check_no_plan(p);
        p = good;
        p.flags |= TAMIS_STRICT;
        check_no_plan(p);
        p = good;
        p.bytes = 200;
        check_no_plan(p);
        p.bytes = 0;
        check_no_plan(p);
        p = good;
        p.cell_bits = 16;
        check_no_plan(p);
    }
    check_no_plan((tamis_plan){.kind = TAMIS_BLOOM, .items = 10, .fpr = 0.1, .error = 0.1});
    check_no_plan(
        (tamis_plan){.kind = TAMIS_BLOOM, .items = 10, .fpr = 0.1, .flags = TAMIS_CONSERVATIVE});
}

/* --- One verb, three forms, the same bits --- */

static void test_forms_agree(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        tamis *t[4];
        uint64_t room[700];
        int64_t weights[700];
        tamis_bytes keys[700];
        tamis_hash h[700];
        uint64_t random = 7;
        for (size_t j = 0; j < 700; j++) {
            room[j] = splitmix(&random) % 300;
            weights[j] = (int64_t)(splitmix(&random) % 400);
            keys[j] = (tamis_bytes){&room[j], sizeof room[j]};
        }
        for (size_t j = 0; j < 4; j++) t[j] = sketch_new(&sketches[i], 4000, 0);
        CHECK_OK(tamis_hash_many(t[0], keys, 700, h));
        CHECK_OK(tamis_add_weight_many(t[0], keys, weights, 700, NULL, NULL));
        CHECK_OK(tamis_add_weight_hashes(t[1], h, weights, 700, NULL, NULL));
        for (size_t j = 0; j < 700; j++)
            CHECK_OK(tamis_add_weight(t[2], &room[j], sizeof room[j], weights[j], NULL));
        CHECK(same(t[0], t[1]) && same(t[0], t[2]));
        tamis_estimate many[700], hashed[700];
        CHECK_OK(tamis_count_many(t[0], keys, 700, many, NULL));
        CHECK_OK(tamis_count_hashes(t[0], h, 700, hashed, NULL));
        for (size_t j = 0; j < 700; j++) {
            const tamis_estimate one = ask_count(t[0], room[j]);
            CHECK(one.upper == many[j].upper && one.lower == hashed[j].lower);
            CHECK(one.estimate == many[j].estimate && one.estimate == hashed[j].estimate);
        }
        /* tamis_add is a weight of 1. */
        for (size_t j = 0; j < 700; j++) {
            bool seen;
            CHECK_OK(tamis_add(t[3], &room[j], sizeof room[j], &seen));
            CHECK(seen || weights[j] >= 0);
        }
        CHECK_OK(tamis_clear(t[0]));
        CHECK_OK(tamis_add_many(t[0], keys, 700, NULL, NULL));
        CHECK_OK(tamis_clear(t[1]));
        CHECK_OK(tamis_add_weight_hashes(t[1], h, NULL, 700, NULL, NULL));
        CHECK(same(t[0], t[3]) && same(t[0], t[1]));
        for (size_t j = 0; j < 4; j++) tamis_close(t[j]);
    }
}

/* --- What cannot be, changes nothing --- */

static void test_negative_weights(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        const struct sketch *s = &sketches[i];
        const uint64_t keys[3] = {1, 2, 3};
        const tamis_bytes k[3] = {{&keys[0], 8}, {&keys[1], 8}, {&keys[2], 8}};
        const int64_t weights[3] = {10, -4, 7};
        tamis *t = sketch_new(s, 4000, 0), *u = sketch_new(s, 4000, 0);
        tamis_error why = {.text = ""};
        size_t done = 9;
        const tamis_status st = tamis_add_weight_many(t, k, weights, 3, &done, &why);
        if (s->two_sided) {
            CHECK_OK(st);
            CHECK_THAT(done, ==, 3);
        } else {
            CHECK_THAT(st, ==, s->takes_away ? TAMIS_EABSENT : TAMIS_EUNSUPPORTED);
            CHECK(done == 1 && why.text[0] != '\0');
            CHECK(s->takes_away || why.better_kind == TAMIS_SIGNED_TALLY);
            CHECK_OK(tamis_add_weight(u, &keys[0], 8, 10, NULL));
            CHECK(same(t, u));
        }
        if (s->takes_away) {
            CHECK_OK(tamis_clear(t));
            CHECK_OK(tamis_add_weight(t, &keys[0], 8, 300, NULL));
            CHECK_OK(tamis_add_weight(t, &keys[0], 8, -299, NULL));
            CHECK(ask_count(t, 1).estimate == 1);
            CHECK_OK(tamis_remove(t, &keys[0], 8, NULL));
            CHECK_OK(tamis_clear(u));
            CHECK(s->cell_bits == 8 || same(t, u)); /* counters that have joined stay so */
            CHECK(ask_count(t, 1).estimate == 0);
        } else {
            CHECK_THAT(tamis_remove(t, &keys[0], 8, &why), ==, TAMIS_EUNSUPPORTED);
            CHECK_THAT(why.better_kind, ==, TAMIS_SIGNED_TALLY);
        }
        tamis_close(t);
        tamis_close(u);
    }
}

/* Not even the generation, of what was loaded. */
static void test_refused_after_loading(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        const struct sketch *s = &sketches[i];
        tamis *t = sketch_new(s, 4000, 0), *loaded;
        CHECK_OK(tamis_add_weight(t, "key", 3, 7, NULL));
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &loaded, NULL));
        if (!s->two_sided) {
            const tamis_bytes key = {"key", 3};
            const int64_t w = -8;
            CHECK(tamis_add_weight(loaded, "key", 3, w, NULL) != TAMIS_OK);
            CHECK(tamis_add_weight_many(loaded, &key, &w, 1, NULL, NULL) != TAMIS_OK);
        }
        CHECK(same(t, loaded));
        CHECK_OK(tamis_add_weight(loaded, "key", 3, 1, NULL));
        CHECK(!same(t, loaded));
        free(image.p);
        tamis_close(loaded);
        tamis_close(t);
    }
}

/* One after the other, whatever comes at a time: the sum of all weights as well. */
static void test_weights_in_order(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        if (!sketches[i].takes_away && !sketches[i].two_sided) continue;
        tamis_plan p = sketch_plan(&sketches[i], 4000, 0);
        p.cell_bits = p.kind == TAMIS_SIGNED_TALLY ? 0 : 64;
        const tamis_bytes k[2] = {{"a", 1}, {"b", 1}};
        const int64_t w[2] = {-10, INT64_MAX - 5};
        tamis *t[2];
        for (int j = 0; j < 2; j++) {
            CHECK_OK(tamis_create(&p, NULL, &t[j], NULL));
            CHECK_OK(tamis_add_weight(t[j], "a", 1, 10, NULL));
        }
        CHECK_OK(tamis_add_weight_many(t[0], k, w, 2, NULL, NULL));
        for (int j = 0; j < 2; j++) CHECK_OK(tamis_add_weight(t[1], k[j].p, 1, w[j], NULL));
        CHECK(same(t[0], t[1]));
        CHECK_THAT(sketch_facts(t[0]).weight, ==, INT64_MAX - 5);
        CHECK_OK(tamis_add_weight_many(t[0], NULL, NULL, 0, NULL, NULL));
        tamis_close(t[0]);
        tamis_close(t[1]);
    }
}

static void test_unsupported(void)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_EXACT; kind++) {
        tamis_plan p = {.struct_size = sizeof p, .kind = kind, .items = 100, .fpr = 0.1};
        if (kind == TAMIS_EXACT) p.excluded = 10;
        tamis *t;
        tamis_error why = {.text = ""};
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_THAT(tamis_add_weight(t, "key", 3, 5, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(why.better_kind >= TAMIS_COUNT_MIN);
        tamis_close(t);
    }
    for (size_t i = 0; i < SKETCHES; i++) {
        tamis *t = sketch_new(&sketches[i], 4000, 0), *out;
        tamis_similarity like = {.struct_size = sizeof like};
        const tamis_options shared = {.struct_size = sizeof shared, .flags = TAMIS_SHARED};
        const tamis_plan p = sketch_plan(&sketches[i], 4000, 0);
        CHECK_THAT(tamis_rotate(t, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_exclude(t, "a", 1, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_compare(t, t, &like, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_convert(t, TAMIS_BLOOM, &out, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_create(&p, &shared, &out, NULL), ==,
                   sketches[i].flags != 0 ? TAMIS_EUNSUPPORTED : TAMIS_OK);
        tamis_close(out);
        CHECK_OK(tamis_seal(t, NULL));
        CHECK_THAT(tamis_add_weight(t, "a", 1, 1, NULL), ==, TAMIS_ESEALED);
        tamis_close(t);
    }
}

/* Keys of others, and keys where hashes are wanted. */
static void test_keys_and_hashes(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        const tamis_options keyed = {.struct_size = sizeof keyed, .key = SECRET};
        const tamis_options keyless = {.struct_size = sizeof keyless, .flags = TAMIS_KEYLESS};
        tamis_plan p = sketch_plan(&sketches[i], 4000, 0);
        tamis *t, *locked;
        tamis_estimate e;
        CHECK_OK(tamis_create(&p, &keyed, &t, NULL));
        CHECK_OK(tamis_add_weight(t, "a", 1, 3, NULL));
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, &keyless, &locked, NULL));
        CHECK_THAT(tamis_count(locked, "a", 1, &e, NULL), ==, TAMIS_EKEY);
        CHECK_THAT(tamis_add_weight(locked, "a", 1, 1, NULL), ==, TAMIS_EKEY);
        CHECK(sketch_facts(locked).weight == 3);
        CHECK_OK(tamis_merge(locked, t, NULL));
        CHECK(sketch_facts(locked).weight == 6);
        tamis_close(locked);
        tamis_close(t);
        free(image.p);
        p.flags |= TAMIS_HASH_CALLER;
        const tamis_hash h = {UINT64_MAX, UINT64_MAX};
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_THAT(tamis_add_weight(t, "a", 1, 3, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_count(t, "a", 1, &e, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_OK(tamis_add_weight_hashes(t, &h, NULL, 1, NULL, NULL));
        CHECK_OK(tamis_count_hashes(t, &h, 1, &e, NULL));
        CHECK(e.estimate == 1);
        tamis_close(t);
    }
}

/* --- Counters end, and do not wrap --- */

/* Keys that share counters with key 77 are excepted; which these are depends on the byte order. */
static bool nearly_all_others_are_0(const tamis *t)
{
    unsigned zeros = 0;
    for (uint64_t other = 78; other < 178; other++) zeros += ask_count(t, other).upper == 0;
    return zeros >= 80;
}

static void test_ends(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        const struct sketch *s = &sketches[i];
        const int64_t end = s->cell_bits == 32 ? s->two_sided ? INT32_MAX : UINT32_MAX : INT64_MAX;
        const uint64_t key = 77;
        tamis *t = sketch_new(s, 4000, 0), *u;
        CHECK_OK(tamis_add_weight(t, &key, 8, end - 1, NULL));
        CHECK(ask_count(t, 77).upper == end - 1 && sketch_facts(t).saturated == 0);
        CHECK_OK(tamis_copy(t, &u, NULL));
        for (int64_t w = 1; w > 0; w = w < INT64_MAX / 2 ? w * 2 : w < INT64_MAX ? INT64_MAX : 0) {
            CHECK_OK(tamis_add_weight(t, &key, 8, w, NULL));
            const tamis_estimate e = ask_count(t, 77);
            CHECK(e.upper == INT64_MAX); /* that or more; where things are taken away, or less */
            if (s->takes_away)
                CHECK(e.lower == (s->two_sided ? INT64_MIN : 0) && e.confidence == 1);
            else
                CHECK(e.lower >= end - 1);
        }
        CHECK(sketch_facts(t).saturated != 0);
        CHECK(nearly_all_others_are_0(t));
        CHECK(sketch_facts(t).weight == INT64_MAX);
        if (s->takes_away && !s->two_sided) {
            CHECK_OK(
                tamis_add_weight(t, &key, 8, -5, NULL)); /* what is behind the end is unknown */
            CHECK(ask_count(t, 77).upper == INT64_MAX);
        }
        tamis *v; /* one by one, but many at a time */
        tamis_bytes many[20];
        for (size_t j = 0; j < 20; j++) many[j] = (tamis_bytes){&key, 8};
        CHECK_OK(tamis_copy(u, &v, NULL));
        CHECK_OK(tamis_add_weight_many(v, many, NULL, 20, NULL, NULL));
        CHECK(ask_count(v, 77).upper == INT64_MAX && nearly_all_others_are_0(v));
        tamis_close(v);
        CHECK_OK(tamis_merge(u, t, NULL));
        CHECK(ask_count(u, 77).upper == INT64_MAX && nearly_all_others_are_0(u));
        tamis_close(t);
        tamis_close(u);
    }
}

/* After a weight is subtracted from a saturated counter the true count may be anything. */
static void test_taken_from_the_end(void)
{
    for (size_t i = 0; i < SKETCHES; i++) {
        const struct sketch *s = &sketches[i];
        if (!s->takes_away) continue;
        const int64_t far = s->cell_bits == 32 ? INT64_C(3000000000) : INT64_MAX / 3 * 2;
        const int64_t weights[] = {far, far, -far, 1 - far};
        const uint64_t key = 5;
        tamis *t = sketch_new(s, 4000, 0), *u;
        for (int j = 0; j < 4; j++) CHECK_OK(tamis_add_weight(t, &key, 8, weights[j], NULL));
        CHECK_OK(tamis_copy(t, &u, NULL));
        for (int twice = 0; twice < 2; twice++) { /* the truth is 1, and 2 of both together */
            const tamis_estimate e = ask_count(t, key);
            CHECK(e.upper == INT64_MAX && e.confidence == 1);
            CHECK(e.lower == (s->two_sided ? INT64_MIN : 0));
            CHECK(e.certain == (s->two_sided ? INT64_MIN : 0));
            CHECK_OK(tamis_merge(t, u, NULL));
        }
        CHECK(sketch_facts(t).saturated != 0);
        tamis_close(t);
        tamis_close(u);
    }
}

/* --- Merging --- */

static void test_merge(void)
{
    struct stream z = zipf_stream(1.0, 60000, 10000, 3);
    for (size_t i = 0; i < SKETCHES; i++) {
        const struct sketch *s = &sketches[i];
        tamis *whole = sketch_new(s, 8000, 0), *into = sketch_new(s, 8000, 0);
        add_stream(whole, &z, 0, z.n);
        for (uint32_t part = 0; part < 8; part++) {
            tamis *from = sketch_new(s, 8000, 0);
            add_stream(from, &z, z.n / 8 * part, z.n / 8 * (part + 1));
            CHECK_OK(tamis_merge(into, from, NULL));
            tamis_close(from);
        }
        CHECK(sketch_facts(into).weight == z.n && !sketch_facts(into).items_estimated);
        if (s->adds_up) CHECK(same(into, whole));
        tamis_estimate *e = count_universe(into, z.universe);
        for (uint32_t k = 0; k < z.universe && !s->two_sided; k++) CHECK(e[k].upper >= z.truth[k]);
        free(e);
        tamis *other = sketch_new(s, 8000, 1), *wider = sketch_new(s, 16000, 0);
        CHECK_THAT(tamis_merge(into, other, NULL), ==, TAMIS_EMISMATCH);
        CHECK_THAT(tamis_merge(into, wider, NULL), ==, TAMIS_EMISMATCH);
        CHECK_THAT(tamis_merge(into, into, NULL), ==, TAMIS_EINVAL);
        tamis_close(other);
        tamis_close(wider);
        tamis_close(into);
        tamis_close(whole);
    }
    stream_free(&z);
}

/* --- Memory --- */

/* The n-th allocation fails: a status, and nothing has changed. Returns whether one did. */
static bool fails_at(const struct sketch *s, size_t n, bool for_ever)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    const tamis_plan p = sketch_plan(s, 3000, 0);
    tamis *t = NULL, *copy = NULL;
    tamis_estimate e;
    tamis_facts f = {.struct_size = sizeof f};
    a.fail_at = n;
    a.for_ever = for_ever;
    tamis_status st = tamis_create(&p, &o, &t, NULL);
    if (st == TAMIS_OK) st = tamis_add_weight(t, "a", 1, 3, NULL);
    if (st == TAMIS_OK) st = tamis_count(t, "a", 1, &e, NULL);
    if (st == TAMIS_OK) st = tamis_copy(t, &copy, NULL);
    if (st == TAMIS_OK) st = tamis_merge(t, copy, NULL);
    if (st == TAMIS_OK) st = tamis_info(t, &f);
    const bool failed = a.failed;
    CHECK_THAT(st, ==, failed ? TAMIS_ENOMEM : TAMIS_OK);
    a.fail_at = 0;
    if (t != NULL) {
        CHECK_OK(tamis_count(t, "a", 1, &e, NULL));
        CHECK(e.estimate == 3 || e.estimate == 6);
    }
    tamis_close(copy);
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
    return failed;
}

static void test_every_allocation_fails(void)
{
    for (size_t i = 0; i < SKETCHES; i++)
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            size_t n = 1;
            while (fails_at(&sketches[i], n, for_ever != 0)) n++;
            CHECK_THAT(n, >, 8);
        }
}

static const struct test tests[] = {
    {"model", test_model},
    {"exact when alone", test_exact_when_alone},
    {"plans", test_plans},
    {"plans that make no sense", test_plans_that_make_no_sense},
    {"forms agree", test_forms_agree},
    {"negative weights", test_negative_weights},
    {"what is refused after loading", test_refused_after_loading},
    {"weights in order", test_weights_in_order},
    {"unsupported", test_unsupported},
    {"keys and hashes", test_keys_and_hashes},
    {"ends", test_ends},
    {"taken from the end", test_taken_from_the_end},
    {"merge", test_merge},
    {"every allocation fails", test_every_allocation_fails},
};

TEST_MAIN(tests)
