/* Files: the only room that opens any.
 *
 * Saving never touches the old file: the image goes to an unnamed file in the same directory (a
 * named one where the system has no such thing), is synced, and takes over the name by rename; then
 * the directory is synced. After any failure nothing is left behind and the old file stands (only a
 * kill between naming the new file and renaming it leaves a `.tamis-*.tmp`, which may be removed);
 * a file whose fsync failed is never synced again, since the kernel may have dropped the pages and
 * would say yes.
 *
 * Two writers. TAMIS_UPDATE locks the file itself with flock, which belongs to the open file and
 * not to the process, so other descriptors do not disturb it. Since each save puts a new file under
 * the name, whoever gets a lock checks that the name still leads to the file it locked, else starts
 * again with the new one; and the new file is locked before it gets the name. No lock file is ever
 * left lying around. A save over an existing file takes the same lock for its own duration.
 *
 * Poorer file systems. Where flock is not supported, TAMIS_UPDATE fails, and every other save does
 * without a lock: it still compares the file under the name with the one that was opened, once
 * before the image is written and once more just before the rename. Where hard links are refused,
 * an unnamed file cannot be named, so the image is written again to a file that has a temporary
 * name from the start. A name that must be free is then taken by renameat2 with RENAME_NOREPLACE,
 * and, where that is refused as well, by an empty file that is created exclusively and replaced at
 * once. That empty file is left behind by a kill between these two steps, by another save that
 * locks it between them and then fails, and by errors that hide whose file it is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE, renameat2 */
#endif
#define _FILE_OFFSET_BITS 64

#include "file.h"

#include "../core/error.h"
#include "../core/memory.h"
#include "image.h"

#ifndef __wasm__ /* which has no files */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#if defined(__linux__) && !defined(RENAME_NOREPLACE)
#include <sys/syscall.h>
#endif
#include <unistd.h>

struct file {
    uint64_t root; /* of the image under the path when it was opened or saved last */
    int lock;      /* a locked descriptor of the file, or -1 */
    void *map;     /* or NULL */
    size_t map_size;
    char path[]; /* resolved */
};

static tamis_status io_fail(tamis_error *why, const char *what)
{
    const int os = errno;
    tamis__fail(why, TAMIS_EIO, "%s: %s", what, strerror(os));
    if (why != NULL) why->os = os;
    return TAMIS_EIO;
}

static tamis_status not_regular(const struct stat *st, tamis_error *why)
{
    tamis__fail(why, TAMIS_EIO, S_ISDIR(st->st_mode) ? "is a directory" : "not a regular file");
    if (why != NULL) why->os = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
    return TAMIS_EIO;
}

