/* Filters of other programs: files that these programs made give their answers, with false
 * positives (tests/golden/foreign/make.sh); the files that we make have the same bytes; and each
 * format has its traps. */
#define _XOPEN_SOURCE 700 /* signgam */
#include "../support/foreign.h"
#include "../support/saving.h"
#include "../support/tracking.h"
#include "foreign/foreign.h"
#include "foreign/hashes.h"
#include "foreign/redisbloom.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- Hashes ----------------------------------------------------------------------------------- */

/* Hashes of the bytes 'a' + 18 i. MurmurHash64A is also std::_Hash_bytes of GNU's C++ library,
 * which gave these. */
static const uint64_t MURMUR2[25] = {
    UINT64_C(0x1ab11ea5a7b2c56e), UINT64_C(0x4292cee227b9150a), UINT64_C(0xf7a913d5952c1a91),
    UINT64_C(0xd67bfbfd7f37b208), UINT64_C(0xa845e70c2f082b67), UINT64_C(0x1cca8864643a1975),
    UINT64_C(0x0923ea30ec91ca9c), UINT64_C(0xb9f5997ba6b5062c), UINT64_C(0xf74241662c7ff345),
    UINT64_C(0x14fa559517d0a16e), UINT64_C(0x0b640098c1a7bb19), UINT64_C(0x38749dbf31c68dfb),
    UINT64_C(0x3d0de0d819c076af), UINT64_C(0x8bc071494c1c2790), UINT64_C(0xd6c402a98b6bdbad),
    UINT64_C(0xea2b6f88debeba46), UINT64_C(0x13e1d35702cfa182), UINT64_C(0xdf8779c2172694cc),
    UINT64_C(0x19fe75778e8d38ab), UINT64_C(0xee45fb880c1ae3a3), UINT64_C(0x29dcf2098f47a9ab),
    UINT64_C(0x64a03837f43765a3), UINT64_C(0x440416243204d681), UINT64_C(0x4aa6e7cbe57e90be),
    UINT64_C(0xe8b2729b44aec3df),
};

static void test_hashes(void)
{
    uint8_t bytes[32];
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)('a' + 18 * i);
    for (size_t n = 0; n < 25; n++)
        CHECK(redisbloom_murmur64(bytes, n, UINT64_C(0xc6a4a7935bd1e995)) == MURMUR2[n]);
    /* The published values; all other lengths of murmur3 are among Guava's answers. */
    CHECK(tamis__fnv1("", 0) == UINT64_C(0xcbf29ce484222325));
    CHECK(tamis__fnv1("a", 1) == UINT64_C(0xaf63bd4c8601b7be));
    CHECK(tamis__fnv1("foobar", 6) == UINT64_C(0x340d8765a4dda9c2));
    const tamis_hash h = tamis__murmur3("hello", 5), none = tamis__murmur3("", 0);
    CHECK(h.lo == UINT64_C(0xcbd8a7b341bd9b02) && h.hi == UINT64_C(0x5b1e906a48ae1d19));
    CHECK(none.lo == 0 && none.hi == 0);
    CHECK(tamis__xxh64("", 0) == UINT64_C(0xef46db3751d8e999));
    CHECK(tamis__xxh64("a", 1) == UINT64_C(0xd24ec4f1a98c6e5b));
}

/* --- Files of the programs -------------------------------------------------------------------- */

static const struct {
    const char *file, *answers;
    uint32_t format;
    enum encoding how;
} FILES[] = {
    {"dcso.bloom", "dcso.answers", TAMIS_FOREIGN_DCSO, TEXT},
    {"guava-utf8.guava", "guava-utf8.answers", TAMIS_FOREIGN_GUAVA, TEXT},
    {"guava-utf16.guava", "guava-utf16.answers", TAMIS_FOREIGN_GUAVA, UTF16},
    {"guava-long.guava", "guava-long.answers", TAMIS_FOREIGN_GUAVA, INT64},
    {"guava-mitz32.guava", "guava-mitz32.answers", TAMIS_FOREIGN_GUAVA, TEXT},
    {"redisbloom-default.chunks", "redisbloom-default.answers", TAMIS_FOREIGN_REDISBLOOM, TEXT},
    {"redisbloom-chain.chunks", "redisbloom-chain.answers", TAMIS_FOREIGN_REDISBLOOM, TEXT},
    {"redisbloom-fixed.chunks", "redisbloom-fixed.answers", TAMIS_FOREIGN_REDISBLOOM, TEXT},
    {"redisbloom-default.dump", "redisbloom-default.answers", TAMIS_FOREIGN_REDIS_DUMP, TEXT},
    {"redisbloom-chain.dump", "redisbloom-chain.answers", TAMIS_FOREIGN_REDIS_DUMP, TEXT},
    {"redisbloom-fixed.dump", "redisbloom-fixed.answers", TAMIS_FOREIGN_REDIS_DUMP, TEXT},
};
#define N_FILES (sizeof FILES / sizeof *FILES)

