/* Functions of filters and sketches. If an argument is NULL, so is the result. */
#include "tamis_sqlite.h"

#include "../common/fail.h"
#include "../common/json.h"

#include <math.h>
#include <string.h>
#include <tamis/distinct.h>
#include <tamis/publish.h>

SQLITE_EXTENSION_INIT3

static bool any_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++)
        if (lite_is_null(v[i])) return true;
    return false;
}

/* --- Queries ---------------------------------------------------------------------------------- */

static tamis_status key_of(sqlite3_value *v, uint32_t encoding, uint32_t width,
                           char room[SQL_KEY_ROOM], tamis_bytes *key, tamis_error *why)
{
    struct sql_value value;
    const tamis_status s = lite_value(v, &value, why);
    if (s != TAMIS_OK) return s;
    const char *wrong = sql_key(&value, encoding, width, room, key);
    return wrong == NULL ? s : sql_fail(why, TAMIS_EINVAL, "%s", wrong);
}

/* The key of a value in an image, which is NULL if the call has ended with an error. Returns the
 * image, or NULL as well. */
static struct lite_image *with_key(sqlite3_context *ctx, struct lite_image *o, sqlite3_value *v,
                                   char room[SQL_KEY_ROOM], tamis_bytes *key)
{
    tamis_error why;
    if (o == NULL) return NULL;
    tamis_status s = key_of(v, o->encoding, o->width, room, key, &why);
    /* Otherwise every answer would be "maybe". */
    if (s == TAMIS_OK && o->caller_hashes)
        s = sql_fail(&why, TAMIS_EUNSUPPORTED,
                     "the keys were hashed by the program that made this image");
    if (s == TAMIS_OK) return o;
    lite_fail(ctx, s, &why);
    lite_release(o);
    return NULL;
}

static void contains(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    char room[SQL_KEY_ROOM];
    tamis_bytes key, blob;
    if (any_null(n, v)) return;
    struct lite_image *o = with_key(ctx, lite_likely(ctx, v[0], &blob), v[1], room, &key);
    if (o == NULL) return;
    bool yes = tamis_may_contain(o->t, key.p, key.len);
    if (blob.p != NULL && !lite_confirms(site->lite, blob, key, yes)) {
        lite_release(o);
        o = with_key(ctx, lite_argument(ctx, 0, v[0]), v[1], room, &key);
        if (o == NULL) return;
        yes = tamis_may_contain(o->t, key.p, key.len);
    }
    sqlite3_result_int(ctx, yes);
    lite_release(o);
}

/* NULL for a key that is certainly not in the map. */
static void value_of(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    char room[SQL_KEY_ROOM];
    tamis_bytes key;
    tamis_error why;
    uint32_t value;
    uint8_t found;
    if (any_null(n, v)) return;
    struct lite_image *o = with_key(ctx, lite_argument(ctx, 0, v[0]), v[1], room, &key);
    if (o == NULL) return;
    const tamis_status s = tamis_value_many(o->t, &key, 1, &value, &found, &why);
    if (s != TAMIS_OK)
        lite_fail(ctx, s, &why);
    else if ((found & 1) != 0)
        sqlite3_result_int64(ctx, value);
    lite_release(o);
}

/* Returns false if the call has ended with NULL or with an error. */
static bool estimated(sqlite3_context *ctx, int n, sqlite3_value **v, tamis_estimate *e)
{
    char room[SQL_KEY_ROOM];
    tamis_bytes key;
    tamis_error why;
    if (any_null(n, v)) return false;
    struct lite_image *o = with_key(ctx, lite_argument(ctx, 0, v[0]), v[1], room, &key);
    if (o == NULL) return false;
    const tamis_status s = tamis_count(o->t, key.p, key.len, e, &why);
    if (s != TAMIS_OK) lite_fail(ctx, s, &why);
    lite_release(o);
    return s == TAMIS_OK;
}

static void estimate(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    tamis_estimate e;
    if (estimated(ctx, n, v, &e)) sqlite3_result_int64(ctx, e.estimate);
}

static void estimate_bounds(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    tamis_estimate e;
    if (!estimated(ctx, n, v, &e)) return;
    lite_text(ctx, sqlite3_mprintf("{\"count\": %lld, \"lower\": %lld, \"upper\": %lld}",
                                   (long long)e.estimate, (long long)e.lower, (long long)e.upper));
}

/* --- Facts ------------------------------------------------------------------------------------ */

