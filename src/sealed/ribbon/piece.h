/* A piece of a layer, which can be solved beside others: each of several threads solves a piece,
 * and a layer that does not fit in memory is solved piece by piece (build.c). */
#ifndef TAMIS_RIBBON_PIECE_H
#define TAMIS_RIBBON_PIECE_H

#include "ribbon.h"

#define TAMIS__RIBBON_LANES 3u
#define TAMIS__RIBBON_PARTS (2 * TAMIS__RIBBON_LANES) /* lanes, each with a seam after it */

/* The number of slots that rows of one bucket can be in: its own, and those after it that the last
 * window reaches. */
#define TAMIS__RIBBON_REACH (TAMIS__RIBBON_BUCKET + TAMIS__RIBBON_WIDTH - 1)

struct ribbon_lane {
    const struct ribbon_piece *piece;
    /* Keys: the current bucket and its end; the end of the lane. */
    tamis_hash *bucket, *bucket_end, *end;
    tamis_hash *bumped; /* where the next bumped key goes, over keys that are done */
    tamis_hash *group, *key, *group_end; /* the current group, its current key, its end */
    uint64_t bucket_start;               /* first slot of the bucket */
    unsigned code;                       /* code of the bucket if the current group fails */
    unsigned n_placed;
    uint64_t placed[TAMIS__RIBBON_REACH]; /* slots of this group's rows */
};

struct ribbon_piece {
    const struct ribbon_layer *layer;
    uint64_t starts; /* starts of the layer */
    uint64_t first,
        slots;      /* in the layer; first is a multiple of 512, so that no two pieces share a byte
                            * of thresholds */
    bool is_last;   /* there is no piece to the right */
    bool has_lanes; /* three lanes rather than one */
    uint64_t *rows; /* tamis__ribbon_window of them */
    uint32_t *sides;
    uint32_t *upper;  /* the sides of columns from 32 on, or NULL if there are none */
    tamis_hash *keys; /* the n keys that start here, sorted */
    uint64_t n;

    uint64_t from[TAMIS__RIBBON_PARTS + 1]; /* index of the first key of each part */
    struct ribbon_lane parts[TAMIS__RIBBON_PARTS];
};

/* The number of slots that a piece works on: its own, and the first segment of the piece to its
 * right. */
static inline uint64_t tamis__ribbon_window(const struct ribbon_piece *p)
{
    return p->slots + (p->is_last ? 0 : TAMIS__RIBBON_WIDTH);
}

/* What a piece passes to the one on its left: its first segment, unsolved, and the solution of the
 * segment after that. */
struct ribbon_border {
    uint64_t rows[TAMIS__RIBBON_WIDTH], words[TAMIS__RIBBON_ALL];
    uint32_t sides[TAMIS__RIBBON_WIDTH], upper[TAMIS__RIBBON_WIDTH];
};

/* Does the part of the work that does not depend on other pieces. */
void tamis__ribbon_eliminate(struct ribbon_piece *p);

/* Does the rest, after the piece to the right has been joined. *b is the border of that piece, or
 * all zeros if this is the last piece; on return it is the border of this one. Returns how many
 * keys are bumped; they are moved to the front. */
uint64_t tamis__ribbon_join(struct ribbon_piece *p, struct ribbon_border *b);

#endif
