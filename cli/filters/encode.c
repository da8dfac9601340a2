#include "encode.h"

#include "../frame/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes the bytes of one line, and returns their number, or NONE. A text has at most twice the
 * bytes of the line, a number at most 8. */
#define NONE SIZE_MAX
typedef size_t encoder(const uint8_t *line, size_t n, uint8_t *to);

struct encoding {
    const char *name;
    encoder *encode; /* NULL: the bytes of the line */
};

static size_t put_bytes(uint64_t v, size_t bytes, uint8_t *to)
{
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
    return bytes;
}

/* A copy with a terminating zero, for the functions of C. False: a number is never that long, and
 * never begins with a blank. */
static bool terminate(const uint8_t *line, size_t n, char text[64])
{
    if (n == 0 || n >= 64 || memchr(line, '\0', n) != NULL) return false;
    memcpy(text, line, n);
    text[n] = '\0';
    return strchr(" \t\n\v\f\r", text[0]) == NULL;
}

static size_t integer(const uint8_t *line, size_t n, int64_t low, uint64_t high, size_t bytes,
                      uint8_t *to)
{
    char text[64], *end;
    if (!terminate(line, n, text)) return NONE;
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    errno = 0;
    if (text[0] == '-') {
        const long long v = strtoll(text, &end, 10);
        if (errno != 0 || *end != '\0' || end == digits || v < low) return NONE;
        return put_bytes((uint64_t)v, bytes, to);
    }
    const unsigned long long v = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || errno != 0 || *end != '\0' || v > high) return NONE;
    return put_bytes(v, bytes, to);
}

static size_t int32(const uint8_t *line, size_t n, uint8_t *to)
{
    return integer(line, n, INT32_MIN, INT32_MAX, 4, to);
}

static size_t int64(const uint8_t *line, size_t n, uint8_t *to)
{
    return integer(line, n, INT64_MIN, INT64_MAX, 8, to);
}

static size_t uint32(const uint8_t *line, size_t n, uint8_t *to)
{
    return integer(line, n, 0, UINT32_MAX, 4, to);
}

static size_t uint64(const uint8_t *line, size_t n, uint8_t *to)
{
    return integer(line, n, 0, UINT64_MAX, 8, to);
}

static size_t single(const uint8_t *line, size_t n, uint8_t *to)
{
    char text[64], *end;
    uint32_t bits;
    if (!terminate(line, n, text)) return NONE;
    const float v = strtof(text, &end);
    if (*end != '\0' || (isinf(v) && strpbrk(text, "0123456789") != NULL))
        return NONE; /* too big */
    memcpy(&bits, &v, sizeof bits);
    return put_bytes(bits, 4, to);
}

static size_t wide(const uint8_t *line, size_t n, uint8_t *to)
{
    char text[64], *end;
    uint64_t bits;
    if (!terminate(line, n, text)) return NONE;
    const double v = strtod(text, &end);
    if (*end != '\0' || (isinf(v) && strpbrk(text, "0123456789") != NULL))
        return NONE; /* too big */
    memcpy(&bits, &v, sizeof bits);
    return put_bytes(bits, 8, to);
}

/* The character at line[*at]; *at moves behind it. UINT32_MAX: not UTF-8. */
static uint32_t next_character(const uint8_t *line, size_t n, size_t *at)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const uint8_t first = line[(*at)++];
    if (first < 0x80) return first;
    unsigned more = 1;
    if (first >= 0xe0) more = 2;
    if (first >= 0xf0) more = 3;
    if (first < 0xc0 || first >= 0xf8 || more > n - *at) return UINT32_MAX;
    uint32_t c = first & (0x3fu >> more);
    for (unsigned i = 0; i < more; i++) {
        if ((line[*at] & 0xc0) != 0x80) return UINT32_MAX;
        c = c << 6 | (line[(*at)++] & 0x3f);
    }
    const bool bad = c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000);
    return bad ? UINT32_MAX : c;
}

/* Little-endian, as Guava passes a CharSequence to its hash. */
static size_t utf16(const uint8_t *line, size_t n, uint8_t *to)
{
    size_t size = 0;
    for (size_t at = 0; at < n;) {
        const uint32_t c = next_character(line, n, &at);
        if (c == UINT32_MAX) return NONE;
        if (c >= 0x10000) {
            size += put_bytes(0xd800 + ((c - 0x10000) >> 10), 2, to + size);
            size += put_bytes(0xdc00 + (c & 0x3ff), 2, to + size);
        } else {
            size += put_bytes(c, 2, to + size);
        }
    }
    return size;
}

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
    return -1;
}

static size_t hex(const uint8_t *line, size_t n, uint8_t *to)
{
    if (n % 2 != 0) return NONE;
    for (size_t i = 0; i < n; i += 2) {
        const int high = digit(line[i]), low = digit(line[i + 1]);
        if (high < 0 || low < 0) return NONE;
        to[i / 2] = (uint8_t)(high << 4 | low);
    }
    return n / 2;
}

static const struct encoding ALL[] = {
    {"string", NULL},   {"utf16", utf16},  {"int32", int32}, {"int64", int64}, {"uint32", uint32},
    {"uint64", uint64}, {"float", single}, {"double", wide}, {"hex", hex},
};

const struct encoding *encoding_named(const char *name)
{
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (strcmp(ALL[i].name, name) == 0) return &ALL[i];
    return NULL;
}

const char *encoding_name(const struct encoding *e)
{
    return e->name;
}

static bool make_key_room(struct encoded *out, size_t keys, size_t bytes)
{
    if (keys > out->n_room) {
        free(out->room);
        out->room = malloc(keys * sizeof *out->room);
        out->n_room = out->room != NULL ? keys : 0;
    }
    if (bytes > out->n_bytes) {
        free(out->bytes);
        out->bytes = malloc(bytes);
        out->n_bytes = out->bytes != NULL ? bytes : 0;
    }
    return keys <= out->n_room && bytes <= out->n_bytes;
}

/* A message about line i of the current block. */
static void complain_of_encoding(const struct encoding *e, const struct lines *in,
                                 const struct block *b, size_t i)
{
    const char *path;
    const uint64_t line = lines_number(in, i, &path);
    const tamis_bytes key = b->keys[i];
    complain(path, "line %s: '%.*s' is not valid %s", grouped(line),
             key.len < 100 ? (int)key.len : 100, (const char *)key.p,
             e->encode == utf16 ? "UTF-8 text" : e->name);
}

bool encode_lines(const struct encoding *e, const struct lines *in, const struct block *b,
                  struct encoded *out)
{
    size_t bytes = 8 * b->n, at = 0;
    out->keys = b->keys;
    if (e->encode == NULL) return true;
    for (size_t i = 0; i < b->n; i++) bytes += 2 * b->keys[i].len;
    if (!make_key_room(out, b->n, bytes)) {
        complain(NULL, "not enough memory");
        return false;
    }
    for (size_t i = 0; i < b->n; i++) {
        const tamis_bytes line = b->keys[i];
        const size_t n = e->encode(line.p, line.len, out->bytes + at);
        if (n == NONE) {
            complain_of_encoding(e, in, b, i);
            return false;
        }
        out->room[i] = (tamis_bytes){out->bytes + at, n};
        at += n;
    }
    out->keys = out->room;
    return true;
}

void encoded_free(struct encoded *e)
{
    free(e->room);
    free(e->bytes);
}
