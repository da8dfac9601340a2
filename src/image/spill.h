/* Hashes beyond memory: runs of them in a temporary file, each sorted, and merged into one when all
 * are there. */
#ifndef TAMIS_SPILL_H
#define TAMIS_SPILL_H

#include <tamis/tamis.h>

/* In hashes, as are all positions and lengths here. */
struct run {
    uint64_t from, n;
};

struct spill {
    const tamis_memory *memory;
    int fd;
    uint64_t most; /* that the collection has in memory before it writes a run */
    uint64_t end;  /* where the next run goes */
    struct run *runs;
    uint32_t count, room;
    uint64_t suspects; /* hashes in runs that are clearly not uniform */
    bool uniform;      /* some run clearly is */
};

/* A file in that directory, and no runs. Less than 1 MiB of scratch counts as that. TAMIS_EIO,
 * TAMIS_ENOMEM. */
tamis_status tamis__spill_open(const char *directory, uint64_t scratch_bytes,
                               const tamis_memory *memory, struct spill **out, tamis_error *why);
/* NULL is allowed. */
void tamis__spill_close(struct spill *s);
/* No runs, in the same file. */
void tamis__spill_clear(struct spill *s);

/* Further runs in the same file, behind those of s, which must not grow meanwhile. Forget frees it,
 * not the file. */
struct spill tamis__spill_behind(const struct spill *s);
void tamis__spill_forget(struct spill *s);

/* One more run. What failed has not happened. */
tamis_status tamis__spill_write(struct spill *s, const tamis_hash *sorted, uint64_t n,
                                tamis_error *why);

/* The union of all runs of s as the only one of *out, which is behind s. The work takes `room`, for
 * so many hashes, and the scratch of sorting as many. TAMIS_ENOMEM: also when there are more than
 * room / 16 runs. */
tamis_status tamis__spill_merge(const struct spill *s, tamis_hash *room, uint64_t hashes,
                                uint32_t threads, struct spill *out, tamis_error *why);

/* Of the only run: how many hashes have less than hi; n hashes from the `at`-th on. */
tamis_status tamis__spill_find(const struct spill *s, uint64_t hi, uint64_t *at, tamis_error *why);
tamis_status tamis__spill_read(const struct spill *s, uint64_t at, tamis_hash *to, uint64_t n,
                               tamis_error *why);

#endif
