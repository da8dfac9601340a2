/* Hostile manifests, keys, signatures and memories of accepted versions. The first byte selects
 * which of them the rest is. What is accepted is written again as the same bytes, except for the
 * comment of a key; the signed part of a manifest ends where its first signature begins; and
 * nothing verifies by the key of the golden files except what was signed with it. The mutator
 * repairs the sums most of the time.
 *
 * ./run fuzz signed */
#include "fuzz.h"

#include "../../guard/version/signature.h"
#include "../../guard/version/trust.h"

#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { MANIFEST, PUBKEY, SECKEY, SIGNATURE, STATE, SORTS };
enum { SUM = 69 };

/* tests/golden/signed/test.sec.pub, and the SHA-256 of the part of the manifest that it signed. */
static const char pinned_text[] = "untrusted comment: for tests only, public key\n"
                                  "RWQK6GzuVRgYoHsBC7/lhU+3sA3SJjOfGwtSquGVE4U9oJ+UoemLCS37\n";
static const char signed_sum[] = "b76d40914ab41914a3c9c9be58cb13a931824530b9dc0f895c5204aad92eefa8";

static guard_pubkey pinned(void)
{
    static guard_pubkey key;
    static bool known;
    guard_error why;
    if (!known) must(guard_pubkey_parse(pinned_text, strlen(pinned_text), &key, &why), why.text);
    known = true;
    return key;
}

static void feed_manifest(const char *bytes, size_t n)
{
    static struct guard_manifest_text text;
    guard_manifest m;
    guard_error why;
    if (n > GUARD_MANIFEST_BYTES) return;
    memcpy(text.at, bytes, n);
    text.at[n] = '\0';
    text.n = n;
    if (!guard_manifest_parse(&text, &m)) return;
    must(strlen(text.at) == n, "a manifest has no NUL");
    const char *first = strstr(text.at, "\nsignature ");
    must(text.n_signed == (first != NULL ? (size_t)(first + 1 - text.at) : n - SUM),
         "the signed part ends where the first signature begins");
    must((first != NULL) == (m.n_signatures > 0) && m.n_signatures <= GUARD_SIGNERS,
         "signatures are counted");
    must((m.n_signatures == 0 && m.expires == 0) || strncmp(text.at, "tamis-guard 2\n", 14) == 0,
         "version 1 has neither signatures nor an expiry");
    for (size_t i = 0; i < m.n_signatures; i++) {
        char line[GUARD_KEYNUM_TEXT + GUARD_SIGNATURE_TEXT];
        guard_signature_write(&m.signatures[i], line);
        must(strstr(text.at + text.n_signed, line) != NULL, "signatures have one form");
    }
    const guard_pubkey key = pinned();
    if (!guard_verify(&key, 1, m.signatures, m.n_signatures, text.at, text.n_signed, &why)) {
        must(why.text[0] != '\0', "a refusal has a reason");
        return;
    }
    char sum[65];
    guard_sum_bytes(text.at, text.n_signed, sum);
    must(strcmp(sum, signed_sum) == 0, "only what was signed verifies");
}

/* Compares the second lines. */
static bool same_second_line(const char *a, size_t n, const char *b, size_t m)
{
    const char *x = (const char *)memchr(a, '\n', n) + 1;
    const char *y = (const char *)memchr(b, '\n', m) + 1;
    return a + n - x == b + m - y && memcmp(x, y, (size_t)(a + n - x)) == 0;
}

static void feed_key(int sort, const char *text, size_t n)
{
    guard_pubkey p;
    guard_seckey s;
    guard_signature g;
    guard_error why = {""};
    char again[GUARD_KEY_FILE];
    bool good = false, same = true;
    if (sort == PUBKEY && (good = guard_pubkey_parse(text, n, &p, &why)))
        same = same_second_line(text, n, again, guard_pubkey_print(&p, again));
    if (sort == SECKEY && (good = guard_seckey_parse(text, n, &s, &why))) {
        uint8_t key[GUARD_ED25519_KEY]; /* the salt is not kept, so the key itself is compared */
        guard_ed25519_public(s.seed, key);
        same = memcmp(key, s.key, sizeof key) == 0 &&
               guard_seckey_parse(again, guard_seckey_print(&s, again), &s, &why);
    }
    if (sort == SIGNATURE && (good = guard_signature_parse(text, n, &g, &why)))
        same = same_second_line(text, n, again, guard_signature_print(&g, again));
    must(same, "what is read is written again");
    must(!good || guard_is_key_text(text, n), "it begins with a comment");
    must(good || why.text[0] != '\0', "a refusal has a reason");
}

static void feed_state(const char *text, size_t n)
{
    guard_accepted a;
    char again[GUARD_STATE_BYTES];
    if (!guard_state_parse(text, n, &a)) return;
    must(a.version != 0, "a memory is of a version");
    must(guard_state_print(&a, again, sizeof again) == n && memcmp(again, text, n) == 0,
         "what is read is written again");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const size_t n = size - 1;
    const int sort = data[0] % SORTS;
    char *text = malloc(n + 1); /* the sanitizer sees its bounds */
    must(text != NULL, "memory");
    char *exact = realloc(text, n > 0 ? n : 1);
    must(exact != NULL, "memory");
    memcpy(exact, data + 1, n);
    if (sort == MANIFEST)
        feed_manifest(exact, n);
    else if (sort == STATE)
        feed_state(exact, n);
    else
        feed_key(sort, exact, n);
    free(exact);
    return 0;
}

#ifndef FUZZ_STANDALONE

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    char sum[65];
    size = LLVMFuzzerMutate(data, size, max_size);
    const int sort = size > 0 ? data[0] % SORTS : PUBKEY;
    if (seed % 8 == 0 || size < SUM + 2 || (sort != MANIFEST && sort != STATE)) return size;
    guard_sum_bytes(data + 1, size - 1 - SUM, sum);
    memcpy(data + size - SUM, "sum ", 4);
    memcpy(data + size - SUM + 4, sum, 64);
    data[size - 1] = '\n';
    return size;
}

#endif
