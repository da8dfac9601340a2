/* Pictures on the terminal, in Unicode if the locale has it, otherwise in ASCII. */
#include "plot.h"

#include "../filters/filter.h"
#include "../frame/terminal.h"

#include <tamis/inspect.h>

#include <math.h>
#include <string.h>

enum { LABEL = 13, FIGURE = 10, MOST_COLUMNS = 160 };

/* The columns for a bar between its label and its figure. On a very narrow terminal lines wrap. */
static unsigned bar_columns(void)
{
    enum { LEAST = 30 };
    const unsigned columns = columns_of(stdout);
    if (columns < LABEL + LEAST + FIGURE) return LEAST;
    return (columns < MOST_COLUMNS ? columns : MOST_COLUMNS) - LABEL - FIGURE;
}

static void repeat_text(const char *what, unsigned n)
{
    while (n-- > 0) fputs(what, stdout);
}

/* --- Plans ------------------------------------------------------------------------------------ */

void plot_plans(const struct solved *rows, size_t n)
{
    const bool fine = has_unicode();
    const char *needed = fine ? "█" : "#", *more = fine ? "░" : "-";
    const unsigned columns = bar_columns();
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, rows[i].promise.bits_per_item);
    printf("\nbits per item: %s%s%s the lower bound, if there is one, %s the rest\n",
           ink(stdout, GOOD), needed, ink(stdout, PLAIN), more);
    for (size_t i = 0; i < n; i++) {
        const tamis_promise *r = &rows[i].promise;
        const unsigned all = (unsigned)lround(r->bits_per_item / most * columns),
                       bound =
                           (unsigned)lround(fmin(r->bound_bits, r->bits_per_item) / most * columns);
        printf("%-*s%s", LABEL, tamis_kind_name(rows[i].plan.kind), ink(stdout, GOOD));
        repeat_text(needed, bound);
        fputs(ink(stdout, PLAIN), stdout);
        repeat_text(more, all - bound);
        printf(" %.2f\n", r->bits_per_item);
    }
}

/* --- Filters ---------------------------------------------------------------------------------- */

/* The number of cells of kinds whose cells are in use or not, one by one; 0 for other kinds. */
static uint64_t cells_to_show(const tamis_facts *f)
{
    switch (f->kind) {
    case TAMIS_BLOOM:
    case TAMIS_BLOCKED:
    case TAMIS_COUNTING:
    case TAMIS_CUCKOO:
    case TAMIS_PRIVATE: return f->m;
    case TAMIS_PARTITIONED:
    case TAMIS_COUNT_MIN: return f->m * f->k;
    default: return 0;
    }
}

/* Plots the share of cells in use along the table. 512 evenly spaced samples for each column give
 * it to 2 %. */
static void plot_table(const tamis *t, uint64_t cells, const char *what)
{
    enum { SAMPLES = 512 };
    static const char *const heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const bool fine = has_unicode();
    unsigned columns = bar_columns();
    if (columns > cells) columns = (unsigned)cells;
    printf("  table     ");
    for (unsigned i = 0; i < columns; i++) {
        const uint64_t from = cells / columns * i + cells % columns * i / columns;
        const uint64_t to = cells / columns * (i + 1) + cells % columns * (i + 1) / columns;
        const uint64_t samples = to - from < SAMPLES ? to - from : SAMPLES;
        uint64_t used = 0;
        for (uint64_t j = 0; j < samples; j++)
            used += tamis_cell(t, from + (to - from) / samples * j) != 0;
        const double share = (double)used / (double)samples;
        if (fine)
            fputs(heights[lround(8 * share)], stdout);
        else
            putchar(share < 1 ? '0' + (int)(10 * share) : '9');
    }
    printf("\n            %s, from the beginning to the end of the table%s\n", what,
           fine ? "" : ", in tenths");
}

/* Plots how many counters are 0, 1, 2-3, 4-7 and so on, from at most a million evenly spaced
 * samples. */
static void plot_counters(const tamis *t, uint64_t cells)
{
    enum { CLASSES = 65, MOST = 1 << 20 };
    uint64_t count[CLASSES] = {0};
    const uint64_t step = cells / MOST + 1, seen = (cells + step - 1) / step;
    unsigned last = 0, columns = bar_columns() - 4;
    char bar[3 * MOST_COLUMNS + 1];
    for (uint64_t i = 0; i < cells; i += step) {
        const uint64_t v = tamis_cell(t, i);
        const unsigned class = v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
        count[class]++;
        if (class > last) last = class;
    }
    for (unsigned i = 0; i <= last; i++) {
        char range[48];
        const unsigned long long low = i == 0 ? 0 : 1ull << (i - 1);
        if (i < 2)
            snprintf(range, sizeof range, "%llu", low);
        else
            snprintf(range, sizeof range, "%llu-%llu", low, 2 * low - 1);
        draw_bar(bar, columns - columns / 4, (double)count[i] / (double)seen);
        printf("  %-9s %11s %s %.3g %%\n", i == 0 ? "counters" : "", range, bar,
               100 * (double)count[i] / (double)seen);
    }
}

static void plot_gauge(const char *label, double share, const char *of)
{
    char bar[3 * MOST_COLUMNS + 1];
    draw_bar(bar, bar_columns() - 20, share);
    printf("  %-9s %s[%s]%s %.3g %% %s\n", label, ink(stdout, share > 1 ? BAD : GOOD), bar,
           ink(stdout, PLAIN), 100 * share, of);
}

void plot_filter(const tamis *t, const tamis_facts *f)
{
    const uint64_t cells = cells_to_show(f);
    /* The plan of a private filter is not that of its source. */
    if (f->planned_items != 0 && f->kind != TAMIS_GROWING && f->kind != TAMIS_PRIVATE &&
        !is_sketch(f))
        plot_gauge("full", (double)f->items / (double)f->planned_items, "of the plan");
    if (cells != 0) plot_table(t, cells, f->kind == TAMIS_PRIVATE ? "set bits" : "cells in use");
    if (f->kind == TAMIS_COUNTING || f->kind == TAMIS_COUNT_MIN) plot_counters(t, cells);
    if (cells == 0 && !f->sealed && !f->collecting) plot_gauge("cells", f->fill, "in use");
}
