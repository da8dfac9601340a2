/* The TAMIS.* commands: every kind of the library, with the library's own plans and images. */
#include "native.h"

#include "../commands.h"
#include "../words.h"

#include <stdio.h>
#include <stdlib.h>
#include <tamis/map.h>

#define NO_KEY "ERR no such key; TAMIS.CREATE creates one"

int native_say(redis_ctx *ctx, const char *text)
{
    char line[300];
    snprintf(line, sizeof line, "ERR %s", text);
    return redis_error(ctx, line);
}

uint64_t native_limit(redis_ctx *ctx)
{
    return redis_must_obey(ctx) ? REDIS_OPEN_BYTES : (uint64_t)redis_settings.max_bytes;
}

tamis *native_open(redis_ctx *ctx, redis_string *key, int mode, struct redis_open *open)
{
    *open = redis_open_key(ctx, key, redis_tamis_type, mode);
    if (open->value != NULL) return ((struct native *)open->value)->body->t;
    if (open->other_type)
        redis_wrong_type(ctx);
    else
        redis_error(ctx, NO_KEY);
    redis_close_key(open);
    return NULL;
}

#define OPEN_TO_READ(ctx, key, open) native_open(ctx, key, REDIS_READ, open)
#define OPEN_TO_WRITE(ctx, key, open) native_open(ctx, key, REDIS_READ | REDIS_WRITE, open)

/* Does the same for a command that may grow the structure, up to the current settings. */
static tamis *open_to_add(redis_ctx *ctx, redis_string *key, struct redis_open *open)
{
    tamis *t = OPEN_TO_WRITE(ctx, key, open);
    if (t != NULL) tamis_limit(t, native_limit(ctx));
    return t;
}

bool native_set(redis_ctx *ctx, struct redis_open *open, struct native_body *b)
{
    struct native *n = native_value(b);
    if (n == NULL) {
        native_say(ctx, "no memory");
        return false;
    }
    redis_set_value(open, REDIS_TAMIS, n);
    return true;
}

/* --- Creation --------------------------------------------------------------------------------- */

