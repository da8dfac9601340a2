/* Measures what docs/ACCURACY.md claims, and prints the Markdown tables of that page. Everything is
 * seeded, so two runs print the same. It uses only the public interface. `accuracy sizes [KIND]`
 * prints the table of the worst of 50 sizes instead, which takes minutes. */
#include "accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define CHUNK 4096u
#define KEY_MAX 128u

static void must(tamis_status s)
{
    if (s == TAMIS_OK) return;
    fprintf(stderr, "accuracy: %s\n", tamis_status_message(s));
    exit(1);
}

/* --- Keys ------------------------------------------------------------------------------------- */

enum style { INTEGER, TEXT, URL, SHORT, STRUCTURED, STYLES };
static const char *const STYLE_NAMES[STYLES] = {"integers", "decimal text", "URLs", "4 bytes",
                                                "100 bytes"};

static size_t make_key(enum style style, uint64_t i, char *buf)
{
    const unsigned long long n = i, mixed = i * UINT64_C(0x9e3779b97f4a7c15) >> 33;
    switch (style) {
    case INTEGER:
    case SHORT:
        for (int b = 0; b < 8; b++) buf[b] = (char)(i >> 8 * b);
        return style == SHORT ? 4 : 8;
    case TEXT: return (size_t)snprintf(buf, KEY_MAX, "%llu", n);
    case URL:
        return (size_t)snprintf(buf, KEY_MAX,
                                "https://www.site%04llu.example/%03llu/page-%llu.html",
                                mixed % 5000, mixed / 5000 % 1000, n);
    case STRUCTURED: /* equal except for 32 bits in the middle */
        memset(buf, 'x', 100);
        for (int b = 0; b < 8; b++) buf[48 + b] = (char)('a' + (i >> 4 * b & 15));
        return 100;
    case STYLES: break;
    }
    return 0;
}

/* Hashes keys first ... first + n - 1; n must not exceed CHUNK. */
static void hash_keys(const tamis *t, enum style style, uint64_t first, size_t n, tamis_hash *out)
{
    static char text[CHUNK][KEY_MAX];
    static tamis_bytes keys[CHUNK];
    for (size_t i = 0; i < n; i++) {
        keys[i].p = text[i];
        keys[i].len = make_key(style, first + i, text[i]);
    }
    must(tamis_hash_many(t, keys, n, out));
}

/* Adds the first `items` keys to each filter, then counts how many of the next `others` each filter
 * matches. */
static void fill_and_ask(tamis *const *filters, size_t n, enum style style, uint64_t items,
                         uint64_t others, double *positives)
{
    static tamis_hash h[CHUNK];
    static uint8_t bits[CHUNK / 8];
    for (size_t i = 0; i < n; i++) positives[i] = 0;
    for (uint64_t at = 0; at < items + others;) {
        const uint64_t end = at < items ? items : items + others;
        const size_t count = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        hash_keys(filters[0], style, at, count, h);
        for (size_t i = 0; i < n; i++) {
            if (at < items)
                must(tamis_add_hashes(filters[i], h, count, NULL, NULL));
            else
                positives[i] += (double)tamis_may_contain_hashes(filters[i], h, count, bits);
        }
        at += count;
    }
}

static tamis_plan solved(tamis_plan p)
{
    must(tamis_solve(&p, NULL, NULL));
    return p;
}

static tamis *create(const tamis_plan *p, const uint8_t *key)
{
    tamis *t;
    const tamis_options o = {.struct_size = sizeof o, .key = key};
    must(tamis_create(p, &o, &t, NULL));
    return t;
}

static tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    must(tamis_info(t, &f));
    return f;
}

static const uint32_t KINDS[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED};

/* --- Table 1: the lectures -------------------------------------------------------------------- */

