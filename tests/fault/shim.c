/* The N-th system call fails: an LD_PRELOAD library that stands between a program and the calls it
 * makes on files, on sockets, and for random numbers. The calls that glibc itself makes (for stdio,
 * opendir, the loader) do not pass here, so a run counts the same calls every time. Calls to stdio
 * that move bytes do pass here. tests/fault/test_faults_calls.py lists the calls that are left out,
 * and why.
 *
 *     FAULT_AT=N            the N-th counted call is hit; 0 or unset: none is
 *     FAULT_HOW=EIO         it fails so (EIO, ENOSPC, EINTR, EMFILE);
 *               short       a read or write moves half of its bytes, others are left alone;
 *               kill        SIGKILL before the call, or after it with FAULT_AFTER=1
 *               int         the same with SIGINT
 *     FAULT_ONCE=1          and later calls are well again; else the trouble goes on for ever.
 *                           EINTR for ever is every other call, as nobody can outwait more
 *     FAULT_BYTES=N         the disk has room for N more bytes: the write that passes them is cut,
 *                           later ones fail with ENOSPC
 *     FAULT_MEMORY=N        the N-th allocation fails, and with FAULT_ONCE only that; glibc's own
 *                           allocations count as well
 *     FAULT_ALSO=a,b        once anything has struck, these calls fail with EIO for ever; "memory"
 *                           is one of them
 *     FAULT_CALLS=a,b       count only these calls; else all below
 *     FAULT_MARK=text       count from the first open of a path that contains this
 *     FAULT_NO_TMPFILE=1    a file system without O_TMPFILE
 *     FAULT_NO_LOCKS=E      one without locks: flock fails with this error (ENOSYS, ENOLCK,
 *                           EOPNOTSUPP)
 *     FAULT_NO_LINKS=E      one without hard links: link and linkat do (EPERM, EOPNOTSUPP)
 *     FAULT_NO_RENAME2=E    one without flags for renaming: renameat2 does (ENOSYS, EINVAL). These
 *                           calls are counted, and may be hit, all the same
 *     FAULT_COUNT=path      at exit, the number of counted calls is written here
 *     FAULT_TRACE=path      each counted call adds a line: number, name, file, what was done to it.
 *                           "file" numbers the opens, since descriptors and inodes are used again
 *     FAULT_SYNC=path       at exit, what a power failure could undo is written here, a line for
 *                           each (synced.h)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The function that one here hides; looked up each time, which is quick enough. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#include "synced.h"

enum how { NONE, FAIL, SHORT, KILL };

#define MAX_FD 1024

static struct {
    enum how how;
    int error; /* of FAIL; of KILL, the signal */
    long at;
    bool once, after, no_tmpfile;
    int no_locks, no_links, no_rename2; /* errors, or 0 */
    const char *calls, *mark, *count_path, *also;
    int trace; /* descriptor, or -1 */
    bool counting;
    atomic_long count;
    atomic_long allocations, memory_at; /* memory_at 0: none fails */
    atomic_bool no_memory;              /* some has failed */
    atomic_long room;                   /* bytes; with full_disk */
    bool full_disk;
    atomic_bool struck;
    atomic_int opens;
    int file_of[MAX_FD];
} shim = {.trace = -1};

static bool is_on(const char *name)
{
    const char *v = getenv(name);
    return v != NULL && *v != '\0' && strcmp(v, "0") != 0;
}

/* The error of that name; 0 when the variable is not set. */
static int read_error(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } errors[] = {{"ENOSYS", ENOSYS},
                  {"ENOLCK", ENOLCK},
                  {"EOPNOTSUPP", EOPNOTSUPP},
                  {"EPERM", EPERM},
                  {"EINVAL", EINVAL}};
    const char *v = getenv(name);
    if (v == NULL || *v == '\0') return 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(v, errors[i].name) == 0) return errors[i].error;
    abort(); /* a misspelt one would be none */
}

