/* What is measured: every kind, by its default plan for a number of keys and a rate. */
#include "billion.h"

#include <string.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/map.h>

/* Sketches have a fixed size, and those of counts are asked whether a count is too low. */
#define SKETCH_BYTES (UINT64_C(64) << 20)
#define GENERATIONS 4u

#define PLAN(...)                                                                                  \
    {                                                                                              \
        .struct_size = sizeof(tamis_plan), __VA_ARGS__                                             \
    }
const struct subject SUBJECTS[] = {
    {"blocked", PLAN(.kind = TAMIS_BLOCKED), FILTER, false},
    {"compact", PLAN(.kind = TAMIS_BLOCKED, .flags = TAMIS_COMPACT), FILTER, false},
    {"bloom", PLAN(.kind = TAMIS_BLOOM), FILTER, false},
    {"partitioned", PLAN(.kind = TAMIS_PARTITIONED), FILTER, false},
    {"cuckoo", PLAN(.kind = TAMIS_CUCKOO), FILTER, false},
    {"counting", PLAN(.kind = TAMIS_COUNTING), FILTER, false},
    {"pair", PLAN(.kind = TAMIS_PAIR), FILTER, false},
    {"growing", PLAN(.kind = TAMIS_GROWING), FILTER, false},
    {"window", PLAN(.kind = TAMIS_WINDOW, .generations = GENERATIONS), WINDOW, false},
    {"ribbon", PLAN(.kind = TAMIS_RIBBON), FILTER, true},
    {"fuse", PLAN(.kind = TAMIS_FUSE), FILTER, false},
    {"fuse-4", PLAN(.kind = TAMIS_FUSE, .k = 4), FILTER, false},
    {"exact", PLAN(.kind = TAMIS_EXACT), EXACT, false},
    {"map", PLAN(.kind = TAMIS_VALUE_MAP), MAP, false},
    {"private", PLAN(.kind = TAMIS_BLOOM, .k = 1), PRIVATE, false},
    {"distinct", PLAN(.kind = TAMIS_DISTINCT, .error = 0.01), DISTINCT, false},
    {"tally", PLAN(.kind = TAMIS_TALLY, .bytes = SKETCH_BYTES), SKETCH, false},
    {"count-min", PLAN(.kind = TAMIS_COUNT_MIN, .bytes = SKETCH_BYTES), SKETCH, false},
    {"top", PLAN(.kind = TAMIS_TOP, .bytes = SKETCH_BYTES), TOP, false},
};
const size_t SUBJECT_COUNT = sizeof SUBJECTS / sizeof *SUBJECTS;

const struct subject *subject_named(const char *name)
{
    for (size_t i = 0; i < SUBJECT_COUNT; i++)
        if (strcmp(SUBJECTS[i].name, name) == 0) return &SUBJECTS[i];
    return NULL;
}

/* --- Adding ----------------------------------------------------------------------------------- */

/* In a window the share of each generation goes to it, however rounds are cut. */
static void add_to_window(tamis *t, const struct round *r, uint64_t first, uint64_t items)
{
    const uint64_t share = (items + GENERATIONS - 1) / GENERATIONS;
    tamis_error why;
    for (size_t done = 0; done < r->n;) {
        const uint64_t at = first + done, rest = share - at % share;
        const size_t n = rest < r->n - done ? (size_t)rest : r->n - done;
        if (at % share == 0 && at != 0) must(tamis_rotate(t, &why), &why);
        must(tamis_add_hashes(t, r->hashes + done, n, NULL, NULL), NULL);
        done += n;
    }
}

/* As many keys are excluded as there are members: their hashes, with other low halves. */
static void exclude(tamis *t, const struct round *r)
{
    tamis_error why;
    for (size_t i = 0; i < r->n; i++) r->hashes[i].lo = ~r->hashes[i].lo;
    must(tamis_exclude_hashes(t, r->hashes, r->n, &why), &why);
    for (size_t i = 0; i < r->n; i++) r->hashes[i].lo = ~r->hashes[i].lo;
}

void add_round(const struct subject *s, tamis *t, const struct round *r, uint64_t first,
               uint64_t items)
{
    tamis_error why;
    switch (s->how) {
    case WINDOW: add_to_window(t, r, first, items); break;
    case MAP: must(tamis_add_value_hashes(t, r->hashes, r->values, r->n, NULL, &why), &why); break;
    case TOP: must(tamis_add_many(t, r->keys, r->n, NULL, NULL), NULL); break;
    default: must(tamis_add_hashes(t, r->hashes, r->n, NULL, NULL), NULL);
    }
    if (s->how == EXACT) exclude(t, r);
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Counts are asked in groups: their number is not the question. */
#define GROUP 1024u

static uint64_t ask_counts(const struct subject *s, const tamis *t, const struct round *r)
{
    int64_t counts[GROUP];
    uint64_t right = 0;
    for (size_t i = 0; i < r->n; i += GROUP) {
        const size_t n = r->n - i < GROUP ? r->n - i : GROUP;
        if (s->how == TOP)
            tamis_upper_many(t, r->keys + i, n, counts);
        else
            tamis_upper_hashes(t, r->hashes + i, n, counts);
        for (size_t j = 0; j < n; j++) right += counts[j] >= 1;
    }
    return right;
}

static uint64_t ask_map(const tamis *t, const struct round *r)
{
    tamis_error why;
    uint64_t right = 0;
    must(tamis_value_hashes(t, r->hashes, r->n, r->values, r->bits, &why), &why);
    for (size_t i = 0; i < r->n; i++)
        right += (r->bits[i / 8] >> i % 8 & 1) != 0 && r->values[i] == value_of(r->hashes[i]);
    return right;
}

uint64_t ask_round(const struct subject *s, const tamis *t, const struct round *r)
{
    if (s->how == SKETCH || s->how == TOP) return ask_counts(s, t, r);
    if (s->how == MAP) return ask_map(t, r);
    return tamis_may_contain_hashes(t, r->hashes, r->n, r->bits);
}
