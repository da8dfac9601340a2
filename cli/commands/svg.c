/* plan --svg: draws the false-positive rate against the size of the file, both on logarithmic
 * scales. There each kind is about the curve of the lower bound of sealed kinds, shifted to the
 * right by its ratio to that bound. */
#include "../filters/filter.h"
#include "../frame/output.h"
#include "plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>

enum {
    WIDTH = 860,
    HEIGHT = 520,
    LEFT = 84,
    RIGHT = 610,
    TOP = 64,
    BOTTOM = 450,
    POINTS = 97,
    LEGEND = 634,
    LINE = 24
};
#define HIGHEST 0.5

struct scale {
    double low, high; /* the range of the data, as logarithms */
    double from, to;  /* the range of the coordinates */
};

static double at(const struct scale *s, double value)
{
    return s->from + (log(value) - s->low) / (s->high - s->low) * (s->to - s->from);
}

struct picture {
    FILE *to;
    bool failed; /* a piece is missing: a stream in memory does not remember that it had no room */
    struct scale x, y;
    uint64_t items;
    double lowest; /* rate */
};

__attribute__((format(printf, 2, 3))) static void put_svg(struct picture *p, const char *format,
                                                          ...)
{
    va_list args;
    va_start(args, format);
    if (vfprintf(p->to, format, args) < 0) p->failed = true;
    va_end(args);
}

/* One hue for each kind, distinguishable on white and on black. Every second line is dashed,
 * because some lie on others. */
static const char *const hues[] = {"#d1495b", "#2e86ab", "#e08e0b", "#3c9d4e",
                                   "#8e6bbf", "#b5651d", "#d064a8", "#6b8e23",
                                   "#1fa3a3", "#5a7fd6", "#c0392b", "#7f8c8d"};
enum { HUES = sizeof hues / sizeof *hues };

static const char style[] = "<style>\n"
                            "  text { font: 13px system-ui, sans-serif; fill: #222; }\n"
                            "  .title { font-size: 17px; font-weight: 600; }\n"
                            "  .faint { fill: #666; }\n"
                            "  .paper { fill: #fff; }\n"
                            "  .grid { stroke: #ddd; }\n"
                            "  .asked { stroke: #222; stroke-dasharray: 2 4; }\n"
                            "  .bound { fill: none; stroke: #222; stroke-width: 2.5; }\n"
                            "  .never { fill: #00000012; }\n"
                            "  .kind { fill: none; stroke-width: 2; stroke-linejoin: round; }\n"
                            "  .dashed { stroke-dasharray: 7 4; }\n"
                            "  @media (prefers-color-scheme: dark) {\n"
                            "    text { fill: #eee; }\n"
                            "    .faint { fill: #aaa; }\n"
                            "    .paper { fill: #16181c; }\n"
                            "    .grid { stroke: #383c44; }\n"
                            "    .asked { stroke: #eee; }\n"
                            "    .bound { stroke: #eee; }\n"
                            "    .never { fill: #ffffff14; }\n"
                            "  }\n"
                            "</style>\n";

