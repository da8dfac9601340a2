/* One key per call: kinds of the library and peers, at several sizes, with independent calls and
 * with chains in which each key depends on the answer before it. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

static bool query_key(void *it, const void *key, size_t len)
{
    return tamis_may_contain(it, key, len);
}

/* A failure would count as a positive answer, and adds have none. */
static bool add_key(void *it, const void *key, size_t len)
{
    return tamis_add(it, key, len, NULL) != TAMIS_OK;
}

/* A chain needs the answer of the add. */
static bool add_key_seen(void *it, const void *key, size_t len)
{
    bool seen;
    return tamis_add(it, key, len, &seen) != TAMIS_OK || seen;
}

BENCH_LOOPS(tamis, add_key, query_key)
BENCH_LOOP(tamis_seen, adds, add_key_seen)

uint64_t tamis_queries_loop(void *it, const unsigned char *keys, size_t len, size_t n, unsigned u)
{
    return tamis_queries(it, keys, len, n, u);
}

uint64_t tamis_adds_loop(void *it, const unsigned char *keys, size_t len, size_t n, unsigned u)
{
    return tamis_adds(it, keys, len, n, u);
}

static const struct design KINDS[] = {
    {"blocked", TAMIS_BLOCKED, 0, 0}, {"bloom", TAMIS_BLOOM, 0, 0},
    {"cuckoo", TAMIS_CUCKOO, 0, 0},   {"fuse", TAMIS_FUSE, 0, 3},
    {"ribbon", TAMIS_RIBBON, 0, 0},
};

static bool sealed_kind(const struct design *d)
{
    return d->kind == TAMIS_FUSE || d->kind == TAMIS_RIBBON;
}

/* The keys of one size. */
struct batch_of_keys {
    const char *group, *key_type;
    uint64_t n;
    size_t len;
    uint64_t queries, warm;
    unsigned char *present, *absent, *fresh;
    uint64_t adds; /* keys in `fresh` */
};

static struct batch_of_keys keys_for(const char *group, uint64_t n, size_t len)
{
    const uint64_t most = sized(2000000);
    struct batch_of_keys k = {.group = group,
                              .key_type = len == INT_LEN ? "int" : "url54",
                              .n = n,
                              .len = len,
                              .queries = n < most ? n / 2 : most / 2,
                              .adds = n};
    k.warm = k.queries / 2;
    k.present = keys_among(n, 2 * k.queries + k.warm, len);
    k.absent = keys_from(NEVER_ADDED, 2 * k.queries + k.warm, len);
    /* Adds to a cuckoo filter take longer as it fills, so it gets 7/8 of its keys, up to ten
     * million. Adds to others do not depend on what they hold. */
    if (n > sized(10000000)) k.adds = most;
    k.fresh = keys_from(0, 2 * k.adds, len);
    return k;
}

static void drop_keys(struct batch_of_keys *k)
{
    give_back(k->present);
    give_back(k->absent);
    give_back(k->fresh);
}

/* --- Lanes ------------------------------------------------------------------------------------ */

static struct lane *add_lane(struct lanes *l, const struct batch_of_keys *k, const char *kind,
                             const char *op, bool chained, void *it)
{
    struct lane *lane =
        lane_add(l, k->group, kind, op, chained ? "dependent" : "independent", k->n);
    lane->row.key_type = k->key_type;
    lane->row.rate = 0.01;
    lane->len = k->len;
    lane->it = it;
    return lane;
}

static void add_query_lanes(struct lanes *l, const struct batch_of_keys *k, const char *kind,
                            void *it, const struct bench_peer *peer)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool absent = i % 2 != 0, chained = i / 2 != 0;
        bench_loop *loop = peer == NULL ? (chained ? tamis_queries_chained : tamis_queries)
                           : chained    ? peer->queries_chained
                                        : peer->queries;
        if (loop == NULL) continue;
        struct lane *lane = add_lane(l, k, kind, absent ? "negative" : "positive", chained, it);
        lane->borrowed = i != 0;
        lane->peer = peer;
        lane->loop = loop;
        lane->keys = absent ? k->absent : k->present;
        lane->per_step = k->queries;
        lane->warm = k->warm;
        lane->warm_keys = lane->keys + 2 * k->queries * k->len;
        lane->warm_with = peer == NULL ? tamis_queries : peer->queries;
        lane->usual = !absent;
        lane->before = warm_loop;
        lane->exact = !absent;
        lane->expected = k->queries;
    }
}

