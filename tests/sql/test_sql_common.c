/* What both databases share (sql/common): keys, sets of hashes and JSON. test_sql_gather.c tests
 * the state of aggregates. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/tracking.h"

#include "../../sql/common/hash_set.h"
#include "../../sql/common/keys.h"

#include <inttypes.h>
#include <stdarg.h>

/* A copy of the code for JSON, as it is in a program whose locale has another decimal point. */
static const char *decimal_point;

__attribute__((format(printf, 3, 4))) static int foreign_snprintf(char *to, size_t size,
                                                                  const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    char *point = strchr(text, '.');
    if (point == NULL) return snprintf(to, size, "%s", text);
    *point = '\0';
    return snprintf(to, size, "%s%s%s", text, decimal_point, point + 1);
}

#undef snprintf /* glibc's headers may define it as a macro, as they do for clang */
#define snprintf foreign_snprintf
#define sql_info_json foreign_info_json
#define sql_compare_json foreign_compare_json
#include "../../sql/common/json.c"
#undef snprintf
#undef sql_info_json
#undef sql_compare_json
tamis_status sql_info_json(const tamis *t, char out[SQL_JSON_ROOM], tamis_error *why);
tamis_status sql_compare_json(const tamis *a, const tamis *b, char out[SQL_JSON_ROOM],
                              tamis_error *why);

/* --- Keys ------------------------------------------------------------------------------------- */

static bool is_decimal(int64_t n)
{
    char room[SQL_KEY_ROOM], text[32];
    const size_t length = sql_decimal(n, room);
    snprintf(text, sizeof text, "%" PRId64, n);
    return length == strlen(text) && memcmp(room, text, length) == 0;
}

static void test_decimal(void)
{
    CHECK(is_decimal(0) && is_decimal(INT64_MIN) && is_decimal(INT64_MAX));
    for (int64_t power = 1;; power *= 10) {
        for (int64_t d = -1; d <= 1; d++) CHECK(is_decimal(power + d) && is_decimal(-power + d));
        if (power > INT64_MAX / 10) break;
    }
    uint64_t state = 25;
    for (int i = 0; i < 10000; i++) {
        const uint64_t n = splitmix(&state);
        CHECK(is_decimal((int64_t)(n >> n % 64)) && is_decimal((int64_t)n));
    }
}

static bool is_key(struct sql_value v, uint32_t encoding, uint32_t width, const void *p, size_t n)
{
    char room[SQL_KEY_ROOM];
    tamis_bytes key;
    return sql_key(&v, encoding, width, room, &key) == NULL && key.len == n &&
           (n == 0 || memcmp(key.p, p, n) == 0);
}

static bool is_refused(struct sql_value v, uint32_t encoding, uint32_t width, const char *reason)
{
    char room[SQL_KEY_ROOM];
    tamis_bytes key;
    const char *why = sql_key(&v, encoding, width, room, &key);
    return why != NULL && strstr(why, reason) != NULL;
}

static void test_keys(void)
{
    const struct sql_value text = {.type = SQL_TEXT, .bytes = {"abcd", 4}};
    const struct sql_value bytes = {.type = SQL_BYTES, .bytes = {"\0\1\2\3\4\5\6\7", 8}};
    const struct sql_value least = {.type = SQL_INTEGER, .integer = INT64_MIN};
    const struct sql_value minus = {.type = SQL_INTEGER, .integer = -2};
    const struct sql_value none = {.type = SQL_BYTES, .bytes = {NULL, 0}};
    for (uint32_t any = TAMIS_KEYS_UNSTATED; any <= TAMIS_KEYS_TEXT; any++) {
        CHECK(is_key(text, any, 0, "abcd", 4) && is_key(bytes, any, 0, bytes.bytes.p, 8));
        CHECK(is_key(least, any, 0, "-9223372036854775808", 20) && is_key(minus, any, 0, "-2", 2));
        CHECK(is_key(none, any, 0, "", 0));
    }
    CHECK(is_key(least, TAMIS_KEYS_INT64, 8, "\0\0\0\0\0\0\0\x80", 8));
    CHECK(is_key(minus, TAMIS_KEYS_INT64, 8, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8));
    CHECK(is_key(bytes, TAMIS_KEYS_INT64, 8, bytes.bytes.p, 8));
    CHECK(is_refused(text, TAMIS_KEYS_INT64, 8, "cast the value to bigint"));
    CHECK(is_refused(none, TAMIS_KEYS_INT64, 8, "length of the keys"));
    CHECK(is_key(text, TAMIS_KEYS_FIXED, 4, "abcd", 4));
    CHECK(is_key(minus, TAMIS_KEYS_FIXED, 2, "-2", 2));
    CHECK(is_refused(minus, TAMIS_KEYS_FIXED, 4, "length of the keys"));
    CHECK(is_refused(text, TAMIS_KEYS_SHA256, 32, "SHA-256"));
    CHECK(is_refused(bytes, TAMIS_KEYS_SHA256, 32, "length of the keys"));
    CHECK(is_key(text, TAMIS_KEYS_CALLER, 0, "abcd", 4));
}

