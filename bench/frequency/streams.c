/* Streams by fixed rules. The generator, the distributions and the orders are defined only here,
 * and tests/long/test_long_streams.py has the checksums of the results. */
#include "frequency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ZIPF_KEYS 1000000u
#define PAGES 600000u
#define HOSTS 20000u
#define QUERIES 5000000u

/* --- Random numbers --------------------------------------------------------------------------- */

/* xorshift128+ */
struct random {
    uint64_t a, b;
};
static const struct random START = {UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xD1B54A32D192ED03)};

static uint64_t next(struct random *r)
{
    uint64_t x = r->a;
    const uint64_t y = r->b;
    r->a = y;
    x ^= x << 23;
    r->b = x ^ y ^ (x >> 18) ^ (y >> 5);
    return r->b + y;
}

static double uniform(struct random *r)
{
    return (double)(next(r) >> 11) * 0x1p-53;
}

static void *array(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (p == NULL) die("%zu times %zu bytes are not to be had", n, size);
    return p;
}

/* Draws index i with a probability in proportion to (i + 1)^-exponent: the first index whose
 * cumulative sum reaches a uniform number. The guide tells where to begin for each 2^-16 of that
 * number; without it the search would take twenty steps. */
struct law {
    double *sums;
    uint32_t n, *guide;
};
#define GUIDE 65536u

static struct law law_make(uint32_t n, double exponent)
{
    struct law l = {array(n, sizeof *l.sums), n, array(GUIDE + 1, sizeof *l.guide)};
    double all = 0;
    for (uint32_t i = 0; i < n; i++) l.sums[i] = all += pow(i + 1, -exponent);
    for (uint32_t i = 0; i < n; i++) l.sums[i] /= all;
    for (uint32_t g = 0, i = 0; g <= GUIDE; g++) {
        while (i < n - 1 && l.sums[i] < (double)g / GUIDE) i++;
        l.guide[g] = i;
    }
    return l;
}

static void law_drop(struct law *l)
{
    free(l->sums);
    free(l->guide);
}

static uint32_t draw(const struct law *l, struct random *r)
{
    const double u = uniform(r);
    const uint32_t g = (uint32_t)(u * GUIDE);
    uint32_t low = l->guide[g], high = l->guide[g + 1];
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (l->sums[mid] < u)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* --- Facts about a stream --------------------------------------------------------------------- */

tamis_bytes stream_key(const struct stream *s, uint32_t id)
{
    if (s->words != NULL) return (tamis_bytes){&s->words[id], 8};
    return (tamis_bytes){s->text + s->starts[id], (size_t)(s->starts[id + 1] - s->starts[id])};
}

static const uint32_t *truth_to_sort_by;

static int by_count(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t p = truth_to_sort_by[x], q = truth_to_sort_by[y];
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* Computes counts, ranks and hashes from the draws and the keys. */
static void learn(struct stream *s)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1, .fpr = 0.5};
    tamis *hasher;
    if (tamis_create(&plan, NULL, &hasher, NULL) != TAMIS_OK) die("no filter to hash with");
    s->truth = array(s->ids, sizeof *s->truth);
    s->by_rank = array(s->ids, sizeof *s->by_rank);
    s->hashes = array(s->ids, sizeof *s->hashes);
    for (uint32_t i = 0; i < s->n; i++) s->truth[s->draws[i]]++;
    for (uint32_t id = 0; id < s->ids; id++) {
        const tamis_bytes key = stream_key(s, id);
        if (s->truth[id] != 0) s->by_rank[s->distinct++] = id;
        tamis_hash_many(hasher, &key, 1, &s->hashes[id]);
    }
    truth_to_sort_by = s->truth;
    qsort(s->by_rank, s->distinct, sizeof *s->by_rank, by_count);
    tamis_close(hasher);
}

void stream_drop(struct stream *s)
{
    free(s->draws);
    free(s->truth);
    free(s->by_rank);
    free(s->hashes);
    free(s->words);
    free(s->text);
    free(s->starts);
    *s = (struct stream){.n = 0};
}

/* --- Zipf ------------------------------------------------------------------------------------- */

