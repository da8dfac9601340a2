/* top: the most frequent lines, in place of sort | uniq -c | sort -rn | head. */
#include "../frame/cli.h"
#include "../frame/terminal.h"
#include "../input/fields.h"
#include "../input/input.h"
#include "../input/lines.h"
#include "live.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MOST 10u
/* Narrower terminals show no bars. */
enum { BAR = 16, WIDE_ENOUGH = 72 };

struct job {
    const struct args *a;
    tamis *t;
    bool kept; /* the sketch was there already */
    struct live live;
    uint64_t lines;
};

/* --- The list --------------------------------------------------------------------------------- */

static int64_t weight_of_all(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_info(t, &f) == TAMIS_OK ? f.weight : 0;
}

static uint64_t most_from(const struct args *a)
{
    return a->most != 0 ? a->most : a->min != 0 ? UINT64_MAX : DEFAULT_MOST;
}

/* "too light to be sure of", and what would help. */
static int complain_of_floor(const struct job *j, int64_t wanted)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(j->t, &f) != TAMIS_OK) return complain(NULL, "not enough memory");
    /* What is left out is about as heavy as the list is short. */
    const double times = (double)f.list_floor / (double)(wanted > 0 ? wanted : 1);
    const double more = ceil((double)f.bytes * times / 1048576);
    return complain(NULL,
                    "top: --min: the list may lack lines that occurred %s of %s times: with %s "
                    "bytes it is complete from %s (%.2g %%) up; %sabout %.0fMiB would suffice",
                    grouped((uint64_t)wanted), grouped((uint64_t)f.weight), grouped(f.bytes),
                    grouped((uint64_t)f.list_floor), 100 * (double)f.list_floor / (double)f.weight,
                    j->kept ? "a new sketch with " : "--bytes of ", more);
}

