/* TOPK.*: RedisBloom's heavy hitters. */
#include "commands.h"
#include "redisbloom/top.h"

#define NO_KEY "TopK: key does not exist"
#define MOST_INCREMENT 100000

static enum compat_status topk_create(redis_ctx *ctx, const long long shape[3], double decay,
                                      struct compat_top **out)
{
    const uint32_t k = (uint32_t)shape[0], width = (uint32_t)shape[1], depth = (uint32_t)shape[2];
    struct compat_room room = redis_room(REDIS_TOP);
    enum compat_status s = compat_top_create(&room, k, width, depth, decay, out);
    if (s == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room = redis_open_room(REDIS_TOP);
        s = compat_top_create(&room, k, width, depth, decay, out);
    }
    return s;
}

/* Returns the error, or NULL. */
static const char *read_shape(redis_string **argv, int argc, long long shape[3], double *decay)
{
    static const char *const problems[] = {"TopK: invalid k", "TopK: invalid width",
                                           "TopK: invalid depth"};
    for (int i = 0; i < (argc == 3 ? 1 : 3); i++)
        if (!redis_number(argv[2 + i], &shape[i]) || shape[i] < 1 || shape[i] > UINT32_MAX)
            return problems[i];
    if (argc == 6 &&
        (redis.StringToDouble(argv[5], decay) != REDIS_OK || !(*decay > 0 && *decay <= 1)))
        return "TopK: invalid decay value. must be '<= 1' & '> 0'";
    return NULL;
}

int redis_topk_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    long long shape[3] = {0, 8, 7};
    double decay = 0.9;
    struct compat_top *t;
    if (argc != 3 && argc != 6) return redis.WrongArity(ctx);
    struct redis_open open = redis_open_key(ctx, argv[1], redis_top_type, REDIS_READ | REDIS_WRITE);
    const char *problem = open.other_type || open.value != NULL
                              ? "TopK: key already exists"
                              : read_shape(argv, argc, shape, &decay);
    if (problem == NULL && topk_create(ctx, shape, decay, &t) != COMPAT_OK)
        problem = "ERR Insufficient memory to create topk data structure";
    if (problem != NULL) {
        redis_error(ctx, problem);
    } else {
        redis_set_value(&open, REDIS_TOP, t);
        redis_done(ctx, "topk.reserve", argv[1]);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* Reports whether all increments are in their range. */
static bool increments_are_good(redis_string **argv, int argc)
{
    long long n;
    for (int i = 3; i < argc; i += 2)
        if (!redis_number(argv[i], &n) || n < 0 || n > MOST_INCREMENT) return false;
    return true;
}

/* Adds one item and replies with the item that it expelled. Returns whether it was counted. */
static bool topk_add_one(redis_ctx *ctx, struct compat_top *t, const redis_string *item,
                         long long n)
{
    struct compat_room room = redis_room(REDIS_TOP);
    const tamis_bytes b = redis_bytes(item);
    struct compat_top_item expelled;
    enum compat_status s = compat_top_add(t, &room, b.p, b.len, (uint32_t)n, &expelled);
    if (s == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room = redis_open_room(REDIS_TOP);
        s = compat_top_add(t, &room, b.p, b.len, (uint32_t)n, &expelled);
    }
    if (s != COMPAT_OK)
        redis_error(ctx, "ERR Insufficient memory");
    else if (expelled.item == NULL)
        redis.ReplyWithNull(ctx);
    else
        redis.ReplyWithStringBuffer(ctx, expelled.item, expelled.len);
    compat_free(room.memory, expelled.item);
    return s == COMPAT_OK;
}

static void topk_add_items(redis_ctx *ctx, struct compat_top *t, redis_string **argv, int argc,
                           int step)
{
    struct redis_effects e = redis_effects_new(argc - 2);
    redis.ReplyWithArray(ctx, (argc - 2) / step);
    for (int i = 2; i < argc; i += step) {
        long long n = 1;
        if (step == 2) redis_number(argv[i + 1], &n);
        if (!topk_add_one(ctx, t, argv[i], n)) continue;
        for (int j = 0; j < step; j++) redis_effects_add(&e, argv[i + j]);
    }
    if (e.n == (size_t)(argc - 2) || (e.n > 0 && e.items == NULL))
        redis.ReplicateVerbatim(ctx);
    else if (e.n > 0)
        redis.Replicate(ctx, step == 2 ? "TOPK.INCRBY" : "TOPK.ADD", "sv", argv[1], e.items, e.n);
    if (e.n > 0) redis_notify(ctx, step == 2 ? "topk.incrby" : "topk.add", argv[1]);
    redis_effects_free(&e);
}

/* Adds the items from argv[2] on, each followed by its increment if step is 2. Replies with the
 * item that each one expelled. */
static int topk_add(redis_ctx *ctx, redis_string **argv, int argc, int step)
{
    struct redis_open open = redis_open_key(ctx, argv[1], redis_top_type, REDIS_READ | REDIS_WRITE);
    if (open.other_type) {
        redis_wrong_type(ctx);
    } else if (open.value == NULL) {
        redis_error(ctx, NO_KEY);
    } else if (step == 2 && !increments_are_good(argv, argc)) {
        /* RedisBloom announces one element for each pair and then sends only this one, so its
         * clients wait for ever. Here the array has one element, and nothing was counted. The
         * blanks are part of the text. */
        redis.ReplyWithArray(ctx, 1);
        redis_error(ctx, "TopK: increment must be an integer greater or equal to 0"
                         "                            and smaller or equal to 100,000");
    } else {
        topk_add_items(ctx, open.value, argv, argc, step);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_topk_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    return topk_add(ctx, argv, argc, 1);
}

int redis_topk_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (argc % 2 != 0) return redis.WrongArity(ctx);
    return topk_add(ctx, argv, argc, 2);
}

static void reply_listed(redis_ctx *ctx, const void *value, tamis_bytes item)
{
    redis.ReplyWithBool(ctx, compat_top_has(value, item.p, item.len));
}

int redis_topk_query(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_items(ctx, argv, argc, redis_top_type, NO_KEY, reply_listed);
}

static void topk_reply_count(redis_ctx *ctx, const void *value, tamis_bytes item)
{
    redis.ReplyWithLongLong(ctx, compat_top_count(value, item.p, item.len));
}

int redis_topk_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_items(ctx, argv, argc, redis_top_type, NO_KEY, topk_reply_count);
}