static void read_how(const char *how)
{
    static const struct {
        const char *name;
        enum how how;
        int error;
    } ways[] = {{"EIO", FAIL, EIO},       {"ENOSPC", FAIL, ENOSPC}, {"EINTR", FAIL, EINTR},
                {"EMFILE", FAIL, EMFILE}, {"short", SHORT, 0},      {"kill", KILL, SIGKILL},
                {"int", KILL, SIGINT}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(how, ways[i].name) != 0) continue;
        shim.how = ways[i].how;
        shim.error = ways[i].error;
        return;
    }
    /* A misspelt fault that never strikes would pass every test. */
    abort();
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW"), *trace = getenv("FAULT_TRACE");
    shim.at = at != NULL ? strtol(at, NULL, 10) : 0;
    if (how != NULL) read_how(how);
    shim.once = is_on("FAULT_ONCE");
    shim.after = is_on("FAULT_AFTER");
    shim.no_tmpfile = is_on("FAULT_NO_TMPFILE");
    shim.no_locks = read_error("FAULT_NO_LOCKS");
    shim.no_links = read_error("FAULT_NO_LINKS");
    shim.no_rename2 = read_error("FAULT_NO_RENAME2");
    shim.calls = getenv("FAULT_CALLS");
    shim.mark = getenv("FAULT_MARK");
    shim.count_path = getenv("FAULT_COUNT");
    shim.also = getenv("FAULT_ALSO");
    shim.counting = shim.mark == NULL;
    const char *bytes = getenv("FAULT_BYTES"), *memory = getenv("FAULT_MEMORY");
    shim.full_disk = bytes != NULL;
    if (bytes != NULL) shim.room = strtol(bytes, NULL, 10);
    if (memory != NULL) shim.memory_at = strtol(memory, NULL, 10);
    synced_begin(getenv("FAULT_SYNC"));
    if (trace == NULL) return;
    /* By number, past this library's own names. */
    const long fd = syscall(SYS_openat, AT_FDCWD, trace, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0) abort();
    shim.trace = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, MAX_FD / 2);
    syscall(SYS_close, fd);
}

__attribute__((destructor)) static void end(void)
{
    synced_end();
    if (shim.count_path == NULL) return;
    char text[32];
    const int n = snprintf(text, sizeof text, "%ld\n", shim.count);
    const long fd =
        syscall(SYS_openat, AT_FDCWD, shim.count_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || syscall(SYS_write, fd, text, n) != n) abort();
    syscall(SYS_close, fd);
}

/* Whether a list of names, with commas between, has this one. */
static bool has_name(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)) != NULL; p += n)
        if ((p == list || p[-1] == ',') && (p[n] == ',' || p[n] == '\0')) return true;
    return false;
}

static bool is_counted(const char *name)
{
    return shim.counting && (shim.calls == NULL || has_name(shim.calls, name));
}

static bool fails_as_well(const char *name)
{
    return shim.struck && shim.also != NULL && has_name(shim.also, name);
}

static int file_of(int fd)
{
    return fd >= 0 && fd < MAX_FD ? shim.file_of[fd] : 0;
}

static void note_open(int fd)
{
    if (fd >= 0 && fd < MAX_FD) shim.file_of[fd] = ++shim.opens;
}

static void trace(const char *name, int fd, const char *done)
{
    char line[96];
    const int kept = errno;
    const int n =
        snprintf(line, sizeof line, "%ld %s %d %s\n", (long)shim.count, name, file_of(fd), done);
    if (shim.trace >= 0 && syscall(SYS_write, shim.trace, line, n) != n) abort();
    errno = kept;
}

static void die(void)
{
    kill(getpid(), shim.error);
}

/* What is to happen to this call. On FAIL, errno is set and the call must not be made. */
static enum how judge(const char *name, int fd)
{
    if (fails_as_well(name)) {
        trace(name, fd, "fail");
        errno = EIO;
        return FAIL;
    }
    if (!is_counted(name)) return NONE;
    const long n = ++shim.count;
    enum how how = shim.at != 0 && n >= shim.at && (n == shim.at || !shim.once) ? shim.how : NONE;
    if (how == FAIL && shim.error == EINTR && (n - shim.at) % 2 != 0) how = NONE;
    static const char *const words[] = {"ok", "fail", "short", "kill"};
    trace(name, fd, words[how]);
    if (how != NONE) shim.struck = true;
    if (how == FAIL) errno = shim.error;
    if (how == KILL && !shim.after) die();
    return how;
}

static void look_for_mark(const char *path)
{
    if (shim.mark != NULL && strstr(path, shim.mark) != NULL) shim.counting = true;
}

