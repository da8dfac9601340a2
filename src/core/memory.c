#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MADV_HUGEPAGE, MADV_DONTDUMP, explicit_bzero */
#endif

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#elif defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

#define LINE 64u
#define HUGE_PAGE ((size_t)2 << 20)

/* Blocks of this size or more ask for huge pages, because with pages of 4 KiB random access to a
 * large table also costs page-table lookups. It is only advice: nothing is reserved, and nothing
 * can fail. */
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

/* calloc gets large blocks from the system, which has zeroed them, and does not touch them. */
static unsigned char *memory_take(const tamis_memory *memory, size_t total, bool zeroed)
{
    if (memory == NULL) return zeroed ? calloc(1, total) : malloc(total);
    return (zeroed && memory->zeroed != NULL ? memory->zeroed : memory->alloc)(memory->ctx, total);
}

/* The raw pointer is stored in the word before the aligned block, so any allocator can be used.
 * Large blocks from calloc and malloc start with a huge page, and have room for the whole of their
 * last one; the extra bytes are never touched. The advice is given before the first access, because
 * that is when the system chooses the size of a page. */
static void *alloc_block(const tamis_memory *memory, uint64_t size, bool zeroed)
{
    const bool is_huge = size >= HUGE_FROM, own = memory == NULL;
    const size_t align = is_huge && own ? HUGE_PAGE : LINE;
    const size_t extra = align + sizeof(void *) + (align - LINE);
    if (size > SIZE_MAX - extra) return NULL;
    const size_t total = (size_t)size + extra;
    unsigned char *raw = memory_take(memory, total, zeroed);
    if (raw == NULL) return NULL;
    unsigned char *block = raw + sizeof(void *);
    block += align - (uintptr_t)block % align;
    if (is_huge) advise(block, (size_t)(raw + total - block));
    if (zeroed && !own && memory->zeroed == NULL) memset(raw, 0, total);
    /* cppcheck-suppress pointerSize ; a pointer is what is kept there */
    memcpy(block - sizeof(void *), &raw, sizeof(void *));
    return block;
}

uint64_t tamis__alloc_bytes(uint64_t size)
{
    return size + LINE + sizeof(void *);
}

void *tamis__alloc(const tamis_memory *memory, uint64_t size)
{
    return alloc_block(memory, size, true);
}

void *tamis__alloc_unset(const tamis_memory *memory, uint64_t size)
{
    return alloc_block(memory, size, false);
}

void *tamis__alloc_plain(const tamis_memory *memory, uint64_t size)
{
    if (size > SIZE_MAX) return NULL;
    unsigned char *p = memory_take(memory, (size_t)size, true);
    if (p != NULL && memory != NULL && memory->zeroed == NULL) memset(p, 0, (size_t)size);
    return p;
}

void tamis__free_plain(const tamis_memory *memory, void *p)
{
    if (memory != NULL)
        memory->free(memory->ctx, p);
    else
        free(p);
}

void tamis__free(const tamis_memory *memory, void *p)
{
    if (p == NULL) return;
    void *raw;
    memcpy(&raw, (unsigned char *)p - sizeof(void *), sizeof(void *));
    tamis__free_plain(memory, raw);
}

/* --- Secrets ---------------------------------------------------------------------------------- */

#ifdef __linux__
static size_t page_size(void)
{
    const long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

static uint64_t whole_pages(uint64_t size, uint64_t page)
{
    return (size + page - 1) / page * page;
}

/* A block that is one page longer than needed contains whole pages, whatever the allocator. They
 * start after the beginning of the block, so there is a word before them for the pointer to the
 * block. */
static void *pages_of(const tamis_memory *memory, uint64_t whole, size_t page)
{
    unsigned char *block = tamis__alloc(memory, whole + page);
    if (block == NULL) return NULL;
    unsigned char *p = block + (page - (uintptr_t)block % page);
    /* cppcheck-suppress pointerSize ; as above */
    memcpy(p - sizeof(void *), &block, sizeof(void *));
    return p;
}

/* Without a caller's allocator, the pages come directly from the system. To the system, adjacent
 * hidden pages are one mapping. Hidden pages in the middle of the heap would add two mappings each,
 * and a process may have only about 65,000. Hiding is advice as well: if the system refuses it,
 * because of a limit on locked memory or on mappings, the handle still works. A caller's memory
 * stays out of core dumps after it is freed, and is not locked, because undoing either could undo
 * what the caller has done. */
void *tamis__alloc_secret(const tamis_memory *memory, uint64_t size)
{
    const size_t page = page_size();
    const uint64_t whole = whole_pages(size, page);
    void *p = memory != NULL ? pages_of(memory, whole, page)
                             : mmap(NULL, (size_t)whole, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == NULL || p == MAP_FAILED) return NULL;
    madvise(p, (size_t)whole, MADV_DONTDUMP);
    if (memory == NULL) mlock(p, (size_t)whole);
    return p;
}

void tamis__free_secret(const tamis_memory *memory, void *p, uint64_t size)
{
    void *block;
    explicit_bzero(p, (size_t)size); /* not memset, which a compiler drops before a free */
    if (memory == NULL) {
        munmap(p, (size_t)whole_pages(size, page_size()));
        return;
    }
    memcpy(&block, (unsigned char *)p - sizeof(void *), sizeof(void *));
    tamis__free(memory, block);
}
#elif defined(_WIN32)
/* The same, except that pages of a caller's allocator are only wiped, and that Windows decides what
 * a dump contains. */
void *tamis__alloc_secret(const tamis_memory *memory, uint64_t size)
{
    if (memory != NULL) return tamis__alloc(memory, size);
    void *p = VirtualAlloc(NULL, (size_t)size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (p != NULL) VirtualLock(p, (size_t)size);
    return p;
}

void tamis__free_secret(const tamis_memory *memory, void *p, uint64_t size)
{
    SecureZeroMemory(p, (size_t)size);
    if (memory == NULL)
        VirtualFree(p, 0, MEM_RELEASE);
    else
        tamis__free(memory, p);
}
#endif
