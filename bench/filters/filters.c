/* Our kinds, in every way they can be called:
 *
 *     single       one key per call
 *     bulk         batches; scratch is refused, so that even big tables are streamed
 *     partitioned  all keys in one call with the default scratch, where a kind uses it to add
 *     hashes       batches that were hashed before
 *     columns      batches of a column: integers in an array, or texts with offsets
 *
 * and, for two threads, batches from a common array: adds and queries of a TAMIS_SHARED handle,
 * queries of a plain one. The same with one thread shows what sharing costs. */
#include "../common/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/columns.h>
#include <tamis/inspect.h>

/* A new kind is one line here. */
static const struct contestant {
    const char *name;
    uint32_t kind, plan_flags;
    bool partitions; /* bulk calls on big tables are partitioned */
    bool shares;     /* TAMIS_SHARED works */
    bool brief;      /* only what comparisons need, where time is short */
    /* Not measured with a secret key, hashed before or with threads, because those costs are
     * known. */
    bool plain;
    uint32_t k;
    /* Instead of 1 %, for kinds that need whole columns; then no other rate is measured. */
    double rate;
} CONTESTANTS[] = {
    {"blocked", TAMIS_BLOCKED, 0, true, true, false, false, 0, 0},
    {"compact", TAMIS_BLOCKED, TAMIS_COMPACT, false, true, true, false, 0, 0},
    {"bloom", TAMIS_BLOOM, 0, false, true, true, false, 0, 0},
    {"partitioned", TAMIS_PARTITIONED, 0, false, true, true, false, 0, 0},
    {"counting", TAMIS_COUNTING, 0, false, false, true, true, 0, 0},
    {"pair", TAMIS_PAIR, 0, false, false, true, true, 0, 0},
    {"window", TAMIS_WINDOW, TAMIS_AUTO_ROTATE, false, false, true, true, 0, 0},
    {"growing", TAMIS_GROWING, 0, false, false, true, true, 0, 0},
    {"cuckoo", TAMIS_CUCKOO, 0, false, false, true, true, 0, 0},
    {"fuse", TAMIS_FUSE, 0, false, false, true, true, 3, 0},
    {"fuse-4", TAMIS_FUSE, 0, false, false, true, true, 4, 0},
    {"ribbon", TAMIS_RIBBON, 0, false, false, true, true, 0, 0},
    {"ribbon-8", TAMIS_RIBBON, 0, false, false, true, true, 0, 1.0 / 256},
    {"exact", TAMIS_EXACT, 0, false, false, true, true, 0, 0},
};

struct build {
    tamis_plan plan;
    tamis_options options;
};

static void must(tamis_status status)
{
    if (status != TAMIS_OK) die("%s", tamis_status_message(status));
}

/* --- The ways of calling ---------------------------------------------------------------------- */

static void *open_filter(const void *about)
{
    const struct build *b = about;
    tamis *t;
    must(tamis_create(&b->plan, &b->options, &t, NULL));
    return t;
}

static void add_single(void *it, const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) must(tamis_add(it, b->keys[i].p, b->keys[i].len, NULL));
}

static size_t ask_single(void *it, const struct batch *b)
{
    size_t yes = 0;
    for (size_t i = 0; i < b->n; i++) yes += tamis_may_contain(it, b->keys[i].p, b->keys[i].len);
    return yes;
}

static void add_bulk(void *it, const struct batch *b)
{
    must(tamis_add_many(it, b->keys, b->n, NULL, NULL));
}

static size_t ask_bulk(void *it, const struct batch *b)
{
    return tamis_may_contain_many(it, b->keys, b->n, b->bits);
}

static void prepare_hashes(void *it, struct batch *b)
{
    must(tamis_hash_many(it, b->keys, b->n, b->hashes));
}

static void add_hashes(void *it, const struct batch *b)
{
    must(tamis_add_hashes(it, b->hashes, b->n, NULL, NULL));
}

static size_t ask_hashes(void *it, const struct batch *b)
{
    return tamis_may_contain_hashes(it, b->hashes, b->n, b->bits);
}

/* The keys of a batch lie one after the other, so they are a column already. */
static int32_t offsets[BATCH + 1];

static void prepare_column(void *it, struct batch *b)
{
    (void)it;
    const char *first = b->keys[0].p;
    for (size_t i = 0; i < b->n; i++) offsets[i] = (int32_t)((const char *)b->keys[i].p - first);
    offsets[b->n] = offsets[b->n - 1] + (int32_t)b->keys[b->n - 1].len;
}

static tamis_column column_of(const struct batch *b)
{
    const bool integers = b->keys[0].len == 8 && offsets[b->n] == (int32_t)(8 * b->n);
    return (tamis_column){.struct_size = sizeof(tamis_column),
                          .rows = b->n,
                          .data = b->keys[0].p,
                          .bytes = (size_t)offsets[b->n],
                          .width = integers ? 8 : 0,
                          .offsets32 = integers ? NULL : offsets};
}

