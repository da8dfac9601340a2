/* Fills in the reason for a failure, as one line of text. */
#ifndef TAMIS_ERROR_H
#define TAMIS_ERROR_H

#include <tamis/tamis.h>

#if defined(__GNUC__)
#define TAMIS__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TAMIS__PRINTF(fmt, args)
#endif

/* Fills *why, which may be NULL, and returns status, so that callers can write `return
 * tamis__fail(...)`. */
tamis_status tamis__fail(tamis_error *why, tamis_status status, const char *format, ...)
    TAMIS__PRINTF(3, 4);

/* Fails with TAMIS_EUNSUPPORTED, and names a kind that has the operation. If this build lacks that
 * kind, the reason says so, and why->better_kind is 0. */
tamis_status tamis__unsupported(tamis_error *why, uint32_t better_kind, const char *format, ...)
    TAMIS__PRINTF(3, 4);

/* Whether `out` is NULL, which fails with TAMIS_EINVAL. The browser package always passes a
 * pointer, and does without the check. */
#ifdef TAMIS_LEAN
#define tamis__no_out(out, why) false
#define tamis__cannot_seal(why, reason) tamis__fail(why, TAMIS_EINVAL, reason)
#else
bool tamis__no_out(const void *out, tamis_error *why);

/* Fails a seal with TAMIS_EINVAL for a reason that no single key causes: why->offset is
 * UINT64_MAX. */
tamis_status tamis__cannot_seal(tamis_error *why, const char *reason);
#endif

/* Fails with TAMIS_ECORRUPT, and reports the offset of the fault in the image. */
tamis_status tamis__corrupt(tamis_error *why, uint64_t offset, const char *reason);

#endif
