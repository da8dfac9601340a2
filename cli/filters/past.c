/* A window of time turns when a share of its time has passed, also between two runs, because its
 * file records the epoch. While a clock that was set back is behind, nothing is forgotten. */
#include "past.h"

#include "../frame/output.h"
#include "epoch.h"
#include "filter.h"
#include "rate.h"
#include "request.h"

#include <tamis/inspect.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FPR 1e-6
#define LINE_GENERATIONS 8u
/* Each generation must hold all lines of the whole time, because they may come at once. Fewer
 * generations are smaller, but forget later: with four, up to a third of the time. */
#define TIME_GENERATIONS 4u

/* --- Requests --------------------------------------------------------------------------------- */

/* --window: a number of lines, or a time (30s, 5m, 1h, 1d). False after a message. */
static bool parse_window(const char *text, uint64_t *lines, double *seconds)
{
    *lines = 0;
    *seconds = 0;
    /* Times are tried first: 5m is five minutes. 0.5 is neither, because a time needs its unit
     * here. */
    if (strpbrk(text, "smhd") != NULL && parse_seconds(text, seconds) && *seconds < 1e15)
        return true;
    *seconds = 0;
    if (parse_number(text, lines) && *lines > 0) return true;
    complain(NULL,
             "--window: '%s' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)",
             text);
    return false;
}

/* The newest generation is being filled, so the others hold the lines. */
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
    if (!parse_window(a->uniq.window, &lines, seconds)) return false;
    if (a->plan.kind != NULL || (lines != 0 && a->plan.items != 0)) {
        complain(NULL, "uniq: --window %s cannot be combined with --%s", a->uniq.window,
                 a->plan.kind != NULL ? "kind" : "items");
        return false;
    }
    p->kind = TAMIS_WINDOW;
    p->generations = lines != 0 ? LINE_GENERATIONS : TIME_GENERATIONS;
    if (lines != 0) {
        p->flags |= TAMIS_AUTO_ROTATE;
        p->items = items_for_lines(lines, LINE_GENERATIONS);
    } else if (a->plan.items != 0) { /* a number that no filter holds is refused by the library */
        p->items = a->plan.items < UINT64_MAX / TIME_GENERATIONS ? a->plan.items * TIME_GENERATIONS
                                                                 : a->plan.items;
    }
    return true;
}

/* Other kinds do not report whether a line is new, or may forget lines. */
static bool knows_new_lines(uint32_t kind)
{
    return kind <= TAMIS_BLOCKED || kind == TAMIS_GROWING;
}

static void complain_of_kind(const char *path, uint32_t kind)
{
    complain(path,
             "%sa %s %s does not report which lines are new; use blocked, bloom, partitioned or "
             "growing, or --window",
             path == NULL ? "uniq: " : "", tamis_kind_name(kind),
             kind < KIND_END ? "filter" : "sketch");
}

/* The plan that the options ask for; false after a message. */
static bool plan_past(const struct args *a, tamis_plan *p, double *seconds)
{
    *seconds = 0;
    if (!plan_from(&a->plan, p)) return false;
    /* A growing filter grows with more items than planned, instead of dropping lines. Only bytes
     * are a limit. */
    if (a->plan.kind == NULL) p->kind = p->bytes != 0 ? TAMIS_AUTO : TAMIS_GROWING;
    if (!knows_new_lines(p->kind)) {
        complain_of_kind(NULL, p->kind);
        return false;
    }
    if (a->uniq.window != NULL && !plan_window(a, p, seconds)) return false;
    if (p->fpr == 0 && (p->items == 0 || p->bytes == 0)) p->fpr = DEFAULT_FPR;
    /* Blocked filters, which are the default, would take twice the space. */
    if (p->kind == TAMIS_WINDOW && p->fpr != 0 && p->fpr <= 1e-4) p->inner_kind = TAMIS_BLOOM;
    return true;
}

bool past_check(const struct args *a)
{
    tamis_plan p;
    double seconds;
    const char *wrong = NULL;
    if (!plan_past(a, &p, &seconds)) return false;
    if (a->uniq.state != NULL && strcmp(a->uniq.state, "-") == 0)
        wrong = "--state requires a file, which is read and written; write ./- for a file named -";
    if (a->uniq.exact_until != 0 && (a->uniq.state != NULL || a->uniq.window != NULL))
        wrong = "--exact-until cannot be combined with --state or --window";
    if (wrong != NULL) complain(NULL, "uniq: %s", wrong);
    return wrong == NULL;
}

