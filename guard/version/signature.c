#include "signature.h"

#include "manifest.h"

#include <errno.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COMMENT "untrusted comment: "

/* The bytes behind the base64 of each file (docs/FORMAT.md). All fields are bytes, so there is no
 * padding. */
struct pubkey_bytes {
    uint8_t algorithm[2], keynum[GUARD_KEYNUM], key[GUARD_ED25519_KEY];
};
struct seckey_bytes {
    uint8_t algorithm[2], kdf[2], rounds[4], salt[16], checksum[8], keynum[GUARD_KEYNUM];
    uint8_t seed[GUARD_ED25519_KEY], key[GUARD_ED25519_KEY];
};
struct signature_bytes {
    uint8_t algorithm[2], keynum[GUARD_KEYNUM], bytes[GUARD_ED25519_SIGNATURE];
};
_Static_assert(sizeof(struct pubkey_bytes) == 42, "as in signify");
_Static_assert(sizeof(struct seckey_bytes) == 104, "as in signify");
_Static_assert(sizeof(struct signature_bytes) == 74, "as in signify");

/* --- Base64 ----------------------------------------------------------------------------------- */

#define MOST_BASE64 160 /* more than any text here has */

/* Decodes exactly `size` bytes. They have one text: nettle refuses other bits in the last
 * character, and the white space that it skips would make the text too long. */
static bool decode_exactly(const char *text, size_t n, void *out, size_t size)
{
    struct base64_decode_ctx c;
    uint8_t bytes[BASE64_DECODE_LENGTH(MOST_BASE64)];
    size_t got = 0;
    if (n != BASE64_ENCODE_RAW_LENGTH(size) || n > MOST_BASE64) return false;
    base64_decode_init(&c);
    const bool good = base64_decode_update(&c, &got, bytes, n, text) == 1 &&
                      base64_decode_final(&c) == 1 && got == size;
    if (good) memcpy(out, bytes, size);
    guard_wipe(bytes, sizeof bytes);
    guard_wipe(&c, sizeof c);
    return good;
}

/* --- The two lines of a file ------------------------------------------------------------------ */

bool guard_is_key_text(const char *text, size_t n)
{
    return n >= strlen(COMMENT) && memcmp(text, COMMENT, strlen(COMMENT)) == 0;
}

static bool parse_lines(const char *text, size_t n, const char *what, void *out, size_t size,
                        guard_error *why)
{
    const char *end = guard_is_key_text(text, n) ? memchr(text, '\n', n) : NULL;
    if (end == NULL)
        return guard_fail(why, "is not %s: its first line must begin with '%s'", what, COMMENT);
    const char *line = end + 1;
    const size_t left = n - (size_t)(line - text);
    if (left == 0 || line[left - 1] != '\n')
        return guard_fail(why, "is not %s: it is cut off", what);
    if (!decode_exactly(line, left - 1, out, size) || memcmp(out, "Ed", 2) != 0)
        return guard_fail(why,
                          "is not %s: its second line must be %zu characters of base64 for "
                          "Ed25519, and nothing may follow",
                          what, (size_t)BASE64_ENCODE_RAW_LENGTH(size));
    return true;
}

static size_t print_lines(const char *what, const uint8_t keynum[GUARD_KEYNUM], const void *bytes,
                          size_t size, char *text)
{
    char number[GUARD_KEYNUM_TEXT];
    guard_keynum_print(keynum, number);
    size_t n = (size_t)snprintf(text, GUARD_KEY_FILE, COMMENT "tamis %s %s\n", what, number);
    base64_encode_raw(text + n, size, bytes);
    n += BASE64_ENCODE_RAW_LENGTH(size);
    text[n++] = '\n';
    return n;
}

/* --- Public keys ------------------------------------------------------------------------------ */

/* A key is the y coordinate of a point, and in its highest bit the sign of x. Points whose order
 * divides 8 are weak whatever their sign. */
