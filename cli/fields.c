#include "fields.h"

#include <string.h>

int check_fields(const struct args *a)
{
    if (a->delimiter != '\0' && a->field == 0 && a->weight_field == 0)
        return complain(NULL, "--delimiter: between which fields? See --field");
    return EXIT_FOUND;
}

struct args whole_lines(const struct args *a)
{
    struct args whole = *a;
    whole.field = whole.weight_field = 0;
    whole.delimiter = '\0';
    return whole;
}

char delimiter_from(const struct args *a)
{
    return a->delimiter != '\0' ? a->delimiter : '\t';
}

bool field_of(tamis_bytes line, uint64_t n, char delimiter, tamis_bytes *out)
{
    const char *p = line.p, *const stop = p + line.len;
    for (; n > 1; n--) {
        p = memchr(p, delimiter, (size_t)(stop - p));
        if (p == NULL) return false;
        p++;
    }
    const char *end = memchr(p, delimiter, (size_t)(stop - p));
    *out = (tamis_bytes){p, (size_t)((end != NULL ? end : stop) - p)};
    return true;
}

bool weight_of(tamis_bytes text, int64_t *out)
{
    const char *p = text.p, *const stop = p + text.len;
    const bool minus = p < stop && *p == '-';
    int64_t v = 0;
    if (p < stop && (*p == '-' || *p == '+')) p++;
    if (p == stop) return false;
    for (; p < stop; p++) {
        if (*p < '0' || *p > '9') return false;
        /* Below zero from the start: the least number has no positive counterpart. */
        const int digit = minus ? '0' - *p : *p - '0';
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v)) return false;
    }
    *out = v;
    return true;
}
