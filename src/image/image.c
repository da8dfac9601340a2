/* Writes a handle as an image, and makes a handle from an image that nobody has checked.
 *
 *     0        128             128 + 64 S       M
 *     | header | section table | sums of chunks | zeros | section 0 | zeros | section 1 | ...
 *
 * Everything before M is the metadata, and the root in the header is its checksum. Cells have the
 * same bytes in memory and in an image, so an aligned image can be used in place, without a copy. A
 * reader copies the metadata and checks every length and offset, then the root, then what the kind
 * requires of its sections. After that it checks the cells against their sums, unless
 * TAMIS_UNVERIFIED is set. It never allocates more than the size of the source justifies.
 * docs/FORMAT.md specifies all fields. */
#include "image.h"
#include "layout.h"

#include "../core/bits.h"
#include "../core/bulk.h"
#include "../core/encoding.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../sealed/collect.h"
#include "pack.h"

#include <tamis/inspect.h>

#define MAX_SECTIONS 1024u
/* A generation stays at this number, because no reader would accept the 0 of a wrap. */
#define MAX_GENERATION (UINT64_MAX >> 1)

/* Offsets within the header and within a section's entry, as in docs/FORMAT.md. */
enum {
    H_MAGIC = 0,
    H_READ_VERSION = 8,
    H_WRITE_VERSION = 10,
    H_LENGTH = 12,
    H_REFUSE = 16,
    H_READ_ONLY = 20,
    H_IGNORE = 24,
    H_HASH = 28,
    H_KIND = 30,
    H_SEED = 32,
    H_KEY_ID = 40,
    H_ITEMS = 56,
    H_PLANNED_ITEMS = 64,
    H_PLANNED_RATE = 72,
    H_EPOCH = 80,
    H_ZERO_8 = 88,
    H_GENERATION = 96,
    H_SECTIONS = 104,
    H_ZERO_4 = 108,
    H_TOTAL = 112,
    H_ROOT = 120
};
enum {
    E_ROLE = 0,
    E_KIND = 2,
    E_VARIANT = 4,
    E_CELL_BITS = 6,
    E_K = 8,
    E_SALT = 12,
    E_M = 16,
    E_ITEMS = 24,
    E_BOUNDARY = 32,
    E_ZERO_8 = 40,
    E_OFFSET = 48,
    E_LENGTH = 56
};
enum {
    FLAG_SEALED = 1,
    FLAG_STRICT = 2,
    FLAG_TURNING = 4,
    FLAG_EPOCH = 8,
    FLAG_REMOVABLE = 16,
    KNOWN_FLAGS = 31
};
enum { FLAG_ITEMS_ESTIMATED = 1, FLAG_HASH_SUSPECT = 2, SHIFT_STATED = 8 };

static const uint8_t image_magic[8] = TAMIS_IMAGE_MAGIC;
static const uint8_t zeros[TAMIS__ALIGN];

/* --- Sizes ------------------------------------------------------------------------------------ */

uint64_t tamis_image_size(const tamis *t)
{
    return tamis__repeated_bytes(t->body.sections, t->body.count, 1);
}

/* --- Fields with several meanings: the only place that knows which one a kind has ------------- */

/* Whether the "items" and the "salt" of a section's entry have a meaning. Otherwise they are zero,
 * in memory as well. */
static bool has_items(const struct kind *kind, bool sketch)
{
    return sketch || (kind->traits & (TAMIS__EXCLUDES | TAMIS__SECTION_TOTALS)) != 0;
}

static bool has_salt(const struct kind *kind)
{
    return (kind->traits & TAMIS__NOISY) != 0 || kind->sealing != NULL;
}

/* The sum over all sections of a kind that has totals, which is the "items" of the header. False:
 * it is beyond 64 bits. */
static bool sum_of_totals(const tamis *t, uint64_t *sum)
{
    *sum = 0;
    for (uint32_t i = 0; i < t->body.count; i++) {
        const struct section *s = &t->body.sections[i];
        if (!tamis__sum(*sum, s->items, sum)) {
            *sum = UINT64_MAX;
            return false;
        }
    }
    return true;
}

static uint64_t header_items(const tamis *t)
{
    uint64_t sum = tamis__items(t);
    if (tamis__sketch(t) != NULL) sum_of_totals(t, &sum);
    return tamis__counts_distinct(&t->body) ? 0 : sum;
}

