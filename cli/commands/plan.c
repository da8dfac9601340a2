#include "../filters/filter.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "plot.h"

#include <math.h>
#include <string.h>
#include <tamis/inspect.h>

static void print_plan_json(const tamis_plan *p, const tamis_promise *r)
{
    json_open('{');
    json_text("kind", tamis_kind_name(p->kind));
    json_count("items", p->items);
    json_count("bytes", r->bytes);
    if (r->packed_bytes != 0) json_count("packed_bytes", r->packed_bytes);
    json_number("bits_per_item", r->bits_per_item);
    json_lower_bound(r->bound, r->bound_bits, r->bound_ratio);
    json_number("fpr", r->fpr);
    json_count("m", p->m);
    json_count("k", p->k);
    if (p->cell_bits != 0) json_count("cell_bits", p->cell_bits);
    if (p->kind == TAMIS_COUNTING) json_number("overflow", r->overflow);
    if (p->generations != 0) json_count("generations", p->generations);
    if (p->inner_kind != 0) json_text("inner", tamis_kind_name(p->inner_kind));
    json_close('}');
}

static void print_row(const tamis_plan *p, const tamis_promise *r)
{
    char m[32];
    snprintf(m, sizeof m, "%s%s", p->m != 0 ? grouped(p->m) : "-",
             p->kind == TAMIS_PARTITIONED ? " a row" : "");
    printf("%-12s %15s %15s %7.2f", tamis_kind_name(p->kind), grouped(p->items), grouped(r->bytes),
           r->bits_per_item);
    if (r->bound != TAMIS_BOUND_NONE)
        printf(" %6.2f %6.2f", r->bound_bits, r->bound_ratio);
    else
        printf(" %6s %6s", "-", "-");
    printf("  %-27s %2u  %s\n", rate_text(r->fpr), p->k, m);
}

/* The second row of a plan for transfer. A packed file takes no keys, so its bound is that of
 * sealed kinds. */
static void print_packed(const tamis_plan *p, const tamis_promise *r)
{
    const double bits = 8 * (double)r->packed_bytes / (double)p->items, bound = log2(1 / r->fpr);
    if (r->packed_bytes == 0) return;
    printf("%-12s %15s %15s %7.2f %6.2f %6.2f\n", "packed", "", grouped(r->packed_bytes), bits,
           bound, bits / bound);
}

/* Whether the table of all kinds contains this one. exact is in it if there are lines to exclude,
 * and alone if neither rate nor size is given. */
static bool has_row(const tamis_plan *asked, uint32_t kind)
{
    if (asked->excluded != 0 && asked->fpr == 0 && asked->bytes == 0 && asked->m == 0)
        return kind == TAMIS_EXACT;
    if (kind == TAMIS_PRIVATE) return false;   /* it is released, never planned */
    if (kind == TAMIS_VALUE_MAP) return false; /* its values take most of its bits */
    return tamis_kind_name(kind) != NULL && (kind != TAMIS_EXACT || asked->excluded != 0);
}

/* Prints the kinds that do not have such a plan, with the reason. */
static void print_refusals(const tamis_plan *asked)
{
    for (uint32_t kind = 1; kind < KIND_END; kind++) {
        tamis_plan p = *asked;
        tamis_error why;
        plan_for_kind(&p, kind);
        if (has_row(asked, kind) && tamis_solve(&p, NULL, &why) != TAMIS_OK)
            printf("%-12s %s\n", tamis_kind_name(kind), why.text);
    }
}

/* Solves the plan for every kind that has one, or for the kind that is asked for. Returns the
 * number of rows. */
static size_t solve_all(const tamis_plan *asked, bool all, struct solved *rows, tamis_error *why)
{
    size_t n = 0;
    for (uint32_t kind = 0; kind < KIND_END; kind++) {
        if (all ? !has_row(asked, kind) : kind != asked->kind) continue;
        struct solved row = {.plan = *asked, .promise.struct_size = sizeof row.promise};
        if (all) plan_for_kind(&row.plan, kind);
        if (tamis_solve(&row.plan, &row.promise, why) == TAMIS_OK) rows[n++] = row;
    }
    return n;
}

static void print_rows(const struct args *a, const struct solved *rows, size_t n)
{
    if (a->json) {
        json_open('[');
        for (size_t i = 0; i < n; i++) print_plan_json(&rows[i].plan, &rows[i].promise);
        json_close(']');
        putchar('\n');
        return;
    }
    printf("%-12s %15s %15s %7s %6s %6s  %-27s %2s  %s\n", "kind", "items", "bytes", "bits",
           "bound", "ratio", "false positives", "k", "m");
    for (size_t i = 0; i < n; i++) {
        print_row(&rows[i].plan, &rows[i].promise);
        print_packed(&rows[i].plan, &rows[i].promise);
    }
}

