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

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