static void print_figure(const char *what, const char *said, uint32_t kind, double bits, uint32_t k)
{
    const double million = 1e6;
    tamis_plan p = {.struct_size = sizeof p, .kind = kind, .items = 1000000, .k = k};
    p.m = (uint64_t)(bits * million / (kind == TAMIS_PARTITIONED ? k : 1) + 0.5);
    p = solved(p);
    /* Measured at a fifth of the size: the formula depends only on m/n. */
    tamis_plan small = {
        .struct_size = sizeof small, .kind = kind, .items = p.items / 5, .m = p.m / 5};
    small.k = p.k;
    tamis *t = create(&small, NULL);
    double positives;
    fill_and_ask(&t, 1, URL, small.items, 2000000, &positives);
    printf("| %s | %s | %.4g %% | %.4g %% |\n", what, said, 100 * p.fpr, 100 * positives / 2000000);
    tamis_close(t);
}

static void print_lectures(void)
{
    printf("| what | lecture | formula | measured |\n|---|---|---|---|\n");
    print_figure("m = 8n, k = 6", "2 %", TAMIS_BLOOM, 8, 6);
    print_figure("m = 9.6n, k = 7", "1 %", TAMIS_BLOOM, 9.6, 7);
    print_figure("m = 10n, k = 7", "less than 0.8 %", TAMIS_BLOOM, 10, 7);
    print_figure("m = 20n, k = 14", "7e-5", TAMIS_BLOOM, 20, 14);
    print_figure("bitmap, R = 10N", "1-(1-1/R)^N", TAMIS_BLOOM, 10, 1);
    print_figure("k = 30 rows of n/2 bits", "1.28 %", TAMIS_PARTITIONED, 15, 30);
    print_figure("the same 15n bits, best k", "", TAMIS_BLOOM, 15, 0);
    const tamis_plan p = {
        .struct_size = sizeof p, .items = 100000, .kind = TAMIS_BLOOM, .m = 1442695};
    const tamis_plan best = solved(p);
    tamis *t = create(&best, NULL);
    double none;
    fill_and_ask(&t, 1, TEXT, p.items, 0, &none);
    printf("| best k at m = 14.427n | (m/n) ln 2 = %.4g | %u | |\n", 14.42695 * log(2), best.k);
    printf("| share of zero bits there | 1/2 | | %.4f |\n\n", 1 - facts_of(t).fill);
    tamis_close(t);
}

/* --- Table 2: predicted against measured ------------------------------------------------------ */

#define ITEMS 100000u
#define OTHERS (1u << 20)

static const double RATES[] = {1e-1, 1e-2, 1e-3, 1e-4};
#define FILTERS (LENGTH(KINDS) * LENGTH(RATES))

static void print_rates(void)
{
    static const uint8_t key[16] = "sixteen secrets";
    tamis *filters[FILTERS];
    double planned[FILTERS], positives[FILTERS], shares[FILTERS][STYLES + 1];
    double count[FILTERS] = {0}, expected[FILTERS] = {0};
    for (int run = 0; run <= STYLES; run++) {
        for (size_t i = 0; i < FILTERS; i++) {
            tamis_plan p = {
                .struct_size = sizeof p, .items = ITEMS, .kind = KINDS[i / LENGTH(RATES)]};
            p.fpr = RATES[i % LENGTH(RATES)];
            p = solved(p);
            planned[i] = p.fpr;
            filters[i] = create(&p, run == STYLES ? key : NULL);
        }
        fill_and_ask(filters, FILTERS, run == STYLES ? URL : (enum style)run, ITEMS, OTHERS,
                     positives);
        for (size_t i = 0; i < FILTERS; i++) {
            shares[i][run] = positives[i] / OTHERS;
            count[i] += positives[i];
            expected[i] += facts_of(filters[i]).fpr_now * OTHERS;
            tamis_close(filters[i]);
        }
    }
    printf("| kind | planned |");
    for (int i = 0; i < STYLES; i++) printf(" %s |", STYLE_NAMES[i]);
    printf(" URLs, keyed | off |\n|---|---|");
    for (int i = 0; i <= STYLES + 1; i++) printf("---|");
    for (size_t i = 0; i < FILTERS; i++) {
        printf("\n| %s | %.3e |", tamis_kind_name(KINDS[i / LENGTH(RATES)]), planned[i]);
        for (int run = 0; run <= STYLES; run++) printf(" %.3e |", shares[i][run]);
        printf(" %+.1f |", (count[i] - expected[i]) / sqrt(expected[i]));
    }
    printf("\n\n");
}

