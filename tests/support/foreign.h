/* Files of other programs in tests/golden/foreign, their programs' answers, and Parquet files in
 * memory. */
#ifndef TAMIS_TEST_FOREIGN_H
#define TAMIS_TEST_FOREIGN_H

#include "check.h"
#include "golden.h"

#include <tamis/foreign.h>

static inline struct bytes read_foreign(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "foreign/%s", name);
    return read_golden(path);
}

/* What a filter writes in a format, to be freed; it must not be longer than room. */
static inline struct bytes written(const tamis_foreign *f, uint32_t format, size_t room)
{
    struct bytes_sink s = {bytes_new(room), 0};
    CHECK_OK(tamis_foreign_write(f, format, bytes_put, &s, NULL));
    s.to.n = s.at;
    return s.to;
}

static inline tamis_foreign *open_bytes(struct bytes b, uint32_t format)
{
    tamis_foreign *f;
    tamis_error why;
    if (tamis_foreign_open(b.p, b.n, format, NULL, &f, &why) != TAMIS_OK) printf("%s\n", why.text);
    CHECK(f != NULL);
    return f;
}

static inline tamis_foreign_facts facts_of(const tamis_foreign *f)
{
    tamis_foreign_facts facts = {.struct_size = sizeof facts};
    CHECK_OK(tamis_foreign_info(f, &facts));
    return facts;
}

/* An empty one. */
static inline tamis_foreign *make(uint32_t format, uint64_t items, double fpr)
{
    const tamis_foreign_plan plan = {sizeof plan, format, items, fpr};
    tamis_foreign *f;
    tamis_error why;
    if (tamis_foreign_create(&plan, NULL, &f, &why) != TAMIS_OK) printf("%s\n", why.text);
    CHECK(f != NULL);
    return f;
}

/* A sink that gives back the status it is given. */
static inline tamis_status put_fails(void *ctx, const void *p, size_t n)
{
    (void)p;
    (void)n;
    return *(const tamis_status *)ctx;
}

/* How the keys of a file of answers become bytes. */
enum encoding { TEXT, UTF16, INT32, INT64, FLOAT, DOUBLE };

static inline size_t encode(enum encoding how, const char *text, size_t n, uint8_t *to)
{
    char number[64] = "";
    if (how >= INT32) memcpy(number, text, n < 63 ? n : 63);
    uint64_t bits = 0;
    float single;
    double wide;
    size_t size = 0;
    switch (how) {
    case TEXT: memcpy(to, text, n); return n;
    case UTF16: /* of texts with no letter beyond U+07FF */
        for (size_t i = 0; i < n; i++) {
            unsigned c = (uint8_t)text[i];
            if (c >= 0x80) c = (c & 31) << 6 | ((uint8_t)text[++i] & 63);
            to[size++] = (uint8_t)c;
            to[size++] = (uint8_t)(c >> 8);
        }
        return size;
    case INT32:
        size = 4;
        bits = (uint64_t)strtoll(number, NULL, 10);
        break;
    case INT64:
        size = 8;
        bits = (uint64_t)strtoll(number, NULL, 10);
        break;
    case FLOAT: {
        uint32_t b;
        single = strtof(number, NULL);
        memcpy(&b, &single, 4);
        bits = b;
        size = 4;
        break;
    }
    case DOUBLE:
        wide = strtod(number, NULL);
        memcpy(&bits, &wide, 8);
        size = 8;
        break;
    }
    for (size_t i = 0; i < size; i++) to[i] = (uint8_t)(bits >> 8 * i);
    return size;
}

/* Calls ask with every key of a file of answers; all answers must be those of the file. Returns how
 * many are 1. */
static inline size_t check_answers(const char *name, enum encoding how,
                                   bool (*ask)(void *ctx, const void *key, size_t len), void *ctx)
{
    struct bytes text = read_foreign(name);
    size_t ones = 0, lines = 0;
    for (char *p = (char *)text.p, *end = p + text.n; p < end;) {
        char *stop = memchr(p, '\n', (size_t)(end - p));
        uint8_t key[256];
        CHECK(stop != NULL && stop - p >= 2 && stop - p < 120);
        const size_t n = encode(how, p + 2, (size_t)(stop - p) - 2, key);
        const bool expected = *p == '1';
        if (ask(ctx, key, n) != expected) printf("%s: %.*s\n", name, (int)(stop - p), p);
        CHECK(ask(ctx, key, n) == expected);
        ones += expected;
        lines++;
        p = stop + 1;
    }
    CHECK(lines >= 20 && ones > 0 && ones < lines);
    free(text.p);
    return ones;
}

/* For check_answers: a filter, asked in both ways. */
static inline bool ask_filter(void *f, const void *key, size_t len)
{
    const tamis_bytes one = {key, len};
    uint8_t bit;
    const bool maybe = tamis_foreign_may_contain(f, key, len);
    CHECK(tamis_foreign_may_contain_many(f, &one, 1, &bit) == maybe && bit == maybe);
    return maybe;
}

static inline tamis_status read_memory(void *ctx, uint64_t offset, void *to, size_t n)
{
    const struct bytes *b = ctx;
    CHECK(offset <= b->n && n <= b->n - offset); /* the library asks for nothing else */
    memcpy(to, b->p + offset, n);
    return TAMIS_OK;
}

static inline tamis_reader reader_of(struct bytes *b)
{
    return (tamis_reader){b, b->n, read_memory};
}

#endif
