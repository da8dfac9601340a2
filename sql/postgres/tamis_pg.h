/* What the files of the extension share.
 *
 * PostgreSQL reports errors by longjmp, which must never pass through the library. Therefore the
 * library gets memory by an allocator that returns NULL instead of raising an error, and errors are
 * raised after its call has returned. All memory belongs to memory contexts, so nothing is lost
 * when an error or a cancelled query ends a function early. */
#ifndef TAMIS_PG_H
#define TAMIS_PG_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "../common/gather.h"
#include "../common/keys.h"

#include <tamis/tamis.h>

/* --- Memory and errors (memory.c) ------------------------------------------------------------- */

/* The longest image that a value can hold. */
#define PG_MOST ((uint64_t)(MaxAllocSize - VARHDRSZ))

/* Memory of a context. It is not freed with a handle, but with the context. */
tamis_memory pg_memory(MemoryContext context);

/* Raises the error of a failed call. */
pg_attribute_noreturn() void pg_fail(tamis_status s, const tamis_error *why);

/* Warns that a filter has more items than planned (gather_result, sql_judge). */
void pg_warn_overfull(void);

/* --- Images and handles (images.c) ------------------------------------------------------------ */

/* A new value with the image of t. */
Datum pg_image_of(const tamis *t);

/* The bytes of a value, which may have to be fetched and decompressed. */
tamis_bytes pg_image(Datum value);

/* Opens a value in the current memory context. */
tamis *pg_open(Datum value, tamis_memory *memory);

/* --- Values as keys (values.c) ---------------------------------------------------------------- */

enum pg_class {
    PG_UNKNOWN,
    PG_TEXT,
    PG_BPCHAR,
    PG_NAME,
    PG_BYTEA,
    PG_INT2,
    PG_INT4,
    PG_INT8,
    PG_NUMERIC,
    PG_UUID,
    PG_DATE,
    PG_TIMESTAMP,
    PG_TIMESTAMPTZ
};

/* How values of the type of an argument become keys. Raises an error for types that do not. */
enum pg_class pg_class_of(FunctionCallInfo fcinfo, int argument);

enum { PG_VALUE_ROOM = 48 }; /* for the text of a UUID or a time */

/* The value of an argument that is not NULL. It points to memory of the argument, of the current
 * context, or to room. */
void pg_other_value(enum pg_class c, Datum d, char room[PG_VALUE_ROOM], struct sql_value *out);
static inline void pg_value(enum pg_class c, Datum d, char room[PG_VALUE_ROOM],
                            struct sql_value *out)
{
    out->type = SQL_INTEGER;
    if (likely(c == PG_INT8))
        out->integer = DatumGetInt64(d);
    else if (c == PG_INT4)
        out->integer = DatumGetInt32(d);
    else if (c == PG_INT2)
        out->integer = DatumGetInt16(d);
    else
        pg_other_value(c, d, room, out);
}

/* The kind of this name. Raises an error if there is none. */
uint32_t pg_kind(const text *name);

/* The number of distinct keys of t. Raises an error if it cannot be estimated. */
int64_t pg_cardinality(const tamis *t);

/* --- Call sites (sites.c) --------------------------------------------------------------------- */

/* What a function keeps between its calls in a query: the filter, open and verified, and how values
 * become keys. */
struct pg_site {
    enum pg_class value;
    tamis *t;
    uint32_t encoding, width; /* of the keys of t */
};

/* The site of a function whose first argument is a filter, which is opened if it is not the one of
 * the last call. Its second argument is a value. */
const struct pg_site *pg_site(FunctionCallInfo fcinfo);

/* The key of the second argument. */
tamis_bytes pg_site_key(const struct pg_site *s, Datum value, char room[PG_VALUE_ROOM]);

#endif