/* --- Table 3: space --------------------------------------------------------------------------- */

static void print_space(void)
{
    printf("| rate | static | dynamic | bloom | k | ratio | partitioned | k | ratio | blocked | "
           "ratio | auto |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int e = 1; e <= 6; e++) {
        printf("| 1e-%d | %.2f | %.2f |", e, e * log2(10), e * log2(10) + 1 / log(2));
        for (size_t i = 0; i <= LENGTH(KINDS); i++) {
            tamis_plan p = {.struct_size = sizeof p, .items = 10000000, .fpr = pow(10, -e)};
            tamis_promise r = {.struct_size = sizeof r};
            p.kind = i < LENGTH(KINDS) ? KINDS[i] : TAMIS_AUTO;
            must(tamis_solve(&p, &r, NULL));
            if (i == LENGTH(KINDS))
                printf(" %s |\n", tamis_kind_name(p.kind));
            else if (p.kind == TAMIS_BLOCKED)
                printf(" %.2f | %.3f |", r.bits_per_item, r.bound_ratio);
            else
                printf(" %.2f | %u | %.3f |", r.bits_per_item, p.k, r.bound_ratio);
        }
    }
    printf("\n");
}

/* --- Table 4: probes in tiny filters ---------------------------------------------------------- */

#define ROUNDS 10000u
#define ASKED 1000u

/* Simulates probe i at h1 + i·h2 mod m, the usual short cut, with a byte per bit. */
static unsigned double_hashing(const tamis_hash *h, size_t items, uint64_t m, uint32_t k)
{
    static char bits[1 << 16];
    unsigned positives = 0;
    memset(bits, 0, (size_t)m);
    for (size_t i = 0; i < items + ASKED; i++) {
        uint64_t at = h[i].lo % m;
        const uint64_t step = h[i].hi % m;
        char all = 1;
        for (uint32_t j = 0; j < k; j++) {
            if (i < items) bits[at] = 1;
            all &= bits[at];
            at = at + step < m ? at + step : at + step - m;
        }
        positives += i >= items && all != 0;
    }
    return positives;
}

static void print_tiny(void)
{
    static const struct {
        uint64_t items;
        double fpr;
    } cases[] = {{10, 1e-1},  {10, 1e-2},  {10, 1e-3},  {30, 1e-2},   {30, 1e-3},
                 {100, 1e-2}, {100, 1e-3}, {100, 1e-4}, {1000, 1e-2}, {1000, 1e-4}};
    static tamis_hash h[CHUNK];
    uint8_t bits[ASKED / 8];
    printf(
        "| items | m | k | plain formula | Tamis predicts | Tamis measured | h1 + i·h2 measured |\n"
        "|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c < LENGTH(cases); c++) {
        const size_t n = (size_t)cases[c].items;
        const double bits_per_item = log2(1 / cases[c].fpr) / log(2);
        tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = n};
        p.m = (uint64_t)ceil((double)n * bits_per_item);
        p.k = (uint32_t)floor(log2(1 / cases[c].fpr) + 0.5);
        p = solved(p);
        double ours = 0, theirs = 0;
        for (p.seed = 1; p.seed <= ROUNDS; p.seed++) {
            tamis *t = create(&p, NULL);
            hash_keys(t, INTEGER, 0, n + ASKED, h);
            must(tamis_add_hashes(t, h, n, NULL, NULL));
            ours += (double)tamis_may_contain_hashes(t, h + n, ASKED, bits);
            theirs += double_hashing(h, n, p.m, p.k);
            tamis_close(t);
        }
        const double plain = pow(-expm1((double)n * p.k * log1p(-1 / (double)p.m)), p.k);
        const double asked = (double)ROUNDS * ASKED;
        printf("| %zu | %llu | %u | %.3e | %.3e | %.3e | %.3e |\n", n, (unsigned long long)p.m, p.k,
               plain, p.fpr, ours / asked, theirs / asked);
    }
    printf("\n");
}

