/* What a filter, or a file with one, reports about itself: the number of its items, its
 * false-positive rate, its size; and how similar two filters are.
 *
 *     tamis_facts f = {.struct_size = sizeof f};
 *     if (tamis_info(t, &f) == TAMIS_OK && f.overfull)
 *         printf("false-positive rate %g instead of %g\n", f.fpr_now, f.fpr_planned);
 *
 * The rules at the top of tamis.h hold here, too. */
/* clang-format off */
#ifndef TAMIS_INSPECT_H
#define TAMIS_INSPECT_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TAMIS_XXH3 = 1, TAMIS_SIPHASH = 2, TAMIS_CALLER_HASH = 3 }; /* tamis_facts.hash           */

enum { TAMIS_KEYS_UNSTATED = 0, TAMIS_KEYS_TEXT = 1, TAMIS_KEYS_INT64 = 2, TAMIS_KEYS_FIXED = 3,
       TAMIS_KEYS_SHA256 = 4, TAMIS_KEYS_CALLER = 5 }; /* tamis_plan.encoding                     */
/* The encodings of keys (tamis_plan.encoding). docs/KEYS.md has the rules of the command, of Redis
 * and of the browser package.
 *   text     a string is its UTF-8 bytes, and an integer its decimal text
 *   int64le  an integer is 8 bytes, little-endian, signed in two's complement
 *   fixed    every key has key_width bytes
 *   sha256   every key is the 32 bytes of a SHA-256 hash
 *   caller   only the program that makes the keys knows
 * The library takes bytes, whatever the encoding, and checks their length. If it is wrong, a call
 * that adds, removes, excludes, counts or hashes keys fails with TAMIS_EINVAL, and a query returns
 * true. Hashes are not checked. tamis_copy, tamis_convert, tamis_release and packed files keep the
 * encoding. A merge of a filter that states an encoding with one that does not gives a filter that
 * states it. Returns the name of an encoding; NULL if it is not stated or not known. */
TAMIS_API const char *tamis_encoding_name(uint32_t encoding);

/* The epoch of a window (tamis_rotate_to) makes "the last hour" survive a restart. It is a number
 * that the caller takes from a clock, and that grows by 1 whenever a generation is due:
 *
 *     tamis_rotate_to(t, (uint64_t)time(NULL) / 300, &why);  // every 5 minutes, before an add
 *
 * The image records it. The first call on a window without an epoch only records it. A later one
 * rotates by the difference to the recorded epoch and records the new one, so a window that was
 * not rotated for longer than its generations cover is emptied, in the time of one tamis_clear. The
 * same epoch changes nothing, not even `generation`. Fails with
 *   - TAMIS_EINVAL if the epoch is 0, which means "none", or below the recorded one, because the
 *     clock was set back or counts other periods;
 *   - TAMIS_EUNSUPPORTED if t is not a window, and TAMIS_ESEALED if it is read-only.
 * tamis_rotate, and the rotations of a window with TAMIS_AUTO_ROTATE, come in addition and do not
 * change the epoch. tamis_copy and packed files keep it. tamis_clear drops it, since it dates the
 * keys. tamis_merge requires equal epochs if both windows have one (else TAMIS_EMISMATCH); if only
 * one has an epoch, the result has it.
 *
 * A window of filters with TAMIS_SHARED can be rotated, by either call or by TAMIS_AUTO_ROTATE,
 * while other threads add and query. A rotation waits for the groups of at most 128 keys that other
 * threads are adding or querying, and the next groups wait for it. It therefore never happens while
 * a key is being added, and no key is lost:
 *   - A key is found unless as many rotations as there are generations took place after its add was
 *     called. This holds for adds that run at the same time as a rotation as well.
 *   - With TAMIS_AUTO_ROTATE, no generation gets more than its share, with any number of threads.
 *   - If several threads call tamis_rotate_to with the same epoch, the window rotates for one of
 *     them, and all return TAMIS_OK. A thread with an older epoch gets TAMIS_EINVAL.
 * Since threads wait here, do not use such a window in a signal handler, nor in a child process
 * that was forked while other threads used it. Windows of sketches cannot be shared. */

/* Lower bounds of the bits per item, in tamis_promise and tamis_facts. docs/ACCURACY.md, "The lower
 * bound", explains them. */