/* The "planned rate" of the header. */
static double *header_rate(tamis *t)
{
    return tamis__sketch(t) != NULL ? &tamis__extra(t)->planned_error : &t->planned_fpr;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void image_put_header(uint8_t *h, const tamis *t)
{
    const uint32_t read_only = (t->sealed ? FLAG_SEALED : 0u) | (t->strict ? FLAG_STRICT : 0u) |
                               (t->body.extra->turn_at != 0 ? FLAG_TURNING : 0u) |
                               (tamis__extra(t)->epoch != 0 ? FLAG_EPOCH : 0u) |
                               ((t->kind->traits & TAMIS__REMOVES) != 0 ? FLAG_REMOVABLE : 0u);
    const uint64_t generation = tamis__generation(t);
    uint64_t rate;
    memcpy(&rate, tamis__sketch(t) != NULL ? &tamis__extra(t)->planned_error : &t->planned_fpr, 8);
    memcpy(h + H_MAGIC, image_magic, sizeof image_magic);
    tamis__put16(h + H_READ_VERSION, TAMIS__FORMAT);
    tamis__put16(h + H_WRITE_VERSION, TAMIS__FORMAT);
    tamis__put32(h + H_LENGTH, TAMIS__HEADER_BYTES);
    tamis__put32(h + H_READ_ONLY, read_only);
    tamis__put32(h + H_IGNORE, (t->items_estimated ? FLAG_ITEMS_ESTIMATED : 0u) |
                                   (tamis__is_suspect(t) ? FLAG_HASH_SUSPECT : 0u) |
                                   t->stated << SHIFT_STATED);
    tamis__put16(h + H_HASH, (uint16_t)t->hasher.id);
    tamis__put16(h + H_KIND, (uint16_t)t->kind->id);
    tamis__put64(h + H_SEED, tamis__hasher_seed(&t->hasher));
    memcpy(h + H_KEY_ID, tamis__hasher_key_id(&t->hasher), 16);
    tamis__put64(h + H_ITEMS, header_items(t));
    tamis__put64(h + H_PLANNED_ITEMS, t->planned_items);
    tamis__put64(h + H_PLANNED_RATE, rate);
    tamis__put64(h + H_EPOCH, tamis__extra(t)->epoch);
    tamis__put64(h + H_GENERATION, generation < MAX_GENERATION ? generation : MAX_GENERATION);
    tamis__put32(h + H_SECTIONS, t->body.count);
    tamis__put64(h + H_TOTAL, tamis_image_size(t));
}

static void image_put_entry(uint8_t *e, const struct kind *kind, const struct section *s,
                            uint64_t offset)
{
    tamis__put16(e + E_ROLE, s->role);
    tamis__put16(e + E_KIND, s->kind);
    tamis__put16(e + E_VARIANT, s->variant);
    tamis__put16(e + E_CELL_BITS, s->cell_bits);
    tamis__put32(e + E_K, s->k);
    tamis__put32(e + E_SALT, s->salt);
    tamis__put64(e + E_M, s->m);
    tamis__put64(e + E_ITEMS, s->items);
    tamis__put64(e + E_BOUNDARY, tamis__has_boundary(kind, s) ? s->boundary : 0);
    tamis__put64(e + E_OFFSET, offset);
    tamis__put64(e + E_LENGTH, s->length);
}

static size_t chunk_length(const struct section *s, uint64_t chunk)
{
    const uint64_t rest = s->length - chunk * TAMIS__CHUNK;
    return (size_t)(rest < TAMIS__CHUNK ? rest : TAMIS__CHUNK);
}

/* The root is the sum of the metadata with the eight bytes of the root itself as zero. */
static uint64_t root_of(uint8_t *metadata, uint64_t bytes)
{
    uint8_t kept[8];
    memcpy(kept, metadata + H_ROOT, 8);
    memset(metadata + H_ROOT, 0, 8);
    const uint64_t root = tamis__checksum(metadata, (size_t)bytes);
    memcpy(metadata + H_ROOT, kept, 8);
    return root;
}

/* Header, table and sums in one block; NULL: not enough memory. */
static uint8_t *make_metadata(const tamis *t, uint64_t *bytes, uint64_t *root)
{
    const struct section *s = t->body.sections;
    *bytes = tamis__metadata_bytes(s, t->body.count);
    uint8_t *meta = tamis__alloc(t->body.memory, *bytes);
    if (meta == NULL) return NULL;
    image_put_header(meta, t);
    uint8_t *sum = meta + TAMIS__HEADER_BYTES + (size_t)t->body.count * TAMIS__ENTRY_BYTES;
    uint64_t at = *bytes;
    for (uint32_t i = 0; i < t->body.count; i++) {
        at = tamis__aligned(at);
        image_put_entry(meta + TAMIS__HEADER_BYTES + (size_t)i * TAMIS__ENTRY_BYTES, t->kind, &s[i],
                        at);
        at += s[i].length;
        for (uint64_t c = 0; c < tamis__chunks(s[i].length); c++, sum += TAMIS__SUM_BYTES)
            tamis__put64(sum,
                         tamis__checksum(s[i].cells + c * TAMIS__CHUNK, chunk_length(&s[i], c)));
    }
    *root = root_of(meta, *bytes);
    tamis__put64(meta + H_ROOT, *root);
    return meta;
}

tamis_status tamis__image_write(const tamis *t, tamis_sink put, void *ctx, uint64_t *root,
                                tamis_error *why)
{
    uint64_t at = 0;
    if (t->newer)
        return tamis__fail(why, TAMIS_EVERSION,
                           "this image has a newer format, which this library can "
                           "read but not write");
    if (tamis__spilled(&t->body)) return tamis__in_file(why);
    uint8_t *meta = make_metadata(t, &at, root);
    if (meta == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to write the image");
    tamis_status s = put(ctx, meta, (size_t)at);
    tamis__free(t->body.memory, meta);
    for (uint32_t i = 0; i < t->body.count && s == TAMIS_OK; i++) {
        const struct section *sec = &t->body.sections[i];
        if (tamis__aligned(at) > at) s = put(ctx, zeros, (size_t)(tamis__aligned(at) - at));
        if (s == TAMIS_OK) s = put(ctx, sec->cells, (size_t)sec->length);
        at = tamis__aligned(at) + sec->length;
    }
    if (s != TAMIS_OK && why != NULL && why->status != s)
        tamis__fail(why, s, "writing the image: %s", tamis_status_message(s));
    return s;
}

/* --- Reading: nothing is used before it was checked ------------------------------------------- */

static tamis_status image_fetch(const struct source *src, uint64_t at, void *to, size_t n,
                                tamis_error *why)
{
    if (src->memory == NULL) return src->read(src, at, to, n, why);
    memcpy(to, src->memory + at, n);
    return TAMIS_OK;
}

static bool all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0) return false;
    return true;
}

