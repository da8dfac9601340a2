/* compare: estimates from the bits how many items two filters or distinct sketches have, together,
 * in common and alone. */
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/options.h"
#include "../frame/output.h"
#include "similarity.h"

#include <math.h>

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

static void print_comparison(const struct args *a, const struct similarity *s)
{
    static const char *const names[SIZES] = {"first",  "second",   "union",
                                             "common", "1st only", "2nd only"};
    if (a->json) {
        json_open('{');
        json_text("first", a->words[0]);
        json_text("second", a->words[1]);
        for (size_t i = 0; i < SIZES; i++) json_figure(&s->sizes[i]);
        json_figure(&s->jaccard);
        json_close('}');
        putchar('\n');
        return;
    }
    printf("%s and %s\n", a->words[0], a->words[1]);
    for (size_t i = 0; i < SIZES; i++) print_figure(names[i], &s->sizes[i]);
    print_jaccard(&s->jaccard);
}

int run_compare(const struct args *a)
{
    if (a->n_words > 2) return complain_usage(a->command);
    const char *const names[2] = {a->words[0], a->words[1]};
    struct similarity s;
    tamis *first = open_filter(a, names[0], TAMIS_KEYLESS);
    tamis *second = first != NULL ? open_filter(a, names[1], TAMIS_KEYLESS) : NULL;
    const bool good = second != NULL && estimate_similarity(names, first, second, &s);
    if (good) print_comparison(a, &s);
    tamis_close(first);
    tamis_close(second);
    return finish_output(good ? EXIT_FOUND : EXIT_ERROR);
}
