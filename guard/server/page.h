/* The files of the web page (web/page), embedded in the program so that it can be installed alone.
 * embed.cmake writes the array at build time. The array is empty if the tools that make the page
 * were missing. */
#ifndef GUARD_PAGE_H
#define GUARD_PAGE_H

#include "../url/hash.h"

#include <stddef.h>

struct guard_file {
    const char *path; /* for example "/index.html"; NULL ends the array */
    const uint8_t *bytes;
    size_t size;
    char sha256[2 * GUARD_HASH_SIZE + 1];
};

extern const struct guard_file guard_page[];

/* Returns the file at a path, or NULL. "/" stands for "/index.html". */
const struct guard_file *guard_page_find(const char *path);

#endif
