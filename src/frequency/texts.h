/* Texts of the entries of a top, in a room that does not grow.
 *
 *     0      8            16        24     32                                    used        the end
 *     | used | text floor | unlisted| zero | record | record | record | ...     | zeros ...   |
 *
 *     record  u32 slot of the entry it belongs to, u32 length of the item, its bytes, zeros up to a multiple of 8
 *
 * A text is put behind the last. An entry that goes leaves its record behind: one is alive when the
 * entry of its slot points to it. Where there is no room those that are alive move together; if
 * they still take more than three quarters, the texts of the smallest counts are dropped, and the
 * text floor is the greatest count that lost its text: entries get one only above it. So the most
 * frequent have texts, as many as there is room for, and a quarter of the room is written before
 * there is none again. */
#ifndef TAMIS_TEXTS_H
#define TAMIS_TEXTS_H

#include "buckets.h"

#define TAMIS__TEXT_HEADER 32u
#define TAMIS__MOST_TEXT 4096u /* kept of an item */

struct texts {
    uint8_t *bytes;
    uint64_t length;
};

static inline uint64_t tamis__texts_used(const struct texts *t)
{
    return tamis__get64(t->bytes);
}

/* Entries with no greater count get no text. */
static inline uint64_t tamis__texts_floor(const struct texts *t)
{
    return tamis__get64(t->bytes + 8);
}

/* The most that a key without an entry may count. */
static inline uint64_t tamis__texts_unlisted(const struct texts *t)
{
    return tamis__get64(t->bytes + 16);
}

static inline void tamis__texts_set_unlisted(struct texts *t, uint64_t count)
{
    tamis__put64(t->bytes + 16, count);
}

/* Back to no text, in a room of zeros. */
void tamis__texts_init(struct texts *t);

/* How much of an item is kept. */
uint64_t tamis__text_limit(uint64_t length);

/* A text for the entry in a slot that has none, unless its count is not above the floor. whole: the
 * length of the item, of which `item` has at least what is kept. */
void tamis__text_put(struct texts *t, struct buckets *b, uint64_t slot, const void *item,
                     uint64_t whole);

/* The entry of a text is in another slot now. */
void tamis__text_moved(struct texts *t, uint32_t text, uint64_t slot);

/* What is kept, and the length of the item; p is NULL where nothing is. Safe on any bytes. */
tamis_bytes tamis__text(const struct texts *t, uint32_t text, uint64_t *whole);

/* The reason why the bytes cannot be texts of these entries, or NULL. */
const char *tamis__wrong_texts(const struct texts *t, const struct buckets *b);

#endif