/* --- Time ------------------------------------------------------------------------------------- */

/* No state can have an epoch from before epochs existed: 2026-01-01. */
#define FIRST_EPOCHS 1767225600.0

static void start_turning(struct past *p, double seconds, uint32_t generations)
{
    p->turn_seconds = seconds / (generations - 1);
}

bool past_turn(struct past *p)
{
    if (p->turn_seconds <= 0) return true;
    tamis_error why;
    const uint64_t now = epoch_now(p->turn_seconds);
    if (now <= p->epoch) return true; /* the clock may be behind, but not by much: see take_epoch */
    if (tamis_rotate_to(p->t, now, &why) == TAMIS_OK) {
        p->epoch = now;
        return true;
    }
    complain(p->a->uniq.state, "cannot drop the oldest generation: %s", why.text);
    return false;
}

/* Takes the epoch of the state, which counts in thirds of --window. If that is another time than
 * before, the state seems to be in the future or from a distant past. False after a message. */
static bool take_epoch(struct past *p, const tamis_facts *f)
{
    const uint64_t now = epoch_now(p->turn_seconds);
    p->epoch = f->epoch;
    if (f->epoch > now && f->epoch - now > f->sections) {
        complain(p->a->uniq.state,
                 "this state is at epoch %llu, but the clock and --window %s give %llu: the clock "
                 "was set back, or --window was shorter before",
                 (unsigned long long)f->epoch, p->a->uniq.window, (unsigned long long)now);
        return false;
    }
    if (f->epoch != 0 && f->items != 0 && now > f->epoch && now - f->epoch >= f->sections &&
        (double)f->epoch * p->turn_seconds < FIRST_EPOCHS && !p->a->quiet)
        complain(p->a->uniq.state,
                 "everything in this state is forgotten: its epoch %llu is long past, or --window "
                 "was longer before",
                 (unsigned long long)f->epoch);
    return true;
}

bool past_create(struct past *p)
{
    const struct args *a = p->a;
    const tamis_options o = {.struct_size = sizeof o, .key = a->key.bytes};
    tamis_plan plan;
    tamis_error why;
    double seconds;
    if (!plan_past(a, &plan, &seconds)) return false;
    if (seconds > 0 && a->plan.items == 0 && a->plan.bytes == 0) {
        complain(
            NULL,
            "uniq: --window %s requires --items, the largest number of distinct lines in that time",
            a->uniq.window);
        return false;
    }
    p->asked = plan.fpr;
    if (tamis_solve(&plan, NULL, &why) != TAMIS_OK ||
        tamis_create(&plan, &o, &p->t, &why) != TAMIS_OK) {
        complain(NULL, "uniq: %s", why.text);
        return false;
    }
    p->asked = fmax(p->asked, plan.fpr);
    if (seconds <= 0) return true;
    start_turning(p, seconds, plan.generations);
    return past_turn(p);
}

/* --- The file of --state ---------------------------------------------------------------------- */

/* These compare the file with the options. An option that was not given fits anything. False after
 * a message. */
static bool fits_window(const struct past *p, const tamis_facts *f)
{
    const char *path = p->a->uniq.state, *window = p->a->uniq.window;
    const bool is_window = f->kind == TAMIS_WINDOW;
    uint64_t lines = 0;
    double seconds = 0;
    if (window == NULL && is_window && !f->auto_rotate) {
        complain(path, "this state is a window of time; give its length with --window");
        return false;
    }
    if (window == NULL) return true;
    if (!is_window) {
        complain(path,
                 "this state is a %s filter, which forgets nothing, but --window %s was given",
                 tamis_kind_name(f->kind), window);
        return false;
    }
    if (!parse_window(window, &lines, &seconds)) return false;
    const bool of_time = seconds > 0;
    const uint64_t held = f->auto_rotate ? lines_for_items(f->planned_items, f->sections) : 0;
    if (!f->auto_rotate && !of_time)
        complain(path, "this state is a window of time, but --window %s is a number of lines",
                 window);
    else if (f->auto_rotate && (of_time || lines != held))
        complain(path, "this state is a window of %s lines, but --window %s was given",
                 grouped(held), window);
    else
        return true;
    return false;
}

