/* RedisBloom's Bloom filter.
 *
 * A link for n items at error e has floor(n * bpe) bits, rounded up to a multiple of 64, with bpe =
 * -ln(e) / ln(2)^2, and ceil(ln(2) * bpe) probes. Probe i of an item is bit (a + i * b mod 2^64)
 * mod bits, where a and b are two MurmurHash64A, the second seeded with the first. A filter begins
 * with one link. When the newest link is full, another follows, `growth` times as big and with half
 * the error, so that the errors add up to the requested one. For this reason the first link of a
 * filter that may grow already has half of the requested error.
 *
 * An item is searched in all links, the newest first, and is added to the newest. `items` counts
 * the items that were new. */
#include "bloom.h"

#include <math.h>

/* The smallest positive double, 2^-1074, as error takes 1075 probes. Only a hostile header has
 * more, and would cost endless work. */
#define MAX_HASHES 1100u
#define MAX_LINKS 65536u
/* Limit for all links together. A link has at most as many items as its capacity or its bits, so
 * the items of all links stay below 2^63, which BF.CARD and BF.INFO can report. */
#define MAX_CAPACITY ((uint64_t)1 << 62)

static bool link_has(const struct compat_bloom_link *l, struct redisbloom_hash p)
{
    uint64_t x = p.a;
    for (uint32_t i = 0; i < l->hashes; i++, x += p.b) {
        const uint64_t bit = x % l->bits;
        if ((l->cells[bit >> 3] & 1u << (bit & 7)) == 0) return false;
    }
    return true;
}

/* Sets the bits and returns whether that changed one. */
static bool link_set(struct compat_bloom_link *l, struct redisbloom_hash p)
{
    bool changed = false;
    uint64_t x = p.a;
    for (uint32_t i = 0; i < l->hashes; i++, x += p.b) {
        const uint64_t bit = x % l->bits;
        const uint8_t mask = (uint8_t)(1u << (bit & 7));
        changed |= (l->cells[bit >> 3] & mask) == 0;
        l->cells[bit >> 3] |= mask;
    }
    return changed;
}

uint64_t compat_bloom_cell_bytes(const struct compat_bloom *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->links; i++) sum += b->link[i].bytes;
    return sum;
}

uint64_t compat_bloom_capacity(const struct compat_bloom *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->links; i++) sum += b->link[i].capacity;
    return sum;
}

static uint64_t bloom_own_bytes(uint32_t links)
{
    return sizeof(struct compat_bloom) + links * sizeof(struct compat_bloom_link);
}

/* Appends a link. Nothing changes if there is no room for it. */
static enum compat_status add_bloom_link(struct compat_bloom *b, const struct compat_room *room,
                                         double error, uint64_t capacity)
{
    struct compat_bloom_link l = {.capacity = capacity, .error = error};
    l.bits_per_item = redisbloom_bits_per_item(error);
    const double bits = floor((double)capacity * l.bits_per_item);
    if (!(bits < 0x1p62) || b->links == MAX_LINKS ||
        capacity > MAX_CAPACITY - compat_bloom_capacity(b))
        return COMPAT_NO_MEMORY;
    l.bits = bits < 1 ? 64 : ((uint64_t)bits + 63) / 64 * 64;
    l.bytes = l.bits / 8;
    l.hashes = (uint32_t)redisbloom_probes(l.bits_per_item);
    const uint64_t used = bloom_own_bytes(b->links + 1) + compat_bloom_cell_bytes(b);
    if (used > room->max_bytes || l.bytes > room->max_bytes - used) return COMPAT_NO_MEMORY;
    struct compat_bloom_link *links = compat_zeros(room, (b->links + 1) * sizeof *links);
    l.cells = compat_zeros(room, l.bytes);
    if (links == NULL || l.cells == NULL) {
        compat_free(room->memory, links);
        compat_free(room->memory, l.cells);
        return COMPAT_NO_MEMORY;
    }
    if (b->links > 0) memcpy(links, b->link, b->links * sizeof *links);
    links[b->links++] = l;
    compat_free(room->memory, b->link);
    b->link = links;
    return COMPAT_OK;
}

