#include "single.h"

#include "bulk.h"

/* --- The general functions -------------------------------------------------------------------- */

bool tamis__ask_any(const tamis *t, const void *key, size_t len)
{
    if (!t->any_key && (!t->hasher.usable || tamis__wrong_length(t, len))) return true;
    return t->single.own->ask_hash(t, tamis__hash_key(&t->hasher, key, len));
}

tamis_status tamis__add_any(tamis *t, const void *key, size_t len, bool *seen)
{
    const tamis_bytes one = {key, len};
    if (!t->any_key || t->read_only) {
        const tamis_status s = tamis__may_change_keys(t);
        if (seen != NULL) *seen = false;
        if (s != TAMIS_OK) return s;
        if (tamis__wrong_length(t, len)) return TAMIS_EINVAL;
    }
    return tamis__add_key(t, &one, tamis__hash_key(&t->hasher, key, len), seen);
}

static tamis_status add_any_hash(tamis *t, tamis_hash h, bool *seen)
{
    return tamis__add_key(t, NULL, h, seen);
}

static const struct single general = {tamis__ask_any, tamis__add_any, tamis__query_key,
                                      add_any_hash};

void tamis__choose(tamis *t)
{
    const struct single *own = NULL;
    if (t->kind->single != NULL && (!t->body.shared || t->body.extra->locks != NULL))
        own = t->kind->single(&t->body);
    if (own == NULL) own = &general;
    const bool words = t->hasher.usable && t->hasher.id == TAMIS_XXH3 && !tamis__wrong_length(t, 8);
    const bool adds = own->add != NULL && !t->strict && !t->read_only;
    t->own_adds = adds && own->add_hash != NULL;
    t->single = (struct chosen){words ? own->ask : tamis__ask_any,
                                words && adds ? own->add : tamis__add_any, own};
}
