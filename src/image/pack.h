/* The packed file, an image for the network: docs/FORMAT.md. Only pack.c knows its byte offsets. */
#ifndef TAMIS_PACK_H
#define TAMIS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reports whether this is the beginning of a packed file, and the length that it states for its
 * image. */
bool tamis__is_packed(const uint8_t *start, size_t n, uint64_t *image_bytes);

/* Returns the expected bits of code for each one-bit cell, if a share `fill` of them is set at
 * random positions. It is never more than 1. */
double tamis__coded_bits(double fill);

/* Returns the expected bytes of the packed file of an image with this many bytes of such cells. */
uint64_t tamis__packed_bytes(uint64_t image, uint64_t cells, double fill);

#endif
