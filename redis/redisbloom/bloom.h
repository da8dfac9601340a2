/* RedisBloom's Bloom filter: a chain of links, each with half the error of the one before. */
#ifndef TAMIS_REDISBLOOM_BLOOM_H
#define TAMIS_REDISBLOOM_BLOOM_H

#include "../../src/foreign/redisbloom.h"
#include "compat.h"

struct compat_bloom_link {
    uint8_t *cells;
    uint64_t bytes, bits, items, capacity;
    double error, bits_per_item;
    uint32_t hashes;
    uint8_t n2; /* log2 of bits in old filters, whose sizes were powers of two; otherwise 0 */
};

struct compat_bloom {
    uint64_t items;
    uint32_t options, growth, links;
    struct compat_bloom_link *link;
};

/* Requires an error in (0, 1), and a capacity and growth of at least 1. */
enum compat_status compat_bloom_create(const struct compat_room *room, double error,
                                       uint64_t capacity, uint32_t growth, bool fixed,
                                       struct compat_bloom **out);
extern const struct compat_chain compat_bloom_chain;
void compat_bloom_free(const tamis_memory *memory, struct compat_bloom *b);
struct compat_bloom *compat_bloom_copy(const tamis_memory *memory, const struct compat_bloom *b);

/* Returns COMPAT_OK if the item was new, otherwise COMPAT_SEEN, COMPAT_FULL or COMPAT_NO_MEMORY. */
enum compat_status compat_bloom_add(struct compat_bloom *b, const struct compat_room *room,
                                    const void *item, size_t len);
bool compat_bloom_has(const struct compat_bloom *b, const void *item, size_t len);
/* Adds the members of `from` to `into`. Fails with COMPAT_MISMATCH unless their shapes are equal
 * link by link. */
enum compat_status compat_bloom_mergeable(const struct compat_bloom *into,
                                          const struct compat_bloom *from);
enum compat_status compat_bloom_merge(struct compat_bloom *into, const struct compat_bloom *from);

uint64_t compat_bloom_capacity(const struct compat_bloom *b);
uint64_t compat_bloom_cell_bytes(const struct compat_bloom *b);

/* Saving and loading. encver is the encoding version of the RDB, 2 ... 4 (older ones have another
 * hash). */
void compat_bloom_save(const struct compat_bloom *b, const struct compat_writer *w);
enum compat_status compat_bloom_load(const struct compat_reader *r, int encver,
                                     const tamis_memory *memory, struct compat_bloom **out);

/* For SCANDUMP: the header first, then chunks of cells, by the iterator that the previous chunk
 * returned. */
size_t compat_bloom_header_size(const struct compat_bloom *b);
void compat_bloom_header(const struct compat_bloom *b, uint8_t *out);
struct compat_chunk compat_bloom_chunk(const struct compat_bloom *b, uint64_t iterator);
enum compat_status compat_bloom_from_header(const struct compat_room *room, const uint8_t *p,
                                            size_t len, struct compat_bloom **out);
/* `iterator` is the one returned with the chunk. Fails with COMPAT_BAD if no chunk of that length
 * can have it, COMPAT_NO_LINK beyond the last link, COMPAT_TOO_LONG beyond the end of a link. */
enum compat_status compat_bloom_put_chunk(struct compat_bloom *b, int64_t iterator,
                                          const uint8_t *p, size_t len);

#endif
