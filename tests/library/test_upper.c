/* Counts on the hot path: tamis_upper, and adds that return the count, against exact counts and
 * against tamis_count. test_hot_path_cost.py counts their instructions. */
#define _POSIX_C_SOURCE 200809L
#include "../support/subjects.h"
#include "../support/tracking.h"
#include "core/cpu.h"

static bool same(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(x.p != NULL && y.p != NULL);
    const bool equal = bytes_equal(x, y);
    free(x.p);
    free(y.p);
    return equal;
}

static void check_count(const struct subject *s, int64_t got, int64_t right, const char *where)
{
    if (got != right)
        printf("%s, %s: %lld and not %lld\n", s->name, where, (long long)got, (long long)right);
    CHECK(got == right);
}

/* What the header promises about tamis_upper and tamis_count. */
static int64_t upper_of(const struct subject *s, const tamis *t, const void *key, size_t len)
{
    tamis_estimate e;
    CHECK_OK(tamis_count(t, key, len, &e, NULL));
    return s->two_sided && e.upper != INT64_MAX ? e.estimate : e.upper;
}

/* --- Against exact counts --------------------------------------------------------------------- */

#define UNIVERSE 400u
#define BATCH 300u

struct model {
    const struct subject *s;
    tamis *t;
    int64_t truth[GENERATIONS][UNIVERSE]; /* the newest first */
    uint64_t random;
};

static uint32_t pick(struct model *m, uint32_t below)
{
    return (uint32_t)(splitmix(&m->random) >> 32) % below;
}

static int64_t truth_of(const struct model *m, uint64_t key)
{
    int64_t all = 0;
    for (uint32_t g = 0; g < GENERATIONS; g++) all += m->truth[g][key];
    return all;
}

/* Mostly small. A count-min may subtract only what the key has. */
static int64_t pick_weight(struct model *m, uint64_t key)
{
    const uint32_t dice = pick(m, 100);
    if (m->s->takes_away && dice < 30) {
        const int64_t most = m->truth[0][key];
        if (m->s->two_sided) return -(int64_t)pick(m, 50);
        return most > 0 ? -(int64_t)pick(m, (uint32_t)(most < 1000 ? most : 1000)) : 0;
    }
    return dice > 97 ? pick(m, 100000) : dice > 80 ? 1 : pick(m, 6);
}

static void check_after(const struct model *m, uint64_t key, int64_t count)
{
    check_count(m->s, count, tamis_upper(m->t, &key, sizeof key), "the count after an add");
    CHECK(m->s->two_sided || count >= truth_of(m, key));
}

static void model_add(struct model *m)
{
    const uint64_t key = pick(m, UNIVERSE);
    const int64_t w = pick_weight(m, key);
    int64_t count = -7;
    CHECK_OK(tamis_add_counted(m->t, &key, sizeof key, w, &count, NULL));
    m->truth[0][key] += w;
    check_after(m, key, count);
}

/* The same batch, key by key, to a copy: each key gets its count before the next is added. */
static void check_batch(const struct model *m, tamis *before, const uint64_t *which,
                        const int64_t *weights, const int64_t *counts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t count = -7;
        CHECK_OK(tamis_add_counted(before, &which[i], sizeof which[i],
                                   weights != NULL ? weights[i] : 1, &count, NULL));
        check_count(m->s, count, tamis_upper(before, &which[i], sizeof which[i]), "one by one");
        check_count(m->s, counts[i], count, "a batch");
    }
    CHECK(same(before, m->t));
    tamis_close(before);
}

