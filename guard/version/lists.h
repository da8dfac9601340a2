/* Reads whole lists before anything is built from them. */
#ifndef GUARD_LISTS_H
#define GUARD_LISTS_H

#include "store.h"

struct guard_entries {
    struct guard_entry *at;
    size_t n, room;
};
void guard_entries_free(struct guard_entries *e);

/* Counts of the lines and entries that were read. */
struct guard_tally {
    uint64_t lines, rejects;
};
/* Whether a list with these counts looks like one at all; see guard_request. */
bool guard_tally_likely(const struct guard_tally *t);

/* Adds the entries of one list, each with these labels. Invalid lines are passed to r->reject and
 * counted. */
bool guard_read_bad(const guard_request *r, const guard_list *list, uint64_t labels,
                    struct guard_entries *out, struct guard_tally *tally, guard_error *why);
/* Adds all expressions of each URL of a good list that are not among the bad entries, which are
 * sorted. A URL that is itself on a bad list is an error that names it. */
bool guard_read_good(const guard_request *r, const guard_list *list,
                     const struct guard_entries *bad, struct guard_entries *out,
                     struct guard_tally *tally, guard_error *why);

/* Sorts the entries and merges equal hashes, combining their labels. */
void guard_entries_sort(struct guard_entries *e);
/* Searches the sorted entries. Returns NULL if the hash is not among them. */
const struct guard_entry *guard_entries_find(const struct guard_entries *e,
                                             const uint8_t hash[GUARD_HASH_SIZE]);

#endif
