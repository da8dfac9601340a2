/* BF.*: RedisBloom's Bloom filters. Replies and their texts are those of RedisBloom 8. Replicas
 * receive the effect of a command, not the command itself. */
#include "commands.h"
#include "redisbloom/bloom.h"

#include <stdio.h>

#define NOT_FOUND "ERR not found"

/* The parameters of a filter to create. */
struct bf_shape {
    double error;
    long long capacity, expansion; /* the filter does not grow if expansion is 0 */
};

static struct bf_shape bf_default_shape(void)
{
    return (struct bf_shape){redis_settings.bf_error_rate, redis_settings.bf_initial_size,
                             redis_settings.bf_expansion};
}

/* Limits the error rate as RedisBloom 8 does: above a quarter, the formula's first link would
 * hardly be a filter. */
static double capped(redis_ctx *ctx, double error)
{
    if (error <= 0.25) return error;
    redis.Log(ctx, "notice", "An error rate of %g is taken as 0.25", error);
    return 0.25;
}

static enum compat_status bf_create(redis_ctx *ctx, const struct bf_shape *s,
                                    struct compat_bloom **out)
{
    struct compat_room room = redis_room(REDIS_BLOOM);
    const bool fixed = s->expansion == 0;
    const uint32_t growth = fixed ? 2 : (uint32_t)s->expansion;
    const uint64_t capacity = (uint64_t)s->capacity;
    enum compat_status status = compat_bloom_create(&room, s->error, capacity, growth, fixed, out);
    if (status == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room = redis_open_room(REDIS_BLOOM);
        status = compat_bloom_create(&room, s->error, capacity, growth, fixed, out);
    }
    return status;
}

static enum compat_status bf_add_one(redis_ctx *ctx, struct redis_account *account,
                                     struct compat_bloom *b, const redis_string *item)
{
    struct compat_room room = {&account->memory, redis_room(REDIS_BLOOM).max_bytes};
    const tamis_bytes bytes = redis_bytes(item);
    enum compat_status s = compat_bloom_add(b, &room, bytes.p, bytes.len);
    if (s == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room.max_bytes = REDIS_OPEN_BYTES;
        s = compat_bloom_add(b, &room, bytes.p, bytes.len);
    }
    return s;
}

static const char *bf_add_problem(enum compat_status s)
{
    return s == COMPAT_FULL ? "ERR non scaling filter is full"
                            : "ERR problem inserting into filter";
}

/* Reads the options of BF.RESERVE, which follow the capacity in any order. Unknown words are
 * ignored, as in RedisBloom. Returns the error, or NULL. */
static const char *reserve_options(redis_string **argv, int argc, struct bf_shape *s)
{
    const int at = redis_find(argv, argc, 4, "EXPANSION");
    const bool fixed = redis_find(argv, argc, 4, "NONSCALING") >= 0;
    if (at >= 0) {
        if (at + 1 == argc) return "ERR no expansion";
        if (!redis_number(argv[at + 1], &s->expansion)) return "ERR bad expansion";
        if (s->expansion < 0 || s->expansion > REDIS_MAX_EXPANSION)
            return "ERR expansion must be in the range [0, 32768]";
        if (fixed && s->expansion > 0) return "Nonscaling filters cannot expand";
    }
    if (fixed) s->expansion = 0;
    return NULL;
}

