/*   build/bench-billion KIND [--items N] [--fpr P] [--asks N] [--threads N] [--scratch BYTES]
 *                            [--temp DIR]
 *   build/bench-billion --list
 *
 * Builds one filter or sketch of N hashes (1e9), asks it about all of them and about others, and
 * prints one JSON object. Times are those of the calls alone: the hashes are made in between, in
 * rounds. Progress goes to standard error. --temp is for ribbon: hashes beyond --scratch wait in a
 * file there. */
#define _POSIX_C_SOURCE 200809L
#include "billion.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/publish.h>
#include <time.h>

/* The rounds of kinds that add from many threads: 512 MiB of hashes. The adds of one thread are
 * partitioned if a round has at least one key for each line of the table
 * (src/core/partition.c), and a billion keys at 1 % have 19.7 M lines. */
#define BIG_ROUND (UINT64_C(1) << 25)
/* The rounds of the others: 16 MiB, so that little memory is added to that of the structure. */
#define SMALL_ROUND (UINT64_C(1) << 20)
#define OTHERS (UINT64_C(1) << 40) /* the numbers of keys that are not members */
#define EPSILON 2.0                /* of the private release */

struct run {
    const struct subject *of;
    uint64_t items, asks, scratch;
    double fpr;
    uint32_t threads;
    const char *temp;
    struct round round;
    uint64_t *words; /* the keys of `top` */
    uint64_t room;   /* keys in a round */
};

static void die(const char *what)
{
    fprintf(stderr, "bench-billion: %s\n", what);
    exit(1);
}

void must(tamis_status status, const tamis_error *why)
{
    if (status != TAMIS_OK) die(why != NULL ? why->text : tamis_status_message(status));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line of /proc/self/status in bytes: VmHWM is the peak of the memory in use, VmRSS its use. */
static uint64_t memory(const char *name)
{
    char line[256];
    uint64_t bytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL) die("/proc/self/status cannot be read");
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            bytes = strtoull(line + strlen(name) + 1, NULL, 10) * 1024;
    fclose(f);
    return bytes;
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* SplitMix64, a bijection: distinct keys have distinct hashes. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void prepare(struct run *r, uint64_t first, uint64_t n)
{
    struct round *round = &r->round;
    round->n = (size_t)n;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = first + i;
        round->hashes[i] = (tamis_hash){mix(2 * number), mix(2 * number + 1)};
        if (round->values != NULL) round->values[i] = value_of(round->hashes[i]);
        if (round->keys == NULL) continue;
        r->words[i] = number;
        round->keys[i] = (tamis_bytes){&r->words[i], sizeof *r->words};
    }
}

static void *take(uint64_t n, size_t size)
{
    void *p = malloc((size_t)n * size);
    if (p == NULL) die("not enough memory");
    return memset(p, 1, (size_t)n * size); /* so that its pages are there before the measurement */
}

static void open_rounds(struct run *r)
{
    const enum { SMALL, BIG } size = r->of->how == FILTER && !r->of->in_file ? BIG : SMALL;
    r->room = size == BIG ? BIG_ROUND : SMALL_ROUND;
    if (r->room > r->items) r->room = r->items;
    r->round.hashes = take(r->room, sizeof *r->round.hashes);
    r->round.bits = take(r->room / 8 + 1, 1);
    if (r->of->how == MAP) r->round.values = take(r->room, sizeof *r->round.values);
    if (r->of->how != TOP) return;
    r->words = take(r->room, sizeof *r->words);
    r->round.keys = take(r->room, sizeof *r->round.keys);
}

static void progress(const struct run *r, const char *what, uint64_t done, uint64_t of)
{
    static uint64_t last;
    const uint64_t percent = of != 0 ? 100 * done / of : 100;
    if (percent == last && done != of) return;
    last = percent;
    fprintf(stderr, "\r%-12s %-14s %3" PRIu64 " %%", r->of->name, what, percent);
    if (done == of) fputc('\n', stderr);
}

