/* A ring of generations, the newest first. Windows of filters (membership/window.c) and windows of
 * sketches (frequency/window_of_counts.c) share this file. */
#ifndef TAMIS_GENERATIONS_H
#define TAMIS_GENERATIONS_H

#include "kind.h"

static inline uint32_t tamis__generations(const struct body *b)
{
    return tamis__part_sections(b) == 1 ? b->count : b->count / 3;
}

static inline struct body tamis__generation_at(const struct body *b, uint32_t i)
{
    struct body one = *b;
    one.count = tamis__part_sections(b);
    one.sections = b->sections + (uint64_t)i * one.count;
    return one;
}

/* Sets the bits of keys that may be members of a generation from `first` on, and clears the others.
 * If there are no such generations, `bits` is not written. */
void tamis__query_generations(const struct body *b, uint32_t first, const struct batch *keys,
                              uint8_t *bits);

/* The plan of one generation, without its share of the bytes. It keeps the number of generations:
 * distinct sketches have registers from the start if there is any. */
static inline tamis_plan tamis__generation_plan(const tamis_plan *p)
{
    tamis_plan one = *p;
    one.kind = p->inner_kind;
    one.inner_kind = 0;
    one.bytes = 0;
    return one;
}

#ifdef TAMIS__WINDOWS_OF_SKETCHES
/* struct kind.sketch_of of a window: NULL unless its generations are sketches. */
const struct sketch_ops *tamis__window_sketch(const struct kind *inner);
/* What windows of sketches do differently from windows of filters. */
tamis_status tamis__solve_sketches(tamis_plan *plan, tamis_error *why);
const char *tamis__wrong_sketches(const struct body *b);
tamis_status tamis__add_to_sketches(struct body *b, const struct batch *keys, uint8_t *seen,
                                    size_t *done);
tamis_status tamis__merge_sketches(struct body *into, const struct body *from);
#else
static inline const struct sketch_ops *tamis__window_sketch(const struct kind *inner)
{
    (void)inner;
    return NULL;
}
static inline tamis_status tamis__solve_sketches(tamis_plan *plan, tamis_error *why)
{
    (void)plan, (void)why;
    return TAMIS_EUNSUPPORTED;
}
static inline const char *tamis__wrong_sketches(const struct body *b)
{
    (void)b;
    return NULL;
}
static inline tamis_status tamis__add_to_sketches(struct body *b, const struct batch *keys,
                                                  uint8_t *seen, size_t *done)
{
    (void)b, (void)keys, (void)seen, (void)done;
    return TAMIS_EUNSUPPORTED;
}
static inline tamis_status tamis__merge_sketches(struct body *into, const struct body *from)
{
    (void)into, (void)from;
    return TAMIS_EUNSUPPORTED;
}
#endif

#endif
