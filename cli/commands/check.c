/* check: prints the lines that may be in a filter, or that are in a set. A filter answers first and
 * excludes most lines that are not members. What is left is a "maybe", or is confirmed by comparing
 * bytes: with patterns (-f), with a store or with a list (--confirm). A private filter has no
 * verdict (evidence.h). */
#include "../filters/confirm.h"
#include "../filters/evidence.h"
#include "../filters/filter.h"
#include "../filters/foreign.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/options.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/input.h"
#include "../input/line_set.h"
#include "build.h"

#include <tamis/inspect.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The rate of the filter before the patterns. A lookup for one false positive in a hundred costs
 * next to nothing. */
#define FRONT_FPR 0.01

struct check {
    const struct args *args;
    char **files; /* to be checked */
    int n_files;
    const struct lines *in; /* they, while they are read */
    tamis *t;
    struct foreign foreign; /* a filter of another program instead of t; path NULL: none */
    struct encoded encoded; /* its keys */
    bool has_patterns, is_exact;
    struct line_set patterns;
    struct store *store;
    struct waiting *waiting;
    struct evidence evidence; /* of a private filter */
    uint8_t *bits, *spare;    /* for a block: lines that may be members, then lines that are */
    size_t room;
    tamis_facts facts; /* the facts of t, */
    bool has_facts;    /* if they were read */
    struct totals totals;
    struct label label;
    const char *named; /* the last file that -l has printed */
};

/* The number of selected lines, up to -m: a list that confirms may have found more than are
 * printed. */
static uint64_t selected(const struct check *c)
{
    const uint64_t n = c->args->select.invert ? c->totals.absent : c->totals.found;
    return c->args->select.most_lines != 0 && n > c->args->select.most_lines
               ? c->args->select.most_lines
               : n;
}

/* --- Before the first line -------------------------------------------------------------------- */