tamis_status lite_count_distinct(const tamis *t, int64_t *out, tamis_error *why)
{
    tamis_cardinality number = TAMIS_CARDINALITY_INIT;
    const tamis_status s = tamis_distinct(t, &number, why);
    if (s != TAMIS_OK) return s;
    /* Only bits that somebody chose amount to 2^63 or more. */
    if (!(number.value < 9.2e18))
        return sql_fail(why, TAMIS_EFULL, "it is too full to estimate how many keys it has");
    *out = llround(number.value);
    return s;
}

static void cardinality(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    tamis_error why;
    int64_t number;
    if (any_null(n, v)) return;
    struct lite_image *o = lite_argument(ctx, 0, v[0]);
    if (o == NULL) return;
    const tamis_status s = lite_count_distinct(o->t, &number, &why);
    if (s == TAMIS_OK)
        sqlite3_result_int64(ctx, number);
    else
        lite_fail(ctx, s, &why);
    lite_release(o);
}

static void info(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    char text[SQL_JSON_ROOM];
    tamis_error why;
    if (any_null(n, v)) return;
    struct lite_image *o = lite_argument(ctx, 0, v[0]);
    if (o == NULL) return;
    const tamis_status s = sql_info_json(o->t, text, &why);
    if (s == TAMIS_OK)
        sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
    else
        lite_fail(ctx, s, &why);
    lite_release(o);
}

/* The library does not compare a handle with itself, which both arguments are if they are equal. */
static tamis_status compared(const struct lite_image *a, const struct lite_image *b, char *text,
                             tamis_error *why)
{
    tamis *copy = NULL;
    tamis_status s = a == b ? tamis_copy(b->t, &copy, why) : TAMIS_OK;
    if (s == TAMIS_OK) s = sql_compare_json(a->t, a == b ? copy : b->t, text, why);
    tamis_close(copy);
    return s;
}

static void compare(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    char text[SQL_JSON_ROOM];
    tamis_error why;
    if (any_null(n, v)) return;
    struct lite_image *a = lite_argument(ctx, 0, v[0]);
    struct lite_image *b = a != NULL ? lite_argument(ctx, 1, v[1]) : NULL;
    if (b != NULL) {
        const tamis_status s = compared(a, b, text, &why);
        if (s == TAMIS_OK)
            sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
        else
            lite_fail(ctx, s, &why);
    }
    lite_release(a);
    lite_release(b);
}

static void version(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    sqlite3_result_text(ctx, tamis_version(), -1, SQLITE_STATIC);
}

/* --- Changes, which make a new image ---------------------------------------------------------- */

/* Ends a call with the image of t, unless it holds far too much, and closes t, which may be NULL
 * after a failure. */
static void changed(sqlite3_context *ctx, tamis_status s, tamis *t, tamis_error *why)
{
    bool overfull;
    if (s == TAMIS_OK) s = sql_judge(t, &overfull, why);
    if (s == TAMIS_OK)
        lite_result(ctx, t);
    else
        lite_fail(ctx, s, why);
    tamis_close(t);
}

static tamis_status add_value(tamis *t, int n, sqlite3_value **v, tamis_error *why)
{
    char room[SQL_KEY_ROOM];
    tamis_bytes key;
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(t, &f);
    const tamis_status s = key_of(v[1], f.encoding, f.key_width, room, &key, why);
    if (s != TAMIS_OK) return s;
    if (n < 3) return lite_reason(tamis_add(t, key.p, key.len, NULL), why);
    if (sqlite3_value_type(v[2]) != SQLITE_INTEGER)
        return sql_fail(why, TAMIS_EINVAL, "the weight must be an INTEGER");
    return tamis_add_weight(t, key.p, key.len, sqlite3_value_int64(v[2]), why);
}

static void add(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    tamis *t = NULL;
    tamis_error why;
    if (any_null(n, v)) return;
    tamis_status s = lite_open(site->lite, v[0], &t, &why);
    if (s == TAMIS_OK) s = add_value(t, n, v, &why);
    changed(ctx, s, t, &why);
}

static void merge(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    tamis *t = NULL;
    tamis_error why;
    if (any_null(n, v)) return;
    struct lite_image *o = lite_argument(ctx, 1, v[1]);
    if (o == NULL) return;
    tamis_status s = lite_open(site->lite, v[0], &t, &why);
    if (s == TAMIS_OK) s = tamis_merge(t, o->t, &why);
    changed(ctx, s, t, &why);
    lite_release(o);
}

