/* Tamis: approximate sets and counts, for data too big to keep.
 *
 * A filter holds a set in a few bits per key. Asked about a key, it answers "no" or "maybe". A "no"
 * is always right. A non-member gets a "maybe" with a probability that you choose.
 *
 *     // Give two of: number of items, false-positive rate, bytes.
 *     tamis_plan plan = TAMIS_PLAN_INIT; plan.items = 1000000; plan.fpr = 0.01;
 *     tamis *t;
 *     if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) ...
 *     tamis_add(t, "thisisavirus.com", 16, NULL);
 *     if (!tamis_may_contain(t, "verynormalsite.com", 18)) ...   // certainly not a member
 *     tamis_save(t, "bad.tamis", NULL, NULL);
 *     tamis_close(t);
 *
 * Link with -ltamis -lm -pthread. You can stop reading after "The simple part". What else there is:
 *     <tamis/inspect.h>  what a filter reports: items, rates, sizes; included by this header
 *     <tamis/hashes.h>   keys that are hashed once, or by the caller; included by this header
 *     <tamis/columns.h>  keys in columns, as databases keep them
 *     <tamis/map.h>      maps: a value with each key
 *     <tamis/count.h>    sketches: how often each key occurred, and the most frequent keys
 *     <tamis/parts.h>    a handle for each thread, and joining them
 *     <tamis/embed.h>    views without allocating; filters without a header in other files
 *     <tamis/publish.h>  packed files, and releases that protect the privacy of their keys
 *     <tamis/foreign.h>  filters of other programs
 *     <tamis/tamis.hpp>  sets and sketches in C++17
 *
 * These rules hold for all calls, unless a call states an exception:
 *   Threads  Any number of threads may read a handle at the same time. A call that changes a handle
 *            (its first argument is not const) requires that no other thread uses that handle,
 *            except as TAMIS_SHARED allows. Calls on distinct handles are independent.
 *   Failure  A call that fails changes nothing. If it was to make a handle, it sets *out to NULL.
 *            `why` and `options` may be NULL. If a path, a plan, the place for a handle or for a
 *            struct with struct_size is NULL, the call returns TAMIS_EINVAL.
 *   Stack    A call takes at most 16 KiB (16,384 bytes) of stack, plus what the caller's functions
 *            take (allocator, sink, reader). Unoptimized and sanitized builds take more.
 *   Process  The library never prints, exits or reads the environment, and its only state is in its
 *            handles. It starts threads only if tamis_options.threads asks for them, and they end
 *            with the call; their stacks have the system's default size.
 *   Structs  Set struct_size to the sizeof of the struct, and fields that you do not use to zero.
 *            TAMIS_PLAN_INIT does so for a tamis_plan, TAMIS_FACTS_INIT for a tamis_facts, etc.
 *            A newer library takes fields that this struct lacks as zero and does not write them.
 *            An older library fails with TAMIS_EINVAL if a field that it lacks is not zero, and
 *            writes zero to it. struct_size must be a multiple of sizeof(size_t), at most 4096; it
 *            is checked first and never changed. Structs without it keep their size for ever.    */
/* clang-format off */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/init.h>

#define TAMIS_VERSION_MAJOR 1
#define TAMIS_VERSION_MINOR 0
#define TAMIS_VERSION_PATCH 0
#define TAMIS_VERSION_STRING "1.0.0"
#if defined(_WIN32) || !defined(__GNUC__)
#define TAMIS_API
#else
#define TAMIS_API __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_status {  /* numbers are never reused                                          */
    TAMIS_OK = 0,
    TAMIS_ENOMEM = -1,       /* no memory, or a limit that the caller set would be exceeded       */
    TAMIS_EINVAL = -2,       /* a plan or an argument is invalid                                  */
    TAMIS_EUNSUPPORTED = -3, /* the kind lacks the operation, or this build lacks the kind        */
    TAMIS_EFULL = -4,        /* a strict filter holds all its planned items, or there is no room  */
    TAMIS_EABSENT = -5,      /* the key to be removed or looked up is not a member                */
    TAMIS_EMISMATCH = -6,    /* two filters differ in kind, shape, hash, seed or encoding         */
    TAMIS_ECORRUPT = -7,     /* the bytes are not a complete, undamaged image                     */
    TAMIS_EVERSION = -8,     /* the format is newer than this library can read, or may write      */
    TAMIS_EKEY = -9,         /* the image was made with a secret key, which is missing or wrong   */
    TAMIS_EIO = -10,         /* a system call failed; tamis_error.os is its errno                 */
    TAMIS_ESEALED = -11,     /* this handle is read-only                                          */
    TAMIS_EBUSY = -13        /* another process has locked or changed this file                   */
} tamis_status;
typedef struct tamis_error { /* filled on failure                                                 */
    tamis_status status;
    int os;                  /* errno after TAMIS_EIO, else 0                                     */
    uint64_t offset;         /* after TAMIS_ECORRUPT: where in the image the fault is; 0: unknown */
    uint32_t better_kind, reserved_word; /* after TAMIS_EUNSUPPORTED: a kind that can, or 0       */
    char text[160];          /* the reason, as one line without a newline; never empty            */
    uint64_t reserved[4];
} tamis_error;
TAMIS_API const char *tamis_status_message(tamis_status s); /* one line; never NULL               */
TAMIS_API const char *tamis_version(void); /* of the library that runs, like "1.0.0"              */

