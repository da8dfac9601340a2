/* The Redis module behind a server that is played here (server.h): commands with any arguments,
 * damaged values at rest, chunks and images out of order, and memory that is refused. Every command
 * gets one whole reply. A saved value loads as the same bytes, also from an append-only file. Every
 * key that was added to a filter is a member, and no count is too low, whatever the filter was
 * loaded from. Quantiles are in order and within the observations. No key ever holds a private
 * filter, whose "no" is a guess. A command asks the server only a few times how much memory is
 * left. The last byte of the input chooses the server (choose_server).
 *
 * ./run fuzz redis */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "../../redis/commands.h"
#include "../../redis/native/native.h"
#include "../../redis/redisbloom/bloom.h"
#include "../../redis/redisbloom/cuckoo.h"
#include "../../redis/redisbloom/tdigest.h"
#include "feed.h"
#include "server.h"

#include <tamis/publish.h>

#define ITEMS 32u
#define MOST_STEPS 60u
#define MOST_BYTES 3000u

/* What was added to a key since nobody knows what else happened to it. */
struct known {
    uint32_t count[ITEMS];
    bool lasting; /* later adds cannot make it forget */
};
static struct known known[SERVER_KEYS];

enum { BLOOM, CUCKOO, SKETCH, TOP, NATIVE, DIGEST };

static const char *name_of(size_t key)
{
    static const char *const names[] = {"0", "1", "2", "3"};
    return names[key];
}

static const char *item_of(uint32_t i)
{
    static char text[2][24];
    static unsigned turn;
    char *to = text[turn++ % 2];
    snprintf(to, sizeof text[0], "item-%u", (unsigned)i);
    return to;
}

static void forget(size_t key)
{
    known[key] = (struct known){.lasting = true};
}

static size_t type_number(size_t key)
{
    return (size_t)(server_keys[key].type - server_types);
}

/* --- What is promised of items ---------------------------------------------------------------- */

static void check_item(size_t key, uint32_t i)
{
    const char *name = name_of(key), *item = item_of(i);
    const long long count = known[key].count[i];
    if (server_keys[key].value == NULL || count == 0) return;
    switch (type_number(key)) {
    case BLOOM: must(server_say("BF.EXISTS", name, item, NULL) == 1, "never a wrong no"); break;
    case CUCKOO: must(server_say("CF.COUNT", name, item, NULL) >= count, "never too few"); break;
    case SKETCH: must(server_say("CMS.QUERY", name, item, NULL) >= count, "never too few"); break;
    case NATIVE: must(server_say("TAMIS.HAS", name, item, NULL) == 1, "never a wrong no"); break;
    default: break;
    }
}

static void check_digest(size_t key)
{
    const struct compat_tdigest *t = server_keys[key].value;
    uint64_t added = 0;
    double last = t->min;
    for (uint32_t i = 0; i < ITEMS; i++) {
        added += known[key].count[i];
        must(known[key].count[i] == 0 || (i >= t->min && i <= t->max),
             "the range of what was added");
    }
    must(added <= (uint64_t)compat_tdigest_count(t), "never too few");
    for (unsigned i = 0; i <= 10 && compat_tdigest_count(t) > 0; i++) {
        char q[8];
        snprintf(q, sizeof q, "%u.%u", i / 10, i % 10);
        server_say("TDIGEST.QUANTILE", name_of(key), q, NULL);
        must(server_ctx.real >= last && server_ctx.real <= t->max, "quantiles in order");
        last = server_ctx.real;
    }
}

static void check_all(size_t key)
{
    if (server_keys[key].value != NULL && type_number(key) == DIGEST) check_digest(key);
    if (server_keys[key].value != NULL && type_number(key) == NATIVE) {
        const struct native *n = server_keys[key].value;
        must(tamis_probability_hashes(n->body->t, NULL, 0, 0.5, NULL, NULL) == TAMIS_EUNSUPPORTED,
             "no private filter");
    }
    for (uint32_t i = 0; i < ITEMS && known[key].lasting; i++) check_item(key, i);
}

