/* What systemd passes to a service: a socket that stays open while the service restarts, so that no
 * connection is lost, and a place where the service reports that it is ready. */
#ifndef GUARD_SYSTEMD_H
#define GUARD_SYSTEMD_H

#include "../version/guard.h"

#include <sys/un.h>

/* Room for an IP address, and for the path of a Unix socket, which need not end with a NUL. */
#define GUARD_PASSED_ADDRESS (sizeof((struct sockaddr_un *)0)->sun_path + 1)

/* Takes the socket that was passed (LISTEN_FDS), with its address and port, which is 0 for a Unix
 * socket. Returns 0 if there is none, and -1 with a reason if it is not one listening stream
 * socket with an IP address or a path. */
int guard_systemd_socket(char address[GUARD_PASSED_ADDRESS], uint16_t *port, guard_error *why);

/* Reports a state such as "READY=1", if somebody waits for it (NOTIFY_SOCKET). */
void guard_systemd_notify(const char *state);

#endif
