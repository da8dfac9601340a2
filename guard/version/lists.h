/* Reading whole lists, before they are built into anything. */
#ifndef GUARD_LISTS_H
#define GUARD_LISTS_H

#include "store.h"

struct guard_entries {
    struct guard_entry *at;
    size_t n, room;
};
void guard_entries_free(struct guard_entries *e);

/* Counts of what was read. */
struct guard_tally {
    uint64_t lines, rejects;
};

/* Adds the entries of one list, each with these labels. Lines that are none are reported to
 * r->reject and counted. */
bool guard_read_bad(const guard_request *r, const guard_list *list, uint64_t labels,
                    struct guard_entries *out, struct guard_tally *tally, guard_error *why);
/* Adds, of a list of good URLs, all expressions of each that are not among the bad entries
 * (sorted). A URL that is itself on a bad list is an error that names it. */
bool guard_read_good(const guard_request *r, const guard_list *list,
                     const struct guard_entries *bad, struct guard_entries *out,
                     struct guard_tally *tally, guard_error *why);

/* Sorted, and each hash once, with the labels of all. */
void guard_entries_sort(struct guard_entries *e);
/* NULL: not among them. They are sorted. */
const struct guard_entry *guard_entries_find(const struct guard_entries *e,
                                             const uint8_t hash[GUARD_HASH_SIZE]);

#endif
