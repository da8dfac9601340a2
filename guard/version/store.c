#include "store.h"

#include "manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LABEL_BYTES 8
/* The size of the map, up to which LMDB takes pages as it needs them. An entry takes 48 bytes and a
 * share of half-empty pages; entries appended in order fill their pages. */
#define MAP_PER_ENTRY 128u
#define MAP_LEAST (16u << 20)
/* A single file without a lock file, because nobody writes to it after it has been published. */
#define FLAGS (MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS)

struct guard_store {
    MDB_env *env;
    MDB_dbi db;
};

static bool fail_store(guard_error *why, const char *path, int code)
{
    snprintf(why->text, sizeof why->text, "%s: %s", path, mdb_strerror(code));
    return false;
}

static void put_labels(uint8_t *to, uint64_t labels)
{
    for (int i = 0; i < LABEL_BYTES; i++) to[i] = (uint8_t)(labels >> 8 * i);
}

static uint64_t get_labels(const MDB_val *v)
{
    uint64_t labels = 0;
    for (int i = 0; i < LABEL_BYTES && v->mv_size == LABEL_BYTES; i++)
        labels |= (uint64_t)((const uint8_t *)v->mv_data)[i] << 8 * i;
    return labels;
}

static int write_all(MDB_env *env, const struct guard_entry *entries, size_t n)
{
    MDB_txn *txn;
    MDB_dbi db;
    int code = mdb_txn_begin(env, NULL, 0, &txn);
    if (code != 0) return code;
    code = mdb_dbi_open(txn, NULL, 0, &db);
    for (size_t i = 0; i < n && code == 0; i++) {
        uint8_t hash[GUARD_HASH_SIZE], labels[LABEL_BYTES];
        memcpy(hash, entries[i].hash, sizeof hash);
        put_labels(labels, entries[i].labels);
        MDB_val key = {sizeof hash, hash}, value = {sizeof labels, labels};
        code = mdb_put(txn, db, &key, &value, MDB_APPEND);
    }
    if (code == 0) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return code;
}

bool guard_store_write(const char *path, const struct guard_entry *entries, size_t n,
                       guard_error *why)
{
    MDB_env *env;
    /* LMDB would add to a file that a killed build left. */
    if (unlink(path) != 0 && errno != ENOENT) return fail_store(why, path, errno);
    int code = mdb_env_create(&env);
    if (code != 0) return fail_store(why, path, code);
    code = mdb_env_set_mapsize(env, n * MAP_PER_ENTRY + MAP_LEAST);
    if (code == 0) code = mdb_env_open(env, path, FLAGS | MDB_NOSYNC, 0644);
    if (code == 0) code = write_all(env, entries, n);
    if (code == 0) code = mdb_env_sync(env, 1);
    mdb_env_close(env);
    if (code != 0) return fail_store(why, path, code);
    return true;
}

static bool append(void *ctx, const void *bytes, size_t n)
{
    const int *fd = ctx;
    for (const char *p = bytes; n > 0;) {
        const ssize_t put = write(*fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

/* Returns a file in memory with the verified bytes of the store, or -1 after a failure. */
static int copy_to_memory(const char *path, const guard_part *part, guard_error *why)
{
    int fd = memfd_create("tamis-guard-store", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        fail_store(why, path, errno);
        return -1;
    }
    bool good = guard_read_part(path, part, append, &fd, why);
    if (good && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        good = fail_store(why, path, errno);
    if (good) return fd;
    close(fd);
    return -1;
}

/* Checks the totals, so that LMDB does not read beyond the end of the file. */
static bool has_totals(const struct guard_store *s, const char *path, uint64_t bytes,
                       uint64_t entries, MDB_txn *txn, guard_error *why)
{
    MDB_envinfo env;
    MDB_stat db;
    int code = mdb_env_info(s->env, &env);
    if (code == 0) code = mdb_stat(txn, s->db, &db);
    if (code != 0) return fail_store(why, path, code);
    if (env.me_last_pgno >= bytes / db.ms_psize || db.ms_entries != entries)
        return guard_fail(why, "%s: does not have the %llu entries that the manifest names", path,
                          (unsigned long long)entries);
    return true;
}

static bool open_copy(struct guard_store *s, int copy, const char *path, uint64_t bytes,
                      uint64_t entries, guard_error *why)
{
    MDB_txn *txn = NULL;
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
    int code = mdb_env_create(&s->env);
    if (code == 0) code = mdb_env_set_maxreaders(s->env, 1024);
    if (code == 0) code = mdb_env_open(s->env, name, FLAGS | MDB_RDONLY, 0644);
    if (code == ENOENT || code == EACCES) /* /proc may be missing */
        return guard_fail(why, "%s: the copy in memory (%s): %s", path, name, mdb_strerror(code));
    if (code == 0) code = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn);
    if (code == 0) code = mdb_dbi_open(txn, NULL, 0, &s->db);
    const bool good =
        code == 0 ? has_totals(s, path, bytes, entries, txn, why) : fail_store(why, path, code);
    if (txn != NULL) mdb_txn_abort(txn);
    return good;
}

struct guard_store *guard_store_open(const char *path, const guard_part *part, uint64_t entries,
                                     guard_error *why)
{
    struct guard_store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        guard_fail(why, "not enough memory");
        return NULL;
    }
    const int copy = copy_to_memory(path, part, why);
    const bool good = copy >= 0 && open_copy(s, copy, path, part->bytes, entries, why);
    if (copy >= 0) close(copy);
    if (good) return s;
    guard_store_close(s);
    return NULL;
}

void guard_store_close(struct guard_store *s)
{
    if (s == NULL) return;
    if (s->env != NULL) mdb_env_close(s->env);
    free(s);
}

int guard_store_find(const struct guard_store *s, const uint8_t hash[GUARD_HASH_SIZE],
                     uint64_t *labels)
{
    MDB_txn *txn;
    uint8_t copy[GUARD_HASH_SIZE];
    memcpy(copy, hash, sizeof copy);
    MDB_val key = {sizeof copy, copy}, value;
    if (mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn) != 0) return -1;
    const int code = mdb_get(txn, s->db, &key, &value);
    if (code == 0) *labels = get_labels(&value);
    mdb_txn_abort(txn);
    if (code == 0) return 1;
    return code == MDB_NOTFOUND ? 0 : -1;
}

/* Visits entries from the first one not before the prefix, as long as they begin with it. */
static bool each_from(MDB_cursor *cursor, const uint8_t *prefix, size_t size, guard_put *put,
                      void *ctx)
{
    uint8_t copy[GUARD_HASH_SIZE] = {0};
    memcpy(copy, prefix, size);
    MDB_val key = {size != 0 ? size : 1, copy}, value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && key.mv_size == GUARD_HASH_SIZE && memcmp(key.mv_data, prefix, size) == 0) {
        if (!put(ctx, key.mv_data, get_labels(&value))) return false;
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return code == 0 || code == MDB_NOTFOUND;
}

bool guard_store_each(const struct guard_store *s, const uint8_t *prefix, size_t size,
                      guard_put *put, void *ctx)
{
    static const uint8_t nothing[1];
    MDB_txn *txn;
    MDB_cursor *cursor;
    if (size > GUARD_HASH_SIZE || mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn) != 0) return false;
    bool good = mdb_cursor_open(txn, s->db, &cursor) == 0;
    if (good) {
        good = each_from(cursor, size != 0 ? prefix : nothing, size, put, ctx);
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    return good;
}
