/* What the four structures of RedisBloom share here: memory with a limit, the fields of an RDB
 * value, numbers in little-endian bytes. Nothing in this folder knows Redis, so that all of it is
 * tested without a server.
 *
 * The structures keep their cells as the bytes that go to disk, so saving is writing and loading is
 * checking. */
#ifndef TAMIS_REDISBLOOM_COMPAT_H
#define TAMIS_REDISBLOOM_COMPAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tamis/tamis.h>

enum compat_status {
    COMPAT_OK,
    COMPAT_SEEN,      /* nothing to do: it is there already */
    COMPAT_ABSENT,    /* nothing to take away */
    COMPAT_FULL,      /* a structure that may not grow */
    COMPAT_TOO_MANY,  /* as many links as the caller allows */
    COMPAT_NO_MEMORY, /* refused by the allocator, or beyond max_bytes */
    COMPAT_BAD,       /* bytes or numbers that make no whole structure */
    COMPAT_NO_LINK,   /* a chunk that begins nowhere */
    COMPAT_TOO_LONG,  /* a chunk that ends behind its link */
    COMPAT_MISMATCH,  /* structures of unequal shape */
    COMPAT_OVERFLOW   /* a counter would leave its range */
};

/* Where a structure may take its cells from, and how many bytes it may have in all. */
struct compat_room {
    const tamis_memory *memory;
    uint64_t max_bytes;
};

/* The fields of a value at rest, in order. A reader's calls are false, or NULL, for what is not
 * there; bytes come in memory of the room and belong to the caller. */
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

/* One piece of a SCANDUMP; next is 0 when there is none. */
struct compat_chunk {
    const uint8_t *p;
    size_t len;
    uint64_t next;
};

/* Austin Appleby's MurmurHash2, by which RedisBloom's sketches find cells. */
uint32_t compat_murmur32(const void *key, size_t len, uint32_t seed);

/* n zero bytes, or NULL. */
void *compat_zeros(const struct compat_room *room, uint64_t n);
void *compat_clone(const tamis_memory *memory, const void *p, size_t n);

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
