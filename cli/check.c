#include "foreign.h"

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

/* Who is asked: a filter of ours, or of another program. */
struct asked {
    const tamis *t;
    const struct foreign *foreign;
    struct encoded keys;
    uint8_t *maybe, *spare; /* bits for the lines of a block */
    size_t room;
};

static bool make_room(struct asked *q, size_t lines)
{
    if (lines <= q->room) return true;
    free(q->maybe);
    free(q->spare);
    q->room = lines;
    q->maybe = malloc(lines / 8 + 1);
    q->spare = malloc(lines / 8 + 1);
    if (q->maybe != NULL && q->spare != NULL) return true;
    complain(NULL, "not enough memory");
    return false;
}

/* Adds to the totals; false after a message. */
static bool ask(struct asked *q, const struct block *b, struct totals *totals)
{
    if (!make_room(q, b->n)) return false;
    if (q->foreign == NULL) {
        totals->maybe += tamis_may_contain_hashes(q->t, b->hashes, b->n, q->maybe);
    } else {
        if (!encode_lines(q->foreign->encoding, b, totals->lines, &q->keys)) return false;
        totals->maybe += foreign_ask(q->foreign, q->keys.keys, b->n, q->maybe, q->spare);
    }
    totals->lines += b->n;
    return true;
}

/* False when something could not be read, which was reported. */
static bool check_lines(const struct args *a, struct asked *q, struct totals *totals)
{
    char **files = a->words + 1;
    const int n = a->n_words - 1;
    const bool print = !a->count && !a->quiet && !a->json;
    struct lines *in = lines_open(a, files, n, q->t, threads_from(a));
    struct progress bar;
    const struct block *b;
    bool good = true;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "checking", lines_total_bytes(files, n), a->quiet || print);
    while ((b = lines_next(in)) != NULL) {
        good = ask(q, b, totals);
        if (!good) break;
        if (print) print_selected(a, b, q->maybe);
        if (a->quiet && selected(a, totals) > 0) break; /* enough is known */
        if (ferror(stdout)) break;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    lines_close(in);
    return good;
}

static int check_and_tell(const struct args *a, struct asked *q)
{
    struct totals totals = {0, 0};
    tamis_facts f = {.struct_size = sizeof f};
    const bool read = check_lines(a, q, &totals);
    if (a->json && !a->quiet) {
        if (q->t != NULL) tamis_info(q->t, &f);
        json_open('{');
        json_text("filter", a->words[0]);
        json_count("lines", totals.lines);
        json_count("maybe", totals.maybe);
        json_count("absent", totals.lines - totals.maybe);
        json_number("fpr_now", q->t != NULL ? f.fpr_now : foreign_rate(q->foreign));
        json_close('}');
        putchar('\n');
    } else if (a->count && !a->quiet) {
        printf("%llu\n", (unsigned long long)selected(a, &totals));
    }
    free(q->maybe);
    free(q->spare);
    encoded_free(&q->keys);
    /* As with grep: a file that could not be read is an error, unless -q has its answer already. */
    if (!read && !(a->quiet && selected(a, &totals) > 0)) return finish_output(EXIT_ERROR);
    return finish_output(selected(a, &totals) > 0 ? EXIT_FOUND : EXIT_NONE);
}

static int check_foreign(const struct args *a, struct foreign *f)
{
    struct asked q = {.foreign = f};
    int status = EXIT_ERROR;
    if (a->key != NULL)
        complain(f->path, "a filter of another program has no key of ours");
    else if (foreign_select(a, f))
        status = check_and_tell(a, &q);
    foreign_close(f);
    return status;
}

int run_check(const struct args *a)
{
    struct asked q = {.t = NULL};
    struct foreign f;
    int status = EXIT_ERROR;
    tamis *t = open_any_filter(a, a->words[0], 0, &f);
    if (t == NULL) return f.path != NULL ? check_foreign(a, &f) : EXIT_ERROR;
    q.t = t;
    if (a->type != NULL || a->column != NULL || a->row_group != NULL)
        complain(a->words[0], "--type, --column and --row-group are for filters of other programs");
    else if (check_hashable(t, a->words[0]) == EXIT_FOUND)
        status = check_and_tell(a, &q);
    tamis_close(t);
    return status;
}