static void test_answers(void)
{
    for (size_t i = 0; i < N_FILES; i++) {
        struct bytes b = read_foreign(FILES[i].file);
        tamis_foreign *f = open_bytes(b, FILES[i].format);
        check_answers(FILES[i].answers, FILES[i].how, ask_filter, f);
        CHECK(facts_of(f).format == FILES[i].format);
        CHECK(tamis_foreign_format_of(f) == FILES[i].format);
        tamis_foreign_close(f);
        free(b.p);
    }
}

/* Formats that can be recognized by content are recognized correctly. Guava cannot be, and is
 * not taken for another format. */
static void test_detection(void)
{
    for (size_t i = 0; i < N_FILES; i++) {
        struct bytes b = read_foreign(FILES[i].file);
        tamis_foreign *f;
        const tamis_status s = tamis_foreign_open(b.p, b.n, TAMIS_FOREIGN_AUTO, NULL, &f, NULL);
        if (FILES[i].format == TAMIS_FOREIGN_GUAVA) {
            CHECK(s == TAMIS_ECORRUPT && f == NULL);
        } else {
            CHECK_OK(s);
            CHECK(facts_of(f).format == FILES[i].format);
        }
        tamis_foreign_close(f);
        /* Each file is refused under every other name, except between the two forms of
         * RedisBloom. */
        for (uint32_t other = TAMIS_FOREIGN_PARQUET; other <= TAMIS_FOREIGN_GUAVA; other++) {
            const bool fits =
                other == FILES[i].format ||
                (other == TAMIS_FOREIGN_REDISBLOOM && FILES[i].format == TAMIS_FOREIGN_REDIS_DUMP);
            CHECK((tamis_foreign_open(b.p, b.n, other, NULL, &f, NULL) == TAMIS_OK) == fits);
            tamis_foreign_close(f);
        }
        free(b.p);
    }
}

/* A file that is opened and written again is identical, except for the compression of Redis. */
static void test_unchanged(void)
{
    for (size_t i = 0; i < N_FILES; i++) {
        struct bytes b = read_foreign(FILES[i].file);
        tamis_foreign *f = open_bytes(b, FILES[i].format);
        struct bytes again = written(f, TAMIS_FOREIGN_AUTO, 4 * b.n);
        if (FILES[i].format == TAMIS_FOREIGN_REDIS_DUMP) {
            char chunks_name[64];
            snprintf(chunks_name, sizeof chunks_name, "%.*s.chunks",
                     (int)(strrchr(FILES[i].file, '.') - FILES[i].file), FILES[i].file);
            struct bytes chunks = read_foreign(chunks_name),
                         ours = written(f, TAMIS_FOREIGN_REDISBLOOM, chunks.n);
            CHECK(bytes_equal(chunks, ours));
            tamis_foreign *back = open_bytes(again, TAMIS_FOREIGN_REDIS_DUMP);
            struct bytes third = written(back, TAMIS_FOREIGN_REDISBLOOM, chunks.n);
            CHECK(bytes_equal(chunks, third));
            tamis_foreign_close(back);
            free(third.p);
            free(ours.p);
            free(chunks.p);
        } else {
            CHECK(bytes_equal(b, again));
        }
        tamis_foreign_close(f);
        free(again.p);
        free(b.p);
    }
}

