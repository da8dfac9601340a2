#include "hash_set.h"

#include <string.h>

#define FIRST_LOG 4u

static size_t slots_of(const struct hash_set *s)
{
    return s->slots != NULL ? (size_t)1 << s->log : 0;
}

/* The slots are in the order of this product. Those of neighbouring slots share no bit of their
 * hashes, as they would in the order of the hash itself: tamis_add_hashes would suspect such
 * hashes. */
static size_t slot_of(const struct hash_set *s, tamis_hash h)
{
    return (size_t)((h.lo ^ h.hi >> 7) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - s->log));
}

static bool is_zero(tamis_hash h)
{
    return h.lo == 0 && h.hi == 0;
}

static void put(struct hash_set *s, tamis_hash h)
{
    size_t at = slot_of(s, h);
    for (; !is_zero(s->slots[at]); at = (at + 1) & (slots_of(s) - 1))
        if (s->slots[at].lo == h.lo && s->slots[at].hi == h.hi) return;
    s->slots[at] = h;
    s->used++;
}

static bool grow(struct hash_set *s, const tamis_memory *m)
{
    struct hash_set bigger = {.log = s->slots != NULL ? s->log + 1 : FIRST_LOG};
    if (bigger.log >= 8 * sizeof(size_t) - 5) return false;
    const size_t bytes = sizeof(tamis_hash) << bigger.log;
    bigger.slots = m->alloc(m->ctx, bytes);
    if (bigger.slots == NULL) return false;
    memset(bigger.slots, 0, bytes);
    bigger.zero = s->zero;
    for (size_t i = 0; i < slots_of(s); i++)
        if (!is_zero(s->slots[i])) put(&bigger, s->slots[i]);
    if (s->slots != NULL) m->free(m->ctx, s->slots);
    *s = bigger;
    return true;
}

bool hash_set_add(struct hash_set *s, const tamis_memory *m, tamis_hash h)
{
    if (is_zero(h)) {
        s->zero = true;
        return true;
    }
    /* At most three quarters are used. */
    if (s->used >= slots_of(s) - slots_of(s) / 4 && !grow(s, m)) return false;
    put(s, h);
    return true;
}

size_t hash_set_count(const struct hash_set *s)
{
    return s->used + s->zero;
}

size_t hash_set_take(const struct hash_set *s, size_t *at, tamis_hash *out, size_t n)
{
    size_t taken = 0;
    for (; *at < slots_of(s) && taken < n; ++*at)
        if (!is_zero(s->slots[*at])) out[taken++] = s->slots[*at];
    if (taken < n && s->zero && *at == slots_of(s)) {
        out[taken++] = (tamis_hash){0, 0};
        ++*at;
    }
    return taken;
}

void hash_set_free(struct hash_set *s, const tamis_memory *m)
{
    if (s->slots != NULL) m->free(m->ctx, s->slots);
    *s = (struct hash_set){0};
}
