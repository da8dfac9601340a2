/* Handles and files: opening an image, and saving it to its own file or elsewhere.
 *
 * A handle belongs to the file from which it was opened, or to which it was first saved. A save
 * over that file requires that it still has what the handle read or wrote last, so that no changes
 * of others are lost. The root of the image shows whether it has. With TAMIS_UPDATE the handle has
 * locked the file, and the lock passes to each new file that it saves there. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* PATH_MAX */
#endif
#define _FILE_OFFSET_BITS 64

#include "../core/error.h"
#include "../core/memory.h"
#include "../core/sized.h"
#include "../core/snapshot.h"
#include "descriptor.h"
#include "durable.h"
#include "image.h"

#ifndef __wasm__ /* which has no files */
#include <string.h>
#include <tamis/publish.h>

static void close_file(tamis *t)
{
    if (t->file->lock >= 0) tamis__close_quietly(t->file->lock);
    if (t->file->map != NULL) tamis__unmap(t->file->map, t->file->map_size);
    tamis__free(t->body.memory, t->file);
}

static struct file *new_file(const tamis_memory *memory, const char *path)
{
    const size_t n = strlen(path) + 1;
    struct file *f = tamis__alloc(memory, sizeof *f + n);
    if (f == NULL) return NULL;
    f->close = close_file;
    f->lock = -1;
    memcpy(f->path, path, n);
    return f;
}

static tamis_status read_source(const struct source *src, uint64_t at, void *to, size_t n,
                                tamis_error *why)
{
    return tamis__read_at(src->fd, at, to, n, why);
}

static tamis_status read_file(int fd, const struct stat *st, const tamis_options *o, struct file *f,
                              tamis **out, tamis_error *why)
{
    struct source src = {.size = (uint64_t)st->st_size, .read = read_source, .fd = fd};
    const bool map = (o->flags & TAMIS_MAP) != 0 && src.size >= TAMIS__HEADER_BYTES;
    if (map && src.size > SIZE_MAX) return tamis__fail(why, TAMIS_ENOMEM, "too big to map");
    if (map) {
        f->map = tamis__map(fd, (size_t)src.size, why);
        if (f->map == NULL) return TAMIS_EIO;
        f->map_size = (size_t)src.size;
        src.memory = f->map;
    }
    uint8_t header[TAMIS__HEADER_BYTES];
    tamis_status s = tamis__image_read(&src, o, map, out, why);
    if (s == TAMIS_OK) s = tamis__read_at(fd, 0, header, sizeof header, why);
    if (s == TAMIS_OK) {
        tamis__image_root(header, &f->root);
    } else {
        tamis_close(*out);
        *out = NULL;
    }
    return s;
}

#define OPEN_FLAGS                                                                                 \
    ((uint32_t)(TAMIS_MAP | TAMIS_UNVERIFIED | TAMIS_KEYLESS | TAMIS_UPDATE | TAMIS_WAIT |         \
                TAMIS_SHARED))

