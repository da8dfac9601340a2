/* The part of the C library's <string.h> that the sources for the browser use. The builtins become
 * single instructions if the length is known, and calls of libc.c otherwise. */
#ifndef TAMIS_SHIM_STRING_H
#define TAMIS_SHIM_STRING_H

#include <stddef.h>

int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);

#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset
#define memcmp __builtin_memcmp

#endif