/* Only then is there a third argument. */
static bool needs_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

/* How many of n bytes the disk still takes; -1, with errno, when it is full. */
static ssize_t fits(const char *name, int fd, size_t n)
{
    if (!shim.full_disk) return (ssize_t)n;
    const long room = shim.room;
    if ((long)n <= room) {
        shim.room -= (long)n;
        return (ssize_t)n;
    }
    trace(name, fd, room > 0 ? "short" : "fail");
    shim.struck = true;
    shim.room = 0;
    if (room > 0) return room;
    if (shim.once) shim.full_disk = false;
    errno = ENOSPC;
    return -1;
}

/* Whether the file system does not support this call; errno says so. */
static bool is_lacking(const char *name)
{
    const int error = strcmp(name, "flock") == 0                                 ? shim.no_locks
                      : strcmp(name, "link") == 0 || strcmp(name, "linkat") == 0 ? shim.no_links
                      : strcmp(name, "renameat2") == 0                           ? shim.no_rename2
                                                                                 : 0;
    if (error != 0) errno = error;
    return error != 0;
}

/* A call that is either made or fails. */
#define CALL(type, name, parameters, arguments, fd, failed)                                        \
    type name parameters                                                                           \
    {                                                                                              \
        const enum how how = judge(#name, fd);                                                     \
        if (how == FAIL) return failed;                                                            \
        type result = is_lacking(#name) ? failed : REAL(name) arguments;                           \
        if (how == KILL) die();                                                                    \
        return result;                                                                             \
    }

/* One that may also move fewer bytes. */
#define MOVE(name, parameters, arguments)                                                          \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        const enum how how = judge(#name, fd);                                                     \
        if (how == FAIL) return -1;                                                                \
        if (how == SHORT && n > 1) n /= 2;                                                         \
        const ssize_t result = REAL(name) arguments;                                               \
        if (how == KILL) die();                                                                    \
        return result;                                                                             \
    }

MOVE(read, (int fd, void *p, size_t n), (fd, p, n))
MOVE(pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
MOVE(pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))

/* And one that also needs room. Standard output and error are not on that disk. */
#define PUT(name, parameters, arguments)                                                           \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        const enum how how = judge(#name, fd);                                                     \
        if (how == FAIL) return -1;                                                                \
        if (how == SHORT && n > 1) n /= 2;                                                         \
        const ssize_t room = fd > STDERR_FILENO ? fits(#name, fd, n) : (ssize_t)n;                 \
        if (room < 0) return -1;                                                                   \
        n = (size_t)room;                                                                          \
        const ssize_t result = REAL(name) arguments;                                               \
        if (how == KILL) die();                                                                    \
        if (result > 0) synced_written(fd);                                                        \
        return result;                                                                             \
    }

PUT(write, (int fd, const void *p, size_t n), (fd, p, n))
PUT(pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
PUT(pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))

/* Short ones lose the last of several pieces, as a full disk does. */
ssize_t writev(int fd, const struct iovec *v, int n)
{
    const enum how how = judge("writev", fd);
    if (how == FAIL) return -1;
    size_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += v[i].iov_len;
    const ssize_t room = fits("writev", fd, bytes);
    if (room < 0) return -1;
    const bool cut = how == SHORT || (size_t)room < bytes;
    const ssize_t result =
        cut ? REAL(write)(fd, v[0].iov_base, v[0].iov_len / 2) : REAL(writev)(fd, v, n);
    if (how == KILL) die();
    if (result > 0) synced_written(fd);
    return result;
}

#define OPEN(name, at, parameters, arguments)                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        const mode_t mode = needs_mode(flags) ? va_arg(rest, mode_t) : 0;                          \
        va_end(rest);                                                                              \
        look_for_mark(path);                                                                       \
        const enum how how = judge(#name, -1);                                                     \
        if (how == FAIL) return -1;                                                                \
        int fd = -1;                                                                               \
        if (shim.no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE)                                   \
            errno = EOPNOTSUPP;                                                                    \
        else                                                                                       \
            note_open(fd = REAL(name) arguments);                                                  \
        if (how == KILL) die();                                                                    \
        if (fd >= 0 && (flags & O_CREAT) != 0) synced_named(at, path);                             \
        return fd;                                                                                 \
    }

OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, dir, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN(openat64, dir, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))

