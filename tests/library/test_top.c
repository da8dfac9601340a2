/* top against exact counts: what it promises about every key, about every item in its list, and
 * about its texts. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/sketches.h"
#include "../support/tracking.h"

static tamis *top_new(uint64_t bytes, uint64_t items)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_TOP, .bytes = bytes, .items = items};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static bool same(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(x.p != NULL && y.p != NULL);
    const bool equal = bytes_equal(x, y);
    free(x.p);
    free(y.p);
    return equal;
}

/* Keys of many lengths, a few of which are too long to be kept; key 0 is the empty one. They begin
 * with their number. */
#define LONGEST 700u
static size_t item_of(uint32_t i, uint8_t *key)
{
    const size_t n = i == 0 ? 0 : i % 97 == 5 ? LONGEST : 4 + i % 61;
    for (size_t b = 0; b < n; b++) key[b] = (uint8_t)(i * 31 + b * (i % 7));
    if (n != 0) tamis__put32(key, i);
    return n;
}

static uint32_t number_of(tamis_bytes item)
{
    return item.len == 0 ? 0 : tamis__get32(item.p);
}

/* --- What must be true of any top, whatever came --- */

#define UNIVERSE 4000u

struct exact {
    int64_t truth[UNIVERSE], sum;
};

static void check_interval(const tamis_estimate *e, int64_t truth)
{
    CHECK(e->upper >= truth);
    CHECK(e->lower <= e->estimate && e->estimate <= e->upper);
    CHECK(e->confidence < 1 || e->lower <= truth);
}

/* In order, no item twice, every text the beginning of its item, every count an interval that
 * holds. */
static void check_list(const struct exact *x, const tamis_heavy *list, size_t n)
{
    static uint8_t met[UNIVERSE];
    memset(met, 0, sizeof met);
    for (size_t i = 0; i < n; i++) {
        const tamis_heavy *h = &list[i];
        uint8_t key[LONGEST];
        if (i > 0) CHECK(list[i - 1].count.estimate >= h->count.estimate);
        CHECK(h->count.lower >= 0 && h->count.lower <= h->count.estimate);
        if (h->item.p == NULL) {
            CHECK(h->item.len == 0 && h->length == 0);
            continue;
        }
        const uint32_t k = number_of(h->item);
        CHECK(k < UNIVERSE && met[k] == 0);
        met[k] = 1;
        CHECK_THAT(h->length, ==, item_of(k, key));
        CHECK(h->item.len <= h->length && memcmp(h->item.p, key, h->item.len) == 0);
        check_interval(&h->count, x->truth[k]);
        CHECK(h->count.lower >= 1 || h->count.confidence < 1);
    }
}

/* Every key that occurred so often is in the list. Keys without a text are identified by their
 * hash. */
static void check_above(const struct exact *x, const tamis *t, int64_t weight)
{
    tamis_heavy *list = malloc(UNIVERSE * sizeof *list);
    size_t found = 0, here = 0;
    CHECK(list != NULL);
    CHECK_OK(tamis_above(t, weight, list, UNIVERSE, &found, NULL));
    check_list(x, list, found);
    for (uint32_t k = 0; k < UNIVERSE; k++) {
        uint8_t key[LONGEST];
        const tamis_bytes one = {key, item_of(k, key)};
        tamis_hash h;
        if (x->truth[k] < weight) continue;
        CHECK_OK(tamis_hash_many(t, &one, 1, &h));
        for (here = 0; here < found && list[here].hash != h.lo; here++) continue;
        CHECK(here < found);
    }
    free(list);
}

static void check_all(const struct exact *x, const tamis *t)
{
    static tamis_heavy list[UNIVERSE];
    for (uint32_t k = 0; k < UNIVERSE; k++) {
        uint8_t key[LONGEST];
        const size_t n = item_of(k, key);
        tamis_estimate e;
        CHECK_OK(tamis_count(t, key, n, &e, NULL));
        check_interval(&e, x->truth[k]);
        CHECK(x->truth[k] == 0 || tamis_may_contain(t, key, n));
    }
    const tamis_facts f = sketch_facts(t);
    CHECK(f.weight == x->sum && f.sections == 3);
    CHECK(f.listed <= f.entries && tamis_top(t, NULL, 0) == f.listed);
    const size_t n = tamis_top(t, list, UNIVERSE);
    CHECK_THAT(n, ==, f.listed);
    check_list(x, list, n);
    tamis_heavy first[10];
    CHECK_THAT(tamis_top(t, first, 10), ==, n < 10 ? n : 10);
    for (size_t i = 0; i < 10 && i < n; i++) CHECK(first[i].hash == list[i].hash);
    tamis_error why = {.text = ""};
    size_t found = 7;
    CHECK_THAT(tamis_above(t, f.list_floor - 1, list, 10, &found, &why), ==, TAMIS_EINVAL);
    CHECK(found == 0 && why.text[0] != '\0');
    check_above(x, t, f.list_floor);
    check_above(x, t, f.list_floor * 2);
}

