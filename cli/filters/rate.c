/* Whether the rate of a filter exceeds its plan, and what the commands do then. */
#include "rate.h"

#include "../../cluster/cluster.h"
#include "../frame/commands.h"
#include "../frame/mistakes.h"
#include "../frame/output.h"
#include "filter.h"
#include "request.h"

#include <tamis/inspect.h>

#include <math.h>
#include <string.h>

/* More than chance changes the rate of a filter that holds what was planned. */
#define CLEARLY 1.05

/* Whether a plan of this kind leads to the shape that the filter has, with this k, or if that is 0
 * with the one that the plan chooses. */
static bool has_shape(const tamis_facts *f, tamis_plan p, uint32_t k)
{
    p.m = f->m;
    p.k = k;
    return tamis_solve(&p, NULL, NULL) == TAMIS_OK && p.bytes == f->bytes &&
           (k != 0 || p.k == f->k) && fabs(p.fpr - f->fpr_planned) <= 1e-6 * f->fpr_planned;
}

bool find_layout(const tamis_facts *f, tamis_plan *p)
{
    static const uint32_t flags[] = {0, TAMIS_COMPACT, TAMIS_TRANSFER};
    static const uint32_t inner[] = {0, TAMIS_BLOCKED};
    tamis_plan q = {.struct_size = sizeof q, .kind = f->kind, .items = f->planned_items};
    if (f->kind == TAMIS_COUNTING) q.cell_bits = f->cell_bits;
    /* First without k. With it, any bloom filter could have been planned for transfer. */
    for (int chosen = 0; chosen < 2; chosen++)
        for (size_t i = 0; i < sizeof flags / sizeof *flags - (size_t)chosen; i++)
            for (size_t j = 0; j < sizeof inner / sizeof *inner; j++) {
                q.flags = flags[i];
                q.inner_kind = inner[j];
                if (!has_shape(f, q, chosen ? f->k : 0)) continue;
                p->flags |= q.flags;
                p->inner_kind = q.inner_kind;
                if (chosen) p->k = f->k;
                return true;
            }
    return false;
}

/* The rate of the next smaller filter for the same number of items; 1 if no smaller one exists. */
static double rate_below(const tamis_facts *f, tamis_plan p)
{
    if (f->kind == TAMIS_GROWING)
        p = (tamis_plan){.struct_size = sizeof p, .kind = f->kind, .k = f->k - 1};
    else
        p.bytes = f->bytes - 1;
    return tamis_solve(&p, NULL, NULL) == TAMIS_OK ? p.fpr : 1;
}

/* The same for all kinds. The facts do not name the inner kind and the layout, so all that lead to
 * the shape of the filter are tried. 0 if none does, as with a window of a server, which does not
 * report the number of generations. */
static double rate_of_smaller(const tamis_facts *f)
{
    static const uint32_t inner[] = {0, TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED};
    const bool has_inner =
        f->kind == TAMIS_WINDOW || f->kind == TAMIS_PAIR || f->kind == TAMIS_COUNTING;
    tamis_plan p = {.struct_size = sizeof p, .kind = f->kind, .items = f->planned_items};
    double highest = 0;
    if (f->kind == TAMIS_WINDOW) p.generations = f->sections;
    if (f->kind == TAMIS_COUNTING) p.cell_bits = f->cell_bits;
    if (!has_inner && f->kind != TAMIS_BLOCKED) return rate_below(f, p);
    for (size_t i = 0; i < (has_inner ? sizeof inner / sizeof *inner : 1); i++) {
        p.inner_kind = inner[i];
        for (p.flags = 0; p.flags <= TAMIS_COMPACT; p.flags += TAMIS_COMPACT)
            if (has_shape(f, p, f->k)) highest = fmax(highest, rate_below(f, p));
    }
    return highest;
}

/* A file stores the rate of its shape. A small filter may have a rate far below the one asked for,
 * because there is no smaller shape. The rate asked for is below that of the next smaller shape,
 * which would have been chosen otherwise. */
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

