/* One handle for each thread: parts, which are joined.
 *
 * Threads may add to one handle at the same time if it was made with TAMIS_SHARED. Some kinds
 * cannot be shared (top, conservative count-min, counting), and a shared handle is slower than one
 * of a thread's own. Then each thread adds to a part, without waiting for others:
 *
 *     tamis *part[4];
 *     for (int i = 0; i < 4; i++)
 *         if (tamis_part(t, &part[i], &why) != TAMIS_OK) ...
 *     ...                                        // thread i adds to part[i]
 *     if (tamis_join(t, part, 4, &why) != TAMIS_OK) ...  // now t has what the four have added
 *     ...                                        // they are empty, and the threads may go on
 *     for (int i = 0; i < 4; i++) tamis_close(part[i]);
 *
 * Each part takes the memory of t. examples/packets.c is a whole program. docs/GUIDE.md, "Threads",
 * has a table of what the kinds allow. The rules at the top of tamis.h hold here, too. */
/* clang-format off */
#ifndef TAMIS_PARTS_H
#define TAMIS_PARTS_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an empty handle that can be joined with t: of the same kind, shape, hash, seed or secret
 * key, encoding and, for a window, epoch; strict if t is, and with the same memory and limit. It is
 * not shared, belongs to no file, and does not depend on t, which may be read-only, and to which
 * other threads may be adding if it is shared. Fails with TAMIS_EUNSUPPORTED if the kind cannot be
 * merged (cuckoo, growing, pair, private and sealed kinds), with TAMIS_ESEALED if t was sealed, and
 * with TAMIS_ENOMEM. */
TAMIS_API tamis_status tamis_part(const tamis *t, tamis **out, tamis_error *why);

/* Merges n parts into `into`, in their order, as n calls of tamis_merge do, and empties them. No
 * other thread may use `into` or a part meanwhile. For bloom, partitioned, blocked, counting, plain
 * count-min, count-sketch and windows of these, `into` is then bit for bit what it would be if it
 * had got all keys itself, unless counters are saturated. For tally, signed-tally, top,
 * conservative count-min and windows of these it is not, because their adds depend on what was
 * added before; counts that are never too low stay so.
 *   A part is any handle that tamis_merge accepts, not only one of tamis_part. It keeps its shape
 * and epoch, and its file, if it has one, is not changed. Rotate windows to the same epoch before.
 *   After a failure nothing has changed, neither `into` nor a part, and the reason names the first
 * part that does not fit. Fails like tamis_merge, and
 *   - with TAMIS_EINVAL if parts is NULL and n is not 0, or a part is NULL, is `into`, or occurs
 *     twice;
 *   - with TAMIS_ESEALED if a part is read-only, because it cannot be emptied;
 *   - with TAMIS_ENOMEM: if `into` is strict, a top, a distinct sketch or a window of sketches,
 *     it is copied first. */
TAMIS_API tamis_status tamis_join(tamis *into, tamis *const *parts, size_t n, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
