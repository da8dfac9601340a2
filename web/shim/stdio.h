/* Of the C library's <stdio.h> what the sources for the browser use: reasons for failures. */
#ifndef TAMIS_SHIM_STDIO_H
#define TAMIS_SHIM_STDIO_H

#include <stdarg.h>
#include <stddef.h>

/* Knows %s, %u, %llu, %.3g, %.0f and %%; what it does not know it writes as '?'. */
int vsnprintf(char *out, size_t size, const char *format, va_list args);
int snprintf(char *out, size_t size, const char *format, ...);

#endif
