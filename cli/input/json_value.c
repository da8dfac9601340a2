/* Why not yajl, json-c or jansson: they announce or build every value of a text, with memory of its
 * own. Here one value of a line is wanted, where it is, and the others are only checked. */
#include "json_value.h"

#include <string.h>

/* Deeper nesting is refused; each level takes one call. */
enum { DEEPEST = 200 };

struct scan {
    const char *p, *stop;
    const char *reason; /* NULL: no fault so far; p is where it was found */
    const struct json_path *paths;
    size_t n;
    struct json_value *values;
};

/* --- Paths ------------------------------------------------------------------------------------ */

bool json_path_read(const char *text, struct json_path *out)
{
    char *to = out->room;
    memset(out, 0, sizeof *out);
    if (strlen(text) >= sizeof out->room) return false;
    for (const char *p = text;; p++) {
        char *const name = to;
        if (out->n == JSON_PARTS) return false;
        for (; *p != '\0' && *p != '.'; p++) {
            if (*p == '\\' && (p[1] == '.' || p[1] == '\\')) p++;
            *to++ = *p;
        }
        if (to == name) return false;
        out->parts[out->n++] = (tamis_bytes){name, (size_t)(to - name)};
        if (*p == '\0') return true;
    }
}

static bool is_same(tamis_bytes a, tamis_bytes b)
{
    return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

/* --- Characters ------------------------------------------------------------------------------- */

static bool fail(struct scan *s, const char *at, const char *reason)
{
    s->p = at;
    s->reason = reason;
    return false;
}

static bool is_json_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct scan *s)
{
    while (s->p < s->stop && is_json_blank(*s->p)) s->p++;
}

