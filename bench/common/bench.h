/* Declarations that the files of the benchmark share. It uses <tamis/tamis.h> like any caller, and
 * for comparison libbloom, LMDB and the machine itself.
 *
 *     machine.c   clock, cores, memory, machine's name     keys.c      the keys
 *     limits.c    cost of memory and of hashing alone      harness.c   how everything is timed
 *     filters.c   our kinds     libbloom.c   the peer      exact.c     structures without error
 *     rows.c      the table and bench.json                 main.c      what is run, in which order
 *     repeat.c    repetitions                              frequency/  another program, for
 *     calls/      groups of calls that are measured in turn            sketches */
#ifndef TAMIS_BENCH_H
#define TAMIS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tamis/tamis.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* --- One run ---------------------------------------------------------------------------------- */

struct settings {
    bool quick, check;
    bool counting;       /* every row once with few keys, for callgrind */
    double race_seconds; /* after so long, no new round of a group in calls/ begins */
    unsigned least;      /* minimum number of repetitions of every cell */
    double budget;       /* seconds that a cell may take beyond them */
    uint64_t most_asks;  /* maximum number of queries in a repetition */
};
extern struct settings settings;

/* Prints "bench: ..." and exits. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- machine.c -------------------------------------------------------------------------------- */

double seconds(void);
/* Binds the calling thread to the i-th of the available cores, counted from the last, which the
 * system interrupts least. */
void pin(unsigned i);
void pin_all(void); /* allows the calling thread all cores again */
unsigned cores(void);
/* Returns zeroed memory, aligned to 64 bytes. Requests huge pages from the same size on as the
 * library. */
void *take(size_t bytes);
void give_back(void *p);
uint64_t huge_bytes(void); /* memory of this process that is currently in huge pages */
/* Makes every build get fresh pages from the system, whatever was allocated before. */
void fix_memory(void);
void describe_machine(FILE *f); /* fields of a JSON object, each with its comma; also prints them */

/* --- keys.c ----------------------------------------------------------------------------------- */

enum key_type { INTEGERS, URLS };
extern const char *const KEY_TYPES[2];

/* Key i of a set is number first + i of an endless sequence of distinct keys. */
struct keys {
    enum key_type type;
    uint64_t n;
    uint64_t *words;  /* integers */
    char *text;       /* URLs, one after the other */
    uint32_t *starts; /* n + 1 positions */
};
void keys_make(struct keys *k, enum key_type type, uint64_t first, uint64_t n);
/* Chooses n keys at random, with repetition, and copies them, so that the order of queries is the
 * order in memory. Integers only. */
void keys_shuffle(struct keys *k, const struct keys *from, uint64_t n);
void keys_drop(struct keys *k);
void keys_describe(const struct keys *k, uint64_t at, size_t n, tamis_bytes *out);
uint64_t mix(uint64_t x); /* a bijection that looks random */

/* --- harness.c -------------------------------------------------------------------------------- */

/* The keys of one call: 64 KiB of descriptors, which stay in the second-level cache. */
#define BATCH 4096u

struct batch {
    tamis_bytes *keys;
    tamis_hash *hashes;
    uint8_t *bits;
    size_t n;
};

/* A structure under test, which holds a set. */
struct subject {
    void *(*open)(const void *about);           /* creates an empty one; timed with the adds */
    void (*prepare)(void *it, struct batch *b); /* before each call, not timed; may be NULL */
    void (*add)(void *it, const struct batch *b);
    void (*finish)(void *it);                       /* after the last add, timed; may be NULL */
    void (*take)(void *it, const struct batch *b);  /* removes keys again; may be NULL */
    size_t (*ask)(void *it, const struct batch *b); /* returns how many it reports as members */
    uint64_t (*bytes)(void *it);
    void (*close)(void *it);
    const void *about;
};

/* How keys are passed. In batches, only the call is timed: its descriptors were written just
 * before, and the keys come from memory. As an array, all descriptors come from memory as well. */
struct shape {
    bool array;
    size_t call;      /* keys in one call; SIZE_MAX means all */
    unsigned threads; /* for an array */
};

struct timing {
    double ns, min_ns; /* per key: median and minimum */
    unsigned repetitions;
    uint64_t yes; /* positive answers in one repetition */
};

/* Repeats `once`, which returns the seconds for n keys (repeat.c). */
struct timing repeat(double (*once)(void *ctx), void *ctx, uint64_t n);
struct timing time_asks(const struct subject *s, void *it, const struct keys *k, uint64_t n,
                        struct shape shape);
void release_batches(void);

/* --- rows.c ----------------------------------------------------------------------------------- */

/* Fields that do not apply are NAN, and null in the file. */
struct row {
    const char *group; /* "tables", or a group of calls/ */
    const char *kind, *op, *mode, *key_type;
    uint64_t keys;
    double rate; /* requested rate */
    bool keyed, shared, array;
    unsigned threads, repetitions;
    double ns, min_ns;
    double instructions; /* per operation, if the system counts them */
    /* Reading a random line at this size: plain loop, rolling prefetch. */
    double limit_ns, rolling_ns;
    double hash_ns; /* only hashing the same keys in the same batches */
    uint64_t bytes, scratch_bytes, huge_bytes;
    double bits_per_item, fpr;
    double collisions;   /* pairs of keys in the same place of a table with n places */
    double allocations;  /* blocks of memory of a handle */
    uint64_t operations; /* in one repetition of a group of calls/ */
};
struct row row_of(const char *kind, const char *mode, enum key_type type, uint64_t keys);
/* Adds a row and prints it, under a heading when a new group begins. */
void row_add(const struct row *r);
/* Adds and prints a row of a group of calls/. */
void row_keep(const struct row *r);
void rows_write(const char *path);

/* --- Measuring a set -------------------------------------------------------------------------- */

struct trial {
    const struct subject *subject;
    struct row row;
    const struct keys *in, *out, *shuffled; /* added; never added; in another order, or NULL */
    uint64_t asks;                          /* maximum number of queries */
    struct shape shape;                     /* how keys are passed to adds and queries */
    bool asks_only;       /* the structure is built once by one thread in batches, without a row */
    uint64_t ask_scratch; /* what a query allocates; row.scratch_bytes is what an add allocates */
    bool exact;           /* must not match a key of `out` */
};
void measure(struct trial *t);

/* --- limits.c --------------------------------------------------------------------------------- */

struct limit {
    uint64_t bytes, huge_bytes;
    struct timing plain, rolling;
};
/* Measures the limit and adds a row, once for each size. */
const struct limit *limit_at(uint64_t bytes);
void measure_limits(void);
/* Does the same for each type and number of keys. */
struct timing hash_cost(const struct keys *k, bool keyed);
extern const uint8_t SECRET[16];

/* --- The contestants -------------------------------------------------------------------------- */

struct scene {
    struct keys in, out, shuffled;
    unsigned scale; /* 0, 1, 2: one, ten and a hundred million, or their substitutes */
    bool brief;     /* ten million keys in a minute: only what is comparable with one million */
};
void describe_plans(FILE *f); /* a JSON array: what each kind needs at many rates */
void measure_filters(const struct scene *s, double rate);
void measure_libbloom(const struct scene *s, double rate);
void measure_exact(const struct scene *s);

#endif