int redis_bf_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct bf_shape s = bf_default_shape();
    struct compat_bloom *b;
    if (argc > 7) return redis.WrongArity(ctx);
    if (redis.StringToDouble(argv[2], &s.error) != REDIS_OK)
        return redis_error(ctx, "ERR bad error rate");
    if (!(s.error > 0 && s.error < 1))
        return redis_error(ctx, "ERR error rate must be in the range (0.000000, 1.000000)");
    if (!redis_number(argv[3], &s.capacity)) return redis_error(ctx, "ERR bad capacity");
    if (s.capacity < 1 || s.capacity > REDIS_MAX_CAPACITY)
        return redis_error(ctx, "ERR capacity must be in the range [1, 1073741824]");
    const char *problem = reserve_options(argv, argc, &s);
    if (problem != NULL) return redis_error(ctx, problem);
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_bloom_type, REDIS_READ | REDIS_WRITE);
    if (open.other_type) {
        redis_wrong_type(ctx);
    } else if (open.value != NULL) {
        redis_error(ctx, "ERR item exists");
    } else {
        s.error = capped(ctx, s.error);
        if (bf_create(ctx, &s, &b) != COMPAT_OK) {
            redis_error(ctx, "ERR Insufficient memory to create filter");
        } else {
            redis_set_value(&open, REDIS_BLOOM, b);
            /* The expansion is included because a replica may have another default. */
            if (s.expansion == 0)
                redis.Replicate(ctx, "BF.RESERVE", "sssc", argv[1], argv[2], argv[3], "NONSCALING");
            else
                redis.Replicate(ctx, "BF.RESERVE", "ssscl", argv[1], argv[2], argv[3], "EXPANSION",
                                s.expansion);
            redis_notify(ctx, "bf.reserve", argv[1]);
            redis_ok(ctx);
        }
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* Sends replicas the items that were new and, if this command created the filter, its
 * parameters. */
static void replicate(redis_ctx *ctx, redis_string *key, const struct bf_shape *made,
                      const struct redis_effects *e, int items)
{
    char error[40];
    if (e->n == 0) return;
    if (e->items == NULL || (made == NULL && e->n == (size_t)items)) {
        redis.ReplicateVerbatim(ctx);
    } else if (made == NULL) {
        redis.Replicate(ctx, "BF.MADD", "sv", key, e->items, e->n);
    } else {
        snprintf(error, sizeof error, "%.17g", made->error);
        if (made->expansion == 0)
            redis.Replicate(ctx, "BF.INSERT", "sclccccv", key, "CAPACITY", made->capacity, "ERROR",
                            error, "NONSCALING", "ITEMS", e->items, e->n);
        else
            redis.Replicate(ctx, "BF.INSERT", "sclccclcv", key, "CAPACITY", made->capacity, "ERROR",
                            error, "EXPANSION", made->expansion, "ITEMS", e->items, e->n);
    }
}

/* Implements BF.ADD, BF.MADD and BF.INSERT from the first item on. */
static int bf_add_items(redis_ctx *ctx, redis_string *key, redis_string **items, int n,
                        const struct bf_shape *shape, bool may_create, bool single)
{
    struct redis_open open = redis_open_key(ctx, key, redis_bloom_type, REDIS_READ | REDIS_WRITE);
    struct compat_bloom *b = open.value;
    const struct bf_shape *made = NULL;
    if (open.other_type) {
        redis_wrong_type(ctx);
    } else if (b == NULL && !may_create) {
        redis_error(ctx, NOT_FOUND);
    } else if (b == NULL && bf_create(ctx, shape, &b) != COMPAT_OK) {
        redis_error(ctx, "ERR Insufficient memory to create filter");
        b = NULL;
    } else if (open.value == NULL) {
        redis_set_value(&open, REDIS_BLOOM, b);
        made = shape;
    }
    if (b != NULL) {
        redis_string *one[1];
        struct redis_effects e = single ? (struct redis_effects){one, 0} : redis_effects_new(n);
        struct redis_account account;
        int done = 0;
        redis_open_account(&account, REDIS_BLOOM);
        if (!single) redis.ReplyWithArray(ctx, REDIS_POSTPONED);
        /* A full filter ends the reply. If the filter only failed to grow, the remaining items
         * still get their replies. */
        for (enum compat_status s = COMPAT_OK; done < n && s != COMPAT_FULL; done++) {
            s = bf_add_one(ctx, &account, b, items[done]);
            if (s == COMPAT_OK) redis_effects_add(&e, items[done]);
            if (s == COMPAT_OK || s == COMPAT_SEEN)
                redis.ReplyWithBool(ctx, s == COMPAT_OK);
            else
                redis_error(ctx, bf_add_problem(s));
        }
        if (!single) redis.ReplySetArrayLength(ctx, done);
        replicate(ctx, key, made, &e, n);
        if (e.n > 0) redis_notify(ctx, "bf.add", key);
        if (!single) redis_effects_free(&e);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_bf_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    const struct bf_shape s = bf_default_shape();
    (void)argc;
    return bf_add_items(ctx, argv[1], argv + 2, 1, &s, true, true);
}

int redis_bf_madd(redis_ctx *ctx, redis_string **argv, int argc)
{
    const struct bf_shape s = bf_default_shape();
    return bf_add_items(ctx, argv[1], argv + 2, argc - 2, &s, true, false);
}

/* Only the first letters of the word count, as in RedisBloom. */
enum word { ITEMS, CAPACITY, ERROR_RATE, EXPANSION, NOCREATE, NONSCALING, UNKNOWN };

static enum word word_of(const redis_string *s)
{
    const tamis_bytes b = redis_bytes(s);
    const char *p = b.p;
    const char first = b.len > 0 ? (char)(p[0] | 32) : 0,
               second = b.len > 1 ? (char)(p[1] | 32) : 0;
    const char third = b.len > 2 ? (char)(p[2] | 32) : 0;
    switch (first) {
    case 'i': return ITEMS;
    case 'c': return CAPACITY;
    case 'e': return second == 'r' ? ERROR_RATE : EXPANSION;
    case 'n': return third == 'c' ? NOCREATE : NONSCALING;
    default: return UNKNOWN;
    }
}

int redis_bf_insert(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct bf_shape s = bf_default_shape();
    bool may_create = true, fixed = false;
    int at = 2;
    enum word word;
    for (; at < argc && (word = word_of(argv[at])) != ITEMS; at++) {
        const bool has_value = word == CAPACITY || word == ERROR_RATE || word == EXPANSION;
        if (has_value && ++at == argc) return redis.WrongArity(ctx);
        if (word == CAPACITY && (!redis_number(argv[at], &s.capacity) || s.capacity < 1 ||
                                 s.capacity > REDIS_MAX_CAPACITY))
            return redis_error(ctx, "Bad capacity");
        if (word == ERROR_RATE &&
            (redis.StringToDouble(argv[at], &s.error) != REDIS_OK || !(s.error > 0 && s.error < 1)))
            return redis_error(ctx, "Bad error rate");
        if (word == EXPANSION && (!redis_number(argv[at], &s.expansion) || s.expansion < 0 ||
                                  s.expansion > REDIS_MAX_EXPANSION))
            return redis_error(ctx, "Bad expansion");
        if (word == NOCREATE) may_create = false;
        if (word == NONSCALING) fixed = true;
        if (word == UNKNOWN) return redis_error(ctx, "Unknown argument received");
    }
    if (at + 1 >= argc) return redis.WrongArity(ctx);
    if (fixed) s.expansion = 0;
    s.error = capped(ctx, s.error);
    return bf_add_items(ctx, argv[1], argv + at + 1, argc - at - 1, &s, may_create, false);
}

static bool bf_has(const void *value, const void *item, size_t len)
{
    return compat_bloom_has(value, item, len);
}

int redis_bf_exists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_has(ctx, argv, argc, redis_bloom_type, bf_has, false);
}

int redis_bf_mexists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_has(ctx, argv, argc, redis_bloom_type, bf_has, true);
}

