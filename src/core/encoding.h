/* How a program turns its keys into bytes. A plan may state it, and the image records it. The
 * library itself always takes bytes; it checks only their length. */
#ifndef TAMIS_ENCODING_H
#define TAMIS_ENCODING_H

#include "handle.h"

/* A statement is one number, as in the image: the encoding in its lower 8 bits, and from bit 8 on
 * the width, which only TAMIS_KEYS_FIXED has. 0: the plan states none. */

#define TAMIS__WIDTH_SHIFT 8

static inline uint32_t tamis__encoding(uint32_t stated)
{
    return stated & ((1u << TAMIS__WIDTH_SHIFT) - 1);
}

/* Fails with TAMIS_EINVAL unless the plan's encoding and key width fit together. Computes the width
 * that an encoding implies. */
tamis_status tamis__check_encoding(tamis_plan *p, tamis_error *why);
uint32_t tamis__plan_statement(const tamis_plan *p);

/* Whether an image may have this statement. Encodings that this library does not know are allowed
 * with any width. */
bool tamis__right_statement(uint32_t stated);

/* Makes the handle's keys what is stated. To be called when the hasher is complete. */
void tamis__state_keys(tamis *t, uint32_t stated);

/* Fails with TAMIS_EMISMATCH if both state an encoding, and not the same. */
tamis_status tamis__check_encodings(const tamis *a, const tamis *b, tamis_error *why);

/* The length of every key that the encoding implies; 0: none. */
static inline uint32_t tamis__implied_width(uint32_t encoding)
{
    return encoding == TAMIS_KEYS_INT64 ? 8 : encoding == TAMIS_KEYS_SHA256 ? 32 : 0;
}

/* The length that every key must have; 0: any. */
static inline uint32_t tamis__key_length(const tamis *t)
{
    const uint32_t encoding = tamis__encoding(t->stated);
    return encoding == TAMIS_KEYS_FIXED ? t->stated >> TAMIS__WIDTH_SHIFT
                                        : tamis__implied_width(encoding);
}

static inline bool tamis__wrong_length(const tamis *t, size_t len)
{
    if (t->stated == 0) return false;
    const uint32_t length = tamis__key_length(t);
    return length != 0 && len != length;
}

/* How many keys come before the first that has a wrong length. */
size_t tamis__right_keys(const tamis *t, const tamis_bytes *keys, size_t n);

/* Fails with TAMIS_EINVAL if the key, or one of the keys, has a wrong length. */
tamis_status tamis__check_length(const tamis *t, size_t len, tamis_error *why);
tamis_status tamis__check_lengths(const tamis *t, const tamis_bytes *keys, size_t n,
                                  tamis_error *why);

#endif