/* The list to be printed, in *out to be freed. False after a message. */
static bool take_list(const struct job *j, tamis_heavy **out, size_t *n)
{
    const struct args *a = j->a;
    const size_t all = tamis_top(j->t, NULL, 0);
    const int64_t weight = (int64_t)ceil(a->min * (double)weight_of_all(j->t));
    size_t found = all;
    tamis_error why;
    *out = malloc((all + 1) * sizeof **out);
    if (*out == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    if (a->min == 0) {
        tamis_top(j->t, *out, all);
    } else if (tamis_above(j->t, weight, *out, all, &found, &why) != TAMIS_OK) {
        complain_of_floor(j, weight);
        return false;
    }
    *n = found < most_from(a) ? found : (size_t)most_from(a);
    return true;
}

static void print_entry(const struct job *j, const tamis_heavy *h, int64_t greatest,
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

/* Exit status. */
static int print_list(const struct job *j)
{
    unsigned columns, rows;
    tamis_heavy *list;
    size_t n;
    if (!take_list(j, &list, &n)) {
        free(list);
        return EXIT_ERROR;
    }
    terminal_size(&columns, &rows);
    for (size_t i = 0; i < n && !j->a->quiet; i++) {
        print_entry(j, &list[i], list[0].count.estimate, columns);
        putchar(j->a->nul && !j->a->json ? '\0' : '\n');
    }
    free(list);
    return n > 0 ? EXIT_FOUND : EXIT_NONE;
}

/* As much of the list as there are rows, without --min, which may not be sure yet. */
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
    if (n > most_from(j->a)) n = (size_t)most_from(j->a);
    if (n + 2 > rows) n = rows > 2 ? rows - 2 : 0;
    live_begin(&j->live);
    printf("%s lines", grouped(j->lines));
    live_line(&j->live);
    for (size_t i = 0; i < n; i++) {
        print_entry(j, &list[i], list[0].count.estimate, columns);
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

static bool read_lines(struct job *j)
{
    const struct args *a = j->a;
    const struct watch watch = {j, on_lines, stop_lines};
    const char *reason;
    if (a->live) live_start(&j->live);
    const int status = add_lines_watched(a, j->t, a->words, a->n_words, "counting",
                                         a->live ? &watch : NULL, &reason);
    if (a->live) live_clear(&j->live);
    if (status != EXIT_FOUND && reason != NULL) complain(NULL, "top: %s", reason);
    return status == EXIT_FOUND;
}

/* --- The sketch ------------------------------------------------------------------------------- */

/* Whether a file is an image, by how it begins. */
static bool is_image(const char *path)
{
    uint8_t begin[IMAGE_MAGIC_BYTES];
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool same =
        read(fd, begin, sizeof begin) == sizeof begin && is_image_begin(begin, sizeof begin);
    close(fd);
    return same;
}

static bool open_kept(struct job *j, const char *path)
{
    const struct args *a = j->a;
    tamis_facts f = {.struct_size = sizeof f};
    if (a->n_words > 1 || a->output != NULL || a->live || a->bytes != 0 || a->field != 0 ||
        a->weight_field != 0) {
        complain(path, "is a sketch, which accepts only -n, --min and --json; combine sketches "
                       "with 'tamis merge', and add lines with 'tamis add'");
        return false;
    }
    j->t = open_filter(a, path, TAMIS_KEYLESS);
    if (j->t == NULL || tamis_info(j->t, &f) != TAMIS_OK) return false;
    j->kept = true;
    if (f.entries != 0) return true;
    complain(path,
             "a %s%s keeps no items that could be listed; make a sketch that does with 'tamis top "
             "-o' or 'tamis count --kind top'",
             f.generations != 0 ? "window of " : "",
             tamis_kind_name(f.generations != 0 ? f.inner_kind : f.kind));
    return false;
}

/* An item and its text take about 180 bytes, and the sketch behind the list should not be the
 * smaller part. */
#define BYTES_PER_ITEM 512u

/* With room for as many items as may have to be listed, unless the memory was given: then --min is
 * refused afterwards if it did not suffice. */
static bool make_new(struct job *j)
{
    const struct args *a = j->a;
    const tamis_options o = {.struct_size = sizeof o, .key = a->key};
    const double heavy = a->min > 0 ? ceil(1 / a->min) : 0;
    tamis_plan plan;
    tamis_error why;
    if (check_fields(a) != EXIT_FOUND || !sketch_from(a, &plan)) return false;
    plan.kind = TAMIS_TOP;
    plan.items = a->most > 100 ? a->most : 0;
    if (a->bytes == 0 && heavy > 100 && heavy > (double)plan.items)
        plan.items = (uint64_t)fmin(heavy, 1e15);
    if (a->bytes == 0 && plan.items > plan.bytes / BYTES_PER_ITEM)
        plan.bytes = plan.items * BYTES_PER_ITEM;
    if (tamis_create(&plan, &o, &j->t, &why) == TAMIS_OK) return true;
    complain(NULL, "top: %s", why.text);
    return false;
}

/* The first file that is an image, or NULL. Among files of lines its bytes would be counted as
 * lines; open_kept says that it wants to be alone. */
static const char *image_among(const struct args *a)
{
    const char *only = a->n_words == 0 ? "-" : a->words[0];
    for (int i = 0; i < a->n_words && !a->raw; i++)
        if (is_image(a->words[i])) return a->words[i];
    /* A list that is painted does not wait for its first line. */
    const bool look = a->n_words <= 1 && !a->raw && !a->live && is_stream(only);
    return look && input_begins(only, TAMIS_IMAGE_MAGIC, IMAGE_MAGIC_BYTES) ? only : NULL;
}

int run_top(const struct args *a)
{
    struct job j = {.a = a};
    bool good = a->output == NULL || check_output(a) == EXIT_FOUND;
    if (good && a->live && (!isatty(STDOUT_FILENO) || a->json || a->quiet)) {
        complain(NULL, "top: --live requires a terminal and cannot be combined with --json or -q");
        good = false;
    }
    if (good && a->output != NULL && strcmp(a->output, "-") == 0 && !a->quiet) {
        complain(NULL, "top: the list and the sketch cannot both go to standard "
                       "output; -q omits the list");
        good = false;
    }
    const char *kept = good ? image_among(a) : NULL;
    good = good && (kept != NULL ? open_kept(&j, kept) : make_new(&j) && read_lines(&j));
    int status = finish_output(good ? print_list(&j) : EXIT_ERROR);
    /* Last, so that nothing is written when anything else failed. */
    if (status != EXIT_ERROR && a->output != NULL &&
        save_filter(j.t, a->output, a->force) != EXIT_FOUND)
        status = EXIT_ERROR;
    tamis_close(j.t);
    return status;
}
