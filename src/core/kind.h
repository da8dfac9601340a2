/* What a kind of structure is to the rest of the library: one table of functions.
 *
 * Adding a kind is one file, one line in kind.c, one section of docs/FORMAT.md, and its tests. */
#ifndef TAMIS_KIND_H
#define TAMIS_KIND_H

#include "bits.h"
#include "occupancy.h"
#include "plan.h"

#include <tamis/tamis.h>

/* The browser's build (web/) only reads some of the kinds: without what plans, fills and changes
 * them it is a quarter smaller. Where a table lacks `add`, its filters are read-only, and where it
 * lacks `solve`, none are made. It neither merges nor converts, and WebAssembly cannot prefetch. */
#ifdef TAMIS_LEAN
#define TAMIS__FULL(f) NULL
#define TAMIS__REMOVABLE TAMIS_COUNTING /* the smallest kind made here whose keys can be removed */
#else
#define TAMIS__FULL(f) f
#define TAMIS__REMOVABLE TAMIS_CUCKOO
#endif

/* A section of the image: the same bytes in memory as at rest. */
enum {
    TAMIS__ROLE_CELLS = 1,
    TAMIS__ROLE_REMOVED = 2,
    TAMIS__ROLE_HASHES = 3,
    TAMIS__ROLE_THRESHOLDS = 4,
    TAMIS__ROLE_BITS = 5, /* of a retrieval: one column of a ribbon */
    TAMIS__ROLE_ENTRIES = 6,
    TAMIS__ROLE_TEXTS = 7
};
struct section {
    uint16_t role, kind, variant, cell_bits;
    uint32_t k;
    uint32_t
        salt; /* of static kinds: which of the hash functions worked; private: see TAMIS__NOISY */
    uint64_t m;
    uint64_t items;          /* of this section alone, where TAMIS__SECTION_ITEMS; excluded keys */
    uint64_t boundary;       /* of a ribbon: the first segment with a column more */
    uint64_t offset, length; /* in the image, bytes */
    uint8_t *cells;          /* length bytes, 64-byte aligned */
    uint64_t room;           /* bytes there, when they are more */
};

static inline uint64_t tamis__cell(const struct section *s, uint64_t i)
{
    return tamis__get_bits(s->cells, i * s->cell_bits, s->cell_bits);
}

/* The sections of one structure; kinds that are made of others hand slices of theirs on. */
struct body {
    struct section *sections;
    uint32_t count;
    bool shared; /* several threads add and ask at once */
    /* For kinds that grow: where cells come from, and the limit of the image (0: none). */
    const tamis_memory *memory;
    uint64_t max_bytes;
    /* For static kinds: threads that the seal may use; where hashes beyond memory go (NULL:
     * nowhere). */
    uint32_t threads;
    struct spill *spill;
    /* Of windows: items of the newest generation at which an add begins another; 0: never. */
    uint64_t turn_at;
    /* With TAMIS__SECTION_ITEMS: the sum of the items of all sections except the first, valid while
     * `summed` is set. An add changes only the items of the first section, so it need not visit all
     * generations of a window. A rotation clears `summed`. */
    uint64_t other_items;
    bool summed;
    /* Of kinds that weigh: all the weight that was added or taken away since the body was made, up
     * to its end. */
    uint64_t moved;
};

/* Of kinds that weigh, where all counters end. */
#define TAMIS__MOST_WEIGHT ((uint64_t)INT64_MAX)

static inline uint64_t tamis__add_up(uint64_t a, uint64_t b)
{
    const uint64_t sum = a + b; /* of two that are no more than the most */
    return sum < TAMIS__MOST_WEIGHT ? sum : TAMIS__MOST_WEIGHT;
}

/* Of a key that has an entry of its own: it surely came so often, and most likely so often. All 0:
 * it has none. */
struct known {
    int64_t certain, likely;
    /* Two-sided: a counter of it is at its end, and has not seen what was taken away since. */
    bool ended;
};

