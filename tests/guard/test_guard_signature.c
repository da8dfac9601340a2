/* Ed25519 as libhogweed has it, and the files of keys and signatures, well formed and hostile. */
#include "../../guard/version/signature.h"

#include "../support/check.h"

static size_t from_hex(const char *hex, uint8_t *out)
{
    const size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        CHECK(sscanf(hex + 2 * i, "%2x", &byte) == 1);
        out[i] = (uint8_t)byte;
    }
    return n;
}

static void load(void)
{
    guard_error why;
    CHECK(guard_ed25519_load(&why));
}

/* RFC 8032, section 7.1: the seed, the public key, the message and the signature. */
static const struct {
    const char *seed, *key, *message, *signature;
} vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
     "5fb8821590a33bacc61e39701cf9b46b"
     "d25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
     "085ac1e43e15996e458f3613d0f11d8c"
     "387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
     "18ff9b538d16f290ae67f760984dc659"
     "4a7c15e9716ed28dc027beceea1ec40a"},
    {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd"
     "454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
     "09351fc9ac90b3ecfdfbc7c66431e030"
     "3dca179c138ac17ad9bef1177331a704"},
};

struct vector {
    uint8_t seed[32], key[32], message[64], signature[64];
    size_t n;
};

static struct vector vector_at(size_t i)
{
    struct vector v;
    from_hex(vectors[i].seed, v.seed);
    from_hex(vectors[i].key, v.key);
    v.n = from_hex(vectors[i].message, v.message);
    from_hex(vectors[i].signature, v.signature);
    return v;
}

static void test_vectors(void)
{
    load();
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector v = vector_at(i);
        uint8_t key[32], signature[64];
        guard_ed25519_public(v.seed, key);
        CHECK(memcmp(key, v.key, sizeof key) == 0);
        guard_ed25519_sign(v.seed, v.key, v.message, v.n, signature);
        CHECK(memcmp(signature, v.signature, sizeof signature) == 0);
        CHECK(guard_ed25519_verify(v.key, v.message, v.n, v.signature));
    }
}

/* No bit of the signature, the key or the message can change. */
static void test_every_bit(void)
{
    load();
    struct vector v = vector_at(2);
    for (size_t bit = 0; bit < 8 * sizeof v.signature; bit++) {
        v.signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(!guard_ed25519_verify(v.key, v.message, v.n, v.signature));
        v.signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof v.key; bit++) {
        v.key[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(!guard_ed25519_verify(v.key, v.message, v.n, v.signature));
        v.key[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * v.n; bit++) {
        v.message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(!guard_ed25519_verify(v.key, v.message, v.n, v.signature));
        v.message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK(!guard_ed25519_verify(v.key, v.message, v.n - 1, v.signature));
    CHECK(guard_ed25519_verify(v.key, v.message, v.n, v.signature));
}

/* S and S + L, where L is the order of the base point, satisfy the same equation. Only the smaller
 * one is accepted, so nobody can make another signature from a known one. */
static void test_s_is_canonical(void)
{
    uint8_t order[32];
    load();
    from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010", order);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct vector v = vector_at(i);
        unsigned carry = 0;
        for (size_t j = 0; j < sizeof order; j++) {
            carry += (unsigned)v.signature[32 + j] + order[j];
            v.signature[32 + j] = (uint8_t)carry;
            carry >>= 8;
        }
        CHECK(carry == 0 && !guard_ed25519_verify(v.key, v.message, v.n, v.signature));
    }
}

static guard_pubkey pubkey_with(const uint8_t key[32])
{
    guard_pubkey p = {.keynum = {1, 2, 3, 4, 5, 6, 7, 8}};
    memcpy(p.key, key, sizeof p.key);
    return p;
}

static bool is_safe(const uint8_t key[32])
{
    const guard_pubkey p = pubkey_with(key);
    guard_pubkey read;
    guard_error why;
    char text[GUARD_KEY_FILE];
    const size_t n = guard_pubkey_print(&p, text);
    return guard_pubkey_parse(text, n, &read, &why);
}

/* libhogweed itself accepts keys of small order: with the neutral element as the key, R = 0 and
 * S = 0 sign every message. Such keys are therefore refused where keys are read. */
static void test_weak_keys(void)
{
    static const char *const weak[] = {
        "0100000000000000000000000000000000000000000000000000000000000000", /* neutral */
        "0000000000000000000000000000000000000000000000000000000000000000", /* order 4 */
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* order 2 */
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", /* order 8 */
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* 0 once more */
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* 1 once more */
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* 18 once more */
    };
    uint8_t key[32], forged[64] = {1};
    load();
    from_hex(weak[0], key);
    CHECK(guard_ed25519_verify(key, "anything", 8, forged));
    CHECK(guard_ed25519_verify(key, "something else", 14, forged));
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++) {
        from_hex(weak[i], key);
        CHECK(!is_safe(key));
        key[31] |= 0x80; /* the sign */
        CHECK(!is_safe(key));
    }
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) CHECK(is_safe(vector_at(i).key));
    from_hex("ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", key);
    CHECK(is_safe(key)); /* p - 2, the nearest one that is not */
    key[0] = 0xec, key[31] = 0x7e;
    CHECK(is_safe(key));
}

