/* Tamis: "have I seen this?" and "how often?" about data too big to keep.
 *
 * A filter holds a set in a few bits per item. Asked about a key it answers "certainly not" or
 * "maybe": a "no" is always right, a "maybe" is wrong with a probability you choose.
 *
 *     // say two of: how many items, how wrong, how many bytes
 *     tamis_plan plan = {.struct_size = sizeof plan, .items = 1000000, .fpr = 0.01};
 *     tamis *t;
 *     if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) ...
 *     tamis_add(t, "thisisavirus.com", 16, NULL);
 *     if (!tamis_may_contain(t, "verynormalsite.com", 18)) ...   // certainly not in the set
 *     tamis_save(t, "bad.tamis", NULL, NULL);
 *     tamis_close(t);
 *
 * That is the whole idea; the rest of this page is detail. Link with -ltamis -lm -pthread.
 *
 * Threads: any number of threads may use one handle while none changes it; a call that changes it
 * (its first argument is not const) must be alone, but see TAMIS_SHARED. Different handles are
 * independent.
 * Stack: no call takes more than 16 KiB (16,384 bytes) of it, for any kind and any number of keys,
 * so that fibers and small threads can call everything. What the caller's own functions take
 * (allocator, sink, reader) comes on top. Builds without optimization or with a sanitizer take
 * more. Threads that tamis_seal starts have the system's default stack.
 * The library never prints, exits or reads the environment, and keeps no state but its handles.  */
/* clang-format off */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0
#define TAMIS_VERSION_STRING "0.1.0"

#if defined(_WIN32) || !defined(__GNUC__)
#define TAMIS_API
#else
#define TAMIS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- What can go wrong ---------------------------------------------------------------------------
 * A failed call changes nothing and sets *out to NULL. Exceptions: calls with many keys may have
 * processed some of them; tamis_seal and tamis_save document their own. Numbers are never
 * reused.                                                                                        */
typedef enum tamis_status {
    TAMIS_OK = 0,
    TAMIS_ENOMEM = -1,       /* memory, or a limit the caller set                                 */
    TAMIS_EINVAL = -2,       /* a plan or argument that makes no sense                            */
    TAMIS_EUNSUPPORTED = -3, /* this kind cannot do that; tamis_error.better_kind can             */
    TAMIS_EFULL = -4,        /* a strict filter that holds all it was planned for, or no room left */
    TAMIS_EABSENT = -5,      /* remove of a key that is not in                                    */
    TAMIS_EMISMATCH = -6,    /* merge of unequal kind, shape, hash or seed                        */
    TAMIS_ECORRUPT = -7,     /* the bytes are not a whole, undamaged image                        */
    TAMIS_EVERSION = -8,     /* a newer format than this library reads, or may write              */
    TAMIS_EKEY = -9,         /* a keyed image without its key, or with another                    */
    TAMIS_EIO = -10,         /* the system said no; tamis_error.os is errno                       */
    TAMIS_ESEALED = -11,     /* this handle is read-only                                          */
    TAMIS_EBUSY = -13        /* another process holds or has changed this file                    */
} tamis_status;

/* Filled on failure when the caller passes one; NULL is allowed everywhere.                      */
typedef struct tamis_error {
    tamis_status status;
    int os;               /* errno behind TAMIS_EIO, else 0                                       */
    uint64_t offset;      /* byte of the image behind TAMIS_ECORRUPT, when one is to blame        */
    uint32_t better_kind; /* a kind that can, behind TAMIS_EUNSUPPORTED; 0: none                  */
    uint32_t reserved_word; /* 0, like the other reserved fields: see "Structs that grow"         */
    char text[160];       /* the reason as one line, without a newline; never empty               */
    uint64_t reserved[4];
} tamis_error;

/* --- Structs that grow ---------------------------------------------------------------------------
 * Set struct_size, the first field, to the sizeof of the struct, and zero all other fields. A
 * program then works with a newer library, and with an older one unless it needs what that lacks:
 *   - A struct that is shorter than the library's: missing fields are zero, their default, as
 *     input, and are not written as output. Nothing beyond struct_size bytes is touched.
 *   - A longer one: as input its surplus must be zero (TAMIS_EINVAL), since the library cannot do
 *     what it asks for; as output the surplus becomes zero.
 *   - TAMIS_EINVAL: struct_size is less than sizeof(size_t), not a multiple of it, or above 4096.
 *     It is checked before anything else in the struct is read or written, and is never changed.
 * tamis_solve returns TAMIS_EINVAL when the solved plan needs a field that the plan lacks.
 * tamis_error, tamis_estimate, tamis_heavy, tamis_memory, tamis_bytes and tamis_hash have no
 * struct_size and keep their size. Reserved fields are zero until a later version uses them: the
 * library sets them in what it returns, and the caller in tamis_memory.                          */

TAMIS_API const char *tamis_status_message(tamis_status s);
TAMIS_API const char *tamis_version(void); /* of the library that runs, like "0.1.0"              */

/* --- Kinds of structure --------------------------------------------------------------------------
 * Bits per item are for 1 % false positives; the lower bound for any structure is 6.64.          */
