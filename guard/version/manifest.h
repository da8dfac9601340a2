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

/* Computes the SHA-256 of a whole file as hex, and its size. */
bool guard_sum_file(const char *path, guard_part *out, guard_error *why);

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
