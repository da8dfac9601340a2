/* The benchmark of kinds that tell how often: build/bench-frequency. It shares clock, cores and
 * memory with the other benchmark (../machine.c).
 *
 *     streams.c    what is counted: ids drawn by fixed rules, so that every machine counts the same
 *     accuracy.c   how wrong each kind is, in the same memory      speed.c   how fast
 *     commands.c   `tamis top` against sort, uniq and awk          main.c    what is run, in which order
 */
#ifndef TAMIS_BENCH_FREQUENCY_H
#define TAMIS_BENCH_FREQUENCY_H

#include "../common/bench.h"

/* --- Streams ---------------------------------------------------------------------------------- */

struct stream {
    char name[32];
    uint32_t n, ids; /* draws; ids are below this */
    uint32_t *draws;
    uint32_t *truth;   /* of each id: how often it was drawn */
    uint32_t *by_rank; /* the ids that were drawn, most frequent first */
    uint32_t distinct;
    tamis_hash *hashes; /* of each id's key */
    uint64_t *words;    /* each id's key, or NULL: */
    char *text;         /* all URLs, one after the other, */
    uint64_t *starts;   /* and where they begin: ids + 1 of them */
};

/* "z1.0": n draws of a million keys, key i with a chance in proportion to (i + 1)^-1.0. */
void stream_zipf(struct stream *s, const char *exponent, uint32_t n);
/* Like a log of requests: pages of hosts, hot ones that change, reloads, and a long tail of
 * searches. */
void stream_urls(struct stream *s, uint32_t n);
/* The same draws in another order: all of a key's together, keys at random or by rising count. */
void stream_cluster(struct stream *s, bool ascending);
void stream_drop(struct stream *s);
tamis_bytes stream_key(const struct stream *s, uint32_t id);
/* One line for each draw. */
void stream_write_log(const struct stream *s, const char *path);

/* --- Structures ------------------------------------------------------------------------------- */

struct structure {
    const char *name;
    uint32_t kind, flags, cell_bits;
};
extern const struct structure STRUCTURES[];
extern const size_t N_STRUCTURES;
tamis *structure_open(const struct structure *s, uint64_t bytes);

/* --- What is measured: rows of one JSON file, printed, too ------------------------------------ */

void rows_open(const char *path, const char *only); /* only: a section, or NULL for all */
void rows_list(const char *name);                   /* a new list begins */
void rows_row(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rows_close(void);

void measure_accuracy(const struct stream *s);
/* Only count-min against count-sketch, for the plot of who wins where. */
void measure_contest(const struct stream *s);
void measure_speed(const struct stream *s);
void measure_text_speed(const struct stream *s);
void measure_big_speed(const struct stream *s);
/* To be called first: what a command takes is only seen from a process that is small itself. */
void measure_commands(const char *folder, uint32_t n);

#endif
