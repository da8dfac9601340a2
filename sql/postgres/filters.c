/* Functions of filters and sketches. */
#include "tamis_pg.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "../common/json.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/map.h>

/* --- Queries ---------------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pg_tamis_contains);
Datum pg_tamis_contains(PG_FUNCTION_ARGS)
{
    char room[PG_VALUE_ROOM];
    const struct pg_site *s = pg_site(fcinfo);
    const tamis_bytes key = pg_site_key(s, PG_GETARG_DATUM(1), room);
    PG_RETURN_BOOL(tamis_may_contain(s->t, key.p, key.len));
}

/* NULL for a key that is certainly not in the map. */
PG_FUNCTION_INFO_V1(pg_tamis_value);
Datum pg_tamis_value(PG_FUNCTION_ARGS)
{
    char room[PG_VALUE_ROOM];
    uint32_t value;
    uint8_t found;
    tamis_error why;
    const struct pg_site *s = pg_site(fcinfo);
    const tamis_bytes key = pg_site_key(s, PG_GETARG_DATUM(1), room);
    const tamis_status status = tamis_value_many(s->t, &key, 1, &value, &found, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    if ((found & 1) == 0) PG_RETURN_NULL();
    PG_RETURN_INT64(value);
}

static tamis_estimate estimate(FunctionCallInfo fcinfo)
{
    char room[PG_VALUE_ROOM];
    tamis_estimate e;
    tamis_error why;
    const struct pg_site *s = pg_site(fcinfo);
    const tamis_bytes key = pg_site_key(s, PG_GETARG_DATUM(1), room);
    const tamis_status status = tamis_count(s->t, key.p, key.len, &e, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    return e;
}

PG_FUNCTION_INFO_V1(pg_tamis_estimate);
Datum pg_tamis_estimate(PG_FUNCTION_ARGS)
{
    PG_RETURN_INT64(estimate(fcinfo).estimate);
}

PG_FUNCTION_INFO_V1(pg_tamis_estimate_bounds);
Datum pg_tamis_estimate_bounds(PG_FUNCTION_ARGS)
{
    TupleDesc shape;
    if (get_call_result_type(fcinfo, NULL, &shape) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "tamis: the result is a row");
    const tamis_estimate e = estimate(fcinfo);
    Datum row[] = {Int64GetDatum(e.estimate), Int64GetDatum(e.lower), Int64GetDatum(e.upper)};
    bool nulls[] = {false, false, false};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(shape), row, nulls)));
}

/* --- Facts ------------------------------------------------------------------------------------ */

/* The number of distinct keys, which may be 2^63 or more only if somebody chose the bits. */
int64_t pg_cardinality(const tamis *t)
{
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    tamis_error why;
    const tamis_status s = tamis_distinct(t, &n, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    if (!(n.value < 9.2e18))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("tamis: it is too full to estimate how many keys it has")));
    return llround(n.value);
}

PG_FUNCTION_INFO_V1(pg_tamis_cardinality);
Datum pg_tamis_cardinality(PG_FUNCTION_ARGS)
{
    tamis_memory memory;
    PG_RETURN_INT64(pg_cardinality(pg_open(PG_GETARG_DATUM(0), &memory)));
}

