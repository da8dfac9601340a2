/* What the module counts about its values, and the section of INFO that reports it. Counting never
 * looks at a key: the allocator of each type counts bytes, and the methods of the type count
 * values. So the numbers stay right whatever the server does with the keys, and INFO takes the same
 * time for one key as for a million. */
#include "module.h"

#include <stdio.h>

static void *tally_take(void *tally, size_t n)
{
    return redis_counted(tally, redis_memory.alloc(NULL, n));
}

static void *tally_take_zeroed(void *tally, size_t n)
{
    return redis_counted(tally, redis_memory.zeroed(NULL, n));
}

static void tally_give(void *tally, void *p)
{
    redis_memory.free(NULL, redis_uncounted(tally, p));
}

struct redis_tally redis_tally[] = {
#define TALLY(code, label)                                                                         \
    [REDIS_##code] = {.name = label,                                                               \
                      .memory = {.ctx = &redis_tally[REDIS_##code],                                \
                                 .alloc = tally_take,                                              \
                                 .free = tally_give,                                               \
                                 .zeroed = tally_take_zeroed}},
    REDIS_TYPES(TALLY)
#undef TALLY
};

void *redis_counted(struct redis_tally *tally, void *p)
{
    if (p != NULL)
        atomic_fetch_add_explicit(&tally->bytes, redis.MallocSize(p), memory_order_relaxed);
    return p;
}

void *redis_uncounted(struct redis_tally *tally, void *p)
{
    if (p != NULL)
        atomic_fetch_sub_explicit(&tally->bytes, redis.MallocSize(p), memory_order_relaxed);
    return p;
}

void *redis_value_made(enum redis_type_name name, void *value)
{
    if (value != NULL) atomic_fetch_add_explicit(&redis_tally[name].keys, 1, memory_order_relaxed);
    return value;
}

void redis_value_gone(enum redis_type_name name)
{
    atomic_fetch_sub_explicit(&redis_tally[name].keys, 1, memory_order_relaxed);
}

/* --- Refused values --------------------------------------------------------------------------- */

static struct {
    uint64_t number[REDIS_SOURCES];
    long long last; /* by redis.Milliseconds */
    char reason[200];
} refused;

void redis_refused(enum redis_source source, const char *what, const char *reason)
{
    refused.number[source]++;
    refused.last = redis.Milliseconds();
    snprintf(refused.reason, sizeof refused.reason, "%s: %s", what, reason);
}

enum redis_source redis_load_source(void)
{
    return (redis.GetContextFlags(NULL) & REDIS_CTX_LOADING) != 0 ? REDIS_BY_LOADING
                                                                  : REDIS_BY_RESTORE;
}

/* --- INFO ------------------------------------------------------------------------------------- */

static void number_field(redis_info *info, const char *name, const char *of, uint64_t value)
{
    char text[64];
    snprintf(text, sizeof text, of[0] != '\0' ? "%s_%s" : "%s", name, of);
    redis.InfoAddFieldLongLong(info, text, (long long)value);
}

static long long seconds_since(long long then)
{
    const long long passed = redis.Milliseconds() - then;
    return passed > 0 ? passed / 1000 : 0;
}

static void add_tallies(redis_info *info)
{
    unsigned long long keys[REDIS_TYPE_COUNT], bytes[REDIS_TYPE_COUNT], all_keys = 0, all_bytes = 0;
    for (int i = 0; i < REDIS_TYPE_COUNT; i++) {
        keys[i] = atomic_load_explicit(&redis_tally[i].keys, memory_order_relaxed);
        bytes[i] = atomic_load_explicit(&redis_tally[i].bytes, memory_order_relaxed);
        all_keys += keys[i];
        all_bytes += bytes[i];
    }
    number_field(info, "keys", "", all_keys);
    for (int i = 0; i < REDIS_TYPE_COUNT; i++)
        number_field(info, "keys", redis_tally[i].name, keys[i]);
    number_field(info, "bytes", "", all_bytes);
    for (int i = 0; i < REDIS_TYPE_COUNT; i++)
        number_field(info, "bytes", redis_tally[i].name, bytes[i]);
}

static void add_refused(redis_info *info)
{
    static const char *const names[] = {
        [REDIS_BY_CHUNK] = "loadchunk",
        [REDIS_BY_IMAGE] = "load",
        [REDIS_BY_RESTORE] = "restore",
        [REDIS_BY_LOADING] = "loading",
    };
    uint64_t all = 0;
    for (int i = 0; i < REDIS_SOURCES; i++) all += refused.number[i];
    number_field(info, "refused_loads", "", all);
    for (int i = 0; i < REDIS_SOURCES; i++)
        number_field(info, "refused_loads", names[i], refused.number[i]);
    if (all == 0) return;
    redis.InfoAddFieldLongLong(info, "refused_last_age_seconds", seconds_since(refused.last));
    redis.InfoAddFieldCString(info, "refused_last_reason", refused.reason);
}

/* Before the first survey has ended, these numbers are not known, and the fields are missing. */
static void add_survey(redis_info *info, const struct redis_survey *s)
{
    number_field(info, "surveys", "", s->number);
    if (s->number == 0) return;
    redis.InfoAddFieldLongLong(info, "survey_age_seconds", seconds_since(s->ended));
    number_field(info, "overfull_filters", "", s->overfull);
    number_field(info, "saturated_counters", "", s->saturated);
    number_field(info, "unread_keys", "", s->unread);
    number_field(info, "biggest_key_bytes", "", s->bytes);
    if (s->bytes == 0) return;
    redis.InfoAddFieldLongLong(info, "biggest_key_db", s->db);
    redis.InfoAddFieldCString(info, "biggest_key_type", redis_tally[s->type].name);
    redis.InfoAddFieldCString(info, "biggest_key", s->key);
}

/* The server puts the name of the module, bf, before the name of the section and of each field. */
void redis_info_report(redis_info *info, int for_crash_report)
{
    if (redis.InfoAddSection(info, "tamis") != REDIS_OK) return; /* not requested */
    add_tallies(info);
    add_refused(info);
    add_survey(info, redis_survey(!for_crash_report));
}

int redis_stats_load(redis_ctx *ctx)
{
    if (redis_survey_load(ctx) != REDIS_OK) return REDIS_ERR;
    return redis.RegisterInfoFunc(ctx, redis_info_report);
}
