/* Batches of keys that are made from rows of other types. Nothing here uses Python. */
#include "bulk.h"

/* Batches of converted rows stay in the second-level cache. */
#define FIRST_ROOM ((size_t)1 << 16)

bool text_open(Text *t, size_t most)
{
    *t = (Text){.most = most, .room = FIRST_ROOM};
    t->bytes = malloc(t->room);
    t->offsets = malloc((most + 1) * sizeof *t->offsets);
    t->keys = malloc((most + 1) * sizeof *t->keys);
    t->validity = malloc(most / 8 + 1);
    if (t->bytes == NULL || t->offsets == NULL || t->keys == NULL || t->validity == NULL) {
        text_close(t);
        return false;
    }
    text_clear(t);
    return true;
}

void text_close(Text *t)
{
    free(t->bytes);
    free(t->offsets);
    free(t->keys);
    free(t->validity);
    *t = (Text){.bytes = NULL};
}

void text_clear(Text *t)
{
    t->used = t->rows = t->width = 0;
    t->has_nulls = t->has_keys = false;
    t->offsets[0] = 0;
}

bool text_grow(Text *t, size_t len)
{
    if (len > SIZE_MAX / 4 - t->used) return false;
    const size_t room = t->used + t->used / 2 + len;
    char *bigger = realloc(t->bytes, room);
    if (bigger == NULL) return false;
    t->bytes = bigger;
    t->room = room;
    return true;
}

/* The library is a little faster with descriptors than with offsets, and much faster for a top, but
 * only a column can have nulls. */
Part text_part(Text *t)
{
    Part p = {.c = {.struct_size = sizeof p.c,
                    .rows = t->rows,
                    .data = t->bytes,
                    .bytes = t->used,
                    .width = t->width,
                    .offsets64 = t->width == 0 ? t->offsets : NULL,
                    .validity = t->has_nulls ? t->validity : NULL}};
    if (t->has_nulls || t->width != 0) return p;
    p.keys = t->keys;
    if (t->has_keys) return p;
    for (size_t i = 0; i < t->rows; i++)
        t->keys[i] =
            (tamis_bytes){t->bytes + t->offsets[i], (size_t)(t->offsets[i + 1] - t->offsets[i])};
    return p;
}

/* --- Integers --------------------------------------------------------------------------------- */

static uint64_t swap_bytes(uint64_t v, size_t width)
{
    uint64_t out = 0;
    for (size_t i = 0; i < width; i++) out = out << 8 | (v >> 8 * i & 0xff);
    return out;
}

/* An unsigned integer of 8 bytes is returned as if it were signed. */
int64_t load_int(const char *at, size_t width, bool is_signed, bool is_swapped)
{
    uint64_t v;
    if (width == 8) {
        memcpy(&v, at, 8);
    } else if (width == 4) {
        uint32_t four;
        memcpy(&four, at, 4);
        v = four;
    } else if (width == 2) {
        uint16_t two;
        memcpy(&two, at, 2);
        v = two;
    } else {
        v = (uint8_t)*at;
    }
    if (is_swapped) v = swap_bytes(v, width);
    const unsigned unused = 64 - 8 * (unsigned)width;
    return is_signed && unused != 0 ? (int64_t)(v << unused) >> unused : (int64_t)v;
}

static bool row_valid(const Source *s, size_t row)
{
    const size_t bit = s->first + row;
    return s->validity == NULL || (s->validity[bit / 8] >> bit % 8 & 1) != 0;
}

static void fill_int64(Text *t, Source *s, size_t n)
{
    const char *at = s->data + (Py_ssize_t)s->next * s->stride;
    t->width = 8;
    for (size_t i = 0; i < n; i++, at += s->stride) {
        const int64_t v = load_int(at, s->width, s->is_signed, s->is_swapped);
        if (v < 0 && !s->is_signed && row_valid(s, s->next + i)) {
            s->fault = BAD_RANGE;
            return;
        }
        bytes_of_i64(v, t->bytes + t->used);
        t->used += 8;
        t->rows++;
    }
}

/* The loop for the usual case has nothing that depends on the row. */
static void fill_decimal_i64(Text *t, const char *at, Py_ssize_t stride, size_t n)
{
    char *to = t->bytes;
    for (size_t i = 0; i < n; i++, at += stride) {
        int64_t v;
        memcpy(&v, at, 8);
        to += decimal_i64(v, to);
        t->offsets[i + 1] = to - t->bytes;
    }
    t->used = (size_t)(to - t->bytes);
    t->rows = n;
}

static void fill_decimal(Text *t, const Source *s, size_t n)
{
    const char *at = s->data + (Py_ssize_t)s->next * s->stride;
    if (s->width == 8 && s->is_signed && !s->is_swapped) {
        fill_decimal_i64(t, at, s->stride, n);
        return;
    }
    for (size_t i = 0; i < n; i++, at += s->stride) {
        const int64_t v = load_int(at, s->width, s->is_signed, s->is_swapped);
        char *to = t->bytes + t->used;
        t->used += s->is_signed ? decimal_i64(v, to) : decimal_u64((uint64_t)v, to);
        t->offsets[++t->rows] = (int64_t)t->used;
    }
}

