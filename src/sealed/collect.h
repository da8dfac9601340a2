/* Static kinds solve for all their keys at once. Until tamis_seal they collect hashes, in a section
 * of that role, and answer "maybe" to everything. */
#ifndef TAMIS_COLLECT_H
#define TAMIS_COLLECT_H

#include "../core/kind.h"
#include "../image/spill.h"

/* The section of an empty collection; k and cell_bits are the kind's own, kept for the seal. */
struct section tamis__collection(uint32_t kind, uint32_t k, uint32_t cell_bits);
/* Whether the body is a collection still. */
bool tamis__collecting(const struct body *b);
/* A reason why the only section is no collection, or NULL. */
const char *tamis__wrong_collection(const struct body *b);

/* struct kind.add: TAMIS_ENOMEM, or TAMIS_EFULL at the limit of the body; TAMIS_EIO where hashes go
 * to a file. */
tamis_status tamis__collect(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done);
/* struct kind.clear. */
void tamis__clear_collection(struct body *b);
/* Where hashes beyond memory go, or NULL. A lean build makes no kind that has such a file. */
static inline struct spill *tamis__spill(const struct body *b)
{
    (void)b;
    return TAMIS__FULL(b->spill);
}
/* Whether hashes are in a file, and not all in the section. */
static inline bool tamis__spilled(const struct body *b)
{
    return tamis__spill(b) != NULL && tamis__spill(b)->count > 0;
}
/* TAMIS_EUNSUPPORTED, as that has no image. */
tamis_status tamis__in_file(tamis_error *why);
/* All that are in memory go to the file, as a run. What failed has not happened. */
tamis_status tamis__spill_collection(struct body *b, tamis_error *why);
/* Whether the hashes of a collection, or of one of the two of an exact filter, are clearly not
 * uniform: uniform.h. */
bool tamis__suspect_hashes(const struct body *b);
/* "Maybe" to every key. */
void tamis__say_maybe(const struct batch *keys, uint8_t *bits);

/* The hashes of a collection, in the order of the adds. */
static inline tamis_hash tamis__collected(const struct section *s, uint64_t i)
{
    const tamis_hash h = {tamis__get64(s->cells + 16 * i), tamis__get64(s->cells + 16 * i + 8)};
    return h;
}

/* How many the cells have room for. */
static inline uint64_t tamis__collection_room(const struct section *s)
{
    return (s->room > s->length ? s->room : s->length) / 16;
}

/* Replace the sections by `count` new ones, whose cells the body takes over. False: no memory, and
 * nothing has changed. */
bool tamis__replace_sections(struct body *b, const struct section *by, uint32_t count);

#endif
