/* Signatures of files, and the keys that are trusted (sign.c). */
#ifndef TAMIS_CLI_SIGN_H
#define TAMIS_CLI_SIGN_H

#include "../frame/args.h"

#include <stddef.h>

/* Reads a file whose signature must be right by one of the public keys; NULL after a message. The
 * caller frees the bytes, which are those that were signed. *number becomes the key number of the
 * signature, until the next call. */
void *read_signed(const struct sign_args *s, const char *path, size_t *n, const char **number);

#ifdef WITH_GUARD
#include "../../guard/version/signature.h"

/* Reads the public keys of --pubkey, at most GUARD_SIGNERS. Returns their number, or 0 after a
 * message. */
size_t read_public_keys(const struct texts *files, guard_pubkey out[GUARD_SIGNERS]);
#endif

#endif
