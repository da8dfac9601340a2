/* The hashes of other programs, bit for bit. MurmurHash3 x64 128 (Austin Appleby) and FNV-1
 * (Fowler, Noll, Vo) are in the public domain. MurmurHash64A is in redisbloom.h. */
#ifndef TAMIS_FOREIGN_HASHES_H
#define TAMIS_FOREIGN_HASHES_H

#include <tamis/tamis.h>

uint64_t tamis__fnv1(const void *key, size_t len);
tamis_hash tamis__murmur3(const void *key, size_t len); /* seed 0 */

#endif
