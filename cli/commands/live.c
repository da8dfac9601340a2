#include "live.h"

#include "../frame/output.h"
#include "../frame/stop.h"
#include "../frame/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_size(unsigned *columns, unsigned *rows)
{
    struct winsize w;
    *columns = *rows = 0;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0) return false;
    *columns = w.ws_col != 0 ? w.ws_col : 80;
    *rows = w.ws_row != 0 ? w.ws_row : 24;
    return true;
}

/* --- Repainting ------------------------------------------------------------------------------- */

void live_start(struct live *l)
{
    stop_on_signals();
    *l = (struct live){.next = seconds_now()};
}

bool live_stopped(void)
{
    return stop_asked() != 0;
}

bool live_is_due(struct live *l)
{
    const double t = seconds_now();
    if (t < l->next) return false;
    l->next = t + LIVE_SECONDS;
    return true;
}

/* The terminal cuts long lines meanwhile, so that each is one row. */
void live_begin(struct live *l)
{
    if (l->painted > 0) printf("\033[%uA", l->painted);
    fputs("\r\033[?7l", stdout);
    l->painted = 0;
}

void live_line(struct live *l)
{
    fputs("\033[K\n", stdout);
    l->painted++;
}

void live_end(struct live *l)
{
    (void)l;
    fputs("\033[J\033[?7h", stdout);
    flush_output();
}

void live_clear(struct live *l)
{
    if (l->painted > 0) printf("\033[%uA\r\033[J", l->painted);
    l->painted = 0;
}
