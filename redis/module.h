/* What the files of the module share: types, settings, keys, replies. */
#ifndef TAMIS_REDIS_MODULE_H
#define TAMIS_REDIS_MODULE_H

#include "api.h"
#include "redisbloom/compat.h"

#include <stdbool.h>

/* --- Settings (settings.c) -------------------------------------------------------------------- */

struct redis_settings {
    double bf_error_rate;
    long long bf_initial_size, bf_expansion;
    long long cf_bucket_size, cf_initial_size, cf_max_iterations, cf_expansion, cf_max_expansions;
    long long max_bytes; /* of one key */
    bool strict;         /* a key of another type is an error, always */
};
extern struct redis_settings redis_settings;

/* Registers them, as bf.NAME, on Redis 8 as NAME with the alias bf.NAME, and reads the arguments of
 * the module. */
int redis_settings_load(redis_ctx *ctx, redis_string **argv, int argc);

#define REDIS_MAX_CAPACITY (1LL << 30)
#define REDIS_MAX_EXPANSION 32768

/* --- Memory (support.c) ----------------------------------------------------------------------- */

/* The server's own, so that maxmemory and INFO count it; refused where the server would have to
 * kill itself. */
extern const tamis_memory redis_memory;
/* For a value on its way to disk: a server at its maxmemory has to be able to save what it has. */
extern const tamis_memory redis_saving_memory;
/* What a command may take for one key; and what it takes when it comes from a primary or an
 * append-only file, which have decided already. */
struct compat_room redis_room(void);
extern const struct compat_room redis_open_room;
bool redis_must_obey(redis_ctx *ctx);

/* The memory of one command that may take many big blocks, or be refused many times: the server is
 * not asked for each how much it has left. Values are freed with redis_memory. Every command opens
 * an account of its own, and it must not be copied. */
struct redis_account {
    tamis_memory memory;
    uint64_t left; /* 0 before the first question */
    bool exact;    /* nothing was taken since the server was asked */
};
void redis_open_account(struct redis_account *account);

/* --- Keys (support.c) ------------------------------------------------------------------------- */

/* A key of one type, open; value is NULL when there is none. */
struct redis_open {
    redis_key *key;
    void *value;
    bool other_type;
};
struct redis_open redis_open_key(redis_ctx *ctx, redis_string *name, const redis_type *type,
                                 int mode);
void redis_close_key(struct redis_open *open);
/* The value for reading. When there is none or it is of another type, replies (absent: the text
 * when there is none) and returns NULL. */
void *redis_read_key(redis_ctx *ctx, redis_string *name, const redis_type *type, const char *absent,
                     struct redis_open *open);
/* Gives a key its value, which it owns from then on. */
void redis_set_value(struct redis_open *open, redis_type *type, void *value);
void redis_notify(redis_ctx *ctx, const char *event, redis_string *name);

/* --- Words and replies (support.c) ------------------------------------------------------------ */

/* The end of a command that has changed a key: to replicas, to listeners, and OK. */
int redis_done(redis_ctx *ctx, const char *event, redis_string *name);
/* That, or the error: of another type, or the problem unless it is NULL. Closes the key. */
int redis_end(redis_ctx *ctx, struct redis_open *open, redis_string *name, const char *problem,
              const char *event);
/* Whether the items from argv[2] on may be in the value of argv[1]; many: as an array. No key, and
 * unless strict a key of another type, has nothing in it. */
int redis_reply_has(redis_ctx *ctx, redis_string **argv, int argc, const redis_type *type,
                    bool (*has)(const void *value, const void *item, size_t len), bool many);
int redis_error(redis_ctx *ctx, const char *text);
int redis_ok(redis_ctx *ctx);
int redis_wrong_type(redis_ctx *ctx);
tamis_bytes redis_bytes(const redis_string *s);
/* Whether the argument is that word, in any case. */
bool redis_is(const redis_string *s, const char *word);
/* Where the word is in argv from `from` on; -1: nowhere. */
int redis_find(redis_string **argv, int argc, int from, const char *word);
bool redis_number(const redis_string *s, long long *out);
/* A field of an INFO reply: its name and a number. */
void redis_field(redis_ctx *ctx, const char *name, long long value);

/* The arguments of a command that had an effect, in order, for replicas. When all had, or there is
 * no memory for the list, the command itself stands for them. */
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

/* --- Values at rest (types.c) ----------------------------------------------------------------- */

extern redis_type *redis_bloom_type, *redis_cuckoo_type, *redis_sketch_type, *redis_top_type,
    *redis_tamis_type;
int redis_types_load(redis_ctx *ctx);
redis_type *redis_native_type(redis_ctx *ctx); /* native_type.c */

/* Fields of an RDB value, through the API. */
struct compat_writer redis_writer(redis_io *io);
struct compat_reader redis_reader(redis_io *io);
/* For aof_rewrite: RESTORE with the bytes of DUMP. */
void redis_emit_restore(redis_io *io, redis_string *key, void *value, const redis_type *type,
                        const char *name, int encver);

/* --- Commands (commands.c) -------------------------------------------------------------------- */

int redis_commands_load(redis_ctx *ctx);

#endif