enum {
    TAMIS_BOUND_NONE = 0,    /* growing, private and sketches: none is given                      */
    TAMIS_BOUND_STATIC = 1,  /* sealed kinds: log2(1/fpr), which holds for every structure. Also at
                              * rates above 10 %, to which the next one does not apply            */
    TAMIS_BOUND_DYNAMIC = 2, /* kinds that take keys one by one: log2(1/fpr) + 1.44, except for
                              * terms that vanish as the rate falls                               */
    TAMIS_BOUND_TWO_SET = 3  /* exact: log2(ways to choose the items from all known keys) / items,
                              * unless log2(1/fpr) is more                                        */
};
/* Returns "static", "dynamic" or "two-set", or NULL for any other number. */
TAMIS_API const char *tamis_bound_name(uint32_t bound);

typedef struct tamis_facts {
    size_t struct_size;    /* sizeof(tamis_facts)                                                 */

    /* As planned or as stored. The table in tamis.h ("Plans") explains these fields. growing: m is
     * the slots of all tables, and cell_bits is 0 if they are of several sizes. */
    uint32_t kind, hash, k;
    uint32_t format;       /* version of the image format                                         */
    uint64_t m, seed;
    uint64_t generation;   /* rounds of opening, changing and saving                              */
    uint32_t cell_bits;
    uint32_t sections;     /* of the image: for a window of filters, one for each generation      */

    bool may_miss;         /* a "no" can be wrong: pair and private                               */
    bool keyed;            /* hashed with a secret key                                            */
    bool strict;           /* TAMIS_STRICT: refuses items beyond the plan                         */
    bool auto_rotate;      /* TAMIS_AUTO_ROTATE: a window that rotates by itself                  */
    bool sealed;           /* read-only for ever (tamis_seal)                                     */
    bool collecting;       /* a sealed kind before its seal: answers "maybe" to every key         */
    bool read_only;        /* this handle: sealed, mapped, a view, or of a newer format           */
    bool overfull;         /* holds more items than planned, so the rate is higher than planned   */
    bool items_estimated;  /* items is an estimate, because of a merge or a conversion            */
    bool hash_suspect;     /* hashes were added that are clearly not uniform (tamis_add_hashes).
                            * The true rates and errors are then worse than all numbers below     */

    uint64_t bytes;        /* size of the whole image                                             */
    uint64_t items;        /* number of adds that changed something, which is slightly below the
                            * number of distinct keys. window: adds that changed the generation
                            * that was the newest then; a key counts once in each generation that
                            * has it. If every add counts (counting, cuckoo, growing with
                            * TAMIS_REMOVABLE): all adds minus all removals. Sealed kinds: all
                            * adds; after the seal, the number of distinct keys                   */
    uint64_t planned_items;
    uint64_t excluded;     /* exact: number of distinct excluded keys (before the seal: of all)   */
    double fpr_planned;    /* false-positive rate with the planned items                          */
    double fpr_now;        /* false-positive rate now, computed from the bits: the probability that
                            * a key that was never added gets a "maybe"                           */
    double fpr_now_low, fpr_now_high; /* its 99 % confidence interval. In this version the bits of
                            * every kind determine fpr_now, so both are equal to it               */
    double miss_rate;      /* probability that a member gets a "no"; higher if overfull; 0 unless
                            * may_miss                                                            */
    uint64_t saturated;    /* counting and sketches: number of counters that have reached their
                            * maximum and stay there                                              */
    double overflow;       /* counting: probability that any counter is saturated after this many
                            * adds of distinct keys; 1 if one is                                  */
    double items_estimate; /* number of distinct items, estimated from the bits alone. cuckoo and
                            * sealed kinds: items; growing with TAMIS_REMOVABLE: entries; tally,
                            * signed-tally, top, count-sketch: 0                                  */
    double items_low, items_high; /* its 99 % confidence interval; items_high is infinite if every
                            * bit is set or the bits do not determine it                          */
    double fill;           /* share of bits that are set, or of cells in use                      */
    double bits_per_item;  /* 8 * bytes / items (if empty: / planned_items)                       */
    double bound_bits;     /* as in tamis_promise, with fpr_now (if empty: fpr_planned)           */
    double bound_ratio;    /* bits_per_item / bound_bits                                          */

    /* Only for sketches (count.h), whose planned items, planned rate and bits per item are 0.    */
    bool conservative;     /* TAMIS_CONSERVATIVE                                                  */
    int64_t weight;        /* sum of all added weights minus the subtracted ones; INT64_MAX means
                            * "or more". items is the same number, or 0 if it is negative         */
    int64_t noise_median, noise_99, noise_999; /* noise: 50 %, 99 % and 99.9 % of the keys that
                            * never occurred have at most this count (count-sketch, signed-tally:
                            * this absolute value). noise_999 is the noise floor                  */
    double error;          /* as planned; 0 if the plan has none                                  */
    uint64_t entries;      /* top: how many items can be listed at most                           */
    uint64_t listed;       /* top: how many are listed                                            */
    int64_t list_floor;    /* top: the least weight that tamis_above accepts. Every item of this
                            * weight or more is listed. INT64_MAX: there is no such weight,
                            * because counters are saturated                                      */

    double epsilon;        /* private: privacy cost of the release, or slightly more; else 0      */
    uint8_t key_id[16];    /* keyed: identifies the secret key without revealing it; else 0       */
    uint32_t inner_kind, generations; /* window of sketches; else 0                               */
    uint32_t encoding;     /* of the keys: TAMIS_KEYS_..., as planned or merged. A greater number is
                            * from a newer library: then any bytes are keys, as if not stated     */
    uint32_t key_width;    /* the length that every key must have, in bytes; 0: any length        */
    uint64_t epoch;        /* window: of the last tamis_rotate_to; 0: none                        */
    uint32_t bound;        /* which lower bound bound_bits is: TAMIS_BOUND_...                    */
    bool removable;        /* keys can be removed (tamis_remove): counting, cuckoo, pair, growing
                            * with TAMIS_REMOVABLE, and some sketches; not from this handle if it is
                            * read_only                                                           */
} tamis_facts;
#define TAMIS_FACTS_INIT TAMIS_INIT(tamis_facts)

