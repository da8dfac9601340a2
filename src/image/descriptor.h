/* Opens, locks and reads regular files. Also creates temporary files without a name, for data that
 * does not fit in memory. They disappear with the process, however it ends.
 *
 * A file or lock is an int: a descriptor in descriptor.c, and a Windows handle in windows.c. */
#ifndef TAMIS_DESCRIPTOR_H
#define TAMIS_DESCRIPTOR_H

#include <tamis/tamis.h>

#ifndef __wasm__
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifdef _WIN32
#define TAMIS__PATH_MAX 3072 /* as UTF-8: PATH_MAX is that of old functions */
#else
#define TAMIS__PATH_MAX PATH_MAX
#endif

/* Fails with TAMIS_EIO, the errno of the last call and the text "what: reason". */
tamis_status tamis__io_fail(tamis_error *why, const char *what);

/* Closes fd, and keeps errno. */
void tamis__close_quietly(int fd);

/* Reads all n bytes from `at` on. Fails with TAMIS_ECORRUPT if the file ends before. */
tamis_status tamis__read_at(int fd, uint64_t at, void *to, size_t n, tamis_error *why);

/* Opens a regular file. A file that is to be locked is opened for writing if possible, because NFS
 * requires that for a lock. *fd is -1 after a failure. */
tamis_status tamis__open_regular(const char *path, bool lock, int *fd, struct stat *st,
                                 tamis_error *why);

enum lock { LOCK_IF_POSSIBLE, LOCK_OR_FAIL, LOCK_AND_WAIT };

/* Opens and locks a file, for reading and later saves. To close *lock, which may be the same as
 * *fd, unlocks it. Both are -1 after a failure. */
tamis_status tamis__open_update(const char *path, enum lock how, int *fd, int *lock,
                                struct stat *st, tamis_error *why);

/* Writes the absolute path of a file that exists, without symbolic links: at most TAMIS__PATH_MAX
 * bytes. */
tamis_status tamis__resolve(const char *path, char *resolved, tamis_error *why);

/* Maps a file for reading. Returns NULL after a failure, which is TAMIS_EIO. */
void *tamis__map(int fd, size_t size, tamis_error *why);
void tamis__unmap(void *map, size_t size);

/* Fails with TAMIS_EIO and sets why->os. Then *fd is -1. */
tamis_status tamis__temporary_open(const char *directory, int *fd, tamis_error *why);
/* Writes all n bytes. Fails with TAMIS_EIO and sets why->os; then the contents of the file from
 * `at` on are unknown. */
tamis_status tamis__temporary_write(int fd, uint64_t at, const void *bytes, size_t n,
                                    tamis_error *why);
tamis_status tamis__temporary_read(int fd, uint64_t at, void *to, size_t n, tamis_error *why);
void tamis__temporary_empty(int fd);
void tamis__temporary_close(int fd);

#ifndef _WIN32 /* the rest is for durable.c */

/* Fails with TAMIS_EIO because this is not a regular file. */
tamis_status tamis__not_regular(const struct stat *st, tamis_error *why);

/* Moves a descriptor of 0 to 2, which the program would take for a standard stream as soon as it
 * prints or reads. Returns the new descriptor, or -1 with errno; then fd is closed. */
int tamis__off_standard_streams(int fd);

bool tamis__same_file(const struct stat *a, const struct stat *b);

/* Whether the error means that a file system or kernel lacks the operation. */
bool tamis__is_unsupported(int os);

/* Returns 0, or -1 with errno. LOCK_IF_POSSIBLE also returns 0 if the file system has no locks, and
 * then the file is not locked. */
int tamis__lock_file(int fd, enum lock how);

/* Opens and locks the file that has this name once the lock is held. */
tamis_status tamis__open_locked(const char *path, enum lock how, int *fd, struct stat *st,
                                tamis_error *why);

#define TAMIS__TEMPORARY_NAME 64
#define TAMIS__MAX_ATTEMPTS 1000u
#define TAMIS__EXCLUSIVELY (O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW)

/* Writes a temporary name, which depends on the process and `attempt`, and may be taken already. */
void tamis__pick_temporary_name(char *name, unsigned attempt);
/* Creates a file with such a name, and returns its descriptor. Returns -1 with errno if that fails;
 * then there is no file, and the name is empty. */
int tamis__create_named(int dir, mode_t mode, char *name);

/* Writes a file or directory to the disk. Returns 0, or -1 with errno. */
int tamis__sync(int fd);

#endif

#else /* without files none can be opened, so the other functions are never called */

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
