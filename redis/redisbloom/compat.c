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

uint32_t compat_chain_links(const struct compat_chain *c, const void *filter)
{
    uint32_t n;
    memcpy(&n, (const char *)filter + c->links_at, sizeof n);
    return n;
}

void *compat_chain_array(const struct compat_chain *c, const void *filter)
{
    void *array;
    memcpy(&array, (const char *)filter + c->link_at, sizeof array);
    return array;
}

void compat_chain_set_array(const struct compat_chain *c, void *filter, void *array)
{
    memcpy((char *)filter + c->link_at, &array, sizeof array);
}

uint8_t **compat_chain_bytes(const struct compat_chain *c, void *array, uint32_t i)
{
    return (uint8_t **)(void *)((char *)array + i * c->link);
}

static void free_links(const struct compat_chain *c, const tamis_memory *memory, void *array,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) compat_free(memory, *compat_chain_bytes(c, array, i));
    compat_free(memory, array);
}

void compat_chain_free(const struct compat_chain *c, const tamis_memory *memory, void *filter)
{
    if (filter == NULL) return;
    free_links(c, memory, compat_chain_array(c, filter), compat_chain_links(c, filter));
    compat_free(memory, filter);
}

static void *copy_links(const struct compat_chain *c, const tamis_memory *memory,
                        const void *filter)
{
    const uint32_t n = compat_chain_links(c, filter);
    void *array = compat_clone(memory, compat_chain_array(c, filter), n * c->link);
    for (uint32_t i = 0; i < n && array != NULL; i++) {
        uint8_t **p = compat_chain_bytes(c, array, i);
        *p = compat_clone(memory, *p, (size_t)c->bytes(filter, i));
        if (*p == NULL) {
            free_links(c, memory, array, i);
            return NULL;
        }
    }
    return array;
}

void *compat_chain_copy(const struct compat_chain *c, const tamis_memory *memory,
                        const void *filter)
{
    void *copy = compat_clone(memory, filter, c->filter);
    if (copy == NULL) return NULL;
    void *array = copy_links(c, memory, filter);
    if (array == NULL) {
        compat_free(memory, copy);
        return NULL;
    }
    compat_chain_set_array(c, copy, array);
    return copy;
}
