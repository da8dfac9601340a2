/* A file, or standard input, as bytes: what is compressed (gzip, zstd, bzip2, xz) is told by how it begins, not by its name,
 * and unpacked on the way. */
#ifndef TAMIS_CLI_INPUT_H
#define TAMIS_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;

/* "-" is standard input. raw: nothing is unpacked. NULL: it cannot be opened, and errno says why. */
struct input *input_open(const char *path, bool raw);
void input_close(struct input *in);

/* What has come so far, at most n bytes: 0 is the end. -1: it failed, and input_reason says why. Compressed data that
 * ends too early, or has something else behind it, is a failure. */
ssize_t input_read(struct input *in, void *to, size_t n);
const char *input_reason(const struct input *in);

/* Whether input_read would not have to wait. */
bool input_is_ready(const struct input *in);
/* The same within so many milliseconds. */
bool input_wait(const struct input *in, int milliseconds);
/* Bytes of the file that were read. */
uint64_t input_taken(const struct input *in);

#endif