bool tamis__image_root(const uint8_t *header, uint64_t *root)
{
    *root = tamis__get64(header + H_ROOT);
    return memcmp(header, image_magic, sizeof image_magic) == 0;
}

/* Check what can be checked in the first 128 bytes before the sums are known. */
static tamis_status check_start(const uint8_t *h, uint64_t size, tamis_error *why)
{
    uint64_t total;
    if (tamis__is_packed(h, TAMIS__HEADER_BYTES, &total))
        return tamis__fail(why, TAMIS_ECORRUPT,
                           "this file is packed; unpack it first (tamis unpack), to %llu bytes",
                           (unsigned long long)total);
    if (memcmp(h, image_magic, sizeof image_magic) != 0) {
        if (memcmp(h + 1, image_magic + 1, 5) == 0)
            return tamis__corrupt(why, 0, "this Tamis file was damaged by a text-mode transfer");
        return tamis__corrupt(why, 0, "not a Tamis file");
    }
    const unsigned version = tamis__get16(h + H_READ_VERSION);
    if (version == 0) return tamis__corrupt(why, H_READ_VERSION, "the format version is 0");
    if (version > TAMIS__FORMAT)
        return tamis__fail(why, TAMIS_EVERSION,
                           "this file requires a reader of format %u; this library reads up to %u",
                           version, TAMIS__FORMAT);
    if (tamis__get32(h + H_REFUSE) != 0)
        return tamis__fail(why, TAMIS_EVERSION,
                           "this file uses a feature of a newer version of Tamis");
    if (tamis__get32(h + H_LENGTH) != TAMIS__HEADER_BYTES)
        return tamis__corrupt(why, H_LENGTH, "the header length is wrong");
    total = tamis__get64(h + H_TOTAL);
    if (total > size) {
        tamis__fail(why, TAMIS_ECORRUPT, "truncated: %llu bytes of %llu", (unsigned long long)size,
                    (unsigned long long)total);
        if (why != NULL) why->offset = size;
        return TAMIS_ECORRUPT;
    }
    if (total < size)
        return tamis__corrupt(why, total, "there are bytes after the end of the image");
    const uint32_t sections = tamis__get32(h + H_SECTIONS);
    if (sections < 1 || sections > MAX_SECTIONS)
        return tamis__corrupt(why, H_SECTIONS, "the number of sections is out of range");
    if (TAMIS__HEADER_BYTES + (uint64_t)sections * TAMIS__ENTRY_BYTES > size)
        return tamis__corrupt(why, H_SECTIONS, "the section table is longer than the image");
    return TAMIS_OK;
}

