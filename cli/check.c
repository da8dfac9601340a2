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

/* Every line, after the probability that it is in; false after a message. */
static bool print_probabilities(const struct args *a, const struct asked *q, const struct block *b)
{
    double *p = malloc((b->n + 1) * sizeof *p);
    tamis_error why = {.text = "not enough memory"};
    const bool good =
        p != NULL && tamis_probability_hashes(q->t, b->hashes, b->n, a->prior, p, &why) == TAMIS_OK;
    if (!good) complain(a->words[0], "%s", why.text);
    for (size_t i = 0; i < b->n && good; i++) {
        printf("%.6g\t", p[i]);
        fwrite(b->lines[i].p, 1, b->lines[i].len + 1, stdout);
    }
    free(p);
    return good;
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
        if (print && a->prior != 0)
            good = print_probabilities(a, q, b);
        else if (print)
            print_selected(a, b, q->maybe);
        if (!good) break;
        if (a->quiet && selected(a, totals) > 0) break; /* enough is known */
        if (ferror(stdout)) break;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    lines_close(in);
    return good;
}

/* EXIT_ERROR after a message when that is not for this filter. */
static int check_private(const struct args *a, const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(t, &f) != TAMIS_OK) return complain(a->words[0], "not enough memory");
    if (f.kind != TAMIS_PRIVATE && a->prior != 0)
        return complain(a->words[0], "--prior is for private filters; the noes of a %s filter %s",
                        tamis_kind_name(f.kind), f.may_miss ? "may be wrong" : "are certain");
    if (a->prior != 0 && (a->count || a->invert || a->json))
        return complain(NULL, "check: --prior prints every line: not with -c, -v or --json");
    if (f.kind == TAMIS_PRIVATE && !a->quiet && !a->json && a->prior == 0)
        complain(a->words[0], "private: %s of the lines that are in are missed; see --prior",
                 rate_text(f.miss_rate));
    return EXIT_FOUND;
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
        if (f.may_miss) json_number("miss_rate", f.miss_rate);
        if (f.kind == TAMIS_PRIVATE) json_number("epsilon", f.epsilon);
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
    if (a->prior != 0)
        complain(f->path, "--prior is for private filters");
    else if (a->key != NULL)
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
    else if (check_hashable(t, a->words[0]) == EXIT_FOUND && check_private(a, t) == EXIT_FOUND)
        status = check_and_tell(a, &q);
    tamis_close(t);
    return status;
}
