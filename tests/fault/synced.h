/* What would a power failure undo? Part of the shim: it follows which files have bytes that were
 * not synced and names whose directory was not, and complains
 *   - when a file gets its last name while it, or any other file that this process made, could
 *     still be lost;
 *   - at exit, about everything that could be lost.
 * That is more than "old or new": it also covers the order of several files, such as a manifest
 * after its parts, or a record before what is noted in it. Files without a name, and those that
 * were removed again, do not matter. A file that might have been made (O_CREAT) counts as made: the
 * process that made it may have been killed before its name was safe. */
#ifndef TAMIS_FAULT_SYNCED_H
#define TAMIS_FAULT_SYNCED_H

enum { SYNCED_FILES = 64 };

struct synced_file {
    struct stat64 st;  /* as it was when first met: which file it is */
    struct stat64 dir; /* of its name, when named */
    bool named, dirty, unlisted;
    char name[64];
};

static struct {
    const char *path;
    struct synced_file files[SYNCED_FILES];
    int n;
    char text[4096];
    int length;
} synced;

static void synced_begin(const char *path)
{
    synced.path = path;
}

static bool synced_is(const struct stat64 *a, const struct stat64 *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool synced_stat(int dir, const char *path, struct stat64 *st)
{
    return REAL(fstatat64)(dir, path, st, 0) == 0;
}

/* Returns NULL for a file that is not followed. */
static struct synced_file *synced_find(const struct stat64 *st)
{
    if (synced.path == NULL || !S_ISREG(st->st_mode)) return NULL;
    for (int i = 0; i < synced.n; i++)
        if (synced_is(&synced.files[i].st, st)) return &synced.files[i];
    if (synced.n == SYNCED_FILES) abort();
    synced.files[synced.n].st = *st;
    return &synced.files[synced.n++];
}

static void synced_complain(const char *file, const char *what)
{
    const int room = (int)sizeof synced.text - synced.length;
    const int n = snprintf(synced.text + synced.length, (size_t)room, "%s %s\n", file, what);
    if (n < room) synced.length += n;
}

static void synced_written(int fd)
{
    struct stat64 st;
    const int kept = errno;
    struct synced_file *f =
        synced.path != NULL && REAL(fstat64)(fd, &st) == 0 ? synced_find(&st) : NULL;
    if (f != NULL) f->dirty = true;
    errno = kept;
}

/* Notes that a file was synced, or a directory and therefore all names in it. */
static void synced_now(int fd)
{
    struct stat64 st;
    if (synced.path == NULL || REAL(fstat64)(fd, &st) != 0) return;
    struct synced_file *f = synced_find(&st);
    if (f != NULL) f->dirty = false;
    for (int i = 0; i < synced.n; i++)
        if (synced_is(&synced.files[i].dir, &st)) synced.files[i].unlisted = false;
}

/* It has a new name there. */
static void synced_named(int dir, const char *path)
{
    struct stat64 st;
    char folder[4096];
    if (synced.path == NULL || !synced_stat(dir, path, &st)) return;
    struct synced_file *f = synced_find(&st);
    if (f == NULL) return;
    const char *slash = strrchr(path, '/');
    const size_t n = slash != NULL ? (size_t)(slash - path) : 0;
    if (n >= sizeof folder) abort();
    memcpy(folder, path, n);
    strcpy(folder + n, n == 0 ? slash != NULL ? "/" : "." : "");
    if (!synced_stat(dir, folder, &f->dir)) abort();
    f->named = f->unlisted = true;
    snprintf(f->name, sizeof f->name, "%s", slash != NULL ? slash + 1 : path);
}

/* About to get a name that others look for; a temporary one is not such. */
static void synced_publish(int dir, const char *from, const char *to)
{
    struct stat64 st;
    const char *slash = strrchr(to, '/');
    if (synced.path == NULL || strncmp(slash != NULL ? slash + 1 : to, ".tamis-", 7) == 0) return;
    if (!synced_stat(dir, from, &st)) return;
    const struct synced_file *f = synced_find(&st);
    for (int i = 0; i < synced.n; i++) {
        const struct synced_file *other = &synced.files[i];
        if (other == f && f->dirty) synced_complain(to, "is named before it is synced");
        if (other == f || !other->named) continue;
        if (other->dirty) synced_complain(to, "is named before another file is synced");
        if (other->unlisted)
            synced_complain(to, "is named before the name of another file is safe");
    }
}

/* About to be removed. */
static void synced_forget(int dir, const char *path)
{
    struct stat64 st;
    if (synced.path == NULL || !synced_stat(dir, path, &st)) return;
    struct synced_file *f = synced_find(&st);
    if (f == NULL || st.st_nlink > 1) return;
    f->named = f->dirty = f->unlisted = false;
    f->st.st_ino = 0; /* the number may be used again */
}

/* About to get a name, whatever has it now: that is gone then. */
static void synced_replace(int from_dir, const char *from, int to_dir, const char *to)
{
    synced_forget(to_dir, to);
    synced_publish(from_dir, from, to);
}

static void synced_end(void)
{
    if (synced.path == NULL) return;
    for (int i = 0; i < synced.n; i++) {
        const struct synced_file *f = &synced.files[i];
        if (f->named && f->dirty) synced_complain(f->name, "was never synced");
        if (f->named && f->unlisted) synced_complain(f->name, "has a name that was never synced");
    }
    const long fd = syscall(SYS_openat, AT_FDCWD, synced.path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || syscall(SYS_write, fd, synced.text, synced.length) != synced.length) abort();
    syscall(SYS_close, fd);
}

#endif
