/* The copies of lines in a counting or a cuckoo filter, while it is built again (copies.c). */
#ifndef TAMIS_CLI_COPIES_H
#define TAMIS_CLI_COPIES_H

#include "../input/hash_counts.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* The trial shows what the list lacks. For a counting filter it is an empty filter of the same
 * shape, to which the lines are added; for a cuckoo filter it is a copy, from which they are
 * removed. */
struct copies {
    const tamis *old;
    tamis *trial, *fresh; /* fresh: the new filter */
    uint32_t kind;
    int64_t most; /* counting: the count at which a counter is saturated; else INT64_MAX */
    struct hash_counts seen;
};

/* Takes n lines of the list, all of which the old filter may contain. Each stands for one copy. */
tamis_status copies_take(struct copies *c, tamis_hash *hashes, size_t n);
/* After the whole list: about how many copies the list lacks; 0 if none. */
double copies_lacking(const struct copies *c, const tamis_facts *old, const tamis_facts *trial);
void copies_free(struct copies *c);

#endif
