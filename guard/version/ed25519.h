/* Ed25519 (RFC 8032) by libhogweed, which is loaded when a signature is first made or checked.
 * Linked as usual, it and GMP would add 0.4 MB of memory and a fifth of a millisecond to every
 * command, although few need them.
 *
 * What remains of a secret in memory is overwritten: the memory that GMP had, and the stack. */
#ifndef GUARD_ED25519_H
#define GUARD_ED25519_H

#include "guard.h"

/* Loads the library. Returns false with a reason if it is not installed. */
bool guard_ed25519_load(guard_error *why);

/* These require guard_ed25519_load to have succeeded. They cannot fail. */
void guard_ed25519_public(const uint8_t seed[GUARD_ED25519_KEY], uint8_t key[GUARD_ED25519_KEY]);
/* `key` must be the public key of the seed: with any other, the signature would reveal the seed.
 * The bytes must not change meanwhile for the same reason, because they are read twice. */
void guard_ed25519_sign(const uint8_t seed[GUARD_ED25519_KEY], const uint8_t key[GUARD_ED25519_KEY],
                        const void *bytes, size_t n, uint8_t signature[GUARD_ED25519_SIGNATURE]);
bool guard_ed25519_verify(const uint8_t key[GUARD_ED25519_KEY], const void *bytes, size_t n,
                          const uint8_t signature[GUARD_ED25519_SIGNATURE]);

/* Overwrites a secret. A compiler may drop a memset. */
void guard_wipe(void *secret, size_t n);

#endif
