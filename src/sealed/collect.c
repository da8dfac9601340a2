#include "collect.h"

#include "../core/error.h"
#include "../core/memory.h"
#include "../core/uniform.h"
#include "../image/image.h"
#include "hash_sort.h"

#define HASH_BYTES 16u
/* An image has no empty sections, so this many zero bytes stand for an empty collection. */
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
    if (b->count != 1) return "a collection must have exactly one section";
    if (s->m > TAMIS__MAX_ITEMS) return "the number of hashes is out of range";
    if (s->length != (s->m != 0 ? s->m * HASH_BYTES : EMPTY_BYTES))
        return "the section's length does not fit its hashes";
    return NULL;
}

const char *tamis__wrong_collection_cells(const struct body *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i;
        for (uint64_t at = 0; at < s->length && s->m == 0; at++)
            if (s->cells[at] != 0) return "an empty collection is not zero";
    }
    return NULL;
}

static void put_hash(const struct section *s, uint64_t i, tamis_hash h)
{
    tamis__put_hash(s->cells + i * HASH_BYTES, h);
}

/* Makes room for this many bytes. The room doubles, so that an add takes constant time in the long
 * run. */
static tamis_status collect_make_room(struct body *b, uint64_t bytes)
{
    struct section *s = b->sections;
    const uint64_t had = s->room > s->length ? s->room : s->length;
    if (bytes <= had) return TAMIS_OK;
    uint64_t room = bytes > 2 * had ? bytes : 2 * had;
    const struct spill *spill = tamis__spill(b);
    if (spill != NULL && room > spill->most * HASH_BYTES && bytes <= spill->most * HASH_BYTES)
        room = spill->most * HASH_BYTES;
    uint8_t *cells = tamis__alloc(b->memory, room);
    if (cells == NULL) return TAMIS_ENOMEM;
    memcpy(cells, s->cells, (size_t)s->length);
    tamis__free(b->memory, s->cells);
    s->cells = cells;
    s->room = room;
    return TAMIS_OK;
}

static void set_count(struct body *b, uint64_t m)
{
    struct section *s = b->sections;
    s->m = m;
    s->length = m != 0 ? m * HASH_BYTES : EMPTY_BYTES;
}

/* The section has the byte order of the image, the file that of this machine. */
tamis_status tamis__spill_collection(struct body *b, tamis_error *why)
{
    struct section *s = b->sections;
    tamis_hash *h = (tamis_hash *)(void *)s->cells;
    if (s->m == 0) return TAMIS_OK;
    void *scratch = tamis__alloc(b->memory, tamis__sort_scratch(s->m, b->extra->threads));
    if (scratch == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    const enum verdict verdict = tamis__judge_collection(s);
    for (uint64_t i = 0; i < s->m; i++) h[i] = tamis__collected(s, i);
    const uint64_t n = tamis__sort_hashes(h, s->m, b->extra->threads, scratch);
    tamis__free(b->memory, scratch);
    const tamis_status status = tamis__spill_write(b->extra->spill, h, n, why);
    if (status == TAMIS_OK) {
        if (verdict == TAMIS__SUSPECT) b->extra->spill->suspects += n;
        if (verdict == TAMIS__UNIFORM) b->extra->spill->uniform = true;
        set_count(b, 0);
        return TAMIS_OK;
    }
    for (uint64_t i = 0; i < n; i++) put_hash(s, i, h[i]);
    set_count(b, n);
    return status;
}

/* The runs in the file and the hashes in memory are judged separately, because somebody may have
 * chosen some of the keys to prevent the seal. One uniform part clears the whole collection.
 * Otherwise it is suspect if suspect parts have more than half of its hashes; a part with too few
 * distinct hashes to be judged is not suspect. */
static bool collect_is_suspect(const struct section *s, const struct spill *spill)
{
    const enum verdict verdict = tamis__judge_collection(s);
    if (verdict == TAMIS__UNIFORM || (spill != NULL && spill->uniform)) return false;
    const uint64_t in_memory = verdict == TAMIS__SUSPECT ? s->m : 0;
    const uint64_t suspects = in_memory + (spill != NULL ? spill->suspects : 0);
    return 2 * suspects > s->m + (spill != NULL ? spill->end : 0);
}

bool tamis__suspect_hashes(const struct body *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (collect_is_suspect(&b->sections[i], tamis__spill(b))) return true;
    return false;
}

tamis_status tamis__in_file(tamis_error *why)
{
    return tamis__fail(why, TAMIS_EUNSUPPORTED,
                       "its hashes are in a temporary file; seal it before it is saved or copied");
}

/* Prepares for n more hashes. */
static tamis_status collect_prepare(struct body *b, size_t n)
{
    const struct section *s = b->sections;
    const struct spill *spill = tamis__spill(b);
    const uint64_t in_file = spill != NULL ? spill->end : 0;
    const uint64_t bytes = (in_file + s->m + n) * HASH_BYTES;
    if (b->extra->max_bytes != 0 && tamis__image_bytes(bytes, 1) > b->extra->max_bytes)
        return TAMIS_EFULL;
    if (spill != NULL && s->m + n > spill->most) {
        const tamis_status status = tamis__spill_collection(b, NULL);
        if (status != TAMIS_OK) return status;
    }
    return collect_make_room(b, (s->m + n) * HASH_BYTES);
}

static tamis_status collect_take(struct body *b, const tamis_hash *h, size_t n)
{
    const tamis_status status = collect_prepare(b, n);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < n; i++) put_hash(b->sections, b->sections->m + i, h[i]);
    set_count(b, b->sections->m + n);
    return TAMIS_OK;
}

