/* A window of time turns when a share of that time is over, also between runs: the time of the last
 * turn is the modification time of its file. A copy that got a later one forgets later, never too
 * early; so does a clock that was put back. */
#include "past.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_FPR 1e-6
#define LINE_GENERATIONS 8u
/* Each must hold all lines of the time, as they may come at once: fewer are smaller, and forget a
 * third of it later. */
#define TIME_GENERATIONS 4u

/* --- Requests --------------------------------------------------------------------------------- */

/* --window: a number of lines, or a time (30s, 5m, 1h, 1d). False after a message. */
static bool parse_window(const char *text, uint64_t *lines, double *seconds)
{
    *lines = 0;
    *seconds = 0;
    /* Times come first: 5m is five minutes. 0.5 is neither: a time has its unit here. */
    if (strpbrk(text, "smhd") != NULL && parse_seconds(text, seconds) && *seconds < 1e15)
        return true;
    *seconds = 0;
    if (parse_number(text, lines) && *lines > 0) return true;
    complain(NULL,
             "--window: '%s' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)",
             text);
    return false;
}

/* The last generation is being filled: the others hold that many. */
static uint64_t items_for_lines(uint64_t lines, uint32_t generations)
{
    const uint64_t items = lines + lines / (generations - 1) + 1;
    return items > lines ? items : lines;
}

static uint64_t lines_for_items(uint64_t items, uint32_t generations)
{
    return items - 1 - (items - 1) / generations;
}

static bool plan_window(const struct args *a, tamis_plan *p, double *seconds)
{
    uint64_t lines;
    if (!parse_window(a->window, &lines, seconds)) return false;
    if (a->kind != NULL || (lines != 0 && a->items != 0)) {
        complain(NULL, "uniq: --window %s cannot be combined with --%s", a->window,
                 a->kind != NULL ? "kind" : "items");
        return false;
    }
    p->kind = TAMIS_WINDOW;
    p->generations = lines != 0 ? LINE_GENERATIONS : TIME_GENERATIONS;
    if (lines != 0) {
        p->flags |= TAMIS_AUTO_ROTATE;
        p->items = items_for_lines(lines, LINE_GENERATIONS);
    } else if (a->items != 0) { /* beyond what any filter holds: the library says so */
        p->items =
            a->items < UINT64_MAX / TIME_GENERATIONS ? a->items * TIME_GENERATIONS : a->items;
    }
    return true;
}

/* Others do not tell, or may forget what they should not. */
static bool tells_new(uint32_t kind)
{
    return kind <= TAMIS_BLOCKED || kind == TAMIS_GROWING;
}

static int complain_of_kind(const char *path, uint32_t kind)
{
    return complain(path,
                    "%sa %s filter does not report which lines are new; use blocked, bloom, "
                    "partitioned or growing, or --window",
                    path == NULL ? "uniq: " : "", tamis_kind_name(kind));
}

/* What the options ask for; false after a message. */
static bool plan_past(const struct args *a, tamis_plan *p, double *seconds)
{
    *seconds = 0;
    if (!plan_from(a, p)) return false;
    /* More items than said make it grow, rather than drop lines; only bytes are a limit. */
    if (a->kind == NULL) p->kind = p->bytes != 0 ? TAMIS_AUTO : TAMIS_GROWING;
    if (!tells_new(p->kind)) {
        complain_of_kind(NULL, p->kind);
        return false;
    }
    if (a->window != NULL && !plan_window(a, p, seconds)) return false;
    if (p->fpr == 0 && (p->items == 0 || p->bytes == 0)) p->fpr = DEFAULT_FPR;
    /* Blocked ones, which are the default, take twice as much there. */
    if (p->kind == TAMIS_WINDOW && p->fpr != 0 && p->fpr <= 1e-4) p->inner_kind = TAMIS_BLOOM;
    return true;
}

