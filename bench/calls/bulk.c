/* Many keys per call: batches, columns, encodings, threads of one call, and shared handles. */
#include "calls.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <tamis/columns.h>

#define CALL ((size_t)1 << 20) /* keys of one call with threads */
static tamis_bytes *list;      /* descriptors of one step, which one lane uses at a time */
static uint8_t *bits;
static uint32_t *selected;
static int32_t *offsets;

static void take_lists(size_t n, size_t len)
{
    list = take(n * sizeof *list);
    bits = take((n + 7) / 8);
    selected = take(n * sizeof *selected);
    offsets = take((n + 1) * sizeof *offsets);
    for (size_t i = 0; i <= n && (i + 1) * len < INT32_MAX; i++) offsets[i] = (int32_t)(i * len);
}

static void give_lists(void)
{
    give_back(list);
    give_back(bits);
    give_back(selected);
    give_back(offsets);
}

static void describe_at(const unsigned char *keys, size_t len, size_t n)
{
    for (size_t i = 0; i < n; i++) list[i] = (tamis_bytes){keys + i * len, len};
}

static void describe(struct lane *l, uint64_t step)
{
    describe_at(l->keys + step * l->per_step * l->len, l->len, l->per_step);
}

static uint64_t add_bulk(struct lane *l)
{
    succeed(tamis_add_many(l->it, list, l->per_step, NULL, NULL));
    return 0;
}

static uint64_t query_bulk(struct lane *l)
{
    return tamis_may_contain_many(l->it, list, l->per_step, bits);
}

/* Queries other keys first, so that the filter is in the caches where it fits. */
static void warm_bulk(struct lane *l)
{
    const unsigned char *keys = l->keys + l->steps * l->per_step * l->len;
    for (uint64_t at = 0; at + l->per_step <= l->warm; at += l->per_step) {
        describe_at(keys + at * l->len, l->len, l->per_step);
        tamis_may_contain_many(l->it, list, l->per_step, bits);
    }
}

/* --- Lanes of a filter ------------------------------------------------------------------------ */

struct bulk {
    const char *group, *kind, *mode;
    uint64_t n, count, warm; /* keys of the set, of a round, and to warm up with */
    size_t len, batch;
    unsigned char *present, *absent, *fresh;
};

static void bulk_keys(struct bulk *b)
{
    if (b->batch > b->count) b->batch = (size_t)b->count;
    b->count = b->count / b->batch * b->batch;
    b->present = keys_among(b->n, b->count + b->warm, b->len);
    b->absent = keys_from(NEVER_ADDED, b->count + b->warm, b->len);
    b->fresh = keys_from(0, b->count, b->len);
    take_lists(b->batch, b->len);
}

static void bulk_drop(struct bulk *b)
{
    give_back(b->present);
    give_back(b->absent);
    give_back(b->fresh);
    give_lists();
}

static struct lane *bulk_lane(struct lanes *l, const struct bulk *b, const char *op, tamis *t)
{
    struct lane *lane = lane_add(l, b->group, b->kind, op, b->mode, b->n);
    const bool adds = op[0] == 'a', absent = op[0] == 'n';
    lane->it = t;
    lane->row.key_type = b->len == INT_LEN ? "int" : "text20";
    lane->row.rate = 0.01;
    lane->len = b->len;
    lane->keys = adds ? b->fresh : absent ? b->absent : b->present;
    lane->per_step = b->batch;
    lane->steps = b->count / b->batch;
    lane->warm = adds ? 0 : b->warm;
    lane->prepare = describe;
    lane->before = adds ? clear_handle : warm_bulk;
    lane->run = adds ? add_bulk : query_bulk;
    lane->exact = !absent;
    lane->expected = adds ? 0 : b->batch;
    return lane;
}

static void bulk_lanes(struct lanes *l, const struct bulk *b, const struct design *d)
{
    const tamis_plan plan = design_plan(d, b->n);
    tamis *t = filled(d, b->n, b->len);
    bulk_lane(l, b, "positive", t);
    bulk_lane(l, b, "negative", t)->borrowed = true;
    bulk_lane(l, b, "add", new_handle(&plan, 0, 0));
}

