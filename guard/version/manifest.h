/* The manifest of a version: lines of "name value". The last line is the checksum of all lines
 * before it. */
#ifndef GUARD_MANIFEST_H
#define GUARD_MANIFEST_H

#include "guard.h"

/* Returns the path of a file in the directory, which the caller frees, or NULL when memory runs
 * out. */
char *guard_path(const char *directory, const char *name);
/* Does the same for a part of a version, for example "7.store". */
char *guard_part_path(const char *directory, uint64_t version, const char *part);

/* Computes the SHA-256 of a whole file as hex, and its size. Like everything that reads a file of
 * the directory, it fails at once if this is not a regular file: a pipe would block the caller. */
bool guard_sum_file(const char *path, guard_part *out, guard_error *why);
/* Reads a part once, from beginning to end, and passes its bytes to `take`, which returns false
 * with errno set when it cannot keep them. Fails unless the size and the sum of these bytes are
 * those in the manifest. The size of the file is compared before the first call of `take`. */
typedef bool guard_take(void *ctx, const void *bytes, size_t n);
bool guard_read_part(const char *path, const guard_part *part, guard_take *take, void *ctx,
                     guard_error *why);

/* Reads the manifest. Returns false with *absent set if there is none, and false with a reason if
 * it is damaged. */
bool guard_manifest_read(const char *directory, guard_manifest *out, bool *absent,
                         guard_error *why);
/* Replaces the manifest atomically and durably, which publishes a version. */
bool guard_manifest_write(const char *directory, const guard_manifest *m, guard_error *why);

/* Writes a file atomically and durably, like tamis_write_file. */
bool guard_write_file(const char *path, const void *bytes, size_t n, guard_error *why);

bool guard_fail(guard_error *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
