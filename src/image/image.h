/* The image: docs/FORMAT.md in code. Only src/image knows its byte offsets. */
#ifndef TAMIS_IMAGE_H
#define TAMIS_IMAGE_H

#include "../core/handle.h"

#define TAMIS__FORMAT 1u
#define TAMIS__HEADER_BYTES 128u

/* The bytes of an image of `count` sections of this length; less than 2^63. */
uint64_t tamis__image_bytes(uint64_t length, uint32_t count);

/* The bytes of an image that has these sections `times` times. */
uint64_t tamis__repeated_bytes(const struct section *s, uint32_t count, uint32_t times);
/* The same for any sections, of which a function returns the lengths. */
typedef uint64_t tamis__section_length(const void *ctx, uint32_t i);
uint64_t tamis__image_bytes_of(uint32_t count, tamis__section_length *length, const void *ctx);

/* The bytes that `count` short sections add to an image besides their contents, and that one
 * section takes with its contents: upper bounds for planning. */
uint64_t tamis__sections_overhead(uint64_t count);
uint64_t tamis__section_bytes(uint64_t length);

/* Where an image is read from: memory, or a function that is asked for every byte once and in
 * order. */
struct source {
    uint64_t size;
    uint64_t metadata_bytes; /* required length of header, table and sums; 0: not known */
    const uint8_t *memory;   /* NULL: use read */
    tamis_status (*read)(const struct source *src, uint64_t at, void *to, size_t n,
                         tamis_error *why);
    int fd;
    void *ctx;
};

/* Validate an image from an untrusted source and make a handle from it. With in_place, the
 * handle uses the bytes of the source and is read-only. */
tamis_status tamis__image_read(const struct source *src, const tamis_options *options,
                               bool in_place, tamis **out, tamis_error *why);

/* The sizes of the blocks that tamis__image_read asks the caller's allocator for, for such an image
 * in place. False: it refuses the image before it allocates any. */
bool tamis__image_blocks(const uint8_t *image, size_t size, const tamis_options *o,
                         uint64_t blocks[5]);

/* The root of an image's header, which identifies its content. False: these are not the first
 * TAMIS__HEADER_BYTES of an image. */
bool tamis__image_root(const uint8_t *header, uint64_t *root);

/* tamis_write that also returns the root. The first piece it writes is the metadata: header, table
 * and sums. */
tamis_status tamis__image_write(const tamis *t, tamis_sink put, void *ctx, uint64_t *root,
                                tamis_error *why);

#endif
