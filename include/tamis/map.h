/* Maps: a value with each key.
 *
 * A map is a sealed filter that also holds a value of 1 to 32 bits for each of its keys, in little
 * more than the bits of the values and those of the filter.
 *
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_VALUE_MAP, .items = 1000000,
 *                        .fpr = 0.01, .cell_bits = 8};
 *     tamis *t;
 *     uint32_t category;
 *     if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) ...
 *     tamis_add_value(t, "thisisavirus.com", 16, 3, NULL);             // for each key
 *     if (tamis_seal(t, NULL) != TAMIS_OK) ...
 *     if (tamis_value(t, "thisisavirus.com", 16, &category) == TAMIS_OK) ... // category is 3
 *
 * What a lookup promises:
 *   - A member gets its value, always.
 *   - A non-member gets TAMIS_EABSENT, except with probability fpr (tamis_facts.fpr_now). Then it
 *     gets an arbitrary value, as if it were a member. tamis_may_contain answers in the same way.
 *   - With the rate 1 (plan.fpr = 1), a map has no fingerprints and takes only the bits of its
 *     values. Then it does not know its members, and every non-member gets an arbitrary value.
 *
 * plan.cell_bits is the number of bits of a value, by default 8. All calls of tamis.h work on maps,
 * with these exceptions: a plan cannot be strict, options.temp_dir is not supported, and calls that
 * add keys without values fail with TAMIS_EUNSUPPORTED. A map cannot be changed once it is sealed.
 * Before that it answers "maybe" to every key, and has no values. */
/* clang-format off */
#ifndef TAMIS_MAP_H
#define TAMIS_MAP_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds a key with its value. A key may be added again with the same value. If it was added with two
 * values, tamis_seal fails with TAMIS_EINVAL: tamis_error.offset is the number of the add, from 0,
 * that has the second value. Fails with TAMIS_EINVAL if the value has more bits than the plan, with
 * TAMIS_EUNSUPPORTED if t is not a map, and otherwise like tamis_add. */
TAMIS_API tamis_status tamis_add_value(tamis *t, const void *key, size_t len, uint32_t value,
                                       tamis_error *why);
/* Adds n keys with their values. After a failure exactly the first *done keys were added; done may
 * be NULL. */
TAMIS_API tamis_status tamis_add_value_many(tamis *t, const tamis_bytes *keys,
                                            const uint32_t *values, size_t n, size_t *done,
                                            tamis_error *why);
/* The same with hashes: see tamis_add_hashes. The lower half of lo is not used. */
TAMIS_API tamis_status tamis_add_value_hashes(tamis *t, const tamis_hash *h,
                                              const uint32_t *values, size_t n, size_t *done,
                                              tamis_error *why);

/* Looks up the value of a key. Fails with
 *   - TAMIS_EABSENT if the key is certainly not a member;
 *   - TAMIS_EUNSUPPORTED if t is not a map, or the caller hashes (TAMIS_HASH_CALLER);
 *   - TAMIS_EINVAL if t is not sealed, or the encoding of t excludes the length of the key;
 *   - TAMIS_EKEY if t lacks its secret key.
 * *value is 0 after a failure. */
TAMIS_API tamis_status tamis_value(const tamis *t, const void *key, size_t len, uint32_t *value);
/* The same for n keys, or for n hashes. Bit i % 8 of byte i / 8 of found_bits is whether key i may
 * be a member; values[i] is 0 if it is not. found_bits may be NULL. Fails like tamis_value, but not
 * with TAMIS_EABSENT. */
TAMIS_API tamis_status tamis_value_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        uint32_t *values, uint8_t *found_bits, tamis_error *why);
TAMIS_API tamis_status tamis_value_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          uint32_t *values, uint8_t *found_bits, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