/* --- Random operations --- */

#define OPERATIONS 60000u

struct model {
    tamis *t;
    struct exact x;
    uint64_t random;
    bool huge; /* weights as well */
};

static uint32_t pick(struct model *m, uint32_t below)
{
    return (uint32_t)(splitmix(&m->random) >> 32) % below;
}

/* A few keys often, most seldom. */
static uint32_t pick_key(struct model *m)
{
    const uint32_t bound = 1 + pick(m, UNIVERSE);
    return pick(m, 1 + pick(m, bound));
}

static int64_t pick_weight(struct model *m)
{
    const uint32_t dice = pick(m, 1000);
    if (dice == 999 && m->huge) return INT64_C(1) << pick(m, 46);
    return dice > 990 ? pick(m, 3000) : pick(m, 4);
}

static void model_add(struct model *m, uint32_t n)
{
    static uint8_t room[200][LONGEST];
    tamis_bytes keys[200];
    int64_t weights[200];
    size_t done = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = pick_key(m);
        keys[i] = (tamis_bytes){room[i], item_of(k, room[i])};
        weights[i] = pick_weight(m);
        m->x.truth[k] += weights[i];
        m->x.sum += weights[i];
    }
    if (n == 1) {
        CHECK_OK(tamis_add_weight(m->t, keys[0].p, keys[0].len, weights[0], NULL));
        return;
    }
    CHECK_OK(tamis_add_weight_many(m->t, keys, weights, n, &done, NULL));
    CHECK_THAT(done, ==, n);
}

static void model_travel(struct model *m)
{
    struct bytes image = image_of(m->t);
    tamis *again, *copy, *view;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK_OK(tamis_copy(again, &copy, NULL));
    CHECK_OK(tamis_view(image.p, image.n, NULL, &view, NULL));
    CHECK(same(again, m->t) && same(copy, m->t) && same(view, m->t));
    tamis_heavy a[20], b[20];
    const size_t n = tamis_top(view, a, 20);
    CHECK_THAT(tamis_top(m->t, b, 20), ==, n);
    for (size_t i = 0; i < n; i++) {
        CHECK(a[i].hash == b[i].hash && a[i].length == b[i].length &&
              a[i].item.len == b[i].item.len);
        CHECK(a[i].item.len == 0 || memcmp(a[i].item.p, b[i].item.p, a[i].item.len) == 0);
    }
    tamis_close(m->t);
    tamis_close(again);
    tamis_close(view);
    free(image.p);
    m->t = copy;
}

/* Another one, of the same shape, with some keys of its own. */
static void model_merge(struct model *m, uint64_t bytes, uint64_t items)
{
    struct model *other = calloc(1, sizeof *other);
    CHECK(other != NULL);
    other->t = top_new(bytes, items);
    other->random = splitmix(&m->random);
    other->huge = m->huge;
    for (uint32_t i = 0; i < 60; i++) model_add(other, 200);
    check_all(&other->x, other->t);
    CHECK_OK(tamis_merge(m->t, other->t, NULL));
    for (uint32_t k = 0; k < UNIVERSE; k++) m->x.truth[k] += other->x.truth[k];
    m->x.sum += other->x.sum;
    tamis_close(other->t);
    free(other);
}

static void run_model(uint64_t seed, uint64_t bytes, uint64_t items)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    m.random = seed;
    m.huge = seed % 2 == 0;
    m.t = top_new(bytes, items);
    for (uint32_t done = 0; done < OPERATIONS; done++) {
        const uint32_t dice = pick(&m, 1000);
        if (dice < 950)
            model_add(&m, 1);
        else if (dice < 999)
            model_add(&m, 1 + pick(&m, 200));
        else if (done % 16 == 0)
            model_travel(&m);
        if (done % 20000 == 19999) check_all(&m.x, m.t);
    }
    model_merge(&m, bytes, items);
    check_all(&m.x, m.t);
    for (uint32_t i = 0; i < 50; i++) model_add(&m, 200);
    check_all(&m.x, m.t);
    CHECK_OK(tamis_clear(m.t));
    const struct exact nothing = {{0}, 0};
    check_all(&nothing, m.t);
    CHECK(sketch_facts(m.t).list_floor == 1 && tamis_top(m.t, NULL, 0) == 0);
    tamis_close(m.t);
}

