/* TDIGEST.*: RedisBloom's quantile sketches. Questions merge the pending observations, so the value
 * is not const even where the server knows the command as reading. */
#include "redisbloom/tdigest.h"
#include "commands.h"

#include <math.h>

#define NO_KEY "ERR T-Digest: key does not exist"
#define OVERFLOWS "ERR T-Digest: overflow detected"
#define NO_MEMORY "ERR T-Digest: allocation failed"

static enum compat_status tdigest_create(redis_ctx *ctx, uint64_t compression,
                                         struct compat_tdigest **out)
{
    struct compat_room room = redis_room(REDIS_TDIGEST);
    enum compat_status s = compat_tdigest_create(&room, compression, out);
    if (s == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room = redis_open_room(REDIS_TDIGEST);
        s = compat_tdigest_create(&room, compression, out);
    }
    return s;
}

/* Returns the error, or NULL. */
static const char *read_compression(const redis_string *s, long long *out)
{
    if (!redis_number(s, out)) return "ERR T-Digest: error parsing compression parameter";
    if (*out <= 0) return "ERR T-Digest: compression parameter needs to be a positive integer";
    return NULL;
}

int redis_tdigest_create(redis_ctx *ctx, redis_string **argv, int argc)
{
    long long compression = COMPAT_TDIGEST_COMPRESSION;
    struct compat_tdigest *t;
    if (argc != 2 && argc != 4) return redis.WrongArity(ctx);
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tdigest_type, REDIS_READ | REDIS_WRITE);
    const char *problem = open.value != NULL ? "ERR T-Digest: key already exists" : NULL;
    if (problem == NULL && argc == 4)
        problem = redis_find(argv, argc, 2, "COMPRESSION") < 0
                      ? "ERR T-Digest: wrong keyword"
                      : read_compression(argv[3], &compression);
    if (problem == NULL && !open.other_type) {
        if (tdigest_create(ctx, (uint64_t)compression, &t) != COMPAT_OK)
            problem = NO_MEMORY;
        else
            redis_set_value(&open, REDIS_TDIGEST, t);
    }
    return redis_end(ctx, &open, argv[1], problem, "tdigest.create");
}

int redis_tdigest_reset(redis_ctx *ctx, redis_string **argv, int argc)
{
    (void)argc;
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tdigest_type, REDIS_READ | REDIS_WRITE);
    if (open.value != NULL) compat_tdigest_reset(open.value);
    return redis_end(ctx, &open, argv[1], open.value == NULL ? NO_KEY : NULL, "tdigest.reset");
}

/* --- Adding ----------------------------------------------------------------------------------- */

static const char *check_values(redis_string **argv, int argc)
{
    double x;
    for (int i = 2; i < argc; i++) {
        if (redis.StringToDouble(argv[i], &x) != REDIS_OK || isnan(x))
            return "ERR T-Digest: error parsing val parameter";
        if (isinf(x)) return "ERR T-Digest: val parameter needs to be a finite number";
    }
    return NULL;
}

static const char *prepare_adds(redis_ctx *ctx, struct compat_tdigest *t, uint64_t n)
{
    struct compat_room room = redis_room(REDIS_TDIGEST);
    enum compat_status s = compat_tdigest_prepare(t, &room, n);
    if (s == COMPAT_NO_MEMORY && redis_must_obey(ctx)) {
        room = redis_open_room(REDIS_TDIGEST);
        s = compat_tdigest_prepare(t, &room, n);
    }
    return s == COMPAT_OK ? NULL : s == COMPAT_OVERFLOW ? OVERFLOWS : NO_MEMORY;
}

int redis_tdigest_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tdigest_type, REDIS_READ | REDIS_WRITE);
    const char *problem = open.value == NULL ? NO_KEY : check_values(argv, argc);
    if (problem == NULL) problem = prepare_adds(ctx, open.value, (uint64_t)argc - 2);
    for (int i = 2; i < argc && problem == NULL; i++) {
        double x = 0;
        redis.StringToDouble(argv[i], &x);
        compat_tdigest_add(open.value, x);
    }
    return redis_end(ctx, &open, argv[1], problem, "tdigest.add");
}

