#include "fields.h"

#include "../frame/output.h"

#include <string.h>

bool check_fields(const struct line_args *how)
{
    const bool fields =
        how->field != 0 || how->weight_field != 0 || how->list_field != 0 || how->group_field != 0;
    if (how->delimiter == 0 || fields) return true;
    complain(NULL, "--delimiter requires --field or --weight-field");
    return false;
}

struct line_args list_lines(const struct line_args *how)
{
    struct line_args list = *how;
    list.field = how->list_field;
    list.weight_field = list.group_field = 0;
    return list;
}

int delimiter_from(const struct line_args *how)
{
    return how->delimiter != 0 ? how->delimiter : '\t';
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
