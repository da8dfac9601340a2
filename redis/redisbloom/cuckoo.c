/* RedisBloom's cuckoo filter.
 *
 * An item is stored as one byte, its fingerprint h mod 255 + 1 of the 64-bit hash h. It is in a
 * slot of bucket h or of bucket h xor fingerprint * 0x5bd1e995, each modulo the number of buckets
 * of a table. That number is a power of two, so the other bucket of a fingerprint follows from the
 * one where it is. A 0 marks an empty slot.
 *
 * An add takes the first free slot, the newest table first. If there is none, it moves fingerprints
 * of the newest table from bucket to bucket, at most max_iterations times, and undoes the moves if
 * they do not lead to a free slot. Then another table follows, `expansion` times as big. A
 * fingerprint may be in any table, so a table cannot be dropped before its items have been
 * moved. */
#include "cuckoo.h"

#include "../../src/foreign/redisbloom.h"

#define MULTIPLIER UINT64_C(0x5bd1e995)
#define MAX_LINKS 65536u
/* The greatest number that CF.INFO can report. No loaded filter has more, and the count of a
 * changed one stays there, so that a saved filter can be loaded. */
#define MAX_DELETES ((uint64_t)INT64_MAX)

/* Where an item may be: in any table, modulo its buckets. */
struct spot {
    uint64_t first, second;
    uint8_t fingerprint;
};

static uint64_t other(uint64_t bucket, uint8_t fingerprint)
{
    return bucket ^ fingerprint * MULTIPLIER;
}

static struct spot spot_of(const void *item, size_t len)
{
    const uint64_t h = redisbloom_murmur64(item, len, 0);
    const uint8_t fingerprint = (uint8_t)(h % 255 + 1);
    return (struct spot){h, other(h, fingerprint), fingerprint};
}

static uint8_t *bucket_at(const struct compat_cuckoo *c, const struct compat_cuckoo_link *l,
                          uint64_t hash)
{
    return l->slots + (hash & (l->buckets - 1)) * c->bucket_size;
}

/* Returns the first slot with that value in a bucket, or NULL. */
static uint8_t *find_in_bucket(const struct compat_cuckoo *c, uint8_t *bucket, uint8_t value)
{
    for (uint32_t i = 0; i < c->bucket_size; i++)
        if (bucket[i] == value) return bucket + i;
    return NULL;
}

/* Does the same in both buckets of an item. */
static uint8_t *find_both(const struct compat_cuckoo *c, const struct compat_cuckoo_link *l,
                          const struct spot *s, uint8_t value)
{
    uint8_t *slot = find_in_bucket(c, bucket_at(c, l, s->first), value);
    return slot != NULL ? slot : find_in_bucket(c, bucket_at(c, l, s->second), value);
}

static uint64_t link_bytes(const struct compat_cuckoo *c, const struct compat_cuckoo_link *l)
{
    return l->buckets * c->bucket_size;
}

uint64_t compat_cuckoo_slots(const struct compat_cuckoo *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->links; i++) sum += link_bytes(c, &c->link[i]);
    return sum;
}

