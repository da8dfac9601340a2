#include "uniform.h"

#include "../sealed/collect.h"
#include "bits.h"
#include "handle.h"

#ifdef TAMIS__WATCHES

/* A call with this many hashes or more is judged by itself. Its first FIRST are examined. If a bit
 * is constant among them, which happens to uniform hashes once in 2^24 calls, up to CLOSER are. */
#define MANY 64u
#define FIRST 32u
#define CLOSER 256u

/* The probability of a false alarm: n distinct uniform hashes agree in a given set of c bits of a
 * word with probability 2^(-c (n - 1)). There are at most 64^min(c, 64 - c) such sets. So the
 * probability that some c bits of a word are constant is at most 2^(6 min(c, 64 - c) - c (n - 1)).
 * The hashes are suspect if this is 2^-80 or less:
 *
 *     constant bits     64   32   16    8    2    1
 *     distinct hashes    3   10   12   17   47   87
 *
 * Over 64 numbers of bits, three words and 128 numbers of hashes, this is below 2^-65 for one
 * sample, and below 1e-9 for a handle after ten billion calls, each of which is a sample. */
#define DOUBT_BITS 80u

/* A few bits in which lo and hi agree (or differ) by construction do no harm: hi = lo * odd has one
 * or two. */
#define LEAST_ALIKE 8u

/* A single constant bit is suspect once 87 places are taken. Uniform hashes take 87 of the 128
 * places after about 146 distinct ones. */
#define ENOUGH 100u

/* The linear test. The differences between one of 74 uniform hashes and the others are m = 73
 * uniform vectors of 128 bits. The probability that at most m - 8 of these are independent is below
 * 4 * 2^(8 (m - 136)), which is below 2^-501: there are fewer than 4 * 2^(8 (m - 8)) spaces of 8
 * dimensions of combinations of them, and all combinations in such a space are zero with
 * probability 2^(-8 * 128). The 74 are chosen from 256 in one of fewer than 2^256 ways, so the
 * probability of a false alarm is below 2^-245. If one half is a linear function of the other, at
 * most 64 are independent. */
#define VECTORS 74u
#define LEAST_DEPENDENT 8u

#define SPACED 256u

enum word { LO, HI, ALIKE };

static inline void put_word(struct hash_sample *s, enum word w, uint64_t v)
{
    s->ones[w] |= v;
    s->zeros[w] |= ~v;
}

static inline void uniform_put_bits(struct hash_sample *s, tamis_hash h)
{
    put_word(s, LO, h.lo);
    put_word(s, HI, h.hi);
    put_word(s, ALIKE, h.lo ^ h.hi);
}

/* Marks the place of a hash. True: it is the first one there. For uniform hashes, the place is
 * independent of lo and of hi. Hashes in distinct places are distinct, even if they are not
 * uniform. */
static bool put_place(uint64_t *places, unsigned log, tamis_hash h)
{
    const uint64_t mixed =
        h.lo * UINT64_C(0x9e3779b97f4a7c15) ^ h.hi * UINT64_C(0xd6e8feb86659fd93);
    const uint64_t place = mixed >> (64 - log), bit = UINT64_C(1) << place % 64;
    const bool is_new = (places[place / 64] & bit) == 0;
    places[place / 64] |= bit;
    return is_new;
}

static unsigned constant_bits(const struct hash_sample *s, enum word w)
{
    return tamis__popcount(~(s->ones[w] & s->zeros[w]));
}

static unsigned different(const struct hash_sample *s)
{
    return tamis__popcount(s->places[0]) + tamis__popcount(s->places[1]);
}

/* Whether the sample is not suspect for any number of hashes. */
static bool is_good(const struct hash_sample *s)
{
    return constant_bits(s, LO) == 0 && constant_bits(s, HI) == 0 &&
           constant_bits(s, ALIKE) < LEAST_ALIKE;
}

static bool uniform_is_suspect(const struct hash_sample *s)
{
    const unsigned n = different(s);
    for (enum word w = LO; w <= ALIKE; w++) {
        const unsigned c = constant_bits(s, w), fewer = c < 64 - c ? c : 64 - c;
        if (c >= (w == ALIKE ? LEAST_ALIKE : 1u) && n > 1 && c * (n - 1) >= 6 * fewer + DOUBT_BITS)
            return true;
    }
    return false;
}

/* --- In each call ----------------------------------------------------------------------------- */

/* is_good for the first hashes, as fast as possible. To compare the halves, a part of them is
 * enough. */
static bool first_are_good(const tamis_hash *h)
{
    uint64_t one[3] = {0, 0, 0}, all[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < FIRST; i++) {
        one[LO] |= h[i].lo, all[LO] &= h[i].lo;
        one[HI] |= h[i].hi, all[HI] &= h[i].hi;
    }
    for (size_t i = 0; i < FIRST / 2; i++) {
        const uint64_t alike = h[i].lo ^ h[i].hi;
        one[ALIKE] |= alike, all[ALIKE] &= alike;
    }
    return (one[LO] & one[HI] & ~(all[LO] | all[HI])) == UINT64_MAX &&
           tamis__popcount(one[ALIKE] & ~all[ALIKE]) > 64 - LEAST_ALIKE;
}

/* Adds the bits before the places, so that a thread that sees a place also sees the bits of the
 * hash that took it. */
