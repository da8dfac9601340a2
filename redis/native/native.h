/* The value of a TAMIS.* key: a structure of the library in the server's memory. */
#ifndef TAMIS_REDIS_NATIVE_H
#define TAMIS_REDIS_NATIVE_H

#include "../module.h"

#include <tamis/count.h>

/* The library asks for memory through `memory`, which counts it. It must not move, so the value
 * points to it. */
struct native_body {
    tamis *t;
    tamis_memory memory;
    size_t bytes;
    bool saving; /* see redis_saving_memory */
};
struct native {
    struct native_body *body;
};

/* limit: see tamis_options.max_bytes. */
struct native_body *native_create(const tamis_plan *plan, uint64_t limit, tamis_error *why);
struct native_body *native_load(const void *image, size_t size, uint64_t limit, tamis_error *why);
struct native_body *native_copy(struct native_body *b, tamis_error *why);
void native_free(struct native_body *b);
/* The value for a key around a body, which it owns; NULL: no memory, and the body is gone. */
struct native *native_value(struct native_body *b);

/* The image as one piece of that memory, or NULL. */
uint8_t *native_image(struct native_body *b, const tamis_memory *memory, size_t *size);

/* For commands. say: an error reply of the library's words. open: the structure behind a key, NULL
 * after an error reply. set: a key's first value; frees the body when it cannot, and replies.
 * limit: what this command may make. */
int native_say(redis_ctx *ctx, const char *text);
tamis *native_open(redis_ctx *ctx, redis_string *key, int mode, struct redis_open *open);
bool native_set(redis_ctx *ctx, struct redis_open *open, struct native_body *b);
uint64_t native_limit(redis_ctx *ctx);
/* A reply of n fields: a map in RESP3, before that the values alone in the same order. Whether
 * names are wanted. */
bool native_begin_fields(redis_ctx *ctx, long n);
/* So many of them: estimate, lower, upper, confidence, below-noise, certain (or nil), suspect (nil:
 * not judged). */
enum { NATIVE_ESTIMATE = 7 };
void native_reply_estimate(redis_ctx *ctx, bool names, const tamis_estimate *e);

#endif