/* --- Strings ---------------------------------------------------------------------------------- */

static bool width_fits(Source *s, size_t len)
{
    if (s->required_width == 0 || len == s->required_width) return true;
    s->fault = BAD_WIDTH;
    s->fault_length = len;
    return false;
}

/* The length of a string that is padded with NULs. Looks at eight bytes at once, because lengths
 * are hard to predict. */
static size_t padded_length(const char *at, size_t width)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; width >= 8; width -= 8) {
        uint64_t last;
        memcpy(&last, at + width - 8, 8);
        if (last != 0) return width - (unsigned)__builtin_clzll(last) / 8;
    }
#endif
    while (width > 0 && at[width - 1] == '\0') width--;
    return width;
}

size_t text_unpadded(const Source *s, size_t n)
{
    if (s->width == 0 || s->stride <= 0) return 0;
    const char *last = s->data + (Py_ssize_t)s->next * s->stride + s->width - 1;
    for (size_t i = 0; i < n; i++, last += s->stride)
        if (*last == '\0') return i;
    return n;
}

static void fill_chars(Text *t, Source *s, size_t n)
{
    const char *at = s->data + (Py_ssize_t)s->next * s->stride;
    t->has_keys = true;
    for (size_t i = 0; i < n; i++, at += s->stride) {
        const size_t len = padded_length(at, s->width);
        if (!width_fits(s, len)) return;
        t->keys[t->rows++] = (tamis_bytes){at, len};
    }
}

static uint32_t load_character(const char *at, bool is_swapped)
{
    uint32_t c;
    memcpy(&c, at, 4);
    return is_swapped ? (uint32_t)swap_bytes(c, 4) : c;
}

/* Writes the UTF-8 of a character, at most 4 bytes; returns 0 if it is a surrogate or none. */
static size_t put_utf8(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        if (c >= 0xd800 && c < 0xe000) return 0;
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    if (c > 0x10ffff) return 0;
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static size_t padded_characters(const char *at, size_t width)
{
    uint32_t last;
    for (; width >= 4; width -= 4) {
        memcpy(&last, at + width - 4, 4);
        if (last != 0) break;
    }
    return width;
}

/* As in numpy, a string ends before its trailing NULs. */
static void fill_ucs4(Text *t, Source *s, size_t n)
{
    const char *row = s->data + (Py_ssize_t)s->next * s->stride;
    for (size_t i = 0; i < n; i++, row += s->stride) {
        const char *end = row + padded_characters(row, s->width);
        if (s->width > t->room - t->used && !text_grow(t, s->width)) {
            s->fault = NO_MEMORY;
            return;
        }
        char *to = t->bytes + t->used;
        for (const char *at = row; at < end; at += 4) {
            const size_t len = put_utf8(load_character(at, s->is_swapped), to);
            if (len == 0) {
                s->fault = BAD_CHARACTER;
                return;
            }
            to += len;
        }
        if (!width_fits(s, (size_t)(to - t->bytes) - t->used)) return;
        t->used = (size_t)(to - t->bytes);
        t->offsets[++t->rows] = (int64_t)t->used;
    }
}

static void fill_views(Text *t, Source *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t row = s->next + i;
        const bool valid = row_valid(s, row);
        tamis_bytes key = {"", 0};
        if (valid && !arrow_view(s, row, &key)) {
            s->fault = BAD_VIEW;
            return;
        }
        if (valid && !width_fits(s, key.len)) return;
        if (!text_put(t, key.p, key.len)) {
            s->fault = NO_MEMORY;
            return;
        }
    }
}

/* --- All -------------------------------------------------------------------------------------- */

static void copy_validity(Text *t, const Source *s, size_t n)
{
    t->has_nulls = s->validity != NULL;
    if (!t->has_nulls) return;
    memset(t->validity, 0, n / 8 + 1);
    for (size_t i = 0; i < n; i++)
        if (row_valid(s, s->next + i)) t->validity[i / 8] |= (uint8_t)(1u << i % 8);
}

void text_fill(Text *t, Source *s, size_t n)
{
    text_clear(t);
    if (n > t->most) n = t->most;
    copy_validity(t, s, n);
    switch (s->form) {
    case INTS:
        if (20 * n > t->room && !text_grow(t, 20 * n)) {
            s->fault = NO_MEMORY;
            return;
        }
        if (s->as_int64)
            fill_int64(t, s, n);
        else
            fill_decimal(t, s, n);
        return;
    case CHARS: fill_chars(t, s, n); return;
    case UCS4: fill_ucs4(t, s, n); return;
    default: fill_views(t, s, n); return;
    }
}
