/* The settings, which CONFIG changes and which the module also accepts as arguments: those of
 * RedisBloom, under its old names (ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS) and its new ones,
 * and those of this module.
 *
 * CONFIG knows them as bf.NAME. Redis before 8.0 and Valkey put the module's name before the
 * settings of every module. Redis 8.0 allows NAME alone, as in RedisBloom 8, and an alias; there
 * both names work. */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define DEFAULT_MAX_BYTES (8LL << 30)

struct redis_settings redis_settings = {
    .bf_error_rate = 0.01,
    .bf_initial_size = 100,
    .bf_expansion = 2,
    .cf_bucket_size = 2,
    .cf_initial_size = 1024,
    .cf_max_iterations = 20,
    .cf_expansion = 1,
    .cf_max_expansions = 32,
    .max_bytes = DEFAULT_MAX_BYTES,
};

struct number_setting {
    const char *name, *old_name;
    long long *value, min, max;
    unsigned flags;
};

static const struct number_setting numbers[] = {
    {"bf-initial-size", "INITIAL_SIZE", &redis_settings.bf_initial_size, 1, REDIS_MAX_CAPACITY, 0},
    {"bf-expansion-factor", NULL, &redis_settings.bf_expansion, 0, REDIS_MAX_EXPANSION, 0},
    {"cf-bucket-size", NULL, &redis_settings.cf_bucket_size, 1, 255, 0},
    {"cf-initial-size", NULL, &redis_settings.cf_initial_size, 2, REDIS_MAX_CAPACITY, 0},
    {"cf-max-iterations", NULL, &redis_settings.cf_max_iterations, 1, 65535, 0},
    {"cf-expansion-factor", NULL, &redis_settings.cf_expansion, 0, REDIS_MAX_EXPANSION, 0},
    {"cf-max-expansions", "CF_MAX_EXPANSIONS", &redis_settings.cf_max_expansions, 1, 65536, 0},
    {"tamis-max-bytes", NULL, &redis_settings.max_bytes, 1024, 1LL << 48, REDIS_CONFIG_MEMORY},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static long long get_number(const char *name, void *data)
{
    (void)name;
    return *((const struct number_setting *)data)->value;
}

static int set_number(const char *name, long long value, void *data, redis_string **error)
{
    const struct number_setting *s = data;
    /* The server has checked the range; only these two depend on each other. */
    const bool is_size = s->value == &redis_settings.cf_initial_size;
    const bool is_bucket = s->value == &redis_settings.cf_bucket_size;
    const long long size = is_size ? value : redis_settings.cf_initial_size;
    const long long bucket = is_bucket ? value : redis_settings.cf_bucket_size;
    if ((is_size || is_bucket) && size < 2 * bucket) {
        if (error != NULL)
            *error = redis.CreateStringPrintf(
                NULL, "Value for `%s` must leave cf-initial-size at least twice cf-bucket-size",
                name);
        return REDIS_ERR;
    }
    *s->value = value;
    return REDIS_OK;
}

/* Prints as many digits as are needed to read the same number again. */
static const char *rate_in_digits(char *out, size_t size)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, redis_settings.bf_error_rate);
        if (strtod(out, NULL) == redis_settings.bf_error_rate) break;
    }
    return out;
}

static redis_string *rate_text;

static redis_string *get_rate(const char *name, void *data)
{
    (void)name, (void)data;
    if (rate_text != NULL) redis.FreeString(NULL, rate_text);
    char text[40];
    rate_text = redis.CreateStringPrintf(NULL, "%s", rate_in_digits(text, sizeof text));
    return rate_text;
}

static int set_rate(const char *name, redis_string *value, void *data, redis_string **error)
{
    double rate;
    (void)data;
    if (redis.StringToDouble(value, &rate) != REDIS_OK || !(rate > 0 && rate < 1)) {
        if (error != NULL)
            *error = redis.CreateStringPrintf(
                NULL, "Value for `%s` must be in the range (0.000000, 1.000000)", name);
        return REDIS_ERR;
    }
    redis_settings.bf_error_rate = rate > 0.25 ? 0.25 : rate;
    return REDIS_OK;
}

static int get_strict(const char *name, void *data)
{
    (void)name, (void)data;
    return redis_settings.strict;
}

static int set_strict(const char *name, int value, void *data, redis_string **error)
{
    (void)name, (void)data, (void)error;
    redis_settings.strict = value != 0;
    return REDIS_OK;
}

static int reject_value(redis_ctx *ctx, const char *text)
{
    redis.Log(ctx, "warning", "%s", text);
    return REDIS_ERR;
}

/* Reads a number of bytes as CONFIG does: 4gb is 4 * 2^30, 4g is 4 * 10^9. */
static bool parse_bytes(const redis_string *text, long long *out)
{
    static const struct {
        const char *name;
        long long bytes;
    } units[] = {{"", 1},        {"b", 1},          {"k", 1000},       {"kb", 1LL << 10},
                 {"m", 1000000}, {"mb", 1LL << 20}, {"g", 1000000000}, {"gb", 1LL << 30}};
    const tamis_bytes b = redis_bytes(text);
    char digits[32] = {0};
    if (b.len == 0 || b.len >= sizeof digits) return false;
    memcpy(digits, b.p, b.len);
    if (strlen(digits) != b.len || digits[0] < '0' || digits[0] > '9') return false;
    char *unit;
    errno = 0;
    const long long n = strtoll(digits, &unit, 10);
    for (size_t i = 0; errno == 0 && i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].name) == 0)
            return !__builtin_mul_overflow(n, units[i].bytes, out);
    return false;
}

