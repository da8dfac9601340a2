/* compare: estimates from the bits how many items two filters or distinct sketches have, together,
 * in common and alone. */
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/options.h"
#include "../frame/output.h"

#include <tamis/inspect.h>

#include <math.h>

/* A number of items and its confidence interval. */
struct figure {
    const char *name;        /* of the member in JSON */
    double value, low, high; /* value is NAN and high is INFINITY when it cannot be estimated */
};

/* The true number may be 0, so that only the upper bound means something. */
static bool is_too_small(const struct figure *s)
{
    return !isnan(s->value) && s->low <= 0 && s->high > 0;
}

static void print_figure(const char *name, const struct figure *s)
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

static void json_figure(const struct figure *s)
{
    char name[40];
    json_number(s->name, is_too_small(s) ? NAN : s->value);
    snprintf(name, sizeof name, "%s_low", s->name);
    json_number(name, s->low);
    snprintf(name, sizeof name, "%s_high", s->name);
    json_number(name, s->high);
}

static void print_jaccard(const struct figure *s)
{
    printf("  jaccard   ");
    if (is_too_small(s)) {
        printf("too small to estimate, with 99 %% certainty at most %.4f\n", s->high);
        return;
    }
    if (s->low >= s->high) {
        printf("exactly %.4f\n", s->low);
        return;
    }
    if (isfinite(s->value)) printf("about %.4f, ", s->value);
    printf("with 99 %% certainty %.4f to %.4f\n", s->low, s->high);
}

enum { FIRST, SECOND, UNION, COMMON, FIRST_ONLY, SECOND_ONLY, SIZES };

static void print_comparison(const struct args *a, const struct figure sizes[SIZES],
                             const struct figure *jaccard)
{
    static const char *const names[SIZES] = {"first",  "second",   "union",
                                             "common", "1st only", "2nd only"};
    if (a->json) {
        json_open('{');
        json_text("first", a->words[0]);
        json_text("second", a->words[1]);
        for (size_t i = 0; i < SIZES; i++) json_figure(&sizes[i]);
        json_figure(jaccard);
        json_close('}');
        putchar('\n');
        return;
    }
    printf("%s and %s\n", a->words[0], a->words[1]);
    for (size_t i = 0; i < SIZES; i++) print_figure(names[i], &sizes[i]);
    print_jaccard(jaccard);
}

/* EXIT_ERROR after a message. */
static int compare_filters(const struct args *a, const tamis *first, const tamis *second)
{
    tamis_facts f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
    tamis_similarity s = {.struct_size = sizeof s};
    tamis_error why;
    const tamis_status status = tamis_compare(first, second, &s, &why);
    if (status == TAMIS_EUNSUPPORTED) return complain(a->words[0], "%s", why.text);
    if (status != TAMIS_OK)
        return complain(a->words[1], "cannot be compared with %s: %s", a->words[0], why.text);
    if (tamis_info(first, &f) != TAMIS_OK || tamis_info(second, &g) != TAMIS_OK)
        return complain(NULL, "not enough memory");
    /* If every bit is set, the number of items cannot be estimated. */
    const bool known = isfinite(s.union_high);
    const struct figure sizes[SIZES] = {
        [FIRST] = {"first_items", isfinite(f.items_high) ? f.items_estimate : NAN, f.items_low,
                   f.items_high},
        [SECOND] = {"second_items", isfinite(g.items_high) ? g.items_estimate : NAN, g.items_low,
                    g.items_high},
        [UNION] = {"union", known ? s.union_items : NAN, s.union_low, s.union_high},
        [COMMON] = {"common", known ? s.common_items : NAN, s.common_low, s.common_high},
        [FIRST_ONLY] = {"first_only", known ? s.first_only : NAN, s.first_only_low,
                        s.first_only_high},
        [SECOND_ONLY] = {"second_only", known ? s.second_only : NAN, s.second_only_low,
                         s.second_only_high},
    };
    const struct figure jaccard = {"jaccard", known ? s.jaccard : NAN, s.jaccard_low,
                                   s.jaccard_high};
    print_comparison(a, sizes, &jaccard);
    return EXIT_FOUND;
}

int run_compare(const struct args *a)
{
    if (a->n_words > 2) return complain_usage(a->command);
    tamis *first = open_filter(a, a->words[0], TAMIS_KEYLESS);
    tamis *second = first != NULL ? open_filter(a, a->words[1], TAMIS_KEYLESS) : NULL;
    const int status = second != NULL ? compare_filters(a, first, second) : EXIT_ERROR;
    tamis_close(first);
    tamis_close(second);
    return finish_output(status);
}