enum compat_status compat_bloom_create(const struct compat_room *room, double error,
                                       uint64_t capacity, uint32_t growth, bool fixed,
                                       struct compat_bloom **out)
{
    *out = NULL;
    struct compat_bloom *b = compat_zeros(room, sizeof *b);
    if (b == NULL) return COMPAT_NO_MEMORY;
    b->growth = growth;
    b->options = REDISBLOOM_NO_ROUND | REDISBLOOM_HASH_64 | (fixed ? REDISBLOOM_FIXED : 0u);
    const enum compat_status s = add_bloom_link(b, room, fixed ? error : error * 0.5, capacity);
    if (s != COMPAT_OK) {
        compat_bloom_free(room->memory, b);
        return s;
    }
    *out = b;
    return COMPAT_OK;
}

static uint64_t bytes_of_link(const void *filter, uint32_t i)
{
    return ((const struct compat_bloom *)filter)->link[i].bytes;
}

const struct compat_chain compat_bloom_chain = {
    sizeof(struct compat_bloom), sizeof(struct compat_bloom_link),
    offsetof(struct compat_bloom, link), offsetof(struct compat_bloom, links), bytes_of_link};

void compat_bloom_free(const tamis_memory *memory, struct compat_bloom *b)
{
    compat_chain_free(&compat_bloom_chain, memory, b);
}

struct compat_bloom *compat_bloom_copy(const tamis_memory *memory, const struct compat_bloom *b)
{
    return compat_chain_copy(&compat_bloom_chain, memory, b);
}

enum compat_status compat_bloom_add(struct compat_bloom *b, const struct compat_room *room,
                                    const void *item, size_t len)
{
    const struct redisbloom_hash p = redisbloom_hash(item, len);
    for (uint32_t i = b->links; i-- > 0;)
        if (link_has(&b->link[i], p)) return COMPAT_SEEN;
    struct compat_bloom_link *last = &b->link[b->links - 1];
    if (last->items >= last->capacity) {
        if (b->options & REDISBLOOM_FIXED) return COMPAT_FULL;
        uint64_t capacity;
        if (__builtin_mul_overflow(last->capacity, (uint64_t)b->growth, &capacity))
            return COMPAT_NO_MEMORY;
        const enum compat_status s = add_bloom_link(b, room, last->error * 0.5, capacity);
        if (s != COMPAT_OK) return s;
        last = &b->link[b->links - 1];
    }
    link_set(last, p);
    last->items++;
    b->items++;
    return COMPAT_OK;
}

bool compat_bloom_has(const struct compat_bloom *b, const void *item, size_t len)
{
    const struct redisbloom_hash p = redisbloom_hash(item, len);
    for (uint32_t i = b->links; i-- > 0;)
        if (link_has(&b->link[i], p)) return true;
    return false;
}

/* After a union the items are unknown. The best estimate of their number is the greater of a link's
 * two counts, raised to what the set bits suggest: n = -bits / hashes * ln(1 - share of set bits),
 * at most the number of set bits, since every new item has set at least one. */
static uint64_t items_by_bits(const struct compat_bloom_link *l)
{
    uint64_t set = 0, i = 0, word;
    for (; i + 8 <= l->bytes; i += 8) {
        memcpy(&word, l->cells + i, 8);
        set += (uint64_t)__builtin_popcountll(word);
    }
    for (; i < l->bytes; i++) set += (uint64_t)__builtin_popcount(l->cells[i]);
    if (set >= l->bits) return l->capacity;
    const double empty = 1 - (double)set / (double)l->bits;
    const uint64_t estimate = (uint64_t)(-(double)l->bits / l->hashes * log(empty) + 0.5);
    return estimate < set ? estimate : set;
}

