/* The manifest of a version: lines of "name value". The last line is the checksum of all lines
 * before it. Signatures come right before that, and sign all lines before the first of them. */
#ifndef GUARD_MANIFEST_H
#define GUARD_MANIFEST_H

#include "guard.h"

#define GUARD_MANIFEST_BYTES 16384 /* more than a manifest with all labels and signatures has */

/* Returns the path of a file in the directory, which the caller frees, or NULL when memory runs
 * out. */
char *guard_path(const char *directory, const char *name);
/* Does the same for a part of a version, for example "7.store". */
char *guard_part_path(const char *directory, uint64_t version, const char *part);

/* Opens a file for reading without waiting for it: opening a pipe waits for a writer, and reading a
 * device may never end. Returns -1, with errno set, after a failure. */
int guard_open_regular(const char *path, uint64_t *size, guard_error *why);

/* Reads a whole regular file of less than `room` bytes. After a failure errno is set. */
bool guard_read_small(const char *path, char *text, size_t room, size_t *n, guard_error *why);

/* Computes the SHA-256 of bytes, as hex with a NUL. */
void guard_sum_bytes(const void *bytes, size_t n, char *hex);
/* Computes the SHA-256 of a whole file as hex, and its size. Like everything that reads a file of
 * the directory, it fails at once if this is not a regular file: a pipe would block the caller. */
bool guard_sum_file(const char *path, guard_part *out, guard_error *why);
/* Reads a part once, from beginning to end, and passes its bytes to `take`, which returns false
 * with errno set when it cannot keep them. Fails unless the size and the sum of these bytes are
 * those in the manifest. The size of the file is compared before the first call of `take`. */
typedef bool guard_take(void *ctx, const void *bytes, size_t n);
bool guard_read_part(const char *path, const guard_part *part, guard_take *take, void *ctx,
                     guard_error *why);

/* A manifest as it was read. */
struct guard_manifest_text {
    size_t n;        /* bytes, without the NUL */
    size_t n_signed; /* bytes before the first signature */
    char at[GUARD_MANIFEST_BYTES + 1];
};

/* Reads a manifest from its text, which ends with a NUL, and sets text->n_signed. Returns false if
 * it is damaged, or of a version that this program does not know. Verifies no signature. */
bool guard_manifest_parse(struct guard_manifest_text *text, guard_manifest *out);
/* Reads the manifest of a directory, and its text unless that is NULL. Returns false with *absent
 * set if there is none, and false with a reason if it is damaged. */
bool guard_manifest_read(const char *directory, guard_manifest *out,
                         struct guard_manifest_text *text, bool *absent, guard_error *why);
/* Signs a manifest with these keys, each once. */
bool guard_manifest_sign(guard_manifest *m, const guard_seckey *keys, size_t n, guard_error *why);
/* Replaces the manifest atomically and durably, which publishes a version. */
bool guard_manifest_write(const char *directory, const guard_manifest *m, guard_error *why);

/* Writes a file atomically and durably, like tamis_write_file. */
bool guard_write_file(const char *path, const void *bytes, size_t n, guard_error *why);

bool guard_fail(guard_error *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
