/* RedisBloom's filters, as chunks and as DUMP: contents that RedisBloom never writes, and how
 * the two forms are distinguished from each other and from other files. */
#define _POSIX_C_SOURCE 200809L
#include "../support/foreign.h"
#include "foreign/foreign.h"

/* The first eight bytes of a RedisBloom filter are its items, and DCSO's are 1: with one item it is
 * still RedisBloom's. */
static void test_one_item(void)
{
    struct bytes b = read_foreign("redisbloom-fixed.chunks"), dcso = read_foreign("dcso.bloom");
    CHECK(tamis__get32(b.p + 8) == 1); /* link */
    tamis__put64(b.p, 1);
    tamis__put64(b.p + 20 + 16, 1);
    tamis_foreign *f = open_bytes(b, TAMIS_FOREIGN_AUTO);
    CHECK(facts_of(f).format == TAMIS_FOREIGN_REDISBLOOM && facts_of(f).items == 1);
    tamis_foreign_close(f);
    /* With 2^35 bits even the fields that DCSO has next are possible. */
    tamis__put64(b.p + 20, UINT64_C(1) << 32);
    tamis__put64(b.p + 28, UINT64_C(1) << 35);
    CHECK_THAT(tamis_foreign_detect(b.p, 73), ==, TAMIS_FOREIGN_REDISBLOOM);
    /* Nor is it a DCSO filter with a rate, probes or bits that none has. */
    CHECK_THAT(tamis_foreign_detect(dcso.p, 48), ==, TAMIS_FOREIGN_DCSO);
    static const struct {
        size_t at;
        uint64_t v;
    } WRONG[] = {{16, 0}, {16, UINT64_C(0x3ff0000000000000)}, {24, 0}, {24, 1076}, {32, 0}};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct bytes bent = bytes_copy(dcso.p, dcso.n);
        tamis__put64(bent.p + WRONG[i].at, WRONG[i].v);
        CHECK_THAT(tamis_foreign_detect(bent.p, bent.n), ==, TAMIS_FOREIGN_AUTO);
        tamis_error why; /* but one who names the format learns what is wrong with it */
        CHECK(tamis_foreign_open(bent.p, bent.n, TAMIS_FOREIGN_DCSO, NULL, &f, &why) ==
              TAMIS_ECORRUPT);
        CHECK_THAT(why.offset, ==, WRONG[i].at);
        free(bent.p);
    }
    free(dcso.p);
    free(b.p);
}

static void test_redis_traps(void)
{
    struct bytes b = read_foreign("redisbloom-default.chunks"), bent = bytes_copy(b.p, b.n);
    tamis_foreign *f;
    tamis_error why;
    /* The header alone, which is what replicas were once sent. */
    CHECK(tamis_foreign_open(b.p, 73, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) == TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "chunks") != NULL);
    bent.p[12] = 1; /* hashes of 32 bits */
    CHECK(tamis_foreign_open(bent.p, b.n, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) ==
          TAMIS_EUNSUPPORTED);
    bent.p[12] = 5;
    tamis__put32(bent.p + 20 + 40, UINT32_C(1) << 31); /* probes that would never end */
    CHECK(tamis_foreign_open(bent.p, b.n, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) ==
          TAMIS_ECORRUPT);
    tamis__put32(bent.p + 20 + 40, 8);
    tamis__put32(bent.p + 8, UINT32_MAX); /* links */
    CHECK(tamis_foreign_open(bent.p, b.n, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) ==
          TAMIS_ECORRUPT);
    free(bent.p);
    free(b.p);
    /* redis-cli --raw puts a newline behind the payload. */
    b = read_foreign("redisbloom-chain.dump");
    bent = bytes_new(b.n + 1);
    memcpy(bent.p, b.p, b.n);
    bent.p[b.n] = '\n';
    f = open_bytes(bent, TAMIS_FOREIGN_REDISBLOOM);
    check_answers("redisbloom-chain.answers", TEXT, ask_filter, f);
    tamis_foreign_close(f);
    bent.p[b.n] = ' ';
    CHECK(tamis_foreign_open(bent.p, bent.n, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) ==
          TAMIS_ECORRUPT);
    free(bent.p);
    free(b.p);
}

