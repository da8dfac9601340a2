#include "mistakes.h"

#include "../../cluster/cluster.h"
#include "../filters/filter.h"
#include "../input/lines.h"
#include "options.h"
#include "output.h"
#include "suggest.h"

#include <tamis/count.h>
#include <tamis/foreign.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Commands to paste ------------------------------------------------------------------------ */

/* A command that does not fit is not printed: complain would cut it, and half a command is worse
 * than none. */
enum { LONGEST_LINE = 700, LONGEST_PATH = 300 };

static struct {
    int argc;
    char **argv;
} typed;

void remember_line(int argc, char **argv)
{
    const size_t bytes = (size_t)argc * sizeof *argv;
    typed.argv = malloc(bytes);
    typed.argc = typed.argv != NULL ? argc : 0;
    if (typed.argv != NULL) memcpy(typed.argv, argv, bytes);
}

void forget_line(void)
{
    free(typed.argv);
    typed.argv = NULL;
    typed.argc = 0;
}

bool quote_word(const char *word, char *out, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-./:@%+,=";
    const bool quoted = word[0] == '\0' || word[strspn(word, plain)] != '\0';
    size_t n = 0;
    for (const char *p = word; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f) return false;
        n += *p == '\'' ? 4 : 1;
    }
    if (n + (quoted ? 2 : 0) >= size) return false;
    if (quoted) *out++ = '\'';
    for (const char *p = word; *p != '\0'; p++) {
        if (*p == '\'') out = stpcpy(out, "'\\'");
        *out++ = *p;
    }
    if (quoted) *out++ = '\'';
    *out = '\0';
    return true;
}

struct line {
    char text[LONGEST_LINE];
    bool whole; /* nothing is missing */
};

static void line_text(struct line *l, const char *text)
{
    const size_t used = strlen(l->text);
    if (used + strlen(text) + 2 > sizeof l->text) l->whole = false;
    if (l->whole)
        snprintf(l->text + used, sizeof l->text - used, "%s%s", used > 0 ? " " : "", text);
}

static void line_word(struct line *l, const char *word)
{
    char quoted[LONGEST_LINE];
    if (quote_word(word, quoted, sizeof quoted))
        line_text(l, quoted);
    else
        l->whole = false;
}

/* A file whose name begins with a minus would be an option. */
static void line_file(struct line *l, const char *path)
{
    char here[LONGEST_PATH];
    const bool option = path[0] == '-' && path[1] != '\0';
    const int n = snprintf(here, sizeof here, "./%s", option ? path : "");
    if (n < 0 || (size_t)n >= sizeof here) l->whole = false;
    line_word(l, option ? here : path);
}

static struct line new_line(const char *begin)
{
    struct line l = {.whole = true};
    if (begin[0] != '\0') line_text(&l, begin);
    return l;
}

const char *line_with(const char *old, const char *new)
{
    static struct line l;
    l = new_line("tamis");
    for (int i = 1; i < typed.argc; i++)
        if (typed.argv[i] == old)
            line_text(&l, new);
        else
            line_word(&l, typed.argv[i]);
    return typed.argc > 0 && l.whole ? l.text : NULL;
}

/* The command line with two files exchanged. */
static struct line line_swapped(const char *a, const char *b)
{
    struct line l = new_line("tamis");
    for (int i = 1; i < typed.argc; i++)
        if (typed.argv[i] == a || typed.argv[i] == b)
            line_file(&l, typed.argv[i] == a ? b : a);
        else
            line_word(&l, typed.argv[i]);
    l.whole = l.whole && typed.argc > 0;
    return l;
}

/* Prints what is wrong, and the command to paste if there is one. Returns false. */
static bool offer_line(const char *about, const char *reason, const char *offer,
                       const struct line *l)
{
    if (l->whole)
        complain(about, "%s; %s: %s", reason, offer, l->text);
    else
        complain(about, "%s", reason);
    return false;
}

/* --- Commands of other programs --------------------------------------------------------------- */

