/* The Bloom filters of Parquet files: found where DuckDB put them, with DuckDB's answers; and files
 * that are not whole, not plain, or not true. */
#define _POSIX_C_SOURCE 200809L
#include "../support/foreign.h"
#include "../support/tracking.h"

static tamis_parquet *open_file(struct bytes *b)
{
    const tamis_reader file = reader_of(b);
    tamis_parquet *p;
    tamis_error why;
    if (tamis_parquet_open(&file, NULL, &p, &why) != TAMIS_OK) printf("%s\n", why.text);
    CHECK(p != NULL);
    return p;
}

static tamis_parquet_chunk chunk(const tamis_parquet *p, uint64_t i)
{
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    CHECK_OK(tamis_parquet_chunk_at(p, i, &c));
    return c;
}

/* The filters of one column, of all row groups. */
struct column {
    tamis_foreign *filters[4];
    size_t n;
};

static bool ask_column(void *ctx, const void *key, size_t len)
{
    const struct column *c = ctx;
    bool any = false;
    for (size_t i = 0; i < c->n; i++) any |= tamis_foreign_may_contain(c->filters[i], key, len);
    return any;
}

static void test_duckdb(void)
{
    static const struct {
        const char *name, *answers;
        uint32_t type;
        enum encoding how;
    } COLUMNS[] = {
        {"id", "duckdb-id.answers", TAMIS_PARQUET_INT64, INT64},
        {"small", "duckdb-small.answers", TAMIS_PARQUET_INT32, INT32},
        {"name", "duckdb-name.answers", TAMIS_PARQUET_BYTE_ARRAY, TEXT},
        {"share", "duckdb-share.answers", TAMIS_PARQUET_DOUBLE, DOUBLE},
        {"mark", "duckdb-mark.answers", TAMIS_PARQUET_FLOAT, FLOAT},
    };
    struct bytes b = read_foreign("duckdb.parquet");
    tamis_parquet *p = open_file(&b);
    CHECK_THAT(tamis_parquet_chunks(p), ==, 12);
    for (size_t i = 0; i < sizeof COLUMNS / sizeof *COLUMNS; i++) {
        struct column column = {.n = 0};
        for (uint64_t j = 0; j < 12; j++) {
            const tamis_parquet_chunk c = chunk(p, j);
            CHECK(c.row_group == j / 6 && c.column == j % 6 && c.values == 2048);
            if (strcmp(c.name, COLUMNS[i].name) != 0) continue;
            CHECK(c.type == COLUMNS[i].type && c.has_filter && c.length > 32);
            CHECK_OK(tamis_parquet_filter(p, j, &column.filters[column.n++], NULL));
        }
        CHECK_THAT(column.n, ==, 2);
        check_answers(COLUMNS[i].answers, COLUMNS[i].how, ask_column, &column);
        /* Cut out of the file as they are, they are the filters. */
        const tamis_parquet_chunk c = chunk(p, i);
        tamis_foreign *bare;
        struct bytes again = written(column.filters[0], TAMIS_FOREIGN_AUTO, c.length);
        CHECK(again.n == c.length && memcmp(b.p + c.offset, again.p, again.n) == 0);
        CHECK_OK(
            tamis_foreign_open(b.p + c.offset, c.length, TAMIS_FOREIGN_AUTO, NULL, &bare, NULL));
        tamis_foreign_close(bare);
        free(again.p);
        for (size_t j = 0; j < column.n; j++) tamis_foreign_close(column.filters[j]);
    }
    tamis_parquet_close(p);
    free(b.p);
}

/* One row group of `tag` has a filter. The other has none, which differs from an empty one. */
static void test_without(void)
{
    struct bytes b = read_foreign("duckdb.parquet");
    tamis_parquet *p = open_file(&b);
    tamis_foreign *f;
    CHECK(strcmp(chunk(p, 5).name, "tag") == 0 && chunk(p, 5).has_filter);
    CHECK(strcmp(chunk(p, 11).name, "tag") == 0 && !chunk(p, 11).has_filter);
    CHECK(tamis_parquet_filter(p, 11, &f, NULL) == TAMIS_EABSENT && f == NULL);
    CHECK(tamis_parquet_filter(p, 12, &f, NULL) == TAMIS_EINVAL);
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    CHECK(tamis_parquet_chunk_at(p, 12, &c) == TAMIS_EINVAL);
    c.struct_size--;
    CHECK(tamis_parquet_chunk_at(p, 0, &c) == TAMIS_EINVAL);
    tamis_parquet_close(p);
    free(b.p);
}

