/* Pictures of plans and filters on the terminal (plot.c), and of plans as SVG (svg.c). */
#ifndef TAMIS_CLI_PLOT_H
#define TAMIS_CLI_PLOT_H

#include "../frame/args.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* A solved plan and its promise. */
struct solved {
    tamis_plan plan;
    tamis_promise promise;
};

/* Plots the bits per item of each plan beside the lower bound at its rate. */
void plot_plans(const struct solved *rows, size_t n);

/* Plots how full the filter is, the cells along its table, and the heights of its counters. */
void plot_filter(const tamis *t, const tamis_facts *f);

/* --svg: writes a picture of the rate against the size for the kinds of these rows. `asked` is the
 * plan before it was solved; its figures are marked. EXIT_ERROR after a message. */
int write_svg(const struct args *a, const tamis_plan *asked, const struct solved *rows, size_t n);

#endif