static uint64_t cuckoo_own_bytes(uint32_t links)
{
    return sizeof(struct compat_cuckoo) + links * sizeof(struct compat_cuckoo_link);
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static uint64_t power_of_two_from(uint64_t n)
{
    uint64_t power = 1;
    while (power < n) power <<= 1;
    return power;
}

/* Returns how many buckets table i has, or 0 if that would be more than possible. */
static uint64_t buckets_of(const struct compat_cuckoo *c, uint32_t i)
{
    uint64_t n = c->buckets;
    while (i-- > 0 && c->expansion != 1)
        if (__builtin_mul_overflow(n, (uint64_t)c->expansion, &n) || n > (uint64_t)1 << 55)
            return 0;
    return n;
}

static enum compat_status add_cuckoo_link(struct compat_cuckoo *c, const struct compat_room *room)
{
    const uint64_t buckets = buckets_of(c, c->links);
    const uint64_t used = cuckoo_own_bytes(c->links + 1) + compat_cuckoo_slots(c);
    const uint64_t bytes = buckets * c->bucket_size;
    if (buckets == 0 || c->links == MAX_LINKS || used > room->max_bytes ||
        bytes > room->max_bytes - used)
        return COMPAT_NO_MEMORY;
    struct compat_cuckoo_link *links = compat_zeros(room, (c->links + 1) * sizeof *links);
    uint8_t *slots = compat_zeros(room, bytes);
    if (links == NULL || slots == NULL) {
        compat_free(room->memory, links);
        compat_free(room->memory, slots);
        return COMPAT_NO_MEMORY;
    }
    if (c->links > 0) memcpy(links, c->link, c->links * sizeof *links);
    links[c->links++] = (struct compat_cuckoo_link){slots, buckets};
    compat_free(room->memory, c->link);
    c->link = links;
    return COMPAT_OK;
}

enum compat_status compat_cuckoo_create(const struct compat_room *room, uint64_t capacity,
                                        uint16_t bucket_size, uint16_t max_iterations,
                                        uint16_t expansion, struct compat_cuckoo **out)
{
    *out = NULL;
    if (capacity / bucket_size > (uint64_t)1 << 55) return COMPAT_NO_MEMORY;
    struct compat_cuckoo *c = compat_zeros(room, sizeof *c);
    if (c == NULL) return COMPAT_NO_MEMORY;
    c->buckets = power_of_two_from(capacity / bucket_size);
    c->bucket_size = bucket_size;
    c->max_iterations = max_iterations;
    c->expansion = expansion == 0 ? 0 : (uint16_t)power_of_two_from(expansion);
    const enum compat_status s = add_cuckoo_link(c, room);
    if (s != COMPAT_OK) {
        compat_cuckoo_free(room->memory, c);
        return s;
    }
    *out = c;
    return COMPAT_OK;
}

static uint64_t bytes_of_cuckoo_link(const void *filter, uint32_t i)
{
    const struct compat_cuckoo *c = filter;
    return link_bytes(c, &c->link[i]);
}

const struct compat_chain compat_cuckoo_chain = {
    sizeof(struct compat_cuckoo), sizeof(struct compat_cuckoo_link),
    offsetof(struct compat_cuckoo, link), offsetof(struct compat_cuckoo, links),
    bytes_of_cuckoo_link};

void compat_cuckoo_free(const tamis_memory *memory, struct compat_cuckoo *c)
{
    compat_chain_free(&compat_cuckoo_chain, memory, c);
}

struct compat_cuckoo *compat_cuckoo_copy(const tamis_memory *memory, const struct compat_cuckoo *c)
{
    return compat_chain_copy(&compat_cuckoo_chain, memory, c);
}

/* Moves fingerprints from bucket to bucket of the newest table until one has a free slot. The
 * position of the victim rotates within the bucket, so that undoing is the same walk backwards. */
static bool kick(struct compat_cuckoo *c, const struct spot *s)
{
    struct compat_cuckoo_link *l = &c->link[c->links - 1];
    uint8_t hand = s->fingerprint;
    uint64_t bucket = s->first;
    uint32_t victim = 0, done = 0;
    while (done < c->max_iterations) {
        uint8_t *slot = bucket_at(c, l, bucket) + victim;
        const uint8_t out = *slot;
        *slot = hand;
        hand = out;
        done++;
        bucket = other(bucket, hand);
        uint8_t *free_slot = find_in_bucket(c, bucket_at(c, l, bucket), 0);
        if (free_slot != NULL) {
            *free_slot = hand;
            return true;
        }
        victim = (victim + 1) % c->bucket_size;
    }
    while (done-- > 0) {
        victim = (victim + c->bucket_size - 1) % c->bucket_size;
        bucket = other(bucket, hand);
        uint8_t *slot = bucket_at(c, l, bucket) + victim;
        const uint8_t out = *slot;
        *slot = hand;
        hand = out;
    }
    return false;
}

static bool place_spot(struct compat_cuckoo *c, const struct spot *s)
{
    for (uint32_t i = c->links; i-- > 0;) {
        uint8_t *slot = find_both(c, &c->link[i], s, 0);
        if (slot != NULL) {
            *slot = s->fingerprint;
            return true;
        }
    }
    return kick(c, s);
}

/* Every item has a slot. If only the header of a filter was loaded, its count includes items that
 * are not in its slots. Adding must not lead to a count that no header may have. */
static void bound_items(struct compat_cuckoo *c)
{
    const uint64_t slots = compat_cuckoo_slots(c);
    if (c->items > slots) c->items = slots;
}

enum compat_status compat_cuckoo_add(struct compat_cuckoo *c, const struct compat_room *room,
                                     uint32_t max_links, const void *item, size_t len)
{
    if (c->links >= max_links) return COMPAT_TOO_MANY;
    const struct spot s = spot_of(item, len);
    if (!place_spot(c, &s)) {
        if (c->expansion == 0) return COMPAT_FULL;
        const enum compat_status grown = add_cuckoo_link(c, room);
        if (grown != COMPAT_OK) return grown;
        place_spot(c, &s);
    }
    c->items++;
    bound_items(c);
    return COMPAT_OK;
}

bool compat_cuckoo_has(const struct compat_cuckoo *c, const void *item, size_t len)
{
    const struct spot s = spot_of(item, len);
    for (uint32_t i = 0; i < c->links; i++)
        if (find_both(c, &c->link[i], &s, s.fingerprint) != NULL) return true;
    return false;
}

static uint64_t count_in(const struct compat_cuckoo *c, const uint8_t *bucket, uint8_t value)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->bucket_size; i++) n += bucket[i] == value;
    return n;
}

