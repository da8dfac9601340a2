/* Apache Thrift's compact protocol, as much of it as the metadata of Parquet needs: one pass, no
 * memory, and every length held against what is left. After the first thing that is wrong nothing
 * more is read. */
#ifndef TAMIS_FOREIGN_THRIFT_H
#define TAMIS_FOREIGN_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE,
    THRIFT_BYTE,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_UUID
};

struct thrift {
    const uint8_t *p;
    size_t n, at;
    bool bad;
};

/* A struct being read, from {0}; id and type are those of its present field. */
struct thrift_field {
    int32_t id;
    unsigned type;
};

/* The next field; false: the struct has ended, or t->bad. Its value must be read, or skipped. */
bool tamis__thrift_next(struct thrift *t, struct thrift_field *f);
void tamis__thrift_skip(struct thrift *t, const struct thrift_field *f);
/* True when the field is of that id and type; a field of that id and another type is bad. */
bool tamis__thrift_is(struct thrift *t, const struct thrift_field *f, int32_t id, unsigned type);

/* Values, 0 when bad. i16, i32 and i64 are written alike. */
int64_t tamis__thrift_int(struct thrift *t);
const uint8_t *tamis__thrift_binary(struct thrift *t, size_t *n);
/* The number of elements, which are at most as many as there are bytes left; they must be of this
 * type. */
size_t tamis__thrift_list(struct thrift *t, unsigned type);

#endif
