/* Where the parts of an image are: docs/FORMAT.md in numbers, for the files that write, read and
 * measure images. */
#ifndef TAMIS_LAYOUT_H
#define TAMIS_LAYOUT_H

#include "image.h"

#define TAMIS__ALIGN 64u
#define TAMIS__ENTRY_BYTES 64u
#define TAMIS__SUM_BYTES 8u
#define TAMIS__CHUNK 65536u

static inline uint64_t tamis__aligned(uint64_t at)
{
    return (at + TAMIS__ALIGN - 1) / TAMIS__ALIGN * TAMIS__ALIGN;
}

static inline uint64_t tamis__chunks(uint64_t length)
{
    return length / TAMIS__CHUNK + (length % TAMIS__CHUNK != 0);
}

static inline uint64_t tamis__metadata_bytes(const struct section *s, uint32_t count)
{
    uint64_t bytes = TAMIS__HEADER_BYTES + (uint64_t)count * TAMIS__ENTRY_BYTES;
    for (uint32_t i = 0; i < count; i++) bytes += tamis__chunks(s[i].length) * TAMIS__SUM_BYTES;
    return bytes;
}

#endif
