/* Hashes that do not fit into memory: sorted runs in a temporary file, which are merged into one
 * when all are written. */
#ifndef TAMIS_SPILL_H
#define TAMIS_SPILL_H

#include <tamis/tamis.h>

/* All positions and lengths in this file are in hashes. */
struct run {
    uint64_t from, n;
};

struct spill {
    const tamis_memory *memory;
    int fd;
    uint64_t most; /* hashes that the collection keeps in memory before it writes a run */
    uint64_t end;  /* where the next run begins */
    struct run *runs;
    uint32_t count, room;
    uint64_t suspects; /* hashes in runs that are clearly not uniform */
    bool uniform;      /* some run is clearly uniform */
};

/* Creates a file in that directory, without runs. A scratch of less than 1 MiB counts as 1 MiB.
 * Fails with TAMIS_EIO or TAMIS_ENOMEM. */
tamis_status tamis__spill_open(const char *directory, uint64_t scratch_bytes,
                               const tamis_memory *memory, struct spill **out, tamis_error *why);
/* NULL is allowed. */
void tamis__spill_close(struct spill *s);
/* Removes all runs, and keeps the file. */
void tamis__spill_clear(struct spill *s);

/* Makes a spill for further runs in the same file, after those of s, which must not grow meanwhile.
 * tamis__spill_forget frees it, but not the file. */
struct spill tamis__spill_behind(const struct spill *s);
void tamis__spill_forget(struct spill *s);

/* Writes one more run. On failure nothing has changed. */
tamis_status tamis__spill_write(struct spill *s, const tamis_hash *sorted, uint64_t n,
                                tamis_error *why);

/* Merges all runs of s into a single run of *out, which is behind s. The merge uses `room`, which
 * holds this many hashes, and the scratch space to sort as many. Fails with TAMIS_ENOMEM also if
 * there are more than room / 16 runs. */
tamis_status tamis__spill_merge(const struct spill *s, tamis_hash *room, uint64_t hashes,
                                uint32_t threads, struct spill *out, tamis_error *why);

/* For the only run: tamis__spill_find returns how many hashes are below hi, and tamis__spill_read
 * reads n hashes from index `at` on. */
tamis_status tamis__spill_find(const struct spill *s, uint64_t hi, uint64_t *at, tamis_error *why);
tamis_status tamis__spill_read(const struct spill *s, uint64_t at, tamis_hash *to, uint64_t n,
                               tamis_error *why);

#endif