static void model_add_batch(struct model *m, bool hashed, bool weighed)
{
    uint64_t which[BATCH];
    int64_t w[BATCH], counts[BATCH];
    tamis_bytes keys[BATCH];
    tamis_hash h[BATCH];
    const uint32_t n = 1 + pick(m, BATCH), of = 1 + pick(m, UNIVERSE);
    const int64_t *weights = weighed ? w : NULL;
    tamis *before;
    CHECK_OK(tamis_copy(m->t, &before, NULL));
    for (uint32_t i = 0; i < n; i++) {
        which[i] = pick(m, of);
        w[i] = weighed ? pick_weight(m, which[i]) : 1;
        keys[i] = (tamis_bytes){&which[i], sizeof which[i]};
        m->truth[0][which[i]] += w[i];
        counts[i] = -7;
    }
    size_t done = 0;
    CHECK_OK(tamis_hash_many(m->t, keys, n, h));
    CHECK_OK(hashed && !m->s->lists
                 ? tamis_add_counted_hashes(m->t, h, weights, n, counts, &done, NULL)
                 : tamis_add_counted_many(m->t, keys, weights, n, counts, &done, NULL));
    CHECK_THAT(done, ==, n);
    check_batch(m, before, which, weights, counts, n);
}

static void model_ask(const struct model *m)
{
    static uint64_t which[UNIVERSE + 50];
    static tamis_bytes keys[UNIVERSE + 50];
    static tamis_hash h[UNIVERSE + 50];
    static int64_t of_keys[UNIVERSE + 50], of_hashes[UNIVERSE + 50];
    const size_t n = UNIVERSE + 50; /* some never occurred */
    for (size_t i = 0; i < n; i++) {
        which[i] = i;
        keys[i] = (tamis_bytes){&which[i], sizeof which[i]};
    }
    CHECK_OK(tamis_hash_many(m->t, keys, n, h));
    tamis_upper_many(m->t, keys, n, of_keys);
    tamis_upper_hashes(m->t, h, n, of_hashes);
    for (size_t i = 0; i < n; i++) {
        const int64_t one = tamis_upper(m->t, &which[i], sizeof which[i]);
        check_count(m->s, of_keys[i], one, "many keys");
        check_count(m->s, of_hashes[i], one, "many hashes");
        check_count(m->s, one, upper_of(m->s, m->t, &which[i], sizeof which[i]), "tamis_count");
        CHECK(m->s->two_sided || i >= UNIVERSE || one >= truth_of(m, i));
    }
}

static void model_rotate(struct model *m)
{
    if (m->s->kind != TAMIS_WINDOW) return;
    CHECK_OK(tamis_rotate(m->t, NULL));
    memmove(m->truth[1], m->truth[0], (GENERATIONS - 1) * sizeof m->truth[0]);
    memset(m->truth[0], 0, sizeof m->truth[0]);
}

static void run_model(const struct subject *s, uint64_t seed)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    m.s = s;
    m.random = seed;
    m.t = subject_new(s, 4096, NULL);
    for (uint32_t step = 0; step < 3000; step++) {
        const uint32_t dice = pick(&m, 1000);
        if (dice < 900)
            model_add(&m);
        else if (dice < 980)
            model_add_batch(&m, dice % 2 == 0, dice % 4 < 2);
        else if (dice < 990)
            model_rotate(&m);
        else
            model_ask(&m);
    }
    model_ask(&m);
    tamis_close(m.t);
}

static void test_model(void)
{
    const struct kernels *all[4];
    const size_t n = tamis__runnable_kernels(all);
    for (size_t k = 0; k < n; k++) {
        tamis__use_kernels(all[k]);
        for (size_t i = 0; i < SUBJECTS; i++)
            for (uint64_t seed = 1; seed <= 2; seed++) run_model(&subjects[i], seed);
    }
    tamis__use_kernels(all[0]);
}

/* --- However a stream is split ---------------------------------------------------------------- */

#define STREAM 3000u

