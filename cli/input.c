#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One read: large enough that the system call does not count, small enough for the L2 cache. */
#define FIRST_ROOM ((size_t)1 << 18)

static char *stdin_only[] = {"-"};

bool input_open(struct input *in, char **paths, int n, bool nul)
{
    memset(in, 0, sizeof *in);
    in->paths = n > 0 ? paths : stdin_only;
    in->n_paths = n > 0 ? n : 1;
    in->end = nul ? '\0' : '\n';
    in->fd = -1;
    in->room = FIRST_ROOM;
    in->buffer = malloc(in->room);
    return in->buffer != NULL;
}

static void close_current(struct input *in)
{
    if (in->fd > STDIN_FILENO) close(in->fd);
    in->fd = -1;
}

void input_close(struct input *in)
{
    close_current(in);
    free(in->buffer);
}

static void fail(struct input *in)
{
    complain(in->path, "cannot read: %s", strerror(errno));
    in->failed = true;
    in->at_end = true;
    in->from = in->to = in->searched = 0;
}

/* The next file that can be opened; false: no more. */
static bool open_next(struct input *in)
{
    while (in->next < in->n_paths) {
        const char *path = in->paths[in->next++];
        const bool is_stdin = strcmp(path, "-") == 0;
        in->path = is_stdin ? "standard input" : path;
        in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        in->at_end = false;
        in->from = in->to = in->searched = 0;
        if (in->fd >= 0) return true;
        fail(in);
    }
    return false;
}

/* Append at least a byte to the buffer, or find the end of the file. */
static void fill(struct input *in)
{
    if (in->from > 0) {
        memmove(in->buffer, in->buffer + in->from, in->to - in->from);
        in->to -= in->from;
        in->searched -= in->from;
        in->from = 0;
    }
    if (in->to == in->room) { /* a line longer than the buffer */
        char *bigger = in->room <= SIZE_MAX / 2 ? realloc(in->buffer, in->room * 2) : NULL;
        if (bigger == NULL) {
            errno = ENOMEM;
            fail(in);
            return;
        }
        in->buffer = bigger;
        in->room *= 2;
    }
    ssize_t got;
    do got = read(in->fd, in->buffer + in->to, in->room - in->to);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        fail(in);
        return;
    }
    in->at_end = got == 0;
    in->to += (size_t)got;
    in->bytes += (size_t)got;
}

/* The complete lines in the buffer. */
static size_t split(struct input *in, tamis_bytes *lines, size_t max)
{
    size_t n = 0;
    while (n < max) {
        char *end = memchr(in->buffer + in->searched, in->end, in->to - in->searched);
        if (end == NULL) {
            in->searched = in->to;
            break;
        }
        lines[n].p = in->buffer + in->from;
        lines[n++].len = (size_t)(end - in->buffer) - in->from;
        in->from = in->searched = (size_t)(end - in->buffer) + 1;
    }
    return n;
}

size_t input_lines(struct input *in, tamis_bytes *lines, size_t max)
{
    for (;;) {
        if (in->fd < 0 && !open_next(in)) return 0;
        const size_t n = split(in, lines, max);
        if (n > 0) return n;
        if (!in->at_end) {
            fill(in);
            continue;
        }
        close_current(in);
        if (in->from < in->to) { /* the last line has no end */
            lines->p = in->buffer + in->from;
            lines->len = in->to - in->from;
            in->from = in->to;
            return 1;
        }
    }
}

uint64_t input_total(char **paths, int n)
{
    uint64_t total = 0;
    struct stat st;
    for (int i = 0; i < n; i++) {
        if (strcmp(paths[i], "-") == 0 || stat(paths[i], &st) != 0 || !S_ISREG(st.st_mode)) return 0;
        total += (uint64_t)st.st_size;
    }
    return total;
}
