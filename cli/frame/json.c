#include "json.h"

#include "output.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool json_first = true;
static unsigned json_depth;

void json_open(char bracket)
{
    if (json_depth++ > 0 && !json_first) putchar(',');
    putchar(bracket);
    json_first = true;
}

void json_close(char bracket)
{
    putchar(bracket);
    json_depth--;
    json_first = false;
}

/* A byte of a file name that is not UTF-8 becomes the character of that number. */
static void json_string(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + length;
    putchar('"');
    while (s < end) {
        const int n = utf8_length(s, (size_t)(end - s));
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if (*s < 0x20 || n == 0)
            printf("\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, stdout);
        s += n > 0 ? n : 1;
    }
    putchar('"');
}

/* A NULL name means an element of a list. */
static void json_name(const char *name)
{
    if (!json_first) fputs(", ", stdout);
    json_first = false;
    if (name == NULL) return;
    json_string(name, strlen(name));
    fputs(": ", stdout);
}

void json_list(const char *name)
{
    json_name(name);
    json_first = true;
    json_open('[');
}

void json_text_n(const char *name, const char *value, size_t length)
{
    json_name(name);
    json_string(value, length);
}

void json_text(const char *name, const char *value)
{
    json_text_n(name, value, strlen(value));
}

static bool is_utf8(tamis_bytes text)
{
    const unsigned char *s = text.p, *const end = s + text.len;
    for (int n; s < end; s += n)
        if ((n = utf8_length(s, (size_t)(end - s))) == 0) return false;
    return true;
}

void json_key(const char *name, tamis_bytes key)
{
    const unsigned char *s = key.p;
    json_text_n(name, key.p, key.len);
    if (is_utf8(key)) return;
    char hex[32];
    snprintf(hex, sizeof hex, "%s_hex", name);
    json_name(hex);
    putchar('"');
    for (size_t i = 0; i < key.len; i++) printf("%02x", s[i]);
    putchar('"');
}

void json_count(const char *name, uint64_t value)
{
    json_name(name);
    printf("%" PRIu64, value);
}

void json_integer(const char *name, int64_t value)
{
    json_name(name);
    printf("%" PRId64, value);
}

void json_number(const char *name, double value)
{
    json_name(name);
    if (isfinite(value))
        printf("%.12g", value);
    else
        fputs("null", stdout);
}

void json_lower_bound(uint32_t which, double bits, double ratio)
{
    const bool none = which == TAMIS_BOUND_NONE;
    json_number("bound_bits", none ? NAN : bits);
    json_number("bound_ratio", none ? NAN : ratio);
    if (none)
        json_number("bound", NAN);
    else
        json_text("bound", tamis_bound_name(which));
}

void json_bool(const char *name, bool value)
{
    json_name(name);
    fputs(value ? "true" : "false", stdout);
}

/* An older module of a server does not report everything. Its confidence is NAN, and what is
 * unknown is null. */
void json_frequency(const tamis_estimate *e)
{
    const bool told = !isnan(e->confidence);
    json_integer("count", e->estimate);
    json_integer("lower", e->lower);
    json_integer("upper", e->upper);
    json_number("confidence", e->confidence);
    if (told) json_bool("below_noise", e->below_noise);
    if (!told) json_number("below_noise", NAN);
    if (told && e->certain != INT64_MIN) json_integer("certain", e->certain);
    if (!told) json_number("certain", NAN);
    if (told && e->judged) json_bool("suspect", e->suspect);
    if (!told || !e->judged) json_number("suspect", NAN); /* null: this kind does not judge it */
}

void json_heavy(const tamis_heavy *h)
{
    json_open('{');
    if (h->item.p != NULL) json_key("item", h->item);
    if (h->item.p == NULL) json_number("item", NAN);
    if (h->item.p == NULL || h->length > h->item.len) json_count("length", h->length);
    json_frequency(&h->count);
    json_close('}');
}