/* --- Table 5: intervals ----------------------------------------------------------------------- */

static void print_intervals(void)
{
    static const uint64_t items[] = {3, 30, 300, 1000, 3000};
    static tamis_hash h[CHUNK];
    printf("| kind | items | fill | estimate, mean | half the interval, mean | truth inside |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < LENGTH(KINDS) * LENGTH(items); i++) {
        const size_t n = (size_t)items[i % LENGTH(items)];
        tamis_plan p = {.struct_size = sizeof p, .items = 1000, .fpr = 0.01};
        double fill = 0, estimate = 0, width = 0, inside = 0;
        p.kind = KINDS[i / LENGTH(items)];
        p = solved(p);
        for (p.seed = 1; p.seed <= ROUNDS; p.seed++) {
            tamis *t = create(&p, NULL);
            hash_keys(t, INTEGER, 0, n, h);
            must(tamis_add_hashes(t, h, n, NULL, NULL));
            const tamis_facts f = facts_of(t);
            fill += f.fill / ROUNDS;
            estimate += f.items_estimate / ROUNDS;
            width += (f.items_high - f.items_low) / 2 / ROUNDS;
            inside += f.items_low <= (double)n && (double)n <= f.items_high;
            tamis_close(t);
        }
        printf("| %s | %zu | %.1f %% | %.2f | %.2f | %.2f %% |\n", tamis_kind_name(p.kind), n,
               100 * fill, estimate, width, 100 * inside / ROUNDS);
    }
}

/* --- Table 6: kinds that shrink, grow, forget or are sealed ----------------------------------- */

enum { LIVE = 100000, GONE = 100000, ASKED_OUT = 1 << 20 };

static void print_row(const char *what, tamis *t)
{
    static tamis_hash h[CHUNK];
    static uint8_t bits[CHUNK / 8];
    uint64_t wrong = 0, found = 0;
    for (uint64_t at = 0; at < ASKED_OUT; at += CHUNK) {
        hash_keys(t, URL, UINT64_C(1) << 40 | at, CHUNK, h);
        wrong += tamis_may_contain_hashes(t, h, CHUNK, bits);
    }
    for (uint64_t at = 0; at < LIVE; at += CHUNK) {
        const size_t n = LIVE - at < CHUNK ? (size_t)(LIVE - at) : CHUNK;
        hash_keys(t, URL, at, n, h);
        found += tamis_may_contain_hashes(t, h, n, bits);
    }
    const tamis_facts f = facts_of(t);
    printf("| %s | %.2f | %.3e | %.3e | %.3e | %.3e |\n", what, 8 * (double)f.bytes / LIVE,
           f.fpr_now, (double)wrong / ASKED_OUT, f.miss_rate, (double)(LIVE - found) / LIVE);
}

/* Adds `all` keys in `turns` turns with a rotation between them, and removes those beyond LIVE
 * again. */
static tamis *fill(tamis_plan plan, uint64_t all, unsigned turns)
{
    static tamis_hash h[CHUNK];
    const tamis_plan p = solved(plan);
    tamis *t = create(&p, NULL);
    for (unsigned turn = 0; turn < turns; turn++) {
        const uint64_t from = all * turn / turns, to = all * (turn + 1) / turns;
        if (turn != 0) must(tamis_rotate(t, NULL));
        for (uint64_t at = from; at < to; at += CHUNK) {
            const size_t n = to - at < CHUNK ? (size_t)(to - at) : CHUNK;
            hash_keys(t, URL, at, n, h);
            must(tamis_add_hashes(t, h, n, NULL, NULL));
        }
    }
    for (uint64_t at = LIVE; at < all; at += CHUNK) {
        const size_t n = all - at < CHUNK ? (size_t)(all - at) : CHUNK;
        hash_keys(t, URL, at, n, h);
        must(tamis_remove_hashes(t, h, n, NULL, NULL));
    }
    must(tamis_seal(t, NULL));
    return t;
}

