/* The collection of a sealed kind. Such a kind is built from all its keys at once. Until tamis_seal
 * it collects their hashes, in a section of role TAMIS__ROLE_HASHES, and answers "maybe" to
 * everything. */
#ifndef TAMIS_COLLECT_H
#define TAMIS_COLLECT_H

#include "../core/kind.h"
#include "../image/spill.h"

/* The section of an empty collection. k and cell_bits belong to the kind, and are kept for the
 * seal. */
struct section tamis__collection(uint32_t kind, uint32_t k, uint32_t cell_bits);
/* Whether the body is still a collection. */
bool tamis__collecting(const struct body *b);
/* Returns the reason why the only section is not a collection, or NULL. */
const char *tamis__wrong_collection(const struct body *b);
/* The same for the cells of all collections of a body. Hashes may be any; if there are none, the
 * bytes in their place must be zero. */
const char *tamis__wrong_collection_cells(const struct body *b);

/* struct kind.add. Fails with TAMIS_ENOMEM, with TAMIS_EFULL at the limit of the body, or with
 * TAMIS_EIO if hashes go to a file. */
tamis_status tamis__collect(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done);
/* struct sealed_ops.reserve. */
uint8_t *tamis__reserve(struct body *b, size_t n);
/* struct kind.clear. */
void tamis__clear_collection(struct body *b);
/* The file for hashes that do not fit in memory, or NULL. A lean build creates no kind that has
 * such a file. */
static inline struct spill *tamis__spill(const struct body *b)
{
    (void)b;
    return TAMIS__FULL(b->extra->spill);
}
/* Whether some hashes are in a file rather than in the section. */
static inline bool tamis__spilled(const struct body *b)
{
    return tamis__spill(b) != NULL && tamis__spill(b)->count > 0;
}
/* Fails with TAMIS_EUNSUPPORTED, because a collection with hashes in a file has no image. */
tamis_status tamis__in_file(tamis_error *why);
/* Writes all hashes in memory to the file, as one run. If that fails, they stay in memory. */
tamis_status tamis__spill_collection(struct body *b, tamis_error *why);
/* Whether the hashes of a collection, or of one of the two collections of an exact filter, are
 * clearly not uniform (uniform.h). */
bool tamis__suspect_hashes(const struct body *b);
/* Answers "maybe" to every key. */
void tamis__say_maybe(const struct batch *keys, uint8_t *bits);

/* The i-th hash of a collection, in the order in which they were added. */
static inline tamis_hash tamis__collected(const struct section *s, uint64_t i)
{
    const tamis_hash h = {tamis__get64(s->cells + 16 * i), tamis__get64(s->cells + 16 * i + 8)};
    return h;
}

/* The number of hashes that the cells have room for. */
static inline uint64_t tamis__collection_room(const struct section *s)
{
    return (s->room > s->length ? s->room : s->length) / 16;
}

/* Replaces the sections by `count` new ones, whose cells the body then owns. Returns false, with
 * nothing changed, if there is no memory. */
bool tamis__replace_sections(struct body *b, const struct section *by, uint32_t count);

#endif