/* Keys as the kinds see them, never more than these at a time. */
#define TAMIS__MOST_BATCH 128u
struct batch {
    const tamis_hash *hashes;
    size_t n;
    const tamis_hash *ahead; /* n more, to be prefetched on the way; or NULL */
    /* Room for what a kind keeps of these keys between prefetch and query, TAMIS__AIM_WORDS for
     * kind.aimed keys: a prefetch writes it, or the query that has them ahead, where it is next_aim.
     * Once the keys are answered, the kind may use the room as it likes. NULL: they were not
     * prefetched. Only for kinds that no other is made of, as there is but one. */
    uint64_t *aim, *next_aim;
    const int64_t *weights;  /* of kinds that weigh; NULL: all 1 */
    const tamis_bytes *keys; /* the keys themselves, of an add to a kind that keeps texts */
    bool unasked;            /* of an add: the caller does not want to know which were there */
    struct known *known;     /* of a count, or NULL: what else is to tell of keys with entries */
};
/* Two of them and the ring of hashes take 10 KiB of stack, which leaves 6 for the kind's query. */
#define TAMIS__AIM_WORDS 368u

/* What the cells say. */
struct gauge {
    struct estimate items; /* distinct ones */
    uint64_t hit, cells;   /* cells in use, all cells */
    double rate;           /* chance that a key never added gets a "maybe" */
    double miss_rate;      /* chance that a key that is in gets a "no" */
    uint64_t saturated;    /* counters that stick */
    double overflow;       /* chance that as many adds as are in make any counter stick */
    double held; /* items that the fullest part surely holds, where they may be more than `items` */
    uint64_t excluded; /* keys that are known not to be in */
    double epsilon;    /* of a release: what it cost */
};

/* An item that is listed. */
struct listed {
    tamis_bytes item; /* what is kept of it; p is NULL where nothing is */
    uint64_t length;  /* of the whole */
    uint64_t hash;    /* 64 bits of it, by which the kind knows it */
    int64_t count;
    struct known known;
};

enum {
    TAMIS__MULTISET = 1,       /* every add counts, not only of new keys */
    TAMIS__MISSES = 2,         /* a "no" can be wrong */
    TAMIS__GROWS = 4,          /* never overfull; changes its sections while adding */
    TAMIS__COMPARES = 8,       /* gauge of a union with another one makes sense */
    TAMIS__SHARES = 16,        /* TAMIS_SHARED works */
    TAMIS__SECTION_ITEMS = 32, /* sections have items of their own */
    TAMIS__STATIC = 64,        /* collects until it is sealed, and is solved then */
    TAMIS__RIBBONS = 128,      /* sections have boundaries */
    TAMIS__EXCLUDES = 256,     /* the items of a section are excluded keys */
    TAMIS__SPILLS = 512,       /* static: can be solved from hashes beyond memory */
/* How often, not whether: knows weights, and no plan of items; the items of its section are their
 * sum, as a signed number where it is two-sided. */
#ifdef TAMIS_LEAN /* none does */
    TAMIS__WEIGHS = 0,
#else
    TAMIS__WEIGHS = 1024,
#endif
    TAMIS__TWO_SIDED = 2048, /* a count may be too low as well */
    TAMIS__TEXTS = 4096,     /* keeps texts, so hashes alone cannot be added */
    TAMIS__NOISY = 8192      /* bits are flipped; the salt of a section is how often: flip.h */
};

struct kind {
    uint32_t id;
    const char *name;
    uint32_t traits;
    uint16_t variants,
        roles;      /* the highest number of a layout variant, of a role (0: only cells) */
    uint32_t aimed; /* keys whose aims fit TAMIS__AIM_WORDS, a multiple of 8; 0: it has none */

