/* The manifest: lines of "name value", the last of which is the sum of all before it. */
#ifndef GUARD_MANIFEST_H
#define GUARD_MANIFEST_H

#include "guard.h"

/* The path of a file in the directory, to be freed; NULL: no memory. */
char *guard_path(const char *directory, const char *name);
/* The same of a part of a version: "7.store". */
char *guard_part_path(const char *directory, uint64_t version, const char *part);

/* SHA-256 of a whole file as hex, and its size. */
bool guard_sum_file(const char *path, guard_part *out, guard_error *why);

/* False with *absent set when there is none; false with a reason when it is damaged. */
bool guard_manifest_read(const char *directory, guard_manifest *out, bool *absent,
                         guard_error *why);
/* Replaces the manifest, atomically and durably: this publishes a version. */
bool guard_manifest_write(const char *directory, const guard_manifest *m, guard_error *why);

/* Atomic and durable, as tamis_write_file. */
bool guard_write_file(const char *path, const void *bytes, size_t n, guard_error *why);

bool guard_fail(guard_error *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
