/* Declarations of the groups of bench that measure calls: single keys, bulk calls, sketches,
 * windows, plans. The rows of a group are measured in turn, round after round, so that whatever
 * slows the machine down slows all of them down.
 *
 *     race.c     rounds, clock, instructions, medians    input.c    keys and filled filters
 *     single.c   one key per call, and peers             bulk.c     many keys per call, threads
 *     sketches.c updates and counts                      windows.c  generations
 *     plans.c    planning, creating, memory              peers.c    shared objects of peers */
#ifndef TAMIS_BENCH_CALLS_H
#define TAMIS_BENCH_CALLS_H

#include "../common/bench.h"
#include "../common/peer.h"

/* One row under measurement. A round calls `before`, and then, `steps` times, `prepare` and `run`,
 * of which only `run` is timed. */
struct lane {
    struct row row;
    uint64_t steps, per_step; /* per_step: operations in one call of `run` */
    void (*before)(struct lane *l);
    void (*prepare)(struct lane *l, uint64_t step);
    uint64_t (*run)(struct lane *l); /* returns the number of positive answers */
    bool exact;                      /* every step must have `expected` positive answers */
    uint64_t expected;

    void *it; /* a handle, or what a peer created */
    const struct bench_peer *peer;
    bench_loop *loop;
    const unsigned char *keys; /* steps * per_step of them, twice as many for a chain */
    size_t len;
    unsigned usual;
    uint64_t warm; /* keys that are queried before a round, and with which loop */
    const unsigned char *warm_keys;
    bench_loop *warm_with;
    const tamis_plan *plan;
    uint32_t way;       /* which of the calls in one file */
    double spent;       /* seconds, if `run` measured them itself; else 0 */
    unsigned char *own; /* memory to give back after the race, or NULL */
    bool borrowed;      /* another lane closes the handle */
};

/* A list that grows. */
struct lanes {
    struct lane *list;
    size_t n;
};
struct lane *lane_add(struct lanes *l, const char *group, const char *kind, const char *op,
                      const char *mode, uint64_t n);
/* Measures the lanes, adds their rows, closes their handles and empties the list. */
void race(struct lanes *l, const char *title);

/* --- input.c ---------------------------------------------------------------------------------- */

/* Keys of a fixed length: 8-byte integers, texts of 20 bytes, URLs of 54 bytes. Key i of a set is
 * made of mix(i). */
enum { INT_LEN = 8, TEXT_LEN = 20, URL_LEN = 54 };
void fixed_key(uint64_t i, size_t len, unsigned char *out);
/* Returns keys from..from + count - 1. */
unsigned char *keys_from(uint64_t from, uint64_t count, size_t len);
/* Returns `count` keys chosen at random from the first n. */
unsigned char *keys_among(uint64_t n, uint64_t count, size_t len);
#define NEVER_ADDED (UINT64_C(1) << 40) /* keys from here on are in no set */

struct design {
    const char *name;
    uint32_t kind, flags, k;
};
tamis_plan design_plan(const struct design *d, uint64_t n);
tamis *new_handle(const tamis_plan *plan, uint32_t flags, uint32_t threads);
/* Adds keys from..from + n - 1 in bulk. */
void fill(tamis *t, uint64_t from, uint64_t n, size_t len);
tamis *filled(const struct design *d, uint64_t n, size_t len);
void succeed(tamis_status s);

/* Calls of a lane for handles of the library. */
void clear_handle(struct lane *l);
uint64_t run_loop(struct lane *l);
void warm_loop(struct lane *l);

/* --- The groups ------------------------------------------------------------------------------- */

uint64_t sized(uint64_t n); /* n, or fewer in a check */
/* Sizes of sets that this run measures: 1, 10 and 100 million, as far as memory allows. */
size_t set_sizes(uint64_t out[3]);
void single_group(void);
void urls_group(void);
void updates_group(void);
void bulk_group(void);
void columns_group(void);
void encodings_group(void);
void threads_group(void);
void shared_group(void);
void windows_group(void);
void plans_group(void);
void memory_group(void);

/* --- peers.c ---------------------------------------------------------------------------------- */

extern const struct bench_peer LIBBLOOM;
/* Returns the i-th peer, or NULL: libbloom, and those of all shared objects in TAMIS_BENCH_PEER. */
const struct bench_peer *peer_at(size_t i);

/* The loops with the calls of the library (single.c). */
bench_loop tamis_queries_loop, tamis_adds_loop;

#endif
