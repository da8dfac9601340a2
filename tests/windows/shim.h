/* What the tests use of POSIX and Windows lacks. It is included before everything else. */
#ifndef TAMIS_TEST_SHIM_H
#define TAMIS_TEST_SHIM_H

#include <direct.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *windows_calloc(size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size) return NULL;
    void *p = _aligned_malloc(n * size, 16);
    if (p != NULL) memset(p, 0, n * size);
    return p;
}

/* The tests free aligned memory by free, so all of it must come from the same functions. */
static inline int windows_memalign(void **out, size_t alignment, size_t size)
{
    *out = _aligned_malloc(size, alignment);
    return *out == NULL;
}
#define posix_memalign(out, alignment, size) windows_memalign(out, alignment, size)
#define malloc(size) _aligned_malloc(size, 16)
#define calloc(n, size) windows_calloc(n, size)
#define realloc(p, size) _aligned_realloc(p, size, 16)
#define free(p) _aligned_free(p)

#define _SC_PAGESIZE 0
#define sysconf(what) 4096L

static inline char *mkdtemp(char *name)
{
    char *end = name + strlen(name) - 6; /* the Xs */
    for (unsigned i = 0; i < 1000000; i++) {
        snprintf(end, 7, "%06u", i);
        if (_mkdir(name) == 0) return name;
    }
    return NULL;
}

#endif
