/* A slot holds 16 bits of the line's hash above 48 bits of its position. A line that is not in the
 * set is therefore compared with the bytes of another one only once in 65536 lookups, and a slot
 * takes 8 bytes. The bytes of a line follow a word with their number and the mark, and the extra
 * bytes.
 *
 * When many lines are looked up, slots and bytes are prefetched, because each is in a different
 * cache line. */
#include "line_set.h"

#include "keys.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 1024u
#define LEAST_TEXT 65536u
#define AT_BITS 48
#define AT_MASK (((uint64_t)1 << AT_BITS) - 1)
#define MARK ((uint64_t)1 << 63)
enum { BATCH = 256, SLOTS_AHEAD = 32, BYTES_AHEAD = 16 };

static uint64_t tag_of(tamis_hash h)
{
    return h.hi & ~AT_MASK;
}

static uint64_t head_at(const struct line_set *s, uint64_t at)
{
    uint64_t head;
    memcpy(&head, s->text + at, sizeof head);
    return head;
}

static void set_head(struct line_set *s, uint64_t at, uint64_t head)
{
    memcpy(s->text + at, &head, sizeof head);
}

/* The bytes before those of the line. */
static size_t head_bytes(const struct line_set *s)
{
    return sizeof(uint64_t) + s->extra;
}

static tamis_bytes line_at(const struct line_set *s, uint64_t at)
{
    return (tamis_bytes){s->text + at + head_bytes(s), (size_t)(head_at(s, at) & ~MARK)};
}

/* The position in a slot. Positions count from 1, so that a slot in use is never zero. */
static uint64_t at_of(uint64_t slot)
{
    return (slot & AT_MASK) - 1;
}

/* The slot of the line, or the empty slot where it belongs. There always is one. */
static uint64_t *find_line(const struct line_set *s, tamis_hash h, tamis_bytes line)
{
    for (size_t i = (size_t)h.lo & (s->room - 1);; i = (i + 1) & (s->room - 1)) {
        const uint64_t slot = s->slots[i];
        if (slot == 0) return &s->slots[i];
        if ((slot & ~AT_MASK) != tag_of(h)) continue;
        const tamis_bytes other = line_at(s, at_of(slot));
        if (other.len == line.len && memcmp(other.p, line.p, line.len) == 0) return &s->slots[i];
    }
}

/* Up to BATCH lines from *at on, with their positions and hashes; 0 at the end. */
static size_t next_lines(const struct line_set *s, uint64_t *at, uint64_t *places,
                         tamis_hash *hashes)
{
    tamis_bytes lines[BATCH];
    size_t n = 0;
    while (n < BATCH && *at < s->size) {
        places[n] = *at;
        lines[n] = line_at(s, *at);
        *at += head_bytes(s) + lines[n++].len;
    }
    hash_texts(s->hasher, key_form_of(s->hasher), lines, n, hashes);
    return n;
}

static bool grow_table(struct line_set *s)
{
    const size_t room = s->room != 0 ? 2 * s->room : LEAST_ROOM;
    uint64_t *slots = calloc(room, sizeof *slots), places[BATCH], at = 0;
    tamis_hash hashes[BATCH];
    if (slots == NULL) return false;
    for (size_t n; (n = next_lines(s, &at, places, hashes)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            size_t to = (size_t)hashes[i].lo & (room - 1);
            while (slots[to] != 0) to = (to + 1) & (room - 1);
            slots[to] = tag_of(hashes[i]) | (places[i] + 1);
        }
    }
    free(s->slots);
    s->slots = slots;
    s->room = room;
    return true;
}

static size_t text_room_for(const struct line_set *s, size_t more)
{
    size_t room = s->text_room != 0 ? s->text_room : LEAST_TEXT;
    while (room < s->size + more) room *= 2;
    return room;
}

static bool grow_text(struct line_set *s, size_t more)
{
    if (s->size + more <= s->text_room) return true;
    if (more > AT_MASK / 2 || s->size > AT_MASK / 2) return false;
    const size_t room = text_room_for(s, more);
    char *text = realloc(s->text, room);
    if (text == NULL) return false;
    s->text = text;
    s->text_room = room;
    return true;
}

static bool is_full(const struct line_set *s)
{
    return s->n >= s->room / 4 * 3;
}

bool line_set_add(struct line_set *s, tamis_hash h, tamis_bytes line, uint64_t *at)
{
    if (is_full(s) && !grow_table(s)) return false;
    uint64_t *slot = find_line(s, h, line);
    if (*slot == 0) {
        if (!grow_text(s, head_bytes(s) + line.len)) return false;
        set_head(s, s->size, line.len);
        memset(s->text + s->size + sizeof(uint64_t), 0, s->extra);
        if (line.len > 0) memcpy(s->text + s->size + head_bytes(s), line.p, line.len);
        *slot = tag_of(h) | (s->size + 1);
        s->size += head_bytes(s) + line.len;
        s->n++;
    }
    if (at != NULL) *at = at_of(*slot);
    return true;
}

