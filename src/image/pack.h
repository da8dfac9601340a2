/* The packed file, an image for the wire: docs/FORMAT.md. pack.c alone knows its byte offsets. */
#ifndef TAMIS_PACK_H
#define TAMIS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a packed file begins so, and how long it says its image is. */
bool tamis__is_packed(const uint8_t *start, size_t n, uint64_t *image_bytes);

/* Expected bits of code for each cell of one bit, when a share `fill` of them is set, anywhere.
 * Never more than 1. */
double tamis__coded_bits(double fill);

/* Expected bytes of the packed file of an image with so many bytes of such cells. */
uint64_t tamis__packed_bytes(uint64_t image, uint64_t cells, double fill);

#endif