/* What a build with _FORTIFY_SOURCE calls instead. */
int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

/* Linux closes the descriptor even when it reports an error, and stdio the stream. */
#define CLOSE(name, parameters, argument, fd)                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        const enum how how = judge(#name, fd);                                                     \
        const int error = errno;                                                                   \
        const int result = REAL(name) argument;                                                    \
        if (how == KILL) die();                                                                    \
        if (how == FAIL) errno = error;                                                            \
        return how == FAIL ? -1 : result;                                                          \
    }

CLOSE(close, (int fd), (fd), fd)
CLOSE(fclose, (FILE * f), (f), -1)
CLOSE(closedir, (DIR * d), (d), -1)
CLOSE(munmap, (void *p, size_t n), (p, n), -1)

/* fcntl with a number, a pointer or nothing: it takes whichever the caller gave. */
#define CONTROL(name)                                                                              \
    int name(int fd, int what, ...)                                                                \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, what);                                                                      \
        void *value = va_arg(rest, void *);                                                        \
        va_end(rest);                                                                              \
        const enum how how = judge(#name, fd);                                                     \
        if (how == FAIL) return -1;                                                                \
        const int result = REAL(name)(fd, what, value);                                            \
        if (how == KILL) die();                                                                    \
        return result;                                                                             \
    }

CONTROL(fcntl)
CONTROL(fcntl64)

/* Also for streams, which remember that they have failed. Standard error is left alone: its
 * failure cannot be reported anywhere. */
static bool stream_fails(const char *name, FILE *f, enum how *how)
{
    *how = f != stderr ? judge(name, -1) : NONE;
    if (*how == FAIL) f->_flags |= _IO_ERR_SEEN;
    return *how == FAIL;
}

#define STREAM(type, name, parameters, arguments, failed)                                          \
    type name parameters                                                                           \
    {                                                                                              \
        enum how how;                                                                              \
        if (stream_fails(#name, f, &how)) return failed;                                           \
        type result = REAL(name) arguments;                                                        \
        if (how == KILL) die();                                                                    \
        return result;                                                                             \
    }

#undef fwrite_unlocked /* a macro of glibc's */
STREAM(size_t, fread, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f), 0)
STREAM(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f), 0)
STREAM(size_t, fwrite_unlocked, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f), 0)
STREAM(ssize_t, __getdelim, (char **p, size_t *n, int end, FILE *f), (p, n, end, f), -1)
STREAM(ssize_t, getline, (char **p, size_t *n, FILE *f), (p, n, f), -1)
STREAM(int, fflush, (FILE * f), (f), EOF)

size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f)
{
    (void)room;
    return fread(p, size, n, f);
}

/* What changes names or makes things last: noted when it has worked. */
#define NOTED(name, parameters, arguments, fd, before, after)                                      \
    int name parameters                                                                            \
    {                                                                                              \
        const enum how how = judge(#name, fd);                                                     \
        if (how == FAIL) return -1;                                                                \
        const bool lacking = is_lacking(#name);                                                    \
        if (!lacking) before;                                                                      \
        const int result = lacking ? -1 : REAL(name) arguments;                                    \
        if (how == KILL) die();                                                                    \
        const int kept = errno;                                                                    \
        if (result == 0) after;                                                                    \
        errno = kept;                                                                              \
        return result;                                                                             \
    }

NOTED(fsync, (int fd), (fd), fd, (void)0, synced_now(fd))
NOTED(fdatasync, (int fd), (fd), fd, (void)0, synced_now(fd))
NOTED(link, (const char *from, const char *to), (from, to), -1, synced_publish(AT_FDCWD, from, to),
      synced_named(AT_FDCWD, to))
NOTED(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags),
      -1, synced_publish(a, from, to), synced_named(b, to))
NOTED(rename, (const char *from, const char *to), (from, to), -1,
      synced_replace(AT_FDCWD, from, AT_FDCWD, to), synced_named(AT_FDCWD, to))
NOTED(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), -1,
      synced_replace(a, from, b, to), synced_named(b, to))
NOTED(renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
      (a, from, b, to, flags), -1, synced_publish(a, from, to), synced_named(b, to))
