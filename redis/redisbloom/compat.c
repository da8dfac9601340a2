#include "compat.h"

uint32_t compat_murmur32(const void *key, size_t len, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const uint8_t *p = key;
    uint32_t h = seed ^ (uint32_t)len;
    for (; len >= 4; p += 4, len -= 4) {
        uint32_t k = compat_get32(p) * m;
        k = (k ^ k >> 24) * m;
        h = h * m ^ k;
    }
    if (len > 0) {
        uint32_t rest = 0;
        for (size_t i = 0; i < len; i++) rest |= (uint32_t)p[i] << 8 * i;
        h = (h ^ rest) * m;
    }
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

void *compat_zeros(const struct compat_room *room, uint64_t n)
{
    if (n > room->max_bytes || n > SIZE_MAX / 2) return NULL;
    const tamis_memory *memory = room->memory;
    if (memory->zeroed != NULL) return memory->zeroed(memory->ctx, (size_t)n);
    void *p = memory->alloc(memory->ctx, (size_t)n);
    if (p != NULL) memset(p, 0, (size_t)n);
    return p;
}

void *compat_clone(const tamis_memory *memory, const void *p, size_t n)
{
    void *copy = memory->alloc(memory->ctx, n);
    if (copy != NULL) memcpy(copy, p, n);
    return copy;
}