typedef enum tamis_kind {
    TAMIS_AUTO = 0,        /* choose for me: blocked, or bloom where that is much smaller         */
    TAMIS_BLOOM = 1,       /* the classic: k bits anywhere in m, 9.6 bits (k = 1: the bitmap)     */
    TAMIS_PARTITIONED = 2, /* k rows of m bits, one bit in each row, 9.6 bits                     */
    TAMIS_BLOCKED = 3,     /* 8 bits in one cache line, 10.1 bits: the fastest                    */
    /* Sets that shrink or grow: */
    TAMIS_COUNTING = 4,    /* bloom with counters instead of bits: keys can be removed, 38 bits   */
    TAMIS_PAIR = 5,        /* a filter of added and one of removed keys, 20 bits; can miss        */
    TAMIS_GROWING = 6,     /* of unknown size: keeps its rate however many come; 13 bits when a
                            * table of a million or more is full, twice that when it has doubled   */
    TAMIS_WINDOW = 7,      /* generations of filters: forgets the oldest keys                     */
    TAMIS_CUCKOO = 8,      /* fingerprints: keys can be removed, 9.5 bits                         */
    /* Sealed once for all keys: */
    TAMIS_FUSE = 9,        /* 3 or 4 cells per key, 7.9 or 7.5 bits at 0.8 %; fast anywhere       */
    TAMIS_RIBBON = 10,     /* 6.7 bits: the smallest, at any rate down to 2^-32                   */
    TAMIS_EXACT = 11,      /* ribbon that is never wrong about the keys it was told of, members or
                            * not (tamis_exclude): 2 bits per member for as many others, 9 for a
                            * hundred times as many                                               */
    TAMIS_PRIVATE = 12,    /* published without betraying its keys: see "For publishing"; can miss */
    /* 13 is reserved for filters that keep a value with each key, 48 for counts of distinct keys. */
    /* How often, not whether: see "How often" below */
    TAMIS_COUNT_MIN = 32,  /* k rows of m counters, the least of a key's counts; never too few     */
    TAMIS_COUNT_SKETCH = 33, /* k rows of m signed counters, the median: as often too few as too many;
                            * for weights of either sign                                          */
    TAMIS_TALLY = 34,      /* counters of a byte that grow where they must; never too few, and 7 to 60
                            * times nearer than count-min in the same memory                      */
    TAMIS_TOP = 35,        /* a tally that keeps the most frequent items themselves, with counts of
                            * their own: see "The most frequent" below                            */
    TAMIS_SIGNED_TALLY = 36 /* a tally for weights of either sign: as often too few as too many, and 2
                            * to 3 times nearer than count-sketch                                 */
} tamis_kind;

/* The name used by the command line ("blocked"), or NULL: no such kind in this library.          */
TAMIS_API const char *tamis_kind_name(uint32_t kind);
/* The kind of that name, or TAMIS_AUTO when there is none.                                       */
TAMIS_API uint32_t tamis_kind_named(const char *name);

/* --- The plan: say two of items, fpr and bytes; zero means "you decide" --------------------------
 * With all three, items and fpr are met and bytes is a limit. A shape (m, and k or not) may stand
 * for bytes. Kinds that tell how often know neither items nor fpr: say bytes, or error (and delta),
 * or m (and k); top knows items, those that are to be listed.
 * Begin with  tamis_plan plan = {.struct_size = sizeof plan};                                    */
enum {
    TAMIS_STRICT = 1,      /* refuse new items beyond the planned number (TAMIS_EFULL); counting,
                            * cuckoo and static kinds count repeated keys as well                 */
    TAMIS_HASH_CALLER = 2, /* the caller brings 128-bit hashes; only the _hashes verbs work. They must
                            * be uniform: see tamis_add_hashes                                    */
    TAMIS_COMPACT = 4,     /* blocked: bits anywhere in the line; 2 % smaller at 1 %, 7 % at 1e-4 */
    TAMIS_AUTO_ROTATE = 8,     /* window: an add rotates first when the newest generation is full     */
    TAMIS_TRANSFER = 16,   /* bloom, planned to be packed: more bits and fewer probes, so that what
                            * tamis_pack writes is within 1.25 of the bound at 1 % and below, from
                            * 100,000 items on (a plain filter: 1.44), and of such shapes the
                            * smallest in memory: 100 bits an item at 1 %, 199 at 1e-4, but 1000
                            * at 0.1 %. bytes is still the whole image, not packed; as a limit it
                            * may make the file bigger                                            */
    TAMIS_CONSERVATIVE = 32 /* count-min: an add raises only what is too low, for half the error; but
                            * then nothing can be taken away again                                */
};
typedef struct tamis_plan {
    size_t struct_size; /* sizeof(tamis_plan)                                                     */
    uint32_t kind;      /* a tamis_kind                                                           */
    uint32_t flags;     /* TAMIS_STRICT, ...                                                      */
    uint64_t items;     /* expected distinct items, at most 2^52; top: how many there is to be room
                         * for in the list, default 100, at most 2^30                             */
    double fpr;         /* false-positive rate, 1e-18 <= fpr < 1                                  */
    uint64_t bytes;     /* budget for the whole image                                             */
    uint64_t seed;      /* of XXH3; the default 0 is for all, so that filters merge               */
    uint64_t m;         /* bits (partitioned: bits in each row; blocked: a multiple of 512);
                         * counting: counters; cuckoo: slots, an even number; growing: slots of the
                         * first table, a power of two; static kinds: 0, it follows the keys;
                         * count-min and count-sketch: counters in each row; tallies and top:
                         * counters, a multiple of 56                                             */
    uint32_t k;         /* probes per key, 1 ... 64 (blocked: 8; compact and counting in lines:
                         * 1 ... 16; cuckoo: 2; fuse: 3 or 4); growing: bits kept, 3 ... 51;
                         * count-min: rows, default 4; count-sketch: rows, odd, default 5; tally, top:
                         * 4, signed-tally: 5                                                     */
    uint32_t cell_bits; /* bits of a counter. counting: 4 (default), 8 or 16; count-min and
                         * count-sketch: 32 (default) or 64; tallies, top: 8, to begin with       */
    uint32_t generations; /* window: how many, 2 ... 256; default 4                               */
    uint32_t inner_kind;  /* window, pair: of their parts, default blocked; counting: bloom
                           * (default), or blocked, whose counters of a key share a cache line. A
                           * window of kinds that tell how often counts what came in its generations,
                           * bytes for all of them together; it never turns by itself             */
    uint64_t excluded;    /* exact: keys that will be excluded; items and this are enough for a plan,
                           * and the rate is that of the smallest image. The seal goes by the keys
                           * that did come, and by the rate                                       */
    double error, delta;  /* count-min: a count is too high by more than error times the weight of all
                           * adds with a chance of at most delta: m = e / error, k = ln (1 / delta).
                           * In practice it is far better, see tamis_estimate. count-sketch: wrong by
                           * more than error times the root of the sum of all squared counts      */
} tamis_plan;