static void print_others(void)
{
    static const struct {
        const char *what;
        tamis_plan plan;
        uint64_t all;
        unsigned turns;
    } rows[] = {
        {"counting", {.kind = TAMIS_COUNTING, .items = LIVE}, LIVE, 1},
        {"counting, as many more removed", {.kind = TAMIS_COUNTING, .items = LIVE}, LIVE + GONE, 1},
        {"counting in lines",
         {.kind = TAMIS_COUNTING, .items = LIVE, .inner_kind = TAMIS_BLOCKED},
         LIVE,
         1},
        {"cuckoo", {.kind = TAMIS_CUCKOO, .items = LIVE}, LIVE, 1},
        {"cuckoo, half of it removed",
         {.kind = TAMIS_CUCKOO, .items = LIVE + GONE},
         LIVE + GONE,
         1},
        {"pair", {.kind = TAMIS_PAIR, .items = LIVE}, LIVE, 1},
        {"pair, half of it removed", {.kind = TAMIS_PAIR, .items = LIVE + GONE}, LIVE + GONE, 1},
        {"pair, overfull", {.kind = TAMIS_PAIR, .items = LIVE}, LIVE + GONE, 1},
        {"window of 4", {.kind = TAMIS_WINDOW, .items = LIVE}, LIVE, 4},
        {"growing, from 100", {.kind = TAMIS_GROWING}, LIVE, 1},
        {"fuse, 3 cells", {.kind = TAMIS_FUSE, .items = LIVE}, LIVE, 1},
        {"fuse, 4 cells", {.kind = TAMIS_FUSE, .items = LIVE, .k = 4}, LIVE, 1},
        {"ribbon", {.kind = TAMIS_RIBBON, .items = LIVE}, LIVE, 1},
    };
    printf("| kind | bits per item | rate, predicted | measured | missed, predicted | measured |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        tamis_plan p = rows[i].plan;
        p.struct_size = sizeof p;
        p.fpr = 0.01;
        tamis *t = fill(p, rows[i].all, rows[i].turns);
        print_row(rows[i].what, t);
        tamis_close(t);
    }
    printf("\n");
}

/* --- Table 7: packed for transfer ------------------------------------------------------------- */

static tamis_status count_bytes(void *ctx, const void *bytes, size_t n)
{
    (void)bytes;
    *(double *)ctx += (double)n;
    return TAMIS_OK;
}

static void print_transfer(void)
{
    printf("| rate | bound | k | bits in memory | packed, predicted | measured | ratio | bloom | "
           "ribbon |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int e = 1; e <= 6; e++) {
        tamis_plan p = {.struct_size = sizeof p, .items = LIVE, .fpr = pow(10, -e)};
        tamis_plan bloom = p, ribbon = p;
        tamis_promise r = {.struct_size = sizeof r}, plain = r;
        p.flags = TAMIS_TRANSFER;
        bloom.kind = TAMIS_BLOOM;
        ribbon.kind = TAMIS_RIBBON;
        must(tamis_solve(&p, &r, NULL));
        must(tamis_solve(&bloom, &plain, NULL));
        tamis *t = fill(p, LIVE, 1), *sealed = fill(ribbon, LIVE, 1);
        const double least = 8 * (double)tamis_image_size(sealed) / LIVE;
        double bytes = 0;
        must(tamis_pack(t, count_bytes, &bytes, NULL));
        tamis_close(sealed);
        tamis_close(t);
        const double bits = 8 * bytes / LIVE, bound = e * log2(10);
        printf("| 1e-%d | %.2f | %u | %.1f | %.2f | %.2f | %.3f | %.3f | %.3f |\n", e, bound, p.k,
               r.bits_per_item, 8 * (double)r.packed_bytes / LIVE, bits, bits / bound,
               plain.bits_per_item / bound, least / bound);
    }
    printf("\n");
}

/* --- Sealed kinds against the lower bound ----------------------------------------------------- */