/* (kind [, items [, fpr [, bytes [, error]]]]); NULL as if left out. */
static tamis_status empty_plan(int n, sqlite3_value **v, tamis_plan *plan, tamis_error *why)
{
    tamis_status s = lite_kind(v[0], &plan->kind, why);
    if (s == TAMIS_OK && n > 1 && !lite_is_null(v[1]))
        s = lite_whole(v[1], "items", &plan->items, why);
    if (s == TAMIS_OK && n > 2 && !lite_is_null(v[2])) s = lite_rate(v[2], &plan->fpr, why);
    if (s == TAMIS_OK && n > 3 && !lite_is_null(v[3]))
        s = lite_whole(v[3], "bytes", &plan->bytes, why);
    if (s == TAMIS_OK && n > 4 && !lite_is_null(v[4]))
        s = lite_real(v[4], "error", &plan->error, why);
    return s;
}

static void empty(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    tamis_plan plan = TAMIS_PLAN_INIT;
    struct gather *g = NULL;
    const tamis *t = NULL;
    bool overfull;
    tamis_error why;
    if (lite_is_null(v[0])) return;
    tamis_status s = empty_plan(n, v, &plan, &why);
    if (s == TAMIS_OK) s = gather_new(&plan, lite_most(site->lite), &lite_memory, &g, &why);
    if (s == TAMIS_OK) s = gather_result(g, &t, &overfull, &why);
    if (s == TAMIS_OK)
        lite_result(ctx, t);
    else
        lite_fail(ctx, s, &why);
    gather_free(g);
}

/* --- Images and files ------------------------------------------------------------------------- */

static void image(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    if (any_null(n, v)) return;
    struct lite_image *o = lite_argument(ctx, 0, v[0]);
    if (o == NULL) return;
    if (o->image.p != NULL)
        sqlite3_result_value(ctx, v[0]);
    else
        lite_result(ctx, o->t);
    lite_release(o);
}

/* Returns the number of bytes. */
static void save(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    void *owned = NULL;
    const char *path = NULL;
    tamis_bytes bytes;
    tamis_error why;
    if (any_null(n, v)) return;
    struct lite_image *o = lite_argument(ctx, 0, v[0]);
    if (o == NULL) return;
    tamis_status s = lite_path(v[1], &path, &why);
    if (s == TAMIS_OK) s = lite_bytes(site->lite, o, &bytes, &owned, &why);
    if (s == TAMIS_OK) s = tamis_write_file(path, bytes.p, bytes.len, NULL, &why);
    if (s == TAMIS_OK)
        sqlite3_result_int64(ctx, (sqlite3_int64)bytes.len);
    else
        lite_fail_file(ctx, path, s, &why);
    sqlite3_free(owned);
    lite_release(o);
}

/* --- The table -------------------------------------------------------------------------------- */

/* The schema of a hostile database must not reach files: triggers, views, constraints. SQLite 3.40
 * does not enforce that in CHECK constraints, unless the function is also deterministic. For these
 * two it means that a call with constant arguments is made at most once in a statement. */
enum {
    PURE = SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
    FILES = SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
};

const struct lite_function lite_functions[] = {
    {"tamis_contains", 2, PURE, contains, NULL, NULL},
    {"tamis_value", 2, PURE, value_of, NULL, NULL},
    {"tamis_estimate", 2, PURE, estimate, NULL, NULL},
    {"tamis_estimate_bounds", 2, PURE, estimate_bounds, NULL, NULL},
    {"tamis_cardinality", 1, PURE, cardinality, NULL, NULL},
    {"tamis_info", 1, PURE, info, NULL, NULL},
    {"tamis_compare", 2, PURE, compare, NULL, NULL},
    {"tamis_add", 2, PURE, add, NULL, NULL},
    {"tamis_add", 3, PURE, add, NULL, NULL},
    {"tamis_merge", 2, PURE, merge, NULL, NULL},
    {"tamis_empty", 1, PURE, empty, NULL, NULL},
    {"tamis_empty", 2, PURE, empty, NULL, NULL},
    {"tamis_empty", 3, PURE, empty, NULL, NULL},
    {"tamis_empty", 4, PURE, empty, NULL, NULL},
    {"tamis_empty", 5, PURE, empty, NULL, NULL},
    {"tamis_image", 1, PURE, image, NULL, NULL},
    {"tamis_file", 1, FILES, lite_file, NULL, NULL},
    {"tamis_save", 2, FILES, save, NULL, NULL},
    /* It changes with the file that is loaded. */
    {"tamis_version", 0, SQLITE_INNOCUOUS, version, NULL, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};
