/* Lists of the most frequent items: rows and arrays of tamis_item. */
#include "tamis_pg.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "lists.h"

#include <tamis/count.h>

enum { COLUMNS = 4 };

/* An item as text of the server's encoding. Bytes that are not text are written as PostgreSQL
 * writes bytea, so that the result equals the text of the value that was added. */
static Datum item_text(tamis_bytes item)
{
    static const char hex[] = "0123456789abcdef";
    if (sql_is_text(item)) {
        const char *p = pg_any_to_server(item.p, (int)item.len, PG_UTF8);
        const size_t n = p == item.p ? item.len : strlen(p);
        return PointerGetDatum(cstring_to_text_with_len(p, (int)n));
    }
    const uint8_t *p = item.p;
    char *text = palloc(2 + 2 * item.len), *to = text;
    *to++ = '\\';
    *to++ = 'x';
    for (size_t i = 0; i < item.len; i++) {
        *to++ = hex[p[i] >> 4];
        *to++ = hex[p[i] & 15];
    }
    return PointerGetDatum(cstring_to_text_with_len(text, (int)(to - text)));
}

/* A row. Its item is NULL if the sketch had no room for the text. */
static Datum row_of(const tamis_heavy *h, uint32_t encoding, TupleDesc shape)
{
    char room[SQL_KEY_ROOM];
    Datum values[COLUMNS] = {0};
    bool nulls[COLUMNS] = {h->item.p == NULL};
    tamis_bytes item = h->item;
    if (item.p != NULL && h->length > item.len) item = sql_whole_characters(item);
    if (item.p != NULL) values[0] = item_text(sql_item(item, encoding, room));
    values[1] = Int64GetDatum(h->count.estimate);
    values[2] = Int64GetDatum(h->count.lower);
    values[3] = Int64GetDatum(h->count.upper);
    return HeapTupleGetDatum(heap_form_tuple(shape, values, nulls));
}

struct pg_list pg_list_of(const tamis *t, uint64_t most)
{
    struct pg_list list = {0};
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(t, &f);
    if (f.entries == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("tamis: a %s keeps no list of items; a top does",
                               tamis_kind_name(f.kind))));
    list.encoding = f.encoding;
    list.n = tamis_top(t, NULL, 0);
    if (list.n > most) list.n = (size_t)most;
    if (list.n == 0) return list;
    list.items = MemoryContextAllocHuge(CurrentMemoryContext, list.n * sizeof *list.items);
    list.n = tamis_top(t, list.items, list.n);
    return list;
}

Datum pg_array_of(const struct pg_list *list, Oid array_type)
{
    const Oid type = get_element_type(array_type);
    TupleDesc shape = lookup_rowtype_tupdesc(type, -1);
    Datum *rows = palloc(list->n * sizeof *rows + 1);
    for (size_t i = 0; i < list->n; i++) rows[i] = row_of(&list->items[i], list->encoding, shape);
    ReleaseTupleDesc(shape);
    return PointerGetDatum(construct_array(rows, (int)list->n, type, -1, false, TYPALIGN_DOUBLE));
}

/* tamis_list(sketch, n): one row for each call. The sketch stays open, because the items point into
 * it. */
PG_FUNCTION_INFO_V1(pg_tamis_list);
Datum pg_tamis_list(PG_FUNCTION_ARGS)
{
    if (SRF_IS_FIRSTCALL()) {
        FuncCallContext *c = SRF_FIRSTCALL_INIT();
        MemoryContext before = MemoryContextSwitchTo(c->multi_call_memory_ctx);
        struct pg_list *list = palloc(sizeof *list);
        tamis_memory *memory = palloc(sizeof *memory);
        const int64_t n = PG_NARGS() > 1 ? PG_GETARG_INT64(1) : INT64_MAX;
        if (n < 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("tamis: the number of items must not be negative")));
        if (get_call_result_type(fcinfo, NULL, &c->tuple_desc) != TYPEFUNC_COMPOSITE)
            elog(ERROR, "tamis: the result is a set of rows");
        c->tuple_desc = BlessTupleDesc(c->tuple_desc);
        *list = pg_list_of(pg_open(PG_GETARG_DATUM(0), memory), (uint64_t)n);
        c->user_fctx = list;
        c->max_calls = list->n;
        MemoryContextSwitchTo(before);
    }
    FuncCallContext *c = SRF_PERCALL_SETUP();
    const struct pg_list *list = c->user_fctx;
    if (c->call_cntr >= c->max_calls) SRF_RETURN_DONE(c);
    /* Not inside the macro, which counts the call before it evaluates the result. */
    const Datum row = row_of(&list->items[c->call_cntr], list->encoding, c->tuple_desc);
    SRF_RETURN_NEXT(c, row);
}
