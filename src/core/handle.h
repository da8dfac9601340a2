/* The handle behind the public API. */
#ifndef TAMIS_HANDLE_H
#define TAMIS_HANDLE_H

#include "atomics.h"
#include "hash.h"
#include "kind.h"
#include "uniform.h"

#include <tamis/inspect.h>

struct tamis {
    struct chosen single; /* by tamis__choose */
    struct body body;
    struct hasher hasher;
    const struct kind *kind;
    uint64_t items;    /* 0 in a sketch */
    uint32_t stated;   /* the encoding of the keys and their width: see encoding.h; 0: not stated */
    bool changed;      /* since `generation`, so that the content belongs to the next one */
    uint8_t watch;     /* enum hash_watch: what the hashes that callers supplied look like */
    bool any_key : 1;  /* of any length, and the hasher is usable: all that general functions ask */
    bool own_adds : 1; /* single.own->add_hash may be used */
    bool steady : 1;   /* TAMIS_STEADY */
    bool items_estimated : 1;
    bool strict : 1;
    bool sealed : 1;
    bool read_only : 1;     /* sealed, or cells that must not be changed, or of a newer version */
    bool newer : 1;         /* of a newer version, whose rules are not known: never written again */
    bool borrowed : 1;      /* the cells belong to a mapping or to the caller */
    uint64_t planned_items; /* at least 1; in a sketch without meaning */
    double planned_fpr;     /* 0 in a sketch */
    uint64_t generation;    /* of the file the content came from; 0: none */

    /* Copies have only the fields before this one. */

    struct file *file;         /* NULL: it was not opened from a file, nor saved to one */
    struct section sections[]; /* those of the body, until a seal makes more of them */
};

/* struct body.extra of a handle is the beginning of this. Sketches, windows, kinds that grow,
 * shared handles, collections of sealed kinds, and handles with threads or scratch_bytes have one
 * of their own. The others get one while few hashes from the caller are known. */
struct handle_extra {
    struct body_extra of_body;
    const struct sketch_ops *sketch; /* NULL: not a sketch. Use tamis__sketch to read it. */
    uint64_t scratch_bytes;          /* 0: the default, see tamis__scratch_bytes */
    int64_t weight;                  /* sketches: the sum of all weights */
    double planned_error; /* sketches: the error bound, as a share of the weight; 1: no bound */
    uint64_t epoch;       /* windows: of tamis_rotate_to; 0: none */
    struct hash_sample sample; /* for TAMIS__WATCHING */

    /* Copies have only the fields before this one. */

    /* For sketches, see noise.h. It may change while other threads read. */
    struct noise *noise;
    /* Windows of sketches: what the noise of the older generations adds up to, or NULL. It is kept
     * and shared between threads like `noise`. See frequency/older.c. */
    struct older *older;
    /* In a shared handle: protects `noise`, and the generation together with `changed`. */
    uint32_t lock;
};

/* For file.c: where a handle was opened from, or saved to first. */
struct file {
    void (*close)(tamis *t);
    uint64_t root; /* of the image under the path when it was opened or saved last */
    int lock;      /* the descriptor that holds the lock, or -1 */
    void *map;     /* or NULL */
    size_t map_size;
    char path[]; /* resolved */
};

/* The extra of handles that have none of their own. */
extern const struct handle_extra tamis__no_extra;

static inline struct handle_extra *tamis__extra(const tamis *t)
{
    return (struct handle_extra *)t->body.extra;
}

static inline bool tamis__has_extra(const tamis *t)
{
    return tamis__extra(t) != &tamis__no_extra;
}

/* Gives the handle an extra of its own unless it has one. Shared handles have one. False: not
 * enough memory. */
bool tamis__add_extra(tamis *t);
/* Takes it away if a handle in this state does not need it. */
void tamis__trim_extra(tamis *t);
/* The bytes of the extra that tamis__new allocates, or 0. */
uint64_t tamis__extra_bytes(const struct kind *kind, const tamis_options *o, bool sealed);

/* The memory that bulk calls may use besides the cells. */
uint64_t tamis__scratch_bytes(const tamis *t);

/* Whether the hashes that callers supplied are clearly not uniform. */
static inline bool tamis__is_suspect(const tamis *t)
{
    return __atomic_load_n(&t->watch, __ATOMIC_RELAXED) == TAMIS__SUSPICIOUS;
}

static inline uint64_t tamis__moved(const struct body *b)
{
    return tamis__in_use(b) ? tamis__load64(&b->extra->moved) : b->extra->moved;
}

/* What the handle has as a sketch, or NULL. */
static inline const struct sketch_ops *tamis__sketch(const tamis *t)
{
#ifdef TAMIS_LEAN
    (void)t;
    return NULL;
#else
    return tamis__extra(t)->sketch;
#endif
}

