/* Reasons for failures, as one line of text. */
#ifndef TAMIS_ERROR_H
#define TAMIS_ERROR_H

#include <tamis/tamis.h>

#if defined(__GNUC__)
#define TAMIS__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TAMIS__PRINTF(fmt, args)
#endif

/* Fill *why (which may be NULL) and return status, so that callers write `return
 * tamis__fail(...)`. */
tamis_status tamis__fail(tamis_error *why, tamis_status status, const char *format, ...)
    TAMIS__PRINTF(3, 4);

/* TAMIS_EUNSUPPORTED, and a kind that can. */
tamis_status tamis__unsupported(tamis_error *why, uint32_t better_kind, const char *format, ...)
    TAMIS__PRINTF(3, 4);

/* Whether there is no place for what a call is to make, which is TAMIS_EINVAL. The page, which
 * always has one, does not ask. */
#ifdef TAMIS_LEAN
#define tamis__no_out(out, why) false
#define tamis__cannot_seal(why, reason) tamis__fail(why, TAMIS_EINVAL, reason)
#else
bool tamis__no_out(const void *out, tamis_error *why);

/* TAMIS_EINVAL of a seal, which no single key is to blame for. */
tamis_status tamis__cannot_seal(tamis_error *why, const char *reason);
#endif

/* TAMIS_ECORRUPT at a byte of the image. */
tamis_status tamis__corrupt(tamis_error *why, uint64_t offset, const char *reason);

#endif
