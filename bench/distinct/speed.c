/* The speed of adds, merges and estimates, at 1,000 keys per register. */
#include "distinct.h"

#include <stdlib.h>
#include <tamis/inspect.h>

#define KEYS (1u << 18)
#define MERGES 200u
#define ESTIMATES 200u

struct bout {
    tamis *t, *other;
    uint64_t next; /* number of the next key, so that all keys are new */
    uint64_t *words;
    tamis_bytes *keys;
};

/* New keys, which are written before the clock starts. */
static void next_keys(struct bout *s)
{
    for (size_t i = 0; i < KEYS; i++) {
        s->words[i] = mix(s->next++);
        s->keys[i] = (tamis_bytes){&s->words[i], sizeof *s->words};
    }
}

static double add_bulk(void *ctx)
{
    struct bout *s = ctx;
    next_keys(s);
    const double start = seconds();
    must(tamis_add_many(s->t, s->keys, KEYS, NULL, NULL));
    return seconds() - start;
}

static double add_single(void *ctx)
{
    struct bout *s = ctx;
    next_keys(s);
    const double start = seconds();
    for (size_t i = 0; i < KEYS; i++)
        if (tamis_add(s->t, &s->words[i], sizeof *s->words, NULL) != TAMIS_OK) die("an add fails");
    return seconds() - start;
}

static double merge(void *ctx)
{
    struct bout *s = ctx;
    const double start = seconds();
    for (unsigned i = 0; i < MERGES; i++) must(tamis_merge(s->t, s->other, NULL));
    return seconds() - start;
}

static double estimate(void *ctx)
{
    struct bout *s = ctx;
    double sum = 0;
    const double start = seconds();
    for (unsigned i = 0; i < ESTIMATES; i++) {
        tamis_cardinality c = TAMIS_CARDINALITY_INIT;
        must(tamis_distinct(s->t, &c, NULL));
        sum += c.value;
    }
    const double took = seconds() - start;
    if (!(sum > 0)) die("no estimate");
    return took;
}

static void keep(unsigned p, const char *what, struct timing t)
{
    rows_row("\"p\": %u, \"what\": \"%s\", \"ns\": %.6g, \"min_ns\": %.6g, \"repetitions\": %u", p,
             what, t.ns, t.min_ns, t.repetitions);
    printf("p %u %-12s %10.2f ns, best %.2f\n", p, what, t.ns, t.min_ns);
}

void measure_speed(void)
{
    struct bout s = {.words = take(KEYS * sizeof *s.words), .keys = take(KEYS * sizeof *s.keys)};
    rows_list("speed");
    puts("\nspeed");
    for (unsigned p = 11; p <= 12; p++) {
        uint64_t state = states_seed(1, p);
        s.t = make_sketch(p, false);
        s.other = make_sketch(p, false);
        must(states_fill(s.t, p, UINT64_C(1000) << p, &state));
        must(states_fill(s.other, p, UINT64_C(1000) << p, &state));
        keep(p, "bulk add", repeat(add_bulk, &s, KEYS));
        keep(p, "single add", repeat(add_single, &s, KEYS));
        keep(p, "merge", repeat(merge, &s, MERGES));
        keep(p, "estimate", repeat(estimate, &s, ESTIMATES));
        tamis_close(s.t);
        tamis_close(s.other);
    }
    give_back(s.words);
    give_back(s.keys);
}
