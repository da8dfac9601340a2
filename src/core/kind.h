/* The table that each kind of structure gives to the rest of the library.
 *
 * A kind is one `struct kind`: a number, a name, what its plans may ask for, and functions. A
 * sketch also has a `struct sketch_ops`, and a sealed kind a `struct sealed_ops`. Adding a kind
 * takes one file with these tables and one line in kind.c; also its number in <tamis/tamis.h>, a
 * section in docs/FORMAT.md, and tests. */
#ifndef TAMIS_KIND_H
#define TAMIS_KIND_H

#include "bits.h"
#include "occupancy.h"
#include "plan.h"

#include <tamis/tamis.h>

/* The browser package (web/, TAMIS_LEAN) can only read some kinds, because it is a quarter smaller
 * without the functions that plan, fill and change them. A table without `add` makes its filters
 * read-only, and a kind without `solve` cannot be created. The package neither merges nor converts,
 * and WebAssembly has no prefetch. It has no sketches; the page (TAMIS_NO_TOP) has no windows of
 * them, which would add 9 KB. Which kinds a build has is another choice (TAMIS_KINDS, kind.c). */
#ifdef TAMIS_LEAN
#define TAMIS__FULL(f) NULL
#define TAMIS__REMOVABLE TAMIS_COUNTING /* the smallest kind made here whose keys can be removed */
#else
#define TAMIS__FULL(f) f
#define TAMIS__REMOVABLE TAMIS_CUCKOO
#endif
#if !defined TAMIS_LEAN && !defined TAMIS_NO_TOP
#define TAMIS__WINDOWS_OF_SKETCHES
#endif

/* What a section of an image contains. Its bytes are the same in memory and at rest. */
enum {
    TAMIS__ROLE_CELLS = 1,
    TAMIS__ROLE_REMOVED = 2,
    TAMIS__ROLE_HASHES = 3,
    TAMIS__ROLE_THRESHOLDS = 4,
    TAMIS__ROLE_BITS = 5, /* a retrieval: a ribbon of one column */
    TAMIS__ROLE_ENTRIES = 6,
    TAMIS__ROLE_TEXTS = 7,
    TAMIS__ROLE_STASH = 8
};

/* A section. k and variant are parameters of the shape that each kind defines for itself. No kind
 * uses two fields of a union, which share a place in the image as well, except `room`. Where the
 * comments do not name the kind, they are 0. */
struct section {
    uint16_t role, kind, variant, cell_bits;
    uint32_t k;
    union {
        uint32_t salt;           /* sealed kinds: the number of the hash function that worked */
        uint32_t flip_threshold; /* private: the probability that a bit was flipped, see flip.h */
    };
    uint64_t m;
    union {
        uint64_t items;    /* windows of filters: the items of this generation */
        uint64_t excluded; /* exact: how many keys are excluded */
        int64_t weight;    /* sketches: the sum of all weights; negative only if two-sided */
    };
    union {                /* see tamis__has_boundary */
        uint64_t boundary; /* ribbons: the first segment that has one more column */
        uint64_t room;     /* the bytes allocated at `cells`, if more than `length` */
    };
    uint64_t length; /* in bytes */
    uint8_t *cells;  /* length bytes, 64-byte aligned */
};

static inline uint64_t tamis__cell(const struct section *s, uint64_t i)
{
    return tamis__get_bits(s->cells, i * s->cell_bits, s->cell_bits);
}

/* The form of a hash in a section of hashes. */
static inline void tamis__put_hash(uint8_t *to, tamis_hash h)
{
    tamis__put64(to, h.lo);
    tamis__put64(to + 8, h.hi);
}

/* What a plain filter that one thread uses has no need of. Such bodies share one that is zero and
 * must not be written to, so that their handles are small. */
