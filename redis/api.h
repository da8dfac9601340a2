/* The part of the API of Redis modules that this module uses. When a server loads the module, it
 * fills the table below by name (api.c). Functions marked optional may be missing in the oldest
 * supported server, 7.0, so test them for NULL before a call. */
#ifndef TAMIS_REDIS_API_H
#define TAMIS_REDIS_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx redis_ctx;
typedef struct RedisModuleKey redis_key;
typedef struct RedisModuleString redis_string;
typedef struct RedisModuleType redis_type;
typedef struct RedisModuleIO redis_io;
typedef struct RedisModuleDigest redis_digest;
typedef struct RedisModuleCommand redis_command;
typedef struct RedisModuleKeyOptCtx redis_key_opt;
typedef struct RedisModuleDefragCtx redis_defrag;
typedef struct RedisModuleServerInfoData redis_server_info;
typedef struct RedisModuleInfoCtx redis_info;
typedef struct RedisModuleScanCursor redis_cursor;

typedef int redis_command_function(redis_ctx *ctx, redis_string **argv, int argc);
typedef uint64_t redis_timer; /* 0 is not a timer */
typedef void redis_timer_function(redis_ctx *ctx, void *data);
typedef void redis_info_function(redis_info *info, int for_crash_report);
typedef void redis_scan_function(redis_ctx *ctx, redis_string *name, redis_key *key, void *data);

enum { REDIS_OK = 0, REDIS_ERR = 1 };
enum { REDIS_READ = 1, REDIS_WRITE = 2 };
enum { REDIS_KEY_EMPTY = 0, REDIS_KEY_STRING = 1, REDIS_KEY_MODULE = 6 };
enum { REDIS_POSTPONED = -1 };
enum {
    REDIS_CTX_REPLICA = 1 << 3,
    REDIS_CTX_REPLICATED = 1 << 12,
    REDIS_CTX_LOADING = 1 << 13,
    REDIS_CTX_RESP3 = 1 << 22
};
enum { REDIS_NOTIFY_GENERIC = 1 << 2, REDIS_NOTIFY_MODULE = 1 << 13 };
enum { REDIS_OPTION_IO_ERRORS = 1 << 0 };
enum {
    REDIS_CONFIG_DEFAULT = 0,
    REDIS_CONFIG_MEMORY = 1 << 7,
    REDIS_CONFIG_UNPREFIXED = 1 << 9 /* refused by servers without LoadDefaultConfigs */
};

