/* Writes files that appear complete or not at all: images, and any other bytes.
 *
 * A save never touches the old file. The content goes to an unnamed file in the same directory, or
 * to a file with a temporary name if the system has no unnamed ones. The file is synced and takes
 * over the name by rename; then the directory is synced. After any other failure than that of the
 * last step, nothing is left behind and the old file stands. Only a kill between naming the new
 * file and renaming it leaves a `.tamis-*.tmp`, which may be removed. A file whose fsync failed is
 * never synced again, because the kernel may have dropped the pages and would report success.
 *
 * Two writers. A save over an existing file locks that file while it runs. The new file is locked
 * before it gets the name, so that a lock that is held for longer (descriptor.c) passes to it.
 *
 * Limited file systems. If flock is not supported, a save does without a lock. It still compares
 * the file under the name with the one that was opened, before the content is written and again
 * just before the rename. If hard links are refused, an unnamed file cannot be named, so the
 * content is written again to a file that has a temporary name from the start. A name that must be
 * free is then taken by renameat2 with RENAME_NOREPLACE. If that is refused as well, an empty file
 * is created exclusively under the name, and replaced at once. Three things leave that empty file
 * behind:
 * - a kill between these two steps;
 * - another save that locks the file between them and then fails;
 * - an error that hides whose file it is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE, renameat2 */
#endif
#define _FILE_OFFSET_BITS 64

#include "durable.h"

#include "../core/error.h"
#include "../core/memory.h"
#include "descriptor.h"

#if !defined(__wasm__) && !defined(_WIN32) /* see windows.c */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#if defined(__linux__) && !defined(RENAME_NOREPLACE)
#include <sys/syscall.h>
#endif
#include <unistd.h>

struct save {
    const struct durable *d;
    char target[PATH_MAX]; /* resolved: a symbolic link to a file is followed, not replaced */
    const char *name;      /* the last part of target */
    bool exists;           /* something already has that name */
    bool only_new;         /* TAMIS_SAVE_NEW: fails if it exists */
    mode_t mode;           /* of a file that does not replace another */
    bool origin;           /* the target is the writer's own file */
    bool keeps_lock;       /* and the writer has locked it */
    struct stat old;
    int old_lock; /* taken for this save, or -1 */
    int dir, fd;
    char temporary[TAMIS__TEMPORARY_NAME]; /* in dir; empty: the file has no name yet */
    bool unnamed_fails;                    /* an unnamed file could not be named */
    tamis_error *why;
};

