#include "stop.h"

#include "output.h"
#include "progress.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

static bool wanted;
static volatile sig_atomic_t asked;
static _Atomic(const char *) report; /* NULL: none */

/* --- The end ---------------------------------------------------------------------------------- */

/* A signal handler may call it. */
static void print_report(void)
{
    const char *text = atomic_exchange(&report, NULL);
    progress_abandon();
    /* If standard error cannot be written, nobody can be told. */
    if (text != NULL && write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

/* The signal has its usual effect already (SA_RESETHAND), as soon as this returns. */
static void end_by_signal(int number)
{
    const int os = errno;
    print_report();
    raise(number);
    errno = os;
}

/* No call is restarted, because the thread sanitizer handles a signal only when a call returns. */
static const struct sigaction ending = {.sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND};

/* The first signal is noted, and the next one ends the program. */
static void note_signal(int number)
{
    asked = number;
    sigaction(number, &ending, NULL);
}

/* An interrupted write continues; poll, which waits for input, always returns. */
static void handle(const struct sigaction *how)
{
    struct sigaction before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], how, NULL);
}

void stop_erases_progress(void)
{
    static bool watched;
    if (!watched && !wanted) handle(&ending);
    watched = true;
}

/* Two texts in turn, because a signal may arrive while one is being written. */
void stop_report(const char *about, const char *state)
{
    enum { MOST = 4 * 4096 + 200 };
    static char texts[2][MOST];
    static unsigned turn;
    if (about == NULL) {
        atomic_store(&report, NULL);
        return;
    }
    char *text = texts[turn++ % 2];
    char name[MOST - 200];
    write_shown(about, name, sizeof name);
    snprintf(text, MOST, "tamis: interrupted: %s %.150s\n", name, state);
    atomic_store(&report, text);
    stop_erases_progress();
}

/* --- The end of the input --------------------------------------------------------------------- */

void stop_on_signals(void)
{
    const struct sigaction noting = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    wanted = true;
    handle(&noting);
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
    print_report();
    signal((int)asked, SIG_DFL);
    raise((int)asked);
}