enum compat_status compat_bloom_mergeable(const struct compat_bloom *into,
                                          const struct compat_bloom *from)
{
    if (into->links != from->links || into->growth != from->growth ||
        into->options != from->options)
        return COMPAT_MISMATCH;
    for (uint32_t i = 0; i < into->links; i++) {
        const struct compat_bloom_link *x = &into->link[i], *y = &from->link[i];
        if (x->bits != y->bits || x->bytes != y->bytes || x->hashes != y->hashes ||
            x->capacity != y->capacity)
            return COMPAT_MISMATCH;
    }
    return COMPAT_OK;
}

enum compat_status compat_bloom_merge(struct compat_bloom *into, const struct compat_bloom *from)
{
    if (compat_bloom_mergeable(into, from) != COMPAT_OK) return COMPAT_MISMATCH;
    if (into == from) return COMPAT_OK;
    into->items = 0;
    for (uint32_t i = 0; i < into->links; i++) {
        struct compat_bloom_link *x = &into->link[i];
        const struct compat_bloom_link *y = &from->link[i];
        for (uint64_t at = 0; at < x->bytes; at++) x->cells[at] |= y->cells[at];
        const uint64_t estimate = items_by_bits(x);
        if (y->items > x->items) x->items = y->items;
        if (estimate > x->items) x->items = estimate;
        into->items += x->items;
    }
    return COMPAT_OK;
}

/* --- Saving and loading ----------------------------------------------------------------------- */

/* Checks everything that reading and adding rely on. */
static bool link_is_sound(const struct compat_bloom_link *l)
{
    return l->bits > 0 && l->bits < (uint64_t)1 << 62 &&
           l->bytes == l->bits / 8 + (l->bits % 8 != 0) && l->hashes > 0 &&
           l->hashes <= MAX_HASHES && l->capacity > 0 && l->capacity <= MAX_CAPACITY &&
           (l->items <= l->capacity || l->items <= l->bits) && l->error > 0 && l->error < 1 &&
           l->bits_per_item > 0 && isfinite(l->bits_per_item) &&
           (l->n2 == 0 || (l->n2 < 63 && l->bits == (uint64_t)1 << l->n2));
}

/* Checks that the filter counts as many items as its links, and that its capacity is within the
 * limit that growing keeps. */
static bool counts_add_up(const struct compat_bloom *b)
{
    uint64_t items = 0, capacity = 0;
    for (uint32_t i = 0; i < b->links; i++) {
        if (b->link[i].capacity > MAX_CAPACITY - capacity) return false;
        capacity += b->link[i].capacity;
        if (b->link[i].items > INT64_MAX - items) return false;
        items += b->link[i].items;
    }
    return b->items == items;
}

static bool is_sound(const struct compat_bloom *b)
{
    /* Without the 64-bit hash, every answer of the filter would be wrong. */
    return b->links > 0 && b->links <= MAX_LINKS && (b->options & REDISBLOOM_HASH_64) != 0 &&
           b->options <= REDISBLOOM_OPTIONS &&
           (b->growth > 0 || (b->options & REDISBLOOM_FIXED) != 0) && counts_add_up(b);
}

void compat_bloom_save(const struct compat_bloom *b, const struct compat_writer *w)
{
    w->number(w->ctx, b->items);
    w->number(w->ctx, b->links);
    w->number(w->ctx, b->options);
    w->number(w->ctx, b->growth);
    for (uint32_t i = 0; i < b->links; i++) {
        const struct compat_bloom_link *l = &b->link[i];
        w->number(w->ctx, l->capacity);
        w->real(w->ctx, l->error);
        w->number(w->ctx, l->hashes);
        w->real(w->ctx, l->bits_per_item);
        w->number(w->ctx, l->bits);
        w->number(w->ctx, l->n2);
        w->bytes(w->ctx, l->cells, (size_t)l->bytes);
        w->number(w->ctx, l->items);
    }
}

static bool load_bloom_link(const struct compat_reader *r, struct compat_bloom_link *l)
{
    uint64_t hashes, n2;
    size_t bytes;
    if (!r->number(r->ctx, &l->capacity) || !r->real(r->ctx, &l->error) ||
        !r->number(r->ctx, &hashes) || !r->real(r->ctx, &l->bits_per_item) ||
        !r->number(r->ctx, &l->bits) || !r->number(r->ctx, &n2) || hashes > MAX_HASHES || n2 > 62)
        return false;
    l->hashes = (uint32_t)hashes;
    l->n2 = (uint8_t)n2;
    l->cells = r->bytes(r->ctx, &bytes);
    if (l->cells == NULL) return false;
    l->bytes = bytes;
    return r->number(r->ctx, &l->items) && link_is_sound(l);
}

