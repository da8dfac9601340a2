/* Canonical URLs and their expressions: every published vector, every rule, and every choice of
 * guard/url/url.c. */
#include "../support/check.h"
#include "../support/urls.h"

struct vector {
    const char *input, *canonical; /* NULL: as the input */
};

/* "URLs and Hashing", Safe Browsing v4; in its order. */
static const struct vector published[] = {
    {"http://host/%25%32%35", "http://host/%25"},
    {"http://host/%25%32%35%25%32%35", "http://host/%25%25"},
    {"http://host/%2525252525252525", "http://host/%25"},
    {"http://host/asdf%25%32%35asd", "http://host/asdf%25asd"},
    {"http://host/%%%25%32%35asd%%", "http://host/%25%25%25asd%25%25"},
    {"http://www.google.com/", NULL},
    {"http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/"
     "%77%77%77%2E%65%62%61%79%2E%63%6F%6D/",
     "http://168.188.99.26/.secure/www.ebay.com/"},
    {"http://195.127.0.11/uploads/%20%20%20%20/.verify/"
     ".eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/",
     NULL},
    {"http://host%23.com/"
     "%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B",
     "http://host%23.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+"},
    {"http://3279880203/blah", "http://195.127.0.11/blah"},
    {"http://www.google.com/blah/..", "http://www.google.com/"},
    {"www.google.com/", "http://www.google.com/"},
    {"www.google.com", "http://www.google.com/"},
    {"http://www.evil.com/blah#frag", "http://www.evil.com/blah"},
    {"http://www.GOOgle.com/", "http://www.google.com/"},
    {"http://www.google.com.../", "http://www.google.com/"},
    {"http://www.google.com/foo\tbar\rbaz\n2", "http://www.google.com/foobarbaz2"},
    {"http://www.google.com/q?", NULL},
    {"http://www.google.com/q?r?", NULL},
    {"http://www.google.com/q?r?s", NULL},
    {"http://evil.com/foo#bar#baz", "http://evil.com/foo"},
    {"http://evil.com/foo;", NULL},
    {"http://evil.com/foo?bar;", NULL},
    {"http://\x01\x80.com/", "http://%01%80.com/"},
    {"http://notrailingslash.com", "http://notrailingslash.com/"},
    {"http://www.gotaport.com:1234/", "http://www.gotaport.com/"},
    {"  http://www.google.com/  ", "http://www.google.com/"},
    {"http:// leadingspace.com/", "http://%20leadingspace.com/"},
    {"http://%20leadingspace.com/", NULL},
    {"%20leadingspace.com/", "http://%20leadingspace.com/"},
    {"https://www.securesite.com/", NULL},
    {"http://host.com/ab%23cd", NULL},
    {"http://host.com//twoslashes?more//slashes", "http://host.com/twoslashes?more//slashes"},
};

