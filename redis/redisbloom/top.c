/* RedisBloom's TopK, by HeavyKeeper.
 *
 * A table of depth rows of width cells, each a fingerprint and a count, finds frequent items, and a
 * heap keeps the k greatest. An item has a cell in each row. It takes over an empty cell, and
 * increments its own cell. If the cell belongs to another item, each unit decrements the count with
 * probability decay^count, and the item takes over when the count reaches zero. So frequent items
 * stay and rare ones pass. The estimate of an item is the greatest count of its cells.
 *
 * RedisBloom draws from the process' rand(), so a replica differs from its primary after a while.
 * Here the n-th random number of a structure is a hash of n, and n is part of the structure: it is
 * saved in the padding of the first heap entry, which RedisBloom writes as zero and does not read.
 * The powers of decay are computed by multiplication alone, which gives the same bits on every
 * machine.
 *
 * Apart from random numbers, the replies are those of RedisBloom, which depend on the position of
 * an entry in the heap. With few distinct counts most decisions are between equal counts, so these
 * rules matter:
 *
 * - A new item replaces entry 0 if its estimate is at least the count there, zero included. So an
 *   item whose estimate is zero can enter a list that is not full. TOPK.QUERY reports it, TOPK.LIST
 *   does not, and the item that replaces it expels it.
 * - An entry whose count was set moves down: one step past the lesser child (the left one of two
 *   equals) if that child's count is less or equal, and further steps past children whose count is
 *   less. So a new item goes behind an older one with the same count, and among the items with the
 *   least count the first to come is usually the first to go: with k = 2, adding foo, bar and baz
 *   expels foo.
 * - An entry never moves up. An entry whose count decreased, because all its cells were
 *   decremented, may stay below a parent with a greater count.
 * - TOPK.LIST sorts by count, and entries with equal counts stay in the order of the heap.
 * - TOPK.COUNT ignores the cells of a listed item that count less than entry 0. */
#include "top.h"

#include <stdlib.h>

#define FINGERPRINT_SEED 1919u
/* Bytes of a saved heap entry: fingerprint, length, eight bytes of pointer, count, padding. */
#define ENTRY 24u

static uint8_t *top_cell(const struct compat_top *t, uint32_t row, const void *item, size_t len)
{
    const uint64_t column = compat_murmur32(item, len, row) % t->width;
    return t->cells + 8 * ((uint64_t)row * t->width + column);
}

static uint64_t cell_bytes(const struct compat_top *t)
{
    return 8 * (uint64_t)t->width * t->depth;
}