struct body_extra {
    /* For shared kinds with TAMIS__LINES or TAMIS__STRIPED: the locks of the lines (locks.h).
     * Otherwise NULL: the kernels without locks. */
    struct line_locks *locks;
    /* For shared windows: adds and queries enter it, and rotations close it (gate.h). Otherwise
     * NULL. */
    struct gate *gate;
    /* For sealed kinds: the number of threads that the seal may use, and the file for hashes that
     * do not fit in memory (NULL: none). */
    struct spill *spill;
    uint32_t threads;
    bool summed; /* see other_totals */
    /* For kinds that grow: the limit of the image (0: no limit). */
    uint64_t max_bytes;
    /* For growing filters with shares: the number of the section of each prefix of a hash, and a
     * summary of the first section, in a block of TAMIS__DIRECTORY_BYTES. It follows from the
     * sections and their cells (struct kind.ready). */
    uint16_t *directory;
    /* For windows of filters: an add starts a new generation when the newest one has this many
     * items. 0: never. */
    uint64_t turn_at;
    /* With TAMIS__SECTION_TOTALS: the sum of the items, or in a sketch of the weights, of all
     * sections except the first. It is valid while `summed` is set. An add changes only the total
     * of the first section, so it need not visit all generations of a window. A rotation clears
     * `summed`. */
    uint64_t other_totals;
    /* For sketches: all weight that was added or taken away since the body was made, at most
     * TAMIS__MOST_WEIGHT. */
    uint64_t moved;
};

#define TAMIS__DIRECTORY_BYTES 6144u

/* The sections of one structure. Kinds that are made of others pass slices of their sections on. */
struct body {
    struct section *sections;
    uint32_t count;
    bool shared; /* several threads add and query at the same time */
    bool apart;  /* the sections are a block of their own, not a part of the handle's */
    const tamis_memory *memory; /* the allocator of cells */
    struct body_extra *extra;
};

/* Whether other threads may be adding and querying. WebAssembly has only one thread. */
static inline bool tamis__in_use(const struct body *b)
{
#ifdef __wasm__
    (void)b;
    return false;
#else
    return b->shared;
#endif
}

/* The largest weight of a sketch, and the largest value of its counters. */
#define TAMIS__MOST_WEIGHT ((uint64_t)INT64_MAX)

/* a + b, at most TAMIS__MOST_WEIGHT. Neither may be more than that. */
static inline uint64_t tamis__add_up(uint64_t a, uint64_t b)
{
    const uint64_t sum = a + b;
    return sum < TAMIS__MOST_WEIGHT ? sum : TAMIS__MOST_WEIGHT;
}

/* The weight of a one-sided sketch after more was added, and the sum of two. A hostile image may
 * have any number there; those beyond the largest count as that. */
static inline int64_t tamis__add_weight(int64_t weight, uint64_t more)
{
    const uint64_t w = (uint64_t)weight;
    return (int64_t)(w < TAMIS__MOST_WEIGHT ? tamis__add_up(w, more) : TAMIS__MOST_WEIGHT);
}

static inline int64_t tamis__merge_weights(int64_t a, int64_t b)
{
    return (uint64_t)b < TAMIS__MOST_WEIGHT ? tamis__add_weight(a, (uint64_t)b) : INT64_MAX;
}

/* What a sketch knows about a key that has an entry of its own. All fields are 0 if it has none. */
struct known {
    int64_t certain, likely; /* a guaranteed minimum count, and the most likely count */
    /* Two-sided sketches: one of the key's counters is saturated, so it missed what was taken away
     * since then. */
    bool saturated;
};

/* What tamis_upper returns for a count, given struct known.saturated. */
static inline int64_t tamis__upper(int64_t count, bool saturated)
{
    return saturated ? INT64_MAX : count;
}

/* A batch of keys, as the functions of a kind see them. */
#define TAMIS__MOST_BATCH 128u
struct batch {
    const tamis_hash *hashes;
    size_t n;                /* at most TAMIS__MOST_BATCH */
    const tamis_hash *ahead; /* n more, to be prefetched on the way; or NULL */
    /* Room in which a kind keeps what it computed about these keys at the prefetch, until the
     * query: TAMIS__AIM_WORDS for at most kind.aimed keys. `aim` was written for these keys by
     * prefetch, or by the query that had them ahead, where it was next_aim. NULL: the keys were not
     * prefetched. Once the keys are answered, the kind may use the room for anything. There is only
     * one such room, so kinds that others are made of must not use it. */
    uint64_t *aim, *next_aim;
    const int64_t *weights;  /* sketches; NULL: all 1 */
    const uint32_t *values;  /* kinds with TAMIS__VALUES, in an add: the values of the keys */
    const tamis_bytes *keys; /* the keys themselves, in an add to a sketch that keeps items */
    bool unasked;        /* in an add: the caller does not want to know which keys were present */
    bool mostly_yes;     /* in a query: most of the first eight keys before these got a yes */
    struct known *known; /* in a count, or NULL: set for keys with entries of their own */
    /* In an add to a sketch, or NULL: set to the tamis__upper of each key right after its add, for
     * the keys that were added. */
    int64_t *counts;
};
/* Two of these and the ring of hashes take 10 KiB of stack, which leaves 6 KiB for the query of the
 * kind. */