/* --- The simple part -------------------------------------------------------------------------- */
typedef struct tamis tamis;                           /* a filter or a sketch                     */
typedef struct tamis_plan tamis_plan;                 /* its shape: see "Plans"                   */
typedef struct tamis_options tamis_options;           /* memory, key, threads: see "Options"      */
typedef struct tamis_save_options tamis_save_options; /* how a file is saved: see "Images"        */
typedef struct tamis_key tamis_key;                   /* a secret key: see hashes.h               */
/* Creates an empty filter. Fails with TAMIS_EINVAL if the plan cannot be met. Allocates the memory
 * of the whole plan; the system provides its pages as it fills. A solved plan takes about 3 µs.  */
TAMIS_API tamis_status tamis_create(const tamis_plan *plan, const tamis_options *options,
                                    tamis **out, tamis_error *why);
/* Adds a key: any bytes, or none. *seen becomes true if the key may have been a member before. Pass
 * NULL if you do not need that: the filter gets the same bytes, and an add to a window takes the
 * same time for any number of generations. Adding more than planned raises the false-positive rate
 * (tamis_facts.overfull), or fails with TAMIS_EFULL if the plan is strict or there is no room. Also
 * fails with TAMIS_ENOMEM if a growing or sealed kind cannot grow, or a nearly full cuckoo filter
 * cannot get 80 KB to make room, and if t takes no keys at all (see tamis_add_many).             */
TAMIS_API tamis_status tamis_add(tamis *t, const void *key, size_t len, bool *seen);
/* Returns whether the key may be a member. false is always right, except for pair and private
 * filters (tamis_facts.may_miss). A non-member gets true with probability tamis_facts.fpr_now. A
 * filter that cannot decide returns true: it lacks its secret key, or the caller hashes
 * (TAMIS_HASH_CALLER), or it is of a sealed kind and not yet sealed, or its plan states an
 * encoding whose keys have another length.                                                       */
TAMIS_API bool tamis_may_contain(const tamis *t, const void *key, size_t len);
/* Saves the image to a file, atomically and durably: see "Images". By default replaces a file.   */
TAMIS_API tamis_status tamis_save(tamis *t, const char *path, const tamis_save_options *options,
                                  tamis_error *why);
/* Opens a saved image, and reads all of it unless TAMIS_MAP. Hostile files are safe: everything is
 * validated before it is used, and no memory is allocated that the file's length does not justify.
 * A file that cannot be used is TAMIS_EIO, TAMIS_ECORRUPT, TAMIS_EVERSION or TAMIS_EKEY.         */
TAMIS_API tamis_status tamis_open(const char *path, const tamis_options *options, tamis **out,
                                  tamis_error *why);
TAMIS_API void tamis_close(tamis *t); /* Frees the handle, which may be NULL. Does not save.      */