/* Check the rest of the header, once its root is right, which excludes accidents. */
static tamis_status check_header(const uint8_t *h, tamis_error *why)
{
    if (tamis__get16(h + H_WRITE_VERSION) < tamis__get16(h + H_READ_VERSION))
        return tamis__corrupt(why, H_WRITE_VERSION, "the write version is wrong");
    const unsigned hash = tamis__get16(h + H_HASH);
    if (hash < TAMIS_XXH3 || hash > TAMIS_CALLER_HASH)
        return tamis__fail(why, TAMIS_EVERSION, "hash function %u is of a newer version of Tamis",
                           hash);
    if (hash != TAMIS_XXH3 && tamis__get64(h + H_SEED) != 0)
        return tamis__corrupt(why, H_SEED, "there is a seed where none is allowed");
    if ((hash == TAMIS_SIPHASH) == all_zero(h + H_KEY_ID, 16))
        return tamis__corrupt(why, H_KEY_ID, "the key id is wrong");
    if (tamis__kind(tamis__get16(h + H_KIND)) == NULL)
        return tamis__no_kind(tamis__get16(h + H_KIND), TAMIS_EVERSION, why);
    uint64_t bits = tamis__get64(h + H_PLANNED_RATE);
    double rate;
    memcpy(&rate, &bits, 8);
    if (!(rate > 0 && rate <= 1))
        return tamis__corrupt(why, H_PLANNED_RATE, "the planned rate is wrong");
    if (tamis__get64(h + H_PLANNED_ITEMS) < 1)
        return tamis__corrupt(why, H_PLANNED_ITEMS, "the planned items are missing");
    if (!tamis__right_statement(tamis__get32(h + H_IGNORE) >> SHIFT_STATED))
        return tamis__corrupt(why, H_IGNORE, "the width of the keys does not fit their encoding");
    if (tamis__get64(h + H_GENERATION) < 1 || tamis__get64(h + H_GENERATION) > MAX_GENERATION)
        return tamis__corrupt(why, H_GENERATION, "the generation is wrong");
    if (!all_zero(h + H_ZERO_8, 8) || !all_zero(h + H_ZERO_4, 4))
        return tamis__corrupt(why, H_ZERO_8, "a reserved field is not zero");
    return TAMIS_OK;
}

/* Read the entries into sections. Afterwards every length and offset is right, and the sums fit
 * before the first section. */
static tamis_status parse_table(const uint8_t *meta, uint64_t size, struct section *s,
                                uint32_t count, tamis_error *why)
{
    uint64_t at = TAMIS__HEADER_BYTES + (uint64_t)count * TAMIS__ENTRY_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t entry = TAMIS__HEADER_BYTES + (uint64_t)i * TAMIS__ENTRY_BYTES;
        const uint8_t *e = meta + entry;
        s[i].role = tamis__get16(e + E_ROLE);
        s[i].kind = tamis__get16(e + E_KIND);
        s[i].variant = tamis__get16(e + E_VARIANT);
        s[i].cell_bits = tamis__get16(e + E_CELL_BITS);
        s[i].k = tamis__get32(e + E_K);
        s[i].m = tamis__get64(e + E_M);
        s[i].length = tamis__get64(e + E_LENGTH);
        /* Each length is at most size, so no sum below can overflow: 1024 sections have less than
         * 2^64 / 65536 chunks each. */
        if (s[i].length < 8 || s[i].length > size)
            return tamis__corrupt(why, entry + E_LENGTH, "a section length is wrong");
        if (!all_zero(e + E_ZERO_8, 8))
            return tamis__corrupt(why, entry + E_ZERO_8, "a reserved field is not zero");
        at += tamis__chunks(s[i].length) * TAMIS__SUM_BYTES;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t entry = TAMIS__HEADER_BYTES + (uint64_t)i * TAMIS__ENTRY_BYTES;
        if (at > size || tamis__get64(meta + entry + E_OFFSET) != tamis__aligned(at))
            return tamis__corrupt(why, entry + E_OFFSET, "a section offset is wrong");
        at = tamis__aligned(at);
        if (at > size || s[i].length > size - at)
            return tamis__corrupt(why, entry + E_LENGTH,
                                  "a section reaches beyond the end of the image");
        at += s[i].length;
    }
    if (at != size) return tamis__corrupt(why, at, "there are bytes after the last section");
    return TAMIS_OK;
}

