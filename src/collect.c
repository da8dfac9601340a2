#include "collect.h"

#include "image.h"
#include "memory.h"

#define HASH_BYTES 16u
/* An image has no empty sections; this many zero bytes stand for no hashes. */
#define EMPTY_BYTES HASH_BYTES

struct section tamis__collection(uint32_t kind, uint32_t k, uint32_t cell_bits)
{
    struct section s = {0};
    s.role = TAMIS__ROLE_HASHES;
    s.kind = (uint16_t)kind;
    s.k = k;
    s.cell_bits = (uint16_t)cell_bits;
    s.length = EMPTY_BYTES;
    return s;
}

bool tamis__collecting(const struct body *b)
{
    return b->sections->role == TAMIS__ROLE_HASHES;
}

const char *tamis__wrong_collection(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != 1) return "a collection has exactly one section";
    if (s->m > TAMIS__MAX_ITEMS) return "the number of hashes is out of range";
    if (s->length != (s->m != 0 ? s->m * HASH_BYTES : EMPTY_BYTES))
        return "the section's length does not fit its hashes";
    return NULL;
}

/* Room for so many bytes; doubles, so that an add costs the same in the long run. */
static tamis_status make_room(struct body *b, uint64_t bytes)
{
    struct section *s = b->sections;
    const uint64_t had = s->room > s->length ? s->room : s->length;
    if (b->max_bytes != 0 && tamis__image_bytes(bytes, 1) > b->max_bytes) return TAMIS_EFULL;
    if (bytes <= had) return TAMIS_OK;
    const uint64_t room = bytes > 2 * had ? bytes : 2 * had;
    uint8_t *cells = tamis__alloc(b->memory, room);
    if (cells == NULL) return TAMIS_ENOMEM;
    memcpy(cells, s->cells, (size_t)s->length);
    tamis__free(b->memory, s->cells);
    s->cells = cells;
    s->room = room;
    return TAMIS_OK;
}

tamis_status tamis__collect(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    struct section *s = b->sections;
    const tamis_status status = make_room(b, (s->m + keys->n) * HASH_BYTES);
    *done = 0;
    if (status != TAMIS_OK) return status;
    tamis__say_maybe(keys, seen);
    if (s->m == 0) seen[0] = (uint8_t)(seen[0] & ~1u); /* the first of all is new */
    for (size_t i = 0; i < keys->n; i++) {
        uint8_t *to = s->cells + (s->m + i) * HASH_BYTES;
        tamis__put64(to, keys->hashes[i].lo);
        tamis__put64(to + 8, keys->hashes[i].hi);
    }
    s->m += keys->n;
    s->length = s->m * HASH_BYTES;
    tamis__assign_offsets(b);
    return TAMIS_OK;
}

void tamis__clear_collection(struct body *b)
{
    struct section *s = b->sections;
    memset(s->cells, 0, (size_t)s->length);
    if (s->room < s->length) s->room = s->length;
    s->m = 0;
    s->length = EMPTY_BYTES;
    tamis__assign_offsets(b);
}

void tamis__say_maybe(const struct batch *keys, uint8_t *bits)
{
    memset(bits, 0xff, keys->n / 8);
    if (keys->n % 8 != 0) bits[keys->n / 8] = (uint8_t)((1u << keys->n % 8) - 1);
}

bool tamis__replace_sections(struct body *b, const struct section *by, uint32_t count)
{
    struct section *sections = tamis__alloc(b->memory, count * sizeof *sections);
    if (sections == NULL) return false;
    memcpy(sections, by, count * sizeof *sections);
    for (uint32_t i = 0; i < b->count; i++) tamis__free(b->memory, b->sections[i].cells);
    tamis__free(b->memory, b->sections);
    b->sections = sections;
    b->count = count;
    tamis__assign_offsets(b);
    return true;
}