/* A DUMP under the name of redisbloom: what is wrong with it is said of a DUMP. */
static void test_dump_as_redisbloom(void)
{
    struct bytes b = read_foreign("redisbloom-chain.dump"), bent = bytes_copy(b.p, b.n);
    const tamis_options small = {.struct_size = sizeof small, .max_bytes = 1};
    tamis_foreign *f;
    tamis_error why;
    CHECK(tamis_foreign_open(b.p, b.n - 1, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) ==
          TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "DUMP") != NULL);
    bent.p[9] = 5; /* a layout of later times: the low bits of the id */
    CHECK(tamis_foreign_open(bent.p, b.n, TAMIS_FOREIGN_REDISBLOOM, NULL, &f, &why) ==
          TAMIS_EUNSUPPORTED);
    CHECK(why.status == TAMIS_EUNSUPPORTED && strstr(why.text, "layout") != NULL);
    free(bent.p);
    free(b.p);
    b = read_foreign("redisbloom-default.dump"); /* packed, so that it takes memory */
    CHECK(tamis_foreign_open(b.p, b.n, TAMIS_FOREIGN_REDISBLOOM, &small, &f, &why) == TAMIS_ENOMEM);
    CHECK(why.status == TAMIS_ENOMEM && f == NULL);
    free(b.p);
}

/* Redis takes a payload of 512 MiB, and not a byte more: what stands around the bits counts. */
static void test_dump_limit(void)
{
    const uint64_t limit = UINT64_C(512) << 20;
    tamis_foreign *f = make(TAMIS_FOREIGN_REDISBLOOM, 10, 0.01);
    tamis_status fails = TAMIS_EIO; /* before the bits, of which so many are not there */
    tamis_error why;
    const uint64_t bytes = f->links[0].bytes;
    f->links[0].bytes = limit - 128;
    CHECK(tamis_foreign_write(f, TAMIS_FOREIGN_REDIS_DUMP, put_fails, &fails, &why) == TAMIS_EIO);
    f->links[0].bytes = limit - 120;
    CHECK(tamis_foreign_write(f, TAMIS_FOREIGN_REDIS_DUMP, put_fails, &fails, &why) ==
          TAMIS_EUNSUPPORTED);
    CHECK(strstr(why.text, "512 MB") != NULL);
    f->links[0].bytes = bytes;
    /* The greatest numbers there are have room in the 128 bytes. */
    f->items = f->links[0].items = f->links[0].capacity = UINT64_MAX;
    f->options = f->growth = UINT32_MAX;
    f->links[0].k = MOST_PROBES;
    f->links[0].m = UINT64_MAX;
    struct bytes b = written(f, TAMIS_FOREIGN_REDIS_DUMP, bytes + 200);
    CHECK_THAT(b.n, <=, bytes + 128);
    free(b.p);
    tamis_foreign_close(f);
}

/* The last bits of the last word may be past the end; no key sets them, and they would be
 * counted. */
static void test_redis_bits_past_end(void)
{
    struct bytes b = read_foreign("redisbloom-default.chunks");
    uint8_t *bits = b.p + 73, *last = b.p + b.n - 8;
    const uint64_t m = tamis__get64(b.p + 28);
    tamis_foreign *f;
    tamis_error why;
    CHECK(m == 8 * (b.n - 73) && m % 64 == 0);
    memset(bits, 0xff, b.n - 73);
    for (uint64_t less = 1; less < 64; less++) {
        tamis__put64(b.p + 28, m - less);
        tamis__put64(last, UINT64_MAX >> less);
        f = open_bytes(b, TAMIS_FOREIGN_REDISBLOOM);
        CHECK(facts_of(f).fill == 1 && facts_of(f).fpr_now == 1);
        /* Redis' DUMP has the same bits. */
        struct bytes dump = written(f, TAMIS_FOREIGN_REDIS_DUMP, b.n + 100);
        tamis_foreign *same = open_bytes(dump, TAMIS_FOREIGN_REDIS_DUMP);
        CHECK(facts_of(same).fill == 1);
        tamis_foreign_close(same);
        free(dump.p);
        for (uint64_t bit = 64 - less; bit < 64; bit++) {
            tamis__put64(last, UINT64_MAX >> less | UINT64_C(1) << bit);
            tamis_foreign *bad;
            CHECK(tamis_foreign_open(b.p, b.n, TAMIS_FOREIGN_REDISBLOOM, NULL, &bad, &why) ==
                  TAMIS_ECORRUPT);
            CHECK(bad == NULL && strstr(why.text, "beyond its end") != NULL);
        }
        tamis_foreign_close(f);
    }
    free(b.p);
}

static const struct test tests[] = {
    {"one item in RedisBloom", test_one_item},
    {"traps of RedisBloom", test_redis_traps},
    {"a DUMP as redisbloom", test_dump_as_redisbloom},
    {"the limit of a DUMP", test_dump_limit},
    {"bits past the end of RedisBloom's", test_redis_bits_past_end},
};
TEST_MAIN(tests)
