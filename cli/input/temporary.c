#include "temporary.h"

#include "../frame/output.h"
#include "../frame/progress.h"
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *temp_dir(const struct work_args *w)
{
    const char *set = getenv("TMPDIR");
    if (w->temp != NULL) return w->temp;
    return set != NULL && *set != '\0' ? set : "/tmp";
}

static bool temp_failed(const struct work_args *w, const char *what)
{
    complain(temp_dir(w), "cannot %s a temporary file: %s", what, strerror(errno));
    return false;
}

/* For systems and file systems that always give a file a name. Nobody else knows the name, which
 * exists only for a moment. -1: errno. */
static int open_named(const char *folder)
{
    enum { TRIES = 100 };
    const size_t room = strlen(folder) + 64;
    char *path = malloc(room);
    int fd = -1;
    errno = ENOMEM;
    for (int i = 0; i < TRIES && path != NULL && fd < 0; i++) {
        snprintf(path, room, "%s/.tamis-%ld-%d.tmp", folder, (long)getpid(), i);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) break;
    }
    const int os = errno;
    if (fd >= 0) unlink(path);
    free(path);
    errno = os;
    return fd;
}

int temp_open(const struct work_args *w)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open(temp_dir(w), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) fd = open_named(temp_dir(w));
    if (fd < 0) temp_failed(w, "create");
    return fd;
}

bool temp_write(const struct work_args *w, int fd, uint64_t at, const void *bytes, size_t n)
{
    for (const char *p = bytes; n > 0;) {
        const ssize_t put = pwrite(fd, p, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return temp_failed(w, "write");
        p += put;
        at += (uint64_t)put;
        n -= (size_t)put;
    }
    return true;
}

bool temp_read(const struct work_args *w, int fd, uint64_t at, void *to, size_t n)
{
    for (char *p = to; n > 0;) {
        const ssize_t got = pread(fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return temp_failed(w, "read");
        if (got == 0) {
            memset(p, 0, n);
            return true;
        }
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* False after a message. */
static bool copy_all(const struct work_args *w, struct input *in, const char *path, int fd)
{
    enum { PIECE = 1 << 18 };
    char *piece = malloc(PIECE);
    struct progress bar;
    uint64_t at = 0;
    ssize_t got = 0;
    bool good = piece != NULL;
    if (!good) complain(NULL, "not enough memory");
    progress_count(&bar, "copying", "bytes", 0);
    while (good && (got = input_read(in, piece, PIECE)) > 0) {
        good = temp_write(w, fd, at, piece, (size_t)got);
        at += (uint64_t)got;
        progress_add(&bar, (uint64_t)got);
    }
    progress_end(&bar);
    if (good && got < 0) complain(path, "cannot read: %s", input_reason(in));
    free(piece);
    return good && got == 0;
}

int temp_copy(const struct work_args *w, const char *path, bool raw)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct input *in = input_open(path, raw);
    if (in == NULL) {
        complain(name, "cannot read: %s", strerror(errno));
        return -1;
    }
    int fd = temp_open(w);
    if (fd >= 0 && !copy_all(w, in, name, fd)) {
        close(fd);
        fd = -1;
    }
    input_close(in);
    return fd;
}
