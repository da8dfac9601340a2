/* What the terminal can show, and the line of progress. */
#include "terminal.h"

#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } color = AUTO;

bool set_color(const char *when)
{
    static const char *const names[] = {"auto", "always", "never"};
    if (when == NULL) return true;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(when, names[i]) != 0) continue;
        color = i;
        return true;
    }
    complain(NULL, "--color: '%s' is not auto, always or never", when);
    return false;
}

static const char *set_in(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool has_color(FILE *to)
{
    const char *term = set_in("TERM");
    if (color != AUTO) return color == ALWAYS;
    return set_in("NO_COLOR") == NULL && term != NULL && strcmp(term, "dumb") != 0 &&
           isatty(fileno(to));
}

const char *ink(FILE *to, enum ink which)
{
    /* Colours that are readable in every theme; black and white are not. */
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[32m",
                                        "\033[33m", "\033[31m", "\033[2m"};
    return has_color(to) ? codes[which] : "";
}

bool has_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (unsigned i = 0; i < 3 && locale == NULL; i++) locale = set_in(names[i]);
    const char *set = locale != NULL ? strchr(locale, '.') : NULL;
    return set != NULL && (strncasecmp(set, ".utf-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
}

unsigned columns_of(FILE *to)
{
    enum { LEAST = 20, MOST = 500, USUAL = 80 };
    struct winsize size;
    const char *set = set_in("COLUMNS");
    unsigned long columns = set != NULL ? strtoul(set, NULL, 10) : 0;
    if (columns == 0 && ioctl(fileno(to), TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    if (columns == 0) return USUAL;
    if (columns < LEAST) return LEAST;
    return columns > MOST ? MOST : (unsigned)columns;
}

void draw_bar(char *room, unsigned columns, double share)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const bool fine = has_unicode();
    const double limited = share > 0 ? fmin(share, 1) : 0; /* NAN is 0 */
    const unsigned steps = fine ? 8 : 1, full = (unsigned)lround(limited * columns * steps);
    unsigned used = full / steps;
    char *p = room;
    for (unsigned i = 0; i < used; i++) p = stpcpy(p, fine ? "█" : "#");
    if (full % steps != 0) {
        p = stpcpy(p, parts[full % steps]);
        used++;
    }
    for (; used < columns; used++) p = stpcpy(p, fine ? " " : ".");
}

/* --- Progress --------------------------------------------------------------------------------- */

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(struct progress *p, const char *verb, uint64_t total_bytes, bool quiet)
{
    memset(p, 0, sizeof *p);
    p->verb = verb;
    p->total_bytes = total_bytes;
    p->wanted = !quiet && isatty(STDERR_FILENO);
    p->started = p->shown = seconds_now();
}

/* 7 s, 2:05, 1:02:05 */
static void write_left(char *out, size_t room, double seconds)
{
    const unsigned long s = seconds < 1e7 ? (unsigned long)lround(seconds) : 9999999;
    if (s < 60)
        snprintf(out, room, "%lu s", s);
    else if (s < 3600)
        snprintf(out, room, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(out, room, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

/* The bar takes the columns that the figures leave, because a line that wraps cannot be drawn
 * over. */
static void show_progress(const struct progress *p, double elapsed)
{
    enum { LEAST_BAR = 8, MOST_BAR = 30 };
    char bar[3 * MOST_BAR + 1], left[40], text[200];
    const unsigned columns = columns_of(stderr) - 1;
    const double share =
        p->total_bytes != 0 ? fmin((double)p->bytes / (double)p->total_bytes, 1) : 0;
    int n = snprintf(text, sizeof text, "%s lines, %.1f M/s", grouped(p->lines),
                     1e-6 * (double)p->lines / elapsed);
    if (share > 0) {
        write_left(left, sizeof left, elapsed * (1 - share) / share);
        n += snprintf(text + n, sizeof text - (size_t)n, ", %s left", left);
    }
    const unsigned taken = (unsigned)(strlen(p->verb) + 2) + (unsigned)n + sizeof " 100 % [] " - 1;
    unsigned width = columns > taken ? columns - taken : 0;
    if (width > MOST_BAR) width = MOST_BAR;
    fprintf(stderr, "\r%s: ", p->verb);
    if (share > 0 && width >= LEAST_BAR) {
        draw_bar(bar, width, share);
        fprintf(stderr, "[%s] %3.0f %% ", bar, floor(100 * share));
    }
    fprintf(stderr, "%.*s\033[K", (int)(columns - strlen(p->verb) - 2), text);
}

void progress_update(struct progress *p, uint64_t lines, uint64_t bytes)
{
    p->lines += lines;
    p->bytes = bytes;
    if (!p->wanted) return;
    const double t = seconds_now();
    if (t - p->shown < 0.1) return; /* ten times a second is enough */
    p->shown = t;
    show_progress(p, t - p->started);
}

void progress_end(struct progress *p)
{
    if (p->wanted && p->shown > p->started) fputs("\r\033[K", stderr);
}
