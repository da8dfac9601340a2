/* Calls with one key each, for tests/tree/test_instructions.py, which counts the instructions of
 * each function whose name begins with cost_. It prints a line for each of them: the subject, and
 * the number of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

enum { MEMBERS = 20000, FEW = 1000, MANY = 4000, URL = 54 };
static uint64_t keys[2 * MEMBERS];
static char urls[2 * MEMBERS][URL + 1];

/* Each loop is measured twice, with few and many calls, and the empty one as well. */
static __attribute__((noinline)) bool ask_nothing(const tamis *t, const void *key, size_t len)
{
    __asm__ volatile("" : : "r"(t), "r"(key), "r"(len));
    return false;
}

static __attribute__((noinline)) tamis_status add_nothing(tamis *t, const void *key, size_t len,
                                                          bool *seen)
{
    __asm__ volatile("" : : "r"(t), "r"(key), "r"(len), "r"(seen));
    return TAMIS_OK;
}

typedef bool asker(const tamis *t, const void *key, size_t len);
typedef tamis_status adder(tamis *t, const void *key, size_t len, bool *seen);

/* Every second key is a member. */
static __attribute__((noinline)) size_t cost_ask(asker *ask, const tamis *t, size_t n)
{
    size_t yes = 0;
    for (size_t i = 0; i < n; i++) yes += ask(t, &keys[MEMBERS - n / 2 + i], 8);
    return yes;
}

static __attribute__((noinline)) size_t cost_ask_url(asker *ask, const tamis *t, size_t n)
{
    size_t yes = 0;
    for (size_t i = 0; i < n; i++) yes += ask(t, urls[MEMBERS - n / 2 + i], URL);
    return yes;
}

static __attribute__((noinline)) size_t cost_add(adder *add, tamis *t, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        if (add(t, &keys[MEMBERS - n / 2 + i], 8, &seen) != TAMIS_OK) abort();
        known += seen;
    }
    return known;
}

static __attribute__((noinline)) size_t cost_add_url(adder *add, tamis *t, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        if (add(t, urls[MEMBERS - n / 2 + i], URL, &seen) != TAMIS_OK) abort();
        known += seen;
    }
    return known;
}

/* The instructions of a function are those until this one is called. */
static __attribute__((noinline)) void cost_end(void)
{
    __asm__ volatile("");
}

static tamis *make(uint32_t kind, bool with_urls)
{
    tamis *t = NULL;
    tamis_plan plan = {.struct_size = sizeof plan, .kind = kind, .items = 2 * MEMBERS, .fpr = 0.01};
    if (kind == TAMIS_FUSE) plan.fpr = 1.0 / 256;
    if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) abort();
    for (size_t i = 0; i < MEMBERS; i++) {
        const void *key = with_urls ? (const void *)urls[i] : &keys[i];
        if (tamis_add(t, key, with_urls ? URL : 8, NULL) != TAMIS_OK) abort();
    }
    if ((kind == TAMIS_FUSE || kind == TAMIS_RIBBON) && tamis_seal(t, NULL) != TAMIS_OK) abort();
    return t;
}

static void queries(uint32_t kind, bool with_urls, bool with_nothing)
{
    tamis *t = make(kind, with_urls);
    for (size_t n = FEW; n <= MANY; n += MANY - FEW) {
        asker *ask = with_nothing ? ask_nothing : tamis_may_contain;
        const size_t yes = (with_urls ? cost_ask_url : cost_ask)(ask, t, n);
        cost_end();
        if (!with_nothing && (yes < n / 2 || yes > n / 2 + n / 20)) abort();
        printf("%s query%s %zu\n", with_nothing ? "empty" : tamis_kind_name(kind),
               with_urls ? " of a URL" : "", n);
    }
    tamis_close(t);
}

static void adds(uint32_t kind, bool with_urls, bool with_nothing)
{
    for (size_t n = FEW; n <= MANY; n += MANY - FEW) {
        tamis *t = make(kind, with_urls);
        adder *add = with_nothing ? add_nothing : tamis_add;
        const size_t known = (with_urls ? cost_add_url : cost_add)(add, t, n);
        cost_end();
        if (!with_nothing && (known < n / 2 || known > n / 2 + n / 20)) abort();
        printf("%s add%s %zu\n", with_nothing ? "empty" : tamis_kind_name(kind),
               with_urls ? " of a URL" : "", n);
        tamis_close(t);
    }
}

int main(void)
{
    const uint32_t asked[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED,
                              TAMIS_CUCKOO,  TAMIS_FUSE,  TAMIS_RIBBON};
    const uint32_t added[] = {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_CUCKOO};
    for (size_t i = 0; i < 2 * MEMBERS; i++) {
        keys[i] = i * UINT64_C(0x9e3779b97f4a7c15);
        snprintf(urls[i], sizeof urls[i], "https://www.example.com/a/path/of/some/length/%08zu", i);
        if (strlen(urls[i]) != URL) abort();
    }
    for (int with_urls = 0; with_urls < 2; with_urls++) {
        queries(TAMIS_BLOCKED, with_urls, true);
        adds(TAMIS_BLOCKED, with_urls, true);
        queries(TAMIS_BLOCKED, with_urls, false);
        adds(TAMIS_BLOCKED, with_urls, false);
    }
    for (size_t i = 1; i < sizeof asked / sizeof *asked; i++) queries(asked[i], false, false);
    for (size_t i = 1; i < sizeof added / sizeof *added; i++) adds(added[i], false, false);
    return 0;
}
