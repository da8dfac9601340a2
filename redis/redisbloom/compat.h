/* What the five structures of RedisBloom share here: memory with a limit, the fields of an RDB
 * value, numbers in little-endian bytes. Nothing in this folder depends on Redis, so all of it is
 * tested without a server.
 *
 * The structures keep their cells as the bytes that go to disk, so saving only writes them, and
 * loading only checks them. */
#ifndef TAMIS_REDISBLOOM_COMPAT_H
#define TAMIS_REDISBLOOM_COMPAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tamis/tamis.h>

enum compat_status {
    COMPAT_OK,
    COMPAT_SEEN,      /* nothing to do: the item is already present */
    COMPAT_ABSENT,    /* nothing to remove */
    COMPAT_FULL,      /* the structure must not grow */
    COMPAT_TOO_MANY,  /* the number of links that the caller allows is reached */
    COMPAT_NO_MEMORY, /* refused by the allocator, or beyond max_bytes */
    COMPAT_BAD,       /* bytes or numbers that are not a valid structure */
    COMPAT_NO_LINK,   /* a chunk that does not begin within a link */
    COMPAT_TOO_LONG,  /* a chunk that extends beyond its link */
    COMPAT_MISMATCH,  /* structures with different shapes */
    COMPAT_OVERFLOW   /* a counter would leave its range */
};

/* Where a structure allocates its cells, and how many bytes it may have in all. */
struct compat_room {
    const tamis_memory *memory;
    uint64_t max_bytes;
};

/* The fields of a saved value, in order. A reader's functions return false or NULL for a missing
 * field; bytes are allocated from the room and belong to the caller. */
struct compat_writer {
    void *ctx;
    void (*number)(void *ctx, uint64_t value);
    void (*real)(void *ctx, double value);
    void (*bytes)(void *ctx, const void *p, size_t n);
};
struct compat_reader {
    void *ctx;
    bool (*number)(void *ctx, uint64_t *value);
    bool (*real)(void *ctx, double *value);
    void *(*bytes)(void *ctx, size_t *n);
};

/* One chunk of a SCANDUMP; next is 0 after the last. */
struct compat_chunk {
    const uint8_t *p;
    size_t len;
    uint64_t next;
};

/* Austin Appleby's MurmurHash2, which chooses the cells of RedisBloom's sketches. */
uint32_t compat_murmur32(const void *key, size_t len, uint32_t seed);

/* Returns n zero bytes, or NULL. */
void *compat_zeros(const struct compat_room *room, uint64_t n);
void *compat_clone(const tamis_memory *memory, const void *p, size_t n);

/* Bloom and cuckoo filters are chains of links: a pointer to an array of structs, each of which
 * begins with the pointer to the bytes of its link, and their number, a uint32_t. This describes
 * where a type of filter has them, so that freeing, copying, measuring and moving exist once. */
struct compat_chain {
    size_t filter, link; /* sizes of the structs */
    size_t link_at, links_at;
    uint64_t (*bytes)(const void *filter, uint32_t i); /* of link i */
};

uint32_t compat_chain_links(const struct compat_chain *c, const void *filter);
/* The array. */
void *compat_chain_array(const struct compat_chain *c, const void *filter);
void compat_chain_set_array(const struct compat_chain *c, void *filter, void *array);
/* The pointer to the bytes of link i. */
uint8_t **compat_chain_bytes(const struct compat_chain *c, void *array, uint32_t i);
void compat_chain_free(const struct compat_chain *c, const tamis_memory *memory, void *filter);
/* NULL without memory. */
void *compat_chain_copy(const struct compat_chain *c, const tamis_memory *memory,
                        const void *filter);

static inline void compat_free(const tamis_memory *memory, void *p)
{
    if (p != NULL) memory->free(memory->ctx, p);
}

static inline uint16_t compat_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t compat_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t compat_get64(const uint8_t *p)
{
    return compat_get32(p) | (uint64_t)compat_get32(p + 4) << 32;
}

static inline double compat_get_real(const uint8_t *p)
{
    const uint64_t bits = compat_get64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void compat_put(uint8_t *p, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) p[i] = (uint8_t)(value >> 8 * i);
}

static inline void compat_put32(uint8_t *p, uint32_t value)
{
    compat_put(p, value, 4);
}

static inline void compat_put_real(uint8_t *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    compat_put(p, bits, 8);
}

#endif