static void create(size_t key, uint8_t how)
{
    static const char *const kinds[] = {"bloom",   "blocked", "counting",  "cuckoo",
                                        "growing", "tally",   "count-min", "partitioned"};
    const char *name = name_of(key);
    forget(key);
    if (how % 8 == 0) server_say("BF.RESERVE", name, "0.01", "10", "EXPANSION", "2", NULL);
    if (how % 8 == 1) server_say("BF.RESERVE", name, "0.3", "3", NULL);
    if (how % 8 == 2) server_say("CF.RESERVE", name, "8", "BUCKETSIZE", "2", NULL);
    if (how % 8 == 3) server_say("CF.RESERVE", name, "64", "EXPANSION", "0", NULL);
    if (how % 8 == 4) server_say("CMS.INITBYDIM", name, "16", "3", NULL);
    if (how % 16 == 5) server_say("TOPK.RESERVE", name, "3", "8", "3", "0.9", NULL);
    if (how % 16 == 13)
        server_say("TDIGEST.CREATE", name, "COMPRESSION", how < 128 ? "1" : "20", NULL);
    if (how % 8 < 6) return;
    const char *kind = kinds[how / 8 % 8];
    if (strcmp(kind, "tally") == 0 || strcmp(kind, "count-min") == 0)
        server_say("TAMIS.CREATE", name, kind, "BYTES", "3000", NULL);
    else
        server_say("TAMIS.CREATE", name, kind, "ITEMS", "20", "RATE", "0.1", NULL);
}

/* One more of an item, by the command of the key's type; a key without a value gets one. */
static void add_item(size_t key, struct feed *f)
{
    const uint8_t how = feed_byte(f);
    const uint32_t i = feed_below(f, ITEMS);
    const char *name = name_of(key), *item = item_of(i);
    if (server_keys[key].value == NULL) create(key, how);
    if (server_keys[key].value == NULL) return;
    uint32_t n = 1;
    char number[16];
    snprintf(number, sizeof number, "%u", 1 + how % 100u);
    switch (type_number(key)) {
    case BLOOM: server_say("BF.ADD", name, item, NULL); break;
    case CUCKOO: server_say("CF.ADD", name, item, NULL); break;
    case SKETCH:
        server_say("CMS.INCRBY", name, item, number, NULL);
        n = 1 + how % 100u;
        break;
    case NATIVE: server_say("TAMIS.ADD", name, item, NULL); break;
    case DIGEST: server_say("TDIGEST.ADD", name, strchr(item, '-') + 1, NULL); break;
    default: server_say("TOPK.ADD", name, item, NULL); return;
    }
    if (server_ctx.error) return;
    known[key].count[i] += n;
    check_item(key, i);
}

/* --- Any command ------------------------------------------------------------------------------ */

static redis_string *feed_argument(struct feed *f)
{
    static const char *const words[] = {"ITEMS",
                                        "CAPACITY",
                                        "ERROR",
                                        "EXPANSION",
                                        "NOCREATE",
                                        "NONSCALING",
                                        "WEIGHTS",
                                        "WITHCOUNT",
                                        "REPLACE",
                                        "BUCKETSIZE",
                                        "MAXITERATIONS",
                                        "RATE",
                                        "BYTES",
                                        "M",
                                        "K",
                                        "SEED",
                                        "CELLBITS",
                                        "GENERATIONS",
                                        "INNER",
                                        "EXCLUDED",
                                        "DELTA",
                                        "STRICT",
                                        "COMPACT",
                                        "TURNING",
                                        "TRANSFER",
                                        "CONSERVATIVE",
                                        "REMOVABLE",
                                        "bloom",
                                        "blocked",
                                        "counting",
                                        "pair",
                                        "growing",
                                        "window",
                                        "cuckoo",
                                        "fuse",
                                        "ribbon",
                                        "exact",
                                        "count-min",
                                        "count-sketch",
                                        "tally",
                                        "top",
                                        "signed-tally",
                                        "auto",
                                        "0.01",
                                        "0.5",
                                        "1e-9",
                                        "-1",
                                        "9223372036854775807",
                                        "4294967296",
                                        "nan",
                                        "inf",
                                        "SIZE",
                                        "FILTERS",
                                        "COMPRESSION",
                                        "OVERRIDE",
                                        "1e308",
                                        "-1e308"};
    char text[MOST_BYTES];
    size_t n;
    const uint8_t how = feed_byte(f);
    if (how < 60) {
        n = (size_t)snprintf(text, sizeof text, "%s", item_of(how % ITEMS));
    } else if (how < 120) {
        n = (size_t)snprintf(text, sizeof text, "%u", (unsigned)feed_bytes(f, how % 2 + 1u));
    } else if (how < 200) {
        n = (size_t)snprintf(text, sizeof text, "%s",
                             words[feed_byte(f) % (sizeof words / sizeof *words)]);
    } else if (how < 220) {
        n = (size_t)snprintf(text, sizeof text, "%s", name_of(how % SERVER_KEYS));
    } else {
        n = feed_bytes(f, how < 245 ? 1 : 2);
        if (n > f->left) n = f->left;
        if (n > sizeof text) n = sizeof text;
        memcpy(text, f->p, n);
        f->p += n;
        f->left -= n;
    }
    return server_string(NULL, text, n);
}

