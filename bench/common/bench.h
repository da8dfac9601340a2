/* What the files of the benchmark share. It uses <tamis/tamis.h> like any caller, and for
 * comparison libbloom, LMDB and the machine itself.
 *
 *     machine.c   clock, cores, memory, the machine's name       keys.c      what is asked
 *     limits.c    what memory and hashing alone cost             harness.c   how anything is timed
 *     filters.c   our kinds      libbloom.c   the peer           exact.c     structures without error
 *     rows.c      the table and bench.json                       main.c      what is run, in which order
 *     repeat.c    what is repeated                               frequency/  another program: how often
 */
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
    unsigned least;     /* repetitions of every cell, at least */
    double budget;      /* seconds a cell may take beyond them */
    uint64_t most_asks; /* queries in a repetition, at most */
};
extern struct settings settings;

/* Prints "bench: ..." and exits. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- machine.c -------------------------------------------------------------------------------- */

double seconds(void);
/* Bind the calling thread to the i-th of the cores we may use, counted from the last, which is the
 * one the system interrupts least. */
void pin(unsigned i);
unsigned cores(void);
/* Zeroed, 64-byte aligned, huge pages asked for from the size from which the library does. */
void *take(size_t bytes);
void give_back(void *p);
uint64_t huge_bytes(void); /* how much memory of this process is in huge pages now */
/* Every build gets fresh pages from the system, however many there were before. */
void fix_memory(void);
void describe_machine(FILE *f); /* fields of a JSON object, each with its comma; prints them, too */

/* --- keys.c ----------------------------------------------------------------------------------- */

enum key_type { INTEGERS, URLS };
extern const char *const KEY_TYPES[2];

/* Key i of a set is number first + i of an endless sequence of distinct keys. */
struct keys {
    enum key_type type;
    uint64_t n;
    uint64_t *words;  /* integers */
    char *text;       /* URLs, one after the other */
    uint32_t *starts; /* n + 1 of them */
};
void keys_make(struct keys *k, enum key_type type, uint64_t first, uint64_t n);
/* n of them, at random, with repetition, copied so that the asking order is the order in memory.
 * Integers only. */
void keys_shuffle(struct keys *k, const struct keys *from, uint64_t n);
void keys_drop(struct keys *k);
void keys_describe(const struct keys *k, uint64_t at, size_t n, tamis_bytes *out);
uint64_t mix(uint64_t x); /* a bijection that looks random */

/* --- harness.c -------------------------------------------------------------------------------- */

/* A call of this many: 64 KiB of descriptors, which stay in the second-level cache. */
#define BATCH 4096u

struct batch {
    tamis_bytes *keys;
    tamis_hash *hashes;
    uint8_t *bits;
    size_t n;
};

/* Something that holds a set. */
struct subject {
    void *(*open)(const void *about);           /* empty; timed with the adds */
    void (*prepare)(void *it, struct batch *b); /* before each call, not timed; or NULL */
    void (*add)(void *it, const struct batch *b);
    void (*finish)(void *it);                       /* after the last add, timed; or NULL */
    void (*take)(void *it, const struct batch *b);  /* remove again; or NULL */
    size_t (*ask)(void *it, const struct batch *b); /* how many it says it holds */
    uint64_t (*bytes)(void *it);
    void (*close)(void *it);
    const void *about;
};

/* How keys are handed over. In batches: only the call is timed; its descriptors were written just
 * before, the keys come from memory. As an array: all descriptors come from memory as well. */
struct shape {
    bool array;
    size_t call;      /* keys in one call; SIZE_MAX: all */
    unsigned threads; /* of an array */
};

struct timing {
    double ns, min_ns; /* per key: median and minimum */
    unsigned repetitions;
    uint64_t yes; /* answers, in one repetition */
};

/* Repeats `once`, which returns seconds for n keys (repeat.c). */
struct timing repeat(double (*once)(void *ctx), void *ctx, uint64_t n);
struct timing time_asks(const struct subject *s, void *it, const struct keys *k, uint64_t n,
                        struct shape shape);
void release_batches(void);

/* --- rows.c ----------------------------------------------------------------------------------- */

/* Fields that do not apply are NAN, and null in the file. */
struct row {
    const char *kind, *op, *mode, *key_type;
    uint64_t keys;
    double rate; /* asked for */
    bool keyed, shared, array;
    unsigned threads, repetitions;
    double ns, min_ns;
    double limit_ns, rolling_ns; /* a random line at this size: plain loop, rolling prefetch */
    double hash_ns;              /* hashing the same keys in the same batches and nothing else */
    uint64_t bytes, scratch_bytes, huge_bytes;
    double bits_per_item, fpr;
    double collisions; /* pairs of keys in the same place of a table with n places */
};
struct row row_of(const char *kind, const char *mode, enum key_type type, uint64_t keys);
/* Prints it, too, under a heading when a new group begins. */
void row_add(const struct row *r);
void rows_write(const char *path);

/* --- A set, measured -------------------------------------------------------------------------- */

struct trial {
    const struct subject *subject;
    struct row row;
    const struct keys *in, *out, *shuffled; /* added; never added; in another order, or NULL */
    uint64_t asks;                          /* at most */
    struct shape shape;                     /* of adds and queries */
    bool asks_only;       /* built once by one thread in batches, and no word about that */
    uint64_t ask_scratch; /* what a query allocates; row.scratch_bytes is what an add does */
    bool exact;           /* must not say yes to a key of `out` */
};
void measure(struct trial *t);

/* --- limits.c --------------------------------------------------------------------------------- */

struct limit {
    uint64_t bytes, huge_bytes;
    struct timing plain, rolling;
};
/* Measured, and a row of its own, once for each size. */
const struct limit *limit_at(uint64_t bytes);
void measure_limits(void);
/* Likewise for each sort and number of keys. */
struct timing hash_cost(const struct keys *k, bool keyed);
extern const uint8_t SECRET[16];

/* --- The contestants -------------------------------------------------------------------------- */

struct scene {
    struct keys in, out, shuffled;
    unsigned scale; /* 0, 1, 2: one, ten and a hundred million, or what stands for them */
    bool brief;     /* ten million in a minute: only what can be compared with one million */
};
void describe_plans(FILE *f); /* a JSON array: what each kind needs at many rates */
void measure_filters(const struct scene *s, double rate);
void measure_libbloom(const struct scene *s, double rate);
void measure_exact(const struct scene *s);

#endif