/* The number of items as counted, and whether the content has changed since it was last saved. In
 * shared blocked filters the locks count (locks.h). In shared windows the generations do, and the
 * gate is entered here. */
uint64_t tamis__items(const tamis *t);
uint64_t tamis__items_with_locks(const tamis *t);
bool tamis__changed_with_locks(const tamis *t);
static inline bool tamis__changed(const tamis *t)
{
#ifdef TAMIS_LEAN
    return t->changed;
#else
    return __atomic_load_n(&t->changed, __ATOMIC_RELAXED) ||
           (t->body.extra->locks != NULL && tamis__changed_with_locks(t));
#endif
}

/* The sum of all weights, which the adds to a shared sketch of one section do not write to the
 * handle. */
static inline int64_t tamis__weight(const tamis *t)
{
    if (!tamis__in_use(&t->body) || t->body.count != 1) return tamis__extra(t)->weight;
    const int64_t w = __atomic_load_n(&t->body.sections->weight, __ATOMIC_RELAXED);
    return w >= 0 || tamis__sketch(t) == NULL || tamis__sketch(t)->two_sided ? w : INT64_MAX;
}

/* Whether it lists items, and so keeps them: hashes alone cannot be added. */
static inline bool tamis__keeps_items(const tamis *t)
{
    return tamis__sketch(t) != NULL && tamis__sketch(t)->listed != NULL;
}

/* The size of a handle with this many sections. */
static inline uint64_t tamis__handle_bytes(uint32_t sections)
{
    return sizeof(struct tamis) + (uint64_t)sections * sizeof(struct section);
}

/* Returns a handle with room for this many sections, and with the key if the options have one.
 * `sealed` is whether it will be a sealed one. Nothing else is set. NULL: not enough memory. */
tamis *tamis__new(const struct kind *kind, const tamis_options *o, uint32_t sections, bool sealed);
/* The same for a copy of a handle. */
tamis *tamis__new_like(const tamis *t);

/* The options that make another handle like this one, with room for the key if there is one. */
tamis_options tamis__same_options(const tamis *t);

/* The last step of creating or opening: pass the handle to the caller, or close it if the options
 * forbid it. */
tamis_status tamis__finish(tamis *t, const tamis_options *o, tamis **out, tamis_error *why);

/* tamis_seal of a handle that is not sealed yet, without checking that the hashes are uniform. For
 * tests of what is built from them. */
tamis_status tamis__seal(tamis *t, tamis_error *why);

/* What the cells show, or those of the union with another body. z is the quantile of the interval
 * of items. */
void tamis__gauge(const tamis *t, const struct body *other, double z, struct gauge *out);

/* Make a window rotate by itself, once its plan and sections are known. */
void tamis__set_turning(tamis *t);

/* Whether tamis_merge accepts the two, unless the union exceeds a strict plan. */
tamis_status tamis__may_merge(const tamis *into, const tamis *from, tamis_error *why);

/* Allocate the cells of every section. They are zero if `zeroed`; otherwise the caller overwrites
 * them. False: not enough memory, and tamis_close cleans up. */
bool tamis__alloc_cells(tamis *t, bool zeroed);

/* Whether keys may be added and removed. Hashes only need a handle that is not read-only. */
tamis_status tamis__may_change_keys(const tamis *t);

/* Whether keys can be removed, unless the handle is read-only. */
bool tamis__removes(const tamis *t);

/* Set the reason for the status of a verb; TAMIS_OK has none. */
tamis_status tamis__refuse(tamis_error *why, tamis_status s);

/* The generation of the content as it is now. In a shared handle that threads use, the caller holds
 * the lock. */
static inline uint64_t tamis__generation(const tamis *t)
{
    return t->generation + (tamis__changed(t) && !(t->steady && t->generation > 0) ? 1 : 0);
}

/* The options that make sense where an image is copied from memory. */
#define TAMIS__LOAD_FLAGS                                                                          \
    ((uint32_t)(TAMIS_UNVERIFIED | TAMIS_KEYLESS | TAMIS_SHARED | TAMIS_STEADY))

/* The same where an image is used in place. */
#define TAMIS__VIEW_FLAGS ((uint32_t)(TAMIS_UNVERIFIED | TAMIS_KEYLESS))

/* Makes a handle of a solved plan: an empty one, or a read-only view of these cells, which requires
 * a kind with one section. */
tamis_status tamis__from_plan(const tamis_plan *p, const tamis_options *o, const uint8_t *cells,
                              tamis **out, tamis_error *why);

/* Copy the options to *out, or zeros if they are NULL. TAMIS_EINVAL unless they make sense with
 * these flags. */
tamis_status tamis__check_options(const tamis_options *options, uint32_t allowed,
                                  tamis_options *out, tamis_error *why);

#endif