typedef struct tamis_promise {
    size_t struct_size;    /* sizeof(tamis_promise)                                               */
    uint64_t bytes;        /* of the whole image                                                  */
    double fpr;            /* expected rate when the planned items are in (growing: what it never
                            * exceeds; pair: that of the first filter)                            */
    double fpr_asymptotic; /* the same by the textbook formula, which is for endless m            */
    double bits_per_item;  /* 8 * bytes / items                                                   */
    double bound_bits;     /* log2(1/fpr): no structure at all needs fewer bits per item; exact: the
                            * greater of that and log2 of the ways to choose the items from all keys
                            * that are known, divided by items                                    */
    double bound_ratio;    /* bits_per_item / bound_bits                                          */
    double overflow;       /* counting: chance that any counter reaches its end at these items;
                            * cuckoo: that some add finds no room                                 */
    uint64_t packed_bytes; /* TAMIS_TRANSFER: what tamis_pack is expected to write when the planned
                            * items are in; else 0                                                */
} tamis_promise;

/* Fill in every field of the plan that was left zero, and set items, fpr and bytes to what the
 * chosen shape really gives: never fewer items, a higher fpr or more bytes than were asked. Or say
 * why not. Pure mathematics: no allocation, no clock, no randomness. Solving a solved plan changes
 * nothing.                                                                                       */
TAMIS_API tamis_status tamis_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why);

/* --- Options: where and how a handle lives; NULL or all zero for the usual -------------------- */
enum {
    TAMIS_MAP = 1,        /* open: share the file's pages with other processes; read-only. The
                           * file must not be truncated meanwhile: replacing it is fine.          */
    TAMIS_UNVERIFIED = 2, /* open, load, view: skip the sums of the sections (never the header's)  */
    TAMIS_KEYLESS = 4,    /* open, load, view: accept a keyed image without its key, to inspect
                           * or merge it; it then answers "maybe" to every key                    */
    TAMIS_UPDATE = 8,     /* open: to be changed and saved again; TAMIS_EBUSY while another handle
                           * has the file so. Held until close. TAMIS_EIO where the file system
                           * does not support locks (flock).                                      */
    TAMIS_WAIT = 16,      /* with TAMIS_UPDATE: wait instead of TAMIS_EBUSY                       */
    TAMIS_SHARED = 32,    /* create, open, load: any number of threads may add and ask at once,
                           * without a lock; not for strict plans. No key is ever lost; a thread
                           * sees another's add once anything has made it happen before. When
                           * several add the same new key, at least one is told it was not seen.
                           * All other verbs still need the handle for themselves. Only bloom,
                           * partitioned and blocked can.                                          */
    TAMIS_STEADY = 64     /* load, unpack: a change begins no new generation, so that of two copies
                           * that change alike each writes the same bytes, whichever was reloaded
                           * in between: for replicas                                             */
};
/* alloc returns at least size bytes or NULL; no alignment beyond malloc's, no zeroing is needed.
 * zeroed does the same with bytes that are all zero, or is NULL: then the library calls alloc and
 * zeroes every byte. An allocator that gets zeroed pages from the system, as calloc does, can leave
 * them untouched, so that a filter of any size is created at once and takes memory as it fills.
 * free takes back what either returned. All are called from whatever thread calls the library, from
 * several at once when those do. With a secret key, whole pages within what they returned are left
 * out of core dumps from then on.
 * The reserved pointers must be NULL. This version ignores them; a later one may use them. */
typedef struct tamis_memory {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *p);
    void *(*zeroed)(void *ctx, size_t size);
    void *reserved[4];
} tamis_memory;
typedef struct tamis_options {
    size_t struct_size;         /* sizeof(tamis_options)                                          */
    uint32_t flags;             /* TAMIS_MAP, ...                                                 */
    const uint8_t *key;         /* 16 secret bytes: SipHash-2-4. Only a key id is stored. Use one
                                 * when strangers choose the keys that are added or asked         */
    uint64_t max_bytes;         /* TAMIS_ENOMEM for any image bigger than this; what grows while
                                 * adding is full there (TAMIS_EFULL); 0: no limit                 */
    uint64_t scratch_bytes;     /* what a bulk add to a big table may allocate meanwhile; 0: 64 MiB.
                                 * Less scratch, same answers: refused memory is no error         */
    const tamis_memory *memory; /* must outlive the handle; NULL: malloc, calloc and free         */
    uint32_t threads;           /* that tamis_seal may use meanwhile, the caller's included; 0: 1.
                                 * Same bytes. Only ribbon does                                   */
    const char *temp_dir;       /* static kinds: hashes collected beyond scratch_bytes go to a file
                                 * without a name in this directory, 16 bytes each, and as many
                                 * again during the seal. See tamis_seal; NULL: all in memory. Only
                                 * ribbon can (fuse: TAMIS_EUNSUPPORTED); others need no such file */
} tamis_options;

/* --- Life ----------------------------------------------------------------------------------------
 * Calls that make a filter, or take a path or a plan, say TAMIS_EINVAL when that or out is NULL. */
typedef struct tamis tamis;

TAMIS_API tamis_status tamis_create(const tamis_plan *plan, const tamis_options *options,
                                    tamis **out, tamis_error *why);
/* Open a saved image. Hostile files are welcome: everything is validated before it is used, and
 * nothing is allocated that the length of the file does not justify.                             */
TAMIS_API tamis_status tamis_open(const char *path, const tamis_options *options, tamis **out,
                                  tamis_error *why);
