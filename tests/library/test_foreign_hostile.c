/* Damaged files of other programs: any bytes give an error with a reason, or a filter on which
 * every verb is safe, and take no more memory than they justify. Meant to run under ASan and
 * UBSan, too. */
#define _POSIX_C_SOURCE 200809L
#include "../support/foreign.h"
#include "../support/tracking.h"

#include <math.h>

static const char *const NAMES[] = {
    "dcso.bloom",
    "guava-long.guava",
    "guava-mitz32.guava",
    "redisbloom-chain.chunks",
    "redisbloom-chain.dump",
    "redisbloom-default.dump",
    "sbbf", /* cut out of duckdb.parquet */
};
#define N_NAMES (sizeof NAMES / sizeof *NAMES)

static struct bytes file_named(const char *name)
{
    if (strcmp(name, "sbbf") != 0) return read_foreign(name);
    struct bytes b = read_foreign("duckdb.parquet");
    const tamis_reader file = reader_of(&b);
    tamis_parquet *p;
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    CHECK_OK(tamis_parquet_open(&file, NULL, &p, NULL));
    CHECK_OK(tamis_parquet_chunk_at(p, 1, &c));
    tamis_parquet_close(p);
    struct bytes cut = bytes_copy(b.p + c.offset, c.length);
    free(b.p);
    return cut;
}

static tamis_status put_nothing(void *ctx, const void *p, size_t n)
{
    *(size_t *)ctx += n + (p == NULL);
    return TAMIS_OK;
}

static void check_verbs(tamis_foreign *f, size_t size)
{
    tamis_foreign_facts x = {.struct_size = sizeof x};
    size_t length = 0;
    CHECK_OK(tamis_foreign_info(f, &x));
    CHECK(x.fill >= 0 && x.fill <= 1 && x.fpr_now >= 0 && x.fpr_now <= 1);
    CHECK(x.items_estimate >= 0 && x.k >= 1 && x.m >= 1 && x.links >= 1);
    for (uint32_t i = 0; i < 20; i++) tamis_foreign_may_contain(f, &i, i % 5);
    CHECK(tamis_foreign_add(f, "x", 1, NULL) == TAMIS_ESEALED);
    CHECK_OK(tamis_foreign_write(f, TAMIS_FOREIGN_AUTO, put_nothing, &length, NULL));
    CHECK(length >= x.bytes && length <= 89 * size + 1024);
}

/* Under every name; how many let it in. */
static unsigned opened(struct bytes b)
{
    unsigned n = 0;
    for (uint32_t format = TAMIS_FOREIGN_AUTO; format <= TAMIS_FOREIGN_GUAVA; format++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        tamis_foreign *f = (tamis_foreign *)(uintptr_t)1;
        tamis_error why = {0};
        const tamis_status s = tamis_foreign_open(b.p, b.n, format, &o, &f, &why);
        CHECK(s == TAMIS_OK || s == TAMIS_ECORRUPT || s == TAMIS_EUNSUPPORTED);
        CHECK((s == TAMIS_OK) == (f != NULL) && (s == TAMIS_OK || why.text[0] != '\0'));
        if (f != NULL) check_verbs(f, b.n);
        tamis_foreign_close(f);
        CHECK_THAT(a.blocks, ==, 0);
        CHECK_THAT(a.peak, <=, 90 * b.n + 4096);
        n += s == TAMIS_OK;
    }
    return n;
}

/* The CRC of a DUMP, bit by bit, as a second opinion of the one in the library. */
static void repair_dump(struct bytes b)
{
    uint64_t v = 0;
    if (b.n < 10) return;
    for (size_t i = 0; i < b.n - 8; i++) {
        v ^= b.p[i];
        for (int bit = 0; bit < 8; bit++) v = v >> 1 ^ (v & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
    }
    tamis__put64(b.p + b.n - 8, v);
}

static void test_truncation(void)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        struct bytes b = file_named(NAMES[i]);
        CHECK(opened(b) > 0);
        for (size_t n = 0; n < b.n; n++) {
            struct bytes cut = bytes_copy(b.p, n);
            /* What is attached to a DCSO filter has no length of its own. */
            CHECK(opened(cut) == 0 || (i == 0 && n >= b.n - 26));
            repair_dump(cut);
            if (i != 0) CHECK(opened(cut) == 0);
            free(cut.p);
        }
        free(b.p);
    }
}

static void test_behind(void)
{
    for (size_t i = 1; i < N_NAMES; i++) { /* behind a DCSO filter anything may be */
        struct bytes b = file_named(NAMES[i]);
        for (size_t more = 1; more < 20; more++) {
            struct bytes longer = bytes_new(b.n + more);
            memset(longer.p, 0, longer.n);
            memcpy(longer.p, b.p, b.n);
            CHECK_THAT(opened(longer), ==, 0);
            free(longer.p);
        }
        free(b.p);
    }
}

static void test_mutation(void)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        struct bytes b = file_named(NAMES[i]);
        const bool is_dump = strstr(NAMES[i], ".dump") != NULL;
        for (size_t at = 0; at < b.n; at++)
            for (unsigned flip = 1; flip < 256; flip += at < 128 ? 1 : 19) {
                struct bytes bent = bytes_copy(b.p, b.n);
                bent.p[at] ^= (uint8_t)flip;
                const unsigned n = opened(bent);
                CHECK(!is_dump || n == 0); /* it alone has a sum */
                if (is_dump) {
                    repair_dump(bent);
                    opened(bent);
                }
                free(bent.p);
            }
        free(b.p);
    }
}

