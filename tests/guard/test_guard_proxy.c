/* Tests who is the client of a request that came through proxies. */
#include "../../guard/server/access_log.h"
#include "../../guard/server/proxy.h"
#include "../../guard/server/socket.h"
#include "../support/check.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

static struct guard_proxies trusting(const char *const *texts)
{
    struct guard_proxies p = {.n = 0};
    for (; *texts != NULL; texts++) CHECK(guard_proxies_add(&p, *texts) == NULL);
    return p;
}

static void test_networks(void)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"127.0.0.1", true},
        {"10.0.0.0/8", true},
        {"10.0.0.1/32", true},
        {"192.168.4.0/22", true},
        {"::1", true},
        {"2001:db8::/32", true},
        {"2001:db8::1/128", true},
        {"::ffff:10.0.0.0/104", true},
        {"unix", true},
        {"", false},
        {"/8", false},
        {"10.0.0.0/", false},
        {"10.0.0.0/33", false},
        {"10.0.0.0/x", false},
        {"10.0.0.0/8x", false},
        {"10.0.0.0/-8", false},
        {"10.0.0.0/ 8", false},
        {"10.0.0.0/0", false}, /* everybody */
        {"0.0.0.0/0", false},
        {"::/0", false},
        {"::/64", false}, /* everybody who has an IPv4 address */
        {"::/1", false},
        {"::/80", false},
        {"::/81", true},
        {"::ffff:0:0/96", false},
        {"::ffff:0.0.0.0/97", true},
        {"::/96", true},
        {"::/129", false},
        {"::/0128", false},
        {"10.0.0.1/8", false}, /* a mistake in the address or in the bits */
        {"2001:db8::1/64", false},
        {"10.0.0", false},
        {"10.0.0.0.0", false},
        {"[::1]", false},
        {"127.0.0.1:80", false},
        {"localhost", false},
        {"unix:", false},
        {"UNIX", false},
        {"2001:db8:0000:0000:0000:0000:0000:0001:0000:0000:0000/8", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guard_proxies p = {.n = 0};
        if ((guard_proxies_add(&p, cases[i].text) == NULL) == cases[i].good) continue;
        printf("%s\n", cases[i].text);
        CHECK(false);
    }
    struct guard_proxies p = {.n = 0};
    for (int i = 0; i < GUARD_PROXIES; i++) CHECK(guard_proxies_add(&p, "10.0.0.1") == NULL);
    CHECK(guard_proxies_add(&p, "10.0.0.1") != NULL);
    CHECK(guard_proxies_add(&p, "unix") == NULL);
}

static bool trusts(const struct guard_proxies *p, const char *address)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return guard_proxies_trust(p, (const struct sockaddr *)&v4);
    CHECK(inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
    return guard_proxies_trust(p, (const struct sockaddr *)&v6);
}

static void test_peers(void)
{
    static const char *const some[] = {"10.0.0.0/8", "192.168.4.0/22", "::1", "2001:db8::/47",
                                       NULL};
    static const char *const local[] = {"unix", NULL};
    struct guard_proxies p = trusting(some);
    const struct sockaddr_un socket = {.sun_family = AF_UNIX};
    CHECK(trusts(&p, "10.0.0.0") && trusts(&p, "10.255.255.255"));
    CHECK(!trusts(&p, "9.255.255.255") && !trusts(&p, "11.0.0.0"));
    CHECK(trusts(&p, "192.168.4.0") && trusts(&p, "192.168.7.255"));
    CHECK(!trusts(&p, "192.168.3.255") && !trusts(&p, "192.168.8.0"));
    CHECK(trusts(&p, "::ffff:10.1.2.3")); /* the same address at an IPv6 socket */
    CHECK(!trusts(&p, "::10.1.2.3"));
    CHECK(trusts(&p, "::1") && !trusts(&p, "::2") && !trusts(&p, "::"));
    CHECK(trusts(&p, "2001:db8::1") && trusts(&p, "2001:db8:1:ffff::"));
    CHECK(!trusts(&p, "2001:db8:2::"));
    CHECK(!guard_proxies_trust(&p, NULL));
    CHECK(!guard_proxies_trust(&p, (const struct sockaddr *)&socket));
    p = trusting(local);
    CHECK(guard_proxies_trust(&p, (const struct sockaddr *)&socket));
    CHECK(!trusts(&p, "127.0.0.1"));
}

