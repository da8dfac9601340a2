/* An exact set of the hashes of two files, each with marks. The memory is bounded: the set holds
 * the hashes of a range, which the caller chooses so that they fit. */
#ifndef TAMIS_CLI_SIDE_SET_H
#define TAMIS_CLI_SIDE_SET_H

#include <stdbool.h>
#include <tamis/tamis.h>

/* The marks take the lowest bits of a hash, of which 125 are left. */
enum { IN_FIRST_FILE = 1, IN_SECOND_FILE = 2, IS_DONE = 4, ALL_MARKS = 7 };

struct side_set {
    tamis_hash *slots; /* a slot without marks is empty */
    size_t n, room;
    uint64_t budget;      /* bytes */
    uint64_t first, last; /* the range of the upper half of a hash, both included */
};

/* Whether a hash belongs to the range. */
bool side_set_covers(const struct side_set *s, tamis_hash h);
/* Adds marks to a hash, which is added if necessary. Returns the marks that it had before, 0 if it
 * is new, and -1 if it is new and exceeds the budget or the memory. */
int side_set_mark(struct side_set *s, tamis_hash h, int marks);
/* Fetches what side_set_mark will need for this hash. */
void side_set_fetch(const struct side_set *s, tamis_hash h);
/* The number of hashes that fit into the budget if it is allocated at once. */
size_t side_set_most(const struct side_set *s);
/* Removes all hashes and allocates the whole budget. False when memory is lacking. */
bool side_set_restart(struct side_set *s);
void side_set_free(struct side_set *s);

#endif
