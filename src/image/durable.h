/* Files that appear whole or not at all. */
#ifndef TAMIS_DURABLE_H
#define TAMIS_DURABLE_H

#include <tamis/tamis.h>

#ifndef __wasm__

/* Puts the whole content; called again from the start where a first file could not be named. */
typedef tamis_status tamis__writer(void *what, tamis_sink put, void *ctx, tamis_error *why);

/* What is written; `what` is passed to the functions. */
struct durable {
    tamis__writer *write_to;
    void *what;
    const tamis_memory *memory;
    /* The file that belongs to the writer; path NULL: there is none, and the rest is not used. */
    const char *own_path;
    int own_lock; /* its descriptor, locked, or -1 */
    /* TAMIS_OK when fd still has what the writer read or wrote last, TAMIS_EBUSY when not. NULL:
     * the file must not be replaced, which is TAMIS_EINVAL. */
    tamis_status (*check_own)(void *what, int fd, tamis_error *why);
    /* Called once the new file has the name and keeps it, whatever fails afterwards; NULL: nothing to do. The
     * descriptor is locked where own_lock was. It is closed unless *fd becomes -1. */
    void (*adopt)(void *what, const char *target, int *fd);
};

/* TAMIS_EINVAL unless options is NULL or makes sense with these flags; *out gets a copy. */
tamis_status tamis__check_save_options(const tamis_save_options *options, uint32_t allowed,
                                       tamis_save_options *out, tamis_error *why);

/* The options have been checked. */
tamis_status tamis__write_durably(const struct durable *d, const char *path,
                                  const tamis_save_options *o, tamis_error *why);

#endif
#endif
