#include "side_set.h"

#include <stdlib.h>

#define LEAST_ROOM 1024u
#define MOST_ROOM UINT32_MAX /* see place_of */
#define HASH_BITS (~(uint64_t)ALL_MARKS)

static bool is_empty(const tamis_hash *slot)
{
    return (slot->hi & ALL_MARKS) == 0;
}

/* Any room is possible, not only a power of two. The range takes the other half of the hash. */
static size_t place_of(tamis_hash h, size_t room)
{
    return (size_t)((h.lo >> 32) * (uint64_t)room >> 32);
}

/* The slot of the hash, or the empty slot where it belongs. There always is one. */
static tamis_hash *find_hash(tamis_hash *slots, size_t room, tamis_hash h)
{
    size_t i = place_of(h, room);
    while (!is_empty(&slots[i]) && (slots[i].lo != h.lo || ((slots[i].hi ^ h.hi) & HASH_BITS) != 0))
        i = i + 1 < room ? i + 1 : 0;
    return &slots[i];
}

static size_t slots_within(uint64_t bytes)
{
    const uint64_t n = bytes / sizeof(tamis_hash);
    return (size_t)(n < MOST_ROOM ? n : MOST_ROOM);
}

/* Linear probing needs some room. */
static size_t most_within(size_t room)
{
    return room / 4 * 3;
}

/* Doubles the room as long as both tables fit into the budget. The last time, the new one takes
 * what the old one leaves. */
static bool grow_sides(struct side_set *s)
{
    const size_t whole = slots_within(s->budget), left = whole > s->room ? whole - s->room : 0;
    size_t room = s->room != 0 ? 2 * s->room : LEAST_ROOM;
    if (room > left) room = left;
    if (room < s->room + s->room / 4 || room == 0) return false;
    tamis_hash *slots = calloc(room, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < s->room; i++)
        if (!is_empty(&s->slots[i])) *find_hash(slots, room, s->slots[i]) = s->slots[i];
    free(s->slots);
    s->slots = slots;
    s->room = room;
    return true;
}

bool side_set_covers(const struct side_set *s, tamis_hash h)
{
    const uint64_t at = h.hi & HASH_BITS;
    return at >= s->first && at <= s->last;
}

int side_set_mark(struct side_set *s, tamis_hash h, int marks)
{
    tamis_hash *at = s->room != 0 ? find_hash(s->slots, s->room, h) : NULL;
    if (at != NULL && !is_empty(at)) {
        const int before = (int)(at->hi & ALL_MARKS);
        at->hi |= (uint64_t)marks;
        return before;
    }
    if (at == NULL || s->n >= most_within(s->room)) {
        if (!grow_sides(s)) return -1;
        at = find_hash(s->slots, s->room, h);
    }
    *at = (tamis_hash){.lo = h.lo, .hi = (h.hi & HASH_BITS) | (uint64_t)marks};
    s->n++;
    return 0;
}

void side_set_fetch(const struct side_set *s, tamis_hash h)
{
    if (s->room != 0) __builtin_prefetch(&s->slots[place_of(h, s->room)], 1);
}

size_t side_set_most(const struct side_set *s)
{
    return most_within(slots_within(s->budget));
}

bool side_set_restart(struct side_set *s)
{
    const size_t room = slots_within(s->budget);
    free(s->slots);
    s->slots = calloc(room, sizeof *s->slots);
    s->n = 0;
    s->room = s->slots != NULL ? room : 0;
    return s->slots != NULL;
}

void side_set_free(struct side_set *s)
{
    free(s->slots);
    s->slots = NULL;
    s->n = s->room = 0;
}