static void test_facts(void)
{
    struct bytes b = read_foreign("dcso.bloom");
    tamis_foreign *f = open_bytes(b, TAMIS_FOREIGN_DCSO);
    tamis_foreign_facts x = facts_of(f);
    CHECK(x.planned_items == 300 && x.fpr_planned == 0.1 && x.items_known && !x.weak);
    CHECK_THAT(x.items, ==, 291); /* as DCSO counts: keys that looked new */
    CHECK(x.m == 1437 && x.k == 4 && x.extra_size == 26);
    CHECK(memcmp(x.extra, "{\"from\": \"a golden file\"}\n", 26) == 0);
    CHECK(x.fpr_now > 0.05 && x.fpr_now < 0.2 && x.items_estimate > 250 && x.items_estimate < 350);
    tamis_foreign_close(f);
    free(b.p);
    b = read_foreign("redisbloom-chain.dump");
    f = open_bytes(b, TAMIS_FOREIGN_AUTO);
    x = facts_of(f);
    CHECK(x.links == 3 && x.items == 59 && x.planned_items == 70 && x.m == 768 && x.k == 8);
    CHECK(x.fpr_planned == 0.05);
    tamis_foreign_close(f);
    free(b.p);
    b = read_foreign("guava-mitz32.guava");
    f = open_bytes(b, TAMIS_FOREIGN_GUAVA);
    x = facts_of(f);
    CHECK(x.strategy == 0 && !x.items_known && x.m == 1280 && x.k == 4 && isnan(x.fpr_planned));
    tamis_foreign_close(f);
    free(b.p);
}

/* --- Made here: the bytes of the programs ----------------------------------------------------- */

static void test_same_as_dcso(void)
{
    tamis_foreign *f = make(TAMIS_FOREIGN_DCSO, 300, 0.1);
    for (int i = 1; i <= 300; i++) {
        char key[16];
        CHECK_OK(tamis_foreign_add(f, key, (size_t)snprintf(key, sizeof key, "key-%d", i), NULL));
    }
    struct bytes b = read_foreign("dcso.bloom"), ours = written(f, TAMIS_FOREIGN_AUTO, b.n);
    CHECK_THAT(ours.n, ==, b.n - 26);
    CHECK(memcmp(ours.p, b.p, ours.n) == 0);
    tamis_foreign_close(f);
    free(ours.p);
    free(b.p);
}

static void test_same_as_guava(void)
{
    tamis_foreign *f = make(TAMIS_FOREIGN_GUAVA, 200, 0.05);
    for (int64_t i = 0; i < 200; i++) {
        uint8_t key[8];
        tamis__put64(key, (uint64_t)(i * i * i - 1000));
        CHECK_OK(tamis_foreign_add(f, key, sizeof key, NULL));
    }
    struct bytes b = read_foreign("guava-long.guava"), ours = written(f, TAMIS_FOREIGN_AUTO, b.n);
    CHECK(bytes_equal(b, ours));
    tamis_foreign_close(f);
    free(ours.p);
    free(b.p);
}

static bool add_asked(void *ctx, const void *key, size_t len)
{
    tamis_foreign **f = ctx; /* the program's, and ours */
    const bool there = tamis_foreign_may_contain(f[0], key, len);
    if (there) CHECK_OK(tamis_foreign_add(f[1], key, len, NULL));
    return there;
}

static void test_same_as_redisbloom(void)
{
    struct bytes b = read_foreign("redisbloom-default.chunks");
    tamis_foreign *f[2] = {open_bytes(b, TAMIS_FOREIGN_REDISBLOOM),
                           make(TAMIS_FOREIGN_REDISBLOOM, 100, 0.01)};
    check_answers("redisbloom-default.answers", TEXT, add_asked, f);
    struct bytes ours = written(f[1], TAMIS_FOREIGN_AUTO, b.n);
    CHECK(bytes_equal(b, ours));
    tamis_foreign_close(f[0]);
    tamis_foreign_close(f[1]);
    free(ours.p);
    free(b.p);
}

static void test_shapes(void)
{
    tamis_foreign *f = make(TAMIS_FOREIGN_DCSO, 1000, 0.01);
    CHECK(facts_of(f).m == 9585 && facts_of(f).k == 7);
    tamis_foreign_close(f);
    f = make(TAMIS_FOREIGN_REDISBLOOM, 100, 0.01); /* RedisBloom/RedisBloom#317 */
    CHECK(facts_of(f).m == 1152 && facts_of(f).k == 8);
    tamis_foreign_close(f);
    /* Never a power of two for DCSO, whatever is asked. */
    unsigned bumped = 0;
    for (uint64_t n = 1; n <= 6000; n++) {
        f = make(TAMIS_FOREIGN_DCSO, n, 0.3);
        const uint64_t m = facts_of(f).m;
        CHECK((m & (m - 1)) != 0 && !facts_of(f).weak);
        const double natural = floor(-(double)n * log(0.3) / (log(2) * log(2)));
        bumped += (double)m != natural;
        tamis_foreign_close(f);
    }
    CHECK(bumped > 0 && bumped < 20);
}

