/* check: the lines that may be in a filter, or that are in a set. A filter answers first and
 * excludes most of what is not in; what is left is a maybe, or confirmed by the bytes: of patterns
 * (-f), of a store or of a list (--confirm). A private filter has no verdict (evidence.h). */
#include "../filters/confirm.h"
#include "../filters/evidence.h"
#include "../filters/foreign.h"
#include "../input/fields.h"
#include "../input/input.h"
#include "../input/line_set.h"

#include <stdlib.h>
#include <string.h>

/* Of the filter before the patterns: one wrong maybe in a hundred costs next to nothing. */
#define FRONT_FPR 0.01

struct check {
    const struct args *args;
    char **files; /* to be checked */
    int n_files;
    tamis *t;
    struct foreign foreign; /* a filter of another program instead; path NULL: none */
    struct encoded encoded; /* its keys */
    bool has_patterns, is_exact;
    struct line_set patterns;
    struct store *store;
    struct waiting *waiting;
    struct evidence evidence; /* of a private filter */
    uint8_t *bits, *spare;    /* of a block: what may be in, then what is */
    size_t room;
    struct totals totals;
    struct label label;
    const char *named; /* the file that -l has printed last */
};

/* No more than -m allows: a list that confirms may have found more than are printed. */
static uint64_t selected(const struct check *c)
{
    const uint64_t n = c->args->invert ? c->totals.absent : c->totals.found;
    return c->args->most_lines != 0 && n > c->args->most_lines ? c->args->most_lines : n;
}

/* --- Before the first line -------------------------------------------------------------------- */

/* All lines of the files of -f. False after a message. */
static bool read_patterns(struct check *c, const tamis *hasher)
{
    const struct args *a = c->args;
    const struct args whole = list_lines(a);
    struct texts files = a->patterns;
    struct lines *in = lines_open(&whole, files.text, files.n, hasher, threads_from(a));
    const struct block *b;
    bool good = in != NULL;
    c->patterns.hasher = hasher;
    while (good && !lines_failed(in) && (b = lines_next(in)) != NULL)
        good = line_set_add_many(&c->patterns, b->hashes, b->keys, b->n);
    if (!good) complain(NULL, "not enough memory for the patterns");
    if (in != NULL) good = good && !lines_failed(in);
    if (in != NULL) lines_close(in);
    return good;
}

/* The filter that is asked before the patterns. */
static bool make_front(struct check *c)
{
    const tamis_options o = {.struct_size = sizeof o, .key = c->args->key};
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_BLOCKED,
                          .items = c->patterns.n > 0 ? c->patterns.n : 1,
                          .fpr = FRONT_FPR};
    tamis_error why;
    tamis *t;
    if (tamis_create(&p, &o, &t, &why) != TAMIS_OK) {
        complain(NULL, "check: %s", why.text);
        return false;
    }
    const tamis_status s = line_set_copy(&c->patterns, t);
    c->t = t;
    c->patterns.hasher = t;
    if (s != TAMIS_OK) complain(NULL, "check: %s", tamis_status_message(s));
    return s == TAMIS_OK;
}

/* -f: the set itself, or only a filter of it. False after a message. */
static bool open_patterns(struct check *c)
{
    const struct args *a = c->args;
    if (a->fpr == 0 && a->bytes == 0) {
        tamis *hasher = make_hasher(a);
        const bool good = hasher != NULL && read_patterns(c, hasher) && make_front(c);
        tamis_close(hasher);
        c->is_exact = true;
        return good;
    }
    struct args build = list_lines(a);
    build.words = build.patterns.text;
    build.n_words = build.patterns.n;
    build.output = shown(build.patterns.text[0]); /* what messages are about */
    build.memory = 0;
    c->t = build_filter(&build);
    return c->t != NULL;
}

static bool open_foreign(struct check *c)
{
    const struct args *a = c->args;
    const char *wrong = NULL;
    if (a->key != NULL)
        wrong = "this filter belongs to another program, so --key-file cannot be used";
    if (a->prior != 0)
        wrong = "this filter belongs to another program, but --prior requires a private filter";
    if (a->confirm != NULL)
        wrong = "this filter belongs to another program, so --confirm cannot be used";
    if (wrong != NULL) complain(a->words[0], "%s", wrong);
    return wrong == NULL && foreign_select(a, &c->foreign);
}

