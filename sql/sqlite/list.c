/* The most frequent items, as a table and as JSON.
 *
 *     SELECT item, count FROM tamis_list(:sketch, 10);
 *
 * The arguments are hidden columns, as in every table-valued function of SQLite. Their names begin
 * with an underscore, so that "FROM sketches, tamis_list(f, n)" is not ambiguous. An item is an
 * INTEGER if the keys are int64le, TEXT if it is UTF-8, and otherwise a BLOB, so that it can be
 * passed to tamis_estimate. It is NULL if the sketch had no room for it. */
#include "tamis_sqlite.h"

#include "../common/fail.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

tamis_status lite_list_of(const tamis *t, uint64_t most, struct lite_list *out, tamis_error *why)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(t, &f);
    *out = (struct lite_list){0};
    if (f.entries == 0)
        return sql_fail(why, TAMIS_EUNSUPPORTED, "a %s keeps no list of items; a top does",
                        tamis_kind_name(f.kind));
    size_t n = tamis_top(t, NULL, 0);
    if (n > most) n = (size_t)most;
    if (n == 0) return TAMIS_OK;
    out->items = sqlite3_malloc64(n * sizeof *out->items);
    if (out->items == NULL) return sql_fail(why, TAMIS_ENOMEM, "no memory");
    out->n = tamis_top(t, out->items, n);
    return TAMIS_OK;
}

/* Only the beginning of a long item is kept. */
static tamis_bytes kept_item(const tamis_heavy *h)
{
    return h->length > h->item.len ? sql_whole_characters(h->item) : h->item;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void append_text(sqlite3_str *to, tamis_bytes text)
{
    const char *p = text.p;
    for (size_t i = 0; i < text.len; i++) {
        if (p[i] == '"' || p[i] == '\\')
            sqlite3_str_appendf(to, "\\%c", p[i]);
        else if ((unsigned char)p[i] < 0x20)
            sqlite3_str_appendf(to, "\\u%04x", p[i]);
        else
            sqlite3_str_appendchar(to, 1, p[i]);
    }
}

/* An item that is not text is written as PostgreSQL writes it: \x and digits. */
static void append_item(sqlite3_str *to, tamis_bytes item)
{
    const uint8_t *p = item.p;
    if (item.p == NULL) {
        sqlite3_str_appendall(to, "null");
        return;
    }
    sqlite3_str_appendchar(to, 1, '"');
    if (sql_is_text(item)) {
        append_text(to, item);
    } else {
        sqlite3_str_appendall(to, "\\\\x");
        for (size_t i = 0; i < item.len; i++) sqlite3_str_appendf(to, "%02x", p[i]);
    }
    sqlite3_str_appendchar(to, 1, '"');
}

char *lite_list_json(const struct lite_list *list)
{
    sqlite3_str *to = sqlite3_str_new(NULL);
    sqlite3_str_appendall(to, "[");
    for (size_t i = 0; i < list->n; i++) {
        const tamis_heavy *h = &list->items[i];
        sqlite3_str_appendall(to, i != 0 ? ", {\"item\": " : "{\"item\": ");
        append_item(to, kept_item(h));
        sqlite3_str_appendf(to, ", \"count\": %lld, \"lower\": %lld, \"upper\": %lld}",
                            (long long)h->count.estimate, (long long)h->count.lower,
                            (long long)h->count.upper);
    }
    sqlite3_str_appendall(to, "]");
    return sqlite3_str_finish(to);
}

/* --- The table -------------------------------------------------------------------------------- */

enum { COLUMN_ITEM, COLUMN_COUNT, COLUMN_LOWER, COLUMN_UPPER, COLUMN_SKETCH, COLUMN_MOST };

struct list_table {
    sqlite3_vtab base; /* first, as SQLite requires */
    struct lite *lite;
};

struct list_cursor {
    sqlite3_vtab_cursor base;
    struct lite_image *image; /* which has the texts of the items */
    struct lite_list list;
    size_t at;
};

static int list_connect(sqlite3 *db, void *lite, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error)
{
    (void)argc;
    (void)argv;
    (void)error;
    int status =
        sqlite3_declare_vtab(db, "CREATE TABLE x(item, count INTEGER, lower INTEGER, upper INTEGER,"
                                 " _sketch HIDDEN, _most HIDDEN)");
    if (status == SQLITE_OK) status = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    if (status != SQLITE_OK) return status;
    struct list_table *table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->lite = lite;
    *out = &table->base;
    return SQLITE_OK;
}

static int list_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int table_error(sqlite3_vtab *table, const char *text)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("tamis_list: %s", text);
    return table->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* The arguments are equations with the hidden columns. If one of them is not known yet, because it
 * comes from another table of a join, that table must come first. */
static int list_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    int place[] = {-1, -1}, used = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const int argument = info->aConstraint[i].iColumn - COLUMN_SKETCH;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        place[argument] = i;
    }
    if (place[0] < 0) return table_error(table, "the argument is a sketch of kind top");
    for (int argument = 0; argument < 2; argument++) {
        if (place[argument] < 0) continue;
        info->aConstraintUsage[place[argument]].argvIndex = ++used;
        info->aConstraintUsage[place[argument]].omit = 1;
    }
    info->estimatedCost = 1000;
    info->estimatedRows = 100;
    return SQLITE_OK;
}

