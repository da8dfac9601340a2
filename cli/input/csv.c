/* Why not libcsv: it looks at one byte at a time, calls a function for every field, copies all of
 * them, and cannot begin in the middle of a file, which threads need. Here memchr finds the few
 * bytes that matter. */
#include "csv.h"

#include <string.h>

/* A quote that is not closed within this length is taken to be a mistake. */
#define MOST_QUOTED ((ptrdiff_t)16 << 20)

static const char never_closed[] = "the quote that begins here is never closed";
static const char too_long[] = "the quote that begins here is not closed within 16 MiB";
static const char after_quote[] = "the closing quote is followed by something else";

/* memchr for bytes that are usually near: most fields are short, and a call takes longer than to
 * look at eight bytes at once. The lowest byte of the difference that borrows is the first zero. */
static inline const char *memchr_near(const char *p, char byte, const char *stop)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    for (int i = 0; i < 4 && stop - p >= 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; i++) {
        uint64_t w;
        memcpy(&w, p, sizeof w);
        w ^= ones * (unsigned char)byte;
        const uint64_t found = (w - ones) & ~w & high;
        if (found != 0) return p + __builtin_ctzll(found) / 8;
        p += 8;
    }
    return memchr(p, byte, (size_t)(stop - p));
}

/* The newline from p on. A final text has one. */
static const char *end_of_line(const char *p, const char *stop)
{
    return memchr(p, '\n', (size_t)(stop - p));
}

/* A field in quotes. */
struct quoted {
    const char *close; /* its closing quote; NULL: there is none within MOST_QUOTED */
    bool has_doubled;  /* quotes */
    bool is_long;      /* there is more text than MOST_QUOTED */
};

/* The result does not depend on how much text follows MOST_QUOTED, and hence not on how it was
 * read. */
static struct quoted quoted_at(const char *open, const char *stop)
{
    struct quoted q = {.is_long = stop - open > MOST_QUOTED};
    const char *p = open + 1;
    if (q.is_long) stop = open + MOST_QUOTED;
    for (; (p = memchr_near(p, '"', stop)) != NULL; p += 2) {
        if (p + 1 == stop || p[1] != '"') break;
        q.has_doubled = true;
    }
    if (p != NULL && !(q.is_long && p + 1 == stop)) q.close = p;
    return q;
}

/* Whether a field in quotes ends here, behind its closing quote. */
static bool ends_field(const char *p, const char *stop, char delimiter)
{
    if (p == stop || *p == delimiter || *p == '\n') return true;
    return *p == '\r' && (p + 1 == stop || p[1] == '\n');
}

static bool begins_field(const char *text, const char *p, char delimiter)
{
    return p == text || p[-1] == delimiter || p[-1] == '\n';
}

/* The beginning of the last line that begins in this part, which is outside of quotes; NULL:
 * there is none. */
static const char *last_line(const char *p, const char *stop)
{
    const char *newline = memrchr(p, '\n', (size_t)(stop - p));
    return newline != NULL ? newline + 1 : NULL;
}

/* From one field in quotes to the next; what is between them is outside of quotes. */
const char *csv_last_end(const char *text, const char *stop, char delimiter, bool final)
{
    const char *p = text, *last = text, *line, *quote;
    for (const char *from = p; (quote = memchr_near(from, '"', stop)) != NULL;) {
        if (!begins_field(text, quote, delimiter)) {
            from = quote + 1;
            continue;
        }
        if ((line = last_line(p, quote)) != NULL) last = line;
        const struct quoted q = quoted_at(quote, stop);
        const bool unknown = q.close == NULL ? !q.is_long : q.close + 1 == stop;
        if (unknown && !final) return last; /* its record is not whole yet */
        if (q.close != NULL && ends_field(q.close + 1, stop, delimiter)) {
            from = p = q.close + 1;
            continue;
        }
        const char *newline = end_of_line(quote, stop);
        if (newline == NULL) return last;
        from = p = last = newline + 1;
    }
    line = last_line(p, stop);
    return line != NULL ? line : last;
}

static void keep_field(const uint64_t *columns, size_t n, uint64_t number, struct csv_field field,
                       struct csv_field *fields)
{
    for (size_t i = 0; i < n; i++)
        if (columns[i] == number) fields[i] = field;
}

/* Without the carriage return of a line end. */
static tamis_bytes last_field(const char *p, const char *end)
{
    return (tamis_bytes){p, (size_t)(end - p) - (end > p && end[-1] == '\r')};
}

static uint64_t newlines(const char *p, const char *stop)
{
    uint64_t n = 0;
    while ((p = memchr(p, '\n', (size_t)(stop - p))) != NULL) n++, p++;
    return n;
}

/* The quote at `open` is not closed, or its closing quote is followed by something else. If that is
 * in another line, the quote belongs to another field, and this one was never closed. */
static bool is_faulty(const char *p, const char *open, struct quoted q, const char *stop,
                      struct csv_record *out)
{
    out->end = end_of_line(open, stop);
    out->lines = newlines(p, out->end) + 1;
    const bool here = q.close != NULL && q.close < out->end;
    out->fault_at = here ? q.close + 1 : open;
    out->fault = here ? after_quote : q.close == NULL && q.is_long ? too_long : never_closed;
    return false;
}

bool csv_read(const char *p, const char *stop, char delimiter, const uint64_t *columns, size_t n,
              struct csv_field *fields, struct csv_record *out)
{
    const char *const begin = p;
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (columns[i] > most) most = columns[i];
    out->end = end_of_line(p, stop);
    out->lines = 1;
    for (out->found = 1;; out->found++) {
        struct csv_field field;
        if (out->found > most && memchr(p, '"', (size_t)(out->end - p)) == NULL) return true;
        if (*p != '"') {
            const char *next = memchr_near(p, delimiter, out->end);
            const bool last = next == NULL;
            field.raw = last ? last_field(p, out->end) : (tamis_bytes){p, (size_t)(next - p)};
            field.has_doubled = false;
            keep_field(columns, n, out->found, field, fields);
            if (last) return true;
            p = next + 1;
            continue;
        }
        const struct quoted q = quoted_at(p, stop);
        const char *const close = q.close;
        if (close == NULL || !ends_field(close + 1, stop, delimiter))
            return is_faulty(begin, p, q, stop, out);
        field.has_doubled = q.has_doubled;
        field.raw = (tamis_bytes){p + 1, (size_t)(close - p - 1)};
        keep_field(columns, n, out->found, field, fields);
        if (close > out->end) {
            out->lines += newlines(out->end, close);
            out->end = end_of_line(close, stop);
        }
        if (close[1] != delimiter) return true;
        p = close + 2;
    }
}

size_t csv_unquote(tamis_bytes raw, char *to)
{
    const char *p = raw.p, *const stop = p + raw.len;
    char *const begin = to;
    for (const char *quote; (quote = memchr(p, '"', (size_t)(stop - p))) != NULL; p = quote + 2) {
        memcpy(to, p, (size_t)(quote + 1 - p));
        to += quote + 1 - p;
    }
    memcpy(to, p, (size_t)(stop - p));
    return (size_t)(to - begin) + (size_t)(stop - p);
}
