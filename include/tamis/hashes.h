/* Keys that are hashed once for many filters, or by the caller.
 *
 *     tamis_hash h[N];
 *     if (tamis_hash_many(t, keys, N, h) != TAMIS_OK) ...
 *     tamis_may_contain_hashes(today, h, N, bits);      // each with the same seed
 *     tamis_may_contain_hashes(yesterday, h, N, more);
 *
 * tamis.h includes this header, and the rules at its top hold here. Bit arrays are those of
 * tamis_add_many. */
/* clang-format off */
#ifndef TAMIS_HASHES_H
#define TAMIS_HASHES_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_hash { uint64_t lo, hi; } tamis_hash;

/* Hashes keys, for any filters with the same hash and seed or secret key. Another thread may change
 * t meanwhile. TAMIS_EKEY: t lacks its secret key. TAMIS_EUNSUPPORTED: t has TAMIS_HASH_CALLER.  */
TAMIS_API tamis_status tamis_hash_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                       tamis_hash *out);
/* Adds hashes. Both halves must be uniform and independent: pass a 64-bit hash h as {h, mix(h)}
 * with a mix that is not linear, never as {h, 0} or {h, h}. Hashes that are clearly not uniform are
 * added, but set tamis_facts.hash_suspect, in saved images too, until tamis_clear; tamis_seal of a
 * sealed kind refuses them. docs/DESIGN.md ("Library") describes the check, which suspects uniform
 * hashes with a probability below 1e-9. TAMIS_EUNSUPPORTED: a top.                               */
TAMIS_API tamis_status tamis_add_hashes(tamis *t, const tamis_hash *h, size_t n,
                                        uint8_t *seen_bits, size_t *done);
/* Queries hashes, which are not checked. Returns how many may be members.                        */
TAMIS_API size_t tamis_may_contain_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          uint8_t *bits);
/* Removes hashes as tamis_remove_many removes keys, and excludes them as tamis_exclude_many.     */
TAMIS_API tamis_status tamis_remove_hashes(tamis *t, const tamis_hash *h, size_t n,
                                           uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_hashes(tamis *t, const tamis_hash *h, size_t n,
                                            tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
