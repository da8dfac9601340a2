/* Of the C library's <stdlib.h> what the sources for the browser use. */
#ifndef TAMIS_SHIM_STDLIB_H
#define TAMIS_SHIM_STDLIB_H

#include <stddef.h>

/* Aligned to 16 bytes; NULL when the memory cannot grow. */
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void free(void *p);

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