tamis_status tamis__collect(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    const bool is_first = b->sections->m == 0 && !tamis__spilled(b);
    tamis_status status = collect_take(b, keys->hashes, keys->n);
    *done = 0;
#ifdef TAMIS_LEAN /* takes all of a batch or none, which is less code */
    if (status != TAMIS_OK || seen == NULL) return status;
    tamis__say_maybe(keys, seen);
#else
    /* If there is no room for all of them, there may be for some. */
    size_t n = status == TAMIS_OK ? keys->n : 0;
    while (n < keys->n && (status = collect_take(b, keys->hashes + n, 1)) == TAMIS_OK) n++;
    const struct batch taken = {.n = n};
    *done = n;
    if (seen == NULL) return status;
    memset(seen, 0, (keys->n + 7) / 8);
    tamis__say_maybe(&taken, seen);
#endif
    if (is_first) seen[0] = (uint8_t)(seen[0] & ~1u); /* the very first key is new */
    return status;
}

uint8_t *tamis__reserve(struct body *b, size_t n)
{
    const uint64_t m = b->sections->m;
    if (tamis__spill(b) != NULL || collect_prepare(b, n) != TAMIS_OK) return NULL;
    set_count(b, m + n);
    return b->sections->cells + m * HASH_BYTES;
}

void tamis__clear_collection(struct body *b)
{
    struct section *s = b->sections;
    memset(s->cells, 0, (size_t)s->length);
    if (s->room < s->length) s->room = s->length;
    set_count(b, 0);
    if (tamis__spill(b) != NULL) tamis__spill_clear(b->extra->spill);
}

void tamis__say_maybe(const struct batch *keys, uint8_t *bits)
{
    memset(bits, 0xff, keys->n / 8);
    if (keys->n % 8 != 0) bits[keys->n / 8] = (uint8_t)((1u << keys->n % 8) - 1);
}

bool tamis__replace_sections(struct body *b, const struct section *by, uint32_t count)
{
    struct section *sections = b->sections;
    if (count > b->count) sections = tamis__alloc(b->memory, count * sizeof *sections);
    if (sections == NULL) return false;
    for (uint32_t i = 0; i < b->count; i++) tamis__free(b->memory, b->sections[i].cells);
    if (sections != b->sections && b->apart) tamis__free(b->memory, b->sections);
    b->apart = b->apart || sections != b->sections;
    b->sections = memcpy(sections, by, count * sizeof *sections);
    b->count = count;
    return true;
}
