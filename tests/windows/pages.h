/* Pages without a file, some of which cannot be accessed: what the tests use of sys/mman.h. */
#ifndef TAMIS_TEST_PAGES_H
#define TAMIS_TEST_PAGES_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef far /* which a test has as a name */

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_ANON MAP_ANONYMOUS
#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t size, int protection, int flags, int fd, int offset)
{
    (void)protection, (void)flags, (void)fd, (void)offset;
    void *p = VirtualAlloc(at, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    return p != NULL ? p : MAP_FAILED;
}

static inline int mprotect(void *p, size_t size, int protection)
{
    DWORD before;
    DWORD now = PAGE_NOACCESS;
    if (protection == PROT_READ) now = PAGE_READONLY;
    if ((protection & PROT_WRITE) != 0) now = PAGE_READWRITE;
    return VirtualProtect(p, size, now, &before) ? 0 : -1;
}

static inline int munmap(void *p, size_t size)
{
    (void)size;
    return VirtualFree(p, 0, MEM_RELEASE) ? 0 : -1;
}

#endif
