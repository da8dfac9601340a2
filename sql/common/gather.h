/* The state of an aggregate: a filter or sketch that is being made from the rows of one group.
 *
 * GROUP BY can make hundreds of thousands of small groups, so a group must not begin with the
 * memory of its whole filter. Its keys are therefore kept as they are until they take 4 KiB or a
 * quarter of the image; only then is the filter created. States of parallel workers are combined by
 * merging their filters. A kind that cannot be merged (cuckoo, growing, pair and the sealed kinds)
 * keeps the distinct hashes of its keys until the end, a map with their values. Without a plan of
 * their bits (cell_bits), values get as many as the greatest one needs.
 *
 * Memory comes from the database, through the tamis_memory, which must outlive the state. No call
 * keeps a pointer to the bytes that it is given. */
#ifndef TAMIS_SQL_GATHER_H
#define TAMIS_SQL_GATHER_H

#include <tamis/count.h>

struct gather;

/* Begins a state for this plan. `most` is the size of the longest value that the database can
 * store: a plan that is bigger fails with TAMIS_EFULL, before anything is allocated. A sealed kind
 * needs no items. Fails with TAMIS_EINVAL for kinds that rows cannot make (window, exact). */
tamis_status gather_new(const tamis_plan *plan, uint64_t most, const tamis_memory *memory,
                        struct gather **out, tamis_error *why);
/* Begins a state that is the union of images. */
tamis_status gather_new_union(uint64_t most, const tamis_memory *memory, struct gather **out,
                              tamis_error *why);
void gather_free(struct gather *g); /* NULL is allowed */

/* Begins an empty state with the plan of another one, or as a union if that is one. */
tamis_status gather_like(const struct gather *other, const tamis_memory *memory,
                         struct gather **out, tamis_error *why);

/* The plan that the state began with, not solved; all zero for a union. */
const tamis_plan *gather_plan(const struct gather *g);
/* Whether this plan, not yet solved, is the one that the state began with. */
bool gather_has_plan(const struct gather *g, const tamis_plan *plan);

/* Adds a key. The weight counts only for sketches, and is at least 0. For a map it is the value;
 * a key with two values is TAMIS_EINVAL, which names the key, or only the values if the first one
 * is from another state. */
tamis_status gather_add(struct gather *g, tamis_bytes key, int64_t weight, tamis_error *why);
enum { SQL_VALUE_BITS = 32 }; /* of a value of a map */
/* Adds an image to a union. */
tamis_status gather_add_image(struct gather *g, tamis_bytes image, tamis_error *why);
/* Adds everything that `from` has, which stays as it is. */
tamis_status gather_combine(struct gather *g, const struct gather *from, tamis_error *why);

/* The filter or sketch of all keys so far; NULL for a union of nothing. It belongs to the state,
 * and is valid until the next call on it; rows may be added afterwards. Fails with TAMIS_EFULL if
 * there are so many items that the false-positive rate is more than twice the planned one.
 * *overfull becomes true if it is higher than planned, but not that much. */
tamis_status gather_result(struct gather *g, const tamis **out, bool *overfull, tamis_error *why);
/* Lists the keys of a small group by their counts, like tamis_top, exactly and without making a
 * sketch, which would take most of the time of a query with many groups. Writes at most n of them,
 * which point into the state, and sets *listed. Returns false if the group is not small any more.
 * room is for as many items as GATHER_FEW. */
enum { GATHER_FEW = 342 };
bool gather_few(const struct gather *g, tamis_heavy room[GATHER_FEW], size_t n, size_t *listed);
/* Frees the last result, unless the state itself consists of it. A database may keep the states of
 * all groups until it has returned the last one, and a small group is much smaller than its
 * filter. */
void gather_forget_result(struct gather *g);

/* The same check, for a filter that was changed or merged: it reads all cells, except those of
 * sketches and sealed filters, which have no such rate. */
tamis_status sql_judge(const tamis *t, bool *overfull, tamis_error *why);

/* The state as bytes, for another process of the same server and program, and back. */
uint64_t gather_size(const struct gather *g); /* of what gather_write writes */
tamis_status gather_write(const struct gather *g, tamis_sink put, void *ctx, tamis_error *why);
tamis_status gather_read(tamis_bytes bytes, const tamis_memory *memory, struct gather **out,
                         tamis_error *why);

/* Opens an image of the database: verified, in memory of its own, and such that a change writes the
 * same bytes as if there had been one handle from the start (TAMIS_STEADY). */
tamis_status sql_open(tamis_bytes image, uint64_t most, const tamis_memory *memory, tamis **out,
                      tamis_error *why);

#endif
