/* Aggregates. Their state is a struct gather (../common/gather.h) in the memory context of the
 * aggregate; parallel workers send it as bytes. */
#include "tamis_pg.h"

#include "nodes/primnodes.h"
#include "utils/builtins.h"

#include "lists.h"

/* The relative standard error of distinct sketches, in 8 KB. */
#define DEFAULT_ERROR 0.01
/* Those of the command. */
#define DEFAULT_BYTES ((uint64_t)1 << 20)
#define DEFAULT_LISTED 100
#define DEFAULT_RATE 0.01
/* A top of k items has room for their texts and for ten times as many counters. */
#define BYTES_FOR_LISTED 1024u

/* The memory is beside the state, because the state refers to it. */
struct state {
    tamis_memory memory;
    struct gather *g;
};

static MemoryContext context_of(FunctionCallInfo fcinfo)
{
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0)
        elog(ERROR, "tamis: this function is only for aggregates");
    return context;
}

static struct state *new_state(MemoryContext context)
{
    struct state *s = MemoryContextAlloc(context, sizeof *s);
    s->memory = pg_memory(context);
    return s;
}

/* --- Parameters ------------------------------------------------------------------------------- */

uint32_t pg_kind(const text *name)
{
    char *word = text_to_cstring(name);
    const uint32_t kind = strcmp(word, "auto") == 0 ? TAMIS_AUTO : tamis_kind_named(word);
    if (kind == TAMIS_AUTO && strcmp(word, "auto") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: there is no kind \"%s\"", word)));
    pfree(word);
    return kind;
}

static void need_parameters(FunctionCallInfo fcinfo, int from)
{
    for (int i = from; i < PG_NARGS(); i++)
        if (PG_ARGISNULL(i))
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                            errmsg("tamis: the parameters of the aggregate must not be NULL")));
}

static uint64_t whole(FunctionCallInfo fcinfo, int i, const char *name)
{
    const int64_t n = PG_GETARG_INT64(i);
    if (n <= 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: %s must be above 0", name)));
    return (uint64_t)n;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* What is the same for all rows, and is kept with the call. */
struct call {
    enum pg_class value;
    bool constant; /* the parameters: only the first row of a group has to read them */
};

/* Whether the arguments of the aggregate from this one on are constants. */
static bool has_constants(FunctionCallInfo fcinfo, int from)
{
    const Aggref *aggregate = AggGetAggref(fcinfo);
    if (from >= PG_NARGS()) return true;
    if (aggregate == NULL) return false; /* a window function */
    for (int i = from - 1; i < list_length(aggregate->args); i++)
        if (!IsA(((const TargetEntry *)list_nth(aggregate->args, i))->expr, Const)) return false;
    return true;
}

static const struct call *new_call(FunctionCallInfo fcinfo, int parameters)
{
    const struct call c = {pg_class_of(fcinfo, 1), has_constants(fcinfo, parameters)};
    struct call *kept = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof *kept);
    *kept = c;
    fcinfo->flinfo->fn_extra = kept;
    return kept;
}

/* Whether the state has been begun with these parameters, so that no plan has to be made. The
 * arguments from this one on are parameters. */
static inline bool is_begun(FunctionCallInfo fcinfo, int parameters)
{
    const struct call *call = fcinfo->flinfo->fn_extra;
    if (unlikely(call == NULL)) call = new_call(fcinfo, parameters);
    return call->constant && !PG_ARGISNULL(0);
}

/* Begins a state, or makes sure that it has this plan. */
static void begin(FunctionCallInfo fcinfo, const tamis_plan *plan)
{
    tamis_error why;
    if (!PG_ARGISNULL(0)) {
        const struct state *s = (const struct state *)PG_GETARG_POINTER(0);
        if (gather_has_plan(s->g, plan)) return;
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: the parameters must be the same in all rows of a group")));
    }
    struct state *s = new_state(context_of(fcinfo));
    const tamis_status status = gather_new(plan, PG_MOST, &s->memory, &s->g, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    fcinfo->args[0] = (NullableDatum){PointerGetDatum(s), false};
}

/* Adds the value of this row, unless it is NULL, to the state that has been begun. */
static inline Datum step(FunctionCallInfo fcinfo, int64_t weight)
{
    const struct call *call = fcinfo->flinfo->fn_extra;
    struct state *s = (struct state *)PG_GETARG_POINTER(0);
    char room[PG_VALUE_ROOM];
    struct sql_value v;
    tamis_bytes key;
    tamis_error why;
    if (PG_ARGISNULL(1)) PG_RETURN_POINTER(s);
    pg_value(call->value, PG_GETARG_DATUM(1), room, &v);
    sql_key(&v, TAMIS_KEYS_UNSTATED, 0, room, &key);
    const tamis_status status = gather_add(s->g, key, weight, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    PG_RETURN_POINTER(s);
}

static void begin_filter(FunctionCallInfo fcinfo)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    need_parameters(fcinfo, 2);
    plan.items = whole(fcinfo, 2, "items");
    plan.fpr = PG_GETARG_FLOAT8(3);
    if (!(plan.fpr > 0 && plan.fpr < 1)) /* 0 would mean that it is to be computed */
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: the false-positive rate must be above 0 and below 1")));
    if (PG_NARGS() > 4) plan.kind = pg_kind(PG_GETARG_TEXT_PP(4));
    if (plan.kind == TAMIS_VALUE_MAP)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("tamis: a map has a value for each key"), errhint("See tamis_map_agg.")));
    if (plan.kind >= TAMIS_COUNT_MIN)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: a %s is a sketch, not a filter", tamis_kind_name(plan.kind)),
                        errhint("See tamis_count_agg, tamis_top_agg and tamis_distinct_agg.")));
    begin(fcinfo, &plan);
}