uint64_t compat_cuckoo_count(const struct compat_cuckoo *c, const void *item, size_t len)
{
    const struct spot s = spot_of(item, len);
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->links; i++) {
        const uint8_t *first = bucket_at(c, &c->link[i], s.first);
        const uint8_t *second = bucket_at(c, &c->link[i], s.second);
        n += count_in(c, first, s.fingerprint);
        if (second != first) n += count_in(c, second, s.fingerprint);
    }
    return n;
}

enum compat_status compat_cuckoo_remove(struct compat_cuckoo *c, const tamis_memory *memory,
                                        const void *item, size_t len)
{
    const struct spot s = spot_of(item, len);
    for (uint32_t i = c->links; i-- > 0;) {
        uint8_t *slot = find_both(c, &c->link[i], &s, s.fingerprint);
        if (slot == NULL) continue;
        *slot = 0;
        if (c->items > 0) c->items--;
        if (c->deletes < MAX_DELETES) c->deletes++;
        if (c->links > 1 && (double)c->deletes > (double)c->items * 0.10)
            compat_cuckoo_compact(c, memory, false);
        return COMPAT_OK;
    }
    return COMPAT_ABSENT;
}

/* Reports whether the fingerprint found a place in an older table. Such a table is never bigger,
 * and only for those is the bucket known. */
static bool move_down(struct compat_cuckoo *c, uint32_t from, uint64_t bucket, uint8_t *slot)
{
    const struct spot s = {bucket, other(bucket, *slot), *slot};
    for (uint32_t i = 0; i < from; i++) {
        uint8_t *free_slot = find_both(c, &c->link[i], &s, 0);
        if (free_slot != NULL) {
            *free_slot = *slot;
            *slot = 0;
            return true;
        }
    }
    return false;
}

/* Reports whether table i is empty now; it is dropped if it was the newest. */
static bool empty_link(struct compat_cuckoo *c, const tamis_memory *memory, uint32_t i)
{
    struct compat_cuckoo_link *l = &c->link[i];
    bool empty = true;
    for (uint64_t bucket = 0; bucket < l->buckets; bucket++)
        for (uint32_t at = 0; at < c->bucket_size; at++) {
            uint8_t *slot = l->slots + bucket * c->bucket_size + at;
            if (*slot != 0 && !move_down(c, i, bucket, slot)) empty = false;
        }
    if (empty && i == c->links - 1) {
        compat_free(memory, l->slots);
        c->links--;
    }
    return empty;
}

void compat_cuckoo_compact(struct compat_cuckoo *c, const tamis_memory *memory, bool all)
{
    for (uint32_t i = c->links; i-- > 1;)
        if (!empty_link(c, memory, i) && !all) break;
    c->deletes = 0;
    bound_items(c);
}

