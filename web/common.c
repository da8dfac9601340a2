/* The functions for every sort of handle: memory, loading, adding, saving. */
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>

tamis_error web_why;
double web_numbers[48];

EXPORT(numbers) const double *web_numbers_at(void)
{
    return web_numbers;
}

EXPORT(why) const char *web_why_text(void)
{
    return web_why.text;
}

/* Returns the offset at which the image is wrong, a kind that has the missing operation, or the
 * status. */
EXPORT(whyMore) double web_why_more(int what)
{
    const double more[] = {(double)web_why.offset, web_why.better_kind, web_why.status};
    return more[what];
}

EXPORT(alloc) void *web_alloc(size_t size)
{
    return malloc(size);
}

EXPORT(free) void web_free(void *p)
{
    free(p);
}

static void *take_memory(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void give_memory(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

/* The library's own allocator aligns big blocks to huge pages, which do not exist here. */
static const tamis_memory memory = {.alloc = take_memory, .free = give_memory};

tamis_options web_options(const uint8_t *key, uint32_t flags, double max_bytes)
{
    return (tamis_options){.struct_size = sizeof(tamis_options),
                           .flags = flags,
                           .key = key,
                           .max_bytes = (uint64_t)max_bytes,
                           .memory = &memory};
}

EXPORT(load)
tamis *web_load(const void *image, size_t size, const uint8_t *key, uint32_t flags,
                double max_bytes)
{
    const tamis_options o = web_options(key, flags, max_bytes);
    tamis *t;
    tamis_load(image, size, &o, &t, &web_why);
    return t;
}

EXPORT(close) void web_close(tamis *t)
{
    tamis_close(t);
}

/* The encoding, and from bit 8 on the length that every key must have. */
EXPORT(keys) uint32_t web_keys(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_stat(t, &f);
    return f.encoding | f.key_width << 8;
}

int web_because(tamis_status s)
{
    web_why = (tamis_error){.status = s};
    const char *text = tamis_status_message(s);
    memcpy(web_why.text, text, strlen(text));
    return s;
}

/* Returns 1 if the key may have been added before. */
EXPORT(add) int web_add(tamis *t, const void *key, size_t len)
{
    bool seen;
    const tamis_status s = tamis_add(t, key, len, &seen);
    return s == TAMIS_OK ? seen : web_because(s);
}

EXPORT(size) double web_size(const tamis *t)
{
    return (double)tamis_image_size(t);
}

static tamis_status append_bytes(void *ctx, const void *bytes, size_t n)
{
    uint8_t **at = ctx;
    memcpy(*at, bytes, n);
    *at += n;
    return TAMIS_OK;
}

/* Writes to `out`, which has the size that the image needs. */
EXPORT(save) int web_save(const tamis *t, uint8_t *out)
{
    return tamis_write(t, append_bytes, &out, &web_why);
}
