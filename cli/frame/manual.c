/* --help and the manual page, from the tables. */
#include "options.h"
#include "terminal.h"

#include <tamis/tamis.h>

#include <ctype.h>
#include <string.h>
#include <unistd.h>

static const char about[] =
    "Tamis answers \"have I seen this?\" and \"how often?\" about data that is too big to keep. A "
    "filter is a file that answers the first question, \"no\" or \"maybe\", and takes a few bits "
    "per item. A \"no\" is always right, except from filters of kind pair or private. A \"maybe\" "
    "is wrong at a rate that you choose. A sketch is a file that answers the second question: its "
    "counts come with a confidence interval.";
static const char overview_example[] =
    "tamis build -o seen.tamis list.txt && tamis check seen.tamis other.txt";

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

static void print_option(const struct option *o, FILE *to)
{
    char left[60];
    const bool is_short = o->letter != 0;
    snprintf(left, sizeof left, "  %s%c%s --%s%s%s", is_short ? "-" : " ",
             is_short ? o->letter : ' ', is_short ? "," : " ", o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    print_entry(left, 25, o->help, to);
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

/* Lists show a summary as it is in the table; a page begins with it as a sentence. The result is
 * valid until the next call. */
static const char *sentence_of(const char *summary)
{
    static char sentence[100];
    snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)summary[0]), summary + 1);
    return sentence;
}

static void print_example(const char *example, FILE *to)
{
    fputc('\n', to);
    print_heading("Example:", to);
    for (const char *p = example; *p != '\0'; p += *p == '\n') {
        const size_t length = strcspn(p, "\n");
        fprintf(to, "\n  %.*s", (int)length, p);
        p += length;
    }
    fputc('\n', to);
}

static void print_overview(FILE *to)
{
    flow(about, 0, 0, to);
    fputc('\n', to);
    print_heading("Usage:", to);
    fprintf(to, " tamis COMMAND [OPTION...] [FILE...]\n\n");
    print_heading("Commands:", to);
    fprintf(to, "\n");
    for (const struct command *c = commands; c->name != NULL; c++)
        print_name(c->name, c->summary, to);
    fputc('\n', to);
    print_heading("Topics:", to);
    fprintf(to, "\n");
    for (const struct topic *t = topics; t->name != NULL; t++) print_name(t->name, t->summary, to);
    fputc('\n', to);
    flow("Run 'tamis COMMAND --help' or 'tamis help TOPIC' for details, and 'tamis --version' for "
         "the version.",
         0, 0, to);
    print_example(overview_example, to);
}

void print_help(const struct command *c, FILE *to)
{
    if (c == NULL) {
        print_overview(to);
        return;
    }
    print_heading("Usage:", to);
    fprintf(to, " tamis %s [OPTION...]%s%s\n\n", c->name, c->words[0] != '\0' ? " " : "", c->words);
    flow(sentence_of(c->summary), 0, 0, to);
    if (c->text[0] != '\0') fputc('\n', to);
    flow(c->text, 0, 0, to);
    fputc('\n', to);
    print_heading("Options:", to);
    fputc('\n', to);
    for (size_t i = 0; i < n_options; i++)
        if (option_of(c, i) != NULL) print_option(option_of(c, i), to);
    print_example(c->example, to);
}

void print_topic(const struct topic *t, FILE *to)
{
    print_heading(t->name, to);
    fprintf(to, ": %s\n\n", t->summary);
    flow(t->text, 0, 0, to);
    print_example(t->example, to);
}

void print_group(const char *group, FILE *to)
{
    print_heading("Usage:", to);
    fprintf(to, " tamis %s COMMAND [OPTION...] ...\n\n", group);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (after_group(c, group) != NULL) print_name(c->name, c->summary, to);
    fprintf(to, "\nRun 'tamis %s COMMAND --help' for details.\n", group);
    for (const struct group *g = groups; g->name != NULL; g++)
        if (strcmp(g->name, group) == 0) print_example(g->example, to);
}