/* --- Files ------------------------------------------------------------------------------------ */

static guard_seckey a_key(void)
{
    guard_seckey k = {.keynum = {0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10}};
    const struct vector v = vector_at(1);
    load();
    memcpy(k.seed, v.seed, sizeof k.seed);
    memcpy(k.key, v.key, sizeof k.key);
    return k;
}

struct file {
    char text[GUARD_KEY_FILE];
    size_t n;
};

/* Whether each sort of file reads this text, as bits. */
static unsigned readers_of(const char *text, size_t n)
{
    guard_error why;
    guard_pubkey p;
    guard_seckey s;
    guard_signature g;
    char *copy = malloc(n + 1); /* so that the sanitizer sees its bounds */
    CHECK(copy != NULL);
    memcpy(copy, text, n);
    const unsigned by = (unsigned)guard_pubkey_parse(copy, n, &p, &why) |
                        (unsigned)guard_seckey_parse(copy, n, &s, &why) << 1 |
                        (unsigned)guard_signature_parse(copy, n, &g, &why) << 2;
    free(copy);
    return by;
}

static void make_files(struct file files[3])
{
    const guard_seckey k = a_key();
    const guard_pubkey p = guard_pubkey_of(&k);
    guard_signature g;
    guard_error why;
    CHECK(guard_sign(&k, "message", 7, &g, &why));
    files[0].n = guard_pubkey_print(&p, files[0].text);
    files[1].n = guard_seckey_print(&k, files[1].text);
    files[2].n = guard_signature_print(&g, files[2].text);
}

static void test_files(void)
{
    struct file files[3];
    const guard_seckey k = a_key();
    guard_seckey s;
    guard_pubkey p;
    guard_signature g;
    guard_error why;
    make_files(files);
    for (size_t i = 0; i < 3; i++) {
        CHECK_THAT(readers_of(files[i].text, files[i].n), ==, 1 << i);
        CHECK(files[i].n < GUARD_KEY_FILE && guard_is_key_text(files[i].text, files[i].n));
        files[i].text[files[i].n] = '\0';
        CHECK(strstr(files[i].text, "fedcba9876543210\n") != NULL);
    }
    CHECK(guard_pubkey_parse(files[0].text, files[0].n, &p, &why));
    CHECK(guard_seckey_parse(files[1].text, files[1].n, &s, &why));
    CHECK(guard_signature_parse(files[2].text, files[2].n, &g, &why));
    CHECK(memcmp(&s, &k, sizeof k) == 0 && memcmp(p.key, k.key, sizeof k.key) == 0);
    CHECK(guard_verify(&p, 1, &g, 1, "message", 7, &why));
    CHECK(!guard_verify(&p, 1, &g, 1, "massage", 7, &why));
    CHECK(strstr(why.text, "fedcba9876543210 is wrong") != NULL);
    p.keynum[0]++;
    CHECK(!guard_verify(&p, 1, &g, 1, "message", 7, &why));
    CHECK(strstr(why.text, "not one of the given") != NULL);
    CHECK(!guard_verify(&p, 1, &g, 0, "message", 7, &why));
    CHECK(strstr(why.text, "not signed") != NULL);
}

/* A signature by one pinned key is enough, and a wrong one by another pinned key is too much. */
static void test_several_keys(void)
{
    guard_seckey keys[3];
    guard_pubkey pinned[3];
    guard_signature signatures[3];
    guard_error why;
    for (size_t i = 0; i < 3; i++) {
        CHECK(guard_seckey_draw(&keys[i], &why));
        CHECK(guard_sign(&keys[i], "message", 7, &signatures[i], &why));
        pinned[i] = guard_pubkey_of(&keys[i]);
    }
    CHECK(memcmp(keys[0].seed, keys[1].seed, 32) != 0);
    CHECK(guard_verify(pinned, 3, signatures, 3, "message", 7, &why));
    CHECK(guard_verify(pinned, 1, signatures, 3, "message", 7, &why));
    CHECK(guard_verify(pinned, 3, signatures + 2, 1, "message", 7, &why));
    CHECK(!guard_verify(pinned, 2, signatures + 2, 1, "message", 7, &why));
    signatures[1].bytes[0] ^= 1;
    CHECK(!guard_verify(pinned, 3, signatures, 3, "message", 7, &why));
    CHECK(guard_verify(pinned, 1, signatures, 3, "message", 7, &why)); /* nobody looks at it */
    /* The number of a key does not make a signature. */
    memcpy(signatures[2].keynum, pinned[0].keynum, GUARD_KEYNUM);
    CHECK(!guard_verify(pinned, 1, signatures + 2, 1, "message", 7, &why));
}