/* The same from memory, at any alignment; copies.                                                */
TAMIS_API tamis_status tamis_load(const void *image, size_t size, const tamis_options *options,
                                  tamis **out, tamis_error *why);
/* The same without a copy: image must be 64-byte aligned and unchanged until close; read-only.   */
TAMIS_API tamis_status tamis_view(const void *image, size_t size, const tamis_options *options,
                                  tamis **out, tamis_error *why);
/* Another tamis_options.max_bytes for a handle that is there: what is in it stays, even where that
 * is more; it grows no further (TAMIS_EFULL). 0: no limit. */
TAMIS_API void tamis_limit(tamis *t, uint64_t max_bytes);
/* An independent handle with the same content, not read-only unless sealed or of a newer format. */
TAMIS_API tamis_status tamis_copy(const tamis *t, tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_clear(tamis *t); /* back to empty; a growing one keeps its table     */
/* Read-only from now on, also once saved. Static kinds (fuse, ribbon, exact) are solved by this:
 * before it they only collect and answer "maybe" to every key, after it they answer.
 * TAMIS_EINVAL: a key of an exact filter was added and excluded; tamis_error.offset is its number
 * among the excluded, from 0. Or, with UINT64_MAX there: the hashes are not uniform (see
 * tamis_add_hashes) or cannot be told apart, so the caller made them so or somebody chose them.
 * max_bytes limits what is collected, not what is sealed. After a failure what was collected may
 * be in another order, and hash_suspect may be set. Beyond memory (options.temp_dir): however
 * many keys there are, collecting and sealing never take more than the sealed filter,
 * scratch_bytes (at least 1 MiB) and 32 MiB for each thread; a caller's own hashes must be
 * uniform for that. An add that cannot write to the file is TAMIS_EIO, with the reason in errno;
 * it may be tried again, and nothing is lost, as after a failed seal. While hashes are in the
 * file, save, write and copy are TAMIS_EUNSUPPORTED. A copy made before collects in memory. */
TAMIS_API tamis_status tamis_seal(tamis *t, tamis_error *why);
TAMIS_API void tamis_close(tamis *t);         /* NULL is allowed; nothing is saved                */

/* --- Keys, one at a time -------------------------------------------------------------------------
 * A key is any bytes, NUL and the empty key included.
 * add: *seen (or NULL) tells whether the key may have been there before. Pass NULL when you do not
 * need to know: the filter ends up with the same bytes, and nothing is looked up only for the answer.
 * An add to a window then costs the same however many generations there are. Adding past the plan is
 * allowed, and tamis_info says so, unless the plan is strict. An add to a nearly full cuckoo filter
 * may need 40 KB of memory while it looks for room (TAMIS_ENOMEM).
 * may_contain: "no" is always right, except of a pair and a private filter, which can miss
 * (tamis_facts.may_miss; of a private one see "For publishing": neither answer is a verdict);
 * "yes" is wrong with the probability tamis_info reports.
 * Whenever it cannot be certain (a keyed image without its key, a key where the caller was to
 * bring hashes) it says yes. */
TAMIS_API tamis_status tamis_add(tamis *t, const void *key, size_t len, bool *seen);
TAMIS_API bool tamis_may_contain(const tamis *t, const void *key, size_t len);

/* --- Keys, many at a time: the fast path ---------------------------------------------------------
 * Bit i%8 of byte i/8 of seen_bits (or NULL) and bits (or NULL) answers for key i; spare bits of the
 * last byte are zero. Answers are as if the keys came one by one. */
typedef struct tamis_bytes {
    const void *p;
    size_t len;
} tamis_bytes;
/* If an add fails, exactly the keys [0, *done) were added; done may be NULL. Where no key can be
 * (TAMIS_ESEALED, TAMIS_EKEY, TAMIS_EUNSUPPORTED) seen_bits stays as it was.                     */
TAMIS_API tamis_status tamis_add_many(tamis *t, const tamis_bytes *keys, size_t n,
                                      uint8_t *seen_bits, size_t *done);
/* Returns how many may be in. If bits is NULL it only counts them; so does
 * tamis_may_contain_hashes.                                                                      */
TAMIS_API size_t tamis_may_contain_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        uint8_t *bits);

/* A key hashed once can be asked of every filter with the same hash and seed (or key). The hash of
 * a handle never changes: tamis_hash_many may be called at any time, even while another thread
 * changes the filter. TAMIS_EKEY, TAMIS_EUNSUPPORTED: the key was not given; the caller was to
 * hash. */
typedef struct tamis_hash {
    uint64_t lo, hi;
} tamis_hash;
TAMIS_API tamis_status tamis_hash_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                       tamis_hash *out);
/* Both halves must be uniform and independent: hashes of 64 bits are to be given as {h, mix(h)},
 * with a mix that is not linear, and never as {h, 0} or {h, h}. Calls that add, weigh or exclude
 * hashes look for what is clearly wrong: bits that never change, and halves that are equal,
 * opposite or nearly so. A call with 64 or more hashes is judged by its first ones. Smaller calls
 * are pooled until enough were seen. Nothing fails then, but tamis_facts.hash_suspect is set, in
 * the saved image as well, until tamis_clear. tamis_seal of a static kind looks at hashes from all
 * that were collected, also for halves that are linear functions of each other, and refuses.
 * Uniform hashes are taken for suspect with a probability below 1e-9, however often keys are
 * repeated. The hashes of questions and of removed keys are not looked at. */
TAMIS_API tamis_status tamis_add_hashes(tamis *t, const tamis_hash *h, size_t n,
                                        uint8_t *seen_bits, size_t *done);
TAMIS_API size_t tamis_may_contain_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          uint8_t *bits);

/* --- Keys that are known not to be in: exact -----------------------------------------------------
 * Once sealed, the filter says "no" to every one of them. Other kinds cannot promise that:
 * TAMIS_EUNSUPPORTED. After a failure some of the keys may be excluded; excluding them again is no
 * harm. */