static void fetch_slot(const struct line_set *s, tamis_hash h)
{
    __builtin_prefetch(&s->slots[(size_t)h.lo & (s->room - 1)]);
}

static void fetch_bytes(const struct line_set *s, tamis_hash h)
{
    const uint64_t slot = s->slots[(size_t)h.lo & (s->room - 1)];
    if (slot != 0 && (slot & ~AT_MASK) == tag_of(h)) __builtin_prefetch(s->text + at_of(slot));
}

bool line_set_add_many(struct line_set *s, const tamis_hash *h, const tamis_bytes *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i + SLOTS_AHEAD < n && s->room != 0) fetch_slot(s, h[i + SLOTS_AHEAD]);
        if (!line_set_add(s, h[i], lines[i], NULL)) return false;
    }
    return true;
}

static bool is_bit_set(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

size_t line_set_confirm(const struct line_set *s, const tamis_hash *h, const tamis_bytes *lines,
                        size_t n, uint8_t *bits)
{
    /* The numbers of the next lines whose bits are set. The same number of lines is prefetched
     * however rare they are. */
    size_t waiting[SLOTS_AHEAD], first = 0, last = 0, found = 0, next = 0;
    if (s->room == 0) {
        memset(bits, 0, (n + 7) / 8);
        return 0;
    }
    for (;;) {
        for (; next < n && last - first < SLOTS_AHEAD; next++) {
            if (!is_bit_set(bits, next)) continue;
            fetch_slot(s, h[next]);
            waiting[last++ % SLOTS_AHEAD] = next;
        }
        if (first == last) return found;
        if (last - first > BYTES_AHEAD)
            fetch_bytes(s, h[waiting[(first + BYTES_AHEAD) % SLOTS_AHEAD]]);
        const size_t i = waiting[first++ % SLOTS_AHEAD];
        if (*find_line(s, h[i], lines[i]) != 0)
            found++;
        else
            bits[i / 8] &= (uint8_t) ~(1u << i % 8);
    }
}

void line_set_mark(struct line_set *s, const tamis_hash *h, const tamis_bytes *lines, size_t n)
{
    for (size_t i = 0; i < n && s->room != 0; i++) {
        if (i + SLOTS_AHEAD < n) fetch_slot(s, h[i + SLOTS_AHEAD]);
        if (i + BYTES_AHEAD < n) fetch_bytes(s, h[i + BYTES_AHEAD]);
        const uint64_t slot = *find_line(s, h[i], lines[i]);
        if (slot != 0) set_head(s, at_of(slot), head_at(s, at_of(slot)) | MARK);
    }
}

bool line_set_is_marked(const struct line_set *s, uint64_t at)
{
    return (head_at(s, at) & MARK) != 0;
}

tamis_status line_set_copy(const struct line_set *s, tamis *to)
{
    uint64_t places[BATCH], at = 0;
    tamis_hash hashes[BATCH];
    tamis_status status = TAMIS_OK;
    for (size_t n; status == TAMIS_OK && (n = next_lines(s, &at, places, hashes)) != 0;)
        status = tamis_add_hashes(to, hashes, n, NULL, NULL);
    return status;
}

tamis_bytes line_set_line(const struct line_set *s, uint64_t at)
{
    return line_at(s, at);
}

void *line_set_extra(const struct line_set *s, uint64_t at)
{
    return s->text + at + sizeof(uint64_t);
}

uint64_t line_set_after(const struct line_set *s, uint64_t at)
{
    return at + head_bytes(s) + line_at(s, at).len;
}

uint64_t line_set_bytes(const struct line_set *s)
{
    return s->room * sizeof *s->slots + s->size;
}

uint64_t line_set_bytes_to_add(const struct line_set *s, size_t length)
{
    const uint64_t bigger = is_full(s) ? (s->room != 0 ? 2 * s->room : LEAST_ROOM) : 0;
    return (s->room + bigger) * sizeof *s->slots + text_room_for(s, head_bytes(s) + length);
}

void line_set_clear(struct line_set *s)
{
    if (s->room != 0) memset(s->slots, 0, s->room * sizeof *s->slots);
    s->n = s->size = 0;
}

void line_set_free(struct line_set *s)
{
    free(s->slots);
    free(s->text);
    *s = (struct line_set){0};
}
