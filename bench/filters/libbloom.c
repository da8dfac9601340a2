/* The peer that Debian ships: libbloom, with the same keys at the same rates. It has only calls for
 * one key. */
#include "../calls/calls.h"

#include <bloom.h>
#include <stdlib.h>

struct wish {
    uint64_t n;
    double rate;
};

static void *open_bloom(const void *about)
{
    const struct wish *w = about;
    struct bloom *b = malloc(sizeof *b);
    if (b == NULL || bloom_init(b, (int)w->n, w->rate) != 0) die("libbloom refuses");
    return b;
}

static void add_bloom(void *it, const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) bloom_add(it, b->keys[i].p, (int)b->keys[i].len);
}

static size_t ask_bloom(void *it, const struct batch *b)
{
    size_t yes = 0;
    for (size_t i = 0; i < b->n; i++)
        yes += bloom_check(it, b->keys[i].p, (int)b->keys[i].len) == 1;
    return yes;
}

static uint64_t bloom_bytes(void *it)
{
    return (uint64_t)((struct bloom *)it)->bytes;
}

static void close_bloom(void *it)
{
    bloom_free(it);
    free(it);
}

/* --- Single calls, for calls/ ----------------------------------------------------------------- */

static bool add_key(void *it, const void *key, size_t len)
{
    return bloom_add(it, key, (int)len) == 1;
}

static bool query_key(void *it, const void *key, size_t len)
{
    return bloom_check(it, key, (int)len) == 1;
}

BENCH_LOOPS(libbloom, add_key, query_key)

static void *create_bloom(uint64_t n, double fpr)
{
    const struct wish wish = {n < 1000 ? 1000 : n, fpr}; /* it refuses fewer */
    return open_bloom(&wish);
}

static void reset_bloom(void *it)
{
    bloom_reset(it);
}

const struct bench_peer LIBBLOOM = {.name = "libbloom",
                                    .create = create_bloom,
                                    .destroy = close_bloom,
                                    .clear = reset_bloom,
                                    .adds = libbloom_adds,
                                    .adds_chained = libbloom_adds_chained,
                                    .queries = libbloom_queries,
                                    .queries_chained = libbloom_queries_chained};

/* --- The tables ------------------------------------------------------------------------------- */

void measure_libbloom(const struct scene *s, double rate)
{
    const struct wish wish = {s->in.n, rate};
    const struct subject subject = {.open = open_bloom,
                                    .add = add_bloom,
                                    .ask = ask_bloom,
                                    .bytes = bloom_bytes,
                                    .close = close_bloom,
                                    .about = &wish};
    struct trial trial = {.subject = &subject,
                          .row = row_of("libbloom", "single", s->in.type, s->in.n),
                          .in = &s->in,
                          .out = &s->out,
                          .asks = settings.most_asks,
                          .shape = {.call = BATCH, .threads = 1}};
    /* Would take two minutes for a cell without a comparison. */
    if (s->scale == 2 && rate < 0.005) return;
    if (s->shuffled.n != 0) trial.shuffled = &s->shuffled;
    trial.row.rate = rate;
    measure(&trial);
}