/* The higher of the rates of wrong answers, "maybe" and "no". */
static double wrong_now(const tamis_facts *f)
{
    return f->may_miss ? fmax(f->fpr_now, f->miss_rate) : f->fpr_now;
}

/* A sketch has no rate, a private filter does not have the plan of its source, and a sealed kind is
 * planned again when it is sealed. */
static bool has_planned_rate(const tamis_facts *f)
{
    return !is_sketch(f) && f->kind != TAMIS_PRIVATE && !f->collecting;
}

/* More than was planned: by the number of adds, or by the bits if somebody has chosen what to
 * add. */
static bool holds_too_much(const tamis_facts *f)
{
    const bool by_bits =
        f->kind != TAMIS_GROWING && f->items_low > CLEARLY * (double)f->planned_items;
    return has_planned_rate(f) && (f->overfull || by_bits);
}

bool rate_is_exceeded(const tamis_facts *f, double asked)
{
    return holds_too_much(f) && wrong_now(f) > CLEARLY * asked;
}

static bool rate_is_far_exceeded(const tamis_facts *f, double asked)
{
    return rate_is_exceeded(f, asked) && wrong_now(f) > MUCH_TOO_WRONG * asked;
}

/* Whether this is a window that build has just made, with all lines in its newest generation. */
static bool is_new_window(const struct args *a, const tamis_facts *f)
{
    return f->kind == TAMIS_WINDOW && strcmp(a->command->name, "build") == 0;
}

/* "about 3,003 items, planned for 1,000", to follow "it would hold", "it now holds" or
 * "overfull:". */
static const char *items_beside_plan(const tamis_facts *f, bool one_generation)
{
    static char text[160];
    const bool known = isfinite(f->items_high);
    const char *about = known ? "about" : "more than";
    const char *items =
        grouped_real(known ? f->items_estimate : fmax(f->items_low, (double)f->items));
    if (f->kind != TAMIS_WINDOW) {
        snprintf(text, sizeof text, "%s %s items, planned for %s", about, items,
                 grouped(f->planned_items));
        return text;
    }
    if (f->sections == 0) return "more items in a generation than planned"; /* on a server */
    const char *share =
        grouped(f->planned_items / f->sections + (f->planned_items % f->sections != 0));
    if (one_generation)
        snprintf(text, sizeof text, "%s %s items in a generation planned for %s", about, items,
                 share);
    else
        snprintf(text, sizeof text, "more items in a generation than the %s planned for each",
                 share);
    return text;
}

static void warn_of_overfull(const tamis_facts *f, const char *path, bool one_generation)
{
    if (f->may_miss)
        complain(
            path,
            "worn: adds and removals have filled it beyond its plan; %s of never-added keys now "
            "get a maybe, and %s of its members a no; rebuild it with 'tamis compact'",
            rate_text(f->fpr_now), rate_text(f->miss_rate));
    else
        complain(path, "overfull: %s; its false-positive rate is now %s",
                 items_beside_plan(f, one_generation), rate_text(f->fpr_now));
}

void warn_of_rate(const tamis_facts *f, const char *path)
{
    warn_of_overfull(f, path, false);
}

/* The --items that make a new window large enough: each generation is planned for the upper bound
 * of the estimate. */
static const char *window_remedy(const tamis_facts *f)
{
    static char text[120];
    const double needed = ceil(f->items_high) * f->sections;
    if (f->sections == 0 || !(needed < 1e15))
        return "give --items for all generations together, or --turning";
    snprintf(text, sizeof text,
             "give --items %.0f, for %u generations of as many items, or --turning", needed,
             f->sections);
    return text;
}

/* The command that builds the filter of a file again; NULL if the words do not fit a line. */
static const char *grow_line(const struct args *a)
{
    static char text[2000];
    char filter[1000], grown[1040];
    if (a->n_words == 0 || cluster_is_address(a->words[0]) ||
        !quote_word(a->words[0], filter, sizeof filter))
        return NULL;
    snprintf(grown, sizeof grown, "--grow --from LIST %s", filter);
    const char *line = line_with(a->words[0], grown);
    if (line == NULL) return NULL;
    snprintf(text, sizeof text, "build it again with more room, from the LIST of its lines: %s",
             line);
    return text;
}