/* 500 kB, 2 MB */
static const char *size_text(double bytes)
{
    static char text[4][24];
    static unsigned turn;
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    unsigned unit = 0;
    for (; bytes >= 999.5 && unit < 5; unit++) bytes /= 1000;
    char *out = text[turn++ % 4];
    snprintf(out, sizeof *text, bytes < 10 ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
    return out;
}

/* --- Curves ----------------------------------------------------------------------------------- */

static double rate_of_point(const struct picture *p, unsigned i)
{
    return HIGHEST * pow(p->lowest / HIGHEST, (double)i / (POINTS - 1));
}

/* The size and rate of a kind that is planned for this rate; false if it has no such plan. */
static bool solve_point(const struct picture *p, const tamis_plan *row, double rate, double *bytes,
                        double *got)
{
    tamis_promise r = {.struct_size = sizeof r};
    tamis_plan plan = *row;
    plan.items = p->items;
    plan.fpr = rate;
    plan.bytes = plan.m = plan.k = 0;
    if (tamis_solve(&plan, &r, NULL) != TAMIS_OK) return false;
    *bytes = (double)r.bytes;
    *got = r.fpr;
    return true;
}

static void find_scales(struct picture *p, const struct solved *rows, size_t n)
{
    double most = 0, bytes, rate;
    for (size_t i = 0; i < n; i++)
        if (solve_point(p, &rows[i].plan, p->lowest, &bytes, &rate)) most = fmax(most, bytes);
    const double least = (double)p->items / 8 * log2(1 / HIGHEST);
    p->x = (struct scale){log(least), log(fmax(most, 4 * least)), LEFT, RIGHT};
    p->y = (struct scale){log(p->lowest), log(HIGHEST), BOTTOM, TOP};
}

static void draw_kind(struct picture *p, const tamis_plan *row, size_t index)
{
    bool first = true;
    double last_bytes = 0, last_rate = 0, bytes, rate;
    put_svg(p, "<path class=\"kind%s\" stroke=\"%s\" d=\"", index % 2 != 0 ? " dashed" : "",
            hues[index % HUES]);
    for (unsigned i = 0; i < POINTS; i++) {
        if (!solve_point(p, row, rate_of_point(p, i), &bytes, &rate)) continue;
        if (bytes == last_bytes && rate == last_rate)
            continue; /* the kind has few rates, and this is the last one again */
        if (log(bytes) > p->x.high || log(bytes) < p->x.low || log(rate) < p->y.low - 0.02)
            continue;
        put_svg(p, "%c%.1f %.1f", first ? 'M' : 'L', at(&p->x, bytes), at(&p->y, rate));
        first = false;
        last_bytes = bytes;
        last_rate = rate;
    }
    put_svg(p, "\"><title>%s</title></path>\n", tamis_kind_name(row->kind));
}

static void draw_bound(struct picture *p)
{
    for (int fill = 1; fill >= 0; fill--) {
        put_svg(p, "<path class=\"%s\" d=\"", fill ? "never" : "bound");
        for (unsigned i = 0; i < POINTS; i++) {
            const double rate = rate_of_point(p, i), bytes = (double)p->items / 8 * log2(1 / rate);
            if (log(bytes) > p->x.high) break;
            put_svg(p, "%c%.1f %.1f", i == 0 ? 'M' : 'L', at(&p->x, bytes), at(&p->y, rate));
        }
        if (fill)
            put_svg(p, "L%d %dZ\"/>\n", LEFT, BOTTOM);
        else
            put_svg(p, "\"><title>lower bound, sealed</title></path>\n");
    }
    put_svg(p, "<text class=\"faint\" x=\"%d\" y=\"%d\">no structure</text>\n", LEFT + 12,
            BOTTOM - 32);
    put_svg(p, "<text class=\"faint\" x=\"%d\" y=\"%d\">can be here</text>\n", LEFT + 12,
            BOTTOM - 14);
}

/* The bound of kinds that take keys one by one, of which bloom is one: at low rates only. */
static void draw_dynamic_bound(struct picture *p)
{
    const tamis_plan bloom = {.struct_size = sizeof bloom, .kind = TAMIS_BLOOM, .items = p->items};
    bool first = true;
    put_svg(p, "<path class=\"bound dashed\" d=\"");
    for (unsigned i = 0; i < POINTS; i++) {
        tamis_plan plan = bloom;
        tamis_promise r = {.struct_size = sizeof r};
        plan.fpr = rate_of_point(p, i);
        if (tamis_solve(&plan, &r, NULL) != TAMIS_OK || r.bound != TAMIS_BOUND_DYNAMIC) continue;
        const double bytes = (double)p->items / 8 * r.bound_bits;
        if (log(bytes) > p->x.high) break;
        put_svg(p, "%c%.1f %.1f", first ? 'M' : 'L', at(&p->x, bytes), at(&p->y, r.fpr));
        first = false;
    }
    put_svg(p, "\"><title>lower bound, keys one by one</title></path>\n");
}

/* --- Around them ------------------------------------------------------------------------------ */

static void draw_axes(struct picture *p)
{
    for (double rate = 0.1; rate >= p->lowest * 0.99; rate /= 10) {
        const double y = at(&p->y, rate);
        put_svg(p, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
        put_svg(p, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g %%</text>\n", LEFT - 8,
                y + 4, 100 * rate);
    }
    static const double steps[] = {1, 2, 5};
    for (int power = 0; power < 18; power++)
        for (int i = 0; i < 3; i++) {
            const double bytes = steps[i] * pow(10, power), x = at(&p->x, bytes);
            if (x < LEFT || x > RIGHT) continue;
            put_svg(p, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, BOTTOM);
            put_svg(p, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                    BOTTOM + 20, size_text(bytes));
        }
    put_svg(p,
            "<text class=\"faint\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">size of the file"
            "</text>\n<text class=\"faint\" x=\"%d\" y=\"%d\">false positives</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 44, LEFT, TOP - 10);
}

static void draw_asked(struct picture *p, const tamis_plan *asked)
{
    if (asked->fpr != 0 && asked->fpr <= HIGHEST)
        put_svg(p, "<path class=\"asked\" d=\"M%d %.1fH%d\"/>\n", LEFT, at(&p->y, asked->fpr),
                RIGHT);
    const double x = asked->bytes != 0 ? at(&p->x, (double)asked->bytes) : 0;
    if (x >= LEFT && x <= RIGHT)
        put_svg(p, "<path class=\"asked\" d=\"M%.1f %dV%d\"/>\n", x, TOP, BOTTOM);
}

/* Beside each kind is what was not asked for: its size, or the rate that it reaches in the given
 * size. */
static void draw_legend(struct picture *p, const tamis_plan *asked, const struct solved *rows,
                        size_t n)
{
    char rate_only[24];
    int y = TOP + 12;
    for (int dynamic = 0; dynamic < 2; dynamic++, y += LINE)
        put_svg(p, "<path class=\"bound%s\" d=\"M%d %dh26\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
                dynamic ? " dashed" : "", LEGEND, y - 4, LEGEND + 34, y,
                dynamic ? "lower bound, keys one by one" : "lower bound, sealed kinds");
    for (size_t i = 0; i < n; i++, y += LINE) {
        const double bytes = (double)rows[i].promise.bytes, rate = rows[i].promise.fpr;
        snprintf(rate_only, sizeof rate_only, "%.2g %%", 100 * rate);
        put_svg(p, "<path class=\"kind%s\" stroke=\"%s\" d=\"M%d %dh26\"/>",
                i % 2 != 0 ? " dashed" : "", hues[i % HUES], LEGEND, y - 4);
        put_svg(p, "<text x=\"%d\" y=\"%d\">%s</text>", LEGEND + 34, y,
                tamis_kind_name(rows[i].plan.kind));
        put_svg(p, "<text class=\"faint\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                WIDTH - 16, y, asked->fpr != 0 ? size_text(bytes) : rate_only);
        if (log(bytes) >= p->x.low && log(bytes) <= p->x.high && log(rate) >= p->y.low &&
            rate <= HIGHEST)
            put_svg(p,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s: %s, %s"
                    "</title></circle>\n",
                    at(&p->x, bytes), at(&p->y, rate), hues[i % HUES],
                    tamis_kind_name(rows[i].plan.kind), size_text(bytes), rate_text(rate));
    }
}

static void draw_picture(struct picture *p, const tamis_plan *asked, const struct solved *rows,
                         size_t n)
{
    put_svg(p,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\" aria-labelledby=\"title desc\">\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_svg(p, "<title id=\"title\">False-positive rate against size, for %s items</title>\n",
            grouped(p->items));
    put_svg(p, "<desc id=\"desc\">");
    for (size_t i = 0; i < n; i++)
        put_svg(p, "%s: %s bytes, %s. ", tamis_kind_name(rows[i].plan.kind),
                grouped(rows[i].promise.bytes), rate_text(rows[i].promise.fpr));
    put_svg(p,
            "No structure can be below the lower bound of sealed kinds, and none that takes "
            "keys one by one below the other, at low rates.</desc>\n%s",
            style);
    put_svg(p, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    put_svg(
        p,
        "<text class=\"title\" x=\"%d\" y=\"30\">False-positive rate and size: %s items</text>\n",
        LEFT, grouped(p->items));
    draw_axes(p);
    draw_bound(p);
    draw_dynamic_bound(p);
    draw_asked(p, asked);
    for (size_t i = 0; i < n; i++) draw_kind(p, &rows[i].plan, i);
    draw_legend(p, asked, rows, n);
    put_svg(p, "</svg>\n");
}

int write_svg(const struct args *a, const tamis_plan *asked, const struct solved *rows, size_t n)
{
    struct picture p = {.items = asked->items, .lowest = 1e-6};
    char *text = NULL;
    size_t length = 0;
    if (asked->items == 0) return complain(NULL, "plan: --svg requires --items");
    for (size_t i = 0; i < n;
         i++) /* so that the marked points are visible, with space below them */
        while (rows[i].promise.fpr < 2 * p.lowest && p.lowest > 1e-18) p.lowest /= 10;
    report_if_interrupted(a->picture.svg);
    p.to = open_memstream(&text, &length);
    if (p.to == NULL) return complain(NULL, "not enough memory");
    find_scales(&p, rows, n);
    draw_picture(&p, asked, rows, n);
    const bool whole = fclose(p.to) == 0 && !p.failed && text != NULL;
    const int status = whole ? save_text(a->picture.svg, text, length, a->output.force)
                             : complain(NULL, "not enough memory");
    free(text);
    return status;
}
