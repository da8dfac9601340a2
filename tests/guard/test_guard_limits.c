/* Tests how often a client may send requests, with a clock of the test. */
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
                                    {"crowd", test_crowd}};
TEST_MAIN(tests)
