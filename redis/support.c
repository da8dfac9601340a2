#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for MADV_DONTNEED */
#endif

#include "module.h"

#include <strings.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

/* --- Memory ----------------------------------------------------------------------------------- */

/* Smaller blocks are not checked: the allocator's refusal is enough, and zeroing takes no time. */
#define BIG (1u << 20)

/* Returns how many more bytes stay within maxmemory and within the memory of the machine. An
 * allocator promises more than there is, and the kernel kills the server when it uses that. The
 * server formats all of INFO memory for this call, which takes some 50 microseconds. */
static uint64_t server_left(void)
{
    redis_server_info *info = redis.GetServerInfo(NULL, "memory");
    if (info == NULL) return UINT64_MAX;
    int no_used = 0, no_max = 0, no_total = 0;
    const uint64_t used = redis.ServerInfoGetFieldUnsigned(info, "used_memory", &no_used);
    const uint64_t max = redis.ServerInfoGetFieldUnsigned(info, "maxmemory", &no_max);
    const uint64_t total = redis.ServerInfoGetFieldUnsigned(info, "total_system_memory", &no_total);
    redis.FreeServerInfo(NULL, info);
    const bool obey = (redis.GetContextFlags(NULL) & (REDIS_CTX_REPLICA | REDIS_CTX_LOADING)) != 0;
    uint64_t most = UINT64_MAX;
    if (no_used) return most;
    if (!no_total && total > 0) most = total;
    if (!obey && !no_max && max > 0 && max < most) most = max;
    return used < most ? most - used : 0;
}

/* Reports whether the server has room for a block of n bytes. An account subtracts the bytes taken
 * from those that the server had left. It asks again before it refuses, in case memory was freed
 * meanwhile, except if it has already refused and nothing was taken since. */
static bool server_has(struct redis_account *account, size_t n)
{
    if (n < BIG) return true;
    if (account == NULL) return n <= server_left();
    if (n > account->left && !account->exact) {
        account->left = server_left();
        account->exact = true;
    }
    if (n > account->left) return false;
    account->left -= n;
    account->exact = false;
    return true;
}

/* Zeroes a block without touching its pages where that is possible. Then the command that creates a
 * big filter does not wait for gigabytes of memory, and each page is allocated when it is first
 * used. A server before 7.4 has no calloc that may fail. On Linux, however, the pages of a private
 * anonymous mapping, which is what allocators hand out, read as zero after they were given back to
 * the system. If the block is something else, the marks are still there or the system refuses, and
 * the block is zeroed by memset. A block lies in mappings of one kind, so the marks at both ends
 * are representative. */
static void zero(unsigned char *p, size_t n)
{
#ifdef __linux__
    const long page = sysconf(_SC_PAGESIZE);
    if (n >= BIG && page > 0 && (size_t)page <= BIG / 4) {
        const size_t head = (size_t)page - (uintptr_t)p % (size_t)page;
        const size_t whole = (n - head) / (size_t)page * (size_t)page, tail = n - head - whole;
        unsigned char *from = p + head, *to = from + whole;
        from[0] = to[-1] = 1;
        if (madvise(from, whole, MADV_DONTNEED) == 0 && from[0] == 0 && to[-1] == 0) {
            memset(p, 0, head);
            memset(to, 0, tail);
            return;
        }
    }
#endif
    memset(p, 0, n);
}

static void *try_zeroed(size_t n)
{
    if (redis.TryCalloc != NULL) return redis.TryCalloc(1, n > 0 ? n : 1);
    void *p = redis.TryAlloc(n > 0 ? n : 1);
    if (p != NULL) zero(p, n);
    return p;
}

static void *take(void *ctx, size_t n)
{
    (void)ctx;
    return server_has(NULL, n) ? redis.TryAlloc(n > 0 ? n : 1) : NULL;
}

static void *take_zeroed(void *ctx, size_t n)
{
    (void)ctx;
    return server_has(NULL, n) ? try_zeroed(n) : NULL;
}

static void give(void *ctx, void *p)
{
    (void)ctx;
    redis.Free(p);
}

static void *take_on_account(void *ctx, size_t n)
{
    struct redis_account *a = ctx;
    return redis_counted(a->tally, server_has(a, n) ? redis.TryAlloc(n > 0 ? n : 1) : NULL);
}

static void *take_zeroed_on_account(void *ctx, size_t n)
{
    struct redis_account *a = ctx;
    return redis_counted(a->tally, server_has(a, n) ? try_zeroed(n) : NULL);
}

static void give_on_account(void *ctx, void *p)
{
    redis.Free(redis_uncounted(((struct redis_account *)ctx)->tally, p));
}

static void *take_to_save(void *ctx, size_t n)
{
    (void)ctx;
    return redis.TryAlloc(n > 0 ? n : 1);
}

static void *take_zeroed_to_save(void *ctx, size_t n)
{
    (void)ctx;
    return try_zeroed(n);
}

const tamis_memory redis_memory = {.alloc = take, .free = give, .zeroed = take_zeroed};
const tamis_memory redis_saving_memory = {
    .alloc = take_to_save, .free = give, .zeroed = take_zeroed_to_save};

struct compat_room redis_room(enum redis_type_name type)
{
    return (struct compat_room){&redis_tally[type].memory, (uint64_t)redis_settings.max_bytes};
}

struct compat_room redis_open_room(enum redis_type_name type)
{
    return (struct compat_room){&redis_tally[type].memory, REDIS_OPEN_BYTES};
}

