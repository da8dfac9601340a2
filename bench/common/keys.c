/* Keys: 64-bit integers in an array, and URLs of about 50 bytes one after the other in one
 * buffer. */
#include "bench.h"

#include <string.h>

const char *const KEY_TYPES[2] = {"int", "url"};

/* SplitMix64. */
uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#define URL_MAX 64u

static size_t append(char *to, const char *from)
{
    const size_t n = strlen(from);
    memcpy(to, from, n);
    return n;
}

/* For example https://news.site.org/products/7eabce45f1a2b3c4?id=7: 42 to 58 bytes, 50 on
 * average. */
static size_t make_url(uint64_t i, char *out)
{
    static const char *const hosts[8] = {"https://a.example",         "https://news.site.org",
                                         "https://shop.example.com",  "https://www.example.org",
                                         "https://www.wide.example",  "https://blog.example",
                                         "https://mail.site.example", "https://img.cdn.example"};
    static const char *const paths[8] = {"/product/", "/a/", "/2024/05/",  "/img/",
                                         "/en/docs/", "/u/", "/articles/", "/search/q/"};
    static const char *const ends[4] = {"", "?id=7", ".htm", "?p=12"};
    const uint64_t x = mix(i);
    size_t n = append(out, hosts[x & 7]);
    n += append(out + n, paths[x >> 3 & 7]);
    for (int digit = 0; digit < 16; digit++) out[n++] = "0123456789abcdef"[x >> 4 * digit & 15];
    return n + append(out + n, ends[x >> 6 & 3]);
}

void keys_make(struct keys *k, enum key_type type, uint64_t first, uint64_t n)
{
    memset(k, 0, sizeof *k);
    k->type = type;
    k->n = n;
    if (type == INTEGERS) {
        k->words = take(n * sizeof *k->words);
        for (uint64_t i = 0; i < n; i++) k->words[i] = mix(first + i);
        return;
    }
    size_t used = 0;
    k->text = take(n * URL_MAX);
    k->starts = take((n + 1) * sizeof *k->starts);
    for (uint64_t i = 0; i < n; i++) {
        used += make_url(first + i, k->text + used);
        k->starts[i + 1] = (uint32_t)used;
    }
    if (used > UINT32_MAX) die("%zu bytes of URLs are too many", used);
}

void keys_shuffle(struct keys *k, const struct keys *from, uint64_t n)
{
    memset(k, 0, sizeof *k);
    k->n = n;
    k->words = take(n * sizeof *k->words);
    for (uint64_t i = 0; i < n; i++)
        k->words[i] = from->words[mix(i ^ UINT64_C(1) << 60) % from->n];
}

void keys_drop(struct keys *k)
{
    give_back(k->words);
    give_back(k->text);
    give_back(k->starts);
    memset(k, 0, sizeof *k);
}

void keys_describe(const struct keys *k, uint64_t at, size_t n, tamis_bytes *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i].p =
            k->type == INTEGERS ? (const void *)(k->words + at + i) : k->text + k->starts[at + i];
        out[i].len =
            k->type == INTEGERS ? sizeof *k->words : k->starts[at + i + 1] - k->starts[at + i];
    }
}