/* (state, value, items, fpr [, kind]) */
PG_FUNCTION_INFO_V1(pg_tamis_filter_step);
Datum pg_tamis_filter_step(PG_FUNCTION_ARGS)
{
    if (!is_begun(fcinfo, 2)) begin_filter(fcinfo);
    return step(fcinfo, 1);
}

static void begin_seal(FunctionCallInfo fcinfo)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    need_parameters(fcinfo, 2);
    plan.kind = TAMIS_RIBBON;
    plan.fpr = PG_GETARG_FLOAT8(2);
    if (!(plan.fpr > 0 && plan.fpr < 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: the false-positive rate must be above 0 and below 1")));
    begin(fcinfo, &plan);
}

/* (state, value, fpr) */
PG_FUNCTION_INFO_V1(pg_tamis_seal_step);
Datum pg_tamis_seal_step(PG_FUNCTION_ARGS)
{
    if (!is_begun(fcinfo, 2)) begin_seal(fcinfo);
    return step(fcinfo, 1);
}

static void begin_map(FunctionCallInfo fcinfo)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    need_parameters(fcinfo, 3);
    plan.kind = TAMIS_VALUE_MAP;
    plan.fpr = PG_NARGS() > 3 ? PG_GETARG_FLOAT8(3) : DEFAULT_RATE;
    if (!(plan.fpr > 0 && plan.fpr <= 1))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("tamis: the false-positive rate of a map must be above 0 and at most 1")));
    const uint64_t bits = PG_NARGS() > 4 ? whole(fcinfo, 4, "value_bits") : 0;
    if (bits > SQL_VALUE_BITS)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: a value has 1 to %d bits", SQL_VALUE_BITS)));
    plan.cell_bits = (uint32_t)bits;
    begin(fcinfo, &plan);
}

/* (state, key, value [, fpr [, value_bits]]). A row without a value is ignored. */
PG_FUNCTION_INFO_V1(pg_tamis_map_step);
Datum pg_tamis_map_step(PG_FUNCTION_ARGS)
{
    if (!is_begun(fcinfo, 3)) begin_map(fcinfo);
    if (PG_ARGISNULL(2)) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
    return step(fcinfo, PG_GETARG_INT64(2));
}