static bool is_weak(const uint8_t key[GUARD_ED25519_KEY])
{
    static const uint8_t ys[][GUARD_ED25519_KEY] = {
        {0},
        {1},
        {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
         0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
         0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
        {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
         0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
         0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
    };
    for (size_t i = 0; i < sizeof ys / sizeof *ys; i++)
        if (memcmp(key, ys[i], GUARD_ED25519_KEY - 1) == 0 &&
            (key[GUARD_ED25519_KEY - 1] & 0x7f) == ys[i][GUARD_ED25519_KEY - 1])
            return true;
    /* p - 1, and numbers that are not below p, which is 2^255 - 19: 0 and 1 in another spelling,
     * and keys that programs read differently. */
    bool high = key[0] >= 0xec && (key[GUARD_ED25519_KEY - 1] & 0x7f) == 0x7f;
    for (size_t i = 1; i + 1 < GUARD_ED25519_KEY; i++) high = high && key[i] == 0xff;
    return high;
}

bool guard_pubkey_parse(const char *text, size_t n, guard_pubkey *out, guard_error *why)
{
    struct pubkey_bytes b;
    if (!parse_lines(text, n, "a public key", &b, sizeof b, why)) return false;
    if (is_weak(b.key))
        return guard_fail(why, "this public key is not a safe one: anybody could sign for it");
    memcpy(out->keynum, b.keynum, sizeof out->keynum);
    memcpy(out->key, b.key, sizeof out->key);
    return true;
}

bool guard_pubkey_read(const char *path, guard_pubkey *out, guard_error *why)
{
    char text[GUARD_KEY_FILE];
    size_t n;
    guard_error reason;
    if (!guard_read_small(path, text, sizeof text, &n, why)) return false;
    return guard_pubkey_parse(text, n, out, &reason) ||
           guard_fail(why, "%s: %.160s", path, reason.text);
}

size_t guard_pubkey_print(const guard_pubkey *key, char *text)
{
    struct pubkey_bytes b = {.algorithm = {'E', 'd'}};
    memcpy(b.keynum, key->keynum, sizeof b.keynum);
    memcpy(b.key, key->key, sizeof b.key);
    return print_lines("public key", key->keynum, &b, sizeof b, text);
}

guard_pubkey guard_pubkey_of(const guard_seckey *key)
{
    guard_pubkey p;
    memcpy(p.keynum, key->keynum, sizeof p.keynum);
    memcpy(p.key, key->key, sizeof p.key);
    return p;
}

/* --- Secret keys ------------------------------------------------------------------------------ */

static void checksum_of(const struct seckey_bytes *b, uint8_t checksum[8])
{
    struct sha512_ctx sum;
    sha512_init(&sum);
    sha512_update(&sum, sizeof b->seed + sizeof b->key, b->seed); /* `key` follows it */
    sha512_digest(&sum, 8, checksum);
    guard_wipe(&sum, sizeof sum);
}

static bool wrong_seckey(const struct seckey_bytes *b, guard_error *why)
{
    static const uint8_t none[4] = {0};
    uint8_t checksum[8], key[GUARD_ED25519_KEY];
    if (memcmp(b->kdf, "BK", 2) != 0)
        return !guard_fail(why, "is not a secret key that this version knows");
    if (memcmp(b->rounds, none, sizeof none) != 0)
        return !guard_fail(why, "this secret key has a passphrase, which is not supported; make "
                                "one without ('tamis key new --sign', or signify -G -n)");
    checksum_of(b, checksum);
    if (memcmp(checksum, b->checksum, sizeof checksum) != 0)
        return !guard_fail(why, "this secret key is damaged: its checksum is wrong");
    if (!guard_ed25519_load(why)) return true;
    guard_ed25519_public(b->seed, key);
    return memcmp(key, b->key, sizeof key) != 0 &&
           !guard_fail(why, "this secret key is damaged: its public half belongs to another");
}

bool guard_seckey_parse(const char *text, size_t n, guard_seckey *out, guard_error *why)
{
    struct seckey_bytes b;
    const bool good =
        parse_lines(text, n, "a secret key", &b, sizeof b, why) && !wrong_seckey(&b, why);
    if (good) {
        memcpy(out->keynum, b.keynum, sizeof out->keynum);
        memcpy(out->seed, b.seed, sizeof out->seed);
        memcpy(out->key, b.key, sizeof out->key);
    }
    guard_wipe(&b, sizeof b);
    return good;
}

size_t guard_seckey_print(const guard_seckey *key, char *text)
{
    struct seckey_bytes b = {.algorithm = {'E', 'd'}, .kdf = {'B', 'K'}};
    memcpy(b.keynum, key->keynum, sizeof b.keynum);
    memcpy(b.seed, key->seed, sizeof b.seed);
    memcpy(b.key, key->key, sizeof b.key);
    checksum_of(&b, b.checksum);
    const size_t n = print_lines("secret key", key->keynum, &b, sizeof b, text);
    guard_wipe(&b, sizeof b);
    return n;
}

bool guard_seckey_draw(guard_seckey *out, guard_error *why)
{
    if (!guard_ed25519_load(why)) return false;
    if (getrandom(out->keynum, sizeof out->keynum, 0) != (ssize_t)sizeof out->keynum ||
        getrandom(out->seed, sizeof out->seed, 0) != (ssize_t)sizeof out->seed)
        return guard_fail(why, "the system provides no random numbers: %s", strerror(errno));
    guard_ed25519_public(out->seed, out->key);
    return true;
}

/* --- Signatures ------------------------------------------------------------------------------- */

bool guard_signature_parse(const char *text, size_t n, guard_signature *out, guard_error *why)
{
    struct signature_bytes b;
    if (!parse_lines(text, n, "a signature", &b, sizeof b, why)) return false;
    memcpy(out->keynum, b.keynum, sizeof out->keynum);
    memcpy(out->bytes, b.bytes, sizeof out->bytes);
    return true;
}

bool guard_signature_read(const char *path, guard_signature *out, guard_error *why)
{
    char text[GUARD_KEY_FILE];
    size_t n;
    guard_error reason;
    if (!guard_read_small(path, text, sizeof text, &n, why)) return false;
    return guard_signature_parse(text, n, out, &reason) ||
           guard_fail(why, "%s: %.160s", path, reason.text);
}

size_t guard_signature_print(const guard_signature *signature, char *text)
{
    struct signature_bytes b = {.algorithm = {'E', 'd'}};
    memcpy(b.keynum, signature->keynum, sizeof b.keynum);
    memcpy(b.bytes, signature->bytes, sizeof b.bytes);
    return print_lines("signature by key", signature->keynum, &b, sizeof b, text);
}

bool guard_sign(const guard_seckey *key, const void *bytes, size_t n, guard_signature *out,
                guard_error *why)
{
    if (!guard_ed25519_load(why)) return false;
    memcpy(out->keynum, key->keynum, sizeof out->keynum);
    guard_ed25519_sign(key->seed, key->key, bytes, n, out->bytes);
    return true;
}

static const guard_pubkey *pinned_key(const guard_pubkey *pinned, size_t n, const uint8_t *keynum)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(pinned[i].keynum, keynum, GUARD_KEYNUM) == 0) return &pinned[i];
    return NULL;
}

