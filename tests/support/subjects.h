/* Every kind with counts that takes weights, alone and in windows. */
#ifndef TAMIS_TEST_SUBJECTS_H
#define TAMIS_TEST_SUBJECTS_H

#include "sketches.h"

struct subject {
    const char *name;
    uint32_t kind, inner, flags, cell_bits;
    bool takes_away, two_sided, lists;
    uint32_t k; /* 0: the default */
};

static const struct subject subjects[] = {
    {"count-min", TAMIS_COUNT_MIN, 0, 0, 32, true, false, false, 0},
    {"count-min of 64 bits", TAMIS_COUNT_MIN, 0, 0, 64, true, false, false, 0},
    {"conservative", TAMIS_COUNT_MIN, 0, TAMIS_CONSERVATIVE, 32, false, false, false, 0},
    {"conservative of 64 bits", TAMIS_COUNT_MIN, 0, TAMIS_CONSERVATIVE, 64, false, false, false, 0},
    {"tally", TAMIS_TALLY, 0, 0, 0, false, false, false, 0},
    {"top", TAMIS_TOP, 0, 0, 0, false, false, true, 0},
    {"signed-tally", TAMIS_SIGNED_TALLY, 0, 0, 0, true, true, false, 0},
    {"count-sketch", TAMIS_COUNT_SKETCH, 0, 0, 32, true, true, false, 0},
    {"count-sketch of 64 bits", TAMIS_COUNT_SKETCH, 0, 0, 64, true, true, false, 0},
    {"count-min of 7 rows", TAMIS_COUNT_MIN, 0, 0, 32, true, false, false, 7},
    {"count-sketch of 9 rows", TAMIS_COUNT_SKETCH, 0, 0, 32, true, true, false, 9},
    {"count-sketch of 31 rows", TAMIS_COUNT_SKETCH, 0, 0, 64, true, true, false, 31},
    {"window of count-min", TAMIS_WINDOW, TAMIS_COUNT_MIN, 0, 0, false, false, false, 0},
    {"window of conservative", TAMIS_WINDOW, TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE, 0, false, false,
     false, 0},
    {"window of tally", TAMIS_WINDOW, TAMIS_TALLY, 0, 0, false, false, false, 0},
    {"window of top", TAMIS_WINDOW, TAMIS_TOP, 0, 0, false, false, true, 0},
    {"window of count-sketch", TAMIS_WINDOW, TAMIS_COUNT_SKETCH, 0, 0, false, true, false, 0},
    {"window of signed-tally", TAMIS_WINDOW, TAMIS_SIGNED_TALLY, 0, 0, false, true, false, 0},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)
#define GENERATIONS 3u

static inline tamis *subject_new(const struct subject *s, uint64_t bytes, const tamis_options *o)
{
    const bool window = s->kind == TAMIS_WINDOW;
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = s->kind,
                             .inner_kind = s->inner,
                             .flags = s->flags,
                             .cell_bits = s->cell_bits,
                             .k = s->k,
                             .generations = window ? GENERATIONS : 0,
                             .items = s->lists ? 8 : 0,
                             .bytes = window ? bytes * GENERATIONS : bytes};
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    return t;
}

#endif
