/* distinct: counts distinct lines, as sort -u | wc -l does, without keeping them; and with --by the
 * distinct lines of each group. Sketches that were saved are counted again, or their union. */
#include "distinct.h"
#include "../filters/filter.h"
#include "../filters/groups.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/input.h"

#include <tamis/inspect.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIDENCE 0.99
#define USUAL_MEMORY ((uint64_t)256 << 20)
/* More do not make the reading faster, and their blocks take memory. */
enum { USUAL_THREADS = 2 };

struct distinct_job {
    const struct args *a;
    tamis *t;              /* the sketch, or what hashes for the groups */
    bool kept;             /* the sketch is that of files */
    bool by;               /* --by */
    const char *looked_at; /* the stream that was looked at before, or NULL */
    struct groups groups;
    uint64_t lines, skipped;
};

/* --- Output ----------------------------------------------------------------------------------- */

void json_cardinality(const tamis_cardinality *c, bool is_filter)
{
    json_number("distinct", round(c->value));
    json_number("lower", floor(c->low));
    json_number("upper", ceil(c->high));
    json_number("confidence", c->exact ? 1 : CONFIDENCE);
    json_number("error", is_filter && !c->exact ? NAN : c->error);
    json_bool("exact", c->exact);
}

void print_number(const struct args *a, const tamis_cardinality *c)
{
    printf("%.0f", round(c->value));
    if (a->interval) printf("\t%.0f..%.0f", floor(c->low), ceil(c->high));
}

/* Returns the exit status. */
static int print_total(const struct distinct_job *j)
{
    const struct args *a = j->a;
    tamis_facts f = {.struct_size = sizeof f};
    tamis_cardinality c = {.struct_size = sizeof c};
    tamis_error why;
    if (tamis_stat(j->t, &f) != TAMIS_OK || tamis_distinct(j->t, &c, &why) != TAMIS_OK)
        return complain(shown(a->n_words > 0 ? a->words[0] : "-"), "%s", reason_of(&why));
    if (!j->kept) limit_to_lines(&c, j->lines);
    if (!isfinite(c.value) || !isfinite(c.high))
        return complain(shown(a->n_words > 0 ? a->words[0] : "-"),
                        "is too full: it had more than %s distinct lines",
                        grouped_real(floor(c.low)));
    if (a->quiet) return EXIT_FOUND;
    if (!a->json) {
        print_number(a, &c);
        putchar('\n');
        return EXIT_FOUND;
    }
    json_open('{');
    json_cardinality(&c, !is_distinct(&f));
    json_number("lines", j->kept ? NAN : (double)j->lines);
    json_number("skipped", j->kept ? NAN : (double)j->skipped);
    json_count("bytes", f.bytes);
    json_close('}');
    putchar('\n');
    return EXIT_FOUND;
}

static void print_group_keys(const struct distinct_job *j, const struct grouped_keys *of)
{
    const struct args *a = j->a;
    tamis_cardinality c;
    groups_count(&j->groups, of, &c);
    if (!a->json) {
        print_number(a, &c);
        putchar('\t');
        print_item(of->group);
        putchar(a->lines.nul ? '\0' : '\n');
        return;
    }
    json_open('{');
    json_key("group", of->group);
    json_cardinality(&c, false);
    json_count("lines", of->lines);
    json_close('}');
    putchar('\n');
}

static int print_groups(struct distinct_job *j)
{
    const struct args *a = j->a;
    const size_t all = j->groups.names.n;
    struct grouped_keys *list = groups_list(&j->groups);
    if (list == NULL) return complain(NULL, "not enough memory");
    for (size_t i = 0; i < all && (a->top.most == 0 || i < a->top.most) && !a->quiet; i++)
        print_group_keys(j, &list[i]);
    free(list);
    if (!a->json || a->quiet) return EXIT_FOUND;
    json_open('{');
    json_count("groups", all);
    json_count("lines", j->lines);
    json_count("skipped", j->skipped);
    json_count("bytes", groups_bytes(&j->groups));
    json_close('}');
    putchar('\n');
    return EXIT_FOUND;
}

/* --- Sketches that cannot be read ------------------------------------------------------------- */

/* The stream that find_kept looked at. */
static bool was_looked_at(const struct distinct_job *j, const char *path)
{
    return j->looked_at != NULL && strcmp(path, j->looked_at) == 0;
}

/* `path` has the bytes of a sketch, but was not recognized before: it is compressed, or it comes
 * from another pipe than the first. Always false. */
static bool refuse_sketch(const struct distinct_job *j, const char *path)
{
    if (is_stream(path) && !was_looked_at(j, path))
        complain(shown(path),
                 "a sketch from a pipe must be the only pipe; save it to a file first");
    else
        complain(shown(path), "is a compressed sketch; decompress it first");
    return false;
}

