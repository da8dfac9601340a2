/* Keys in columns, as databases and data frames keep them: values of a fixed width, or texts with
 * offsets as in Apache Arrow. The calls read the column in place and allocate nothing for it.
 *
 *     tamis_column ids = {.struct_size = sizeof ids, .rows = rows, .data = id, .bytes = 8 * rows,
 *                         .width = 8};
 *     tamis_add_column(t, &ids, NULL, NULL, NULL);
 *     ...
 *     size_t found;
 *     uint32_t *selected = malloc(rows * sizeof *selected);
 *     tamis_select_column(t, &ids, selected, &found, NULL);      // the rows that may be members
 *
 * A key is the bytes of its row, exactly as if they were passed to tamis_add: an integer of 8 bytes
 * is not the same key as its decimal digits. Row i has bit i % 8 of byte i / 8 in bit arrays, whose
 * unused bits become zero. The rules at the top of tamis.h hold here. */
/* clang-format off */
#ifndef TAMIS_COLUMNS_H
#define TAMIS_COLUMNS_H

#include <tamis/count.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set either width, or offsets32 or offsets64. A row that is null is not a key: it is never added,
 * it is never a "maybe", and its count is 0. */
typedef struct tamis_column {
    size_t struct_size;       /* sizeof(tamis_column)                                             */
    size_t rows;              /* number of rows                                                   */
    size_t first;             /* number of the first row, to use a part of the arrays below       */
    const void *data;         /* the values; may be NULL if they have no bytes                    */
    size_t bytes;             /* size of data: nothing beyond it is read                          */
    size_t width;             /* every value has this many bytes                                  */
    size_t stride;            /* bytes from one value to the next; 0: width                       */
    const int32_t *offsets32; /* value i is at data + offsets[i] and ends before offsets[i + 1];  */
    const int64_t *offsets64; /* there are first + rows + 1 offsets                               */
    const uint8_t *validity;  /* bit i % 8 of byte i / 8 is 0 if row i is null; NULL: none is     */
} tamis_column;
#define TAMIS_COLUMN_INIT TAMIS_INIT(tamis_column)
/* All calls fail with TAMIS_EINVAL, and do nothing, if the column is invalid: if it has neither or
 * several of width, offsets32 and offsets64, if an offset is negative or smaller than the one
 * before it (also at rows that are null), if a value ends beyond the data, or if a value that is
 * not null has a length that the encoding of t excludes (tamis_plan.encoding). All of this is
 * checked before the first row is used. Values may overlap. The bytes of null rows may be read, but
 * they do not influence the result. */

/* Adds the rows like tamis_add_many. After a failure exactly the first *done rows were added.
 * seen_bits and done may be NULL. */
TAMIS_API tamis_status tamis_add_column(tamis *t, const tamis_column *c, uint8_t *seen_bits,
                                        size_t *done, tamis_error *why);
/* Queries the rows like tamis_may_contain_many. *maybes becomes the number of rows that may be
 * members. bits and maybes may be NULL. */
TAMIS_API tamis_status tamis_may_contain_column(const tamis *t, const tamis_column *c,
                                                uint8_t *bits, size_t *maybes, tamis_error *why);
/* The same with a list instead of bits: writes the numbers of the rows that may be members, in
 * ascending order and counted from `first` as 0, and sets *found to how many there are. `selected`
 * has room for as many numbers as there are rows. Also fails with TAMIS_EINVAL if there are more
 * than 2^32 rows. */
TAMIS_API tamis_status tamis_select_column(const tamis *t, const tamis_column *c,
                                           uint32_t *selected, size_t *found, tamis_error *why);
/* Adds a weight to each row like tamis_add_weight_many; if weights is NULL, each is 1. */
TAMIS_API tamis_status tamis_add_weight_column(tamis *t, const tamis_column *c,
                                               const int64_t *weights, size_t *done,
                                               tamis_error *why);
/* The same, and sets counts[i] to the count of row i right after its add, like
 * tamis_add_counted_many, or to 0 if the row is null. If the column is invalid, nothing is
 * written. */
TAMIS_API tamis_status tamis_add_counted_column(tamis *t, const tamis_column *c,
                                                const int64_t *weights, int64_t *counts,
                                                size_t *done, tamis_error *why);
/* Sets out[i] to what tamis_upper returns for row i, or to 0 if the row is null. */
TAMIS_API tamis_status tamis_upper_column(const tamis *t, const tamis_column *c, int64_t *out,
                                          tamis_error *why);
/* Estimates the count of each row like tamis_count_many; out has room for as many estimates as
 * there are rows. */
TAMIS_API tamis_status tamis_count_column(const tamis *t, const tamis_column *c,
                                          tamis_estimate *out, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
