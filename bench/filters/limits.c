/* The cost of memory and of hashing alone.
 *
 * A query of the best filter reads one random line. So the limit is a loop that does nothing else:
 * it takes a hash from a precomputed stream, finds the line by one multiplication, and reads one
 * word from each half of the line. In a plain loop the processor itself keeps as many lines in
 * flight as it can. With rolling prefetch, the line of the hash 64 places ahead is requested into
 * the second-level cache. The array is placed in memory in the same way as a filter of its size. */
#include "../common/bench.h"

#include <math.h>
#include <string.h>

#define LINE 64u
#define WORDS (LINE / sizeof(uint64_t))
#define AHEAD 64u

const uint8_t SECRET[16] = "not so secret...";

struct walk {
    const uint64_t *table, *stream;
    uint64_t lines, n;
};

static volatile uint64_t sink;

static inline const uint64_t *line_of(const struct walk *w, uint64_t hash)
{
    __extension__ typedef unsigned __int128 wide;
    return w->table + (size_t)((wide)hash * w->lines >> 64) * WORDS;
}

static double walk_plain(void *ctx)
{
    const struct walk w = *(const struct walk *)ctx;
    uint64_t sum = 0;
    const double start = seconds();
    for (uint64_t i = 0; i < w.n; i++) {
        const uint64_t *line = line_of(&w, w.stream[i]);
        sum += line[0] & line[WORDS / 2];
    }
    sink = sum;
    return seconds() - start;
}

static double walk_rolling(void *ctx)
{
    const struct walk w = *(const struct walk *)ctx;
    uint64_t sum = 0;
    const double start = seconds();
    for (uint64_t i = 0; i < w.n; i++) {
        __builtin_prefetch(line_of(&w, w.stream[i + AHEAD]), 0, 2);
        const uint64_t *line = line_of(&w, w.stream[i]);
        sum += line[0] & line[WORDS / 2];
    }
    sink = sum;
    return seconds() - start;
}

/* Integer keys serve as hashes here: they are as random and as long. */
static const uint64_t *stream(uint64_t n)
{
    static struct keys keys;
    if (keys.n < n + AHEAD) {
        keys_drop(&keys);
        keys_make(&keys, INTEGERS, UINT64_C(1) << 50, n + AHEAD);
    }
    return keys.words;
}

static void walk(struct limit *limit)
{
    struct walk w = {.lines = limit->bytes / LINE, .n = settings.most_asks};
    w.stream = stream(w.n);
    const uint64_t before = huge_bytes();
    uint64_t *table = take(limit->bytes);
    memset(table, 0x55, limit->bytes);
    limit->huge_bytes = huge_bytes() - before;
    w.table = table;
    walk_plain(&w); /* warms the caches as in the middle of a long run */
    limit->plain = repeat(walk_plain, &w, w.n);
    limit->rolling = repeat(walk_rolling, &w, w.n);
    give_back(table);
}

static void report(const struct limit *limit, const char *mode, struct timing timing)
{
    struct row r = row_of("limit", mode, INTEGERS, settings.most_asks);
    r.op = "line";
    r.ns = timing.ns;
    r.min_ns = timing.min_ns;
    r.repetitions = timing.repetitions;
    r.limit_ns = limit->plain.ns;
    r.rolling_ns = limit->rolling.ns;
    r.bytes = limit->bytes;
    r.huge_bytes = limit->huge_bytes;
    row_add(&r);
}

/* Sizes within half a per cent of each other count as one, because images differ by their
 * headers. */
const struct limit *limit_at(uint64_t bytes)
{
    static struct limit known[256];
    static size_t count;
    bytes = bytes / LINE * LINE;
    for (size_t i = 0; i < count; i++)
        if (fabs((double)known[i].bytes - (double)bytes) <= 0.005 * (double)bytes) return known + i;
    if (count == LENGTH(known)) die("too many sizes");
    struct limit *limit = known + count++;
    limit->bytes = bytes;
    walk(limit);
    report(limit, "plain", limit->plain);
    report(limit, "rolling", limit->rolling);
    return limit;
}

void measure_limits(void)
{
    static const uint64_t kib[] = {512, 1024, 16 * 1024, 128 * 1024, 1024 * 1024};
    for (size_t i = 0; i < LENGTH(kib); i++) limit_at(settings.check ? kib[i] : kib[i] * 1024);
}

/* --- Hashing ---------------------------------------------------------------------------------- */

static size_t hash_batch(void *it, const struct batch *b)
{
    if (tamis_hash_many(it, b->keys, b->n, b->hashes) != TAMIS_OK) die("cannot hash");
    return 0;
}

struct timing hash_cost(const struct keys *k, bool keyed)
{
    static struct {
        struct timing timing;
        uint64_t n;
        enum key_type type;
        bool keyed;
    } known[16];
    static size_t count;
    const uint64_t n = k->n < settings.most_asks ? k->n : settings.most_asks;
    for (size_t i = 0; i < count; i++)
        if (known[i].n == k->n && known[i].type == k->type && known[i].keyed == keyed)
            return known[i].timing;
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    const tamis_options options = {.struct_size = sizeof options, .key = keyed ? SECRET : NULL};
    const struct subject hashing = {.ask = hash_batch};
    const struct shape batches = {.call = BATCH, .threads = 1};
    tamis *t;
    if (tamis_create(&plan, &options, &t, NULL) != TAMIS_OK) die("cannot create a filter");
    const struct timing timing = time_asks(&hashing, t, k, n, batches);
    tamis_close(t);
    if (count == LENGTH(known)) die("too many kinds of keys");
    known[count].timing = timing;
    known[count].n = k->n;
    known[count].type = k->type;
    known[count++].keyed = keyed;
    struct row r = row_of("hash", "bulk", k->type, k->n);
    r.op = "hash";
    r.keyed = keyed;
    r.ns = r.hash_ns = timing.ns;
    r.min_ns = timing.min_ns;
    r.repetitions = timing.repetitions;
    row_add(&r);
    return timing;
}
