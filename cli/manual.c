/* --help and the manual page, from the tables. */
#include "options.h"
#include "terminal.h"

#include <ctype.h>

static const char about[] =
    "Tamis answers \"have I seen this?\" about data too big to keep, in a few bits per item.\n"
    "A \"no\" is always right (but of a pair filter); a \"maybe\" is wrong at a rate you choose.\n";
static const char overview_example[] =
    "tamis build -o seen.tamis list.txt && tamis check seen.tamis other.txt";

static void print_option(const struct option *o, FILE *to)
{
    char left[40];
    const bool is_short = o->letter != 0;
    snprintf(left, sizeof left, "%s%c%s --%s%s%s", is_short ? "-" : " ", is_short ? o->letter : ' ',
             is_short ? "," : " ", o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    fprintf(to, "  %-22s ", left);
    for (const char *p = o->help; *p != '\0'; p++) { /* further lines under the first */
        fputc(*p, to);
        if (*p == '\n') fprintf(to, "%25s", "");
    }
    fputc('\n', to);
}

static void print_heading(const char *text, FILE *to)
{
    fprintf(to, "%s%s%s", ink(to, STRONG), text, ink(to, PLAIN));
}

static void print_example(const char *example, FILE *to)
{
    fputc('\n', to);
    print_heading("Example:", to);
    fprintf(to, "\n  %s\n", example);
}

static void print_overview(FILE *to)
{
    fprintf(to, "%s\n", about);
    print_heading("Usage:", to);
    fprintf(to, " tamis COMMAND [OPTION...] [FILE...]\n\n");
    for (const struct command *c = commands; c->name != NULL; c++)
        fprintf(to, "  %-13s %s\n", c->name, c->summary);
    fputc('\n', to);
    print_heading("Topics:", to);
    fprintf(to, "\n");
    for (const struct topic *t = topics; t->name != NULL; t++)
        fprintf(to, "  %-13s %s\n", t->name, t->summary);
    fprintf(to, "\n'tamis COMMAND --help' and 'tamis help TOPIC' tell more; tamis --version.\n");
    print_example(overview_example, to);
}

void print_help(const struct command *c, FILE *to)
{
    if (c == NULL) {
        print_overview(to);
        return;
    }
    print_heading("Usage:", to);
    fprintf(to, " tamis %s [OPTION...] %s\n\n%s\n", c->name, c->words, c->summary);
    if (c->text[0] != '\0') fprintf(to, "\n%s\n", c->text);
    fputc('\n', to);
    print_heading("Options:", to);
    fputc('\n', to);
    for (size_t i = 0; i < n_options; i++)
        if (takes(c, &options[i])) print_option(&options[i], to);
    print_example(c->example, to);
}

void print_topic(const struct topic *t, FILE *to)
{
    print_heading(t->name, to);
    fprintf(to, ": %s\n\n%s\n", t->summary, t->text);
    print_example(t->example, to);
}

void print_group(const char *group, FILE *to)
{
    print_heading("Usage:", to);
    fprintf(to, " tamis %s COMMAND [OPTION...] ...\n\n", group);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (after_group(c, group) != NULL) fprintf(to, "  %-13s %s\n", c->name, c->summary);
    fprintf(to, "\n'tamis %s COMMAND --help' tells more.\n", group);
}

/* Text for roff: a leading dot or quote would be a request, a minus sign a hyphen. */
static void print_roff(const char *text, FILE *to)
{
    for (bool first = true; *text != '\0'; text++) {
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

static void roff_option(const struct option *o, FILE *to)
{
    fputs(".TP\n.B ", to);
    if (o->letter != 0) fprintf(to, "\\-%c, ", o->letter);
    fputs("\\-\\-", to);
    print_roff(o->name, to);
    if (o->value != NULL) fprintf(to, " \\fI%s\\fR", o->value);
    fputs("\n", to);
    print_roff(o->help, to);
    fputs("\n", to);
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
    print_roff(c->summary, to);
    fputs(".\n", to);
    if (c->text[0] != '\0') {
        fputs(".PP\n", to);
        print_roff(c->text, to);
        fputs("\n", to);
    }
    for (size_t i = 0; i < n_options; i++)
        if (takes(c, &options[i]) && !is_common(&options[i])) roff_option(&options[i], to);
    roff_example(c->example, to);
}

/* exit-status becomes EXIT STATUS. Its lines stay as they are. */
static void roff_topic(const struct topic *t, FILE *to)
{
    fputs(".SH ", to);
    for (const char *p = t->name; *p != '\0'; p++)
        fputc(*p == '-' ? ' ' : toupper((unsigned char)*p), to);
    fputs("\n.nf\n", to);
    print_roff(t->text, to);
    fputs("\n.fi\n", to);
    roff_example(t->example, to);
}

void print_manual(FILE *to)
{
    fprintf(to, ".TH TAMIS 1 \"\" \"tamis %s\" \"User commands\"\n.SH NAME\n", tamis_version());
    fprintf(to,
            "tamis \\- have I seen this? approximate sets in a few bits per item\n.SH SYNOPSIS\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        fprintf(to, "%s.B tamis %s\n", c == commands ? "" : ".br\n", c->name);
        print_roff("[OPTION...] ", to);
        print_roff(c->words, to);
        fputs("\n", to);
    }
    fprintf(to, ".SH DESCRIPTION\n");
    print_roff(about, to);
    roff_example(overview_example, to);
    fprintf(to, ".SH OPTIONS OF EVERY COMMAND\n");
    for (size_t i = 0; i < n_options; i++)
        if (is_common(&options[i])) roff_option(&options[i], to);
    fprintf(to, ".SH COMMANDS\n");
    for (const struct command *c = commands; c->name != NULL; c++) roff_command(c, to);
    for (const struct topic *t = topics; t->name != NULL; t++) roff_topic(t, to);
    fprintf(to, ".SH SEE ALSO\n");
    print_roff("grep(1), sort(1), uniq(1)\n", to);
}
