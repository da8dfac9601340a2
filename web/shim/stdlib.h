/* The part of the C library's <stdlib.h> that the sources for the browser use. */
#ifndef TAMIS_SHIM_STDLIB_H
#define TAMIS_SHIM_STDLIB_H

#include <stddef.h>

/* Returns memory aligned to 16 bytes, or NULL if the memory cannot grow. */
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void free(void *p);

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