static void begin_distinct(FunctionCallInfo fcinfo)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    need_parameters(fcinfo, 2);
    plan.kind = TAMIS_DISTINCT;
    plan.error = PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : DEFAULT_ERROR;
    begin(fcinfo, &plan);
}

/* (state, value [, error]) */
PG_FUNCTION_INFO_V1(pg_tamis_distinct_step);
Datum pg_tamis_distinct_step(PG_FUNCTION_ARGS)
{
    if (!is_begun(fcinfo, 2)) begin_distinct(fcinfo);
    return step(fcinfo, 1);
}

static void begin_count(FunctionCallInfo fcinfo)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    need_parameters(fcinfo, 3);
    plan.kind = TAMIS_TALLY;
    plan.bytes = PG_NARGS() > 3 ? whole(fcinfo, 3, "bytes") : DEFAULT_BYTES;
    begin(fcinfo, &plan);
}

/* (state, value [, weight [, bytes]]). A row without a weight is ignored. */
PG_FUNCTION_INFO_V1(pg_tamis_count_step);
Datum pg_tamis_count_step(PG_FUNCTION_ARGS)
{
    int64_t weight = 1;
    if (!is_begun(fcinfo, 3)) begin_count(fcinfo);
    if (PG_NARGS() > 2) {
        if (PG_ARGISNULL(2)) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
        weight = PG_GETARG_INT64(2);
    }
    if (weight < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tamis: a weight must not be negative")));
    return step(fcinfo, weight);
}

static void begin_top(FunctionCallInfo fcinfo)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    need_parameters(fcinfo, 2);
    plan.kind = TAMIS_TOP;
    plan.items = PG_NARGS() > 2 ? whole(fcinfo, 2, "k") : DEFAULT_LISTED;
    if (plan.items > UINT32_MAX)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("tamis: k is too big")));
    plan.bytes = Max(DEFAULT_BYTES, BYTES_FOR_LISTED * plan.items);
    begin(fcinfo, &plan);
}

/* (state, value [, k]) */
PG_FUNCTION_INFO_V1(pg_tamis_top_step);
Datum pg_tamis_top_step(PG_FUNCTION_ARGS)
{
    if (!is_begun(fcinfo, 2)) begin_top(fcinfo);
    return step(fcinfo, 1);
}