/* Repeated keys, near and far; weights only for some streams. */
static void split(const struct subject *s, uint64_t bytes, bool weighed)
{
    static const size_t sizes[] = {STREAM, 1, 7, 127, 128, 129, 256, 1000};
    static uint64_t which[STREAM];
    static tamis_bytes keys[STREAM];
    static int64_t w[STREAM], right[STREAM], counts[STREAM];
    uint64_t random = bytes;
    tamis *t[sizeof sizes / sizeof *sizes];
    for (size_t i = 0; i < STREAM; i++) {
        which[i] = i % 3 == 0 && i > 0 ? which[i - 1] : splitmix(&random) % 700;
        w[i] = (int64_t)(splitmix(&random) % 200);
        keys[i] = (tamis_bytes){&which[i], sizeof which[i]};
    }
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
        t[j] = subject_new(s, bytes, NULL);
        CHECK_OK(tamis_add_weight_many(t[j], keys, w, 500, NULL, NULL));
        if (s->kind == TAMIS_WINDOW) CHECK_OK(tamis_rotate(t[j], NULL));
        for (size_t at = 0; at < STREAM; at += sizes[j]) {
            const size_t n = STREAM - at < sizes[j] ? STREAM - at : sizes[j];
            CHECK_OK(tamis_add_counted_many(t[j], keys + at, weighed ? w + at : NULL, n,
                                            (j == 0 ? right : counts) + at, NULL, NULL));
        }
        CHECK(same(t[j], t[0]));
        for (size_t i = 0; i < STREAM && j > 0; i++)
            check_count(s, counts[i], right[i], "split in another way");
    }
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) tamis_close(t[j]);
}

static void test_splits(void)
{
    for (size_t i = 0; i < SUBJECTS; i++)
        for (int weighed = 0; weighed < 2; weighed++) {
            split(&subjects[i], 4096, weighed != 0);
            split(&subjects[i], 3 << 20, weighed != 0); /* prefetched */
        }
}

/* The count is extra: the same bytes as without it, and with a NULL in its place. */
static void test_same_bytes(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        tamis *t[3];
        uint64_t random = 3;
        for (size_t j = 0; j < 3; j++) t[j] = subject_new(&subjects[i], 4096, NULL);
        for (uint32_t step = 0; step < 2000; step++) {
            const uint64_t key = splitmix(&random) % 300;
            const int64_t w = step % 3 == 0 ? 1 : (int64_t)(splitmix(&random) % 90);
            int64_t count;
            CHECK_OK(tamis_add_counted(t[0], &key, sizeof key, w, &count, NULL));
            CHECK_OK(tamis_add_counted(t[1], &key, sizeof key, w, NULL, NULL));
            CHECK_OK(tamis_add_weight(t[2], &key, sizeof key, w, NULL));
        }
        CHECK(same(t[0], t[1]) && same(t[0], t[2]));
        for (size_t j = 0; j < 3; j++) tamis_close(t[j]);
    }
}

/* --- Saturated counters ----------------------------------------------------------------------- */

/* The greatest count that is not "or more". */
static int64_t last_count(const struct subject *s)
{
    const bool rows = s->kind == TAMIS_COUNT_MIN || s->kind == TAMIS_COUNT_SKETCH ||
                      s->inner == TAMIS_COUNT_MIN || s->inner == TAMIS_COUNT_SKETCH;
    if (!rows || s->cell_bits == 64) return INT64_MAX - 1;
    return s->two_sided ? INT32_MAX - 1 : (int64_t)UINT32_MAX - 1;
}

