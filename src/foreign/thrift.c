#include "thrift.h"

/* Deeper than the metadata of any file; bounds the stack. */
enum { MOST_DEPTH = 32 };

static uint8_t byte(struct thrift *t)
{
    if (t->bad || t->at >= t->n) {
        t->bad = true;
        return 0;
    }
    return t->p[t->at++];
}

static uint64_t varint(struct thrift *t)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t b = byte(t);
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128) return t->bad ? 0 : v;
    }
    t->bad = true;
    return 0;
}

int64_t tamis__thrift_int(struct thrift *t)
{
    const uint64_t v = varint(t);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

const uint8_t *tamis__thrift_binary(struct thrift *t, size_t *n)
{
    const uint64_t size = varint(t);
    *n = 0;
    if (t->bad || size > t->n - t->at) {
        t->bad = true;
        return t->p;
    }
    *n = (size_t)size;
    t->at += *n;
    return t->p + t->at - *n;
}

static size_t thrift_list(struct thrift *t, unsigned *type)
{
    const uint8_t head = byte(t);
    const uint64_t n = head >> 4 == 15 ? varint(t) : head >> 4;
    *type = head & 15;
    if (n > t->n - t->at) t->bad = true; /* an element has at least one byte */
    return t->bad ? 0 : (size_t)n;
}

size_t tamis__thrift_list(struct thrift *t, unsigned type)
{
    unsigned found;
    const size_t n = thrift_list(t, &found);
    if (n > 0 && found != type) t->bad = true;
    return t->bad ? 0 : n;
}

bool tamis__thrift_next(struct thrift *t, struct thrift_field *f)
{
    const uint8_t head = byte(t);
    if (t->bad || head == 0) return false;
    const int64_t id = head >> 4 != 0 ? f->id + (head >> 4) : tamis__thrift_int(t);
    if (id < INT16_MIN || id > INT16_MAX) t->bad = true;
    f->id = (int32_t)id;
    f->type = head & 15;
    return !t->bad;
}

bool tamis__thrift_is(struct thrift *t, const struct thrift_field *f, int32_t id, unsigned type)
{
    if (f->id != id) return false;
    if (f->type != type) t->bad = true;
    return !t->bad;
}

static void forward(struct thrift *t, size_t n)
{
    if (t->bad || n > t->n - t->at)
        t->bad = true;
    else
        t->at += n;
}

static void skip(struct thrift *t, unsigned type, bool in_list, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MOST_DEPTH */
static void skip_elements(struct thrift *t, unsigned type, unsigned depth)
{
    unsigned first, second;
    size_t n;
    if (type == THRIFT_MAP) {
        const uint64_t pairs = varint(t);
        const uint8_t types = pairs > 0 ? byte(t) : 0;
        first = types >> 4;
        second = types & 15;
        if (pairs > t->n - t->at) t->bad = true;
        n = t->bad ? 0 : (size_t)pairs;
    } else {
        n = thrift_list(t, &first);
        second = 0;
    }
    for (size_t i = 0; i < n && !t->bad; i++) {
        skip(t, first, true, depth);
        if (second != 0) skip(t, second, true, depth);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MOST_DEPTH */
static void skip(struct thrift *t, unsigned type, bool in_list, unsigned depth)
{
    struct thrift_field f = {0, 0};
    size_t n;
    if (depth > MOST_DEPTH) t->bad = true;
    if (t->bad) return;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE: forward(t, in_list); break; /* in a field the type is the value */
    case THRIFT_BYTE: forward(t, 1); break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64: varint(t); break;
    case THRIFT_DOUBLE: forward(t, 8); break;
    case THRIFT_BINARY: tamis__thrift_binary(t, &n); break;
    case THRIFT_LIST:
    case THRIFT_SET:
    case THRIFT_MAP: skip_elements(t, type, depth + 1); break;
    case THRIFT_STRUCT:
        while (tamis__thrift_next(t, &f)) skip(t, f.type, false, depth + 1);
        break;
    case THRIFT_UUID: forward(t, 16); break;
    default: t->bad = true;
    }
}

void tamis__thrift_skip(struct thrift *t, const struct thrift_field *f)
{
    skip(t, f->type, false, 0);
}