/* A private copy of header, table and sums, complete and checked against its root. */
struct metadata {
    uint8_t *bytes;
    struct section *sections;
    uint32_t count;
};

/* Room for the sums of any table of this many sections that fits in the image. */
static uint64_t metadata_room(uint64_t size, uint32_t count)
{
    return TAMIS__HEADER_BYTES + (uint64_t)count * TAMIS__ENTRY_BYTES +
           (size / TAMIS__CHUNK + count) * TAMIS__SUM_BYTES;
}

static bool is_sealed(const uint8_t *header)
{
    return (tamis__get32(header + H_READ_ONLY) & FLAG_SEALED) != 0;
}

bool tamis__image_blocks(const uint8_t *image, size_t size, const tamis_options *o,
                         uint64_t blocks[5])
{
    if (size < TAMIS__HEADER_BYTES || check_start(image, size, NULL) != TAMIS_OK) return false;
    const uint32_t count = tamis__get32(image + H_SECTIONS);
    const struct kind *kind = tamis__kind(tamis__get16(image + H_KIND));
    blocks[0] = tamis__alloc_bytes(metadata_room(size, count));
    blocks[1] = tamis__alloc_bytes((uint64_t)count * sizeof(struct section));
    blocks[2] = tamis__handle_bytes(count);
    blocks[3] = kind != NULL ? tamis__extra_bytes(kind, o, is_sealed(image)) : 0;
    const bool has_directory = kind != NULL && kind->ready != NULL && count > 1;
    blocks[4] = has_directory ? tamis__alloc_bytes(TAMIS__DIRECTORY_BYTES) : 0;
    return true;
}

static tamis_status read_metadata(const struct source *src, const tamis_memory *memory,
                                  struct metadata *m, tamis_error *why)
{
    uint8_t start[TAMIS__HEADER_BYTES];
    if (src->size == 0) return tamis__corrupt(why, 0, "the file is empty");
    if (src->size < sizeof start) {
        uint8_t first[sizeof image_magic] = {0};
        const size_t n = src->size < sizeof first ? (size_t)src->size : sizeof first;
        tamis_status s = image_fetch(src, 0, first, n, why);
        if (s != TAMIS_OK) return s;
        if (memcmp(first, image_magic, n) != 0) return tamis__corrupt(why, 0, "not a Tamis file");
        return tamis__corrupt(why, src->size, "truncated within the header");
    }
    tamis_status s = image_fetch(src, 0, start, sizeof start, why);
    if (s == TAMIS_OK) s = check_start(start, src->size, why);
    if (s != TAMIS_OK) return s;
    m->count = tamis__get32(start + H_SECTIONS);
    const uint64_t table_end = TAMIS__HEADER_BYTES + (uint64_t)m->count * TAMIS__ENTRY_BYTES;
    m->bytes = tamis__alloc(memory, metadata_room(src->size, m->count));
    m->sections = tamis__alloc(memory, (uint64_t)m->count * sizeof *m->sections);
    if (m->bytes == NULL || m->sections == NULL)
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for the section table");
    memcpy(m->bytes, start, sizeof start);
    s = image_fetch(src, sizeof start, m->bytes + sizeof start, (size_t)(table_end - sizeof start),
                    why);
    if (s == TAMIS_OK) s = parse_table(m->bytes, src->size, m->sections, m->count, why);
    if (s != TAMIS_OK) return s;
    const uint64_t bytes = tamis__metadata_bytes(m->sections, m->count);
    if (src->metadata_bytes != 0 && src->metadata_bytes != bytes)
        return tamis__corrupt(why, H_SECTIONS, "the length of the metadata is wrong");
    s = image_fetch(src, table_end, m->bytes + table_end, (size_t)(bytes - table_end), why);
    if (s != TAMIS_OK) return s;
    if (root_of(m->bytes, bytes) != tamis__get64(m->bytes + H_ROOT))
        return tamis__corrupt(why, H_ROOT, "damaged: the checksum of the header does not match");
    return check_header(m->bytes, why);
}

