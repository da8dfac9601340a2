/* Tests addresses, slots, tags and redirects, and that items spread evenly over shards, each of
 * which keeps its rate. No server is needed. */
#include "../../cluster/nodes.h"
#include "../../cluster/set.h"
#include "../support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned slot(const char *key)
{
    return cluster_slot(key, strlen(key));
}

/* The check value of CRC-16/XMODEM is 31C3; the others are from CLUSTER KEYSLOT. */
static void test_slots(void)
{
    CHECK(slot("123456789") == 0x31c3 % CLUSTER_SLOTS);
    CHECK(slot("") == 0);
    CHECK(slot("foo") == 12182);
    CHECK(slot("{foo}bar") == 12182 && slot("a:{foo}") == 12182 && slot("a{foo}{bar}") == 12182);
    CHECK(slot("foo{}{bar}") == 8363);
    CHECK(slot("foo{{bar}}zap") == slot("{bar"));
    CHECK(slot("foo{bar") != slot("bar"));
}

static void test_tags(void)
{
    static uint32_t tags[CLUSTER_SLOTS];
    const unsigned shards[] = {1, 2, 3, 12, 100, 1000, CLUSTER_SLOTS};
    for (size_t s = 0; s < sizeof shards / sizeof *shards; s++) {
        const unsigned n = shards[s];
        unsigned wrong = 0;
        cluster_tags(n, tags);
        for (unsigned i = 0; i < n; i++) {
            char key[40];
            snprintf(key, sizeof key, "any name:{%u}", tags[i]);
            wrong += slot(key) * n / CLUSTER_SLOTS != i || tags[i] > 200000;
        }
        CHECK(wrong == 0);
    }
    CHECK((cluster_tags(1, tags), tags[0]) == 0);
}

static void test_options_of_addresses(void)
{
    struct cluster_address a, b;
    char why[CLUSTER_WHY];
    CHECK(cluster_parse("rediss://127.0.0.1:1/n", &a) == NULL);
    CHECK(link_open("127.0.0.1", 1, &a, NULL, 1, why) == NULL && strstr(why, "no TLS") != NULL);
    CHECK(cluster_parse("rediss://me:@h:1/n%3f?db=12&cacert=/a%26b&cert=c&key=k&sni=s", &a) ==
          NULL);
    CHECK(a.secure && a.db == 12 && strcmp(a.name, "n?") == 0 && strcmp(a.user, "me") == 0);
    CHECK(strcmp(a.ca, "/a&b") == 0 && strcmp(a.cert, "c") == 0 && strcmp(a.key, "k") == 0);
    CHECK(strcmp(a.sni, "s") == 0 && strcmp(a.shown, "rediss://h:1/n%3f?db=12") == 0);
    CHECK(a.credentials_end == strlen("rediss://me:@"));
    CHECK(cluster_parse("redis://h/n?password-file=f", &a) == NULL && !a.secure);
    CHECK(strcmp(a.password_file, "f") == 0 && strcmp(a.shown, "redis://h/n") == 0);
    CHECK(cluster_parse("unix://u:p@/run/r.sock?name=n/m&db=3", &a) == NULL);
    CHECK(a.port == 0 && strcmp(a.host, "/run/r.sock") == 0 && strcmp(a.name, "n/m") == 0);
    CHECK(strcmp(a.user, "u") == 0 && strcmp(a.password, "p") == 0 && a.db == 3 && !a.secure);
    CHECK(strcmp(a.shown, "unix:///run/r.sock?name=n/m&db=3") == 0);
    CHECK(cluster_parse_server("unix:///s?db=5", &b) == NULL);
    CHECK(strcmp(b.shown, "unix:///s?db=5") == 0);
    cluster_wipe(&a);
    CHECK(a.user[0] == '\0' && a.password[0] == '\0' && a.password[1] == '\0');
    static const char *const servers[] = {"redis://h", "rediss://u:p@h:1/", "unix:///s",
                                          "redis://[::1]:1?db=2"};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        CHECK(cluster_parse_server(servers[i], &a) == NULL && a.name[0] == '\0');
        CHECK(cluster_parse(servers[i], &a) != NULL);
    }
    CHECK(cluster_parse_server("redis://h/n", &a) != NULL);
    CHECK(cluster_parse_server("unix:///s?name=n", &a) != NULL);
    static const struct {
        const char *first, *second;
        bool same;
    } pairs[] = {{"redis://u:p@h/a", "redis://h:6379/b", true},
                 {"redis://u:p@h/a", "redis://u:p@h/b", true},
                 {"redis://u:p@h/a", "redis://u:q@h/b", false},
                 {"redis://h/a", "redis://u:p@h/b", false},
                 {"redis://h/a", "redis://i/b", false},
                 {"redis://h/a", "redis://h:1/b", false},
                 {"redis://h/a", "rediss://h/b", false},
                 {"redis://h/a", "redis://h/b?db=1", false},
                 {"rediss://h/a", "rediss://h/b?cacert=c", false},
                 {"rediss://h/a?cert=c&key=k", "rediss://h/b?cert=c&key=k", true},
                 {"rediss://h/a?cert=c&key=k", "rediss://h/b?cert=c&key=l", false},
                 {"rediss://h/a?sni=s", "rediss://h/b?sni=t", false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK(cluster_parse(pairs[i].first, &a) == NULL);
        CHECK(cluster_parse(pairs[i].second, &b) == NULL);
        CHECK(cluster_same_servers(&a, &b) == pairs[i].same);
    }
    char path[120] = "unix:///";
    memset(path + 8, 's', 102);
    strcpy(path + 110, "?name=n");
    CHECK(cluster_parse(path, &a) == NULL && strlen(a.host) == 103);
    strcpy(path + 110, "s?name=n");
    CHECK(cluster_parse(path, &a) != NULL);
}

