/* CMS.*: RedisBloom's Count-Min sketches. */
#include "commands.h"
#include "redisbloom/sketch.h"

#define NO_KEY "CMS: key does not exist"

static enum compat_status cms_create(redis_ctx *ctx, uint64_t width, uint64_t depth,
                                     struct compat_sketch **out)
{
    struct compat_room room = redis_room(REDIS_SKETCH);
    enum compat_status s = compat_sketch_create(&room, width, depth, out);
    if (s == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room = redis_open_room(REDIS_SKETCH);
        s = compat_sketch_create(&room, width, depth, out);
    }
    return s;
}

/* Reads width and depth from the arguments. Returns the error, or NULL. */
typedef const char *shape_function(redis_string **argv, uint64_t *width, uint64_t *depth);

static const char *shape_by_dim(redis_string **argv, uint64_t *width, uint64_t *depth)
{
    long long w, d;
    uint64_t product;
    if (!redis_number(argv[2], &w) || w < 1) return "CMS: invalid width";
    if (!redis_number(argv[3], &d) || d < 1) return "CMS: invalid depth";
    *width = (uint64_t)w;
    *depth = (uint64_t)d;
    if (__builtin_mul_overflow(*width, *depth, &product) || product > INT64_MAX)
        return "CMS: invalid init arguments";
    return NULL;
}

static const char *shape_by_prob(redis_string **argv, uint64_t *width, uint64_t *depth)
{
    double error, probability;
    uint64_t product;
    if (redis.StringToDouble(argv[2], &error) != REDIS_OK || !(error > 0 && error < 1))
        return "CMS: invalid overestimation value";
    if (redis.StringToDouble(argv[3], &probability) != REDIS_OK ||
        !(probability > 0 && probability < 1))
        return "CMS: invalid prob value";
    if (compat_sketch_shape(error, probability, width, depth) != COMPAT_OK ||
        __builtin_mul_overflow(*width, *depth, &product) || product > INT64_MAX)
        return "CMS: invalid init arguments";
    return NULL;
}

/* Reads CELL_SIZE of RedisBloom 8.12. Sizes other than 4 have no encoding that older versions could
 * load. */
static const char *cell_size(redis_string **argv, int argc)
{
    long long size;
    if (argc == 4) return NULL;
    if (!redis_is(argv[4], "CELL_SIZE")) return "CMS: invalid init arguments";
    if (!redis_number(argv[5], &size) || size < 1 || size > 8 || (size & (size - 1)) != 0)
        return "CMS: invalid cell size";
    return size == 4 ? NULL : "CMS: only cells of 4 bytes are supported";
}

