/* Lines of lists: what each form lists, and that nothing else lists anything. */
#include "../support/check.h"
#include "../support/urls.h"

#define ENTRY(text) GUARD_LINE_ENTRY, text
#define NOTHING GUARD_LINE_NOTHING, NULL
#define REJECT(reason) GUARD_LINE_REJECT, reason

static const struct line {
    const char *text;
    guard_line_kind kind;
    const char *says; /* the expression, or a part of the reason */
} lines[] = {
    /* URLs. */
    {"http://evil.example/login?x=1", ENTRY("evil.example/login?x=1")},
    {"HTTPS://User@Evil.Example:443/a/../b#top", ENTRY("evil.example/b")},
    {"http://evil.example/q?", ENTRY("evil.example/q")}, /* which is what the URL is asked as */
    {"evil.example/login/", ENTRY("evil.example/login/")},
    {"http://host/", ENTRY("host/")},
    {"http://0x7f.1/x", ENTRY("127.0.0.1/x")},
    {"http://[2001:DB8::1]/x", ENTRY("[2001:db8::1]/x")},
    {"ftp://evil.example/f", ENTRY("evil.example/f")},
    /* Hosts. */
    {"evil.example", ENTRY("evil.example/")},
    {"Evil.Example.", ENTRY("evil.example/")},
    {"_dmarc.evil-1.example", ENTRY("_dmarc.evil-1.example/")},
    {"1.2.3.4", ENTRY("1.2.3.4/")},
    {"[2001:db8::1]", ENTRY("[2001:db8::1]/")},
    {"evil.example:8080", ENTRY("evil.example/")},
    /* Around them. */
    {"  evil.example \t\r\n", ENTRY("evil.example/")},
    {"\xef\xbb\xbf"
     "evil.example",
     ENTRY("evil.example/")},
    {"evil.example # why", ENTRY("evil.example/")},
    {"evil.example\t#why", ENTRY("evil.example/")},
    /* Hosts files. */
    {"0.0.0.0 evil.example", ENTRY("evil.example/")},
    {"127.0.0.1\tevil.example  # why", ENTRY("evil.example/")},
    {"::1 evil.example", ENTRY("evil.example/")},
    {":: evil.example", ENTRY("evil.example/")},
    {"127.0.0.1 localhost", NOTHING},
    {"127.0.0.1 localhost.localdomain", NOTHING},
    {"127.0.0.1 localhost localhost.localdomain", NOTHING},
    {"255.255.255.255 broadcasthost", NOTHING},
    {"fe80::1%lo0 localhost", NOTHING},
    {"ff02::1 ip6-allnodes", NOTHING},
    {"0.0.0.0 0.0.0.0", NOTHING},
    {"0.0.0.0 a.example b.example", REJECT("more than one host")},
    {"0.0.0.0 evil.example/path", REJECT("not a host")},
    {"0.0.0.0 evil.example%2fpath", REJECT("not a host")},
    {"0.0.0.0 http://evil.example/", REJECT("not a host")},
    {"0.0.0.0 *.evil.example", REJECT("not a domain name")},
    {"93.184.216.34 good.example", REJECT("leads nowhere")},
    {"0.0.0.0", ENTRY("0.0.0.0/")},
    /* Filter lists. */
    {"||evil.example^", ENTRY("evil.example/")},
    {"||1.2.3.4^", ENTRY("1.2.3.4/")},
    {"[Adblock Plus 2.0]", NOTHING},
    {"||evil.example", REJECT("||host^")},
    {"||evil.example/path^", REJECT("||host^")},
    {"||evil.example:80^", REJECT("||host^")},
    {"||^", REJECT("no host")},
    {"||*.evil.example^", REJECT("not a domain name")},
    {"||evil.example^$third-party", REJECT("options")},
    {"||good.example^*.js", REJECT("options")},
    {"@@||good.example^", REJECT("exception")},
    {"|http://evil.example/", REJECT("")},
    {"good.example##.advert", REJECT("part of a page")},
    {"good.example#@#.advert", REJECT("part of a page")},
    {"good.example#?#.advert", REJECT("part of a page")},
    {"good.example#$#body {}", REJECT("white space")},
    {"good.example#$#body{}", REJECT("part of a page")},
    {"/advert/*", REJECT("no host")},
    {"*.evil.example", REJECT("not a domain name")},
    {"evil.example/*", REJECT("a pattern")},
    {"http://evil.example/folder/*", REJECT("a pattern")},
    {"evil.example/a*", ENTRY("evil.example/a*")},
    {"evil.example/?q=/*", ENTRY("evil.example/?q=/*")},
    /* Ranges of addresses. */
    {"10.0.0.0/8", REJECT("a range of addresses")},
    {"[2001:db8::]/32", REJECT("a range of addresses")},
    {"2001:db8::/32", REJECT("")},
    {"http://10.0.0.1/8", ENTRY("10.0.0.1/8")},
    {"10.0.0.1/8/", ENTRY("10.0.0.1/8/")},
    {"10.0.0.1/2026", ENTRY("10.0.0.1/2026")},
    {"10.0.0.1/8?x", ENTRY("10.0.0.1/8?x")},
    /* Nothing. */
    {"", NOTHING},
    {" \t\r\n", NOTHING},
    {"# evil.example", NOTHING},
    {"#", NOTHING},
    {"  # evil.example", NOTHING},
    {"! evil.example", NOTHING},
    /* The rest. */
    {"evil", REJECT("neither a URL nor a domain name")},
    {"evil.example,malware", REJECT("not a domain name")},
    {"1,evil.example", REJECT("not a domain name")},
    {"evil.example malware", REJECT("white space")},
    {"http://evil.example/a b", REJECT("white space")},
    {"http://evil.example\\a", REJECT("backslash")},
    {"http://evil.example/a\\b", REJECT("backslash")},
    {"evil.exam\x01ple", REJECT("control character")},
    {"javascript:alert(1)", REJECT("only http")},
    {"http://:80:./", REJECT("port")},
    {"http://b\xc3\xbc"
     "cher.example/",
     REJECT("cannot be converted")}, /* here without a hook */
};

