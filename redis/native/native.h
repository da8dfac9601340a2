/* The value of a TAMIS.* key: a structure of the library in the server's memory. */
#ifndef TAMIS_REDIS_NATIVE_H
#define TAMIS_REDIS_NATIVE_H

#include "../module.h"

#include <tamis/count.h>

/* The library allocates through `memory`, which counts the bytes. `memory` must not move, so the
 * value holds a pointer to the body. */
struct native_body {
    tamis *t;
    tamis_memory memory;
    size_t bytes;
    bool saving; /* see redis_saving_memory */
    /* What the last TAMIS.INFO FULL, or the last survey, found. */
    bool read;
    uint64_t saturated;
};
struct native {
    struct native_body *body;
};

/* For `limit`, see tamis_options.max_bytes. */
struct native_body *native_create(const tamis_plan *plan, uint64_t limit, tamis_error *why);
struct native_body *native_load(const void *image, size_t size, uint64_t limit, tamis_error *why);
struct native_body *native_copy(struct native_body *b, tamis_error *why);
void native_free(struct native_body *b);
/* Makes the value for a key from a body, which it owns. Returns NULL and frees the body when memory
 * runs out. */
struct native *native_value(struct native_body *b);

/* Returns the image as one block from that allocator, or NULL. */
uint8_t *native_image(struct native_body *b, const tamis_memory *memory, size_t *size);
/* Returns *size bytes of it from the offset on, or as many as there are, or NULL. */
uint8_t *native_piece(struct native_body *b, const tamis_memory *memory, uint64_t offset,
                      size_t *size);

/* For commands. native_say replies with an error in the library's words. native_open returns the
 * structure of a key, or NULL after an error reply. native_set sets a key's first value; on failure
 * it frees the body and replies. native_limit returns how big a structure this command may make. */
int native_say(redis_ctx *ctx, const char *text);
tamis *native_open(redis_ctx *ctx, redis_string *key, int mode, struct redis_open *open);
bool native_set(redis_ctx *ctx, struct redis_open *open, struct native_body *b);
/* The key that an item stands for: its bytes, or for int64le an integer, which is written to raw.
 * Returns false, with the reason, if the structure states that its keys are otherwise. */
bool native_key(const tamis *t, const redis_string *item, uint8_t raw[static 8], tamis_bytes *key,
                tamis_error *why);
/* Writes the item that a key of int64le stands for and returns its length. Returns 0 if the key is
 * the item itself. */
size_t native_item(const tamis *t, tamis_bytes key, char text[static 24]);
uint64_t native_limit(redis_ctx *ctx);
/* Begins a reply of n fields: a map in RESP3, and in RESP2 only the values in the same order.
 * Returns whether the names are to be sent. */
bool native_begin_fields(redis_ctx *ctx, long n);
/* The number of fields of an estimate: estimate, lower, upper, confidence, below-noise, certain (or
 * nil), suspect (nil if not judged). */
enum { NATIVE_ESTIMATE = 7 };
void native_reply_estimate(redis_ctx *ctx, bool names, const tamis_estimate *e);

#endif
