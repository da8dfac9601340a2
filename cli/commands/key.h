/* The secret key of --key-file, and those that sign (key.c). */
#ifndef TAMIS_CLI_KEY_H
#define TAMIS_CLI_KEY_H

#include "../frame/args.h"

#ifdef WITH_GUARD
#include "../../guard/version/signature.h"
#endif

/* Reads the file, if one is given, into k->bytes; false after a message. */
bool read_key(struct key_args *k);
/* Whether only the user of this process may read a file with a secret, as far as its mode says.
 * False after a message that calls the secret `what`. */
bool is_kept_secret(const char *path, int fd, const char *what);
/* Overwrites the key in memory. */
void forget_key(struct key_args *k);
#ifdef WITH_GUARD
/* Reads the secret keys that sign, at most GUARD_SIGNERS and each once. They stay in *out until
 * forget_key. Returns their number, or 0 after a message. */
size_t read_signing_keys(char *const *files, int n, const guard_seckey **out);
#endif
/* The id in hexadecimal, until the next call. */
const char *key_id_text(const uint8_t id[16]);

#endif