static void close_quietly(int fd)
{
    const int kept = errno;
    close(fd);
    errno = kept;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static tamis_status read_at(const struct source *src, uint64_t at, void *to, size_t n,
                            tamis_error *why)
{
    for (uint8_t *p = to; n > 0;) {
        const ssize_t got = pread(src->fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return io_fail(why, "cannot read");
        if (got == 0) return tamis__corrupt(why, at, "the file became shorter while it was read");
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return TAMIS_OK;
}

/* A descriptor of 0 to 2 is somebody's standard stream as soon as they print or read: never
 * ours. */
static int off_standard_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close_quietly(fd);
    return moved;
}

/* A regular file, or why not. To be locked: with write access if we have it, which NFS wants for
 * that. */
static tamis_status open_regular(const char *path, bool lock, int *fd, struct stat *st,
                                 tamis_error *why)
{
    /* Without O_NONBLOCK, opening a FIFO would wait for a writer. */
    const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    *fd = lock ? off_standard_streams(open(path, O_RDWR | flags)) : -1;
    if (*fd < 0) *fd = off_standard_streams(open(path, O_RDONLY | flags));
    if (*fd < 0) return io_fail(why, "cannot open");
    tamis_status s = TAMIS_OK;
    if (fstat(*fd, st) != 0) {
        s = io_fail(why, "cannot open");
    } else if (!S_ISREG(st->st_mode)) {
        s = not_regular(st, why);
    }
    if (s != TAMIS_OK) {
        close_quietly(*fd);
        *fd = -1;
    }
    return s;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether flock is not supported here, rather than failing: Lustre mounted without it, NFS without
 * its lock service, some FUSE. */
static bool is_lockless(int os)
{
    return os == ENOSYS || os == ENOLCK || os == EOPNOTSUPP;
}

enum lock { LOCK_IF_POSSIBLE, LOCK_OR_FAIL, LOCK_AND_WAIT };

/* 0 without a lock when it is only wanted if possible. */
static int lock_file(int fd, enum lock how)
{
    int r;
    do r = flock(fd, LOCK_EX | (how == LOCK_AND_WAIT ? 0 : LOCK_NB));
    while (r != 0 && errno == EINTR);
    return r != 0 && how == LOCK_IF_POSSIBLE && is_lockless(errno) ? 0 : r;
}

static tamis_status lock_fail(tamis_error *why)
{
    if (errno == EWOULDBLOCK)
        return tamis__fail(why, TAMIS_EBUSY, "another process is changing this file");
    return io_fail(why, is_lockless(errno)
                            ? "this file system cannot lock files, which an update requires"
                            : "cannot lock");
}

/* Open and lock the file that has this name once the lock is held. */
static tamis_status open_locked(const char *path, enum lock how, int *fd, struct stat *st,
                                tamis_error *why)
{
    for (;;) {
        tamis_status s = open_regular(path, true, fd, st, why);
        if (s != TAMIS_OK) return s;
        struct stat now = {0};
        if (lock_file(*fd, how) != 0)
            s = lock_fail(why);
        else if ((stat(path, &now) != 0 && errno != ENOENT) ||
                 fstat(*fd, st) != 0) /* again: somebody may have written while we waited */
            s = io_fail(why, "cannot lock");
        else if (same_file(st, &now))
            return TAMIS_OK;
        close_quietly(*fd);
        *fd = -1;
        if (s != TAMIS_OK) return s;
    }
}

static void close_file(tamis *t)
{
    if (t->file->lock >= 0) close(t->file->lock);
    if (t->file->map != NULL) munmap(t->file->map, t->file->map_size);
    tamis__free(t->memory, t->file);
}

static struct file *new_file(const tamis_memory *memory, const char *path)
{
    const size_t n = strlen(path) + 1;
    struct file *f = tamis__alloc(memory, sizeof *f + n);
    if (f == NULL) return NULL;
    f->lock = -1;
    memcpy(f->path, path, n);
    return f;
}

static tamis_status read_file(int fd, const struct stat *st, const tamis_options *o, struct file *f,
                              tamis **out, tamis_error *why)
{
    struct source src = {.size = (uint64_t)st->st_size, .read = read_at, .fd = fd};
    const bool map = (o->flags & TAMIS_MAP) != 0 && src.size >= TAMIS__HEADER_BYTES;
    if (map && src.size > SIZE_MAX) return tamis__fail(why, TAMIS_ENOMEM, "too big to map");
    if (map) {
        void *p = mmap(NULL, (size_t)src.size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) return io_fail(why, "cannot map");
        f->map = p;
        f->map_size = (size_t)src.size;
        src.memory = p;
    }
    uint8_t header[TAMIS__HEADER_BYTES];
    tamis_status s = tamis__image_read(&src, o, map, out, why);
    if (s == TAMIS_OK) s = read_at(&src, 0, header, sizeof header, why);
    if (s == TAMIS_OK) tamis__image_root(header, &f->root);
    return s;
}

#define NO_PATH "path must not be NULL"

#define OPEN_FLAGS                                                                                 \
    ((uint32_t)(TAMIS_MAP | TAMIS_UNVERIFIED | TAMIS_KEYLESS | TAMIS_UPDATE | TAMIS_WAIT |         \
                TAMIS_SHARED))

tamis_status tamis_open(const char *path, const tamis_options *options, tamis **out,
                        tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    tamis_status s = tamis__check_options(options, OPEN_FLAGS, &o, why);
    if (s != TAMIS_OK) return s;
    const bool update = (o.flags & TAMIS_UPDATE) != 0;
    if (path == NULL) return tamis__fail(why, TAMIS_EINVAL, NO_PATH);
    if ((o.flags & TAMIS_MAP) != 0 && (o.flags & (TAMIS_UPDATE | TAMIS_SHARED)) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a mapped file cannot be changed");
    int fd;
    struct stat st;
    const enum lock how = (o.flags & TAMIS_WAIT) != 0 ? LOCK_AND_WAIT : LOCK_OR_FAIL;
    s = update ? open_locked(path, how, &fd, &st, why) : open_regular(path, false, &fd, &st, why);
    if (s != TAMIS_OK) return s;

    char resolved[PATH_MAX];
    tamis *t = NULL;
    struct file *f = NULL;
    if (realpath(path, resolved) == NULL)
        s = io_fail(why, "cannot resolve the path");
    else if ((f = new_file(o.memory, resolved)) == NULL)
        s = tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    else
        s = read_file(fd, &st, &o, f, &t, why);
    if (s != TAMIS_OK) {
        tamis_close(t);
        if (f != NULL && f->map != NULL) munmap(f->map, f->map_size);
        tamis__free(o.memory, f);
        close_quietly(fd);
        return s;
    }
    if (update)
        f->lock = fd;
    else
        close(fd);
    t->file = f;
    t->close_file = close_file;
    *out = t;
    return TAMIS_OK;
}

/* --- Saving ----------------------------------------------------------------------------------- */

#define TEMPORARY_NAME 64

struct save {
    char target[PATH_MAX];   /* resolved: a symbolic link to a file is followed, not replaced */
    const char *name;        /* the last part of target */
    bool exists;             /* something has that name already */
    bool only_new;           /* and then it is an error */
    bool origin;             /* the target is the file that the handle was opened from */
    bool keeps_lock;         /* and the handle has it locked */
    tamis__writer *write_to; /* of `what`; NULL: the image of a handle is saved */
    const void *what;
    struct stat old;
    int old_lock; /* taken for this save, or -1 */
    int dir, fd;
    char temporary[TEMPORARY_NAME]; /* in dir; empty: the file has no name yet */
    bool unnamed_fails;             /* a file without a name could not be given one later */
    bool published;                 /* the new file has taken the name */
    tamis_error *why;
};

static tamis_status put_bytes(void *ctx, const void *bytes, size_t n)
{
    struct save *j = ctx;
    for (const uint8_t *p = bytes; n > 0;) {
        const ssize_t put = write(j->fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return io_fail(j->why, "cannot write");
        p += put;
        n -= (size_t)put;
    }
    return TAMIS_OK;
}

/* There is no such file: only its directory can be resolved. */
static tamis_status resolve_new(struct save *j, const char *path)
{
    struct stat link;
    if (lstat(path, &link) == 0) { /* /dev/stdout to a pipe, for one: not ours to replace */
        errno = ENOENT;
        return io_fail(j->why, "a symbolic link that leads to no file");
    }
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char directory[PATH_MAX] = ".";
    const size_t n = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    errno = ENAMETOOLONG;
    if (n >= sizeof directory) return io_fail(j->why, "cannot save");
    if (slash != NULL) memcpy(directory, path, n);
    if (realpath(directory, j->target) == NULL) return io_fail(j->why, "cannot open the directory");
    const size_t at = strlen(j->target);
    const char *between = j->target[at - 1] == '/' ? "" : "/";
    errno = ENAMETOOLONG;
    if (strlen(name) + 1 >= sizeof j->target - at) return io_fail(j->why, "cannot save");
    snprintf(j->target + at, sizeof j->target - at, "%s%s", between, name);
    return TAMIS_OK;
}

static tamis_status find_target(struct save *j, const char *path)
{
    if (realpath(path, j->target) != NULL) {
        j->exists = stat(j->target, &j->old) == 0;
        if (!j->exists && errno != ENOENT) return io_fail(j->why, "cannot save");
        if (j->exists && !S_ISREG(j->old.st_mode)) return not_regular(&j->old, j->why);
    } else {
        tamis_status s = errno == ENOENT ? resolve_new(j, path) : io_fail(j->why, "cannot save");
        if (s != TAMIS_OK) return s;
    }
    if (j->exists && j->only_new) {
        errno = EEXIST;
        return io_fail(j->why, "cannot save");
    }
    const char *slash = strrchr(j->target, '/');
    j->name = slash + 1;
    if (*j->name == '\0') {
        errno = EISDIR;
        return io_fail(j->why, "cannot save");
    }
    char directory[PATH_MAX] = "/";
    memcpy(directory, j->target, (size_t)(slash - j->target));
    j->dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return j->dir >= 0 ? TAMIS_OK : io_fail(j->why, "cannot open the directory");
}

static tamis_status changed_meanwhile(const struct save *j)
{
    return tamis__fail(j->why, TAMIS_EBUSY, "changed by another process since it was opened");
}

/* The lock on what is to be replaced, and proof that it is what this handle has read. */
static tamis_status claim_target(struct save *j, const tamis *t)
{
    const struct file *file = t != NULL ? t->file : NULL;
    j->origin = file != NULL && strcmp(file->path, j->target) == 0;
    j->keeps_lock = j->origin && file->lock >= 0;
    if (!j->exists) return TAMIS_OK;
    struct stat locked;
    int fd = file != NULL ? file->lock : -1;
    if (fd >= 0 && fstat(fd, &locked) != 0) return io_fail(j->why, "cannot save");
    tamis_status s = TAMIS_OK;
    if (!j->keeps_lock || !same_file(&locked, &j->old)) {
        s = open_locked(j->target, LOCK_IF_POSSIBLE, &j->old_lock, &j->old, j->why);
        j->exists = s != TAMIS_EIO || j->why->os != ENOENT;
        if (!j->exists) j->why->status = s = TAMIS_OK; /* removed just now */
        if (s != TAMIS_OK || !j->exists) return s;
        fd = j->old_lock;
    }
    if (!j->origin) return TAMIS_OK;
    uint8_t header[TAMIS__HEADER_BYTES];
    uint64_t root;
    const struct source src = {.fd = fd};
    s = read_at(&src, 0, header, sizeof header, j->why);
    if (s == TAMIS_EIO) return s;
    if (s != TAMIS_OK || !tamis__image_root(header, &root) || root != file->root)
        return changed_meanwhile(j);
    return TAMIS_OK;
}

/* Without a lock, others may have replaced it while the image was written. The descriptor that
 * claim_target has read keeps the inode number from being used again. A file that was removed is no
 * obstacle, as before the save. */
static tamis_status check_claim(const struct save *j)
{
    struct stat now;
    if (!j->exists || !j->origin) return TAMIS_OK;
    if (stat(j->target, &now) == 0)
        return same_file(&now, &j->old) ? TAMIS_OK : changed_meanwhile(j);
    return errno == ENOENT ? TAMIS_OK : io_fail(j->why, "cannot save");
}

/* A name that is free in the directory, for as long as nobody else picks it. */
static void pick_temporary_name(char *name, unsigned attempt)
{
    snprintf(name, TEMPORARY_NAME, ".tamis-%ld-%u.tmp", (long)getpid(), attempt);
}

#define MAX_ATTEMPTS 1000u
#define EXCLUSIVELY (O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW)

/* A descriptor of a new file of that name; -1: errno, there is none, and the name is empty. */
static int create_named(int dir, mode_t mode, char *name)
{
    int fd, made = -1;
    for (unsigned i = 0; made < 0 && i < MAX_ATTEMPTS; i++) {
        pick_temporary_name(name, i);
        made = openat(dir, name, EXCLUSIVELY, mode);
        if (made < 0 && errno != EEXIST) break;
    }
    if ((fd = off_standard_streams(made)) >= 0) return fd;
    const int os = errno;
    if (made >= 0) unlinkat(dir, name, 0);
    name[0] = '\0';
    errno = os;
    return -1;
}

static tamis_status open_temporary(struct save *j)
{
#ifdef O_TMPFILE
    if (!j->unnamed_fails && access("/proc/self/fd", X_OK) == 0) /* needed to name it later */
        j->fd = off_standard_streams(openat(j->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
#endif
    if (j->fd < 0) j->fd = create_named(j->dir, 0666, j->temporary);
    if (j->fd < 0) return io_fail(j->why, "cannot create a file in that directory");
    if (!j->exists) return TAMIS_OK;
    /* Only root can give a file away; for others it becomes their own, as with any editor. */
    if (fchown(j->fd, j->old.st_uid, j->old.st_gid) != 0 && errno != EPERM)
        return io_fail(j->why, "cannot set the owner");
    if (fchmod(j->fd, j->old.st_mode & 07777) != 0) return io_fail(j->why, "cannot set the mode");
    return TAMIS_OK;
}

static int link_open_file(const struct save *j, const char *name)
{
    char self[40];
    if (j->temporary[0] != '\0') return linkat(j->dir, j->temporary, j->dir, name, 0);
    snprintf(self, sizeof self, "/proc/self/fd/%d", j->fd);
    return linkat(AT_FDCWD, self, j->dir, name, AT_SYMLINK_FOLLOW);
}

/* Whether hard links, or renaming without replacing, are not to be had here, rather than failing:
 * FAT, SMB and FUSE; old kernels, and filters of system calls. */
static bool is_refusal(int os)
{
    return os == EPERM || os == EACCES || os == EOPNOTSUPP || os == ENOSYS || os == EINVAL;
}

/* As rename, but EEXIST when the new name is taken. */
static int rename_to_free_name(int dir, const char *from, const char *to)
{
#if defined(RENAME_NOREPLACE)
    return renameat2(dir, from, dir, to, RENAME_NOREPLACE);
#elif defined(SYS_renameat2) /* older versions of musl have no function for it */
    return (int)syscall(SYS_renameat2, dir, from, dir, to, 1u);
#else
    (void)dir, (void)from, (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

/* errno stays as it was when the path leads to another file. */
static bool leads_to(const char *path, int fd)
{
    struct stat mine, now;
    return fstat(fd, &mine) == 0 && stat(path, &now) == 0 && same_file(&mine, &now);
}

/* An empty file takes the name, so that nobody else can, and is replaced. Whoever saves over it
 * meanwhile has its lock, or has replaced it already, and then wins. Who has the lock and fails
 * leaves it there, since a save does not know an empty file of ours from a user's. The descriptor
 * may be a standard stream: nobody reads what is in it. */
static int rename_over_placeholder(struct save *j)
{
    const int fd = j->old_lock = openat(j->dir, j->name, EXCLUSIVELY, 0600);
    if (fd < 0) return -1;
    const bool busy = lock_file(fd, LOCK_IF_POSSIBLE) != 0 && errno == EWOULDBLOCK;
    errno = EEXIST;
    if (busy) return -1;
    if (leads_to(j->target, fd) && renameat(j->dir, j->temporary, j->dir, j->name) == 0) return 0;
    const int os = errno;
    if (leads_to(j->target, fd)) unlinkat(j->dir, j->name, 0);
    errno = os;
    return -1;
}

/* 0; -1: errno, EEXIST when something has the name. */
static int take_free_name(struct save *j)
{
    if (link_open_file(j, j->name) == 0) return 0;
    if (j->temporary[0] == '\0' || !is_refusal(errno)) return -1;
    int r = rename_to_free_name(j->dir, j->temporary, j->name);
    if (r != 0 && is_refusal(errno)) r = rename_over_placeholder(j);
    if (r == 0) j->temporary[0] = '\0';
    return r;
}

/* Give the finished file its name; 0, or -1: errno. */
static int take_name(struct save *j)
{
    if (j->only_new) return take_free_name(j);
    for (unsigned i = 0; j->temporary[0] == '\0' && i < MAX_ATTEMPTS; i++) {
        char name[TEMPORARY_NAME];
        pick_temporary_name(name, i);
        if (link_open_file(j, name) == 0)
            memcpy(j->temporary, name, sizeof name);
        else if (errno != EEXIST)
            break;
    }
    if (j->temporary[0] == '\0') return -1;
    const int r = renameat(j->dir, j->temporary, j->dir, j->name);
    if (r == 0) j->temporary[0] = '\0';
    return r;
}

static tamis_status write_new(struct save *j, const tamis *t, uint64_t *root)
{
    tamis_status s = open_temporary(j);
    if (s == TAMIS_OK)
        s = j->write_to != NULL ? j->write_to(j->what, put_bytes, j, j->why)
                                : tamis__image_write(t, put_bytes, j, root, j->why);
    if (s != TAMIS_OK) return s;
    if (fsync(j->fd) != 0) return io_fail(j->why, "cannot write to the disk");
    if (lock_file(j->fd, j->keeps_lock ? LOCK_OR_FAIL : LOCK_IF_POSSIBLE) != 0)
        return io_fail(j->why, "cannot lock the new file");
    return check_claim(j);
}

static tamis_status write_and_publish(struct save *j, const tamis *t, uint64_t *root)
{
    tamis_status s = write_new(j, t, root);
    int r = s == TAMIS_OK ? take_name(j) : 0;
    if (r != 0 && j->temporary[0] == '\0' && is_refusal(errno)) {
        j->unnamed_fails = true;
        close(j->fd);
        j->fd = -1;
        s = write_new(j, t, root);
        r = s == TAMIS_OK ? take_name(j) : 0;
    }
    if (s != TAMIS_OK) return s;
    if (r != 0) return io_fail(j->why, "cannot save");
    j->published = true;
    if (fsync(j->dir) != 0) return io_fail(j->why, "saved, but the directory could not be synced");
    return TAMIS_OK;
}

/* The handle now stands for what was saved; a lock goes over to the new file. */
static void adopt(tamis *t, struct save *j, uint64_t root)
{
    t->generation = tamis__generation(t);
    t->changed = false;
    if (t->file == NULL) {
        t->file = new_file(t->memory, j->target);
        if (t->file == NULL) return; /* later saves just replace it */
        t->close_file = close_file;
    } else if (strcmp(t->file->path, j->target) != 0) {
        return; /* saved elsewhere; it still belongs to the file it came from */
    }
    t->file->root = root;
    if (t->file->lock >= 0) {
        close(t->file->lock);
        t->file->lock = j->fd;
        j->fd = -1;
    }
}

/* t is the handle behind what is saved, or NULL; `adopts` is t when it stands for the new file from
 * then on. */
static tamis_status save(struct save *j, const tamis *t, tamis *adopts, const char *path)
{
    uint64_t root = 0;
    j->old_lock = j->dir = j->fd = -1;
    j->why->status = TAMIS_OK;
    if (path == NULL) return tamis__fail(j->why, TAMIS_EINVAL, NO_PATH);
    tamis_status s = find_target(j, path);
    if (s == TAMIS_OK) s = claim_target(j, t);
    if (s == TAMIS_OK) s = write_and_publish(j, t, &root);
    if (j->temporary[0] != '\0') unlinkat(j->dir, j->temporary, 0);
    if (j->published && adopts != NULL) adopt(adopts, j, root);
    if (j->fd >= 0) close(j->fd);
    if (j->old_lock >= 0) close(j->old_lock);
    if (j->dir >= 0) close(j->dir);
    return s;
}

static tamis_status save_image(tamis *t, const char *path, bool only_new, tamis_error *why)
{
    tamis_error ignored;
    struct save *j = tamis__alloc(t->memory, sizeof *j);
    if (j == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    j->only_new = only_new;
    j->why = why != NULL ? why : &ignored;
    const tamis_status s = save(j, t, t, path);
    tamis__free(t->memory, j);
    return s;
}

tamis_status tamis_save(tamis *t, const char *path, tamis_error *why)
{
    return save_image(t, path, false, why);
}

tamis_status tamis_save_new(tamis *t, const char *path, tamis_error *why)
{
    return save_image(t, path, true, why);
}

/* Files that no handle stands for. */
static tamis_status save_other(tamis__writer *write_to, const void *what, const tamis *t,
                               const tamis_memory *memory, const char *path, bool replace,
                               tamis_error *why)
{
    tamis_error ignored;
    struct save *j = tamis__alloc(memory, sizeof *j);
    if (j == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    j->only_new = !replace;
    j->write_to = write_to;
    j->what = what;
    j->why = why != NULL ? why : &ignored;
    const tamis_status s = save(j, t, NULL, path);
    tamis__free(memory, j);
    return s;
}

tamis_status tamis__save_by(tamis__writer *write_to, const void *what, const tamis_memory *memory,
                            const char *path, bool replace, tamis_error *why)
{
    return save_other(write_to, what, NULL, memory, path, replace, why);
}

static tamis_status write_packed(const void *t, tamis_sink put, void *ctx, tamis_error *why)
{
    return tamis_pack(t, put, ctx, why);
}

tamis_status tamis_save_packed(const tamis *t, const char *path, bool replace, tamis_error *why)
{
    return save_other(write_packed, t, t, t->memory, path, replace, why);
}

/* --- Temporary files -------------------------------------------------------------------------- */

tamis_status tamis__temporary_open(const char *directory, int *fd, tamis_error *why)
{
    char name[TEMPORARY_NAME];
    const int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *fd = -1;
    if (dir < 0) return io_fail(why, "cannot open the directory for temporary files");
#ifdef O_TMPFILE
    *fd = off_standard_streams(openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
    if (*fd < 0) {
        *fd = create_named(dir, 0600, name);
        if (*fd >= 0) unlinkat(dir, name, 0);
    }
    close_quietly(dir);
    return *fd >= 0 ? TAMIS_OK : io_fail(why, "cannot create a temporary file");
}

tamis_status tamis__temporary_write(int fd, uint64_t at, const void *bytes, size_t n,
                                    tamis_error *why)
{
    for (const uint8_t *p = bytes; n > 0;) {
        const ssize_t put = pwrite(fd, p, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return io_fail(why, "cannot write to the temporary file");
        p += put;
        at += (uint64_t)put;
        n -= (size_t)put;
    }
    return TAMIS_OK;
}

tamis_status tamis__temporary_read(int fd, uint64_t at, void *to, size_t n, tamis_error *why)
{
    const struct source src = {.fd = fd};
    return read_at(&src, at, to, n, why);
}

/* Only to give the room back: what was in it is not looked at again either way. */
void tamis__temporary_empty(int fd)
{
    while (ftruncate(fd, 0) != 0 && errno == EINTR) continue;
}

void tamis__temporary_close(int fd)
{
    close_quietly(fd);
}
#endif
