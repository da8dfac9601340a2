/* Tests how often a client may send requests, with a clock of the test, and how many connections it
 * may have. */
#include "../../guard/server/limits.h"
#include "../support/check.h"
#include "../support/keys.h"

#include <arpa/inet.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static union address from(const char *text)
{
    union address a = {.v6 = {.sin6_family = AF_INET6}};
    if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1) return a;
    a.v4.sin_family = AF_INET;
    CHECK(inet_pton(AF_INET, text, &a.v4.sin_addr) == 1);
    return a;
}

static unsigned taken(struct guard_limits *l, const char *client, int64_t now, unsigned tries)
{
    const union address a = from(client);
    unsigned n = 0, wait;
    for (unsigned i = 0; i < tries; i++) {
        const bool good = guard_limits_take(l, &a.any, now, &wait);
        CHECK(good == (wait == 0));
        n += good;
    }
    return n;
}

static void test_burst_and_refill(void)
{
    struct guard_limits *l = guard_limits_new(10);
    CHECK_THAT(taken(l, "10.0.0.1", 1000, 100), ==, 20); /* two seconds' worth at once */
    CHECK_THAT(taken(l, "10.0.0.1", 1050, 100), ==, 0);
    CHECK_THAT(taken(l, "10.0.0.1", 1100, 100), ==, 1);
    CHECK_THAT(taken(l, "10.0.0.1", 1600, 100), ==, 5);
    CHECK_THAT(taken(l, "10.0.0.1", 1000000, 100), ==, 20);
    CHECK_THAT(taken(l, "10.0.0.1", 999000, 100), ==, 0); /* another thread's clock, read before */
    CHECK_THAT(taken(l, "10.0.0.1", 1000100, 100), ==, 1);
    guard_limits_free(l);
}

static void test_wait(void)
{
    struct guard_limits *l = guard_limits_new(1);
    const union address a = from("10.0.0.1");
    unsigned wait;
    CHECK_THAT(taken(l, "10.0.0.1", 0, 5), ==, 2);
    CHECK(!guard_limits_take(l, &a.any, 0, &wait));
    CHECK(wait >= 1 && wait <= 2);
    CHECK(guard_limits_take(l, &a.any, 1000 * (int64_t)wait, &wait));
    CHECK(guard_limits_take(l, NULL, 0, &wait)); /* an address that is not known */
    guard_limits_free(l);
}

static void test_clients(void)
{
    struct guard_limits *l = guard_limits_new(1);
    CHECK_THAT(taken(l, "10.0.0.1", 0, 9), ==, 2);
    CHECK_THAT(taken(l, "10.0.0.2", 0, 9), ==, 2);
    CHECK_THAT(taken(l, "::ffff:10.0.0.1", 0, 9), ==, 0); /* the first one */
    CHECK_THAT(taken(l, "::ffff:10.0.0.3", 0, 9), ==, 2);
    CHECK_THAT(taken(l, "2001:db8:1:2::1", 0, 9), ==, 2);
    CHECK_THAT(taken(l, "2001:db8:1:2:ffff::9", 0, 9), ==, 0); /* the same network */
    CHECK_THAT(taken(l, "2001:db8:1:3::1", 0, 9), ==, 2);
    CHECK_THAT(taken(l, "::1", 0, 9), ==, 2);
    guard_limits_free(l);
}