static int init(redis_ctx *ctx, redis_string **argv, int argc, shape_function *shape)
{
    if (argc != 4 && argc != 6) return redis.WrongArity(ctx);
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_sketch_type, REDIS_READ | REDIS_WRITE);
    struct compat_sketch *s;
    uint64_t width, depth;
    const char *problem = open.other_type || open.value != NULL ? "CMS: key already exists"
                                                                : shape(argv, &width, &depth);
    if (problem == NULL) problem = cell_size(argv, argc);
    if (problem == NULL && cms_create(ctx, width, depth, &s) != COMPAT_OK)
        problem = "CMS: Insufficient memory to create the key";
    if (problem != NULL) {
        redis_error(ctx, problem);
    } else {
        redis_set_value(&open, REDIS_SKETCH, s);
        redis_done(ctx, "cms.init", argv[1]);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_cms_initbydim(redis_ctx *ctx, redis_string **argv, int argc)
{
    return init(ctx, argv, argc, shape_by_dim);
}

int redis_cms_initbyprob(redis_ctx *ctx, redis_string **argv, int argc)
{
    return init(ctx, argv, argc, shape_by_prob);
}

int redis_cms_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    long long n;
    if (argc % 2 != 0) return redis.WrongArity(ctx);
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_sketch_type, REDIS_READ | REDIS_WRITE);
    const char *problem = open.value == NULL ? NO_KEY : NULL;
    for (int i = 3; i < argc && problem == NULL; i += 2) {
        if (!redis_number(argv[i], &n))
            problem = "CMS: Cannot parse number";
        else if (n < 0)
            problem = "CMS: Number cannot be negative";
    }
    if (open.other_type) {
        redis_wrong_type(ctx);
    } else if (problem != NULL) {
        redis_error(ctx, problem);
    } else {
        redis.ReplyWithArray(ctx, (argc - 2) / 2);
        for (int i = 2; i < argc; i += 2) {
            const tamis_bytes b = redis_bytes(argv[i]);
            redis_number(argv[i + 1], &n);
            const uint32_t count = compat_sketch_add(open.value, b.p, b.len, (uint64_t)n);
            /* An error reply of a replica would raise an alarm, and on a replica a saturated
             * counter is not an error. */
            if (count == COMPAT_SKETCH_END && !redis_must_obey(ctx))
                redis_error(ctx, "CMS: INCRBY overflow");
            else
                redis.ReplyWithLongLong(ctx, count);
        }
        redis.ReplicateVerbatim(ctx);
        redis_notify(ctx, "cms.incrby", argv[1]);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

static void reply_count(redis_ctx *ctx, const void *value, tamis_bytes item)
{
    redis.ReplyWithLongLong(ctx, compat_sketch_count(value, item.p, item.len));
}

int redis_cms_query(redis_ctx *ctx, redis_string **argv, int argc)
{
    return redis_reply_items(ctx, argv, argc, redis_sketch_type, NO_KEY, reply_count);
}

int redis_cms_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    (void)argc;
    const struct compat_sketch *s = redis_read_key(ctx, argv[1], redis_sketch_type, NO_KEY, &open);
    if (s == NULL) return REDIS_OK;
    redis.ReplyWithMap(ctx, 3);
    redis_field(ctx, "width", (long long)s->width);
    redis_field(ctx, "depth", (long long)s->depth);
    redis_field(ctx, "count", (long long)s->count);
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- CMS.MERGE -------------------------------------------------------------------------------- */

/* The open sources of a merge with their weights; the arrays of n are one allocation. */
struct sources {
    struct redis_open *open;
    struct compat_sketch **sketch;
    int64_t *weight;
    int n;
};

/* Counts the sources that the arguments name. Returns the error, or NULL. */
static const char *count_sources(redis_string **argv, int argc, int *out, bool *weighted)
{
    long long n;
    if (!redis_number(argv[2], &n)) return "CMS: invalid numkeys";
    if (n < 1) return "CMS: Number of keys must be positive";
    const int at = redis_find(argv, argc, 3, "WEIGHTS");
    const long long rest = argc - 3;
    *weighted = at >= 0;
    if (at < 0 && rest != n) return "CMS: wrong number of keys";
    if (at >= 0 && (n > rest || at != n + 3 || rest != 2 * n + 1))
        return "CMS: wrong number of keys/weights";
    *out = (int)n;
    return NULL;
}

static const char *open_sources(redis_ctx *ctx, redis_string **argv, bool weighted,
                                struct sources *s, bool *other_type)
{
    for (int i = 0; i < s->n; i++) {
        long long weight = 1;
        if (weighted && !redis_number(argv[3 + s->n + 1 + i], &weight))
            return "CMS: invalid weight value";
        s->weight[i] = weight;
    }
    for (int i = 0; i < s->n; i++) {
        s->open[i] = redis_open_key(ctx, argv[3 + i], redis_sketch_type, REDIS_READ);
        s->sketch[i] = s->open[i].value;
        *other_type |= s->open[i].other_type;
        if (*other_type || s->sketch[i] == NULL) return NO_KEY;
    }
    return NULL;
}

static const char *merge(redis_ctx *ctx, redis_string **argv, int argc, struct compat_sketch *into,
                         bool *other_type)
{
    struct sources s = {0};
    bool weighted;
    const char *problem = count_sources(argv, argc, &s.n, &weighted);
    if (problem != NULL) return problem;
    const size_t n = (size_t)s.n;
    const struct compat_room room = {&redis_memory, REDIS_OPEN_BYTES};
    s.open = compat_zeros(&room, n * (sizeof *s.open + sizeof *s.sketch + sizeof *s.weight));
    if (s.open == NULL) return "ERR Insufficient memory";
    s.sketch = (struct compat_sketch **)(void *)(s.open + n);
    s.weight = (int64_t *)(void *)(s.sketch + n);
    problem = open_sources(ctx, argv, weighted, &s, other_type);
    if (problem == NULL) switch (compat_sketch_merge(into, s.sketch, s.weight, n)) {
        case COMPAT_OK: break;
        case COMPAT_MISMATCH: problem = "CMS: width/depth is not equal"; break;
        default: problem = "CMS: MERGE overflow";
        }
    for (int i = 0; i < s.n; i++) redis_close_key(&s.open[i]);
    compat_free(&redis_memory, s.open);
    return problem;
}

int redis_cms_merge(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (redis.IsKeysPositionRequest(ctx)) return redis_tell_merge_keys(ctx, argv, argc);
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_sketch_type, REDIS_READ | REDIS_WRITE);
    bool other_type = open.other_type;
    const char *problem =
        open.value == NULL ? NO_KEY : merge(ctx, argv, argc, open.value, &other_type);
    if (other_type) {
        redis_wrong_type(ctx);
    } else if (problem != NULL) {
        redis_error(ctx, problem);
    } else {
        redis_done(ctx, "cms.merge", argv[1]);
    }
    redis_close_key(&open);
    return REDIS_OK;
}
