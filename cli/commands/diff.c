/* diff: how two sets differ. For two filters or distinct sketches, it estimates the sizes of both
 * differences and of the intersection. For two files of lines, it prints the lines themselves
 * (diff_lines.c). */
#include "diff.h"

#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/mistakes.h"
#include "../frame/options.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/input.h"
#include "../input/temporary.h"
#include "similarity.h"

#include <tamis/foreign.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_MEMORY ((uint64_t)64 << 10)

bool has_column(const struct args *a, int column)
{
    const bool without[COLUMNS] = {a->diff.no_first, a->diff.no_second, a->diff.no_common};
    return !without[column];
}

/* --- Filters ---------------------------------------------------------------------------------- */

static void print_estimates(const struct args *a, const struct similarity *s)
{
    static const char *const names[COLUMNS] = {"1st only", "2nd only", "common"};
    static const int sizes[COLUMNS] = {FIRST_ONLY, SECOND_ONLY, COMMON};
    if (a->json) {
        json_open('{');
        json_text("first", a->words[0]);
        json_text("second", a->words[1]);
    } else {
        printf("%s and %s\n", shown(a->words[0]), shown(a->words[1]));
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (a->json)
            json_figure(&s->sizes[sizes[i]]);
        else if (has_column(a, i))
            print_figure(names[i], &s->sizes[sizes[i]]);
    }
    if (!a->json) return;
    json_close('}');
    putchar('\n');
}

/* Loads a filter from the copy of a stream. NULL after a message. */
static tamis *load_copy(const struct args *a, const struct operand *o)
{
    const tamis_options keyless = {.struct_size = sizeof keyless, .flags = TAMIS_KEYLESS};
    struct stat st;
    tamis_error why = {.text = "not enough memory"};
    tamis *t = NULL;
    const size_t n = fstat(o->copy, &st) == 0 ? (size_t)st.st_size : 0;
    void *bytes = malloc(n + 1);
    const bool good = bytes == NULL || temp_read(&a->work, o->copy, 0, bytes, n);
    if (bytes != NULL && good) tamis_load(bytes, n, &keyless, &t, &why);
    if (good && t == NULL) complain(o->name, "%s", why.text);
    free(bytes);
    return t;
}

/* NULL after a message. */
static tamis *open_operand(const struct args *a, const struct operand *o)
{
    return o->copy < 0 ? open_filter(a, o->path, TAMIS_KEYLESS) : load_copy(a, o);
}

static bool has_line_options(const struct line_args *how)
{
    return how->nul || how->crlf || how->csv || how->tsv || how->jsonl || how->header ||
           how->strict || how->field.text != NULL || how->delimiter != 0;
}

/* False after a message when an option is only for lines. */
static bool check_filter_options(const struct args *a, const tamis *t, const char *name)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (!a->select.count && !has_line_options(&a->lines) && a->work.memory == 0 &&
        a->work.temp == NULL && a->work.threads == 0)
        return true;
    const bool sketch = tamis_stat(t, &f) == TAMIS_OK && is_sketch(&f);
    complain(name, "is a %s, which accepts only -1, -2, -3, --json and --quiet",
             sketch ? "sketch" : "filter");
    return false;
}

/* Whether it is a sketch of how often lines occurred; then a message has said so. */
static bool is_frequency(const tamis *t, const char *name)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_stat(t, &f) != TAMIS_OK || !is_sketch(&f) || is_distinct(&f)) return false;
    complain(name,
             "is a sketch of how often lines occurred, which cannot be compared; use sketches "
             "of distinct lines: tamis distinct -o");
    return true;
}

static int diff_filters(const struct args *a, const struct operand operands[2])
{
    const char *const names[2] = {operands[0].name, operands[1].name};
    struct similarity s;
    tamis *first = open_operand(a, &operands[0]);
    const bool fits = first != NULL && check_filter_options(a, first, names[0]);
    tamis *second = fits ? open_operand(a, &operands[1]) : NULL;
    const bool good = second != NULL && !is_frequency(first, names[0]) &&
                      !is_frequency(second, names[1]) &&
                      estimate_similarity(names, first, second, &s);
    tamis_close(first);
    tamis_close(second);
    if (!good) return EXIT_ERROR;
    if (s.shown == SHOWN_NOTHING)
        return complain(NULL,
                        "diff: %s and %s are so overfull that every bit is set, which shows "
                        "nothing about their lines; build them again with more --items",
                        names[0], names[1]);
    if (!a->quiet) print_estimates(a, &s);
    return s.shown == SHOWN_DIFFERENT ? EXIT_NONE : EXIT_FOUND;
}

/* --- A filter and lines ----------------------------------------------------------------------- */

/* A path as a word of the shell, if it can be one. */
static const char *as_word(const char *path, char *room, size_t size)
{
    return quote_word(path, room, size) ? room : path;
}