static void add_tamis(struct lanes *l, const struct batch_of_keys *k, const struct design *d)
{
    const tamis_plan plan = design_plan(d, k->n);
    add_query_lanes(l, k, d->name, filled(d, k->n, k->len), NULL);
    if (d->kind == TAMIS_CUCKOO && k->n > sized(10000000)) return;
    for (unsigned chained = 0; chained < (sealed_kind(d) ? 1u : 2u); chained++) {
        struct lane *lane = add_lane(l, k, d->name, "add", chained != 0, new_handle(&plan, 0, 0));
        const uint64_t most = sized(2000000);
        lane->loop = chained != 0 ? tamis_seen_adds_chained : tamis_adds;
        lane->keys = k->fresh;
        lane->per_step = d->kind == TAMIS_CUCKOO ? k->adds / 8 * 7
                         : k->adds < most        ? k->adds
                                                 : most;
        lane->before = clear_handle;
        lane->exact = chained == 0;
    }
}

static void clear_peer(struct lane *l)
{
    if (l->peer->clear != NULL) {
        l->peer->clear(l->it);
        return;
    }
    l->peer->destroy(l->it);
    l->it = l->peer->create(l->row.keys, l->row.rate);
    if (l->it == NULL) die("%s cannot be created", l->peer->name);
}

static void *new_peer(const struct bench_peer *p, uint64_t n)
{
    void *it = p->create(n, 0.01);
    if (it == NULL) die("%s cannot be created", p->name);
    return it;
}

/* Fills a peer by its own loop, in parts. */
static void fill_peer(const struct bench_peer *p, void *it, uint64_t n, size_t len)
{
    unsigned char *keys = take((BATCH + 1) * len);
    for (uint64_t at = 0; at < n;) {
        const size_t part = n - at < BATCH ? (size_t)(n - at) : BATCH;
        for (size_t i = 0; i < part; i++) fixed_key(at + i, len, keys + i * len);
        p->adds(it, keys, len, part, 0);
        at += part;
    }
    give_back(keys);
    if (p->finish != NULL) p->finish(it);
}

static void add_peer(struct lanes *l, const struct batch_of_keys *k, const struct bench_peer *p)
{
    if (p->sketch != 0 || p->adds == NULL) return;
    void *it = new_peer(p, k->n);
    fill_peer(p, it, k->n, k->len);
    if (p->queries != NULL)
        add_query_lanes(l, k, p->name, it, p);
    else
        p->destroy(it);
    for (unsigned chained = 0; chained < 2; chained++) {
        bench_loop *loop = chained != 0 ? p->adds_chained : p->adds;
        const uint64_t most = sized(2000000);
        if (loop == NULL) continue;
        struct lane *lane = add_lane(l, k, p->name, "add", chained != 0, new_peer(p, k->n));
        lane->peer = p;
        lane->loop = loop;
        lane->keys = k->fresh;
        lane->per_step = k->adds < most ? k->adds : most;
        lane->before = clear_peer;
    }
}

/* What the loop itself takes, with a call that returns at once. */
static __attribute__((noinline)) bool return_at_once(void *it, const void *key, size_t len)
{
    __asm__ volatile("" : : "r"(it), "r"(key), "r"(len));
    return false;
}

BENCH_LOOP(empty, calls, return_at_once)

static void add_nothing(struct lanes *l, const struct batch_of_keys *k)
{
    struct lane *lane = add_lane(l, k, "nothing", "call", false, NULL);
    lane->loop = empty_calls;
    lane->keys = k->present;
    lane->per_step = k->queries;
}

static void measure_size(const char *group, const char *title, uint64_t n, size_t len, size_t kinds)
{
    struct lanes l = {NULL, 0};
    struct batch_of_keys k = keys_for(group, n, len);
    for (size_t i = 0; i < kinds; i++) add_tamis(&l, &k, KINDS + i);
    for (size_t i = 0; peer_at(i) != NULL; i++) add_peer(&l, &k, peer_at(i));
    add_nothing(&l, &k);
    race(&l, title);
    drop_keys(&k);
}

void single_group(void)
{
    uint64_t sizes[3];
    const size_t n = set_sizes(sizes);
    for (size_t i = 0; i < n; i++) {
        char title[80];
        snprintf(title, sizeof title, "single: one key per call, sets of %llu integers",
                 (unsigned long long)sizes[i]);
        measure_size("single", title, sizes[i], INT_LEN, LENGTH(KINDS));
    }
}

void urls_group(void)
{
    measure_size("urls", "urls: one key per call, URLs of 54 bytes", sized(1000000), URL_LEN, 2);
}
