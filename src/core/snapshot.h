/* Copies of shared handles, taken while other threads add. A copy contains every add that had
 * returned before the copy began, and any part of the adds that run at the same time. */
#ifndef TAMIS_SNAPSHOT_H
#define TAMIS_SNAPSHOT_H

#include "handle.h"

/* Copies the fields of the handle and of its sections, except the pointers that belong to a handle.
 * Totals are copied before the cells (tamis__take_cells). The totals of a copy are therefore never
 * ahead of its cells, and an add that is missing in the cells is also missing in the totals. */
void tamis__take_fields(tamis *copy, const tamis *t);
void tamis__take_cells(const tamis *copy, const tamis *t);

/* Sets *made to a copy that nobody changes if t is shared, and otherwise to NULL, because then t
 * itself does not change. The caller closes *made. */
tamis_status tamis__still(const tamis *t, tamis **made, tamis_error *why);

/* After the image of `saved`, a copy of t or t itself, was saved: makes t a handle of that
 * generation. It stays changed if there were adds since. */
void tamis__adopt_generation(tamis *t, const tamis *saved);

#endif