/* --- Saving and loading ----------------------------------------------------------------------- */

/* Checks everything except the number of items, which is compared with the slots. */
static bool shape_is_sound(const struct compat_cuckoo *c, uint64_t links)
{
    return c->deletes <= MAX_DELETES && links > 0 && links <= MAX_LINKS &&
           is_power_of_two(c->buckets) && c->buckets <= (uint64_t)1 << 55 && c->bucket_size > 0 &&
           c->bucket_size <= 255 && c->max_iterations > 0 &&
           (c->expansion == 0 || is_power_of_two(c->expansion)) &&
           (links == 1 || c->expansion != 0);
}

void compat_cuckoo_save(const struct compat_cuckoo *c, const struct compat_writer *w)
{
    w->number(w->ctx, c->links);
    w->number(w->ctx, c->buckets);
    w->number(w->ctx, c->items);
    w->number(w->ctx, c->deletes);
    w->number(w->ctx, c->bucket_size);
    w->number(w->ctx, c->max_iterations);
    w->number(w->ctx, c->expansion);
    for (uint32_t i = 0; i < c->links; i++) {
        w->number(w->ctx, c->link[i].buckets);
        w->bytes(w->ctx, c->link[i].slots, (size_t)link_bytes(c, &c->link[i]));
    }
}

static bool load_cuckoo_link(struct compat_cuckoo *c, const struct compat_reader *r)
{
    struct compat_cuckoo_link *l = &c->link[c->links];
    size_t bytes;
    if (!r->number(r->ctx, &l->buckets)) return false;
    l->slots = r->bytes(r->ctx, &bytes);
    if (l->slots == NULL) return false;
    c->links++;
    /* The header of CF.SCANDUMP allows no other size, and moving to older tables relies on it. */
    return l->buckets == buckets_of(c, c->links - 1) && link_bytes(c, l) == bytes;
}

/* RedisBloom may have saved more items than the filter has slots (see bound_items), or a number
 * that wrapped below zero. A server has to start with such a value. */
static void correct_items(struct compat_cuckoo *c)
{
    if (c->items <= compat_cuckoo_slots(c)) return;
    c->items = 0;
    for (uint32_t i = 0; i < c->links; i++)
        for (uint64_t at = 0; at < link_bytes(c, &c->link[i]); at++)
            c->items += c->link[i].slots[at] != 0;
}

enum compat_status compat_cuckoo_load(const struct compat_reader *r, int encver,
                                      const tamis_memory *memory, struct compat_cuckoo **out)
{
    const struct compat_room room = {memory, UINT64_MAX};
    uint64_t links, bucket_size, iterations, expansion;
    struct compat_cuckoo head = {0};
    *out = NULL;
    if (encver != 4 || !r->number(r->ctx, &links) || !r->number(r->ctx, &head.buckets) ||
        !r->number(r->ctx, &head.items) || !r->number(r->ctx, &head.deletes) ||
        !r->number(r->ctx, &bucket_size) || !r->number(r->ctx, &iterations) ||
        !r->number(r->ctx, &expansion) || (bucket_size | iterations | expansion) > UINT16_MAX)
        return COMPAT_BAD;
    head.bucket_size = (uint16_t)bucket_size;
    head.max_iterations = (uint16_t)iterations;
    head.expansion = (uint16_t)expansion;
    if (!shape_is_sound(&head, links)) return COMPAT_BAD;
    struct compat_cuckoo *c = compat_clone(memory, &head, sizeof head);
    if (c == NULL) return COMPAT_NO_MEMORY;
    c->link = compat_zeros(&room, links * sizeof *c->link);
    enum compat_status s = c->link == NULL ? COMPAT_NO_MEMORY : COMPAT_OK;
    while (s == COMPAT_OK && c->links < links)
        if (!load_cuckoo_link(c, r)) s = COMPAT_BAD;
    if (s != COMPAT_OK) {
        compat_cuckoo_free(memory, c);
        return s;
    }
    correct_items(c);
    *out = c;
    return COMPAT_OK;
}

/* --- Chunks ----------------------------------------------------------------------------------- */

