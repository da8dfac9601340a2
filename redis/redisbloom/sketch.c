/* RedisBloom's Count-Min sketch. The counter of an item in row r is MurmurHash2(item, r) mod width,
 * and its count is the smallest of its counters. `count` is the sum of all increments. It stops at
 * INT64_MAX, the greatest number that CMS.INFO can report, where RedisBloom before 8.12 wraps
 * around. */
#include "sketch.h"

#include <math.h>

static uint8_t *sketch_cell(const struct compat_sketch *s, uint64_t row, const void *item,
                            size_t len)
{
    const uint64_t column = compat_murmur32(item, len, (uint32_t)row) % s->width;
    return s->cells + 4 * (row * s->width + column);
}

size_t compat_sketch_cell_bytes(const struct compat_sketch *s)
{
    return (size_t)(s->width * s->depth * 4);
}

/* The logarithms are those of single precision; otherwise some depths would be one more. */
enum compat_status compat_sketch_shape(double error, double probability, uint64_t *width,
                                       uint64_t *depth)
{
    const double w = ceil(2 / error);
    const double d = ceil((double)(log10f((float)probability) / log10f(0.5f)));
    if (!(w >= 1 && w < 0x1p62) || !(d >= 1 && d < 0x1p31)) return COMPAT_OVERFLOW;
    *width = (uint64_t)w;
    *depth = (uint64_t)d;
    return COMPAT_OK;
}

enum compat_status compat_sketch_create(const struct compat_room *room, uint64_t width,
                                        uint64_t depth, struct compat_sketch **out)
{
    uint64_t bytes;
    *out = NULL;
    if (width == 0 || depth == 0) return COMPAT_BAD;
    /* The depth also serves as the seed of a row, which has 32 bits. */
    if (depth > UINT32_MAX || __builtin_mul_overflow(width, depth, &bytes) ||
        __builtin_mul_overflow(bytes, 4u, &bytes) || bytes > room->max_bytes)
        return COMPAT_NO_MEMORY;
    struct compat_sketch *s = compat_zeros(room, sizeof *s);
    uint8_t *cells = compat_zeros(room, bytes);
    if (s == NULL || cells == NULL) {
        compat_free(room->memory, s);
        compat_free(room->memory, cells);
        return COMPAT_NO_MEMORY;
    }
    *s = (struct compat_sketch){.width = width, .depth = depth, .cells = cells};
    *out = s;
    return COMPAT_OK;
}

void compat_sketch_free(const tamis_memory *memory, struct compat_sketch *s)
{
    if (s == NULL) return;
    compat_free(memory, s->cells);
    compat_free(memory, s);
}

struct compat_sketch *compat_sketch_copy(const tamis_memory *memory, const struct compat_sketch *s)
{
    struct compat_sketch *copy = compat_clone(memory, s, sizeof *s);
    if (copy == NULL) return NULL;
    copy->cells = compat_clone(memory, s->cells, compat_sketch_cell_bytes(s));
    if (copy->cells != NULL) return copy;
    compat_free(memory, copy);
    return NULL;
}

static uint64_t count_saturated(const uint8_t *cells, size_t bytes)
{
    uint64_t n = 0;
    for (size_t at = 0; at < bytes; at += 4) n += compat_get32(cells + at) == COMPAT_SKETCH_END;
    return n;
}

uint32_t compat_sketch_add(struct compat_sketch *s, const void *item, size_t len, uint64_t n)
{
    uint32_t least = COMPAT_SKETCH_END;
    for (uint64_t row = 0; row < s->depth; row++) {
        uint8_t *c = sketch_cell(s, row, item, len);
        const uint32_t old = compat_get32(c);
        const uint32_t now = n > COMPAT_SKETCH_END - old ? COMPAT_SKETCH_END : old + (uint32_t)n;
        compat_put32(c, now);
        s->saturated += now == COMPAT_SKETCH_END && old != COMPAT_SKETCH_END;
        if (now < least) least = now;
    }
    s->count = n > INT64_MAX - s->count ? INT64_MAX : s->count + n;
    return least;
}

uint32_t compat_sketch_count(const struct compat_sketch *s, const void *item, size_t len)
{
    uint32_t least = COMPAT_SKETCH_END;
    for (uint64_t row = 0; row < s->depth; row++) {
        const uint32_t value = compat_get32(sketch_cell(s, row, item, len));
        if (value < least) least = value;
    }
    return least;
}

/* Computes the weighted sum of one counter over all sketches. Returns false if the sum is not a
 * counter. */
static bool sum_of(struct compat_sketch *const *from, const int64_t *weights, size_t n, size_t at,
                   uint32_t *out)
{
    int64_t sum = 0, term;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow((int64_t)compat_get32(from[i]->cells + at), weights[i], &term) ||
            __builtin_add_overflow(sum, term, &sum))
            return false;
    *out = (uint32_t)sum;
    return sum >= 0 && sum <= (int64_t)UINT32_MAX;
}

enum compat_status compat_sketch_merge(struct compat_sketch *into,
                                       struct compat_sketch *const *from, const int64_t *weights,
                                       size_t n)
{
    const size_t bytes = compat_sketch_cell_bytes(into);
    int64_t count = 0, term;
    uint32_t value;
    for (size_t i = 0; i < n; i++)
        if (from[i]->width != into->width || from[i]->depth != into->depth) return COMPAT_MISMATCH;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow((int64_t)from[i]->count, weights[i], &term) ||
            __builtin_add_overflow(count, term, &count))
            return COMPAT_OVERFLOW;
    if (count < 0) return COMPAT_OVERFLOW;
    for (size_t at = 0; at < bytes; at += 4)
        if (!sum_of(from, weights, n, at, &value)) return COMPAT_OVERFLOW;
    for (size_t at = 0; at < bytes; at += 4) {
        sum_of(from, weights, n, at, &value);
        compat_put32(into->cells + at, value);
    }
    into->count = (uint64_t)count;
    into->saturated = count_saturated(into->cells, bytes);
    return COMPAT_OK;
}

void compat_sketch_save(const struct compat_sketch *s, const struct compat_writer *w)
{
    w->number(w->ctx, s->width);
    w->number(w->ctx, s->depth);
    w->number(w->ctx, s->count);
    w->bytes(w->ctx, s->cells, compat_sketch_cell_bytes(s));
}

enum compat_status compat_sketch_load(const struct compat_reader *r, int encver,
                                      const tamis_memory *memory, struct compat_sketch **out)
{
    struct compat_sketch head = {0};
    uint64_t bytes, cell = 4;
    size_t len;
    *out = NULL;
    if (encver < 0 || encver > 1 || !r->number(r->ctx, &head.width) ||
        !r->number(r->ctx, &head.depth) || !r->number(r->ctx, &head.count) ||
        (encver == 1 && !r->number(r->ctx, &cell)) || cell != 4 || head.width == 0 ||
        head.depth == 0 || head.depth > UINT32_MAX ||
        __builtin_mul_overflow(head.width, head.depth, &bytes) ||
        __builtin_mul_overflow(bytes, 4u, &bytes))
        return COMPAT_BAD;
    if (head.count > INT64_MAX) head.count = INT64_MAX; /* RedisBloom's count has wrapped around */
    head.cells = r->bytes(r->ctx, &len);
    if (head.cells == NULL) return COMPAT_BAD;
    if (len == bytes) {
        head.saturated = count_saturated(head.cells, len);
        *out = compat_clone(memory, &head, sizeof head);
    }
    if (*out != NULL) return COMPAT_OK;
    compat_free(memory, head.cells);
    return len == bytes ? COMPAT_NO_MEMORY : COMPAT_BAD;
}
