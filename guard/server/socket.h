/* Where a server listens: "ADDRESS:PORT", "[ADDRESS]:PORT" or the path of a Unix socket. */
#ifndef GUARD_SOCKET_H
#define GUARD_SOCKET_H

#include "../version/guard.h"

#include <sys/types.h>

/* Reports whether this is the path of a Unix socket: it has a slash, which no IP address has. */
bool guard_is_socket_path(const char *text);

/* The file of a Unix socket at which this server listens. */
struct guard_socket_file {
    const char *path; /* NULL if there is none */
    dev_t device;
    ino_t node;
};

/* Listens at a Unix socket, which its owner and group may use. A socket that a killed server left
 * there is replaced, one that is in use is not. Returns -1 after a failure. */
int guard_listen_unix(const char *path, int backlog, struct guard_socket_file *file,
                      guard_error *why);
/* Removes the file, unless another one is at its path by now. This must happen while the socket
 * still listens, because after that another server may replace the file. A second call does
 * nothing. */
void guard_socket_file_remove(struct guard_socket_file *file);

/* Splits "ADDRESS:PORT" into the address, without brackets, and the port. Whether the former is an
 * address is not checked. */
struct guard_endpoint_text {
    char address[64];
    uint16_t port;
};
bool guard_split_port(const char *text, struct guard_endpoint_text *out);

/* Reports whether only this machine can connect to a listening socket: it is bound to a loopback
 * address. A Unix socket does not count, because it is there for a proxy. */
bool guard_is_loopback(int fd);

#endif