int redis_bf_card(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open = redis_open_key(ctx, argv[1], redis_bloom_type, REDIS_READ);
    const struct compat_bloom *b = open.value;
    (void)argc;
    if (open.other_type)
        redis_wrong_type(ctx);
    else
        redis.ReplyWithLongLong(ctx, b == NULL ? 0 : (long long)b->items);
    redis_close_key(&open);
    return REDIS_OK;
}

/* "Size" is what RedisBloom reports for the same filter, although its internal structures have
 * other sizes. MEMORY USAGE reports the memory that this module takes. */
static void info_field(redis_ctx *ctx, const struct compat_bloom *b, int field, bool with_name)
{
    static const char *const names[] = {"Capacity", "Size", "Number of filters",
                                        "Number of items inserted", "Expansion rate"};
    const long long values[] = {
        (long long)compat_bloom_capacity(b),
        (long long)(32 + 64 * (uint64_t)b->links + compat_bloom_cell_bytes(b)), b->links,
        (long long)b->items, b->growth};
    if (with_name) redis.ReplyWithSimpleString(ctx, names[field]);
    if (field == 4 && (b->options & REDISBLOOM_FIXED))
        redis.ReplyWithNull(ctx);
    else
        redis.ReplyWithLongLong(ctx, values[field]);
}

