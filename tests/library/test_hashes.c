/* Hashes without a handle, hashes of 64 bits, and keys that many handles share (hashes.h). */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/models.h"
#include "../support/tracking.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <tamis/count.h>
#include <unistd.h>

/* --- Without a handle ------------------------------------------------------------------------- */

static void test_hash_bytes(void)
{
    static const uint64_t seeds[] = {0, 1, UINT64_MAX};
    static uint8_t text[300];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(i * 31);
    for (size_t s = 0; s < 3; s++) {
        const tamis_plan p = {.struct_size = sizeof p, .items = 10, .fpr = 0.1, .seed = seeds[s]};
        tamis *t;
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        for (size_t n = 0; n <= sizeof text; n++) {
            const tamis_bytes key = {text, n};
            tamis_hash want;
            CHECK_OK(tamis_hash_many(t, &key, 1, &want));
            const tamis_hash got = tamis_hash_bytes(seeds[s], text, n);
            CHECK(got.lo == want.lo && got.hi == want.hi);
        }
        tamis_close(t);
    }
    const tamis_hash a = tamis_hash_bytes(3, NULL, 0), b = tamis_hash_bytes(3, "x", 0);
    CHECK(a.lo == b.lo && a.hi == b.hi);
}

/* Images depend on these numbers, so they never change. */
static void test_hash64_values(void)
{
    static const struct {
        uint64_t hash, lo, hi;
    } known[] = {
        {0, 0, 0},
        {1, UINT64_C(0x5030db8efafacae4), UINT64_C(0x4179b061e0c0e0d0)},
        {UINT64_C(0x0123456789abcdef), UINT64_C(0x2edbb78b0718d3a0), UINT64_C(0x3efdea49c590f4ec)},
        {UINT64_MAX, UINT64_C(0x623b545cdb965c0f), UINT64_C(0x448e29ced4103459)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const tamis_hash h = tamis_hash64(known[i].hash);
        CHECK(h.lo == known[i].lo && h.hi == known[i].hi);
    }
}

/* --- 64 bits are 128 bits --------------------------------------------------------------------- */

static uint64_t hash_words[MORE];
static tamis_hash wide[MORE];

static tamis *load_model(const struct model *m)
{
    const tamis_options o = model_options(m, NULL);
    tamis *t;
    CHECK_OK(tamis_load(m->image.p, m->image.n, &o, &t, NULL));
    return t;
}

static void check_same(tamis *a, tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(bytes_equal(x, y));
    free(x.p);
    free(y.p);
    tamis_close(a);
    tamis_close(b);
}

static void check_verbs(const struct model *m)
{
    tamis *a = load_model(m), *b = load_model(m);
    uint8_t x[MORE / 8 + 1], y[MORE / 8 + 1];
    static tamis_estimate e[2][MORE];
    size_t da = 0, db = 0;
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    CHECK(tamis_add_hashes(a, wide, MORE, x, &da) == tamis_add_hash64(b, hash_words, MORE, y, &db));
    CHECK(da == db && memcmp(x, y, sizeof x) == 0);
    CHECK(tamis_add_weight_hashes(a, wide, weights, MORE, &da, NULL) ==
          tamis_add_weight_hash64(b, hash_words, weights, MORE, &db, NULL));
    CHECK(da == db);
    CHECK(tamis_may_contain_hashes(a, wide, MORE, x) ==
          tamis_may_contain_hash64(b, hash_words, MORE, y));
    CHECK(memcmp(x, y, sizeof x) == 0);
    static int64_t u[2][MORE];
    CHECK(tamis_add_counted_hashes(a, wide, NULL, MORE, u[0], &da, NULL) ==
          tamis_add_counted_hash64(b, hash_words, NULL, MORE, u[1], &db, NULL));
    CHECK(da == db && memcmp(u[0], u[1], sizeof u[0]) == 0);
    tamis_upper_hashes(a, wide, MORE, u[0]);
    tamis_upper_hash64(b, hash_words, MORE, u[1]);
    CHECK(memcmp(u[0], u[1], sizeof u[0]) == 0);
    const tamis_status s = tamis_count_hashes(a, wide, MORE, e[0], NULL);
    CHECK(tamis_count_hash64(b, hash_words, MORE, e[1], NULL) == s);
    for (size_t i = 0; i < MORE && s == TAMIS_OK; i++)
        CHECK(e[0][i].lower == e[1][i].lower && e[0][i].upper == e[1][i].upper);
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    CHECK(tamis_remove_hashes(a, wide, MORE / 2, x, NULL) ==
          tamis_remove_hash64(b, hash_words, MORE / 2, y, NULL));
    CHECK(memcmp(x, y, sizeof x) == 0);
    CHECK(tamis_exclude_hashes(a, wide + MORE / 2, 10, NULL) ==
          tamis_exclude_hash64(b, hash_words + MORE / 2, 10, NULL));
    check_same(a, b);
}

static void test_hash64_verbs(void)
{
    make_models();
    for (uint64_t i = 0; i < MORE; i++) {
        hash_words[i] = i * UINT64_C(0x9e3779b97f4a7c15);
        wide[i] = tamis_hash64(hash_words[i]);
    }
    for (size_t i = 0; i < n_models; i++) check_verbs(&models[i]);
    free_models();
}

/* --- The promised rate, for every kind -------------------------------------------------------- */

enum { KEYS = 20000, QUESTIONS = 200000 };
static uint64_t many[KEYS + QUESTIONS];

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Ways in which 64-bit numbers that are all distinct may look. */
static uint64_t look(int way, uint64_t i)
{
    const uint64_t h = mixed(i + UINT64_C(0x1234567));
    switch (way) {
    case 0: return h;                                  /* uniform */
    case 1: return h >> 12;                            /* of one partition by the upper bits, */
    case 2: return h << 12 | 0x5a5;                    /* and by the lower bits */
    case 3: return i;                                  /* consecutive */
    case 4: return i << 32;                            /* the same in the upper half */
    case 5: return 0 - i;                              /* negative */
    case 6: return i * 4096;                           /* addresses of pages */
    default: return i | (uint64_t)(i % 251 + 1) << 40; /* small numbers in two places */
    }
}

/* With 200,000 questions, a rate that is the planned one exceeds it by 7 standard deviations with a
 * probability far below 1e-9. Blocked filters of one draw vary more than that: a tenth. */
static void check_rate(uint32_t kind, int way)
{
    const bool sealed = kind == TAMIS_FUSE || kind == TAMIS_RIBBON || kind == TAMIS_EXACT;
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = kind,
                          .items = KEYS,
                          .fpr = 0.01,
                          .flags = TAMIS_HASH_CALLER};
    tamis *t;
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(tamis_add_hash64(t, many, KEYS, NULL, NULL));
    if (sealed) CHECK_OK(tamis_seal(t, NULL));
    CHECK(tamis_may_contain_hash64(t, many, KEYS, NULL) == KEYS);
    const size_t wrong = tamis_may_contain_hash64(t, many + KEYS, QUESTIONS, NULL);
    CHECK_OK(tamis_info(t, &f));
    const double most = f.fpr_now * 1.1 * QUESTIONS;
    if ((double)wrong > most + 7 * sqrt(most))
        fprintf(stderr, "%s, way %d: %zu instead of %.0f\n", tamis_kind_name(kind), way, wrong,
                f.fpr_now * QUESTIONS);
    CHECK((double)wrong <= most + 7 * sqrt(most));
    CHECK(!f.hash_suspect);
    tamis_close(t);
}

