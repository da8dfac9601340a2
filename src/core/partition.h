/* Bulk adds to tables far larger than the caches. */
#ifndef TAMIS_PARTITION_H
#define TAMIS_PARTITION_H

#include "bulk.h"

/* Adds all keys and returns true. Adds none and returns false if it would not pay, the kind does
 * not support it, or there is not enough memory. */
bool tamis__partitioned_add(tamis *t, const struct keys *in);

#endif
