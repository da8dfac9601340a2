#include "systemd.h"

#include "../version/manifest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_PASSED 3 /* the first descriptor; the others follow it */

static bool is_number(const char *text, long number)
{
    char *end;
    return text != NULL && *text != '\0' && strtol(text, &end, 10) == number && *end == '\0';
}

static bool is_listening(int fd)
{
    int listens = 0, type = 0;
    socklen_t size = sizeof listens, type_size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_STREAM;
}

/* Reads the address of a socket. Returns false if it has neither an IP address nor a path. */
static bool read_address(int fd, char address[GUARD_PASSED_ADDRESS], uint16_t *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
        struct sockaddr_storage room;
    } a = {.room = {0}};
    socklen_t size = sizeof a;
    if (getsockname(fd, &a.any, &size) != 0) return false;
    switch (a.any.sa_family) {
    case AF_INET:
        *port = ntohs(a.v4.sin_port);
        return inet_ntop(AF_INET, &a.v4.sin_addr, address, GUARD_PASSED_ADDRESS) != NULL;
    case AF_INET6:
        *port = ntohs(a.v6.sin6_port);
        return inet_ntop(AF_INET6, &a.v6.sin6_addr, address, GUARD_PASSED_ADDRESS) != NULL;
    case AF_UNIX:
        *port = 0;
        memcpy(address, a.path.sun_path, sizeof a.path.sun_path);
        address[sizeof a.path.sun_path] = '\0';
        return address[0] == '/'; /* systemd takes nothing else, besides abstract names */
    default: return false;
    }
}

int guard_systemd_socket(char address[GUARD_PASSED_ADDRESS], uint16_t *port, guard_error *why)
{
    const char *n = getenv("LISTEN_FDS");
    if (n == NULL || !is_number(getenv("LISTEN_PID"), (long)getpid())) return 0;
    bool good = is_number(n, 1) ||
                guard_fail(why, "'%.40s' sockets were passed, but the server has one", n);
    if (good && (!is_listening(FIRST_PASSED) || !read_address(FIRST_PASSED, address, port)))
        good = guard_fail(why, "the socket that was passed is not a listening stream socket with "
                               "an IP address or a path");
    return good ? FIRST_PASSED : -1;
}

/* If nobody can be told, systemd's time limit for the start applies. */
void guard_systemd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const size_t n = path != NULL ? strlen(path) : 0;
    if (n == 0 || n >= sizeof a.sun_path) return;
    memcpy(a.sun_path, path, n);
    if (path[0] == '@') a.sun_path[0] = '\0'; /* an abstract name */
    const struct iovec text = {(void *)(uintptr_t)state, strlen(state)};
    const struct msghdr message = {.msg_name = &a,
                                   .msg_namelen =
                                       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n),
                                   .msg_iov = (struct iovec *)(uintptr_t)&text,
                                   .msg_iovlen = 1};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
    close(fd);
}
