/* International names and hashes, which the guard takes from libraries. */
#include "../../guard/url/hash.h"
#include "../../guard/version/idn.h"
#include "../support/check.h"
#include "../support/urls.h"

/* The browser's build has a SHA-256 of its own, here beside nettle's. */
void hash_in_browsers(guard_span expression, uint8_t hash[GUARD_HASH_SIZE]);
#define guard_hash hash_in_browsers
#include "../../web/sha256.c"
#undef guard_hash

static const struct name {
    const char *input, *canonical;
    bool escaped;
} names[] = {
    {"http://b\xc3\xbc"
     "cher.de/",
     "http://xn--bcher-kva.de/", false},
    {"http://B\xc3\x9c"
     "CHER.de:80/",
     "http://xn--bcher-kva.de/", false},
    {"http://bu\xcc\x88"
     "cher.de/",
     "http://xn--bcher-kva.de/", false},
    {"http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/", false},
    {"http://b%25c3%25bccher.de/", "http://xn--bcher-kva.de/", false},
    {"http://fa\xc3\x9f.de/", "http://xn--fa-hia.de/", false}, /* not fass.de: no transition */
    {"http://a.\xe4\xbe\x8b\xe3\x80\x82\xe3\x80\x82jp\xe3\x80\x82/", "http://a.xn--fsq.jp/", false},
    {"http://-\xc3\xbc.evil.com/", "http://xn----eha.evil.com/", false}, /* as in browsers */
    {"http://\xc3\xbc_x.com/", "http://xn--_x-wka.com/", false},
    {"http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.1/", "http://127.0.0.1/",
     false}, /* wide digits */
    {"http://xn--bcher-kva.de/\xc3\xbc", "http://xn--bcher-kva.de/%C3%BC", false},
    /* Labels that libidn2 refuses beside others: a hyphen first, invalid Punycode. */
    {"http://-a\xef\xbd\xa1"
     "evil\xef\xbd\xa1"
     "example/",
     "http://-a.evil.example/", false},
    {"http://b\xc3\xbc.-\xef\xbc\x8e-a-\xe3\x80\x82/", "http://xn--b-eha.-.-a-/", false},
    {"http://xn--zzzz.\xc3\xbc.de/", "http://xn--zzzz.xn--tda.de/", false},
    /* Ignored characters: U+00AD, U+180E, U+2061, U+FE0F, U+3164, U+1D173; and nothing else. */
    {"http://e\xc2\xad"
     "vil.example/",
     "http://evil.example/", false},
    {"http://e\xe1\xa0\x8e"
     "vil.example/",
     "http://evil.example/", false},
    {"http://ev\xe2\x81\xa1"
     "il.example/",
     "http://evil.example/", false},
    {"http://\xef\xb8\x8f"
     "evil.example\xe3\x85\xa4/",
     "http://evil.example/", false},
    {"http://\xf0\x9d\x85\xb3-a\xef\xbd\xa1"
     "evil.example/",
     "http://-a.evil.example/", false},
    {"http://\xe1\xa0\x8e/", "http://%E1%A0%8E/", true},
    /* What cannot be: not UTF-8, a NUL, emoji (IDNA 2008), a character newer than the tables
     * (U+1CCEB), the capital sharp s, a bad label beside a good one, one that is too long. */
    {"http://\x01\x80.com/", "http://%01%80.com/", true},
    {"http://\xc3\xbc%00.com/", "http://%C3%BC%00.com/", true},
    {"http://\xe2\x98\x83.net/", "http://%E2%98%83.net/", true},
    {"http://e\xf0\x9c\xb3\xab"
     "il.example/",
     "http://e%F0%9C%B3%ABil.example/", true},
    {"http://fa\xe1\xba\x9e.de/", "http://fa%E1%BA%9E.de/", true},
    {"http://\xf0\x9f\x99\x82\xef\xbc\x8e"
     "evil.example/",
     "http://%F0%9F%99%82%EF%BC%8Eevil.example/", true},
    {"http://\xc3\xbc"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.de/",
     "http://%C3%BCaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.de/", true},
    {"http://\xf4\x90\x80\x80.\xe1\xa0/", "http://%F4%90%80%80.%E1%A0/", true},
};

