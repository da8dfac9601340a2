/* An LMDB as the exact set: the keys of its main database are the lines. It is opened read-only.
 * Each block of lines is a transaction, so that a writer is never delayed for long and its
 * additions are seen.
 *
 * A key that the filter excludes would never be looked up, so the answer is exact only if the
 * filter does not exclude any key. All keys are therefore queried in one pass before the first
 * line, and again when the store has changed. */
#include "../frame/output.h"
#include "../frame/progress.h"
#include "confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first bytes of an LMDB: a page header, whose flags mark a meta page, and the magic number in
 * the byte order of the machine. */
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

/* The filter is queried for that many keys at a time. */
enum { GROUP = 4096 };

struct store {
    const char *path;
    MDB_env *env;
    MDB_txn *txn; /* reset between blocks */
    MDB_dbi db;
    const tamis *filter;
    size_t longest;  /* the longest possible key */
    uint64_t looked; /* the transaction whose state was compared with the filter */
    bool unlocked, quiet;
};

static void complain_of_code(const struct store *s, int code)
{
    complain(s->path, "cannot read the store: %s", mdb_strerror(code));
}

/* Opens the store as a registered reader. That needs a lock file; where it cannot be written, the
 * store is opened without a lock, and store_confirm checks whether a writer has changed it. */
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

static uint64_t last_change(const struct store *s)
{
    MDB_envinfo info;
    return mdb_env_info(s->env, &info) == 0 ? info.me_last_txnid : 0;
}

static void complain_of_change(const struct store *s)
{
    complain(s->path, "the store changed while it was read, and its lock file cannot be used");
}

/* Counts the keys that the filter excludes. Returns an error of LMDB or 0. */
static int count_excluded(const struct store *s, struct progress *bar, uint64_t *excluded)
{
    tamis_bytes keys
        [GROUP]; /* they are in the pages of the store, which are valid during the transaction */
    uint8_t bits[GROUP / 8];
    MDB_cursor *cursor;
    MDB_val key, value;
    int code = mdb_cursor_open(s->txn, s->db, &cursor);
    if (code != 0) return code;
    do {
        size_t n = 0;
        while (n < GROUP && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_NODUP)) == 0)
            keys[n++] = (tamis_bytes){key.mv_data, key.mv_size};
        *excluded += n - tamis_may_contain_many(s->filter, keys, n, bits);
        progress_add(bar, n);
    } while (code == 0);
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Whether the filter excludes no key of the present state; false after a message. */
static bool is_of_filter(struct store *s)
{
    MDB_stat stat = {.ms_entries = 0};
    struct progress bar = {0};
    uint64_t excluded = 0;
    const uint64_t state = mdb_txn_id(s->txn);
    if (state == s->looked) return true;
    const uint64_t before = last_change(s);
    mdb_stat(s->txn, s->db, &stat);
    if (!s->quiet) progress_count(&bar, "reading the store", "keys", stat.ms_entries);
    const int code = count_excluded(s, &bar, &excluded);
    progress_end(&bar);
    const bool moved = s->unlocked && last_change(s) != before;
    if (code != 0)
        complain_of_code(s, code);
    else if (moved)
        complain_of_change(s);
    else if (excluded != 0)
        complain_of_excluded(s->path, excluded, s->filter);
    if (code != 0 || moved || excluded != 0) return false;
    s->looked = state;
    s->quiet = true; /* from now on lines may be printed on the terminal */
    return true;
}

struct store *store_open(const char *path, const tamis *t, bool quiet)
{
    struct store *s = calloc(1, sizeof *s);
    struct stat st;
    unsigned flags = 0;
    tamis_facts f = {.struct_size = sizeof f};
    if (s == NULL) {
        complain(NULL, "not enough memory");
        return NULL;
    }
    s->path = path;
    s->filter = t;
    s->quiet = quiet;
    s->looked = UINT64_MAX; /* no state has been compared */
    const bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int code = open_env(s, MDB_RDONLY | MDB_NOTLS | (is_folder ? 0 : MDB_NOSUBDIR));
    if (code == 0) code = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn);
    if (code == 0) code = mdb_dbi_open(s->txn, NULL, 0, &s->db);
    if (code == 0) code = mdb_dbi_flags(s->txn, s->db, &flags);
    bool good = code == 0;
    if (!good) complain_of_code(s, code);
    if (good && (flags & MDB_INTEGERKEY) != 0) {
        complain(path, "the keys of this store are integers (MDB_INTEGERKEY), not lines");
        good = false;
    }
    if (good && tamis_stat(t, &f) == TAMIS_OK && f.encoding == TAMIS_KEYS_INT64) {
        complain(path, "a store cannot confirm the integers of this filter (int64le); a list can");
        good = false;
    }
    good = good && is_of_filter(s);
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

bool store_confirm(struct store *s, const tamis_bytes *keys, size_t n, uint8_t *bits, size_t *found)
{
    *found = 0;
    int code = renew(s);
    if (code != 0) {
        complain_of_code(s, code);
        return false;
    }
    if (!is_of_filter(s)) return false;
    const uint64_t before = last_change(s);
    for (size_t i = 0; i < n; i++) {
        if ((bits[i / 8] >> i % 8 & 1) == 0) continue;
        MDB_val key = {keys[i].len, (void *)(uintptr_t)keys[i].p}, value;
        /* What cannot be a key is not in the store. */
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
    const bool failed = code != 0 && code != MDB_NOTFOUND;
    if (failed)
        complain_of_code(s, code);
    else if (moved)
        complain_of_change(s);
    return !failed && !moved;
}

#else /* without LMDB */

struct store *store_open(const char *path, const tamis *t, bool quiet)
{
    (void)t, (void)quiet;
    complain(path, "is a directory or an LMDB, but this tamis was built without LMDB");
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
