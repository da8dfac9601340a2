/* What the tests of RedisBloom's structures need around a structure: memory that counts, and values
 * as lists of fields. */
#ifndef TAMIS_REDIS_FIELDS_H
#define TAMIS_REDIS_FIELDS_H

#include "../../redis/redisbloom/compat.h"
#include "check.h"

/* --- Memory that counts, and can be told to fail ---------------------------------------------- */

static long live, allowed = -1;

static void *take(void *ctx, size_t n)
{
    (void)ctx;
    if (allowed == 0) return NULL;
    if (allowed > 0) allowed--;
    live++;
    return malloc(n > 0 ? n : 1);
}

static void give(void *ctx, void *p)
{
    (void)ctx;
    live--;
    free(p);
}

static const tamis_memory memory = {.alloc = take, .free = give};
static const struct compat_room room = {&memory, 1u << 20};

/* --- Fields: how a value is compared, and what a reader reads --------------------------------- */

/* One after the other: 'U' or 'D' and eight bytes, or 'S', eight bytes of length and the bytes. */
struct fields {
    uint8_t *p;
    size_t len, at;
};

static void put(struct fields *f, const void *p, size_t n)
{
    f->p = realloc(f->p, f->len + n + 1);
    CHECK(f->p != NULL);
    if (n > 0) memcpy(f->p + f->len, p, n);
    f->len += n;
}

static void put_tagged(struct fields *f, char tag, uint64_t value)
{
    uint8_t bytes[9] = {(uint8_t)tag};
    compat_put(bytes + 1, value, 8);
    put(f, bytes, 9);
}

static void write_number(void *ctx, uint64_t value)
{
    put_tagged(ctx, 'U', value);
}

static void write_real(void *ctx, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_tagged(ctx, 'D', bits);
}

static void write_bytes(void *ctx, const void *p, size_t n)
{
    put_tagged(ctx, 'S', n);
    put(ctx, p, n);
}

static bool read_tagged(struct fields *f, char tag, uint64_t *value)
{
    if (f->len - f->at < 9 || f->p[f->at] != tag) return false;
    *value = compat_get64(f->p + f->at + 1);
    f->at += 9;
    return true;
}

static bool read_number(void *ctx, uint64_t *value)
{
    return read_tagged(ctx, 'U', value);
}

static bool read_real(void *ctx, double *value)
{
    uint64_t bits;
    if (!read_tagged(ctx, 'D', &bits)) return false;
    memcpy(value, &bits, sizeof bits);
    return true;
}

static void *read_bytes(void *ctx, size_t *n)
{
    struct fields *f = ctx;
    uint64_t len;
    if (!read_tagged(f, 'S', &len) || len > f->len - f->at) return NULL;
    void *p = take(NULL, (size_t)len);
    if (p == NULL) return NULL;
    memcpy(p, f->p + f->at, (size_t)len);
    f->at += (size_t)len;
    *n = (size_t)len;
    return p;
}

#endif