static int read_rate(redis_ctx *ctx, redis_string *value)
{
    double rate;
    if (redis.StringToDouble(value, &rate) != REDIS_OK)
        return reject_value(ctx, "Invalid argument for 'ERROR_RATE'");
    if (set_rate("bf-error-rate", value, NULL, NULL) != REDIS_OK)
        return reject_value(ctx, rate <= 0 ? "ERROR_RATE must be > 0" : "ERROR_RATE must be < 1");
    return REDIS_OK;
}

static int read_strict(redis_ctx *ctx, const redis_string *value)
{
    if (!redis_is(value, "yes") && !redis_is(value, "no"))
        return reject_value(ctx, "Value for `tamis-strict` must be yes or no");
    redis_settings.strict = redis_is(value, "yes");
    return REDIS_OK;
}

static int parse_setting(redis_ctx *ctx, const struct number_setting *s, bool old,
                         const redis_string *value)
{
    char text[200];
    long long n;
    const bool parsed =
        s->flags == REDIS_CONFIG_MEMORY ? parse_bytes(value, &n) : redis_number(value, &n);
    if (parsed && n >= s->min && n <= s->max) {
        *s->value = n;
        return REDIS_OK;
    }
    if (old && s->value == &redis_settings.bf_initial_size)
        return reject_value(ctx, parsed && n <= 0 ? "INITIAL_SIZE must be > 0"
                                                  : "Invalid argument for 'INITIAL_SIZE'");
    if (old) return reject_value(ctx, "CF_MAX_EXPANSIONS must be an integer >= 1");
    snprintf(text, sizeof text, "Value for `%s` must be in the range [%lld, %lld]", s->name, s->min,
             s->max);
    return reject_value(ctx, text);
}

/* Reads one name and value of the module's arguments. */
static int read_argument(redis_ctx *ctx, redis_string *name, redis_string *value)
{
    if (redis_is(name, "ERROR_RATE") || redis_is(name, "bf-error-rate"))
        return read_rate(ctx, value);
    if (redis_is(name, "tamis-strict")) return read_strict(ctx, value);
    for (size_t i = 0; i < NUMBERS; i++) {
        const struct number_setting *s = &numbers[i];
        const bool old = s->old_name != NULL && redis_is(name, s->old_name);
        if (old || redis_is(name, s->name)) return parse_setting(ctx, s, old, value);
    }
    return reject_value(ctx, "Unrecognized option");
}

static int read_arguments(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (argc == 1 && redis_bytes(argv[0]).len == 0) return REDIS_OK;
    if (argc % 2 != 0) return reject_value(ctx, "Invalid number of arguments passed");
    for (int i = 0; i < argc; i += 2)
        if (read_argument(ctx, argv[i], argv[i + 1]) != REDIS_OK) return REDIS_ERR;
    /* Checked after all arguments, so that their order does not matter. */
    if (redis_settings.cf_initial_size < 2 * redis_settings.cf_bucket_size)
        return reject_value(ctx, "cf-initial-size must be at least twice cf-bucket-size");
    return REDIS_OK;
}

/* The name to register, and the flag that belongs to it. */
struct registered {
    char name[64];
    unsigned flag;
};

static struct registered registered(const char *name)
{
    /* The version number does not decide: Valkey 8 reports 8 and refuses the flag. This function
     * was added together with the flag. */
    const bool allowed = redis.LoadDefaultConfigs != NULL;
    struct registered r = {.flag = allowed ? REDIS_CONFIG_UNPREFIXED : REDIS_CONFIG_DEFAULT};
    snprintf(r.name, sizeof r.name, r.flag != 0 ? "%s|bf.%s" : "%s", name, name);
    return r;
}

static int register_number(redis_ctx *ctx, const struct number_setting *s)
{
    const struct registered r = registered(s->name);
    return redis.RegisterNumericConfig(ctx, r.name, *s->value, s->flags | r.flag, s->min, s->max,
                                       get_number, set_number, NULL, (void *)(uintptr_t)s);
}

int redis_settings_load(redis_ctx *ctx, redis_string **argv, int argc)
{
    const struct registered rate = registered("bf-error-rate"), strict = registered("tamis-strict");
    char text[40];
    /* Arguments first: they become the default of CONFIG, which may set the value again. */
    if (read_arguments(ctx, argv, argc) != REDIS_OK) return REDIS_ERR;
    for (size_t i = 0; i < NUMBERS; i++)
        if (register_number(ctx, &numbers[i]) != REDIS_OK) return REDIS_ERR;
    if (redis.RegisterStringConfig(ctx, rate.name, rate_in_digits(text, sizeof text), rate.flag,
                                   get_rate, set_rate, NULL, NULL) != REDIS_OK ||
        redis.RegisterBoolConfig(ctx, strict.name, redis_settings.strict, strict.flag, get_strict,
                                 set_strict, NULL, NULL) != REDIS_OK)
        return REDIS_ERR;
    return redis.LoadConfigs(ctx);
}
