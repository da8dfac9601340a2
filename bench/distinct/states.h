/* Sketches of kind `distinct` as they are after n distinct random keys, where n may be larger than
 * the number of keys that anybody has the time to add.
 *
 * Everything goes through tamis_add_hashes. The hashes are random, so they stand for distinct keys.
 * For small n, all n of them are added. For large n, all registers have received the values of the
 * lowest levels (docs/FORMAT.md), except with a probability below 1e-8. So the number of keys whose
 * level is at least `first` is drawn from its distribution, which is binomial (n, 2^-first). These
 * keys are added, each with a random register and a random level from `first` on, and each lower
 * value that a register could still know is added once to every register. The state has the
 * distribution of that after n keys, except with that probability. */
#ifndef TAMIS_BENCH_STATES_H
#define TAMIS_BENCH_STATES_H

#include <math.h>
#include <tamis/tamis.h>

#define STATES_BATCH 512u
#define STATES_LEVELS_KNOWN 7u /* a register knows its greatest value and 24 below: 7 levels */
#define STATES_VALUES 4u
/* Up to this number of keys, coins are thrown for the binomial distribution. Above, it is replaced
 * by the normal distribution, because its mean is then so large that its skewness is below 0.01. */
#define STATES_COINS 1000000u

/* SplitMix64. */
static inline uint64_t states_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The state of a generator for one run of one experiment. */
static inline uint64_t states_seed(uint64_t experiment, uint64_t run)
{
    uint64_t seed = experiment * UINT64_C(1000003) + run;
    return states_random(&seed);
}

/* The lowest level of which a register may lack a value. A level has 4 * 2^p values in all
 * registers together, and each is missing with a probability of exp(-y) if it gets y keys on
 * average. */
static inline unsigned states_first_level(unsigned p, uint64_t n)
{
    const double enough = log(2e8 * STATES_VALUES * ldexp(1, (int)p));
    unsigned level = 0;
    while (level < 60 && ldexp((double)n, -(int)(level + 3 + p)) > enough) level++;
    return level;
}

/* How many of n keys have a level of at least `first`. */
static inline uint64_t states_keys_from(uint64_t n, unsigned first, uint64_t *state)
{
    if (n > STATES_COINS && first > 0) {
        const double share = ldexp(1, -(int)first), mean = (double)n * share;
        const double radius = ldexp((double)(states_random(state) >> 11) + 1, -53);
        const double angle = ldexp((double)(states_random(state) >> 11), -53) * 6.283185307179586;
        const double normal = sqrt(-2 * log(radius)) * cos(angle);
        return (uint64_t)(mean + sqrt(mean * (1 - share)) * normal + 0.5);
    }
    for (; first > 0; first--) {
        uint64_t heads = 0;
        for (uint64_t left = n; left > 0; left -= left < 64 ? left : 64) {
            const uint64_t coins = states_random(state);
            heads += (uint64_t)__builtin_popcountll(left < 64 ? coins >> (64 - left) : coins);
        }
        n = heads;
    }
    return n;
}

/* Adds the values of one level to all registers. */
static inline tamis_status states_add_level(tamis *t, unsigned p, unsigned level)
{
    tamis_hash room[STATES_BATCH];
    const uint64_t cells = (uint64_t)STATES_VALUES << p;
    tamis_status s = TAMIS_OK;
    for (uint64_t at = 0; at < cells && s == TAMIS_OK; at += STATES_BATCH) {
        size_t n = 0;
        for (; n < STATES_BATCH && at + n < cells; n++) {
            const uint64_t cell = at + n;
            room[n].hi = cell / STATES_VALUES << (64 - p);
            room[n].lo = UINT64_C(1) << (63 - level) | cell % STATES_VALUES;
        }
        s = tamis_add_hashes(t, room, n, NULL, NULL);
    }
    return s;
}

/* Adds n keys to an empty sketch of 2^p registers, without those below a level, of which all
 * registers get all values. With first = 0, all keys are added. */
static inline tamis_status states_fill_from(tamis *t, unsigned p, uint64_t n, unsigned first,
                                            uint64_t *state)
{
    tamis_hash room[STATES_BATCH];
    const uint64_t keys = states_keys_from(n, first, state);
    unsigned level = first > STATES_LEVELS_KNOWN ? first - STATES_LEVELS_KNOWN : 0;
    tamis_status s = TAMIS_OK;
    for (uint64_t done = 0; done < keys && s == TAMIS_OK; done += STATES_BATCH) {
        const size_t count = keys - done < STATES_BATCH ? (size_t)(keys - done) : STATES_BATCH;
        for (size_t i = 0; i < count; i++) {
            room[i].lo = states_random(state) >> first;
            room[i].hi = states_random(state);
        }
        s = tamis_add_hashes(t, room, count, NULL, NULL);
    }
    for (; level < first && s == TAMIS_OK; level++) s = states_add_level(t, p, level);
    return s;
}

/* The same, with as many levels left out as possible. */
static inline tamis_status states_fill(tamis *t, unsigned p, uint64_t n, uint64_t *state)
{
    return states_fill_from(t, p, n, states_first_level(p, n), state);
}

#endif