/* Names the command that compares a filter with lines. Returns EXIT_ERROR. */
static int refuse_filter_and_lines(const struct args *a, const struct operand operands[2],
                                   int filter)
{
    char room[2][1000];
    const char *f = as_word(a->words[filter], room[0], sizeof room[0]),
               *lines = as_word(a->words[1 - filter], room[1], sizeof room[1]);
    const char *name = operands[filter].name, *other = operands[1 - filter].name;
    tamis_facts facts = {.struct_size = sizeof facts};
    tamis *t = open_operand(a, &operands[filter]);
    if (t == NULL) return EXIT_ERROR;
    tamis_stat(t, &facts);
    tamis_close(t);
    if (is_distinct(&facts))
        return complain(NULL,
                        "diff: %s is a distinct sketch, but %s has lines; make a sketch of them, "
                        "and compare the two: tamis distinct -qo lines.tamis %s && tamis diff %s "
                        "lines.tamis",
                        name, other, lines, f);
    if (is_sketch(&facts))
        return complain(NULL,
                        "diff: %s is a sketch of how often lines occurred, but %s has lines; to "
                        "look them up: tamis freq %s - < %s",
                        name, other, f, lines);
    return complain(NULL,
                    "diff: %s is a filter, but %s has lines; to print the lines that are not in "
                    "the filter: tamis check -v %s %s",
                    name, other, f, lines);
}

/* --- Operands --------------------------------------------------------------------------------- */

/* What can be read only once is copied. False after a message. */
static bool take_operand(const struct args *a, const char *word, struct operand *o)
{
    struct stat st;
    *o = (struct operand){.name = shown(word), .path = word, .copy = -1};
    if (strcmp(word, "-") != 0 && stat(word, &st) == 0 && S_ISREG(st.st_mode)) return true;
    o->copy = temp_copy(&a->work, word, a->lines.raw);
    snprintf(o->copy_path, sizeof o->copy_path, "/dev/fd/%d", o->copy);
    o->path = o->copy_path;
    return o->copy >= 0;
}

/* Whether it is a filter, or a packed one, which cannot be compared. --raw makes lines of
 * anything. */
static bool is_filter(const struct args *a, const struct operand *o)
{
    return !a->lines.raw && (is_image_file(o->path) || is_packed_file(o->path));
}

static bool is_foreign_file(const struct operand *o)
{
    uint8_t begin[128]; /* as much as tamis_foreign_detect needs */
    const size_t n = read_beginning(o->path, begin, sizeof begin);
    return tamis_foreign_detect(begin, n) != TAMIS_FOREIGN_AUTO ||
           (n >= 4 && memcmp(begin, "PAR1", 4) == 0);
}

/* False after a message when a file that should have lines is something else. */
static bool check_lines_of(const struct args *a, const struct operand *o)
{
    if (a->lines.raw) return true;
    if (holds_image(o->path)) {
        complain(o->name, "is a compressed filter; decompress it first");
        return false;
    }
    if (!is_foreign_file(o)) return true;
    complain(o->name, "this filter belongs to another program; only check, info and convert accept "
                      "it. If the file has lines, give --raw");
    return false;
}

/* Whether all files can be read, before much time is spent on one of them. False after a
 * message. */
static bool check_operands(const struct args *a)
{
    if (is_stream(a->words[0]) && is_stream(a->words[1]) && is_stdin(a->words[0]) &&
        is_stdin(a->words[1])) {
        complain(NULL, "diff: standard input cannot be both sets");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        struct stat st;
        const char *word = a->words[i];
        if (strcmp(word, "-") == 0) continue;
        if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
            errno = EISDIR;
        else if (access(word, R_OK) == 0)
            continue;
        complain(word, "cannot read: %s", strerror(errno));
        return false;
    }
    return true;
}

/* False after a message. */
static bool check_diff_options(const struct args *a)
{
    const char *wrong = NULL;
    if (a->json && a->select.count) wrong = "--json and --count cannot be combined";
    if (a->work.memory != 0 && a->work.memory < LEAST_MEMORY)
        wrong = "--memory must be at least 64KiB";
    if (wrong != NULL) complain(NULL, "diff: %s", wrong);
    return wrong == NULL && check_fields(&a->lines);
}

static int diff_operands(const struct args *a, const struct operand operands[2])
{
    const bool filters[2] = {is_filter(a, &operands[0]), is_filter(a, &operands[1])};
    for (int i = 0; i < 2; i++)
        if (!filters[i] && !check_lines_of(a, &operands[i])) return EXIT_ERROR;
    if (filters[0] && filters[1]) return diff_filters(a, operands);
    if (filters[0] || filters[1]) return refuse_filter_and_lines(a, operands, filters[0] ? 0 : 1);
    return diff_lines(a, operands);
}

int run_diff(const struct args *a)
{
    struct operand operands[2] = {{.copy = -1}, {.copy = -1}};
    if (a->n_words > 2) return complain_usage(a->command);
    if (!check_diff_options(a) || !check_operands(a)) return EXIT_ERROR;
    int status = EXIT_ERROR;
    progress_parts();
    if (take_operand(a, a->words[0], &operands[0]) && take_operand(a, a->words[1], &operands[1]))
        status = diff_operands(a, operands);
    for (int i = 0; i < 2; i++)
        if (operands[i].copy >= 0) close(operands[i].copy);
    return finish_output(status);
}
