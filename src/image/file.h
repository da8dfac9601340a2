/* Files that appear whole or not at all; and temporary ones without a name, for what does not fit
 * the memory: they end with the process, however that ends. */
#ifndef TAMIS_FILE_H
#define TAMIS_FILE_H

#include <tamis/tamis.h>

#ifndef __wasm__

/* Whatever `write` puts, saved as tamis_save_packed does. */
typedef tamis_status tamis__writer(const void *what, tamis_sink put, void *ctx, tamis_error *why);
tamis_status tamis__save_by(tamis__writer *write_to, const void *what, const tamis_memory *memory,
                            const char *path, bool replace, tamis_error *why);

/* TAMIS_EIO, with os. *fd is -1 then. */
tamis_status tamis__temporary_open(const char *directory, int *fd, tamis_error *why);
/* All n bytes, or TAMIS_EIO, with os; then what is in the file from `at` on is not known. */
tamis_status tamis__temporary_write(int fd, uint64_t at, const void *bytes, size_t n,
                                    tamis_error *why);
tamis_status tamis__temporary_read(int fd, uint64_t at, void *to, size_t n, tamis_error *why);
void tamis__temporary_empty(int fd);
void tamis__temporary_close(int fd);

#else /* where there are no files, none can be opened, and the others are never called */

static inline tamis_status tamis__temporary_open(const char *directory, int *fd, tamis_error *why)
{
    (void)directory, (void)why;
    *fd = -1;
    return TAMIS_EUNSUPPORTED;
}
static inline tamis_status tamis__temporary_write(int fd, uint64_t at, const void *bytes, size_t n,
                                                  tamis_error *why)
{
    (void)fd, (void)at, (void)bytes, (void)n, (void)why;
    return TAMIS_EUNSUPPORTED;
}
static inline tamis_status tamis__temporary_read(int fd, uint64_t at, void *to, size_t n,
                                                 tamis_error *why)
{
    (void)fd, (void)at, (void)to, (void)n, (void)why;
    return TAMIS_EUNSUPPORTED;
}
static inline void tamis__temporary_empty(int fd)
{
    (void)fd;
}
static inline void tamis__temporary_close(int fd)
{
    (void)fd;
}

#endif
#endif