/* Numbers that once made other readers allocate, spin or read on. */
static void test_numbers(void)
{
    static const uint64_t HARD[] = {0,
                                    1,
                                    63,
                                    UINT64_C(1) << 31,
                                    UINT64_C(1) << 32,
                                    UINT64_C(1) << 61,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX - 63,
                                    UINT64_MAX - 7,
                                    UINT64_MAX,
                                    UINT64_C(0x7ff8000000000000),  /* NaN */
                                    UINT64_C(0x7ff0000000000000),  /* infinity */
                                    UINT64_C(0x8000000000000001)}; /* just below zero */
    for (size_t i = 0; i < N_NAMES; i++) {
        struct bytes b = file_named(NAMES[i]);
        for (size_t at = 0; at + 8 <= b.n && at < 200; at++)
            for (size_t j = 0; j < sizeof HARD / sizeof *HARD; j++) {
                struct bytes bent = bytes_copy(b.p, b.n);
                tamis__put64(bent.p + at, HARD[j]);
                opened(bent);
                repair_dump(bent);
                opened(bent);
                free(bent.p);
            }
        free(b.p);
    }
}

/* The DUMP of a link of so many bits in 8 bytes, with these as its string. */
static struct bytes dump_with(uint8_t m, const uint8_t *string, size_t n)
{
    const uint8_t before[] = {
        7,    0x81, 0x30, 0x16, 0xe5, 0xa2, 0x89, 0xbe, 0xf8, 4,    2,    1,    2,    1, 2, 5,
        2,    2,    2,    6,    4,    0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x74, 0x3f, 2, 8, 4,
        0xe9, 0x86, 0x2f, 0xb2, 0x35, 0x0e, 0x26, 0x40, 2,    0x40, m,    2,    0,    5};
    static const uint8_t after[] = {2, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct bytes b = bytes_new(sizeof before + n + sizeof after);
    memcpy(b.p, before, sizeof before);
    memcpy(b.p + sizeof before, string, n);
    memcpy(b.p + sizeof before + n, after, sizeof after);
    repair_dump(b);
    return b;
}

/* Redis' strings may be packed: everything that unpacks to another length is refused. */
static void test_packed_strings(void)
{
    static const struct {
        uint8_t string[12], n;
        bool good;
    } CASES[] = {
        {{8, 1, 2, 3, 4, 5, 6, 7, 8}, 9, true},        /* plain */
        {{0xc3, 4, 8, 0, 1, 0xa0, 0}, 7, true},        /* 1, and 7 copies of it */
        {{0xc3, 5, 8, 0, 1, 0xe0, 0, 0}, 8, false},    /* 9 copies: too many */
        {{0xc3, 4, 8, 0, 1, 0x80, 0}, 7, false},       /* 6 copies: too few */
        {{0xc3, 4, 8, 0, 1, 0xa0, 1}, 7, false},       /* from before the beginning */
        {{0xc3, 3, 8, 0, 1, 0xa0}, 6, false},          /* cut off in a copy */
        {{0xc3, 2, 8, 0, 1}, 5, false},                /* one byte, not eight */
        {{0xc3, 2, 8, 9, 1}, 5, false},                /* ten bytes, of which one is there */
        {{0xc3, 1, 0xc0, 8, 1}, 5, false},             /* an invalid length */
        {{0xc3, 1, 0x80, 0x40, 0, 0, 0, 1}, 8, false}, /* a gigabyte from one byte */
        {{0xc0, 1}, 2, false},                         /* a number */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct bytes b = dump_with(64, CASES[i].string, CASES[i].n);
        CHECK((opened(b) > 0) == CASES[i].good);
        free(b.p);
    }
}

/* The same of 58 bits: none of the six behind them may be set, packed or not. */
static void test_packed_past_end(void)
{
    static const struct {
        uint8_t string[12], n;
        bool good;
    } CASES[] = {
        {{8, 1, 2, 3, 4, 5, 6, 7, 3}, 9, true},
        {{8, 1, 2, 3, 4, 5, 6, 7, 4}, 9, false},
        {{0xc3, 4, 8, 0, 3, 0xa0, 0}, 7, true}, /* 3, and 7 copies of it */
        {{0xc3, 4, 8, 0, 4, 0xa0, 0}, 7, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct bytes b = dump_with(58, CASES[i].string, CASES[i].n);
        CHECK((opened(b) > 0) == CASES[i].good);
        free(b.p);
    }
}

/* Every allocation fails once. */
static void test_no_memory(void)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        struct bytes b = file_named(NAMES[i]);
        const uint32_t format =
            strstr(NAMES[i], "guava") != NULL ? TAMIS_FOREIGN_GUAVA : TAMIS_FOREIGN_AUTO;
        for (size_t at = 1;; at++) {
            struct tracker a;
            tracker_init(&a);
            a.fail_at = at;
            const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
            tamis_foreign *f;
            const tamis_status s = tamis_foreign_open(b.p, b.n, format, &o, &f, NULL);
            CHECK(s == (a.failed ? TAMIS_ENOMEM : TAMIS_OK));
            tamis_foreign_close(f);
            CHECK(a.blocks == 0 && at < 5);
            if (s == TAMIS_OK) break;
        }
        free(b.p);
    }
}

static const struct test tests[] = {
    {"truncation", test_truncation},
    {"something behind", test_behind},
    {"mutation", test_mutation},
    {"hard numbers", test_numbers},
    {"packed strings", test_packed_strings},
    {"packed bits past the end", test_packed_past_end},
    {"no memory", test_no_memory},
};
TEST_MAIN(tests)
