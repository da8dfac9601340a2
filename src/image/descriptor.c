/* Descriptors: opening, locking and reading regular files, and temporary files.
 *
 * TAMIS_UPDATE locks the file itself with flock. Such a lock belongs to the open file and not to
 * the process, so other descriptors do not affect it. Each save puts a new file under the name. So
 * a process that gets a lock checks that the name still leads to the file that it locked, and
 * otherwise starts again with the new one. There are no separate lock files that could be left
 * behind. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE, realpath */
#endif
#define _FILE_OFFSET_BITS 64

#include "descriptor.h"

#if !defined(__wasm__) && !defined(_WIN32) /* see windows.c */
#include "../core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

tamis_status tamis__io_fail(tamis_error *why, const char *what)
{
    const int os = errno;
    tamis__fail(why, TAMIS_EIO, "%s: %s", what, strerror(os));
    if (why != NULL) why->os = os;
    return TAMIS_EIO;
}

tamis_status tamis__not_regular(const struct stat *st, tamis_error *why)
{
    tamis__fail(why, TAMIS_EIO, S_ISDIR(st->st_mode) ? "is a directory" : "not a regular file");
    if (why != NULL) why->os = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
    return TAMIS_EIO;
}

void tamis__close_quietly(int fd)
{
    const int kept = errno;
    close(fd);
    errno = kept;
}

tamis_status tamis__read_at(int fd, uint64_t at, void *to, size_t n, tamis_error *why)
{
    for (uint8_t *p = to; n > 0;) {
        const ssize_t got = pread(fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tamis__io_fail(why, "cannot read");
        if (got == 0) return tamis__corrupt(why, at, "the file became shorter while it was read");
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return TAMIS_OK;
}

int tamis__off_standard_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    tamis__close_quietly(fd);
    return moved;
}

tamis_status tamis__open_regular(const char *path, bool lock, int *fd, struct stat *st,
                                 tamis_error *why)
{
    /* Without O_NONBLOCK, opening a FIFO would wait for a writer. */
    const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    *fd = lock ? tamis__off_standard_streams(open(path, O_RDWR | flags)) : -1;
    if (*fd < 0) *fd = tamis__off_standard_streams(open(path, O_RDONLY | flags));
    if (*fd < 0) return tamis__io_fail(why, "cannot open");
    tamis_status s = TAMIS_OK;
    if (fstat(*fd, st) != 0) {
        s = tamis__io_fail(why, "cannot open");
    } else if (!S_ISREG(st->st_mode)) {
        s = tamis__not_regular(st, why);
    }
    if (s != TAMIS_OK) {
        tamis__close_quietly(*fd);
        *fd = -1;
    }
    return s;
}

bool tamis__same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool tamis__is_unsupported(int os)
{
#if defined(ENOTSUP) && ENOTSUP != EOPNOTSUPP /* macOS */
    if (os == ENOTSUP) return true;
#endif
    return os == EOPNOTSUPP || os == ENOSYS;
}

/* Whether the error means that the file system does not support flock: Lustre mounted without it,
 * NFS without its lock service, some FUSE. */
static bool is_lockless(int os)
{
    return os == ENOLCK || tamis__is_unsupported(os);
}

int tamis__lock_file(int fd, enum lock how)
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
    return tamis__io_fail(why, is_lockless(errno)
                                   ? "this file system cannot lock files, which an update requires"
                                   : "cannot lock");
}

tamis_status tamis__open_locked(const char *path, enum lock how, int *fd, struct stat *st,
                                tamis_error *why)
{
    for (;;) {
        tamis_status s = tamis__open_regular(path, true, fd, st, why);
        if (s != TAMIS_OK) return s;
        struct stat now = {0};
        if (tamis__lock_file(*fd, how) != 0)
            s = lock_fail(why);
        else if ((stat(path, &now) != 0 && errno != ENOENT) ||
                 fstat(*fd, st) != 0) /* it may have been written to while we waited */
            s = tamis__io_fail(why, "cannot lock");
        else if (tamis__same_file(st, &now))
            return TAMIS_OK;
        tamis__close_quietly(*fd);
        *fd = -1;
        if (s != TAMIS_OK) return s;
    }
}

tamis_status tamis__open_update(const char *path, enum lock how, int *fd, int *lock,
                                struct stat *st, tamis_error *why)
{
    const tamis_status s = tamis__open_locked(path, how, fd, st, why);
    *lock = *fd;
    return s;
}

tamis_status tamis__resolve(const char *path, char *resolved, tamis_error *why)
{
    return realpath(path, resolved) != NULL ? TAMIS_OK
                                            : tamis__io_fail(why, "cannot resolve the path");
}

void *tamis__map(int fd, size_t size, tamis_error *why)
{
    void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED) return p;
    tamis__io_fail(why, "cannot map");
    return NULL;
}

void tamis__unmap(void *map, size_t size)
{
    munmap(map, size);
}

int tamis__sync(int fd)
{
#ifdef F_FULLFSYNC /* macOS, where fsync leaves the bytes in the cache of the disk */
    if (fcntl(fd, F_FULLFSYNC, 0) == 0) return 0; /* some file systems have only fsync */
#endif
    return fsync(fd);
}

void tamis__pick_temporary_name(char *name, unsigned attempt)
{
    snprintf(name, TAMIS__TEMPORARY_NAME, ".tamis-%ld-%u.tmp", (long)getpid(), attempt);
}

int tamis__create_named(int dir, mode_t mode, char *name)
{
    int fd, made = -1;
    for (unsigned i = 0; made < 0 && i < TAMIS__MAX_ATTEMPTS; i++) {
        tamis__pick_temporary_name(name, i);
        made = openat(dir, name, TAMIS__EXCLUSIVELY, mode);
        if (made < 0 && errno != EEXIST) break;
    }
    if ((fd = tamis__off_standard_streams(made)) >= 0) return fd;
    const int os = errno;
    if (made >= 0) unlinkat(dir, name, 0);
    name[0] = '\0';
    errno = os;
    return -1;
}

/* --- Temporary files -------------------------------------------------------------------------- */

tamis_status tamis__temporary_open(const char *directory, int *fd, tamis_error *why)
{
    char name[TAMIS__TEMPORARY_NAME];
    const int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *fd = -1;
    if (dir < 0) return tamis__io_fail(why, "cannot open the directory for temporary files");
#ifdef O_TMPFILE
    *fd = tamis__off_standard_streams(openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
    if (*fd < 0) {
        *fd = tamis__create_named(dir, 0600, name);
        if (*fd >= 0) unlinkat(dir, name, 0);
    }
    tamis__close_quietly(dir);
    return *fd >= 0 ? TAMIS_OK : tamis__io_fail(why, "cannot create a temporary file");
}

tamis_status tamis__temporary_write(int fd, uint64_t at, const void *bytes, size_t n,
                                    tamis_error *why)
{
    for (const uint8_t *p = bytes; n > 0;) {
        const ssize_t put = pwrite(fd, p, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return tamis__io_fail(why, "cannot write to the temporary file");
        p += put;
        at += (uint64_t)put;
        n -= (size_t)put;
    }
    return TAMIS_OK;
}

tamis_status tamis__temporary_read(int fd, uint64_t at, void *to, size_t n, tamis_error *why)
{
    return tamis__read_at(fd, at, to, n, why);
}

/* This only frees space. A failure does no harm, because the contents are not read again. */
void tamis__temporary_empty(int fd)
{
    while (ftruncate(fd, 0) != 0 && errno == EINTR) continue;
}

void tamis__temporary_close(int fd)
{
    tamis__close_quietly(fd);
}
#endif
