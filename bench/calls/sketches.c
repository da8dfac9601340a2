/* Updates of sketches of 1 MiB with one key per call and with many, with the count after each add
 * and without it; and adds, merges and estimates of a distinct sketch of 16 KiB. */
#include "calls.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/distinct.h>

static const struct {
    const char *name;
    uint32_t kind;
} SKETCHES[] = {
    {"count-min", TAMIS_COUNT_MIN},
    {"count-sketch", TAMIS_COUNT_SKETCH},
    {"tally", TAMIS_TALLY},
    {"top", TAMIS_TOP},
};

static bool add_key(void *it, const void *key, size_t len)
{
    return tamis_add(it, key, len, NULL) != TAMIS_OK;
}

/* The counts of a count-sketch may be negative, but none is so low. */
static bool add_counted(void *it, const void *key, size_t len)
{
    int64_t count;
    return tamis_add_counted(it, key, len, 1, &count, NULL) != TAMIS_OK || count == INT64_MIN;
}

static bool upper(void *it, const void *key, size_t len)
{
    return tamis_upper(it, key, len) == INT64_MIN;
}

BENCH_LOOP(plain, adds, add_key)
BENCH_LOOP(counted, adds, add_counted)
BENCH_LOOP(upper, queries, upper)

static tamis_bytes list[BATCH];
static int64_t counts[BATCH];

static void describe(struct lane *l, uint64_t step)
{
    for (size_t i = 0; i < l->per_step; i++)
        list[i] = (tamis_bytes){l->keys + (step * l->per_step + i) * l->len, l->len};
}

static uint64_t run_many(struct lane *l)
{
    if (l->way == 0)
        succeed(tamis_add_many(l->it, list, l->per_step, NULL, NULL));
    else if (l->way == 1)
        succeed(tamis_add_counted_many(l->it, list, NULL, l->per_step, counts, NULL, NULL));
    else
        tamis_upper_many(l->it, list, l->per_step, counts);
    return 0;
}

static const struct {
    const char *op, *mode;
    bench_loop *loop;
} WAYS[] = {
    {"add", "independent", plain_adds},
    {"add counted", "independent", counted_adds},
    {"add counted", "dependent", counted_adds_chained},
    {"upper", "independent", upper_queries},
    {"add", "bulk", NULL},
    {"add counted", "bulk", NULL},
    {"upper", "bulk", NULL},
};

/* The frequency of an item is inversely proportional to its rank. */
static unsigned char *stream(uint64_t n, uint64_t distinct)
{
    unsigned char *keys = take(n * INT_LEN);
    for (uint64_t i = 0; i < n; i++) {
        const double u = (double)(mix(i + 77) >> 11) * 0x1p-53;
        fixed_key((uint64_t)exp(u * log((double)distinct)), INT_LEN, keys + i * INT_LEN);
    }
    return keys;
}

static tamis *filled_sketch(uint32_t kind, const unsigned char *keys, uint64_t n)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = kind, .bytes = 1 << 20};
    tamis *t = new_handle(&plan, 0, 0);
    plain_adds(t, keys, INT_LEN, n, 0);
    return t;
}

static void add_peer(struct lanes *l, const struct bench_peer *p, const unsigned char *keys,
                     uint64_t n)
{
    if (p->sketch == 0 || p->adds == NULL) return;
    struct lane *lane = lane_add(l, "updates", p->name, "add", "independent", n);
    lane->it = p->create(1 << 20, 0);
    if (lane->it == NULL) die("%s cannot be created", p->name);
    lane->peer = p;
    lane->loop = p->adds;
    lane->keys = keys;
    lane->len = INT_LEN;
    lane->per_step = n;
    p->adds(lane->it, keys, INT_LEN, n, 0);
}

/* --- Distinct --------------------------------------------------------------------------------- */

enum { REGISTERS = 4096, MERGES = 100 };

/* The two sketches are merged to and fro; after the first time, nothing changes in them, which
 * takes no less time. */