/* One or more for each rule that the published ones leave open. */
static const struct vector ours[] = {
    /* What was escaped acts as what it stands for, and escapes of what is printable are gone. */
    {"http://host%2Fpath", "http://host/path"},
    {"http://host%3Fquery", "http://host/?query"},
    {"http://host/path%3Fquery", "http://host/path?query"},
    {"http://user%40host/", "http://host/"},
    {"http://host/a/%2e%2e/b", "http://host/b"},
    {"http://host/%41%7e?%41", "http://host/A~?A"},
    {"http%3A%2F%2Fhost/", "http://host/"},
    {"http://host/%0a%09%0D", "http://host/%0A%09%0D"},
    {"http://host/a%c3%bc\xc3\xbc?\xff\x7f", "http://host/a%C3%BC%C3%BC?%FF%7F"},
    {"http://host/?%2541%25", "http://host/?A%25"},
    {"http://host/%2%35", "http://host/%25"},
    {"http://ho%73t%25/", "http://host%25/"},
    {"http://host/a%00b", NULL},
    /* Schemes. */
    {"HTTPS://Host", "https://host/"},
    {"ftp://host/file", NULL},
    {"host:8080/x", "http://host/x"},
    {"host.com:80?q", "http://host.com/?q"},
    {"h\tttp\n://host/", "http://host/"},
    {"1.2.3.4:80", "http://1.2.3.4/"},
    /* Users, and those that look like a host. */
    {"http://user:pass@host/", "http://host/"},
    {"http://a@b@host/", "http://host/"},
    {"http://good.com%2F@evil.com/", "http://evil.com/"},
    {"http://good.com%3f@evil.com/", "http://evil.com/"},
    {"http://evil.com?@good.com/", "http://evil.com/?@good.com/"},
    {"http://evil.com/@good.com/", "http://evil.com/@good.com/"},
    {"http://evil.com#@good.com/", "http://evil.com/"},
    {"http://a%5cb@host/", "http://host/"},
    {"user@host/", "http://host/"},
    /* Ports. */
    {"http://host:/", "http://host/"},
    {"http://host.:65535/", "http://host/"},
    {"http://[::1]:80/", "http://[::1]/"},
    /* Dots in the host. */
    {"http://..a...b.%2e./", "http://a.b/"},
    /* Paths. */
    {"http://host?", "http://host/?"},
    {"http://host/a/./b/.", "http://host/a/b/"},
    {"http://host/a/b/..", "http://host/a/"},
    {"http://host/../../a", "http://host/a"},
    {"http://host/a//../b", "http://host/a/b"},
    {"http://host/a//b///", "http://host/a/b/"},
    {"http://host/...", NULL},
    {"http://host/.a/..b/c.", NULL},
    {"http://host/?a/../b//c/./%2e%2e", "http://host/?a/../b//c/./.."},
    /* A backslash is a slash, as in browsers, except in the query. */
    {"http://host/a\\b", "http://host/a/b"},
    {"http://host/a%5Cb", "http://host/a/b"},
    {"http://host/a\\..\\b\\.", "http://host/b/"},
    {"http://host/a/..%5c..\\b", "http://host/b"},
    {"http://host/?a\\..\\b", "http://host/?a\\..\\b"},
    {"host/a\\b", "http://host/a/b"},
    /* Dots are resolved before anything is unescaped, and again afterwards. */
    {"http://host/x/a%2Fb/../c", "http://host/x/c"},
    {"http://host/x/a%5Cb/../c", "http://host/x/c"},
    {"http://host/x/a%3Fb/../c", "http://host/x/c"},
    {"http://host/x/a%23b/../c", "http://host/x/c"},
    {"http://host/x/%252e%252e/../c", "http://host/x/c"},
    {"http://host/x/%252e/../c", "http://host/x/c"},
    {"http://host/x/%2e/.%2E/%2e./c/%2E%2e", "http://host/"},
    {"http://host/x/%252e%252e/c", "http://host/c"},
    {"http://host/x/a%2F../c", "http://host/x/c"},
    {"http://host/a/..?b/../c", "http://host/?b/../c"},
    {"http://host/a/..%3fb/../c", "http://host/a/c"},
    {"http://host/a%3fb/..", "http://host/"},
    {"host/x/a%2Fb/../c", "http://host/x/c"},
    {"http%3A//host/a/../b", "http://host/b"},
    {"http://host/a #x", "http://host/a%20"},
    /* IPv4 in any form; anything else is a name. */
    {"http://0x7f.1/", "http://127.0.0.1/"},
    {"http://0X7F000001/", "http://127.0.0.1/"},
    {"http://017700000001/", "http://127.0.0.1/"},
    {"http://10.0.258/", "http://10.0.1.2/"},
    {"http://1.2.3.4./", "http://1.2.3.4/"},
    {"http://4294967295/", "http://255.255.255.255/"},
    {"http://0x/", "http://0.0.0.0/"},
    {"http://00000000000000000000000000000000000001/", "http://0.0.0.1/"},
    {"http://4294967296/", NULL},
    {"http://1.2.3.256/", NULL},
    {"http://256.1/", NULL},
    {"http://1.2.65536/", NULL},
    {"http://08/", NULL},
    {"http://1.2.3.4.5/", NULL},
    {"http://1.2.3.4.0/", NULL},
    {"http://18446744073709551617/", NULL}, /* 2^64 + 1 */
    {"http://1.2.3.4x/", NULL},
    {"http://99999999999999999999999999/", NULL},
    /* IPv6. */
    {"http://[2001:0db8:0000::1]/", "http://[2001:db8::1]/"},
    {"http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"},
    {"http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
    {"http://[1::3:4:5:6:7:8]/", "http://[1:0:3:4:5:6:7:8]/"},
    {"http://[::]/", NULL},
    {"http://[1::]/", NULL},
    {"http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"},
    {"http://[1:2:3:4:5:6:1.2.3.4]/", "http://[1:2:3:4:5:6:102:304]/"},
    {"http://[::ffff:1.2.3.4]/", "http://1.2.3.4/"},
    {"http://[::FFFF:102:304]:8080/x", "http://1.2.3.4/x"},
    {"http://[64:ff9b::1.2.3.4]/", "http://1.2.3.4/"},
    {"http://[64:ff9b:1::1.2.3.4]/", "http://[64:ff9b:1::102:304]/"},
    {"http://%5B::1%5d/", "http://[::1]/"},
};

static const struct refusal {
    const char *input;
    guard_url_status why;
} refused[] = {
    {"", GUARD_URL_ENOHOST},
    {" \t\n ", GUARD_URL_ENOHOST},
    {"#fragment", GUARD_URL_ENOHOST},
    {"http://", GUARD_URL_ENOHOST},
    {"http:///path", GUARD_URL_ENOHOST},
    {"http://?q", GUARD_URL_ENOHOST},
    {"http://user@/", GUARD_URL_ENOHOST},
    {"http://:80/", GUARD_URL_ENOHOST},
    {"http://.../", GUARD_URL_ENOHOST},
    {"//host/", GUARD_URL_ENOHOST},
    {"/path", GUARD_URL_ENOHOST},
    {"file:///etc/passwd", GUARD_URL_ESCHEME},
    {"gopher://host/", GUARD_URL_ESCHEME},
    {"javascript:alert(1)", GUARD_URL_ESCHEME},
    {"javascript%3Aalert(1)", GUARD_URL_ESCHEME},
    {"data:text/html,x", GUARD_URL_ESCHEME},
    {"mailto:me@host.com", GUARD_URL_ESCHEME},
    {"about:", GUARD_URL_ESCHEME},
    {"http:host/", GUARD_URL_ESCHEME},
    {"http:/host/", GUARD_URL_ESCHEME},
    {"https:443/", GUARD_URL_ESCHEME},
    {"http ://host/", GUARD_URL_ESCHEME},
    {"http:\\\\host/", GUARD_URL_ESCHEME},
    {"http://:80:./", GUARD_URL_EPORT},
    {"http://host:80:80/", GUARD_URL_EPORT},
    {"http://host:http/", GUARD_URL_EPORT},
    {"http://host:65536/", GUARD_URL_EPORT},
    {"http://host:99999999999999999999/", GUARD_URL_EPORT},
    {"http://::1/", GUARD_URL_EPORT},
    {"tel:5551234", GUARD_URL_EPORT},
    {"http://a]b/", GUARD_URL_EHOST},
    {"http://.[abc]/", GUARD_URL_EHOST},
    {"http://[::1]x/", GUARD_URL_EHOST},
    {"http://[::1]x:80/", GUARD_URL_EHOST},
    {"http://evil.com\\@good.com/", GUARD_URL_EHOST},
    {"http://evil.com%5c/", GUARD_URL_EHOST},
    {"http://[::1/", GUARD_URL_EADDRESS},
    {"http://[]/", GUARD_URL_EADDRESS},
    {"http://[:1]/", GUARD_URL_EADDRESS},
    {"http://[1:]/", GUARD_URL_EADDRESS},
    {"http://[1::2:]/", GUARD_URL_EADDRESS},
    {"http://[1:2:3:4:5:6:7]/", GUARD_URL_EADDRESS},
    {"http://[1:2:3:4:5:6:7:8:9]/", GUARD_URL_EADDRESS},
    {"http://[1::2:3:4:5:6:7:8]/", GUARD_URL_EADDRESS},
    {"http://[1::2::3]/", GUARD_URL_EADDRESS},
    {"http://[:::]/", GUARD_URL_EADDRESS},
    {"http://[12345::]/", GUARD_URL_EADDRESS},
    {"http://[g::]/", GUARD_URL_EADDRESS},
    {"http://[::1.2.3]/", GUARD_URL_EADDRESS},
    {"http://[::1.2.3.256]/", GUARD_URL_EADDRESS},
    {"http://[::1.2.3.04]/", GUARD_URL_EADDRESS},
    {"http://[::1.2.3.4.5]/", GUARD_URL_EADDRESS},
    {"http://[1:2:3:4:5:6:7:1.2.3.4]/", GUARD_URL_EADDRESS},
    {"http://[fe80::1%25eth0]/", GUARD_URL_EADDRESS},
};

/* Checks a vector, and that it is right of any input: bounds, parts, and that canonical is
 * canonical. */
static void check_vector(const struct vector *v)
{
    guard_url_status status;
    char *text;
    const char *wanted = v->canonical != NULL ? v->canonical : v->input;
    const char *fault = canonical_fault(v->input, strlen(v->input), NULL, &status, &text);
    const bool right = status == GUARD_URL_OK && fault == NULL && strcmp(text, wanted) == 0;
    if (!right)
        printf("%s: wanted %s, got %s (%s)\n", v->input, wanted,
               status == GUARD_URL_OK ? text : guard_url_message(status),
               fault != NULL ? fault : "");
    free(text);
    CHECK(right);
}

static void the_published_vectors(void)
{
    CHECK_THAT(sizeof published / sizeof *published, ==, 33);
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) check_vector(&published[i]);
}