static void saturate(const struct subject *s, bool many)
{
    const int64_t most = last_count(s);
    const int64_t weights[] = {most - 3, 0, 1, 1, 1, 1, 1, 5, 0, most};
    const int64_t right[] = {most - 3,  most - 3,  most - 2,  most - 1,  most,
                             INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const tamis_bytes keys[10] = {{"k", 1}, {"k", 1}, {"k", 1}, {"k", 1}, {"k", 1},
                                  {"k", 1}, {"k", 1}, {"k", 1}, {"k", 1}, {"k", 1}};
    int64_t counts[10];
    tamis *t = subject_new(s, 4096, NULL);
    if (many) CHECK_OK(tamis_add_counted_many(t, keys, weights, 10, counts, NULL, NULL));
    for (size_t i = 0; i < 10; i++) {
        if (!many) CHECK_OK(tamis_add_counted(t, "k", 1, weights[i], &counts[i], NULL));
        check_count(s, counts[i], right[i], "near the end");
        if (!many) check_count(s, tamis_upper(t, "k", 1), right[i], "near the end, upper");
    }
    check_count(s, tamis_upper(t, "k", 1), INT64_MAX, "at the end");
    check_count(s, upper_of(s, t, "k", 1), INT64_MAX, "at the end, as tamis_count");
    if (s->kind == TAMIS_WINDOW) {
        int64_t count;
        CHECK_OK(tamis_rotate(t, NULL)); /* an older generation is saturated */
        CHECK_OK(tamis_add_counted(t, "k", 1, 2, &count, NULL));
        check_count(s, count, INT64_MAX, "an older generation");
        check_count(s, tamis_upper(t, "k", 1), INT64_MAX, "an older generation, upper");
    }
    tamis_close(t);
}

/* What was missed below the least count is unknown as well. */
static void saturate_below(const struct subject *s)
{
    int64_t count;
    tamis *t = subject_new(s, 4096, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_OK(tamis_add_counted(t, "k", 1, -last_count(s), &count, NULL));
    check_count(s, count, INT64_MAX, "below the least");
    check_count(s, tamis_upper(t, "k", 1), INT64_MAX, "below the least, upper");
    CHECK_OK(tamis_add_counted(t, "k", 1, 1, &count, NULL));
    check_count(s, count, INT64_MAX, "a key that is saturated below");
    tamis_close(t);
}

static void test_saturated(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        saturate(&subjects[i], false);
        saturate(&subjects[i], true);
        if (subjects[i].takes_away && subjects[i].two_sided) saturate_below(&subjects[i]);
    }
}

/* Keys that share some counters with a key that saturated them. Their median may still be low. */
static void test_saturated_by_others(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        tamis *t = subject_new(s, s->lists ? 4096 : 2500, NULL);
        uint32_t unknown = 0, known = 0;
        for (int n = 0; n < 2; n++) CHECK_OK(tamis_add_weight(t, "k", 1, last_count(s), NULL));
        for (int n = 0; n < 2 && s->takes_away && s->two_sided; n++)
            CHECK_OK(tamis_add_weight(t, "l", 1, -last_count(s), NULL));
        if (s->kind == TAMIS_WINDOW) CHECK_OK(tamis_rotate(t, NULL));
        for (uint64_t key = 0; key < 400; key++) {
            const uint8_t raw[8] = {(uint8_t)key, (uint8_t)(key >> 8)}; /* on every machine */
            const tamis_bytes bytes = {raw, sizeof raw};
            int64_t count;
            CHECK_OK(key % 2 == 0 ? tamis_add_counted(t, raw, sizeof raw, 1, &count, NULL)
                                  : tamis_add_counted_many(t, &bytes, NULL, 1, &count, NULL, NULL));
            check_count(s, count, tamis_upper(t, raw, sizeof raw), "saturated by others");
            if (key % 20 == 0) /* slow: measures the noise */
                check_count(s, count, upper_of(s, t, raw, sizeof raw), "and as tamis_count");
            unknown += count == INT64_MAX;
            known += count < 1000;
        }
        CHECK(known + unknown == 400 && known > 0 && (unknown >= 20) == s->two_sided);
        tamis_close(t);
    }
}

/* Sums of generations that exceed the largest count. */
static void test_saturated_sums(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        if (s->kind != TAMIS_WINDOW || last_count(s) < INT64_MAX - 1) continue;
        tamis *t = subject_new(s, 4096, NULL);
        int64_t count;
        for (int g = 0; g < 2; g++) {
            CHECK_OK(tamis_add_counted(t, "k", 1, INT64_MAX / 3 * 2, &count, NULL));
            check_count(s, count, g == 0 ? INT64_MAX / 3 * 2 : INT64_MAX, "a sum");
            check_count(s, tamis_upper(t, "k", 1), count, "a sum, upper");
            if (g == 0) CHECK_OK(tamis_rotate(t, NULL));
        }
        tamis_close(t);
    }
}

/* --- What cannot be decided, or done ---------------------------------------------------------- */

