/* A Redis server, as far as the module can see: four keys, counted replies, and values at rest
 * as bytes in memory. Every string and every value at rest has memory of exactly its size.
 * Requires _GNU_SOURCE. */
#ifndef TAMIS_FUZZ_SERVER_H
#define TAMIS_FUZZ_SERVER_H

#include "../../redis/module.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <strings.h>

#define SERVER_KEYS 4u
#define SERVER_TYPES 6u
#define SERVER_COMMANDS 100u
#define SERVER_MEMORY ((size_t)15 << 20) /* of one piece; more is refused */
#define SERVER_NESTING 8u
#define SERVER_ARGS 12u

struct RedisModuleString {
    size_t n;
    char *p;
};
struct RedisModuleType {
    char name[10];
    int encver;
    struct redis_type_methods m;
};
struct RedisModuleKey {
    redis_type *type;
    void *value;
};
struct RedisModuleIO {
    uint8_t *p; /* what is written, or what is left to be read */
    size_t n, room;
    bool error;
    redis_type *type; /* of the value that an append-only file is written for */
    size_t into;      /* and the key that it is replayed into */
};
struct RedisModuleCommand {
    char name[32];
    redis_command_function *run;
    bool writes;
    int arity;
};
struct RedisModuleCtx {
    int (*get)(const char *name, void *out); /* as in a server, the first */
    long left[SERVER_NESTING];               /* elements that arrays still want; -1: not said yet */
    long got[SERVER_NESTING];
    unsigned depth, replies;
    bool error;
    bool may_be_nan;  /* doubles of the reply */
    double real;      /* the last in the reply */
    long long number; /* the last integer */
    uint8_t *text;    /* the last text, and its length */
    size_t text_size;
};
struct RedisModuleDigest {
    uint64_t sum;
};
struct RedisModuleDefragCtx {
    int unused;
};

static redis_ctx server_ctx;
static struct RedisModuleKey server_keys[SERVER_KEYS];
static redis_type server_types[SERVER_TYPES];
static redis_command server_commands[SERVER_COMMANDS];
static size_t server_n_types, server_n_commands;
static int server_flags;
static long server_allocs = -1; /* so many more succeed; below 0: all */
static size_t server_used;      /* bytes that the module has */
static size_t server_max;       /* maxmemory; 0: none */
static unsigned server_infos;   /* how often the last command has asked for them */

/* --- Memory ----------------------------------------------------------------------------------- */

static void *server_alloc(size_t n)
{
    if (n > SERVER_MEMORY || server_allocs == 0) return NULL;
    if (server_allocs > 0) server_allocs--;
    void *p = malloc(n);
    if (p == NULL) return NULL;
    memset(p, 0xa5, n); /* whatever was there before */
    server_used += malloc_usable_size(p);
    return p;
}

/* As in servers from 7.4 on; older ones have none (server_is_old). */
static void *server_calloc(size_t n, size_t size)
{
    void *p = size == 0 || n <= SERVER_MEMORY / size ? server_alloc(n * size) : NULL;
    if (p != NULL) memset(p, 0, n * size);
    return p;
}

static void server_free(void *p)
{
    must(p != NULL, "the server frees something");
    server_used -= malloc_usable_size(p);
    free(p);
}

static size_t server_size(void *p)
{
    return malloc_usable_size(p);
}

static void *server_move(redis_defrag *ctx, void *p)
{
    const size_t n = malloc_usable_size(p);
    void *to = malloc(n);
    (void)ctx;
    must(to != NULL, "memory");
    memcpy(to, p, n);
    server_free(p);
    server_used += malloc_usable_size(to);
    return to;
}

static redis_server_info *server_info(redis_ctx *ctx, const char *section)
{
    (void)ctx, (void)section;
    server_infos++;
    return (redis_server_info *)(void *)&server_infos;
}

static unsigned long long server_info_field(redis_server_info *info, const char *field, int *error)
{
    (void)info;
    *error = strcmp(field, "total_system_memory") == 0;
    return strcmp(field, "used_memory") == 0 ? server_used : server_max;
}

/* --- Strings ---------------------------------------------------------------------------------- */