/* Bits per key of the Parquet format's own table, of a filter of 2^20 bytes: 2 % fewer keys have
 * room, 2 % more have not. */
static void test_sbbf_sizes(void)
{
    static const struct {
        double rate, bits;
    } TABLE[] = {{0.1, 6.0}, {0.01, 10.5}, {0.001, 16.9}, {0.0001, 26.4}, {0.00001, 41}};
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        const double keys = 8 * 1048576 / TABLE[i].bits;
        tamis_foreign *fits = make(TAMIS_FOREIGN_PARQUET, (uint64_t)(keys * 0.98), TABLE[i].rate),
                      *over = make(TAMIS_FOREIGN_PARQUET, (uint64_t)(keys * 1.02), TABLE[i].rate);
        CHECK_THAT(facts_of(fits).bytes, ==, 1048576);
        CHECK_THAT(facts_of(over).bytes, ==, 2097152);
        tamis_foreign_close(fits);
        tamis_foreign_close(over);
    }
}

/* lgamma, of which the sizes once were made, writes to a variable of the whole process. */
static void test_no_global(void)
{
    volatile double half = 0.5; /* which the compiler must not work out itself */
    signgam = 99;
    tamis_foreign_close(make(TAMIS_FOREIGN_PARQUET, 1000, 0.01));
    CHECK_THAT(signgam, ==, 99);
    CHECK(lgamma(half) > 0 && signgam == 1); /* had it been called, this would have shown */
}

/* Every added key is found, and among 200,000 others as many as the bits predict, within 6.2
 * standard deviations: a probability of 6e-10 for each format. The probes of DCSO are not
 * independent, so it gets another tenth. */
static void test_rates(void)
{
    for (uint32_t format = TAMIS_FOREIGN_PARQUET; format <= TAMIS_FOREIGN_GUAVA; format++) {
        enum { ADDED = 20000, ASKED = 200000 };
        tamis_foreign *f = make(format, ADDED, 0.01);
        char key[KEY_MAX];
        uint64_t found = 0;
        for (uint64_t i = 0; i < ADDED; i++)
            CHECK_OK(tamis_foreign_add(f, key, make_key(KEY_URL, i, key), NULL));
        for (uint64_t i = 0; i < ADDED; i++)
            CHECK(tamis_foreign_may_contain(f, key, make_key(KEY_URL, i, key)));
        for (uint64_t i = ADDED; i < ADDED + ASKED; i++)
            found += tamis_foreign_may_contain(f, key, make_key(KEY_URL, i, key));
        const tamis_foreign_facts x = facts_of(f);
        const double expected = x.fpr_now * ASKED;
        const double slack =
            6.2 * sqrt(expected) + (format == TAMIS_FOREIGN_DCSO ? 0.1 * expected : 0);
        CHECK(x.fpr_now > 0.001 && x.fpr_now < 0.011);
        CHECK_THAT(fabs((double)found - expected), <=, slack);
        CHECK_THAT(fabs(x.items_estimate - ADDED), <=, 0.02 * ADDED);
        tamis_foreign_close(f);
    }
}

/* --- Traps ------------------------------------------------------------------------------------ */

static void test_sbbf_header(void)
{
    static const uint8_t expected[16] = {0x15, 0x80, 0x02, 0x1c, 0x1c, 0, 0, 0x1c,
                                         0x1c, 0,    0,    0x1c, 0x1c, 0, 0, 0};
    tamis_foreign *f = make(TAMIS_FOREIGN_PARQUET, 90, 0.01), *again;
    struct bytes b = written(f, TAMIS_FOREIGN_AUTO, 200);
    CHECK(b.n == 16 + 128 && memcmp(b.p, expected, 16) == 0);
    /* As parquetjs writes it, which does not hash as the format says: never a "no". */
    static const uint8_t unnamed[10] = {0x15, 0x80, 0x02, 0x1c, 0, 0x1c, 0, 0x1c, 0, 0};
    struct bytes js = bytes_new(10 + 128);
    memset(js.p, 0, js.n);
    memcpy(js.p, unnamed, 10);
    again = open_bytes(js, TAMIS_FOREIGN_AUTO);
    CHECK(!tamis_foreign_is_certain(again) && tamis_foreign_is_certain(f));
    CHECK(facts_of(again).unnamed_hash && facts_of(again).fpr_now == 1);
    CHECK(tamis_foreign_may_contain(again, "x", 1) && ask_filter(again, "y", 1));
    struct bytes js_again = written(again, TAMIS_FOREIGN_AUTO, js.n);
    CHECK(bytes_equal(js, js_again));
    tamis_foreign_close(again);
    /* Another hash, of times to come: member 2 of its union. */
    tamis_error why;
    b.p[8] = 0x2c;
    CHECK(tamis_foreign_open(b.p, b.n, TAMIS_FOREIGN_AUTO, NULL, &again, &why) ==
          TAMIS_EUNSUPPORTED);
    CHECK(again == NULL && why.text[0] != '\0');
    free(js_again.p);
    free(js.p);
    free(b.p);
    tamis_foreign_close(f);
}

