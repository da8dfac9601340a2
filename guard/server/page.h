/* The page's files (web/page), in the program itself, so that it can be installed alone. The array
 * is written at build time by embed.cmake; it is empty where the tools were missing that the page
 * is made with. */
#ifndef GUARD_PAGE_H
#define GUARD_PAGE_H

#include "../url/hash.h"

#include <stddef.h>

struct guard_file {
    const char *path; /* "/index.html"; NULL: the end */
    const uint8_t *bytes;
    size_t size;
    char sha256[2 * GUARD_HASH_SIZE + 1];
};

extern const struct guard_file guard_page[];

/* The file at a path ("/" is "/index.html"), or NULL. */
const struct guard_file *guard_page_find(const char *path);

#endif