void bulk_group(void)
{
    static const struct design kinds[] = {
        {"blocked", TAMIS_BLOCKED, 0, 0},   {"compact", TAMIS_BLOCKED, TAMIS_COMPACT, 0},
        {"bloom", TAMIS_BLOOM, 0, 0},       {"partitioned", TAMIS_PARTITIONED, 0, 0},
        {"counting", TAMIS_COUNTING, 0, 0}, {"cuckoo", TAMIS_CUCKOO, 0, 0},
        {"fuse", TAMIS_FUSE, 0, 3},         {"ribbon", TAMIS_RIBBON, 0, 0},
    };
    uint64_t sizes[3];
    const size_t n = set_sizes(sizes);
    for (size_t i = 0; i < n && i < 2; i++) {
        struct lanes l = {NULL, 0};
        char title[80];
        struct bulk b = {.group = "bulk", .mode = "batches", .n = sizes[i], .len = INT_LEN};
        b.count = sized(1000000);
        b.warm = b.count / 4;
        b.batch = BATCH;
        bulk_keys(&b);
        for (size_t j = 0; j < LENGTH(kinds); j++) {
            b.kind = kinds[j].name;
            bulk_lanes(&l, &b, kinds + j);
        }
        snprintf(title, sizeof title, "bulk: batches of %zu keys, sets of %llu integers", b.batch,
                 (unsigned long long)sizes[i]);
        race(&l, title);
        bulk_drop(&b);
    }
}

/* --- Columns ---------------------------------------------------------------------------------- */

enum { MANY, MANY_DESCRIBED, COLUMN, SELECT, ADD_MANY, ADD_COLUMN, COLUMN_WAYS };

static const unsigned char *rows_at; /* the rows of this step */

static void find_rows(struct lane *l, uint64_t step)
{
    rows_at = l->keys + step * l->per_step * l->len;
    if (l->way == MANY || l->way == ADD_MANY) describe(l, step);
}

static uint64_t run_column(struct lane *l)
{
    const bool fixed = l->len == INT_LEN;
    const tamis_column c = {.struct_size = sizeof c,
                            .rows = l->per_step,
                            .data = rows_at,
                            .bytes = l->per_step * l->len,
                            .width = fixed ? l->len : 0,
                            .offsets32 = fixed ? NULL : offsets};
    size_t yes = 0;
    if (l->way == MANY_DESCRIBED) describe_at(rows_at, l->len, l->per_step);
    if (l->way == MANY || l->way == MANY_DESCRIBED) return query_bulk(l);
    if (l->way == COLUMN) succeed(tamis_may_contain_column(l->it, &c, bits, &yes, NULL));
    if (l->way == SELECT) succeed(tamis_select_column(l->it, &c, selected, &yes, NULL));
    if (l->way == ADD_MANY) add_bulk(l);
    if (l->way == ADD_COLUMN) succeed(tamis_add_column(l->it, &c, NULL, NULL, NULL));
    return yes;
}

static void column_lanes(struct lanes *l, struct bulk *b, const struct design *d)
{
    static const char *const modes[COLUMN_WAYS] = {
        [MANY] = "many",     [MANY_DESCRIBED] = "many, with descriptors",
        [COLUMN] = "column", [SELECT] = "column, selection",
        [ADD_MANY] = "many", [ADD_COLUMN] = "column"};
    const tamis_plan plan = design_plan(d, b->n);
    tamis *t = filled(d, b->n, b->len);
    for (uint32_t way = 0; way < COLUMN_WAYS; way++) {
        const bool adds = way >= ADD_MANY;
        b->mode = modes[way];
        struct lane *lane =
            bulk_lane(l, b, adds ? "add" : "positive", adds ? new_handle(&plan, 0, 0) : t);
        lane->borrowed = !adds && way != 0;
        lane->way = way;
        lane->prepare = find_rows;
        lane->run = run_column;
    }
}