/* Blocks that are full do not make the rest uncountable; only when all are is nothing known. */
static void test_sbbf_full_blocks(void)
{
    tamis_foreign *f = make(TAMIS_FOREIGN_PARQUET, 1000, 0.01);
    struct link *l = &f->links[0];
    char key[KEY_MAX];
    CHECK(l->bytes >= 64);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_OK(tamis_foreign_add(f, key, make_key(KEY_URL, i, key), NULL));
    const double before = facts_of(f).items_estimate;
    memset(l->own, 0xff, 32);
    const double with_one = facts_of(f).items_estimate;
    /* A full block counts as one with 255.5 of 256 bits, for log(1/512) / log(31/32) = 196.5
     * keys. */
    CHECK(with_one > before && with_one < before + 197);
    l->own[31] = 0x7f; /* the most that a block can have without being full: 174.7 keys */
    CHECK_THAT(facts_of(f).items_estimate, <, with_one);
    memset(l->own, 0xff, l->bytes);
    CHECK(isinf(facts_of(f).items_estimate) && facts_of(f).fpr_now == 1);
    l->own[l->bytes - 1] = 0;
    CHECK(isfinite(facts_of(f).items_estimate));
    tamis_foreign_close(f);
}

/* A size that is a power of two is reported, because the hash of DCSO does not reach there the
 * rate that the bits promise. */
static void test_weak_dcso(void)
{
    enum { ADDED = 1700, ASKED = 100000 };
    struct bytes b = bytes_new(48 + 2048);
    char key[KEY_MAX];
    uint64_t found = 0;
    memset(b.p, 0, b.n);
    b.p[0] = 1;
    tamis__put64(b.p + 8, ADDED);
    tamis__put64(b.p + 16, UINT64_C(0x3f847ae147ae147b)); /* 0.01 */
    tamis__put64(b.p + 24, 7);
    tamis__put64(b.p + 32, 16384);
    tamis_foreign *f = open_bytes(b, TAMIS_FOREIGN_AUTO);
    CHECK(facts_of(f).weak && facts_of(f).planned_items == ADDED);
    CHECK(tamis_foreign_add(f, "x", 1, NULL) == TAMIS_ESEALED);
    f->links[0].own = b.p + 48; /* as its own program would fill it */
    f->links[0].capacity = UINT64_MAX;
    for (uint64_t i = 0; i < ADDED; i++)
        CHECK_OK(tamis_foreign_add(f, key, make_key(KEY_TEXT, i, key), NULL));
    for (uint64_t i = ADDED; i < ADDED + ASKED; i++)
        found += tamis_foreign_may_contain(f, key, make_key(KEY_TEXT, i, key));
    CHECK_THAT(facts_of(f).fpr_now, <, 0.011);
    CHECK_THAT((double)found / ASKED, >, 0.2);
    tamis_foreign_close(f);
    free(b.p);
}

