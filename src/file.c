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
 * left lying around. A save over an existing file takes the same lock for its own duration. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#define _FILE_OFFSET_BITS 64

#include "file.h"

#include "error.h"
#include "image.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static int lock_file(int fd, bool wait)
{
    int r;
    do r = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB));
    while (r != 0 && errno == EINTR);
    return r;
}

/* Open and lock the file that has this name once the lock is held. */
static tamis_status open_locked(const char *path, bool wait, int *fd, struct stat *st,
                                tamis_error *why)
{
    for (;;) {
        tamis_status s = open_regular(path, true, fd, st, why);
        if (s != TAMIS_OK) return s;
        struct stat now = {0};
        if (lock_file(*fd, wait) != 0)
            s = errno == EWOULDBLOCK
                    ? tamis__fail(why, TAMIS_EBUSY, "another process is changing this file")
                    : io_fail(why, "cannot lock");
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
    s = update ? open_locked(path, (o.flags & TAMIS_WAIT) != 0, &fd, &st, why)
               : open_regular(path, false, &fd, &st, why);
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

struct save {
    char target[PATH_MAX];   /* resolved: a symbolic link to a file is followed, not replaced */
    const char *name;        /* the last part of target */
    bool exists;             /* something has that name already */
    bool only_new;           /* and then it is an error */
    tamis__writer *write_to; /* of `what`; NULL: the image of a handle is saved */
    const void *what;
    struct stat old;
    int old_lock; /* taken for this save, or -1 */
    int dir, fd;
    char temporary[64]; /* name in dir; empty: the file has none yet */
    bool published;     /* the new file has taken the name */
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
        j->exists = true;
        if (stat(j->target, &j->old) != 0) return io_fail(j->why, "cannot save");
        if (!S_ISREG(j->old.st_mode)) return not_regular(&j->old, j->why);
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

/* The lock on what is to be replaced, and proof that it is what this handle has read. */
static tamis_status claim_target(struct save *j, const tamis *t)
{
    if (!j->exists) return TAMIS_OK;
    const struct file *file = t != NULL ? t->file : NULL;
    const bool origin = file != NULL && strcmp(file->path, j->target) == 0;
    struct stat locked;
    int fd = file != NULL ? file->lock : -1;
    if (fd >= 0 && fstat(fd, &locked) != 0) return io_fail(j->why, "cannot save");
    tamis_status s = TAMIS_OK;
    if (!origin || fd < 0 || !same_file(&locked, &j->old)) {
        s = open_locked(j->target, false, &j->old_lock, &j->old, j->why);
        if (s != TAMIS_OK) return s;
        fd = j->old_lock;
    }
    if (!origin) return TAMIS_OK;
    uint8_t header[TAMIS__HEADER_BYTES];
    uint64_t root;
    const struct source src = {.fd = fd};
    s = read_at(&src, 0, header, sizeof header, j->why);
    if (s == TAMIS_EIO) return s;
    if (s != TAMIS_OK || !tamis__image_root(header, &root) || root != file->root)
        return tamis__fail(j->why, TAMIS_EBUSY, "changed by another process since it was opened");
    return TAMIS_OK;
}

/* A name that is free in the directory, for as long as nobody else picks it. */
static void pick_temporary_name(struct save *j, unsigned attempt)
{
    snprintf(j->temporary, sizeof j->temporary, ".tamis-%ld-%u.tmp", (long)getpid(), attempt);
}

#define MAX_ATTEMPTS 1000u

static tamis_status open_temporary(struct save *j)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0) /* needed to give it a name later */
        j->fd = off_standard_streams(openat(j->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
#endif
    for (unsigned i = 0; j->fd < 0 && i < MAX_ATTEMPTS; i++) {
        pick_temporary_name(j, i);
        j->fd = off_standard_streams(
            openat(j->dir, j->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (j->fd < 0) j->temporary[0] = '\0';
        if (j->fd < 0 && errno != EEXIST) break;
    }
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

/* Give the finished file its name. */
static tamis_status publish(struct save *j)
{
    if (j->only_new) {
        if (link_open_file(j, j->name) != 0) return io_fail(j->why, "cannot save");
    } else {
        for (unsigned i = 0; j->temporary[0] == '\0' && i < MAX_ATTEMPTS; i++) {
            struct save named = *j;
            pick_temporary_name(&named, i);
            if (link_open_file(j, named.temporary) == 0)
                memcpy(j->temporary, named.temporary, sizeof j->temporary);
            else if (errno != EEXIST)
                break;
        }
        if (j->temporary[0] == '\0' || renameat(j->dir, j->temporary, j->dir, j->name) != 0)
            return io_fail(j->why, "cannot save");
        j->temporary[0] = '\0';
    }
    j->published = true;
    if (fsync(j->dir) != 0) return io_fail(j->why, "saved, but the directory could not be synced");
    return TAMIS_OK;
}

static tamis_status write_and_publish(struct save *j, const tamis *t, uint64_t *root)
{
    tamis_status s = open_temporary(j);
    if (s == TAMIS_OK)
        s = j->write_to != NULL ? j->write_to(j->what, put_bytes, j, j->why)
                                : tamis__image_write(t, put_bytes, j, root, j->why);
    if (s != TAMIS_OK) return s;
    if (fsync(j->fd) != 0) return io_fail(j->why, "cannot write to the disk");
    if (lock_file(j->fd, false) != 0) return io_fail(j->why, "cannot lock the new file");
    return publish(j);
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
    const int flags = O_RDWR | O_CLOEXEC;
    char name[64];
    const int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *fd = -1;
    if (dir < 0) return io_fail(why, "cannot open the directory for temporary files");
#ifdef O_TMPFILE
    *fd = off_standard_streams(openat(dir, ".", O_TMPFILE | flags, 0600));
#endif
    for (unsigned i = 0; *fd < 0 && i < MAX_ATTEMPTS; i++) {
        snprintf(name, sizeof name, ".tamis-%ld-%u.tmp", (long)getpid(), i);
        *fd = off_standard_streams(openat(dir, name, O_CREAT | O_EXCL | O_NOFOLLOW | flags, 0600));
        if (*fd >= 0)
            unlinkat(dir, name, 0);
        else if (errno != EEXIST)
            break;
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