static tamis_status set_hasher(tamis *t, const uint8_t *h, const tamis_options *o, tamis_error *why)
{
    const uint16_t id = tamis__get16(h + H_HASH);
    struct tamis_key *key = tamis__hasher_key(&t->hasher);
    if (key != NULL && id != TAMIS_SIPHASH)
        return tamis__fail(why, TAMIS_EKEY,
                           "a secret key was given, but this filter was made without one");
    if (key != NULL && memcmp(key->id, h + H_KEY_ID, 16) != 0)
        return tamis__fail(why, TAMIS_EKEY, "this filter was made with another secret key");
    if (key == NULL && id == TAMIS_SIPHASH && (o->flags & TAMIS_KEYLESS) == 0)
        return tamis__fail(why, TAMIS_EKEY,
                           "this filter was made with a secret key, which was not given");
    tamis__hasher_init(&t->hasher, tamis__get64(h + H_SEED), key);
    t->hasher.id = id;
    t->hasher.usable = id == TAMIS_XXH3 || key != NULL;
    if (id == TAMIS_SIPHASH && key == NULL) memcpy(t->hasher.key_id, h + H_KEY_ID, 16);
    tamis__state_keys(t, tamis__get32(h + H_IGNORE) >> SHIFT_STATED);
    return TAMIS_OK;
}

static tamis_status set_facts(tamis *t, const uint8_t *h, const tamis_options *o, tamis_error *why)
{
    const uint32_t flags = tamis__get32(h + H_READ_ONLY);
    const uint64_t items = tamis__get64(h + H_ITEMS), rate = tamis__get64(h + H_PLANNED_RATE);
    const bool sketch = tamis__sketch(t) != NULL;
    memcpy(header_rate(t), &rate, 8);
    t->planned_items = tamis__get64(h + H_PLANNED_ITEMS);
    if ((t->kind->traits & TAMIS__SECTION_TOTALS) != 0) {
        uint64_t sum;
        const bool known = sum_of_totals(t, &sum) || sketch; /* whose sum saturates */
        if (!known || sum != items)
            return tamis__corrupt(why, H_ITEMS, "the items of the sections do not add up");
    }
    if (tamis__counts_distinct(&t->body) && items != 0)
        return tamis__corrupt(why, H_ITEMS, "a distinct sketch has no items");
    if (sketch)
        tamis__sum_weight(t);
    else
        t->items = items;
    t->generation = tamis__get64(h + H_GENERATION);
    t->sealed = (flags & FLAG_SEALED) != 0;
    t->strict = (flags & FLAG_STRICT) != 0;
    t->items_estimated = (tamis__get32(h + H_IGNORE) & FLAG_ITEMS_ESTIMATED) != 0;
    if ((tamis__get32(h + H_IGNORE) & FLAG_HASH_SUSPECT) != 0) t->watch = TAMIS__SUSPICIOUS;
    const bool hashes = t->body.sections->role == TAMIS__ROLE_HASHES;
    if (t->kind->sealing != NULL && hashes == t->sealed)
        return tamis__corrupt(why, H_READ_ONLY,
                              "a filter of a sealed kind must be sealed or collecting");
    if ((t->kind->traits & TAMIS__NOISY) != 0 && (!t->sealed || t->strict))
        return tamis__corrupt(why, H_READ_ONLY, "a private filter must be sealed and not strict");
    const bool turns = t->kind->rotate != NULL && !sketch && !tamis__counts_distinct(&t->body);
    if ((flags & FLAG_TURNING) != 0 && !turns)
        return tamis__corrupt(why, H_READ_ONLY,
                              "this filter is marked as turning, but has "
                              "no generations that rotate");
    if ((flags & FLAG_TURNING) != 0) tamis__set_turning(t);
    const uint64_t epoch = tamis__get64(h + H_EPOCH);
    if ((epoch != 0) != ((flags & FLAG_EPOCH) != 0))
        return tamis__corrupt(why, H_EPOCH, "the epoch and its flag do not fit together");
    if (epoch != 0 && t->kind->rotate == NULL)
        return tamis__corrupt(why, H_EPOCH, "an epoch, but no generations that rotate");
    if (epoch != 0) tamis__extra(t)->epoch = epoch;
    if (t->strict && (t->kind->accepts & TAMIS_STRICT) == 0)
        return tamis__corrupt(why, H_READ_ONLY,
                              "this filter is marked as strict, but its kind is never full");
    t->newer =
        (flags & ~(uint32_t)KNOWN_FLAGS) != 0 || tamis__get16(h + H_WRITE_VERSION) > TAMIS__FORMAT;
    t->read_only = t->sealed || t->newer;
    return set_hasher(t, h, o, why);
}