const char *command_called(const char *name)
{
    static const struct {
        const char *command, *others; /* separated by blanks on both sides */
    } known[] = {
        {"build", " create make new init generate bf.reserve bf.add bf.madd construct "},
        {"check", " contains query test exists lookup search find grep match has ask member "
                  "bf.exists bf.mexists filter "},
        {"info", " stats stat status describe show inspect print ls list bf.info head file "},
        {"add", " insert append update put push load bf.insert "},
        {"remove", " delete del rm erase discard cf.del "},
        {"uniq", " unique dedup dedupe deduplicate "},
        {"top", " topk top-k heavy heavy-hitters frequent topk.list "},
        {"freq", " frequency estimate occurrences cms.query "},
        {"count", " sketch tally count-min cms cms.incrby "},
        {"distinct", " cardinality hll hyperloglog pfcount pfadd nunique wc "},
        {"plan", " size capacity calc calculate params "},
        {"merge", " union join or combine pfmerge cms.merge "},
        {"compare", " intersect intersection jaccard overlap similarity and "},
        {"convert", " import export "},
        {"compact", " rebuild vacuum shrink "},
        {"pack", " compress zip "},
        {"unpack", " decompress unzip "},
        {"release", " publish privatize "},
        {"verify", " validate fsck checksum integrity "},
        {"explain", " demo draw visualize "},
        {"key new", " keygen genkey "},
        {"--version", " version "},
        {"help", " usage man commands "},
    };
    char padded[40];
    snprintf(padded, sizeof padded, " %s ", name);
    if (strlen(name) + 3 > sizeof padded || strchr(name, ' ') != NULL) return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasestr(known[i].others, padded) != NULL) return known[i].command;
    return NULL;
}

const char *topic_called(const char *name)
{
    static const char *const input[] = {"csv",    "tsv",   "jsonl",     "ndjson", "json-lines",
                                        "header", "field", "delimiter", "crlf"};
    for (size_t i = 0; i < sizeof input / sizeof *input; i++)
        if (strcasecmp(input[i], name) == 0) return "input";
    return NULL;
}

bool is_filter_as_command(const char *word)
{
    if (!is_image_file(word)) return false;
    struct line l = new_line("tamis info");
    line_file(&l, word);
    if (!l.whole) return false;
    complain(NULL, "there is no command '%s', but it is a filter; did you mean: %s", word, l.text);
    return true;
}

/* --- Words ------------------------------------------------------------------------------------ */

static bool is_tamis_file(const char *path)
{
    return is_image_file(path) || is_packed_file(path);
}

static bool is_missing(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && !cluster_is_address(path) && stat(path, &st) != 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

/* The first bytes of a regular file; -1: it cannot be read, or is not one. */
static ssize_t read_begin(const char *path, uint8_t *begin, size_t size)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const ssize_t n = read(fd, begin, size);
    close(fd);
    return n;
}

/* Whether a regular file can be read and is certainly not a filter, of Tamis or of another
 * program. */
static bool is_no_filter(const char *path)
{
    uint8_t begin[128];
    const ssize_t n = read_begin(path, begin, sizeof begin);
    const bool gzip = n > 1 && begin[0] == 0x1f && begin[1] == 0x8b; /* may hold a filter */
    return n >= 0 && !gzip && !is_tamis_file(path) &&
           tamis_foreign_detect(begin, (size_t)n) == TAMIS_FOREIGN_AUTO;
}

/* Whether a file begins with text, which no filter does. */
static bool is_text(const char *path)
{
    uint8_t begin[128];
    const ssize_t n = read_begin(path, begin, sizeof begin);
    for (ssize_t i = 0; i < n; i++)
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): NUL is not text */
        if (begin[i] < 0x20 && memchr("\t\n\r", begin[i], 3) == NULL) return false;
    return n > 0;
}

