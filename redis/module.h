/* Declarations that the module's files share: types, settings, keys and replies. */
#ifndef TAMIS_REDIS_MODULE_H
#define TAMIS_REDIS_MODULE_H

#include "api.h"
#include "redisbloom/compat.h"

#include <stdatomic.h>
#include <stdbool.h>

/* --- Statistics (stats.c, survey.c) ----------------------------------------------------------- */

/* The types of values: the name in the code, and the name in INFO. */
#define REDIS_TYPES(X)                                                                             \
    X(BLOOM, "bloom")                                                                              \
    X(CUCKOO, "cuckoo")                                                                            \
    X(SKETCH, "cms")                                                                               \
    X(TOP, "topk")                                                                                 \
    X(TDIGEST, "tdigest")                                                                          \
    X(TAMIS, "tamis")
#define REDIS_TYPE_NAME(name, label) REDIS_##name,
enum redis_type_name { REDIS_TYPES(REDIS_TYPE_NAME) REDIS_TYPE_COUNT };
#undef REDIS_TYPE_NAME

/* What a survey learns about one value in a bounded time. */
struct redis_verdict {
    bool overfull;      /* holds more items than planned */
    uint64_t saturated; /* counters */
    bool unread;        /* has counters that take too long to read */
    uint64_t read;      /* about how many bytes were read for that */
};
typedef void redis_judge_function(const void *value, struct redis_verdict *out);

/* The values of one type. Values are allocated by `memory`, which is redis_memory and counts. The
 * server frees big values in a thread of its own, so the counters are atomic. */
struct redis_tally {
    const char *name;
    tamis_memory memory;
    atomic_ullong keys, bytes;
    redis_type *type;
    size_t (*usage)(redis_key_opt *ctx, const void *value, size_t samples);
    redis_judge_function *judge; /* NULL: such values are never overfull or saturated */
};
extern struct redis_tally redis_tally[REDIS_TYPE_COUNT];

/* Counts a block, or NULL, as part of a value; returns it. redis_uncounted is the opposite. */
void *redis_counted(struct redis_tally *tally, void *p);
void *redis_uncounted(struct redis_tally *tally, void *p);
/* Counts a value that a key gets, or NULL; returns it. redis_value_gone is for the method free. */
void *redis_value_made(enum redis_type_name name, void *value);
void redis_value_gone(enum redis_type_name name);

/* The ways in which a value comes from outside. */
enum redis_source {
    REDIS_BY_CHUNK,
    REDIS_BY_IMAGE,
    REDIS_BY_RESTORE,
    REDIS_BY_LOADING,
    REDIS_SOURCES
};
/* Counts a refused value. The reason contains no data of users. */
void redis_refused(enum redis_source source, const char *what, const char *reason);
/* For the method rdb_load: REDIS_BY_LOADING or REDIS_BY_RESTORE. */
enum redis_source redis_load_source(void);

redis_info_function redis_info_report; /* writes the section of INFO */
int redis_stats_load(redis_ctx *ctx);

/* The last survey of all keys. */
struct redis_survey {
    uint64_t number; /* of surveys that have ended; the fields below are 0 before the first */
    long long ended; /* by redis.Milliseconds */
    uint64_t overfull, saturated, unread;
    uint64_t bytes; /* of the biggest key; 0: there is none */
    int db;
    enum redis_type_name type;
    char key[200]; /* its name, with escapes; a long name is cut */
};
/* Returns the last survey, and starts another if it is too old and `may_start` is set. */
const struct redis_survey *redis_survey(bool may_start);
int redis_survey_load(redis_ctx *ctx);

/* --- Settings (settings.c) -------------------------------------------------------------------- */

struct redis_settings {
    double bf_error_rate;
    long long bf_initial_size, bf_expansion;
    long long cf_bucket_size, cf_initial_size, cf_max_iterations, cf_expansion, cf_max_expansions;
    long long max_bytes; /* of one key */
    bool strict;         /* a key of another type is always an error */
};
extern struct redis_settings redis_settings;

/* Registers the settings and reads the module's arguments. A setting is called bf.NAME; on Redis 8
 * it is called NAME, with the alias bf.NAME. */
int redis_settings_load(redis_ctx *ctx, redis_string **argv, int argc);

#define REDIS_MAX_CAPACITY (1LL << 30)
#define REDIS_MAX_EXPANSION 32768

/* --- Memory (support.c) ----------------------------------------------------------------------- */

/* The server's allocator, so that maxmemory and INFO include the memory of the module. It refuses a
 * block for which the server would have to abort. */
extern const tamis_memory redis_memory;
/* The allocator for saving a value: a server that has reached maxmemory must still be able to save
 * its data. */
extern const tamis_memory redis_saving_memory;
/* The limit for a command on one key. A command that comes from a primary or an append-only file
 * has been accepted already, so redis_open_room applies to it, with 2^48 bytes: more than any
 * address space, and sums of a few such numbers do not overflow. */