/* Cut anywhere, with any byte changed, with something behind it. */
static void test_hostile_files(void)
{
    struct file files[3];
    make_files(files);
    for (size_t i = 0; i < 3; i++) {
        char *text = files[i].text;
        const size_t n = files[i].n;
        const size_t second = (size_t)((char *)memchr(text, '\n', n) - text) + 1;
        for (size_t cut = 0; cut < n; cut++) CHECK_THAT(readers_of(text, cut), ==, 0);
        text[n] = '\n';
        CHECK_THAT(readers_of(text, n + 1), ==, 0);
        text[n] = 'A';
        CHECK_THAT(readers_of(text, n + 1), ==, 0);
        for (size_t at = 0; at < n; at++) {
            const char was = text[at];
            for (unsigned byte = 0; byte < 256; byte++) {
                text[at] = (char)byte;
                if ((char)byte == was) continue;
                const unsigned by = readers_of(text, n);
                const bool comment = at >= 19 && at + 1 < second && byte != '\n';
                if (comment) CHECK_THAT(by, ==, 1 << i);
                if (at < 19 || at + 1 == second || at + 1 == n) CHECK_THAT(by, ==, 0);
                CHECK((by & ~(1u << i)) == 0);
            }
            text[at] = was;
        }
    }
}

/* What a secret key cannot have, with its second line written anew. */
static void test_secret_keys(void)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct file files[3];
    guard_seckey k = a_key(), read;
    guard_error why;
    char text[GUARD_KEY_FILE];
    make_files(files);
    char *line = (char *)memchr(files[1].text, '\n', files[1].n) + 1;
    /* The rounds are bytes 4 to 7; their last bit is the fourth of character 10. */
    line[10] = alphabet[(strchr(alphabet, line[10]) - alphabet) ^ 4];
    CHECK(!guard_seckey_parse(files[1].text, files[1].n, &read, &why));
    CHECK(strstr(why.text, "passphrase") != NULL);
    make_files(files);
    line[60] = alphabet[(strchr(alphabet, line[60]) - alphabet) ^ 1]; /* of the seed */
    CHECK(!guard_seckey_parse(files[1].text, files[1].n, &read, &why));
    CHECK(strstr(why.text, "checksum") != NULL);
    k.key[0] ^= 1; /* a public half of another key, with a checksum that fits */
    const size_t n = guard_seckey_print(&k, text);
    CHECK(!guard_seckey_parse(text, n, &read, &why));
    CHECK(strstr(why.text, "public half") != NULL);
}

/* The text of a manifest's line. */
static void test_lines(void)
{
    struct file files[3];
    guard_signature g, read;
    guard_error why;
    char text[GUARD_KEYNUM_TEXT + GUARD_SIGNATURE_TEXT + 2];
    make_files(files);
    CHECK(guard_signature_parse(files[2].text, files[2].n, &g, &why));
    guard_signature_write(&g, text);
    const size_t n = strlen(text);
    CHECK(n == 16 + 1 + 88 && strncmp(text, "fedcba9876543210 ", 17) == 0);
    CHECK(guard_signature_from(text, &read) && memcmp(&read, &g, sizeof g) == 0);
    for (size_t at = 0; at < n; at++) {
        const char was = text[at];
        for (unsigned byte = 0; byte < 256; byte++) {
            text[at] = (char)byte;
            const bool good = guard_signature_from(text, &read);
            if (!good) continue;
            char again[sizeof text]; /* whatever is accepted has this one form */
            guard_signature_write(&read, again);
            CHECK(strcmp(again, text) == 0);
        }
        text[at] = was;
    }
    text[n] = 'A', text[n + 1] = '\0';
    CHECK(!guard_signature_from(text, &read));
}

static const struct test tests[] = {
    {"RFC 8032", test_vectors},
    {"every bit counts", test_every_bit},
    {"S is canonical", test_s_is_canonical},
    {"weak keys", test_weak_keys},
    {"files of keys and signatures", test_files},
    {"several keys", test_several_keys},
    {"hostile files", test_hostile_files},
    {"secret keys", test_secret_keys},
    {"lines of manifests", test_lines},
};
TEST_MAIN(tests)
