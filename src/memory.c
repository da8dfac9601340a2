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
#define HUGE_PAGE ((size_t)2 << 20)

/* From this size on, ask for huge pages: with 4 KiB pages, random access to a big table also pays for
 * looking up its pages. Only advice: nothing is reserved, nothing can fail. */
#define HUGE_FROM (2 * HUGE_PAGE)

static void advise(unsigned char *p, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)p + size) / page * page;
    madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)p;
    (void)size;
#endif
}

/* The raw pointer is kept in the word before the aligned block, so any allocator will do. Big blocks of our
 * own begin and end with a huge page; what that adds is never touched. */
void *tamis__alloc(const tamis_memory *memory, uint64_t size)
{
    const bool is_huge = size >= HUGE_FROM, own = memory == NULL;
    const size_t align = is_huge && own ? HUGE_PAGE : LINE;
    const size_t extra = align + sizeof(void *) + (align - LINE);
    if (size > SIZE_MAX - extra) return NULL;
    const size_t total = (size_t)size + extra;
    /* calloc gets big blocks from the system already zero, without touching them. */
    unsigned char *raw = own ? calloc(1, total) : memory->alloc(memory->ctx, total);
    if (raw == NULL) return NULL;
    unsigned char *block = raw + sizeof(void *);
    block += align - (uintptr_t)block % align;
    if (is_huge) advise(block, (size_t)(raw + total - block));
    if (!own) memset(raw, 0, total);
    /* cppcheck-suppress pointerSize ; a pointer is what is kept there */
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
