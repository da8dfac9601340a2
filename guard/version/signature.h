/* Keys and detached signatures, in the formats of OpenBSD's signify (docs/FORMAT.md, "Keys and
 * signatures"). All of them are Ed25519, and secret keys have no passphrase. */
#ifndef GUARD_SIGNATURE_H
#define GUARD_SIGNATURE_H

#include "ed25519.h"

#define GUARD_KEYNUM_TEXT (2 * GUARD_KEYNUM + 1)
#define GUARD_KEY_FILE 2048     /* a file of a key or a signature is shorter */
#define GUARD_SIGNATURE_TEXT 89 /* base64 of a bare signature, and a NUL */

/* --- Files ------------------------------------------------------------------------------------ */

/* These read the whole text of a file and return false with a reason unless it is exactly what
 * guard_..._print writes, apart from the comment. A secret key is refused if it has a passphrase,
 * if its checksum is wrong, or if its public half does not belong to the seed. A public key of
 * small order is refused, because with such a key anybody could sign anything. Nothing of a secret
 * is in a reason, and no copy of it remains. */
bool guard_pubkey_parse(const char *text, size_t n, guard_pubkey *out, guard_error *why);
bool guard_seckey_parse(const char *text, size_t n, guard_seckey *out, guard_error *why);
bool guard_signature_parse(const char *text, size_t n, guard_signature *out, guard_error *why);
/* Reports whether a text begins as the files of keys and signatures do. */
bool guard_is_key_text(const char *text, size_t n);

/* These write such a file and return its length, less than GUARD_KEY_FILE. */
size_t guard_pubkey_print(const guard_pubkey *key, char *text);
size_t guard_seckey_print(const guard_seckey *key, char *text);
size_t guard_signature_print(const guard_signature *signature, char *text);

/* Reads the file of a public key. */
bool guard_pubkey_read(const char *path, guard_pubkey *out, guard_error *why);
/* Reads the file of a signature. */
bool guard_signature_read(const char *path, guard_signature *out, guard_error *why);

/* --- Signing and checking --------------------------------------------------------------------- */

/* Draws a key. Fails if the system provides no random numbers or libhogweed is missing. */
bool guard_seckey_draw(guard_seckey *out, guard_error *why);
guard_pubkey guard_pubkey_of(const guard_seckey *key);

/* The bytes must not change meanwhile: see guard_ed25519_sign. */
bool guard_sign(const guard_seckey *key, const void *bytes, size_t n, guard_signature *out,
                guard_error *why);
/* Succeeds if a pinned key has signed the bytes. The key numbers only select which key to try, and
 * every signature that has the number of a pinned key must be right by that key. The reason does
 * not name a file. */
bool guard_verify(const guard_pubkey *pinned, size_t n_pinned, const guard_signature *signatures,
                  size_t n_signatures, const void *bytes, size_t n, guard_error *why);

/* --- As text ---------------------------------------------------------------------------------- */

/* The key number as 16 hex digits. */
void guard_keynum_print(const uint8_t keynum[GUARD_KEYNUM], char text[GUARD_KEYNUM_TEXT]);
/* "KEYNUM BASE64", as in a manifest; the text has GUARD_KEYNUM_TEXT + GUARD_SIGNATURE_TEXT bytes.
 * Returns false unless the text is what guard_signature_write writes. */
void guard_signature_write(const guard_signature *signature, char *text);
bool guard_signature_from(const char *text, guard_signature *out);

#endif
