/* verify: opening a filter checks every checksum. Then random keys show whether the bits answer as
 * the mathematics predicts. Keys of 16 random bytes are not among the items. */
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "sign.h"

#include <tamis/inspect.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 4096 };

/* The probability that a count is further from its expectation than this many deviations is below
 * 1e-9. */
#define SIGMAS 6.2

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* For keys of a stated length, of which a random one may well be an item. */
static uint64_t ask_random_hashes(const tamis *t, uint64_t keys, struct progress *bar)
{
    tamis_hash batch[AT_ONCE];
    uint64_t state = 1, maybe = 0;
    for (uint64_t done = 0; done < keys;) {
        const size_t n = keys - done < AT_ONCE ? (size_t)(keys - done) : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            batch[i].lo = next_random(&state);
            batch[i].hi = next_random(&state);
        }
        maybe += tamis_may_contain_hashes(t, batch, n, NULL);
        progress_add(bar, n);
        done += n;
    }
    return maybe;
}

static uint64_t ask_random_keys(const tamis *t, uint64_t keys, struct progress *bar)
{
    uint64_t words[2 * AT_ONCE], state = 1, maybe = 0;
    tamis_bytes batch[AT_ONCE];
    uint8_t bits[AT_ONCE / 8];
    for (size_t i = 0; i < AT_ONCE; i++) batch[i] = (tamis_bytes){&words[2 * i], 16};
    for (uint64_t done = 0; done < keys;) {
        const size_t n = keys - done < AT_ONCE ? (size_t)(keys - done) : AT_ONCE;
        for (size_t i = 0; i < 2 * n; i++) words[i] = next_random(&state);
        maybe += tamis_may_contain_many(t, batch, n, bits);
        progress_add(bar, n);
        done += n;
    }
    return maybe;
}

/* Enough keys for about 1000 false positives, so that an error of 20 % is noticed, but at most a
 * few seconds of work. */
static uint64_t keys_for(double rate)
{
    const double wanted = rate > 0 ? 1000 / rate : 0;
    return (uint64_t)fmin(fmax(wanted, 1e6), 5e7);
}

/* A signed file of another program: only the signature can be checked. */
static int tell_signed(const struct args *a, const char *path, const char *number)
{
    if (!a->json) {
        printf("%s: signed by key %s; not a file of Tamis, so nothing else is checked\n", path,
               number);
        return EXIT_FOUND;
    }
    json_open('{');
    json_text("file", path);
    json_text("signed_by", number);
    json_bool("good", true);
    json_close('}');
    putchar('\n');
    return EXIT_FOUND;
}

/* number is that of the key that signed it, or NULL. Closes t; NULL: a message was printed. */
static int verify_filter(const struct args *a, const char *path, tamis *t, const char *number)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (t == NULL || !read_facts(t, &f)) return EXIT_ERROR;
    const uint64_t keys = a->keys != 0 ? a->keys : keys_for(f.fpr_now);
    const bool own_hashes =
        f.hash == TAMIS_CALLER_HASH; /* no key can be hashed, so none is queried */
    struct progress bar;
    progress_count(&bar, "verifying", "keys", keys);
    const uint64_t maybe = own_hashes         ? 0
                           : f.key_width != 0 ? ask_random_hashes(t, keys, &bar)
                                              : ask_random_keys(t, keys, &bar);
    progress_end(&bar);
    tamis_close(t);
    const double expected = f.fpr_now * (double)keys;
    const double deviation = sqrt(expected * (1 - f.fpr_now));
    const bool good = own_hashes || fabs((double)maybe - expected) <= SIGMAS * deviation + 1;
    const double measured = (double)maybe / (double)keys;
    if (a->json) {
        json_open('{');
        json_text("file", path);
        if (number != NULL) json_text("signed_by", number);
        json_bool("sums", true);
        json_count("keys", own_hashes ? 0 : keys);
        json_count("maybe", maybe);
        json_number("fpr_measured", own_hashes ? NAN : measured);
        json_number("fpr_now", f.fpr_now);
        json_number("fpr_planned", f.fpr_planned);
        json_bool("overfull", f.overfull);
        json_bool("hash_suspect", f.hash_suspect);
        json_bool("good", good);
        json_close('}');
        putchar('\n');
    } else {
        if (number != NULL) printf("%s: signed by key %s\n", path, number);
        printf("%s: undamaged: every checksum is right\n", path);
        if (!own_hashes)
            printf("%s: %s of %s random keys got a maybe: %s; the bits predict %s: %s\n", path,
                   grouped(maybe), grouped(keys), rate_text(measured), rate_text(f.fpr_now),
                   good ? "good" : "NOT the predicted rate");
        if (f.overfull) printf("%s: overfull: planned for %s\n", path, rate_text(f.fpr_planned));
        if (f.hash_suspect) printf("%s: suspect: the added hashes are not uniform\n", path);
    }
    return good ? EXIT_FOUND : EXIT_NONE;
}

/* Opens the bytes that were signed, not the file again, which may be another by then. */
static int verify_signed(const struct args *a, const char *path)
{
    size_t n;
    const char *number;
    int status = EXIT_ERROR;
    void *bytes = read_signed(&a->sign, path, &n, &number);
    if (bytes != NULL)
        status = is_tamis_begin(bytes, n)
                     ? verify_filter(a, path, open_filter_bytes(a, path, bytes, n), number)
                     : tell_signed(a, path, number);
    free(bytes);
    return status;
}

int run_verify(const struct args *a)
{
    int status = EXIT_FOUND;
    for (int i = 0; i < a->n_words; i++) {
        const char *path = a->words[i];
        const int one = a->sign.pubkeys.n > 0
                            ? verify_signed(a, path)
                            : verify_filter(a, path, open_filter(a, path, 0), NULL);
        if (one > status) status = one;
    }
    return finish_output(status);
}