static uint64_t run_merges(struct lane *l)
{
    for (uint64_t i = 0; i < l->per_step; i++)
        succeed(tamis_merge(l->it, (const void *)l->keys, NULL));
    return 0;
}

static uint64_t run_estimates(struct lane *l)
{
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    for (uint64_t i = 0; i < l->per_step; i++) succeed(tamis_distinct(l->it, &n, NULL));
    return 0;
}

static struct lane *distinct_lane(struct lanes *l, tamis *t, const char *op, const char *mode,
                                  uint64_t n)
{
    struct lane *lane = lane_add(l, "updates", "distinct", op, mode, n);
    lane->it = t;
    lane->borrowed = true;
    lane->row.bytes = tamis_image_size(t);
    lane->len = INT_LEN;
    lane->per_step = settings.check || settings.counting ? 2 : MERGES;
    return lane;
}

/* New keys, one round after the other, once there are 1,000 keys per register. */
static void next_keys(struct lane *l)
{
    static uint64_t next = NEVER_ADDED;
    const uint64_t n = l->steps * l->per_step;
    for (uint64_t i = 0; i < n; i++) fixed_key(next + i, INT_LEN, l->own + i * INT_LEN);
    next += n;
}

static void add_distinct(struct lanes *l, tamis **both)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = REGISTERS};
    const uint64_t keys = sized(1000) * REGISTERS, n = sized(1 << 20) / BATCH * BATCH;
    for (unsigned i = 0; i < 2; i++) {
        both[i] = new_handle(&plan, 0, 0);
        fill(both[i], i * keys, keys, INT_LEN);
    }
    for (unsigned bulk = 0; bulk < 2; bulk++) {
        struct lane *lane =
            distinct_lane(l, both[0], "add", bulk != 0 ? "bulk" : "independent", keys);
        lane->keys = lane->own = take((n != 0 ? n : BATCH) * INT_LEN);
        lane->per_step = n != 0 ? n : BATCH;
        lane->before = next_keys;
        lane->loop = plain_adds;
        if (bulk == 0) continue;
        lane->per_step = BATCH;
        lane->steps = n != 0 ? n / BATCH : 1;
        lane->prepare = describe;
        lane->run = run_many;
    }
    struct lane *lane = distinct_lane(l, both[1], "merge", "sketches", keys);
    lane->keys = (const unsigned char *)(void *)both[0];
    lane->run = run_merges;
    distinct_lane(l, both[1], "estimate", "sketch", keys)->run = run_estimates;
}

void updates_group(void)
{
    struct lanes l = {NULL, 0};
    const uint64_t n = sized(1000000);
    unsigned char *keys = stream(2 * n, sized(1000000));
    for (size_t i = 0; i < LENGTH(SKETCHES); i++) {
        tamis *t = filled_sketch(SKETCHES[i].kind, keys, n);
        for (size_t j = 0; j < LENGTH(WAYS); j++) {
            struct lane *lane =
                lane_add(&l, "updates", SKETCHES[i].name, WAYS[j].op, WAYS[j].mode, n);
            lane->it = t;
            lane->borrowed = j != 0;
            lane->row.bytes = 1 << 20;
            lane->keys = keys;
            lane->len = INT_LEN;
            lane->loop = WAYS[j].loop;
            lane->per_step = n;
            lane->exact = true; /* no call fails */
            if (lane->loop != NULL) continue;
            lane->way = (uint32_t)(j - 4);
            lane->per_step = n < BATCH ? n : BATCH;
            lane->steps = n / lane->per_step;
            lane->prepare = describe;
            lane->run = run_many;
        }
    }
    tamis *both[2];
    add_distinct(&l, both);
    for (size_t i = 0; peer_at(i) != NULL; i++) add_peer(&l, peer_at(i), keys, n);
    race(&l, "updates: sketches of 1 MiB, distinct of 16 KiB");
    tamis_close(both[0]);
    tamis_close(both[1]);
    give_back(keys);
}
