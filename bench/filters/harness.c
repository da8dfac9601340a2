/* How everything is timed. The clock runs only around the calls: one pair of readings (about 50 ns)
 * for a batch of 4096 keys. Builds include creating the structure and touching its pages for the
 * first time. Queries use the finished structure. */
#include "../common/bench.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- One pass over keys ----------------------------------------------------------------------- */

struct pass {
    const struct subject *subject;
    void *it;
    const struct keys *keys;
    uint64_t n;
    struct shape shape;
    bool asks, takes;
    uint64_t yes, huge_bytes;
};

/* Buffers for the largest pass so far; the hashes only for batches. */
static struct batch pool;

static struct batch batch_for(uint64_t n)
{
    if (n > pool.n) {
        release_batches();
        pool.n = n;
        pool.keys = take(n * sizeof *pool.keys);
        pool.bits = take((n + 7) / 8);
        pool.hashes = take(BATCH * sizeof *pool.hashes);
        memset(pool.bits, 1, (n + 7) / 8); /* touches its pages outside the clock */
    }
    struct batch b = pool;
    b.n = n;
    return b;
}

void release_batches(void)
{
    give_back(pool.keys);
    give_back(pool.bits);
    give_back(pool.hashes);
    pool = (struct batch){0};
}

static size_t call(const struct pass *p, const struct batch *b)
{
    if (p->asks) return p->subject->ask(p->it, b);
    if (p->takes)
        p->subject->take(p->it, b);
    else
        p->subject->add(p->it, b);
    return 0;
}

static double pass_batches(struct pass *p)
{
    double spent = 0;
    struct batch b = batch_for(BATCH);
    for (uint64_t at = 0; at < p->n; at += b.n) {
        b.n = p->n - at < BATCH ? (size_t)(p->n - at) : BATCH;
        keys_describe(p->keys, at, b.n, b.keys);
        if (p->subject->prepare != NULL) p->subject->prepare(p->it, &b);
        const double start = seconds();
        p->yes += call(p, &b);
        spent += seconds() - start;
    }
    return spent;
}

/* A share of an array, and the thread that works on it. */
struct worker {
    const struct pass *pass;
    struct batch share;
    pthread_barrier_t *start;
    pthread_t thread;
    uint64_t yes;
    unsigned core;
    /* Its own times, because the thread that waits for it may be scheduled late. */
    double begin, end;
};

static uint64_t work_off(const struct pass *p, const struct batch *share)
{
    uint64_t yes = 0;
    for (size_t at = 0; at < share->n;) {
        const size_t rest = share->n - at;
        const struct batch b = {share->keys + at, NULL, share->bits + at / 8,
                                rest < p->shape.call ? rest : p->shape.call};
        yes += call(p, &b);
        at += b.n;
    }
    return yes;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    pin(w->core);
    pthread_barrier_wait(w->start);
    w->begin = seconds();
    w->yes = work_off(w->pass, &w->share);
    w->end = seconds();
    return NULL;
}

static double pass_threads(struct pass *p, const struct batch *all)
{
    struct worker workers[8];
    pthread_barrier_t start;
    const unsigned n = p->shape.threads;
    if (n > LENGTH(workers)) die("%u threads are too many", n);
    pthread_barrier_init(&start, NULL, n);
    for (unsigned i = 0; i < n; i++) {
        /* Each worker gets whole bytes of answers. */
        const size_t from = all->n / 8 * i / n * 8;
        const size_t to = i + 1 == n ? all->n : all->n / 8 * (i + 1) / n * 8;
        workers[i] =
            (struct worker){.pass = p,
                            .start = &start,
                            .core = i,
                            .share = {all->keys + from, NULL, all->bits + from / 8, to - from}};
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
            die("no thread is to be had");
    }
    double begin = INFINITY, end = 0;
    for (unsigned i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        p->yes += workers[i].yes;
        begin = fmin(begin, workers[i].begin);
        end = fmax(end, workers[i].end);
    }
    pthread_barrier_destroy(&start);
    return end - begin;
}