#define TAMIS__AIM_WORDS 368u

/* Functions for one key, given as bytes or as a hash (single.h). Those of a kind may lack add and
 * add_hash (NULL), and then the general ones take their place. */
struct single {
    bool (*ask)(const tamis *t, const void *key, size_t len);
    tamis_status (*add)(tamis *t, const void *key, size_t len, bool *seen);
    bool (*ask_hash)(const tamis *t, tamis_hash h);
    tamis_status (*add_hash)(tamis *t, tamis_hash h, bool *seen);
};

/* Those that a handle uses. */
struct chosen {
    bool (*ask)(const tamis *t, const void *key, size_t len);
    tamis_status (*add)(tamis *t, const void *key, size_t len, bool *seen);
    const struct single *own; /* for hashes: those of the kind, or the general ones */
};

/* What the cells show. A kind sets what applies to it; the other fields are 0. */
struct gauge {
    struct estimate items; /* distinct ones */
    uint64_t hit, cells;   /* cells in use, all cells */
    double rate;           /* probability that a non-member gets a "maybe" */
    double miss_rate;      /* probability that a member gets a "no" */
    uint64_t saturated;    /* saturated counters */
    double overflow;       /* probability that as many adds saturate any counter */
    double held; /* items that the fullest part certainly has, where these can exceed `items` */
    uint64_t excluded; /* excluded keys */
    double epsilon;    /* private: the privacy that was spent */
};

/* An item in the list of a sketch. */
struct listed {
    tamis_bytes item; /* what is kept of its bytes; p is NULL if nothing is */
    uint64_t length;  /* of the whole item */
    uint64_t hash;    /* 64 bits of its hash, by which the sketch identifies it */
    int64_t count;
    struct known known;
};

/* An item that may belong in a list. */
struct listable {
    uint64_t slot, hash;
    int64_t most;
};

enum {
    TAMIS__MULTISET = 1,        /* every add counts as an item, not only that of a new key */
    TAMIS__MISSES = 2,          /* a "no" can be wrong */
    TAMIS__GROWS = 4,           /* is never overfull; adding can change its sections */
    TAMIS__COMPARES = 8,        /* the gauge of the union with another filter makes sense */
    TAMIS__SHARES = 16,         /* supports TAMIS_SHARED */
    TAMIS__SECTION_TOTALS = 32, /* sections have items, or in a sketch weights, of their own */
    TAMIS__BOUNDARIES = 64,     /* sections have boundaries */
    TAMIS__EXCLUDES = 128,      /* sections have numbers of excluded keys */
    TAMIS__NOISY = 256,         /* bits are flipped; sections have a flip threshold */
    TAMIS__ROWS = 512,          /* each of the k probes has a row of m bits (bitrows.h) */
    /* A key is one line of 64 bytes, number mulhi(hi, lines), and its add reads and changes nothing
     * else. So threads may add to distinct lines. */
    TAMIS__LINES = 1024,
    TAMIS__HAS_PARTS = 2048, /* is made of another kind, the plan's inner_kind */
    /* Counts distinct keys. It has an error instead of a false-positive rate, and keeps no number
     * of items, because its bytes do not depend on the order of the keys. Two such sketches can be
     * merged and compared if they differ in m and in variant. */
    TAMIS__DISTINCT = 4096,
    /* TAMIS__SHARES by locks: the adds and queries of a shared body lock the lines of a key. */
    TAMIS__STRIPED = 16384,
    /* Has a value of cell_bits bits for each key (struct sealed_ops.value), and takes no key
     * without one. */
    TAMIS__VALUES = 8192,
    TAMIS__LINED_VARIANT = 32768, /* TAMIS__LINES holds for sections of variant 1 */
    /* Keys can be removed, unlike from other filters of the kind (tamis__removable_kind). */
    TAMIS__REMOVES = 65536
};

