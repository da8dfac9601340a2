/* The benchmark of sketches: build/bench-frequency. It shares clock, cores and memory with the
 * other benchmark (../common/machine.c).
 *
 *     streams.c    streams drawn by fixed rules, so that every machine counts the same
 *     accuracy.c   errors of each kind in the same memory      speed.c   speed of each kind
 *     commands.c   `tamis top` against sort, uniq and awk      main.c    what is run, in which
 * order */
#ifndef TAMIS_BENCH_FREQUENCY_H
#define TAMIS_BENCH_FREQUENCY_H

#include "../common/lists.h"

/* --- Streams ---------------------------------------------------------------------------------- */

struct stream {
    char name[32];
    uint32_t n, ids; /* number of draws; upper bound of the ids */
    uint32_t *draws;
    uint32_t *truth;   /* how often each id was drawn */
    uint32_t *by_rank; /* the ids that were drawn, most frequent first */
    uint32_t distinct;
    tamis_hash *hashes; /* hash of each id's key */
    uint64_t *words;    /* each id's key, or NULL */
    char *text;         /* all URLs, one after the other */
    uint64_t *starts;   /* where they begin: ids + 1 positions */
};

/* "z1.0": n draws of a million keys; key i has a probability in proportion to (i + 1)^-1.0. */
void stream_zipf(struct stream *s, const char *exponent, uint32_t n);
/* A stream like a log of requests: pages of hosts, popular ones that change, reloads, and a long
 * tail of searches. */
void stream_urls(struct stream *s, uint32_t n);
/* Reorders the same draws: all draws of a key together, with the keys at random or by rising
 * count. */
void stream_cluster(struct stream *s, bool ascending);
void stream_drop(struct stream *s);
tamis_bytes stream_key(const struct stream *s, uint32_t id);
/* Writes one line for each draw. */
void stream_write_log(const struct stream *s, const char *path);

/* --- Structures ------------------------------------------------------------------------------- */

struct structure {
    const char *name;
    uint32_t kind, flags, cell_bits;
};
extern const struct structure STRUCTURES[];
extern const size_t N_STRUCTURES;
tamis *structure_open(const struct structure *s, uint64_t bytes);

/* --- What is measured: rows of one JSON file, which are also printed -------------------------- */

void measure_accuracy(const struct stream *s);
/* Measures only count-min against count-sketch, for the plot that shows which is better where. */
void measure_contest(const struct stream *s);
void measure_speed(const struct stream *s);
void measure_text_speed(const struct stream *s);
void measure_big_speed(const struct stream *s);
/* Call it first: the memory of a command can be measured only from a process that is small
 * itself. */
void measure_commands(const char *folder, uint32_t n);

#endif