PG_FUNCTION_INFO_V1(pg_tamis_info);
Datum pg_tamis_info(PG_FUNCTION_ARGS)
{
    char text[SQL_JSON_ROOM];
    tamis_memory memory;
    tamis_error why;
    const tamis_status s = sql_info_json(pg_open(PG_GETARG_DATUM(0), &memory), text, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

PG_FUNCTION_INFO_V1(pg_tamis_compare);
Datum pg_tamis_compare(PG_FUNCTION_ARGS)
{
    char text[SQL_JSON_ROOM];
    tamis_memory first, second;
    tamis_error why;
    const tamis *a = pg_open(PG_GETARG_DATUM(0), &first), *b = pg_open(PG_GETARG_DATUM(1), &second);
    const tamis_status s = sql_compare_json(a, b, text, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

/* For the check of the domains. */
PG_FUNCTION_INFO_V1(pg_tamis_is_sketch);
Datum pg_tamis_is_sketch(PG_FUNCTION_ARGS)
{
    tamis_memory memory;
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(pg_open(PG_GETARG_DATUM(0), &memory), &f);
    PG_RETURN_BOOL(f.kind >= TAMIS_COUNT_MIN || f.inner_kind >= TAMIS_COUNT_MIN);
}

PG_FUNCTION_INFO_V1(pg_tamis_version);
Datum pg_tamis_version(PG_FUNCTION_ARGS)
{
    PG_RETURN_TEXT_P(cstring_to_text(tamis_version()));
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* The image of a handle that was changed, unless it has far more items than planned. The memory of
 * handles is in the current context, which PostgreSQL resets after each row. A big handle is closed
 * at once all the same. */
static Datum image_and_close(tamis *t)
{
    bool overfull;
    tamis_error why;
    const tamis_status s = sql_judge(t, &overfull, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    if (overfull) pg_warn_overfull();
    const Datum value = pg_image_of(t);
    tamis_close(t);
    return value;
}

PG_FUNCTION_INFO_V1(pg_tamis_add);
Datum pg_tamis_add(PG_FUNCTION_ARGS)
{
    char room[PG_VALUE_ROOM];
    tamis_memory memory;
    tamis_error why;
    tamis_facts f = TAMIS_FACTS_INIT;
    struct pg_site site = {.value = pg_class_of(fcinfo, 1)};
    site.t = pg_open(PG_GETARG_DATUM(0), &memory);
    tamis_stat(site.t, &f);
    site.encoding = f.encoding;
    site.width = f.key_width;
    const tamis_bytes key = pg_site_key(&site, PG_GETARG_DATUM(1), room);
    tamis_status s;
    if (PG_NARGS() > 2) {
        s = tamis_add_weight(site.t, key.p, key.len, PG_GETARG_INT64(2), &why);
    } else {
        s = tamis_add(site.t, key.p, key.len, NULL);
        why.text[0] = '\0';
    }
    if (s != TAMIS_OK) pg_fail(s, &why);
    return image_and_close(site.t);
}

PG_FUNCTION_INFO_V1(pg_tamis_merge);
Datum pg_tamis_merge(PG_FUNCTION_ARGS)
{
    tamis_memory first, second;
    tamis_error why;
    tamis *into = pg_open(PG_GETARG_DATUM(0), &first);
    tamis *from = pg_open(PG_GETARG_DATUM(1), &second);
    const tamis_status s = tamis_merge(into, from, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    tamis_close(from);
    return image_and_close(into);
}

/* --- Empty filters and sketches --------------------------------------------------------------- */

static uint64_t whole_argument(FunctionCallInfo fcinfo, int i, const char *name)
{
    if (PG_ARGISNULL(i)) return 0;
    const int64_t n = PG_GETARG_INT64(i);
    if (n <= 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: %s must be above 0", name)));
    return (uint64_t)n;
}

PG_FUNCTION_INFO_V1(pg_tamis_empty);
Datum pg_tamis_empty(PG_FUNCTION_ARGS)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    tamis_memory memory = pg_memory(CurrentMemoryContext);
    struct gather *g;
    const tamis *t;
    bool overfull;
    tamis_error why;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    plan.kind = pg_kind(PG_GETARG_TEXT_PP(0));
    plan.items = whole_argument(fcinfo, 1, "items");
    plan.fpr = PG_ARGISNULL(2) ? 0 : PG_GETARG_FLOAT8(2);
    plan.bytes = whole_argument(fcinfo, 3, "bytes");
    plan.error = PG_ARGISNULL(4) ? 0 : PG_GETARG_FLOAT8(4);
    tamis_status s = gather_new(&plan, PG_MOST, &memory, &g, &why);
    if (s == TAMIS_OK) s = gather_result(g, &t, &overfull, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    return pg_image_of(t);
}