TAMIS_API tamis_status tamis_exclude(tamis *t, const void *key, size_t len, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_many(tamis *t, const tamis_bytes *keys, size_t n,
                                          tamis_error *why);
TAMIS_API tamis_status tamis_exclude_hashes(tamis *t, const tamis_hash *h, size_t n,
                                            tamis_error *why);

/* --- Removing, forgetting ------------------------------------------------------------------------
 * Kinds that cannot say TAMIS_EUNSUPPORTED and name one that can in tamis_error.better_kind.
 * remove: the key must have been added; TAMIS_EABSENT when it certainly is not in (or, of a pair,
 * looks so), and then nothing has changed. TAMIS_EFULL: a pair has no life left for that key.
 * Removing a key that was never added but looks present takes away what belongs to others, which
 * may then be missed: no such filter can know. Remove what you added.
 * remove_many: bit i of absent_bits (or NULL) is set when key i was certainly not in. It goes on to
 * the end: after TAMIS_EFULL those keys are still in that tamis_may_contain says so of.
 * rotate: window forgets its oldest generation and begins a new one. "How often in the last hour"
 * is a window of TAMIS_TALLY or TAMIS_TOP (plan.inner_kind) of 13 generations, rotated every 5
 * minutes: it tells of 60 to 65 minutes. Counts and lists are of all generations together. */
TAMIS_API tamis_status tamis_remove(tamis *t, const void *key, size_t len, tamis_error *why);
TAMIS_API tamis_status tamis_remove_many(tamis *t, const tamis_bytes *keys, size_t n,
                                         uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_remove_hashes(tamis *t, const tamis_hash *h, size_t n,
                                           uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_rotate(tamis *t, tamis_error *why);

/* --- How often -----------------------------------------------------------------------------------
 * Kinds from TAMIS_COUNT_MIN on keep a count for every key that ever came, in memory that does not
 * grow; counting and cuckoo count as well, up to the end of their small counters.
 *
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TALLY, .bytes = 1 << 20};
 *     ...
 *     tamis_add_weight(t, "example.org", 11, 1500, NULL);            // bytes sent, say
 *     tamis_estimate e;
 *     if (tamis_count(t, "example.org", 11, &e, NULL) == TAMIS_OK) ... // e.lower ... e.upper
 *
 * Keys share counters, so a count is an interval. upper is never below the truth (but for
 * count-sketch and signed-tally, which are uncertain on both sides), and INT64_MAX, which means "or
 * more", when the counters have reached their end and cannot tell. Where weight can be taken away
 * nothing is known then: lower is 0, of count-sketch and signed-tally, in windows as well,
 * INT64_MIN, which means "or less". Else lower comes from what the sketch itself says of keys that
 * certainly never came: how much of others' weight a key sees. The truth is in [lower, upper] with
 * `confidence`, for keys that were not chosen against the hash (tamis_options.key is for that).
 * estimate is the best guess, somewhere in it.
 * Asking reads what 16384 such keys see, again when the weight added since is a 128th of all, or of
 * what the counters hold of it, and needs 300 KB for it meanwhile (TAMIS_ENOMEM).
 * may_contain asks whether the count is not 0; count-sketch and signed-tally, which cannot be
 * certain, say yes. */
typedef struct tamis_estimate {
    int64_t estimate, lower, upper;
    double confidence; /* that the truth is in [lower, upper]                                     */
    int64_t certain;   /* the key came so often for certain, by whatever keys: 0 unless it has an entry;
                        * INT64_MIN where counts may be too low                                   */
    bool below_noise;  /* one in a thousand keys that never came has as much: this may be one      */
    bool judged;       /* suspect could be told: only where keys have entries of their own, in a top,
                        * and before its counters end                                             */
    bool suspect;      /* poisoned: see below                                                     */
    uint8_t reserved_bytes[5];
    uint64_t reserved[2];
} tamis_estimate;
/* Poisoned counts. Whoever knows the hash, or may add and ask for long, can find keys that share
 * the counters of a victim, and count them up. [certain, upper] holds the truth all the same, of
 * kinds that are never too low and unless more was taken away than came; [lower, upper] was made
 * for keys that nobody chose. Both want a secret key (tamis_options.key): without one, keys of one
 * 64-bit hash are easily made, and those are one key to every kind. From shared counters alone a
 * victim cannot be told from a frequent key, as both leave the very same counters, so of most
 * kinds every count is unjudged. A top can tell: a key has a count of its own soon, and what is
 * left to shared counters is at most the weight of all adds divided by the number of entries, or
 * little more, unless its buckets were aimed at. suspect: upper - certain is above twice that;
 * then lower is certain. What is judged and not suspect is off by at most twice that.            */
/* weight: any number of adds at once, in the time of one; tamis_add adds 1. A negative one takes
 * away what was added, where the kind can (TAMIS_EUNSUPPORTED), and TAMIS_EABSENT says that the key
 * certainly has less. Counters that reach their end stay there (tamis_facts.saturated); they never
 * wrap. weights NULL: all 1. If one fails, exactly the keys [0, *done) were added; done may be
 * NULL. */
TAMIS_API tamis_status tamis_add_weight(tamis *t, const void *key, size_t len, int64_t weight,
                                        tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_many(tamis *t, const tamis_bytes *keys,
                                             const int64_t *weights, size_t n, size_t *done,
                                             tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_hashes(tamis *t, const tamis_hash *h,
                                               const int64_t *weights, size_t n, size_t *done,
                                               tamis_error *why);
TAMIS_API tamis_status tamis_count(const tamis *t, const void *key, size_t len, tamis_estimate *out,
                                   tamis_error *why);
TAMIS_API tamis_status tamis_count_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        tamis_estimate *out, tamis_error *why);
TAMIS_API tamis_status tamis_count_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          tamis_estimate *out, tamis_error *why);

/* --- The most frequent: top ----------------------------------------------------------------------
 * A tally that keeps the heaviest items themselves, texts included, in the memory of the plan:
 *
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TOP, .bytes = 1 << 20};
 *     ...
 *     tamis_add(t, "example.org", 11, NULL);                       // for every request
 *     tamis_heavy top[20];
 *     size_t n = tamis_top(t, top, 20);                            // top[0] came most often
 *
 * What an item in the list counts since it got there is exact, and that is the lower end of its
 * interval, by tamis_count as well: certain, with confidence 1. (Where no item is frequent, those
 * are listed that met the most noise, and no margin for any key would hold for them.) The order in
 * which items come does not matter much: early or late, spread or all together. It keeps items, so
 * it must be given them: the _hashes verbs of adding are TAMIS_EUNSUPPORTED. Weights are never
 * negative, nor in a window. Two keys are one to it when 64 bits of their hashes agree, a chance of
 * 5e-20 for any two. */
typedef struct tamis_heavy {
    tamis_bytes item;     /* valid until the next change. Of a long item only the beginning is kept: 4096
                           * bytes, or an eighth of the room for texts. p is NULL when the room did not
                           * suffice for this one, which first befalls the least of the list; it is
                           * back soon after the item has come again and counts enough             */
    uint64_t length;      /* of the whole item, more than item.len when that is the beginning; 0 when
                           * p is NULL                                                            */
    uint64_t hash;        /* 64 bits of its hash (tamis_hash.lo), by which it is known            */
    tamis_estimate count;
    uint64_t reserved[4];
} tamis_heavy;
/* The n most frequent, by the estimate of their count, the greatest first (equal ones by their
 * bytes, or by hash where those are not kept). Returns how many were written, fewer when the list
 * is shorter; with out NULL, how many there are. 0 for kinds but top and windows of it. Without the
 * memory for the noise (see above) estimates are upper ends, and lower ones those that are
 * certain. */
TAMIS_API size_t tamis_top(const tamis *t, tamis_heavy *out, size_t n);
/* All items whose count may be `weight` or more, in the same order: every item that was added with
 * a weight of that in all is among them, always. *found tells how many there are, of which the
 * first n are written. TAMIS_EINVAL when that cannot be promised: weight must be at least
 * tamis_facts.list_floor, the noise floor of the list; below it an item may have been too light to
 * be kept. */
TAMIS_API tamis_status tamis_above(const tamis *t, int64_t weight, tamis_heavy *out, size_t n,
                                   size_t *found, tamis_error *why);

/* --- Together ------------------------------------------------------------------------------------
 * merge: into becomes the filter of the union, bit for bit. Of bloom, partitioned, blocked,
 * counting, all kinds that tell how often, and windows; of others TAMIS_EUNSUPPORTED: build one
 * from the keys of both. Kind, shape, hash and seed (or key) must be equal (TAMIS_EMISMATCH), and
 * the two not one handle (TAMIS_EINVAL). The number of items is an estimate from then on, but for
 * counting and kinds that tell how often, whose counters add up. (tallies, top, conservative
 * count-min, and windows of them: not bit for bit what one stream would have made; never too few,
 * but for signed-tally.) */
TAMIS_API tamis_status tamis_merge(tamis *into, const tamis *from, tamis_error *why);

/* convert: the plain filter that gives the same answers, smaller and without what its source could
 * do besides: a counting filter (not one of blocked layout) as bloom, a quarter of the size or
 * less. As strict as its source, and never sealed. TAMIS_EUNSUPPORTED: there is none of that kind,
 * or it is of that kind already. */
TAMIS_API tamis_status tamis_convert(const tamis *t, uint32_t kind, tamis **out, tamis_error *why);

/* Sizes of union and intersection and their quotient, estimated from the bits of two filters of
 * equal shape, hash and seed (or key), as for merge; but only of bloom, partitioned, blocked and
 * counting (TAMIS_EUNSUPPORTED). Each [low, high] holds the truth with 99 % probability. */
typedef struct tamis_similarity {
    size_t struct_size; /* sizeof(tamis_similarity)                                               */
    double union_items, union_low, union_high;
    double common_items, common_low, common_high;
    double jaccard, jaccard_low, jaccard_high;
} tamis_similarity;
TAMIS_API tamis_status tamis_compare(const tamis *a, const tamis *b, tamis_similarity *out,
                                     tamis_error *why);

/* --- Looking inside ------------------------------------------------------------------------------
 * Reads every cell: costs as much as reading the memory once. */
enum { TAMIS_XXH3 = 1, TAMIS_SIPHASH = 2, TAMIS_CALLER_HASH = 3 }; /* tamis_facts.hash */
typedef struct tamis_facts {
    size_t struct_size;    /* sizeof(tamis_facts)                                                 */
    uint32_t kind, hash, k, format;
    uint64_t m, seed, generation;
    uint32_t cell_bits, sections;
    bool may_miss;         /* this structure can answer a wrong "no"                              */
    bool keyed, strict;    /* hashed with a secret key; refuses items beyond the plan             */
    bool auto_rotate;          /* a window that rotates by itself                                     */
    bool sealed;           /* for ever read-only                                                  */
    bool collecting;       /* of a static kind, not sealed yet: answers "maybe" to every key      */
    bool read_only;        /* this handle is: sealed, mapped, a view, or of a newer format        */
    bool overfull;        /* holds more items than planned, so the rate is worse than planned    */
    bool items_estimated;  /* items is an estimate, since a merge                                 */
    bool hash_suspect;     /* hashes were added that are clearly not uniform: see tamis_add_hashes.
                            * Then no rate, estimate or interval here holds: the truth is worse    */
    uint64_t bytes;        /* of the whole image                                                  */
    uint64_t items;        /* adds that changed something: just under the number of distinct keys.
                            * window: adds that changed the generation that was the newest then, so
                            * a key counts once in each generation that has it. counting, cuckoo,
                            * static kinds: all adds, less removes; sealed static kinds: different
                            * keys                                                                */
    uint64_t planned_items;
    uint64_t excluded;     /* exact: different keys that are known not to be in, and get a "no"
                            * (before the seal: all that were excluded)                           */
    double fpr_planned;    /* at the planned items                                                */
    double fpr_now;        /* from the bits: the chance that a key never added gets a "maybe"     */
    double fpr_now_low, fpr_now_high; /* its 99 % interval; for these kinds the bits determine it */
    double miss_rate;      /* chance that a key that is in gets a "no", more than this when
                            * overfull; 0 unless may_miss                                        */
    uint64_t saturated;    /* counting, and kinds that tell how often: counters that have reached their
                            * end, and stay there                                                 */
    double overflow;       /* counting: chance of any, with as many adds of distinct keys         */
    double items_estimate; /* distinct items, estimated from the bits alone (cuckoo and static
                            * kinds: items again; tallies, count-sketch: 0, they cannot tell)     */
    double items_low, items_high; /* its 99 % interval; high is infinite when every bit is set, or
                            * the bits do not tell                                                */
    double fill;           /* share of set bits, or of cells in use                               */
    double bits_per_item;  /* 8 * bytes / items (planned items while empty)                       */
    double bound_bits;     /* log2(1/fpr_now) (fpr_planned while empty), or as in tamis_promise    */
    double bound_ratio;    /* bits_per_item / bound_bits                                          */
    /* Of kinds that tell how often, which have no planned items, no rate and no bits per item: */
    bool conservative;     /* TAMIS_CONSERVATIVE                                                  */
    int64_t weight;        /* of all adds, less what was taken away, or INT64_MAX and more; items is
                            * the same, or 0                                                      */
    int64_t noise_median, noise_99, noise_999; /* what one half, 99 % and 99.9 % of the keys that never
                            * came do not exceed (of count-sketch, on either side of 0); noise_999 is
                            * the noise floor                                                     */
    double error;          /* as in the plan: times weight, the textbook's bound of count-min; of
                            * count-sketch times the root of the sum of all squared counts; 0: none */
    uint64_t entries, listed; /* top: items that can be listed at most, and that are              */
    int64_t list_floor;     /* top: the least weight that tamis_above takes; any item that was added so
                            * often is listed. INT64_MAX: none, its counters have ended           */
    double epsilon;        /* private: what the release costs, never less than it does; else 0    */
    uint8_t key_id[16];    /* keyed: which key, without telling it; else 0                        */
    uint32_t inner_kind, generations; /* of a window of kinds that tell how often; else 0         */
} tamis_facts;
/* TAMIS_ENOMEM: only sketches return it. *out is unchanged after a failure.                      */
TAMIS_API tamis_status tamis_info(const tamis *t, tamis_facts *out);

/* --- At rest -------------------------------------------------------------------------------------
 * The image is specified in docs/FORMAT.md: little-endian, versioned, summed. The same plan and the
 * same keys give the same bytes on every machine when they are added in the same order to one
 * handle before it is first saved. It does not matter whether the keys come one by one or in bulk,
 * nor which threads, scratch_bytes and temp_dir are used. Each round of opening, changing and
 * saving raises `generation`, so that a filter made in two rounds differs in generation and root.
 * docs/FORMAT.md lists all exceptions under "Identical bytes". When the same keys are only added,
 * and each as often, but in another order:
 *   - The whole image is the same: counting, count-min that is not conservative, count-sketch until
 *     a counter has reached its end, windows of these sketches, and sealed fuse, ribbon and exact.
 *   - All cells are the same, but not `items`, nor the root that sums it: bloom, partitioned,
 *     blocked, pair, and windows of filters unless TAMIS_AUTO_ROTATE. items counts the adds that
 *     changed something, and which keys look like repeats depends on those before them.
 *   - The cells differ: growing, cuckoo, turning windows, conservative count-min, tally,
 *     signed-tally, top, windows of these sketches, and static kinds before the seal. */
#define TAMIS_IMAGE_MAGIC "\x89TAMIS\r\n" /* the 8 bytes with which every image begins           */
TAMIS_API uint64_t tamis_image_size(const tamis *t);
/* The length of the image that begins with these bytes; 0 if none does, or n is below 128.       */
TAMIS_API uint64_t tamis_image_length(const void *begin, size_t n);
/* What an image file says without its cells. Reads and verifies only the header, the section table
 * and the sums, 8 bytes for each 64 KiB. No key is needed. Sets kind, hash, k, format, m, seed,
 * generation, cell_bits, sections, key_id, the flags from may_miss to hash_suspect except overfull,
 * bytes, items (0 for sketches), planned_items and fpr_planned; all other fields are 0. Fails as
 * tamis_open does, and then leaves *out unchanged.                                               */
TAMIS_API tamis_status tamis_stat(const char *path, tamis_facts *out, tamis_error *why);
/* Called with consecutive pieces; anything but TAMIS_OK stops the writing and is returned.       */
typedef tamis_status (*tamis_sink)(void *ctx, const void *bytes, size_t n);
TAMIS_API tamis_status tamis_write(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);
enum { TAMIS_SAVE_NEW = 1,      /* path must not exist: otherwise TAMIS_EIO with os = EEXIST      */
       TAMIS_SAVE_PACKED = 2 }; /* a packed file, as tamis_pack writes it                         */
typedef struct tamis_save_options {
    size_t struct_size; /* sizeof(tamis_save_options)                                             */
    uint32_t flags;     /* TAMIS_SAVE_...; any other flag is TAMIS_EINVAL                         */
    uint32_t mode;      /* permissions of a new file, less the umask; 0: 0666. Others keep theirs */
} tamis_save_options;
/* Saves the image, and replaces a file; options NULL is the same. Atomic and durable: whatever
 * happens, the path holds the old file or the whole new one, and the new one is on disk when TAMIS_OK
 * returns. (When the very last step fails, the sync of the directory, the new file is in place but
 * may not survive a power failure, or is removed again with TAMIS_SAVE_NEW: TAMIS_EIO.) A handle
 * that was opened from this path refuses with TAMIS_EBUSY when somebody else has changed the file
 * since, or replaces it before the new one takes its name. Hard links are not required, and locks
 * only by TAMIS_UPDATE. A file that was removed before or during the save is created.
 *   TAMIS_SAVE_NEW: where the file system supports neither hard links nor renameat2 with
 * RENAME_NOREPLACE, an empty file holds the name for a moment. A kill in that moment leaves it
 * behind, and so does another save to this path that locks it then and fails.
 *   TAMIS_SAVE_PACKED writes a copy: the handle, its lock and its generation still belong to the
 * file that it was opened from or first saved to. Packing over that file is TAMIS_EINVAL.        */
TAMIS_API tamis_status tamis_save(tamis *t, const char *path, const tamis_save_options *options,
                                  tamis_error *why);
/* Writes any n bytes as tamis_save does; TAMIS_SAVE_PACKED is TAMIS_EINVAL.                      */
TAMIS_API tamis_status tamis_write_file(const char *path, const void *bytes, size_t n,
                                        const tamis_save_options *options, tamis_error *why);

/* --- For the wire --------------------------------------------------------------------------------
 * pack: the image as a smaller file, where few of its bits are set (see TAMIS_TRANSFER); never more
 * than 40 bytes, and one for every 64 KiB, bigger. Any kind; a ribbon is at the bound already and
 * does not shrink, and a private one is refused (TAMIS_EUNSUPPORTED). It needs 130 KiB of memory,
 * and reads the cells once to sum and once to code.
 * unpack: the very image, bit for bit. Hostile bytes are welcome, but an image may be 5462 times as
 * long as its packed file (an empty one is): set tamis_options.max_bytes. The offsets of its errors
 * are within the image, or within the packed file where that is not whole. tamis_open, load and view
 * do not take packed files and say so. */
TAMIS_API tamis_status tamis_pack(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);
TAMIS_API tamis_status tamis_unpack(const void *packed, size_t size, const tamis_options *options,
                                    tamis **out, tamis_error *why);

/* --- For publishing ------------------------------------------------------------------------------
 * release: a copy whose bits are flipped, each with the same chance, by the system's random bits:
 * an epsilon-differentially private release of the set (docs/ACCURACY.md). Only of a bloom filter
 * with k = 1 (TAMIS_EUNSUPPORTED), 0.001 <= epsilon <= 16; TAMIS_EIO where the system has no random
 * bits.
 *
 * The promise: for two sets of which one has a single item more, no release is more than e^epsilon
 * times as likely from the one as from the other. To exchange an item costs 2 epsilon; a person
 * with r items in the set, r epsilon. It is for one release. Each call draws anew, and n releases
 * of a set and its like cost n epsilon together, so keep the first and hand out copies of it
 * (tamis_write; the command does). m, seed and key id are published as they are: they must not be
 * chosen by looking at the data, as a plan for exactly the keys that are there would be. Nothing
 * else comes from the source but its bits: not its plan, its count of items or its generation.
 *
 * The result is sealed, of kind TAMIS_PRIVATE, and can miss. Of it may_contain is no verdict, and
 * its "no" is not certain: it tells whether the bit of a key is set. Of keys that are in it is not
 * with the chance tamis_facts.miss_rate, 1 / (1 + e^epsilon) or a little more, and of those that
 * are not it is with fpr_now; what that says of a key is a probability (below). items_estimate and
 * its interval allow for the noise. It cannot be added to, merged or packed, and neither the guard
 * nor the Redis module takes it. */
TAMIS_API tamis_status tamis_release(const tamis *from, double epsilon, tamis **out,
                                     tamis_error *why);
/* The chance that a key is in, given its bit and the prior: what you took it for before you asked,
 * above 0 and below 1. 0.5 is to know nothing: then above 0.5 speaks for it and below against. No
 * answer moves the odds by more than e^epsilon. Only of private filters (TAMIS_EUNSUPPORTED). Reads
 * every cell once: ask for many keys at a time.                                                  */
TAMIS_API tamis_status tamis_probability(const tamis *t, const void *key, size_t len, double prior,
                                         double *out, tamis_error *why);
TAMIS_API tamis_status tamis_probability_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                                double prior, double *out, tamis_error *why);
/* There are only two such chances: of keys for which may_contain says yes, and of all others. They
 * would be exact if the number of items were known; as the bits tell it within an interval of 99 %
 * (items_low, items_high), each has one, too. It is narrow but for small filters. No key is needed. */
typedef struct tamis_evidence {
    size_t struct_size; /* sizeof(tamis_evidence)                                                 */
    double yes, yes_low, yes_high;
    double no, no_low, no_high;
} tamis_evidence;
TAMIS_API tamis_status tamis_evidence_of(const tamis *t, double prior, tamis_evidence *out,
                                         tamis_error *why);

/* --- For drawings, teaching and debugging --------------------------------------------------------
 * The cells that decide about a key, in probe order; returns how many there are (which may be more
 * than max), and 0 when the key cannot be hashed. Only of bloom, partitioned, blocked, counting,
 * cuckoo, count-min, private and, once sealed, fuse; of others 0. tamis_cell: the value of one. */
TAMIS_API size_t tamis_cells_of(const tamis *t, const void *key, size_t len, uint64_t *cells,
                                size_t max);
TAMIS_API uint64_t tamis_cell(const tamis *t, uint64_t cell);

#ifdef __cplusplus
}
#endif
#endif