static void the_rules_and_the_choices(void)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) check_vector(&ours[i]);
}

static void what_has_no_canonical_form(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        guard_url_status status;
        char *text;
        const char *fault =
            canonical_fault(refused[i].input, strlen(refused[i].input), NULL, &status, &text);
        free(text);
        if (status != refused[i].why)
            printf("%s: %s\n", refused[i].input, guard_url_message(status));
        CHECK(fault == NULL);
        CHECK_THAT(status, ==, refused[i].why);
    }
}

static void every_status_has_a_text_of_its_own(void)
{
    for (int s = GUARD_URL_ENAME; s <= GUARD_URL_OK; s++) {
        CHECK(strlen(guard_url_message((guard_url_status)s)) > 0);
        for (int other = GUARD_URL_ENAME; other < s; other++)
            CHECK(strcmp(guard_url_message((guard_url_status)s),
                         guard_url_message((guard_url_status)other)) != 0);
    }
}

/* --- Expressions ------------------------------------------------------------------------------ */

/* The expressions of a URL, each followed by a space; to be freed. */
static char *expressions_of(const char *input)
{
    static char room[GUARD_URL_ROOM(4096)];
    guard_url u;
    guard_span e[GUARD_URL_EXPRESSIONS];
    char *all = malloc(1 << 16), *end = all;
    if (all == NULL ||
        guard_url_canonical(input, strlen(input), NULL, room, sizeof room, &u) != GUARD_URL_OK)
        abort();
    const size_t n = guard_url_expressions(&u, e);
    for (size_t i = 0; i < n; i++) end += sprintf(end, "%.*s ", (int)e[i].length, e[i].bytes);
    return all;
}

