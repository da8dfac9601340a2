#include "tamis_sqlite.h"

#include "../common/fail.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* --- Memory ----------------------------------------------------------------------------------- */

/* SQLite aligns to 8 bytes, and the library expects what malloc guarantees. The byte before a block
 * is the distance to what SQLite returned. */
enum { ALIGNMENT = 16 };

static void *lite_alloc(void *ctx, size_t size)
{
    (void)ctx;
    if (size > SIZE_MAX - ALIGNMENT) return NULL;
    char *p = sqlite3_malloc64(size + ALIGNMENT);
    if (p == NULL) return NULL;
    const size_t distance = ALIGNMENT - (uintptr_t)p % ALIGNMENT;
    p[distance - 1] = (char)distance;
    return p + distance;
}

static void lite_free(void *ctx, void *p)
{
    (void)ctx;
    char *at = p;
    sqlite3_free(at - at[-1]);
}

const tamis_memory lite_memory = {.alloc = lite_alloc, .free = lite_free};

/* --- Results ---------------------------------------------------------------------------------- */

static void end_with(sqlite3_context *ctx, tamis_status s, char *text)
{
    if (s == TAMIS_ENOMEM || text == NULL)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_error(ctx, text, -1);
    sqlite3_free(text);
}

void lite_fail(sqlite3_context *ctx, tamis_status s, const tamis_error *why)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    end_with(ctx, s, sqlite3_mprintf("%s: %s", site->f->name, why->text));
}

void lite_fail_file(sqlite3_context *ctx, const char *path, tamis_status s, const tamis_error *why)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    if (path == NULL)
        lite_fail(ctx, s, why);
    else
        end_with(ctx, s, sqlite3_mprintf("%s: %s: %s", site->f->name, path, why->text));
}

tamis_status lite_reason(tamis_status s, tamis_error *why)
{
    return s == TAMIS_OK ? s : sql_fail(why, s, "%s", tamis_status_message(s));
}

void lite_text(sqlite3_context *ctx, char *text)
{
    if (text != NULL)
        sqlite3_result_text(ctx, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(ctx);
}