static void test_addresses(void)
{
    struct cluster_address a;
    CHECK(cluster_is_address("redis://h/n") && cluster_is_address("rediss://"));
    CHECK(cluster_is_address("unix://") && !cluster_is_address("unix:/run"));
    CHECK(!cluster_is_address("redis.tamis") && !cluster_is_address("http://redis://"));
    CHECK(cluster_parse("redis://host/name", &a) == NULL);
    CHECK(strcmp(a.host, "host") == 0 && a.port == 6379 && strcmp(a.name, "name") == 0);
    CHECK(a.user[0] == '\0' && a.password[0] == '\0');
    CHECK(cluster_parse("redis://[::1]:7000/a/b%20c", &a) == NULL);
    CHECK(strcmp(a.host, "::1") == 0 && a.port == 7000 && strcmp(a.name, "a/b c") == 0);
    CHECK(cluster_parse("redis://me:p%3aw@[fe80::1]/n", &a) == NULL);
    CHECK(strcmp(a.user, "me") == 0 && strcmp(a.password, "p:w") == 0 && a.port == 6379);
    CHECK(strcmp(a.shown, "redis://[fe80::1]/n") == 0);
    CHECK(cluster_parse("redis://[::1]:7000", &a) != NULL);
    CHECK(strcmp(a.shown, "redis://[::1]:7000") == 0);
    CHECK(cluster_parse("redis://[::1]", &a) != NULL && strcmp(a.shown, "redis://[::1]") == 0);
    CHECK(cluster_parse("redis://secret@h:1/n", &a) == NULL);
    CHECK(strcmp(a.password, "secret") == 0 && strstr(a.shown, "secret") == NULL);
    static const char *const wrong[] = {"redis://",
                                        "redis:///n",
                                        "redis://h",
                                        "redis://h/",
                                        "redis://h:/n",
                                        "redis://h:0/n",
                                        "redis://h:65536/n",
                                        "redis://h:1x/n",
                                        "redis://h:-1/n",
                                        "redis://[::1/n",
                                        "redis://[::1]x/n",
                                        "redis://h/%",
                                        "redis://h/%4",
                                        "redis://h/%zz",
                                        "redis://h/%00",
                                        "redis://h/a{b}",
                                        "redis://h/a%7bb",
                                        "redis://@h/n",
                                        "redis://:@h/n",
                                        "redis://u:secret/n",
                                        "redis://:secret",
                                        "redis://:a?secret@h/n",
                                        "redis://:a?secret@h",
                                        "redis://::1/n",
                                        "redis://h/n?",
                                        "redis://h/n?secret",
                                        "redis://h/n?password=secret",
                                        "redis://h/n?name=m",
                                        "redis://h/?name=n",
                                        "redis://h/n?db=",
                                        "redis://h/n?db=-1",
                                        "redis://h/n?db=1x",
                                        "redis://h/n?db=99999999",
                                        "redis://h/n?cacert=f",
                                        "redis://h/n?sni=f",
                                        "rediss://h/n?sni=",
                                        "rediss://h/n?cacert=%00",
                                        "rediss://h/n?db=1&",
                                        "unix://",
                                        "unix://?name=n",
                                        "unix://h/s?name=n",
                                        "unix:///s",
                                        "unix:///s?name=",
                                        "unix:///s?name={}",
                                        "unix:///s?name=n&cert=f",
                                        "unix://u:secret@s?name=n",
                                        "redis://h:000001/n",
                                        "redis://secret@/n",
                                        "redis://[::1]:secret",
                                        "redis://[x:secret]",
                                        "redis://[1:secret",
                                        "redis://:a/secret@h/n",
                                        "redis://u:1/secret@h/n",
                                        "redis://u:secret/secret@h",
                                        "rediss://:a/secret@h/n",
                                        "redis://h:99999999999/n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(cluster_parse(wrong[i], &a) != NULL);
        CHECK(strstr(a.shown, "secret") == NULL);
    }
    test_options_of_addresses();
    char *longest = malloc(100000);
    memset(longest, 'a', 99999);
    longest[99999] = '\0';
    memcpy(longest, "redis://", 8);
    CHECK(cluster_parse(longest, &a) != NULL);
    memcpy(longest, "redis://h/", 10);
    CHECK(cluster_parse(longest, &a) != NULL);
    free(longest);
}