/* The text ends with a line end, so that no byte behind it is compared. */
static bool is_sketch_text(const char *text)
{
    size_t image = 0, packed = 0;
    while (image < IMAGE_MAGIC_BYTES && text[image] == TAMIS_IMAGE_MAGIC[image]) image++;
    while (packed < IMAGE_MAGIC_BYTES && text[packed] == PACKED_MAGIC[packed]) packed++;
    return image == IMAGE_MAGIC_BYTES || packed == IMAGE_MAGIC_BYTES;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* Makes the sketch or, with --by, what hashes lines and groups. False after a message. */
static bool make_distinct(struct distinct_job *j)
{
    const struct args *a = j->a;
    const tamis_options o = {.struct_size = sizeof o, .key = a->key.bytes};
    struct plan_args asked = a->plan;
    tamis_plan plan;
    tamis_error why;
    asked.kind = tamis_kind_name(a->plan.generations != 0 ? TAMIS_WINDOW : TAMIS_DISTINCT);
    asked.inner = a->plan.generations != 0 ? tamis_kind_name(TAMIS_DISTINCT) : NULL;
    if (!plan_from(&asked, &plan)) return false;
    if (j->by && plan.error == 0 && plan.bytes == 0) plan.m = USUAL_GROUP_REGISTERS;
    plan_for_lines(&asked, 0, 0, &plan);
    if (tamis_create(&plan, &o, &j->t, &why) != TAMIS_OK) {
        complain(NULL, "distinct: %s", why.text);
        return false;
    }
    if (!j->by) return true;
    plan.seed = 0; /* of the groups, which get hashes */
    j->groups = (struct groups){.hasher = j->t, .plan = plan};
    j->groups.budget = a->work.memory != 0 ? a->work.memory : USUAL_MEMORY;
    groups_start(&j->groups);
    return true;
}

/* False after a message. */
static bool count_block(struct distinct_job *j, const struct block *b)
{
    if (b->before == 0 && !j->a->lines.raw && is_sketch_text(b->text))
        return refuse_sketch(j, strcmp(b->path, shown("-")) == 0 ? "-" : b->path);
    j->lines += b->n;
    if (!j->by) {
        const tamis_status s = tamis_add_hashes(j->t, b->hashes, b->n, NULL, NULL);
        if (s != TAMIS_OK) complain(NULL, "distinct: %s", why_not_added(j->t, s));
        return s == TAMIS_OK;
    }
    if (groups_add(&j->groups, b)) return true;
    if (!j->groups.over)
        complain(NULL, "not enough memory");
    else
        complain(
            NULL,
            "distinct: --by: more than %s bytes of memory are needed; there were %s groups after "
            "%s lines; give more --memory, or sketches with a greater --error",
            grouped(j->groups.budget), grouped(j->groups.names.n), grouped(j->lines));
    return false;
}

static unsigned threads_for(const struct args *a)
{
    const unsigned threads = threads_from(&a->work);
    return a->work.threads == 0 && threads > USUAL_THREADS ? USUAL_THREADS : threads;
}

/* False after a message. */
static bool count_all_lines(struct distinct_job *j)
{
    const struct args *a = j->a;
    struct lines *in = lines_open(&a->lines, a->words, a->n_words, j->t, threads_for(a));
    struct progress bar;
    const struct block *b;
    bool good = true;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    lines_save_memory(in);
    lines_pass_filters(in); /* count_block names what to do */
    progress_start(&bar, "counting", lines_total_bytes(a->words, a->n_words));
    while (good && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        good = count_block(j, b);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    j->skipped = lines_skipped(in);
    lines_close(in, a->quiet || !good);
    return good;
}

/* --- Sketches --------------------------------------------------------------------------------- */

/* Whether the file is a sketch, also a packed one, which open_filter refuses. */
static bool is_kept(const struct distinct_job *j, const char *path)
{
    if (j->a->lines.raw) return false;
    if (!is_stream(path)) return is_image_file(path) || is_packed_file(path);
    return was_looked_at(j, path) && (input_begins(path, TAMIS_IMAGE_MAGIC, IMAGE_MAGIC_BYTES) ||
                                      input_begins(path, PACKED_MAGIC, IMAGE_MAGIC_BYTES));
}

/* False after a message when a file is a filter, or a sketch of another kind. */
static bool holds_distinct(const struct distinct_job *j, const char *path)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis *t = open_filter(j->a, path, TAMIS_KEYLESS);
    const bool known = t != NULL && tamis_stat(t, &f) == TAMIS_OK;
    tamis_close(t);
    if (known && !is_distinct(&f))
        complain(shown(path), "is a %s, which distinct cannot count together with lines",
                 is_sketch(&f) ? "sketch of how often lines occurred" : "filter");
    return known && is_distinct(&f);
}

static bool refuse_mixture(const struct distinct_job *j, const char *lines, const char *kept)
{
    if (strcmp(lines, "-") != 0 && access(lines, R_OK) != 0)
        complain(lines, "cannot open: %s", strerror(errno));
    else if (holds_image(lines)) /* which is_kept did not recognize */
        refuse_sketch(j, lines);
    else if (was_looked_at(j, kept) || holds_distinct(j, kept))
        complain(
            shown(lines),
            "is not a sketch, but %s is; count lines and sketches separately, or add the lines to "
            "the sketch with 'tamis add'",
            shown(kept));
    return false;
}

/* Sets j->kept if the words are sketches. False after a message when they are sketches and lines.
 * Only the first stream is looked at, because one can be put back. */
static bool find_kept(struct distinct_job *j)
{
    static char only[] = "-", *stdin_only[] = {only};
    char **words = j->a->n_words > 0 ? j->a->words : stdin_only;
    const int n = j->a->n_words > 0 ? j->a->n_words : 1;
    const char *lines = NULL, *kept = NULL;
    for (int i = 0; i < n; i++) {
        if (j->looked_at == NULL && is_stream(words[i])) j->looked_at = words[i];
        if (is_kept(j, words[i]))
            kept = words[i];
        else
            lines = words[i];
    }
    j->kept = kept != NULL;
    return kept == NULL || lines == NULL || refuse_mixture(j, lines, kept);
}

static bool refuses_options(const struct args *a)
{
    if (a->output.path == NULL && !a->plan.seeded && a->plan.encoding == NULL &&
        a->plan.error == 0 && a->plan.bytes == 0 && a->plan.generations == 0 &&
        a->lines.field.text == NULL && a->lines.group_field.text == NULL)
        return false;
    complain(shown(a->n_words > 0 ? a->words[0] : "-"),
             "is a sketch, which accepts only --interval and --json; combine sketches with 'tamis "
             "merge', and add lines with 'tamis add'");
    return true;
}

/* The union of all of them. False after a message. */
static bool open_union(struct distinct_job *j)
{
    static char *stdin_only[] = {"-"};
    const struct args *a = j->a;
    char **words = a->n_words > 0 ? a->words : stdin_only;
    const int n = a->n_words > 0 ? a->n_words : 1;
    tamis_error why;
    if (refuses_options(a)) return false;
    j->t = open_filter(a, words[0], TAMIS_KEYLESS);
    bool good = j->t != NULL;
    for (int i = 1; i < n && good; i++) {
        tamis *next = open_filter(a, words[i], TAMIS_KEYLESS);
        good = next != NULL;
        if (good && tamis_merge(j->t, next, &why) != TAMIS_OK) {
            complain(shown(words[i]), "cannot be counted together with %s: %s", shown(words[0]),
                     why.text);
            good = false;
        }
        tamis_close(next);
    }
    return good;
}

/* --- The command ------------------------------------------------------------------------------ */

/* False after a message when the options do not fit together. */
static bool check_distinct_options(const struct args *a)
{
    const bool by = a->lines.group_field.text != NULL;
    const char *wrong = NULL;
    if (a->lines.delimiter != 0 && a->lines.field.text == NULL && !by)
        wrong = "--delimiter requires --field or --by";
    else if (by && (a->output.path != NULL || a->plan.generations != 0))
        wrong = "--by makes no file; -o and --generations cannot be combined with it";
    else if (by && a->plan.encoding != NULL)
        wrong = "--by and --encoding cannot be combined";
    else if (!by && (a->top.most != 0 || a->work.memory != 0))
        wrong = a->top.most != 0 ? "-n requires --by" : "--memory requires --by";
    else if (a->plan.generations != 0 && a->output.path == NULL)
        wrong = "--generations requires -o, because it makes a window in a file";
    else if (a->output.path != NULL && strcmp(a->output.path, "-") == 0 && !a->quiet)
        wrong = "the number and the sketch cannot both go to standard output; -q omits the number";
    if (wrong != NULL) complain(NULL, "distinct: %s", wrong);
    return wrong == NULL && check_fields(&a->lines) && (a->output.path == NULL || check_output(a));
}

static int save_sketch(const struct args *a, tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    const int status = save_filter(t, a->output.path, a->output.force);
    if (status == EXIT_FOUND && tamis_stat(t, &f) == TAMIS_OK)
        warn_of_hashes(&f, shown_output(a->output.path));
    return status;
}

int run_distinct(const struct args *a)
{
    struct distinct_job j = {.a = a, .by = a->lines.group_field.text != NULL};
    bool good = check_distinct_options(a) && find_kept(&j);
    good = good && (j.kept ? open_union(&j) : make_distinct(&j) && count_all_lines(&j));
    int status = good ? EXIT_FOUND : EXIT_ERROR;
    if (good) status = j.by ? print_groups(&j) : print_total(&j);
    status = finish_output(status);
    /* Last, so that nothing is written when anything else failed. */
    if (status != EXIT_ERROR && a->output.path != NULL) status = save_sketch(a, j.t);
    groups_free(&j.groups);
    tamis_close(j.t);
    return status;
}
