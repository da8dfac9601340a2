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

static const struct test tests[] = {
    {"tags", test_tags},
    {"ranges", test_ranges},
};

int main(int argc, char **argv)
{
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