static void add_column(void *it, const struct batch *b)
{
    const tamis_column c = column_of(b);
    must(tamis_add_column(it, &c, NULL, NULL, NULL));
}

static size_t ask_column(void *it, const struct batch *b)
{
    const tamis_column c = column_of(b);
    size_t yes;
    must(tamis_may_contain_column(it, &c, b->bits, &yes, NULL));
    return yes;
}

static void take_bulk(void *it, const struct batch *b)
{
    must(tamis_remove_many(it, b->keys, b->n, NULL, NULL));
}

static void seal_filter(void *it)
{
    must(tamis_seal(it, NULL));
}

static bool can_remove(uint32_t kind)
{
    return kind == TAMIS_COUNTING || kind == TAMIS_PAIR || kind == TAMIS_CUCKOO;
}

static uint64_t filter_bytes(void *it)
{
    return tamis_image_size(it);
}

static void close_filter(void *it)
{
    tamis_close(it);
}

enum { SINGLE, BULK, PARTITIONED, HASHES, COLUMNS, MODES };
static const struct mode {
    const char *name;
    void (*prepare)(void *it, struct batch *b);
    void (*add)(void *it, const struct batch *b);
    size_t (*ask)(void *it, const struct batch *b);
} WAYS[MODES] = {
    [SINGLE] = {"single", NULL, add_single, ask_single},
    [BULK] = {"bulk", NULL, add_bulk, ask_bulk},
    [PARTITIONED] = {"partitioned", NULL, add_bulk, ask_bulk},
    [HASHES] = {"hashes", prepare_hashes, add_hashes, ask_hashes},
    [COLUMNS] = {"columns", prepare_column, add_column, ask_column},
};

/* --- Scratch ---------------------------------------------------------------------------------- */

struct tally {
    uint64_t now, peak;
};

static void *count_alloc(void *ctx, size_t size)
{
    struct tally *tally = ctx;
    size_t *p = malloc(size + 16);
    if (p == NULL) return NULL;
    *p = size;
    tally->now += size;
    if (tally->now > tally->peak) tally->peak = tally->now;
    return (char *)p + 16;
}

static void count_free(void *ctx, void *p)
{
    struct tally *tally = ctx;
    if (p == NULL) return;
    size_t *raw = (size_t *)(void *)((char *)p - 16);
    tally->now -= *raw;
    free(raw);
}

/* Measures what the same calls allocate, with a counting allocator and outside the clock. A part of
 * the keys in one call is enough. */
static void measure_scratch(const struct build *build, struct trial *trial)
{
    struct tally tally = {0, 0};
    const tamis_memory memory = {.ctx = &tally, .alloc = count_alloc, .free = count_free};
    struct build counted = *build;
    counted.options.memory = &memory;
    const size_t n = (size_t)(trial->in->n / (trial->shape.call == BATCH ? 100 : 10));
    tamis_bytes *keys = take(n * sizeof *keys);
    uint8_t *bits = take((n + 7) / 8);
    keys_describe(trial->in, 0, n, keys);
    tamis *t = open_filter(&counted);
    const uint64_t own = tally.now;
    must(tamis_add_many(t, keys, n, NULL, NULL));
    trial->row.scratch_bytes = tally.peak - own;
    tally.peak = tally.now;
    tamis_may_contain_many(t, keys, n, bits);
    trial->ask_scratch = tally.peak - own;
    tamis_close(t);
    give_back(keys);
    give_back(bits);
}

/* --- Space ------------------------------------------------------------------------------------ */

void describe_plans(FILE *f)
{
    const char *comma = "";
    fputc('[', f);
    for (size_t i = 0; i < LENGTH(CONTESTANTS); i++)
        for (int tenths = 10; tenths <= 60; tenths++) {
            tamis_plan plan = {.struct_size = sizeof plan,
                               .kind = CONTESTANTS[i].kind,
                               .flags = CONTESTANTS[i].plan_flags,
                               .items = 1000000,
                               .k = CONTESTANTS[i].k,
                               .fpr = pow(10, -tenths / 10.0)};
            tamis_promise promise = {.struct_size = sizeof promise};
            if (CONTESTANTS[i].rate != 0) continue; /* it is not a kind of its own */
            must(tamis_solve(&plan, &promise, NULL));
            fprintf(f,
                    "%s\n  {\"kind\": \"%s\", \"rate\": %.6g, \"bits_per_item\": %.6g, "
                    "\"bound_bits\": %.6g, \"bound\": \"%s\"}",
                    comma, CONTESTANTS[i].name, promise.fpr, promise.bits_per_item,
                    promise.bound_bits,
                    promise.bound != TAMIS_BOUND_NONE ? tamis_bound_name(promise.bound) : "none");
            comma = ",";
        }
    fputc(']', f);
}

/* --- What is run ------------------------------------------------------------------------------ */

static uint64_t most_asks(const struct scene *s, unsigned way)
{
    /* Partitioning is designed for batches of 32 million. */
    const uint64_t batch = UINT64_C(1) << 25;
    return way == PARTITIONED && s->out.n >= batch ? batch : settings.most_asks;
}