/* --- Building --------------------------------------------------------------------------------- */

static tamis *create(const struct run *r, tamis_promise *promise)
{
    tamis_plan plan = r->of->plan;
    tamis_error why;
    tamis *t;
    const tamis_options options = {.struct_size = sizeof options,
                                   .threads = r->threads,
                                   .scratch_bytes = r->scratch,
                                   .temp_dir = r->of->in_file ? r->temp : NULL};
    *promise = (tamis_promise){.struct_size = sizeof *promise};
    if (r->of->how < DISTINCT) {
        plan.items = r->items;
        plan.fpr = r->fpr;
    }
    if (r->of->how == EXACT) {
        plan.fpr = 0;
        plan.excluded = r->items;
    }
    must(tamis_solve(&plan, promise, &why), &why);
    must(tamis_create(&plan, &options, &t, &why), &why);
    return t;
}

static bool is_sealed(uint32_t kind)
{
    return kind == TAMIS_RIBBON || kind == TAMIS_FUSE || kind == TAMIS_EXACT ||
           kind == TAMIS_VALUE_MAP;
}

/* Returns the seconds that the adds took. */
static double add_all(struct run *r, tamis *t)
{
    double spent = 0;
    for (uint64_t i = 0; i < r->items; i += r->round.n) {
        prepare(r, i, r->items - i < r->room ? r->items - i : r->room);
        const double start = now();
        add_round(r->of, t, &r->round, i, r->items);
        spent += now() - start;
        progress(r, "adds", i + r->round.n, r->items);
    }
    return spent;
}

/* Returns the seconds that it took to seal the filter, or to make the release. */
static double finish(const struct run *r, tamis **t)
{
    const double start = now();
    tamis_error why;
    if (is_sealed(r->of->plan.kind)) must(tamis_seal(*t, &why), &why);
    if (r->of->how == PRIVATE) {
        tamis *release;
        must(tamis_release(*t, EPSILON, &release, &why), &why);
        tamis_close(*t);
        *t = release;
    }
    return now() - start;
}

/* --- Asking ----------------------------------------------------------------------------------- */

struct answers {
    uint64_t asked, right;
    double seconds;
};

/* `Right` is for members; for others it is the number of false positives. */
static struct answers ask(struct run *r, const tamis *t, uint64_t first, uint64_t n)
{
    struct answers a = {.asked = n};
    for (uint64_t i = 0; i < n; i += r->round.n) {
        prepare(r, first + i, n - i < r->room ? n - i : r->room);
        const double start = now();
        uint64_t yes = ask_round(r->of, t, &r->round);
        a.seconds += now() - start;
        if (r->of->how == MAP && first >= OTHERS) { /* any value is a false positive */
            yes = 0;
            for (size_t k = 0; k < r->round.n; k++) yes += r->round.bits[k / 8] >> k % 8 & 1;
        }
        a.right += yes;
        progress(r, first >= OTHERS ? "others" : "members", i + r->round.n, n);
    }
    return a;
}

/* Excluded keys of an exact filter, which must get a "no". Returns how many get a "maybe". */
static uint64_t ask_excluded(struct run *r, const tamis *t, uint64_t n)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; i += r->round.n) {
        prepare(r, i, n - i < r->room ? n - i : r->room);
        for (size_t k = 0; k < r->round.n; k++) r->round.hashes[k].lo = ~r->round.hashes[k].lo;
        wrong += ask_round(r->of, t, &r->round);
    }
    return wrong;
}

/* --- Results ---------------------------------------------------------------------------------- */

static void print_number(const char *name, double value, bool known)
{
    if (known)
        printf(", \"%s\": %.9g", name, value);
    else
        printf(", \"%s\": null", name);
}

