/* Values of PostgreSQL as keys, by the rules of docs/KEYS.md. Values that are equal in SQL have the
 * same key, whatever the settings of the session: 1.0 and 1, and a time in two time zones. */
#include "tamis_pg.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

/* Keys are compared byte by byte. A collation by which other texts are equal as well would make a
 * "no" wrong. */
static void need_deterministic(Oid collation)
{
    if (!OidIsValid(collation) || get_collation_isdeterministic(collation)) return;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("tamis: texts of a nondeterministic collation have no agreed key"),
                    errhint("Add COLLATE \"C\" to compare byte by byte, or fold the text first.")));
}

/* The type of an argument before PostgreSQL passed it as text by itself. By this type values may be
 * equal that differ as texts, for example those of citext. */
static Oid type_of_argument(FmgrInfo *f, int argument)
{
    const Node *call = f->fn_expr;
    const List *arguments = call == NULL          ? NIL
                            : IsA(call, FuncExpr) ? ((const FuncExpr *)call)->args
                            : IsA(call, OpExpr)   ? ((const OpExpr *)call)->args
                                                  : NIL;
    if (argument < list_length(arguments)) {
        const Node *value = list_nth(arguments, argument);
        if (IsA(value, RelabelType) &&
            ((const RelabelType *)value)->relabelformat == COERCE_IMPLICIT_CAST)
            return exprType((const Node *)((const RelabelType *)value)->arg);
    }
    return get_fn_expr_argtype(f, argument);
}

enum pg_class pg_class_of(FunctionCallInfo fcinfo, int argument)
{
    const Oid type = type_of_argument(fcinfo->flinfo, argument);
    if (!OidIsValid(type))
        ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
                        errmsg("tamis: the type of the value is not known")));
    need_deterministic(PG_GET_COLLATION());
    switch (getBaseType(type)) {
    case TEXTOID:
    case VARCHAROID: return PG_TEXT;
    case BPCHAROID: return PG_BPCHAR;
    case NAMEOID: return PG_NAME;
    case BYTEAOID: return PG_BYTEA;
    case INT2OID: return PG_INT2;
    case INT4OID: return PG_INT4;
    case INT8OID: return PG_INT8;
    case NUMERICOID: return PG_NUMERIC;
    case UUIDOID: return PG_UUID;
    case DATEOID: return PG_DATE;
    case TIMESTAMPOID: return PG_TIMESTAMP;
    case TIMESTAMPTZOID: return PG_TIMESTAMPTZ;
    default: break;
    }
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("tamis: values of type %s have no agreed key", format_type_be(type)),
                    errhint("Cast the value to text, bytea, bigint, numeric, uuid, date or a "
                            "timestamp, in the same way wherever it is added and looked up.")));
    return PG_UNKNOWN;
}

static tamis_bytes utf8(const char *p, size_t n)
{
    if (GetDatabaseEncoding() == PG_UTF8) return (tamis_bytes){p, n};
    const char *converted = pg_server_to_any(p, (int)n, PG_UTF8);
    return (tamis_bytes){converted, converted == p ? n : strlen(converted)};
}

static tamis_bytes text_value(enum pg_class c, Datum d)
{
    if (c == PG_NAME) return utf8(NameStr(*DatumGetName(d)), strlen(NameStr(*DatumGetName(d))));
    struct varlena *v = PG_DETOAST_DATUM_PACKED(d);
    const char *p = VARDATA_ANY(v);
    size_t n = VARSIZE_ANY_EXHDR(v);
    if (c == PG_BYTEA) return (tamis_bytes){p, n};
    if (c == PG_BPCHAR) n = (size_t)bpchartruelen((char *)p, (int)n); /* without the padding */
    return utf8(p, n);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static bool read_integer(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text;
}

static void numeric_value(Datum d, struct sql_value *out)
{
    const Numeric number = DatumGetNumeric(d);
    if (numeric_is_nan(number)
#if PG_VERSION_NUM >= 140000
        || numeric_is_inf(number)
#endif
    )
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("tamis: NaN and infinity have no decimal text"),
                        errhint("Leave such rows out, or cast the value to text.")));
    const Datum trimmed = DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number));
    const char *text = DatumGetCString(DirectFunctionCall1(numeric_out, trimmed));
    out->type = read_integer(text, &out->integer) ? SQL_INTEGER : SQL_TEXT;
    out->bytes = (tamis_bytes){text, strlen(text)};
}

