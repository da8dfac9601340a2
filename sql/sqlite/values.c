#include "tamis_sqlite.h"

#include "../common/fail.h"

#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

bool lite_is_null(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_NULL && sqlite3_value_pointer(v, LITE_POINTER) == NULL;
}

static tamis_status text_of(sqlite3_value *v, tamis_bytes *out, tamis_error *why)
{
    out->p = sqlite3_value_text(v); /* before the length: it may convert from UTF-16 */
    out->len = (size_t)sqlite3_value_bytes(v);
    return out->p != NULL ? TAMIS_OK : sql_fail(why, TAMIS_ENOMEM, "no memory");
}

tamis_status lite_blob(sqlite3_value *v, tamis_bytes *out, tamis_error *why)
{
    out->p = sqlite3_value_blob(v);
    out->len = (size_t)sqlite3_value_bytes(v);
    if (out->p == NULL && out->len != 0) return sql_fail(why, TAMIS_ENOMEM, "no memory");
    return TAMIS_OK;
}

tamis_status lite_value(sqlite3_value *v, struct sql_value *out, tamis_error *why)
{
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        out->type = SQL_INTEGER;
        out->integer = sqlite3_value_int64(v);
        return TAMIS_OK;
    case SQLITE_TEXT: out->type = SQL_TEXT; return text_of(v, &out->bytes, why);
    case SQLITE_BLOB: out->type = SQL_BYTES; return lite_blob(v, &out->bytes, why);
    default:
        return sql_fail(why, TAMIS_EINVAL,
                        "a REAL has no agreed key: cast it to TEXT or INTEGER, in the same way "
                        "wherever it is added and looked up");
    }
}

/* --- Parameters ------------------------------------------------------------------------------- */

/* Powers of ten are often written as 1e6, which is a REAL. */
tamis_status lite_whole(sqlite3_value *v, const char *name, uint64_t *out, tamis_error *why)
{
    const int type = sqlite3_value_type(v);
    const double real = type == SQLITE_FLOAT ? sqlite3_value_double(v) : 0;
    int64_t n = type == SQLITE_INTEGER ? sqlite3_value_int64(v) : 0;
    if (type != SQLITE_INTEGER &&
        (type != SQLITE_FLOAT || !(fabs(real) < 9e18) || real != floor(real)))
        return sql_fail(why, TAMIS_EINVAL, "%s must be a whole number", name);
    if (type == SQLITE_FLOAT) n = (int64_t)real;
    if (n <= 0) return sql_fail(why, TAMIS_EINVAL, "%s must be above 0", name);
    *out = (uint64_t)n;
    return TAMIS_OK;
}

tamis_status lite_real(sqlite3_value *v, const char *name, double *out, tamis_error *why)
{
    const int type = sqlite3_value_type(v);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return sql_fail(why, TAMIS_EINVAL, "%s must be a number", name);
    *out = sqlite3_value_double(v);
    /* To the library, 0 would mean that it is to be computed. */
    if (!(*out > 0)) return sql_fail(why, TAMIS_EINVAL, "%s must be above 0", name);
    return TAMIS_OK;
}

tamis_status lite_rate(sqlite3_value *v, double *out, tamis_error *why)
{
    const tamis_status s = lite_real(v, "the false-positive rate", out, why);
    if (s == TAMIS_OK && *out < 1) return TAMIS_OK;
    return sql_fail(why, TAMIS_EINVAL, "the false-positive rate must be above 0 and below 1");
}

tamis_status lite_map_rate(sqlite3_value *v, double *out, tamis_error *why)
{
    const tamis_status s = lite_real(v, "the false-positive rate", out, why);
    if (s != TAMIS_OK || *out <= 1) return s;
    return sql_fail(why, TAMIS_EINVAL, "the false-positive rate of a map must be at most 1");
}

/* Text without NUL. Sets *out only if there is nothing wrong. */
static tamis_status word_of(sqlite3_value *v, const char *name, const char **out, tamis_error *why)
{
    tamis_bytes text;
    if (sqlite3_value_type(v) != SQLITE_TEXT)
        return sql_fail(why, TAMIS_EINVAL, "%s must be TEXT", name);
    const tamis_status s = text_of(v, &text, why);
    if (s != TAMIS_OK) return s;
    if (strlen(text.p) != text.len) return sql_fail(why, TAMIS_EINVAL, "%s contains a NUL", name);
    *out = text.p;
    return TAMIS_OK;
}

tamis_status lite_kind(sqlite3_value *v, uint32_t *out, tamis_error *why)
{
    const char *name = "";
    const tamis_status s = word_of(v, "kind", &name, why);
    if (s != TAMIS_OK) return s;
    *out = tamis_kind_named(name);
    if (*out == TAMIS_AUTO && strcmp(name, "auto") != 0)
        return sql_fail(why, TAMIS_EINVAL, "there is no kind \"%.40s\"", name);
    return TAMIS_OK;
}

tamis_status lite_path(sqlite3_value *v, const char **out, tamis_error *why)
{
    return word_of(v, "the path", out, why);
}
