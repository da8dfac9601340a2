#include "cli.h"
#include "lines.h"

#include <stdlib.h>

struct totals {
    uint64_t lines, maybe;
};

/* Neighbours that are all selected are one piece of memory, ends included. */
static void print_selected(const struct args *a, const struct block *b, const uint8_t *maybe)
{
    for (size_t i = 0; i < b->n; i++) {
        if ((maybe[i / 8] >> i % 8 & 1) == a->invert) continue;
        size_t last = i;
        while (last + 1 < b->n && (maybe[(last + 1) / 8] >> (last + 1) % 8 & 1) != a->invert)
            last++;
        const char *from = b->lines[i].p,
                   *to = (const char *)b->lines[last].p + b->lines[last].len + 1;
        fwrite(from, 1, (size_t)(to - from), stdout);
        i = last;
    }
}

static uint64_t selected(const struct args *a, const struct totals *t)
{
    return a->invert ? t->lines - t->maybe : t->maybe;
}

/* False when something could not be read, which was reported. */
static bool check_lines(const struct args *a, const tamis *t, struct totals *totals)
{
    char **files = a->words + 1;
    const int n = a->n_words - 1;
    const bool print = !a->count && !a->quiet && !a->json;
    struct lines *in = lines_open(a, files, n, t, threads_from(a));
    struct progress bar;
    const struct block *b;
    uint8_t *maybe = NULL;
    size_t room = 0;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "checking", lines_total_bytes(files, n), a->quiet || print);
    while ((b = lines_next(in)) != NULL) {
        if (b->n > room) {
            free(maybe);
            room = b->n;
            maybe = malloc(room / 8 + 1);
            if (maybe == NULL) break;
        }
        totals->maybe += tamis_may_contain_hashes(t, b->hashes, b->n, maybe);
        totals->lines += b->n;
        if (print) print_selected(a, b, maybe);
        if (a->quiet && selected(a, totals) > 0) break; /* enough is known */
        if (ferror(stdout)) break;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool good = !lines_failed(in) && (maybe != NULL || room == 0);
    if (maybe == NULL && room > 0) complain(NULL, "not enough memory");
    lines_close(in);
    free(maybe);
    return good;
}

int run_check(const struct args *a)
{
    struct totals totals = {0, 0};
    tamis_facts f = {.struct_size = sizeof f};
    tamis *t = open_filter(a, a->words[0], 0);
    if (t == NULL) return EXIT_ERROR;
    if (check_hashable(t, a->words[0]) != EXIT_FOUND) {
        tamis_close(t);
        return EXIT_ERROR;
    }
    const bool read = check_lines(a, t, &totals);
    if (a->json && !a->quiet && tamis_info(t, &f) == TAMIS_OK) {
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
