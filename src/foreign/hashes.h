/* The hashes of other programs, bit for bit. Those of Austin Appleby (MurmurHash2 64A, MurmurHash3
 * x64 128) are in the public domain, FNV-1 (Fowler, Noll, Vo) as well. */
#ifndef TAMIS_FOREIGN_HASHES_H
#define TAMIS_FOREIGN_HASHES_H

#include <tamis/tamis.h>

uint64_t tamis__fnv1(const void *key, size_t len);
uint64_t tamis__murmur2(const void *key, size_t len, uint64_t seed);
tamis_hash tamis__murmur3(const void *key, size_t len); /* seed 0 */

#endif
