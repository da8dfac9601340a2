/* What systemd passes to a service: a socket that stays open while the service restarts, so that no
 * connection is lost, and a place where the service reports that it is ready. */
#ifndef GUARD_SYSTEMD_H
#define GUARD_SYSTEMD_H

#include "../version/guard.h"

#include <netinet/in.h>

/* Takes the socket that was passed (LISTEN_FDS), with its address and port. Returns 0 if there is
 * none, and -1 with a reason if it is not one listening TCP socket. */
int guard_systemd_socket(char address[INET6_ADDRSTRLEN], uint16_t *port, guard_error *why);

/* Reports a state such as "READY=1", if somebody waits for it (NOTIFY_SOCKET). */
void guard_systemd_notify(const char *state);

#endif