/* Read the section at this offset, a megabyte at a time, and check its sums while it is in the
 * cache. */
static tamis_status read_section(const struct source *src, const struct section *s, uint64_t offset,
                                 const uint8_t *sums, bool verify, tamis_error *why)
{
    const uint64_t piece = 16 * TAMIS__CHUNK;
    const bool in_place = src->memory != NULL && s->cells == src->memory + offset;
    for (uint64_t at = 0; at < s->length; at += piece) {
        const uint64_t n = s->length - at < piece ? s->length - at : piece;
        if (!in_place) {
            tamis_status st = image_fetch(src, offset + at, s->cells + at, (size_t)n, why);
            if (st != TAMIS_OK) return st;
        }
        for (uint64_t c = at / TAMIS__CHUNK; verify && c * TAMIS__CHUNK < at + n; c++)
            if (tamis__checksum(s->cells + c * TAMIS__CHUNK, chunk_length(s, c)) !=
                tamis__get64(sums + c * TAMIS__SUM_BYTES))
                return tamis__corrupt(why, offset + c * TAMIS__CHUNK,
                                      "damaged: the checksum of a chunk does not match");
    }
    return TAMIS_OK;
}

static tamis_status read_cells(const struct source *src, tamis *t, const uint8_t *meta, bool verify,
                               tamis_error *why)
{
    const uint64_t end = tamis__metadata_bytes(t->body.sections, t->body.count);
    uint64_t at = end;
    const uint8_t *sums = meta + TAMIS__HEADER_BYTES + (size_t)t->body.count * TAMIS__ENTRY_BYTES;
    for (uint32_t i = 0; i < t->body.count; i++) {
        const struct section *s = &t->body.sections[i];
        uint8_t padding[TAMIS__ALIGN];
        const size_t gap = (size_t)(tamis__aligned(at) - at);
        tamis_status st = image_fetch(src, at, padding, gap, why);
        if (st != TAMIS_OK) return st;
        if (!all_zero(padding, gap)) return tamis__corrupt(why, at, "padding is not zero");
        at = tamis__aligned(at);
        st = read_section(src, s, at, sums, verify, why);
        if (st != TAMIS_OK) return st;
        sums += tamis__chunks(s->length) * TAMIS__SUM_BYTES;
        at += s->length;
    }
    const char *reason = t->kind->wrong_cells(&t->body);
    return reason == NULL ? TAMIS_OK : tamis__corrupt(why, tamis__aligned(end), reason);
}

/* What every kind requires of its sections. */
static tamis_status check_section(const struct kind *kind, const struct section *s,
                                  tamis_error *why)
{
    const struct kind *inner = tamis__kind(s->kind);
    unsigned most_role = TAMIS__ROLE_CELLS;
    if (inner == NULL) return tamis__no_kind(s->kind, TAMIS_EVERSION, why);
    if (kind->roles > most_role) most_role = kind->roles;
    if (inner->roles > most_role) most_role = inner->roles;
    if (s->role < 1 || s->role > most_role || s->variant > inner->variants)
        return tamis__fail(
            why, TAMIS_EVERSION,
            "a section of kind %u, role %u, variant %u is of a newer version of Tamis", s->kind,
            s->role, s->variant);
    return TAMIS_OK;
}

/* The fields of an entry that only some kinds have. */
static tamis_status take_meanings(const struct kind *kind, bool sketch, const struct metadata *m,
                                  uint32_t i, tamis_error *why)
{
    struct section *s = &m->sections[i];
    const uint64_t entry = TAMIS__HEADER_BYTES + (uint64_t)i * TAMIS__ENTRY_BYTES;
    const uint64_t items = tamis__get64(m->bytes + entry + E_ITEMS);
    const uint32_t salt = tamis__get32(m->bytes + entry + E_SALT);
    s->items = items;
    s->salt = salt;
    s->boundary = tamis__get64(m->bytes + entry + E_BOUNDARY);
    if (items != 0 && !has_items(kind, sketch))
        return tamis__corrupt(why, entry + E_ITEMS, "a reserved field is not zero");
    if (s->boundary != 0 && (kind->traits & TAMIS__BOUNDARIES) == 0)
        return tamis__corrupt(why, entry + E_BOUNDARY, "a reserved field is not zero");
    if (salt != 0 && !has_salt(kind))
        return tamis__corrupt(why, entry + E_SALT, "a reserved field is not zero");
    return TAMIS_OK;
}

