#include "stop.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>

static bool wanted;
static volatile sig_atomic_t asked;

static void on_signal(int number)
{
    asked = number;
}

void stop_on_signal(int number)
{
    /* An interrupted write continues; poll, which waits for input, always returns. */
    const struct sigaction once = {.sa_handler = on_signal,
                                   .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction before;
    wanted = true;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &once, NULL);
}

int stop_asked(void)
{
    return (int)asked;
}

/* In steps, because a signal may come just before poll, or to another thread. */
bool stop_or_ready(int fd)
{
    enum { STEP = 100 /* milliseconds */ };
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (wanted && asked == 0 && poll(&p, 1, STEP) <= 0) continue;
    return asked == 0;
}

void stop_now(void)
{
    if (asked == 0) return;
    signal((int)asked, SIG_DFL);
    raise((int)asked);
}
