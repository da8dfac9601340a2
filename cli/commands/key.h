/* The secret key of --key-file (key.c). */
#ifndef TAMIS_CLI_KEY_H
#define TAMIS_CLI_KEY_H

#include "../frame/args.h"

/* Reads the file, if one is given, into k->bytes; false after a message. */
bool read_key(struct key_args *k);
/* Overwrites the key in memory. */
void forget_key(struct key_args *k);
/* The id in hexadecimal, until the next call. */
const char *key_id_text(const uint8_t id[16]);

#endif
