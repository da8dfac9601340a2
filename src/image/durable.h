/* Writes files that appear complete or not at all. */
#ifndef TAMIS_DURABLE_H
#define TAMIS_DURABLE_H

#include <tamis/tamis.h>

#ifndef __wasm__

/* Writes the whole content with `put`. It is called again, from the start, if the first file could
 * not be named. */
typedef tamis_status tamis__writer(void *what, tamis_sink put, void *ctx, tamis_error *why);

/* What is to be written. `what` is passed to the functions. */
struct durable {
    tamis__writer *write_to;
    void *what;
    const tamis_memory *memory;
    /* The file that belongs to the writer. NULL: there is none, and own_lock and check_own are not
     * used. */
    const char *own_path;
    int own_lock; /* its descriptor, locked, or -1 */
    /* Returns TAMIS_OK if fd still has what the writer read or wrote last, and TAMIS_EBUSY if not.
     * NULL: the file must not be replaced, and the save fails with TAMIS_EINVAL. */
    tamis_status (*check_own)(void *what, int fd, tamis_error *why);
    /* Called once the new file has the name and keeps it, whatever fails afterwards. The descriptor
     * is locked if own_lock was. It is closed unless *fd becomes -1. NULL: there is nothing to
     * do. */
    void (*adopt)(void *what, const char *target, int *fd);
};

/* Fails with TAMIS_EINVAL unless options is NULL or makes sense with these flags. *out gets a
 * copy. */
tamis_status tamis__check_save_options(const tamis_save_options *options, uint32_t allowed,
                                       tamis_save_options *out, tamis_error *why);

/* Writes the file. Requires options that were checked. */
tamis_status tamis__write_durably(const struct durable *d, const char *path,
                                  const tamis_save_options *o, tamis_error *why);

#endif
#endif
