/* The type tamis: a varlena that holds an image. Its text is base64, its binary form the image. */
#include "tamis_pg.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

/* --- Handles to values ------------------------------------------------------------------------ */

struct sink {
    char *at, *end;
};

/* Copies and never fails by longjmp. */
static tamis_status put_image(void *ctx, const void *bytes, size_t n)
{
    struct sink *s = ctx;
    if (n > (size_t)(s->end - s->at)) return TAMIS_EINVAL;
    memcpy(s->at, bytes, n);
    s->at += n;
    return TAMIS_OK;
}

Datum pg_image_of(const tamis *t)
{
    tamis_error why;
    const uint64_t size = tamis_image_size(t);
    if (size > PG_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: this takes %llu bytes, but a value has at most %llu",
                               (unsigned long long)size, (unsigned long long)PG_MOST)));
    struct varlena *v = palloc(VARHDRSZ + size);
    struct sink s = {VARDATA(v), VARDATA(v) + size};
    const tamis_status status = tamis_write(t, put_image, &s, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    SET_VARSIZE(v, VARHDRSZ + size);
    return PointerGetDatum(v);
}

tamis_bytes pg_image(Datum value)
{
    struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
    return (tamis_bytes){VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v)};
}

tamis *pg_open(Datum value, tamis_memory *memory)
{
    tamis *t;
    tamis_error why;
    *memory = pg_memory(CurrentMemoryContext);
    const tamis_status s = sql_open(pg_image(value), PG_MOST, memory, &t, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    return t;
}

/* Raises an error unless the bytes are an image that this extension can use. */
static void check(Datum value)
{
    tamis_memory memory;
    tamis_close(pg_open(value, &memory));
}

/* --- Input and output ------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pg_tamis_in);
Datum pg_tamis_in(PG_FUNCTION_ARGS)
{
    const Datum text = CStringGetTextDatum(PG_GETARG_CSTRING(0));
    const Datum value = DirectFunctionCall2(binary_decode, text, CStringGetTextDatum("base64"));
    check(value);
    return value;
}

PG_FUNCTION_INFO_V1(pg_tamis_out);
Datum pg_tamis_out(PG_FUNCTION_ARGS)
{
    const tamis_bytes image = pg_image(PG_GETARG_DATUM(0));
    const uint64_t room = (image.len + 2) / 3 * 4;
    if (room >= MaxAllocSize)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: the text of this value takes %llu bytes, but %llu are "
                               "possible",
                               (unsigned long long)room, (unsigned long long)MaxAllocSize),
                        errhint("Use the binary format, or cast it to bytea.")));
    char *text = palloc(room + 1);
    const int n = pg_b64_encode(image.p, (int)image.len, text, (int)room);
    if (n < 0) elog(ERROR, "tamis: base64 failed");
    text[n] = '\0';
    PG_RETURN_CSTRING(text);
}

PG_FUNCTION_INFO_V1(pg_tamis_recv);
Datum pg_tamis_recv(PG_FUNCTION_ARGS)
{
    StringInfo from = (StringInfo)PG_GETARG_POINTER(0);
    const int n = from->len - from->cursor;
    struct varlena *v = palloc(VARHDRSZ + (size_t)n);
    SET_VARSIZE(v, VARHDRSZ + n);
    pq_copymsgbytes(from, VARDATA(v), n);
    check(PointerGetDatum(v));
    return PointerGetDatum(v);
}

PG_FUNCTION_INFO_V1(pg_tamis_send);
Datum pg_tamis_send(PG_FUNCTION_ARGS)
{
    PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
}

PG_FUNCTION_INFO_V1(pg_tamis_from_bytea);
Datum pg_tamis_from_bytea(PG_FUNCTION_ARGS)
{
    check(PG_GETARG_DATUM(0));
    return PG_GETARG_DATUM(0);
}