/* With a small maxmemory, values have a few blocks of a mebibyte, for which the server is asked. */
#define SMALL ((size_t)4 << 20)
static bool small_server;

static void choose_server(uint8_t how)
{
    server_is_old(how % 2 != 0);
    small_server = (how & 6) == 6;
    redis_settings.max_bytes = small_server ? 7 << 19 : 1 << 18;
}

/* The server writes all of INFO for an answer, which takes long. Filters have at most three blocks
 * for which it is asked; a header is counted before it is taken. */
static void check_questions(const char *name)
{
    if (strncasecmp(name, "BF.", 3) != 0 && strncasecmp(name, "CF.", 3) != 0) return;
    const unsigned most = strcasecmp(name + 3, "LOADCHUNK") == 0 ? 2 : 5;
    must(server_infos <= most, "few questions for memory");
}

static void run_any(size_t key, struct feed *f)
{
    redis_string *args[SERVER_ARGS];
    const redis_command *c = &server_commands[feed_byte(f) % server_n_commands];
    const int least = c->arity > 0 ? c->arity : -c->arity;
    const int n = c->arity > 0 ? least : least + (int)feed_below(f, SERVER_ARGS - (uint32_t)least);
    args[0] = server_string(NULL, c->name, strlen(c->name));
    args[1] = server_string(NULL, name_of(key), 1);
    for (int i = 2; i < n; i++) args[i] = feed_argument(f);
    if (feed_byte(f) >= 240) server_allocs = feed_byte(f) % 16;
    server_max = small_server ? SMALL : 0;
    server_run(c, args, n);
    server_allocs = -1;
    server_max = 0;
    check_questions(c->name);
    if (!c->writes) return;
    forget(key);
    /* Windows forget and pairs may miss: what a stranger has made lasts for no longer than it takes
     * to ask. */
    known[key].lasting = server_keys[key].value == NULL || type_number(key) != NATIVE;
    check_all(key);
}

/* --- At rest ---------------------------------------------------------------------------------- */

static redis_io saved(size_t key)
{
    redis_io io = {.n = 0};
    server_keys[key].type->m.rdb_save(&io, server_keys[key].value);
    return io;
}