/* What servers say of where a slot is, and what liars do. */
static void test_redirects(void)
{
    static const struct {
        const char *text, *host;
        int port;
    } right[] = {{"MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381},
                 {"ASK 0 ::1:7000", "::1", 7000},
                 {"MOVED 16383 :1", "", 1},
                 {"MOVED 5 host.example:65535", "host.example", 65535}};
    static const char *const wrong[] = {"MOVED",
                                        "MOVED ",
                                        "MOVED 5",
                                        "MOVED 5 ",
                                        "MOVED 5 nowhere",
                                        "MOVED 5 h:",
                                        "MOVED 5 h:0",
                                        "MOVED 5 h:00000",
                                        "MOVED 5 h:65536",
                                        "MOVED 5 h:99999",
                                        "MOVED 5 h:4294967297",
                                        "MOVED 5 h:18446744073709551617",
                                        "MOVED 5 h:-1",
                                        "MOVED 5 h:+1",
                                        "MOVED 5 h: 1",
                                        "MOVED 5 h:1x",
                                        "MOVED 5 h:0x10",
                                        "MOVED 5 h:1 ",
                                        "MOVED 5 h:1 more",
                                        "MOVED  5 h:1",
                                        "MOVED 5  h:1",
                                        "MOVED x h:1",
                                        "MOVED -1 h:1",
                                        "MOVED 16384 h:1",
                                        "MOVED 65541 h:1",
                                        "MOVED 4294967301 h:1"};
    const char *host;
    size_t length;
    int port;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        CHECK(parse_redirect(right[i].text, &host, &length, &port) && port == right[i].port);
        CHECK(length == strlen(right[i].host) && memcmp(host, right[i].host, length) == 0);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!parse_redirect(wrong[i], &host, &length, &port));
    char longest[CLUSTER_HOST + 40] = "ASK 5 ";
    memset(longest + 6, 'h', CLUSTER_HOST);
    strcpy(longest + 6 + CLUSTER_HOST, ":1");
    CHECK(!parse_redirect(longest, &host, &length, &port)); /* no room for it */
    strcpy(longest + 6 + CLUSTER_HOST - 1, ":1");
    CHECK(parse_redirect(longest, &host, &length, &port) && length == CLUSTER_HOST - 1);
}