static double pass_array(struct pass *p)
{
    const struct batch all = batch_for(p->n);
    keys_describe(p->keys, 0, all.n, all.keys);
    if (p->shape.threads > 1) return pass_threads(p, &all);
    const double start = seconds();
    p->yes += work_off(p, &all);
    return seconds() - start;
}

static double one_pass(void *ctx)
{
    struct pass *p = ctx;
    p->yes = 0;
    return p->shape.array ? pass_array(p) : pass_batches(p);
}

struct timing time_asks(const struct subject *s, void *it, const struct keys *k, uint64_t n,
                        struct shape shape)
{
    struct pass p = {.subject = s, .it = it, .keys = k, .n = n, .shape = shape, .asks = true};
    struct timing t = repeat(one_pass, &p, n);
    t.yes = p.yes;
    return t;
}

/* Builds the structure anew in every repetition; the last one stays. */
static double one_build(void *ctx)
{
    struct pass *p = ctx;
    if (p->it != NULL) p->subject->close(p->it);
    batch_for(p->shape.array ? p->n : BATCH);
    p->huge_bytes = huge_bytes();
    const double start = seconds();
    p->it = p->subject->open(p->subject->about);
    double spent = seconds() - start;
    spent += one_pass(p);
    if (p->subject->finish != NULL) {
        const double last = seconds();
        p->subject->finish(p->it);
        spent += seconds() - last;
    }
    p->huge_bytes = huge_bytes() - p->huge_bytes;
    return spent;
}

/* --- Measuring a set -------------------------------------------------------------------------- */

static void report(const struct trial *t, const char *op, struct timing timing, double fpr)
{
    struct row r = t->row;
    r.op = op;
    r.ns = timing.ns;
    r.min_ns = timing.min_ns;
    r.repetitions = timing.repetitions;
    r.fpr = fpr;
    row_add(&r);
}

static void measure_asks(struct trial *t, void *it)
{
    const struct {
        const char *op;
        const struct keys *keys;
    } ops[3] = {{"positive", t->in}, {"negative", t->out}, {"positive-random", t->shuffled}};
    t->row.scratch_bytes = t->ask_scratch;
    for (size_t i = 0; i < LENGTH(ops); i++) {
        if (ops[i].keys == NULL) continue;
        const uint64_t n = ops[i].keys->n < t->asks ? ops[i].keys->n : t->asks;
        const struct timing timing = time_asks(t->subject, it, ops[i].keys, n, t->shape);
        const bool in = ops[i].keys != t->out;
        if (in && timing.yes != n)
            die("%s lost %llu keys", t->row.kind, (unsigned long long)(n - timing.yes));
        if (!in && t->exact && timing.yes != 0) die("%s holds what was not added", t->row.kind);
        report(t, ops[i].op, timing, in ? NAN : (double)timing.yes / (double)n);
    }
}

void measure(struct trial *t)
{
    struct pass build = {.subject = t->subject, .keys = t->in, .n = t->in->n, .shape = t->shape};
    struct timing timing = {.ns = NAN};
    if (t->asks_only) {
        build.shape = (struct shape){.call = BATCH, .threads = 1};
        one_build(&build);
    } else {
        timing = repeat(one_build, &build, t->in->n);
    }
    t->row.bytes = t->subject->bytes(build.it);
    t->row.bits_per_item = 8 * (double)t->row.bytes / (double)t->in->n;
    const struct limit *limit = limit_at(t->row.bytes);
    t->row.limit_ns = limit->plain.ns;
    t->row.rolling_ns = limit->rolling.ns;
    t->row.huge_bytes = build.huge_bytes;
    t->row.array = t->shape.array;
    t->row.threads = t->shape.threads;
    if (!t->asks_only) report(t, "add", timing, NAN);
    measure_asks(t, build.it);
    if (t->subject->take != NULL && !t->asks_only) {
        build.takes = true; /* once, because removed keys cannot be removed again */
        const double ns = one_pass(&build) / (double)build.n * 1e9;
        report(t, "remove", (struct timing){.ns = ns, .min_ns = ns, .repetitions = 1}, NAN);
    }
    t->subject->close(build.it);
}