static void uniform_add_up(struct hash_sample *into, const struct hash_sample *s)
{
    for (enum word w = LO; w <= ALIKE; w++) {
        __atomic_fetch_or(&into->ones[w], s->ones[w], __ATOMIC_RELAXED);
        __atomic_fetch_or(&into->zeros[w], s->zeros[w], __ATOMIC_RELAXED);
    }
    for (int i = 0; i < 2; i++) __atomic_fetch_or(&into->places[i], s->places[i], __ATOMIC_RELEASE);
}

static struct hash_sample seen_so_far(const struct hash_sample *from)
{
    struct hash_sample s;
    for (int i = 0; i < 2; i++) s.places[i] = __atomic_load_n(&from->places[i], __ATOMIC_ACQUIRE);
    for (enum word w = LO; w <= ALIKE; w++) {
        s.ones[w] = __atomic_load_n(&from->ones[w], __ATOMIC_RELAXED);
        s.zeros[w] = __atomic_load_n(&from->zeros[w], __ATOMIC_RELAXED);
    }
    return s;
}

static enum hash_watch watch_of(const tamis *t)
{
    return (enum hash_watch)__atomic_load_n(&t->watch, __ATOMIC_RELAXED);
}

/* Adds the sample to that of the handle. Returns whether all of them are suspect. If there is no
 * memory for a sample, each call is judged alone. */
static bool watch_more(tamis *t, const struct hash_sample *more)
{
    if (!tamis__add_extra(t)) return false;
    struct hash_sample *kept = &tamis__extra(t)->sample;
    uniform_add_up(kept, more);
    const struct hash_sample s = seen_so_far(kept);
    uint8_t now = TAMIS__WATCHING;
    if (is_good(&s) || different(&s) >= ENOUGH)
        __atomic_compare_exchange_n(&t->watch, &now, (uint8_t)TAMIS__SETTLED, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return uniform_is_suspect(&s);
}

/* Not inlined, so that other calls do not need its stack frame. */
__attribute__((noinline)) static void look_closer(tamis *t, const tamis_hash *h, size_t n)
{
    struct hash_sample s = {{0}, {0}, {0}};
    for (size_t i = 0; i < n && i < CLOSER; i++) {
        uniform_put_bits(&s, h[i]);
        put_place(s.places, 7, h[i]);
    }
    bool suspect = uniform_is_suspect(&s);
    if (watch_of(t) == TAMIS__WATCHING) suspect = watch_more(t, &s) || suspect;
    if (suspect) {
        __atomic_store_n(&t->watch, (uint8_t)TAMIS__SUSPICIOUS, __ATOMIC_RELAXED);
        __atomic_store_n(&t->changed, true, __ATOMIC_RELAXED); /* the image records it */
    }
    tamis__trim_extra(t);
}

void tamis__watch_hashes(tamis *t, const tamis_hash *h, size_t n)
{
    const enum hash_watch now = watch_of(t);
    const bool is_done = n >= MANY ? first_are_good(h) : n == 0 || now == TAMIS__SETTLED;
    if (!is_done && now != TAMIS__SUSPICIOUS) look_closer(t, h, n);
}

/* --- Before the seal -------------------------------------------------------------------------- */

/* Returns how many of the vectors are linearly independent, and overwrites them. */
static unsigned rank_of(tamis_hash *v, unsigned n)
{
    unsigned rank = 0;
    for (unsigned i = 0; i < n; i++) {
        const tamis_hash by = v[i];
        if ((by.lo | by.hi) == 0) continue;
        rank++;
        const bool high = by.hi != 0;
        const int bit = __builtin_ctzll(high ? by.hi : by.lo);
        for (unsigned j = i + 1; j < n; j++) {
            const uint64_t with = 0 - ((high ? v[j].hi : v[j].lo) >> bit & 1);
            v[j].lo ^= by.lo & with;
            v[j].hi ^= by.hi & with;
        }
    }
    return rank;
}

enum verdict tamis__judge_collection(const struct section *c)
{
    struct hash_sample s = {{0}, {0}, {0}};
    tamis_hash vectors[VECTORS];
    unsigned found = 0;               /* distinct hashes */
    uint64_t places[1024 / 64] = {0}; /* more places, so that fewer hashes are left out */
    const uint64_t n = c->m < SPACED ? c->m : SPACED;
    for (uint64_t i = 0; i < n; i++) {
        const tamis_hash h = tamis__collected(c, tamis__mulhi(i * (UINT64_MAX / n + 1), c->m));
        uniform_put_bits(&s, h);
        put_place(s.places, 7, h);
        if (found < VECTORS && put_place(places, 10, h)) vectors[found++] = h;
    }
    if (uniform_is_suspect(&s)) return TAMIS__SUSPECT;
    if (found < VECTORS || !is_good(&s)) return TAMIS__UNDECIDED;
    for (unsigned i = 1; i < VECTORS; i++) {
        vectors[i].lo ^= vectors[0].lo;
        vectors[i].hi ^= vectors[0].hi;
    }
    const bool linear = rank_of(vectors + 1, VECTORS - 1) + LEAST_DEPENDENT <= VECTORS - 1;
    return linear ? TAMIS__SUSPECT : TAMIS__UNIFORM;
}
#endif
