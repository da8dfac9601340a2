/* RedisBloom's Count-Min sketch: depth rows of width counters. */
#ifndef TAMIS_REDISBLOOM_SKETCH_H
#define TAMIS_REDISBLOOM_SKETCH_H

#include "compat.h"

struct compat_sketch {
    uint64_t width, depth, count;
    uint64_t saturated; /* number of saturated counters */
    uint8_t *cells;     /* 32 bits each, row by row */
};

/* The value of a saturated counter. */
#define COMPAT_SKETCH_END UINT32_MAX

/* Computes the shape by the formulas of CMS.INITBYPROB; both arguments must be in (0, 1). Fails
 * with COMPAT_OVERFLOW if there is no such sketch. */
enum compat_status compat_sketch_shape(double error, double probability, uint64_t *width,
                                       uint64_t *depth);
enum compat_status compat_sketch_create(const struct compat_room *room, uint64_t width,
                                        uint64_t depth, struct compat_sketch **out);
void compat_sketch_free(const tamis_memory *memory, struct compat_sketch *s);
struct compat_sketch *compat_sketch_copy(const tamis_memory *memory, const struct compat_sketch *s);

/* Returns the count afterwards; counters saturate. */
uint32_t compat_sketch_add(struct compat_sketch *s, const void *item, size_t len, uint64_t n);
uint32_t compat_sketch_count(const struct compat_sketch *s, const void *item, size_t len);
/* `into` becomes the weighted sum of n others of its shape, and may be one of them. Nothing changed
 * after COMPAT_MISMATCH and COMPAT_OVERFLOW. */
enum compat_status compat_sketch_merge(struct compat_sketch *into,
                                       struct compat_sketch *const *from, const int64_t *weights,
                                       size_t n);

size_t compat_sketch_cell_bytes(const struct compat_sketch *s);
void compat_sketch_save(const struct compat_sketch *s, const struct compat_writer *w);
enum compat_status compat_sketch_load(const struct compat_reader *r, int encver,
                                      const tamis_memory *memory, struct compat_sketch **out);

#endif
