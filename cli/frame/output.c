#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* Length of the UTF-8 character at s, of which there are so many bytes, or 0 when it is none. */
static int utf8_length(const unsigned char *s, size_t most)
{
    const int n = s[0] < 0x80   ? 1
                  : s[0] < 0xc2 ? 0
                  : s[0] < 0xe0 ? 2
                  : s[0] < 0xf0 ? 3
                  : s[0] < 0xf5 ? 4
                                : 0;
    if ((size_t)n > most) return 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    /* Longer than need be, a half of a pair, beyond the last. */
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] >= 0xa0) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] >= 0x90) return 0;
    return n;
}

/* The same, but 0 as well for what could move the cursor or ring the bell. */
static int shown_length(const unsigned char *s, size_t most)
{
    const int n = utf8_length(s, most);
    return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && n == 2 && s[1] < 0xa0) ? 0 : n;
}

/* For a terminal: what it could obey is shown as \xHH. Elsewhere the bytes as they are; cut where
 * there is no room. */
static void escape(const char *text, char *to, size_t size)
{
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const unsigned char *s = (const unsigned char *)text, *const end = s + strlen(text);
    while (s < end && size > 5) {
        const int n = terminal ? shown_length(s, (size_t)(end - s)) : 1;
        if (n == 0)
            snprintf(to, size, "\\x%02x", *s);
        else
            memcpy(to, s, (size_t)n);
        to += n > 0 ? n : 4;
        size -= n > 0 ? (size_t)n : 4;
        s += n > 0 ? n : 1;
    }
    *to = '\0';
}

/* Why the first write to stdout failed, as stdio forgets it with the bytes; 0: none did, or nobody
 * looked at once. */
static int output_error;

bool output_failed(void)
{
    if (ferror(stdout) && output_error == 0) output_error = errno;
    return ferror(stdout) != 0;
}

void flush_output(void)
{
    if (fflush(stdout) != 0) output_failed();
}

int complain(const char *about, const char *format, ...)
{
    char reason[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    flush_output();
    char shown[4 * sizeof reason + 8], name[4 * 4096 + 8]; /* of all of them escaped */
    escape(reason, shown, sizeof shown);
    escape(about != NULL ? about : "", name, sizeof name);
    /* One call, so that messages of several processes do not mix. */
    fprintf(stderr, "tamis: %s%s%s\n", name, about != NULL ? ": " : "", shown);
    return EXIT_ERROR;
}

enum { BUFFER = 64 };

static char *next_buffer(void)
{
    static char ring[8][BUFFER];
    static unsigned turn;
    return ring[turn++ % 8];
}

static void write_grouped(uint64_t v, char *p)
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, v);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
}

const char *grouped(uint64_t v)
{
    char *out = next_buffer();
    write_grouped(v, out);
    return out;
}

const char *grouped_real(double x)
{
    return grouped(!(x > 0) ? 0 : x < 0x1p64 ? (uint64_t)x : UINT64_MAX);
}

const char *rate_text(double rate)
{
    char *out = next_buffer();
    const int n =
        rate > 0 ? snprintf(out, BUFFER, "%.3g %%", 100 * rate) : snprintf(out, BUFFER, "0");
    if (rate >= 1e-15 && rate <= 0.5) {
        strcpy(out + n, " (1 in ");
        write_grouped((uint64_t)llround(1 / rate), out + strlen(out));
        strcat(out, ")");
    }
    return out;
}

/* --- JSON ------------------------------------------------------------------------------------- */

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

/* File names are bytes; what is not UTF-8 in them becomes the character of that number. */
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

/* name NULL: of a list. */
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

void json_bool(const char *name, bool value)
{
    json_name(name);
    fputs(value ? "true" : "false", stdout);
}

/* --- Counts ----------------------------------------------------------------------------------- */

/* What could move the cursor or ring the bell is shown as \xHH. */
void print_item(tamis_bytes item)
{
    const unsigned char *p = item.p, *const end = p + item.len;
    static int escape = -1;
    if (escape < 0)
        escape = isatty(STDOUT_FILENO); /* once: it sets errno, which a write may need */
    if (escape == 0) fwrite(p, 1, item.len, stdout);
    while (escape != 0 && p < end) {
        const int n = shown_length(p, (size_t)(end - p));
        if (n == 0)
            printf("\\x%02x", *p);
        else
            fwrite(p, 1, (size_t)n, stdout);
        p += n > 0 ? n : 1;
    }
}

void print_count(const tamis_estimate *e)
{
    char count[32], interval[48];
    const char *mark = e->suspect ? "?" : e->below_noise && e->lower != e->upper ? "~" : "";
    if (e->upper < INT64_MAX) {
        snprintf(count, sizeof count, "%s%" PRId64, mark, e->estimate);
        snprintf(interval, sizeof interval, "%" PRId64 "..%" PRId64, e->lower, e->upper);
    } else if (e->lower > INT64_MIN) { /* so often or more: no guess is better than another */
        snprintf(count, sizeof count, "%s%" PRId64 "+", mark, e->lower);
        snprintf(interval, sizeof interval, "%" PRId64 "..", e->lower);
    } else {
        snprintf(count, sizeof count, "unknown");
        snprintf(interval, sizeof interval, "..");
    }
    printf("%10s  %-16s  ", count, interval);
}

/* What an older module of a server does not tell has confidence NAN, and is unknown: null. */
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
    if (!told || !e->judged) json_number("suspect", NAN); /* null: this kind cannot tell */
}

void print_frequency(const struct args *a, tamis_bytes item, const tamis_estimate *e)
{
    if (a->json) {
        json_open('{');
        json_key("item", item);
        json_frequency(e);
        json_close('}');
    } else {
        print_count(e);
        print_item(item);
    }
    putchar(a->nul && !a->json ? '\0' : '\n');
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

void print_heavy_item(const tamis_heavy *h)
{
    if (h->item.p == NULL && h->hash == 0)
        fputs("(text not kept)", stdout);
    else if (h->item.p == NULL)
        printf("(text not kept, hash %016" PRIx64 ")", h->hash);
    else
        print_item(h->item);
    if (h->item.p != NULL && h->length > h->item.len) fputs("...", stdout);
}

int finish_output(int status)
{
    errno = 0; /* what failed before left a reason of its own, or somebody else's */
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    const int os = output_error != 0 ? output_error : errno;
    if (os == 0) return complain("standard output", "cannot write");
    return complain("standard output", "cannot write: %s", strerror(os));
}