static void check_expressions(const char *input, const char *wanted)
{
    char *got = expressions_of(input);
    const bool same = strcmp(got, wanted) == 0;
    if (!same) printf("%s\n  wanted %s\n  got    %s\n", input, wanted, got);
    free(got);
    CHECK(same);
}

static void the_published_expressions(void)
{
    check_expressions("http://a.b.c/1/2.html?param=1",
                      "a.b.c/1/2.html?param=1 a.b.c/1/2.html a.b.c/ a.b.c/1/ "
                      "b.c/1/2.html?param=1 b.c/1/2.html b.c/ b.c/1/ ");
    check_expressions("http://a.b.c.d.e.f.g/1.html",
                      "a.b.c.d.e.f.g/1.html a.b.c.d.e.f.g/ c.d.e.f.g/1.html c.d.e.f.g/ "
                      "d.e.f.g/1.html d.e.f.g/ e.f.g/1.html e.f.g/ f.g/1.html f.g/ ");
    check_expressions("http://1.2.3.4/1/", "1.2.3.4/1/ 1.2.3.4/ ");
    check_expressions("http://a.b.com/1/2.html?param=1",
                      "a.b.com/1/2.html?param=1 a.b.com/1/2.html a.b.com/ a.b.com/1/ "
                      "b.com/1/2.html?param=1 b.com/1/2.html b.com/ b.com/1/ ");
}

