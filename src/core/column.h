/* Columns of keys. */
#ifndef TAMIS_COLUMN_H
#define TAMIS_COLUMN_H

#include "bits.h"

#include <tamis/columns.h>

/* A tamis_column whose rows were checked. */
struct column {
    const uint8_t *data;
    size_t width, stride;
    const int32_t *offsets32;
    const int64_t *offsets64;
    const uint8_t *validity; /* NULL: no row is null */
    size_t first, rows;
};

/* Also checks that the rows are keys of this handle, if it states an encoding. */
tamis_status tamis__column_open(const tamis *t, const tamis_column *c, struct column *out,
                                tamis_error *why);

static inline tamis_bytes tamis__column_key(const struct column *c, size_t row)
{
    size_t from = row * c->stride, len = c->width;
    if (c->offsets32 != NULL) {
        from = (size_t)c->offsets32[row];
        len = (size_t)c->offsets32[row + 1] - from;
    } else if (c->offsets64 != NULL) {
        from = (size_t)c->offsets64[row];
        len = (size_t)c->offsets64[row + 1] - from;
    }
    return (tamis_bytes){c->data + from, len};
}

static inline bool tamis__column_valid(const struct column *c, size_t row)
{
    return c->validity == NULL || (c->validity[row / 8] >> row % 8 & 1) != 0;
}

/* tamis__bulk_add for all rows. weights, counts and seen may be NULL. */
tamis_status tamis__add_column(tamis *t, const struct column *c, const int64_t *weights,
                               int64_t *counts, uint8_t *seen, size_t *done);

#endif
