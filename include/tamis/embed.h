/* Filters inside other things: a view in memory that the caller provides, and filters without a
 * header, for files that have checksums of their own.
 *
 *     // A table of a storage engine keeps the cells and the solved plan.
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = 100,
 *                        .fpr = 0.01};
 *     tamis_solve(&plan, NULL, NULL);
 *     ... create, add ...
 *     size_t n;
 *     const void *cells = tamis_raw_cells(t, &n);   // 128 bytes, instead of an image of 384
 *     ...
 *     tamis_view_cells(&plan, cells, n, NULL, &view, NULL);
 *
 * The rules at the top of tamis.h hold here. */
/* clang-format off */
#ifndef TAMIS_EMBED_H
#define TAMIS_EMBED_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an image in place like tamis_view, but at any alignment and without allocating: the handle
 * is in `room`, at any alignment as well. Both must stay unchanged until the handle is no longer
 * used; tamis_close is allowed, but not needed. *needed, unless NULL, becomes the size of the room
 * for this image: about 1100 bytes, plus 0.012 % of the image. If the room is smaller (it may be
 * NULL if its size is 0), the call fails with TAMIS_ENOMEM. A call on this handle that needs memory
 * fails with TAMIS_ENOMEM: tamis_copy, tamis_count, tamis_write. The options memory, key,
 * scratch_bytes, threads and temp_dir must not be set (TAMIS_EINVAL); use shared_key for a secret
 * key. */
TAMIS_API tamis_status tamis_view_at(void *room, size_t room_size, const void *image, size_t size,
                                     const tamis_options *options, size_t *needed, tamis **out,
                                     tamis_error *why);

/* Returns the cells of a filter, without header and checksums, and sets *n to their size in bytes,
 * a multiple of 8. They are valid until the next change. Only for bloom, partitioned, blocked,
 * counting and cuckoo. For other kinds, and for a cuckoo filter with a stash (five keys that look
 * alike, or more keys than planned), it returns NULL and sets *n to 0. */
TAMIS_API const void *tamis_raw_cells(const tamis *t, size_t *n);

/* Views such cells, at any alignment, as a filter with this plan, which must be solved and is the
 * plan that the filter was created with (or has the same kind, flags, seed, m, k, cell_bits and
 * inner_kind). The cells must stay unchanged until tamis_close, and nothing checks them: an error
 * in them, or another plan of the same size, gives wrong answers. The handle is read-only; as its
 * number of items it reports that of the plan, as an estimate. Fails with TAMIS_EINVAL if the plan
 * is not solved or n is not the size of its cells, and with TAMIS_EUNSUPPORTED for other kinds. */
TAMIS_API tamis_status tamis_view_cells(const tamis_plan *plan, const void *cells, size_t n,
                                        const tamis_options *options, tamis **out,
                                        tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
