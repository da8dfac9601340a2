/* Keys that are hashed once for many filters, or by the caller; and secret keys that many handles
 * share.
 *
 *     tamis_hash h = tamis_hash_bytes(0, "thisisavirus.com", 16);
 *     tamis_may_contain_hashes(today, &h, 1, NULL);       // 1 or 0, for any filters with seed 0
 *     tamis_may_contain_hashes(yesterday, &h, 1, NULL);
 *
 *     // A database has hashes of 64 bits already.
 *     tamis_add_hash64(t, column_hashes, rows, NULL, NULL);
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

/* --- Hashes of 128 bits ----------------------------------------------------------------------- */
typedef struct tamis_hash { uint64_t lo, hi; } tamis_hash;

/* Hashes a key as every filter with this seed and without a secret key does: with XXH3-128.      */
TAMIS_API tamis_hash tamis_hash_bytes(uint64_t seed, const void *key, size_t len);
/* Hashes keys, for any filters with the same hash and seed or secret key. Another thread may change
 * t meanwhile. TAMIS_EKEY: t lacks its secret key. TAMIS_EUNSUPPORTED: t has TAMIS_HASH_CALLER.
 * TAMIS_EINVAL: a key has a length that the encoding of t excludes; then nothing is written.     */
TAMIS_API tamis_status tamis_hash_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                       tamis_hash *out);
/* Adds hashes. Both halves must be uniform and independent: pass a 64-bit hash h as tamis_hash64(h)
 * makes it, never as {h, 0} or {h, h}. Hashes that are clearly not uniform are
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

/* --- Hashes of 64 bits, which databases and hash tables have already -----------------------------
 * Makes 128 bits of a 64-bit hash. Images depend on this function, so it never changes. Its input
 * should be uniform. It mixes the bits well, so that hashes of which some bits are equal (those of
 * one partition, or of a table's bucket) and even consecutive integers are good enough for every
 * kind. Keys with equal 64-bit hashes are one key: among n keys, that gives another one a "maybe"
 * with a probability of n / 2^64.                                                                */
static inline tamis_hash tamis_hash64(uint64_t hash)
{
    uint64_t x = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    tamis_hash h = {x * 0x9e3779b97f4a7c15u, x * 0xd6e8feb86659fd93u};
    h.lo ^= h.lo >> 29;
    h.hi ^= h.hi >> 32;
    return h;
}
/* Each of these calls does what its counterpart above does with tamis_hash64(h[i]).              */
TAMIS_API tamis_status tamis_add_hash64(tamis *t, const uint64_t *h, size_t n, uint8_t *seen_bits,
                                        size_t *done);
TAMIS_API size_t tamis_may_contain_hash64(const tamis *t, const uint64_t *h, size_t n,
                                          uint8_t *bits);
TAMIS_API tamis_status tamis_remove_hash64(tamis *t, const uint64_t *h, size_t n,
                                           uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_hash64(tamis *t, const uint64_t *h, size_t n,
                                            tamis_error *why);

/* --- A secret key for many handles ---------------------------------------------------------------
 * A handle that gets a secret key as bytes (tamis_options.key) keeps it in a page of its own, which
 * is locked in memory. With a key object, any number of handles share one such page: pass it as
 * tamis_options.shared_key. It means the same as its bytes, and images have the same id of it.   */
/* Makes a key object of 16 secret bytes. The allocator may be NULL, and must outlive the object and
 * all handles with it.                                                                           */
TAMIS_API tamis_status tamis_key_new(const uint8_t *bytes, const tamis_memory *memory,
                                     tamis_key **out, tamis_error *why);
/* Closes it; NULL is allowed. Close the handles that use it first: a debug build asserts that. In a
 * release build the key is wiped when the last of them is closed.                                */
TAMIS_API void tamis_key_close(tamis_key *key);

#ifdef __cplusplus
}
#endif
#endif