#define REDIS_OPEN_BYTES (UINT64_C(1) << 48)
struct compat_room redis_room(enum redis_type_name type);
struct compat_room redis_open_room(enum redis_type_name type);
struct compat_room redis_room_of(redis_ctx *ctx, enum redis_type_name type); /* one of the two */
bool redis_must_obey(redis_ctx *ctx);

/* The allocator of one command that may take many big blocks or be refused many times. It avoids
 * asking the server for its free memory before each block. Its blocks belong to values of the
 * type. Every command opens its own account, which must not be copied. */
struct redis_account {
    tamis_memory memory;
    struct redis_tally *tally;
    uint64_t left; /* 0 before the server was first asked */
    bool exact;    /* nothing was taken since the server was asked */
};
void redis_open_account(struct redis_account *account, enum redis_type_name type);

/* --- Keys (support.c) ------------------------------------------------------------------------- */

/* An open key of one type; value is NULL if the key does not exist. */
struct redis_open {
    redis_key *key;
    void *value;
    bool other_type;
};
struct redis_open redis_open_key(redis_ctx *ctx, redis_string *name, const redis_type *type,
                                 int mode);
void redis_close_key(struct redis_open *open);
/* Returns the value for reading. If the key does not exist or has another type, replies and returns
 * NULL; `absent` is the reply for a missing key. */
void *redis_read_key(redis_ctx *ctx, redis_string *name, const redis_type *type, const char *absent,
                     struct redis_open *open);
/* Replies with an array that has what `reply` sends for each item from argv[2] on, or with an error
 * as redis_read_key does. */
int redis_reply_items(redis_ctx *ctx, redis_string **argv, int argc, const redis_type *type,
                      const char *absent,
                      void (*reply)(redis_ctx *ctx, const void *value, tamis_bytes item));
/* Sets the value of a key, which owns it from then on. */
void redis_set_value(struct redis_open *open, enum redis_type_name type, void *value);
void redis_notify(redis_ctx *ctx, const char *event, redis_string *name);

/* --- Words and replies (support.c) ------------------------------------------------------------ */

/* Ends a command that changed a key: replicates it, notifies listeners, and replies OK. */
int redis_done(redis_ctx *ctx, const char *event, redis_string *name);
/* Does the same, or replies with the error: another type, or `problem` unless it is NULL. Closes
 * the key. */
int redis_end(redis_ctx *ctx, struct redis_open *open, redis_string *name, const char *problem,
              const char *event);
/* Replies whether the items from argv[2] on may be members of the value of argv[1], as an array if
 * `many` is set. A missing key has no members; nor has a key of another type, unless `strict` is
 * set. */
int redis_reply_has(redis_ctx *ctx, redis_string **argv, int argc, const redis_type *type,
                    bool (*has)(const void *value, const void *item, size_t len), bool many);
int redis_error(redis_ctx *ctx, const char *text);
int redis_ok(redis_ctx *ctx);
int redis_wrong_type(redis_ctx *ctx);
tamis_bytes redis_bytes(const redis_string *s);
/* Compares the argument with a word, ignoring case. */
bool redis_is(const redis_string *s, const char *word);
/* Returns the index of the word in argv, from `from` on, or -1. */
int redis_find(redis_string **argv, int argc, int from, const char *word);
bool redis_number(const redis_string *s, long long *out);
/* Replies with a field of INFO: its name and a number. */
void redis_field(redis_ctx *ctx, const char *name, long long value);

/* The arguments of a command that had an effect, in order, for replicas. If all of them had an
 * effect, or there is no memory for the list, the command itself is replicated. */
struct redis_effects {
    redis_string **items;
    size_t n;
};
struct redis_effects redis_effects_new(int most);
static inline void redis_effects_add(struct redis_effects *e, redis_string *item)
{
    if (e->items != NULL) e->items[e->n] = item;
    e->n++;
}
void redis_effects_free(struct redis_effects *e);

/* --- Saved values (types.c) ------------------------------------------------------------------- */

extern redis_type *redis_bloom_type, *redis_cuckoo_type, *redis_sketch_type, *redis_top_type,
    *redis_tdigest_type, *redis_tamis_type;
int redis_types_load(redis_ctx *ctx);
redis_type *redis_native_type(redis_ctx *ctx); /* native/type.c */

/* Creates a data type and remembers its methods for the survey. NULL as CreateDataType. */
redis_type *redis_new_type(redis_ctx *ctx, enum redis_type_name type, const char *name, int encver,
                           struct redis_type_methods *methods, redis_judge_function *judge);

/* The fields of an RDB value, through the API. What is read counts as part of a value. */
struct redis_input {
    redis_io *io;
    struct redis_tally *tally;
};
struct compat_writer redis_writer(redis_io *io);
struct compat_reader redis_reader(struct redis_input *input);
/* For aof_rewrite: writes RESTORE with the bytes of DUMP. */
void redis_emit_restore(redis_io *io, redis_string *key, void *value, const redis_type *type,
                        const char *name, int encver);

/* --- Commands (commands.c) -------------------------------------------------------------------- */

int redis_commands_load(redis_ctx *ctx);

#endif