/* Returns a number in [0, 1): the finalizer of splitmix64 over the number of the draw. */
static double draw_chance(struct compat_top *t)
{
    uint64_t x = (uint64_t)t->draws++ * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static double power(const struct compat_top *t, uint32_t n)
{
    double p = t->powers[n & 255];
    double square = t->powers[255] * t->powers[1];
    for (n >>= 8; n > 0; n >>= 1, square *= square)
        if (n & 1) p *= square;
    return p;
}

static void set_decay(struct compat_top *t, double decay)
{
    t->decay = decay;
    t->powers[0] = 1;
    for (int i = 1; i < 256; i++) t->powers[i] = t->powers[i - 1] * decay;
}

enum compat_status compat_top_create(const struct compat_room *room, uint32_t k, uint32_t width,
                                     uint32_t depth, double decay, struct compat_top **out)
{
    const uint64_t heap = (uint64_t)k * sizeof(struct compat_top_item);
    uint64_t bytes;
    *out = NULL;
    if (__builtin_mul_overflow((uint64_t)width * depth, 8u, &bytes) || bytes > room->max_bytes ||
        heap + sizeof(struct compat_top) > room->max_bytes - bytes)
        return COMPAT_NO_MEMORY;
    struct compat_top *t = compat_zeros(room, sizeof *t);
    if (t == NULL) return COMPAT_NO_MEMORY;
    t->cells = compat_zeros(room, bytes);
    t->heap = t->cells == NULL ? NULL : compat_zeros(room, heap);
    if (t->heap == NULL) {
        compat_top_free(room->memory, t);
        return COMPAT_NO_MEMORY;
    }
    t->k = k;
    t->width = width;
    t->depth = depth;
    set_decay(t, decay);
    *out = t;
    return COMPAT_OK;
}

void compat_top_free(const tamis_memory *memory, struct compat_top *t)
{
    if (t == NULL) return;
    for (uint32_t i = 0; i < t->k; i++) compat_free(memory, t->heap[i].item);
    compat_free(memory, t->heap);
    compat_free(memory, t->cells);
    compat_free(memory, t);
}

static uint64_t text_bytes(const struct compat_top_item *i)
{
    return i->item == NULL ? 0 : (uint64_t)i->len + 1;
}

/* Allocates one byte more than the item, so that the empty item is not NULL either. */
static char *keep_item(const tamis_memory *memory, const void *item, size_t len)
{
    char *copy = memory->alloc(memory->ctx, len + 1);
    if (copy == NULL) return NULL;
    if (len > 0) memcpy(copy, item, len);
    copy[len] = 0;
    return copy;
}

struct compat_top *compat_top_copy(const tamis_memory *memory, const struct compat_top *t)
{
    struct compat_top *copy = compat_clone(memory, t, sizeof *t);
    if (copy == NULL) return NULL;
    copy->k = 0;
    copy->cells = compat_clone(memory, t->cells, (size_t)cell_bytes(t));
    copy->heap = compat_clone(memory, t->heap, t->k * sizeof *t->heap);
    if (copy->cells == NULL || copy->heap == NULL) goto fail;
    for (; copy->k < t->k; copy->k++) {
        struct compat_top_item *i = &copy->heap[copy->k];
        if (i->item == NULL) continue;
        i->item = keep_item(memory, i->item, i->len);
        if (i->item == NULL) goto fail;
    }
    return copy;
fail:
    compat_top_free(memory, copy);
    return NULL;
}

static bool is_saturated(const uint8_t *c)
{
    return compat_get32(c + 4) == UINT32_MAX;
}

/* Counts an item in one row. Returns the item's count in its cell afterwards. */
static uint32_t count_in_row(struct compat_top *t, uint8_t *c, uint32_t fingerprint, uint32_t n)
{
    uint32_t count = compat_get32(c + 4);
    if (count == 0 || compat_get32(c) == fingerprint) {
        count = n > UINT32_MAX - count ? UINT32_MAX : count + n;
        compat_put32(c, fingerprint);
        compat_put32(c + 4, count);
        return count;
    }
    for (; n > 0; n--) {
        const double chance = power(t, count);
        /* No draw is below this chance, which would stay the same for all remaining units. */
        if (chance < 0x1p-53) break;
        if (draw_chance(t) < chance && --count == 0) {
            compat_put32(c, fingerprint);
            compat_put32(c + 4, n);
            return n;
        }
    }
    compat_put32(c + 4, count);
    return 0;
}

static struct compat_top_item *find_item(const struct compat_top *t, uint32_t fingerprint,
                                         const void *item, size_t len)
{
    for (uint32_t i = 0; i < t->k; i++) {
        struct compat_top_item *h = &t->heap[i];
        if (h->fingerprint == fingerprint && h->item != NULL && h->len == len &&
            (len == 0 || memcmp(h->item, item, len) == 0))
            return h;
    }
    return NULL;
}

static void swap_items(struct compat_top_item *a, struct compat_top_item *b)
{
    const struct compat_top_item old = *a;
    *a = *b;
    *b = old;
}

/* Moves entry i down after its count was set; the first step also passes a child with an equal
 * count. */
static void sift_down(struct compat_top *t, size_t i)
{
    struct compat_top_item *h = t->heap;
    for (bool past_equal = true;; past_equal = false) {
        size_t least = 2 * i + 1;
        if (least >= t->k) return;
        if (least + 1 < t->k && h[least + 1].count < h[least].count) least++;
        if (h[least].count > h[i].count || (h[least].count == h[i].count && !past_equal)) return;
        swap_items(&h[i], &h[least]);
        i = least;
    }
}

/* Reports whether an item of that length may replace the least one: within the limit, or if a list
 * beyond the limit does not grow. */
static bool has_room(const struct compat_top *t, const struct compat_room *room, size_t len)
{
    const uint64_t least = text_bytes(&t->heap[0]), others = compat_top_bytes(t) - least;
    return len < least || (others < room->max_bytes && len < room->max_bytes - others);
}

enum compat_status compat_top_add(struct compat_top *t, const struct compat_room *room,
                                  const void *item, size_t len, uint32_t n,
                                  struct compat_top_item *expelled)
{
    const uint32_t fingerprint = compat_murmur32(item, len, FINGERPRINT_SEED);
    *expelled = (struct compat_top_item){0};
    struct compat_top_item *h = find_item(t, fingerprint, item, len);
    /* Allocated before anything changes, also for an item that may not enter in the end. */
    char *copy = NULL;
    if (h == NULL &&
        (!has_room(t, room, len) || (copy = keep_item(room->memory, item, len)) == NULL))
        return COMPAT_NO_MEMORY;
    uint32_t greatest = 0;
    for (uint32_t row = 0; row < t->depth; row++) {
        uint8_t *c = top_cell(t, row, item, len);
        const bool was_saturated = is_saturated(c);
        const uint32_t count = count_in_row(t, c, fingerprint, n);
        if (count > greatest) greatest = count;
        t->saturated = t->saturated + is_saturated(c) - was_saturated;
    }
    if (greatest >= t->heap[0].count) {
        if (h == NULL) {
            h = &t->heap[0];
            *expelled = *h;
            *h = (struct compat_top_item){copy, (uint32_t)len, fingerprint, 0};
            copy = NULL;
            t->text_bytes += text_bytes(h) - text_bytes(expelled);
        }
        h->count = greatest;
        sift_down(t, (size_t)(h - t->heap));
    }
    compat_free(room->memory, copy);
    return COMPAT_OK;
}

bool compat_top_has(const struct compat_top *t, const void *item, size_t len)
{
    return find_item(t, compat_murmur32(item, len, FINGERPRINT_SEED), item, len) != NULL;
}

uint32_t compat_top_count(const struct compat_top *t, const void *item, size_t len)
{
    const uint32_t fingerprint = compat_murmur32(item, len, FINGERPRINT_SEED);
    const uint32_t least = find_item(t, fingerprint, item, len) != NULL ? t->heap[0].count : 0;
    uint32_t greatest = 0;
    for (uint32_t row = 0; row < t->depth; row++) {
        const uint8_t *c = top_cell(t, row, item, len);
        const uint32_t count = compat_get32(c + 4);
        if (compat_get32(c) == fingerprint && count >= least && count > greatest) greatest = count;
    }
    return greatest;
}

/* Equal counts keep the order of the heap, in which both entries are. */
static int by_count(const void *a, const void *b)
{
    const struct compat_top_item *x = *(const struct compat_top_item *const *)a;
    const struct compat_top_item *y = *(const struct compat_top_item *const *)b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x > y) - (x < y);
}