    /* Complete a plan (items, fpr and bytes as tamis_solve promises; m, k) and set
     * promise->fpr_asymptotic. */
    tamis_status (*solve)(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
    /* The shapes of one part, for a plan of this kind or one that is made of it. NULL: not to be
     * composed. */
    struct sizing (*sizing)(const tamis_plan *plan);
    /* Describe the sections of a solved plan in out (all but offset and cells); returns how many.
     * With out NULL, only counts. */
    uint32_t (*layout)(const tamis_plan *plan, struct section *out);

    /* The reason why sections from a hostile table (cells not loaded yet) cannot be this kind's, or
     * NULL. What passes makes every later access safe, whatever the cells hold. */
    const char *(*wrong_shape)(const struct body *b);
    /* The same for the cells themselves. Reads them all only where their order means something
     * (growing). */
    const char *(*wrong_cells)(const struct body *b);

    /* Whether a key is a line of 64 bytes, number mulhi(hi, lines), and the lower 48 bits of lo,
     * and nothing else: then partition.c may add. NULL: never. */
    bool (*packs)(const struct body *b);
    /* Keys packed by tamis__pack into lines that start at `first`. */
    void (*add_packed)(struct body *b, uint64_t first, const uint64_t *words, size_t n,
                       uint8_t *seen);
    /* Ask the memory for what add and query will touch; answers nothing. NULL: the machine
     * cannot. */
    void (*prefetch)(const struct body *b, const struct batch *keys);
    /* Bit i of seen/bits answers for hash i; the callee clears the spare bits of the last byte.
     * When an add fails, *done says how many were added before, and their bits are right. seen may
     * be NULL unless tamis__needs_seen. Then nothing is looked up only for the answers; the sections
     * get the same bytes. */
    tamis_status (*add)(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done);
    void (*query)(const struct body *b, const struct batch *keys, uint8_t *bits);
    /* TAMIS_EABSENT when the key is certainly not in; then nothing has changed. NULL: cannot. */
    tamis_status (*remove)(struct body *b, tamis_hash h);
    /* How often each key was added, never less unless two-sided; INT64_MAX: more than the cells can
     * tell (and -INT64_MAX: less). NULL: cannot. */
    void (*count)(const struct body *b, const struct batch *keys, int64_t *out);
    /* The keys are not in, and shall never be a "maybe". NULL: cannot promise that. */
    tamis_status (*exclude)(struct body *b, const struct batch *keys);
    /* Static kinds: solve for the collected hashes, and tell how many different ones there were.
     * Nothing has changed when it fails. */
    tamis_status (*seal)(struct body *b, uint64_t *distinct, tamis_error *why);
    /* Back to empty. NULL: all cells zero, and no items. */
    void (*clear)(struct body *b);
    /* Forget the oldest generation. NULL: has none. */
    void (*rotate)(struct body *b);
    /* The plain filter with the same answers: its section but for offset and cells, and, when cells
     * is not NULL, what is in them. NULL: there is none; false: not of this variant. */
    bool (*plain)(const struct body *b, struct section *out, uint8_t *cells);
    /* Equal shapes are checked before; TAMIS_ENOMEM at the most, and then nothing has changed.
     * NULL: cannot. */
    tamis_status (*merge)(struct body *into, const struct body *from);
    /* Of the union with `other` when that is not NULL; z: of the interval of items. Reads every
     * cell. */
    void (*gauge)(const struct body *b, const struct body *other, double z, struct gauge *out);
    /* The cells of one key, in probe order; returns how many, writes at most max. NULL: none to
     * show. */
    size_t (*cells_of)(const struct body *b, tamis_hash h, uint64_t *cells, size_t max);
    /* Kinds that list items: places for them; what is in one (false: nothing); and the most that
     * any key counts that is in none. */
    uint64_t (*slots)(const struct body *b);
    bool (*listed)(const struct body *b, uint64_t slot, struct listed *out);
    uint64_t (*slot_of)(const struct body *b, tamis_hash h); /* UINT64_MAX: none */
    int64_t (*unlisted)(const struct body *b);
};

extern const struct kind tamis__bloom, tamis__partitioned, tamis__blocked, tamis__counting,
    tamis__pair, tamis__growing, tamis__window, tamis__cuckoo, tamis__fuse, tamis__ribbon,
    tamis__exact, tamis__private, tamis__count_min, tamis__count_sketch, tamis__tally,
    tamis__signed_tally, tamis__top;
/* Windows of kinds that tell how often: never too few, two-sided, and with lists. */
extern const struct kind tamis__windows_of_counts[3];

/* NULL when there is no such kind. */
const struct kind *tamis__kind(uint32_t id);
/* The same for kinds that are made of another, which is 0 or what the first section is of. */
/* The page (web/) shows neither windows of counts nor top, which would add 9 KB to its 57. */
#if defined TAMIS_LEAN || defined TAMIS_NO_TOP
#define tamis__kind_of(id, inner, lists) ((void)(lists), tamis__kind(id))
#else
const struct kind *tamis__kind_of(uint32_t id, uint32_t inner, bool lists);
#endif

/* Whether the items are counted by the answers of an add, which are then needed even if the caller
 * does not want them. */
static inline bool tamis__needs_seen(const struct kind *k)
{
    return (k->traits & (TAMIS__MULTISET | TAMIS__SECTION_ITEMS)) == 0;
}

/* --- For kinds that are made of others: one section is one filter --- */

static inline const struct kind *tamis__inner(const struct body *b)
{
    return tamis__kind(b->sections->kind);
}

static inline struct body tamis__part(const struct body *b, uint32_t i)
{
    struct body one = *b;
    one.sections = b->sections + i;
    one.count = 1;
    return one;
}

#endif