static void international_names(void)
{
    static char room[GUARD_URL_ROOM(256)];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        guard_url u;
        guard_url_status status;
        char *text;
        const size_t n = strlen(names[i].input);
        const char *fault = canonical_fault(names[i].input, n, guard_idn, &status, &text);
        free(text);
        CHECK(fault == NULL);
        CHECK_THAT(guard_url_canonical(names[i].input, n, guard_idn, room, sizeof room, &u), ==,
                   GUARD_URL_OK);
        if (strcmp(u.text, names[i].canonical) != 0) printf("%s: %s\n", names[i].input, u.text);
        CHECK(strcmp(u.text, names[i].canonical) == 0);
        CHECK(u.escaped_name == names[i].escaped);
    }
}

/* Letters that are mapped to what divides a URL: a.com/c.evil.com must not become a page of
 * a.com. */
static void names_that_would_divide_the_url(void)
{
    static const char *const inputs[] = {"http://a.com\xe2\x84\x80.evil.com/",
                                         "http://a\xef\xbc\x9a"
                                         "80/",
                                         "http://a\xef\xbc\xa0"
                                         "b/",
                                         "http://a\xef\xbc\x85"
                                         "41/",
                                         "http://a\xef\xbc\x8f"
                                         "b/"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        guard_url_status status;
        char *text;
        const char *fault =
            canonical_fault(inputs[i], strlen(inputs[i]), guard_idn, &status, &text);
        free(text);
        CHECK(fault == NULL);
        CHECK_THAT(status, ==, GUARD_URL_EHOST);
    }
}

/* A name is never longer than the room for it, however long the host. */
static void long_names(void)
{
    for (size_t labels = 1; labels < 1200; labels += 1 + labels / 8) {
        char in[8 + 3 * 1200] = "http://", *text;
        guard_url_status status;
        for (size_t i = 0; i < labels; i++) memcpy(in + 7 + 3 * i, "\xc3\xbc.", 4);
        const char *fault = canonical_fault(in, strlen(in), guard_idn, &status, &text);
        const bool converted = status == GUARD_URL_OK && strchr(text, '%') == NULL;
        free(text);
        CHECK(fault == NULL);
        CHECK_THAT(status, ==, GUARD_URL_OK);
        CHECK(converted == (8 * labels - 1 <= GUARD_URL_NAME));
    }
}

static void random_names(void)
{
    uint64_t state = 2;
    for (unsigned i = 0; i < 100000; i++) {
        char in[200], *text;
        guard_url_status status;
        const size_t n = random_url(&state, in, sizeof in);
        const char *fault = canonical_fault(in, n, guard_idn, &status, &text);
        if (fault != NULL) printf("%.*s\n  %s: %s\n", (int)n, in, text, fault);
        free(text);
        CHECK(fault == NULL);
    }
}

static void hex_of(guard_span s, char hex[2 * GUARD_HASH_SIZE + 1])
{
    uint8_t hash[GUARD_HASH_SIZE];
    guard_hash(s, hash);
    for (size_t i = 0; i < GUARD_HASH_SIZE; i++) sprintf(hex + 2 * i, "%02x", hash[i]);
}

/* FIPS 180-2, as far as "URLs and Hashing" quotes it, and the empty text. */
static void the_published_hashes(void)
{
    static char million[1000000];
    char hex[2 * GUARD_HASH_SIZE + 1];
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    hex_of((guard_span){"abc", 3}, hex);
    CHECK(memcmp(hex, "ba7816bf", 8) == 0);
    hex_of((guard_span){two, strlen(two)}, hex);
    CHECK(memcmp(hex, "248d6a61d206", 12) == 0);
    memset(million, 'a', sizeof million);
    hex_of((guard_span){million, sizeof million}, hex);
    CHECK(memcmp(hex, "cdc76e5c9914fb9281a1c7e2", 24) == 0);
    hex_of((guard_span){"", 0}, hex);
    CHECK(strcmp(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") == 0);
}

/* Every length of up to nine blocks, and a big one. */
static void the_browsers_hashes(void)
{
    static char text[100003];
    uint8_t ours[GUARD_HASH_SIZE], theirs[GUARD_HASH_SIZE];
    uint64_t state = 3;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)splitmix(&state);
    for (size_t n = 0; n <= sizeof text; n += n < 600 ? 1 : sizeof text - 600) {
        hash_in_browsers((guard_span){text, n}, ours);
        guard_hash((guard_span){text, n}, theirs);
        CHECK(memcmp(ours, theirs, GUARD_HASH_SIZE) == 0);
    }
}

static const struct test tests[] = {
    {"international names", international_names},
    {"names that would divide the URL", names_that_would_divide_the_url},
    {"long names", long_names},
    {"random names", random_names},
    {"the published hashes", the_published_hashes},
    {"the browser's hashes", the_browsers_hashes},
};

TEST_MAIN(tests)
