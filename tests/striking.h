/* The calls of src/file.c, each of which can be made to fail: for a test that includes that file after this one. In the
 * process itself, unlike tests/fault, so that every branch can be reached, counted and run on any machine. */
#ifndef TAMIS_TEST_STRIKING_H
#define TAMIS_TEST_STRIKING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum call {
    ACCESS,
    CLOSE,
    FCHMOD,
    FCHOWN,
    FCNTL,
    FLOCK,
    FSTAT,
    FSYNC,
    FTRUNCATE,
    LINKAT,
    LSTAT,
    MMAP,
    MUNMAP,
    OPEN,
    OPENAT,
    PREAD,
    PWRITE,
    REALPATH,
    RENAMEAT,
    STAT,
    UNLINKAT,
    WRITE,
    CALLS
};

static struct strike {
    enum call call;
    unsigned at, times; /* from the at-th call on, counted from 1, so often; 0: none is struck */
    int error;          /* 0: a transfer of half its bytes, or of none when it is one byte */
    void (*meanwhile)(void); /* instead of failing: what somebody else does just before the call */
    unsigned count, struck;
} strike;
static bool no_tmpfile; /* a file system without O_TMPFILE */

static bool struck(enum call call)
{
    if (call != strike.call || strike.at == 0) return false;
    strike.count++;
    if (strike.count < strike.at || strike.count - strike.at >= strike.times) return false;
    strike.struck++;
    if (strike.meanwhile != NULL) {
        strike.meanwhile();
        return false;
    }
    errno = strike.error;
    return true;
}

/* As many bytes as a struck transfer moves; -1: it fails. */
static ssize_t moved(enum call call, size_t n)
{
    if (!struck(call)) return (ssize_t)n;
    return strike.error != 0 ? -1 : (ssize_t)(n / 2);
}

/* A descriptor is gone whatever close says, as on Linux. */
static int struck_close(int fd)
{
    const bool fails = struck(CLOSE);
    const int result = close(fd);
    if (fails) errno = strike.error;
    return fails ? -1 : result;
}

static int struck_munmap(void *p, size_t n)
{
    const bool fails = struck(MUNMAP);
    const int result = munmap(p, n);
    return fails ? -1 : result;
}

static ssize_t struck_pread(int fd, void *to, size_t n, off_t at)
{
    const ssize_t most = moved(PREAD, n);
    return most < 0 ? -1 : pread(fd, to, (size_t)most, at);
}

static ssize_t struck_pwrite(int fd, const void *from, size_t n, off_t at)
{
    const ssize_t most = moved(PWRITE, n);
    return most < 0 ? -1 : pwrite(fd, from, (size_t)most, at);
}

static ssize_t struck_write(int fd, const void *from, size_t n)
{
    const ssize_t most = moved(WRITE, n);
    return most < 0 ? -1 : write(fd, from, (size_t)most);
}

static int struck_openat(int dir, const char *path, int flags, mode_t mode)
{
    if (struck(OPENAT)) return -1;
    if (!no_tmpfile || (flags & O_TMPFILE) != O_TMPFILE) return openat(dir, path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}

#define access(path, mode) (struck(ACCESS) ? -1 : access(path, mode))
#define close(fd) struck_close(fd)
#define fchmod(fd, mode) (struck(FCHMOD) ? -1 : fchmod(fd, mode))
#define fchown(fd, user, group) (struck(FCHOWN) ? -1 : fchown(fd, user, group))
#define fcntl(fd, what, value) (struck(FCNTL) ? -1 : fcntl(fd, what, value))
#define flock(fd, how) (struck(FLOCK) ? -1 : flock(fd, how))
#define fstat(fd, st) (struck(FSTAT) ? -1 : fstat(fd, st))
#define fsync(fd) (struck(FSYNC) ? -1 : ((void)(fd), 0)) /* what a disk keeps is not tested here */
#define ftruncate(fd, size) (struck(FTRUNCATE) ? -1 : ftruncate(fd, size))
#define linkat(d, from, e, to, flags) (struck(LINKAT) ? -1 : linkat(d, from, e, to, flags))
#define lstat(path, st) (struck(LSTAT) ? -1 : lstat(path, st))
#define mmap(p, n, prot, flags, fd, at)                                                            \
    (struck(MMAP) ? MAP_FAILED : mmap(p, n, prot, flags, fd, at))
#define munmap(p, n) struck_munmap(p, n)
#define open(path, flags) (struck(OPEN) ? -1 : open(path, flags))
#define openat(dir, path, flags, mode) struck_openat(dir, path, flags, mode)
#define pread(fd, to, n, at) struck_pread(fd, to, n, at)
#define pwrite(fd, from, n, at) struck_pwrite(fd, from, n, at)
#define realpath(path, out) (struck(REALPATH) ? NULL : realpath(path, out))
#define renameat(d, from, e, to) (struck(RENAMEAT) ? -1 : renameat(d, from, e, to))
#define stat(path, st) (struck(STAT) ? -1 : stat(path, st))
#define unlinkat(dir, path, flags) (struck(UNLINKAT) ? -1 : unlinkat(dir, path, flags))
#define write(fd, from, n) struck_write(fd, from, n)

#endif