/* --- Files made by hand ----------------------------------------------------------------------- */

static struct bytes file_of(const char *head, const uint8_t *body, size_t body_n,
                            const uint8_t *footer, size_t n)
{
    struct bytes b = bytes_new(4 + body_n + n + 8);
    memcpy(b.p, head, 4);
    if (body_n > 0) memcpy(b.p + 4, body, body_n);
    if (n > 0) memcpy(b.p + 4 + body_n, footer, n);
    tamis__put32(b.p + 4 + body_n + n, (uint32_t)n);
    memcpy(b.p + 8 + body_n + n, head, 4);
    return b;
}

/* One row group, one column a.b of byte arrays with 3 values and a filter at byte 4, of no told
 * length; the fields before and around what counts are of every type that can be skipped. */
static const uint8_t FOOTER[] = {
    0x15, 0x02,                         /* 1: version */
    0x19, 0x1c, 0x48, 0x01, 'x',  0x00, /* 2: schema, one element with a name */
    0x16, 0x06,                         /* 3: rows */
    0x19, 0x1c,                         /* 4: row groups, one */
    0x19, 0x1c,                         /* 1: columns, one */
    0x26, 0x08,                         /* 2: offset */
    0x1c,                               /* 3: metadata */
    0x15, 0x0c,                         /* 1: type, byte array */
    0x19, 0x25, 0x00, 0x06,             /* 2: encodings */
    0x19, 0x28, 0x01, 'a',  0x01, 'b',  /* 3: path */
    0x15, 0x00,                         /* 4: codec */
    0x16, 0x06,                         /* 5: values */
    0x96, 0x08,                         /* 14: offset of the filter */
    0x00, 0x00,                         /* ends of metadata and column */
    0x11, 0x12, 0x17, 1,    2,    3,    4,    5,    6, 7, 8, /* 2, 3: booleans; 4: a double */
    0x1b, 0x01, 0x85, 0x01, 'k',  0x04, 0x13, 0x07,          /* 5: a map; 6: a byte */
    0x1a, 0x21, 0x01, 0x02,                                  /* 7: a set of booleans */
    0x00,                                                    /* end of the row group */
    0x1d, 0,    1,    2,    3,    4,    5,    6,    7, 8, 9, 10, 11, 12, 13, 14, 15, /* 5: a UUID */
    0x08, 0xd0, 0x0f, 0x03, 'e',  'n',  'd', /* 1000, by its full number: a string */
    0x00,
};

static struct bytes filter_body(void)
{
    static const uint8_t header[16] = {0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c,
                                       0,    0,    0x1c, 0x1c, 0, 0, 0};
    struct bytes b = bytes_new(15 + 32);
    memcpy(b.p, header, 15);
    memset(b.p + 15, 0, 32);
    return b;
}

static void test_by_hand(void)
{
    struct bytes body = filter_body();
    struct bytes b = file_of("PAR1", body.p, body.n, FOOTER, sizeof FOOTER);
    tamis_parquet *p = open_file(&b);
    CHECK_THAT(tamis_parquet_chunks(p), ==, 1);
    const tamis_parquet_chunk c = chunk(p, 0);
    CHECK(strcmp(c.name, "a.b") == 0 && c.name_len == 3 && c.type == TAMIS_PARQUET_BYTE_ARRAY);
    CHECK(c.values == 3 && c.has_filter && c.offset == 4 && c.length == 0);
    tamis_foreign *f;
    CHECK_OK(tamis_parquet_filter(p, 0, &f, NULL)); /* its own header tells the length */
    CHECK(!tamis_foreign_may_contain(f, "x", 1));
    tamis_foreign_close(f);
    tamis_parquet_close(p);
    /* A length that reaches behind the file. */
    b.p[5] = 0xff;
    b.p[6] = 0x7f;
    tamis_error why;
    p = open_file(&b);
    CHECK(tamis_parquet_filter(p, 0, &f, &why) == TAMIS_ECORRUPT && f == NULL);
    tamis_parquet_close(p);
    /* A damaged header is reported with its place in the file: after the third byte of the
     * filter, which is at 4. */
    memcpy(b.p + 4, body.p, body.n);
    b.p[6] = 0x1f;
    p = open_file(&b);
    CHECK(tamis_parquet_filter(p, 0, &f, &why) == TAMIS_ECORRUPT && f == NULL);
    CHECK_THAT(why.offset, ==, 7);
    tamis_parquet_close(p);
    /* Another hash is of no place. */
    memcpy(b.p + 4, body.p, body.n);
    b.p[4 + 7] = 0x2c;
    p = open_file(&b);
    CHECK(tamis_parquet_filter(p, 0, &f, &why) == TAMIS_EUNSUPPORTED && why.offset == 0);
    tamis_parquet_close(p);
    free(body.p);
    free(b.p);
}

