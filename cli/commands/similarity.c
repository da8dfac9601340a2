#include "similarity.h"

#include "../filters/filter.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"

#include <tamis/inspect.h>

#include <math.h>

bool is_too_small(const struct figure *s)
{
    return !isnan(s->value) && s->low <= 0 && s->high > 0;
}

void print_figure(const char *name, const struct figure *s)
{
    const char *low = grouped((uint64_t)floor(s->low));
    printf("  %-9s ", name);
    if (is_too_small(s)) {
        printf("too small to estimate, with 99 %% certainty at most %s\n",
               grouped((uint64_t)ceil(s->high)));
        return;
    }
    if (s->low >= s->high) {
        printf("exactly %s\n", low);
        return;
    }
    if (!isnan(s->value)) printf("about %s, ", grouped((uint64_t)llround(s->value)));
    if (isfinite(s->high))
        printf("with 99 %% certainty %s to %s\n", low, grouped((uint64_t)ceil(s->high)));
    else /* every bit is set */
        printf("with 99 %% certainty at least %s\n", low);
}

void json_figure(const struct figure *s)
{
    char name[40];
    json_number(s->name, is_too_small(s) ? NAN : s->value);
    snprintf(name, sizeof name, "%s_low", s->name);
    json_number(name, s->low);
    snprintf(name, sizeof name, "%s_high", s->name);
    json_number(name, s->high);
}

/* The estimates of filters of one shape grow with every bit, so the union has a greater one than
 * the second filter exactly if the first has a bit that the second lacks. Sketches of different
 * sizes have different errors: only an interval without 0 shows that their sets differ. */
static enum shown_sets what_is_shown(const tamis_facts *f, const tamis_facts *g,
                                     const tamis_similarity *s)
{
    if (!isfinite(f->items_high) && !isfinite(g->items_high)) return SHOWN_NOTHING;
    if (!isfinite(f->items_high) || !isfinite(g->items_high)) return SHOWN_DIFFERENT;
    const bool alike = f->m == g->m;
    if (s->first_only_low > 0 || s->second_only_low > 0) return SHOWN_DIFFERENT;
    return alike && (s->first_only > 0 || s->second_only > 0) ? SHOWN_DIFFERENT : SHOWN_EQUAL;
}

/* Why two filters cannot be compared. Filters that were built from counted lines have a size of
 * their own each, although the options were the same. */
static void refuse_mismatch(const char *const names[2], const tamis *first, const tamis *second,
                            const char *reason)
{
    tamis_facts f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
    const bool known = tamis_stat(first, &f) == TAMIS_OK && tamis_stat(second, &g) == TAMIS_OK;
    if (!known || f.kind != g.kind || (f.m == g.m && f.k == g.k && f.cell_bits == g.cell_bits) ||
        f.planned_items == g.planned_items)
        complain(names[1], "cannot be compared with %s: %s; build both with the same options",
                 names[0], reason);
    else
        complain(names[1],
                 "cannot be compared with %s: %s; build both with the same options and the same "
                 "--items, a number that fits both: --items %llu",
                 names[0], reason,
                 (unsigned long long)(f.planned_items > g.planned_items ? f.planned_items
                                                                        : g.planned_items));
}

bool estimate_similarity(const char *const names[2], const tamis *first, const tamis *second,
                         struct similarity *out)
{
    tamis_facts f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
    tamis_similarity s = {.struct_size = sizeof s};
    struct progress bar;
    tamis_error why;
    progress_wait(&bar, "comparing");
    const tamis_status status = tamis_compare(first, second, &s, &why);
    progress_end(&bar);
    if (status == TAMIS_EUNSUPPORTED) {
        complain(names[0], "%s", reason_of(&why));
        return false;
    }
    if (status == TAMIS_EMISMATCH) {
        refuse_mismatch(names, first, second, why.text);
        return false;
    }
    if (status != TAMIS_OK) {
        complain(names[1], "cannot be compared with %s: %s", names[0], why.text);
        return false;
    }
    if (tamis_info(first, &f) != TAMIS_OK || tamis_info(second, &g) != TAMIS_OK) {
        complain(NULL, "not enough memory");
        return false;
    }
    /* If every bit is set, the number of items cannot be estimated. */
    const bool known = isfinite(s.union_high);
    *out = (struct similarity){
        .sizes = {[FIRST] = {"first_items", isfinite(f.items_high) ? f.items_estimate : NAN,
                             f.items_low, f.items_high},
                  [SECOND] = {"second_items", isfinite(g.items_high) ? g.items_estimate : NAN,
                              g.items_low, g.items_high},
                  [UNION] = {"union", known ? s.union_items : NAN, s.union_low, s.union_high},
                  [COMMON] = {"common", known ? s.common_items : NAN, s.common_low, s.common_high},
                  [FIRST_ONLY] = {"first_only", known ? s.first_only : NAN, s.first_only_low,
                                  s.first_only_high},
                  [SECOND_ONLY] = {"second_only", known ? s.second_only : NAN, s.second_only_low,
                                   s.second_only_high}},
        .jaccard = {"jaccard", known ? s.jaccard : NAN, s.jaccard_low, s.jaccard_high},
        .shown = what_is_shown(&f, &g, &s),
    };
    return true;
}
