/* Two sketches that have some keys in common: how often the intervals of tamis_compare contain the
 * true numbers, and how wide they are. */
#include "distinct.h"

#include <math.h>
#include <tamis/inspect.h>

#define PRECISION 12u
#define ITEMS 100000u

enum { UNION, COMMON, JACCARD, FIRST, SECOND, FIGURES };

struct outcome {
    bool inside[FIGURES], small;
    double common, half; /* the estimate, and half the width of its interval */
    double jaccard;
};

struct trials {
    uint64_t common, number;
    struct outcome *out;
};

static void add_keys(tamis *t, uint64_t n, uint64_t *state)
{
    tamis_hash room[STATES_BATCH];
    for (uint64_t done = 0; done < n; done += STATES_BATCH) {
        const size_t count = n - done < STATES_BATCH ? (size_t)(n - done) : STATES_BATCH;
        for (size_t i = 0; i < count; i++)
            room[i] = (tamis_hash){states_random(state), states_random(state)};
        must(tamis_add_hashes(t, room, count, NULL, NULL));
    }
}

static bool holds(double low, double truth, double high)
{
    return low <= truth && truth <= high;
}

static void compare_once(void *ctx, unsigned run)
{
    const struct trials *all = ctx;
    uint64_t state = states_seed(all->number, run);
    tamis *a = make_sketch(PRECISION, false), *b;
    tamis_similarity s = TAMIS_SIMILARITY_INIT;
    add_keys(a, all->common, &state);
    must(tamis_copy(a, &b, NULL));
    add_keys(a, ITEMS - all->common, &state);
    add_keys(b, ITEMS - all->common, &state);
    must(tamis_compare(a, b, &s, NULL));
    tamis_close(a);
    tamis_close(b);
    const double common = (double)all->common, only = ITEMS - common, both = ITEMS + only;
    struct outcome *o = &all->out[run];
    o->inside[UNION] = holds(s.union_low, both, s.union_high);
    o->inside[COMMON] = holds(s.common_low, common, s.common_high);
    o->inside[JACCARD] = holds(s.jaccard_low, common / both, s.jaccard_high);
    o->inside[FIRST] = holds(s.first_only_low, only, s.first_only_high);
    o->inside[SECOND] = holds(s.second_only_low, only, s.second_only_high);
    o->small = s.common_low <= 0;
    o->common = s.common_items;
    o->half = (s.common_high - s.common_low) / 2;
    o->jaccard = s.jaccard;
}

static void measure_overlap(uint64_t common, unsigned runs)
{
    struct trials all = {common, common << 8 | 255, take(runs * sizeof *all.out)};
    double inside[FIGURES] = {0}, every = 0, small = 0, mean = 0, squares = 0, half = 0;
    in_threads(runs, compare_once, &all);
    for (unsigned i = 0; i < runs; i++) {
        const struct outcome *o = &all.out[i];
        bool whole = true;
        for (unsigned f = 0; f < FIGURES; f++) {
            inside[f] += o->inside[f] / (double)runs;
            whole = whole && o->inside[f];
        }
        every += whole / (double)runs;
        small += o->small / (double)runs;
        mean += o->common / runs;
        squares += (o->common - (double)common) * (o->common - (double)common) / runs;
        half += o->half / runs;
    }
    give_back(all.out);
    rows_row("\"p\": %u, \"n\": %u, \"common\": %llu, \"runs\": %u, \"union\": %.6g, "
             "\"inside\": %.6g, \"jaccard\": %.6g, \"first\": %.6g, \"second\": %.6g, "
             "\"every\": %.6g, \"small\": %.6g, \"mean\": %.6g, \"error\": %.6g, \"half\": %.6g",
             PRECISION, ITEMS, (unsigned long long)common, runs, inside[UNION], inside[COMMON],
             inside[JACCARD], inside[FIRST], inside[SECOND], every, small, mean, sqrt(squares),
             half);
    printf("%llu of %u in common: mean %.0f, error %.0f, interval +-%.0f, all inside %.3f %%\n",
           (unsigned long long)common, ITEMS, mean, sqrt(squares), half, 100 * every);
}

void measure_sets(unsigned runs)
{
    static const uint64_t commons[] = {0, 100, 1000, 10000, 50000, 90000, 100000};
    rows_list("sets");
    puts("\nsets");
    for (size_t i = 0; i < LENGTH(commons); i++) measure_overlap(commons[i], runs);
}