/* --kind distinct, or a window of distinct sketches. */
static int plan_distinct(const struct args *a, tamis_plan *p)
{
    tamis_error why;
    const bool window = p->kind == TAMIS_WINDOW;
    if (a->picture.plot || a->picture.svg != NULL)
        return complain(NULL, "plan: there are pictures only of filters");
    if (p->error == 0 && p->bytes == 0 && p->m == 0 && p->items == 0 && p->fpr == 0)
        return complain(NULL, "plan: --%s distinct requires --error or --bytes",
                        window ? "inner" : "kind");
    if (tamis_solve(p, NULL, &why) != TAMIS_OK) return complain(NULL, "plan: %s", why.text);
    const uint64_t exact = window ? 0 : exact_until(p->m);
    if (a->json) {
        json_open('[');
        json_open('{');
        json_text("kind", tamis_kind_name(p->kind));
        if (window) json_text("inner", tamis_kind_name(p->inner_kind));
        if (window) json_count("generations", p->generations);
        json_count("bytes", p->bytes);
        json_number("error", p->error);
        json_count("exact_until", exact);
        json_count("m", p->m);
        json_close('}');
        json_close(']');
        putchar('\n');
        return finish_output(EXIT_FOUND);
    }
    char error[32];
    snprintf(error, sizeof error, "%.2g %%", 100 * p->error);
    printf("%-12s %15s %9s %12s  %s\n", "kind", "bytes", "error", "exact up to", "m");
    printf("%-12s %15s %9s %12s  %s\n", tamis_kind_name(p->kind), grouped(p->bytes), error,
           grouped(exact), grouped(p->m));
    printf("error: relative standard error of an estimate; 99 %% are off by less than %.2g %%\n",
           257.6 * p->error);
    return finish_output(EXIT_FOUND);
}

/* 'tamis plan 1M 1%': the words are the items and the rate. False after a message. */
static bool take_words(char *const *words, int n, struct plan_args *p)
{
    if (n > 2)
        complain(NULL,
                 "plan: unexpected argument '%s'; only the items and the rate can be given without "
                 "an option, as in: tamis plan 1M 1%%",
                 words[2]);
    else if (n > 0 && p->items != 0)
        complain(NULL, "plan: the items are given twice, as '%s' and with --items", words[0]);
    else if (n > 1 && p->fpr != 0)
        complain(NULL, "plan: the rate is given twice, as '%s' and with --fpr", words[1]);
    else if (n > 0 && (!parse_number(words[0], &p->items) || p->items == 0))
        complain(NULL,
                 "plan: '%s' is not a number of items, like 1000000, 1M or 1e6; the rate comes "
                 "second, as in: tamis plan 1M 1%%",
                 words[0]);
    else if (n > 1 && !parse_rate(words[1], &p->fpr))
        complain(NULL,
                 "plan: '%s' is not a rate between 0 and 1, like 0.01, 1%% or 1/100; a size is "
                 "given with --bytes, as in: tamis plan 1M --bytes 2MB",
                 words[1]);
    else
        return true;
    return false;
}

int run_plan(const struct args *given)
{
    struct args with_words = *given;
    const struct args *a = &with_words;
    tamis_plan asked;
    tamis_error why = {.text = ""};
    struct solved rows[KIND_END];
    if (!take_words(given->words, given->n_words, &with_words.plan) || !plan_from(&a->plan, &asked))
        return EXIT_ERROR;
    if (plans_distinct(&asked)) return plan_distinct(a, &asked);
    if (a->json && a->picture.plot)
        return complain(NULL, "plan: --plot and --json cannot be combined");
    const bool all = a->plan.kind == NULL && !a->plan.for_transfer;
    const size_t n = solve_all(&asked, all, rows, &why);
    if (n == 0 && given->n_words == 1 && asked.fpr == 0 && asked.bytes == 0)
        return complain(NULL, "plan: the rate is missing, as in: tamis plan %s 1%%",
                        given->words[0]);
    if (n == 0) return complain(NULL, "plan: %s", why.text);
    if (a->picture.svg != NULL && write_svg(a, &asked, rows, n) != EXIT_FOUND) return EXIT_ERROR;
    if (a->picture.svg != NULL && strcmp(a->picture.svg, "-") == 0)
        return finish_output(EXIT_FOUND);
    print_rows(a, rows, n);
    if (all && !a->json) print_refusals(&asked);
    if (!a->json)
        printf("bits: per item, of the whole file; bound: fewer are impossible at that rate if all "
               "keys are\nknown before (sealed kinds), or if they come one by one (the others, at "
               "low rates)\n");
    if (a->picture.plot) plot_plans(rows, n);
    return finish_output(EXIT_FOUND);
}