int past_check(const struct args *a)
{
    tamis_plan p;
    double seconds;
    if (!plan_past(a, &p, &seconds)) return EXIT_ERROR;
    if (a->exact_until != 0 && (a->state != NULL || a->window != NULL))
        return complain(NULL, "uniq: --exact-until cannot be combined with --state or --window");
    if (a->state != NULL && strcmp(a->state, "-") == 0)
        return complain(NULL, "uniq: --state requires a file, which is read and written; write ./- "
                              "for a file named -");
    return EXIT_FOUND;
}

/* --- Time ------------------------------------------------------------------------------------- */

static double time_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start_turning(struct past *p, double seconds, uint32_t generations)
{
    p->turn_seconds = seconds / (generations - 1);
    p->turned = time_of(CLOCK_MONOTONIC);
}

bool past_turn(struct past *p)
{
    if (p->turn_seconds <= 0) return true;
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    const double late = time_of(CLOCK_MONOTONIC) - p->turned;
    if (late < p->turn_seconds || tamis_info(p->t, &f) != TAMIS_OK) return true;
    const double turns = floor(late / p->turn_seconds);
    for (uint32_t i = 0; i < f.sections && i < turns; i++) { /* more than all forget no more */
        if (tamis_rotate(p->t, &why) == TAMIS_OK) continue;
        complain(p->a->state, "cannot drop the oldest generation: %s", why.text);
        return false;
    }
    p->turned += turns * p->turn_seconds;
    return true;
}

/* How long ago the window of a file turned. */
static bool take_time(struct past *p)
{
    struct stat st;
    if (stat(p->a->state, &st) != 0) {
        complain(p->a->state, "cannot read its modification time: %s", strerror(errno));
        return false;
    }
    const double then = (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
    p->turned -= fmax(time_of(CLOCK_REALTIME) - then, 0);
    return true;
}

static bool put_time(const struct past *p)
{
    const double ago = time_of(CLOCK_MONOTONIC) - p->turned;
    const double then = fmax(time_of(CLOCK_REALTIME) - ago, 0), seconds = floor(then);
    const struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (then - seconds))}};
    if (utimensat(AT_FDCWD, p->a->state, times, 0) == 0) return true;
    complain(p->a->state, "saved, but without the time of its last rotation: %s", strerror(errno));
    return false;
}

/* --- Files ------------------------------------------------------------------------------------ */

/* What it was made for, when it is there. */
static bool take_rate(struct past *p, double asked)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(p->t, &f) != TAMIS_OK) return false;
    p->asked = rate_asked(&f, asked, DEFAULT_FPR);
    return true;
}

bool past_create(struct past *p)
{
    const struct args *a = p->a;
    const tamis_options o = {.struct_size = sizeof o, .key = a->key};
    tamis_plan plan;
    tamis_error why;
    double seconds;
    if (!plan_past(a, &plan, &seconds)) return false;
    if (seconds > 0 && a->items == 0 && a->bytes == 0) {
        complain(NULL,
                 "uniq: --window %s requires --items, the largest number of distinct "
                 "lines in that time",
                 a->window);
        return false;
    }
    if (tamis_create(&plan, &o, &p->t, &why) != TAMIS_OK) {
        complain(NULL, "uniq: %s", why.text);
        return false;
    }
    if (seconds > 0) start_turning(p, seconds, plan.generations);
    return take_rate(p, plan.fpr);
}

/* Which windows are meant. EXIT_ERROR after a message. */
static int compare_window(const struct past *p, const tamis_facts *f)
{
    const char *path = p->a->state, *window = p->a->window;
    const bool is_window = f->kind == TAMIS_WINDOW;
    uint64_t lines = 0;
    double seconds = 0;
    if (window == NULL && is_window && !f->auto_rotate)
        return complain(path, "this state is a window of time; give its length with --window");
    if (window == NULL) return EXIT_FOUND;
    if (!is_window)
        return complain(path,
                        "this state is a %s filter, which forgets nothing, but "
                        "--window %s was given",
                        tamis_kind_name(f->kind), window);
    if (!parse_window(window, &lines, &seconds)) return EXIT_ERROR;
    if (!f->auto_rotate)
        return seconds > 0 ? EXIT_FOUND
                           : complain(path,
                                      "this state is a window of time, but --window %s "
                                      "is a number of lines",
                                      window);
    const uint64_t held = lines_for_items(f->planned_items, f->sections);
    if (seconds > 0 || lines != held)
        return complain(path, "this state is a window of %s lines, but --window %s was given",
                        grouped(held), window);
    return EXIT_FOUND;
}

