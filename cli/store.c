/* An LMDB as the exact set: the keys of its main database are the lines. It is opened to be read only; each block of lines
 * is a transaction, so that a writer is never held up for long, and what it adds is seen. */
#include "confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How an LMDB begins: a page header, whose flags say that it is a meta page, and the magic, in the machine's order. */
#define FLAGS_AT 10
#define META_FLAG 0x08u
#define MAGIC_AT 16
#define MAGIC 0xBEEFC0DEu

bool is_store(const char *path)
{
    struct stat st;
    unsigned char head[MAGIC_AT + 4];
    uint16_t flags;
    uint32_t magic;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0) return false;
    if (S_ISDIR(st.st_mode)) return true;
    if (!S_ISREG(st.st_mode)) return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    const bool whole = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head;
    close(fd);
    if (!whole) return false;
    memcpy(&flags, head + FLAGS_AT, sizeof flags);
    memcpy(&magic, head + MAGIC_AT, sizeof magic);
    return flags == META_FLAG && magic == MAGIC;
}

#ifdef WITH_LMDB
#include <lmdb.h>

/* Keys to look at before a store is believed to be the filter's. */
enum { SAMPLE = 1024 };

struct store {
    const char *path;
    MDB_env *env;
    MDB_txn *txn; /* reset between blocks */
    MDB_dbi db;
    size_t longest; /* key */
    bool unlocked;
};

static bool fail(const struct store *s, int code)
{
    complain(s->path, "cannot read the store: %s", mdb_strerror(code));
    return false;
}

/* As a reader that writers know of. Where that takes a file that may not be written, as one whom they do not know of;
 * store_confirm then looks whether there was one. */
static int open_env(struct store *s, unsigned flags) /* NOLINT(misc-no-recursion): once at most */
{
    int code = mdb_env_create(&s->env);
    if (code == 0) code = mdb_env_open(s->env, s->path, flags, 0644);
    if (code != EACCES || (flags & MDB_NOLOCK) != 0) return code;
    mdb_env_close(s->env);
    s->env = NULL;
    s->unlocked = true;
    return open_env(s, flags | MDB_NOLOCK);
}

/* The first keys, in the order of the store, must be maybes of the filter. False after a message. */
static bool is_of_filter(const struct store *s, const tamis *t)
{
    MDB_cursor *cursor;
    MDB_val key, value;
    int code = mdb_cursor_open(s->txn, s->db, &cursor);
    if (code != 0) return fail(s, code);
    for (int i = 0; i < SAMPLE && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0; i++)
        if (!tamis_may_contain(t, key.mv_data, key.mv_size)) break;
    mdb_cursor_close(cursor);
    if (code != 0 && code != MDB_NOTFOUND) return fail(s, code);
    if (code == MDB_NOTFOUND || tamis_may_contain(t, key.mv_data, key.mv_size)) return true;
    complain(s->path, "has a key that is certainly not in the filter, which was made of something "
                      "else; nothing can be confirmed by it");
    return false;
}

struct store *store_open(const char *path, const tamis *t)
{
    struct store *s = calloc(1, sizeof *s);
    struct stat st;
    unsigned flags = 0;
    if (s == NULL) {
        complain(NULL, "not enough memory");
        return NULL;
    }
    s->path = path;
    const bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int code = open_env(s, MDB_RDONLY | MDB_NOTLS | (is_folder ? 0 : MDB_NOSUBDIR));
    if (code == 0) code = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn);
    if (code == 0) code = mdb_dbi_open(s->txn, NULL, 0, &s->db);
    if (code == 0) code = mdb_dbi_flags(s->txn, s->db, &flags);
    bool good = code == 0 || fail(s, code);
    if (good && (flags & MDB_INTEGERKEY) != 0) {
        complain(path, "its keys are numbers of the machine, not lines");
        good = false;
    }
    good = good && is_of_filter(s, t);
    if (good) {
        s->longest = (size_t)mdb_env_get_maxkeysize(s->env);
        mdb_txn_reset(s->txn);
        return s;
    }
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (s == NULL) return;
    if (s->txn != NULL) mdb_txn_abort(s->txn);
    if (s->env != NULL) mdb_env_close(s->env);
    free(s);
}

static int renew(struct store *s)
{
    const int code = mdb_txn_renew(s->txn);
    if (code != MDB_MAP_RESIZED) return code;
    const int resized = mdb_env_set_mapsize(s->env, 0); /* a writer has made it bigger */
    return resized != 0 ? resized : mdb_txn_renew(s->txn);
}

static uint64_t last_change(const struct store *s)
{
    MDB_envinfo info;
    return mdb_env_info(s->env, &info) == 0 ? info.me_last_txnid : 0;
}

bool store_confirm(struct store *s, const tamis_bytes *keys, size_t n, uint8_t *bits, size_t *found)
{
    *found = 0;
    int code = renew(s);
    if (code != 0) return fail(s, code);
    const uint64_t before = last_change(s);
    for (size_t i = 0; i < n; i++) {
        if ((bits[i / 8] >> i % 8 & 1) == 0) continue;
        MDB_val key = {keys[i].len, (void *)(uintptr_t)keys[i].p}, value;
        /* What cannot be a key is none. */
        code = keys[i].len == 0 || keys[i].len > s->longest ? MDB_NOTFOUND
                                                            : mdb_get(s->txn, s->db, &key, &value);
        if (code == MDB_NOTFOUND)
            bits[i / 8] &= (uint8_t) ~(1u << i % 8);
        else if (code != 0)
            break;
        else
            ++*found;
    }
    const bool moved = s->unlocked && last_change(s) != before;
    mdb_txn_reset(s->txn);
    if (code != 0 && code != MDB_NOTFOUND) return fail(s, code);
    if (!moved) return true;
    complain(s->path, "changed while it was read, and its lock file cannot be used");
    return false;
}

#else /* without LMDB */

struct store *store_open(const char *path, const tamis *t)
{
    (void)t;
    complain(path, "is a directory or an LMDB, and this tamis was built without LMDB");
    return NULL;
}

void store_close(struct store *s)
{
    (void)s;
}

bool store_confirm(struct store *s, const tamis_bytes *keys, size_t n, uint8_t *bits, size_t *found)
{
    (void)s, (void)keys, (void)n, (void)bits;
    *found = 0;
    return false;
}
#endif
