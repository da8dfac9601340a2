/* top: lists the most frequent lines, as sort | uniq -c | sort -rn | head does. */
#include "../filters/filter.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/terminal.h"
#include "../input/fields.h"
#include "../input/input.h"
#include "../input/lines.h"
#include "add.h"
#include "live.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_MOST 10u
/* Narrower terminals show no bars. */
enum { BAR = 16, WIDE_ENOUGH = 72 };

struct job {
    const struct args *a;
    tamis *t;
    bool kept; /* the sketch was opened from a file */
    struct live live;
    uint64_t lines;
};

/* --- The list --------------------------------------------------------------------------------- */

static uint64_t most_from(const struct top_args *a)
{
    if (a->most != 0) return a->most;
    return a->min != 0 ? UINT64_MAX : DEFAULT_MOST;
}

/* --min: the sketch is too small to list everything of this weight. */
static void complain_of_floor(const struct job *j, const tamis_facts *f, int64_t wanted)
{
    /* The weight that an item needs to be listed falls as the list grows. */
    const double times = (double)f->list_floor / (double)(wanted > 0 ? wanted : 1);
    const double more = ceil((double)f->bytes * times / 1048576);
    complain(NULL,
             "top: --min: the list may lack lines that occurred %s of %s times: with %s "
             "bytes it is complete from %s (%.2g %%) up; %sabout %.0fMiB would suffice",
             grouped((uint64_t)wanted), grouped((uint64_t)f->weight), grouped(f->bytes),
             grouped((uint64_t)f->list_floor), 100 * (double)f->list_floor / (double)f->weight,
             j->kept ? "a new sketch with " : "--bytes of ", more);
}

/* --min: every item of that share of the weight; false after a message. */
static bool take_above(const struct job *j, tamis_heavy *list, size_t room, size_t *found)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    if (tamis_info(j->t, &f) != TAMIS_OK) {
        complain(NULL, "not enough memory");
        return false;
    }
    const int64_t weight = (int64_t)ceil(j->a->top.min * (double)f.weight);
    if (tamis_above(j->t, weight, list, room, found, &why) == TAMIS_OK) return true;
    complain_of_floor(j, &f, weight);
    return false;
}

