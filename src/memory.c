#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64u

/* The raw pointer is kept in the word before the aligned block, so any allocator will do. */
void *tamis__alloc(const tamis_memory *memory, uint64_t size)
{
    const size_t extra = LINE + sizeof(void *);
    if (size > SIZE_MAX - extra) return NULL;
    const size_t total = (size_t)size + extra;
    /* calloc gets big blocks from the system already zero, without touching them. */
    unsigned char *raw = memory != NULL ? memory->alloc(memory->ctx, total) : calloc(1, total);
    if (raw == NULL) return NULL;
    if (memory != NULL) memset(raw, 0, total);
    const size_t skip = LINE - (uintptr_t)(raw + sizeof(void *)) % LINE;
    unsigned char *block = raw + sizeof(void *) + skip;
    memcpy(block - sizeof(void *), &raw, sizeof(void *));
    return block;
}

void tamis__free(const tamis_memory *memory, void *p)
{
    if (p == NULL) return;
    void *raw;
    memcpy(&raw, (unsigned char *)p - sizeof(void *), sizeof(void *));
    if (memory != NULL)
        memory->free(memory->ctx, raw);
    else
        free(raw);
}
