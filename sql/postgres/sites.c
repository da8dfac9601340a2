/* A filter that is verified once for a whole scan.
 *
 * A function keeps the filter of its last call in fn_extra, with a copy of its image. The next call
 * has the same filter if its argument
 *   - is the same TOAST pointer in the same transaction; or
 *   - has the same bytes. Those of different filters nearly always differ in the header, which
 *     contains a checksum over all checksums. It would not do by itself: it is not cryptographic,
 *     so somebody could make an image with the header of another one, and his row must not change
 *     the answers about somebody else's.
 * To compare a big image with every row would take longer than to query it. PostgreSQL stores
 * images of more than 8 KB outside of the row, so a big one that is not a TOAST pointer was
 * computed: it is a constant, a parameter or the result of a subquery, which stays where it is
 * while a statement runs. For these the address and the header are enough, in one statement. For a
 * column or a function an address would identify nothing, because the memory of one row is used
 * again for the next. */
#include "tamis_pg.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#include "access/detoast.h"
#include "access/xact.h"
#include "nodes/primnodes.h"
#include "storage/proc.h"

#if PG_VERSION_NUM >= 170000
#define LOCAL_TRANSACTION (MyProc->vxid.lxid)
#else
#define LOCAL_TRANSACTION (MyProc->lxid)
#endif

enum { HEADER = 128 };
#define MOST_IN_ROW 8192u

struct kept {
    struct pg_site site;
    MemoryContext context; /* of the filter */
    tamis_memory memory;
    LocalTransactionId transaction;
    bool on_disk; /* the argument was this pointer */
    struct varatt_external pointer;
    bool is_fixed; /* the argument is a constant or a parameter */
    const void *address;
    TimestampTz statement;
    tamis_bytes image; /* a copy in the context */
};

/* Whether the first argument of the call is a constant or a parameter, perhaps under a cast. */
static bool has_fixed_argument(const FmgrInfo *f)
{
    const Node *call = (const Node *)f->fn_expr, *first = NULL;
    if (call != NULL && IsA(call, FuncExpr)) first = linitial(((const FuncExpr *)call)->args);
    if (call != NULL && IsA(call, OpExpr)) first = linitial(((const OpExpr *)call)->args);
    while (first != NULL && IsA(first, RelabelType))
        first = (const Node *)((const RelabelType *)first)->arg;
    return first != NULL && (IsA(first, Const) || IsA(first, Param));
}

static struct kept *kept_of(FunctionCallInfo fcinfo)
{
    FmgrInfo *f = fcinfo->flinfo;
    if (f->fn_extra == NULL) {
        struct kept *k = MemoryContextAllocZero(f->fn_mcxt, sizeof *k);
        k->site.value = pg_class_of(fcinfo, 1);
        k->is_fixed = has_fixed_argument(f);
        k->context = AllocSetContextCreate(f->fn_mcxt, "tamis filter", ALLOCSET_SMALL_SIZES);
        f->fn_extra = k;
    }
    return f->fn_extra;
}

static bool is_same_pointer(const struct kept *k, const struct varlena *v)
{
    struct varatt_external pointer;
    VARATT_EXTERNAL_GET_POINTER(pointer, v);
    return k->on_disk && k->transaction == LOCAL_TRANSACTION &&
           memcmp(&pointer, &k->pointer, sizeof pointer) == 0;
}

static bool is_same_image(const struct kept *k, tamis_bytes image)
{
    if (image.len != k->image.len || memcmp(image.p, k->image.p, HEADER) != 0) return false;
    if (k->is_fixed && image.len > MOST_IN_ROW && image.p == k->address &&
        k->transaction == LOCAL_TRANSACTION && k->statement == GetCurrentStatementStartTimestamp())
        return true;
    return memcmp(image.p, k->image.p, image.len) == 0;
}

static void keep(struct kept *k, const struct varlena *argument, tamis_bytes image)
{
    tamis_error why;
    tamis *t;
    tamis_facts f = TAMIS_FACTS_INIT;
    k->site.t = NULL;
    MemoryContextReset(k->context);
    k->memory = pg_memory(k->context);
    const tamis_status s = sql_open(image, PG_MOST, &k->memory, &t, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    tamis_stat(t, &f);
    k->site.encoding = f.encoding;
    k->site.width = f.key_width;
    k->transaction = LOCAL_TRANSACTION;
    k->on_disk = VARATT_IS_EXTERNAL_ONDISK(argument);
    if (k->on_disk) {
        VARATT_EXTERNAL_GET_POINTER(k->pointer, argument);
    } else {
        char *copy = MemoryContextAllocHuge(k->context, image.len);
        memcpy(copy, image.p, image.len);
        k->image = (tamis_bytes){copy, image.len};
        k->address = image.p;
        k->statement = GetCurrentStatementStartTimestamp();
    }
    k->site.t = t;
}

const struct pg_site *pg_site(FunctionCallInfo fcinfo)
{
    struct kept *k = kept_of(fcinfo);
    struct varlena *v = (struct varlena *)PG_GETARG_POINTER(0);
    if (k->site.t != NULL && VARATT_IS_EXTERNAL_ONDISK(v) && is_same_pointer(k, v)) return &k->site;
    struct varlena *whole = pg_detoast_datum_packed(v);
    const tamis_bytes image = {VARDATA_ANY(whole), VARSIZE_ANY_EXHDR(whole)};
    if (k->site.t == NULL || k->on_disk || VARATT_IS_EXTERNAL_ONDISK(v) || !is_same_image(k, image))
        keep(k, v, image);
    if (whole != v) pfree(whole);
    return &k->site;
}

tamis_bytes pg_site_key(const struct pg_site *s, Datum value, char room[PG_VALUE_ROOM])
{
    struct sql_value v;
    tamis_bytes key;
    pg_value(s->value, value, room, &v);
    const char *wrong = sql_key(&v, s->encoding, s->width, room, &key);
    if (wrong != NULL)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("tamis: %s", wrong)));
    return key;
}