static uint64_t finalize(uint64_t h)
{
    h ^= h >> 33; /* the finalizer of MurmurHash3 */
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

void stream_zipf(struct stream *s, const char *exponent, uint32_t n)
{
    struct random r = START;
    struct law law = law_make(ZIPF_KEYS, strtod(exponent, NULL));
    *s = (struct stream){.n = n, .ids = ZIPF_KEYS};
    snprintf(s->name, sizeof s->name, "z%s", exponent);
    for (const char *c = exponent; *c != '\0'; c++) r.a += (uint64_t)*c * UINT64_C(77777777777);
    for (int i = 0; i < 20; i++) next(&r);
    s->draws = array(n, sizeof *s->draws);
    s->words = array(s->ids, sizeof *s->words);
    for (uint32_t i = 0; i < n; i++) s->draws[i] = draw(&law, &r);
    for (uint32_t i = 0; i < s->ids; i++) s->words[i] = finalize(i + UINT64_C(0x1234567890));
    law_drop(&law);
    learn(s);
}

/* Orders keys by a mixed number, which is as good as random, or by count and then by that
 * number. */
static bool sort_by_truth;

static int by_mixed(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t p = truth_to_sort_by[x], q = truth_to_sort_by[y];
    const uint64_t u = mix(x), v = mix(y);
    if (sort_by_truth && p != q) return (p > q) - (p < q);
    return (u > v) - (u < v);
}

void stream_cluster(struct stream *s, bool ascending)
{
    uint32_t *ids = array(s->distinct, sizeof *ids), at = 0;
    memcpy(ids, s->by_rank, s->distinct * sizeof *ids);
    truth_to_sort_by = s->truth;
    sort_by_truth = ascending;
    qsort(ids, s->distinct, sizeof *ids, by_mixed);
    for (uint32_t i = 0; i < s->distinct; i++)
        for (uint32_t j = 0; j < s->truth[ids[i]]; j++) s->draws[at++] = ids[i];
    s->name[strcspn(s->name, ",")] = '\0';
    strcat(s->name, ascending ? ", rising" : ", grouped");
    free(ids);
}

/* --- URLs ------------------------------------------------------------------------------------- */

static const char *const TLD[6] = {"com", "org", "net", "io", "co.uk", "de"};
static const char *const SEGMENT[30] = {
    "news",   "products", "category", "user",    "api",      "v1",    "v2",      "static",
    "images", "blog",     "search",   "cart",    "checkout", "docs",  "help",    "video",
    "watch",  "music",    "forum",    "thread",  "wiki",     "item",  "catalog", "assets",
    "js",     "css",      "download", "archive", "tag",      "author"};

/* Appends the text of an id. */
static void put_text(struct stream *s, uint32_t id, const char *text, size_t length, size_t *room)
{
    const uint64_t from = s->starts[id];
    while (from + length > *room) {
        *room *= 2;
        s->text = realloc(s->text, *room);
        if (s->text == NULL) die("%zu bytes are not to be had", *room);
    }
    memcpy(s->text + from, text, length);
    s->starts[id + 1] = from + length;
}

static size_t page_text(const struct law *hosts, struct random *r, uint32_t page, char out[256])
{
    const uint32_t host = draw(hosts, r);
    int n = snprintf(out, 256, "https://www.site%u.%s/", host, TLD[host % 6]);
    for (uint64_t left = 1 + next(r) % 3; left > 0; left--)
        n += snprintf(out + n, 256 - (size_t)n, "%s/", SEGMENT[next(r) % 30]);
    return (size_t)(n + snprintf(out + n, 256 - (size_t)n, "%x.html", page));
}

static size_t query_text(uint32_t q, char out[256])
{
    const uint32_t host = q % 977;
    return (size_t)snprintf(out, 256, "https://www.site%u.%s/search?q=%llx&page=%u&ref=%s", host,
                            TLD[host % 6], (unsigned long long)(q * UINT64_C(0x9E3779B97F4A7C15)),
                            q % 7, SEGMENT[q % 30]);
}

/* Every 100,000 requests some of the popular pages change places with others. */
static void drift(uint32_t *places, struct random *r)
{
    for (int i = 0; i < 300; i++) {
        const uint32_t a = (uint32_t)(next(r) % 20000), b = (uint32_t)(next(r) % PAGES);
        const uint32_t was = places[a];
        if (a <= 50) continue;
        places[a] = places[b];
        places[b] = was;
    }
}

void stream_urls(struct stream *s, uint32_t n)
{
    struct random r = START;
    struct law hosts = law_make(HOSTS, 1.1), pages = law_make(PAGES, 1.05),
               queries = law_make(QUERIES, 0.6);
    uint32_t *places = array(PAGES, sizeof *places), *ids = array(QUERIES, sizeof *ids);
    size_t room = (size_t)64 << 20;
    char text[256];
    *s = (struct stream){.name = "url", .n = n};
    s->draws = array(n, sizeof *s->draws);
    s->starts = array((size_t)PAGES + QUERIES + 1, sizeof *s->starts);
    s->text = array(room, 1);
    for (s->ids = 0; s->ids < PAGES; s->ids++) {
        places[s->ids] = s->ids;
        put_text(s, s->ids, text, page_text(&hosts, &r, s->ids, text), &room);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && i % 100000 == 0) drift(places, &r);
        const double u = uniform(&r);
        if (u < 0.06 && i > 50) { /* a reload */
            s->draws[i] = s->draws[i - 1 - next(&r) % 50];
        } else if (u < 0.24) { /* a search */
            const uint32_t q = draw(&queries, &r);
            if (ids[q] == 0) {
                put_text(s, s->ids, text, query_text(q, text), &room);
                ids[q] = s->ids++;
            }
            s->draws[i] = ids[q];
        } else {
            s->draws[i] = places[draw(&pages, &r)];
        }
    }
    free(places);
    free(ids);
    law_drop(&hosts);
    law_drop(&pages);
    law_drop(&queries);
    learn(s);
}

void stream_write_log(const struct stream *s, const char *path)
{
    FILE *f = fopen(path, "w");
    for (uint32_t i = 0; f != NULL && i < s->n; i++) {
        const tamis_bytes key = stream_key(s, s->draws[i]);
        fwrite(key.p, 1, key.len, f);
        putc_unlocked('\n', f);
    }
    if (f == NULL || ferror(f) || fclose(f) != 0) die("cannot write %s", path);
}