static void the_edges_of_the_expressions(void)
{
    /* As at the top of guard/url/url.h. */
    check_expressions("HTTP://user@A.B.C:80/x/../1/%32.html?param=1#top",
                      "a.b.c/1/2.html?param=1 a.b.c/1/2.html a.b.c/ a.b.c/1/ "
                      "b.c/1/2.html?param=1 b.c/1/2.html b.c/ b.c/1/ ");
    check_expressions("http://host", "host/ ");
    check_expressions("https://b.c/", "b.c/ ");
    check_expressions("http://a.b.c.d.e/", "a.b.c.d.e/ b.c.d.e/ c.d.e/ d.e/ ");
    check_expressions("http://a.b.c.d.e.f/", "a.b.c.d.e.f/ b.c.d.e.f/ c.d.e.f/ d.e.f/ e.f/ ");
    check_expressions("http://[1::2]/a", "[1::2]/a [1::2]/ ");
    check_expressions("http://1.2.3.256/", "1.2.3.256/ 2.3.256/ 3.256/ ");
    check_expressions("http://c/q?", "c/q c/ ");
    check_expressions("http://c/?q", "c/?q c/ ");
    check_expressions("http://c/a/?/b/", "c/a/?/b/ c/a/ c/ ");
    check_expressions("http://c/1/2/3/4/5", "c/1/2/3/4/5 c/ c/1/ c/1/2/ c/1/2/3/ ");
    check_expressions("http://c/1/2/3/", "c/1/2/3/ c/ c/1/ c/1/2/ ");
    check_expressions("http://c/1/2/3/4/", "c/1/2/3/4/ c/ c/1/ c/1/2/ c/1/2/3/ ");
    char *all = expressions_of("http://a.b.c.d.e.f.g/1/2/3/4/5?q");
    size_t n = 0;
    for (const char *p = all; *p != 0; p++) n += *p == ' ';
    free(all);
    CHECK_THAT(n, ==, GUARD_URL_EXPRESSIONS);
}

/* Reports whether a page has the first expression of an entry among its own. */
static bool is_covered(const char *entry, const char *page, unsigned *deep)
{
    static char room[2][GUARD_URL_ROOM(256)];
    guard_url u[2];
    guard_span first[GUARD_URL_EXPRESSIONS], all[GUARD_URL_EXPRESSIONS];
    if (guard_url_canonical(entry, strlen(entry), NULL, room[0], sizeof room[0], &u[0]) ||
        guard_url_canonical(page, strlen(page), NULL, room[1], sizeof room[1], &u[1]))
        abort();
    *deep = guard_url_depth(&u[0]);
    guard_url_expressions(&u[0], first);
    const size_t n = guard_url_expressions(&u[1], all);
    for (size_t i = 0; i < n; i++)
        if (all[i].length == first[0].length &&
            memcmp(all[i].bytes, first[0].bytes, all[i].length) == 0)
            return true;
    return false;
}

