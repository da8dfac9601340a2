/* What compare and diff estimate about two filters or distinct sketches (similarity.c). */
#ifndef TAMIS_CLI_SIMILARITY_H
#define TAMIS_CLI_SIMILARITY_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* A number of items, or a ratio of two, and its confidence interval. */
struct figure {
    const char *name;        /* of the member in JSON */
    double value, low, high; /* value is NAN and high is INFINITY when it cannot be estimated */
};

enum { FIRST, SECOND, UNION, COMMON, FIRST_ONLY, SECOND_ONLY, SIZES };
/* What filters show about their sets. Equal bits can come from sets that differ. */
enum shown_sets { SHOWN_EQUAL, SHOWN_DIFFERENT, SHOWN_NOTHING };
struct similarity {
    struct figure sizes[SIZES], jaccard;
    enum shown_sets shown;
};

/* Estimates how similar two filters are, which messages name. False after a message. */
bool estimate_similarity(const char *const names[2], const tamis *first, const tamis *second,
                         struct similarity *out);

/* Whether the true number may be 0, so that only the upper bound means something. */
bool is_too_small(const struct figure *s);
/* A line with a number of items. */
void print_figure(const char *name, const struct figure *s);
/* Three members: the value, and its lower and upper bound. */
void json_figure(const struct figure *s);

#endif