bool guard_verify(const guard_pubkey *pinned, size_t n_pinned, const guard_signature *signatures,
                  size_t n_signatures, const void *bytes, size_t n, guard_error *why)
{
    char number[GUARD_KEYNUM_TEXT] = "";
    size_t right = 0;
    if (n_signatures == 0) return guard_fail(why, "it is not signed");
    if (!guard_ed25519_load(why)) return false;
    for (size_t i = 0; i < n_signatures; i++) {
        const guard_pubkey *key = pinned_key(pinned, n_pinned, signatures[i].keynum);
        if (key == NULL) continue;
        guard_keynum_print(key->keynum, number);
        if (!guard_ed25519_verify(key->key, bytes, n, signatures[i].bytes))
            return guard_fail(why,
                              "the signature of key %s is wrong: this is not what was signed, "
                              "or another key has signed it",
                              number);
        right++;
    }
    guard_keynum_print(signatures[0].keynum, number);
    return right > 0 ||
           guard_fail(why, "it is signed by key %s, which is not one of the given public keys",
                      number);
}

/* --- As text ---------------------------------------------------------------------------------- */

void guard_keynum_print(const uint8_t keynum[GUARD_KEYNUM], char text[GUARD_KEYNUM_TEXT])
{
    for (size_t i = 0; i < GUARD_KEYNUM; i++) snprintf(text + 2 * i, 3, "%02x", keynum[i]);
}

void guard_signature_write(const guard_signature *signature, char *text)
{
    guard_keynum_print(signature->keynum, text);
    text += GUARD_KEYNUM_TEXT;
    text[-1] = ' ';
    base64_encode_raw(text, sizeof signature->bytes, signature->bytes);
    text[BASE64_ENCODE_RAW_LENGTH(sizeof signature->bytes)] = '\0';
}

bool guard_signature_from(const char *text, guard_signature *out)
{
    char again[GUARD_KEYNUM_TEXT];
    unsigned byte;
    if (strlen(text) < GUARD_KEYNUM_TEXT || text[GUARD_KEYNUM_TEXT - 1] != ' ') return false;
    for (size_t i = 0; i < GUARD_KEYNUM; i++) {
        /* NOLINTNEXTLINE(cert-err34-c): two digits cannot overflow */
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
        out->keynum[i] = (uint8_t)byte;
    }
    guard_keynum_print(out->keynum, again);
    text += GUARD_KEYNUM_TEXT;
    return memcmp(again, text - GUARD_KEYNUM_TEXT, GUARD_KEYNUM_TEXT - 1) == 0 &&
           decode_exactly(text, strlen(text), out->bytes, sizeof out->bytes);
}
