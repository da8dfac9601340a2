/* Files on Windows: what descriptor.c and durable.c do on other systems.
 *
 * Paths are UTF-8, and are converted to UTF-16. A file or lock is a handle, of which Windows uses
 * only the lower 32 bits, so it fits into an int.
 *
 * Saves. The content goes to a file with a temporary name in the same directory, which is flushed
 * and takes over the name by MoveFileEx. Windows does not replace a file that is open or mapped. A
 * save therefore tries for a fifth of a second, for readers that open a file only to read it, and
 * then fails; the old file stands. A kill during a save leaves a `.tamis-*.tmp`, which may be
 * removed. A directory cannot be flushed, but MoveFileEx returns only when the new name is on the
 * disk. The new file has the permissions that the directory passes on.
 *
 * Locks. Because an open file cannot be replaced, the lock is not on the file itself. It is a file
 * beside it, NAME.tamis-lock, that only one handle can have open. Windows removes it with the last
 * handle, also if the process is killed. If it is left behind by a power failure, it locks
 * nothing. */
#define _FILE_OFFSET_BITS 64

#include "../core/error.h"
#include "../core/memory.h"
#include "descriptor.h"
#include "durable.h"

#ifdef _WIN32
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define WIDE_MAX 1024u /* characters of a path, including the last 0 */
#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define MOST_BYTES ((size_t)1 << 30) /* of one transfer */
#define TEMPORARY_ATTEMPTS 1000u
#define RETRIES 20u
#define RETRY_AFTER 10u /* milliseconds */

static HANDLE handle_of(int fd)
{
    return (HANDLE)(intptr_t)fd;
}

static int fd_of(HANDLE h)
{
    return (int)(intptr_t)h; /* INVALID_HANDLE_VALUE becomes -1 */
}

/* --- Errors ----------------------------------------------------------------------------------- */

static int errno_of(DWORD code)
{
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT: return EACCES;
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_USER_MAPPED_FILE: return EBUSY;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_PARAMETER: return EINVAL;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    default: return EIO;
    }
}

static tamis_status fail_with(tamis_error *why, int os, const char *text)
{
    tamis__fail(why, TAMIS_EIO, "%s", text);
    if (why != NULL) why->os = os;
    return TAMIS_EIO;
}

tamis_status tamis__io_fail(tamis_error *why, const char *what)
{
    const DWORD code = GetLastError();
    const int os = errno_of(code);
    tamis__fail(why, TAMIS_EIO, "%s: %s (Windows error %lu)", what, strerror(os), code);
    if (why != NULL) why->os = os;
    return TAMIS_EIO;
}

static tamis_status name_fail(tamis_error *why, DWORD code, const char *what)
{
    SetLastError(code);
    return tamis__io_fail(why, what);
}

static bool is_absent(DWORD code)
{
    return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* Writes the absolute path with backslashes, as WIDE_MAX characters. It need not exist. */
static tamis_status widen(const char *path, WCHAR *full, tamis_error *why)
{
    WCHAR given[WIDE_MAX];
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, WIDE_MAX) == 0) {
        if (GetLastError() == ERROR_NO_UNICODE_TRANSLATION)
            return tamis__fail(why, TAMIS_EINVAL, "the path is not valid UTF-8");
        return name_fail(why, ERROR_FILENAME_EXCED_RANGE, "cannot use the path");
    }
    if (given[0] == 0) return name_fail(why, ERROR_FILE_NOT_FOUND, "the path is empty");
    const DWORD n = GetFullPathNameW(given, WIDE_MAX, full, NULL);
    if (n == 0) return tamis__io_fail(why, "cannot use the path");
    if (n >= WIDE_MAX) return name_fail(why, ERROR_FILENAME_EXCED_RANGE, "cannot use the path");
    return TAMIS_OK;
}

static tamis_status path_to_utf8(const WCHAR *wide, char *to, tamis_error *why)
{
    if (WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, to, TAMIS__PATH_MAX, NULL,
                            NULL) > 0)
        return TAMIS_OK;
    return tamis__fail(why, TAMIS_EINVAL, "the path is not valid UTF-16");
}

/* Appends, or returns false if there is not enough room. */
static bool append_to_path(WCHAR *path, const WCHAR *end)
{
    const size_t n = wcslen(path), more = wcslen(end);
    if (n + more >= WIDE_MAX) return false;
    memcpy(path + n, end, (more + 1) * sizeof *end);
    return true;
}

