#include "faults.h"

#include "../frame/output.h"
#include "fields.h"

#include <stdio.h>

static const char *plural(uint64_t n)
{
    return n > 1 ? "s" : "";
}

/* "fewer than 3 fields, so 'note' is missing" */
static void write_too_few(const struct fault_class *c, const struct column *column, char *out,
                          size_t size)
{
    const bool named = column->number == 0 && column->text != NULL;
    const int n =
        snprintf(out, size, "fewer than %s field%s", grouped(c->wanted), plural(c->wanted));
    if (named) snprintf(out + n, size - (size_t)n, ", so '%.60s' is missing", column->text);
}

/* What is wrong with the first line of a class. The result is valid until the next call. */
static const char *fault_of(const struct form *form, const struct faults *f, enum skip why,
                            enum role role)
{
    static char text[200];
    const struct line_args *how = form->how;
    const struct column *columns[ROLES] = {&how->field, &how->group_field, number_column(how)};
    const struct fault_class *c = &f->of[why][role];
    const char *name = columns[role]->text != NULL ? columns[role]->text : "";
    switch (why) {
    case TOO_FEW: write_too_few(c, columns[role], text, sizeof text); break;
    case BAD_WEIGHT:
        snprintf(text, sizeof text, "the %s '%s' is not a whole number of at most %s bits",
                 how->value_field.text != NULL ? "value" : "weight", c->text,
                 how->value_field.text != NULL ? "32" : "64");
        break;
    case NOT_VALID: snprintf(text, sizeof text, "%s", c->reason); break;
    case RETURN: return "its key ends with a carriage return, which --crlf removes";
    case NO_VALUE: snprintf(text, sizeof text, "there is no value at '%.60s'", name); break;
    case HALF_PAIR:
        snprintf(text, sizeof text, "the text at '%.60s' has half of a surrogate pair", name);
        break;
    default:
        snprintf(text, sizeof text, "the value at '%.60s' is not a text, a number or a boolean",
                 name);
    }
    return text;
}

uint64_t faults_number(const struct faults *f)
{
    uint64_t all = 0;
    for (enum skip why = KEPT + 1; why < BLANK; why++)
        for (enum role role = KEY; role < ROLES; role++) all += f->of[why][role].n;
    return all;
}

void faults_refuse(const struct form *form, const struct faults *f, enum skip why, enum role role)
{
    const struct fault_class *c = &f->of[why][role];
    if (why == NOT_VALID)
        complain(c->path, "line %s, column %s: %s", grouped(c->line), grouped(c->column),
                 fault_of(form, f, why, role));
    else
        complain(c->path, "line %s: %s", grouped(c->line), fault_of(form, f, why, role));
}

void faults_report_no_key(const struct form *form, const struct faults *f)
{
    enum skip most = TOO_FEW;
    enum role whose = KEY;
    for (enum skip why = KEPT + 1; why < BLANK; why++)
        for (enum role role = KEY; role < ROLES; role++)
            if (f->of[why][role].n > f->of[most][whose].n) most = why, whose = role;
    const struct fault_class *c = &f->of[most][whose];
    complain(c->path, "no line has a key; line %s: %s", grouped(c->line),
             fault_of(form, f, most, whose));
}

static void report_class(const struct form *form, const struct faults *f, enum skip why,
                         enum role role)
{
    const struct fault_class *c = &f->of[why][role];
    if (c->n > 0 && why != NOT_VALID)
        complain(c->path, "line %s: %s; skipped %s such line%s", grouped(c->line),
                 fault_of(form, f, why, role), grouped(c->n), plural(c->n));
    else if (c->n > 0)
        complain(c->path, "line %s, column %s: %s; skipped %s record%s that %s not %s",
                 grouped(c->line), grouped(c->column), fault_of(form, f, why, role), grouped(c->n),
                 plural(c->n), c->n > 1 ? "are" : "is", form->format == CSV ? "CSV" : "JSON");
}

void faults_report(const struct form *form, const struct faults *f)
{
    for (enum skip why = KEPT + 1; why < BLANK; why++)
        for (enum role role = KEY; role < ROLES; role++) report_class(form, f, why, role);
}
