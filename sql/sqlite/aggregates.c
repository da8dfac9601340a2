/* Aggregates: what the rows of a group make. NULL is ignored. A group without rows gives NULL, and
 * one with nothing but NULL an empty filter or sketch. */
#include "tamis_sqlite.h"

#include "../common/fail.h"

SQLITE_EXTENSION_INIT3

/* The relative standard error of distinct sketches, in 8 KB. */
#define DEFAULT_ERROR 0.01
/* Those of the command. */
#define DEFAULT_BYTES ((uint64_t)1 << 20)
#define DEFAULT_LISTED 100
#define DEFAULT_RATE 0.01
/* A top of k items has room for their texts and for ten times as many counters. */
#define BYTES_FOR_LISTED 1024u

/* SQLite clears it when a group begins. */
struct group {
    struct gather *g;
    bool failed; /* The statement ends with an error, but it asks for the result nevertheless. */
};

/* --- Parameters ------------------------------------------------------------------------------- */

static tamis_status read_filter(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why)
{
    tamis_status s = lite_whole(v[1], "items", &row->plan.items, why);
    if (s == TAMIS_OK) s = lite_rate(v[2], &row->plan.fpr, why);
    if (s == TAMIS_OK && n > 3) s = lite_kind(v[3], &row->plan.kind, why);
    if (s == TAMIS_OK && row->plan.kind == TAMIS_VALUE_MAP)
        return sql_fail(why, TAMIS_EINVAL, "a map has a value for each key; see tamis_map_agg");
    if (s == TAMIS_OK && row->plan.kind >= TAMIS_COUNT_MIN)
        return sql_fail(why, TAMIS_EINVAL,
                        "a %s is a sketch, not a filter; see tamis_count_agg, tamis_top_agg and "
                        "tamis_distinct_agg",
                        tamis_kind_name(row->plan.kind));
    return s;
}

static tamis_status read_seal(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why)
{
    (void)n;
    row->plan.kind = TAMIS_RIBBON;
    return lite_rate(v[1], &row->plan.fpr, why);
}

/* (key, value [, fpr [, value_bits]]). A row without a value is ignored. */
static tamis_status read_map(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why)
{
    uint64_t bits = 0;
    row->plan.kind = TAMIS_VALUE_MAP;
    row->plan.fpr = DEFAULT_RATE;
    row->ignored = lite_is_null(v[1]);
    if (!row->ignored && sqlite3_value_type(v[1]) != SQLITE_INTEGER)
        return sql_fail(why, TAMIS_EINVAL, "the value of a key must be an INTEGER");
    row->weight = sqlite3_value_int64(v[1]);
    tamis_status s = n > 2 ? lite_map_rate(v[2], &row->plan.fpr, why) : TAMIS_OK;
    if (s == TAMIS_OK && n > 3) s = lite_whole(v[3], "value_bits", &bits, why);
    if (s == TAMIS_OK && bits > SQL_VALUE_BITS)
        return sql_fail(why, TAMIS_EINVAL, "a value has 1 to %d bits", SQL_VALUE_BITS);
    row->plan.cell_bits = (uint32_t)bits;
    return s;
}

static tamis_status read_distinct(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why)
{
    row->plan.kind = TAMIS_DISTINCT;
    row->plan.error = DEFAULT_ERROR;
    return n > 1 ? lite_real(v[1], "error", &row->plan.error, why) : TAMIS_OK;
}

static tamis_status read_count(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why)
{
    row->plan.kind = TAMIS_TALLY;
    row->plan.bytes = DEFAULT_BYTES;
    if (n > 1 && lite_is_null(v[1])) {
        row->ignored = true;
    } else if (n > 1) {
        if (sqlite3_value_type(v[1]) != SQLITE_INTEGER)
            return sql_fail(why, TAMIS_EINVAL, "a weight must be an INTEGER");
        row->weight = sqlite3_value_int64(v[1]);
        if (row->weight < 0) return sql_fail(why, TAMIS_EINVAL, "a weight must not be negative");
    }
    return n > 2 ? lite_whole(v[2], "bytes", &row->plan.bytes, why) : TAMIS_OK;
}

