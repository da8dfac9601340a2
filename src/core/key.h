/* A secret key, which any number of handles share. */
#ifndef TAMIS_KEY_H
#define TAMIS_KEY_H

#include <tamis/hashes.h>

/* In memory of its own that is left out of core dumps. So every key is stored in one place only. */
struct tamis_key {
    uint64_t words[2];
    uint8_t id[16];
    const tamis_memory *memory;
    uint64_t users; /* handles, and the caller who made it, until tamis_key_close */
};

/* Makes a key with one user. NULL: not enough memory. */
struct tamis_key *tamis__key_make(const uint8_t bytes[16], const tamis_memory *memory);
/* Add a user, and remove one; the last one frees the key, which may be NULL. */
struct tamis_key *tamis__key_share(struct tamis_key *key);
void tamis__key_leave(struct tamis_key *key);

/* Whether a handle with these options has a secret key. */
static inline bool tamis__with_key(const tamis_options *o)
{
    return o->key != NULL || o->shared_key != NULL;
}

#endif