/* Version 4 of the methods of a type. The server calls them; the module does not. */
struct redis_type_methods {
    uint64_t version;
    void *(*rdb_load)(redis_io *io, int encver);
    void (*rdb_save)(redis_io *io, void *value);
    void (*aof_rewrite)(redis_io *io, redis_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(redis_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(redis_io *io, int encver, int when);
    void (*aux_save)(redis_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(redis_string *key, const void *value);
    void (*unlink)(redis_string *key, const void *value);
    void *(*copy)(redis_string *from, redis_string *to, const void *value);
    int (*defrag)(redis_defrag *ctx, redis_string *key, void **value);
    size_t (*mem_usage2)(redis_key_opt *ctx, const void *value, size_t samples);
    size_t (*free_effort2)(redis_key_opt *ctx, const void *value);
    void (*unlink2)(redis_key_opt *ctx, const void *value);
    void *(*copy2)(redis_key_opt *ctx, const void *value);
};
#define REDIS_TYPE_METHODS 4

enum { REDIS_BEGIN_INDEX = 2 };
enum { REDIS_FIND_RANGE = 2, REDIS_FIND_KEYNUM = 3 };
#define REDIS_KEY_RO 1u
#define REDIS_KEY_RW 2u
#define REDIS_KEY_OW 4u
#define REDIS_KEY_ACCESS 16u
#define REDIS_KEY_UPDATE 32u
#define REDIS_KEY_INSERT 64u
#define REDIS_KEY_DELETE 128u
#define REDIS_KEY_INCOMPLETE 512u /* the command knows of more keys than the specification */

struct redis_key_spec {
    const char *notes;
    uint64_t flags;
    int begin;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int start;
        } keyword;
    } from;
    int find;
    union {
        struct {
            int last, step, limit;
        } range;
        struct {
            int index, first, step;
        } keynum;
    } keys;
};

/* redis_history, redis_key_spec and redis_argument are elements of arrays that end with a zero
 * element. redis_info_version has their sizes, so that a server can be newer than this header. */
struct redis_history {
    const char *since, *changes;
};
enum {
    REDIS_ARGUMENT_STRING = 0,
    REDIS_ARGUMENT_INTEGER = 1,
    REDIS_ARGUMENT_DOUBLE = 2,
    REDIS_ARGUMENT_KEY = 3,
    REDIS_ARGUMENT_TOKEN = 6, /* only the token itself */
    REDIS_ARGUMENT_ONEOF = 7,
    REDIS_ARGUMENT_BLOCK = 8
};
enum { REDIS_ARGUMENT_OPTIONAL = 1, REDIS_ARGUMENT_MULTIPLE = 2 };
struct redis_argument {
    const char *name;
    int type;
    int key_spec;
    const char *token, *summary, *since;
    int flags;
    const char *deprecated;
    struct redis_argument *sub;
    const char *display;
};
struct redis_info_version {
    int version;
    size_t history, key_spec, argument;
};
struct redis_command_info {
    const struct redis_info_version *version;
    const char *summary, *complexity, *since;
    struct redis_history *history;
    const char *tips;
    int arity;
    struct redis_key_spec *keys;
    struct redis_argument *arguments;
};

/* X(optional, type of the result, name, parameters) */
#define REDIS_API(X)                                                                               \
    X(0, void *, TryAlloc, (size_t n))                                                             \
    X(1, void *, TryCalloc, (size_t n, size_t size))                                               \
    X(0, void, Free, (void *p))                                                                    \
    X(0, size_t, MallocSize, (void *p))                                                            \
    X(0, void, SetModuleAttribs, (redis_ctx * ctx, const char *name, int version, int api))        \
    X(0, int, IsModuleNameBusy, (const char *name))                                                \
    X(0, void, SetModuleOptions, (redis_ctx * ctx, int options))                                   \
    X(0, int, CreateCommand,                                                                       \
      (redis_ctx * ctx, const char *name, redis_command_function *f, const char *flags, int first, \
       int last, int step))                                                                        \
    X(0, redis_command *, GetCommand, (redis_ctx * ctx, const char *name))                         \
    X(0, int, SetCommandInfo, (redis_command * c, const struct redis_command_info *info))          \
    X(1, int, AddACLCategory, (redis_ctx * ctx, const char *name))                                 \
    X(1, int, SetCommandACLCategories, (redis_command * c, const char *categories))                \
    X(0, redis_type *, CreateDataType,                                                             \
      (redis_ctx * ctx, const char *name, int encver, struct redis_type_methods *methods))         \
    X(0, int, IsKeysPositionRequest, (redis_ctx * ctx))                                            \
    X(0, void, KeyAtPosWithFlags, (redis_ctx * ctx, int at, int flags))                            \
    X(0, int, WrongArity, (redis_ctx * ctx))                                                       \
    X(0, int, ReplyWithLongLong, (redis_ctx * ctx, long long n))                                   \
    X(0, int, ReplyWithError, (redis_ctx * ctx, const char *text))                                 \
    X(0, int, ReplyWithSimpleString, (redis_ctx * ctx, const char *text))                          \
    X(0, int, ReplyWithStringBuffer, (redis_ctx * ctx, const char *p, size_t n))                   \
    X(0, int, ReplyWithArray, (redis_ctx * ctx, long n))                                           \
    X(0, int, ReplyWithMap, (redis_ctx * ctx, long n))                                             \
    X(0, void, ReplySetArrayLength, (redis_ctx * ctx, long n))                                     \
    X(0, void, ReplySetMapLength, (redis_ctx * ctx, long n))                                       \
    X(0, int, ReplyWithNull, (redis_ctx * ctx))                                                    \
    X(0, int, ReplyWithBool, (redis_ctx * ctx, int yes))                                           \
    X(0, int, ReplyWithDouble, (redis_ctx * ctx, double d))                                        \
    X(0, redis_key *, OpenKey, (redis_ctx * ctx, redis_string * name, int mode))                   \
    X(0, void, CloseKey, (redis_key * key))                                                        \
    X(0, int, KeyType, (redis_key * key))                                                          \
    X(0, redis_type *, ModuleTypeGetType, (redis_key * key))                                       \
    X(0, void *, ModuleTypeGetValue, (redis_key * key))                                            \
    X(0, int, ModuleTypeSetValue, (redis_key * key, redis_type * type, void *value))               \
    X(0, const char *, StringPtrLen, (const redis_string *s, size_t *n))                           \
    X(0, int, StringToLongLong, (const redis_string *s, long long *n))                             \
    X(0, int, StringToDouble, (const redis_string *s, double *d))                                  \
    X(0, redis_string *, CreateString, (redis_ctx * ctx, const char *p, size_t n))                 \
    X(0, redis_string *, CreateStringPrintf, (redis_ctx * ctx, const char *format, ...))           \
    X(0, void, FreeString, (redis_ctx * ctx, redis_string * s))                                    \
    X(0, int, Replicate, (redis_ctx * ctx, const char *command, const char *format, ...))          \
    X(0, int, ReplicateVerbatim, (redis_ctx * ctx))                                                \
    X(0, int, NotifyKeyspaceEvent,                                                                 \
      (redis_ctx * ctx, int type, const char *event, redis_string *key))                           \
    X(0, int, GetContextFlags, (redis_ctx * ctx))                                                  \
    X(0, void, Log, (redis_ctx * ctx, const char *level, const char *format, ...))                 \
    X(0, void, LogIOError, (redis_io * io, const char *level, const char *format, ...))            \
    X(0, void, SaveUnsigned, (redis_io * io, uint64_t n))                                          \
    X(0, uint64_t, LoadUnsigned, (redis_io * io))                                                  \
    X(0, void, SaveDouble, (redis_io * io, double d))                                              \
    X(0, double, LoadDouble, (redis_io * io))                                                      \
    X(0, void, SaveStringBuffer, (redis_io * io, const char *p, size_t n))                         \
    X(0, char *, LoadStringBuffer, (redis_io * io, size_t * n))                                    \
    X(0, int, IsIOError, (redis_io * io))                                                          \
    X(0, void, EmitAOF, (redis_io * io, const char *command, const char *format, ...))             \
    X(0, redis_string *, SaveDataTypeToString,                                                     \
      (redis_ctx * ctx, void *value, const redis_type *type))                                      \
    X(0, redis_ctx *, GetContextFromIO, (redis_io * io))                                           \
    X(0, void, DigestAddStringBuffer, (redis_digest * d, const char *p, size_t n))                 \
    X(0, void, DigestAddLongLong, (redis_digest * d, long long n))                                 \
    X(0, void, DigestEndSequence, (redis_digest * d))                                              \
    X(0, void *, DefragAlloc, (redis_defrag * ctx, void *p))                                       \
    X(0, redis_server_info *, GetServerInfo, (redis_ctx * ctx, const char *section))               \
    X(0, unsigned long long, ServerInfoGetFieldUnsigned,                                           \
      (redis_server_info * info, const char *field, int *error))                                   \
    X(0, void, FreeServerInfo, (redis_ctx * ctx, redis_server_info * info))                        \
    X(0, int, RegisterInfoFunc, (redis_ctx * ctx, redis_info_function * f))                        \
    X(0, int, InfoAddSection, (redis_info * info, const char *name))                               \
    X(0, int, InfoAddFieldCString, (redis_info * info, const char *name, const char *value))       \
    X(0, int, InfoAddFieldLongLong, (redis_info * info, const char *name, long long value))        \
    X(0, redis_ctx *, GetDetachedThreadSafeContext, (redis_ctx * ctx))                             \
    X(0, redis_timer, CreateTimer,                                                                 \
      (redis_ctx * ctx, long long milliseconds, redis_timer_function *f, void *data))              \
    X(0, long long, Milliseconds, (void))                                                          \
    X(0, int, SelectDb, (redis_ctx * ctx, int db))                                                 \
    X(0, redis_cursor *, ScanCursorCreate, (void))                                                 \
    X(0, void, ScanCursorRestart, (redis_cursor * cursor))                                         \
    X(0, int, Scan, (redis_ctx * ctx, redis_cursor * cursor, redis_scan_function * f, void *data)) \
    X(0, char *, StringDMA, (redis_key * key, size_t * n, int mode))                               \
    X(0, int, RegisterNumericConfig,                                                               \
      (redis_ctx * ctx, const char *name, long long value, unsigned flags, long long min,          \
       long long max, long long (*get)(const char *name, void *data),                              \
       int (*set)(const char *name, long long value, void *data, redis_string **error),            \
       int (*apply)(redis_ctx *, void *, redis_string **), void *data))                            \
    X(0, int, RegisterStringConfig,                                                                \
      (redis_ctx * ctx, const char *name, const char *value, unsigned flags,                       \
       redis_string *(*get)(const char *name, void *data),                                         \
       int (*set)(const char *name, redis_string *value, void *data, redis_string **error),        \
       int (*apply)(redis_ctx *, void *, redis_string **), void *data))                            \
    X(0, int, RegisterBoolConfig,                                                                  \
      (redis_ctx * ctx, const char *name, int value, unsigned flags,                               \
       int (*get)(const char *name, void *data),                                                   \
       int (*set)(const char *name, int value, void *data, redis_string **error),                  \
       int (*apply)(redis_ctx *, void *, redis_string **), void *data))                            \
    X(0, int, LoadConfigs, (redis_ctx * ctx))                                                      \
    X(1, int, LoadDefaultConfigs, (redis_ctx * ctx))

#define REDIS_API_FIELD(optional, result, name, parameters) result(*name) parameters;
struct redis_api {
    REDIS_API(REDIS_API_FIELD)
};
#undef REDIS_API_FIELD

extern struct redis_api redis;

/* Returns REDIS_ERR when the server lacks a function that is not optional. */
int redis_api_load(redis_ctx *ctx);

#endif
