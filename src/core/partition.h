/* Bulk adds to tables far beyond the caches. */
#ifndef TAMIS_PARTITION_H
#define TAMIS_PARTITION_H

#include "bulk.h"

/* Adds all the keys and returns true; or adds none, because it would not pay, the kind cannot, or
 * there is no memory. */
bool tamis__partitioned_add(tamis *t, const struct keys *in);

#endif