NOTED(unlink, (const char *path), (path), -1, synced_forget(AT_FDCWD, path), (void)0)
NOTED(unlinkat, (int dir, const char *path, int flags), (dir, path, flags), -1,
      synced_forget(dir, path), (void)0)

CALL(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), fd, -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, -1)
CALL(int, rmdir, (const char *path), (path), -1, -1)
CALL(DIR *, opendir, (const char *path), (path), -1, NULL)
CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), -1, NULL)
CALL(FILE *, fopen64, (const char *path, const char *mode), (path, mode), -1, NULL)
CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), fd, NULL)
CALL(struct dirent64 *, readdir64, (DIR * d), (d), -1, NULL)
CALL(int, getentropy, (void *p, size_t n), (p, n), -1, -1)
CALL(char *, getcwd, (char *to, size_t n), (to, n), -1, NULL)
CALL(int, utimensat, (int dir, const char *path, const struct timespec t[2], int flags),
     (dir, path, t, flags), -1, -1)
CALL(int, madvise, (void *p, size_t n, int advice), (p, n, advice), -1, -1)
CALL(int, mlock, (const void *p, size_t n), (p, n), -1, -1)
CALL(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how_made, void *(*run)(void *), void *ctx),
     (thread, how_made, run, ctx), -1, EAGAIN)
CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, -1)
CALL(int, setsockopt, (int fd, int level, int name, const void *p, socklen_t n),
     (fd, level, name, p, n), fd, -1)
CALL(int, bind, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), fd, -1)
CALL(int, listen, (int fd, int n), (fd, n), fd, -1)
CALL(int, getsockname, (int fd, struct sockaddr *to, socklen_t *n), (fd, to, n), fd, -1)
CALL(int, getrlimit64, (__rlimit_resource_t what, struct rlimit64 *to), (what, to), -1, -1)
CALL(int, setrlimit64, (__rlimit_resource_t what, const struct rlimit64 *to), (what, to), -1, -1)
CALL(ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags), -1, -1)
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, -1)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), fd, -1)
CALL(int, chmod, (const char *path, mode_t mode), (path, mode), -1, -1)
CALL(int, flock, (int fd, int op), (fd, op), fd, -1)
CALL(int, ftruncate, (int fd, off_t n), (fd, n), fd, -1)
CALL(int, ftruncate64, (int fd, off64_t n), (fd, n), fd, -1)
CALL(int, access, (const char *path, int mode), (path, mode), -1, -1)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), fd, -1)
CALL(int, fstat64, (int fd, struct stat64 *st), (fd, st), fd, -1)
CALL(int, stat, (const char *path, struct stat *st), (path, st), -1, -1)
CALL(int, stat64, (const char *path, struct stat64 *st), (path, st), -1, -1)
CALL(int, lstat, (const char *path, struct stat *st), (path, st), -1, -1)
CALL(int, lstat64, (const char *path, struct stat64 *st), (path, st), -1, -1)
CALL(int, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags),
     -1, -1)
CALL(int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags),
     (dir, path, st, flags), -1, -1)
CALL(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at),
     (p, n, prot, flags, fd, at), fd, MAP_FAILED)
CALL(void *, mmap64, (void *p, size_t n, int prot, int flags, int fd, off64_t at),
     (p, n, prot, flags, fd, at), fd, MAP_FAILED)
CALL(char *, realpath, (const char *path, char *to), (path, to), -1, NULL)

char *__realpath_chk(const char *path, char *to, size_t room)
{
    (void)room;
    return realpath(path, to);
}

/* Under a sanitizer memory is not ours to give. */
#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static bool memory_fails(void)
{
    const long n = ++shim.allocations;
    const bool now = shim.memory_at != 0 && (shim.once ? n == shim.memory_at : n >= shim.memory_at);
    if (!now && !fails_as_well("memory")) return false;
    /* The first is enough to know. */
    if (!shim.no_memory) trace("memory", -1, "fail");
    shim.no_memory = true;
    shim.struck = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    return memory_fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return memory_fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return memory_fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return memory_fails() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    if (memory_fails()) return ENOMEM;
    *out = __libc_memalign(align, n);
    return *out != NULL ? 0 : ENOMEM;
}
#endif