void columns_group(void)
{
    static const struct design blocked = {"blocked", TAMIS_BLOCKED, 0, 0};
    static const size_t widths[2] = {INT_LEN, TEXT_LEN};
    for (size_t i = 0; i < LENGTH(widths); i++) {
        struct lanes l = {NULL, 0};
        struct bulk b = {.group = "columns", .kind = "blocked", .n = sized(1000000)};
        b.len = widths[i];
        b.batch = 2048;
        b.count = sized(500000);
        b.warm = b.count / 4;
        bulk_keys(&b);
        column_lanes(&l, &b, &blocked);
        race(&l, i == 0 ? "columns: 8-byte integers, batches of 2048"
                        : "columns: texts of 20 bytes, batches of 2048");
        bulk_drop(&b);
    }
}

/* --- Encodings -------------------------------------------------------------------------------- */

void encodings_group(void)
{
    static const struct {
        const char *name;
        uint32_t encoding, width;
    } encodings[] = {{"unstated", TAMIS_KEYS_UNSTATED, 0},
                     {"text", TAMIS_KEYS_TEXT, 0},
                     {"int64", TAMIS_KEYS_INT64, 0},
                     {"fixed 8", TAMIS_KEYS_FIXED, 8}};
    struct lanes l = {NULL, 0};
    struct bulk b = {.group = "encodings", .kind = "blocked", .n = sized(1000000), .len = INT_LEN};
    b.count = sized(500000);
    b.warm = b.count / 4;
    b.batch = BATCH;
    bulk_keys(&b);
    for (size_t i = 0; i < LENGTH(encodings); i++) {
        tamis_plan plan = {.struct_size = sizeof plan,
                           .kind = TAMIS_BLOCKED,
                           .items = b.n,
                           .fpr = 0.01,
                           .encoding = encodings[i].encoding,
                           .key_width = encodings[i].width};
        tamis *t = new_handle(&plan, 0, 0);
        fill(t, 0, b.n, INT_LEN);
        for (unsigned single = 0; single < 2; single++)
            for (unsigned adds = 0; adds < 2; adds++) {
                char *mode = malloc(40); /* as long as the rows */
                if (mode == NULL) die("no memory");
                snprintf(mode, 40, "%s, %s", encodings[i].name, single != 0 ? "single" : "bulk");
                b.mode = mode;
                struct lane *lane = bulk_lane(&l, &b, adds != 0 ? "add" : "positive",
                                              adds != 0 ? new_handle(&plan, 0, 0) : t);
                lane->borrowed = adds == 0 && single != 0;
                if (single == 0) continue;
                lane->per_step *= lane->steps;
                lane->expected *= lane->steps;
                lane->steps = 1;
                lane->prepare = NULL;
                lane->run = run_loop;
                lane->loop = adds != 0 ? tamis_adds_loop : tamis_queries_loop;
                if (adds != 0) continue;
                lane->before = warm_loop;
                lane->warm_keys = lane->keys + lane->per_step * lane->len;
                lane->warm_with = tamis_queries_loop;
            }
    }
    race(&l, "encodings: what stating the encoding of keys costs");
    bulk_drop(&b);
}

/* --- tamis_options.threads -------------------------------------------------------------------- */

void threads_group(void)
{
    static const struct design kinds[] = {{"blocked", TAMIS_BLOCKED, 0, 0},
                                          {"bloom", TAMIS_BLOOM, 0, 0}};
    struct lanes l = {NULL, 0};
    struct bulk b = {.group = "threads", .mode = "one call", .n = sized(10000000), .len = INT_LEN};
    b.count = b.batch = settings.check || settings.counting ? 70000 : CALL;
    bulk_keys(&b);
    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            const tamis_plan plan = design_plan(kinds + i, b.n);
            tamis *t = new_handle(&plan, 0, threads);
            fill(t, 0, b.n, INT_LEN);
            b.kind = kinds[i].name;
            bulk_lane(&l, &b, "positive", t)->row.threads = threads;
            struct lane *lane = bulk_lane(&l, &b, "negative", t);
            lane->row.threads = threads;
            lane->borrowed = true;
            bulk_lane(&l, &b, "add", new_handle(&plan, 0, threads))->row.threads = threads;
        }
    pin_all(); /* the library's threads run where this one may */
    race(&l, "threads: tamis_options.threads, one call with 2^20 keys");
    pin(0);
    bulk_drop(&b);
}