/* Text for roff: a leading dot or quote would be a request, a minus sign a hyphen. */
static void print_roff_n(const char *text, size_t length, FILE *to)
{
    bool first = true;
    for (const char *end = text + length; text < end; text++) {
        if (first && (*text == '.' || *text == '\'')) fputs("\\&", to);
        if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
        first = *text == '\n';
    }
}

static void print_roff(const char *text, FILE *to)
{
    print_roff_n(text, strlen(text), to);
}

/* As in flow: lines that begin with a blank stay as they are. */
static void roff_text(const char *text, FILE *to)
{
    bool as_is = false;
    for (; *text != '\0'; text += *text == '\n') {
        const size_t length = strcspn(text, "\n");
        if (as_is != (*text == ' ')) fputs(as_is ? ".fi\n" : ".nf\n", to);
        as_is = *text == ' ';
        print_roff_n(text, length, to);
        fputs(length > 0 ? "\n" : ".PP\n", to);
        text += length;
    }
    if (as_is) fputs(".fi\n", to);
}

static void roff_option(const struct option *o, FILE *to)
{
    fputs(".TP\n.B ", to);
    if (o->letter != 0) fprintf(to, "\\-%c, ", o->letter);
    fputs("\\-\\-", to);
    print_roff(o->name, to);
    if (o->value != NULL) fprintf(to, " \\fI%s\\fR", o->value);
    fputs("\n", to);
    roff_text(o->help, to);
}

static void roff_example(const char *example, FILE *to)
{
    fputs(".PP\nExample:\n.PP\n.nf\n", to);
    print_roff(example, to);
    fputs("\n.fi\n", to);
}

static void roff_command(const struct command *c, FILE *to)
{
    fprintf(to, ".SS %s\n", c->name);
    print_roff(sentence_of(c->summary), to);
    fputs("\n", to);
    if (c->text[0] != '\0') fputs(".PP\n", to);
    roff_text(c->text, to);
    for (size_t i = 0; i < n_options; i++)
        if (option_of(c, i) != NULL && !is_common(&options[i])) roff_option(option_of(c, i), to);
    roff_example(c->example, to);
}

/* exit-status becomes EXIT STATUS. */
static void roff_topic(const struct topic *t, FILE *to)
{
    fputs(".SH ", to);
    for (const char *p = t->name; *p != '\0'; p++)
        fputc(*p == '-' ? ' ' : toupper((unsigned char)*p), to);
    fputs("\n", to);
    roff_text(t->text, to);
    roff_example(t->example, to);
}

void print_manual(FILE *to)
{
    fprintf(to, ".TH TAMIS 1 \"\" \"tamis %s\" \"User commands\"\n.SH NAME\n", tamis_version());
    fprintf(
        to,
        "tamis \\- have I seen this, and how often? approximate sets and counts in little memory\n"
        ".SH SYNOPSIS\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        fprintf(to, "%s.B tamis %s\n", c == commands ? "" : ".br\n", c->name);
        print_roff("[OPTION...]", to);
        if (c->words[0] != '\0') fputc(' ', to);
        print_roff(c->words, to);
        fputs("\n", to);
    }
    fprintf(to, ".SH DESCRIPTION\n");
    roff_text(about, to);
    roff_example(overview_example, to);
    fprintf(to, ".SH COMMON OPTIONS\n");
    for (size_t i = 0; i < n_options; i++)
        if (is_common(&options[i])) roff_option(&options[i], to);
    fprintf(to, ".SH COMMANDS\n");
    for (const struct command *c = commands; c->name != NULL; c++) roff_command(c, to);
    for (const struct topic *t = topics; t->name != NULL; t++) roff_topic(t, to);
    fprintf(to, ".SH SEE ALSO\n");
    print_roff("grep(1), sort(1), uniq(1)\n", to);
}