/* A plan without items fills its bytes, except for a line of each part. With items the bytes are a
 * limit, whatever else is given. */
static bool fits_size(const struct past *p, const tamis_facts *f)
{
    const struct plan_args *a = &p->a->plan;
    const char *path = p->a->uniq.state;
    const bool of_time = f->kind == TAMIS_WINDOW && !f->auto_rotate;
    const uint64_t items = of_time ? f->planned_items / f->sections : f->planned_items;
    const bool filled = a->items == 0 && !f->auto_rotate;
    const bool limited = a->bytes != 0 && f->kind != TAMIS_GROWING;
    const bool smaller = filled && f->bytes + 1024 < a->bytes - a->bytes / 50;
    if (a->items != 0 && a->items != items)
        complain(path, "this state was made for %s lines, but --items is %s", grouped(items),
                 grouped(a->items));
    else if (a->fpr != 0 && !rate_may_be(f, a->fpr))
        complain(path, "this state was made for a rate of %s, but --fpr is %s",
                 rate_text(f->fpr_planned), rate_text(a->fpr));
    else if (limited && (f->bytes > a->bytes || smaller))
        complain(path, "this state has %s bytes, but --bytes is %s", grouped(f->bytes),
                 grouped(a->bytes));
    else
        return true;
    return false;
}

static bool fits_kind(const struct past *p, const tamis_facts *f, const tamis_plan *asked)
{
    const char *path = p->a->uniq.state, *kind = p->a->plan.kind;
    const bool is_auto = asked->kind == TAMIS_AUTO && f->kind <= TAMIS_BLOCKED;
    if (f->generations != 0)
        complain(path, "a window of sketches does not report which lines are new");
    else if (!knows_new_lines(f->kind) && f->kind != TAMIS_WINDOW)
        complain_of_kind(path, f->kind);
    else if (kind != NULL && asked->kind != f->kind && !is_auto)
        complain(path, "this state is a %s filter, but --kind is %s", tamis_kind_name(f->kind),
                 kind);
    else
        return true;
    return false;
}

static bool fits_seed(const struct past *p, const tamis_facts *f)
{
    const struct plan_args *a = &p->a->plan;
    const unsigned long long asked = a->seed, seed = f->seed;
    if (!a->seeded || (!f->keyed && asked == seed)) return true;
    if (f->keyed)
        complain(p->a->uniq.state,
                 "this state was made with a secret key, but --seed %llu was given", asked);
    else
        complain(p->a->uniq.state, "this state was made with seed %llu, but --seed is %llu", seed,
                 asked);
    return false;
}

bool past_open(struct past *p)
{
    const char *path = p->a->uniq.state;
    tamis_plan asked;
    tamis_facts f = {.struct_size = sizeof f};
    double seconds;
    if (path != NULL) report_if_interrupted(path);
    if (path == NULL || (access(path, F_OK) != 0 && errno == ENOENT)) return past_create(p);
    if (!plan_past(p->a, &asked, &seconds)) return false;
    p->opened = true;
    p->t = open_filter(p->a, path, TAMIS_UPDATE | TAMIS_WAIT);
    if (p->t == NULL || !check_hashable(p->t, path)) return false;
    if (tamis_info(p->t, &f) != TAMIS_OK) {
        complain(path, "not enough memory");
        return false;
    }
    if (!fits_kind(p, &f, &asked) || !fits_seed(p, &f) || !fits_window(p, &f) || !fits_size(p, &f))
        return false;
    p->asked = rate_asked(&f, p->a->plan.fpr, DEFAULT_FPR);
    if (seconds <= 0) return true;
    start_turning(p, seconds, f.sections);
    return take_epoch(p, &f) && past_turn(p);
}

bool past_save(struct past *p)
{
    const char *path = p->a->uniq.state;
    if (path == NULL) return true;
    if (!p->opened && access(path, F_OK) == 0) {
        complain(path, "another process has created this file meanwhile; it is not replaced, so "
                       "these lines are not remembered");
        return false;
    }
    return save_filter(p->t, path, p->opened) == EXIT_FOUND;
}