static tamis *filter_of(uint32_t kind)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = kind, .items = 300, .fpr = 0.01};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    return t;
}

static void test_kinds_without_counts(void)
{
    static const uint32_t kinds[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED,
                                     TAMIS_PAIR,  TAMIS_GROWING,     TAMIS_WINDOW,
                                     TAMIS_FUSE,  TAMIS_RIBBON,      TAMIS_EXACT};
    const tamis_bytes keys[2] = {{"a", 1}, {"b", 1}};
    const tamis_hash h[2] = {{1, 2}, {3, 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tamis *t = filter_of(kinds[i]);
        int64_t out[4] = {0};
        CHECK(tamis_upper(t, "a", 1) == INT64_MAX);
        tamis_upper_many(t, keys, 2, out);
        tamis_upper_hashes(t, h, 2, out + 2);
        for (int j = 0; j < 4; j++) CHECK(out[j] == INT64_MAX);
        tamis_close(t);
    }
}

/* Up to the end of the counters, and the copies of a cuckoo filter. */
static void test_filters_that_count(void)
{
    static const uint32_t kinds[] = {TAMIS_COUNTING, TAMIS_CUCKOO};
    for (size_t i = 0; i < 2; i++) {
        tamis *t = filter_of(kinds[i]);
        const tamis_bytes keys[2] = {{"a", 1}, {"b", 1}};
        int64_t out[2];
        for (int n = 1; n <= 40; n++) {
            if (tamis_add(t, "a", 1, NULL) != TAMIS_OK) break;
            tamis_estimate e;
            CHECK_OK(tamis_count(t, "a", 1, &e, NULL));
            CHECK(tamis_upper(t, "a", 1) == e.upper && e.upper >= n);
            tamis_upper_many(t, keys, 2, out);
            CHECK(out[0] == e.upper && out[1] == 0);
        }
        CHECK(tamis_upper(t, "a", 1) == (kinds[i] == TAMIS_COUNTING ? INT64_MAX : 40));
        tamis_close(t);
    }
}

static void test_filters_take_no_weights(void)
{
    const tamis_bytes key = {"a", 1};
    const tamis_hash h = {1, 2};
    tamis *t = filter_of(TAMIS_COUNTING);
    for (int how = 0; how < 3; how++) {
        int64_t count = 0;
        tamis_error why = {.text = ""};
        size_t done = 9;
        const tamis_status s = how == 0 ? tamis_add_counted(t, "a", 1, 1, &count, &why)
                               : how == 1
                                   ? tamis_add_counted_many(t, &key, NULL, 1, &count, &done, &why)
                                   : tamis_add_counted_hashes(t, &h, NULL, 1, &count, &done, &why);
        CHECK(s == TAMIS_EUNSUPPORTED && why.text[0] != '\0' && why.better_kind == TAMIS_TALLY);
        CHECK(count == INT64_MAX && (how == 0 || done == 0));
    }
    CHECK(tamis_upper(t, "a", 1) == 0);
    tamis_close(t);
}

/* A batch stops at the weight that is refused; what was not added has no count. */
static void test_refused_weights(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        if (s->two_sided && s->takes_away) continue;
        enum { N = 300, BAD = 200 };
        static uint64_t which[N];
        static tamis_bytes keys[N];
        static int64_t w[N], counts[N];
        tamis *t = subject_new(s, 4096, NULL);
        tamis_error why = {.text = ""};
        size_t done = 0;
        for (size_t j = 0; j < N; j++) {
            which[j] = j % 150;
            keys[j] = (tamis_bytes){&which[j], 8};
            w[j] = j == BAD ? -1000000 : 2;
            counts[j] = -7;
        }
        const tamis_status wanted = s->takes_away ? TAMIS_EABSENT : TAMIS_EUNSUPPORTED;
        CHECK_THAT(tamis_add_counted_many(t, keys, w, N, counts, &done, &why), ==, wanted);
        CHECK(done == BAD && why.text[0] != '\0');
        for (size_t j = 0; j < N; j++)
            CHECK(j < BAD ? counts[j] >= (j < 150 ? 2 : 4) || s->two_sided
                          : counts[j] == INT64_MAX);
        struct bytes before = image_of(t);
        int64_t count = 0;
        CHECK_THAT(tamis_add_counted(t, &which[BAD], 8, -1000000, &count, &why), ==, wanted);
        struct bytes after = image_of(t);
        CHECK(count == INT64_MAX && bytes_equal(before, after));
        free(before.p);
        free(after.p);
        tamis_close(t);
    }
}