/* Bits under one hash are not those of another. */
static void test_no_conversion(void)
{
    for (uint32_t from = TAMIS_FOREIGN_PARQUET; from <= TAMIS_FOREIGN_GUAVA; from++) {
        tamis_foreign *f = make(from, 10, 0.01);
        for (uint32_t to = TAMIS_FOREIGN_PARQUET; to <= TAMIS_FOREIGN_GUAVA; to++) {
            const bool redis = from == TAMIS_FOREIGN_REDISBLOOM || from == TAMIS_FOREIGN_REDIS_DUMP;
            const bool can =
                from == to ||
                (redis && (to == TAMIS_FOREIGN_REDISBLOOM || to == TAMIS_FOREIGN_REDIS_DUMP));
            struct bytes_sink s = {bytes_new(1000), 0};
            tamis_error why;
            const tamis_status got = tamis_foreign_write(f, to, bytes_put, &s, &why);
            CHECK(got == (can ? TAMIS_OK : TAMIS_EUNSUPPORTED));
            CHECK(can || (s.at == 0 && strstr(why.text, "keys") != NULL));
            free(s.to.p);
        }
        CHECK(tamis_foreign_write(f, 99, bytes_put, NULL, NULL) == TAMIS_EINVAL);
        tamis_foreign_close(f);
    }
}

static void test_limits(void)
{
    tamis_foreign *f;
    tamis_foreign_plan plan = {sizeof plan, TAMIS_FOREIGN_REDISBLOOM, 3, 0.01};
    size_t done;
    const tamis_bytes keys[5] = {{"a", 1}, {"b", 1}, {"a", 1}, {"c", 1}, {"d", 1}};
    uint8_t seen;
    CHECK_OK(tamis_foreign_create(&plan, NULL, &f, NULL));
    CHECK(tamis_foreign_add_many(f, keys, 5, &seen, &done) == TAMIS_EFULL && done == 4);
    CHECK(seen == 4 && facts_of(f).items == 3);
    CHECK_OK(tamis_foreign_add(f, "b", 1, NULL)); /* it is in already */
    CHECK(!tamis_foreign_may_contain(f, "d", 1));
    tamis_foreign_close(f);
    const tamis_options small = {.struct_size = sizeof small, .max_bytes = 1000};
    plan.items = 10000;
    CHECK(tamis_foreign_create(&plan, &small, &f, NULL) == TAMIS_ENOMEM && f == NULL);
    plan.format = TAMIS_FOREIGN_PARQUET;
    plan.items = UINT64_C(1) << 40;
    CHECK(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_EINVAL);
    plan.format = TAMIS_FOREIGN_GUAVA;
    CHECK(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_EINVAL);
    plan.items = 0;
    CHECK(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_EINVAL);
    plan.items = 10;
    plan.fpr = 1;
    CHECK(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_EINVAL);
    plan.fpr = 0.1;
    plan.format = TAMIS_FOREIGN_AUTO;
    CHECK(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_EINVAL);
    plan.struct_size--;
    CHECK(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_EINVAL);
    CHECK(tamis_foreign_open("", 0, 99, NULL, &f, NULL) == TAMIS_EINVAL);
    CHECK(tamis_foreign_named("dcso") == TAMIS_FOREIGN_DCSO);
    CHECK(tamis_foreign_named("bloom") == TAMIS_FOREIGN_AUTO && tamis_foreign_name(0) == NULL);
}

static void test_save(void)
{
    const char *build = getenv("TAMIS_BUILD");
    char path[512];
    tamis_error why;
    snprintf(path, sizeof path, "%s/foreign-save-test.bloom", build != NULL ? build : ".");
    unlink(path);
    tamis_foreign *f = make(TAMIS_FOREIGN_DCSO, 100, 0.01);
    CHECK_OK(tamis_foreign_save(f, TAMIS_FOREIGN_AUTO, path, SAVING(TAMIS_SAVE_NEW), &why));
    CHECK(tamis_foreign_save(f, TAMIS_FOREIGN_AUTO, path, SAVING(TAMIS_SAVE_NEW), &why) ==
          TAMIS_EIO);
    CHECK(why.os == EEXIST);
    CHECK_OK(tamis_foreign_save(f, TAMIS_FOREIGN_AUTO, path, NULL, &why));
    /* What cannot be written leaves what was there. */
    CHECK(tamis_foreign_save(f, TAMIS_FOREIGN_GUAVA, path, NULL, &why) == TAMIS_EUNSUPPORTED);
    struct bytes ours = written(f, TAMIS_FOREIGN_AUTO, 1000);
    FILE *file = fopen(path, "rb");
    uint8_t there[1000];
    CHECK(file != NULL && fread(there, 1, sizeof there, file) == ours.n);
    CHECK(memcmp(there, ours.p, ours.n) == 0);
    fclose(file);
    unlink(path);
    free(ours.p);
    tamis_foreign_close(f);
}

