/* RedisBloom's TopK: the k most frequent items by HeavyKeeper (Gong et al., 2018). */
#ifndef TAMIS_REDISBLOOM_TOP_H
#define TAMIS_REDISBLOOM_TOP_H

#include "compat.h"

struct compat_top_item {
    char *item; /* NULL for an unused entry */
    uint32_t len, fingerprint, count;
};

struct compat_top {
    uint32_t k, width, depth;
    uint32_t draws; /* number of random numbers so far */
    double decay;
    uint8_t *cells;               /* fingerprint and count, 32 bits each, row by row */
    struct compat_top_item *heap; /* k entries, the least first */
    uint64_t text_bytes;          /* bytes that their items take */
    uint64_t saturated;           /* number of saturated counters */
    double powers[256];           /* powers of decay */
};

/* Requires k, width and depth of at least 1, and decay in (0, 1]. */
enum compat_status compat_top_create(const struct compat_room *room, uint32_t k, uint32_t width,
                                     uint32_t depth, double decay, struct compat_top **out);
void compat_top_free(const tamis_memory *memory, struct compat_top *t);
struct compat_top *compat_top_copy(const tamis_memory *memory, const struct compat_top *t);

/* Counts n more of an item of at most 4 GiB - 1. *expelled is the item that it replaced, or NULL;
 * it belongs to the caller. After COMPAT_NO_MEMORY nothing changed; this is also returned if there
 * would be no room for the item in the list. */
enum compat_status compat_top_add(struct compat_top *t, const struct compat_room *room,
                                  const void *item, size_t len, uint32_t n,
                                  struct compat_top_item *expelled);
bool compat_top_has(const struct compat_top *t, const void *item, size_t len);
uint32_t compat_top_count(const struct compat_top *t, const void *item, size_t len);
/* Stores pointers to the items whose count is not zero, the most frequent first and equal counts in
 * the order of the heap. Returns how many there are. */
size_t compat_top_list(const struct compat_top *t, const struct compat_top_item **out);

uint64_t compat_top_bytes(const struct compat_top *t);
void compat_top_save(const struct compat_top *t, const tamis_memory *memory,
                     const struct compat_writer *w);
enum compat_status compat_top_load(const struct compat_reader *r, int encver,
                                   const tamis_memory *memory, struct compat_top **out);

#endif