/* --- Merging ---------------------------------------------------------------------------------- */

struct tdigest_merge {
    int sources;
    long long compression; /* 0: the greatest of the sources */
    bool override;         /* the destination is not one of the operands */
    bool other_type;       /* a key has another type */
};

/* Reads the words of the command. If one of the two options is given, all other words are ignored,
 * as in RedisBloom. Returns the error, or NULL; *wrong_arity is set instead. */
static const char *read_merging(redis_string **argv, int argc, struct tdigest_merge *m,
                                bool *wrong_arity)
{
    long long n;
    if (!redis_number(argv[2], &n)) return "ERR T-Digest: error parsing numkeys";
    if (n <= 0) return "ERR T-Digest: numkeys needs to be a positive integer";
    *wrong_arity = n > argc - 3;
    if (*wrong_arity) return NULL;
    m->sources = (int)n;
    if (argc == m->sources + 3) return NULL;
    const int compression = redis_find(argv, argc, m->sources + 3, "COMPRESSION");
    m->override = redis_find(argv, argc, m->sources + 3, "OVERRIDE") >= 0;
    if (compression < 0) {
        if (m->override) m->compression = 0;
        return m->override ? NULL : "ERR T-Digest: wrong keyword";
    }
    *wrong_arity = compression + 1 == argc;
    return *wrong_arity ? NULL : read_compression(argv[compression + 1], &m->compression);
}

/* Calls f for the digest of every source. Returns the first error, or NULL. */
static const char *each_source(redis_ctx *ctx, redis_string **argv, struct tdigest_merge *m,
                               const char *(*f)(struct tdigest_merge *m,
                                                struct compat_tdigest *from, void *data),
                               void *data)
{
    const char *problem = NULL;
    for (int i = 3; i < m->sources + 3 && problem == NULL; i++) {
        struct redis_open open = redis_open_key(ctx, argv[i], redis_tdigest_type, REDIS_READ);
        m->other_type = open.other_type;
        problem = open.value == NULL ? NO_KEY : f(m, open.value, data);
        redis_close_key(&open);
    }
    return problem;
}

static const char *find_greatest(struct tdigest_merge *m, struct compat_tdigest *from, void *data)
{
    long long *greatest = data;
    (void)m;
    if ((long long)from->compression > *greatest) *greatest = (long long)from->compression;
    return NULL;
}

static const char *merge_source(struct tdigest_merge *m, struct compat_tdigest *from, void *data)
{
    (void)m;
    return compat_tdigest_merge(data, from) == COMPAT_OK ? NULL : OVERFLOWS;
}

/* Makes the sum of the operands. Returns the error, or NULL. */
static const char *merge_digests(redis_ctx *ctx, redis_string **argv, struct tdigest_merge *m,
                                 struct compat_tdigest *start, struct compat_tdigest **out)
{
    long long greatest = 0;
    const char *problem = each_source(ctx, argv, m, find_greatest, &greatest);
    if (problem != NULL) return problem;
    const long long compression = m->compression > 0 ? m->compression : greatest;
    if (tdigest_create(ctx, (uint64_t)compression, out) != COMPAT_OK)
        return "ERR T-Digest: allocation of destination digest failed";
    if (start != NULL && !m->override) problem = merge_source(m, start, *out);
    if (problem == NULL) problem = each_source(ctx, argv, m, merge_source, *out);
    if (problem != NULL) compat_tdigest_free(&redis_tally[REDIS_TDIGEST].memory, *out);
    return problem;
}