/* Opens a file or directory without access to its contents. */
static HANDLE open_place(const WCHAR *path)
{
    return CreateFileW(path, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

/* Fails unless it is a regular file. */
static tamis_status check_regular(HANDLE h, tamis_error *why)
{
    BY_HANDLE_FILE_INFORMATION facts;
    if (GetFileType(h) != FILE_TYPE_DISK) return fail_with(why, EINVAL, "not a regular file");
    if (!GetFileInformationByHandle(h, &facts)) return tamis__io_fail(why, "cannot open");
    if ((facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return fail_with(why, EISDIR, "is a directory");
    return TAMIS_OK;
}

/* Writes the path under which Windows knows an open file: absolute, without symbolic links, with
 * the letters as they are on the disk, and with a prefix that allows long paths. */
static tamis_status path_of_handle(HANDLE h, WCHAR *path, tamis_error *why)
{
    const DWORD n = GetFinalPathNameByHandleW(h, path, WIDE_MAX, VOLUME_NAME_DOS);
    if (n == 0) return tamis__io_fail(why, "cannot resolve the path");
    if (n >= WIDE_MAX) return name_fail(why, ERROR_FILENAME_EXCED_RANGE, "cannot resolve the path");
    return TAMIS_OK;
}

/* Resolves a path without a file: only its directory can be resolved. */
static tamis_status resolve_new_name(WCHAR *path, tamis_error *why)
{
    WCHAR name[WIDE_MAX];
    if (GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES)
        return name_fail(why, ERROR_FILE_NOT_FOUND, "the symbolic link leads to no file");
    WCHAR *slash = wcsrchr(path, L'\\');
    if (slash == NULL || slash[1] == 0) return fail_with(why, EISDIR, "is a directory");
    memcpy(name, slash + 1, (wcslen(slash + 1) + 1) * sizeof *name);
    slash[1] = 0;
    HANDLE h = open_place(path);
    if (h == INVALID_HANDLE_VALUE) return tamis__io_fail(why, "cannot open the directory");
    tamis_status s = path_of_handle(h, path, why);
    CloseHandle(h);
    if (s != TAMIS_OK) return s;
    if (wcschr(name, L':') != NULL) /* a stream of another file */
        return name_fail(why, ERROR_INVALID_NAME, "cannot save");
    const size_t n = wcslen(path);
    if ((path[n - 1] == L'\\' || append_to_path(path, L"\\")) && append_to_path(path, name))
        return TAMIS_OK;
    return name_fail(why, ERROR_FILENAME_EXCED_RANGE, "cannot save");
}

/* Resolves a path in place. *exists: whether it leads to a regular file; otherwise the name must be
 * free. */
static tamis_status resolve_target(WCHAR *path, bool *exists, tamis_error *why)
{
    HANDLE h = open_place(path);
    *exists = h != INVALID_HANDLE_VALUE;
    if (!*exists)
        return is_absent(GetLastError()) ? resolve_new_name(path, why)
                                         : tamis__io_fail(why, "cannot save");
    tamis_status s = check_regular(h, why);
    if (s == TAMIS_OK) s = path_of_handle(h, path, why);
    CloseHandle(h);
    return s;
}

tamis_status tamis__resolve(const char *path, char *resolved, tamis_error *why)
{
    WCHAR wide[WIDE_MAX];
    tamis_status s = widen(path, wide, why);
    if (s != TAMIS_OK) return s;
    HANDLE h = open_place(wide);
    if (h == INVALID_HANDLE_VALUE) return tamis__io_fail(why, "cannot resolve the path");
    s = path_of_handle(h, wide, why);
    CloseHandle(h);
    return s == TAMIS_OK ? path_to_utf8(wide, resolved, why) : s;
}

/* --- Reading ---------------------------------------------------------------------------------- */

void tamis__close_quietly(int fd)
{
    const DWORD kept = GetLastError();
    CloseHandle(handle_of(fd));
    SetLastError(kept);
}

static OVERLAPPED at_offset(uint64_t at)
{
    OVERLAPPED o = {0};
    o.Offset = (DWORD)at;
    o.OffsetHigh = (DWORD)(at >> 32);
    return o;
}

static DWORD one_transfer(size_t n)
{
    return (DWORD)(n < MOST_BYTES ? n : MOST_BYTES);
}

tamis_status tamis__read_at(int fd, uint64_t at, void *to, size_t n, tamis_error *why)
{
    for (uint8_t *p = to; n > 0;) {
        OVERLAPPED o = at_offset(at);
        DWORD got = 0;
        if (!ReadFile(handle_of(fd), p, one_transfer(n), &got, &o) &&
            GetLastError() != ERROR_HANDLE_EOF)
            return tamis__io_fail(why, "cannot read");
        if (got == 0) return tamis__corrupt(why, at, "the file became shorter while it was read");
        p += got;
        at += got;
        n -= got;
    }
    return TAMIS_OK;
}

static HANDLE open_reader(const WCHAR *path)
{
    return CreateFileW(path, GENERIC_READ, SHARE_ALL, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL,
                       NULL);
}

static tamis_status open_fail(const WCHAR *path, tamis_error *why)
{
    const DWORD code = GetLastError(), attributes = GetFileAttributesW(path);
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return fail_with(why, EISDIR, "is a directory");
    return name_fail(why, code, "cannot open");
}

tamis_status tamis__open_regular(const char *path, bool lock, int *fd, struct stat *st,
                                 tamis_error *why)
{
    WCHAR wide[WIDE_MAX];
    LARGE_INTEGER size;
    (void)lock; /* a lock is another file */
    *fd = -1;
    memset(st, 0, sizeof *st);
    tamis_status s = widen(path, wide, why);
    if (s != TAMIS_OK) return s;
    HANDLE h = open_reader(wide);
    if (h == INVALID_HANDLE_VALUE) return open_fail(wide, why);
    s = check_regular(h, why);
    if (s == TAMIS_OK && !GetFileSizeEx(h, &size)) s = tamis__io_fail(why, "cannot open");
    if (s != TAMIS_OK) {
        CloseHandle(h);
        return s;
    }
    st->st_size = size.QuadPart;
    *fd = fd_of(h);
    return TAMIS_OK;
}

void *tamis__map(int fd, size_t size, tamis_error *why)
{
    void *p = NULL;
    HANDLE mapping = CreateFileMappingW(handle_of(fd), NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping != NULL) p = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
    if (p == NULL) tamis__io_fail(why, "cannot map");
    if (mapping != NULL) CloseHandle(mapping); /* the view keeps it */
    return p;
}

void tamis__unmap(void *map, size_t size)
{
    (void)size;
    UnmapViewOfFile(map);
}

/* --- Locks ------------------------------------------------------------------------------------ */

/* While the last holder closes its lock, the name is denied for a moment. */
static bool is_being_removed(DWORD code, unsigned *tries)
{
    return (code == ERROR_ACCESS_DENIED || code == ERROR_DELETE_PENDING) && ++*tries <= RETRIES;
}

static tamis_status lock_name(const WCHAR *target, enum lock how, HANDLE *lock, tamis_error *why)
{
    WCHAR path[WIDE_MAX];
    unsigned tries = 0;
    *lock = INVALID_HANDLE_VALUE;
    memcpy(path, target, (wcslen(target) + 1) * sizeof *path);
    if (!append_to_path(path, L".tamis-lock"))
        return name_fail(why, ERROR_FILENAME_EXCED_RANGE, "cannot lock");
    for (;;) {
        *lock = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, OPEN_ALWAYS,
                            FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE, NULL);
        if (*lock != INVALID_HANDLE_VALUE) return TAMIS_OK;
        const DWORD code = GetLastError();
        const bool held = code == ERROR_SHARING_VIOLATION;
        if (held && how != LOCK_AND_WAIT)
            return tamis__fail(why, TAMIS_EBUSY, "another process is changing this file");
        if (!held && !is_being_removed(code, &tries)) return name_fail(why, code, "cannot lock");
        Sleep(RETRY_AFTER);
    }
}

tamis_status tamis__open_update(const char *path, enum lock how, int *fd, int *lock,
                                struct stat *st, tamis_error *why)
{
    WCHAR wide[WIDE_MAX];
    HANDLE h = INVALID_HANDLE_VALUE;
    *lock = -1;
    tamis_status s = tamis__open_regular(path, true, fd, st, why);
    if (s != TAMIS_OK) return s;
    s = path_of_handle(handle_of(*fd), wide, why);
    tamis__close_quietly(*fd); /* its holder may replace it while this waits for the lock */
    *fd = -1;
    if (s == TAMIS_OK) s = lock_name(wide, how, &h, why);
    if (s == TAMIS_OK) s = tamis__open_regular(path, true, fd, st, why);
    if (s == TAMIS_OK)
        *lock = fd_of(h);
    else if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    return s;
}

/* --- Temporary files -------------------------------------------------------------------------- */

/* Creates a file in the directory with which `path` begins. The path becomes that of the file. */
static HANDLE create_temporary(WCHAR *path, size_t directory, DWORD flags)
{
    for (unsigned i = 0; i < TEMPORARY_ATTEMPTS; i++) {
        WCHAR name[40];
        swprintf(name, sizeof name / sizeof *name, L".tamis-%lu-%u.tmp", GetCurrentProcessId(), i);
        path[directory] = 0;
        SetLastError(ERROR_FILENAME_EXCED_RANGE);
        if (!append_to_path(path, name)) break;
        HANDLE h = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, CREATE_NEW,
                               flags, NULL);
        if (h != INVALID_HANDLE_VALUE) return h;
        const DWORD code = GetLastError();
        if (code != ERROR_FILE_EXISTS && code != ERROR_ALREADY_EXISTS &&
            code != ERROR_SHARING_VIOLATION)
            break;
    }
    path[0] = 0;
    return INVALID_HANDLE_VALUE;
}

tamis_status tamis__temporary_open(const char *directory, int *fd, tamis_error *why)
{
    WCHAR path[WIDE_MAX];
    *fd = -1;
    const tamis_status s = widen(directory, path, why);
    if (s != TAMIS_OK) return s;
    const size_t n = wcslen(path);
    if (path[n - 1] != L'\\' && !append_to_path(path, L"\\"))
        return name_fail(why, ERROR_FILENAME_EXCED_RANGE, "cannot create a temporary file");
    *fd = fd_of(
        create_temporary(path, wcslen(path), FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE));
    return *fd >= 0 ? TAMIS_OK : tamis__io_fail(why, "cannot create a temporary file");
}

tamis_status tamis__temporary_write(int fd, uint64_t at, const void *bytes, size_t n,
                                    tamis_error *why)
{
    for (const uint8_t *p = bytes; n > 0;) {
        OVERLAPPED o = at_offset(at);
        DWORD put = 0;
        if (!WriteFile(handle_of(fd), p, one_transfer(n), &put, &o))
            return tamis__io_fail(why, "cannot write to the temporary file");
        p += put;
        at += put;
        n -= put;
    }
    return TAMIS_OK;
}

tamis_status tamis__temporary_read(int fd, uint64_t at, void *to, size_t n, tamis_error *why)
{
    return tamis__read_at(fd, at, to, n, why);
}

/* This only frees space. A failure does no harm, because the contents are not read again. */
void tamis__temporary_empty(int fd)
{
    const LARGE_INTEGER begin = {.QuadPart = 0};
    if (SetFilePointerEx(handle_of(fd), begin, NULL, FILE_BEGIN)) SetEndOfFile(handle_of(fd));
}

void tamis__temporary_close(int fd)
{
    tamis__close_quietly(fd);
}

/* --- Saving ----------------------------------------------------------------------------------- */

struct windows_save {
    const struct durable *d;
    WCHAR target[WIDE_MAX];     /* resolved */
    WCHAR temporary[WIDE_MAX];  /* the path of the new file, while it exists; otherwise empty */
    char utf8[TAMIS__PATH_MAX]; /* target */
    bool exists;                /* something already has that name */
    bool only_new;              /* TAMIS_SAVE_NEW: fails if it exists */
    HANDLE lock;                /* of the target */
    HANDLE file;                /* the new file while it is written */
    tamis_error *why;
};

static tamis_status put_to_file(void *ctx, const void *bytes, size_t n)
{
    struct windows_save *j = ctx;
    for (const uint8_t *p = bytes; n > 0;) {
        DWORD put = 0;
        if (!WriteFile(j->file, p, one_transfer(n), &put, NULL))
            return tamis__io_fail(j->why, "cannot write");
        p += put;
        n -= put;
    }
    return TAMIS_OK;
}

/* Takes the lock, or a second handle of the lock that the writer has. */
static tamis_status lock_target(struct windows_save *j, bool origin)
{
    const int own = origin ? j->d->own_lock : -1;
    if (own < 0) return lock_name(j->target, LOCK_OR_FAIL, &j->lock, j->why);
    if (DuplicateHandle(GetCurrentProcess(), handle_of(own), GetCurrentProcess(), &j->lock, 0,
                        FALSE, DUPLICATE_SAME_ACCESS))
        return TAMIS_OK;
    j->lock = INVALID_HANDLE_VALUE;
    return tamis__io_fail(j->why, "cannot lock");
}

/* Checks that the file is the one that the writer knows. If it was removed meanwhile, it is created
 * again. */
static tamis_status check_target(const struct windows_save *j)
{
    HANDLE h = open_reader(j->target);
    if (h == INVALID_HANDLE_VALUE)
        return is_absent(GetLastError()) ? TAMIS_OK : tamis__io_fail(j->why, "cannot save");
    const tamis_status s = j->d->check_own(j->d->what, fd_of(h), j->why);
    CloseHandle(h);
    if (s != TAMIS_EBUSY) return s;
    return tamis__fail(j->why, TAMIS_EBUSY, "another process has changed this file meanwhile");
}

static tamis_status prepare(struct windows_save *j, const char *path)
{
    tamis_status s = widen(path, j->target, j->why);
    if (s == TAMIS_OK) s = resolve_target(j->target, &j->exists, j->why);
    if (s == TAMIS_OK) s = path_to_utf8(j->target, j->utf8, j->why);
    if (s != TAMIS_OK) return s;
    if (j->exists && j->only_new) return name_fail(j->why, ERROR_FILE_EXISTS, "cannot save");
    const bool origin = j->d->own_path != NULL && strcmp(j->d->own_path, j->utf8) == 0;
    if (origin && j->d->check_own == NULL)
        return tamis__fail(j->why, TAMIS_EINVAL,
                           "the handle belongs to this file, which must remain an image: save the "
                           "packed file elsewhere");
    s = lock_target(j, origin);
    return s == TAMIS_OK && origin ? check_target(j) : s;
}

static tamis_status write_temporary(struct windows_save *j)
{
    const size_t directory = (size_t)(wcsrchr(j->target, L'\\') + 1 - j->target);
    memcpy(j->temporary, j->target, directory * sizeof *j->target);
    j->file = create_temporary(j->temporary, directory, FILE_ATTRIBUTE_NORMAL);
    if (j->file == INVALID_HANDLE_VALUE)
        return tamis__io_fail(j->why, "cannot create a file in that directory");
    tamis_status s = j->d->write_to(j->d->what, put_to_file, j, j->why);
    if (s == TAMIS_OK && !FlushFileBuffers(j->file))
        s = tamis__io_fail(j->why, "cannot write to the disk");
    CloseHandle(j->file);
    return s;
}

/* Whether the error is that of an open, mapped or read-only file. */
static bool is_in_use(DWORD code)
{
    return code == ERROR_ACCESS_DENIED || code == ERROR_SHARING_VIOLATION ||
           code == ERROR_USER_MAPPED_FILE;
}

/* Gives the finished file its name. */
static tamis_status move_to_target(struct windows_save *j)
{
    const DWORD how = MOVEFILE_WRITE_THROUGH | (j->only_new ? 0 : MOVEFILE_REPLACE_EXISTING);
    for (unsigned tries = 0;; tries++) {
        if (MoveFileExW(j->temporary, j->target, how)) break;
        const DWORD code = GetLastError();
        if (!is_in_use(code)) return tamis__io_fail(j->why, "cannot save");
        if (tries == RETRIES)
            return name_fail(j->why, code,
                             "cannot replace the file, which is open elsewhere or read-only");
        Sleep(RETRY_AFTER);
    }
    j->temporary[0] = 0;
    return TAMIS_OK;
}

static tamis_status save_there(struct windows_save *j, const char *path)
{
    tamis_status s = prepare(j, path);
    if (s == TAMIS_OK) s = write_temporary(j);
    if (s == TAMIS_OK) s = move_to_target(j);
    if (j->temporary[0] != 0) DeleteFileW(j->temporary);
    int lock = fd_of(j->lock);
    if (s == TAMIS_OK && j->d->adopt != NULL) j->d->adopt(j->d->what, j->utf8, &lock);
    if (lock >= 0) tamis__close_quietly(lock);
    return s;
}

tamis_status tamis__write_durably(const struct durable *d, const char *path,
                                  const tamis_save_options *o, tamis_error *why)
{
    tamis_error ignored;
    if (path == NULL) return tamis__fail(why, TAMIS_EINVAL, "path must not be NULL");
    if (o->mode != 0)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "files have no mode on Windows: set it to 0, and protect the directory");
    struct windows_save *j = tamis__alloc(d->memory, sizeof *j);
    if (j == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    j->d = d;
    j->only_new = (o->flags & TAMIS_SAVE_NEW) != 0;
    j->lock = j->file = INVALID_HANDLE_VALUE;
    j->why = why != NULL ? why : &ignored;
    const tamis_status s = save_there(j, path);
    tamis__free(d->memory, j);
    return s;
}
#endif