/* Keys 0 ... items-1 are members; as many keys after them as the plan says are excluded. */
static tamis *seal_exact(tamis_plan plan)
{
    static tamis_hash h[CHUNK];
    const tamis_plan p = solved(plan);
    tamis *t = create(&p, NULL);
    for (uint64_t at = 0; at < plan.items + plan.excluded;) {
        const bool in = at < plan.items;
        const uint64_t rest = (in ? plan.items : plan.items + plan.excluded) - at;
        const size_t n = rest < CHUNK ? (size_t)rest : CHUNK;
        hash_keys(t, INTEGER, at, n, h);
        must(in ? tamis_add_hashes(t, h, n, NULL, NULL) : tamis_exclude_hashes(t, h, n, NULL));
        at += n;
    }
    must(tamis_seal(t, NULL));
    return t;
}

static double bound_ratio(tamis_plan plan)
{
    plan.struct_size = sizeof plan;
    tamis *t = seal_exact(plan);
    const double ratio = facts_of(t).bound_ratio;
    tamis_close(t);
    return ratio;
}

static void print_static(void)
{
    static const double rates[] = {0.25,  0.0625,      0.01,          1.0 / 256,
                                   0.001, 1.0 / 65536, 1.0 / 16777216};
    static const uint64_t items[] = {100, 1000, 10000, 100000, 1000000};
    printf("| kind | items | 1/4 | 1/16 | 1 %% | 1/256 | 0.1 %% | 2^-16 | 2^-24 |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (int kind = 0; kind < 3; kind++) {
        static const char *const names[] = {"ribbon", "fuse, 3 cells", "fuse, 4 cells"};
        static const uint32_t probes[] = {0, 3, 4};
        for (size_t i = 0; i < LENGTH(items); i++) {
            printf("| %s | %llu |", names[kind], (unsigned long long)items[i]);
            for (size_t r = 0; r < LENGTH(rates); r++) {
                const tamis_plan p = {.kind = kind == 0 ? TAMIS_RIBBON : TAMIS_FUSE,
                                      .items = items[i],
                                      .fpr = rates[r],
                                      .k = probes[kind]};
                printf(" %.3f |", bound_ratio(p));
            }
            printf("\n");
        }
    }
    static const uint64_t others[] = {10000, 100000, 200000, 1000000, 10000000};
    static const double asked[] = {0, 0.01, 1.0 / 40000};
    printf("\n| excluded per member | no rate asked | 1 %% | 1/40,000 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < LENGTH(others); i++) {
        printf("| %g |", (double)others[i] / 100000);
        for (size_t r = 0; r < LENGTH(asked); r++) {
            const tamis_plan p = {
                .kind = TAMIS_EXACT, .items = 100000, .excluded = others[i], .fpr = asked[r]};
            printf(" %.3f |", bound_ratio(p));
        }
        printf("\n");
    }
    printf("\n");
}

/* --- Counts ----------------------------------------------------------------------------------- */

#define DRAWS 1000000u
#define UNIVERSE 200000u
#define TOP 1000u

/* A stream of draws from keys 0 ... UNIVERSE-1; key i has a probability in proportion to (i +
 * 1)^-alpha. */
static tamis_hash drawn[DRAWS], every[UNIVERSE];
static int64_t truth[UNIVERSE];

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void draw(const tamis *t, double alpha)
{
    static double sums[UNIVERSE];
    double all = 0;
    uint64_t state = 1;
    memset(truth, 0, sizeof truth);
    for (uint32_t i = 0; i < UNIVERSE; i++) sums[i] = all += pow(i + 1, -alpha);
    for (size_t i = 0; i < UNIVERSE; i += CHUNK)
        hash_keys(t, URL, i, UNIVERSE - i < CHUNK ? UNIVERSE - i : CHUNK, every + i);
    for (size_t i = 0; i < DRAWS; i++) {
        const double u = (double)(next_random(&state) >> 11) * 0x1p-53 * all;
        size_t low = 0, high = UNIVERSE - 1;
        while (low < high) {
            const size_t mid = low + (high - low) / 2;
            if (sums[mid] >= u)
                high = mid;
            else
                low = mid + 1;
        }
        drawn[i] = every[low];
        truth[low]++;
    }
}

