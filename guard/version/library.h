/* Libraries that are loaded when they are first needed. Linked as usual, a library for HTTP would
 * bring a TLS library and its dependencies into every command, although few commands need it. */
#ifndef GUARD_LIBRARY_H
#define GUARD_LIBRARY_H

#include <stddef.h>

struct guard_symbol {
    const char *name;
    void *function; /* the address of a pointer to a function, which is set */
};

/* Loads a library and finds all its symbols. Returns NULL on success, otherwise the reason for the
 * failure, which is valid until another load fails. Must not be called by two threads at once. */
const char *guard_library_load(const char *file, const struct guard_symbol *symbols, size_t n);

#endif
