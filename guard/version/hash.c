#include "../url/hash.h"

#include <nettle/sha2.h>

void guard_hash(guard_span expression, uint8_t hash[GUARD_HASH_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, expression.length, (const uint8_t *)expression.bytes);
    sha256_digest(&sha, GUARD_HASH_SIZE, hash);
}