size_t compat_top_list(const struct compat_top *t, const struct compat_top_item **out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->k; i++)
        if (t->heap[i].count > 0) out[n++] = &t->heap[i];
    qsort(out, n, sizeof *out, by_count);
    return n;
}

uint64_t compat_top_bytes(const struct compat_top *t)
{
    return sizeof *t + cell_bytes(t) + t->k * sizeof *t->heap + t->text_bytes;
}

/* --- Saving and loading ----------------------------------------------------------------------- */

static void write_entries(const struct compat_top *t, uint8_t *out)
{
    for (uint32_t i = 0; i < t->k; i++) {
        uint8_t *p = out + (size_t)i * ENTRY;
        memset(p, 0, ENTRY);
        compat_put32(p, t->heap[i].fingerprint);
        compat_put32(p + 4, t->heap[i].len);
        compat_put32(p + 16, t->heap[i].count);
    }
    compat_put32(out + 20, t->draws);
}

/* Without memory for the heap's bytes the value would be saved without the heap. The empty field
 * then makes a file that does not load, which is better than one that loads and is wrong. */
void compat_top_save(const struct compat_top *t, const tamis_memory *memory,
                     const struct compat_writer *w)
{
    const size_t bytes = (size_t)t->k * ENTRY;
    w->number(w->ctx, t->k);
    w->number(w->ctx, t->width);
    w->number(w->ctx, t->depth);
    w->real(w->ctx, t->decay);
    w->bytes(w->ctx, t->cells, (size_t)cell_bytes(t));
    uint8_t *entries = memory->alloc(memory->ctx, bytes);
    if (entries != NULL) write_entries(t, entries);
    w->bytes(w->ctx, entries, entries == NULL ? 0 : bytes);
    compat_free(memory, entries);
    for (uint32_t i = 0; i < t->k; i++) {
        const struct compat_top_item *h = &t->heap[i];
        w->bytes(w->ctx, h->item == NULL ? "" : h->item, (size_t)h->len + 1);
    }
}