/* RedisBloom accepts any prefix of the word, even an empty one. */
static bool is_withcount(const redis_string *s)
{
    const char word[] = "WITHCOUNT";
    const tamis_bytes b = redis_bytes(s);
    char start[sizeof word] = {0};
    if (b.len >= sizeof word) return false;
    memcpy(start, word, b.len);
    return redis_is(s, start);
}

int redis_topk_list(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    if (argc > 3) return redis.WrongArity(ctx);
    if (argc == 3 && !is_withcount(argv[2])) return redis_error(ctx, "WITHCOUNT keyword expected");
    const struct compat_top *t = redis_read_key(ctx, argv[1], redis_top_type, NO_KEY, &open);
    if (t == NULL) return REDIS_OK;
    const struct compat_top_item **list = redis_memory.alloc(NULL, t->k * sizeof *list);
    if (list == NULL) {
        redis_error(ctx, "ERR Insufficient memory");
    } else {
        const size_t n = compat_top_list(t, list);
        redis.ReplyWithArray(ctx, (long)(argc == 3 ? 2 * n : n));
        for (size_t i = 0; i < n; i++) {
            redis.ReplyWithStringBuffer(ctx, list[i]->item, list[i]->len);
            if (argc == 3) redis.ReplyWithLongLong(ctx, list[i]->count);
        }
        redis_memory.free(NULL, list);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_topk_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    (void)argc;
    const struct compat_top *t = redis_read_key(ctx, argv[1], redis_top_type, NO_KEY, &open);
    if (t == NULL) return REDIS_OK;
    redis.ReplyWithMap(ctx, 4);
    redis_field(ctx, "k", t->k);
    redis_field(ctx, "width", t->width);
    redis_field(ctx, "depth", t->depth);
    redis.ReplyWithSimpleString(ctx, "decay");
    redis.ReplyWithDouble(ctx, t->decay);
    redis_close_key(&open);
    return REDIS_OK;
}