/* The client after fields separated by '|', or "peer". */
static const char *client_after(const char *fields)
{
    static const char *const some[] = {"10.0.0.0/8", "2001:db8::/32", NULL};
    static char text[INET6_ADDRSTRLEN];
    const struct guard_proxies p = trusting(some);
    struct guard_trail t = {.proxies = &p};
    char copy[400], *rest = copy, *field;
    snprintf(copy, sizeof copy, "%s", fields);
    while ((field = strsep(&rest, "|")) != NULL) guard_trail_add(&t, field);
    if (!t.known) return "peer";
    const bool v4 = IN6_IS_ADDR_V4MAPPED(&t.client);
    inet_ntop(v4 ? AF_INET : AF_INET6, t.client.s6_addr + (v4 ? 12 : 0), text, sizeof text);
    return text;
}

static void test_trails(void)
{
    static const struct {
        const char *fields, *client;
    } cases[] = {
        {"1.2.3.4", "1.2.3.4"},
        {" \t1.2.3.4 \t", "1.2.3.4"},
        {"6.6.6.6, 1.2.3.4", "1.2.3.4"}, /* the left one is what the client wrote */
        {"6.6.6.6,1.2.3.4", "1.2.3.4"},
        {"6.6.6.6|1.2.3.4", "1.2.3.4"},
        {"6.6.6.6, 7.7.7.7|1.2.3.4, 10.0.0.1|10.0.0.2", "1.2.3.4"},
        {"1.2.3.4, 10.0.0.1", "1.2.3.4"},
        {"6.6.6.6, 1.2.3.4, 10.0.0.1, 10.0.0.2", "1.2.3.4"},
        {"10.0.0.9, 1.2.3.4", "1.2.3.4"}, /* a forged proxy */
        {"10.0.0.3, 10.0.0.2, 10.0.0.1", "10.0.0.3"},
        {"10.0.0.3|10.0.0.2", "10.0.0.3"},
        {"1.2.3.4:5678", "1.2.3.4"},
        {"1.2.3.4:0", "1.2.3.4"},
        {"1.2.3.4:65535", "1.2.3.4"},
        {"2001:db9::1", "2001:db9::1"},
        {"[2001:db9::1]", "2001:db9::1"},
        {"[2001:db9::1]:443", "2001:db9::1"},
        {"::ffff:1.2.3.4", "1.2.3.4"},
        {"[::ffff:1.2.3.4]:80", "1.2.3.4"},
        {"2001:db9::1, 2001:db8::7", "2001:db9::1"},
        {"6.6.6.6, ::ffff:10.0.0.1", "6.6.6.6"},
        {"2001:DB9:0::1", "2001:db9::1"},
        /* What is not an address hides what is to its left. */
        {"", "peer"},
        {"|", "peer"},
        {",", "peer"},
        {"1.2.3.4,", "peer"},
        {"1.2.3.4|", "peer"},
        {"unknown", "peer"},
        {"1.2.3.4, unknown", "peer"},
        {"1.2.3.4, unix:", "peer"},
        {"unknown, 1.2.3.4", "1.2.3.4"},
        {"1.2.3.4, unknown, 10.0.0.1", "10.0.0.1"},
        {"1.2.3.4, , 10.0.0.1", "10.0.0.1"},
        {"1.2.3.4, unknown, 10.0.0.2, 10.0.0.1", "10.0.0.2"},
        {"1.2.3.4 5.6.7.8", "peer"},
        {"1.2.3.4;5.6.7.8", "peer"},
        {"\"1.2.3.4\"", "peer"},
        {"for=1.2.3.4", "peer"},
        {"1.2.3", "peer"},
        {"1.2.3.4.5", "peer"},
        {"01.2.3.4", "peer"},
        {"0x1.2.3.4", "peer"},
        {"16909060", "peer"},
        {"1.2.3.4:", "peer"},
        {"1.2.3.4:65536", "peer"},
        {"1.2.3.4:123456", "peer"},
        {"1.2.3.4:x", "peer"},
        {"1.2.3.4:-1", "peer"},
        {"1.2.3.4: 1", "peer"},
        {"1.2.3.4/8", "peer"},
        {"[1.2.3.4]", "peer"},
        {"[2001:db9::1", "peer"},
        {"2001:db9::1]", "peer"},
        {"[2001:db9::1]x", "peer"},
        {"[2001:db9::1]:", "peer"},
        {"[]", "peer"},
        {"[", "peer"},
        {":", "peer"},
        {":80", "peer"},
        {"fe80::1%eth0", "peer"},
        {"2001:db9::1:2:3:4:5:6:7:8", "peer"},
        {"11111111111111111111111111111111111111111111111111111111111111111111", "peer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(client_after(cases[i].fields), cases[i].client) == 0) continue;
        printf("X-Forwarded-For: %s: %s\n", cases[i].fields, client_after(cases[i].fields));
        CHECK(false);
    }
}

static void test_places_to_listen(void)
{
    static const struct {
        const char *text, *address;
        uint16_t port;
    } cases[] = {
        {"127.0.0.1:9100", "127.0.0.1", 9100},
        {"127.0.0.1:0", "127.0.0.1", 0},
        {"[::1]:65535", "::1", 65535},
        {"127.0.0.1", NULL, 0},
        {"127.0.0.1:", NULL, 0},
        {":9100", NULL, 0},
        {"[]:1", NULL, 0},
        {"::1", NULL, 0},
        {"::1:9100", NULL, 0},
        {"[::1]", NULL, 0},
        {"[127.0.0.1]:1", NULL, 0},
        {"127.0.0.1:65536", NULL, 0},
        {"127.0.0.1:99999", NULL, 0},
        {"127.0.0.1:100000", NULL, 0},
        {"127.0.0.1:1x", NULL, 0},
        {"127.0.0.1:-1", NULL, 0},
        {"", NULL, 0},
        {"1111111111111111111111111111111111111111111111111111111111111111:1", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guard_endpoint_text to;
        const bool good = guard_split_port(cases[i].text, &to);
        if (good == (cases[i].address != NULL) &&
            (!good || (strcmp(to.address, cases[i].address) == 0 && to.port == cases[i].port)))
            continue;
        printf("%s\n", cases[i].text);
        CHECK(false);
    }
    CHECK(guard_is_socket_path("/run/x") && guard_is_socket_path("./x"));
    CHECK(!guard_is_socket_path("127.0.0.1:1"));
}

/* The line of the log for a client. */
static const char *line_for(const char *address, enum guard_log_clients clients)
{
    static char line[GUARD_ACCESS_LINE + 1];
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    const struct sockaddr_un socket = {.sun_family = AF_UNIX};
    struct guard_access a = {
        .at = GUARD_AT_CONFIRM, .status = 200, .bytes = 143, .complete = true, .elapsed = 1000213};
    if (strcmp(address, "unix") == 0) {
        a.client = (const struct sockaddr *)&socket;
    } else if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        a.client = (const struct sockaddr *)&v4;
    } else if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1) {
        a.client = (const struct sockaddr *)&v6;
    } else {
        a.complete = false;
    }
    line[guard_access_line(line, INT64_C(1794986960199), clients, &a)] = '\0';
    return line;
}