static tamis_status try_file(struct bytes b, tamis_error *why)
{
    const tamis_reader file = reader_of(&b);
    tamis_parquet *p = (tamis_parquet *)(uintptr_t)1;
    const tamis_status s = tamis_parquet_open(&file, NULL, &p, why);
    CHECK((s == TAMIS_OK) == (p != NULL));
    tamis_parquet_close(p);
    return s;
}

static void test_unsupported(void)
{
    static const uint8_t elsewhere[] = {0x49, 0x1c, 0x19, 0x1c, 0x18, 0x01, 'f', 0x00, 0x00, 0x00};
    static const uint8_t encrypted[] = {0x49, 0x1c, 0x19, 0x1c, 0x26, 0x00,
                                        0x6c, 0x00, 0x00, 0x00, 0x00};
    tamis_error why;
    struct bytes b = file_of("PARE", NULL, 0, FOOTER, sizeof FOOTER);
    CHECK(try_file(b, &why) == TAMIS_EUNSUPPORTED && strstr(why.text, "encrypted") != NULL);
    free(b.p);
    b = file_of("PAR1", NULL, 0, elsewhere, sizeof elsewhere);
    CHECK(try_file(b, &why) == TAMIS_EUNSUPPORTED && strstr(why.text, "other files") != NULL);
    free(b.p);
    b = file_of("PAR1", NULL, 0, encrypted, sizeof encrypted);
    CHECK(try_file(b, &why) == TAMIS_EUNSUPPORTED && strstr(why.text, "encrypted") != NULL);
    free(b.p);
}

/* Structs in structs, lists in lists, without an end: refused, and no stack is lost on them. */
static void test_deep(void)
{
    enum { DEEP = 1 << 20 };
    static const uint8_t nests[] = {0x1c, 0x19, 0x1a};
    tamis_error why;
    uint8_t *footer = malloc(DEEP);
    CHECK(footer != NULL);
    for (size_t i = 0; i < sizeof nests; i++) {
        memset(footer, nests[i], DEEP);
        struct bytes b = file_of("PAR1", NULL, 0, footer, DEEP);
        CHECK(try_file(b, &why) == TAMIS_ECORRUPT && why.text[0] != '\0');
        free(b.p);
    }
    free(footer);
}

/* --- Damage ----------------------------------------------------------------------------------- */

/* Whatever the bytes: an error with a reason, or chunks and filters that can be looked at; and no
 * more memory than a small multiple of the file. */
static bool survives(struct bytes b)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    const tamis_reader file = reader_of(&b);
    tamis_parquet *p;
    tamis_error why = {0};
    const tamis_status s = tamis_parquet_open(&file, &o, &p, &why);
    CHECK(s == TAMIS_OK || s == TAMIS_ECORRUPT || s == TAMIS_EUNSUPPORTED);
    CHECK((s == TAMIS_OK) == (p != NULL) && (s == TAMIS_OK || why.text[0] != '\0'));
    for (uint64_t i = 0; s == TAMIS_OK && i < tamis_parquet_chunks(p); i++) {
        const tamis_parquet_chunk c = chunk(p, i);
        tamis_foreign *f;
        CHECK(c.name[c.name_len] == '\0');
        const tamis_status got = tamis_parquet_filter(p, i, &f, &why);
        CHECK(got != TAMIS_OK || (tamis_foreign_may_contain(f, "k", 1), true));
        CHECK((got == TAMIS_OK) == (f != NULL));
        tamis_foreign_close(f);
    }
    tamis_parquet_close(p);
    CHECK_THAT(a.blocks, ==, 0);
    CHECK_THAT(a.peak, <=, 16 * b.n + 4096);
    return s == TAMIS_OK;
}