/* The index of the first word that is a file of lines or an item; -1: the command has none. */
static int first_line_word(const struct args *a)
{
    const char *words = a->command->words;
    const bool after_filter = strncmp(words, "FILTER [FILE", 12) == 0 || words[0] == '{' ||
                              strncmp(words, "SKETCH [ITEM", 12) == 0;
    if (after_filter) return words[0] == '{' && a->check.patterns.n > 0 ? 0 : 1;
    return strstr(words, "[FILE...") != NULL ? 0 : -1;
}

static bool takes_items(const struct command *c)
{
    return strstr(c->words, "[ITEM") != NULL;
}

/* The command line that looks up the lines of a file, where items are expected. */
static struct line line_of_lookups(const char *sketch, const char *file)
{
    struct line l = new_line("tamis");
    for (int i = 1; i < typed.argc; i++)
        if (typed.argv[i] != sketch && typed.argv[i] != file) line_word(&l, typed.argv[i]);
    line_file(&l, sketch);
    line_text(&l, "- <");
    line_file(&l, file);
    l.whole = l.whole && typed.argc > 0;
    return l;
}

/* Whether a file is a filter that certainly cannot count. */
static bool is_without_counts(const char *path)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_MAP | TAMIS_KEYLESS};
    const tamis_hash none = {0};
    tamis_estimate e;
    tamis_error why;
    tamis *t;
    if (tamis_open(path, &o, &t, &why) != TAMIS_OK) return false;
    const bool without = tamis_count_hashes(t, &none, 1, &e, &why) == TAMIS_EUNSUPPORTED;
    tamis_close(t);
    return without;
}

static void name_output(const struct args *a, char *out, size_t size);

/* 'freq LIST FILTER', where the filter does not count either. Returns false. */
static bool offer_sketch(const struct args *a, const char *list, const char *filter)
{
    char reason[LONGEST_PATH], name[LONGEST_PATH];
    struct line l = new_line("tamis count -o");
    name_output(a, name, sizeof name);
    line_file(&l, name);
    line_file(&l, list);
    snprintf(reason, sizeof reason, "is not a sketch, and %.100s does not count each line", filter);
    return offer_line(list, reason, "to make a sketch of a file of lines", &l);
}

static bool in_order(const struct args *a)
{
    if (a->n_words < 2 || first_line_word(a) != 1 || a->foreign.from != NULL ||
        !is_no_filter(a->words[0]))
        return true;
    for (int i = 1; i < a->n_words; i++) {
        if (!is_tamis_file(a->words[i])) continue;
        const bool items = takes_items(a->command);
        if (items && is_without_counts(a->words[i]))
            return offer_sketch(a, a->words[0], a->words[i]);
        const struct line l = items && a->n_words == 2 ? line_of_lookups(a->words[1], a->words[0])
                                                       : line_swapped(a->words[0], a->words[i]);
        return offer_line(a->words[0], items ? "is not a sketch" : "is not a filter",
                          "did you mean", &l);
    }
    return true;
}

/* The command that does with filters what this one does with lines. */
static struct line line_for_filters(const struct args *a, const char *path)
{
    const char *name = a->command->name;
    int filters = 0;
    for (int i = 0; i < a->n_words; i++) filters += is_tamis_file(a->words[i]);
    const bool all = filters == a->n_words && filters > 1;
    if (all && filters == 2 && strcmp(name, "check") == 0) {
        struct line l = new_line("tamis compare");
        line_file(&l, a->words[0]);
        line_file(&l, a->words[1]);
        return l;
    }
    if (all &&
        (strcmp(name, "add") == 0 || strcmp(name, "build") == 0 || strcmp(name, "count") == 0)) {
        struct line l = new_line("tamis merge -o");
        line_file(&l, a->output.path != NULL ? a->output.path : "merged.tamis");
        for (int i = 0; i < a->n_words; i++) line_file(&l, a->words[i]);
        return l;
    }
    struct line l =
        new_line(is_packed_file(path) ? "tamis unpack -o unpacked.tamis" : "tamis info");
    line_file(&l, path);
    return l;
}