static tamis_status put_bytes(void *ctx, const void *bytes, size_t n)
{
    struct save *j = ctx;
    for (const uint8_t *p = bytes; n > 0;) {
        const ssize_t put = write(j->fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return tamis__io_fail(j->why, "cannot write");
        p += put;
        n -= (size_t)put;
    }
    return TAMIS_OK;
}

/* Resolves a path without a file: only its directory can be resolved. */
static tamis_status resolve_new(struct save *j, const char *path)
{
    struct stat link;
    if (lstat(path, &link) == 0) { /* for example /dev/stdout to a pipe: must not be replaced */
        errno = j->only_new ? EEXIST : ENOENT;
        return tamis__io_fail(j->why,
                              j->only_new ? "cannot save" : "the symbolic link leads to no file");
    }
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char directory[PATH_MAX] = ".";
    const size_t n = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    errno = ENAMETOOLONG;
    if (n >= sizeof directory) return tamis__io_fail(j->why, "cannot save");
    if (slash != NULL) memcpy(directory, path, n);
    if (realpath(directory, j->target) == NULL)
        return tamis__io_fail(j->why, "cannot open the directory");
    const size_t at = strlen(j->target);
    const char *between = j->target[at - 1] == '/' ? "" : "/";
    errno = ENAMETOOLONG;
    if (strlen(name) + 1 >= sizeof j->target - at) return tamis__io_fail(j->why, "cannot save");
    snprintf(j->target + at, sizeof j->target - at, "%s%s", between, name);
    return TAMIS_OK;
}

static tamis_status find_target(struct save *j, const char *path)
{
    if (realpath(path, j->target) != NULL) {
        j->exists = stat(j->target, &j->old) == 0;
        if (!j->exists && errno != ENOENT) return tamis__io_fail(j->why, "cannot save");
        if (j->exists && !S_ISREG(j->old.st_mode)) return tamis__not_regular(&j->old, j->why);
    } else {
        tamis_status s =
            errno == ENOENT ? resolve_new(j, path) : tamis__io_fail(j->why, "cannot save");
        if (s != TAMIS_OK) return s;
    }
    if (j->exists && j->only_new) {
        errno = EEXIST;
        return tamis__io_fail(j->why, "cannot save");
    }
    const char *slash = strrchr(j->target, '/');
    j->name = slash + 1;
    if (*j->name == '\0') {
        errno = EISDIR;
        return tamis__io_fail(j->why, "cannot save");
    }
    char directory[PATH_MAX] = "/";
    memcpy(directory, j->target, (size_t)(slash - j->target));
    j->dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return j->dir >= 0 ? TAMIS_OK : tamis__io_fail(j->why, "cannot open the directory");
}

static tamis_status changed_meanwhile(const struct save *j)
{
    return tamis__fail(j->why, TAMIS_EBUSY, "another process has changed this file meanwhile");
}

/* Locks the file that is to be replaced, and checks that it is the one that the writer knows. */
static tamis_status claim_target(struct save *j)
{
    const struct durable *d = j->d;
    j->origin = d->own_path != NULL && strcmp(d->own_path, j->target) == 0;
    if (j->origin && d->check_own == NULL)
        return tamis__fail(j->why, TAMIS_EINVAL,
                           "the handle belongs to this file, which must remain an image: save the "
                           "packed file elsewhere");
    j->keeps_lock = j->origin && d->own_lock >= 0;
    if (!j->exists) return TAMIS_OK;
    struct stat locked;
    int fd = d->own_path != NULL ? d->own_lock : -1;
    if (fd >= 0 && fstat(fd, &locked) != 0) return tamis__io_fail(j->why, "cannot save");
    tamis_status s = TAMIS_OK;
    if (!j->keeps_lock || !tamis__same_file(&locked, &j->old)) {
        s = tamis__open_locked(j->target, LOCK_IF_POSSIBLE, &j->old_lock, &j->old, j->why);
        j->exists = s != TAMIS_EIO || j->why->os != ENOENT;
        if (!j->exists) j->why->status = s = TAMIS_OK; /* removed just now */
        if (s != TAMIS_OK || !j->exists) return s;
        fd = j->old_lock;
    }
    if (!j->origin) return TAMIS_OK;
    s = d->check_own(d->what, fd, j->why);
    return s == TAMIS_EBUSY ? changed_meanwhile(j) : s;
}

/* Without a lock, another process may have replaced the file while the image was written. The
 * descriptor that claim_target has read keeps the inode number from being used again. A file that
 * was removed meanwhile is not an error, just as if it had been removed before the save. */
static tamis_status check_claim(const struct save *j)
{
    struct stat now;
    if (!j->exists || !j->origin) return TAMIS_OK;
    if (stat(j->target, &now) == 0)
        return tamis__same_file(&now, &j->old) ? TAMIS_OK : changed_meanwhile(j);
    return errno == ENOENT ? TAMIS_OK : tamis__io_fail(j->why, "cannot save");
}

static tamis_status open_temporary(struct save *j)
{
#ifdef O_TMPFILE
    if (!j->unnamed_fails && access("/proc/self/fd", X_OK) == 0) /* needed to name it later */
        j->fd = tamis__off_standard_streams(
            openat(j->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, j->mode));
#endif
    if (j->fd < 0) j->fd = tamis__create_named(j->dir, j->mode, j->temporary);
    if (j->fd < 0) return tamis__io_fail(j->why, "cannot create a file in that directory");
    if (!j->exists) return TAMIS_OK;
    /* Only root can give a file away. For other users the new file becomes their own, as with any
     * editor. */
    if (fchown(j->fd, j->old.st_uid, j->old.st_gid) != 0 && errno != EPERM)
        return tamis__io_fail(j->why, "cannot set the owner");
    if (fchmod(j->fd, j->old.st_mode & 07777) != 0)
        return tamis__io_fail(j->why, "cannot set the mode");
    return TAMIS_OK;
}

static int link_open_file(const struct save *j, const char *name)
{
    char self[40];
    if (j->temporary[0] != '\0') return linkat(j->dir, j->temporary, j->dir, name, 0);
    snprintf(self, sizeof self, "/proc/self/fd/%d", j->fd);
    return linkat(AT_FDCWD, self, j->dir, name, AT_SYMLINK_FOLLOW);
}

/* Whether the error means that hard links, or renames that do not replace, are not supported here:
 * FAT, SMB and FUSE, old kernels, and filters of system calls. */
static bool is_refusal(int os)
{
    return os == EPERM || os == EACCES || os == EINVAL || tamis__is_unsupported(os);
}

/* Renames, but fails with EEXIST if the new name is taken. */
static int rename_to_free_name(int dir, const char *from, const char *to)
{
#if defined(__linux__) && defined(RENAME_NOREPLACE)
    return renameat2(dir, from, dir, to, RENAME_NOREPLACE);
#elif defined(SYS_renameat2) /* older versions of musl have no function for it */
    return (int)syscall(SYS_renameat2, dir, from, dir, to, 1u);
#else
    (void)dir, (void)from, (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

/* Whether the path leads to the open file. errno is unchanged if it leads to another one. */
static bool leads_to(const char *path, int fd)
{
    struct stat mine, now;
    return fstat(fd, &mine) == 0 && stat(path, &now) == 0 && tamis__same_file(&mine, &now);
}

/* Takes the name with an empty file, so that nobody else can, and replaces that file. Another save
 * over it either has its lock or has replaced it already, and then wins. If it has the lock and
 * fails, it leaves the file there, because a save cannot distinguish our empty file from a user's.
 * The descriptor may be that of a standard stream, because nobody reads its contents. */
static int rename_over_placeholder(struct save *j)
{
    const int fd = j->old_lock = openat(j->dir, j->name, TAMIS__EXCLUSIVELY, 0600);
    if (fd < 0) return -1;
    const bool busy = tamis__lock_file(fd, LOCK_IF_POSSIBLE) != 0 && errno == EWOULDBLOCK;
    errno = EEXIST;
    if (busy) return -1;
    if (leads_to(j->target, fd) && renameat(j->dir, j->temporary, j->dir, j->name) == 0) return 0;
    const int os = errno;
    if (leads_to(j->target, fd)) unlinkat(j->dir, j->name, 0);
    errno = os;
    return -1;
}

/* Returns 0, or -1 with errno, which is EEXIST if something has the name. */
static int take_free_name(struct save *j)
{
    if (link_open_file(j, j->name) == 0) return 0;
    if (j->temporary[0] == '\0' || !is_refusal(errno)) return -1;
    int r = rename_to_free_name(j->dir, j->temporary, j->name);
    if (r != 0 && is_refusal(errno)) r = rename_over_placeholder(j);
    if (r == 0) j->temporary[0] = '\0';
    return r;
}

/* Gives the finished file its name. Returns 0, or -1 with errno. */
static int take_name(struct save *j)
{
    if (j->only_new) return take_free_name(j);
    for (unsigned i = 0; j->temporary[0] == '\0' && i < TAMIS__MAX_ATTEMPTS; i++) {
        char name[TAMIS__TEMPORARY_NAME];
        tamis__pick_temporary_name(name, i);
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

static tamis_status write_new(struct save *j)
{
    tamis_status s = open_temporary(j);
    if (s == TAMIS_OK) s = j->d->write_to(j->d->what, put_bytes, j, j->why);
    if (s != TAMIS_OK) return s;
    if (tamis__sync(j->fd) != 0) return tamis__io_fail(j->why, "cannot write to the disk");
    if (tamis__lock_file(j->fd, j->keeps_lock ? LOCK_OR_FAIL : LOCK_IF_POSSIBLE) != 0)
        return tamis__io_fail(j->why, "cannot lock the new file");
    return check_claim(j);
}

/* Syncs the directory. If that fails, a file that had to be new is removed, so that the save can be
 * tried again, and *gone is set: the name is free. */
static tamis_status sync_name(const struct save *j, bool *gone)
{
    *gone = false;
    if (tamis__sync(j->dir) == 0) return TAMIS_OK;
    const int os = errno;
    *gone = j->only_new && leads_to(j->target, j->fd);
    if (*gone) unlinkat(j->dir, j->name, 0);
    errno = os;
    return tamis__io_fail(j->why, *gone ? "cannot sync the directory"
                                        : "saved, but the directory could not be synced");
}

static tamis_status write_and_publish(struct save *j)
{
    tamis_status s = write_new(j);
    int r = s == TAMIS_OK ? take_name(j) : 0;
    if (r != 0 && j->temporary[0] == '\0' && is_refusal(errno)) {
        j->unnamed_fails = true;
        close(j->fd);
        j->fd = -1;
        s = write_new(j);
        r = s == TAMIS_OK ? take_name(j) : 0;
    }
    if (s != TAMIS_OK) return s;
    if (r != 0) return tamis__io_fail(j->why, "cannot save");
    bool gone;
    s = sync_name(j, &gone);
    if (!gone && j->d->adopt != NULL) j->d->adopt(j->d->what, j->target, &j->fd);
    return s;
}

static tamis_status save(struct save *j, const char *path)
{
    tamis_status s = find_target(j, path);
    if (s == TAMIS_OK) s = claim_target(j);
    if (s == TAMIS_OK) s = write_and_publish(j);
    if (j->temporary[0] != '\0') unlinkat(j->dir, j->temporary, 0);
    if (j->fd >= 0) close(j->fd);
    if (j->old_lock >= 0) close(j->old_lock);
    if (j->dir >= 0) close(j->dir);
    return s;
}

tamis_status tamis__write_durably(const struct durable *d, const char *path,
                                  const tamis_save_options *o, tamis_error *why)
{
    tamis_error ignored;
    if (path == NULL) return tamis__fail(why, TAMIS_EINVAL, "path must not be NULL");
    struct save *j = tamis__alloc(d->memory, sizeof *j);
    if (j == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    j->d = d;
    j->only_new = (o->flags & TAMIS_SAVE_NEW) != 0;
    j->mode = o->mode != 0 ? (mode_t)o->mode : 0666;
    j->old_lock = j->dir = j->fd = -1;
    j->why = why != NULL ? why : &ignored;
    j->why->status = TAMIS_OK;
    const tamis_status s = save(j, path);
    tamis__free(d->memory, j);
    return s;
}
#endif
