/* The handle behind the public API. */
#ifndef TAMIS_HANDLE_H
#define TAMIS_HANDLE_H

#include "hash.h"
#include "kind.h"
#include "uniform.h"

#include <tamis/inspect.h>

struct tamis {
    const struct kind *kind;
    const tamis_memory *memory;
    struct body body;
    uint64_t scratch_bytes; /* for bulk.c */
    struct hasher hasher;
    uint64_t items, planned_items;
    double planned_fpr;
    uint64_t generation; /* of the file the content came from; 0: none */
    bool changed;        /* since then, so that it is the next generation's */
    bool steady;         /* TAMIS_STEADY */
    bool items_estimated;
    bool strict, sealed;
    bool read_only; /* sealed, or cells that are not ours to change, or a newer writer's */
    bool newer;     /* of a newer writer, whose rules we do not know: never written again */
    bool borrowed;  /* the cells belong to a mapping or to the caller */
    bool secret;    /* holds a key, so this very struct is tamis__alloc_secret's */
    struct hash_watch watch; /* what the hashes look like that callers brought */

    /* file.c's business: the path this handle came from, a lock, a mapping. */
    struct file *file;
    void (*close_file)(tamis *t);

    /* Of kinds that weigh: see noise.h. The last, since it alone may change while others only
     * read. */
    struct noise *noise;
};

/* A handle with room for so many sections, and for a key where the options have one, nothing else
 * set; NULL: no memory. */
tamis *tamis__new(const struct kind *kind, const tamis_options *o, uint32_t sections);

/* What makes another handle with the same options, and room for the key where there is one. */
tamis_options tamis__same_options(const tamis *t);

/* The last step of creating or opening: hand the handle out, or close it when the options forbid
 * it. */
tamis_status tamis__finish(tamis *t, const tamis_options *o, tamis **out, tamis_error *why);

/* tamis_seal without a look at the hashes, which must not be sealed already. For tests of what
 * solves for them. */
tamis_status tamis__seal(tamis *t, tamis_error *why);

/* What the cells say, or those of the union with another body; z is the quantile of the interval of
 * items. */
void tamis__gauge(const tamis *t, const struct body *other, double z, struct gauge *out);

/* A window that turns by itself, once its plan and sections are known. */
void tamis__set_turning(tamis *t);

/* Every section gets its cells, zeroed, or of any contents for who overwrites them at once. False:
 * no memory; tamis_close cleans up. */
bool tamis__alloc_cells(tamis *t, bool zeroed);

/* Whether keys may be added and taken away; hashes only need a handle that is not read-only. */
tamis_status tamis__may_change_keys(const tamis *t);

/* Give the reason for a status that a verb has come to; TAMIS_OK passes. */
tamis_status tamis__refuse(tamis_error *why, tamis_status s);

/* Generation of the content as it is now. */
static inline uint64_t tamis__generation(const tamis *t)
{
    return t->generation + (t->changed && !(t->steady && t->generation > 0) ? 1 : 0);
}

/* Everything that tamis_info knows without a look at the cells; the other fields are 0. */
void tamis__known_facts(const tamis *t, tamis_facts *out);

/* Options that make sense where an image is copied from memory. */
#define TAMIS__LOAD_FLAGS                                                                          \
    ((uint32_t)(TAMIS_UNVERIFIED | TAMIS_KEYLESS | TAMIS_SHARED | TAMIS_STEADY))

/* TAMIS_EINVAL unless options is NULL or makes sense with these flags; *out gets a copy. */
tamis_status tamis__check_options(const tamis_options *options, uint32_t allowed,
                                  tamis_options *out, tamis_error *why);

#endif