static tamis_status check_sections(const struct kind *kind, bool sketch, const struct metadata *m,
                                   tamis_error *why)
{
    const struct body shape = {.sections = m->sections, .count = m->count};
    for (uint32_t i = 0; i < m->count; i++) {
        tamis_status s = check_section(kind, &m->sections[i], why);
        if (s == TAMIS_OK) s = take_meanings(kind, sketch, m, i, why);
        if (s != TAMIS_OK) return s;
    }
    const char *reason = kind->wrong_shape(&shape);
    return reason == NULL ? TAMIS_OK : tamis__corrupt(why, TAMIS__HEADER_BYTES, reason);
}

/* The table of the kind that the header names. NULL: it has no removable filters. */
static const struct kind *kind_of(const uint8_t *header)
{
    const uint32_t id = tamis__get16(header + H_KIND);
    const bool removable = (tamis__get32(header + H_READ_ONLY) & FLAG_REMOVABLE) != 0;
    return removable ? tamis__removable_kind(id) : tamis__kind(id);
}

/* The bytes of the image stay const, because the handle is read-only. */
static void set_in_place(struct body *b, const uint8_t *image)
{
    uint64_t at = tamis__metadata_bytes(b->sections, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        at = tamis__aligned(at);
        b->sections[i].cells = (uint8_t *)(uintptr_t)(image + at);
        at += b->sections[i].length;
    }
}

static tamis_status make_handle(const struct source *src, const tamis_options *o, bool in_place,
                                const struct metadata *m, tamis **out, tamis_error *why)
{
    const struct kind *kind = kind_of(m->bytes);
    if (kind == NULL)
        return tamis__corrupt(why, H_READ_ONLY,
                              "this filter is marked as removable, but its kind is not");
    const struct body shape = {.sections = m->sections, .count = m->count};
    const struct sketch_ops *sketch = tamis__sketch_of(kind, tamis__inner(&shape));
    tamis_status s = check_sections(kind, sketch != NULL, m, why);
    if (s != TAMIS_OK) return s;
    tamis *t = tamis__new(kind, o, m->count, is_sealed(m->bytes));
    if (t == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    if (sketch != NULL) tamis__extra(t)->sketch = sketch;
    memcpy(t->body.sections, m->sections, m->count * sizeof *m->sections);
    s = set_facts(t, m->bytes, o, why);
    if (s == TAMIS_OK && in_place) {
        t->borrowed = t->read_only = true;
        set_in_place(&t->body, src->memory);
    } else if (s == TAMIS_OK && !tamis__alloc_cells(t, false)) {
        s = tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                        (unsigned long long)src->size);
    }
    if (s == TAMIS_OK) s = read_cells(src, t, m->bytes, (o->flags & TAMIS_UNVERIFIED) == 0, why);
    if (s == TAMIS_OK) return tamis__finish(t, o, out, why);
    tamis_close(t);
    return s;
}

tamis_status tamis__image_read(const struct source *src, const tamis_options *options,
                               bool in_place, tamis **out, tamis_error *why)
{
    struct metadata m = {0};
    if (options->max_bytes != 0 && src->size > options->max_bytes)
        return tamis__fail(why, TAMIS_ENOMEM, "%llu bytes, more than the limit of %llu",
                           (unsigned long long)src->size, (unsigned long long)options->max_bytes);
    tamis_status s = read_metadata(src, options->memory, &m, why);
    if (s == TAMIS_OK) s = make_handle(src, options, in_place, &m, out, why);
    tamis__free(options->memory, m.sections);
    tamis__free(options->memory, m.bytes);
    return s;
}

#ifndef __wasm__
uint64_t tamis_image_length(const void *begin, size_t n)
{
    if (n < TAMIS__HEADER_BYTES || memcmp(begin, image_magic, sizeof image_magic) != 0) return 0;
    return tamis__get64((const uint8_t *)begin + H_TOTAL);
}
#endif