enum compat_status compat_bloom_load(const struct compat_reader *r, int encver,
                                     const tamis_memory *memory, struct compat_bloom **out)
{
    const struct compat_room room = {memory, UINT64_MAX};
    uint64_t items, links, options, growth = 2;
    *out = NULL;
    if (encver < REDISBLOOM_OLDEST_LAYOUT || encver > REDISBLOOM_LAYOUT ||
        !r->number(r->ctx, &items) || !r->number(r->ctx, &links) || !r->number(r->ctx, &options) ||
        (encver >= REDISBLOOM_GROWTH_SINCE && !r->number(r->ctx, &growth)) || links == 0 ||
        links > MAX_LINKS || options > REDISBLOOM_OPTIONS || growth > UINT32_MAX)
        return COMPAT_BAD;
    struct compat_bloom *b = compat_zeros(&room, sizeof *b);
    if (b == NULL) return COMPAT_NO_MEMORY;
    *b = (struct compat_bloom){
        .items = items, .options = (uint32_t)options, .growth = (uint32_t)growth};
    b->link = compat_zeros(&room, links * sizeof *b->link);
    enum compat_status s = b->link == NULL ? COMPAT_NO_MEMORY : COMPAT_OK;
    while (s == COMPAT_OK && b->links < links)
        if (!load_bloom_link(r, &b->link[b->links++])) s = COMPAT_BAD;
    if (s == COMPAT_OK && !is_sound(b)) s = COMPAT_BAD;
    if (s != COMPAT_OK) {
        compat_bloom_free(memory, b);
        return s;
    }
    *out = b;
    return COMPAT_OK;
}

/* --- Chunks ----------------------------------------------------------------------------------- */

size_t compat_bloom_header_size(const struct compat_bloom *b)
{
    return REDISBLOOM_HEADER + (size_t)b->links * REDISBLOOM_LINK;
}

void compat_bloom_header(const struct compat_bloom *b, uint8_t *out)
{
    compat_put(out + REDISBLOOM_ITEMS, b->items, 8);
    compat_put32(out + REDISBLOOM_LINKS, b->links);
    compat_put32(out + REDISBLOOM_SETTINGS, b->options);
    compat_put32(out + REDISBLOOM_GROWTH, b->growth);
    out += REDISBLOOM_HEADER;
    for (uint32_t i = 0; i < b->links; i++, out += REDISBLOOM_LINK) {
        const struct compat_bloom_link *l = &b->link[i];
        compat_put(out + REDISBLOOM_LINK_BYTES, l->bytes, 8);
        compat_put(out + REDISBLOOM_LINK_BITS, l->bits, 8);
        compat_put(out + REDISBLOOM_LINK_ITEMS, l->items, 8);
        compat_put_real(out + REDISBLOOM_LINK_ERROR, l->error);
        compat_put_real(out + REDISBLOOM_LINK_BITS_PER_ITEM, l->bits_per_item);
        compat_put32(out + REDISBLOOM_LINK_PROBES, l->hashes);
        compat_put(out + REDISBLOOM_LINK_CAPACITY, l->capacity, 8);
        out[REDISBLOOM_LINK_LOG2] = l->n2;
    }
}

static struct compat_bloom_link link_of_header(const uint8_t *p)
{
    return (struct compat_bloom_link){.bytes = compat_get64(p + REDISBLOOM_LINK_BYTES),
                                      .bits = compat_get64(p + REDISBLOOM_LINK_BITS),
                                      .items = compat_get64(p + REDISBLOOM_LINK_ITEMS),
                                      .error = compat_get_real(p + REDISBLOOM_LINK_ERROR),
                                      .bits_per_item =
                                          compat_get_real(p + REDISBLOOM_LINK_BITS_PER_ITEM),
                                      .hashes = compat_get32(p + REDISBLOOM_LINK_PROBES),
                                      .capacity = compat_get64(p + REDISBLOOM_LINK_CAPACITY),
                                      .n2 = p[REDISBLOOM_LINK_LOG2]};
}

