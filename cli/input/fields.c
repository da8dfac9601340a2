#include "fields.h"

#include "../frame/output.h"
#include "json_value.h"

#include <string.h>

/* What is wrong with the format of the lines; NULL: nothing. */
static const char *wrong_format(const struct line_args *how)
{
    const bool csv = how->csv || how->tsv;
    if (how->csv && how->tsv) return "--csv cannot be combined with --tsv";
    if (csv && how->jsonl) return "--csv and --tsv cannot be combined with --jsonl";
    if (how->tsv && how->delimiter != 0) return "--tsv has tabs as delimiters: use --csv with -t";
    if (csv && how->nul) return "records of CSV end with a newline: --csv and --tsv exclude -z";
    if (csv && (how->delimiter == BLANKS || how->delimiter == '"' || how->delimiter == '\n' ||
                how->delimiter == '\r'))
        return "--csv: the delimiter must be one byte, and not a quote or a line end";
    if (how->jsonl && how->header) return "--header is for --csv, --tsv and lines, not for --jsonl";
    if (how->jsonl && how->delimiter != 0) return "--jsonl has no --delimiter";
    if (how->jsonl && how->field.text == NULL && how->list_field.text == NULL)
        return "--jsonl requires --field, such as --field user.id";
    return NULL;
}

/* jq writes a dot before a path. */
static bool complain_of_path(const char *text, const char *option)
{
    struct json_path path;
    const char *meant = text[0] == '.' && json_path_read(text + 1, &path) ? text + 1 : NULL;
    complain(NULL, "--%s: '%s' is not names with dots between them%s%s%s", option, text,
             meant != NULL ? "; did you mean '" : "", meant != NULL ? meant : "",
             meant != NULL ? "'?" : "");
    return false;
}

/* False after a message when an option names a field that cannot be there. */
static bool check_column(const struct line_args *how, const struct column *c, const char *option)
{
    struct json_path path;
    if (c->text == NULL) return true;
    if (how->jsonl) return json_path_read(c->text, &path) || complain_of_path(c->text, option);
    if (c->number == 0 && strspn(c->text, "0") == strlen(c->text))
        complain(NULL,
                 "--%s: '%s' is not the number of a field, counted from 1, or the name of a column",
                 option, c->text);
    else if (c->number == 0 && !how->header)
        complain(NULL,
                 "--%s: '%s' is not a number; columns have names only with --header, or with "
                 "--jsonl",
                 option, c->text);
    else
        return true;
    return false;
}

bool check_fields(const struct line_args *how)
{
    const bool fields = how->field.text != NULL || number_column(how)->text != NULL ||
                        how->list_field.text != NULL || how->group_field.text != NULL;
    const char *wrong = wrong_format(how);
    if (wrong == NULL && how->delimiter != 0 && !fields && !how->csv)
        wrong = "--delimiter requires --field or --weight-field";
    if (wrong != NULL) complain(NULL, "%s", wrong);
    return wrong == NULL && check_column(how, &how->field, "field") &&
           check_column(how, &how->weight_field, "weight-field") &&
           check_column(how, &how->value_field, "value-field") &&
           check_column(how, &how->group_field, "by") &&
           check_column(how, &how->list_field, "list-field");
}

struct line_args list_lines(const struct line_args *how)
{
    struct line_args list = *how;
    list.field = how->list_field;
    list.weight_field = list.value_field = list.group_field = (struct column){NULL, 0};
    if (list.field.text == NULL) list.csv = list.tsv = list.jsonl = list.header = false;
    return list;
}

int delimiter_from(const struct line_args *how)
{
    return how->delimiter != 0 ? how->delimiter : how->csv ? ',' : '\t';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool field_between_blanks(tamis_bytes line, uint64_t n, tamis_bytes *out)
{
    const char *p = line.p, *from = p, *const stop = p + line.len;
    for (; n > 0; n--) {
        while (p < stop && is_blank(*p)) p++;
        if (p == stop) return false;
        for (from = p; p < stop && !is_blank(*p);) p++;
    }
    *out = (tamis_bytes){from, (size_t)(p - from)};
    return true;
}

bool field_of(tamis_bytes line, uint64_t n, int delimiter, tamis_bytes *out)
{
    const char *p = line.p, *const stop = p + line.len;
    if (delimiter == BLANKS) return field_between_blanks(line, n, out);
    for (; n > 1; n--) {
        p = memchr(p, delimiter, (size_t)(stop - p));
        if (p == NULL) return false;
        p++;
    }
    const char *end = memchr(p, delimiter, (size_t)(stop - p));
    *out = (tamis_bytes){p, (size_t)((end != NULL ? end : stop) - p)};
    return true;
}

tamis_bytes without_return(tamis_bytes line)
{
    const char *p = line.p;
    return (tamis_bytes){p, line.len - (line.len > 0 && p[line.len - 1] == '\r')};
}

const struct column *number_column(const struct line_args *how)
{
    return how->value_field.text != NULL ? &how->value_field : &how->weight_field;
}

bool value_of(tamis_bytes text, int64_t *out)
{
    const char *p = text.p, *const stop = p + text.len;
    *out = 0;
    for (; p < stop && *p >= '0' && *p <= '9' && *out <= MOST_VALUE; p++)
        *out = 10 * *out + (*p - '0');
    return text.len > 0 && p == stop && *out <= MOST_VALUE;
}

bool weight_of(tamis_bytes text, int64_t *out)
{
    const char *p = text.p, *const stop = p + text.len;
    const bool minus = p < stop && *p == '-';
    int64_t v = 0;
    *out = 0;
    if (minus && text.len == 1) return true;
    if (p < stop && (*p == '-' || *p == '+')) p++;
    if (p == stop) return false;
    for (; p < stop; p++) {
        if (*p < '0' || *p > '9') return false;
        /* Counted below zero, because the least number has no positive counterpart. */
        const int digit = minus ? '0' - *p : *p - '0';
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v)) return false;
    }
    *out = v;
    return true;
}