/* TAMIS.CREATE has as many words as it says, and each that the plan says. */
static void test_plans(void)
{
    const tamis_plan nothing = {.struct_size = sizeof nothing},
                     all = {sizeof all,
                            TAMIS_WINDOW,
                            TAMIS_STRICT | TAMIS_COMPACT | TAMIS_AUTO_ROTATE | TAMIS_TRANSFER |
                                TAMIS_CONSERVATIVE,
                            UINT64_MAX,
                            0.1,
                            UINT64_MAX,
                            UINT64_MAX,
                            UINT64_MAX,
                            UINT32_MAX,
                            UINT32_MAX,
                            UINT32_MAX,
                            TAMIS_COUNT_SKETCH,
                            UINT64_MAX,
                            1e-300,
                            0.3,
                            0,
                            0};
    const struct {
        const tamis_plan *plan;
        unsigned words;
        const char *end;
    } cases[] = {{&nothing, 3, "$4\r\nauto\r\n"},
                 {&all, 3 + 12 * 2 + 5, "$8\r\nTRANSFER\r\n$12\r\nCONSERVATIVE\r\n"}};
    struct shard shard = {.slot = 7};
    memset(shard.key, 'k', sizeof shard.key - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request *r = plan_request(&shard, cases[i].plan);
        unsigned said = 0, counted = 0;
        CHECK(r != NULL && r->length <= r->room && r->writes && r->slot == 7);
        char *text = calloc(1, r->length + 1);
        memcpy(text, r->text, r->length);
        for (const char *p = text; (p = strchr(p, '$')) != NULL; p++) counted++;
        CHECK(sscanf(text, "*%u", &said) == 1 && said == cases[i].words && counted == said);
        CHECK(strcmp(text + r->length - strlen(cases[i].end), cases[i].end) == 0);
        if (cases[i].plan == &all)
            CHECK(strstr(text, "INNER\r\n$12\r\ncount-sketch\r\n") != NULL &&
                  strstr(text, "RATE\r\n$19\r\n0.10000000000000001\r\n") != NULL &&
                  strstr(text, "GENERATIONS\r\n$10\r\n4294967295\r\n") != NULL &&
                  strstr(text, "EXCLUDED\r\n$20\r\n18446744073709551615\r\n") != NULL);
        free(text);
        request_free(r);
    }
}

enum { SHARDS = 7, EACH = 20000, KEYS = SHARDS * EACH, ASKED = SHARDS * 100000 };

static tamis_hash hash_of(const tamis *router, const char *prefix, int i, char *key)
{
    tamis_hash h;
    const tamis_bytes item = {key, (size_t)sprintf(key, "%s%d", prefix, i)};
    tamis_hash_many(router, &item, 1, &h);
    return h;
}

/* The hash that chooses the shard must say nothing of where in the shard an item lies: else the
 * items of one shard would crowd in a part of it, and its rate would be higher than the one that
 * the same number of any items gives. */
static void test_routing(void)
{
    struct cluster_set s = {.n = SHARDS, .route = CLUSTER_ROUTE};
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = EACH, .fpr = 0.01};
    tamis *router = cluster_router(&s), *shard[SHARDS];
    unsigned in[SHARDS] = {0}, asked[SHARDS] = {0}, maybe[SHARDS] = {0};
    char key[40];
    CHECK(router != NULL);
    for (int i = 0; i < SHARDS; i++) CHECK(tamis_create(&plan, NULL, &shard[i], NULL) == TAMIS_OK);
    for (int i = 0; i < KEYS; i++) {
        const unsigned to = cluster_shard_of(&s, hash_of(router, "key ", i, key));
        in[to]++;
        tamis_add(shard[to], key, strlen(key), NULL);
    }
    for (int i = 0; i < ASKED; i++) {
        const unsigned to = cluster_shard_of(&s, hash_of(router, "other ", i, key));
        asked[to]++;
        maybe[to] += tamis_may_contain(shard[to], key, strlen(key));
    }
    for (int i = 0; i < SHARDS; i++) {
        tamis_facts f = {.struct_size = sizeof f};
        CHECK(tamis_info(shard[i], &f) == TAMIS_OK);
        /* Fourteen comparisons at 6.5 deviations: a false alarm in less than 1e-9. The rate of the
         * bits is exact. */
        CHECK(fabs(in[i] - (double)EACH) < 6.5 * sqrt(EACH));
        const double expected = asked[i] * f.fpr_now;
        CHECK(fabs(maybe[i] - expected) < 6.5 * sqrt(expected));
        /* And the bits are as many as any items set: 0.9 % at this plan, with the number that
         * came. */
        CHECK(f.fpr_now < 0.012 && f.fpr_now > 0.008);
        tamis_close(shard[i]);
    }
    tamis_close(router);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"slots", test_slots},         {"tags", test_tags},   {"addresses", test_addresses},
        {"redirects", test_redirects}, {"plans", test_plans}, {"routing", test_routing}};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
