/* Pictures: of plans and filters on the terminal (plot.c), of plans as SVG (svg.c). */
#ifndef TAMIS_CLI_PLOT_H
#define TAMIS_CLI_PLOT_H

#include "../frame/cli.h"

/* A plan that was solved, and what it gives. */
struct solved {
    tamis_plan plan;
    tamis_promise promise;
};

/* Bits per item of each, and how many of them any structure needs at its rate. */
void plot_plans(const struct solved *rows, size_t n);

/* How full it is, the cells along its table, and how high its counters are. */
void plot_filter(const tamis *t, const tamis_facts *f);

/* Write a picture of the rate against the size for the kinds of these rows, as --svg asks;
 * EXIT_ERROR after a message. `asked` is the plan before it was solved: what it says is marked. */
int write_svg(const struct args *a, const tamis_plan *asked, const struct solved *rows, size_t n);

#endif