/* --- Kinds, with bits per item at 1 % false positives; bounds: sealed 6.64, most others 8.09 -- */
typedef enum tamis_kind {
    TAMIS_AUTO = 0,        /* blocked, or bloom if blocked takes over a fifth more space          */
    TAMIS_BLOOM = 1,       /* the classic: k bits anywhere; 9.6 bits (k = 1: a bitmap)            */
    TAMIS_PARTITIONED = 2, /* k rows, and one bit of a key in each; 9.6 bits                      */
    TAMIS_BLOCKED = 3,     /* 8 bits of a key in one cache line; 10.1 bits; the fastest           */
    TAMIS_COUNTING = 4,    /* bloom with counters: keys can be removed; 38 bits                   */
    TAMIS_PAIR = 5,        /* a filter of added and one of removed keys; 20 bits; can miss        */
    TAMIS_GROWING = 6,     /* any number of items; 19 bits from 250,000 to 28 M, up to 31 beyond  */
    TAMIS_WINDOW = 7,      /* generations of filters or sketches: forgets the oldest keys         */
    TAMIS_CUCKOO = 8,      /* fingerprints: keys can be removed; 9.5 bits                         */
    TAMIS_FUSE = 9,        /* sealed: 3 or 4 cells per key, 7.9 or 7.5 bits at 0.8 %; fast        */
    TAMIS_RIBBON = 10,     /* sealed: the smallest, 6.7 bits; any rate down to 2^-32              */
    TAMIS_EXACT = 11,      /* sealed: never wrong about a key it was built with, member or excluded;
                            * per member 2 bits if as many are excluded, 9 if 100 times as many   */
    TAMIS_PRIVATE = 12,    /* only made by tamis_release (publish.h); can miss                    */
    TAMIS_VALUE_MAP = 13,  /* sealed: a value with each key (map.h); 6.7 bits more than the value */
    TAMIS_COUNT_MIN = 32, TAMIS_COUNT_SKETCH = 33, TAMIS_TALLY = 34, TAMIS_TOP = 35,
    TAMIS_SIGNED_TALLY = 36, TAMIS_DISTINCT = 48 /* sketches: see count.h; the last: distinct.h   */
} tamis_kind; /* sealed kinds: see tamis_seal                                                     */
TAMIS_API const char *tamis_kind_name(uint32_t kind); /* like "blocked"; NULL: no such kind       */
TAMIS_API uint32_t tamis_kind_named(const char *name); /* TAMIS_AUTO: no kind has this name       */

/* --- Plans ---------------------------------------------------------------------------------------
 * Give two of items, fpr and bytes. With all three, items and fpr are met and bytes is a limit. m
 * (with or without k) can replace bytes. growing needs only fpr. A field that is zero is computed
 * or gets its default. If a row names kinds, the field must be zero for all others.
 *   items        expected distinct items, at most 2^52; growing: room at first, default 100;
 *                top: items to list, at most 2^30, default 100; not for other sketches
 *   fpr          false-positive rate with these items, 1e-18 <= fpr < 1 (fuse, ribbon: at least
 *                2^-32; exact: 2^-33; map: 2^-32 ... 1); growing: with any items; not for sketches
 *   bytes        size of the whole image; window: with all generations
 *   seed         seed of the hash, XXH3; not with a secret key or TAMIS_HASH_CALLER
 *   m            bloom: bits; partitioned: bits in each row; blocked: bits, a multiple of 512;
 *                pair, window: m of each part; counting: counters; cuckoo: slots, even; growing:
 *                room at first in slots, a power of two; count-min, count-sketch: counters in
 *                each row; tally, signed-tally, top: counters, a multiple of 56
 *   k            bloom, partitioned, counting: probes, 1 ... 64; compact blocked, and counting of
 *                inner kind blocked: 1 ... 16; pair, window: k of each part; growing: least bits of
 *                a fingerprint, 3 ... 51; fuse: 3 (default) or 4; count-min: rows, 1 ... 32,
 *                default 4; count-sketch: rows, odd, default 5. It is fixed for blocked (8), cuckoo
 *                (2), tally and top (4) and signed-tally (5)
 *   cell_bits    bits of a counter. counting: 4 (default), 8 or 16; count-min, count-sketch: 32
 *                (default) or 64; tallies, top: 8, which grow; map: of a value, 1 ... 32, default 8
 *   generations  window: 2 ... 256, default 4
 *   inner_kind   pair: blocked (default), bloom or partitioned; window: these, or a sketch;
 *                counting: bloom (default), or blocked for all counters of a key in one cache line
 *   excluded     exact: keys to exclude. Without fpr or bytes, gets the rate of the smallest image.
 *                tamis_seal uses the actual numbers of keys, and this rate or a lower one
 *   error, delta count-min, count-sketch: see count.h
 *   encoding     how keys become bytes, which the image records: TAMIS_KEYS_..., see inspect.h. It
 *                changes no answer, but a key of a wrong length is TAMIS_EINVAL, and "maybe"
 *   key_width    TAMIS_KEYS_FIXED: bytes of each key, 1 ... 65535. INT64: 8; SHA256: 32          */