/* Which addresses are one client. */
static void test_client_of(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"10.0.0.1", "64:ff9b::10.0.0.1", true},
        {"64:ff9b::10.0.0.1", "64:ff9b::10.0.0.2", false},
        {"::ffff:10.0.0.1", "::ffff:10.0.0.2", false},
        {"64:ff9b:0:0:1::1", "64:ff9b:0:0:2::2", true}, /* not translated, so one network */
        {"64:ff9b:1::1", "64:ff9b::1", false},
        {"10.0.0.1", "::10.0.0.1", false}, /* not an IPv4 address any more */
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true},
        {"2001:db8:1:2::", "2001:db8:1:2:8000::", true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
        {"2001:db8:1:2::1", "2001:db8:0:2::1", false},
        {"::1", "::2", true},
        {"::1", "0.0.0.1", false},
        {"::1", "127.0.0.1", false},
        {"fe80::1", "fe80::2", true},
        {"ffff:ffff:ffff:ffff::1", "0.0.0.0", true}, /* the two that would be 0 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const union address a = from(cases[i].a), b = from(cases[i].b);
        CHECK(guard_client_of(&a.any) != 0);
        if ((guard_client_of(&a.any) == guard_client_of(&b.any)) == cases[i].same) continue;
        printf("%s, %s\n", cases[i].a, cases[i].b);
        CHECK(false);
    }
    CHECK(guard_client_of(NULL) != 0);
}

static void test_places(void)
{
    struct guard_places *p = guard_places_new(10, 3);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) CHECK(guard_places_enter(p, 7));
        CHECK(!guard_places_enter(p, 7));
        CHECK(guard_places_enter(p, 8));
        guard_places_leave(p, 7);
        CHECK(guard_places_enter(p, 7));
        CHECK(!guard_places_enter(p, 7));
        for (int i = 0; i < 3; i++) guard_places_leave(p, 7);
        guard_places_leave(p, 8);
    }
    guard_places_leave(p, 7); /* one that it does not have */
    guard_places_leave(p, 9);
    for (int i = 0; i < 3; i++) CHECK(guard_places_enter(p, 7));
    CHECK(!guard_places_enter(p, 7));
    guard_places_free(p);
}

/* Many clients that come and go at random, compared with a plain array of counts. */
static void test_places_at_random(void)
{
    enum { CLIENTS = 300, MOST = 2, CONNECTIONS = 200 };
    unsigned counts[CLIENTS] = {0}, open = 0, refused = 0;
    struct guard_places *p = guard_places_new(CONNECTIONS, MOST);
    uint64_t state = 3;
    for (int i = 0; i < 200000; i++) {
        const size_t c = splitmix(&state) % CLIENTS;
        const uint64_t client = c + 1;
        if (splitmix(&state) % 2 == 0 && open < CONNECTIONS) {
            const bool good = guard_places_enter(p, client);
            CHECK(good == (counts[c] < MOST));
            counts[c] += good;
            open += good;
            refused += !good;
        } else if (counts[c] > 0) {
            guard_places_leave(p, client);
            counts[c]--;
            open--;
        }
    }
    CHECK(refused > 1000);
    for (size_t c = 0; c < CLIENTS; c++)
        for (; counts[c] > 0; counts[c]--) guard_places_leave(p, c + 1);
    for (uint64_t c = 0; c < CONNECTIONS; c++) CHECK(guard_places_enter(p, 1000 + c));
    guard_places_free(p);
}

/* More clients than there can be are refused, not written anywhere. */
static void test_no_place(void)
{
    struct guard_places *p = guard_places_new(1, 1);
    unsigned n = 0;
    for (uint64_t c = 1; c <= 1000; c++) n += guard_places_enter(p, c);
    CHECK(n >= 1 && n < 1000);
    for (uint64_t c = 1; c <= 1000; c++) guard_places_leave(p, c);
    CHECK(guard_places_enter(p, 5000));
    guard_places_free(p);
}

/* The table is bounded. One that asks all the time keeps its place while others come and go. */
static void test_crowd(void)
{
    struct guard_limits *l = guard_limits_new(1);
    uint64_t state = 1;
    unsigned granted = taken(l, "10.0.0.1", 0, 9), wait;
    for (int64_t now = 1; now <= 100000; now++) {
        union address a = {.v4 = {.sin_family = AF_INET}};
        a.v4.sin_addr.s_addr = (uint32_t)splitmix(&state);
        guard_limits_take(l, &a.any, now, &wait);
        granted += taken(l, "10.0.0.1", now, 1);
    }
    CHECK_THAT(granted, ==, 102);
    guard_limits_free(l);
}

static const struct test tests[] = {{"burst and refill", test_burst_and_refill},
                                    {"wait", test_wait},
                                    {"clients", test_clients},
                                    {"crowd", test_crowd},
                                    {"which addresses are one client", test_client_of},
                                    {"places", test_places},
                                    {"places at random", test_places_at_random},
                                    {"no place", test_no_place}};
TEST_MAIN(tests)