bool json_is_blank(tamis_bytes text)
{
    const char *p = text.p;
    for (size_t i = 0; i < text.len; i++)
        if (!is_json_blank(p[i])) return false;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int digit_of_unit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits after \u; -1: they are not there. */
static int32_t unit_at(const char *p, const char *stop)
{
    int32_t unit = 0;
    if (stop - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = digit_of_unit(p[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The first byte from p on that is a quote, a backslash or a control character. Eight bytes at a
 * time: in each of the three differences, the highest bit of a byte shows a zero or, in the last, a
 * byte below 0x20. A carry may also mark a byte after the first one, which does not matter. */
static const char *special_byte(const char *p, const char *stop)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    for (; stop - p >= 8; p += 8) {
        uint64_t w;
        memcpy(&w, p, sizeof w);
        const uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\';
        const uint64_t found =
            (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((w - ones * 0x20) & ~w)) &
            high;
        if (found == 0) continue;
        if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) break;
        return p + __builtin_ctzll(found) / 8;
    }
    while (p < stop && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) p++;
    return p;
}

/* Reads a string from its opening quote to behind its closing one. */
static bool read_string(struct scan *s, tamis_bytes *raw, bool *has_escapes)
{
    const char *const begin = s->p + 1;
    const char *p = begin;
    *has_escapes = false;
    for (;;) {
        p = special_byte(p, s->stop);
        if (p == s->stop) return fail(s, p, "the line ends within a string");
        if (*p == '"') break;
        if (*p != '\\') return fail(s, p, "a string contains a control character");
        *has_escapes = true;
        if (p + 1 == s->stop) return fail(s, p, "the line ends within a string");
        if (strchr("\"\\/bfnrtu", p[1]) == NULL || p[1] == '\0' ||
            (p[1] == 'u' && unit_at(p + 2, s->stop) < 0))
            return fail(s, p, "a string contains an unknown escape");
        p += p[1] == 'u' ? 6 : 2;
    }
    *raw = (tamis_bytes){begin, (size_t)(p - begin)};
    s->p = p + 1;
    return true;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)((0xff00u >> (more + 1) & 0xff) | c >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | (c >> 6 * i & 0x3f));
    return to;
}

/* The character of an escape that begins with \u at p, which moves behind it; -1: none. */
static int32_t escaped_character(const char **p, const char *stop)
{
    const int32_t first = unit_at(*p + 2, stop);
    *p += 6;
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || stop - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u') return -1;
    const int32_t second = unit_at(*p + 2, stop);
    *p += 6;
    if (second < 0xdc00 || second > 0xdfff) return -1;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

bool json_unescape(tamis_bytes raw, char *to, size_t *written)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *p = raw.p, *const stop = p + raw.len;
    char *const begin = to;
    while (p < stop) {
        const char *slash = memchr(p, '\\', (size_t)(stop - p));
        const size_t plain = (size_t)((slash != NULL ? slash : stop) - p);
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (slash == NULL) break;
        if (p[1] == 'u') {
            const int32_t c = escaped_character(&p, stop);
            if (c < 0) return false;
            to = put_utf8(to, (uint32_t)c);
        } else {
            *to++ = into[strchr(from, p[1]) - from];
            p += 2;
        }
    }
    *written = (size_t)(to - begin);
    return true;
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool read_word(struct scan *s, const char *word, tamis_bytes *raw)
{
    const size_t length = strlen(word), left = (size_t)(s->stop - s->p);
    const size_t common = left < length ? left : length;
    if (memcmp(s->p, word, common) != 0) return fail(s, s->p, "a value is expected here");
    if (left < length) return fail(s, s->stop, "the line ends within a value");
    *raw = (tamis_bytes){s->p, length};
    s->p += length;
    return true;
}

/* One or more digits. */
static bool skip_digits(struct scan *s)
{
    const char *const begin = s->p;
    while (s->p < s->stop && is_digit(*s->p)) s->p++;
    if (s->p > begin) return true;
    return fail(s, s->p, s->p == s->stop ? "the line ends within a number" : "not a number");
}

static bool json_number(struct scan *s, tamis_bytes *raw)
{
    const char *const begin = s->p;
    if (*s->p == '-') s->p++;
    if (s->p < s->stop && *s->p == '0')
        s->p++;
    else if (!skip_digits(s))
        return false;
    if (s->p < s->stop && *s->p == '.') {
        s->p++;
        if (!skip_digits(s)) return false;
    }
    if (s->p < s->stop && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        if (s->p < s->stop && (*s->p == '+' || *s->p == '-')) s->p++;
        if (!skip_digits(s)) return false;
    }
    *raw = (tamis_bytes){begin, (size_t)(s->p - begin)};
    return true;
}

static bool read_scalar(struct scan *s, struct json_value *v)
{
    *v = (struct json_value){.type = JSON_TEXT};
    switch (*s->p) {
    case '"': return read_string(s, &v->raw, &v->has_escapes);
    case 't': return read_word(s, "true", &v->raw);
    case 'f': return read_word(s, "false", &v->raw);
    case 'n': v->type = JSON_NULL; return read_word(s, "null", &v->raw);
    default: break;
    }
    if (*s->p != '-' && !is_digit(*s->p)) return fail(s, s->p, "a value is expected here");
    return json_number(s, &v->raw);
}

/* The paths, as bits, of those in `open` whose part at this depth is the name. */
static unsigned matching(const struct scan *s, unsigned open, int depth, tamis_bytes name,
                         bool has_escapes)
{
    char plain[6 * JSON_PATH_ROOM]; /* a byte of a name takes at most six in an escape */
    unsigned found = 0;
    if (open == 0) return 0;
    if (has_escapes) {
        size_t length;
        if (name.len > sizeof plain || !json_unescape(name, plain, &length)) return 0;
        name = (tamis_bytes){plain, length};
    }
    for (size_t i = 0; i < s->n; i++)
        if (open >> i & 1 && depth < s->paths[i].n && is_same(s->paths[i].parts[depth], name))
            found |= 1u << i;
    return found;
}

static size_t decimal_text(size_t n, char room[24])
{
    size_t length = 0;
    for (size_t left = n; left > 0 || length == 0; left /= 10) length++;
    for (size_t i = length; i > 0; n /= 10) room[--i] = (char)('0' + n % 10);
    return length;
}

static bool read_value(struct scan *s, unsigned open, int depth);

/* Behind a member or an element: true if another one follows; false at the end, or after a
 * fault. */
static bool goes_on(struct scan *s, char close)
{
    skip_blanks(s);
    if (s->p == s->stop) return fail(s, s->p, "the line ends within an object or an array");
    if (*s->p != ',' && *s->p != close)
        return fail(s, s->p,
                    close == '}' ? "a comma or } is expected here"
                                 : "a comma or ] is expected here");
    return *s->p++ == ',';
}

static bool has_nothing(struct scan *s, char close)
{
    s->p++;
    skip_blanks(s);
    if (s->p == s->stop || *s->p != close) return false;
    s->p++;
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static bool read_object(struct scan *s, unsigned open, int depth)
{
    tamis_bytes name;
    bool has_escapes;
    if (has_nothing(s, '}')) return true;
    do {
        skip_blanks(s);
        if (s->p == s->stop) return fail(s, s->p, "the line ends within an object");
        if (*s->p != '"') return fail(s, s->p, "the name of a member is expected here");
        if (!read_string(s, &name, &has_escapes)) return false;
        skip_blanks(s);
        if (s->p == s->stop) return fail(s, s->p, "the line ends within an object");
        if (*s->p != ':') return fail(s, s->p, "a colon is expected here");
        s->p++;
        if (!read_value(s, matching(s, open, depth, name, has_escapes), depth + 1)) return false;
    } while (goes_on(s, '}'));
    return s->reason == NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static bool read_array(struct scan *s, unsigned open, int depth)
{
    char room[24];
    size_t i = 0;
    if (has_nothing(s, ']')) return true;
    do {
        unsigned found = 0;
        if (open != 0)
            found = matching(s, open, depth, (tamis_bytes){room, decimal_text(i, room)}, false);
        if (!read_value(s, found, depth + 1)) return false;
        i++;
    } while (goes_on(s, ']'));
    return s->reason == NULL;
}

static void keep(struct scan *s, unsigned open, int depth, struct json_value v)
{
    for (size_t i = 0; i < s->n; i++) {
        if ((open >> i & 1) == 0) continue;
        /* A later member of the same name replaces an earlier one with all that is in it. */
        s->values[i] = (struct json_value){.type = JSON_MISSING};
        if (s->paths[i].n == depth) s->values[i] = v;
    }
}

/* `open`: the paths of which this value is the beginning. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static bool read_value(struct scan *s, unsigned open, int depth)
{
    struct json_value v = {.type = JSON_OTHER};
    skip_blanks(s);
    if (s->p == s->stop) return fail(s, s->p, "the line ends where a value is expected");
    if (*s->p != '{' && *s->p != '[') {
        if (!read_scalar(s, &v)) return false;
        if (open != 0) keep(s, open, depth, v);
        return true;
    }
    if (depth == DEEPEST) return fail(s, s->p, "values are nested too deeply");
    if (open != 0) keep(s, open, depth, v);
    return *s->p == '{' ? read_object(s, open, depth) : read_array(s, open, depth);
}

bool json_values(tamis_bytes text, const struct json_path *paths, size_t n,
                 struct json_value values[JSON_PATHS], const char **at, const char **reason)
{
    struct scan s = {.p = text.p, .paths = paths, .n = n, .values = values};
    unsigned open = 0;
    s.stop = s.p + text.len;
    for (size_t i = 0; i < n; i++) {
        values[i] = (struct json_value){.type = JSON_MISSING};
        if (paths[i].n > 0) open |= 1u << i;
    }
    skip_blanks(&s);
    if (s.p == s.stop) return true;
    bool good = read_value(&s, open, 0);
    if (good) skip_blanks(&s);
    if (good && s.p != s.stop) good = fail(&s, s.p, "the value is followed by something else");
    *at = s.p;
    *reason = s.reason;
    return good;
}