enum {                      /* tamis_plan.flags                                                   */
    TAMIS_STRICT = 1,       /* an add beyond the planned items is TAMIS_EFULL. counting, cuckoo and
                             * sealed kinds count repeats too. Not for growing, map, window, ...  */
    TAMIS_HASH_CALLER = 2,  /* the caller hashes: only calls that take hashes work; not for top   */
    TAMIS_COMPACT = 4,      /* blocked: bits anywhere in the line; saves 2 % at 1 %, 7 % at 1e-4  */
    TAMIS_AUTO_ROTATE = 8,  /* window of filters: an add rotates first if the newest one is full  */
    TAMIS_TRANSFER = 16,    /* bloom: small when packed: see publish.h                            */
    TAMIS_CONSERVATIVE = 32,/* count-min: half the error, but no subtraction                      */
    TAMIS_REMOVABLE = 64    /* growing: keys can be removed; at 1 % 15 KB or more; fpr >= 7e-14   */
};
struct tamis_plan {
    size_t struct_size;
    uint32_t kind, flags;
    uint64_t items;
    double fpr;
    uint64_t bytes, seed, m;
    uint32_t k, cell_bits, generations, inner_kind;
    uint64_t excluded;
    double error, delta;
    uint32_t encoding, key_width;
};
typedef struct tamis_promise {
    size_t struct_size;
    uint64_t bytes;        /* of the whole image                                                  */
    double fpr;            /* expected with the planned items (pair: of its first filter)         */
    double fpr_asymptotic; /* the same by the textbook formula, which assumes an infinite m       */
    double bits_per_item;  /* 8 * bytes / items                                                   */
    double bound_bits;     /* lower bound of bits per item at this rate, for kinds like this one  */
    double bound_ratio;    /* bits_per_item / bound_bits; both are 0 if there is no bound         */
    double overflow;       /* probability of a saturated counter (counting), or no room (cuckoo)  */
    uint64_t packed_bytes; /* TAMIS_TRANSFER: expected size when packed; else 0                   */
    uint32_t bound;        /* which lower bound: TAMIS_BOUND_..., see inspect.h                   */
} tamis_promise;
/* Completes a plan: computes the fields that are zero, and sets items, fpr and bytes to those of
 * the shape: as many items as given or more, and the given fpr and bytes or less. promise may be
 * NULL. Fails with TAMIS_EINVAL if no shape meets the plan, or if the program's shorter struct
 * lacks a field of the result. Allocates nothing. Solving a solved plan changes nothing.         */
TAMIS_API tamis_status tamis_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why);

/* --- Options ---------------------------------------------------------------------------------- */
enum {                    /* tamis_options.flags, with calls that accept them (else TAMIS_EINVAL) */
    TAMIS_MAP = 1,        /* open: read-only, sharing pages with other processes. The file may be
                           * replaced meanwhile, but must not be truncated                        */
    TAMIS_UNVERIFIED = 2, /* open, load, view: verify only the checksum of the header             */
    TAMIS_KEYLESS = 4,    /* open, load, view: accept a keyed image without its key, to inspect or
                           * merge it; all its answers are "maybe"                                */
    TAMIS_UPDATE = 8,     /* open: lock the file until close, to change and save it. Fails with
                           * TAMIS_EBUSY if it is locked, TAMIS_EIO if there are no locks (flock) */
    TAMIS_WAIT = 16,      /* with TAMIS_UPDATE: wait for the lock                                 */
    TAMIS_SHARED = 32,    /* create, open, load: any number of threads may add, query, count, rotate
                           * and take snapshots (save, write, copy, stat, info) at once. A call sees
                           * each add that happens before it. Other changes need the handle alone.
                           * Kinds and locks: see docs/GUIDE.md, "Threads"; also see parts.h      */
    TAMIS_STEADY = 64     /* load, unpack: saved changes do not raise `generation`, so that replicas
                           * with the same changes write the same bytes, even if one was reloaded */
};
typedef struct tamis_memory { /* called by every thread that calls the library                    */
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);  /* size bytes or more, aligned as by malloc; or NULL */
    void (*free)(void *ctx, void *p);        /* takes what alloc or zeroed returned               */
    void *(*zeroed)(void *ctx, size_t size); /* like calloc, which need not touch fresh pages; if
                                              * NULL, alloc is called and all bytes are zeroed    */
    void *reserved[4];                       /* NULL                                              */
} tamis_memory;
struct tamis_options {
    size_t struct_size;
    uint32_t flags;
    const uint8_t *key;         /* 16 secret bytes for SipHash-2-4, if strangers choose keys. Images
                                 * have only an id of it; it is kept out of core dumps            */
    uint64_t max_bytes;         /* limit for the image; 0: none. A bigger one is TAMIS_ENOMEM, and
                                 * an add that would make it bigger is TAMIS_EFULL                */
    uint64_t scratch_bytes;     /* for bulk adds to big tables, 0: 64 MiB. Less is never an error */
    const tamis_memory *memory; /* must outlive the handle; NULL: malloc, calloc and free         */
    uint32_t threads;           /* of tamis_seal (ribbon, map), queries and adds with 65,536 keys or
                                 * more: see docs/GUIDE.md, "Threads in bulk calls". 0: 1         */
    const char *temp_dir;       /* ribbon: see tamis_seal. TAMIS_EUNSUPPORTED: fuse, exact, map   */
    tamis_key *shared_key;      /* instead of key, for many handles: see hashes.h                 */
};
/* Opens an image in memory, at any alignment, and copies it; otherwise like tamis_open.          */
TAMIS_API tamis_status tamis_load(const void *image, size_t size, const tamis_options *options,
                                  tamis **out, tamis_error *why);