/* The sizes. A plan without items fills its bytes but for a line of each part; with items they are
 * a limit, whatever else is said. */
static int compare_sizes(const struct past *p, const tamis_facts *f)
{
    const struct args *a = p->a;
    const bool of_time = f->kind == TAMIS_WINDOW && !f->auto_rotate;
    const uint64_t items = of_time ? f->planned_items / f->sections : f->planned_items;
    const bool filled = a->items == 0 && !f->auto_rotate;
    if (a->items != 0 && a->items != items)
        return complain(a->state, "this state was made for %s lines, but --items is %s",
                        grouped(items), grouped(a->items));
    if (a->fpr != 0 && !rate_may_be(f, a->fpr))
        return complain(a->state, "this state was made for a rate of %s, but --fpr is %s",
                        rate_text(f->fpr_planned), rate_text(a->fpr));
    if (a->bytes != 0 && f->kind != TAMIS_GROWING &&
        (f->bytes > a->bytes || (filled && f->bytes + 1024 < a->bytes - a->bytes / 50)))
        return complain(a->state, "this state has %s bytes, but --bytes is %s", grouped(f->bytes),
                        grouped(a->bytes));
    return EXIT_FOUND;
}

/* EXIT_ERROR after a message when the file is not what the options say; those that were not given
 * say nothing. */
static int compare(const struct past *p, const tamis_plan *asked)
{
    const struct args *a = p->a;
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(p->t, &f) != TAMIS_OK) return complain(a->state, "not enough memory");
    if (f.generations != 0)
        return complain(a->state, "a window of sketches does not report which lines are new");
    if (!tells_new(f.kind) && f.kind != TAMIS_WINDOW) return complain_of_kind(a->state, f.kind);
    const bool is_auto = asked->kind == TAMIS_AUTO && f.kind <= TAMIS_BLOCKED;
    if (a->kind != NULL && asked->kind != f.kind && !is_auto)
        return complain(a->state, "this state is a %s filter, but --kind is %s",
                        tamis_kind_name(f.kind), a->kind);
    if (a->seeded && f.keyed)
        return complain(a->state,
                        "this state was made with a secret key, but --seed %llu was given",
                        (unsigned long long)a->seed);
    if (a->seeded && a->seed != f.seed)
        return complain(a->state, "this state was made with seed %llu, but --seed is %llu",
                        (unsigned long long)f.seed, (unsigned long long)a->seed);
    const int status = compare_window(p, &f);
    return status != EXIT_FOUND ? status : compare_sizes(p, &f);
}

bool past_open(struct past *p)
{
    const char *path = p->a->state;
    tamis_plan asked;
    tamis_facts f = {.struct_size = sizeof f};
    double seconds;
    if (path == NULL || (access(path, F_OK) != 0 && errno == ENOENT)) return past_create(p);
    if (!plan_past(p->a, &asked, &seconds)) return false;
    p->opened = true;
    p->t = open_filter(p->a, path, TAMIS_UPDATE | TAMIS_WAIT);
    if (p->t == NULL || check_hashable(p->t, path) != EXIT_FOUND ||
        compare(p, &asked) != EXIT_FOUND || !take_rate(p, p->a->fpr))
        return false;
    if (seconds <= 0 || tamis_info(p->t, &f) != TAMIS_OK) return true;
    start_turning(p, seconds, f.sections);
    return take_time(p) && past_turn(p);
}

bool past_save(struct past *p)
{
    const char *path = p->a->state;
    if (path == NULL) return true;
    if (!p->opened && access(path, F_OK) == 0) {
        complain(path, "another process has created this file meanwhile; it is not replaced, so "
                       "these lines are not remembered");
        return false;
    }
    if (save_filter(p->t, path, p->opened) != EXIT_FOUND) return false;
    return p->turn_seconds <= 0 || put_time(p);
}