/* Whether a regular file is a filter or a sketch, also a compressed one. */
static bool holds_filter(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           holds_image(path);
}

/* 'check -f FILTER FILE' as 'check FILTER FILE': without -f, which may be joined with its value or
 * with other letters. */
static struct line line_without_patterns(const char *filter)
{
    struct line l = new_line("tamis check");
    line_file(&l, filter);
    for (int i = 2; i < typed.argc; i++) {
        const char *word = typed.argv[i];
        const bool before = i + 1 < typed.argc && typed.argv[i + 1] == filter;
        size_t f = strlen(word); /* where the value begins: in this word, or in the next */
        for (size_t at = 0; at < strlen(word); at++)
            if (word + at == filter) f = at;
        if (f == 0) continue;
        if (!before && word[f] == '\0')
            line_word(&l, word);
        else if (word[1] != '-' && f > 2) {
            char letters[LONGEST_PATH];
            snprintf(letters, sizeof letters, "%.*s", (int)f - 1, word);
            line_word(&l, letters);
        }
    }
    l.whole = l.whole && typed.argc > 0;
    return l;
}

/* The same for the lists that options name. */
static bool are_lists(const struct args *a)
{
    const struct texts *lists[] = {&a->check.patterns, &a->plan.never, &a->plan.list};
    static const char *const names[] = {"-f", "--never", "--from"};
    const char *confirm = a->check.confirm;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (int i = 0; i < lists[k]->n; i++) {
            const char *path = lists[k]->text[i];
            const bool output = a->output.path != NULL && same_file(a->output.path, path);
            if (output || !holds_filter(path)) continue; /* an output has a message of its own */
            struct line l = line_without_patterns(path);
            l.whole = l.whole && k == 0 && lists[k]->n == 1 && is_tamis_file(path) &&
                      a->plan.fpr == 0 && a->plan.bytes == 0 && a->lines.list_field.text == NULL;
            char reason[200];
            snprintf(reason, sizeof reason, "given with %s, but " NOT_LINES, names[k]);
            return offer_line(path, reason, "did you mean", &l);
        }
    if (confirm == NULL || !holds_filter(confirm)) return true;
    complain(confirm, "given with --confirm, but " NOT_LINES);
    return false;
}

/* Lines of a filter would be its bytes, and the result would be meaningless. */
static bool are_lines(const struct args *a)
{
    const bool has_raw = find_option(a->command, "raw", 3) != NULL;
    if (has_raw && !a->lines.raw && !are_lists(a)) return false;
    const int first = first_line_word(a);
    const bool takes_sketches = strstr(a->command->words, "| SKETCH") != NULL;
    for (int i = first; i >= 0 && i < a->n_words && !a->lines.raw; i++) {
        if (takes_sketches || takes_items(a->command) || !holds_filter(a->words[i])) continue;
        struct line l = line_for_filters(a, a->words[i]);
        l.whole = l.whole && is_tamis_file(a->words[i]);
        return offer_line(a->words[i], NOT_LINES, "did you mean", &l);
    }
    return true;
}

/* A name for the output in the current folder: that of the first word up to its first dot, and an
 * ending that shows what the command makes. */
static void name_output(const struct args *a, char *out, size_t size)
{
    static const struct {
        const char *command, *ending;
    } endings[] = {{"count", "-counts.tamis"},
                   {"freq", "-counts.tamis"},
                   {"pack", ".packed"},
                   {"release", ".private"}};
    const char *ending = ".tamis", *stem = "out";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(a->command->name, endings[i].command) == 0) ending = endings[i].ending;
    if (strcmp(a->command->name, "merge") == 0)
        stem = "merged";
    else if (a->n_words > 0 && strcmp(a->words[0], "-") != 0) {
        const char *slash = strrchr(a->words[0], '/');
        stem = slash != NULL && slash[1] != '\0' ? slash + 1 : a->words[0];
    }
    const size_t length = stem[0] != '\0' ? 1 + strcspn(stem + 1, ".") : 0;
    const char *dot = "";
    if (a->foreign.to != NULL) dot = ".", ending = a->foreign.to; /* another kind or program */
    snprintf(out, size, "%.*s%s%s", (int)length, stem, dot, ending);
    if (!is_missing(out)) snprintf(out, size, "new-%.*s%s%s", (int)length, stem, dot, ending);
}