/* --- Shared handles --------------------------------------------------------------------------- */

struct worker {
    struct lane *lane;
    pthread_barrier_t *start;
    pthread_t thread;
    size_t from, to;
    unsigned core;
    uint64_t yes;
    double begin, end;
};

static void work_in_batches(struct worker *w)
{
    for (size_t at = w->from; at < w->to; at += BATCH) {
        const size_t n = w->to - at < BATCH ? w->to - at : BATCH;
        if (w->lane->row.op[0] == 'a')
            succeed(tamis_add_many(w->lane->it, list + at, n, NULL, NULL));
        else
            w->yes += tamis_may_contain_many(w->lane->it, list + at, n, bits + at / 8);
    }
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct lane *l = w->lane;
    pin(w->core);
    pthread_barrier_wait(w->start);
    w->begin = seconds();
    if (l->loop != NULL)
        w->yes = l->loop(l->it, l->keys + w->from * l->len, l->len, w->to - w->from, 0);
    else
        work_in_batches(w);
    w->end = seconds();
    return NULL;
}

static uint64_t run_workers(struct lane *l)
{
    struct worker workers[2];
    pthread_barrier_t start;
    const unsigned n = l->row.threads;
    uint64_t yes = 0;
    double begin = INFINITY, end = 0;
    pthread_barrier_init(&start, NULL, n);
    for (unsigned i = 0; i < n; i++) {
        /* Each gets whole batches, and so whole bytes of answers. */
        const size_t half = l->per_step / 2 / BATCH * BATCH;
        workers[i] = (struct worker){.lane = l, .start = &start, .core = i};
        workers[i].from = i == 0 ? 0 : half;
        workers[i].to = i + 1 == n ? l->per_step : half;
        if (pthread_create(&workers[i].thread, NULL, worker_main, workers + i) != 0)
            die("no thread is to be had");
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        yes += workers[i].yes;
        begin = fmin(begin, workers[i].begin);
        end = fmax(end, workers[i].end);
    }
    pthread_barrier_destroy(&start);
    l->spent = end - begin;
    return yes;
}

static void shared_lanes(struct lanes *l, struct bulk *b, const tamis_plan *plan, uint32_t flags)
{
    tamis *full = new_handle(plan, flags, 0), *empty = new_handle(plan, flags, 0);
    const bool shared = flags != 0;
    fill(full, 0, b->n, b->len);
    for (unsigned i = 0; i < 8; i++) {
        const bool adds = i % 2 == 0, single = i / 2 % 2 != 0;
        const unsigned threads = i / 4 + 1;
        if (!shared && adds && threads > 1) continue;
        b->mode = single ? (shared ? "shared, single" : "plain, single")
                         : (shared ? "shared, bulk" : "plain, bulk");
        struct lane *lane = bulk_lane(l, b, adds ? "add" : "positive", adds ? empty : full);
        lane->borrowed = i > 1;
        lane->row.threads = threads;
        lane->row.shared = shared;
        lane->run = run_workers;
        if (!single) continue;
        lane->loop = adds ? tamis_adds_loop : tamis_queries_loop;
        lane->prepare = NULL;
    }
}

void shared_group(void)
{
    static const struct design blocked = {"blocked", TAMIS_BLOCKED, 0, 0};
    struct lanes l = {NULL, 0};
    struct bulk b = {.group = "shared", .kind = "blocked", .n = sized(10000000), .len = INT_LEN};
    const tamis_plan plan = design_plan(&blocked, b.n);
    b.count = b.batch = sized(2000000);
    bulk_keys(&b);
    shared_lanes(&l, &b, &plan, TAMIS_SHARED);
    shared_lanes(&l, &b, &plan, 0);
    race(&l, "shared: threads that use one handle");
    bulk_drop(&b);
}