/* Copies a name in lower case. Returns false if it is too long for any name. */
static bool name_of(const redis_string *s, char name[static 32])
{
    const tamis_bytes b = redis_bytes(s);
    memset(name, 0, 32);
    if (b.len >= 32) return false;
    for (size_t i = 0; i < b.len; i++) {
        const char c = ((const char *)b.p)[i];
        name[i] = (char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
    }
    return true;
}

/* Finds the kind of that name, or returns false. TAMIS_AUTO is "auto". */
static bool kind_of(const redis_string *s, uint32_t *kind)
{
    char name[32];
    if (!name_of(s, name)) return false;
    *kind = tamis_kind_named(name);
    return *kind != TAMIS_AUTO || strcmp(name, "auto") == 0;
}

/* Quotes a client's word for a message of one line. Characters beyond ASCII, and the end of a long
 * word, are not shown. */
static void quote(const redis_string *s, char out[static 32])
{
    const tamis_bytes b = redis_bytes(s);
    size_t n = 0;
    out[n++] = '\'';
    for (size_t i = 0; i < b.len && i < 24; i++) {
        const char c = ((const char *)b.p)[i];
        out[n++] = c >= ' ' && c <= '~' ? c : '?';
    }
    strcpy(out + n, b.len > 24 ? "...'" : "'");
}

static void refuse_kind(redis_ctx *ctx, const redis_string *word)
{
    char text[280], quoted[32];
    quote(word, quoted);
    int used = snprintf(text, sizeof text, "unknown kind %s; the kinds are auto", quoted);
    /* Filters have kind numbers below TAMIS_COUNT_MIN, and sketches have as many from there on. */
    for (uint32_t kind = 1; kind < 2 * TAMIS_COUNT_MIN && (size_t)used < sizeof text; kind++)
        if (tamis_kind_name(kind) != NULL && kind != TAMIS_PRIVATE && kind != TAMIS_VALUE_MAP)
            used +=
                snprintf(text + used, sizeof text - (size_t)used, ", %s", tamis_kind_name(kind));
    native_say(ctx, text);
}

static bool encoding_of(const redis_string *s, uint32_t *encoding)
{
    char name[32];
    if (!name_of(s, name)) return false;
    for (*encoding = TAMIS_KEYS_TEXT; *encoding <= TAMIS_KEYS_CALLER; ++*encoding)
        if (strcmp(name, tamis_encoding_name(*encoding)) == 0) return true;
    return false;
}

/* Stores the value in the plan. Returns false if the text is not a value for the word. */
static bool set_word(tamis_plan *plan, const struct word *w, const redis_string *text)
{
    char *field = (char *)plan + w->offset;
    long long n;
    double real;
    uint64_t big;
    uint32_t small;
    switch (w->type) {
    case NUMBER:
        if (!redis_number(text, &n) || n < 0) return false;
        big = (uint64_t)n;
        memcpy(field, &big, sizeof big);
        return true;
    case SMALL:
        if (!redis_number(text, &n) || n < 0 || n > UINT32_MAX) return false;
        small = (uint32_t)n;
        memcpy(field, &small, sizeof small);
        return true;
    case REAL:
        if (redis.StringToDouble(text, &real) != REDIS_OK) return false;
        memcpy(field, &real, sizeof real);
        return true;
    case KIND:
        if (!kind_of(text, &small)) return false;
        memcpy(field, &small, sizeof small);
        return true;
    case ENCODING:
        if (!encoding_of(text, &small)) return false;
        memcpy(field, &small, sizeof small);
        return true;
    default: return false;
    }
}

/* Whether the width of keys comes next: after ENCODING fixed. */
static bool width_follows(const tamis_plan *plan, const struct word *w)
{
    return w->type == ENCODING && plan->encoding == TAMIS_KEYS_FIXED;
}

static bool refuse_value(redis_ctx *ctx, const char *word, bool is_missing)
{
    char text[100];
    snprintf(text, sizeof text, is_missing ? "%s requires a value" : "invalid value for %s", word);
    native_say(ctx, text);
    return false;
}

/* Returns false after an error reply. */
static bool read_plan(redis_ctx *ctx, redis_string **argv, int argc, tamis_plan *plan)
{
    static const struct word width = {"", SMALL, offsetof(tamis_plan, key_width)};
    char text[100];
    *plan = (tamis_plan){.struct_size = sizeof *plan};
    if (!kind_of(argv[2], &plan->kind)) {
        refuse_kind(ctx, argv[2]);
        return false;
    }
    if (plan->kind == TAMIS_VALUE_MAP) { /* no command adds values */
        native_say(ctx, "a map cannot be made here: load one that 'tamis build --kind map' made");
        return false;
    }
    for (int i = 3; i < argc; i++) {
        size_t w = 0;
        while (w < sizeof words / sizeof *words && !redis_is(argv[i], words[w].name)) w++;
        if (w == sizeof words / sizeof *words) {
            char quoted[32];
            quote(argv[i], quoted);
            snprintf(text, sizeof text, "unknown option %s of TAMIS.CREATE", quoted);
            native_say(ctx, text);
            return false;
        }
        if (words[w].type == FLAG) {
            plan->flags |= (uint32_t)words[w].offset;
        } else if (++i == argc || !set_word(plan, &words[w], argv[i])) {
            return refuse_value(ctx, words[w].name, i == argc);
        } else if (width_follows(plan, &words[w]) &&
                   (++i == argc || !set_word(plan, &width, argv[i]))) {
            return refuse_value(ctx, "ENCODING fixed", i == argc);
        }
    }
    return true;
}

int redis_tamis_create(redis_ctx *ctx, redis_string **argv, int argc)
{
    tamis_plan plan;
    tamis_error why;
    if (!read_plan(ctx, argv, argc, &plan)) return REDIS_OK;
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tamis_type, REDIS_READ | REDIS_WRITE);
    if (open.other_type || open.value != NULL) {
        redis_error(ctx, "BUSYKEY Target key name already exists.");
    } else {
        struct native_body *b = native_create(&plan, native_limit(ctx), &why);
        if (b == NULL) {
            native_say(ctx, why.text);
        } else if (native_set(ctx, &open, b)) {
            redis_done(ctx, "tamis.create", argv[1]);
        }
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Adding and querying ---------------------------------------------------------------------- */

/* Whether an add of items that were all seen has left the image as it was, so that replicas need
 * not hear of it. Other kinds count the items that they are given, or a window remembers them
 * anew. */
static bool ignores_seen(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_stat(t, &f) == TAMIS_OK && f.kind == TAMIS_DISTINCT;
}

int redis_tamis_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    bool seen;
    (void)argc;
    tamis *t = open_to_add(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    tamis_bytes item;
    tamis_error why;
    uint8_t raw[8];
    if (!native_key(t, argv[2], raw, &item, &why)) {
        redis_close_key(&open);
        return native_say(ctx, why.text);
    }
    const tamis_status s = tamis_add(t, item.p, item.len, &seen);
    if (s == TAMIS_OK) {
        if (!seen || !ignores_seen(t)) {
            redis.ReplicateVerbatim(ctx);
            redis_notify(ctx, "tamis.add", argv[1]);
        }
        redis.ReplyWithBool(ctx, !seen);
    } else {
        native_say(ctx, tamis_status_message(s));
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tamis_has(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    (void)argc;
    const tamis *t = OPEN_TO_READ(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    tamis_bytes item;
    tamis_error why;
    uint8_t raw[8];
    if (native_key(t, argv[2], raw, &item, &why))
        redis.ReplyWithBool(ctx, tamis_may_contain(t, item.p, item.len));
    else
        native_say(ctx, why.text);
    redis_close_key(&open);
    return REDIS_OK;
}

/* The items of a command, as keys of the structure, with one bit for each, in one allocation. */
struct batch {
    tamis_bytes *items;
    uint8_t *bits;
    size_t n;
};

/* False after an error reply: there is no memory, or an item cannot be a key of t. */
static bool batch_new(redis_ctx *ctx, const tamis *t, redis_string **argv, int argc, int step,
                      struct batch *b)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    tamis_stat(t, &f);
    const size_t raw = f.encoding == TAMIS_KEYS_INT64 ? 8 : 0;
    b->n = (size_t)argc / (size_t)step;
    b->items = redis_memory.alloc(NULL, b->n * (sizeof *b->items + raw) + b->n / 8 + 8);
    if (b->items == NULL) {
        native_say(ctx, "no memory");
        return false;
    }
    uint8_t *integers = (uint8_t *)(b->items + b->n);
    b->bits = integers + b->n * raw;
    memset(b->bits, 0, b->n / 8 + 1);
    for (size_t i = 0; i < b->n; i++) {
        if (f.encoding <= TAMIS_KEYS_TEXT) {
            b->items[i] = redis_bytes(argv[i * (size_t)step]);
        } else if (!native_key(t, argv[i * (size_t)step], integers + i * raw, &b->items[i], &why)) {
            native_say(ctx, why.text);
            redis_memory.free(NULL, b->items);
            return false;
        }
    }
    return true;
}

static bool batch_bit(const struct batch *b, size_t i)
{
    return (b->bits[i / 8] >> i % 8 & 1) != 0;
}

int redis_tamis_madd(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    struct batch b;
    size_t done = 0;
    tamis *t = open_to_add(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    if (batch_new(ctx, t, argv + 2, argc - 2, 1, &b)) {
        const tamis_status s = tamis_add_many(t, b.items, b.n, b.bits, &done);
        size_t seen = 0;
        if (s == TAMIS_OK) done = b.n;
        redis.ReplyWithArray(ctx, (long)(done + (s != TAMIS_OK)));
        for (size_t i = 0; i < done; i++) {
            seen += batch_bit(&b, i);
            redis.ReplyWithBool(ctx, !batch_bit(&b, i));
        }
        if (s != TAMIS_OK) native_say(ctx, tamis_status_message(s));
        const bool changed = done > 0 && (seen < done || !ignores_seen(t));
        if (changed && done == b.n)
            redis.ReplicateVerbatim(ctx);
        else if (changed)
            redis.Replicate(ctx, "TAMIS.MADD", "sv", argv[1], argv + 2, done);
        if (changed) redis_notify(ctx, "tamis.add", argv[1]);
        redis_memory.free(NULL, b.items);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tamis_mhas(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    struct batch b;
    const tamis *t = OPEN_TO_READ(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    if (batch_new(ctx, t, argv + 2, argc - 2, 1, &b)) {
        tamis_may_contain_many(t, b.items, b.n, b.bits);
        redis.ReplyWithArray(ctx, argc - 2);
        for (size_t i = 0; i < b.n; i++) redis.ReplyWithBool(ctx, batch_bit(&b, i));
        redis_memory.free(NULL, b.items);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* Adds the weights of the pairs. After a failure, exactly the pairs before the first problem are
 * added and replicated. */
static void add_weights(redis_ctx *ctx, tamis *t, redis_string **argv, const struct batch *b,
                        const int64_t *weights)
{
    tamis_error why;
    size_t done = 0;
    const tamis_status s = tamis_add_weight_many(t, b->items, weights, b->n, &done, &why);
    if (s == TAMIS_OK) {
        redis.ReplicateVerbatim(ctx);
        redis_ok(ctx);
    } else {
        if (done > 0) redis.Replicate(ctx, "TAMIS.INCRBY", "sv", argv[1], argv + 2, 2 * done);
        native_say(ctx, why.text);
    }
    if (s == TAMIS_OK || done > 0) redis_notify(ctx, "tamis.incrby", argv[1]);
}

int redis_tamis_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    struct batch b;
    if (argc % 2 != 0) return redis.WrongArity(ctx);
    tamis *t = open_to_add(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    if (batch_new(ctx, t, argv + 2, argc - 2, 2, &b)) {
        int64_t *weights = redis_memory.alloc(NULL, b.n * sizeof *weights);
        size_t good = 0;
        long long weight;
        for (; weights != NULL && good < b.n && redis_number(argv[2 * good + 3], &weight); good++)
            weights[good] = weight;
        if (weights == NULL)
            native_say(ctx, "no memory");
        else if (good < b.n)
            redis_error(ctx, "ERR value is not an integer or out of range");
        else
            add_weights(ctx, t, argv, &b, weights);
        if (weights != NULL) redis_memory.free(NULL, weights);
        redis_memory.free(NULL, b.items);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Counts ----------------------------------------------------------------------------------- */

bool native_begin_fields(redis_ctx *ctx, long n)
{
    const bool names = (redis.GetContextFlags(ctx) & REDIS_CTX_RESP3) != 0;
    if (names)
        redis.ReplyWithMap(ctx, n);
    else
        redis.ReplyWithArray(ctx, n);
    return names;
}

/* Replies with text, because RESP2 has no floating-point numbers: the fewest digits that read as
 * the same number. The result is kept, because the same number comes again and again, and
 * formatting it would take as long as the rest of the reply. */
static void reply_confidence(redis_ctx *ctx, double x)
{
    static double last = -1;
    static char text[32];
    if (x != last) {
        snprintf(text, sizeof text, "%.15g", x);
        if (strtod(text, NULL) != x) snprintf(text, sizeof text, "%.17g", x);
        last = x;
    }
    redis.ReplyWithStringBuffer(ctx, text, strlen(text));
}

void native_reply_estimate(redis_ctx *ctx, bool names, const tamis_estimate *e)
{
    if (names) redis.ReplyWithSimpleString(ctx, "estimate");
    redis.ReplyWithLongLong(ctx, e->estimate);
    if (names) redis.ReplyWithSimpleString(ctx, "lower");
    redis.ReplyWithLongLong(ctx, e->lower);
    if (names) redis.ReplyWithSimpleString(ctx, "upper");
    redis.ReplyWithLongLong(ctx, e->upper);
    if (names) {
        redis.ReplyWithSimpleString(ctx, "confidence");
        redis.ReplyWithDouble(ctx, e->confidence);
    } else {
        reply_confidence(ctx, e->confidence);
    }
    if (names) redis.ReplyWithSimpleString(ctx, "below-noise");
    redis.ReplyWithBool(ctx, e->below_noise);
    if (names) redis.ReplyWithSimpleString(ctx, "certain");
    if (e->certain == INT64_MIN) /* the sketch may undercount, so no minimum is guaranteed */
        redis.ReplyWithNull(ctx);
    else
        redis.ReplyWithLongLong(ctx, e->certain);
    if (names) redis.ReplyWithSimpleString(ctx, "suspect");
    if (!e->judged)
        redis.ReplyWithNull(ctx);
    else
        redis.ReplyWithBool(ctx, e->suspect);
}

static void reply_full(redis_ctx *ctx, const tamis_estimate *e)
{
    native_reply_estimate(ctx, native_begin_fields(ctx, NATIVE_ESTIMATE), e);
}

static void reply_brief(redis_ctx *ctx, const tamis_estimate *e)
{
    redis.ReplyWithArray(ctx, 3);
    redis.ReplyWithLongLong(ctx, e->estimate);
    redis.ReplyWithLongLong(ctx, e->lower);
    redis.ReplyWithLongLong(ctx, e->upper);
}

static int reply_counts(redis_ctx *ctx, redis_string **argv, int argc,
                        void (*reply)(redis_ctx *ctx, const tamis_estimate *e))
{
    struct redis_open open;
    struct batch b;
    tamis_error why;
    const tamis *t = OPEN_TO_READ(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    if (batch_new(ctx, t, argv + 2, argc - 2, 1, &b)) {
        tamis_estimate *e = redis_memory.alloc(NULL, b.n * sizeof *e);
        if (e == NULL) {
            native_say(ctx, "no memory");
        } else if (tamis_count_many(t, b.items, b.n, e, &why) != TAMIS_OK) {
            native_say(ctx, why.text);
        } else {
            redis.ReplyWithArray(ctx, argc - 2);
            for (size_t i = 0; i < b.n; i++) reply(ctx, &e[i]);
        }
        if (e != NULL) redis_memory.free(NULL, e);
        redis_memory.free(NULL, b.items);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tamis_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    return reply_counts(ctx, argv, argc, reply_brief);
}

int redis_tamis_estimate(redis_ctx *ctx, redis_string **argv, int argc)
{
    return reply_counts(ctx, argv, argc, reply_full);
}

/* --- Values ----------------------------------------------------------------------------------- */

int redis_tamis_value(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    struct batch b;
    tamis_error why;
    const tamis *t = OPEN_TO_READ(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    if (batch_new(ctx, t, argv + 2, argc - 2, 1, &b)) {
        uint32_t *values = redis_memory.alloc(NULL, b.n * sizeof *values);
        if (values == NULL) {
            native_say(ctx, "no memory");
        } else if (tamis_value_many(t, b.items, b.n, values, b.bits, &why) != TAMIS_OK) {
            native_say(ctx, why.text);
        } else {
            redis.ReplyWithArray(ctx, argc - 2);
            for (size_t i = 0; i < b.n; i++)
                if (batch_bit(&b, i))
                    redis.ReplyWithLongLong(ctx, values[i]);
                else
                    redis.ReplyWithNull(ctx);
        }
        if (values != NULL) redis_memory.free(NULL, values);
        redis_memory.free(NULL, b.items);
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Other changes ---------------------------------------------------------------------------- */

int redis_tamis_remove(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    tamis_error why;
    tamis *t = OPEN_TO_WRITE(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    struct batch b;
    if (!batch_new(ctx, t, argv + 2, argc - 2, 1, &b)) {
        redis_close_key(&open);
        return REDIS_OK;
    }
    struct redis_effects gone = redis_effects_new(argc - 2);
    tamis_status s = TAMIS_OK;
    int done = 0;
    redis.ReplyWithArray(ctx, REDIS_POSTPONED);
    for (; done < argc - 2 && (s == TAMIS_OK || s == TAMIS_EABSENT); done++) {
        s = tamis_remove(t, b.items[done].p, b.items[done].len, &why);
        if (s == TAMIS_OK) redis_effects_add(&gone, argv[done + 2]);
        if (s == TAMIS_OK || s == TAMIS_EABSENT)
            redis.ReplyWithBool(ctx, s == TAMIS_OK);
        else
            native_say(ctx, why.text);
    }
    redis.ReplySetArrayLength(ctx, done);
    if (gone.n == (size_t)(argc - 2) || (gone.n > 0 && gone.items == NULL))
        redis.ReplicateVerbatim(ctx);
    else if (gone.n > 0)
        redis.Replicate(ctx, "TAMIS.REMOVE", "sv", argv[1], gone.items, gone.n);
    if (gone.n > 0) redis_notify(ctx, "tamis.remove", argv[1]);
    redis_effects_free(&gone);
    redis_memory.free(NULL, b.items);
    redis_close_key(&open);
    return REDIS_OK;
}

/* Ends a command that did either everything or nothing. */
static int finish_all_or_none(redis_ctx *ctx, redis_string *key, struct redis_open *open,
                              tamis_status s, const tamis_error *why, const char *event)
{
    if (s == TAMIS_OK) {
        redis_done(ctx, event, key);
    } else {
        native_say(ctx, why->text);
    }
    redis_close_key(open);
    return REDIS_OK;
}

int redis_tamis_exclude(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    struct batch b;
    tamis_error why;
    tamis *t = open_to_add(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    if (!batch_new(ctx, t, argv + 2, argc - 2, 1, &b)) {
        redis_close_key(&open);
        return REDIS_OK;
    }
    const tamis_status s = tamis_exclude_many(t, b.items, b.n, &why);
    redis_memory.free(NULL, b.items);
    return finish_all_or_none(ctx, argv[1], &open, s, &why, "tamis.exclude");
}

int redis_tamis_seal(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    tamis_error why;
    (void)argc;
    tamis *t = OPEN_TO_WRITE(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    return finish_all_or_none(ctx, argv[1], &open, tamis_seal(t, &why), &why, "tamis.seal");
}

int redis_tamis_rotate(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    tamis_error why;
    long long epoch = 0;
    const bool to = argc == 4 && redis_is(argv[2], "TO");
    if (argc != 2 && argc != 4) return redis.WrongArity(ctx);
    if (argc == 4 && !to) return native_say(ctx, "expected TAMIS.ROTATE key TO epoch");
    if (to && (!redis_number(argv[3], &epoch) || epoch < 1))
        return native_say(ctx, "invalid epoch; it is an integer from 1 to 2^63 - 1");
    tamis *t = OPEN_TO_WRITE(ctx, argv[1], &open);
    if (t == NULL) return REDIS_OK;
    tamis_facts before = {.struct_size = sizeof before};
    tamis_stat(t, &before);
    const tamis_status s = to ? tamis_rotate_to(t, (uint64_t)epoch, &why) : tamis_rotate(t, &why);
    if (s == TAMIS_OK) { /* saturated counters may be gone */
        struct native_body *body = ((struct native *)open.value)->body;
        body->read = false;
        body->saturated = 0;
    }
    if (s != TAMIS_OK || !to || before.epoch != (uint64_t)epoch)
        return finish_all_or_none(ctx, argv[1], &open, s, &why, "tamis.rotate");
    redis_ok(ctx); /* nothing has changed */
    redis_close_key(&open);
    return REDIS_OK;
}
