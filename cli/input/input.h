/* A file, or standard input, as bytes: what is compressed (gzip, zstd, bzip2, xz) is told by how it
 * begins, not by its name, and unpacked on the way. */
#ifndef TAMIS_CLI_INPUT_H
#define TAMIS_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;

/* Whether a path leads to what can be read but once: standard input, a pipe. */
bool is_stream(const char *path);
/* "-" is standard input. raw: nothing is unpacked. NULL: it cannot be opened, and errno says
 * why. */
struct input *input_open(const char *path, bool raw);
void input_close(struct input *in);

/* What has come so far, at most n bytes: 0 is the end. -1: it failed, and input_reason says why.
 * Compressed data that ends too early, or has something else behind it, is a failure. */
ssize_t input_read(struct input *in, void *to, size_t n);
const char *input_reason(const struct input *in);
/* All that is left, behind the n bytes that *bytes (NULL: none) has, until there are `most`; memory
 * grows as they come.
 * False: input_reason says why, and *bytes is still to be freed. */
bool input_read_rest(struct input *in, uint8_t **bytes, size_t *n, size_t most);
/* Whether a stream begins with these bytes. What was read to find out comes again from the next
 * input_open of that path. */
bool input_begins(const char *path, const void *bytes, size_t n);

/* By whatever name. */
bool is_stdin(const char *path);
/* Standard input was, or will be, read as something else than lines, if the path leads there; then
 * nobody else can. */
void input_spend(const char *path);
bool input_is_spent(const char *path);

/* Whether input_read would not have to wait. */
bool input_is_ready(const struct input *in);
/* The same within so many milliseconds. */
bool input_wait(const struct input *in, int milliseconds);
/* Bytes of the file that were read. */
uint64_t input_taken(const struct input *in);

#endif
