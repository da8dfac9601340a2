/* CF.*: RedisBloom's cuckoo filters. */
#include "commands.h"
#include "redisbloom/cuckoo.h"

#include <stdio.h>

#define NOT_FOUND "ERR not found"

struct cf_shape {
    long long capacity, bucket_size, max_iterations, expansion;
};

static struct cf_shape cf_default_shape(void)
{
    return (struct cf_shape){redis_settings.cf_initial_size, redis_settings.cf_bucket_size,
                             redis_settings.cf_max_iterations, redis_settings.cf_expansion};
}

static enum compat_status cf_create(redis_ctx *ctx, const struct cf_shape *s,
                                    struct compat_cuckoo **out)
{
    struct compat_room room = redis_room(REDIS_CUCKOO);
    for (;;) {
        const enum compat_status status =
            compat_cuckoo_create(&room, (uint64_t)s->capacity, (uint16_t)s->bucket_size,
                                 (uint16_t)s->max_iterations, (uint16_t)s->expansion, out);
        if (status != COMPAT_NO_MEMORY || room.max_bytes == REDIS_OPEN_BYTES ||
            !redis_must_obey(ctx))
            return status;
        room = redis_open_room(REDIS_CUCKOO);
    }
}

/* Includes the complete shape, because a replica may have other defaults. */
static void replicate_reserve(redis_ctx *ctx, redis_string *key, const struct cf_shape *s)
{
    redis.Replicate(ctx, "CF.RESERVE", "slclclcl", key, s->capacity, "BUCKETSIZE", s->bucket_size,
                    "MAXITERATIONS", s->max_iterations, "EXPANSION", s->expansion);
}

static enum compat_status cf_add_key(redis_ctx *ctx, struct redis_account *account,
                                     struct compat_cuckoo *c, const redis_string *item)
{
    struct compat_room room = {&account->memory, redis_room(REDIS_CUCKOO).max_bytes};
    const tamis_bytes b = redis_bytes(item);
    const uint32_t most = (uint32_t)redis_settings.cf_max_expansions;
    enum compat_status s = compat_cuckoo_add(c, &room, most, b.p, b.len);
    if ((s == COMPAT_NO_MEMORY || s == COMPAT_TOO_MANY) && redis_must_obey(ctx)) {
        room.max_bytes = REDIS_OPEN_BYTES;
        s = compat_cuckoo_add(c, &room, UINT32_MAX, b.p, b.len);
    }
    return s;
}

static const char *cf_add_problem(enum compat_status s)
{
    if (s == COMPAT_FULL) return "Filter is full";
    return s == COMPAT_TOO_MANY ? "Maximum expansions reached" : "ERR Insufficient memory";
}

/* Reads one option of CF.RESERVE and checks its range. Returns false after an error reply. */
static bool reserve_option(redis_ctx *ctx, redis_string **argv, int argc, const char *word,
                           long long min, long long max, long long *out)
{
    const int at = redis_find(argv, argc, 3, word);
    char text[100];
    if (at < 0) return true;
    if (at + 1 == argc || !redis_number(argv[at + 1], out))
        snprintf(text, sizeof text, "Couldn't parse %s", word);
    else if (*out < min || *out > max)
        snprintf(text, sizeof text, "%s: value must be in the range [%lld, %lld]", word, min, max);
    else
        return true;
    redis_error(ctx, text);
    return false;
}