static tamis_status read_top(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why)
{
    uint64_t k = DEFAULT_LISTED;
    const tamis_status s = n > 1 ? lite_whole(v[1], "k", &k, why) : TAMIS_OK;
    if (s != TAMIS_OK) return s;
    if (k > UINT32_MAX) return sql_fail(why, TAMIS_EINVAL, "k is too big");
    row->plan.kind = TAMIS_TOP;
    row->plan.items = k;
    row->plan.bytes = BYTES_FOR_LISTED * k > DEFAULT_BYTES ? BYTES_FOR_LISTED * k : DEFAULT_BYTES;
    return s;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void fail_group(sqlite3_context *ctx, struct group *group, tamis_status s,
                       const tamis_error *why)
{
    group->failed = true;
    lite_fail(ctx, s, why);
}

static tamis_status add_row(struct lite *c, struct group *group, sqlite3_value *v,
                            const struct lite_row *row, tamis_error *why)
{
    char room[SQL_KEY_ROOM];
    struct sql_value value;
    tamis_bytes key;
    tamis_status s = TAMIS_OK;
    if (group->g == NULL)
        s = gather_new(&row->plan, lite_most(c), &lite_memory, &group->g, why);
    else if (!gather_has_plan(group->g, &row->plan))
        s = sql_fail(why, TAMIS_EINVAL, "the parameters must be the same in all rows of a group");
    if (s != TAMIS_OK || row->ignored || sqlite3_value_type(v) == SQLITE_NULL) return s;
    s = lite_value(v, &value, why);
    if (s != TAMIS_OK) return s;
    sql_key(&value, TAMIS_KEYS_UNSTATED, 0, room, &key);
    return gather_add(group->g, key, row->weight, why);
}

static void step(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    struct group *group = sqlite3_aggregate_context(ctx, (int)sizeof *group);
    struct lite_row row = {.plan = TAMIS_PLAN_INIT, .weight = 1};
    tamis_error why;
    if (group == NULL) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    tamis_status s = site->f->read(n, v, &row, &why);
    if (s == TAMIS_OK) s = add_row(site->lite, group, v[0], &row, &why);
    if (s != TAMIS_OK) fail_group(ctx, group, s, &why);
}

static void step_union(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    (void)n;
    const struct lite_site *site = sqlite3_user_data(ctx);
    struct group *group = sqlite3_aggregate_context(ctx, (int)sizeof *group);
    tamis_bytes image;
    void *owned = NULL;
    tamis_error why;
    tamis_status s = TAMIS_OK;
    if (group == NULL) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    if (lite_is_null(v[0])) return;
    if (group->g == NULL)
        s = gather_new_union(lite_most(site->lite), &lite_memory, &group->g, &why);
    if (s == TAMIS_OK) s = lite_raw(site->lite, v[0], &image, &owned, &why);
    if (s == TAMIS_OK) s = gather_add_image(group->g, image, &why);
    if (s != TAMIS_OK) fail_group(ctx, group, s, &why);
    sqlite3_free(owned);
}

/* --- Results ---------------------------------------------------------------------------------- */

/* The state of a group that has rows and has not failed; it is to be freed. */
static struct gather *state_of(sqlite3_context *ctx)
{
    struct group *group = sqlite3_aggregate_context(ctx, 0);
    if (group == NULL) return NULL;
    struct gather *g = group->g;
    group->g = NULL;
    if (!group->failed) return g;
    gather_free(g);
    return NULL;
}

/* NULL: there is none, or the call has ended with an error. */
static const tamis *result_of(sqlite3_context *ctx, struct gather *g)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    const tamis *t = NULL;
    bool overfull;
    tamis_error why;
    if (g == NULL) return NULL;
    const tamis_status s = gather_result(g, &t, &overfull, &why);
    if (s != TAMIS_OK) {
        lite_fail(ctx, s, &why);
        return NULL;
    }
    if (overfull)
        sqlite3_log(SQLITE_WARNING,
                    "%s: the filter has more items than planned, so its false-positive rate is "
                    "higher than planned (tamis_info): plan more items",
                    site->f->name);
    return t;
}

static void final_image(sqlite3_context *ctx)
{
    struct gather *g = state_of(ctx);
    const tamis *t = result_of(ctx, g);
    if (t != NULL) lite_result(ctx, t);
    gather_free(g);
}

static void final_count(sqlite3_context *ctx)
{
    int64_t number = 0;
    tamis_error why;
    struct gather *g = state_of(ctx);
    if (g == NULL) sqlite3_result_int64(ctx, 0);
    const tamis *t = result_of(ctx, g);
    if (t != NULL) {
        const tamis_status s = lite_count_distinct(t, &number, &why);
        if (s == TAMIS_OK)
            sqlite3_result_int64(ctx, number);
        else
            lite_fail(ctx, s, &why);
    }
    gather_free(g);
}

static void final_list(sqlite3_context *ctx)
{
    struct lite_list list = {0};
    tamis_error why;
    struct gather *g = state_of(ctx);
    if (g == NULL) sqlite3_result_text(ctx, "[]", -1, SQLITE_STATIC);
    if (g != NULL) list.items = sqlite3_malloc64(GATHER_FEW * sizeof *list.items);
    if (list.items != NULL && gather_few(g, list.items, gather_plan(g)->items, &list.n)) {
        lite_text(ctx, lite_list_json(&list));
        sqlite3_free(list.items);
        gather_free(g);
        return;
    }
    sqlite3_free(list.items);
    const tamis *t = result_of(ctx, g);
    if (t != NULL) {
        const tamis_status s = lite_list_of(t, gather_plan(g)->items, &list, &why);
        if (s == TAMIS_OK)
            lite_text(ctx, lite_list_json(&list));
        else
            lite_fail(ctx, s, &why);
    }
    sqlite3_free(list.items);
    gather_free(g);
}

/* --- The table -------------------------------------------------------------------------------- */

enum { PURE = SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

const struct lite_function lite_aggregates[] = {
    {"tamis_filter_agg", 3, PURE, step, final_image, read_filter},
    {"tamis_filter_agg", 4, PURE, step, final_image, read_filter},
    {"tamis_seal_agg", 2, PURE, step, final_image, read_seal},
    {"tamis_map_agg", 2, PURE, step, final_image, read_map},
    {"tamis_map_agg", 3, PURE, step, final_image, read_map},
    {"tamis_map_agg", 4, PURE, step, final_image, read_map},
    {"tamis_distinct_agg", 1, PURE, step, final_image, read_distinct},
    {"tamis_distinct_agg", 2, PURE, step, final_image, read_distinct},
    {"tamis_count_agg", 1, PURE, step, final_image, read_count},
    {"tamis_count_agg", 2, PURE, step, final_image, read_count},
    {"tamis_count_agg", 3, PURE, step, final_image, read_count},
    {"tamis_top_agg", 1, PURE, step, final_image, read_top},
    {"tamis_top_agg", 2, PURE, step, final_image, read_top},
    {"tamis_union_agg", 1, PURE, step_union, final_image, NULL},
    {"approx_count_distinct", 1, PURE, step, final_count, read_distinct},
    {"approx_top_k", 2, PURE, step, final_list, read_top},
    {NULL, 0, 0, NULL, NULL, NULL},
};
