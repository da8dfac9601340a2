/* Calls with one key each, and plans, for tests/tree/test_instructions.py, which counts the
 * instructions of each function whose name begins with cost_. It prints a line for each of them:
 * the subject, and the number of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/count.h>
#include <tamis/tamis.h>

enum { MEMBERS = 20000, FEW = 1000, MANY = 4000, URL = 54 };
static uint64_t keys[2 * MEMBERS];
static char urls[2 * MEMBERS][URL + 1];
/* The stream of the sketches: most of its keys come from the first ones. */
enum { STREAM = 60000 };
static const uint64_t *stream[STREAM];

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

/* --- Sketches --------------------------------------------------------------------------------- */

static __attribute__((noinline)) tamis_status weigh_nothing(tamis *t, const void *key, size_t len,
                                                            int64_t weight, int64_t *count,
                                                            tamis_error *why)
{
    __asm__ volatile("" : : "r"(t), "r"(key), "r"(len), "r"(weight), "r"(count), "r"(why));
    return TAMIS_OK;
}

static __attribute__((noinline)) int64_t bound_nothing(const tamis *t, const void *key, size_t len)
{
    __asm__ volatile("" : : "r"(t), "r"(key), "r"(len));
    return 0;
}

static __attribute__((noinline)) void cost_update(tamis *t, bool with_nothing, size_t n)
{
    adder *add = with_nothing ? add_nothing : tamis_add;
    for (size_t i = STREAM - n; i < STREAM; i++)
        if (add(t, stream[i], 8, NULL) != TAMIS_OK) abort();
}

static __attribute__((noinline)) void cost_counted(tamis *t, bool with_nothing, size_t n)
{
    tamis_status (*add)(tamis *, const void *, size_t, int64_t, int64_t *, tamis_error *) =
        with_nothing ? weigh_nothing : tamis_add_counted;
    int64_t count = 0;
    for (size_t i = STREAM - n; i < STREAM; i++)
        if (add(t, stream[i], 8, 1, &count, NULL) != TAMIS_OK) abort();
}

static __attribute__((noinline)) void cost_upper(tamis *t, bool with_nothing, size_t n)
{
    int64_t (*upper)(const tamis *, const void *, size_t) =
        with_nothing ? bound_nothing : tamis_upper;
    for (size_t i = STREAM - n; i < STREAM; i++)
        if (upper(t, stream[i], 8) < 0) abort();
}

/* The instructions of a function are those until this one is called. */
static __attribute__((noinline)) void cost_end(void)
{
    __asm__ volatile("");
}

struct filter {
    const char *name;
    uint32_t kind;
    double fpr;
};

static tamis *make(const struct filter *f, bool with_urls)
{
    tamis *t = NULL;
    const uint32_t kind = f->kind;
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = kind, .items = 2 * MEMBERS, .fpr = f->fpr};
    if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) abort();
    for (size_t i = 0; i < MEMBERS; i++) {
        const void *key = with_urls ? (const void *)urls[i] : &keys[i];
        if (tamis_add(t, key, with_urls ? URL : 8, NULL) != TAMIS_OK) abort();
    }
    if ((kind == TAMIS_FUSE || kind == TAMIS_RIBBON) && tamis_seal(t, NULL) != TAMIS_OK) abort();
    return t;
}

static void queries(const struct filter *f, bool with_urls, bool with_nothing)
{
    tamis *t = make(f, with_urls);
    for (size_t n = FEW; n <= MANY; n += MANY - FEW) {
        asker *ask = with_nothing ? ask_nothing : tamis_may_contain;
        const size_t yes = (with_urls ? cost_ask_url : cost_ask)(ask, t, n);
        cost_end();
        if (!with_nothing && (yes < n / 2 || yes > n / 2 + n / 20)) abort();
        printf("%s query%s %zu\n", with_nothing ? "empty" : f->name, with_urls ? " of a URL" : "",
               n);
    }
    tamis_close(t);
}

static void adds(const struct filter *f, bool with_urls, bool with_nothing)
{
    for (size_t n = FEW; n <= MANY; n += MANY - FEW) {
        tamis *t = make(f, with_urls);
        adder *add = with_nothing ? add_nothing : tamis_add;
        const size_t known = (with_urls ? cost_add_url : cost_add)(add, t, n);
        cost_end();
        if (!with_nothing && (known < n / 2 || known > n / 2 + n / 20)) abort();
        printf("%s add%s %zu\n", with_nothing ? "empty" : f->name, with_urls ? " of a URL" : "", n);
        tamis_close(t);
    }
}

static void sketch(const char *name, uint32_t kind, uint32_t flags, bool with_nothing)
{
    static const struct {
        const char *name;
        void (*run)(tamis *t, bool with_nothing, size_t n);
    } ways[] = {{"update", cost_update}, {"counted update", cost_counted}, {"upper", cost_upper}};
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = kind, .flags = flags, .bytes = 1 << 20};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t n = FEW; n <= MANY; n += MANY - FEW) {
            tamis *t = NULL;
            if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) abort();
            for (size_t i = 0; i < STREAM - MANY; i++)
                if (tamis_add(t, stream[i], 8, NULL) != TAMIS_OK) abort();
            ways[w].run(t, with_nothing, n);
            cost_end();
            printf("%s %s %zu\n", name, ways[w].name, n);
            tamis_close(t);
        }
}

