/* The most frequent items of a sketch, as PostgreSQL shows them. */
#ifndef TAMIS_PG_LISTS_H
#define TAMIS_PG_LISTS_H

#include "tamis_pg.h"

#include <tamis/count.h>

struct pg_list {
    tamis_heavy *items; /* in the current context; their texts belong to the sketch */
    size_t n;
    uint32_t encoding;
};

/* The `most` most frequent items. Raises an error for kinds that keep no list. */
struct pg_list pg_list_of(const tamis *t, uint64_t most);

/* The same as an array of tamis_item, whose type is given. */
Datum pg_array_of(const struct pg_list *list, Oid array_type);

#endif
