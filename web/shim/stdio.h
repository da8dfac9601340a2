/* The part of the C library's <stdio.h> that the sources for the browser use: reasons for
 * failures. */
#ifndef TAMIS_SHIM_STDIO_H
#define TAMIS_SHIM_STDIO_H

#include <stdarg.h>
#include <stddef.h>

/* Supports %s, %u, %llu, %.3g, %.2g, %.0f and %%, and writes '?' for anything else. */
int vsnprintf(char *out, size_t size, const char *format, va_list args);
int snprintf(char *out, size_t size, const char *format, ...);

#endif
