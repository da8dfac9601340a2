/* How many distinct keys each group has: distinct --by. The groups themselves are kept exactly. */
#ifndef TAMIS_CLI_GROUPS_H
#define TAMIS_CLI_GROUPS_H

#include "../input/line_set.h"
#include "../input/lines.h"

#include <tamis/distinct.h>
#include <tamis/tamis.h>

struct groups {
    const tamis *hasher; /* of the groups; without an encoding */
    tamis_plan plan;     /* of the sketch of a group */
    uint64_t budget;     /* bytes */

    struct line_set names;
    tamis_memory memory; /* of the sketches */
    uint64_t used;       /* bytes, without the names */
    bool over;           /* the budget was too small */
    tamis_hash *hashes;  /* of the groups of a block */
    size_t room;
};

/* One group, in the order of groups_list. */
struct grouped_keys {
    tamis_bytes group;
    uint64_t lines;
    uint64_t distinct; /* the number or its estimate, rounded */
    uint64_t at;       /* in the names */
};

/* The caller sets hasher, plan and budget before. The struct must not move until groups_free. */
void groups_start(struct groups *g);
/* Adds the keys of a block to their groups. False when the budget or the memory is too small. */
bool groups_add(struct groups *g, const struct block *b);
/* All groups: those with most distinct keys first, and those with equal numbers in the order of
 * their bytes. The caller frees them. NULL when memory is lacking. */
struct grouped_keys *groups_list(struct groups *g);
/* The number of a group with its confidence interval. */
void groups_count(const struct groups *g, const struct grouped_keys *of, tamis_cardinality *out);
/* There are at most as many distinct lines as lines, which an estimate does not know. */
void limit_to_lines(tamis_cardinality *c, uint64_t lines);
/* The memory in use. */
uint64_t groups_bytes(const struct groups *g);
void groups_free(struct groups *g);

#endif
