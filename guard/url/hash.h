/* The hash under which an expression is listed and looked up. */
#ifndef GUARD_HASH_H
#define GUARD_HASH_H

#include "url.h"

#include <stdint.h>

#define GUARD_HASH_SIZE                                                                            \
    32 /* the first four bytes are the prefix that a client sends to the server */

/* Computes SHA-256. It is a separate function so that the browser's build can supply its own. */
void guard_hash(guard_span expression, uint8_t hash[GUARD_HASH_SIZE]);

#endif