/* Reports about a filter or a sketch. Reads every cell once. For a sketch it measures the noise
 * if necessary, and fails with TAMIS_ENOMEM if there is no memory for that (see tamis_count). After
 * a failure *out is unchanged. */
TAMIS_API tamis_status tamis_info(const tamis *t, tamis_facts *out);

/* Reports what is known without reading the cells, in constant time and without allocating. Sets
 * kind, hash, k, format, m, seed, generation, cell_bits, sections, the flags, bytes, items,
 * planned_items, fpr_planned, key_id, encoding, key_width and epoch, and for sketches conservative,
 * weight, error, entries, inner_kind and generations. All other fields become 0. overfull is judged
 * by `items` alone: for pair and window, and after a merge, it may differ from what tamis_info
 * reports. Fails only if struct_size is wrong (TAMIS_EINVAL). */
TAMIS_API tamis_status tamis_stat(const tamis *t, tamis_facts *out);

#define TAMIS_IMAGE_MAGIC "\x89TAMIS\r\n" /* the 8 bytes with which every image begins           */
/* Returns the length of the image that begins with these n bytes. Returns 0 if no image begins with
 * them, or if n is below 128. */
TAMIS_API uint64_t tamis_image_length(const void *begin, size_t n);

/* The number of items in the union, in the intersection and in both differences, and the Jaccard
 * similarity: items in common / items in the union. With a probability of 99 %, all confidence
 * intervals hold. If common_low is 0, the sets may have nothing in common: then common_items and
 * jaccard are too small to be estimated, and only their upper ends mean something. */
typedef struct tamis_similarity {
    size_t struct_size; /* sizeof(tamis_similarity)                                               */
    double union_items, union_low, union_high;
    double common_items, common_low, common_high;
    double jaccard, jaccard_low, jaccard_high;
    double first_only, first_only_low, first_only_high;    /* items of the first that the second  */
    double second_only, second_only_low, second_only_high; /* lacks, and the other way round      */
} tamis_similarity;
#define TAMIS_SIMILARITY_INIT TAMIS_INIT(tamis_similarity)

/* Estimates from their bits how many members two filters have in common. Reads every cell of both.
 * Fails with TAMIS_EUNSUPPORTED unless they are bloom, partitioned, blocked or counting, with
 * TAMIS_EMISMATCH unless kind, shape, hash and seed or secret key are equal or if they state two
 * different encodings, and with TAMIS_EINVAL if both are one handle. After a failure *out is
 * unchanged. */
TAMIS_API tamis_status tamis_compare(const tamis *a, const tamis *b, tamis_similarity *out,
                                     tamis_error *why);

/* --- For drawings, teaching and debugging ----------------------------------------------------- */

/* Writes the numbers of the cells that decide about a key, in probe order and at most max of them.
 * Returns how many such cells there are, which may be more than max. Only for bloom, partitioned,
 * blocked, counting, cuckoo, count-min, private and sealed fuse; returns 0 for other kinds, and if
 * the key cannot be hashed (the secret key is missing, or the caller hashes) or has a length that
 * the encoding excludes. */
TAMIS_API size_t tamis_cells_of(const tamis *t, const void *key, size_t len, uint64_t *cells,
                                size_t max);
/* Returns the value of a cell; 0 if there is no such cell, or for kinds other than these. */
TAMIS_API uint64_t tamis_cell(const tamis *t, uint64_t cell);

#ifdef __cplusplus
}
#endif
#endif
