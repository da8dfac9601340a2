/* The texts of the entries of a top, in a room that does not grow.
 *
 *     0      8            16         24     32                             used        length
 *     | used | text floor | unlisted | zero | record | record | record ... | zeros ... |
 *
 *     record  u32 slot of the entry that it belongs to, u32 length of the item, the item's bytes,
 *             zeros up to a multiple of 8
 *
 * A new text goes after the last one. An entry that leaves its slot for good leaves its record
 * behind: a record is alive if the entry in its slot points to it. When there is no room left, the
 * live records move together. If they still take more than three quarters of the room, the texts of
 * the smallest counts are dropped. The text floor is the greatest count that lost its text, and
 * only entries above it get one. So the most frequent items have texts, as many as there is room
 * for, and a quarter of the room can be written before it is full again. */
#ifndef TAMIS_TEXTS_H
#define TAMIS_TEXTS_H

#include "buckets.h"

#define TAMIS__TEXT_HEADER 32u
#define TAMIS__MOST_TEXT 4096u /* bytes kept of an item, at most */

struct texts {
    uint8_t *bytes;
    uint64_t length;
};

static inline uint64_t tamis__texts_used(const struct texts *t)
{
    return tamis__get64(t->bytes);
}

/* Only entries with a greater count get a text. */
static inline uint64_t tamis__texts_floor(const struct texts *t)
{
    return tamis__get64(t->bytes + 8);
}

/* The greatest count that a key without an entry may have. */
static inline uint64_t tamis__texts_unlisted(const struct texts *t)
{
    return tamis__get64(t->bytes + 16);
}

static inline void tamis__texts_set_unlisted(struct texts *t, uint64_t count)
{
    tamis__put64(t->bytes + 16, count);
}

/* Makes a room of zeros one without texts. */
void tamis__texts_init(struct texts *t);

/* How many bytes of an item are kept in a room of this length. */
uint64_t tamis__text_limit(uint64_t length);

/* Stores the text of the entry in a slot, which has none yet, if its count is above the floor.
 * `whole` is the length of the item; `item` has at least the bytes that are kept. */
void tamis__text_put(struct texts *t, struct buckets *b, uint64_t slot, const void *item,
                     uint64_t whole);

/* Records that the entry of a text has moved to this slot. */
void tamis__text_moved(struct texts *t, uint32_t text, uint64_t slot);

/* Returns the bytes that are kept, and sets *whole to the length of the item. p is NULL if nothing
 * is kept. Safe on any bytes. */
tamis_bytes tamis__text(const struct texts *t, uint32_t text, uint64_t *whole);

/* Returns the reason why the bytes cannot be texts of these entries, or NULL. */
const char *tamis__wrong_texts(const struct texts *t, const struct buckets *b);

#endif