/* What a plan may ask of a kind, besides bytes, m, k, the seed and TAMIS_HASH_CALLER. plan.c
 * refuses the rest before the kind's own `solve` checks the values. The lower half is flags of
 * tamis_plan. */
enum {
    TAMIS__PLANS_ITEMS = 1 << 16,
    TAMIS__PLANS_FPR = 1 << 17,
    TAMIS__PLANS_TWO = 1 << 18,         /* needs two of items, fpr, and bytes or m */
    TAMIS__PLANS_CELL_BITS = 1 << 19,   /* cell_bits */
    TAMIS__PLANS_ERROR = 1 << 20,       /* error and delta */
    TAMIS__PLANS_GENERATIONS = 1 << 21, /* generations */
    TAMIS__PLANS_EXCLUDED = 1 << 22,    /* excluded, which counts as one of the two */
    TAMIS__PLANS_INNER = 1 << 23,       /* inner_kind */
    /* What all filters have in common that are planned for a number of items. */
    TAMIS__PLANS_FILTER = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR | TAMIS__PLANS_TWO | TAMIS_STRICT
};

/* What only sketches have. */
struct sketch_ops {
    bool two_sided; /* a count may be too low as well as too high */
    /* Estimate how often each key was added: never too low unless two_sided. INT64_MAX: more than
     * the counters can hold; -INT64_MAX: less. */
    void (*count)(const struct body *b, const struct batch *keys, int64_t *out);
    /* Whether an add raises only the counters that are too low, so that nothing can be taken away.
     * NULL: never. */
    bool (*conservative)(const struct body *b);
    /* A sketch that lists items keeps the items themselves, so hashes alone cannot be added to it.
     * These four are all NULL or all set: the number of places for items; the item in one of them
     * (false: none); the place of a key (UINT64_MAX: none); and the highest count that a key
     * without a place can have. */
    uint64_t (*slots)(const struct body *b);
    bool (*listed)(const struct body *b, uint64_t slot, struct listed *out);
    uint64_t (*slot_of)(const struct body *b, tamis_hash h);
    int64_t (*unlisted)(const struct body *b);
    /* All items, in the order of their places, with the most that each count can be. Returns an
     * array of *n, which the caller frees, or NULL if there is not enough memory. NULL: every place
     * has to be looked at. */
    struct listable *(*listables)(const struct body *b, uint64_t *n);
    /* tamis_add_counted and tamis_upper of a handle whose struct single has the kind's own
     * functions. NULL, like kind.single: there are none. */
    tamis_status (*weigh)(tamis *t, const void *key, size_t len, int64_t weight, int64_t *count,
                          tamis_error *why);
    int64_t (*upper)(const tamis *t, const void *key, size_t len);
};

/* What only sealed kinds have. They collect hashes (sealed/collect.h) until they are sealed. */
struct sealed_ops {
    /* Build the filter from the collected hashes, and set *distinct to how many distinct ones there
     * were. After a failure nothing has changed. */
    tamis_status (*seal)(struct body *b, uint64_t *distinct, tamis_error *why);
    /* Count n more hashes, and return the place in the collection for the caller to write them to,
     * with tamis__put_hash. NULL, with nothing changed: there is no such place, and `add` finds out
     * why or uses a file. */
    uint8_t *(*reserve)(struct body *b, size_t n);
    /* Exclude keys: they are not members, and must never get a "maybe". NULL: not supported. */
    tamis_status (*exclude)(struct body *b, const struct batch *keys);
    /* Returns whether a key may be a member, and then sets *value to its value. The body is sealed.
     * NULL: there are no values. */
    bool (*value)(const struct body *b, tamis_hash h, uint32_t *value);
    bool spills; /* can be built from hashes that do not fit in memory */
};

/* Bytes of the only section of a body: whole lines, or the end of it. */
struct range {
    uint64_t from, length;
};

