/* The locks of the lines of a shared handle (kernels/locked.h), and what they count. Adds to a
 * blocked filter write neither `items` nor `changed` of the handle, which would be a cache line
 * that all threads fight for. Each lock counts the new keys of its lines, and the counts are summed
 * when somebody asks. The locks of tallies count nothing. */
#ifndef TAMIS_LOCKS_H
#define TAMIS_LOCKS_H

#include "handle.h"

/* Gives the handle its locks if it is shared and of a kind that uses them. False: not enough
 * memory. tamis__free frees them. */
bool tamis__make_locks(tamis *t);

/* Makes this the number of items. No other thread may use the handle. */
void tamis__set_items(tamis *t, uint64_t items);

/* Notes that this copy was saved, so that only later adds are changes. */
void tamis__mark_saved(tamis *t, const tamis *saved);

#endif
