#include "output.h"

#include "progress.h"

#include <tamis/count.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int utf8_length(const unsigned char *s, size_t most)
{
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
    int n = 2;
    if (s[0] >= 0xe0) n = 3;
    if (s[0] >= 0xf0) n = 4;
    if ((size_t)n > most) return 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    /* Overlong forms, surrogates, and numbers beyond the last character. */
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] >= 0xa0) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] >= 0x90) return 0;
    return n;
}

/* The same, but 0 also for characters that could move the cursor or ring the bell. */
static int shown_length(const unsigned char *s, size_t most)
{
    const int n = utf8_length(s, most);
    return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && n == 2 && s[1] < 0xa0) ? 0 : n;
}

void write_shown(const char *text, char *to, size_t size)
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

/* The error of the first write to stdout that failed, because stdio does not keep it; 0: none, or
 * output_failed was called too late. */
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

/* What looks like an address in a text. */
struct suspected {
    char *begin; /* behind its scheme; NULL: there is none */
    bool spaced; /* a password may have spaces; otherwise the address ends with its word */
    bool any;    /* of any scheme: what is before the @ is hidden only if it has a password */
};

/* The next one. A scheme of ours is recognized with one slash or none as well, although that is a
 * mistake. */
static struct suspected find_address(char *text)
{
    static const char *const schemes[] = {"redis:", "rediss:", "unix:/"};
    for (char *p = text; *p != '\0'; p++) {
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
            const size_t n = strlen(schemes[i]);
            if (strncasecmp(p, schemes[i], n) != 0) continue;
            const size_t slashes = strspn(p + n, "/");
            const bool spaced = slashes > 0 && (p[n - 1] == '/' || slashes > 1);
            return (struct suspected){p + n + (slashes < 2 ? slashes : 2), spaced, false};
        }
        if (p[0] == '/' && p[1] == '/') return (struct suspected){p + 2, false, true};
    }
    return (struct suspected){NULL, false, false};
}

/* Removes user and password from addresses in a text. Where an address is expected, messages do not
 * quote them in the first place. This is for addresses in the place of a file or an option. */
static void hide_passwords(char *text)
{
    struct suspected s;
    for (char *p = text; (s = find_address(p)).begin != NULL;) {
        p = s.begin;
        char *host_end = p + strcspn(p, "/?"), *const end = p + strcspn(p, " \t\n");
        if (!s.spaced && host_end > end) host_end = end;
        const char *at = NULL;
        for (const char *c = p; c < (host_end > end ? host_end : end); c++)
            if (*c == '@' && (c < host_end || memchr(c, '/', (size_t)(end - c)) != NULL)) at = c;
        if (at != NULL && (!s.any || memchr(p, ':', (size_t)(at - p)) != NULL))
            memmove(p, at + 1, strlen(at + 1) + 1);
    }
}

int complain(const char *about, const char *format, ...)
{
    char reason[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    progress_pause(STDERR_FILENO);
    flush_output();
    char shown[4 * sizeof reason + 8], name[4 * 4096 + 8]; /* with room for escaping every byte */
    write_shown(reason, shown, sizeof shown);
    write_shown(about != NULL ? about : "", name, sizeof name);
    hide_passwords(shown);
    hide_passwords(name);
    /* One call, so that messages of several processes do not mix. */
    fprintf(stderr, "tamis: %s%s%s\n", name, about != NULL ? ": " : "", shown);
    progress_resume(STDERR_FILENO);
    return EXIT_ERROR;
}

enum { BUFFER = 64 };

static char *next_buffer(void)
{
    static char ring[8][BUFFER];
    static unsigned turn;
    return ring[turn++ % 8];
}

void write_grouped(uint64_t v, char *p)
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
    if (x >= 0x1p64) return grouped(UINT64_MAX);
    return grouped(x > 0 ? (uint64_t)x : 0);
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

/* --- Counts ----------------------------------------------------------------------------------- */

/* What could move the cursor or ring the bell is shown as \xHH. */
void print_item(tamis_bytes item)
{
    const unsigned char *p = item.p, *const end = p + item.len;
    static int escape = -1;
    if (escape < 0)
        escape = isatty(
            STDOUT_FILENO); /* only once, because it sets errno, which a failed write may need */
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
    const char *mark = e->below_noise && e->lower != e->upper ? "~" : "";
    if (e->suspect) mark = "?";
    if (e->upper < INT64_MAX) {
        snprintf(count, sizeof count, "%s%" PRId64, mark, e->estimate);
        snprintf(interval, sizeof interval, "%" PRId64 "..%" PRId64, e->lower, e->upper);
    } else if (e->lower > INT64_MIN) { /* a lower bound: no estimate is better than another */
        snprintf(count, sizeof count, "%s%" PRId64 "+", mark, e->lower);
        snprintf(interval, sizeof interval, "%" PRId64 "..", e->lower);
    } else {
        snprintf(count, sizeof count, "unknown");
        snprintf(interval, sizeof interval, "..");
    }
    printf("%10s  %-16s  ", count, interval);
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
    errno = 0; /* an error before this one was reported already */
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    const int os = output_error != 0 ? output_error : errno;
    if (os == 0) return complain("standard output", "cannot write");
    return complain("standard output", "cannot write: %s", strerror(os));
}
