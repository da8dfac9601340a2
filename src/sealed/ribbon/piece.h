/* A piece of a layer, to be solved beside others: several threads have one each, and a layer that
 * is bigger than the memory is done piece by piece (ribbon_build.c). */
#ifndef TAMIS_RIBBON_PIECE_H
#define TAMIS_RIBBON_PIECE_H

#include "ribbon.h"

#define TAMIS__RIBBON_LANES 3u
#define TAMIS__RIBBON_PARTS (2 * TAMIS__RIBBON_LANES) /* lanes, each with a seam after it */

/* Slots that rows of one bucket can stand in: its own, and those after it that the last window
 * reaches. */
#define TAMIS__RIBBON_REACH (TAMIS__RIBBON_BUCKET + TAMIS__RIBBON_WIDTH - 1)

struct ribbon_lane {
    const struct ribbon_piece *piece;
    tamis_hash *bucket, *bucket_end, *end; /* keys: of the bucket at hand; the end of the lane's */
    tamis_hash *bumped;                  /* where the next bumped one goes, over others long done */
    tamis_hash *group, *key, *group_end; /* of the group: the first, the walking one, the end */
    uint64_t bucket_start;               /* slot */
    unsigned code;                       /* of the bucket, if the group at hand fails */
    unsigned n_placed;
    uint64_t placed[TAMIS__RIBBON_REACH]; /* slots of this group's rows */
};

struct ribbon_piece {
    const struct ribbon_layer *layer;
    uint64_t starts; /* of the layer */
    uint64_t first,
        slots;      /* of the layer's; first is a multiple of 512, so that no two pieces share
                            * a byte of thresholds */
    bool is_last;   /* no piece to the right */
    bool has_lanes; /* three, else one */
    uint64_t *rows; /* tamis__ribbon_window of them */
    uint32_t *sides;
    tamis_hash *keys; /* n sorted ones, all that start here */
    uint64_t n;

    uint64_t from[TAMIS__RIBBON_PARTS + 1]; /* keys: the first of each part */
    struct ribbon_lane parts[TAMIS__RIBBON_PARTS];
};

/* Of the slots that a piece works on: its own, and the first segment of the piece to the right. */
static inline uint64_t tamis__ribbon_window(const struct ribbon_piece *p)
{
    return p->slots + (p->is_last ? 0 : TAMIS__RIBBON_WIDTH);
}

/* What goes from a piece to the one on its left: its first segment, unsolved, and the solution of
 * the next. */
struct ribbon_border {
    uint64_t rows[TAMIS__RIBBON_WIDTH], words[TAMIS__RIBBON_COLUMNS];
    uint32_t sides[TAMIS__RIBBON_WIDTH];
};

/* What a piece can do alone. */
void tamis__ribbon_eliminate(struct ribbon_piece *p);

/* What it does after the piece to its right has done the same; all zeroes is the border of none.
 * Returns how many keys are bumped; they are in front. */
uint64_t tamis__ribbon_join(struct ribbon_piece *p, struct ribbon_border *b);

#endif