int redis_cf_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct cf_shape s = cf_default_shape();
    struct compat_cuckoo *c;
    if (argc % 2 == 0) return redis.WrongArity(ctx);
    if (!redis_number(argv[2], &s.capacity)) return redis_error(ctx, "Bad capacity");
    if (!reserve_option(ctx, argv, argc, "MAXITERATIONS", 1, 65535, &s.max_iterations) ||
        !reserve_option(ctx, argv, argc, "BUCKETSIZE", 1, 255, &s.bucket_size) ||
        !reserve_option(ctx, argv, argc, "EXPANSION", 0, REDIS_MAX_EXPANSION, &s.expansion))
        return REDIS_OK;
    if (s.capacity < 2 * s.bucket_size || s.capacity > REDIS_MAX_CAPACITY)
        return redis_error(ctx, "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_cuckoo_type, REDIS_READ | REDIS_WRITE);
    if (open.other_type) {
        redis_wrong_type(ctx);
    } else if (open.value != NULL) {
        redis_error(ctx, "ERR item exists");
    } else if (cf_create(ctx, &s, &c) != COMPAT_OK) {
        redis_error(ctx, "ERR Insufficient memory to create filter");
    } else {
        redis_set_value(&open, REDIS_CUCKOO, c);
        replicate_reserve(ctx, argv[1], &s);
        redis_notify(ctx, "cf.reserve", argv[1]);
        redis_ok(ctx);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* Returns the filter to add to, created if necessary, or NULL after an error reply. */
static struct compat_cuckoo *filter_to_fill(redis_ctx *ctx, redis_string *key,
                                            const struct cf_shape *s, bool may_create,
                                            struct redis_open *open)
{
    struct compat_cuckoo *c;
    *open = redis_open_key(ctx, key, redis_cuckoo_type, REDIS_READ | REDIS_WRITE);
    if (open->value != NULL) return open->value;
    if (open->other_type) {
        redis_wrong_type(ctx);
    } else if (!may_create) {
        redis_error(ctx, NOT_FOUND);
    } else if (cf_create(ctx, s, &c) != COMPAT_OK) {
        redis_error(ctx, "ERR Insufficient memory to create filter");
    } else {
        redis_set_value(open, REDIS_CUCKOO, c);
        replicate_reserve(ctx, key, s);
        return c;
    }
    redis_close_key(open);
    return NULL;
}

/* Returns COMPAT_SEEN if the item is present and only new items are to be added. */
static enum compat_status cf_add_one(redis_ctx *ctx, struct redis_account *account,
                                     struct compat_cuckoo *c, const redis_string *item,
                                     bool only_new)
{
    const tamis_bytes b = redis_bytes(item);
    return only_new && compat_cuckoo_has(c, b.p, b.len) ? COMPAT_SEEN
                                                        : cf_add_key(ctx, account, c, item);
}

static int add_single(redis_ctx *ctx, redis_string **argv, bool only_new)
{
    const struct cf_shape shape = cf_default_shape();
    struct redis_open open;
    struct compat_cuckoo *c = filter_to_fill(ctx, argv[1], &shape, true, &open);
    if (c == NULL) return REDIS_OK;
    struct redis_account account;
    redis_open_account(&account, REDIS_CUCKOO);
    const enum compat_status s = cf_add_one(ctx, &account, c, argv[2], only_new);
    if (s == COMPAT_OK) {
        redis.Replicate(ctx, "CF.ADD", "ss", argv[1], argv[2]);
        redis_notify(ctx, "cf.add", argv[1]);
    }
    if (s == COMPAT_OK || s == COMPAT_SEEN)
        redis.ReplyWithBool(ctx, s == COMPAT_OK);
    else
        redis_error(ctx, cf_add_problem(s));
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_cf_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    (void)argc;
    return add_single(ctx, argv, false);
}

int redis_cf_addnx(redis_ctx *ctx, redis_string **argv, int argc)
{
    (void)argc;
    return add_single(ctx, argv, true);
}

static void cf_add_items(redis_ctx *ctx, struct compat_cuckoo *c, redis_string *key,
                         redis_string **items, int n, bool only_new)
{
    struct redis_effects e = redis_effects_new(n);
    struct redis_account account;
    const bool numbers = only_new || !(redis.GetContextFlags(ctx) & REDIS_CTX_RESP3);
    redis_open_account(&account, REDIS_CUCKOO);
    redis.ReplyWithArray(ctx, n);
    for (int i = 0; i < n; i++) {
        const enum compat_status s = cf_add_one(ctx, &account, c, items[i], only_new);
        if (s == COMPAT_OK) redis_effects_add(&e, items[i]);
        if (!numbers)
            redis.ReplyWithBool(ctx, s == COMPAT_OK);
        else if (s == COMPAT_OK)
            redis.ReplyWithLongLong(ctx, 1);
        else
            redis.ReplyWithLongLong(ctx, s == COMPAT_SEEN ? 0 : -1);
    }
    if (e.n > 0 && e.items != NULL)
        redis.Replicate(ctx, "CF.INSERT", "sccv", key, "NOCREATE", "ITEMS", e.items, e.n);
    else if (e.n > 0)
        redis.ReplicateVerbatim(ctx);
    if (e.n > 0) redis_notify(ctx, "cf.add", key);
    redis_effects_free(&e);
}

static int insert(redis_ctx *ctx, redis_string **argv, int argc, bool only_new)
{
    struct cf_shape shape = cf_default_shape();
    struct redis_open open;
    bool may_create = true;
    int at = 2;
    for (; at < argc; at++) {
        const tamis_bytes word = redis_bytes(argv[at]);
        const int letter = word.len > 0 ? *(const char *)word.p | 32 : 0;
        if (letter == 'i') break;
        if (letter == 'n') {
            may_create = false;
        } else if (letter == 'c') {
            if (++at == argc) return redis.WrongArity(ctx);
            if (!redis_number(argv[at], &shape.capacity)) return redis_error(ctx, "Bad capacity");
            if (shape.capacity < 2 * shape.bucket_size || shape.capacity > REDIS_MAX_CAPACITY)
                return redis_error(
                    ctx, "Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
        } else {
            return redis_error(ctx, "Unknown argument received");
        }
    }
    if (at + 1 >= argc) return redis.WrongArity(ctx);
    struct compat_cuckoo *c = filter_to_fill(ctx, argv[1], &shape, may_create, &open);
    if (c == NULL) return REDIS_OK;
    if (c->links >= redis_settings.cf_max_expansions && !redis_must_obey(ctx))
        redis_error(ctx, cf_add_problem(COMPAT_TOO_MANY));
    else
        cf_add_items(ctx, c, argv[1], argv + at + 1, argc - at - 1, only_new);
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_cf_insert(redis_ctx *ctx, redis_string **argv, int argc)
{
    return insert(ctx, argv, argc, false);
}

int redis_cf_insertnx(redis_ctx *ctx, redis_string **argv, int argc)
{
    return insert(ctx, argv, argc, true);
}

/* --- Queries ---------------------------------------------------------------------------------- */

static bool cf_has(const void *value, const void *item, size_t len)
{
    return compat_cuckoo_has(value, item, len);
}

int redis_cf_exists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_has(ctx, argv, argc, redis_cuckoo_type, cf_has, false);
}

int redis_cf_mexists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_has(ctx, argv, argc, redis_cuckoo_type, cf_has, true);
}

int redis_cf_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open = redis_open_key(ctx, argv[1], redis_cuckoo_type, REDIS_READ);
    const tamis_bytes b = redis_bytes(argv[2]);
    (void)argc;
    if (open.other_type && redis_settings.strict)
        redis_wrong_type(ctx);
    else
        redis.ReplyWithLongLong(
            ctx, open.value == NULL ? 0 : (long long)compat_cuckoo_count(open.value, b.p, b.len));
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Removal ---------------------------------------------------------------------------------- */

int redis_cf_del(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_cuckoo_type, REDIS_READ | REDIS_WRITE);
    const tamis_bytes b = redis_bytes(argv[2]);
    (void)argc;
    if (open.other_type && redis_settings.strict) {
        redis_wrong_type(ctx);
    } else if (open.value == NULL) {
        redis_error(ctx, "Not found");
    } else {
        const tamis_memory *memory = &redis_tally[REDIS_CUCKOO].memory;
        const bool gone = compat_cuckoo_remove(open.value, memory, b.p, b.len) == COMPAT_OK;
        if (gone) {
            redis.ReplicateVerbatim(ctx);
            redis_notify(ctx, "cf.del", argv[1]);
        }
        redis.ReplyWithBool(ctx, gone);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_cf_compact(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_cuckoo_type, REDIS_READ | REDIS_WRITE);
    (void)argc;
    if (open.other_type && redis_settings.strict) {
        redis_wrong_type(ctx);
    } else if (open.value == NULL) {
        redis_error(ctx, "Cuckoo filter was not found");
    } else {
        compat_cuckoo_compact(open.value, &redis_tally[REDIS_CUCKOO].memory, true);
        redis_done(ctx, "cf.compact", argv[1]);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Inspection ------------------------------------------------------------------------------- */

int redis_cf_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    (void)argc;
    const struct compat_cuckoo *c =
        redis_read_key(ctx, argv[1], redis_cuckoo_type, NOT_FOUND, &open);
    if (c == NULL) return REDIS_OK;
    redis.ReplyWithMap(ctx, 8);
    redis_field(ctx, "Size", (long long)(40 + 16 * (uint64_t)c->links + compat_cuckoo_slots(c)));
    redis_field(ctx, "Number of buckets", (long long)c->buckets);
    redis_field(ctx, "Number of filters", c->links);
    redis_field(ctx, "Number of items inserted", (long long)c->items);
    redis_field(ctx, "Number of items deleted", (long long)c->deletes);
    redis_field(ctx, "Bucket size", c->bucket_size);
    redis_field(ctx, "Expansion rate", c->expansion);
    redis_field(ctx, "Max iterations", c->max_iterations);
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_cf_debug(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    char line[300];
    (void)argc;
    const struct compat_cuckoo *c =
        redis_read_key(ctx, argv[1], redis_cuckoo_type, NOT_FOUND, &open);
    if (c == NULL) return REDIS_OK;
    const int n =
        snprintf(line, sizeof line,
                 "bktsize:%u buckets:%llu items:%llu deletes:%llu filters:%u "
                 "max_iterations:%u expansion:%u",
                 c->bucket_size, (unsigned long long)c->buckets, (unsigned long long)c->items,
                 (unsigned long long)c->deletes, c->links, c->max_iterations, c->expansion);
    redis.ReplyWithStringBuffer(ctx, line, (size_t)n);
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_cf_scandump(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    long long iterator;
    (void)argc;
    if (!redis_number(argv[2], &iterator) || iterator < 0)
        return redis_error(ctx, "Invalid position");
    const struct compat_cuckoo *c =
        redis_read_key(ctx, argv[1], redis_cuckoo_type, NOT_FOUND, &open);
    if (c == NULL) return REDIS_OK;
    uint8_t header[COMPAT_CUCKOO_HEADER];
    struct compat_chunk chunk = {header, sizeof header, 1};
    if (iterator > 0)
        chunk = compat_cuckoo_chunk(c, (uint64_t)iterator);
    else
        compat_cuckoo_header(c, header);
    /* RedisBloom sends no data for an empty filter. */
    if (c->items == 0) chunk = (struct compat_chunk){NULL, 0, 0};
    redis.ReplyWithArray(ctx, 2);
    redis.ReplyWithLongLong(ctx, (long long)chunk.next);
    if (chunk.p == NULL)
        redis.ReplyWithNull(ctx);
    else
        redis.ReplyWithStringBuffer(ctx, (const char *)chunk.p, chunk.len);
    redis_close_key(&open);
    return REDIS_OK;
}

/* Counts a refused chunk; returns the reason. */
static const char *cf_refuse_chunk(const char *reason)
{
    redis_refused(REDIS_BY_CHUNK, "CF.LOADCHUNK", reason);
    return reason;
}

static const char *cf_load_header(redis_ctx *ctx, struct redis_open *open, tamis_bytes data)
{
    struct compat_room room = redis_room_of(ctx, REDIS_CUCKOO);
    struct redis_account account;
    struct compat_cuckoo *c;
    redis_open_account(&account, REDIS_CUCKOO);
    room.memory = &account.memory;
    if (open->value != NULL) return "ERR item exists";
    if (data.len != COMPAT_CUCKOO_HEADER) return cf_refuse_chunk("Invalid header");
    if (compat_cuckoo_from_header(&room, data.p, data.len, &c) != COMPAT_OK)
        return cf_refuse_chunk("Couldn't create filter!");
    redis_set_value(open, REDIS_CUCKOO, c);
    return NULL;
}

static const char *cf_load_piece(struct compat_cuckoo *c, long long iterator, tamis_bytes data)
{
    if (c == NULL) return NOT_FOUND;
    if (compat_cuckoo_put_chunk(c, iterator, data.p, data.len) != COMPAT_OK)
        return cf_refuse_chunk("Couldn't load chunk!");
    return NULL;
}

int redis_cf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc)
{
    long long iterator;
    (void)argc;
    if (!redis_number(argv[2], &iterator) || iterator == 0)
        return redis_error(ctx, "Invalid position");
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_cuckoo_type, REDIS_READ | REDIS_WRITE);
    const tamis_bytes data = redis_bytes(argv[3]);
    const char *problem = NULL;
    if (!open.other_type)
        problem = iterator == 1 ? cf_load_header(ctx, &open, data)
                                : cf_load_piece(open.value, iterator, data);
    return redis_end(ctx, &open, argv[1], problem, "cf.loadchunk");
}