static void test_truncation(void)
{
    struct bytes b = read_foreign("duckdb.parquet");
    for (size_t n = 0; n < b.n; n++) {
        struct bytes cut = bytes_copy(b.p, n);
        CHECK(!survives(cut));
        free(cut.p);
    }
    /* And with an end that is right again. */
    for (size_t n = 12; n < b.n; n += 7) {
        struct bytes cut = bytes_copy(b.p, n);
        memcpy(cut.p + n - 8, b.p + b.n - 8, 8);
        survives(cut);
        free(cut.p);
    }
    free(b.p);
}

static void test_mutation(void)
{
    struct bytes b = read_foreign("duckdb.parquet");
    const size_t footer = tamis__get32(b.p + b.n - 8);
    size_t good = 0, bad = 0;
    for (size_t i = b.n - 8 - footer; i < b.n; i++)
        for (unsigned flip = 1; flip < 256; flip = flip * 2 + (flip > 3)) {
            struct bytes bent = bytes_copy(b.p, b.n);
            bent.p[i] ^= (uint8_t)flip;
            if (survives(bent))
                good++;
            else
                bad++;
            free(bent.p);
        }
    CHECK(good > 1000 && bad > 1000); /* both ways were tried */
    /* The headers of the filters, all values of all bytes. */
    tamis_parquet *p = open_file(&b);
    const tamis_parquet_chunk c = chunk(p, 0);
    tamis_parquet_close(p);
    for (size_t i = 0; i < 16; i++)
        for (unsigned v = 0; v < 256; v++) {
            struct bytes bent = bytes_copy(b.p, b.n);
            bent.p[c.offset + i] = (uint8_t)v;
            CHECK(survives(bent));
            free(bent.p);
        }
    free(b.p);
}

static tamis_status fail_reading(void *ctx, uint64_t offset, void *to, size_t n)
{
    unsigned *calls = ctx;
    (void)offset;
    memset(to, 0, n);
    return --*calls == 0 ? TAMIS_EIO : TAMIS_OK;
}

/* Every read and every allocation fails once. */
static void test_failures(void)
{
    struct bytes b = read_foreign("duckdb.parquet");
    tamis_parquet *p;
    tamis_foreign *f;
    for (unsigned at = 1; at <= 2; at++) {
        unsigned calls = at;
        const tamis_reader bad = {&calls, 100, fail_reading};
        CHECK(tamis_parquet_open(&bad, NULL, &p, NULL) == TAMIS_EIO && p == NULL);
    }
    bool whole = false;
    for (size_t at = 1; !whole; at++) {
        struct tracker a;
        tracker_init(&a);
        a.fail_at = at;
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        const tamis_reader file = reader_of(&b);
        tamis_status s = tamis_parquet_open(&file, &o, &p, NULL);
        if (s == TAMIS_OK) s = tamis_parquet_filter(p, 0, &f, NULL);
        whole = s == TAMIS_OK;
        CHECK(whole || (s == TAMIS_ENOMEM && a.failed));
        if (whole) tamis_foreign_close(f);
        tamis_parquet_close(p);
        CHECK(a.blocks == 0 && at < 10);
    }
    const tamis_reader file = reader_of(&b);
    const tamis_options small = {.struct_size = sizeof small, .max_bytes = 64};
    tamis_error why;
    CHECK(tamis_parquet_open(&file, &small, &p, &why) == TAMIS_ENOMEM);
    CHECK(strstr(why.text, "the limit of 64") != NULL);
    CHECK(tamis_parquet_open(NULL, NULL, &p, NULL) == TAMIS_EINVAL);
    free(b.p);
}

static const struct test tests[] = {
    {"DuckDB's filters and answers", test_duckdb},
    {"a row group without a filter", test_without},
    {"a footer by hand", test_by_hand},
    {"unsupported files", test_unsupported},
    {"deep nests", test_deep},
    {"truncation", test_truncation},
    {"mutation", test_mutation},
    {"reads and memory that fail", test_failures},
};
TEST_MAIN(tests)
