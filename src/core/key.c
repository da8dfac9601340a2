#include "key.h"

#include "bits.h"
#include "cpu.h"
#include "error.h"
#include "memory.h"

#include <assert.h>

struct tamis_key *tamis__key_make(const uint8_t bytes[16], const tamis_memory *memory)
{
    struct tamis_key *key = tamis__alloc_secret(memory, sizeof *key);
    if (key == NULL) return NULL;
    key->memory = memory;
    key->users = 1;
    key->words[0] = tamis__get64(bytes);
    key->words[1] = tamis__get64(bytes + 8);
    const tamis_hash id = tamis__siphash(key->words, (const uint8_t *)"Tamis key id", 12);
    tamis__put64(key->id, id.lo);
    tamis__put64(key->id + 8, id.hi);
    return key;
}

struct tamis_key *tamis__key_share(struct tamis_key *key)
{
    __atomic_add_fetch(&key->users, 1, __ATOMIC_RELAXED);
    return key;
}

/* Each user's reads happen before the key is wiped, so the count orders them. */
void tamis__key_leave(struct tamis_key *key)
{
    if (key == NULL || __atomic_sub_fetch(&key->users, 1, __ATOMIC_ACQ_REL) != 0) return;
    tamis__free_secret(key->memory, key, sizeof *key);
}

tamis_status tamis_key_new(const uint8_t *bytes, const tamis_memory *memory, tamis_key **out,
                           tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    if (bytes == NULL) return tamis__fail(why, TAMIS_EINVAL, "a secret key has 16 bytes, not none");
    *out = tamis__key_make(bytes, memory);
    return *out != NULL ? TAMIS_OK : tamis__fail(why, TAMIS_ENOMEM, "not enough memory for a key");
}

void tamis_key_close(tamis_key *key)
{
    assert(key == NULL || __atomic_load_n(&key->users, __ATOMIC_ACQUIRE) == 1);
    tamis__key_leave(key);
}