static bool is_shown(tamis_bytes item, uint32_t encoding, const char *text)
{
    char room[SQL_KEY_ROOM];
    const tamis_bytes shown = sql_item(item, encoding, room);
    return shown.len == strlen(text) && memcmp(shown.p, text, shown.len) == 0;
}

static bool is_text(const char *s)
{
    return sql_is_text((tamis_bytes){s, strlen(s)});
}

static void test_items(void)
{
    const tamis_bytes least = {"\0\0\0\0\0\0\0\x80", 8}, cut = {"a\xc3\xa9\xe2\x82", 5};
    CHECK(is_shown(least, TAMIS_KEYS_INT64, "-9223372036854775808"));
    CHECK(is_shown((tamis_bytes){"12345678", 8}, TAMIS_KEYS_TEXT, "12345678"));
    CHECK(is_shown((tamis_bytes){"1234567", 7}, TAMIS_KEYS_INT64, "1234567"));
    CHECK(sql_item((tamis_bytes){NULL, 0}, TAMIS_KEYS_INT64, (char[SQL_KEY_ROOM]){0}).p == NULL);
    CHECK(is_text("") && is_text("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f"));
    CHECK(is_text("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"));
    CHECK(!sql_is_text((tamis_bytes){"a\0b", 3}));
    static const char *const wrong[] = {"\x80",
                                        "\xc1\xbf",
                                        "\xc3",
                                        "\xc3(",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xe2\x82",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80",
                                        "\xff",
                                        "a\xe2\x28\xa1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK(!is_text(wrong[i]));
    CHECK(sql_whole_characters(cut).len == 3);
    CHECK(sql_whole_characters((tamis_bytes){"\xff\xff\xff\xff\xff", 5}).len == 5);
    CHECK(sql_whole_characters((tamis_bytes){"ab", 2}).len == 2);
}

/* --- Sets of hashes --------------------------------------------------------------------------- */

/* The i-th hash of the test; some share their slot with others, and one is zero. */
static tamis_hash hash_number(uint64_t i)
{
    if (i == 7) return (tamis_hash){0, 0};
    if (i % 5 == 0) return (tamis_hash){0, i + 1};
    return tamis_hash_bytes(i, "", 0);
}

static void test_hash_set(void)
{
    struct tracker a;
    struct hash_set s = {0};
    tamis_hash some[3];
    enum { N = 3000 };
    static uint8_t found[N];
    memset(found, 0, sizeof found);
    tracker_init(&a);
    CHECK(hash_set_count(&s) == 0);
    size_t at = 0, n, all = 0;
    CHECK(hash_set_take(&s, &at, some, 3) == 0);
    for (uint64_t i = 0; i < N; i++) {
        CHECK(hash_set_add(&s, &a.memory, hash_number(i)));
        CHECK(hash_set_add(&s, &a.memory, hash_number(i / 2)));
        CHECK(hash_set_count(&s) == i + 1);
    }
    at = 0;
    while ((n = hash_set_take(&s, &at, some, 3)) != 0)
        for (size_t i = 0; i < n; i++, all++)
            for (size_t j = 0; j < N; j++) {
                const tamis_hash h = hash_number(j);
                if (some[i].lo == h.lo && some[i].hi == h.hi) found[j]++;
            }
    CHECK(all == N && hash_set_take(&s, &at, some, 3) == 0);
    for (size_t j = 0; j < N; j++) CHECK(found[j] == 1);
    CHECK_THAT(a.bytes, <=, 43 * N + 1000);
    /* An add that fails changes nothing. */
    a.fail_at = a.calls + 1;
    uint64_t i = N;
    while (hash_set_add(&s, &a.memory, hash_number(i))) i++;
    CHECK(a.failed && hash_set_count(&s) == i);
    CHECK(hash_set_add(&s, &a.memory, hash_number(i)) && hash_set_count(&s) == i + 1);
    hash_set_free(&s, &a.memory);
    CHECK(a.blocks == 0 && hash_set_count(&s) == 0);
}

/* The value of a hash is not part of it; the first one stays. */
static void test_hash_values(void)
{
    enum { N = 1000 };
    struct tracker a;
    struct hash_set s = {.values = true};
    tamis_hash some[7];
    uint32_t value;
    size_t at = 0, n, all = 0;
    tracker_init(&a);
    CHECK(!hash_set_find(&s, hash_number(3), &value));
    for (uint64_t i = 0; i < 2 * N; i++) {
        tamis_hash h = hash_number(i % N);
        h.lo = (h.lo & ~(uint64_t)UINT32_MAX) | (i + 5);
        CHECK(hash_set_find(&s, h, &value) == (i >= N));
        CHECK(i < N || value == i - N + 5);
        CHECK(hash_set_add(&s, &a.memory, h));
        CHECK(hash_set_find(&s, h, &value) && value == i % N + 5);
    }
    CHECK(hash_set_count(&s) == N && !hash_set_find(&s, hash_number(N), &value));
    while ((n = hash_set_take(&s, &at, some, 7)) != 0)
        for (size_t i = 0; i < n; i++, all++) {
            const uint32_t taken = (uint32_t)some[i].lo;
            CHECK(taken >= 5 && taken < N + 5);
            CHECK(some[i].hi == hash_number(taken - 5).hi);
        }
    CHECK(all == N);
    hash_set_free(&s, &a.memory);
    CHECK(a.blocks == 0);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static tamis *filled(uint32_t kind, uint64_t n)
{
    tamis_plan plan = {.struct_size = sizeof plan, .kind = kind};
    tamis *t;
    if (kind >= TAMIS_COUNT_MIN) plan.bytes = 40000;
    if (kind < TAMIS_COUNT_MIN) plan.items = 1000, plan.fpr = 0.01;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint64_t i = 0; i < n; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
    if (kind == TAMIS_RIBBON || kind == TAMIS_FUSE) CHECK_OK(tamis_seal(t, NULL));
    return t;
}

/* Numbers have a point, whatever the locale of the program is. */
static void test_locale(void)
{
    static const char *const points[] = {".", ",", "\xd9\xab"};
    static const uint32_t kinds[] = {TAMIS_BLOOM,     TAMIS_BLOCKED,      TAMIS_COUNTING,
                                     TAMIS_CUCKOO,    TAMIS_WINDOW,       TAMIS_RIBBON,
                                     TAMIS_COUNT_MIN, TAMIS_COUNT_SKETCH, TAMIS_TALLY,
                                     TAMIS_TOP,       TAMIS_DISTINCT};
    char text[SQL_JSON_ROOM], foreign[SQL_JSON_ROOM];
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            decimal_point = points[i];
            tamis *t = filled(kinds[k], 500), *other = filled(kinds[k], 900);
            CHECK_OK(sql_info_json(t, text, NULL));
            CHECK_OK(foreign_info_json(t, foreign, NULL));
            CHECK(strcmp(text, foreign) == 0 && text[0] == '{' && text[strlen(text) - 1] == '}');
            const tamis_status s = sql_compare_json(t, other, text, NULL);
            CHECK(foreign_compare_json(t, other, foreign, NULL) == s);
            CHECK(s != TAMIS_OK || strcmp(text, foreign) == 0);
            tamis_close(t);
            tamis_close(other);
        }
}

static const struct test tests[] = {
    {"the decimal text of integers", test_decimal},
    {"values become keys", test_keys},
    {"items are shown", test_items},
    {"sets of hashes", test_hash_set},
    {"hashes with values", test_hash_values},
    {"JSON in other locales", test_locale},
};

TEST_MAIN(tests)