int redis_tdigest_merge(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (redis.IsKeysPositionRequest(ctx)) return redis_tell_merge_keys(ctx, argv, argc);
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tdigest_type, REDIS_READ | REDIS_WRITE);
    struct compat_tdigest *start = open.value, *sum;
    struct tdigest_merge m = {.compression = start == NULL ? 0 : (long long)start->compression};
    bool wrong_arity = false;
    const char *problem = NULL;
    if (!open.other_type) {
        problem = read_merging(argv, argc, &m, &wrong_arity);
        if (problem == NULL && !wrong_arity) {
            problem = merge_digests(ctx, argv, &m, start, &sum);
            open.other_type = m.other_type;
            if (problem == NULL) redis_set_value(&open, REDIS_TDIGEST, sum);
        }
    }
    if (!wrong_arity) return redis_end(ctx, &open, argv[1], problem, "tdigest.merge");
    redis_close_key(&open);
    return redis.WrongArity(ctx);
}

/* --- Questions -------------------------------------------------------------------------------- */

static int reply_end(redis_ctx *ctx, redis_string **argv, bool max)
{
    struct redis_open open;
    const struct compat_tdigest *t =
        redis_read_key(ctx, argv[1], redis_tdigest_type, NO_KEY, &open);
    if (t == NULL) return REDIS_OK;
    redis.ReplyWithDouble(ctx, compat_tdigest_count(t) == 0 ? (double)NAN : max ? t->max : t->min);
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tdigest_min(redis_ctx *ctx, redis_string **argv, int argc)
{
    (void)argc;
    return reply_end(ctx, argv, false);
}

int redis_tdigest_max(redis_ctx *ctx, redis_string **argv, int argc)
{
    (void)argc;
    return reply_end(ctx, argv, true);
}

/* A question about each argument: reads the argument, and replies if t is not NULL. Returns the
 * error, or NULL. */
typedef const char *question_function(redis_ctx *ctx, const redis_string *s,
                                      struct compat_tdigest *t, bool reverse);

static const char *ask_quantile(redis_ctx *ctx, const redis_string *s, struct compat_tdigest *t,
                                bool reverse)
{
    double q;
    (void)reverse;
    if (redis.StringToDouble(s, &q) != REDIS_OK) return "ERR T-Digest: error parsing quantile";
    if (!(q >= 0 && q <= 1)) return "ERR T-Digest: quantile should be in [0,1]";
    if (t != NULL) redis.ReplyWithDouble(ctx, compat_tdigest_quantile(t, q));
    return NULL;
}

static const char *ask_cdf(redis_ctx *ctx, const redis_string *s, struct compat_tdigest *t,
                           bool reverse)
{
    double x;
    (void)reverse;
    if (redis.StringToDouble(s, &x) != REDIS_OK || isnan(x))
        return "ERR T-Digest: error parsing cdf";
    if (t != NULL) redis.ReplyWithDouble(ctx, compat_tdigest_cdf(t, x));
    return NULL;
}

static const char *ask_rank(redis_ctx *ctx, const redis_string *s, struct compat_tdigest *t,
                            bool reverse)
{
    double x;
    if (redis.StringToDouble(s, &x) != REDIS_OK || isnan(x))
        return "ERR T-Digest: error parsing value";
    if (t != NULL) redis.ReplyWithLongLong(ctx, compat_tdigest_rank(t, x, reverse));
    return NULL;
}

static const char *ask_by_rank(redis_ctx *ctx, const redis_string *s, struct compat_tdigest *t,
                               bool reverse)
{
    long long rank;
    if (!redis_number(s, &rank)) return "ERR T-Digest: error parsing rank";
    if (rank < 0) return "ERR T-Digest: rank needs to be non negative";
    if (t != NULL) redis.ReplyWithDouble(ctx, compat_tdigest_by_rank(t, (uint64_t)rank, reverse));
    return NULL;
}

/* Replies to the question about each argument from argv[2] on, or with the first error. */
static int answer(redis_ctx *ctx, redis_string **argv, int argc, question_function *ask,
                  bool reverse)
{
    struct redis_open open;
    const char *problem = NULL;
    struct compat_tdigest *t = redis_read_key(ctx, argv[1], redis_tdigest_type, NO_KEY, &open);
    if (t == NULL) return REDIS_OK;
    for (int i = 2; i < argc && problem == NULL; i++) problem = ask(ctx, argv[i], NULL, reverse);
    if (problem != NULL) {
        redis_error(ctx, problem);
    } else {
        redis.ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++) ask(ctx, argv[i], t, reverse);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tdigest_quantile(redis_ctx *ctx, redis_string **argv, int argc)
{
    return answer(ctx, argv, argc, ask_quantile, false);
}

int redis_tdigest_cdf(redis_ctx *ctx, redis_string **argv, int argc)
{
    return answer(ctx, argv, argc, ask_cdf, false);
}

int redis_tdigest_rank(redis_ctx *ctx, redis_string **argv, int argc)
{
    return answer(ctx, argv, argc, ask_rank, false);
}

int redis_tdigest_revrank(redis_ctx *ctx, redis_string **argv, int argc)
{
    return answer(ctx, argv, argc, ask_rank, true);
}

int redis_tdigest_byrank(redis_ctx *ctx, redis_string **argv, int argc)
{
    return answer(ctx, argv, argc, ask_by_rank, false);
}

int redis_tdigest_byrevrank(redis_ctx *ctx, redis_string **argv, int argc)
{
    return answer(ctx, argv, argc, ask_by_rank, true);
}

/* Reads the two quantiles of TDIGEST.TRIMMED_MEAN. Returns the error, or NULL. */
static const char *read_cuts(redis_string **argv, double *low, double *high)
{
    if (redis.StringToDouble(argv[2], low) != REDIS_OK)
        return "ERR T-Digest: error parsing low_cut_percentile";
    if (redis.StringToDouble(argv[3], high) != REDIS_OK)
        return "ERR T-Digest: error parsing high_cut_percentile";
    if (!(*low >= 0 && *low <= 1 && *high >= 0 && *high <= 1))
        return "ERR T-Digest: low_cut_percentile and high_cut_percentile should be in [0,1]";
    if (*low >= *high)
        return "ERR T-Digest: low_cut_percentile should be lower than high_cut_percentile";
    return NULL;
}

int redis_tdigest_trimmed_mean(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    double low, high;
    (void)argc;
    struct compat_tdigest *t = redis_read_key(ctx, argv[1], redis_tdigest_type, NO_KEY, &open);
    if (t == NULL) return REDIS_OK;
    const char *problem = read_cuts(argv, &low, &high);
    if (problem != NULL)
        redis_error(ctx, problem);
    else
        redis.ReplyWithDouble(ctx, compat_tdigest_trimmed_mean(t, low, high));
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tdigest_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    (void)argc;
    const struct compat_tdigest *t =
        redis_read_key(ctx, argv[1], redis_tdigest_type, NO_KEY, &open);
    if (t == NULL) return REDIS_OK;
    redis.ReplyWithMap(ctx, 9);
    redis_field(ctx, "Compression", (long long)t->compression);
    redis_field(ctx, "Capacity", t->capacity);
    redis_field(ctx, "Merged nodes", t->merged);
    redis_field(ctx, "Unmerged nodes", t->pending);
    redis_field(ctx, "Merged weight", t->merged_weight);
    redis_field(ctx, "Unmerged weight", t->pending_weight);
    redis_field(ctx, "Observations", compat_tdigest_count(t));
    redis_field(ctx, "Total compressions", (long long)t->merges);
    /* The number of RedisBloom 2.8: two arrays of 64-bit numbers, and a pointer. */
    redis_field(ctx, "Memory usage", 16 * (long long)t->capacity + 8);
    redis_close_key(&open);
    return REDIS_OK;
}