void compat_cuckoo_header(const struct compat_cuckoo *c, uint8_t out[COMPAT_CUCKOO_HEADER])
{
    compat_put(out, c->items, 8);
    compat_put(out + 8, c->buckets, 8);
    compat_put(out + 16, c->deletes, 8);
    compat_put(out + 24, c->links, 8);
    compat_put(out + 32, c->bucket_size, 2);
    compat_put(out + 34, c->max_iterations, 2);
    compat_put(out + 36, c->expansion, 2);
}

enum compat_status compat_cuckoo_from_header(const struct compat_room *room, const uint8_t *p,
                                             size_t len, struct compat_cuckoo **out)
{
    *out = NULL;
    if (len != COMPAT_CUCKOO_HEADER) return COMPAT_BAD;
    const struct compat_cuckoo head = {.items = compat_get64(p),
                                       .buckets = compat_get64(p + 8),
                                       .deletes = compat_get64(p + 16),
                                       .bucket_size = compat_get16(p + 32),
                                       .max_iterations = compat_get16(p + 34),
                                       .expansion = compat_get16(p + 36)};
    const uint64_t links = compat_get64(p + 24);
    if (!shape_is_sound(&head, links)) return COMPAT_BAD;
    /* The whole size is computed before anything is allocated. */
    uint64_t total = cuckoo_own_bytes((uint32_t)links);
    for (uint32_t i = 0; i < links && total <= room->max_bytes; i++) {
        const uint64_t buckets = buckets_of(&head, i);
        if (buckets == 0) return COMPAT_NO_MEMORY;
        total += buckets * head.bucket_size;
    }
    if (total > room->max_bytes) return COMPAT_NO_MEMORY;
    if (head.items > total - cuckoo_own_bytes((uint32_t)links)) return COMPAT_BAD;
    struct compat_cuckoo *c = compat_zeros(room, sizeof *c);
    if (c == NULL) return COMPAT_NO_MEMORY;
    *c = head;
    c->link = compat_zeros(room, links * sizeof *c->link);
    while (c->link != NULL && c->links < links) {
        struct compat_cuckoo_link *l = &c->link[c->links];
        l->buckets = buckets_of(c, c->links);
        l->slots = compat_zeros(room, link_bytes(c, l));
        if (l->slots == NULL) break;
        c->links++;
    }
    if (c->links < links) {
        compat_cuckoo_free(room->memory, c);
        return COMPAT_NO_MEMORY;
    }
    *out = c;
    return COMPAT_OK;
}

static struct compat_cuckoo_link *cuckoo_link_at(const struct compat_cuckoo *c, uint64_t *at)
{
    for (uint32_t i = 0; i < c->links; i++) {
        if (*at < link_bytes(c, &c->link[i])) return &c->link[i];
        *at -= link_bytes(c, &c->link[i]);
    }
    return NULL;
}

struct compat_chunk compat_cuckoo_chunk(const struct compat_cuckoo *c, uint64_t iterator)
{
    uint64_t at = iterator - 1;
    const struct compat_cuckoo_link *l = iterator > 0 ? cuckoo_link_at(c, &at) : NULL;
    if (l == NULL) return (struct compat_chunk){NULL, 0, 0};
    const uint64_t rest = link_bytes(c, l) - at;
    const size_t len = rest < REDISBLOOM_CHUNK ? (size_t)rest : REDISBLOOM_CHUNK;
    return (struct compat_chunk){l->slots + at, len, iterator + len};
}

enum compat_status compat_cuckoo_put_chunk(struct compat_cuckoo *c, int64_t iterator,
                                           const uint8_t *p, size_t len)
{
    if (len == 0) return COMPAT_BAD;
    if (iterator < 1 || (uint64_t)iterator - 1 < len) return COMPAT_NO_LINK;
    uint64_t at = (uint64_t)iterator - 1 - len;
    struct compat_cuckoo_link *l = cuckoo_link_at(c, &at);
    if (l == NULL) return COMPAT_NO_LINK;
    if (len > link_bytes(c, l) - at) return COMPAT_TOO_LONG;
    memcpy(l->slots + at, p, len);
    return COMPAT_OK;
}
