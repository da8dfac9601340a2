#include "hash_set.h"

#include <string.h>

#define FIRST_LOG 4u

static size_t slots_of(const struct hash_set *s)
{
    return s->slots != NULL ? (size_t)1 << s->log : 0;
}

/* The hash without its value. */
static tamis_hash set_key(const struct hash_set *s, tamis_hash h)
{
    if (s->values) h.lo &= ~(uint64_t)UINT32_MAX;
    return h;
}

static bool is_zero(const struct hash_set *s, tamis_hash h)
{
    h = set_key(s, h);
    return h.lo == 0 && h.hi == 0;
}

static bool has_key(const struct hash_set *s, tamis_hash a, tamis_hash b)
{
    return a.hi == b.hi && set_key(s, a).lo == set_key(s, b).lo;
}

/* The slots are in the order of this product. Those of neighbouring slots share no bit of their
 * hashes, as they would in the order of the hash itself: tamis_add_hashes would suspect such
 * hashes. */
static size_t slot_of(const struct hash_set *s, tamis_hash h)
{
    h = set_key(s, h);
    return (size_t)((h.lo ^ h.hi >> 7) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - s->log));
}

static void put(struct hash_set *s, tamis_hash h)
{
    size_t at = slot_of(s, h);
    for (; !is_zero(s, s->slots[at]); at = (at + 1) & (slots_of(s) - 1))
        if (has_key(s, s->slots[at], h)) return;
    s->slots[at] = h;
    s->used++;
}

static bool grow(struct hash_set *s, const tamis_memory *m)
{
    struct hash_set bigger = *s;
    bigger.log = s->slots != NULL ? s->log + 1 : FIRST_LOG;
    bigger.used = 0;
    if (bigger.log >= 8 * sizeof(size_t) - 5) return false;
    const size_t bytes = sizeof(tamis_hash) << bigger.log;
    bigger.slots = m->alloc(m->ctx, bytes);
    if (bigger.slots == NULL) return false;
    memset(bigger.slots, 0, bytes);
    for (size_t i = 0; i < slots_of(s); i++)
        if (!is_zero(s, s->slots[i])) put(&bigger, s->slots[i]);
    if (s->slots != NULL) m->free(m->ctx, s->slots);
    *s = bigger;
    return true;
}

bool hash_set_add(struct hash_set *s, const tamis_memory *m, tamis_hash h)
{
    if (is_zero(s, h)) {
        if (!s->zero) s->zero_value = (uint32_t)h.lo;
        s->zero = true;
        return true;
    }
    /* At most three quarters are used. */
    if (s->used >= slots_of(s) - slots_of(s) / 4 && !grow(s, m)) return false;
    put(s, h);
    return true;
}

bool hash_set_find(const struct hash_set *s, tamis_hash h, uint32_t *value)
{
    if (is_zero(s, h)) {
        *value = s->zero_value;
        return s->zero;
    }
    if (s->slots == NULL) return false;
    size_t at = slot_of(s, h);
    for (; !is_zero(s, s->slots[at]); at = (at + 1) & (slots_of(s) - 1))
        if (has_key(s, s->slots[at], h)) {
            *value = (uint32_t)s->slots[at].lo;
            return true;
        }
    return false;
}

size_t hash_set_count(const struct hash_set *s)
{
    return s->used + s->zero;
}

size_t hash_set_take(const struct hash_set *s, size_t *at, tamis_hash *out, size_t n)
{
    size_t taken = 0;
    for (; *at < slots_of(s) && taken < n; ++*at)
        if (!is_zero(s, s->slots[*at])) out[taken++] = s->slots[*at];
    if (taken < n && s->zero && *at == slots_of(s)) {
        out[taken++] = (tamis_hash){.lo = s->zero_value};
        ++*at;
    }
    return taken;
}

void hash_set_free(struct hash_set *s, const tamis_memory *m)
{
    if (s->slots != NULL) m->free(m->ctx, s->slots);
    *s = (struct hash_set){0};
}