/* The depth of an entry says exactly whether what is below it is covered. */
static void the_depth_of_entries(void)
{
    char host[64] = "e", folder[64] = "e/", page[80];
    unsigned deep;
    for (size_t labels = 1; labels <= 8; labels++) {
        snprintf(page, sizeof page, "www.%s/", host);
        const bool covered = is_covered(host, page, &deep);
        CHECK_THAT(deep, ==, labels > 5 ? GUARD_URL_DEEP_HOST : 0);
        CHECK(covered == (labels > 1 && deep == 0));
        CHECK(is_covered(host, host, &deep));
        memmove(host + 2, host, strlen(host) + 1);
        memcpy(host, "a.", 2);
    }
    for (size_t folders = 0; folders <= 8; folders++) {
        snprintf(page, sizeof page, "%slogin.html", folder);
        const bool covered = is_covered(folder, page, &deep);
        CHECK_THAT(deep, ==, folders > 3 ? GUARD_URL_DEEP_PATH : 0);
        CHECK(covered == (deep == 0));
        snprintf(page, sizeof page, "%s?query", folder);
        CHECK(is_covered(folder, page, &deep));
        memcpy(folder + strlen(folder), "1/", 3);
    }
    /* Neither a page nor a query ends in a slash, and addresses have no hosts below them. */
    is_covered("e/1/2/3/4/5", "e", &deep);
    CHECK_THAT(deep, ==, 0);
    is_covered("e/1/2/3/4/?q/", "e", &deep);
    CHECK_THAT(deep, ==, 0);
    is_covered("e/1/2/3/4/?", "e", &deep);
    CHECK_THAT(deep, ==, GUARD_URL_DEEP_PATH);
    is_covered("1.2.3.4/1/2/3/4/", "e", &deep);
    CHECK_THAT(deep, ==, GUARD_URL_DEEP_PATH);
    is_covered("a.b.c.d.e.f/1/2/3/4/", "e", &deep);
    CHECK_THAT(deep, ==, GUARD_URL_DEEP_PATH | GUARD_URL_DEEP_HOST);
}

/* --- Hostile input ---------------------------------------------------------------------------- */

/* `n` bytes of the repeated pattern between two other texts, made canonical. Under the address
 * sanitizer no byte beyond is read or written. Linear: the longest take no more than a blink, and
 * ctest's limit ends what does. */
static guard_url_status repeated(const char *before, const char *pattern, size_t n,
                                 const char *after, char **text)
{
    const size_t b = strlen(before), p = strlen(pattern), a = strlen(after);
    char *in = malloc(b + n + a);
    guard_url_status status;
    if (in == NULL) abort();
    memcpy(in, before, b);
    for (size_t i = 0; i < n; i++) in[b + i] = pattern[i % p];
    memcpy(in + b + n, after, a);
    const char *fault = canonical_fault(in, b + n + a, NULL, &status, text);
    free(in);
    if (fault != NULL) {
        printf("%s%s...%s: %s\n", before, pattern, after, fault);
        free(*text);
        CHECK(fault == NULL);
    }
    return status;
}

static void check_repeated(const char *before, const char *pattern, size_t n, const char *after,
                           size_t length)
{
    char *text;
    const guard_url_status status = repeated(before, pattern, n, after, &text);
    const size_t got = status == GUARD_URL_OK ? strlen(text) : 0;
    free(text);
    CHECK_THAT(status, ==, GUARD_URL_OK);
    CHECK_THAT(got, ==, length);
}