/* The same without a copy: image must be 64-byte aligned and unchanged until close; read-only.   */
TAMIS_API tamis_status tamis_view(const void *image, size_t size, const tamis_options *options,
                                  tamis **out, tamis_error *why);
/* Makes a copy in memory, which can be changed unless t is sealed or has a newer format.         */
TAMIS_API tamis_status tamis_copy(const tamis *t, tamis **out, tamis_error *why);
/* Changes max_bytes. A filter that is bigger already keeps its content but does not grow.        */
TAMIS_API void tamis_limit(tamis *t, uint64_t max_bytes);
/* Removes all keys; a growing filter keeps its table. TAMIS_ESEALED: t is read-only.             */
TAMIS_API tamis_status tamis_clear(tamis *t);

/* --- Keys in bulk: the fast path -----------------------------------------------------------------
 * Bit i % 8 of byte i / 8 is the answer for key i, as if the keys were passed one by one. The
 * unused bits of the last byte become zero. Bit arrays and `done` may be NULL.                   */
typedef struct tamis_bytes { const void *p; size_t len; } tamis_bytes;
/* Adds keys. After a failure exactly the first *done keys were added. If t takes no keys at all
 * (TAMIS_ESEALED, TAMIS_EKEY, TAMIS_EUNSUPPORTED), seen_bits is unchanged.                       */
TAMIS_API tamis_status tamis_add_many(tamis *t, const tamis_bytes *keys, size_t n,
                                      uint8_t *seen_bits, size_t *done);
/* Queries keys. Returns how many may be members.                                                 */
TAMIS_API size_t tamis_may_contain_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        uint8_t *bits);

/* --- Sets that shrink, forget or merge -----------------------------------------------------------
 * Removes a key that was added, from counting, cuckoo, pair, growing with TAMIS_REMOVABLE and some
 * sketches (count.h). Fails with TAMIS_EABSENT if it is certainly not a member (pair: does not seem
 * to be one), with TAMIS_EFULL if it was removed from a pair too often. A key with more copies than
 * can be counted stays a "maybe" (docs/GUIDE.md). Removing a key that was never added but seems to
 * be a member damages other keys, which may then be missed; no filter can detect that.           */
TAMIS_API tamis_status tamis_remove(tamis *t, const void *key, size_t len, tamis_error *why);
/* Removes keys, and sets the bits of absent ones. TAMIS_EFULL: a pair kept those still found.    */
TAMIS_API tamis_status tamis_remove_many(tamis *t, const tamis_bytes *keys, size_t n,
                                         uint8_t *absent_bits, tamis_error *why);