static bool has_no_foreign_options(const struct args *a)
{
    if (a->type == NULL && a->column == NULL && a->row_group == NULL) return true;
    complain(a->words[0], "--type, --column and --row-group require a filter of another program");
    return false;
}

static bool open_set(struct check *c)
{
    const struct args *a = c->args;
    if (c->has_patterns) return open_patterns(c);
    c->t = open_any_filter(a, a->words[0], 0, &c->foreign);
    if (c->t == NULL) return c->foreign.path != NULL && open_foreign(c);
    if (check_hashable(c->t, a->words[0]) != EXIT_FOUND || !has_no_foreign_options(a)) return false;
    /* --json reads all cells anyway. */
    if (a->json || may_need_warning(a->words[0])) warn_if_over_full(c->t, shown(a->words[0]), 0);
    if (!evidence_open(&c->evidence, a, c->t)) return false;
    if (a->confirm == NULL) return true;
    c->is_exact = true;
    if (is_store(a->confirm)) return (c->store = store_open(a->confirm, c->t, a->quiet)) != NULL;
    return (c->waiting = waiting_open(a, c->t)) != NULL;
}

/* Standard input can be read once: EXIT_ERROR after a message when it is wanted twice. */
static int check_stdin(const struct check *c)
{
    const struct args *a = c->args;
    int wanted = c->n_files == 0;
    for (int i = 0; i < c->n_files; i++) wanted += is_stdin(c->files[i]);
    if (!c->has_patterns && is_stdin(a->words[0]) && wanted > 0)
        return complain(NULL,
                        "check: standard input cannot be both the filter and the lines to check");
    if (a->confirm != NULL && is_stdin(a->confirm) && wanted > 0)
        return complain(NULL, "check: standard input cannot be both the list and "
                              "the lines to check");
    for (int i = 0; i < a->patterns.n; i++)
        if (is_stdin(a->patterns.text[i]) && wanted > 0)
            return complain(
                NULL, "check: standard input cannot be both the patterns and the lines to check");
    return EXIT_FOUND;
}

/* What is wrong with the options about what is printed; NULL: nothing. */
static const char *wrong_output(const struct args *a)
{
    const bool labels = a->number || a->names;
    if (a->json && (labels || a->only_names || a->most_lines != 0))
        return "--json prints totals and cannot be combined with -n, -H, -l or -m";
    if (labels && a->count) return "-c prints one number and cannot be combined with -n or -H";
    if (a->only_names && (labels || a->count || a->most_lines != 0))
        return "-l prints file names and cannot be combined with -c, -n, -H or -m";
    if (a->only_names && a->confirm != NULL && !is_store(a->confirm))
        return "-l cannot be combined with --confirm LIST";
    return NULL;
}

