/* How far estimates are from the true number, and how often the interval contains it. */
#include "distinct.h"

#include <math.h>
#include <stdlib.h>

struct experiment {
    unsigned p;
    uint64_t n;
    bool shared;
    bool every; /* all keys are added, also where states.h could leave some out */
};

struct outcome {
    double value, low, high, error;
    bool exact;
};

struct trials {
    const struct experiment *what;
    uint64_t number;
    struct outcome *out;
};

static void estimate_once(void *ctx, unsigned run)
{
    const struct trials *all = ctx;
    const struct experiment *e = all->what;
    uint64_t state = states_seed(all->number, run);
    tamis_cardinality c = TAMIS_CARDINALITY_INIT;
    tamis *t = make_sketch(e->p, e->shared);
    const unsigned first = e->every ? 0 : states_first_level(e->p, e->n);
    must(states_fill_from(t, e->p, e->n, first, &state));
    must(tamis_distinct(t, &c, NULL));
    tamis_close(t);
    all->out[run] = (struct outcome){c.value, c.low, c.high, c.error, c.exact};
}

struct summary {
    double bias, variance; /* of value / n: mean - 1, and mean square of the distance from 1 */
    double below, above;   /* share of intervals that end below n, and that begin above it */
    double within_1, within_2_6;
    bool exact;
    double promised;
};

static struct summary sum_up(const struct outcome *out, unsigned runs, double n)
{
    struct summary s = {.exact = true};
    for (unsigned i = 0; i < runs; i++) {
        const double off = out[i].value / n - 1;
        s.bias += off / runs;
        s.variance += off * off / runs;
        s.below += (out[i].high < n) / (double)runs;
        s.above += (out[i].low > n) / (double)runs;
        s.within_1 += (fabs(off) <= out[i].error) / (double)runs;
        s.within_2_6 += (fabs(off) <= 2.6 * out[i].error) / (double)runs;
        s.exact = s.exact && out[i].exact;
        if (out[i].error > s.promised) s.promised = out[i].error;
    }
    return s;
}

static void measure_one(const struct experiment *e, uint64_t number, unsigned runs)
{
    struct trials all = {e, number, take(runs * sizeof *all.out)};
    const double start = seconds();
    in_threads(runs, estimate_once, &all);
    const struct summary s = sum_up(all.out, runs, (double)e->n);
    give_back(all.out);
    const double bits = ldexp(32, (int)e->p);
    rows_row("\"p\": %u, \"n\": %llu, \"shared\": %s, \"every\": %s, \"runs\": %u, \"exact\": %s, "
             "\"promised\": %.6g, \"bias\": %.6g, \"variance\": %.6g, \"below\": %.6g, "
             "\"above\": %.6g, \"within_1\": %.6g, \"within_2_6\": %.6g",
             e->p, (unsigned long long)e->n, e->shared ? "true" : "false",
             e->every ? "true" : "false", runs, s.exact ? "true" : "false", s.promised, s.bias,
             s.variance, s.below, s.above, s.within_1, s.within_2_6);
    printf("p %2u %s n %-19llu runs %-6u error %7.4f %%  bits x variance %5.3f  bias %+7.4f %%  "
           "inside %7.3f %%  %4.0f s\n",
           e->p,
           e->shared  ? "dense"
           : e->every ? "every"
                      : "     ",
           (unsigned long long)e->n, runs, 100 * sqrt(s.variance), bits * s.variance, 100 * s.bias,
           100 * (1 - s.below - s.above), seconds() - start);
    fflush(stdout);
}

/* All sizes of a sketch: decades, and the greatest number of tokens, one less and one more. */
static void measure_sketch(unsigned p, uint64_t most, unsigned runs)
{
    const uint64_t tokens = p < 12 ? UINT64_C(1) << (p - 1) : 2048;
    for (uint64_t n = tokens - 1; n <= tokens + 1; n++)
        measure_one(&(struct experiment){.p = p, .n = n}, n << 8 | p, runs);
    for (uint64_t n = 1000; n <= most; n *= 10)
        measure_one(&(struct experiment){.p = p, .n = n}, n << 8 | p, runs);
    for (uint64_t n = 1; n <= 1000; n *= 10)
        measure_one(&(struct experiment){.p = p, .n = n, .shared = true}, n << 8 | p | 128, runs);
}

void measure_errors(unsigned runs)
{
    const uint64_t far = UINT64_C(10000000);
    rows_list("errors");
    puts("\nerrors");
    measure_sketch(8, far, 4 * runs);
    measure_sketch(11, far, runs);
    measure_sketch(12, far, runs);
    /* Large numbers, and the other sizes in the table of include/tamis/distinct.h. A run costs time
     * in proportion to the registers, so the largest sketches get fewer. */
    const struct {
        struct experiment what;
        unsigned runs;
    } others[] = {
        {{.p = 8, .n = UINT64_C(1000000000)}, 4 * runs},
        {{.p = 8, .n = UINT64_C(1000000000000)}, 4 * runs},
        {{.p = 8, .n = UINT64_C(1000000000000000)}, 4 * runs},
        {{.p = 8, .n = UINT64_C(1000000000000000000)}, 4 * runs},
        {{.p = 8, .n = 100000, .every = true}, runs},
        {{.p = 8, .n = 1000000, .every = true}, runs / 10},
        {{.p = 4, .n = 1000000}, runs},
        {{.p = 10, .n = 1000000}, runs / 4},
        {{.p = 14, .n = 10000000}, runs / 20},
        {{.p = 18, .n = 100000000}, runs / 500 > 2 ? runs / 500 : 2},
    };
    for (size_t i = 0; i < LENGTH(others); i++) {
        const struct experiment *e = &others[i].what;
        measure_one(e, e->n << 8 | e->p | (e->every ? 64 : 0), others[i].runs);
    }
}

/* Pairs of keys whose 56 bits are equal: how many count as one? */
void measure_equal_tokens(unsigned pairs)
{
    uint64_t state = states_seed(0, 0);
    unsigned equal = 0;
    tamis *t = make_sketch(12, false);
    for (unsigned i = 0; i < pairs; i++) {
        tamis_cardinality c = TAMIS_CARDINALITY_INIT;
        const uint64_t hi = states_random(&state);
        const tamis_hash h[2] = {{states_random(&state), hi}, {states_random(&state), hi}};
        must(tamis_add_hashes(t, h, 2, NULL, NULL));
        must(tamis_distinct(t, &c, NULL));
        equal += c.value == 1;
        must(tamis_clear(t));
    }
    tamis_close(t);
    rows_list("tokens");
    puts("\ntokens");
    rows_row("\"pairs\": %u, \"equal\": %u", pairs, equal);
}