/* 'tamis build list.txt new.tamis', as one would write it for cp: the last word is the output. */
static const char *last_as_output(const struct args *a)
{
    const char *last = a->n_words > 1 ? a->words[a->n_words - 1] : "";
    const size_t n = strlen(last);
    return n > 6 && strcmp(last + n - 6, ".tamis") == 0 && is_missing(last) ? last : NULL;
}

static bool has_output(const struct args *a)
{
    char name[LONGEST_PATH], reason[100];
    if (a->output.path != NULL && a->output.path[0] == '\0') {
        complain(NULL, "%s: the name of the output file is empty", a->command->name);
        return false;
    }
    if (a->output.path != NULL || strstr(a->command->words, "-o OUT") == NULL) return true;
    const char *last = last_as_output(a);
    struct line l = new_line("tamis");
    line_text(&l, a->command->name);
    line_text(&l, "-o");
    name_output(a, name, sizeof name);
    line_file(&l, last != NULL ? last : name);
    for (int i = 2; i < typed.argc; i++)
        if (typed.argv[i] != last) line_word(&l, typed.argv[i]);
    snprintf(reason, sizeof reason, "%s: give the output file with -o FILE", a->command->name);
    return offer_line(NULL, reason, last != NULL ? "did you mean" : "for example", &l);
}

bool check_words(const struct args *a)
{
    return in_order(a) && are_lines(a) && has_output(a);
}

/* --- Files that do not exist ------------------------------------------------------------------ */

/* Whether a file can stand where the command needs a filter, or lines. */
static bool is_usable(const char *path, bool filter)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && is_tamis_file(path) == filter;
}

/* A file beside `path` with almost the same name, of the kind that the command needs there. Among
 * several that are equally near, the first in the order of their bytes. */
static bool find_near(const char *path, bool filter, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    char full[2 * LONGEST_PATH];
    size_t best = 2; /* files that are further away are not meant */
    out[0] = '\0';
    snprintf(full, sizeof full, "%.*s", folder, path);
    DIR *d = folder < LONGEST_PATH ? opendir(folder > 0 ? full : ".") : NULL;
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct guess g = {.word = name, .length = strlen(name)};
        consider(&g, e->d_name);
        if (g.best == NULL || g.distance > best || 3 * g.distance > strcspn(name, ".")) continue;
        snprintf(full + folder, sizeof full - (size_t)folder, "%s", e->d_name);
        const bool option = full[0] == '-';
        const bool later = out[0] != '\0' && g.distance == best && strcmp(full, out) > 0;
        if (option || later || strlen(full) >= size || !is_usable(full, filter)) continue;
        strcpy(out, full);
        best = g.distance;
    }
    if (d != NULL) closedir(d);
    return out[0] != '\0';
}

/* Whether the only file that is given looks like a line, and a line would make sense. */
static bool looks_like_line(const struct args *a, const char *word)
{
    const char *name = a->command->name;
    if (a->n_words != 2 ||
        (strcmp(name, "check") != 0 && strcmp(name, "add") != 0 && strcmp(name, "remove") != 0))
        return false;
    return strstr(word, "://") != NULL || strpbrk(word, "./") == NULL;
}

/* "printf '%s\n' WORD | tamis check FILTER": how to give a line and not a file. */
static void hint_at_line(const struct args *a, const char *word)
{
    struct line l = new_line("printf '%s\\n'");
    line_word(&l, word);
    line_text(&l, "|");
    line_text(&l, "tamis");
    for (int i = 1; i < typed.argc; i++)
        if (typed.argv[i] != word) line_word(&l, typed.argv[i]);
    if (l.whole && typed.argc > 0)
        complain(NULL, "%s: arguments are files of lines; to give a line: %s", a->command->name,
                 l.text);
}