/* Taking away is an add: its count is the one after it. */
static void test_taking_away(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        if (!s->takes_away) continue;
        tamis *t = subject_new(s, 1 << 16, NULL);
        const tamis_bytes keys[4] = {{"k", 1}, {"k", 1}, {"k", 1}, {"l", 1}};
        const int64_t w[4] = {1000, -300, -700, 5};
        int64_t counts[4];
        CHECK_OK(tamis_add_counted_many(t, keys, w, 4, counts, NULL, NULL));
        CHECK(counts[0] == 1000 && counts[1] == 700 && counts[2] == 0 && counts[3] == 5);
        if (s->two_sided) {
            CHECK_OK(tamis_add_counted(t, "l", 1, -9, counts, NULL));
            CHECK(counts[0] == -4 && tamis_upper(t, "l", 1) == -4);
        }
        tamis_close(t);
    }
}

static void test_read_only(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        tamis *t = subject_new(&subjects[i], 4096, NULL), *view;
        CHECK_OK(tamis_add(t, "k", 1, NULL));
        struct bytes image = image_of(t);
        const tamis_bytes key = {"k", 1};
        int64_t count = 0;
        CHECK_OK(tamis_view(image.p, image.n, NULL, &view, NULL));
        CHECK(tamis_upper(view, "k", 1) == 1);
        CHECK_THAT(tamis_add_counted(view, "k", 1, 1, &count, NULL), ==, TAMIS_ESEALED);
        CHECK(count == INT64_MAX);
        count = 0;
        CHECK_THAT(tamis_add_counted_many(view, &key, NULL, 1, &count, NULL, NULL), ==,
                   TAMIS_ESEALED);
        CHECK(count == INT64_MAX && tamis_upper(view, "k", 1) == 1);
        tamis_close(view);
        tamis_close(t);
        free(image.p);
    }
}

/* Without the secret key, keys cannot be hashed, but hashes need none. */
static void test_without_the_key(void)
{
    const tamis_options with = {.struct_size = sizeof with,
                                .key = (const uint8_t *)"a secret of 16.."};
    const tamis_options without = {.struct_size = sizeof without, .flags = TAMIS_KEYLESS};
    for (size_t i = 0; i < SUBJECTS; i++) {
        tamis *t = subject_new(&subjects[i], 4096, &with), *blind;
        const tamis_bytes key = {"k", 1};
        tamis_hash h;
        int64_t count;
        CHECK_OK(tamis_add_counted(t, "k", 1, 3, &count, NULL));
        CHECK(count == 3);
        CHECK_OK(tamis_hash_many(t, &key, 1, &h));
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, &without, &blind, NULL));
        CHECK(tamis_upper(blind, "k", 1) == INT64_MAX);
        count = 0;
        tamis_upper_many(blind, &key, 1, &count);
        CHECK(count == INT64_MAX);
        tamis_upper_hashes(blind, &h, 1, &count);
        CHECK(count == 3);
        count = 0;
        CHECK_THAT(tamis_add_counted(blind, "k", 1, 1, &count, NULL), ==, TAMIS_EKEY);
        CHECK(count == INT64_MAX);
        tamis_close(blind);
        tamis_close(t);
        free(image.p);
    }
}