/* threads is 0, or the number of threads that take their batches from an array. */
struct variant {
    unsigned way, threads;
    bool keyed, shared;
};

static void run(const struct contestant *c, const struct scene *s, double rate, struct variant v)
{
    const struct mode *way = WAYS + v.way;
    const bool whole = v.way == PARTITIONED;
    struct build build = {.plan = {.struct_size = sizeof build.plan,
                                   .kind = c->kind,
                                   .flags = c->plan_flags,
                                   /* a growing filter starts small and grows */
                                   .items = c->kind == TAMIS_GROWING ? 0 : s->in.n,
                                   .k = c->k,
                                   .fpr = c->rate != 0 ? c->rate : rate},
                          .options = {.struct_size = sizeof build.options,
                                      .key = v.keyed ? SECRET : NULL,
                                      .flags = v.shared ? TAMIS_SHARED : 0,
                                      .scratch_bytes = whole ? 0 : 1}};
    /* Planning takes the same time for any number of keys, up to milliseconds. */
    must(tamis_solve(&build.plan, NULL, NULL));
    const struct subject subject = {.open = open_filter,
                                    .prepare = way->prepare,
                                    .add = way->add,
                                    .finish = c->kind >= TAMIS_FUSE ? seal_filter : NULL,
                                    .ask = way->ask,
                                    .bytes = filter_bytes,
                                    .take = v.way == BULK && can_remove(c->kind) ? take_bulk : NULL,
                                    .close = close_filter,
                                    .about = &build};
    struct trial trial = {.subject = &subject,
                          .row = row_of(c->name, way->name, s->in.type, s->in.n),
                          .in = &s->in,
                          .out = &s->out,
                          .asks = most_asks(s, v.way),
                          .asks_only = v.threads != 0 && !v.shared,
                          .shape = {.array = v.threads != 0 || whole,
                                    .call = whole ? SIZE_MAX : BATCH,
                                    .threads = v.threads != 0 ? v.threads : 1}};
    if (s->shuffled.n != 0 && !v.keyed && v.threads == 0 && v.way <= BULK)
        trial.shuffled = &s->shuffled;
    trial.row.rate = rate;
    trial.row.keyed = v.keyed;
    trial.row.shared = v.shared;
    if (v.way != HASHES) trial.row.hash_ns = hash_cost(&s->in, v.keyed).ns;
    if (v.way == BULK || whole) measure_scratch(&build, &trial);
    measure(&trial);
}

/* Reports which combinations are worth their time: nearly all at one and ten million keys, the main
 * ones where a repetition takes seconds. */
static bool wanted(const struct contestant *c, const struct scene *s, double rate, struct variant v)
{
    const bool low = rate < 0.005, big = s->scale == 2, integers = s->in.type == INTEGERS;
    const bool main_only = c->brief && (big || s->brief);
    if (c->rate != 0 && (low || v.way != BULK)) return false;
    if (c->plain && (v.keyed || v.threads != 0 || v.way > BULK)) return false;
    if (c->plain && settings.quick && (v.way != BULK || low || s->scale != 0 || !integers))
        return false;
    if (main_only && (low || v.way > BULK || v.keyed)) return false;
    if (main_only && big && v.way == SINGLE) return false;
    if (c->plain && s->scale > 0 && (v.way != BULK || !integers)) return false;
    /* Only two of these are built with a hundred million keys, because each takes minutes. */
    if (c->plain && big && c->kind != TAMIS_CUCKOO && c->rate == 0) return false;
    if (main_only && s->brief && v.threads != 0) return false;
    if (low && (settings.quick || big) && (v.keyed || v.threads != 0)) return false;
    if (s->brief && v.way == SINGLE && (low || v.keyed || (c->brief && !integers))) return false;
    if (v.way == PARTITIONED && !(big && c->partitions)) return false;
    if (v.way == COLUMNS && (low || c->kind != TAMIS_BLOCKED || c->plan_flags != 0)) return false;
    if ((v.way == HASHES || v.threads != 0) && !integers) return false;
    return !v.shared || c->shares;
}

void measure_filters(const struct scene *s, double rate)
{
    static const struct variant variants[] = {
        {.way = SINGLE},
        {.way = BULK},
        {.way = PARTITIONED},
        {.way = HASHES},
        {.way = COLUMNS},
        {.way = SINGLE, .keyed = true},
        {.way = BULK, .keyed = true},
        {.way = BULK, .threads = 1},
        {.way = BULK, .threads = 2},
        {.way = BULK, .threads = 1, .shared = true},
        {.way = BULK, .threads = 2, .shared = true},
    };
    for (size_t i = 0; i < LENGTH(CONTESTANTS); i++)
        for (size_t j = 0; j < LENGTH(variants); j++)
            if (wanted(CONTESTANTS + i, s, rate, variants[j]))
                run(CONTESTANTS + i, s, rate, variants[j]);
}
