/* Sketches, and streams to count, for tests. */
#ifndef TAMIS_TEST_SKETCHES_H
#define TAMIS_TEST_SKETCHES_H

#include "check.h"
#include "keys.h"
#include "resum.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

struct sketch {
    const char *name;
    uint32_t kind, flags, cell_bits;
    bool takes_away; /* weights may be negative */
    bool two_sided;
    bool adds_up; /* a merge is the sketch of both streams, bit for bit */
};

static const struct sketch sketches[] = {
    {"count-min", TAMIS_COUNT_MIN, 0, 32, true, false, true},
    {"count-min of 64 bits", TAMIS_COUNT_MIN, 0, 64, true, false, true},
    {"conservative", TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE, 32, false, false, false},
    {"conservative of 64 bits", TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE, 64, false, false, false},
    {"tally", TAMIS_TALLY, 0, 8, false, false, false},
    {"signed-tally", TAMIS_SIGNED_TALLY, 0, 8, true, true, false},
    {"count-sketch", TAMIS_COUNT_SKETCH, 0, 32, true, true, true},
    {"count-sketch of 64 bits", TAMIS_COUNT_SKETCH, 0, 64, true, true, true},
};
#define SKETCHES (sizeof sketches / sizeof *sketches)

static inline tamis_plan sketch_plan(const struct sketch *s, uint64_t bytes, uint64_t seed)
{
    return (tamis_plan){.struct_size = sizeof(tamis_plan),
                        .kind = s->kind,
                        .flags = s->flags,
                        .cell_bits = s->cell_bits,
                        .bytes = bytes,
                        .seed = seed};
}

static inline tamis *sketch_new(const struct sketch *s, uint64_t bytes, uint64_t seed)
{
    const tamis_plan plan = sketch_plan(s, bytes, seed);
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    return t;
}

static inline tamis_estimate ask_count(const tamis *t, uint64_t key)
{
    tamis_estimate e;
    CHECK_OK(tamis_count(t, &key, sizeof key, &e, NULL));
    CHECK(e.lower <= e.estimate && e.estimate <= e.upper);
    CHECK(e.confidence > 0 && e.confidence <= 1);
    return e;
}

static inline tamis_facts sketch_facts(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

/* --- Streams: n draws of `universe` keys, key i with a weight of (i + 1)^-alpha --------------- */

struct stream {
    uint32_t n, universe;
    uint32_t *keys;
    int64_t *truth; /* of each key */
};

static inline struct stream zipf_stream(double alpha, uint32_t n, uint32_t universe, uint64_t seed)
{
    struct stream s = {n, universe, malloc(n * sizeof *s.keys), calloc(universe, sizeof *s.truth)};
    double *sums = malloc(universe * sizeof *sums), all = 0;
    CHECK(s.keys != NULL && s.truth != NULL && sums != NULL);
    for (uint32_t i = 0; i < universe; i++) sums[i] = all += pow(i + 1, -alpha);
    for (uint32_t i = 0; i < n; i++) {
        const double u = (double)(splitmix(&seed) >> 11) * 0x1p-53 * all;
        uint32_t low = 0, high = universe - 1;
        while (low < high) {
            const uint32_t mid = low + (high - low) / 2;
            if (sums[mid] >= u)
                high = mid;
            else
                low = mid + 1;
        }
        s.keys[i] = low;
        s.truth[low]++;
    }
    free(sums);
    return s;
}

/* The same draws with all of a key's together, keys in order of their hash. */
static inline int by_mixed_key(const void *a, const void *b)
{
    uint64_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    x = splitmix(&x);
    y = splitmix(&y);
    return (x > y) - (x < y);
}

static inline void cluster(struct stream *s)
{
    qsort(s->keys, s->n, sizeof *s->keys, by_mixed_key);
}

static inline void stream_free(struct stream *s)
{
    free(s->keys);
    free(s->truth);
}

/* Draws [from, to), by the bulk verb. */
static inline void add_stream(tamis *t, const struct stream *s, uint32_t from, uint32_t to)
{
    uint64_t room[1000];
    tamis_bytes keys[1000];
    for (uint32_t at = from; at < to; at += 1000) {
        const uint32_t n = to - at < 1000 ? to - at : 1000;
        for (uint32_t i = 0; i < n; i++) {
            room[i] = s->keys[at + i];
            keys[i] = (tamis_bytes){&room[i], sizeof room[i]};
        }
        CHECK_OK(tamis_add_weight_many(t, keys, NULL, n, NULL, NULL));
    }
}

/* The counts that t returns for all keys of a universe; to be freed. */
static inline tamis_estimate *count_universe(const tamis *t, uint32_t universe)
{
    uint64_t *room = malloc(universe * sizeof *room);
    tamis_bytes *keys = calloc(universe, sizeof *keys);
    tamis_estimate *e = malloc(universe * sizeof *e);
    CHECK(room != NULL && keys != NULL && e != NULL);
    for (uint32_t i = 0; i < universe; i++) {
        room[i] = i;
        keys[i] = (tamis_bytes){&room[i], sizeof room[i]};
    }
    CHECK_OK(tamis_count_many(t, keys, universe, e, NULL));
    free(room);
    free(keys);
    return e;
}

#endif
