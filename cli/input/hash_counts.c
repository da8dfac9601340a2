#include "hash_counts.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 1024u

struct hash_count {
    tamis_hash hash;
    uint64_t count;
};

/* The slot of the hash, or the empty slot where it belongs. There always is one. */
static struct hash_count *find_count(struct hash_count *slots, size_t room, tamis_hash h)
{
    size_t i = (size_t)h.lo & (room - 1);
    while (slots[i].count != 0 && (slots[i].hash.lo != h.lo || slots[i].hash.hi != h.hi))
        i = (i + 1) & (room - 1);
    return &slots[i];
}

/* Doubles the room. Both tables exist for a moment. */
static bool grow_counts(struct hash_counts *c)
{
    const size_t room = c->room != 0 ? 2 * c->room : LEAST_ROOM;
    struct hash_count *slots = calloc(room, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < c->room; i++)
        if (c->slots[i].count != 0) *find_count(slots, room, c->slots[i].hash) = c->slots[i];
    free(c->slots);
    c->slots = slots;
    c->room = room;
    return true;
}

uint64_t *hash_counts_of(struct hash_counts *c, tamis_hash h)
{
    struct hash_count *at = c->room != 0 ? find_count(c->slots, c->room, h) : NULL;
    if (at != NULL && at->count != 0) return &at->count;
    if (at == NULL || c->n >= c->room / 4 * 3) { /* three quarters full */
        if (!grow_counts(c)) return NULL;
        at = find_count(c->slots, c->room, h);
    }
    at->hash = h;
    c->n++;
    return &at->count;
}

void hash_counts_free(struct hash_counts *c)
{
    free(c->slots);
    memset(c, 0, sizeof *c);
}