static void test_hash64_rates(void)
{
    for (int way = 0; way < 8; way++) {
        for (uint64_t i = 0; i < KEYS + QUESTIONS; i++) many[i] = look(way, i);
        for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_EXACT; kind++) check_rate(kind, way);
    }
}

/* --- Keys that handles share ------------------------------------------------------------------ */

static const uint8_t secret_bytes[16] = "sixteen bytes...", other_bytes[16] = "other bytes.....";

static tamis *keyed_filter(const uint8_t *bytes, tamis_key *shared, const tamis_memory *memory)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 100, .fpr = 0.01};
    const tamis_options o = {
        .struct_size = sizeof o, .key = bytes, .shared_key = shared, .memory = memory};
    tamis *t;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    CHECK_OK(tamis_add(t, "member", 6, NULL));
    return t;
}

/* The same bytes as with the key itself, and each opens what the other wrote. */
static void test_key_is_its_bytes(void)
{
    tamis_key *key, *other;
    CHECK_OK(tamis_key_new(secret_bytes, NULL, &key, NULL));
    CHECK_OK(tamis_key_new(other_bytes, NULL, &other, NULL));
    tamis *a = keyed_filter(secret_bytes, NULL, NULL), *b = keyed_filter(NULL, key, NULL), *c;
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(bytes_equal(x, y));
    const tamis_options by_key = {.struct_size = sizeof by_key, .shared_key = key},
                        by_bytes = {.struct_size = sizeof by_bytes, .key = secret_bytes},
                        wrong = {.struct_size = sizeof wrong, .shared_key = other};
    CHECK_OK(tamis_load(x.p, x.n, &by_key, &c, NULL));
    CHECK(tamis_may_contain(c, "member", 6) && !tamis_may_contain(c, "stranger", 8));
    tamis_close(c);
    CHECK_OK(tamis_load(y.p, y.n, &by_bytes, &c, NULL));
    CHECK(tamis_may_contain(c, "member", 6));
    tamis_close(c);
    CHECK(tamis_load(x.p, x.n, &wrong, &c, NULL) == TAMIS_EKEY && c == NULL);
    free(x.p);
    free(y.p);
    tamis_close(a);
    tamis_close(b);
    tamis_key_close(key);
    tamis_key_close(other);
}