struct compat_room redis_room_of(redis_ctx *ctx, enum redis_type_name type)
{
    return redis_must_obey(ctx) ? redis_open_room(type) : redis_room(type);
}

void redis_open_account(struct redis_account *account, enum redis_type_name type)
{
    *account = (struct redis_account){.memory = {.ctx = account,
                                                 .alloc = take_on_account,
                                                 .free = give_on_account,
                                                 .zeroed = take_zeroed_on_account},
                                      .tally = &redis_tally[type]};
}

bool redis_must_obey(redis_ctx *ctx)
{
    return (redis.GetContextFlags(ctx) & (REDIS_CTX_REPLICATED | REDIS_CTX_LOADING)) != 0;
}

/* --- Keys ------------------------------------------------------------------------------------- */

struct redis_open redis_open_key(redis_ctx *ctx, redis_string *name, const redis_type *type,
                                 int mode)
{
    struct redis_open open = {.key = redis.OpenKey(ctx, name, mode)};
    const int kind = open.key == NULL ? REDIS_KEY_EMPTY : redis.KeyType(open.key);
    if (kind == REDIS_KEY_MODULE && redis.ModuleTypeGetType(open.key) == type)
        open.value = redis.ModuleTypeGetValue(open.key);
    else
        open.other_type = kind != REDIS_KEY_EMPTY;
    return open;
}

void redis_close_key(struct redis_open *open)
{
    if (open->key != NULL) redis.CloseKey(open->key);
    open->key = NULL;
}

void *redis_read_key(redis_ctx *ctx, redis_string *name, const redis_type *type, const char *absent,
                     struct redis_open *open)
{
    *open = redis_open_key(ctx, name, type, REDIS_READ);
    if (open->value != NULL) return open->value;
    if (open->other_type)
        redis_wrong_type(ctx);
    else
        redis_error(ctx, absent);
    redis_close_key(open);
    return NULL;
}

int redis_reply_items(redis_ctx *ctx, redis_string **argv, int argc, const redis_type *type,
                      const char *absent,
                      void (*reply)(redis_ctx *ctx, const void *value, tamis_bytes item))
{
    struct redis_open open;
    const void *value = redis_read_key(ctx, argv[1], type, absent, &open);
    if (value == NULL) return REDIS_OK;
    redis.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) reply(ctx, value, redis_bytes(argv[i]));
    redis_close_key(&open);
    return REDIS_OK;
}

void redis_set_value(struct redis_open *open, enum redis_type_name type, void *value)
{
    redis.ModuleTypeSetValue(open->key, redis_tally[type].type, redis_value_made(type, value));
    open->value = value;
}

void redis_notify(redis_ctx *ctx, const char *event, redis_string *name)
{
    redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, event, name);
}

/* --- Words and replies ------------------------------------------------------------------------ */

int redis_error(redis_ctx *ctx, const char *text)
{
    return redis.ReplyWithError(ctx, text);
}

int redis_ok(redis_ctx *ctx)
{
    return redis.ReplyWithSimpleString(ctx, "OK");
}

int redis_done(redis_ctx *ctx, const char *event, redis_string *name)
{
    redis.ReplicateVerbatim(ctx);
    redis_notify(ctx, event, name);
    return redis_ok(ctx);
}

int redis_end(redis_ctx *ctx, struct redis_open *open, redis_string *name, const char *problem,
              const char *event)
{
    if (open->other_type)
        redis_wrong_type(ctx);
    else if (problem != NULL)
        redis_error(ctx, problem);
    else
        redis_done(ctx, event, name);
    redis_close_key(open);
    return REDIS_OK;
}

int redis_reply_has(redis_ctx *ctx, redis_string **argv, int argc, const redis_type *type,
                    bool (*has)(const void *value, const void *item, size_t len), bool many)
{
    struct redis_open open = redis_open_key(ctx, argv[1], type, REDIS_READ);
    if (open.other_type && redis_settings.strict) {
        redis_wrong_type(ctx);
    } else {
        if (many) redis.ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++) {
            const tamis_bytes b = redis_bytes(argv[i]);
            redis.ReplyWithBool(ctx, open.value != NULL && has(open.value, b.p, b.len));
        }
    }
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_wrong_type(redis_ctx *ctx)
{
    return redis_error(ctx, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

tamis_bytes redis_bytes(const redis_string *s)
{
    tamis_bytes b;
    b.p = redis.StringPtrLen(s, &b.len);
    return b;
}

bool redis_is(const redis_string *s, const char *word)
{
    const tamis_bytes b = redis_bytes(s);
    return b.len == strlen(word) && strncasecmp(b.p, word, b.len) == 0;
}

int redis_find(redis_string **argv, int argc, int from, const char *word)
{
    for (int i = from; i < argc; i++)
        if (redis_is(argv[i], word)) return i;
    return -1;
}

bool redis_number(const redis_string *s, long long *out)
{
    return redis.StringToLongLong(s, out) == REDIS_OK;
}

void redis_field(redis_ctx *ctx, const char *name, long long value)
{
    redis.ReplyWithSimpleString(ctx, name);
    redis.ReplyWithLongLong(ctx, value);
}

struct redis_effects redis_effects_new(int most)
{
    return (struct redis_effects){.items = redis.TryAlloc((size_t)most * sizeof(redis_string *))};
}

void redis_effects_free(struct redis_effects *e)
{
    if (e->items != NULL) redis.Free(e->items);
    e->items = NULL;
}
