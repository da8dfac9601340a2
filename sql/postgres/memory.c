/* Memory and errors of PostgreSQL for the library. */
#include "tamis_pg.h"

PG_MODULE_MAGIC;

/* The library wants memory that is aligned as by malloc, to 16 bytes; that of contexts is aligned
 * to 8. The 8 bytes before the aligned memory hold the address that the context knows. */
enum { ALIGNMENT = 16 };

static void *pg_alloc(void *ctx, size_t size)
{
    if (size > MaxAllocHugeSize - ALIGNMENT) return NULL;
    char *p =
        MemoryContextAllocExtended(ctx, size + ALIGNMENT, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (p == NULL) return NULL;
    char *aligned = (char *)TYPEALIGN(ALIGNMENT, p + sizeof p);
    memcpy(aligned - sizeof p, &p, sizeof p);
    return aligned;
}

static void pg_release(void *ctx, void *aligned)
{
    char *p;
    (void)ctx;
    memcpy(&p, (char *)aligned - sizeof p, sizeof p);
    pfree(p);
}

tamis_memory pg_memory(MemoryContext context)
{
    return (tamis_memory){.ctx = context, .alloc = pg_alloc, .free = pg_release};
}

static int code_of(tamis_status s)
{
    switch (s) {
    case TAMIS_ENOMEM: return ERRCODE_OUT_OF_MEMORY;
    case TAMIS_EINVAL: return ERRCODE_INVALID_PARAMETER_VALUE;
    case TAMIS_EUNSUPPORTED: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case TAMIS_EFULL: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case TAMIS_EMISMATCH: return ERRCODE_DATATYPE_MISMATCH;
    case TAMIS_ECORRUPT:
    case TAMIS_EVERSION: return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case TAMIS_EKEY: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case TAMIS_ESEALED: return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    default: return ERRCODE_DATA_EXCEPTION;
    }
}

void pg_fail(tamis_status s, const tamis_error *why)
{
    const char *text = why != NULL && why->text[0] != '\0' ? why->text : tamis_status_message(s);
    ereport(ERROR, (errcode(code_of(s)), errmsg("tamis: %s", text),
                    s == TAMIS_EKEY ? errhint("SQL has no place for a secret key. Query such a "
                                              "filter with the command or the library.")
                                    : 0));
    pg_unreachable();
}

void pg_warn_overfull(void)
{
    ereport(WARNING, (errmsg("tamis: the filter has more items than planned, so its "
                             "false-positive rate is higher than planned"),
                      errhint("tamis_info reports the rate. Plan more items.")));
}
