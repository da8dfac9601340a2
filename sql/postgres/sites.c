/* A filter that is verified once for a whole scan.
 *
 * A function keeps the filter of its last call in fn_extra. The next call has the same filter if
 * its argument is the same TOAST pointer in the same transaction, or if the header of the image is
 * the same: it contains the root, a checksum over all checksums of the image. An address would not
 * do, because the memory of one row is used again for the next. */
#include "tamis_pg.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#include "access/detoast.h"
#include "storage/proc.h"

#if PG_VERSION_NUM >= 170000
#define LOCAL_TRANSACTION (MyProc->vxid.lxid)
#else
#define LOCAL_TRANSACTION (MyProc->lxid)
#endif

enum { HEADER = 128 };

struct kept {
    struct pg_site site;
    MemoryContext context; /* of the filter */
    tamis_memory memory;
    bool on_disk; /* pointer and transaction are those of the argument */
    struct varatt_external pointer;
    LocalTransactionId transaction;
    size_t size;
    char header[HEADER];
};

static struct kept *kept_of(FunctionCallInfo fcinfo)
{
    FmgrInfo *f = fcinfo->flinfo;
    if (f->fn_extra == NULL) {
        struct kept *k = MemoryContextAllocZero(f->fn_mcxt, sizeof *k);
        k->site.value = pg_class_of(fcinfo, 1);
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
    return image.len == k->size && memcmp(image.p, k->header, HEADER) == 0;
}

static void keep(struct kept *k, const struct varlena *argument, tamis_bytes image)
{
    tamis_error why;
    tamis *t;
    tamis_facts f = TAMIS_FACTS_INIT;
    k->site.t = NULL;
    k->size = 0;
    MemoryContextReset(k->context);
    k->memory = pg_memory(k->context);
    const tamis_status s = sql_open(image, PG_MOST, &k->memory, &t, &why);
    if (s != TAMIS_OK) pg_fail(s, &why);
    tamis_stat(t, &f);
    k->site.t = t;
    k->site.encoding = f.encoding;
    k->site.width = f.key_width;
    k->size = image.len;
    memcpy(k->header, image.p, HEADER); /* no image is shorter */
    k->on_disk = VARATT_IS_EXTERNAL_ONDISK(argument);
    if (k->on_disk) {
        VARATT_EXTERNAL_GET_POINTER(k->pointer, argument);
        k->transaction = LOCAL_TRANSACTION;
    }
}

const struct pg_site *pg_site(FunctionCallInfo fcinfo)
{
    struct kept *k = kept_of(fcinfo);
    struct varlena *v = (struct varlena *)PG_GETARG_POINTER(0);
    if (k->site.t != NULL && VARATT_IS_EXTERNAL_ONDISK(v) && is_same_pointer(k, v)) return &k->site;
    struct varlena *whole = pg_detoast_datum_packed(v);
    const tamis_bytes image = {VARDATA_ANY(whole), VARSIZE_ANY_EXHDR(whole)};
    if (k->site.t == NULL || VARATT_IS_EXTERNAL_ONDISK(v) || !is_same_image(k, image))
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
