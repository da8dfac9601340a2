/* The entry points, and what they register. */
#include "tamis_sqlite.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

#define VISIBLE __attribute__((visibility("default")))
/* The first one that knows SQLITE_INNOCUOUS. */
#define OLDEST_SQLITE 3031000

VISIBLE int sqlite3_tamissqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);
VISIBLE int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

struct lite *lite_ref(struct lite *c)
{
    c->refs++;
    return c;
}

void lite_unref(void *lite)
{
    struct lite *c = lite;
    if (--c->refs != 0) return;
    lite_forget(c);
    sqlite3_free(c);
}

uint64_t lite_most(const struct lite *c)
{
    return (uint64_t)sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, -1);
}

/* SQLite calls it when a function is replaced, when the connection is closed, and if the function
 * cannot be registered. */
static void free_site(void *data)
{
    struct lite_site *site = data;
    lite_unref(site->lite);
    sqlite3_free(site);
}

static int register_one(struct lite *c, const struct lite_function *f)
{
    struct lite_site *site = sqlite3_malloc64(sizeof *site);
    if (site == NULL) return SQLITE_NOMEM;
    *site = (struct lite_site){lite_ref(c), f};
    const bool aggregate = f->final != NULL;
    return sqlite3_create_function_v2(c->db, f->name, f->arguments, SQLITE_UTF8 | f->flags, site,
                                      aggregate ? NULL : f->call, aggregate ? f->call : NULL,
                                      f->final, free_site);
}

static int register_all(struct lite *c)
{
    int status = SQLITE_OK;
    for (const struct lite_function *f = lite_functions; f->name != NULL && status == SQLITE_OK;
         f++)
        status = register_one(c, f);
    for (const struct lite_function *f = lite_aggregates; f->name != NULL && status == SQLITE_OK;
         f++)
        status = register_one(c, f);
    return status == SQLITE_OK ? lite_register_list(c) : status;
}

int sqlite3_tamissqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < OLDEST_SQLITE) {
        *error = sqlite3_mprintf("this is SQLite %s, and 3.31.0 is the oldest that can be used",
                                 sqlite3_libversion());
        return SQLITE_ERROR;
    }
    struct lite *c = sqlite3_malloc64(sizeof *c);
    if (c == NULL) return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    c->db = db;
    c->refs = 1;
    const int status = register_all(c);
    lite_unref(c);
    return status;
}

int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    return sqlite3_tamissqlite_init(db, error, api);
}