static void test_hashes_of_the_caller(void)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_TALLY, .bytes = 4096, .flags = TAMIS_HASH_CALLER};
    const tamis_hash h = {0x123456789abcdef0, 0xfedcba9876543210};
    tamis *t;
    int64_t count = 0;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(tamis_add_counted_hashes(t, &h, NULL, 1, &count, NULL, NULL));
    CHECK(count == 1 && tamis_upper(t, "k", 1) == INT64_MAX);
    tamis_upper_hashes(t, &h, 1, &count);
    CHECK(count == 1);
    CHECK_THAT(tamis_add_counted(t, "k", 1, 1, &count, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK(count == INT64_MAX);
    tamis_close(t);
}

static void test_no_hashes_to_a_top(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (!subjects[i].lists) continue;
        tamis *t = subject_new(&subjects[i], 4096, NULL);
        const tamis_hash h[2] = {{1, 2}, {3, 4}};
        int64_t counts[2] = {0};
        size_t done = 9;
        CHECK_THAT(tamis_add_counted_hashes(t, h, NULL, 2, counts, &done, NULL), ==,
                   TAMIS_EUNSUPPORTED);
        CHECK(done == 0 && counts[0] == INT64_MAX && counts[1] == INT64_MAX);
        tamis_close(t);
    }
}

static void test_none(void)
{
    tamis *t = subject_new(&subjects[0], 4096, NULL);
    size_t done = 9;
    tamis_upper_many(t, NULL, 0, NULL);
    tamis_upper_hashes(t, NULL, 0, NULL);
    CHECK_OK(tamis_add_counted_many(t, NULL, NULL, 0, NULL, &done, NULL));
    CHECK(done == 0);
    CHECK_OK(tamis_add_counted_hashes(t, NULL, NULL, 0, NULL, NULL, NULL));
    CHECK_OK(tamis_add_counted(t, NULL, 0, 1, NULL, NULL));
    CHECK(tamis_upper(t, NULL, 0) == 1);
    tamis_close(t);
}

/* --- Nothing is allocated --------------------------------------------------------------------- */

static void test_no_allocation(void)
{
    enum { N = 1000 };
    static uint64_t which[N];
    static tamis_bytes keys[N];
    static int64_t counts[N];
    static tamis_hash h[N];
    for (size_t i = 0; i < N; i++) {
        which[i] = i % 400;
        keys[i] = (tamis_bytes){&which[i], 8};
    }
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        tamis *t = subject_new(&subjects[i], 3 << 20, &o);
        const size_t blocks = a.blocks;
        a.calls = 0;
        a.fail_at = 1;
        a.for_ever = true;
        CHECK_OK(tamis_add_counted(t, "k", 1, 7, counts, NULL));
        CHECK_OK(tamis_add_counted_many(t, keys, NULL, N, counts, NULL, NULL));
        CHECK(tamis_upper(t, "k", 1) >= 7);
        CHECK_OK(tamis_hash_many(t, keys, N, h));
        tamis_upper_many(t, keys, N, counts);
        tamis_upper_hashes(t, h, N, counts);
        if (!subjects[i].lists)
            CHECK_OK(tamis_add_counted_hashes(t, h, NULL, N, counts, NULL, NULL));
        CHECK(a.calls == 0 && a.blocks == blocks);
        a.fail_at = 0;
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
    }
}

static const struct test tests[] = {
    {"against exact counts", test_model},
    {"however a stream is split", test_splits},
    {"the same bytes as without counts", test_same_bytes},
    {"saturated counters", test_saturated},
    {"counters that other keys saturated", test_saturated_by_others},
    {"saturated sums of a window", test_saturated_sums},
    {"kinds without counts", test_kinds_without_counts},
    {"filters that count", test_filters_that_count},
    {"filters take no weights", test_filters_take_no_weights},
    {"weights that are refused", test_refused_weights},
    {"taking away", test_taking_away},
    {"read-only handles", test_read_only},
    {"without the secret key", test_without_the_key},
    {"hashes of the caller", test_hashes_of_the_caller},
    {"no hashes to a top", test_no_hashes_to_a_top},
    {"no keys", test_none},
    {"nothing is allocated", test_no_allocation},
};

TEST_MAIN(tests)