/* A full disk is reported with the reason of the system, for every format. */
static void test_no_room(void)
{
    const char *build = getenv("TAMIS_BUILD");
    char path[512];
    struct rlimit before, small;
    snprintf(path, sizeof path, "%s/foreign-no-room-test.bloom", build != NULL ? build : ".");
    unlink(path);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error, then, and no death */
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    for (uint32_t format = TAMIS_FOREIGN_PARQUET; format <= TAMIS_FOREIGN_GUAVA; format++) {
        tamis_foreign *f = make(format, 10000, 0.01);
        tamis_error why = {0};
        small = before;
        small.rlim_cur = 1000;
        CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
        const tamis_status s =
            tamis_foreign_save(f, TAMIS_FOREIGN_AUTO, path, SAVING(TAMIS_SAVE_NEW), &why);
        CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
        CHECK(s == TAMIS_EIO && why.status == TAMIS_EIO && why.os == EFBIG);
        CHECK(strstr(why.text, strerror(EFBIG)) != NULL && access(path, F_OK) != 0);
        tamis_foreign_close(f);
    }
}

/* A sink that tells nothing but a status: not the reason of an earlier error, either. */
static void test_sink_fails(void)
{
    tamis_foreign *f = make(TAMIS_FOREIGN_DCSO, 100, 0.01);
    tamis_status fails = TAMIS_EIO;
    tamis_error why = {.status = TAMIS_EIO, .os = ENOENT, .text = "of earlier times"};
    CHECK(tamis_foreign_write(f, TAMIS_FOREIGN_AUTO, put_fails, &fails, &why) == TAMIS_EIO);
    CHECK(why.status == TAMIS_EIO && why.os == 0 && strstr(why.text, "writing") != NULL);
    CHECK(tamis_foreign_write(f, TAMIS_FOREIGN_AUTO, put_fails, &fails, NULL) == TAMIS_EIO);
    tamis_foreign_close(f);
}

/* Many keys at once, with absent ones among them, in groups that do not fit the inner ones. */
static void test_many(void)
{
    enum { N = 1001 };
    static char text[N][KEY_MAX];
    static tamis_bytes keys[N];
    uint8_t bits[N / 8 + 1];
    for (size_t i = 0; i < N; i++) keys[i] = (tamis_bytes){text[i], make_key(KEY_TEXT, i, text[i])};
    for (uint32_t format = TAMIS_FOREIGN_PARQUET; format <= TAMIS_FOREIGN_GUAVA; format++) {
        tamis_foreign *f = make(format, N, 0.1);
        for (size_t i = 0; i < N; i += 2)
            CHECK_OK(tamis_foreign_add(f, text[i], keys[i].len, NULL));
        for (size_t n = 0; n <= N; n += 77) {
            size_t found = 0;
            memset(bits, 0xff, sizeof bits);
            const size_t got = tamis_foreign_may_contain_many(f, keys, n, bits);
            for (size_t i = 0; i < n; i++) {
                const bool maybe = tamis_foreign_may_contain(f, text[i], keys[i].len);
                CHECK((bits[i / 8] >> i % 8 & 1) == maybe);
                found += maybe;
            }
            CHECK(got == found && tamis_foreign_may_contain_many(f, keys, n, NULL) == found);
            CHECK(n % 8 == 0 || bits[n / 8] >> n % 8 == 0);
        }
        tamis_foreign_close(f);
    }
}

static const struct test tests[] = {
    {"hashes", test_hashes},
    {"the programs' answers", test_answers},
    {"told by content", test_detection},
    {"bytes unchanged", test_unchanged},
    {"facts", test_facts},
    {"same bytes as DCSO", test_same_as_dcso},
    {"same bytes as Guava", test_same_as_guava},
    {"same bytes as RedisBloom", test_same_as_redisbloom},
    {"shapes", test_shapes},
    {"sizes of Parquet's filters", test_sbbf_sizes},
    {"no global variable", test_no_global},
    {"rates", test_rates},
    {"Parquet's header", test_sbbf_header},
    {"full blocks of Parquet's", test_sbbf_full_blocks},
    {"a weak DCSO filter", test_weak_dcso},
    {"no conversion", test_no_conversion},
    {"limits", test_limits},
    {"saving", test_save},
    {"saving without room", test_no_room},
    {"a sink that fails", test_sink_fails},
    {"many keys", test_many},
};
TEST_MAIN(tests)