enum compat_status compat_bloom_from_header(const struct compat_room *room, const uint8_t *p,
                                            size_t len, struct compat_bloom **out)
{
    *out = NULL;
    if (len < REDISBLOOM_HEADER) return COMPAT_BAD;
    const uint32_t links = compat_get32(p + REDISBLOOM_LINKS);
    if (links == 0 || links > MAX_LINKS ||
        len != REDISBLOOM_HEADER + (size_t)links * REDISBLOOM_LINK)
        return COMPAT_BAD;
    struct compat_bloom *b = compat_zeros(room, sizeof *b);
    if (b == NULL) return COMPAT_NO_MEMORY;
    *b = (struct compat_bloom){.items = compat_get64(p),
                               .options = compat_get32(p + 12),
                               .growth = compat_get32(p + 16),
                               .links = links};
    b->link = compat_zeros(room, links * sizeof *b->link);
    uint64_t total = bloom_own_bytes(links);
    enum compat_status s = b->link == NULL ? COMPAT_NO_MEMORY : COMPAT_OK;
    if (s != COMPAT_OK) b->links = 0;
    for (uint32_t i = 0; s == COMPAT_OK && i < links; i++) {
        b->link[i] = link_of_header(p + REDISBLOOM_HEADER + (size_t)i * REDISBLOOM_LINK);
        if (!link_is_sound(&b->link[i]))
            s = COMPAT_BAD;
        else if (total > room->max_bytes || b->link[i].bytes > room->max_bytes - total)
            s = COMPAT_NO_MEMORY;
        total += b->link[i].bytes;
    }
    if (s == COMPAT_OK && !is_sound(b)) s = COMPAT_BAD;
    for (uint32_t i = 0; s == COMPAT_OK && i < links; i++) {
        b->link[i].cells = compat_zeros(room, b->link[i].bytes);
        if (b->link[i].cells == NULL) s = COMPAT_NO_MEMORY;
    }
    if (s != COMPAT_OK) {
        compat_bloom_free(room->memory, b);
        return s;
    }
    *out = b;
    return COMPAT_OK;
}

/* Finds the link that contains byte *at of all cells; *at becomes the offset within it. */
static struct compat_bloom_link *bloom_link_at(const struct compat_bloom *b, uint64_t *at)
{
    for (uint32_t i = 0; i < b->links; i++) {
        if (*at < b->link[i].bytes) return &b->link[i];
        *at -= b->link[i].bytes;
    }
    return NULL;
}

struct compat_chunk compat_bloom_chunk(const struct compat_bloom *b, uint64_t iterator)
{
    uint64_t at = iterator - 1;
    const struct compat_bloom_link *l = iterator > 0 ? bloom_link_at(b, &at) : NULL;
    if (l == NULL) return (struct compat_chunk){NULL, 0, 0};
    const uint64_t rest = l->bytes - at;
    const size_t len = rest < REDISBLOOM_CHUNK ? (size_t)rest : REDISBLOOM_CHUNK;
    return (struct compat_chunk){l->cells + at, len, iterator + len};
}

enum compat_status compat_bloom_put_chunk(struct compat_bloom *b, int64_t iterator,
                                          const uint8_t *p, size_t len)
{
    if (iterator < 1 || (uint64_t)iterator < len) return COMPAT_BAD;
    if ((uint64_t)iterator == len) return COMPAT_NO_LINK;
    uint64_t at = (uint64_t)iterator - 1 - len;
    struct compat_bloom_link *l = bloom_link_at(b, &at);
    if (l == NULL) return COMPAT_NO_LINK;
    if (len > l->bytes - at) return COMPAT_TOO_LONG;
    if (len > 0) memcpy(l->cells + at, p, len);
    return COMPAT_OK;
}
