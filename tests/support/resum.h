/* What tests do to images: write one into memory, and repair the sums after damage, so that the
 * damage reaches the checks behind the sums. Written from docs/FORMAT.md, not from
 * src/image/image.c. Requires _POSIX_C_SOURCE 200809L before the first include. */
#ifndef TAMIS_TEST_RESUM_H
#define TAMIS_TEST_RESUM_H

#include "core/bits.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>
#include <tamis/publish.h>

struct bytes {
    uint8_t *p; /* 64-byte aligned, exactly n bytes: tamis_view can use it, ASan sees its end */
    size_t n;
};

static inline struct bytes bytes_new(size_t n)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, n != 0 ? n : 1) != 0) abort();
    return (struct bytes){p, n};
}

static inline struct bytes bytes_copy(const void *p, size_t n)
{
    struct bytes b = bytes_new(n);
    if (n != 0) memcpy(b.p, p, n);
    return b;
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

struct bytes_sink {
    struct bytes to;
    size_t at;
};

static inline tamis_status bytes_put(void *ctx, const void *p, size_t n)
{
    struct bytes_sink *s = ctx;
    if (n > s->to.n - s->at) return TAMIS_EIO; /* more than tamis_image_size said */
    memcpy(s->to.p + s->at, p, n);
    s->at += n;
    return TAMIS_OK;
}

/* The image of a handle, to be freed; p is NULL when tamis_write failed or wrote another length
 * than tamis_image_size tells. */
static inline struct bytes image_of(const tamis *t)
{
    struct bytes_sink s = {bytes_new((size_t)tamis_image_size(t)), 0};
    if (tamis_write(t, bytes_put, &s, NULL) == TAMIS_OK && s.at == s.to.n) return s.to;
    free(s.to.p);
    return (struct bytes){NULL, 0};
}

/* The packed file of a handle, to be freed; p is NULL when tamis_pack failed or wrote more than it
 * may. */
static inline struct bytes packed_of(const tamis *t)
{
    const size_t image = (size_t)tamis_image_size(t);
    struct bytes_sink s = {bytes_new(image + 40 + image / 65536 + 1), 0};
    struct bytes exact = {NULL, 0};
    if (tamis_pack(t, bytes_put, &s, NULL) == TAMIS_OK) exact = bytes_copy(s.to.p, s.at);
    free(s.to.p);
    return exact;
}

/* A field of an image, wherever docs/FORMAT.md puts it. */
struct field {
    unsigned offset, width;
};

static inline uint64_t get_field(const uint8_t *p, struct field f)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < f.width; i++) v |= (uint64_t)p[f.offset + i] << 8 * i;
    return v;
}

static inline void put_field(uint8_t *p, struct field f, uint64_t v)
{
    for (unsigned i = 0; i < f.width; i++) p[f.offset + i] = (uint8_t)(v >> 8 * i);
}

/* Make every sum that the section table asks for right, then the root. A table that makes no sense
 * is taken at its word as far as the bytes go, and never beyond. */
static inline void image_resum(uint8_t *image, size_t size)
{
    if (size < 128) return;
    const uint64_t sections = tamis__get32(image + 104);
    if (sections > (size - 128) / 64) return;
    uint64_t at = 128 + 64 * sections;
    for (uint64_t i = 0; i < sections; i++) {
        const uint64_t offset = tamis__get64(image + 128 + 64 * i + 48);
        const uint64_t length = tamis__get64(image + 128 + 64 * i + 56);
        for (uint64_t done = 0; done < length && at + 8 <= size; done += 65536, at += 8) {
            const uint64_t n = length - done < 65536 ? length - done : 65536;
            if (offset > size || done > size - offset || n > size - offset - done) return;
            tamis__put64(image + at, tamis__checksum(image + offset + done, (size_t)n));
        }
    }
    tamis__put64(image + 120, 0);
    tamis__put64(image + 120, tamis__checksum(image, (size_t)at));
}

#endif
