#include "texts.h"

#include "../core/plan.h"

#define RECORD 8u /* bytes of a record before its text */
#define ALIGN 8u

uint64_t tamis__text_limit(uint64_t length)
{
    const uint64_t share = (length - TAMIS__TEXT_HEADER) / 64 * ALIGN;
    return share < TAMIS__MOST_TEXT ? share : TAMIS__MOST_TEXT;
}

static uint64_t record_bytes(const struct texts *t, uint64_t whole)
{
    const uint64_t limit = tamis__text_limit(t->length), kept = whole < limit ? whole : limit;
    return RECORD + (kept + ALIGN - 1) / ALIGN * ALIGN;
}

struct record {
    uint64_t at, bytes, slot, count;
    bool alive;
};

/* Reads the record at r->at, which must have been checked. */
static void texts_look(const struct texts *t, const struct buckets *b, struct record *r)
{
    r->slot = tamis__get32(t->bytes + r->at);
    r->bytes = record_bytes(t, tamis__get32(t->bytes + r->at + 4));
    r->alive = tamis__get32(slot_text(b, r->slot)) == r->at / ALIGN;
    r->count = slot_count(b, r->slot);
}

/* Returns the bytes of the live records whose entries have a greater count. */
static uint64_t bytes_above(const struct texts *t, const struct buckets *b, uint64_t count)
{
    uint64_t bytes = 0;
    for (struct record r = {.at = TAMIS__TEXT_HEADER}; r.at < tamis__texts_used(t);
         r.at += r.bytes) {
        texts_look(t, b, &r);
        bytes += r.alive && r.count > count ? r.bytes : 0;
    }
    return bytes;
}

struct texts_budget {
    const struct texts *t;
    const struct buckets *b;
    uint64_t bytes;
};

static bool is_too_low(void *ctx, uint64_t floor)
{
    const struct texts_budget *q = ctx;
    return bytes_above(q->t, q->b, floor) > q->bytes;
}

/* Returns the least floor above which the records take at most `target` bytes. */
static uint64_t floor_for(const struct texts *t, const struct buckets *b, uint64_t target)
{
    struct texts_budget q = {t, b, target};
    if (!is_too_low(&q, 0)) return 0;
    uint64_t low = 0, high = 1;
    while (is_too_low(&q, high)) {
        low = high;
        high *= 2;
    }
    return tamis__largest(low, high, is_too_low, &q) + 1;
}

static void compact(struct texts *t, struct buckets *b)
{
    const uint64_t target = (t->length - TAMIS__TEXT_HEADER) / 4 * 3, used = tamis__texts_used(t);
    const uint64_t floor = floor_for(t, b, target);
    uint64_t to = TAMIS__TEXT_HEADER, spare = target - bytes_above(t, b, floor);
    for (struct record r = {.at = to}; r.at < used; r.at += r.bytes) {
        texts_look(t, b, &r);
        if (!r.alive) continue;
        bool keep = r.count > floor;
        if (r.count == floor && r.bytes <= spare) { /* as many as there is room for */
            spare -= r.bytes;
            keep = true;
        }
        struct entry e = slot_get(b, r.slot);
        e.text = keep ? (uint32_t)(to / ALIGN) : 0;
        slot_put(b, r.slot, e);
        if (!keep) continue;
        memmove(t->bytes + to, t->bytes + r.at, (size_t)r.bytes);
        to += r.bytes;
    }
    memset(t->bytes + to, 0, (size_t)(used - to));
    tamis__put64(t->bytes, to);
    tamis__put64(t->bytes + 8, floor);
}

void tamis__texts_init(struct texts *t)
{
    tamis__put64(t->bytes, TAMIS__TEXT_HEADER);
}

void tamis__text_put(struct texts *t, struct buckets *b, uint64_t slot, const void *item,
                     uint64_t whole)
{
    struct entry e = slot_get(b, slot);
    if (whole > UINT32_MAX) whole = UINT32_MAX;
    const uint64_t bytes = record_bytes(t, whole), limit = tamis__text_limit(t->length);
    if (e.count <= tamis__texts_floor(t)) return;
    if (tamis__texts_used(t) == 0) tamis__texts_init(t);
    if (bytes > t->length - tamis__texts_used(t)) compact(t, b);
    if (e.count <= tamis__texts_floor(t)) return;
    uint8_t *to = t->bytes + tamis__texts_used(t);
    tamis__put32(to, (uint32_t)slot);
    tamis__put32(to + 4, (uint32_t)whole);
    if (whole != 0) memcpy(to + RECORD, item, (size_t)(whole < limit ? whole : limit));
    e.text = (uint32_t)(tamis__texts_used(t) / ALIGN);
    slot_put(b, slot, e);
    tamis__put64(t->bytes, tamis__texts_used(t) + bytes);
}

void tamis__text_moved(struct texts *t, uint32_t text, uint64_t slot)
{
    if (text != 0) tamis__put32(t->bytes + (uint64_t)text * ALIGN, (uint32_t)slot);
}

tamis_bytes tamis__text(const struct texts *t, uint32_t text, uint64_t *whole)
{
    const uint64_t at = (uint64_t)text * ALIGN, limit = tamis__text_limit(t->length);
    *whole = 0;
    if (text == 0 || at > t->length - RECORD) return (tamis_bytes){NULL, 0};
    const uint64_t n = tamis__get32(t->bytes + at + 4);
    if (record_bytes(t, n) > t->length - at) return (tamis_bytes){NULL, 0};
    *whole = n;
    return (tamis_bytes){t->bytes + at + RECORD, (size_t)(n < limit ? n : limit)};
}

const char *tamis__wrong_texts(const struct texts *t, const struct buckets *b)
{
    const uint64_t used = tamis__texts_used(t), slots = b->n * BUCKET_WAYS;
    uint64_t alive = 0, wanted = 0;
    if (tamis__get64(t->bytes + 24) != 0) return "a reserved field is not zero";
    if (tamis__texts_floor(t) > TAMIS__MOST_WEIGHT || tamis__texts_unlisted(t) > TAMIS__MOST_WEIGHT)
        return "the floor is above all counts";
    if ((used != 0 && used < TAMIS__TEXT_HEADER) || used > t->length || used % ALIGN != 0)
        return "the texts have no end";
    for (struct record r = {.at = TAMIS__TEXT_HEADER}; r.at < used; r.at += r.bytes) {
        const uint64_t whole = tamis__get32(t->bytes + r.at + 4);
        if (tamis__get32(t->bytes + r.at) >= slots) return "a text belongs to no entry";
        if (record_bytes(t, whole) > used - r.at) return "a text lies beyond the last one";
        texts_look(t, b, &r);
        alive += r.alive;
        const uint64_t limit = tamis__text_limit(t->length), kept = whole < limit ? whole : limit;
        for (uint64_t i = r.at + RECORD + kept; i < r.at + r.bytes; i++)
            if (t->bytes[i] != 0) return "there are bytes after a text";
    }
    for (uint64_t at = used != 0 ? used : TAMIS__TEXT_HEADER; at < t->length; at++)
        if (t->bytes[at] != 0) return "there are bytes after the last text";
    for (uint64_t s = 0; s < slots; s++) wanted += tamis__get32(slot_text(b, s)) != 0;
    return alive == wanted ? NULL : "the text of an entry is missing";
}