static bool same_bytes(redis_io a, redis_io b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* Loads bytes of exactly their size as a value of that type into a key. False: they were
 * refused. */
static bool load(size_t key, redis_type *type, const uint8_t *p, size_t n, int encver)
{
    uint8_t *exact = malloc(n > 0 ? n : 1);
    must(exact != NULL, "memory");
    if (n > 0) memcpy(exact, p, n);
    redis_io in = {.p = exact, .n = n};
    void *value = type->m.rdb_load(&in, encver);
    free(exact);
    if (value == NULL) return false;
    set_value(&server_keys[key], type, value);
    return true;
}

/* Whatever has led to the value of a key, a server can start with it. */
static void check_rest(size_t key)
{
    if (server_keys[key].value == NULL) return;
    redis_type *type = server_keys[key].type;
    redis_io before = saved(key);
    must(load(key, type, before.p, before.n, type->encver), "what is saved can be loaded");
    redis_io after = saved(key);
    must(same_bytes(before, after), "and is the same");
    free(before.p);
    free(after.p);
}

/* A value of a key, as it is or damaged, becomes that of another. */
static void restore(size_t key, size_t to, struct feed *f)
{
    if (server_keys[key].value == NULL) return;
    redis_type *type = server_keys[key].type;
    redis_io io = saved(key);
    const uint8_t damages = feed_byte(f) % 8;
    const struct known before = known[key];
    int encver = type->encver;
    for (uint8_t i = 0; i < damages; i++) {
        const uint8_t how = feed_byte(f);
        const size_t at = feed_bytes(f, 2) % io.n;
        if (how == 255)
            encver = (int)(at % 8);
        else if (how >= 250)
            io.n = at + 1;
        else if (how >= 128)
            io.p[at] = (uint8_t)feed_byte(f);
        else
            io.p[at] ^= (uint8_t)(1u << how % 8);
    }
    if (feed_byte(f) >= 250) server_allocs = feed_byte(f) % 8;
    const bool refusing = server_allocs >= 0;
    const bool good = load(to, type, io.p, io.n, encver);
    server_allocs = -1;
    must(good || damages > 0 || refusing, "what was saved can be loaded");
    if (good) {
        redis_io again = saved(to);
        must(damages > 0 || same_bytes(io, again), "the same bytes");
        /* What was let in is as good as any other. */
        must(load(to, type, again.p, again.n, type->encver), "and can be loaded again");
        free(again.p);
        forget(to);
        known[to].lasting = type_number(to) != NATIVE;
        if (damages == 0) known[to] = before;
        check_all(to);
    }
    free(io.p);
}

static void load_any(size_t key, struct feed *f)
{
    redis_type *type = &server_types[feed_byte(f) % SERVER_TYPES];
    size_t n = feed_bytes(f, 2);
    if (n > f->left) n = f->left;
    const uint8_t *from = f->p; /* the first byte is the version, too */
    const int encver = feed_byte(f) < 200 ? type->encver : 1;
    if (load(key, type, from, n, encver)) {
        forget(key);
        known[key].lasting = type_number(key) != NATIVE;
        check_all(key);
    }
    f->p += n < f->left ? n : f->left;
    f->left -= n < f->left ? n : f->left;
}

/* A piece is looked for link by link, so that all pieces of a long chain take too long here. */
static bool is_long(size_t key)
{
    const void *value = server_keys[key].value;
    const uint32_t most = 8192;
    if (value == NULL || type_number(key) > CUCKOO) return false;
    return type_number(key) == BLOOM ? ((const struct compat_bloom *)value)->links > most
                                     : ((const struct compat_cuckoo *)value)->links > most;
}

/* Far beyond those of any filter that a command of two kilobytes can make. */
#define MOST_CHUNKS 65536u

/* SCANDUMP and LOADCHUNK, whole or with damage. */
static void dump_chunks(size_t key, size_t to, struct feed *f)
{
    if (server_keys[key].value == NULL || key == to || type_number(key) > CUCKOO || is_long(key))
        return;
    const bool bloom = type_number(key) == BLOOM;
    const uint8_t damage = feed_byte(f);
    bool harmed = false;
    char iterator[24] = "0";
    drop_key(to);
    forget(to);
    for (unsigned i = 0;; i++) {
        must(i < MOST_CHUNKS, "a dump ends");
        const long long next =
            server_say(bloom ? "BF.SCANDUMP" : "CF.SCANDUMP", name_of(key), iterator, NULL);
        if (next <= 0) break;
        redis_string *args[4];
        args[0] = server_string(NULL, "LOADCHUNK", 9);
        args[1] = server_string(NULL, name_of(to), 1);
        args[2] = server_printf(NULL, "%lld", next);
        args[3] = server_string(NULL, (const char *)server_ctx.text, server_ctx.text_size);
        if (damage < 128 && args[3]->n > 0 && feed_byte(f) < 128) {
            args[3]->p[feed_bytes(f, 2) % args[3]->n] ^= (char)(1 + feed_byte(f) % 255);
            harmed = true;
        }
        server_run(server_command(bloom ? "BF.LOADCHUNK" : "CF.LOADCHUNK"), args, 4);
        must(harmed || !server_ctx.error, "what was dumped can be loaded");
        snprintf(iterator, sizeof iterator, "%lld", next);
    }
    if (harmed || server_keys[to].value == NULL) return;
    redis_io a = saved(key), b = saved(to);
    must(same_bytes(a, b), "the same filter from its chunks");
    free(a.p);
    free(b.p);
    known[to] = known[key];
}

static void rewrite(size_t key, size_t to)
{
    if (server_keys[key].value == NULL || key == to || is_long(key)) return;
    redis_type *type = server_keys[key].type;
    redis_io io = {.type = type, .into = to};
    redis_string *name = server_string(NULL, name_of(key), 1);
    drop_key(to);
    server_flags = REDIS_CTX_LOADING;
    type->m.aof_rewrite(&io, name, server_keys[key].value);
    server_flags = 0;
    server_free_string(NULL, name);
    must(server_keys[to].value != NULL, "a value from the append-only file");
    redis_io a = saved(key), b = saved(to);
    must(same_bytes(a, b), "and the same");
    free(a.p);
    free(b.p);
    known[to] = known[key];
}

/* What is in a key is in another as well, where their shapes are equal. */
static void merge(size_t key, size_t to)
{
    static const char *const names[] = {"BF.MERGE",     "", "CMS.MERGE", "", "TAMIS.MERGE",
                                        "TDIGEST.MERGE"};
    if (server_keys[key].value == NULL || server_keys[to].value == NULL || key == to) return;
    const size_t type = type_number(key);
    if (server_keys[to].type != server_keys[key].type || names[type][0] == '\0') return;
    const char *from = name_of(key), *into = name_of(to);
    if (type == SKETCH)
        server_say(names[type], into, "2", into, from, NULL);
    else if (type == DIGEST)
        server_say(names[type], into, "1", from, NULL);
    else
        server_say(names[type], into, from, NULL);
    if (server_ctx.error) return;
    for (uint32_t i = 0; i < ITEMS; i++) known[to].count[i] += known[key].count[i];
    known[to].lasting = known[to].lasting && known[key].lasting;
    check_all(to);
}

/* --- What a server does besides --------------------------------------------------------------- */

static uint64_t digest_of(size_t key)
{
    redis_digest d = {0};
    server_keys[key].type->m.digest(&d, server_keys[key].value);
    return d.sum;
}

static void housekeep(size_t key, size_t to)
{
    if (server_keys[key].value == NULL) return;
    const redis_type *type = server_keys[key].type;
    redis_defrag moving = {0};
    const uint64_t before = digest_of(key);
    must(type->m.mem_usage2(NULL, server_keys[key].value, 5) > 0, "it takes some memory");
    type->m.free_effort2(NULL, server_keys[key].value);
    if (type->m.defrag != NULL) type->m.defrag(&moving, NULL, &server_keys[key].value);
    must(digest_of(key) == before, "the same after it was moved");
    if (key == to) return;
    void *copy = type->m.copy2(NULL, server_keys[key].value);
    must(copy != NULL, "a copy");
    set_value(&server_keys[to], server_keys[key].type, copy);
    must(digest_of(to) == before, "a copy is the same");
    known[to] = known[key];
}

static void step(struct feed *f)
{
    const uint8_t what = feed_byte(f), keys = feed_byte(f);
    const size_t key = keys % SERVER_KEYS, to = keys / SERVER_KEYS % SERVER_KEYS;
    if (what < 90)
        run_any(key, f);
    else if (what < 160)
        add_item(key, f);
    else if (what < 190)
        restore(key, to, f);
    else if (what < 205)
        load_any(key, f);
    else if (what < 220)
        dump_chunks(key, to, f);
    else if (what < 235)
        rewrite(key, to);
    else if (what < 243)
        housekeep(key, to);
    else if (what < 252)
        merge(key, to);
    else
        drop_key(key);
    if (server_keys[key].value == NULL) forget(key);
}

/* A line of arguments that is not in the notation of the table is refused, and no byte behind its
 * end is read. */
static void check_lines(void)
{
    static const char *const lines[] = {"",      "[",      "[item",       "[item ...",   "[A |",
                                        "[A | ", "[A | B", "[A |]",       "[A |B]",      "[A]]",
                                        "]",     "|",      "item | item", "unknownword", "[]"};
    static struct redis_arguments room;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *exact = strdup(lines[i]);
        must(exact != NULL && redis_arguments(exact, &room) == NULL, "a line that is refused");
        free(exact);
    }
    must(redis_arguments("key [A | B] item [item ...]", &room) != NULL, "a line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed f = {data, size};
    server_start();
    check_lines();
    choose_server(size > 0 ? data[size - 1] : 0);
    for (size_t i = 0; i < SERVER_KEYS; i++) forget(i);
    for (unsigned i = 0; i < MOST_STEPS && f.left > 0; i++) step(&f);
    for (size_t i = 0; i < SERVER_KEYS; i++) {
        check_all(i);
        check_rest(i);
        if (i > 0) rewrite(i, i - 1);
    }
    for (size_t i = 0; i < SERVER_KEYS; i++) drop_key(i);
    free(server_ctx.text);
    server_ctx.text = NULL;
    return 0;
}
