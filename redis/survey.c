/* The survey: which key is the biggest, how many filters are overfull, how many counters are
 * saturated. Types know nothing of names, and a change of one value says nothing about the others,
 * so these figures need a look at every key. INFO starts a survey, unless the last one ended less
 * than its own duration ago; a server that nobody monitors never runs one. A timer then visits a
 * limited number of keys at a time, so that the server answers its clients in between. */
#include "module.h"

#include <stdio.h>

/* A visit takes about half a microsecond, so a survey takes a twentieth of the server's time, and
 * sees a hundred thousand keys in two to four seconds. */
#define VISITS 1000
#define PAUSE_MS 10
/* Reading so many bytes of a value takes about as long as a visit. */
#define VISIT_BYTES 64

static struct {
    redis_ctx *ctx; /* for timers that no command starts */
    redis_cursor *cursor;
    bool running;
    int db;
    int visits;               /* left in this turn */
    long long started, pause; /* when it started; how long to wait before the next */
    struct redis_survey now, last;
} survey;

/* Keeps printable characters of ASCII and writes all others, quotes and backslashes as \xNN, so
 * that a name cannot end its line in INFO. */
static void escape(const redis_string *name, char *out, size_t size)
{
    const tamis_bytes b = redis_bytes(name);
    size_t n = 0;
    for (size_t i = 0; i < b.len; i++) {
        const unsigned char c = ((const unsigned char *)b.p)[i];
        const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
        if (n + (plain ? 1 : 4) + sizeof "..." > size) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        n += (size_t)snprintf(out + n, size - n, plain ? "%c" : "\\x%02x", c);
    }
    out[n] = '\0';
}

static void visit(redis_ctx *ctx, redis_string *name, redis_key *key, void *data)
{
    struct redis_survey *s = &survey.now;
    (void)ctx, (void)data;
    survey.visits--;
    if (key == NULL || redis.KeyType(key) != REDIS_KEY_MODULE) return;
    const redis_type *type = redis.ModuleTypeGetType(key);
    for (int i = 0; i < REDIS_TYPE_COUNT; i++) {
        if (redis_tally[i].type != type) continue;
        const void *value = redis.ModuleTypeGetValue(key);
        const uint64_t bytes = redis_tally[i].usage(NULL, value, 0);
        struct redis_verdict v = {0};
        if (redis_tally[i].judge != NULL) redis_tally[i].judge(value, &v);
        survey.visits -= (int)(v.read < VISITS * VISIT_BYTES ? v.read / VISIT_BYTES : VISITS);
        s->overfull += v.overfull;
        s->saturated += v.saturated;
        s->unread += v.unread;
        if (bytes <= s->bytes) continue;
        s->bytes = bytes;
        s->db = survey.db;
        s->type = (enum redis_type_name)i;
        escape(name, s->key, sizeof s->key);
    }
}

static void end_survey(void)
{
    survey.now.number = survey.last.number + 1;
    survey.now.ended = redis.Milliseconds();
    survey.pause = survey.now.ended - survey.started;
    survey.last = survey.now;
    survey.running = false;
}

static void survey_turn(redis_ctx *ctx, void *data)
{
    (void)data;
    survey.visits = VISITS;
    while (survey.visits > 0) {
        if (redis.SelectDb(ctx, survey.db) != REDIS_OK) {
            end_survey();
            return;
        }
        survey.visits--; /* for an empty part of the table */
        if (redis.Scan(ctx, survey.cursor, visit, NULL) == 0) {
            redis.ScanCursorRestart(survey.cursor);
            survey.db++;
        }
    }
    redis.CreateTimer(survey.ctx, PAUSE_MS, survey_turn, NULL);
}

const struct redis_survey *redis_survey(bool may_start)
{
    const long long now = redis.Milliseconds();
    /* If the clock was set back, the next one starts at once. */
    const bool recent = now >= survey.last.ended && now - survey.last.ended < survey.pause;
    if (may_start && !survey.running && !recent) {
        survey.running = true;
        survey.started = now;
        survey.now = (struct redis_survey){0};
        survey.db = 0;
        redis.ScanCursorRestart(survey.cursor);
        redis.CreateTimer(survey.ctx, 0, survey_turn, NULL);
    }
    return &survey.last;
}

int redis_survey_load(redis_ctx *ctx)
{
    survey.ctx = redis.GetDetachedThreadSafeContext(ctx);
    survey.cursor = redis.ScanCursorCreate();
    return survey.ctx != NULL && survey.cursor != NULL ? REDIS_OK : REDIS_ERR;
}
