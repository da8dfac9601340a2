/* The name under which an expression is listed and asked for. */
#ifndef GUARD_HASH_H
#define GUARD_HASH_H

#include "url.h"

#include <stdint.h>

#define GUARD_HASH_SIZE                                                                            \
    32 /* of which the first four bytes are the prefix that a client shows the server */

/* SHA-256. A function of its own so that the browser's build can bring another. */
void guard_hash(guard_span expression, uint8_t hash[GUARD_HASH_SIZE]);

#endif
