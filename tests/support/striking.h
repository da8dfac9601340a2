/* The calls of src/image/{descriptor,durable,file}.c, each of which can be made to fail, for a test
 * that includes those files after this one. The calls fail within the process, unlike in
 * tests/fault, so that every branch can be reached, counted and run on any machine. */
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
#include <sys/syscall.h>
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
    RENAMEAT2,
    STAT,
    UNLINKAT,
    WRITE,
    CALLS
};

static struct strike {
    enum call call;
    unsigned at, times; /* from the at-th call on, counted from 1, so often; 0: none is struck */
    int error;          /* 0: a transfer of half its bytes, or of none when it is one byte */
    void (*meanwhile)(void); /* what somebody else does just before the call, which fails only when
                              * there is an error */
    unsigned count, struck;
} strike;
/* What a file system does not support: 0, or the error that says so. */
static struct lack {
    int tmpfile, locks, links, rename2;
} lack;

static bool struck(enum call call)
{
    if (call != strike.call || strike.at == 0) return false;
    strike.count++;
    if (strike.count < strike.at || strike.count - strike.at >= strike.times) return false;
    strike.struck++;
    if (strike.meanwhile != NULL) {
        strike.meanwhile();
        if (strike.error == 0) return false;
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
    if (lack.tmpfile == 0 || (flags & O_TMPFILE) != O_TMPFILE)
        return openat(dir, path, flags, mode);
    errno = lack.tmpfile;
    return -1;
}

/* Not supported; a strike comes first. */
static int lacking(int error)
{
    errno = error;
    return -1;
}

static int struck_flock(int fd, int how)
{
    if (struck(FLOCK)) return -1;
    return lack.locks != 0 ? lacking(lack.locks) : flock(fd, how);
}

static int struck_linkat(int d, const char *from, int e, const char *to, int flags)
{
    if (struck(LINKAT)) return -1;
    return lack.links != 0 ? lacking(lack.links) : linkat(d, from, e, to, flags);
}

/* By its number, since not every C library has a function for it. */
static int struck_renameat2(int d, const char *from, int e, const char *to, unsigned flags)
{
    if (struck(RENAMEAT2)) return -1;
    if (lack.rename2 != 0) return lacking(lack.rename2);
    return (int)syscall(SYS_renameat2, d, from, e, to, flags);
}

/* Functions, not expressions in their place: a branch of the test would be counted as one of the
 * file's. */
#define STRUCK(CALL, type, failure, name, parameters, arguments)                                   \
    static type struck_##name parameters                                                           \
    {                                                                                              \
        return struck(CALL) ? failure : name arguments;                                            \
    }

STRUCK(ACCESS, int, -1, access, (const char *path, int mode), (path, mode))
STRUCK(FCHMOD, int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
STRUCK(FCHOWN, int, -1, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
STRUCK(FCNTL, int, -1, fcntl, (int fd, int what, int value), (fd, what, value))
STRUCK(FSTAT, int, -1, fstat, (int fd, struct stat *st), (fd, st))
STRUCK(FTRUNCATE, int, -1, ftruncate, (int fd, off_t size), (fd, size))
STRUCK(LSTAT, int, -1, lstat, (const char *path, struct stat *st), (path, st))
STRUCK(MMAP, void *, MAP_FAILED, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at),
       (p, n, prot, flags, fd, at))
STRUCK(OPEN, int, -1, open, (const char *path, int flags), (path, flags))
STRUCK(REALPATH, char *, NULL, realpath, (const char *path, char *out), (path, out))
STRUCK(RENAMEAT, int, -1, renameat, (int d, const char *from, int e, const char *to),
       (d, from, e, to))
STRUCK(STAT, int, -1, stat, (const char *path, struct stat *st), (path, st))
STRUCK(UNLINKAT, int, -1, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))

/* What a disk keeps is not tested here. */
static int struck_fsync(int fd)
{
    (void)fd;
    return struck(FSYNC) ? -1 : 0;
}

#define access(path, mode) struck_access(path, mode)
#define close(fd) struck_close(fd)
#define fchmod(fd, mode) struck_fchmod(fd, mode)
#define fchown(fd, user, group) struck_fchown(fd, user, group)
#define fcntl(fd, what, value) struck_fcntl(fd, what, value)
#define flock(fd, how) struck_flock(fd, how)
#define fstat(fd, st) struck_fstat(fd, st)
#define fsync(fd) struck_fsync(fd)
#define ftruncate(fd, size) struck_ftruncate(fd, size)
#define linkat(d, from, e, to, flags) struck_linkat(d, from, e, to, flags)
#define lstat(path, st) struck_lstat(path, st)
#define mmap(p, n, prot, flags, fd, at) struck_mmap(p, n, prot, flags, fd, at)
#define munmap(p, n) struck_munmap(p, n)
#define open(path, flags) struck_open(path, flags)
#define openat(dir, path, flags, mode) struck_openat(dir, path, flags, mode)
#define pread(fd, to, n, at) struck_pread(fd, to, n, at)
#define pwrite(fd, from, n, at) struck_pwrite(fd, from, n, at)
#define realpath(path, out) struck_realpath(path, out)
#define renameat(d, from, e, to) struck_renameat(d, from, e, to)
#define renameat2(d, from, e, to, flags) struck_renameat2(d, from, e, to, flags)
#define syscall(number, d, from, e, to, flags) struck_renameat2(d, from, e, to, flags)
#define stat(path, st) struck_stat(path, st)
#define unlinkat(dir, path, flags) struck_unlinkat(dir, path, flags)
#define write(fd, from, n) struck_write(fd, from, n)

#endif
