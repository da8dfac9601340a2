/* Reads a file or standard input as bytes. Compressed data (gzip, zstd, bzip2, xz) is recognized by
 * its first bytes, not by its name, and is unpacked. */
#ifndef TAMIS_CLI_INPUT_H
#define TAMIS_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;

/* Whether the path can be read only once: standard input or a pipe. */
bool is_stream(const char *path);
/* "-" is standard input. With raw nothing is unpacked. NULL: it cannot be opened; see errno. */
struct input *input_open(const char *path, bool raw);
void input_close(struct input *in);

/* Reads at most n bytes, without waiting for more than have arrived. Returns 0 at the end, and -1
 * after a failure; see input_reason. Compressed data that ends too early or is followed by
 * something else is a failure. */
ssize_t input_read(struct input *in, void *to, size_t n);
const char *input_reason(const struct input *in);
/* Reads the rest behind the n bytes that *bytes holds (NULL: none), up to `most` bytes in all. The
 * memory grows as they arrive. False after a failure, when *bytes must still be freed; see
 * input_reason. */
bool input_read_rest(struct input *in, uint8_t **bytes, size_t *n, size_t most);
/* Whether a stream begins with these bytes. The next input_open of that path returns what was read
 * for this again. */
bool input_begins(const char *path, const void *bytes, size_t n);

/* Whether the path leads to standard input, under any name. */
bool is_stdin(const char *path);
/* Marks standard input as read by something that does not read lines, if the path leads there.
 * Nobody else can read it then. */
void input_spend(const char *path);
bool input_is_spent(const char *path);

/* Whether input_read would return at once, */
bool input_is_ready(const struct input *in);
/* and whether it would within so many milliseconds. */
bool input_wait(const struct input *in, int milliseconds);
/* The number of bytes that were read from the file. */
uint64_t input_taken(const struct input *in);

#endif
