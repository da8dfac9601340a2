/* Sorts hashes and drops repeats. */
#ifndef TAMIS_HASH_SORT_H
#define TAMIS_HASH_SORT_H

#include <tamis/tamis.h>

/* The bytes of scratch to sort n hashes: n hashes, and 64 KiB for each thread. UINT64_MAX if there
 * are too many. */
uint64_t tamis__sort_scratch(uint64_t n, uint32_t threads);

/* Sorts by hi, then by lo, drops repeats, and returns how many are left. Uniform hashes take linear
 * time, any others n·log n. */
uint64_t tamis__sort_hashes(tamis_hash *h, uint64_t n, uint32_t threads, void *scratch);

#endif
