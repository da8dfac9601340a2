/* All memory of the library comes from here. */
#ifndef TAMIS_MEMORY_H
#define TAMIS_MEMORY_H

#include <tamis/tamis.h>

/* Zeroed, aligned to a cache line; NULL when the allocator says no or size does not fit a
 * size_t. Where the allocator brings zeroed memory it is not touched. */
void *tamis__alloc(const tamis_memory *memory, uint64_t size);
/* The same with any contents, for what is overwritten at once. */
void *tamis__alloc_unset(const tamis_memory *memory, uint64_t size);
void tamis__free(const tamis_memory *memory, void *p);

/* The same for what holds a secret: in pages of its own, which are left out of core dumps and, as
 * far as the system allows, of swap; wiped when freed. Elsewhere than on Linux it is only wiped. */
#ifdef __linux__
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
