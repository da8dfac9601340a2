/* RedisBloom's cuckoo filter: a byte of each item in one of two buckets, in a chain of tables. */
#ifndef TAMIS_REDISBLOOM_CUCKOO_H
#define TAMIS_REDISBLOOM_CUCKOO_H

#include "compat.h"

struct compat_cuckoo_link {
    uint8_t *slots;
    uint64_t buckets; /* a power of two */
};

struct compat_cuckoo {
    uint64_t items, deletes, buckets; /* buckets of the first table */
    uint32_t links;
    uint16_t bucket_size, max_iterations, expansion;
    struct compat_cuckoo_link *link;
};

#define COMPAT_CUCKOO_HEADER 38u

/* Requires capacity >= 2 * bucket_size, bucket_size 1 ... 255, max_iterations at least 1. With an
 * expansion of 0 the filter never grows. */
enum compat_status compat_cuckoo_create(const struct compat_room *room, uint64_t capacity,
                                        uint16_t bucket_size, uint16_t max_iterations,
                                        uint16_t expansion, struct compat_cuckoo **out);
extern const struct compat_chain compat_cuckoo_chain;
void compat_cuckoo_free(const tamis_memory *memory, struct compat_cuckoo *c);
struct compat_cuckoo *compat_cuckoo_copy(const tamis_memory *memory, const struct compat_cuckoo *c);

/* Always adds one copy. After COMPAT_FULL and COMPAT_NO_MEMORY nothing changed. COMPAT_TOO_MANY
 * means that max_links is reached, whether there is room or not. */
enum compat_status compat_cuckoo_add(struct compat_cuckoo *c, const struct compat_room *room,
                                     uint32_t max_links, const void *item, size_t len);
bool compat_cuckoo_has(const struct compat_cuckoo *c, const void *item, size_t len);
uint64_t compat_cuckoo_count(const struct compat_cuckoo *c, const void *item, size_t len);
/* Removes one copy. Returns COMPAT_OK or COMPAT_ABSENT. */
enum compat_status compat_cuckoo_remove(struct compat_cuckoo *c, const tamis_memory *memory,
                                        const void *item, size_t len);
/* Moves fingerprints to older tables where possible, and drops the newest tables that are then
 * empty. */
void compat_cuckoo_compact(struct compat_cuckoo *c, const tamis_memory *memory, bool all);

uint64_t compat_cuckoo_slots(const struct compat_cuckoo *c);

void compat_cuckoo_save(const struct compat_cuckoo *c, const struct compat_writer *w);
enum compat_status compat_cuckoo_load(const struct compat_reader *r, int encver,
                                      const tamis_memory *memory, struct compat_cuckoo **out);
void compat_cuckoo_header(const struct compat_cuckoo *c, uint8_t out[COMPAT_CUCKOO_HEADER]);
struct compat_chunk compat_cuckoo_chunk(const struct compat_cuckoo *c, uint64_t iterator);
enum compat_status compat_cuckoo_from_header(const struct compat_room *room, const uint8_t *p,
                                             size_t len, struct compat_cuckoo **out);
/* Like compat_bloom_put_chunk; an empty chunk is COMPAT_BAD. */
enum compat_status compat_cuckoo_put_chunk(struct compat_cuckoo *c, int64_t iterator,
                                           const uint8_t *p, size_t len);

#endif
