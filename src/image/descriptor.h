/* Descriptors of regular files, opened, locked and read; and temporary files without a name, for
 * what does not fit the memory: they end with the process, however that ends. */
#ifndef TAMIS_DESCRIPTOR_H
#define TAMIS_DESCRIPTOR_H

#include <tamis/tamis.h>

#ifndef __wasm__
#include <sys/stat.h>

/* TAMIS_EIO with errno, and "what: reason". */
tamis_status tamis__io_fail(tamis_error *why, const char *what);
/* TAMIS_EIO for what is not a regular file. */
tamis_status tamis__not_regular(const struct stat *st, tamis_error *why);

/* Keeps errno. */
void tamis__close_quietly(int fd);

/* A descriptor of 0 to 2 is somebody's standard stream as soon as they print or read, so it is
 * moved; -1: errno, and it is closed. */
int tamis__off_standard_streams(int fd);

bool tamis__same_file(const struct stat *a, const struct stat *b);

/* All n bytes from `at` on; TAMIS_ECORRUPT where the file ends before. */
tamis_status tamis__read_at(int fd, uint64_t at, void *to, size_t n, tamis_error *why);

/* A regular file, or why not. To be locked: with write access if we have it, which NFS wants for
 * that. *fd is -1 after a failure. */
tamis_status tamis__open_regular(const char *path, bool lock, int *fd, struct stat *st,
                                 tamis_error *why);

enum lock { LOCK_IF_POSSIBLE, LOCK_OR_FAIL, LOCK_AND_WAIT };

/* 0, or -1: errno. 0 without a lock where the file system has none and one is only wanted if
 * possible. */
int tamis__lock_file(int fd, enum lock how);

/* Open and lock the file that has this name once the lock is held. */
tamis_status tamis__open_locked(const char *path, enum lock how, int *fd, struct stat *st,
                                tamis_error *why);

#define TAMIS__TEMPORARY_NAME 64
#define TAMIS__MAX_ATTEMPTS 1000u
#define TAMIS__EXCLUSIVELY (O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW)

/* A name that is free in the directory, for as long as nobody else picks it. */
void tamis__pick_temporary_name(char *name, unsigned attempt);
/* A descriptor of a new file of that name; -1: errno, there is none, and the name is empty. */
int tamis__create_named(int dir, mode_t mode, char *name);

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
