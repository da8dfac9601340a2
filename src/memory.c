#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#endif

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#define LINE 64u

/* From this size on, ask for huge pages: random access to a table of 4 KiB pages spends 13 to 28 % of
 * its time on looking up pages (`./run bench`). Only advice: nothing is reserved, nothing can fail. */
#define HUGE_FROM ((size_t)4 << 20)

static void advise(unsigned char *p, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)p + size) / page * page;
    if (size >= HUGE_FROM) madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)p;
    (void)size;
#endif
}

/* The raw pointer is kept in the word before the aligned block, so any allocator will do. */
void *tamis__alloc(const tamis_memory *memory, uint64_t size)
{
    const size_t extra = LINE + sizeof(void *);
    if (size > SIZE_MAX - extra) return NULL;
    const size_t total = (size_t)size + extra;
    /* calloc gets big blocks from the system already zero, without touching them. */
    unsigned char *raw = memory != NULL ? memory->alloc(memory->ctx, total) : calloc(1, total);
    if (raw == NULL) return NULL;
    advise(raw, total);
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
