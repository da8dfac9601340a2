/* Parts of the output of distinct, which sets at redis:// addresses print as well (distinct.c). */
#ifndef TAMIS_CLI_DISTINCT_H
#define TAMIS_CLI_DISTINCT_H

#include "../frame/args.h"

#include <tamis/distinct.h>

/* The number, and with --interval its bounds, without the end of the line. */
void print_number(const struct args *a, const tamis_cardinality *c);
/* The number, its bounds, confidence and error as members of an object. */
void json_cardinality(const tamis_cardinality *c, bool is_filter);

#endif
