/* How large images are that do not exist yet. */
#include "layout.h"

uint64_t tamis__image_bytes(uint64_t length, uint32_t count)
{
    const uint64_t metadata =
        TAMIS__HEADER_BYTES +
        count * (TAMIS__ENTRY_BYTES + tamis__chunks(length) * TAMIS__SUM_BYTES);
    return tamis__aligned(metadata) + (count - 1) * tamis__aligned(length) + length;
}

uint64_t tamis__repeated_bytes(const struct section *s, uint32_t count, uint32_t times)
{
    uint64_t at =
        TAMIS__HEADER_BYTES + times * (tamis__metadata_bytes(s, count) - TAMIS__HEADER_BYTES);
    for (uint64_t i = 0; i < (uint64_t)count * times; i++)
        at = tamis__aligned(at) + s[i % count].length;
    return at;
}

uint64_t tamis__image_bytes_of(uint32_t count, tamis__section_length *length, const void *ctx)
{
    uint64_t at = TAMIS__HEADER_BYTES + (uint64_t)count * TAMIS__ENTRY_BYTES;
    for (uint32_t i = 0; i < count; i++) at += tamis__chunks(length(ctx, i)) * TAMIS__SUM_BYTES;
    for (uint32_t i = 0; i < count; i++) at = tamis__aligned(at) + length(ctx, i);
    return at;
}

uint64_t tamis__sections_overhead(uint64_t count)
{
    return count * (TAMIS__ENTRY_BYTES + TAMIS__ALIGN + TAMIS__SUM_BYTES);
}

uint64_t tamis__section_bytes(uint64_t length)
{
    return length + length / (TAMIS__CHUNK / TAMIS__SUM_BYTES) + TAMIS__ENTRY_BYTES +
           2 * TAMIS__ALIGN;
}
