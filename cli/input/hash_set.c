#include "hash_set.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 1024u

static bool is_zero(tamis_hash h)
{
    return (h.lo | h.hi) == 0;
}

/* The slot of the hash, or the empty slot where it belongs. There always is one. */
static tamis_hash *find_slot(tamis_hash *slots, size_t room, tamis_hash h)
{
    size_t i = (size_t)h.lo & (room - 1);
    while (!is_zero(slots[i]) && (slots[i].lo != h.lo || slots[i].hi != h.hi))
        i = (i + 1) & (room - 1);
    return &slots[i];
}

/* Doubles the room. Both tables exist for a moment. */
static bool grow_hashes(struct hash_set *s)
{
    const size_t room = s->room != 0 ? 2 * s->room : LEAST_ROOM;
    if ((uint64_t)(room + s->room) * sizeof *s->slots > s->budget) return false;
    tamis_hash *slots = calloc(room, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < s->room; i++)
        if (!is_zero(s->slots[i])) *find_slot(slots, room, s->slots[i]) = s->slots[i];
    free(s->slots);
    s->slots = slots;
    s->room = room;
    return true;
}

int hash_set_add(struct hash_set *s, tamis_hash h)
{
    if (is_zero(h)) {
        const bool is_new = !s->has_zero;
        s->has_zero = true;
        s->n += is_new;
        return is_new;
    }
    tamis_hash *at = s->room != 0 ? find_slot(s->slots, s->room, h) : NULL;
    if (at != NULL && !is_zero(*at)) return 0;
    if (at == NULL || s->n >= s->room / 4 * 3) { /* three quarters full */
        if (!grow_hashes(s)) return -1;
        at = find_slot(s->slots, s->room, h);
    }
    *at = h;
    s->n++;
    return 1;
}

void hash_set_list(const struct hash_set *s, tamis_hash *out)
{
    size_t n = 0;
    if (s->has_zero) out[n++] = (tamis_hash){0, 0};
    for (size_t i = 0; i < s->room; i++)
        if (!is_zero(s->slots[i])) out[n++] = s->slots[i];
}

void hash_set_free(struct hash_set *s)
{
    free(s->slots);
    memset(s, 0, sizeof *s);
}