tamis_status tamis_open(const char *path, const tamis_options *options, tamis **out,
                        tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    tamis_status s = tamis__check_options(options, OPEN_FLAGS, &o, why);
    if (s != TAMIS_OK) return s;
    const bool update = (o.flags & TAMIS_UPDATE) != 0;
    if (path == NULL) return tamis__fail(why, TAMIS_EINVAL, "path must not be NULL");
    if ((o.flags & TAMIS_MAP) != 0 && (o.flags & (TAMIS_UPDATE | TAMIS_SHARED)) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a mapped file cannot be changed");
    int fd, lock = -1;
    struct stat st;
    const enum lock how = (o.flags & TAMIS_WAIT) != 0 ? LOCK_AND_WAIT : LOCK_OR_FAIL;
    s = update ? tamis__open_update(path, how, &fd, &lock, &st, why)
               : tamis__open_regular(path, false, &fd, &st, why);
    if (s != TAMIS_OK) return s;

    char resolved[TAMIS__PATH_MAX];
    tamis *t = NULL;
    struct file *f = NULL;
    s = tamis__resolve(path, resolved, why);
    if (s == TAMIS_OK && (f = new_file(o.memory, resolved)) == NULL)
        s = tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    if (s == TAMIS_OK) s = read_file(fd, &st, &o, f, &t, why);
    if (fd != lock) tamis__close_quietly(fd);
    if (t == NULL) {
        if (f != NULL && f->map != NULL) tamis__unmap(f->map, f->map_size);
        tamis__free(o.memory, f);
        if (lock >= 0) tamis__close_quietly(lock);
        return s;
    }
    f->lock = lock;
    t->file = f;
    *out = t;
    return TAMIS_OK;
}

/* --- Saving ----------------------------------------------------------------------------------- */

struct image_save {
    tamis *t;
    const tamis *content; /* t, or a copy that no other thread changes */
    uint64_t root;        /* of the image that was written last */
};

static tamis_status write_image(void *what, tamis_sink put, void *ctx, tamis_error *why)
{
    struct image_save *j = what;
    return tamis__image_write(j->content, put, ctx, &j->root, why);
}

static tamis_status write_packed(void *what, tamis_sink put, void *ctx, tamis_error *why)
{
    const struct image_save *j = what;
    return tamis_pack(j->content, put, ctx, why);
}

static tamis_status check_own_image(void *what, int fd, tamis_error *why)
{
    const struct image_save *j = what;
    uint8_t header[TAMIS__HEADER_BYTES];
    uint64_t root;
    const tamis_status s = tamis__read_at(fd, 0, header, sizeof header, why);
    if (s == TAMIS_EIO) return s;
    const bool same = s == TAMIS_OK && tamis__image_root(header, &root) && root == j->t->file->root;
    return same ? TAMIS_OK : TAMIS_EBUSY;
}

/* Makes the handle stand for what was saved, and passes a lock to the new file. */
static void adopt_image(void *what, const char *target, int *fd)
{
    const struct image_save *j = what;
    tamis *t = j->t;
    tamis__adopt_generation(t, j->content);
    if (t->file == NULL) {
        t->file = new_file(t->body.memory, target);
        if (t->file == NULL) return; /* later saves replace the file without a check */
    } else if (strcmp(t->file->path, target) != 0) {
        return; /* saved elsewhere: the handle still belongs to its own file */
    }
    t->file->root = j->root;
    if (t->file->lock >= 0) {
        tamis__close_quietly(t->file->lock);
        t->file->lock = *fd;
        *fd = -1;
    }
}

tamis_status tamis__check_save_options(const tamis_save_options *options, uint32_t allowed,
                                       tamis_save_options *out, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    memset(out, 0, sizeof *out);
    if (options != NULL)
        s = tamis__take_struct(out, sizeof *out, options, "tamis_save_options", why);
    if (s != TAMIS_OK) return s;
    if ((out->flags & ~allowed) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "unknown flag in the save options");
    if (out->mode > 0777)
        return tamis__fail(why, TAMIS_EINVAL, "mode is 0%o, but must be at most 0777",
                           (unsigned)out->mode);
    return TAMIS_OK;
}

tamis_status tamis_save(tamis *t, const char *path, const tamis_save_options *options,
                        tamis_error *why)
{
    tamis_save_options o;
    tamis *made;
    tamis_status s =
        tamis__check_save_options(options, TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED, &o, why);
    if (s == TAMIS_OK) s = tamis__still(t, &made, why);
    if (s != TAMIS_OK) return s;
    const bool packed = (o.flags & TAMIS_SAVE_PACKED) != 0;
    struct image_save what = {.t = t, .content = made != NULL ? made : t};
    const struct durable d = {.write_to = packed ? write_packed : write_image,
                              .what = &what,
                              .memory = t->body.memory,
                              .own_path = t->file != NULL ? t->file->path : NULL,
                              .own_lock = t->file != NULL ? t->file->lock : -1,
                              .check_own = packed ? NULL : check_own_image,
                              .adopt = packed ? NULL : adopt_image};
    s = tamis__write_durably(&d, path, &o, why);
    tamis_close(made);
    return s;
}

struct piece {
    const void *bytes;
    size_t n;
};

static tamis_status write_piece(void *what, tamis_sink put, void *ctx, tamis_error *why)
{
    const struct piece *p = what;
    (void)why; /* put_bytes sets it */
    return put(ctx, p->bytes, p->n);
}

tamis_status tamis_write_file(const char *path, const void *bytes, size_t n,
                              const tamis_save_options *options, tamis_error *why)
{
    struct piece what = {bytes, n};
    const struct durable d = {.write_to = write_piece, .what = &what};
    tamis_save_options o;
    const tamis_status s = tamis__check_save_options(options, TAMIS_SAVE_NEW, &o, why);
    return s == TAMIS_OK ? tamis__write_durably(&d, path, &o, why) : s;
}
#endif