static void long_and_hostile(void)
{
    const size_t k64 = 1 << 16, m1 = 1 << 20;
    check_repeated("http://h/", "%", k64, "", 9 + 3 * k64);
    check_repeated("http://", "%", k64, "/", 8 + 3 * k64);
    check_repeated("http://h/%", "25", m1, "", 9 + 3);
    check_repeated("http://h/%", "25", m1, "41", 9 + 1);
    check_repeated("http://h/", "%25", 3 * k64, "", 9 + 3 * k64);
    check_repeated("http://h/", "a", m1, "", 9 + m1);
    check_repeated("http://", "a", m1, "", 8 + m1);
    check_repeated("http://h/", "\x80", m1, "", 9 + 3 * m1);
    check_repeated("http://h/?", "\x80", m1, "", 10 + 3 * m1);
    check_repeated("http://", "\x80", m1, "", 8 + 3 * m1);
    check_repeated("http://h", "/", m1, "", 9);
    check_repeated("http://h", "/a", m1, "", 8 + m1);
    check_repeated("http://h", "/..", 3 * k64, "", 9);
    check_repeated("http://h", "/a/..", 5 * k64, "", 9);
    check_repeated("http://h/", "a/", m1, "../", 9 + m1 - 2);
    check_repeated("http://", ".", 1000, "a/", 9);
    check_repeated("http://a", ".", 1000, "/", 9);
    check_repeated("http://a", ".", 1000, "b/", 11);
    check_repeated("http://", "a.", m1, "b", 8 + m1 + 1);
    check_repeated("http://", "@", m1, "a", 9);
    check_repeated("http://a", "#", m1, "", 9);
    check_repeated("http://a/", "\t", m1, "", 9);
    check_repeated("", " ", m1, "a", 9);
    check_repeated("http://", "0", m1, "1", 15);
    char *text;
    const char *never[] = {":", "[", "]", "[:", "::", "http:", "\\", "/", ".", "%3a", "%5b"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        const guard_url_status status = repeated("", never[i], k64, "", &text);
        free(text);
        CHECK(status != GUARD_URL_OK);
    }
}

/* NULs and the rest of the bytes, in every part. */
static void every_byte_everywhere(void)
{
    for (unsigned c = 0; c < 256; c++) {
        for (size_t at = 0; at <= 24; at++) {
            char in[32] = "http://u@ab.c:80/d/e?f#g", *text;
            guard_url_status status;
            const size_t n = strlen(in);
            memmove(in + at + 1, in + at, n - at);
            in[at] = (char)c;
            const char *fault = canonical_fault(in, n + 1, NULL, &status, &text);
            free(text);
            if (fault != NULL) printf("byte %u at %zu: %s\n", c, at, fault);
            CHECK(fault == NULL);
        }
    }
    char nul[] = "http://a\0b/c\0d?e\0f", *text;
    guard_url_status status;
    CHECK(canonical_fault(nul, sizeof nul - 1, NULL, &status, &text) == NULL);
    const bool right = status == GUARD_URL_OK && strcmp(text, "http://a%00b/c%00d?e%00f") == 0;
    free(text);
    CHECK(right);
}

static void every_truncation(void)
{
    const struct vector *sets[] = {published, ours};
    const size_t sizes[] = {sizeof published / sizeof *published, sizeof ours / sizeof *ours};
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < sizes[s]; i++) {
            for (size_t n = 0; n <= strlen(sets[s][i].input); n++) {
                guard_url_status status;
                char *text;
                const char *fault = canonical_fault(sets[s][i].input, n, NULL, &status, &text);
                free(text);
                CHECK(fault == NULL);
            }
        }
    }
}

static void too_little_room(void)
{
    const char *in = "http://host/path";
    const size_t n = strlen(in), size = GUARD_URL_ROOM(n);
    guard_url u;
    for (size_t room = 0; room < size; room++) {
        char *out = malloc(room + 1);
        CHECK(out != NULL);
        memset(out, 'x', room + 1);
        const guard_url_status status = guard_url_canonical(in, n, NULL, out, room, &u);
        const bool untouched = out[room] == 'x' && u.text == NULL && u.length == 0;
        free(out);
        CHECK_THAT(status, ==, GUARD_URL_EROOM);
        CHECK(untouched);
    }
    /* Lengths whose room no size_t can tell; nothing may be read of them. */
    char small[GUARD_URL_ROOM(0)];
    for (unsigned shift = 0; shift < 3; shift++)
        CHECK_THAT(guard_url_canonical(in, SIZE_MAX >> shift, NULL, small, sizeof small, &u), ==,
                   GUARD_URL_EROOM);
    CHECK_THAT(guard_url_canonical(NULL, 0, NULL, small, sizeof small, &u), ==, GUARD_URL_ENOHOST);
}