/* Mean errors of the bound and of the estimate over all keys that occurred, and the shares within
 * the interval. */
struct counted {
    double bound, guess, in, top_in;
    tamis_facts facts;
};

static struct counted count_stream(uint32_t kind, uint32_t flags, uint64_t bytes)
{
    static tamis_estimate e[UNIVERSE];
    const tamis_plan p = {.struct_size = sizeof p, .kind = kind, .flags = flags, .bytes = bytes};
    struct counted c = {.facts = {.struct_size = sizeof c.facts}};
    double keys = 0;
    tamis *t;
    must(tamis_create(&p, NULL, &t, NULL));
    must(tamis_add_weight_hashes(t, drawn, NULL, DRAWS, NULL, NULL));
    must(tamis_count_hashes(t, every, UNIVERSE, e, NULL));
    must(tamis_info(t, &c.facts));
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        const bool in = e[i].lower <= truth[i] && truth[i] <= e[i].upper;
        if (i < TOP) c.top_in += (double)in / TOP;
        if (truth[i] == 0) continue;
        keys++;
        c.bound += (double)(e[i].upper - truth[i]);
        c.guess += fabs((double)(e[i].estimate - truth[i]));
        c.in += in;
    }
    c.bound /= keys;
    c.guess /= keys;
    c.in /= keys;
    tamis_close(t);
    return c;
}

static void print_counts(void)
{
    static const double alphas[] = {0.8, 1.0, 1.3};
    static const struct {
        const char *name;
        uint32_t kind, flags;
    } rows[] = {{"count-min", TAMIS_COUNT_MIN, 0},
                {"conservative", TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE},
                {"tally", TAMIS_TALLY, 0},
                {"count-sketch", TAMIS_COUNT_SKETCH, 0}};
    const tamis_plan any = {.struct_size = sizeof any, .kind = TAMIS_TALLY, .bytes = 1000};
    tamis *t;
    must(tamis_create(&any, NULL, &t, NULL));
    printf("| stream | KiB | structure | upper bound | best guess | 99 %% margin | eN/m | covered "
           "| of "
           "the top 1000 |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t a = 0; a < LENGTH(alphas); a++) {
        draw(t, alphas[a]);
        double keys = 0;
        for (uint32_t i = 0; i < UNIVERSE; i++) keys += truth[i] != 0;
        printf("| Zipf %.1f | | always 0 | | %.3g | | | | |\n", alphas[a], DRAWS / keys);
        for (uint64_t kib = 16; kib <= 1024; kib *= 8)
            for (size_t r = 0; r < LENGTH(rows); r++) {
                const struct counted c = count_stream(rows[r].kind, rows[r].flags, kib << 10);
                char classic[32] = "", bound[32] = "";
                if (rows[r].kind == TAMIS_COUNT_MIN)
                    snprintf(classic, sizeof classic, "%.0f", c.facts.error * DRAWS);
                if (rows[r].kind != TAMIS_COUNT_SKETCH) /* count-sketch has no certain bound */
                    snprintf(bound, sizeof bound, "%.3g", c.bound);
                printf("| Zipf %.1f | %u | %s | %s | %.3g | %lld | %s | %.1f %% | %.1f %% |\n",
                       alphas[a], (unsigned)kib, rows[r].name, bound, c.guess,
                       (long long)c.facts.noise_99, classic, 100 * c.in, 100 * c.top_in);
            }
    }
    printf("\n");
    tamis_close(t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "sizes") == 0) {
        print_sizes(argc > 2 ? argv[2] : "");
        return fflush(stdout) != 0 || ferror(stdout);
    }
    print_lectures();
    print_rates();
    print_space();
    print_tiny();
    print_intervals();
    print_others();
    print_static();
    print_transfer();
    print_counts();
    print_top();
    print_private();
    return fflush(stdout) != 0 || ferror(stdout);
}
