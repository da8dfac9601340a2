/* The part of Apache Thrift's compact protocol that the metadata of Parquet needs. It takes one
 * pass and no memory, and compares every length with the bytes that are left. After the first error
 * nothing more is read. */
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

/* A struct being read, starting from {0}; id and type are those of its current field. */
struct thrift_field {
    int32_t id;
    unsigned type;
};

/* Reads the next field. Returns false if the struct has ended, or if t->bad. The field's value must
 * be read or skipped. */
bool tamis__thrift_next(struct thrift *t, struct thrift_field *f);
void tamis__thrift_skip(struct thrift *t, const struct thrift_field *f);
/* Reports whether the field has that id and type. A field of that id with another type sets
 * t->bad. */
bool tamis__thrift_is(struct thrift *t, const struct thrift_field *f, int32_t id, unsigned type);

/* Values, 0 when bad. i16, i32 and i64 have the same encoding. */
int64_t tamis__thrift_int(struct thrift *t);
const uint8_t *tamis__thrift_binary(struct thrift *t, size_t *n);
/* Returns the number of elements, which is at most the number of bytes left. The elements must have
 * this type. */
size_t tamis__thrift_list(struct thrift *t, unsigned type);

#endif
