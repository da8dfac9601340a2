#include "error.h"

#include "kind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tamis_status_message(tamis_status s)
{
    switch (s) {
    case TAMIS_OK: return "no error";
    case TAMIS_ENOMEM: return "not enough memory, or a limit was reached";
    case TAMIS_EINVAL: return "an argument is invalid";
    case TAMIS_EUNSUPPORTED: return "this kind of filter cannot do that";
    case TAMIS_EFULL: return "the filter is full";
    case TAMIS_EABSENT: return "the key is certainly not in the filter";
    case TAMIS_EMISMATCH: return "the filters differ in kind, shape, hash, seed or encoding";
    case TAMIS_ECORRUPT: return "not a complete, undamaged Tamis image";
    case TAMIS_EVERSION: return "written by a newer version of Tamis";
    case TAMIS_EKEY: return "the secret key is missing or wrong";
    case TAMIS_EIO: return "input/output error";
    case TAMIS_ESEALED: return "the filter is read-only";
    case TAMIS_EBUSY: return "another process is changing this file";
    }
    return "unknown status";
}

const char *tamis_version(void)
{
    return TAMIS_VERSION_STRING;
}

tamis_status tamis__fail(tamis_error *why, tamis_status status, const char *format, ...)
{
    if (why != NULL) {
        memset(why, 0, sizeof *why);
        why->status = status;
        va_list args;
        va_start(args, format);
        vsnprintf(why->text, sizeof why->text, format, args);
        va_end(args);
    }
    return status;
}

tamis_status tamis__unsupported(tamis_error *why, uint32_t better_kind, const char *format, ...)
{
    if (why != NULL) {
        va_list args;
        va_start(args, format);
        memset(why, 0, sizeof *why);
        vsnprintf(why->text, sizeof why->text, format, args);
        va_end(args);
        why->status = TAMIS_EUNSUPPORTED;
        const bool here = tamis__kind(better_kind) != NULL;
        why->better_kind = here ? better_kind : TAMIS_AUTO;
        const size_t used = strlen(why->text);
        snprintf(why->text + used, sizeof why->text - used, "; use the kind %s%s",
                 tamis_kind_name(better_kind), here ? "" : ", which is not in this build");
    }
    return TAMIS_EUNSUPPORTED;
}

#ifndef TAMIS_LEAN
bool tamis__no_out(const void *out, tamis_error *why)
{
    if (out == NULL) tamis__fail(why, TAMIS_EINVAL, "out must not be NULL");
    return out == NULL;
}

tamis_status tamis__cannot_seal(tamis_error *why, const char *reason)
{
    tamis__fail(why, TAMIS_EINVAL, "%s", reason);
    if (why != NULL) why->offset = UINT64_MAX;
    return TAMIS_EINVAL;
}
#endif

tamis_status tamis__corrupt(tamis_error *why, uint64_t offset, const char *reason)
{
    tamis__fail(why, TAMIS_ECORRUPT, "%s", reason);
    if (why != NULL) why->offset = offset;
    return TAMIS_ECORRUPT;
}