static redis_string *server_string(redis_ctx *ctx, const char *p, size_t n)
{
    redis_string *s = malloc(sizeof *s);
    (void)ctx;
    must(s != NULL && (s->p = malloc(n > 0 ? n : 1)) != NULL, "memory");
    if (n > 0) memcpy(s->p, p, n);
    s->n = n;
    return s;
}

__attribute__((format(printf, 2, 3))) static redis_string *server_printf(redis_ctx *ctx,
                                                                         const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return server_string(ctx, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void server_free_string(redis_ctx *ctx, redis_string *s)
{
    (void)ctx;
    free(s->p);
    free(s);
}

static const char *server_text(const redis_string *s, size_t *n)
{
    *n = s->n;
    return s->p;
}

/* As the server reads numbers: digits, no zero before them, a minus at most. */
static int server_number(const redis_string *s, long long *out)
{
    char text[24] = {0}, back[24];
    if (s->n == 0 || s->n >= sizeof text) return REDIS_ERR;
    memcpy(text, s->p, s->n);
    errno = 0;
    *out = strtoll(text, NULL, 10);
    snprintf(back, sizeof back, "%lld", *out);
    return errno == 0 && strcmp(text, back) == 0 && strlen(text) == s->n ? REDIS_OK : REDIS_ERR;
}

static int server_real(const redis_string *s, double *out)
{
    char text[64] = {0}, *end;
    if (s->n == 0 || s->n >= sizeof text) return REDIS_ERR;
    memcpy(text, s->p, s->n);
    *out = strtod(text, &end);
    return end == text + s->n && end > text && text[0] != ' ' && !isnan(*out) ? REDIS_OK
                                                                              : REDIS_ERR;
}

/* --- Replies ---------------------------------------------------------------------------------- */

static int replied(redis_ctx *c)
{
    if (c->depth == 0)
        c->replies++;
    else
        c->got[c->depth - 1]++;
    while (c->depth > 0 && c->left[c->depth - 1] >= 0 &&
           c->got[c->depth - 1] == c->left[c->depth - 1])
        c->depth--;
    return REDIS_OK;
}

static int reply_many(redis_ctx *c, long n)
{
    must(c->depth < SERVER_NESTING && n >= REDIS_POSTPONED, "an array of so many");
    if (n == 0) return replied(c);
    if (c->depth == 0)
        c->replies++;
    else
        c->got[c->depth - 1]++;
    c->left[c->depth] = n;
    c->got[c->depth++] = 0;
    return REDIS_OK;
}

static int reply_map(redis_ctx *c, long n)
{
    return reply_many(c, n == REDIS_POSTPONED ? n : 2 * n);
}

static void reply_length(redis_ctx *c, long n)
{
    must(c->depth > 0 && c->left[c->depth - 1] < 0, "an array that waits for its length");
    must(c->got[c->depth - 1] == n, "as many as it says");
    c->depth--;
    /* It was an element of what is around it, which may be complete now. */
    while (c->depth > 0 && c->left[c->depth - 1] >= 0 &&
           c->got[c->depth - 1] == c->left[c->depth - 1])
        c->depth--;
}

static void reply_map_length(redis_ctx *c, long n)
{
    reply_length(c, 2 * n);
}

static int reply_number(redis_ctx *c, long long n)
{
    c->number = n;
    return replied(c);
}

static int reply_error(redis_ctx *c, const char *text)
{
    must(text[0] != '\0' && strpbrk(text, "\r\n") == NULL, "an error is a line of words");
    c->error = true;
    return replied(c);
}

static int reply_simple(redis_ctx *c, const char *text)
{
    must(strpbrk(text, "\r\n") == NULL, "a line");
    return replied(c);
}

static int reply_text(redis_ctx *c, const char *p, size_t n)
{
    free(c->text);
    c->text = malloc(n > 0 ? n : 1);
    must(c->text != NULL, "memory");
    if (n > 0) memcpy(c->text, p, n);
    c->text_size = n;
    return replied(c);
}

static int reply_bool(redis_ctx *c, int yes)
{
    return reply_number(c, yes);
}

static int reply_real(redis_ctx *c, double d)
{
    must(c->may_be_nan || !isnan(d), "a number");
    c->real = d;
    return replied(c);
}

static int wrong_arity(redis_ctx *c)
{
    return reply_error(c, "ERR wrong number of arguments");
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* "0" to "3"; all else is the first. */
static size_t key_number(const redis_string *name)
{
    return name->n == 1 ? (size_t)(uint8_t)name->p[0] % SERVER_KEYS : 0;
}

static redis_key *open_key(redis_ctx *ctx, redis_string *name, int mode)
{
    redis_key *k = &server_keys[key_number(name)];
    (void)ctx;
    return k->value == NULL && (mode & REDIS_WRITE) == 0 ? NULL : k;
}

static void close_key(redis_key *key)
{
    (void)key;
}

static int key_type(redis_key *key)
{
    return key->value != NULL ? REDIS_KEY_MODULE : REDIS_KEY_EMPTY;
}

static redis_type *type_of(redis_key *key)
{
    return key->type;
}

static void *value_in(redis_key *key)
{
    return key->value;
}

static int set_value(redis_key *key, redis_type *type, void *value)
{
    must(value != NULL, "a value");
    if (key->value != NULL) key->type->m.free(key->value);
    key->type = type;
    key->value = value;
    return REDIS_OK;
}

static void drop_key(size_t i)
{
    if (server_keys[i].value != NULL) server_keys[i].type->m.free(server_keys[i].value);
    server_keys[i].value = NULL;
}

/* --- Values at rest --------------------------------------------------------------------------- */

static void put(redis_io *io, char tag, const void *p, size_t n)
{
    if (io->room - io->n < n + 1) {
        io->room = 2 * io->room + n + 64;
        io->p = realloc(io->p, io->room);
        must(io->p != NULL, "memory");
    }
    if (tag != 0) io->p[io->n++] = (uint8_t)tag;
    if (n > 0) memcpy(io->p + io->n, p, n);
    io->n += n;
}

static bool get(redis_io *io, char tag, void *to, size_t n)
{
    if (io->error || io->n < n + 1 || *io->p != (uint8_t)tag) {
        io->error = true;
        return false;
    }
    memcpy(to, io->p + 1, n);
    io->p += n + 1;
    io->n -= n + 1;
    return true;
}

static void save_number(redis_io *io, uint64_t n)
{
    uint8_t bytes[8];
    compat_put(bytes, n, 8);
    put(io, 'u', bytes, 8);
}

static uint64_t load_number(redis_io *io)
{
    uint8_t bytes[8];
    return get(io, 'u', bytes, 8) ? compat_get64(bytes) : 0;
}

static void save_real(redis_io *io, double d)
{
    uint8_t bytes[8];
    compat_put_real(bytes, d);
    put(io, 'd', bytes, 8);
}

static double load_real(redis_io *io)
{
    uint8_t bytes[8];
    return get(io, 'd', bytes, 8) ? compat_get_real(bytes) : 0;
}

static void save_text(redis_io *io, const char *p, size_t n)
{
    uint8_t bytes[3];
    must(n < 1u << 24, "a text of this server");
    compat_put(bytes, n, 3);
    put(io, 's', bytes, 3);
    put(io, 0, p, n);
}

static char *load_text(redis_io *io, size_t *n)
{
    uint8_t bytes[4] = {0};
    *n = 0;
    if (!get(io, 's', bytes, 3)) return NULL;
    const size_t size = compat_get32(bytes);
    char *to = size <= io->n ? server_alloc(size > 0 ? size : 1) : NULL;
    io->error = io->error || to == NULL;
    if (to == NULL) return NULL;
    memcpy(to, io->p, size);
    io->p += size;
    io->n -= size;
    *n = size;
    return to;
}

static int io_error(redis_io *io)
{
    return io->error;
}

static redis_string *value_text(redis_ctx *ctx, void *value, const redis_type *type)
{
    redis_io io = {.n = 0};
    type->m.rdb_save(&io, value);
    redis_string *s = server_string(ctx, (const char *)io.p, io.n);
    free(io.p);
    return s;
}

/* --- Commands --------------------------------------------------------------------------------- */

/* Runs a command as a server does; it gets exactly one whole reply. The arguments go. */
static void server_run(const redis_command *c, redis_string **args, int n)
{
    redis_ctx *ctx = &server_ctx;
    ctx->depth = ctx->replies = 0;
    ctx->error = false;
    ctx->may_be_nan = strncasecmp(c->name, "TDIGEST.", 8) == 0; /* where nothing was added */
    ctx->number = -1;
    server_infos = 0;
    const bool fits = c->arity > 0 ? n == c->arity : n >= -c->arity;
    redis_string **argv = malloc((size_t)n * sizeof *argv);
    must(argv != NULL, "memory");
    memcpy(argv, args, (size_t)n * sizeof *argv);
    if (fits) {
        c->run(ctx, argv, n);
        must(ctx->replies == 1 && ctx->depth == 0, "one reply, and whole");
    } else {
        wrong_arity(ctx);
    }
    for (int i = 0; i < n; i++) server_free_string(ctx, args[i]);
    free(argv);
}

static const redis_command *server_command(const char *name)
{
    for (size_t i = 0; i < server_n_commands; i++)
        if (strcasecmp(server_commands[i].name, name) == 0) return &server_commands[i];
    must(false, "a command of that name");
    return NULL;
}

/* Words, each a text that ends with NULL. The number of the reply; -1: none. */
static long long server_say(const char *name, ...)
{
    redis_string *args[SERVER_ARGS];
    int n = 0;
    va_list words;
    va_start(words, name);
    for (const char *w = name; w != NULL && n < (int)SERVER_ARGS; w = va_arg(words, const char *))
        args[n++] = server_string(NULL, w, strlen(w));
    va_end(words);
    server_run(server_command(name), args, n);
    return server_ctx.error ? -1 : server_ctx.number;
}

/* What an append-only file would say is said at once, to another key; RESTORE is the server's
 * own. */
static void emit(redis_io *io, const char *name, const char *format, ...)
{
    redis_string *args[SERVER_ARGS] = {server_string(NULL, name, strlen(name))};
    int n = 1;
    va_list values;
    va_start(values, format);
    for (const char *f = format; *f != '\0'; f++) {
        if (*f == 's') {
            const char digit = (char)('0' + io->into);
            (void)va_arg(values, redis_string *);
            args[n++] = server_string(NULL, &digit, 1);
        } else if (*f == 'l') {
            args[n++] = server_printf(NULL, "%lld", va_arg(values, long long));
        } else if (*f == 'b') {
            const char *p = va_arg(values, const char *);
            args[n++] = server_string(NULL, p, va_arg(values, size_t));
        } else {
            must(*f == 'c', "a format that is known");
            const char *p = va_arg(values, const char *);
            args[n++] = server_string(NULL, p, strlen(p));
        }
    }
    va_end(values);
    if (strcmp(name, "RESTORE") != 0) {
        server_run(server_command(name), args, n);
        must(!server_ctx.error, "an append-only file can be read again");
        return;
    }
    /* The type and its id are ten bytes, the end, the version and the sum eleven. */
    redis_io in = {.p = (uint8_t *)args[3]->p + 10, .n = args[3]->n - 21};
    void *value = io->type->m.rdb_load(&in, io->type->encver);
    must(value != NULL && in.n == 0, "an append-only file can be read again");
    set_value(&server_keys[io->into], io->type, value);
    for (int i = 0; i < n; i++) server_free_string(NULL, args[i]);
}

/* --- Loading ---------------------------------------------------------------------------------- */

static int create_command(redis_ctx *ctx, const char *name, redis_command_function *f,
                          const char *flags, int first, int last, int step)
{
    (void)ctx, (void)first, (void)last, (void)step;
    must(server_n_commands < SERVER_COMMANDS, "room for commands");
    server_commands[server_n_commands++] =
        (redis_command){.run = f, .writes = strstr(flags, "write") != NULL};
    redis_command *c = &server_commands[server_n_commands - 1];
    snprintf(c->name, sizeof c->name, "%s", name); /* a server copies it, too */
    return REDIS_OK;
}

static redis_command *get_command(redis_ctx *ctx, const char *name)
{
    (void)ctx;
    return (redis_command *)(uintptr_t)server_command(name);
}

static int set_info(redis_command *c, const struct redis_command_info *info)
{
    c->arity = info->arity;
    return REDIS_OK;
}

static redis_type *create_type(redis_ctx *ctx, const char *name, int encver,
                               struct redis_type_methods *m)
{
    (void)ctx;
    must(server_n_types < SERVER_TYPES && strlen(name) == 9, "a type");
    redis_type *t = &server_types[server_n_types++];
    snprintf(t->name, sizeof t->name, "%s", name);
    t->encver = encver;
    t->m = *m;
    return t;
}

static int context_flags(redis_ctx *ctx)
{
    (void)ctx;
    return server_flags;
}

static void digest_text(redis_digest *d, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) d->sum = (d->sum ^ (uint8_t)p[i]) * UINT64_C(0x100000001b3);
}

static void digest_number(redis_digest *d, long long n)
{
    digest_text(d, (const char *)&n, sizeof n);
}

/* For the survey of all keys, which never runs here: its timer is never due. */
static redis_ctx *detached(redis_ctx *c)
{
    return c;
}

static void *make_cursor(void)
{
    static char cursor;
    return &cursor;
}

/* What needs no answer, whatever its parameters are. */
static void *nothing(void)
{
    return NULL; /* or 0, which is REDIS_OK, and "no" */
}

static int find_function(const char *name, void *out)
{
    static const struct {
        const char *name;
        void (*f)(void);
    } functions[] = {
#define IS(name, f) {"RedisModule_" name, (void (*)(void))f}
        IS("TryAlloc", server_alloc),
        IS("TryCalloc", server_calloc),
        IS("Free", server_free),
        IS("MallocSize", server_size),
        IS("GetServerInfo", server_info),
        IS("ServerInfoGetFieldUnsigned", server_info_field),
        IS("CreateCommand", create_command),
        IS("GetCommand", get_command),
        IS("SetCommandInfo", set_info),
        IS("CreateDataType", create_type),
        IS("WrongArity", wrong_arity),
        IS("ReplyWithLongLong", reply_number),
        IS("ReplyWithError", reply_error),
        IS("ReplyWithSimpleString", reply_simple),
        IS("ReplyWithStringBuffer", reply_text),
        IS("ReplyWithArray", reply_many),
        IS("ReplyWithMap", reply_map),
        IS("ReplySetArrayLength", reply_length),
        IS("ReplySetMapLength", reply_map_length),
        IS("GetDetachedThreadSafeContext", detached),
        IS("ScanCursorCreate", make_cursor),
        IS("ReplyWithNull", replied),
        IS("ReplyWithBool", reply_bool),
        IS("ReplyWithDouble", reply_real),
        IS("OpenKey", open_key),
        IS("CloseKey", close_key),
        IS("KeyType", key_type),
        IS("ModuleTypeGetType", type_of),
        IS("ModuleTypeGetValue", value_in),
        IS("ModuleTypeSetValue", set_value),
        IS("StringPtrLen", server_text),
        IS("StringToLongLong", server_number),
        IS("StringToDouble", server_real),
        IS("CreateString", server_string),
        IS("CreateStringPrintf", server_printf),
        IS("FreeString", server_free_string),
        IS("GetContextFlags", context_flags),
        IS("SaveUnsigned", save_number),
        IS("LoadUnsigned", load_number),
        IS("SaveDouble", save_real),
        IS("LoadDouble", load_real),
        IS("SaveStringBuffer", save_text),
        IS("LoadStringBuffer", load_text),
        IS("IsIOError", io_error),
        IS("EmitAOF", emit),
        IS("SaveDataTypeToString", value_text),
        IS("DigestAddStringBuffer", digest_text),
        IS("DigestAddLongLong", digest_number),
        IS("DefragAlloc", server_move)
#undef IS
    };
    void (*found)(void) = (void (*)(void))nothing;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0) found = functions[i].f;
    memcpy(out, &found, sizeof found);
    return REDIS_OK;
}

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

static void server_start(void)
{
    if (server_n_types > 0) return;
    server_ctx.get = find_function;
    must(RedisModule_OnLoad(&server_ctx, NULL, 0) == REDIS_OK, "the module loads");
    must(server_n_types == SERVER_TYPES, "six types");
}

/* A server before 7.4, such as that of Debian 12. */
static void server_is_old(bool old)
{
    redis.TryCalloc = old ? NULL : server_calloc;
}

#endif
