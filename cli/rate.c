/* Whether a filter is more often wrong than it was made for. */
#include "cli.h"

#include <math.h>

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

bool rate_is_exceeded(const tamis_facts *f, double asked)
{
    /* By the adds; or by the bits, if somebody has chosen what to add. */
    const bool over = f->over_full || (f->kind != TAMIS_GROWING &&
                                       f->items_low > CLEARLY * (double)f->planned_items);
    const double wrong = f->may_miss ? fmax(f->fpr_now, f->miss_rate) : f->fpr_now;
    return over && wrong > CLEARLY * asked;
}

void warn_of_rate(const tamis_facts *f, const char *path)
{
    if (f->may_miss)
        complain(
            path,
            "worn: adds and removes have filled it beyond its plan; %s of never-added keys get "
            "a maybe now, and %s of those in it a no; see 'tamis compact'",
            rate_text(f->fpr_now), rate_text(f->miss_rate));
    else if (f->kind == TAMIS_WINDOW)
        complain(path,
                 "over-full: its generations hold more than was planned; its false-positive "
                 "rate is now %s",
                 rate_text(f->fpr_now));
    else
        complain(path, "over-full: %s %s items, planned for %s; its false-positive rate is now %s",
                 isfinite(f->items_high) ? "about" : "more than",
                 grouped((uint64_t)(isfinite(f->items_high) ? f->items_estimate : f->items_low)),
                 grouped(f->planned_items), rate_text(f->fpr_now));
}

void warn_if_over_full(const tamis *t, const char *path, double asked)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(t, &f) != TAMIS_OK) return;
    if (rate_is_exceeded(&f, rate_asked(&f, asked, USUAL_FPR))) warn_of_rate(&f, path);
}
