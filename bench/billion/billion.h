/* Filters and sketches of very many keys, one in a process, so that the system knows the peak of
 * its memory.
 *
 *     main.c      builds one structure, asks it about its keys and others, and prints a JSON object
 *     kinds.c     the structures: their plans, and how they take keys
 *     measure.py  runs main.c for each kind that fits in memory, and the command
 *     report.py   writes the table in docs/ACCURACY.md */
#ifndef TAMIS_BENCH_BILLION_H
#define TAMIS_BENCH_BILLION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/tamis.h>

/* How keys are passed in a round. */
struct round {
    tamis_hash *hashes;
    uint32_t *values;  /* of a map */
    tamis_bytes *keys; /* of `top`, which takes no hashes */
    uint8_t *bits;     /* answers */
    size_t n;
};

struct subject {
    const char *name;
    tamis_plan plan; /* without items and rate */
    enum { FILTER, WINDOW, EXACT, MAP, PRIVATE, DISTINCT, SKETCH, TOP } how;
    bool in_file; /* a temporary file can hold its hashes until the seal */
};

/* The subjects, and their number. */
extern const struct subject SUBJECTS[];
extern const size_t SUBJECT_COUNT;
const struct subject *subject_named(const char *name); /* NULL: there is none */

/* Adds the keys of a round, numbers `first` and following of `items`. */
void add_round(const struct subject *s, tamis *t, const struct round *r, uint64_t first,
               uint64_t items);
/* Returns how many keys of the round get the right answer for a member: a "maybe", the value of
 * the key in a map, or a count of at least 1. Bit i of r->bits is the answer for key i. */
uint64_t ask_round(const struct subject *s, const tamis *t, const struct round *r);

/* The value of a key in a map, which is made of its hash. */
static inline uint32_t value_of(tamis_hash h)
{
    return (uint32_t)(h.lo >> 56);
}

void must(tamis_status status, const tamis_error *why);

#endif