static int list_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    struct list_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static void clear_cursor(struct list_cursor *cursor)
{
    sqlite3_free(cursor->list.items);
    lite_release(cursor->image);
    cursor->list = (struct lite_list){0};
    cursor->image = NULL;
    cursor->at = 0;
}

static int list_close(sqlite3_vtab_cursor *base)
{
    clear_cursor((struct list_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static tamis_status read_most(int n, sqlite3_value **v, uint64_t *out, tamis_error *why)
{
    *out = UINT64_MAX;
    if (n < 2) return TAMIS_OK;
    if (sqlite3_value_type(v[1]) != SQLITE_INTEGER || sqlite3_value_int64(v[1]) < 0)
        return sql_fail(why, TAMIS_EINVAL,
                        "the number of items must be an INTEGER, and not "
                        "negative");
    *out = (uint64_t)sqlite3_value_int64(v[1]);
    return TAMIS_OK;
}

static int list_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int n,
                       sqlite3_value **v)
{
    (void)plan;
    (void)text;
    struct list_cursor *cursor = (struct list_cursor *)base;
    const struct list_table *table = (struct list_table *)base->pVtab;
    uint64_t most;
    tamis_error why;
    clear_cursor(cursor);
    for (int i = 0; i < n; i++)
        if (lite_is_null(v[i])) return SQLITE_OK;
    tamis_status s = read_most(n, v, &most, &why);
    if (s == TAMIS_OK) s = lite_image_of(table->lite, v[0], &cursor->image, &why);
    if (s == TAMIS_OK) s = lite_list_of(cursor->image->t, most, &cursor->list, &why);
    if (s == TAMIS_OK) return SQLITE_OK;
    return s == TAMIS_ENOMEM ? SQLITE_NOMEM : table_error(base->pVtab, why.text);
}

static int list_next(sqlite3_vtab_cursor *base)
{
    ((struct list_cursor *)base)->at++;
    return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *base)
{
    const struct list_cursor *cursor = (struct list_cursor *)base;
    return cursor->at >= cursor->list.n;
}

static void result_item(sqlite3_context *ctx, tamis_bytes item, uint32_t encoding)
{
    const uint8_t *p = item.p;
    uint64_t n = 0;
    if (p == NULL) return;
    if (encoding == TAMIS_KEYS_INT64 && item.len == 8) {
        for (int i = 0; i < 8; i++) n |= (uint64_t)p[i] << 8 * i;
        sqlite3_result_int64(ctx, (sqlite3_int64)n);
    } else if (sql_is_text(item)) {
        sqlite3_result_text64(ctx, item.p, item.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
        sqlite3_result_blob64(ctx, item.p, item.len, SQLITE_TRANSIENT);
    }
}

static int list_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
    const struct list_cursor *cursor = (struct list_cursor *)base;
    const tamis_heavy *h = &cursor->list.items[cursor->at];
    switch (column) {
    case COLUMN_ITEM: result_item(ctx, kept_item(h), cursor->image->encoding); break;
    case COLUMN_COUNT: sqlite3_result_int64(ctx, h->count.estimate); break;
    case COLUMN_LOWER: sqlite3_result_int64(ctx, h->count.lower); break;
    case COLUMN_UPPER: sqlite3_result_int64(ctx, h->count.upper); break;
    default: break;
    }
    return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct list_cursor *)base)->at + 1;
    return SQLITE_OK;
}

/* Without xCreate, the table exists only under its own name. */
static const sqlite3_module list_module = {
    .xConnect = list_connect,
    .xBestIndex = list_plan,
    .xDisconnect = list_disconnect,
    .xOpen = list_open,
    .xClose = list_close,
    .xFilter = list_filter,
    .xNext = list_next,
    .xEof = list_eof,
    .xColumn = list_column,
    .xRowid = list_rowid,
};

int lite_register_list(struct lite *c)
{
    return sqlite3_create_module_v2(c->db, "tamis_list", &list_module, lite_ref(c), lite_unref);
}