/* EXIT_ERROR after a message when the options make no sense together. */
static int check_options(const struct check *c)
{
    const struct args *a = c->args;
    const char *wrong = wrong_output(a);
    if (!c->has_patterns && a->n_words == 0) return complain_usage(a->command);
    if (wrong != NULL) return complain(NULL, "check: %s", wrong);
    if (c->has_patterns && a->confirm != NULL)
        wrong = "--confirm requires a filter; with -f the answer is exact already";
    else if (!c->has_patterns && (a->fpr != 0 || a->bytes != 0))
        wrong = "--fpr and --bytes require -f; a filter already has its size and its rate";
    else if (a->memory != 0 && a->confirm == NULL)
        wrong = "--memory requires --confirm";
    else if (c->has_patterns && (a->from || a->type || a->column || a->row_group))
        wrong = "--from, --type, --column and --row-group require a filter of another program";
    else if (a->prior != 0 && c->has_patterns)
        wrong = "--prior requires a private filter and cannot be combined with -f";
    else if (a->list_field != 0 && !c->has_patterns && a->confirm == NULL)
        wrong = "--list-field requires a list, given with -f or --confirm";
    else if (a->list_field != 0 && a->confirm != NULL && is_store(a->confirm))
        wrong = "--list-field requires a list of lines; the keys of an LMDB have no fields";
    if (wrong != NULL) return complain(NULL, "check: %s", wrong);
    return check_fields(a) == EXIT_FOUND ? check_stdin(c) : EXIT_ERROR;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static bool is_selected(const struct check *c, size_t i)
{
    return (c->bits[i / 8] >> i % 8 & 1) != c->args->invert;
}

/* -n, -H */
static void print_labelled(struct check *c, const struct block *b, size_t n)
{
    label_begin(&c->label, c->args, b);
    for (size_t i = 0; i < n; i++) {
        if (!is_selected(c, i)) continue;
        const tamis_bytes label = label_of(&c->label, i);
        fwrite_unlocked(label.p, 1, label.len, stdout);
        fwrite_unlocked(b->lines[i].p, 1, b->lines[i].len + 1, stdout);
    }
}

/* -l: a file once. Blocks of one file follow each other. */
static void print_name(struct check *c, const struct block *b)
{
    size_t i = 0;
    while (i < b->n && !is_selected(c, i)) i++;
    if (i == b->n || c->named == b->path) return;
    c->named = b->path;
    puts(label_name(b));
}

/* Neighbours that are all selected are one piece of memory, ends included. */
static void print_selected(const struct check *c, const struct block *b, size_t n)
{
    const char *from = NULL, *to = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_selected(c, i)) continue;
        const char *p = b->lines[i].p;
        if (p != to) {
            if (to != from) fwrite_unlocked(from, 1, (size_t)(to - from), stdout);
            from = p;
        }
        to = p + b->lines[i].len + 1;
    }
    if (to != from) fwrite_unlocked(from, 1, (size_t)(to - from), stdout);
}

/* For the bits of that many lines; false after a message. */
static bool make_room(struct check *c, size_t lines)
{
    if (lines > c->room) {
        free(c->bits);
        free(c->spare);
        c->room = lines;
        c->bits = malloc(lines / 8 + 1);
        c->spare = malloc(lines / 8 + 1);
    }
    if (c->bits != NULL && c->spare != NULL) return true;
    complain(NULL, "not enough memory");
    return false;
}

/* Which lines may be in, and how many; false after a message. */
static bool ask(struct check *c, const struct block *b, size_t *maybe)
{
    if (c->t != NULL) {
        *maybe = tamis_may_contain_hashes(c->t, b->hashes, b->n, c->bits);
        return true;
    }
    const uint64_t before = c->args->field == 0 ? c->totals.lines - b->n : UINT64_MAX;
    if (!encode_lines(c->foreign.encoding, b, before, &c->encoded)) return false;
    *maybe = foreign_ask(&c->foreign, c->encoded.keys, b->n, c->bits, c->spare);
    return true;
}

/* -m: how many lines of the block there are up to the last that is wanted, and how many of them are
 * found. */
static size_t limit(const struct check *c, const struct block *b, size_t *found)
{
    const uint64_t most = c->args->most_lines, chosen = c->args->invert ? b->n - *found : *found;
    uint64_t left = most - selected(c);
    size_t n = 0;
    if (most == 0 || chosen <= left) return b->n;
    for (*found = 0; left > 0; n++) {
        *found += c->bits[n / 8] >> n % 8 & 1;
        left -= is_selected(c, n);
    }
    return n;
}

/* False after a message. */
static bool take_block(struct check *c, const struct block *b)
{
    const struct args *a = c->args;
    struct totals *t = &c->totals;
    size_t found;
    /* Before anything can fail: then found and absent are not all, which run_check sees. */
    t->lines += b->n;
    if (!make_room(c, b->n) || !ask(c, b, &found)) return false;
    t->maybe += found;
    if (c->evidence.prior != 0) {
        evidence_add(&c->evidence, a, b, c->bits, &c->label);
        t->found += b->n; /* all are selected */
        return true;
    }
    if (c->waiting != NULL) return waiting_add(c->waiting, b, c->bits, t);
    if (c->store != NULL && !store_confirm(c->store, b->keys, b->n, c->bits, &found)) return false;
    if (c->has_patterns && c->is_exact)
        found = line_set_confirm(&c->patterns, b->hashes, b->keys, b->n, c->bits);
    const size_t n = limit(c, b, &found);
    t->lines -= b->n - n;
    t->found += found;
    t->absent += n - found;
    if (a->count || a->quiet || a->json) return true;
    if (a->only_names)
        print_name(c, b);
    else if (a->number || a->names)
        print_labelled(c, b, n);
    else
        print_selected(c, b, n);
    return true;
}