static void print_accuracy(struct run *r, const tamis *t, const tamis_promise *promise)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    tamis_error why;
    const bool rates = r->of->how < DISTINCT;
    must(tamis_info(t, &f), NULL);
    if (r->of->how == DISTINCT) must(tamis_distinct(t, &n, &why), &why);
    const struct answers members = ask(r, t, 0, r->items);
    struct answers others = {0};
    if (rates) others = ask(r, t, OTHERS, r->asks);
    const uint64_t excluded = r->of->how == EXACT ? ask_excluded(r, t, r->items) : 0;
    printf(", \"asked\": %" PRIu64 ", \"missed\": %" PRIu64 ", \"others\": %" PRIu64
           ", \"false\": %" PRIu64 ", \"excluded_wrong\": %" PRIu64,
           members.asked, members.asked - members.right, others.asked, others.right, excluded);
    const bool follows = r->of->how == PRIVATE; /* the release has a rate of its own */
    print_number("planned", follows ? f.fpr_now : promise->fpr, rates);
    print_number("computed", f.fpr_now, rates);
    print_number("measured", (double)others.right / (double)others.asked, others.asked != 0);
    print_number("miss_rate", f.miss_rate, rates);
    print_number("members_seconds", members.seconds, true);
    print_number("others_seconds", others.seconds, rates);
    print_number("estimate", n.value, r->of->how == DISTINCT);
    print_number("error", n.error, r->of->how == DISTINCT);
}

static void measure(struct run *r)
{
    tamis_promise promise;
    open_rounds(r);
    const uint64_t before = memory("VmRSS");
    const double start = now();
    tamis *t = create(r, &promise);
    const double opened = now();
    const double adds = add_all(r, t), seal = finish(r, &t);
    const uint64_t peak = memory("VmHWM");
    printf("{\"kind\": \"%s\", \"items\": %" PRIu64 ", \"fpr\": %.9g, \"threads\": %u, "
           "\"scratch\": %" PRIu64 ", \"in_file\": %s, \"bytes\": %" PRIu64 ", \"peak\": %" PRIu64
           ", \"rounds\": %" PRIu64,
           r->of->name, r->items, r->fpr, r->threads, r->scratch,
           r->of->in_file && r->temp != NULL ? "true" : "false", tamis_image_size(t), peak, before);
    print_number("create_seconds", opened - start, true);
    print_number("add_seconds", adds, true);
    print_number("seal_seconds", seal, true);
    print_accuracy(r, t, &promise);
    print_number("wall_seconds", now() - start, true);
    printf(", \"version\": \"%s\"}\n", tamis_version());
    tamis_close(t);
}

static double number(const char *text)
{
    char *end = NULL;
    const double x = text != NULL ? strtod(text, &end) : 0;
    if (text == NULL || *end != 0 || !(x > 0)) die("an option needs a number above 0");
    return x;
}

int main(int argc, char **argv)
{
    struct run r = {.items = 1000000000, .fpr = 0.01, .threads = 2};
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < SUBJECT_COUNT; i++) puts(SUBJECTS[i].name);
        return 0;
    }
    r.of = argc > 1 ? subject_named(argv[1]) : NULL;
    if (r.of == NULL) die("the first word is a kind; --list lists them");
    for (int i = 2; i < argc; i += 2) {
        const char *const value = argv[i + 1]; /* NULL at the end */
        if (strcmp(argv[i], "--temp") == 0 && value != NULL)
            r.temp = value;
        else if (strcmp(argv[i], "--items") == 0)
            r.items = (uint64_t)number(value);
        else if (strcmp(argv[i], "--fpr") == 0)
            r.fpr = number(value);
        else if (strcmp(argv[i], "--asks") == 0)
            r.asks = (uint64_t)number(value);
        else if (strcmp(argv[i], "--threads") == 0)
            r.threads = (uint32_t)number(value);
        else if (strcmp(argv[i], "--scratch") == 0)
            r.scratch = (uint64_t)number(value);
        else
            die("an unknown option");
    }
    if (r.asks == 0) r.asks = r.items;
    measure(&r);
    return 0;
}
