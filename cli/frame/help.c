/* The pages of help, from the tables: what 'tamis' alone prints, 'tamis help', 'tamis COMMAND -h'
 * (one screen) and 'tamis COMMAND --help' (everything). */
#include "options.h"
#include "terminal.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

const char about_tamis[] =
    "Tamis answers \"have I seen this?\", \"how often?\" and \"how many distinct?\" about data "
    "that is too big to keep. A filter is a file that answers the first question, \"no\" or "
    "\"maybe\", and takes a few bits per item. With the usual kinds of filters, a \"no\" is always "
    "right; a \"maybe\" is wrong at a rate that you choose. A sketch is a file that answers the "
    "other questions: its numbers come with a confidence interval.";

const char *const section_names[SECTIONS] = {
    [INPUT] = "Input",
    [FILTER] = "Filter or sketch",
    [LOOKUPS] = "Lookups",
    [OUTPUT] = "Output",
    [WORK] = "Threads and memory",
    [DETAILS] = "Details of the filter or sketch",
    [FOREIGN] = "Filters of other programs",
    [REDIS] = "Sets at redis:// addresses",
    [TRUST] = "Keys and signatures",
    [SERVER] = "Server",
    [OTHER] = "Other",
};

const char *const task_names[TASKS] = {
    [SEEN] = "Have I seen it?",
    [OFTEN] = "How often?",
    [HOW_MANY] = "How many distinct?",
    [MAKE] = "Plan and change filters and sketches",
    [LOOK] = "Look inside",
    [EXCHANGE] = "Exchange with others",
    [SECRETS] = "Keep secrets",
    [GUARD] = "Guard against bad URLs",
    [HELP] = "Help",
};

/* What 'tamis' alone shows. */
static const struct step {
    enum task task;
    const char *line, *what;
} first_steps[] = {
    {SEEN, "tamis build -o seen.tamis list.txt", "make a filter of a list"},
    {SEEN, "tamis check seen.tamis other.txt", "print the lines that may be on it"},
    {SEEN, "tamis uniq log.txt", "drop repeated lines and keep the order"},
    {OFTEN, "tamis top log.txt", "list the most frequent lines"},
    {HOW_MANY, "tamis distinct log.txt", "count the distinct lines"},
};

/* The width of a page: that of the terminal, but at most 100, because longer lines are hard to
 * read. Elsewhere 80, so that the text is always the same. */
static size_t width_of(FILE *to)
{
    enum { USUAL = 80, MOST = 100 };
    if (!isatty(fileno(to))) return USUAL;
    return columns_of(to) < MOST ? columns_of(to) : MOST;
}

/* Words to lines: the first goes on at column `at`, the others are indented. A line of the text
 * that is empty or begins with a blank stays as it is. */
static void flow(const char *text, size_t at, size_t indent, FILE *to)
{
    const size_t width = width_of(to);
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (length == 0 || *text == ' ') {
            fprintf(to, "%s%.*s\n", at > 0 ? "\n" : "", (int)length, text);
            at = 0;
            text += length;
        }
        while (*text != '\0' && *text != '\n') {
            const size_t word = strcspn(text, " \n");
            if (at > indent && at + 1 + word > width) {
                fputc('\n', to);
                at = 0;
            }
            const int blanks = at == 0 ? (int)indent : at > indent ? 1 : 0;
            fprintf(to, "%*s%.*s", blanks, "", (int)word, text);
            at += (size_t)blanks + word;
            text += word;
            text += strspn(text, " ");
        }
        text += *text == '\n';
    }
    if (at > 0) fputc('\n', to);
}

/* Prints a name and its text beside it, or below it where there is no room. */
static void print_entry(const char *name, size_t beside, const char *text, FILE *to)
{
    enum { NARROW = 60, BELOW = 6 };
    const size_t indent = width_of(to) < NARROW ? BELOW : beside;
    if (strlen(name) < indent) {
        fprintf(to, "%-*s", (int)indent, name);
        flow(text, indent, indent, to);
    } else {
        fprintf(to, "%s\n", name);
        flow(text, 0, indent, to);
    }
}

static void print_option(const struct option *o, const char *help, FILE *to)
{
    char left[60];
    const bool is_short = o->letter != 0;
    snprintf(left, sizeof left, "  %s%c%s --%s%s%s", is_short ? "-" : " ",
             is_short ? o->letter : ' ', is_short ? "," : " ", o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    print_entry(left, 25, help, to);
}

static void print_name(const char *name, const char *summary, FILE *to)
{
    char left[40];
    snprintf(left, sizeof left, "  %s", name);
    print_entry(left, 17, summary, to);
}

static void print_heading(const char *text, FILE *to)
{
    fprintf(to, "%s%s%s", ink(to, STRONG), text, ink(to, PLAIN));
}

const char *sentence_of(const char *summary)
{
    static char sentence[100];
    snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)summary[0]), summary + 1);
    return sentence;
}

size_t clause_length(const char *help)
{
    int open = 0;
    size_t n = 0;
    for (; help[n] != '\0'; n++) {
        open += (help[n] == '(') - (help[n] == ')');
        if (open == 0 && (help[n] == ';' || strncmp(help + n, ". ", 2) == 0)) break;
    }
    return n;
}

bool is_description(const char *line)
{
    return strncmp(line, "# ", 2) == 0;
}