/* (state, tamis) */
PG_FUNCTION_INFO_V1(pg_tamis_union_step);
Datum pg_tamis_union_step(PG_FUNCTION_ARGS)
{
    struct state *s = PG_ARGISNULL(0) ? NULL : (struct state *)PG_GETARG_POINTER(0);
    tamis_error why;
    tamis_status status = TAMIS_OK;
    if (s == NULL) {
        s = new_state(context_of(fcinfo));
        status = gather_new_union(PG_MOST, &s->memory, &s->g, &why);
    }
    if (status == TAMIS_OK && !PG_ARGISNULL(1))
        status = gather_add_image(s->g, pg_image(PG_GETARG_DATUM(1)), &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    PG_RETURN_POINTER(s);
}

/* --- Parallel workers ------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pg_tamis_combine);
Datum pg_tamis_combine(PG_FUNCTION_ARGS)
{
    MemoryContext context = context_of(fcinfo);
    struct state *into = PG_ARGISNULL(0) ? NULL : (struct state *)PG_GETARG_POINTER(0);
    const struct state *from = PG_ARGISNULL(1) ? NULL : (struct state *)PG_GETARG_POINTER(1);
    tamis_error why;
    tamis_status status = TAMIS_OK;
    if (from == NULL && into == NULL) PG_RETURN_NULL();
    if (from == NULL) PG_RETURN_POINTER(into);
    if (into == NULL) {
        into = new_state(context);
        status = gather_like(from->g, &into->memory, &into->g, &why);
    }
    if (status == TAMIS_OK) status = gather_combine(into->g, from->g, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    PG_RETURN_POINTER(into);
}

static tamis_status copy_to(void *ctx, const void *bytes, size_t n)
{
    char **to = ctx;
    memcpy(*to, bytes, n);
    *to += n;
    return TAMIS_OK;
}

PG_FUNCTION_INFO_V1(pg_tamis_serialize);
Datum pg_tamis_serialize(PG_FUNCTION_ARGS)
{
    const struct state *s = (struct state *)PG_GETARG_POINTER(0);
    tamis_error why;
    context_of(fcinfo);
    const uint64_t size = gather_size(s->g);
    if (size > PG_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: a parallel worker has %llu bytes, but can send at most %llu",
                               (unsigned long long)size, (unsigned long long)PG_MOST),
                        errhint("Set max_parallel_workers_per_gather to 0.")));
    struct varlena *v = palloc(VARHDRSZ + size);
    char *to = VARDATA(v);
    const tamis_status status = gather_write(s->g, copy_to, &to, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    SET_VARSIZE(v, VARHDRSZ + size);
    return PointerGetDatum(v);
}

PG_FUNCTION_INFO_V1(pg_tamis_deserialize);
Datum pg_tamis_deserialize(PG_FUNCTION_ARGS)
{
    struct state *s = new_state(CurrentMemoryContext);
    tamis_error why;
    context_of(fcinfo);
    const tamis_status status = gather_read(pg_image(PG_GETARG_DATUM(0)), &s->memory, &s->g, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    PG_RETURN_POINTER(s);
}

/* --- Results ---------------------------------------------------------------------------------- */

/* The filter or sketch of a state; NULL if there is none, because there were no rows. */
static const tamis *result(FunctionCallInfo fcinfo, struct state **state)
{
    const tamis *t;
    bool overfull;
    tamis_error why;
    context_of(fcinfo);
    if (PG_ARGISNULL(0)) return NULL;
    *state = (struct state *)PG_GETARG_POINTER(0);
    const tamis_status status = gather_result((*state)->g, &t, &overfull, &why);
    if (status != TAMIS_OK) pg_fail(status, &why);
    if (overfull) pg_warn_overfull();
    return t;
}

PG_FUNCTION_INFO_V1(pg_tamis_final);
Datum pg_tamis_final(PG_FUNCTION_ARGS)
{
    struct state *s;
    const tamis *t = result(fcinfo, &s);
    if (t == NULL) PG_RETURN_NULL();
    const Datum image = pg_image_of(t);
    gather_forget_result(s->g);
    return image;
}

PG_FUNCTION_INFO_V1(pg_tamis_distinct_final);
Datum pg_tamis_distinct_final(PG_FUNCTION_ARGS)
{
    struct state *s;
    const tamis *t = result(fcinfo, &s);
    if (t == NULL) PG_RETURN_INT64(0);
    const int64_t n = pg_cardinality(t);
    gather_forget_result(s->g);
    PG_RETURN_INT64(n);
}

PG_FUNCTION_INFO_V1(pg_tamis_top_final);
Datum pg_tamis_top_final(PG_FUNCTION_ARGS)
{
    struct state *s = PG_ARGISNULL(0) ? NULL : (struct state *)PG_GETARG_POINTER(0);
    struct pg_list list = {.items = palloc(GATHER_FEW * sizeof *list.items)};
    const size_t most = s != NULL ? gather_plan(s->g)->items : 0;
    context_of(fcinfo);
    if (s != NULL && !gather_few(s->g, list.items, most, &list.n))
        list = pg_list_of(result(fcinfo, &s), most);
    const Datum array = pg_array_of(&list, get_fn_expr_rettype(fcinfo->flinfo));
    if (s != NULL) gather_forget_result(s->g);
    return array;
}