static void hint_at_new_filter(const struct args *a)
{
    struct line l = new_line("tamis build -o");
    line_file(&l, a->words[0]);
    for (int i = 1; i < a->n_words; i++) line_file(&l, a->words[i]);
    if (l.whole) complain(NULL, "add: to make the filter: %s", l.text);
}

/* A file of lines in place of the filter, with no filter elsewhere: prints how to use it. */
static void hint_at_list(const struct args *a)
{
    char name[LONGEST_PATH];
    const char *command = a->command->name, *offer = NULL, *list = a->words[0];
    struct line l = new_line("tamis");
    name_output(a, name, sizeof name);
    if (strcmp(command, "check") == 0) {
        offer = "to compare with the lines of a file";
        line_text(&l, "check -f");
        line_file(&l, list);
        for (int i = 2; i < typed.argc; i++)
            if (typed.argv[i] != list) line_word(&l, typed.argv[i]);
    } else if (strcmp(command, "add") == 0 || strcmp(command, "freq") == 0) {
        const bool add = strcmp(command, "add") == 0;
        offer = add ? "to make a filter of a file of lines" : "to make a sketch of a file of lines";
        line_text(&l, add ? "build -o" : "count -o");
        line_file(&l, name);
        line_file(&l, list);
    }
    if (offer != NULL && l.whole) complain(NULL, "%s: %s: %s", command, offer, l.text);
}

/* 'top 3 list.txt', where no file is called 3: prints the same with -n 3. */
static bool is_number_of_lines(const struct args *a, const char *word)
{
    if (strcmp(a->command->name, "top") != 0 || a->top.most != 0 || word[0] == '\0' ||
        word[strspn(word, "0123456789")] != '\0')
        return false;
    char instead[LONGEST_PATH];
    snprintf(instead, sizeof instead, "-n %s", word);
    const char *line = line_with(word, instead);
    if (line != NULL) complain(NULL, "top: -n is the number of lines to list: %s", line);
    return true;
}

static void hint_at_missing_file(const struct args *a)
{
    char near[2 * LONGEST_PATH], quoted[LONGEST_LINE];
    const int first = first_line_word(a);
    const bool items = takes_items(a->command);
    const bool filters = strncmp(a->command->words, "FILTER", 6) == 0 || first == 1;
    if (first < 0 && !filters) return;
    for (int i = 0; i < (items ? 1 : a->n_words); i++) {
        const char *word = a->words[i];
        const bool filter = filters && (first < 0 || i < first);
        if (!is_missing(word)) continue;
        if (is_number_of_lines(a, word)) return;
        if (find_near(word, filter, near, sizeof near) && quote_word(near, quoted, sizeof quoted)) {
            const char *line = line_with(word, quoted);
            if (line != NULL) complain(NULL, "did you mean: %s", line);
        } else if (!filter && first == 1 && looks_like_line(a, word)) {
            hint_at_line(a, word);
        } else if (filter && strcmp(a->command->name, "add") == 0) {
            hint_at_new_filter(a);
        }
        return;
    }
}

void hint_at_file_as_item(const struct args *a)
{
    if (!takes_items(a->command) || a->n_words != 2 || a->quiet || !is_no_filter(a->words[1]))
        return;
    const struct line l = line_of_lookups(a->words[0], a->words[1]);
    if (l.whole)
        complain(NULL, "%s: arguments are items; to look up the lines of a file: %s",
                 a->command->name, l.text);
}

void hint_after_error(const struct args *a)
{
    if (a->n_words > 0 && first_line_word(a) == 1 && a->foreign.from == NULL &&
        is_text(a->words[0]))
        hint_at_list(a);
    else
        hint_at_missing_file(a);
}
