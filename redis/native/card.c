/* TAMIS.CARD: the number of distinct items of a key, or of the union of several. */
#include "native.h"

#include "../commands.h"

#include <tamis/distinct.h>

#include <math.h>

/* Counts the keys of a command. The union is formed in a copy of the first structure, so a command
 * takes the memory of one more structure, whatever the number of keys. */
struct card {
    struct redis_open first;
    const tamis *one; /* the structure of the first key that exists */
    tamis *sum;       /* the union; NULL as long as `one` is all there is */
};

/* Merges another structure. Returns false, with the reason, if that is impossible. */
static bool unite(struct card *c, const tamis *t, tamis_error *why)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    if (t == c->one) return true;
    if (c->sum == NULL) {
        /* A structure that cannot be counted is refused before it is copied. */
        tamis_stat(c->one, &f);
        if (f.kind != TAMIS_DISTINCT && tamis_distinct(c->one, &n, why) != TAMIS_OK) return false;
        if (tamis_copy(c->one, &c->sum, why) != TAMIS_OK) return false;
        tamis_limit(c->sum, REDIS_OPEN_BYTES);
    }
    return tamis_merge(c->sum, t, why) == TAMIS_OK;
}

/* Opens a key and includes its structure. A missing key is empty. Returns false after an error
 * reply. */
static bool include(redis_ctx *ctx, struct card *c, redis_string *key)
{
    tamis_error why;
    bool good = true;
    struct redis_open open = redis_open_key(ctx, key, redis_tamis_type, REDIS_READ);
    if (open.other_type) {
        good = false;
        redis_wrong_type(ctx);
    } else if (open.value != NULL) {
        const tamis *t = ((struct native *)open.value)->body->t;
        if (c->one == NULL) {
            c->one = t;
            c->first = open;
            return true; /* stays open */
        }
        good = unite(c, t, &why);
        if (!good) native_say(ctx, why.text);
    }
    redis_close_key(&open);
    return good;
}

static void reply_number(redis_ctx *ctx, double x)
{
    redis.ReplyWithLongLong(ctx, x < 0x1p63 ? (long long)x : INT64_MAX);
}

static void reply_card(redis_ctx *ctx, const struct card *c, bool interval)
{
    tamis_error why;
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    const tamis *t = c->sum != NULL ? c->sum : c->one;
    if (t != NULL && tamis_distinct(t, &n, &why) != TAMIS_OK) {
        native_say(ctx, why.text);
        return;
    }
    if (!isfinite(n.value)) {
        native_say(ctx, "the filter is too full to be counted");
        return;
    }
    if (interval) redis.ReplyWithArray(ctx, 3);
    reply_number(ctx, round(n.value));
    if (!interval) return;
    reply_number(ctx, floor(n.low));
    reply_number(ctx, ceil(n.high));
}

int redis_tamis_card(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct card c = {0};
    bool good = true;
    /* The key of the shortest command may have any name. */
    const bool interval = argc > 2 && redis_is(argv[argc - 1], "WITHINTERVAL");
    const int end = argc - interval;
    if (redis.IsKeysPositionRequest(ctx)) {
        for (int i = 1; i < end; i++) redis.KeyAtPosWithFlags(ctx, i, REDIS_KEY_READ);
        return REDIS_OK;
    }
    for (int i = 1; i < end && good; i++) good = include(ctx, &c, argv[i]);
    if (good) reply_card(ctx, &c, interval);
    if (c.sum != NULL) tamis_close(c.sum);
    redis_close_key(&c.first);
    return REDIS_OK;
}
