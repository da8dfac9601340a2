/* Fields of requests to the guard's server, read one by one. */
#include "../../guard/server/server.h"
#include "../support/check.h"

#define TAG "\"0123abcd\""

static void test_tags(void)
{
    static const struct {
        const char *field;
        bool listed;
    } cases[] = {
        {TAG, true},
        {"W/" TAG, true},
        {" \t" TAG "\t ", true},
        {"\"x\", " TAG, true},
        {"\"x\"," TAG ",\"y\"", true},
        {",, " TAG " ,,", true},
        {"\"a,b\"," TAG, true}, /* a comma between quotes is of the tag */
        {"junk, " TAG, true},   /* junk does not affect the next tag */
        {"\"x\"junk, " TAG, true},
        {"*", true},
        {" * ", true},
        {"", false},
        {" , ,", false},
        {"\"x\"", false},
        {"*junk", false}, /* * stands alone */
        {"* junk", false},
        {"*, " TAG, false},
        {"**", false},
        {"\"x\", *", false},
        {TAG "junk", false},
        {TAG " junk", false},
        {TAG TAG, false},
        {TAG "\t\"x\"", false},
        {"junk" TAG, false},
        {"junk " TAG, false},
        {"0123abcd", false},
        {"\"0123abcd", false},
        {"\"0123abcde\"", false},
        {"\"0123ABCD\"", false},
        {"w/" TAG, false}, /* W/ has a big one */
        {"W/W/" TAG, false},
        {"W/ " TAG, false},
        {"\"a," TAG, false}, /* the tag is what is between the first two quotes */
        {"\"" TAG, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (guard_tag_listed(cases[i].field, TAG) == cases[i].listed) continue;
        printf("If-None-Match: %s\n", cases[i].field);
        CHECK(false);
    }
}

static void test_ranges(void)
{
    static const struct {
        const char *field;
        enum guard_range range;
        uint64_t from, to;
    } cases[] = {
        {"bytes=0-0", GUARD_RANGE_PART, 0, 0},
        {"bytes=5-", GUARD_RANGE_PART, 5, 99},
        {"bytes=5-1000", GUARD_RANGE_PART, 5, 99},
        {"bytes=-1", GUARD_RANGE_PART, 99, 99},
        {"bytes=-1000", GUARD_RANGE_PART, 0, 99},
        {"bytes=99-99999999999999999999999", GUARD_RANGE_PART, 99, 99},
        {"bytes=100-", GUARD_RANGE_NONE, 0, 0},
        {"bytes=-0", GUARD_RANGE_NONE, 0, 0},
        {"bytes=99999999999999999999999-", GUARD_RANGE_NONE, 0, 0},
        {"bytes=5-4", GUARD_RANGE_WHOLE, 0, 0},
        {"bytes=-", GUARD_RANGE_WHOLE, 0, 0},
        {"bytes=1-2,4-5", GUARD_RANGE_WHOLE, 0, 0},
        {"bytes=1-2 ", GUARD_RANGE_WHOLE, 0, 0},
        {"bytes= 1-2", GUARD_RANGE_WHOLE, 0, 0},
        {"bytes=+1-2", GUARD_RANGE_WHOLE, 0, 0},
        {"lines=1-2", GUARD_RANGE_WHOLE, 0, 0},
        {"", GUARD_RANGE_WHOLE, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t from = 0, to = 0;
        const enum guard_range range = guard_range_read(cases[i].field, 100, &from, &to);
        if (range == cases[i].range &&
            (range != GUARD_RANGE_PART || (from == cases[i].from && to == cases[i].to)))
            continue;
        printf("Range: %s\n", cases[i].field);
        CHECK(false);
    }
}

static void test_hosts(void)
{
    static const char *const names[] = {"guard.example.org", "Dotted.example."};
    static const struct {
        const char *field;
        bool known;
    } cases[] = {
        {"127.0.0.1", true},
        {"127.0.0.1:8080", true},
        {"127.0.0.1:", true},
        {"[::1]", true},
        {"[::1]:8080", true},
        {"[::ffff:1.2.3.4]", true},
        {"localhost", true},
        {"LOCALHOST.:1", true},
        {"a.localhost", true},
        {"guard.example.org", true},
        {"GUARD.example.org.:443", true},
        {"dotted.example", true},
        {"dotted.example.", true},
        {"", false},
        {":", false},
        {":80", false},
        {".", false},
        {"..", false},
        {".localhost", false},
        {"xlocalhost", false},
        {"localhost.example", false},
        {"localhost..", false},
        {"x.guard.example.org", false},
        {"guard.example.or", false},
        {"guard.example.orgs", false},
        {"[", false},
        {"[]", false},
        {"[::1", false},
        {"[::1]]", false},
        {"[::1]80", false},
        {"[::1%lo]", false},
        {"[guard.example.org]", false},
        {"::1", false},
        {"1.2.3", false},
        {"1.2.3.4.5", false},
        {"01.2.3.4", false},
        {"1.2.3.4:80x", false},
        {"1.2.3.4:-1", false},
        {"1.2.3.4 ", false},
        {" localhost", false},
        {"localhost\t", false},
        {"evil.example", false},
    };
    char longest[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (guard_host_known(cases[i].field, names, 2) == cases[i].known) continue;
        printf("Host: %s\n", cases[i].field);
        CHECK(false);
    }
    CHECK(!guard_host_known("guard.example.org", NULL, 0));
    for (size_t n = 1; n < sizeof longest; n++) { /* of every length, at the limit as well */
        memset(longest, 'a', n);
        longest[n] = '\0';
        CHECK(!guard_host_known(longest, names, 2));
        CHECK(guard_host_valid(longest) == (n <= 254));
        if (n < 11) continue;
        memcpy(longest + n - 10, ".localhost", 10);
        CHECK(guard_host_known(longest, names, 2) == (n <= 254));
    }
}

static void test_queries(void)
{
    static const struct {
        const char *piece;
        size_t times;
        bool cut;
    } cases[] = {{"", 0, false},     {"a=b&", 47, false}, {"a=b&", 48, true}, {"&", 47, false},
                 {"&", 48, true},    {"&", 3000, true},   {"x", 2045, false}, {"x", 2047, true},
                 {"=", 2000, false}, {"?", 2000, false},  {"?&", 100, true}};
    char uri[7000];
    CHECK(!guard_query_cut(strcpy(uri, "")));
    CHECK(!guard_query_cut(strcpy(uri, "/x&&&")));
    memset(uri, '&', sizeof uri - 1); /* a path may be as long as it likes */
    uri[sizeof uri - 1] = '\0';
    CHECK(!guard_query_cut(uri));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 2;
        strcpy(uri, "/?");
        for (size_t j = 0; j < cases[i].times; j++, n += strlen(cases[i].piece))
            strcpy(uri + n, cases[i].piece);
        CHECK(guard_query_cut(uri) == cases[i].cut);
        CHECK_THAT(strlen(uri), ==, cases[i].cut ? 2 : n);
    }
}

static const struct test tests[] = {
    {"tags", test_tags},
    {"ranges", test_ranges},
    {"hosts", test_hosts},
    {"queries", test_queries},
};

int main(int argc, char **argv)
{
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
