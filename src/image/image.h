/* The image: docs/FORMAT.md in code. This file alone knows byte offsets. */
#ifndef TAMIS_IMAGE_H
#define TAMIS_IMAGE_H

#include "../core/handle.h"

#define TAMIS__FORMAT 1u
#define TAMIS__HEADER_BYTES 128u

/* Bytes of an image of so many sections of this length (in all less than 2^63 bytes). */
uint64_t tamis__image_bytes(uint64_t length, uint32_t count);

/* The same of these sections, all of them so many times. */
uint64_t tamis__repeated_bytes(const struct section *s, uint32_t count, uint32_t times);

/* Put the sections one after the other; to be called whenever their number or lengths change. */
void tamis__assign_offsets(struct body *b);

/* Where an image is read from: a piece of memory, or whatever read fetches, which is asked for
 * every byte once and in order. */
struct source {
    uint64_t size;
    uint64_t metadata_bytes; /* of header, table and sums, which must be so many; 0: not known */
    const uint8_t *memory;   /* NULL: use read */
    tamis_status (*read)(const struct source *src, uint64_t at, void *to, size_t n,
                         tamis_error *why);
    int fd;
    void *ctx;
};

/* Validate an image from a hostile source and make a handle of it. With in_place, which needs
 * 64-byte aligned memory, the handle uses the source's bytes and is read-only. */
tamis_status tamis__image_read(const struct source *src, const tamis_options *options,
                               bool in_place, tamis **out, tamis_error *why);

/* tamis_stat: metadata only, under its root. */
tamis_status tamis__image_facts(const struct source *src, tamis_facts *out, tamis_error *why);

/* The root of an image's header, which identifies its content; false when these are not the first
 * TAMIS__HEADER_BYTES of an image. */
bool tamis__image_root(const uint8_t *header, uint64_t *root);

/* tamis_write, which also tells the root. The first piece is the metadata: header, table and
 * sums. */
tamis_status tamis__image_write(const tamis *t, tamis_sink put, void *ctx, uint64_t *root,
                                tamis_error *why);

#endif