/* The list to be printed, in *out, which the caller frees. False after a message. */
static bool choose_list(const struct job *j, tamis_heavy **out, size_t *n)
{
    const struct args *a = j->a;
    const size_t all = tamis_top(j->t, NULL, 0);
    size_t found = all;
    *out = calloc(all + 1, sizeof **out);
    if (*out == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    if (a->top.min != 0 && !take_above(j, *out, all, &found)) return false;
    if (a->top.min == 0) tamis_top(j->t, *out, all);
    *n = found < most_from(&a->top) ? found : (size_t)most_from(&a->top);
    return true;
}

static void print_heavy_entry(const struct job *j, const tamis_heavy *h, int64_t greatest,
                              unsigned columns)
{
    if (j->a->json) {
        json_heavy(h);
        return;
    }
    print_count(&h->count);
    if (columns >= WIDE_ENOUGH) {
        char bar[3 * BAR + 1];
        draw_bar(bar, BAR, greatest > 0 ? (double)h->count.estimate / (double)greatest : 0);
        printf("%s  ", bar);
    }
    print_heavy_item(h);
}

/* Returns the exit status. */
static int print_list(const struct job *j)
{
    unsigned columns, rows;
    tamis_heavy *list;
    size_t n;
    if (!choose_list(j, &list, &n)) {
        free(list);
        return EXIT_ERROR;
    }
    terminal_size(&columns, &rows);
    for (size_t i = 0; i < n && !j->a->quiet; i++) {
        print_heavy_entry(j, &list[i], list[0].count.estimate, columns);
        putchar(j->a->lines.nul && !j->a->json ? '\0' : '\n');
    }
    free(list);
    return n > 0 ? EXIT_FOUND : EXIT_NONE;
}

/* Paints as much of the list as there are rows. --min is ignored, because the sketch may not be
 * sure about it yet. */
static void paint(struct job *j)
{
    unsigned columns, rows;
    const size_t all = tamis_top(j->t, NULL, 0);
    tamis_heavy *list = malloc((all + 1) * sizeof *list);
    if (list == NULL || !terminal_size(&columns, &rows)) {
        free(list);
        return;
    }
    size_t n = tamis_top(j->t, list, all);
    if (n > most_from(&j->a->top)) n = (size_t)most_from(&j->a->top);
    if (n + 2 > rows) n = rows > 2 ? rows - 2 : 0;
    live_begin(&j->live);
    printf("%s lines", grouped(j->lines));
    live_line(&j->live);
    for (size_t i = 0; i < n; i++) {
        print_heavy_entry(j, &list[i], list[0].count.estimate, columns);
        live_line(&j->live);
    }
    live_end(&j->live);
    free(list);
}

/* --- The lines -------------------------------------------------------------------------------- */

static void on_lines(void *ctx, uint64_t lines)
{
    struct job *j = ctx;
    j->lines += lines;
    if (live_is_due(&j->live)) paint(j);
}

static bool stop_lines(void *ctx)
{
    (void)ctx;
    return live_stopped();
}

static bool count_lines(struct job *j)
{
    const struct args *a = j->a;
    const struct watch watch = {j, on_lines, stop_lines};
    const char *reason;
    if (a->top.live) live_start(&j->live);
    const int status =
        add_lines(a, j->t, a->words, a->n_words, "counting", a->top.live ? &watch : NULL, &reason);
    if (a->top.live) live_clear(&j->live);
    if (status != EXIT_FOUND && reason != NULL) complain(NULL, "top: %s", reason);
    return status == EXIT_FOUND;
}

/* --- The sketch ------------------------------------------------------------------------------- */

static bool open_kept(struct job *j, const char *path)
{
    const struct args *a = j->a;
    tamis_facts f = {.struct_size = sizeof f};
    if (a->n_words > 1 || a->output.path != NULL || a->top.live || a->plan.bytes != 0 ||
        a->lines.field.text != NULL || a->lines.weight_field.text != NULL) {
        complain(path, "is a sketch, which accepts only -n, --min and --json; combine sketches "
                       "with 'tamis merge', and add lines with 'tamis add'");
        return false;
    }
    j->t = open_filter(a, path, TAMIS_KEYLESS);
    if (j->t == NULL || tamis_stat(j->t, &f) != TAMIS_OK) return false;
    j->kept = true;
    if (f.entries != 0) return true;
    if (!check_not_distinct(j->t, path,
                            "which keeps no list of lines; 'tamis distinct' prints how many it "
                            "has, and 'tamis top -o' makes a sketch with a list"))
        return false;
    complain(path,
             "its kind (%s%s) keeps no list of lines; make a sketch that does with 'tamis top -o' "
             "or 'tamis count --kind top'",
             f.generations != 0 ? "window of " : "",
             tamis_kind_name(f.generations != 0 ? f.inner_kind : f.kind));
    return false;
}

/* An item and its text take about 180 bytes, and the sketch behind the list should be the larger
 * part. */
#define BYTES_PER_ITEM 512u

/* A new sketch with room for as many items as may have to be listed. If --bytes is given it decides
 * instead, and --min is refused afterwards if the room did not suffice. */
static bool make_new(struct job *j)
{
    const struct args *a = j->a;
    const tamis_options o = {.struct_size = sizeof o, .key = a->key.bytes};
    const double heavy = a->top.min > 0 ? ceil(1 / a->top.min) : 0;
    tamis_plan plan;
    tamis_error why;
    if (!check_fields(&a->lines) || !sketch_from(&a->plan, &plan)) return false;
    plan.kind = TAMIS_TOP;
    plan.items = a->top.most > 100 ? a->top.most : 0;
    if (a->plan.bytes == 0 && heavy > 100 && heavy > (double)plan.items)
        plan.items = (uint64_t)fmin(heavy, 1e15);
    if (a->plan.bytes == 0 && plan.items > plan.bytes / BYTES_PER_ITEM)
        plan.bytes = plan.items * BYTES_PER_ITEM;
    if (tamis_create(&plan, &o, &j->t, &why) == TAMIS_OK) return true;
    complain(NULL, "top: %s", why.text);
    return false;
}

/* The first file that is an image, or NULL. Its bytes must not be counted as lines; open_kept
 * refuses other files beside it. */
static const char *image_among(const struct args *a)
{
    const char *only = a->n_words == 0 ? "-" : a->words[0];
    for (int i = 0; i < a->n_words && !a->lines.raw; i++)
        if (is_image_file(a->words[i])) return a->words[i];
    /* With --live the first line is not waited for. */
    const bool look = a->n_words <= 1 && !a->lines.raw && !a->top.live && is_stream(only);
    return look && input_begins(only, TAMIS_IMAGE_MAGIC, IMAGE_MAGIC_BYTES) ? only : NULL;
}

int run_top(const struct args *a)
{
    struct job j = {.a = a};
    bool good = a->output.path == NULL || check_output(a);
    if (good && a->top.live && (!isatty(STDOUT_FILENO) || a->json || a->quiet)) {
        complain(NULL, "top: --live requires a terminal and cannot be combined with --json or -q");
        good = false;
    }
    if (good && a->output.path != NULL && strcmp(a->output.path, "-") == 0 && !a->quiet) {
        complain(
            NULL,
            "top: the list and the sketch cannot both go to standard output; -q omits the list");
        good = false;
    }
    const char *kept = good ? image_among(a) : NULL;
    good = good && (kept != NULL ? open_kept(&j, kept) : make_new(&j) && count_lines(&j));
    int status = finish_output(good ? print_list(&j) : EXIT_ERROR);
    /* Last, so that nothing is written when anything else failed. */
    if (status != EXIT_ERROR && a->output.path != NULL &&
        save_filter(j.t, a->output.path, a->output.force) != EXIT_FOUND)
        status = EXIT_ERROR;
    tamis_close(j.t);
    return status;
}