int redis_bf_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    static const char *const words[] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"};
    struct redis_open open;
    if (argc > 3) return redis.WrongArity(ctx);
    const struct compat_bloom *b = redis_read_key(ctx, argv[1], redis_bloom_type, NOT_FOUND, &open);
    if (b == NULL) return REDIS_OK;
    int field = 0;
    while (argc == 3 && field < 5 && !redis_is(argv[2], words[field])) field++;
    if (field == 5) {
        redis_error(ctx, "Invalid information value");
    } else if (argc == 3) {
        const bool map = (redis.GetContextFlags(ctx) & REDIS_CTX_RESP3) != 0;
        if (map)
            redis.ReplyWithMap(ctx, 1);
        else
            redis.ReplyWithArray(ctx, 1);
        info_field(ctx, b, field, map);
    } else {
        redis.ReplyWithMap(ctx, 5);
        for (field = 0; field < 5; field++) info_field(ctx, b, field, true);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_bf_debug(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    char line[300];
    (void)argc;
    const struct compat_bloom *b = redis_read_key(ctx, argv[1], redis_bloom_type, NOT_FOUND, &open);
    if (b == NULL) return REDIS_OK;
    redis.ReplyWithArray(ctx, 1 + (long)b->links);
    int n = snprintf(line, sizeof line, "size:%llu", (unsigned long long)b->items);
    redis.ReplyWithStringBuffer(ctx, line, (size_t)n);
    for (uint32_t i = 0; i < b->links; i++) {
        const struct compat_bloom_link *l = &b->link[i];
        n = snprintf(line, sizeof line,
                     "bytes:%llu bits:%llu hashes:%u hashwidth:64 capacity:%llu size:%llu ratio:%g",
                     (unsigned long long)l->bytes, (unsigned long long)l->bits, l->hashes,
                     (unsigned long long)l->capacity, (unsigned long long)l->items, l->error);
        redis.ReplyWithStringBuffer(ctx, line, (size_t)n);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_bf_scandump(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    long long iterator;
    (void)argc;
    const struct compat_bloom *b = redis_read_key(ctx, argv[1], redis_bloom_type, NOT_FOUND, &open);
    if (b == NULL) return REDIS_OK;
    if (!redis_number(argv[2], &iterator)) {
        redis_error(ctx, "Second argument must be numeric");
    } else if (iterator == 0) {
        const size_t n = compat_bloom_header_size(b);
        uint8_t *header = redis_memory.alloc(NULL, n);
        if (header == NULL) {
            redis_error(ctx, "ERR Insufficient memory");
        } else {
            compat_bloom_header(b, header);
            redis.ReplyWithArray(ctx, 2);
            redis.ReplyWithLongLong(ctx, 1);
            redis.ReplyWithStringBuffer(ctx, (const char *)header, n);
            redis_memory.free(NULL, header);
        }
    } else {
        const struct compat_chunk c = compat_bloom_chunk(b, iterator < 0 ? 0 : (uint64_t)iterator);
        redis.ReplyWithArray(ctx, 2);
        redis.ReplyWithLongLong(ctx, (long long)c.next);
        redis.ReplyWithStringBuffer(ctx, c.p == NULL ? "" : (const char *)c.p, c.len);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* Counts a refused chunk; returns the reason. */
static const char *bf_refuse_chunk(const char *reason)
{
    redis_refused(REDIS_BY_CHUNK, "BF.LOADCHUNK", reason);
    return reason;
}

static const char *bf_load_header(redis_ctx *ctx, struct redis_open *open, tamis_bytes data)
{
    struct compat_room room = redis_room_of(ctx, REDIS_BLOOM);
    struct redis_account account;
    struct compat_bloom *b;
    redis_open_account(&account, REDIS_BLOOM);
    room.memory = &account.memory;
    const enum compat_status s = compat_bloom_from_header(&room, data.p, data.len, &b);
    if (s == COMPAT_NO_MEMORY) return bf_refuse_chunk("ERR Insufficient memory to create filter");
    if (s != COMPAT_OK) return bf_refuse_chunk("ERR received bad data");
    redis_set_value(open, REDIS_BLOOM, b);
    return NULL;
}

static const char *bf_load_piece(struct compat_bloom *b, long long iterator, tamis_bytes data)
{
    switch (compat_bloom_put_chunk(b, iterator, data.p, data.len)) {
    case COMPAT_OK: return NULL;
    case COMPAT_BAD: return bf_refuse_chunk("ERR received bad data");
    case COMPAT_TOO_LONG: return bf_refuse_chunk("ERR invalid chunk - Too big for current filter");
    default: return bf_refuse_chunk("ERR invalid offset - no link found");
    }
}

int redis_bf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc)
{
    long long iterator;
    (void)argc;
    if (!redis_number(argv[2], &iterator))
        return redis_error(ctx, "ERR Second argument must be numeric");
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_bloom_type, REDIS_READ | REDIS_WRITE);
    const tamis_bytes data = redis_bytes(argv[3]);
    const char *problem = NULL;
    if (open.value != NULL)
        problem = bf_load_piece(open.value, iterator, data);
    else if (!open.other_type)
        problem = iterator == 1 ? bf_load_header(ctx, &open, data) : NOT_FOUND;
    return redis_end(ctx, &open, argv[1], problem, "bf.loadchunk");
}

/* Implements BF.MERGE, which RedisBloom lacks. Everything is checked before anything changes. */
static const char *merge_all(struct compat_bloom *into, const struct redis_open *from, int n)
{
    for (int i = 0; i < n; i++) {
        const struct compat_bloom *f = from[i].value;
        if (compat_bloom_mergeable(into, f) != COMPAT_OK)
            return "ERR the filters have different shapes: capacity, error rate, expansion and "
                   "number "
                   "of filters must be equal";
    }
    for (int i = 0; i < n; i++) compat_bloom_merge(into, from[i].value);
    return NULL;
}

int redis_bf_merge(redis_ctx *ctx, redis_string **argv, int argc)
{
    const int n = argc - 2;
    struct redis_open *from = redis_memory.alloc(NULL, (size_t)n * sizeof *from);
    if (from == NULL) return redis_error(ctx, "ERR Insufficient memory");
    struct redis_open into =
        redis_open_key(ctx, argv[1], redis_bloom_type, REDIS_READ | REDIS_WRITE);
    struct compat_bloom *made = NULL;
    const char *problem = NULL;
    bool other_type = into.other_type;
    for (int i = 0; i < n; i++) {
        from[i] = redis_open_key(ctx, argv[i + 2], redis_bloom_type, REDIS_READ);
        other_type |= from[i].other_type;
        if (from[i].value == NULL) problem = NOT_FOUND;
    }
    if (problem == NULL && !other_type && into.value == NULL) {
        made = compat_bloom_copy(&redis_tally[REDIS_BLOOM].memory, from[0].value);
        if (made == NULL) problem = "ERR Insufficient memory to create filter";
    }
    if (problem == NULL && !other_type)
        problem = merge_all(made != NULL ? made : into.value, from, n);
    if (other_type) {
        redis_wrong_type(ctx);
    } else if (problem != NULL) {
        compat_bloom_free(&redis_tally[REDIS_BLOOM].memory, made);
        redis_error(ctx, problem);
    } else {
        if (made != NULL) redis_set_value(&into, REDIS_BLOOM, made);
        redis_done(ctx, "bf.merge", argv[1]);
    }
    for (int i = 0; i < n; i++) redis_close_key(&from[i]);
    redis_close_key(&into);
    redis_memory.free(NULL, from);
    return REDIS_OK;
}