static void sketches(void)
{
    uint64_t random = 1;
    for (size_t i = 0; i < STREAM; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t most = (2 * MEMBERS) >> (random >> 32) % 15;
        stream[i] = &keys[(random >> 40) % most];
    }
    sketch("empty", TAMIS_COUNT_MIN, 0, true);
    sketch("count-min", TAMIS_COUNT_MIN, 0, false);
    sketch("conservative", TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE, false);
    sketch("tally", TAMIS_TALLY, 0, false);
    sketch("top", TAMIS_TOP, 0, false);
}

/* --- Full filters ----------------------------------------------------------------------------- */

static __attribute__((noinline)) tamis_status
add_many_nothing(tamis *t, const tamis_bytes *in, size_t n, uint8_t *seen, size_t *done)
{
    __asm__ volatile("" : : "r"(t), "r"(in), "r"(n), "r"(seen), "r"(done));
    return TAMIS_OK;
}

static __attribute__((noinline)) void cost_fill(tamis *t, bool with_nothing, size_t n)
{
    adder *add = with_nothing ? add_nothing : tamis_add;
    for (size_t i = 0; i < n; i++)
        if (add(t, &keys[i], 8, NULL) != TAMIS_OK) abort();
}

static __attribute__((noinline)) void cost_bulk_fill(tamis *t, bool with_nothing, size_t n)
{
    tamis_status (*add)(tamis *, const tamis_bytes *, size_t, uint8_t *, size_t *) =
        with_nothing ? add_many_nothing : tamis_add_many;
    tamis_bytes list[100];
    for (size_t i = 0; i < n; i += 100) {
        for (size_t j = 0; j < 100; j++) list[j] = (tamis_bytes){&keys[i + j], 8};
        if (add(t, list, 100, NULL, NULL) != TAMIS_OK) abort();
    }
}

/* Adds the keys of a whole plan, so the difference of two plans is the mean add of all loads. */
static void fills(const struct filter *f, bool with_nothing)
{
    static const struct {
        const char *name;
        void (*run)(tamis *t, bool with_nothing, size_t n);
    } ways[] = {{"fill", cost_fill}, {"bulk fill", cost_bulk_fill}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t n = MEMBERS; n <= 2 * MEMBERS; n += MEMBERS) {
            const tamis_plan plan = {
                .struct_size = sizeof plan, .kind = f->kind, .items = n, .fpr = f->fpr};
            tamis *t = NULL;
            if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) abort();
            ways[w].run(t, with_nothing, n);
            cost_end();
            printf("%s %s %zu\n", with_nothing ? "empty" : f->name, ways[w].name, n);
            tamis_close(t);
        }
}

/* --- Plans ------------------------------------------------------------------------------------ */

static __attribute__((noinline)) tamis_status
solve_nothing(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    __asm__ volatile("" : : "r"(plan), "r"(promise), "r"(why));
    return TAMIS_OK;
}

static __attribute__((noinline)) void cost_solve(const tamis_plan *plan, bool with_nothing,
                                                 size_t n)
{
    tamis_status (*solve)(tamis_plan *, tamis_promise *, tamis_error *) =
        with_nothing ? solve_nothing : tamis_solve;
    for (size_t i = 0; i < n; i++) {
        tamis_plan now = *plan;
        if (solve(&now, NULL, NULL) != TAMIS_OK) abort();
    }
}

static void plans(void)
{
    static const struct {
        const char *name;
        uint32_t kind, flags;
    } all[] = {{"empty", TAMIS_BLOOM, 0},
               {"auto", TAMIS_AUTO, 0},
               {"bloom", TAMIS_BLOOM, 0},
               {"blocked", TAMIS_BLOCKED, 0},
               {"compact", TAMIS_BLOCKED, TAMIS_COMPACT}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t n = 1; n <= 5; n += 4) {
            const tamis_plan plan = {.struct_size = sizeof plan,
                                     .kind = all[i].kind,
                                     .flags = all[i].flags,
                                     .items = 1000000,
                                     .fpr = 0.01};
            cost_solve(&plan, i == 0, n);
            cost_end();
            printf("%s plan %zu\n", all[i].name, n);
        }
}

int main(void)
{
    static const struct filter filters[] = {{"blocked", TAMIS_BLOCKED, 0.01},
                                            {"bloom", TAMIS_BLOOM, 0.01},
                                            {"partitioned", TAMIS_PARTITIONED, 0.01},
                                            {"cuckoo", TAMIS_CUCKOO, 0.01},
                                            {"fuse", TAMIS_FUSE, 0.01},
                                            {"fuse-of-bytes", TAMIS_FUSE, 1.0 / 256},
                                            {"ribbon", TAMIS_RIBBON, 0.01}};
    enum { ADDED = 4, CUCKOO = 3, ASKED = sizeof filters / sizeof *filters };
    for (size_t i = 0; i < 2 * MEMBERS; i++) {
        keys[i] = i * UINT64_C(0x9e3779b97f4a7c15);
        snprintf(urls[i], sizeof urls[i], "https://www.example.com/a/path/of/some/length/%08zu", i);
        if (strlen(urls[i]) != URL) abort();
    }
    for (int with_urls = 0; with_urls < 2; with_urls++) {
        queries(filters, with_urls, true);
        adds(filters, with_urls, true);
        queries(filters, with_urls, false);
        adds(filters, with_urls, false);
    }
    for (size_t i = 1; i < ASKED; i++) queries(&filters[i], false, false);
    for (size_t i = 1; i < ADDED; i++) adds(&filters[i], false, false);
    fills(&filters[CUCKOO], true);
    fills(&filters[CUCKOO], false);
    sketches();
    plans();
    return 0;
}
