#include "cli.h"

#include <string.h>

struct totals {
    uint64_t lines, maybe;
};

static void print_selected(const struct args *a, const tamis_bytes *lines, size_t n, const uint8_t *maybe)
{
    for (size_t i = 0; i < n; i++) {
        if ((maybe[i / 8] >> i % 8 & 1) == a->invert) continue;
        fwrite(lines[i].p, 1, lines[i].len, stdout);
        putchar(a->nul ? '\0' : '\n');
    }
}

static uint64_t selected(const struct args *a, const struct totals *t)
{
    return a->invert ? t->lines - t->maybe : t->maybe;
}

static bool check_lines(const struct args *a, const tamis *t, struct totals *totals)
{
    tamis_bytes lines[LINES_AT_ONCE];
    uint8_t maybe[LINES_AT_ONCE / 8];
    const bool print = !a->count && !a->quiet && !a->json;
    struct input in;
    struct progress bar;
    size_t n;
    if (!input_open(&in, a->words + 1, a->n_words - 1, a->nul)) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "checking", input_total(a->words + 1, a->n_words - 1), a->quiet || print);
    while ((n = input_lines(&in, lines, LINES_AT_ONCE)) > 0) {
        totals->maybe += tamis_may_contain_many(t, lines, n, maybe);
        totals->lines += n;
        if (print) print_selected(a, lines, n, maybe);
        if (a->quiet && selected(a, totals) > 0) break; /* enough is known */
        if (ferror(stdout)) break;
        progress_update(&bar, n, in.bytes);
    }
    progress_end(&bar);
    input_close(&in);
    return !in.failed;
}

int run_check(const struct args *a)
{
    struct totals totals = {0, 0};
    tamis_facts f = {.struct_size = sizeof f};
    tamis *t = open_filter(a, a->words[0], 0);
    if (t == NULL) return EXIT_ERROR;
    const bool read = check_lines(a, t, &totals);
    if (a->json && tamis_info(t, &f) == TAMIS_OK) {
        json_open('{');
        json_text("filter", a->words[0]);
        json_count("lines", totals.lines);
        json_count("maybe", totals.maybe);
        json_count("absent", totals.lines - totals.maybe);
        json_number("fpr_now", f.fpr_now);
        json_close('}');
        putchar('\n');
    } else if (a->count && !a->quiet) {
        printf("%llu\n", (unsigned long long)selected(a, &totals));
    }
    tamis_close(t);
    /* As with grep: a file that could not be read is an error, unless -q has its answer already. */
    if (!read && !(a->quiet && selected(a, &totals) > 0)) return finish_output(EXIT_ERROR);
    return finish_output(selected(a, &totals) > 0 ? EXIT_FOUND : EXIT_NONE);
}