static void test_lines(void)
{
#define START "2026-11-18T07:29:20.199Z confirm 200 143 1.000213"
    CHECK(strcmp(line_for("1.2.3.4", GUARD_LOG_NO_CLIENTS), START "\n") == 0);
    CHECK(strcmp(line_for("1.2.3.4", GUARD_LOG_NETWORKS), START " 1.2.3.0/24\n") == 0);
    CHECK(strcmp(line_for("1.2.3.4", GUARD_LOG_ADDRESSES), START " 1.2.3.4\n") == 0);
    CHECK(strcmp(line_for("::ffff:1.2.3.4", GUARD_LOG_NETWORKS), START " 1.2.3.0/24\n") == 0);
    CHECK(strcmp(line_for("::ffff:1.2.3.4", GUARD_LOG_ADDRESSES), START " 1.2.3.4\n") == 0);
    CHECK(strcmp(line_for("2001:db8:1:2:3::4", GUARD_LOG_NETWORKS), START " 2001:db8:1::/48\n") ==
          0);
    CHECK(strcmp(line_for("2001:db8:1:2:3::4", GUARD_LOG_ADDRESSES),
                 START " 2001:db8:1:2:3::4\n") == 0);
    CHECK(strcmp(line_for("unix", GUARD_LOG_NETWORKS), START " unix\n") == 0);
    CHECK(strcmp(line_for("nobody", GUARD_LOG_ADDRESSES),
                 "2026-11-18T07:29:20.199Z confirm 200 - 1.000213 -\n") == 0);
}

static const struct test tests[] = {{"networks", test_networks},
                                    {"peers", test_peers},
                                    {"trails", test_trails},
                                    {"places to listen", test_places_to_listen},
                                    {"lines of the access log", test_lines}};
TEST_MAIN(tests)