/* What the user can do about it. */
static const char *remedy(const struct args *a, const tamis_facts *f)
{
    const char *command = a->command->name;
    if (f->kind == TAMIS_PAIR && strcmp(command, "add") == 0)
        return "rebuild it with 'tamis compact' from the lines that remain, or build a bigger one "
               "with more --items";
    if (strcmp(command, "merge") == 0)
        return "build each filter with --items N for the lines of all of them together";
    if (is_new_window(a, f)) return window_remedy(f);
    const bool special =
        f->kind == TAMIS_COUNTING || f->kind == TAMIS_PAIR || a->foreign.to != NULL;
    if (strcmp(command, "build") == 0)
        return special ? "give more --items" : "give more --items, or --kind growing";
    if (f->kind == TAMIS_WINDOW)
        return "rotate it first ('tamis rotate'), or build it with more --items";
    const char *line = strcmp(command, "add") == 0 ? grow_line(a) : NULL;
    if (line != NULL) return line;
    if (special) return "build it with --items N for all lines to come";
    return "build it with --items N for all lines to come, or with --kind growing";
}

bool check_not_overfull(const struct args *a, const tamis_facts *f, const char *path,
                        const char *fate, double asked)
{
    const bool done = fate == NULL;
    const char *what = done ? "the set was changed nevertheless" : fate;
    if (a->output.overfill || !rate_is_far_exceeded(f, asked)) return true;
    /* There are no more lines than planned, but all are in one generation: a warning suffices. */
    if (is_new_window(a, f) && f->items <= f->planned_items) return true;
    if (f->may_miss)
        complain(path,
                 "%s: it %s worn; %s of never-added keys %s a maybe, and %s of its "
                 "members a no, planned %s",
                 what, done ? "is now" : "would be", rate_text(f->fpr_now),
                 done ? "get" : "would get", rate_text(f->miss_rate), rate_text(asked));
    else
        complain(path, "%s: it %s %s; its false-positive rate %s %s, planned %s", what,
                 done ? "now holds" : "would hold", items_beside_plan(f, is_new_window(a, f)),
                 done ? "is" : "would be", rate_text(f->fpr_now), rate_text(asked));
    complain(path, "%s; %s", remedy(a, f),
             done ? "with --overfill this is only a warning" : "--overfill writes it anyway");
    return false;
}

int save_unless_overfull(const struct args *a, tamis *t, const tamis_facts *f, const char *path,
                         const char *fate, bool replace, double asked)
{
    const bool over = f != NULL && holds_too_much(f);
    const double planned = over ? rate_asked(f, asked, USUAL_FPR) : 0;
    if (over && !check_not_overfull(a, f, shown_output(path), fate, planned)) return EXIT_ERROR;
    const int status = save_filter(t, path, replace);
    if (status != EXIT_FOUND || f == NULL) return status;
    warn_of_hashes(f, shown_output(path));
    if (!over || !rate_is_exceeded(f, planned)) return status;
    warn_of_overfull(f, shown_output(path), is_new_window(a, f));
    if (is_new_window(a, f)) complain(shown_output(path), "%s", window_remedy(f));
    return status;
}

void warn_of_hashes(const tamis_facts *f, const char *path)
{
    if (!f->hash_suspect) return;
    complain(path, "its hashes are not uniform, so it is wrong more often than reported; somebody "
                   "chose lines against the public hash, or a program added hashes of its own");
    if (!f->keyed)
        complain(path, "build it again with a secret key, against which nobody can choose lines: "
                       "--key-file FILE, made by 'tamis key new'");
}

void warn_if_overfull(const tamis_facts *f, const char *path)
{
    warn_of_hashes(f, path);
    if (holds_too_much(f) && rate_is_exceeded(f, rate_asked(f, 0, USUAL_FPR)))
        warn_of_rate(f, path);
}
