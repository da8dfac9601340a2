/* --help and the manual page, from the tables. */
#include "options.h"

static const char about[] =
    "Tamis answers \"have I seen this?\" about data too big to keep, in a few bits per item.\n"
    "A \"no\" is always right (but of a pair filter); a \"maybe\" is wrong at a rate you choose.\n";

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

void print_help(const struct command *c, FILE *to)
{
    if (c == NULL) {
        fprintf(to, "%s\nUsage: tamis COMMAND [OPTION...] [FILE...]\n\n", about);
        for (c = commands; c->name != NULL; c++) fprintf(to, "  %-13s %s\n", c->name, c->summary);
        fprintf(to, "\n'tamis COMMAND --help' tells more. Example:\n\n"
                    "  tamis build -o seen.tamis list.txt && tamis check seen.tamis other.txt\n");
        return;
    }
    fprintf(to, "Usage: tamis %s [OPTION...] %s\n\n%s\n", c->name, c->words, c->summary);
    if (c->text[0] != '\0') fprintf(to, "\n%s\n", c->text);
    fprintf(to, "\nOptions:\n");
    for (size_t i = 0; i < n_options; i++)
        if (takes(c, &options[i])) print_option(&options[i], to);
    fprintf(to, "\nExample:\n  %s\n", c->example);
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
    print_roff(
        "A line is a key: any bytes, any length, without its newline. Input comes from the files\n"
        "named, or from standard input; - stands for standard input.\n",
        to);
    fprintf(to, ".SH COMMANDS\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        fprintf(to, ".SS %s\n", c->name);
        print_roff(c->summary, to);
        fputs(".\n", to);
        if (c->text[0] != '\0') {
            fputs(".PP\n", to);
            print_roff(c->text, to);
            fputs("\n", to);
        }
        for (size_t i = 0; i < n_options; i++) {
            const struct option *o = &options[i];
            if (!takes(c, o) || o->letter == 'h') continue;
            fputs(".TP\n.B ", to);
            if (o->letter != 0) fprintf(to, "\\-%c, ", o->letter);
            fputs("\\-\\-", to);
            print_roff(o->name, to);
            if (o->value != NULL) fprintf(to, " \\fI%s\\fR", o->value);
            fputs("\n", to);
            print_roff(o->help, to);
            fputs("\n", to);
        }
        fputs(".PP\nExample:\n.PP\n.nf\n", to);
        print_roff(c->example, to);
        fputs("\n.fi\n", to);
    }
    fprintf(to, ".SH EXIT STATUS\n");
    print_roff(
        "0: a line was selected, or the work was done. 1: no line was selected, or a measured "
        "rate\n"
        "is off. 2: an error, with one line on standard error that names the file and the reason;\n"
        "no filter was written or changed.\n",
        to);
    fprintf(to, ".SH SEE ALSO\n");
    print_roff("grep(1), sort(1), uniq(1)\n", to);
}
