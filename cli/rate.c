/* Whether a filter is more often wrong than it was planned for, and what the commands do then. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Beyond what chance does to a filter that holds what was planned. */
#define CLEARLY 1.05

/* Of the next smaller filter for as many items; 1 when there is none. */
static double rate_of_smaller(const tamis_facts *f)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = f->kind};
    if (f->kind == TAMIS_GROWING) {
        p.k = f->k - 1;
    } else {
        p.items = f->planned_items;
        p.bytes = f->bytes - 1;
        if (f->kind == TAMIS_BLOCKED && f->k != 8) p.flags = TAMIS_COMPACT;
        if (f->kind == TAMIS_WINDOW) p.generations = f->sections;
        if (f->kind == TAMIS_WINDOW && f->k != 8) p.inner_kind = TAMIS_BLOOM;
        if (f->kind == TAMIS_COUNTING) p.cell_bits = f->cell_bits;
    }
    return tamis_solve(&p, NULL, NULL) == TAMIS_OK ? p.fpr : 1;
}

/* A file tells the rate of its shape, which a small one has far below what was asked for: there is
 * none smaller. What was asked is below the rate of the next smaller shape, or that would have
 * done. */
bool rate_may_be(const tamis_facts *f, double asked)
{
    return asked >= f->fpr_planned * 0.999 &&
           asked <= fmax(f->fpr_planned * CLEARLY, rate_of_smaller(f));
}

double rate_asked(const tamis_facts *f, double asked, double usual)
{
    if (asked == 0) asked = fmin(usual, rate_of_smaller(f));
    return fmax(asked, f->fpr_planned);
}

/* The rate at which it gives wrong answers of either sort. */
static double wrong_now(const tamis_facts *f)
{
    return f->may_miss ? fmax(f->fpr_now, f->miss_rate) : f->fpr_now;
}

/* Sketches have no rate, a private filter does not have the plan of its source, and a static kind
 * is planned again when it is sealed. */
static bool has_planned_rate(const tamis_facts *f)
{
    return !tells_how_often(f) && f->kind != TAMIS_PRIVATE && !f->collecting;
}

bool rate_is_exceeded(const tamis_facts *f, double asked)
{
    /* By the adds; or by the bits, if somebody has chosen what to add. */
    const bool over = f->over_full || (f->kind != TAMIS_GROWING &&
                                       f->items_low > CLEARLY * (double)f->planned_items);
    return has_planned_rate(f) && over && wrong_now(f) > CLEARLY * asked;
}

bool rate_is_far_exceeded(const tamis_facts *f, double asked)
{
    return rate_is_exceeded(f, asked) && wrong_now(f) > MUCH_TOO_WRONG * asked;
}

/* "about 3,003 items, planned for 1,000". Of a window, whose generations have a share each, the sum
 * says nothing. */
static const char *items_beside_plan(const tamis_facts *f)
{
    static char text[120];
    const bool known = isfinite(f->items_high);
    if (f->kind == TAMIS_WINDOW) return "its generations hold more than was planned";
    snprintf(text, sizeof text, "%s %s items, planned for %s", known ? "about" : "more than",
             grouped_real(known ? f->items_estimate : fmax(f->items_low, (double)f->items)),
             grouped(f->planned_items));
    return text;
}

void warn_of_rate(const tamis_facts *f, const char *path)
{
    if (f->may_miss)
        complain(
            path,
            "worn: adds and removes have filled it beyond its plan; %s of never-added keys get "
            "a maybe now, and %s of those in it a no; see 'tamis compact'",
            rate_text(f->fpr_now), rate_text(f->miss_rate));
    else
        complain(path, "overfull: %s; its false-positive rate is now %s", items_beside_plan(f),
                 rate_text(f->fpr_now));
}

/* Which command helps. */
static const char *remedy(const struct args *a, const tamis_facts *f)
{
    const char *command = a->command->name;
    if (f->kind == TAMIS_PAIR && strcmp(command, "add") == 0)
        return "'tamis compact' builds it again from the lines that are left, and 'tamis build' "
               "one with more --items";
    if (strcmp(command, "merge") == 0)
        return "build each of them with --items for the lines of all together (tamis build "
               "--items N)";
    const bool special =
        f->kind == TAMIS_COUNTING || f->kind == TAMIS_PAIR || f->kind == TAMIS_WINDOW;
    if (strcmp(command, "build") == 0)
        return special ? "give more --items" : "give more --items, or --kind growing";
    if (f->kind == TAMIS_WINDOW)
        return "rotate it first ('tamis rotate'), or build it with more --items";
    if (special) return "build it with --items for all lines to come (tamis build --items N)";
    return "build it with --items for all lines to come (tamis build --items N), or with --kind "
           "growing";
}

int refuse_overfull(const struct args *a, const tamis_facts *f, const char *path, const char *fate,
                    double asked)
{
    const bool done = fate == NULL;
    const char *what = done ? "changed all the same, and now" : fate;
    const char *would = done ? "" : ": it would be";
    if (a->overfill || !rate_is_far_exceeded(f, asked)) return EXIT_FOUND;
    if (f->may_miss)
        return complain(path,
                        "%s%s worn: %s of never-added keys %s a maybe, and %s of those in it a no, "
                        "planned %s; %s; --overfill allows it",
                        what, would, rate_text(f->fpr_now), done ? "get" : "would get",
                        rate_text(f->miss_rate), rate_text(asked), remedy(a, f));
    return complain(path,
                    "%s%s overfull: %s; its false-positive rate %s %s, planned %s; %s; --overfill "
                    "allows it",
                    what, would, items_beside_plan(f), done ? "is" : "would be",
                    rate_text(f->fpr_now), rate_text(asked), remedy(a, f));
}

int save_unless_overfull(const struct args *a, tamis *t, const char *path, const char *fate,
                         bool replace, double asked)
{
    tamis_facts f = {.struct_size = sizeof f};
    const bool known = tamis_info(t, &f) == TAMIS_OK; /* else a sketch, which has no rate */
    const double planned = known ? rate_asked(&f, asked, USUAL_FPR) : 0;
    if (known && refuse_overfull(a, &f, path, fate, planned) != EXIT_FOUND) return EXIT_ERROR;
    const int status = save_filter(t, path, replace);
    if (status != EXIT_FOUND || !known) return status;
    warn_of_hashes(&f, path);
    if (rate_is_exceeded(&f, planned)) warn_of_rate(&f, path);
    return status;
}

void warn_of_hashes(const tamis_facts *f, const char *path)
{
    if (!f->hash_suspect) return;
    complain(path, "its hashes are not uniform (a program brought them, or somebody chose the "
                   "keys): it is wrong more often than is reported");
}

void warn_if_over_full(const tamis *t, const char *path, double asked)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(t, &f) != TAMIS_OK) return;
    warn_of_hashes(&f, path);
    if (rate_is_exceeded(&f, rate_asked(&f, asked, USUAL_FPR))) warn_of_rate(&f, path);
}