static void every_form(void)
{
    static char room[GUARD_URL_ROOM(256)];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct line *l = &lines[i];
        guard_line_kind kind;
        const char *fault = line_fault(l->text, strlen(l->text), NULL, &kind);
        const guard_line got = guard_list_line(l->text, strlen(l->text), NULL, room, sizeof room);
        bool right = fault == NULL && got.kind == l->kind;
        if (right && got.kind == GUARD_LINE_ENTRY)
            right = got.expression.length == strlen(l->says) &&
                    memcmp(got.expression.bytes, l->says, got.expression.length) == 0;
        if (right && got.kind == GUARD_LINE_REJECT) right = strstr(got.reason, l->says) != NULL;
        if (!right)
            printf("%s: %d %.*s %s %s\n", l->text, (int)got.kind, (int)got.expression.length,
                   got.expression.length > 0 ? got.expression.bytes : "",
                   got.reason != NULL ? got.reason : "", fault != NULL ? fault : "");
        CHECK(right);
    }
}

/* What an entry of a host promises: pages on it and on hosts below ask for it. */
static void a_host_covers_what_is_below(void)
{
    static char room[GUARD_URL_ROOM(64)], list_room[GUARD_URL_ROOM(64)];
    const char *page = "https://www.a.evil.example/x/y?z";
    guard_url u;
    guard_span e[GUARD_URL_EXPRESSIONS];
    CHECK(guard_url_canonical(page, strlen(page), NULL, room, sizeof room, &u) == GUARD_URL_OK);
    const size_t n = guard_url_expressions(&u, e);
    const char *forms[] = {"evil.example", "0.0.0.0 evil.example", "||evil.example^",
                           "a.evil.example/x/"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const guard_line l =
            guard_list_line(forms[f], strlen(forms[f]), NULL, list_room, sizeof list_room);
        bool found = false;
        for (size_t i = 0; i < n; i++)
            found = found || (e[i].length == l.expression.length &&
                              memcmp(e[i].bytes, l.expression.bytes, e[i].length) == 0);
        CHECK(found);
    }
}

static void too_little_room(void)
{
    char room[GUARD_URL_ROOM(11)];
    const guard_line l = guard_list_line("evil.example", 12, NULL, room, sizeof room);
    CHECK(l.kind == GUARD_LINE_REJECT);
    CHECK(strcmp(l.reason, guard_url_message(GUARD_URL_EROOM)) == 0);
}

static void long_lines(void)
{
    static char in[1 << 20];
    const char *patterns[] = {"a.", "#",    " #", "||",           "^", "%25", " ", "0.0.0.0 ",
                              "@@", "\x80", "/",  "\xef\xbb\xbf", "##"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const size_t p = strlen(patterns[i]);
        guard_line_kind kind;
        for (size_t j = 0; j < sizeof in; j++) in[j] = patterns[i][j % p];
        CHECK(line_fault(in, sizeof in, NULL, &kind) == NULL);
    }
}

static void random_lines(void)
{
    static const char *const before[] = {"",     "",   "||",          "0.0.0.0 ",
                                         "@@||", "# ", "127.0.0.1\t", "  "};
    static const char *const after[] = {"", "", "^", " # x", "\r\n", "^$all", "##x", " y.z"};
    uint64_t state = 7;
    unsigned entries = 0;
    for (unsigned i = 0; i < 200000; i++) {
        char in[256];
        const uint64_t r = splitmix(&state);
        size_t n = (size_t)snprintf(in, 16, "%s", before[r % 8]);
        n += random_url(&state, in + n, 200);
        n += (size_t)snprintf(in + n, 16, "%s", after[r / 8 % 8]);
        guard_line_kind kind;
        const char *fault = line_fault(in, n, i % 2 == 0 ? NULL : mask_idn, &kind);
        entries += kind == GUARD_LINE_ENTRY;
        if (fault != NULL) printf("%.*s: %s\n", (int)n, in, fault);
        CHECK(fault == NULL);
    }
    CHECK_THAT(entries, >, 1000);
}

static const struct test tests[] = {
    {"every form", every_form},
    {"a host covers what is below", a_host_covers_what_is_below},
    {"too little room", too_little_room},
    {"long lines", long_lines},
    {"random lines", random_lines},
};

TEST_MAIN(tests)