/* Up to `most` examples. */
static void print_examples(const char *example, int most, FILE *to)
{
    print_heading("Examples:", to);
    fputc('\n', to);
    for (const char *p = example; *p != '\0'; p += *p == '\n') {
        const size_t length = strcspn(p, "\n");
        const bool says = is_description(p);
        most -= says;
        if (most < 0) return;
        fprintf(to, "%s%.*s\n", says ? "  " : "    ", (int)(length - (says ? 2 : 0)),
                p + (says ? 2 : 0));
        p += length;
    }
}

void print_first_steps(FILE *to)
{
    flow("Tamis answers \"have I seen this?\", \"how often?\" and \"how many distinct?\" about "
         "lines "
         "that are too many to keep.",
         0, 0, to);
    enum task last = TASKS;
    for (size_t i = 0; i < sizeof first_steps / sizeof *first_steps; i++) {
        const struct step *s = &first_steps[i];
        if (s->task != last) {
            fputc('\n', to);
            print_heading(task_names[s->task], to);
            fputc('\n', to);
        }
        last = s->task;
        char left[60];
        snprintf(left, sizeof left, "  %s", s->line);
        print_entry(left, 39, s->what, to);
    }
    fputc('\n', to);
    flow("'tamis help' lists all commands and topics. 'tamis COMMAND -h' shows a command on one "
         "screen, and 'tamis COMMAND --help' shows all of it.",
         0, 0, to);
}

static void print_task(enum task task, FILE *to)
{
    bool any = false;
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (c->task != task) continue;
        if (!any) print_heading(task_names[task], to);
        if (!any) fputc('\n', to);
        any = true;
        print_name(c->name, c->summary, to);
    }
    if (any) fputc('\n', to);
}

void print_overview(FILE *to)
{
    flow(about_tamis, 0, 0, to);
    fputc('\n', to);
    print_heading("Usage:", to);
    fprintf(to, " tamis COMMAND [OPTION...] [FILE...]\n\n");
    for (int task = 0; task < TASKS; task++) print_task((enum task)task, to);
    print_heading("Topics:", to);
    fprintf(to, "\n");
    for (const struct topic *t = topics; t->name != NULL; t++) print_name(t->name, t->summary, to);
    fputc('\n', to);
    flow(
        "Run 'tamis COMMAND -h' for a command on one screen, 'tamis COMMAND --help' for all of it, "
        "'tamis help TOPIC' for a topic, and 'tamis --version' for the version.",
        0, 0, to);
    fputc('\n', to);
    print_examples(overview_example, 9, to);
}

static void print_usage(const struct command *c, FILE *to)
{
    print_heading("Usage:", to);
    fprintf(to, " tamis %s [OPTION...]%s%s\n", c->name, c->words[0] != '\0' ? " " : "", c->words);
}

/* The options of a section: first those that -h shows as well. */
static void print_section(const struct command *c, enum section section, FILE *to)
{
    if (!has_section(c, section)) return;
    fputc('\n', to);
    print_heading(section_names[section], to);
    fputs(":\n", to);
    for (int rare = 0; rare < 2; rare++)
        for (size_t i = 0; i < n_options; i++) {
            const struct option *o = option_of(c, i);
            if (o != NULL && o->section == section && is_everyday(c, o) != (rare == 1))
                print_option(o, o->help, to);
        }
}

bool has_section(const struct command *c, enum section section)
{
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = option_of(c, i);
        if (o != NULL && o->section == section) return true;
    }
    return false;
}

void print_help(const struct command *c, FILE *to)
{
    print_usage(c, to);
    fputc('\n', to);
    flow(sentence_of(c->summary), 0, 0, to);
    fputc('\n', to);
    print_examples(c->example, 9, to);
    if (c->text[0] != '\0') fputc('\n', to);
    flow(c->text, 0, 0, to);
    for (int section = 0; section < SECTIONS; section++)
        print_section(c, (enum section)section, to);
}

void print_short_help(const struct command *c, FILE *to)
{
    enum { MOST_EXAMPLES = 3 };
    char clause[200];
    bool any = false;
    print_usage(c, to);
    flow(sentence_of(c->summary), 0, 0, to);
    fputc('\n', to);
    print_examples(c->example, MOST_EXAMPLES, to);
    const size_t everyday = strcspn(c->options, "|");
    for (const char *p = c->options; p < c->options + everyday; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        const struct option *o = find_option(c, p, n);
        p += n;
        if (o == NULL) continue;
        if (!any) {
            fputc('\n', to);
            print_heading("Options:", to);
            fputc('\n', to);
        }
        any = true;
        snprintf(clause, sizeof clause, "%.*s", (int)clause_length(o->help), o->help);
        print_option(o, clause, to);
    }
    fprintf(to, "\n'tamis %s --help' explains more%s.\n", c->name,
            c->options[everyday] == '|' ? ", with all options" : "");
}

void print_topic(const struct topic *t, FILE *to)
{
    print_heading(t->name, to);
    fprintf(to, ": %s\n\n", t->summary);
    flow(t->text, 0, 0, to);
    fputc('\n', to);
    print_examples(t->example, 9, to);
}

void print_group(const char *group, FILE *to)
{
    const struct group *g = groups;
    while (g->name != NULL && strcmp(g->name, group) != 0) g++;
    print_heading("Usage:", to);
    fprintf(to, " tamis %s COMMAND [OPTION...] ...\n\n", group);
    if (g->name != NULL) {
        flow(g->text, 0, 0, to);
        fputc('\n', to);
        print_examples(g->example, 9, to);
        fputc('\n', to);
    }
    print_heading("Commands:", to);
    fputc('\n', to);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (after_group(c, group) != NULL) print_name(c->name, c->summary, to);
    fprintf(to, "\n'tamis %s COMMAND -h' shows a command on one screen.\n", group);
}