/* Reads all lines of the files of -f. False after a message. */
static bool read_patterns(struct check *c, const tamis *hasher)
{
    const struct args *a = c->args;
    const struct line_args whole = list_lines(&a->lines);
    struct texts files = a->check.patterns;
    struct lines *in = lines_open(&whole, files.text, files.n, hasher, threads_from(&a->work));
    struct progress bar;
    const struct block *b;
    bool good = in != NULL;
    c->patterns.hasher = hasher;
    progress_start(&bar, "reading the patterns", lines_total_bytes(files.text, files.n));
    while (good && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        good = line_set_add_many(&c->patterns, b->hashes, b->keys, b->n);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    if (!good) complain(NULL, "not enough memory for the patterns");
    if (in != NULL) good = good && !lines_failed(in);
    if (in != NULL) lines_close(in, a->quiet);
    return good;
}

/* Makes the filter that is queried before the patterns. */
static bool make_front(struct check *c)
{
    const tamis_options o = {.struct_size = sizeof o, .key = c->args->key.bytes};
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

/* -f: keeps the lines themselves, or with --fpr or --bytes only a filter of them. False after a
 * message. */
static bool open_patterns(struct check *c)
{
    const struct args *a = c->args;
    if (a->plan.fpr == 0 && a->plan.bytes == 0) {
        tamis *hasher = make_hasher(a);
        const bool good = hasher != NULL && read_patterns(c, hasher) && make_front(c);
        tamis_close(hasher);
        c->is_exact = true;
        return good;
    }
    struct args build = *a;
    build.lines = list_lines(&a->lines);
    build.words = build.check.patterns.text;
    build.n_words = build.check.patterns.n;
    build.output.path = shown(build.check.patterns.text[0]); /* for messages */
    build.work.memory = 0;
    c->t = build_filter(&build);
    return c->t != NULL;
}

static bool open_foreign(struct check *c)
{
    const struct args *a = c->args;
    const char *wrong = NULL;
    if (a->key.bytes != NULL)
        wrong = "this filter belongs to another program, so --key-file cannot be used";
    if (a->check.prior != 0)
        wrong = "this filter belongs to another program, but --prior requires a private filter";
    if (a->check.confirm != NULL)
        wrong = "this filter belongs to another program, so --confirm cannot be used";
    if (wrong != NULL) complain(a->words[0], "%s", wrong);
    return wrong == NULL && foreign_select(a, &c->foreign);
}

static bool has_no_foreign_options(const struct args *a)
{
    if (a->foreign.type == NULL && a->foreign.column == NULL && a->foreign.row_group == NULL)
        return true;
    complain(a->words[0], "--type, --column and --row-group require a filter of another program");
    return false;
}

static bool open_set(struct check *c)
{
    const struct args *a = c->args;
    if (c->has_patterns) return open_patterns(c);
    c->t = open_any_filter(a, a->words[0], 0, &c->foreign);
    if (c->t == NULL) return c->foreign.path != NULL && open_foreign(c);
    if (!check_hashable(c->t, a->words[0]) || !has_no_foreign_options(a) ||
        !check_not_distinct(c->t, a->words[0],
                            "which does not know its lines; 'tamis distinct' prints how many it "
                            "has, and 'tamis build' makes a filter that can be checked"))
        return false;
    /* tamis_info reads all cells; --json needs it anyway, and reports the same facts. */
    c->has_facts = (a->json || may_need_warning(c->t)) && read_facts(c->t, &c->facts);
    if (c->has_facts) warn_if_overfull(&c->facts, shown(a->words[0]));
    if (!evidence_open(&c->evidence, a, c->t)) return false;
    if (a->check.confirm == NULL) return true;
    c->is_exact = true;
    if (is_store(a->check.confirm))
        c->store = store_open(a->check.confirm, c->t, a->quiet);
    else
        c->waiting = waiting_open(a, c->t);
    return c->store != NULL || c->waiting != NULL;
}

/* Standard input can be read only once. Returns what it would be besides the input; NULL: it is not
 * read twice. */
static const char *twice_from_stdin(const struct check *c)
{
    const struct args *a = c->args;
    int wanted = c->n_files == 0;
    for (int i = 0; i < c->n_files; i++) wanted += is_stdin(c->files[i]);
    if (wanted == 0) return NULL;
    if (!c->has_patterns && is_stdin(a->words[0])) return "the filter";
    if (a->check.confirm != NULL && is_stdin(a->check.confirm)) return "the list";
    for (int i = 0; i < a->check.patterns.n; i++)
        if (is_stdin(a->check.patterns.text[i])) return "the patterns";
    return NULL;
}

/* What is wrong with the options about what is printed; NULL: nothing. */
static const char *wrong_output(const struct args *a)
{
    const bool labels = a->select.numbers || a->select.names;
    if (a->json && (labels || a->select.only_names || a->select.most_lines != 0))
        return "--json prints totals and cannot be combined with -n, -H, -l or -m";
    if (labels && a->select.count)
        return "-c prints one number and cannot be combined with -n or -H";
    if (a->select.only_names && (labels || a->select.count || a->select.most_lines != 0))
        return "-l prints file names and cannot be combined with -c, -n, -H or -m";
    if (a->select.only_names && a->check.confirm != NULL && !is_store(a->check.confirm))
        return "-l cannot be combined with --confirm LIST";
    return NULL;
}

/* What is wrong with the options about the set and its files; NULL: nothing. */
static const char *wrong_set(const struct check *c)
{
    const struct args *a = c->args;
    const char *wrong = NULL;
    if (c->has_patterns && a->check.confirm != NULL)
        wrong = "--confirm requires a filter; with -f the answer is exact already";
    else if (!c->has_patterns && (a->plan.fpr != 0 || a->plan.bytes != 0))
        wrong = "--fpr and --bytes require -f; a filter already has its size and its rate";
    else if (a->work.memory != 0 && a->check.confirm == NULL)
        wrong = "--memory requires --confirm";
    else if (c->has_patterns &&
             (a->foreign.from || a->foreign.type || a->foreign.column || a->foreign.row_group))
        wrong = "--from, --type, --column and --row-group require a filter of another program";
    else if (a->check.prior != 0 && c->has_patterns)
        wrong = "--prior requires a private filter and cannot be combined with -f";
    else if (a->lines.list_field.text != NULL && !c->has_patterns && a->check.confirm == NULL)
        wrong = "--list-field requires a list, given with -f or --confirm";
    else if (a->lines.list_field.text != NULL && a->check.confirm != NULL &&
             is_store(a->check.confirm))
        wrong = "--list-field requires a list of lines; the keys of an LMDB have no fields";
    return wrong;
}

/* False after a message when the options do not fit together. */
static bool check_options(const struct check *c)
{
    const struct args *a = c->args;
    const char *wrong = wrong_output(a);
    if (!c->has_patterns && a->n_words == 0) {
        complain_usage(a->command);
        return false;
    }
    if (wrong == NULL) wrong = wrong_set(c);
    if (wrong != NULL) {
        complain(NULL, "check: %s", wrong);
        return false;
    }
    if (!check_fields(&a->lines)) return false;
    const char *twice = twice_from_stdin(c);
    if (twice != NULL)
        complain(NULL, "check: standard input cannot be both %s and the lines to check", twice);
    return twice == NULL;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static bool is_selected(const struct check *c, size_t i)
{
    return (c->bits[i / 8] >> i % 8 & 1) != c->args->select.invert;
}

/* -n, -H */
static void print_labelled(struct check *c, const struct block *b, size_t n)
{
    label_begin(&c->label, c->args, b);
    for (size_t i = 0; i < n; i++) {
        if (!is_selected(c, i)) continue;
        const tamis_bytes label = label_of(&c->label, i);
        WRITE_UNLOCKED(label.p, 1, label.len, stdout);
        WRITE_UNLOCKED(b->lines[i].p, 1, b->lines[i].len + 1, stdout);
    }
}

/* -l: prints a file once. The blocks of one file are consecutive. */
static void print_file_name(struct check *c, const struct block *b)
{
    size_t i = 0;
    while (i < b->n && !is_selected(c, i)) i++;
    if (i == b->n || c->named == b->path) return;
    c->named = b->path;
    puts(label_name(b));
}

/* Consecutive selected lines are one piece of memory, with their line ends. */
static void print_selected(const struct check *c, const struct block *b, size_t n)
{
    const char *from = NULL, *to = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_selected(c, i)) continue;
        const char *p = b->lines[i].p;
        if (p != to) {
            if (to != from) WRITE_UNLOCKED(from, 1, (size_t)(to - from), stdout);
            from = p;
        }
        to = p + b->lines[i].len + 1;
    }
    if (to != from) WRITE_UNLOCKED(from, 1, (size_t)(to - from), stdout);
}

/* Makes room for the bits of that many lines; false after a message. */
static bool make_bits_room(struct check *c, size_t lines)
{
    if (lines > c->room || c->bits == NULL) {
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

/* Finds the lines that may be members, and their number; false after a message. */
static bool ask_set(struct check *c, const struct block *b, size_t *maybe)
{
    if (c->t != NULL) {
        *maybe = tamis_may_contain_hashes(c->t, b->hashes, b->n, c->bits);
        return true;
    }
    if (!encode_lines(c->foreign.encoding, c->in, b, &c->encoded)) return false;
    *maybe = foreign_ask(&c->foreign, c->encoded.keys, b->n, c->bits, c->spare);
    return true;
}

/* -m: the number of lines of the block up to the last one that is wanted. *found becomes the number
 * of found lines among them. */
static size_t limit(const struct check *c, const struct block *b, size_t *found)
{
    const uint64_t most = c->args->select.most_lines,
                   chosen = c->args->select.invert ? b->n - *found : *found;
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
static bool check_block(struct check *c, const struct block *b)
{
    const struct args *a = c->args;
    struct totals *t = &c->totals;
    size_t found;
    /* Counted before anything can fail. After a failure found and absent do not add up to all
     * lines, which run_check sees. */
    t->lines += b->n;
    if (!make_bits_room(c, b->n) || !ask_set(c, b, &found)) return false;
    t->maybe += found;
    if (c->evidence.prior != 0) {
        progress_pause(STDOUT_FILENO);
        evidence_add(&c->evidence, a, b, c->bits, &c->label);
        progress_resume(STDOUT_FILENO);
        t->found += b->n; /* all lines are printed */
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
    if (a->select.count || a->quiet || a->json) return true;
    progress_pause(STDOUT_FILENO);
    if (a->select.only_names)
        print_file_name(c, b);
    else if (a->select.numbers || a->select.names)
        print_labelled(c, b, n);
    else
        print_selected(c, b, n);
    progress_resume(STDOUT_FILENO);
    return true;
}

/* Whether lines are printed just as they are. */
static bool prints_lines(const struct check *c)
{
    const struct args *a = c->args;
    return !a->select.count && !a->quiet && !a->json && !a->select.only_names &&
           !a->select.numbers && !a->select.names && c->evidence.prior == 0;
}

/* False when something could not be read, which was reported. */
static bool check_lines(struct check *c)
{
    const struct args *a = c->args;
    struct lines *in = lines_open(&a->lines, c->files, c->n_files, c->t, threads_from(&a->work));
    struct progress bar = {0};
    const struct block *b;
    const bool prints = !(a->select.count || a->json);
    const uint64_t most = a->select.most_lines != 0 ? a->select.most_lines : UINT64_MAX;
    bool good = true, enough = false;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    c->in = in;
    if (prints_lines(c)) lines_print_header(in);
    if (!prints || !progress_would_mix(a->lines.nul))
        progress_start(&bar, "checking", lines_total_bytes(c->files, c->n_files));
    while (good && !enough && (b = lines_next(in)) != NULL) {
        good = check_block(c, b);
        enough = (a->quiet && selected(c) > 0) || output_failed() || selected(c) == most;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    /* With -m enough lines may have been found that still wait to be printed. */
    if (good && (!enough || a->select.most_lines != 0) && c->waiting != NULL)
        good = waiting_finish(c->waiting, &c->totals);
    good = good && !lines_failed(in);
    lines_close(in, a->quiet);
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

static void report_totals(struct check *c)
{
    const struct args *a = c->args;
    if (a->select.count && !a->json) printf("%llu\n", (unsigned long long)selected(c));
    if (!a->json) return;
    if (c->t != NULL && !c->has_facts && !read_facts(c->t, &c->facts)) return;
    const tamis_facts *f = &c->facts;
    const double rate = c->t != NULL ? f->fpr_now : foreign_rate(&c->foreign);
    json_open('{');
    if (!c->has_patterns) json_text("filter", a->words[0]);
    if (c->has_patterns && c->is_exact) json_count("patterns", c->patterns.n);
    json_count("lines", c->totals.lines);
    if (c->evidence.prior != 0)
        evidence_report(&c->evidence);
    else
        report_verdicts(c);
    json_number("fpr_now", c->has_patterns && c->is_exact ? 0 : rate);
    if (c->t != NULL && !c->has_patterns && f->kind != TAMIS_PRIVATE) /* as in the warning */
        json_bool("overfull", rate_is_exceeded(f, rate_asked(f, 0, USUAL_FPR)));
    if (f->may_miss) json_number("miss_rate", f->miss_rate);
    if (f->kind == TAMIS_PRIVATE) json_number("epsilon", f->epsilon);
    if (c->has_patterns)
        json_count("bytes",
                   tamis_image_size(c->t) + (c->is_exact ? line_set_bytes(&c->patterns) : 0));
    json_close('}');
    putchar('\n');
}

int run_check(const struct args *a)
{
    struct check c = {
        .args = a, .has_patterns = a->check.patterns.n > 0, .facts.struct_size = sizeof c.facts};
    const int first = c.has_patterns ? 0 : 1; /* the filter is the first word */
    c.files = a->words + first;
    c.n_files = a->n_words - first;
    if (!check_options(&c)) return EXIT_ERROR;
    bool good = open_set(&c);
    if (good) {
        good = check_lines(&c);
        /* After a failure, totals of only some lines are not printed. */
        if (!a->quiet && c.totals.found + c.totals.absent == c.totals.lines) report_totals(&c);
    }
    tamis_close(c.t);
    if (c.foreign.path != NULL) foreign_close(&c.foreign);
    encoded_free(&c.encoded);
    line_set_free(&c.patterns);
    store_close(c.store);
    waiting_close(c.waiting);
    free(c.bits);
    free(c.spare);
    /* As in grep, a file that cannot be read is an error, unless -q has its answer already. */
    if (!good && !(a->quiet && selected(&c) > 0)) return finish_output(EXIT_ERROR);
    return finish_output(selected(&c) > 0 ? EXIT_FOUND : EXIT_NONE);
}