static bool load_items(struct compat_top *t, const struct compat_reader *r,
                       const tamis_memory *memory, const uint8_t *entries)
{
    for (uint32_t i = 0; i < t->k; i++) {
        struct compat_top_item *h = &t->heap[i];
        size_t len;
        char *item = r->bytes(r->ctx, &len);
        if (item == NULL) return false;
        if (len == 0 || len > UINT32_MAX || item[len - 1] != 0) {
            compat_free(memory, item);
            return false;
        }
        const uint8_t *entry = entries + (size_t)i * ENTRY;
        const uint32_t count = compat_get32(entry + 16);
        const uint32_t fingerprint = compat_murmur32(item, len - 1, FINGERPRINT_SEED);
        /* Only the fingerprint distinguishes the empty item with count zero from an unused entry,
         * which has none. */
        if (count == 0 && len == 1 && compat_get32(entry) != fingerprint) {
            compat_free(memory, item);
            continue;
        }
        *h = (struct compat_top_item){item, (uint32_t)(len - 1), fingerprint, count};
        t->text_bytes += len;
    }
    return true;
}

static enum compat_status load_parts(struct compat_top *t, const struct compat_reader *r,
                                     const tamis_memory *memory)
{
    const struct compat_room room = {memory, UINT64_MAX};
    const uint32_t k = t->k;
    uint64_t bytes;
    size_t len;
    t->k = 0;
    if (__builtin_mul_overflow((uint64_t)t->width * t->depth, 8u, &bytes)) return COMPAT_BAD;
    t->cells = r->bytes(r->ctx, &len);
    if (t->cells == NULL || len != bytes) return COMPAT_BAD;
    for (uint64_t at = 0; at < bytes; at += 8) t->saturated += is_saturated(t->cells + at);
    uint8_t *entries = r->bytes(r->ctx, &len);
    enum compat_status s = entries == NULL || len != (uint64_t)k * ENTRY ? COMPAT_BAD : COMPAT_OK;
    if (s == COMPAT_OK) {
        t->draws = compat_get32(entries + 20);
        t->heap = compat_zeros(&room, k * sizeof *t->heap);
        if (t->heap == NULL)
            s = COMPAT_NO_MEMORY;
        else
            t->k = k;
    }
    if (s == COMPAT_OK && !load_items(t, r, memory, entries)) s = COMPAT_BAD;
    compat_free(memory, entries);
    return s;
}

enum compat_status compat_top_load(const struct compat_reader *r, int encver,
                                   const tamis_memory *memory, struct compat_top **out)
{
    const struct compat_room room = {memory, UINT64_MAX};
    uint64_t k, width, depth;
    double decay;
    *out = NULL;
    if (encver != 0 || !r->number(r->ctx, &k) || !r->number(r->ctx, &width) ||
        !r->number(r->ctx, &depth) || !r->real(r->ctx, &decay) || k == 0 || k > UINT32_MAX ||
        width == 0 || width > UINT32_MAX || depth == 0 || depth > UINT32_MAX ||
        !(decay > 0 && decay <= 1))
        return COMPAT_BAD;
    struct compat_top *t = compat_zeros(&room, sizeof *t);
    if (t == NULL) return COMPAT_NO_MEMORY;
    t->k = (uint32_t)k;
    t->width = (uint32_t)width;
    t->depth = (uint32_t)depth;
    set_decay(t, decay);
    const enum compat_status s = load_parts(t, r, memory);
    if (s != COMPAT_OK) {
        compat_top_free(memory, t);
        return s;
    }
    *out = t;
    return COMPAT_OK;
}
