/* Allocates all memory of the library. */
#ifndef TAMIS_MEMORY_H
#define TAMIS_MEMORY_H

#include <tamis/tamis.h>

/* Returns zeroed memory that is aligned to a cache line, or NULL if the allocator fails or size
 * does not fit in a size_t. Memory that the allocator returns zeroed is not touched. */
void *tamis__alloc(const tamis_memory *memory, uint64_t size);
/* The same with undefined contents, for memory that the caller overwrites at once. */
void *tamis__alloc_unset(const tamis_memory *memory, uint64_t size);
void tamis__free(const tamis_memory *memory, void *p);
/* The same, zeroed, for small things that need no alignment other than that of malloc, which takes
 * 72 bytes less. Only what it returned may be freed so, and not NULL. */
void *tamis__alloc_plain(const tamis_memory *memory, uint64_t size);
void tamis__free_plain(const tamis_memory *memory, void *p);
/* How much a caller's allocator is asked for, to allocate this size. */
uint64_t tamis__alloc_bytes(uint64_t size);

/* The same for memory that contains a secret. It consists of pages of its own, which are left out
 * of core dumps, and is wiped when it is freed. Unless it comes from a caller's allocator, it is
 * also kept out of swap, if the system allows that. Windows does not leave it out of dumps. On
 * systems other than Linux and Windows it is only wiped. */
#if defined(__linux__) || defined(_WIN32)
void *tamis__alloc_secret(const tamis_memory *memory, uint64_t size);
void tamis__free_secret(const tamis_memory *memory, void *p, uint64_t size);
#else
#define tamis__alloc_secret tamis__alloc
static inline void tamis__free_secret(const tamis_memory *memory, void *p, uint64_t size)
{
    for (volatile unsigned char *at = p; size > 0; size--) *at++ = 0;
    tamis__free(memory, p);
}
#endif

#endif