/* --- The hook for names that are not ASCII ---------------------------------------------------- */

static const char *idn_answer;
static char idn_asked[64];

static size_t answer_idn(const char *host, size_t len, char *name)
{
    snprintf(idn_asked, sizeof idn_asked, "%.*s", (int)len, host);
    memcpy(name, idn_answer, strlen(idn_answer));
    return strlen(idn_answer);
}

static guard_url_status with_idn(const char *input, const char *answer, guard_url *u)
{
    static char room[GUARD_URL_ROOM(256)];
    idn_answer = answer;
    idn_asked[0] = 0;
    return guard_url_canonical(input, strlen(input), answer_idn, room, sizeof room, u);
}

static void the_hook_for_names(void)
{
    guard_url u;
    char longest[GUARD_URL_NAME + 2] = "";
    CHECK_THAT(with_idn("http://me@..B%C3%BCcher..DE.:80/%C3%BC", "xn--x.de", &u), ==,
               GUARD_URL_OK);
    CHECK(strcmp(idn_asked, "b\xc3\xbc"
                            "cher.de") == 0);
    CHECK(strcmp(u.text, "http://xn--x.de/%C3%BC") == 0 && !u.escaped_name);
    /* Dots and addresses may come out of it. */
    CHECK_THAT(with_idn("\xc3\xbc", ".A..b.", &u), ==, GUARD_URL_OK);
    CHECK(strcmp(u.text, "http://a.b/") == 0);
    CHECK_THAT(with_idn("\xc3\xbc", "0x7f.1", &u), ==, GUARD_URL_OK);
    CHECK(strcmp(u.text, "http://127.0.0.1/") == 0 && u.address);
    /* It cannot. */
    CHECK_THAT(with_idn("http://B\xc3\xbc/", "", &u), ==, GUARD_URL_OK);
    CHECK(strcmp(u.text, "http://b%C3%BC/") == 0 && u.escaped_name);
    /* It is not asked without need. */
    CHECK_THAT(with_idn("http://host/\xc3\xbc", "x", &u), ==, GUARD_URL_OK);
    CHECK(idn_asked[0] == 0 && !u.escaped_name);
    /* What it may not say. */
    const char *wrong[] = {"a/c",  "a%41", "a:80", "a@b",  "a?",  "a#",  "[::1]",
                           "a\\b", "a b",  "\x7f", "\x80", "a|b", "\x01"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_THAT(with_idn("http://\xc3\xbc/", wrong[i], &u), ==, GUARD_URL_EHOST);
    CHECK_THAT(with_idn("\xc3\xbc", "..", &u), ==, GUARD_URL_ENOHOST);
    /* The longest name of the shortest URL. */
    memset(longest, 'a', GUARD_URL_NAME);
    CHECK_THAT(with_idn("\xff", longest, &u), ==, GUARD_URL_OK);
    CHECK_THAT(u.length, ==, 7 + GUARD_URL_NAME + 1);
}

static const struct test tests[] = {
    {"the published vectors", the_published_vectors},
    {"the rules and the choices", the_rules_and_the_choices},
    {"what has no canonical form", what_has_no_canonical_form},
    {"every status has a text of its own", every_status_has_a_text_of_its_own},
    {"the published expressions", the_published_expressions},
    {"the edges of the expressions", the_edges_of_the_expressions},
    {"the depth of entries", the_depth_of_entries},
    {"long and hostile", long_and_hostile},
    {"every byte everywhere", every_byte_everywhere},
    {"every truncation", every_truncation},
    {"too little room", too_little_room},
    {"the hook for names", the_hook_for_names},
};

TEST_MAIN(tests)
