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

/* --- Errors ----------------------------------------------------------------------------------- */

void lite_fail(sqlite3_context *ctx, tamis_status s, const tamis_error *why)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    if (s == TAMIS_ENOMEM) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    char *text = sqlite3_mprintf("%s: %s", site->f->name, why->text);
    if (text == NULL) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    sqlite3_result_error(ctx, text, -1);
    sqlite3_free(text);
}

tamis_status lite_reason(tamis_status s, tamis_error *why)
{
    return s == TAMIS_OK ? s : sql_fail(why, s, "%s", tamis_status_message(s));
}