/* --- Times and UUIDs -------------------------------------------------------------------------- */

/* ISO 8601 writes years outside 0000 ... 9999 with a sign. The year 0 is 1 BC. */
static int put_date(char *to, int year, int month, int day)
{
    const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
    return snprintf(to, PG_VALUE_ROOM, "%s%04d-%02d-%02d", sign, abs(year), month, day);
}

static int put_time(char *to, int at, const struct pg_tm *tm, fsec_t microseconds, bool utc)
{
    int n = at + snprintf(to + at, (size_t)(PG_VALUE_ROOM - at), "T%02d:%02d:%02d", tm->tm_hour,
                          tm->tm_min, tm->tm_sec);
    if (microseconds != 0) {
        n += snprintf(to + n, (size_t)(PG_VALUE_ROOM - n), ".%06d", (int)microseconds);
        while (to[n - 1] == '0') n--;
    }
    if (utc) to[n++] = 'Z';
    return n;
}

pg_attribute_noreturn() static void fail_infinite(void)
{
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                    errmsg("tamis: an infinite date or timestamp has no ISO 8601 text"),
                    errhint("Leave such rows out, or cast the value to text.")));
    pg_unreachable();
}

static tamis_bytes date_value(DateADT date, char *room)
{
    int year, month, day;
    if (DATE_NOT_FINITE(date)) fail_infinite();
    j2date(date + POSTGRES_EPOCH_JDATE, &year, &month, &day);
    return (tamis_bytes){room, (size_t)put_date(room, year, month, day)};
}

/* Without a time zone, timestamp2tm leaves a time with time zone in UTC, as it is stored. */
static tamis_bytes timestamp_value(Timestamp time, bool utc, char *room)
{
    struct pg_tm tm;
    fsec_t microseconds;
    if (TIMESTAMP_NOT_FINITE(time) || timestamp2tm(time, NULL, &tm, &microseconds, NULL, NULL) != 0)
        fail_infinite();
    const int n = put_date(room, tm.tm_year, tm.tm_mon, tm.tm_mday);
    return (tamis_bytes){room, (size_t)put_time(room, n, &tm, microseconds, utc)};
}

static tamis_bytes uuid_value(const pg_uuid_t *uuid, char *room)
{
    static const char hex[] = "0123456789abcdef";
    char *to = room;
    for (int i = 0; i < UUID_LEN; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        *to++ = hex[uuid->data[i] >> 4];
        *to++ = hex[uuid->data[i] & 15];
    }
    return (tamis_bytes){room, (size_t)(to - room)};
}

void pg_other_value(enum pg_class c, Datum d, char room[PG_VALUE_ROOM], struct sql_value *out)
{
    out->type = SQL_TEXT;
    switch (c) {
    case PG_NUMERIC: numeric_value(d, out); return;
    case PG_UUID: out->bytes = uuid_value(DatumGetUUIDP(d), room); return;
    case PG_DATE: out->bytes = date_value(DatumGetDateADT(d), room); return;
    case PG_TIMESTAMP: out->bytes = timestamp_value(DatumGetTimestamp(d), false, room); return;
    case PG_TIMESTAMPTZ: out->bytes = timestamp_value(DatumGetTimestampTz(d), true, room); return;
    case PG_BYTEA: out->type = SQL_BYTES; /* fall through */
    default: out->bytes = text_value(c, d); return;
    }
}