static void test_model(void)
{
    static const struct {
        uint64_t bytes, items;
    } shapes[] = {{3000, 2}, {8000, 20}, {16000, 30}, {60000, 100}};
    for (size_t s = 0; s < 4; s++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            run_model(seed + 10 * s, shapes[s].bytes, shapes[s].items);
}

/* --- The order of arrival --- */

/* Draws as keys of item_of, any of which may be asked again. */
static void add_draws(tamis *t, struct exact *x, const uint32_t *draws, size_t n)
{
    static uint8_t room[128][LONGEST];
    for (size_t at = 0; at < n; at += 128) {
        tamis_bytes keys[128];
        const size_t piece = n - at < 128 ? n - at : 128;
        for (size_t i = 0; i < piece; i++) {
            keys[i] = (tamis_bytes){room[i], item_of(draws[at + i], room[i])};
            x->truth[draws[at + i]]++;
        }
        CHECK_OK(tamis_add_many(t, keys, piece, NULL, NULL));
        x->sum += (int64_t)piece;
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* For a stream in which key i occurs less often than key i - 1: how many of the first 20 keys
 * are in the first 20 places. */
static size_t found_of_20(const tamis *t)
{
    tamis_heavy list[20];
    const size_t n = tamis_top(t, list, 20);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += list[i].item.p != NULL && number_of(list[i].item) < 20;
    return found;
}

/* The stream is fixed, so there is no chance in it; the counts of keys 19 and 20 differ by 1 in
 * 20. */
static void test_orders(void)
{
    struct stream z = zipf_stream(1.0, 400000, UNIVERSE, 5);
    for (int order = 0; order < 5; order++) {
        static struct exact x;
        memset(&x, 0, sizeof x);
        if (order == 1) cluster(&z);
        if (order == 2) qsort(z.keys, z.n, sizeof *z.keys, by_number); /* the most frequent first */
        for (uint32_t i = 0; order == 3 && i < z.n / 2; i++) {         /* and last */
            const uint32_t kept = z.keys[i];
            z.keys[i] = z.keys[z.n - 1 - i];
            z.keys[z.n - 1 - i] = kept;
        }
        /* One of each in turn, as long as there are any. */
        for (uint32_t at = 0, round = 0; order == 4 && at < z.n; round++)
            for (uint32_t k = 0; k < UNIVERSE; k++)
                if (z.truth[k] > round) z.keys[at++] = k;
        tamis *t = top_new(12000, 20);
        add_draws(t, &x, z.keys, z.n);
        check_all(&x, t);
        CHECK_THAT(found_of_20(t), ==, 20);
        tamis_close(t);
    }
    stream_free(&z);
}

/* Keys in turn, just more of them than there are places, so that each finds another in its place;
 * then the popular change. */
static void test_round_robin_and_drift(void)
{
    static struct exact x;
    static uint32_t draws[200000];
    for (uint32_t over = 0; over < 3; over++) {
        memset(&x, 0, sizeof x);
        tamis *t = top_new(12000, 20);
        const uint32_t keys = (uint32_t)sketch_facts(t).entries + over * 30;
        for (uint32_t i = 0; i < 200000; i++) draws[i] = i % keys;
        add_draws(t, &x, draws, 200000);
        check_all(&x, t);
        for (uint32_t i = 0; i < 200000; i++) /* 20 keys at a time, then the next 20 */
            draws[i] = 1000 + i / 20000 * 20 + i % 20;
        add_draws(t, &x, draws, 200000);
        check_all(&x, t);
        tamis_close(t);
    }
}

/* --- Texts --- */

static void test_few_keys_are_exact(void)
{
    static struct exact x;
    memset(&x, 0, sizeof x);
    tamis *t = top_new(20000, 50);
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t times = 0; times <= i; times++) add_draws(t, &x, &i, 1);
    tamis_heavy list[60];
    CHECK_THAT(tamis_top(t, list, 60), ==, 40);
    for (uint32_t i = 0; i < 40; i++) {
        CHECK(list[i].item.p != NULL && number_of(list[i].item) == 39 - i);
        CHECK(list[i].count.estimate == 40 - i && list[i].count.confidence == 1);
        CHECK(list[i].count.lower == 40 - i && list[i].count.upper == 40 - i);
    }
    CHECK(list[39].item.p != NULL && list[39].item.len == 0 &&
          list[39].length == 0); /* the empty one */
    check_all(&x, t);
    tamis_close(t);
}

/* Items of equal counts are ordered by their bytes. */
static void test_ties(void)
{
    static const char *const words[] = {"b", "a", "", "ab", "a\n", "B"};
    static const char *const sorted[] = {"", "B", "a", "a\n", "ab", "b"};
    tamis *t = top_new(20000, 50);
    for (size_t i = 0; i < 6; i++) CHECK_OK(tamis_add(t, words[i], strlen(words[i]), NULL));
    tamis_heavy list[6];
    CHECK_THAT(tamis_top(t, list, 6), ==, 6);
    for (size_t i = 0; i < 6; i++) {
        CHECK_THAT(list[i].item.len, ==, strlen(sorted[i]));
        CHECK(memcmp(list[i].item.p, sorted[i], list[i].item.len) == 0);
    }
    tamis_close(t);
}

static void test_long_items(void)
{
    static uint8_t item[100000], other[100000];
    tamis *t = top_new(1 << 20, 1000);
    memset(item, 'x', sizeof item);
    memset(other, 'x', sizeof other);
    other[99999] = 'y'; /* the same beginning, another item */
    for (int i = 0; i < 3; i++) CHECK_OK(tamis_add(t, item, sizeof item, NULL));
    CHECK_OK(tamis_add(t, other, sizeof other, NULL));
    CHECK_OK(tamis_add(t, item, 4096, NULL));
    tamis_heavy list[4];
    CHECK_THAT(tamis_top(t, list, 4), ==, 3);
    for (int i = 0; i < 3; i++)
        CHECK(list[i].item.len == 4096 && memcmp(list[i].item.p, item, 4096) == 0);
    CHECK(list[0].count.estimate == 3 && list[0].length == 100000);
    CHECK(list[1].count.estimate == 1 && list[1].length == 4096); /* the shorter of equals */
    CHECK(list[2].count.estimate == 1 && list[2].length == 100000);
    tamis_close(t);
}

/* Texts that are far too many: those of the most frequent are there, in any order of arrival. */
static void test_room_for_texts(void)
{
    static struct exact x;
    static uint8_t item[600];
    for (int rising = 0; rising < 2; rising++) {
        memset(&x, 0, sizeof x);
        tamis *t = top_new(40000, 60); /* 6 KB of texts */
        const size_t longest = 600;
        for (uint32_t i = 0; i < 100; i++) {
            const uint32_t k = rising ? i : 99 - i;
            memset(item, (int)k, longest);
            CHECK_OK(tamis_add_weight(t, item, longest, 100 + k, NULL));
        }
        for (uint32_t k = 0; k < 100;
             k++) { /* who counts enough gets its text back when it comes again */
            memset(item, (int)k, longest);
            CHECK_OK(tamis_add(t, item, longest, NULL));
        }
        tamis_heavy list[100];
        const size_t n = tamis_top(t, list, 100);
        CHECK_THAT(n, ==, 100);
        size_t texts = 0;
        while (texts < n && list[texts].item.p != NULL) texts++;
        CHECK_THAT(texts, >=, 6);
        for (size_t i = 0; i < n; i++) {
            CHECK_THAT(list[i].count.upper, ==, 200 - i);
            CHECK((list[i].item.p != NULL) == (i < texts)); /* the least have none */
            if (i < texts) CHECK(*(const uint8_t *)list[i].item.p == 99 - i);
        }
        tamis_close(t);
    }
}

/* --- Weights, and their end --- */

static void test_ends(void)
{
    static const int64_t weights[] = {1, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MAX};
    tamis *t = top_new(3000, 2), *u;
    tamis_estimate e;
    int64_t truth = 0;
    for (int i = 0; i < 4; i++) {
        CHECK_OK(tamis_add_weight(t, "big", 3, weights[i], NULL));
        truth = i < 3 ? truth + weights[i] : INT64_MAX;
        CHECK_OK(tamis_count(t, "big", 3, &e, NULL));
        CHECK(e.upper == truth && e.estimate == truth && e.lower == truth);
    }
    CHECK(sketch_facts(t).saturated == 1 && sketch_facts(t).weight == INT64_MAX);
    /* Others push it nowhere, whatever their weight. */
    for (uint64_t k = 0; k < 2000; k++)
        CHECK_OK(tamis_add_weight(t, &k, 8, INT64_C(1) << 50, NULL));
    CHECK_OK(tamis_copy(t, &u, NULL));
    CHECK_OK(tamis_merge(t, u, NULL));
    tamis_heavy first;
    CHECK_THAT(tamis_top(t, &first, 1), ==, 1);
    CHECK(first.count.upper == INT64_MAX && first.item.len == 3);
    for (uint64_t k = 0; k < 2000; k++) {
        CHECK_OK(tamis_count(t, &k, 8, &e, NULL));
        CHECK(e.upper >= INT64_C(1) << 51);
    }
    /* When those that are shared have ended, no weight is great enough to be listed for certain. */
    tamis_error why = {.text = ""};
    size_t found = 7;
    for (uint64_t k = 0; k < 2000; k++) CHECK_OK(tamis_add_weight(u, &k, 8, INT64_MAX, NULL));
    CHECK_THAT(sketch_facts(u).list_floor, ==, INT64_MAX);
    CHECK_THAT(tamis_above(u, INT64_MAX, NULL, 0, &found, &why), ==, TAMIS_EINVAL);
    CHECK(found == 0 && strstr(why.text, "are saturated") != NULL);
    tamis_close(t);
    tamis_close(u);
}

static void test_weights_of_nothing(void)
{
    tamis *t = top_new(3000, 2), *u = top_new(3000, 2);
    tamis_error why = {.text = ""};
    CHECK_OK(tamis_add_weight(t, "a", 1, 0, NULL));
    CHECK(same(t, u) && tamis_top(t, NULL, 0) == 0);
    CHECK_THAT(tamis_add_weight(t, "a", 1, -1, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.better_kind == TAMIS_SIGNED_TALLY && same(t, u));
    tamis_close(t);
    tamis_close(u);
}

/* --- The same bytes --- */

/* One by one, many at a time, and by way of an image in between. */
static void test_forms_agree(void)
{
    static struct exact x;
    struct stream z = zipf_stream(0.9, 30000, UNIVERSE, 9);
    tamis *t[3];
    for (int i = 0; i < 3; i++) t[i] = top_new(9000, 20);
    add_draws(t[0], &x, z.keys, z.n);
    for (uint32_t i = 0; i < z.n; i++) {
        uint8_t key[LONGEST];
        bool seen;
        const size_t n = item_of(z.keys[i], key);
        const bool before = tamis_may_contain(t[1], key, n);
        CHECK_OK(tamis_add(t[1], key, n, &seen));
        CHECK(seen == before);
    }
    for (uint32_t at = 0; at < z.n; at += 3001) {
        add_draws(t[2], &x, z.keys + at, z.n - at < 3001 ? z.n - at : 3001);
        struct bytes image = image_of(t[2]);
        put_field(image.p, (struct field){96, 8}, 1); /* the generation would tell */
        image_resum(image.p, image.n);
        tamis_close(t[2]);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &t[2], NULL));
        free(image.p);
    }
    CHECK(same(t[0], t[1]) && same(t[0], t[2]));
    for (int i = 0; i < 3; i++) tamis_close(t[i]);
    stream_free(&z);
}

static void test_merge_either_way(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        static struct exact x;
        struct stream z = zipf_stream(0.6 + 0.1 * (double)seed, 40000, UNIVERSE, seed);
        tamis *a = top_new(9000, 20), *b = top_new(9000, 20), *c, *other = top_new(9500, 20);
        memset(&x, 0, sizeof x);
        add_draws(a, &x, z.keys, z.n / 3);
        add_draws(b, &x, z.keys + z.n / 3, z.n - z.n / 3);
        CHECK_OK(tamis_copy(b, &c, NULL));
        CHECK_THAT(tamis_merge(a, other, NULL), ==, TAMIS_EMISMATCH);
        CHECK_OK(tamis_merge(c, a, NULL));
        CHECK_OK(tamis_merge(a, b, NULL));
        CHECK(same(a, c));
        check_all(&x, a);
        tamis_close(a);
        tamis_close(b);
        tamis_close(c);
        tamis_close(other);
        stream_free(&z);
    }
}

