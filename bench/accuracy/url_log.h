/* A log of URLs as a busy site might write it, always the same: pages whose popularity drifts,
 * searches that hardly ever repeat, reloads. The ids of ten million lines, as little-endian 32-bit
 * numbers, have the MD5 8a6a6bf95057c662c1dab6155ae7f0e4. */
#ifndef TAMIS_URL_LOG_H
#define TAMIS_URL_LOG_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/count.h>
#include <tamis/tamis.h>

#define LOG_PAGES 600000u
#define LOG_QUERIES 5000000u

struct url_log {
    uint32_t n, urls; /* number of lines; of distinct URLs that may occur */
    uint32_t *ids;    /* the URL of each line */
    tamis_bytes *text;
    int64_t *truth; /* how often each URL occurs */
    /* Used while generating the log. */
    uint64_t state[2];
    char *room;
    size_t used, size;
};

static inline void *log_room(size_t n)
{
    void *p = calloc(n, 1);
    if (p == NULL) abort();
    return p;
}

static inline uint64_t log_random(struct url_log *l) /* xorshift128+ */
{
    uint64_t a = l->state[0];
    const uint64_t b = l->state[1];
    l->state[0] = b;
    a ^= a << 23;
    l->state[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
    return l->state[1] + b;
}

static inline double *log_zipf(uint32_t n, double alpha)
{
    double *sums = log_room(n * sizeof *sums), all = 0;
    for (uint32_t i = 0; i < n; i++) sums[i] = all += pow(i + 1, -alpha);
    for (uint32_t i = 0; i < n; i++) sums[i] /= all;
    return sums;
}

static inline uint32_t log_draw(struct url_log *l, const double *sums, uint32_t n)
{
    const double u = (double)(log_random(l) >> 11) * 0x1p-53;
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (sums[mid] >= u)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static const char *const log_tlds[] = {"com", "org", "net", "io", "co.uk", "de"};
static const char *const log_words[] = {
    "news",   "products", "category", "user",    "api",      "v1",    "v2",      "static",
    "images", "blog",     "search",   "cart",    "checkout", "docs",  "help",    "video",
    "watch",  "music",    "forum",    "thread",  "wiki",     "item",  "catalog", "assets",
    "js",     "css",      "download", "archive", "tag",      "author"};

/* Stores a text. All texts follow each other, in blocks that never move. */
static inline tamis_bytes log_keep(struct url_log *l, const char *text)
{
    const size_t n = strlen(text);
    if (l->room == NULL || n > l->size - l->used) {
        l->size = 1 << 24;
        char *piece = log_room(l->size);
        memcpy(piece, &l->room, sizeof l->room); /* links the blocks, so that they can be freed */
        l->room = piece;
        l->used = sizeof l->room;
    }
    memcpy(l->room + l->used, text, n);
    l->used += n;
    return (tamis_bytes){l->room + l->used - n, n};
}

static inline void log_pages(struct url_log *l)
{
    double *hosts = log_zipf(20000, 1.1);
    for (uint32_t p = 0; p < LOG_PAGES; p++) {
        char url[256];
        const uint32_t h = log_draw(l, hosts, 20000);
        int n = snprintf(url, sizeof url, "https://www.site%u.%s/", h, log_tlds[h % 6]);
        for (uint64_t words = 1 + log_random(l) % 3; words > 0; words--)
            n += snprintf(url + n, sizeof url - (size_t)n, "%s/", log_words[log_random(l) % 30]);
        snprintf(url + n, sizeof url - (size_t)n, "%x.html", p);
        l->text[p] = log_keep(l, url);
    }
    l->urls = LOG_PAGES;
    free(hosts);
}

static inline uint32_t log_query(struct url_log *l, uint32_t q, uint32_t *ids)
{
    if (ids[q] != 0) return ids[q];
    char url[256];
    snprintf(url, sizeof url, "https://www.site%u.%s/search?q=%llx&page=%u&ref=%s", q % 977,
             log_tlds[q % 977 % 6], (unsigned long long)(q * UINT64_C(0x9e3779b97f4a7c15)), q % 7,
             log_words[q % 30]);
    l->text[l->urls] = log_keep(l, url);
    ids[q] = l->urls;
    return l->urls++;
}

static inline struct url_log url_log(uint32_t n)
{
    struct url_log l = {.n = n,
                        .state = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd1b54a32d192ed03)}};
    const uint32_t most = LOG_PAGES + (n < LOG_QUERIES ? n : LOG_QUERIES);
    l.ids = log_room(n * sizeof *l.ids);
    l.text = log_room(most * sizeof *l.text);
    l.truth = log_room(most * sizeof *l.truth);
    log_pages(&l);
    double *pages = log_zipf(LOG_PAGES, 1.05), *queries = log_zipf(LOG_QUERIES, 0.6);
    uint32_t *order = log_room(LOG_PAGES * sizeof *order);
    uint32_t *query_ids = log_room(LOG_QUERIES * sizeof *query_ids);
    for (uint32_t i = 0; i < LOG_PAGES; i++) order[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        for (int swaps = i > 0 && i % 100000 == 0 ? 300 : 0; swaps > 0; swaps--) {
            const uint64_t a = log_random(&l) % 20000, b = log_random(&l) % LOG_PAGES;
            const uint32_t kept = order[a];
            if (a <= 50) continue;
            order[a] = order[b];
            order[b] = kept;
        }
        const double u = (double)(log_random(&l) >> 11) * 0x1p-53;
        if (u < 0.06 && i > 50)
            l.ids[i] = l.ids[i - 1 - (uint32_t)(log_random(&l) % 50)];
        else if (u < 0.24)
            l.ids[i] = log_query(&l, log_draw(&l, queries, LOG_QUERIES), query_ids);
        else
            l.ids[i] = order[log_draw(&l, pages, LOG_PAGES)];
        l.truth[l.ids[i]]++;
    }
    free(pages);
    free(queries);
    free(order);
    free(query_ids);
    return l;
}

