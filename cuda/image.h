/* What a device needs to know about an image, from its header and its table of sections. */
#ifndef TAMIS_CUDA_IMAGE_H
#define TAMIS_CUDA_IMAGE_H

#include "tables.h"

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most metadata that is needed: the header and 16 sections, which a ribbon of eight layers
 * has. */
#define SHAPE_METADATA (128u + 16u * 64u)

struct shape {
    tamis_plan plan;    /* of an empty filter with the same shape, hash and encoding */
    uint32_t hash;      /* TAMIS_XXH3, ... */
    uint32_t key_width; /* the length that keys must have; 0: any */
    uint8_t key_id[16]; /* of the secret key, or 0 */
    bool sealed, strict;
    uint64_t first;     /* where the cells begin in the image */
    struct table table; /* pointers are offsets from there; bytes is what follows it */
};

/* Takes the first n bytes of an image that the library wrote, at least the smaller of its length
 * and SHAPE_METADATA. Fails with TAMIS_EUNSUPPORTED, with the reason, if devices cannot query such
 * a filter. */
tamis_status tamis_cuda__shape(const uint8_t *image, size_t n, struct shape *out, tamis_error *why);

/* The length that keys of a plan must have; 0: any. */
uint32_t tamis_cuda__key_width(const tamis_plan *plan);

/* Turns the offsets of a shape's table into pointers into the memory at `cells`. */
void tamis_cuda__place(struct table *t, void *cells);

/* Fills *why, which may be NULL, and returns the status. */
tamis_status tamis_cuda__fail(tamis_error *why, tamis_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