/* Makes a window forget its oldest generation and begin a new one. Others: TAMIS_EUNSUPPORTED.   */
TAMIS_API tamis_status tamis_rotate(tamis *t, tamis_error *why);
/* Rotates a window as often as is due and records the epoch in the image: see inspect.h.         */
TAMIS_API tamis_status tamis_rotate_to(tamis *t, uint64_t epoch, tamis_error *why);
/* Makes `into` the union of both, bit for bit as if it had all the keys. For bloom, partitioned,
 * blocked, counting, windows and sketches (count.h). Fails with TAMIS_EMISMATCH unless kind, shape,
 * hash and seed or secret key are equal, and the encoding if both state one, with TAMIS_EINVAL if
 * both are one handle, with TAMIS_EFULL if a strict plan is exceeded. Items are then an estimate,
 * except in counting and sketches.                                                               */
TAMIS_API tamis_status tamis_merge(tamis *into, const tamis *from, tamis_error *why);
/* Makes a bloom filter with the same answers from a counting filter of inner kind bloom, at a
 * quarter of its size or less. It is strict if t is, and not sealed. Else: TAMIS_EUNSUPPORTED.   */
TAMIS_API tamis_status tamis_convert(const tamis *t, uint32_t kind, tamis **out, tamis_error *why);

/* --- Sealing -------------------------------------------------------------------------------------
 * Makes t read-only, in saved images too. A sealed kind (fuse, ribbon, exact, map) only collects
 * hashes before, up to max_bytes, and this call builds it from all of them. TAMIS_EINVAL means that
 *   - excluded key i (from 0) was also added (exact), or key i has two values (map): offset is i;
 *   - hashes that the caller or an attacker made are not uniform or look alike: it is UINT64_MAX.
 * A failure loses nothing, but may change the order of the collection and set hash_suspect.
 *   With options.temp_dir, a ribbon keeps hashes beyond scratch_bytes in an unnamed file there: 16
 * bytes each, and twice that during the seal. Adding and sealing then need memory for at most the
 * sealed filter, scratch_bytes (at least 1 MiB) and 32 MiB per thread, if the hashes are uniform.
 * An add that cannot write the file fails with TAMIS_EIO and errno, and may be repeated. While the
 * file has hashes, save, write and copy fail with TAMIS_EUNSUPPORTED. A copy collects in memory. */
TAMIS_API tamis_status tamis_seal(tamis *t, tamis_error *why);
/* Excludes keys from an exact filter: once sealed it answers "no" to them. After a failure some may
 * be excluded; they may be excluded again. Other kinds: TAMIS_EUNSUPPORTED.                      */
TAMIS_API tamis_status tamis_exclude(tamis *t, const void *key, size_t len, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_many(tamis *t, const tamis_bytes *keys, size_t n,
                                          tamis_error *why);

/* --- Images --------------------------------------------------------------------------------------
 * docs/FORMAT.md specifies the image: little-endian, versioned, with checksums. The same plan and
 * keys give the same bytes on every machine, if the keys are added in the same order to one handle
 * before it is first saved; "Identical bytes" there has details and exceptions. Each round of
 * opening, changing and saving raises `generation`.                                              */
enum {                    /* tamis_save_options.flags                                             */
    TAMIS_SAVE_NEW = 1,   /* fail with TAMIS_EIO and os = EEXIST if the path exists               */
    TAMIS_SAVE_PACKED = 2 /* save a packed copy (publish.h). t still belongs to the file that it was
                           * opened from or first saved to; the path of that file is TAMIS_EINVAL */
};
/* mode: of a new file, less the umask, at most 0777; 0 means 0666. Replaced ones keep theirs.    */
struct tamis_save_options { size_t struct_size; uint32_t flags, mode; };
/* tamis_save: whatever happens, the path holds the old file or the whole new one, which is on disk
 * when the call returns TAMIS_OK. Fails with TAMIS_EBUSY if t was opened from this path and another
 * process has changed the file since; if the file was removed, it is created. If only the last step
 * fails, the sync of the directory, the call returns TAMIS_EIO; the new file is then in place but
 * may not survive a power failure (with TAMIS_SAVE_NEW it is removed). Neither hard links nor locks
 * are required (docs/DESIGN.md, "Format and files"). tamis_write_file (publish.h) saves bytes.   */
/* Passes the image to put, in consecutive pieces. If put fails, stops and returns its status.    */
typedef tamis_status (*tamis_sink)(void *ctx, const void *bytes, size_t n);
TAMIS_API tamis_status tamis_write(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);
TAMIS_API uint64_t tamis_image_size(const tamis *t); /* bytes that tamis_write would write        */
#ifdef __cplusplus
}
#endif
#include <tamis/hashes.h>
#include <tamis/inspect.h>
#endif