/* --- Plans, and what cannot be --- */

static void test_plans(void)
{
    for (uint64_t items = 1; items < 100000; items *= 7)
        for (uint64_t bytes = 1500 + 200 * items; bytes < 40000000; bytes += bytes / 2) {
            tamis_plan p = {.struct_size = sizeof p,
                            .kind = TAMIS_TOP,
                            .bytes = bytes,
                            .items = items},
                       again;
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK(p.bytes <= bytes && (double)p.bytes > 0.99 * (double)bytes - 300);
            CHECK_THAT(p.items, ==, items);
            again = p;
            CHECK_OK(tamis_solve(&again, NULL, NULL));
            CHECK(memcmp(&again, &p, sizeof p) == 0);
            tamis *t;
            CHECK_OK(tamis_create(&p, NULL, &t, NULL));
            CHECK_THAT(tamis_image_size(t), ==, p.bytes);
            CHECK(sketch_facts(t).entries >= 2 * items);
            tamis_close(t);
        }
    static const tamis_plan bad[] = {{.bytes = 5000, .fpr = 0.1},
                                     {.bytes = 5000, .flags = TAMIS_STRICT},
                                     {.bytes = 200},
                                     {.bytes = 0},
                                     {.bytes = 5000, .cell_bits = 16},
                                     {.bytes = 5000, .items = 100},
                                     {.bytes = 5000, .error = 0.1},
                                     {.bytes = 1 << 20, .flags = TAMIS_HASH_CALLER},
                                     {.bytes = 1 << 20, .items = UINT64_C(1) << 31},
                                     {.m = 57}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_plan p = bad[i];
        tamis_error why = {.text = ""};
        p.struct_size = sizeof p;
        p.kind = TAMIS_TOP;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(why.text[0] != '\0');
    }
}

