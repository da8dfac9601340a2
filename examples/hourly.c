/* Passes on each event once an hour, and remembers across restarts which ones it has passed on.
 *
 * A window of 13 generations of five minutes remembers a key for 60 to 65 minutes. The program
 * saves it from time to time, and rotates it by the clock: tamis_rotate_to compares the epoch, the
 * number of five-minute periods since 1970, with the one that the file records. A program that was
 * down for twenty minutes thus rotates four times when it is back, and after a night the window is
 * empty. Without the epoch it could only guess. The clock here is a fake one. */
#include <tamis/tamis.h>

#include <stdio.h>
#include <stdlib.h>

enum { PERIOD = 300, GENERATIONS = 13, EVENTS_AN_HOUR = 10000 };

static const char *path = "hourly.tamis";
static uint64_t now = 1800000000; /* in seconds */

static void must(tamis_status s, const tamis_error *why)
{
    if (s == TAMIS_OK) return;
    fprintf(stderr, "%s\n", why->text);
    exit(1);
}

/* After a start: continues with the saved window, or begins with an empty one. */
static tamis *start(void)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_WINDOW,
                             .generations = GENERATIONS,
                             .items = EVENTS_AN_HOUR,
                             .fpr = 1e-6};
    tamis *t;
    tamis_error why;
    if (tamis_open(path, NULL, &t, &why) != TAMIS_OK) {
        if (why.status != TAMIS_EIO) must(why.status, &why);
        must(tamis_create(&plan, NULL, &t, &why), &why);
    }
    return t;
}

static void stop(tamis *t)
{
    tamis_error why;
    must(tamis_save(t, path, NULL, &why), &why);
    tamis_close(t);
}

/* Whether the event did not occur in the last hour. */
static bool is_new(tamis *t, const char *event, size_t n)
{
    tamis_error why;
    bool seen;
    const tamis_status s = tamis_rotate_to(t, now / PERIOD, &why);
    if (s != TAMIS_EINVAL) must(s, &why); /* a clock that was set back forgets nothing */
    if (tamis_add(t, event, n, &seen) != TAMIS_OK) exit(1);
    return !seen;
}

int main(void)
{
    static const struct {
        unsigned minutes_later;
        bool restarts, expected;
    } day[] = {{0, false, true},                       /* 0:00 the first one */
               {20, true, false},                      /* 0:20 after a restart */
               {59, true, false},                      /* 1:19 again within an hour of the last */
               {66, true, true},                       /* 2:25 more than 65 minutes later */
               {30, false, false}, {600, true, true}}; /* the next day */
    bool right = true;
    remove(path);
    tamis *t = start();
    for (size_t i = 0; i < sizeof day / sizeof *day; i++) {
        now += 60 * day[i].minutes_later;
        if (day[i].restarts) {
            stop(t);
            t = start();
        }
        const bool fresh = is_new(t, "disk full on db-7", 17);
        printf("after %3u minutes%s: %s\n", day[i].minutes_later,
               day[i].restarts ? " and a restart" : "", fresh ? "passed on" : "dropped");
        right = right && fresh == day[i].expected;
    }
    now -= 7200; /* the clock is set back */
    right = right && !is_new(t, "disk full on db-7", 17);
    stop(t);
    remove(path);
    return right ? 0 : 1;
}
