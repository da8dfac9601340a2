/* Temporary files without a name, which disappear with the process, however it ends. */
#ifndef TAMIS_CLI_TEMPORARY_H
#define TAMIS_CLI_TEMPORARY_H

#include "../frame/args.h"

#include <stddef.h>

/* The directory: --temp, $TMPDIR or /tmp. */
const char *temp_dir(const struct work_args *w);
/* Returns a descriptor, or -1 after a message. */
int temp_open(const struct work_args *w);
/* Writes all n bytes. False after a message. */
bool temp_write(const struct work_args *w, int fd, uint64_t at, const void *bytes, size_t n);
/* Reads n bytes; those behind the end of the file are zeros. False after a message. */
bool temp_read(const struct work_args *w, int fd, uint64_t at, void *to, size_t n);
/* Copies what can be read only once, unpacked unless raw. Returns a descriptor, or -1 after a
 * message. */
int temp_copy(const struct work_args *w, const char *path, bool raw);

#endif
