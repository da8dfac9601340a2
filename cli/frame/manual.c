/* The manual page, from the tables. */
#include "options.h"

#include <tamis/tamis.h>

#include <ctype.h>
#include <string.h>

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

static void roff_examples(const char *example, FILE *to)
{
    bool shown = false;
    fputs(".PP\nExamples:\n", to);
    for (const char *p = example; *p != '\0'; p += *p == '\n') {
        const size_t length = strcspn(p, "\n");
        const bool says = is_description(p);
        if (shown && says) fputs(".EE\n.RE\n", to);
        fputs(says ? ".PP\n" : shown ? "" : ".RS 4\n.EX\n", to);
        print_roff_n(says ? p + 2 : p, says ? length - 2 : length, to);
        fputc('\n', to);
        shown = !says;
        p += length;
    }
    fputs(".EE\n.RE\n", to);
}

static void roff_section(const struct command *c, enum section section, FILE *to)
{
    if (section == OTHER || !has_section(c, section)) return; /* the rest are the common options */
    fprintf(to, ".PP\n\\fI%s\\fR\n", section_names[section]);
    for (int rare = 0; rare < 2; rare++)
        for (size_t i = 0; i < n_options; i++) {
            const struct option *o = option_of(c, i);
            if (o != NULL && o->section == section && is_everyday(c, o) != (rare == 1))
                roff_option(o, to);
        }
}

static void roff_command(const struct command *c, FILE *to)
{
    fprintf(to, ".SS %s\n", c->name);
    print_roff(sentence_of(c->summary), to);
    fputs("\n", to);
    roff_examples(c->example, to);
    if (c->text[0] != '\0') fputs(".PP\n", to);
    roff_text(c->text, to);
    for (int section = 0; section < SECTIONS; section++) roff_section(c, (enum section)section, to);
}

/* The commands for a task. */
static void roff_task(enum task task, FILE *to)
{
    bool any = false;
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (c->task != task) continue;
        if (!any) fprintf(to, ".PP\n\\fB%s\\fR\n", task_names[task]);
        any = true;
        roff_command(c, to);
    }
}

/* exit-status becomes EXIT STATUS. */
static void roff_topic(const struct topic *t, FILE *to)
{
    fputs(".SH ", to);
    for (const char *p = t->name; *p != '\0'; p++)
        fputc(*p == '-' ? ' ' : toupper((unsigned char)*p), to);
    fputs("\n", to);
    roff_text(t->text, to);
    roff_examples(t->example, to);
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
    roff_text(about_tamis, to);
    roff_examples(overview_example, to);
    fprintf(to, ".SH COMMON OPTIONS\n");
    for (size_t i = 0; i < n_options; i++)
        if (is_common(&options[i])) roff_option(&options[i], to);
    fprintf(to, ".SH COMMANDS\n");
    for (int task = 0; task < TASKS; task++) roff_task((enum task)task, to);
    for (const struct topic *t = topics; t->name != NULL; t++) roff_topic(t, to);
    fprintf(to, ".SH REPORTING BUGS\n");
    print_roff("The home page of tamis is " TAMIS_URL "\n.\n"
               "Write to " TAMIS_CONTACT " about mistakes in it.\n",
               to);
    fprintf(to, ".SH SEE ALSO\n");
    print_roff("grep(1), sort(1), uniq(1)\n", to);
}