/* What every kind has. A function that may be NULL says so. */
struct kind {
    uint32_t id;
    const char *name;
    uint32_t traits;   /* TAMIS__MULTISET, ... */
    uint32_t accepts;  /* TAMIS__PLANS_ITEMS, ..., and flags of tamis_plan */
    uint16_t variants; /* the highest variant of a section's layout */
    uint16_t roles;    /* the highest role of a section; 0: only cells */
    uint32_t aimed;    /* the number of keys whose aims fit in TAMIS__AIM_WORDS, a multiple
                                 * of 8; 0: the kind keeps no aims */
    uint32_t instead;  /* in a build that lacks `solve`: a kind for the same purpose */
    const struct sketch_ops *sketch;  /* NULL: not a sketch */
    const struct sealed_ops *sealing; /* NULL: not a sealed kind */
    /* For kinds that are made of another: what it has as a sketch when it is made of this one.
     * NULL: `sketch` holds. */
    const struct sketch_ops *(*sketch_of)(const struct kind *inner);

    /* Complete a plan: items, fpr and bytes as tamis_solve promises, m and k. Set
     * promise->fpr_asymptotic, except in a sketch, where promise may be NULL. NULL: such filters
     * are read-only here. */
    tamis_status (*solve)(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
    /* The shapes of one part, for a plan of this kind or of one that is made of it. NULL: no filter
     * can be made of this kind. */
    struct sizing (*sizing)(const tamis_plan *plan);
    /* Describe the sections of a solved plan in `out`, except offset and cells, and return their
     * number. With out NULL, only return the number. */
    uint32_t (*layout)(const tamis_plan *plan, struct section *out);

    /* The reason why sections from an untrusted table, whose cells are not loaded yet, cannot
     * belong to this kind, or NULL. Sections that pass make every later access safe, whatever the
     * cells contain. */
    const char *(*wrong_shape)(const struct body *b);
    /* The same for the cells. It reads all of them only where their order matters (growing). */
    const char *(*wrong_cells)(const struct body *b);

    /* Whether a key is one line of 64 bytes, number mulhi(hi, lines), and the lower 48 bits of lo,
     * and nothing else, so that partition.c may add it. NULL: never. */
    bool (*packs)(const struct body *b);
    /* Add keys packed by tamis__pack to the lines that start at `first`. */
    void (*add_packed)(struct body *b, uint64_t first, const uint64_t *words, size_t n,
                       uint8_t *seen);
    /* Set those cells of keys that are in a range. Bit i of seen is whether all cells of key i
     * there were in use before; NULL: nobody asks. Threads may do this in distinct ranges at the
     * same time. NULL: the cells of a key depend on each other. */
    void (*add_within)(struct body *b, struct range r, const tamis_hash *h, size_t n,
                       uint8_t *seen);
    /* Prefetch the memory that add and query will access. NULL: not available. */
    void (*prefetch)(const struct body *b, const struct batch *keys);
    /* Bit i of seen/bits is the answer for hash i; the function clears the spare bits of the last
     * byte. If an add fails, *done is the number of keys that were added before, and their bits are
     * right. seen may be NULL unless tamis__needs_seen; then nothing is looked up only for the
     * answers, and the sections get the same bytes. add is NULL in a kind that is read-only
     * here. */
    tamis_status (*add)(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done);
    void (*query)(const struct body *b, const struct batch *keys, uint8_t *bits);
    /* Functions for single keys of such a body. They give the same answers as `query` and `add`,
     * and leave the same bytes, but handles that are shared or strict cannot use them. NULL, as
     * function or as its answer: there are none. */
    const struct single *(*single)(const struct body *b);
    /* The same for a body with several sections, each of which is a filter of the same shape. The
     * answer is yes if any of them says so. False: not for this variant. NULL: not available. */
    bool (*query_any)(const struct body *b, const struct batch *keys, uint8_t *bits);
    /* TAMIS_EABSENT if the key is certainly not a member; then nothing has changed. NULL: not
     * supported. */
    tamis_status (*remove)(struct body *b, tamis_hash h);
    /* For filters: how often each key was added, never too low. INT64_MAX: more than the cells can
     * hold. NULL: not supported, or the kind is a sketch. */
    void (*count)(const struct body *b, const struct batch *keys, int64_t *out);
    /* Prepare a handle for TAMIS_SHARED. It fails at most with TAMIS_ENOMEM or TAMIS_EFULL. NULL:
     * there is nothing to do. */
    tamis_status (*share)(struct body *b);
    /* Derive what is not part of the sections from them and their cells, when a handle was made,
     * opened or copied.
     * False: not enough memory. NULL: there is nothing to do. */
    bool (*ready)(struct body *b);
    /* Make it empty. NULL: all cells and totals become zero. */
    void (*clear)(struct body *b);
    /* Forget the oldest generation. NULL: there are no generations. */
    void (*rotate)(struct body *b);
    /* The plain filter with the same answers: its section except offset and cells, and, if cells is
     * not NULL, their contents. False: this variant has none. NULL: there is none. */
    bool (*plain)(const struct body *b, struct section *out, uint8_t *cells);
    /* Add what `from` has. The caller has checked that the shapes are equal. It fails at most with
     * TAMIS_ENOMEM, and then nothing has changed. NULL: not supported. */
    tamis_status (*merge)(struct body *into, const struct body *from);
    /* Read every cell, of the union with `other` unless that is NULL. z is the quantile of the
     * interval of items. */
    void (*gauge)(const struct body *b, const struct body *other, double z, struct gauge *out);
    /* The cells of one key, in probe order. Returns how many there are and writes at most max.
     * NULL: there are none to show. */
    size_t (*cells_of)(const struct body *b, tamis_hash h, uint64_t *cells, size_t max);
};

/* Whether the section has a boundary. Otherwise it has room, such as the hashes that a ribbon is
 * built from. */
static inline bool tamis__has_boundary(const struct kind *k, const struct section *s)
{
    return (k->traits & TAMIS__BOUNDARIES) != 0 && s->role != TAMIS__ROLE_HASHES;
}

/* NULL if there is no such kind, or if it is not in this build. */
const struct kind *tamis__kind(uint32_t id);

/* The table of the filters of a kind that were planned with TAMIS_REMOVABLE. NULL if there is no
 * such kind, or if it does not accept the flag. */
const struct kind *tamis__removable_kind(uint32_t id);

/* Fails where tamis__kind returned NULL: with TAMIS_EUNSUPPORTED if the kind exists but is not in
 * this build, and otherwise with the status `unknown`. */
tamis_status tamis__no_kind(uint32_t id, tamis_status unknown, tamis_error *why);

/* The names of the kinds of this build whose plans accept any of this, and of those that windows
 * and pairs can be made of, separated by commas. */
struct kind_names {
    char text[160];
};
const char *tamis__kinds_that_accept(uint32_t any, struct kind_names *room);
const char *tamis__kinds_of_parts(struct kind_names *room);

/* What a structure of this kind has as a sketch, or NULL; inner is the kind that it is made of, or
 * NULL. */
static inline const struct sketch_ops *tamis__sketch_of(const struct kind *kind,
                                                        const struct kind *inner)
{
#ifdef TAMIS_LEAN
    (void)kind, (void)inner;
    return NULL;
#else
    return kind->sketch_of != NULL && inner != NULL ? kind->sketch_of(inner) : kind->sketch;
#endif
}

/* Whether the items are counted by the answers of an add, so that these are needed even if the
 * caller does not want them. */
static inline bool tamis__needs_seen(const struct kind *k)
{
    return (k->traits & (TAMIS__MULTISET | TAMIS__SECTION_TOTALS)) == 0;
}

/* --- For kinds that are made of others: each part is one filter or one sketch --- */

/* The number of sections of a part: a part that lists items has its entries and texts after its
 * counters. */
static inline uint32_t tamis__part_sections(const struct body *b)
{
    return b->count > 1 && b->sections[1].role == TAMIS__ROLE_ENTRIES ? 3 : 1;
}

/* The kind of the parts. */
static inline const struct kind *tamis__inner(const struct body *b)
{
    return tamis__kind(b->sections[tamis__part_sections(b) > 1].kind);
}

/* Whether it counts distinct keys, by itself or in generations. */
static inline bool tamis__counts_distinct(const struct body *b)
{
    return (tamis__inner(b)->traits & TAMIS__DISTINCT) != 0;
}

/* What messages call structures of this kind. */
static inline const char *tamis__plural(const struct body *b)
{
    return tamis__counts_distinct(b) ? "sketches" : "filters";
}

/* The i-th part, where each has one section. */
static inline struct body tamis__part(const struct body *b, uint32_t i)
{
    struct body one = *b;
    one.sections = b->sections + i;
    one.count = 1;
    return one;
}

#endif