static void test_unsupported(void)
{
    tamis *t = top_new(5000, 5), *tally = sketch_new(&sketches[4], 5000, 0);
    const tamis_hash h = {1, 2};
    tamis_error why = {.text = ""};
    tamis_heavy one;
    size_t found;
    CHECK_THAT(tamis_add_hashes(t, &h, 1, NULL, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_add_weight_hashes(t, &h, NULL, 1, NULL, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.better_kind == TAMIS_TALLY && why.text[0] != '\0');
    CHECK_THAT(tamis_remove(t, "a", 1, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_rotate(t, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK_THAT(tamis_top(tally, &one, 1), ==, 0);
    CHECK_THAT(tamis_above(tally, 5, &one, 1, &found, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.better_kind == TAMIS_TOP && found == 0);
    CHECK_THAT(tamis_above(t, 0, &one, 1, &found, NULL), ==, TAMIS_EINVAL);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(tamis_add(t, "a", 1, NULL), ==, TAMIS_ESEALED);
    tamis_close(t);
    tamis_close(tally);
}

/* --- Memory --- */

static bool fails_at(size_t n, bool for_ever)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_TOP, .bytes = 5000, .items = 5};
    tamis *t = NULL, *copy = NULL;
    tamis_heavy one = {.length = 0};
    size_t found;
    a.fail_at = n;
    a.for_ever = for_ever;
    tamis_status st = tamis_create(&p, &o, &t, NULL);
    if (st == TAMIS_OK) st = tamis_add_weight(t, "a", 1, 3, NULL);
    if (st == TAMIS_OK) st = tamis_copy(t, &copy, NULL);
    if (st == TAMIS_OK) st = tamis_merge(t, copy, NULL);
    if (st == TAMIS_OK) st = tamis_above(t, 6, &one, 1, &found, NULL);
    const bool failed = a.failed;
    CHECK_THAT(st, ==, failed ? TAMIS_ENOMEM : TAMIS_OK);
    CHECK(t == NULL || tamis_top(t, &one, 1) == 1); /* with whatever memory there is */
    CHECK(t == NULL || one.count.lower == 3 || one.count.lower == 6);
    tamis_close(copy);
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
    return failed;
}

static void test_every_allocation_fails(void)
{
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        size_t n = 1;
        while (fails_at(n, for_ever != 0)) n++;
        CHECK_THAT(n, >, 12);
    }
}

static const struct test tests[] = {
    {"model", test_model},
    {"orders", test_orders},
    {"round robin and drift", test_round_robin_and_drift},
    {"few keys are exact", test_few_keys_are_exact},
    {"ties", test_ties},
    {"long items", test_long_items},
    {"room for texts", test_room_for_texts},
    {"ends", test_ends},
    {"weights of nothing", test_weights_of_nothing},
    {"forms agree", test_forms_agree},
    {"merge either way", test_merge_either_way},
    {"plans", test_plans},
    {"unsupported", test_unsupported},
    {"every allocation fails", test_every_allocation_fails},
};

TEST_MAIN(tests)