/* A thousand handles need no more memory for their key than those without one. */
static void test_key_takes_no_more_memory(void)
{
    enum { HANDLES = 1000 };
    static tamis *all[HANDLES];
    size_t bytes[2];
    for (int keyed = 0; keyed < 2; keyed++) {
        struct tracker a;
        tracker_init(&a);
        tamis_key *key = NULL;
        if (keyed != 0) CHECK_OK(tamis_key_new(secret_bytes, &a.memory, &key, NULL));
        const size_t before = a.bytes;
        for (size_t i = 0; i < HANDLES; i++) all[i] = keyed_filter(NULL, key, &a.memory);
        bytes[keyed] = a.bytes - before;
        for (size_t i = 0; i < HANDLES; i++) tamis_close(all[i]);
        tamis_key_close(key);
        CHECK_THAT(a.blocks, ==, 0);
    }
    CHECK_THAT(bytes[1], ==, bytes[0]);
}

/* A copy has the key, even when the handle that it was made from is closed. */
static void test_copies_have_the_key(void)
{
    for (int shared = 0; shared < 2; shared++) {
        tamis_key *key;
        CHECK_OK(tamis_key_new(secret_bytes, NULL, &key, NULL));
        tamis *t = shared != 0 ? keyed_filter(NULL, key, NULL)
                               : keyed_filter(secret_bytes, NULL, NULL),
              *copy;
        CHECK_OK(tamis_copy(t, &copy, NULL));
        tamis_close(t);
        CHECK(tamis_may_contain(copy, "member", 6) && !tamis_may_contain(copy, "stranger", 8));
        CHECK_OK(tamis_add(copy, "stranger", 8, NULL));
        CHECK(tamis_may_contain(copy, "stranger", 8));
        tamis_close(copy);
        tamis_key_close(key);
    }
}

/* A key that is closed too early is an assertion in debug builds. Otherwise the handle still has
 * it. */
static void test_key_closed_in_use(void)
{
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        tamis_key *key;
        if (tamis_key_new(secret_bytes, NULL, &key, NULL) != TAMIS_OK) _exit(3);
        tamis *t = keyed_filter(NULL, key, NULL);
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(4);
        tamis_key_close(key);
        const bool good = tamis_may_contain(t, "member", 6) && !tamis_may_contain(t, "x", 1);
        tamis_close(t);
        _exit(good ? 0 : 5);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
#ifdef NDEBUG
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#else
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

static void test_bad_keys(void)
{
    const tamis_plan seeded = {.struct_size = sizeof seeded, .items = 100, .fpr = 0.01, .seed = 1},
                     caller = {.struct_size = sizeof caller,
                               .items = 100,
                               .fpr = 0.01,
                               .flags = TAMIS_HASH_CALLER};
    tamis_key *key;
    tamis_error why;
    tamis *t;
    CHECK(tamis_key_new(secret_bytes, NULL, NULL, &why) == TAMIS_EINVAL && why.text[0] != 0);
    CHECK(tamis_key_new(NULL, NULL, &key, &why) == TAMIS_EINVAL && key == NULL);
    CHECK_OK(tamis_key_new(secret_bytes, NULL, &key, NULL));
    const tamis_options both = {.struct_size = sizeof both, .key = secret_bytes, .shared_key = key},
                        one = {.struct_size = sizeof one, .shared_key = key};
    CHECK(tamis_create(&caller, &both, &t, &why) == TAMIS_EINVAL);
    CHECK(strstr(why.text, "not both") != NULL);
    CHECK(tamis_create(&seeded, &one, &t, &why) == TAMIS_EINVAL);
    CHECK(tamis_create(&caller, &one, &t, &why) == TAMIS_EINVAL);
    tamis_key_close(key);
    tamis_key_close(NULL);
}

static const struct test tests[] = {
    {"hash bytes", test_hash_bytes},
    {"hash64 values", test_hash64_values},
    {"hash64 verbs", test_hash64_verbs},
    {"hash64 rates", test_hash64_rates},
    {"key is its bytes", test_key_is_its_bytes},
    {"key takes no more memory", test_key_takes_no_more_memory},
    {"copies have the key", test_copies_have_the_key},
    {"key closed in use", test_key_closed_in_use},
    {"bad keys", test_bad_keys},
};

TEST_MAIN(tests)
