#include "socket.h"

#include "../version/manifest.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

bool guard_is_socket_path(const char *text)
{
    return strchr(text, '/') != NULL;
}

bool guard_split_port(const char *text, struct guard_endpoint_text *out)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL) return false;
    size_t n = (size_t)(colon - text);
    const bool brackets = n >= 2 && text[0] == '[' && colon[-1] == ']';
    if (brackets) {
        text++;
        n -= 2;
    }
    const bool v6 = memchr(text, ':', n) != NULL;
    const size_t digits = strspn(colon + 1, "0123456789");
    if (n == 0 || n >= sizeof out->address || v6 != brackets || digits == 0 || digits > 5 ||
        colon[1 + digits] != '\0')
        return false;
    const unsigned long port = strtoul(colon + 1, NULL, 10);
    memcpy(out->address, text, n);
    out->address[n] = '\0';
    out->port = (uint16_t)port;
    return port <= UINT16_MAX;
}

/* Removes a socket at which nobody listens any more. */
static void remove_stale(const struct sockaddr_un *a)
{
    struct stat s;
    if (lstat(a->sun_path, &s) != 0 || !S_ISSOCK(s.st_mode)) return;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    if (connect(fd, (const struct sockaddr *)a, sizeof *a) != 0 && errno == ECONNREFUSED)
        unlink(a->sun_path);
    close(fd);
}

int guard_listen_unix(const char *path, int backlog, struct guard_socket_file *file,
                      guard_error *why)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct stat s;
    if (strlen(path) >= sizeof a.sun_path) {
        guard_fail(why, "%s: the path of a Unix socket can have at most %zu bytes", path,
                   sizeof a.sun_path - 1);
        return -1;
    }
    strcpy(a.sun_path, path);
    remove_stale(&a);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode is right before anybody can connect, because nobody listens yet. */
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof a) == 0 && chmod(path, 0660) == 0 &&
        lstat(path, &s) == 0 && listen(fd, backlog) == 0) {
        *file = (struct guard_socket_file){path, s.st_dev, s.st_ino};
        return fd;
    }
    guard_fail(why, "cannot listen at %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

void guard_socket_file_remove(struct guard_socket_file *file)
{
    struct stat s;
    if (file->path != NULL && lstat(file->path, &s) == 0 && s.st_dev == file->device &&
        s.st_ino == file->node)
        unlink(file->path);
    file->path = NULL;
}

bool guard_is_loopback(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    } a;
    socklen_t size = sizeof a;
    if (getsockname(fd, &a.any, &size) != 0) return false;
    if (a.any.sa_family == AF_INET) return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127;
    if (a.any.sa_family != AF_INET6) return false;
    const struct in6_addr *v6 = &a.v6.sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}