/* False when something could not be read, which was reported. */
static bool check_lines(struct check *c)
{
    const struct args *a = c->args;
    struct lines *in = lines_open(a, c->files, c->n_files, c->t, threads_from(a));
    struct progress bar;
    const struct block *b;
    const uint64_t most = a->most_lines != 0 ? a->most_lines : UINT64_MAX;
    bool good = true, enough = false;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "checking", lines_total_bytes(c->files, c->n_files),
                   a->quiet || !(a->count || a->json));
    while (good && !enough && (b = lines_next(in)) != NULL) {
        good = take_block(c, b);
        enough = (a->quiet && selected(c) > 0) || output_failed() || selected(c) == most;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    /* With -m there may be enough of them, waiting to be printed. */
    if (good && (!enough || a->most_lines != 0) && c->waiting != NULL)
        good = waiting_finish(c->waiting, &c->totals);
    good = good && !lines_failed(in);
    lines_close(in);
    return good;
}

/* --- The end ---------------------------------------------------------------------------------- */

static void report_verdicts(const struct check *c)
{
    const struct totals *t = &c->totals;
    if (!(c->has_patterns && c->is_exact)) json_count("maybe", t->maybe);
    if (c->is_exact) json_count("found", t->found);
    json_count("absent", t->absent);
}

static void report(const struct check *c)
{
    const struct args *a = c->args;
    tamis_facts f = {.struct_size = sizeof f};
    if (a->count && !a->json) printf("%llu\n", (unsigned long long)selected(c));
    if (!a->json || (c->t != NULL && tamis_info(c->t, &f) != TAMIS_OK)) return;
    const double rate = c->t != NULL ? f.fpr_now : foreign_rate(&c->foreign);
    json_open('{');
    if (!c->has_patterns) json_text("filter", a->words[0]);
    if (c->has_patterns && c->is_exact) json_count("patterns", c->patterns.n);
    json_count("lines", c->totals.lines);
    if (c->evidence.prior != 0)
        evidence_report(&c->evidence);
    else
        report_verdicts(c);
    json_number("fpr_now", c->has_patterns && c->is_exact ? 0 : rate);
    if (c->t != NULL && !c->has_patterns && f.kind != TAMIS_PRIVATE) /* as the warning has it */
        json_bool("over_full", rate_is_exceeded(&f, rate_asked(&f, 0, USUAL_FPR)));
    if (f.may_miss) json_number("miss_rate", f.miss_rate);
    if (f.kind == TAMIS_PRIVATE) json_number("epsilon", f.epsilon);
    if (c->has_patterns)
        json_count("bytes",
                   tamis_image_size(c->t) + (c->is_exact ? line_set_bytes(&c->patterns) : 0));
    json_close('}');
    putchar('\n');
}

int run_check(const struct args *a)
{
    struct check c = {.args = a, .has_patterns = a->patterns.n > 0};
    c.files = a->words + !c.has_patterns;
    c.n_files = a->n_words - !c.has_patterns;
    if (check_options(&c) != EXIT_FOUND) return EXIT_ERROR;
    bool good = open_set(&c);
    if (good) {
        good = check_lines(&c);
        /* After a failure, what is known of only some lines is no answer. */
        if (!a->quiet && c.totals.found + c.totals.absent == c.totals.lines) report(&c);
    }
    tamis_close(c.t);
    if (c.foreign.path != NULL) foreign_close(&c.foreign);
    encoded_free(&c.encoded);
    line_set_free(&c.patterns);
    store_close(c.store);
    waiting_close(c.waiting);
    free(c.bits);
    free(c.spare);
    /* As with grep: a file that could not be read is an error, unless -q has its answer already. */
    if (!good && !(a->quiet && selected(&c) > 0)) return finish_output(EXIT_ERROR);
    return finish_output(selected(&c) > 0 ? EXIT_FOUND : EXIT_NONE);
}