static inline void url_log_free(struct url_log *l)
{
    while (l->room != NULL) {
        char *before;
        memcpy(&before, l->room, sizeof before);
        free(l->room);
        l->room = before;
    }
    free(l->ids);
    free(l->text);
    free(l->truth);
}

/* --- The same lines in other orders ----------------------------------------------------------- */

enum log_order { LOG_AS_IS, LOG_BACKWARDS, LOG_SHUFFLED, LOG_CLUSTERED, LOG_RISING, LOG_FALLING };
static const char *const log_order_names[] = {"as it is",  "backwards", "shuffled",
                                              "clustered", "rising",    "falling"};
#define LOG_ORDERS 6

/* Puts all lines of a URL together, with the URLs in an arbitrary order or by their counts. */
static inline void log_cluster(struct url_log *l, enum log_order order)
{
    struct {
        int64_t by;
        uint32_t id;
    } *all = log_room(l->urls * sizeof *all), kept;
    for (uint32_t i = 0; i < l->urls; i++) {
        const int64_t mixed = (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 20);
        all[i].id = i;
        all[i].by = order == LOG_CLUSTERED ? mixed : l->truth[i] << 24 | (mixed & 0xffffff);
        if (order == LOG_FALLING) all[i].by = -all[i].by;
    }
    for (uint32_t gap = l->urls / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)(gap / 2.2))
        for (uint32_t i = gap; i < l->urls;
             i++) { /* Shell's sort, because qsort's order of equal elements varies */
            kept = all[i];
            uint32_t j = i;
            for (; j >= gap && all[j - gap].by > kept.by; j -= gap) all[j] = all[j - gap];
            all[j] = kept;
        }
    uint32_t at = 0;
    for (uint32_t i = 0; i < l->urls; i++)
        for (int64_t times = l->truth[all[i].id]; times > 0; times--) l->ids[at++] = all[i].id;
    free(all);
}

static inline void log_reorder(struct url_log *l, enum log_order order)
{
    uint64_t random = 1;
    if (order >= LOG_CLUSTERED) log_cluster(l, order);
    for (uint32_t i = l->n; i-- > 1;) {
        uint32_t j = l->n - 1 - i;
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (order == LOG_SHUFFLED) j = (uint32_t)((random >> 32) * (i + 1) >> 32);
        if ((order != LOG_SHUFFLED && order != LOG_BACKWARDS) || (order == LOG_BACKWARDS && j >= i))
            break;
        const uint32_t kept = l->ids[i];
        l->ids[i] = l->ids[j];
        l->ids[j] = kept;
    }
}

/* Returns how many of the k most frequent URLs are among the first k of a list. URLs as frequent as
 * the last of them count as well. */
static inline size_t log_found(const struct url_log *l, const tamis_heavy *list, size_t n, size_t k)
{
    int64_t low = 1, high = l->n; /* the count at rank k */
    while (low < high) {
        const int64_t mid = low + (high - low + 1) / 2;
        size_t more = 0;
        for (uint32_t i = 0; i < l->urls; i++) more += l->truth[i] >= mid;
        if (more >= k)
            low = mid;
        else
            high = mid - 1;
    }
    size_t found = 0;
    for (uint32_t i = 0; i < l->urls; i++) {
        if (l->truth[i] < low) continue;
        for (size_t j = 0; j < n; j++)
            if (list[j].item.p != NULL && list[j].item.len == l->text[i].len &&
                memcmp(list[j].item.p, l->text[i].p, l->text[i].len) == 0) {
                found++;
                break;
            }
    }
    return found;
}

static inline tamis_status log_add(tamis *t, const struct url_log *l)
{
    tamis_status s = TAMIS_OK;
    for (uint32_t at = 0; at < l->n && s == TAMIS_OK; at += 1000) {
        tamis_bytes keys[1000];
        const uint32_t n = l->n - at < 1000 ? l->n - at : 1000;
        for (uint32_t i = 0; i < n; i++) keys[i] = l->text[l->ids[at + i]];
        s = tamis_add_weight_many(t, keys, NULL, n, NULL, NULL);
    }
    return s;
}

#endif
