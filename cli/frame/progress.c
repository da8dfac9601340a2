#include "progress.h"

#include "output.h"
#include "stop.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Shorter work is not worth a line. */
#define FIRST_SECONDS 0.5
enum {
    STEP = 200, /* milliseconds between two drawings */
    SOON = 20   /* to the first one of a part, which may be short (progress_parts) */
};

static bool quiet;
static atomic_bool running; /* there is a thread that draws */
static atomic_bool drawn;   /* the line is on the screen */
static atomic_bool drawing; /* it is being written */
static atomic_bool over;    /* the process ends by a signal */
static atomic_int typing;   /* the input comes from a terminal */

/* The lock is for these. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct work now;
static double parts_since; /* progress_parts was called; 0: it was not */
static unsigned paused;

/* Only the thread that starts and ends the work uses these. */
static pthread_t thread;
static int wake[2]; /* a pipe: the thread ends when its writing end is closed */

/* --- Drawing ---------------------------------------------------------------------------------- */

/* 7 s, 2:05, 1:02:05 */
static void write_time(char *out, size_t room, double seconds)
{
    const unsigned long s = seconds < 1e7 ? (unsigned long)lround(seconds) : 9999999;
    if (s < 60)
        snprintf(out, room, "%lu s", s);
    else if (s < 3600)
        snprintf(out, room, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(out, room, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

/* 120/s, 4.5 k/s, 12.3 M/s */
static void write_rate(char *out, size_t room, double rate)
{
    if (rate < 1e3)
        snprintf(out, room, "%.0f/s", rate);
    else if (rate < 1e6)
        snprintf(out, room, "%.1f k/s", rate / 1e3);
    else
        snprintf(out, room, "%.1f M/s", rate / 1e6);
}

/* "1,234 lines, 4.5 k/s, 7 s left"; where that has no room, "10 %, 7 s left". */
static size_t describe(const struct work *w, double share, double elapsed, char *text, size_t most)
{
    enum { ROOM = 200 };
    char done[40], rate[40], time[40];
    const char *what = share > 0 ? "left" : "elapsed";
    int n = 0;
    write_time(time, sizeof time, share > 0 ? elapsed * (1 - share) / share : elapsed);
    if (w->unit != NULL) {
        write_grouped(w->done, done);
        write_rate(rate, sizeof rate, (double)w->done / elapsed);
        n = snprintf(text, ROOM, "%s %s, %s, ", done, w->unit, rate);
    }
    n += snprintf(text + n, ROOM - (size_t)n, "%s %s", time, what);
    if ((size_t)n <= most) return (size_t)n;
    n = share > 0 ? snprintf(text, ROOM, "%.0f %%, ", floor(100 * share)) : 0;
    n += snprintf(text + n, ROOM - (size_t)n, "%s %s", time, what);
    return (size_t)n;
}

/* One call, so that nothing comes between; what cannot be shown is not missed. */
static void show(const char *text, size_t n)
{
    if (write(STDERR_FILENO, text, n) < 0) return;
}

static void write_line(const char *line, size_t n)
{
    atomic_store(&drawing, true);
    if (!atomic_load(&over)) {
        atomic_store(&drawn, true);
        show(line, n);
    }
    atomic_store(&drawing, false);
}

/* The bar takes the columns that the figures leave, because a line that wraps cannot be drawn
 * over. */
static void draw(const struct work *w, double elapsed)
{
    enum { LEAST_BAR = 8, MOST_BAR = 30 };
    char bar[3 * MOST_BAR + 1], text[200], line[600];
    const size_t columns = columns_of(stderr) - 1, verb = strlen(w->verb) + 2;
    const size_t left = columns > verb ? columns - verb : 0;
    const double share = w->total != 0 ? fmin((double)w->at / (double)w->total, 1) : 0;
    const size_t taken = describe(w, share, elapsed, text, left) + sizeof " 100 % [] " - 1;
    size_t width = left > taken ? left - taken : 0;
    if (width > MOST_BAR) width = MOST_BAR;
    int n = snprintf(line, sizeof line, "\r%.*s: ", (int)columns - 2, w->verb);
    if (share > 0 && width >= LEAST_BAR) {
        draw_bar(bar, (unsigned)width, share);
        n += snprintf(line + n, sizeof line - (size_t)n, "[%s] %3.0f %% ", bar, floor(100 * share));
    }
    n += snprintf(line + n, sizeof line - (size_t)n, "%.*s\033[K", (int)left, text);
    write_line(line, (size_t)n);
}

/* The mark goes last: if a signal ends the process before the sequence is written, the handler
 * writes it. */
static void erase(void)
{
    static const char sequence[] = "\r\033[K";
    if (!atomic_load(&drawn)) return;
    show(sequence, sizeof sequence - 1);
    atomic_store(&drawn, false);
}

/* In the background the terminal belongs to another process. */
static bool in_background(void)
{
    const pid_t owner = tcgetpgrp(STDERR_FILENO);
    return owner >= 0 && owner != getpgrp();
}

/* The caller has the lock. */
static bool is_due(void)
{
    const double since = parts_since > 0 ? parts_since : now.started;
    return seconds_now() - since >= FIRST_SECONDS || atomic_load(&drawn);
}

static void *keep_drawing(void *unused)
{
    struct pollfd end = {.fd = wake[0], .events = POLLIN};
    pthread_mutex_lock(&lock);
    int wait = is_due() ? SOON : STEP;
    pthread_mutex_unlock(&lock);
    while (poll(&end, 1, wait) == 0) {
        pthread_mutex_lock(&lock);
        const bool alone = paused == 0 && atomic_load(&typing) == 0;
        if (is_due() && alone && !in_background()) draw(&now, seconds_now() - now.started);
        pthread_mutex_unlock(&lock);
        wait = STEP;
    }
    return unused;
}

/* --- Start and end ---------------------------------------------------------------------------- */

void progress_be_quiet(void)
{
    quiet = true;
}

void progress_parts(void)
{
    pthread_mutex_lock(&lock);
    parts_since = seconds_now();
    pthread_mutex_unlock(&lock);
}

/* Signals are for the other threads: a thread that saves a file holds them back. */
static bool start_thread(void)
{
    sigset_t all, before;
    if (pipe(wake) != 0) return false;
    paused = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool good = pthread_create(&thread, NULL, keep_drawing, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!good) {
        close(wake[0]);
        close(wake[1]);
    }
    return good;
}

static void begin_work(struct progress *p, struct work w)
{
    *p = (struct progress){.shown = !quiet && isatty(STDERR_FILENO)};
    if (!p->shown) return;
    w.started = seconds_now();
    pthread_mutex_lock(&lock);
    p->outer = now;
    now = w;
    pthread_mutex_unlock(&lock);
    if (atomic_load(&running)) return;
    stop_erases_progress();
    p->shown = start_thread();
    atomic_store(&running, p->shown);
    if (!p->shown) now = p->outer;
}

void progress_start(struct progress *p, const char *verb, uint64_t total_bytes)
{
    begin_work(p, (struct work){.verb = verb, .unit = "lines", .total = total_bytes});
}

void progress_count(struct progress *p, const char *verb, const char *unit, uint64_t total)
{
    begin_work(p, (struct work){.verb = verb, .unit = unit, .total = total});
}

void progress_wait(struct progress *p, const char *verb)
{
    begin_work(p, (struct work){.verb = verb});
}

void progress_update(struct progress *p, uint64_t lines, uint64_t bytes)
{
    if (!p->shown) return;
    pthread_mutex_lock(&lock);
    now.done += lines;
    now.at = bytes;
    pthread_mutex_unlock(&lock);
}

void progress_add(struct progress *p, uint64_t units)
{
    if (!p->shown) return;
    pthread_mutex_lock(&lock);
    now.done += units;
    now.at = now.done;
    pthread_mutex_unlock(&lock);
}

void progress_end(struct progress *p)
{
    if (!p->shown) return;
    p->shown = false;
    pthread_mutex_lock(&lock);
    now = p->outer;
    pthread_mutex_unlock(&lock);
    if (now.verb != NULL) return;
    close(wake[1]);
    pthread_join(thread, NULL);
    close(wake[0]);
    atomic_store(&running, false);
    erase();
}

/* --- Beside other output ---------------------------------------------------------------------- */

bool progress_would_mix(bool nul)
{
    struct stat st;
    if (isatty(STDOUT_FILENO)) return nul;
    return fstat(STDOUT_FILENO, &st) != 0 || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
}

static void change_paused(int fd, bool more)
{
    const int os = errno;
    if (atomic_load(&running) && isatty(fd)) {
        pthread_mutex_lock(&lock);
        if (more) erase();
        paused = more ? paused + 1 : paused > 0 ? paused - 1 : 0;
        pthread_mutex_unlock(&lock);
    }
    errno = os;
}

void progress_pause(int fd)
{
    change_paused(fd, true);
}

void progress_resume(int fd)
{
    change_paused(fd, false);
}

void progress_typing(bool begins)
{
    atomic_fetch_add(&typing, begins ? 1 : -1);
}

/* A line that is being written is waited for, but not for ever: the terminal may be stopped. */
void progress_abandon(void)
{
    enum { MOST = 100 /* milliseconds */ };
    atomic_store(&over, true);
    for (int i = 0; i < MOST && atomic_load(&drawing); i++) poll(NULL, 0, 1);
    erase();
}
