/* Kernels for AVX-512. A line of the blocked filter is one register, and eight probes of a classic
 * filter are another. The functions have target attributes, so no compiler flag is needed; cpu.c
 * hands this table out only if the processor has the instructions. */
#include "avx512.h"

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)

/* --- Lines ------------------------------------------------------------------------------------ */

/* Returns one bit in each word: 1 rotated by the word's six bits of lo. A rotate takes its count
 * modulo 64, so the bits above need no mask. */
AVX512 static inline __m512i avx512_line_mask(uint64_t lo)
{
    const __m512i shifts = _mm512_set_epi64(42, 36, 30, 24, 18, 12, 6, 0);
    return _mm512_rolv_epi64(_mm512_set1_epi64(1),
                             _mm512_srlv_epi64(_mm512_set1_epi64((long long)lo), shifts));
}

/* Loads in two halves. On Zen 4, waiting for a line with one load of 64 bytes costs a third more
 * than with two (6.6 against 4.9 ns per key in 120 MB); without waiting both cost the same. */
AVX512 static inline __m512i load_line(const uint8_t *line)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)line)),
        _mm256_loadu_si256((const __m256i *)(const void *)(line + 32)), 1);
}

/* Returns the words of a key's line that lack its bit. */
AVX512 static inline uint64_t avx512_query_one(const uint8_t *table, uint64_t lines, tamis_hash h)
{
    const uint8_t *line = table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES;
    return _mm512_testn_epi64_mask(load_line(line), avx512_line_mask(h.lo));
}

AVX512 static inline uint64_t avx512_add_to_line(uint8_t *line, uint64_t lo)
{
    const __m512i old = load_line(line), mask = avx512_line_mask(lo);
    _mm512_store_si512(line, _mm512_or_si512(old, mask));
    return _mm512_testn_epi64_mask(old, mask);
}

AVX512 static inline uint64_t avx512_add_one(uint8_t *table, uint64_t lines, tamis_hash h)
{
    return avx512_add_to_line(table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES, h.lo);
}

/* Takes fewer than eight keys. It is a separate function, so that one key does not pay for the
 * stack frame of many. */
AVX512 __attribute__((noinline)) static void query_few(const uint8_t *table, uint64_t lines,
                                                       const tamis_hash *h, size_t n, uint8_t *bits)
{
    unsigned answers = 0;
    for (unsigned j = 0; j < n; j++)
        answers |= (unsigned)(avx512_query_one(table, lines, h[j]) == 0) << j;
    *bits = (uint8_t)answers;
}

/* Lines that are in the cache are loaded at once. Those of a view need not be aligned. */
AVX512 static void query_cached(const uint8_t *table, uint64_t lines, const tamis_hash *h, size_t n,
                                uint8_t *bits)
{
    for (; n >= 8; n -= 8, h += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            const uint8_t *line = table + tamis__line_of(h[j], lines) * TAMIS__LINE_BYTES;
            missing |= (uint64_t)_mm512_testn_epi64_mask(_mm512_loadu_si512(line),
                                                         avx512_line_mask(h[j].lo))
                       << 8 * j;
        }
        *bits++ = complete(missing);
    }
    if (n != 0) query_few(table, lines, h, n, bits);
}

AVX512 static void avx512_line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                     const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    if (ahead == NULL) {
        query_cached(table, lines, h, n, bits);
        return;
    }
    for (; n >= 8; n -= 8, h += 8, ahead += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= avx512_query_one(table, lines, h[j]) << 8 * j;
            TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
            __asm__ volatile("" ::: "memory"); /* GCC would mix the keys, which takes 3 % longer */
        }
        *bits++ = complete(missing);
    }
    if (n != 0) query_few(table, lines, h, n, bits);
}

AVX512 static inline unsigned avx512_query_any(const struct tables *t, tamis_hash h)
{
    const uint64_t at = tamis__line_of(h, t->lines) * TAMIS__LINE_BYTES;
    const __m512i mask = avx512_line_mask(h.lo);
    for (uint32_t i = 0; i < t->count; i++)
        if (_mm512_testn_epi64_mask(load_line(tamis__table_at(t, i) + at), mask) == 0) return 1;
    return 0;
}

AVX512 static void avx512_line_query_any(const struct tables *t, const tamis_hash *h,
                                         const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            if (ahead != NULL) tamis__prefetch_tables(t, ahead[i + j]);
            answers |= avx512_query_any(t, h[i + j]) << j;
        }
        bits[i / 8] = (uint8_t)answers;
    }
}

/* Takes fewer than eight keys. It is a separate function, so that one key does not pay for the
 * stack frame of many. */
AVX512 __attribute__((noinline)) static void
avx512_add_few(uint8_t *table, uint64_t lines, const tamis_hash *h, size_t n, uint8_t *seen)
{
    unsigned answers = 0;
    for (unsigned j = 0; j < n; j++)
        answers |= (unsigned)(avx512_add_one(table, lines, h[j]) == 0) << j;
    *seen = (uint8_t)answers;
}

AVX512 static void add_cached(uint8_t *table, uint64_t lines, const tamis_hash *h, size_t n,
                              uint8_t *seen)
{
    for (; n >= 8; n -= 8, h += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            uint8_t *line = table + tamis__line_of(h[j], lines) * TAMIS__LINE_BYTES;
            const __m512i old = _mm512_load_si512(line), mask = avx512_line_mask(h[j].lo);
            _mm512_store_si512(line, _mm512_or_si512(old, mask));
            missing |= (uint64_t)_mm512_testn_epi64_mask(old, mask) << 8 * j;
        }
        *seen++ = complete(missing);
    }
    if (n != 0) avx512_add_few(table, lines, h, n, seen);
}

AVX512 static void avx512_line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                                   const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    if (ahead == NULL) {
        add_cached(table, lines, h, n, seen);
        return;
    }
    for (; n >= 8; n -= 8, h += 8, ahead += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= avx512_add_one(table, lines, h[j]) << 8 * j;
            TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        *seen++ = complete(missing);
    }
    if (n != 0) avx512_add_few(table, lines, h, n, seen);
}

AVX512 static void avx512_packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    for (; n >= 8; n -= 8, words += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= avx512_add_to_line(tamis__packed_line(table, words[j]), words[j]) << 8 * j;
            if (n >= TAMIS__PACKED_AHEAD + 8)
                TAMIS__PREFETCH(tamis__packed_line(table, words[j + TAMIS__PACKED_AHEAD]));
        }
        *seen++ = complete(missing);
    }
    if (n == 0) return;
    *seen = 0;
    for (unsigned j = 0; j < n; j++)
        *seen |= (uint8_t)((avx512_add_to_line(tamis__packed_line(table, words[j]), words[j]) == 0)
                           << j);
}

/* --- Lines under locks ------------------------------------------------------------------------ */

#ifdef TAMIS__CHECKS_RACES
#define AVX512_LOCKED TAMIS__LOCKED_IN_C
#else

/* Loads in two halves, like load_line. */
AVX512 static inline __m512i avx512_shared_load(const uint8_t *line)
{
    __m256i low, high;
    __asm__ volatile("vmovdqa %1, %0" : "=x"(low) : "m"(*(const __m256i *)(const void *)line));
    __asm__ volatile("vmovdqa %1, %0"
                     : "=x"(high)
                     : "m"(*(const __m256i *)(const void *)(line + 32)));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Adds under the lock, which this thread has, and unlocks. Returns whether the key was seen. */
AVX512 static inline unsigned avx512_add_holding(struct line_lock *lock, uint8_t *line,
                                                 __m512i mask)
{
    const __m512i old = avx512_shared_load(line), sum = _mm512_or_si512(old, mask);
    const unsigned known = _mm512_testn_epi64_mask(old, mask) == 0;
    __asm__ volatile("vmovdqa64 %1, %0" : "=m"(*(__m512i *)(void *)line) : "v"(sum));
    tamis__unlock_line(lock, !known);
    return known;
}

/* A separate function, so that adds that need not wait keep the stack frame small. */
AVX512 __attribute__((noinline, cold)) static unsigned
avx512_add_waiting(struct line_lock *lock, uint8_t *line, uint64_t lo)
{
    tamis__await(&lock->held);
    return avx512_add_holding(lock, line, avx512_line_mask(lo));
}

AVX512 static inline unsigned avx512_add_sharing(struct line_locks *locks, uint8_t *table,
                                                 uint64_t lines, tamis_hash h)
{
    const uint64_t number = tamis__line_of(h, lines);
    uint8_t *line = table + number * TAMIS__LINE_BYTES;
    const __m512i mask = avx512_line_mask(h.lo);
    struct line_lock *lock = tamis__line_lock(locks, number);
    if (_mm512_testn_epi64_mask(avx512_shared_load(line), mask) == 0) return 1;
    return tamis__try(&lock->held) ? avx512_add_holding(lock, line, mask)
                                   : avx512_add_waiting(lock, line, h.lo);
}

AVX512 static void avx512_locked_add(struct line_locks *locks, uint8_t *table, uint64_t lines,
                                     const tamis_hash *h, const tamis_hash *ahead, size_t n,
                                     uint8_t *seen)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            answers |= avx512_add_sharing(locks, table, lines, h[i + j]) << j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[i + j], lines) * 64);
        }
        seen[i / 8] = (uint8_t)answers;
    }
}

AVX512 static void avx512_locked_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                       const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            const uint8_t *line = table + tamis__line_of(h[i + j], lines) * TAMIS__LINE_BYTES;
            const __m512i mask = avx512_line_mask(h[i + j].lo);
            answers |= (unsigned)(_mm512_testn_epi64_mask(avx512_shared_load(line), mask) == 0)
                       << j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[i + j], lines) * 64);
        }
        bits[i / 8] = (uint8_t)answers;
    }
}

#define AVX512_LOCKED                                                                              \
    .locked_add = avx512_locked_add, .locked_add_one = tamis__locked_add_one_avx2,                 \
    .locked_query = avx512_locked_query, .locked_single = &tamis__locked_single_avx2
#endif

/* --- Probes ----------------------------------------------------------------------------------- */

/* Probe j of a key is x[j] = C^j·lo + (1 + C + ... + C^(j-1))·hi. This is the recurrence of
 * tamis__next_probe, unrolled, so that eight probes are computed side by side. */
struct powers {
    uint64_t lo[64], hi[64];
};

static void fill_powers(struct powers *p, unsigned n)
{
    uint64_t a = 1, b = 0;
    for (unsigned j = 0; j < n; j++) {
        p->lo[j] = a;
        p->hi[j] = b;
        b = b * TAMIS__PROBE_MULTIPLIER + 1;
        a *= TAMIS__PROBE_MULTIPLIER;
    }
}

#define AVX512_POPCNT __attribute__((target("avx512f,avx512dq,avx512vl,popcnt")))

/* A query tests so many keys at a time, a bit of a word each. */
#define ASKED 64u

/* Where one probe each of eight keys falls. */
AVX512 static inline __m512i probe_of_eight(const struct probes *p, __m512i x, uint32_t j)
{
    const __m512i m = _mm512_set1_epi64((long long)p->m);
    const __m512i in_row = p->m >> 32 == 0 ? mulhi_short(x, m) : mulhi(x, m);
    return _mm512_add_epi64(in_row, _mm512_set1_epi64((long long)(j * p->stride)));
}

AVX512 static inline __m512i next_of_eight(__m512i x, __m512i hi)
{
    const __m512i c = _mm512_set1_epi64((long long)TAMIS__PROBE_MULTIPLIER);
    return _mm512_add_epi64(_mm512_mullo_epi64(x, c), hi);
}

/* Eight keys of a query: the next probes, and the keys whose bits were all set so far. */
struct asked {
    __m512i x, hi;
    __mmask8 all;
};

AVX512 static inline void test_probes(const uint8_t *rows, const struct probes *p, uint32_t from,
                                      uint32_t to, struct asked *a)
{
    const __m512i one = _mm512_set1_epi64(1);
    for (uint32_t j = from; j < to; j++) {
        const __m512i at = probe_of_eight(p, a->x, j);
        const __m512i words = gather(rows, _mm512_srli_epi64(at, 6));
        a->all = _mm512_mask_test_epi64_mask(a->all, words, _mm512_rolv_epi64(one, at));
        a->x = next_of_eight(a->x, a->hi);
    }
}

/* The keys that passed their first probes, side by side, and their numbers. */
struct passed {
    uint64_t x[ASKED + 8], hi[ASKED + 8], number[ASKED + 8];
    size_t n;
};

AVX512_POPCNT static inline void passed_add(struct passed *s, const struct asked *a, size_t first)
{
    const __m512i number = _mm512_add_epi64(_mm512_set1_epi64((long long)first),
                                            _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    _mm512_storeu_si512(s->x + s->n, _mm512_maskz_compress_epi64(a->all, a->x));
    _mm512_storeu_si512(s->hi + s->n, _mm512_maskz_compress_epi64(a->all, a->hi));
    _mm512_storeu_si512(s->number + s->n, _mm512_maskz_compress_epi64(a->all, number));
    s->n += (size_t)_mm_popcnt_u32(a->all);
}

/* Tests the other probes of those keys. Returns the ones that pass, by their numbers. */
AVX512 static inline uint64_t test_others(const uint8_t *rows, const struct probes *p,
                                          const struct passed *s)
{
    __m512i answers = _mm512_setzero_si512();
    for (size_t i = 0; i < s->n; i += 8) {
        struct asked a = {_mm512_loadu_si512(s->x + i), _mm512_loadu_si512(s->hi + i), 0xff};
        if (s->n - i < 8) a.all = (__mmask8)((1u << (s->n - i)) - 1);
        a.x = _mm512_maskz_mov_epi64(a.all, a.x); /* any probes that are within the rows */
        a.hi = _mm512_maskz_mov_epi64(a.all, a.hi);
        test_probes(rows, p, TAMIS__FIRST_PROBES, p->k, &a);
        const __m512i bit =
            _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_loadu_si512(s->number + i));
        answers = _mm512_mask_or_epi64(answers, a.all, answers, bit);
    }
    return (uint64_t)_mm512_reduce_or_epi64(answers);
}

/* Eight keys whose probes are being prefetched. */
struct upcoming {
    __m512i x, hi;
    uint32_t j; /* the next probe */
};

AVX512 static inline struct upcoming upcoming_open(const tamis_hash *h)
{
    return (struct upcoming){low_halves(h), high_halves(h), 0};
}

/* Prefetches the probes up to this one. */
AVX512 static inline void prefetch_upcoming(const uint8_t *rows, const struct probes *p,
                                            struct upcoming *u, uint32_t to)
{
    for (; u->j < to; u->j++, u->x = next_of_eight(u->x, u->hi)) {
        uint64_t at[8];
        _mm512_storeu_si512(at, _mm512_srli_epi64(probe_of_eight(p, u->x, u->j), 3));
        for (unsigned l = 0; l < 8; l++) TAMIS__PREFETCH(rows + at[l]);
    }
}

/* Answers eight keys or more, at most ASKED. */
AVX512_POPCNT static uint64_t query_asked(const uint8_t *rows, const struct probes *p,
                                          const tamis_hash *h, const tamis_hash *ahead, size_t n)
{
    struct passed s;
    uint64_t answers = 0;
    s.n = 0;
    for (size_t i = 0; i < n; i += 8) {
        struct asked a = {low_halves(h + i), high_halves(h + i), 0xff};
        test_probes(rows, p, 0, p->k < TAMIS__FIRST_PROBES ? p->k : TAMIS__FIRST_PROBES, &a);
        if (p->k <= TAMIS__FIRST_PROBES)
            answers |= (uint64_t)a.all << i;
        else
            passed_add(&s, &a, i);
        if (ahead == NULL) continue;
        struct upcoming u = upcoming_open(ahead + i);
        prefetch_upcoming(rows, p, &u, tamis__fetched_probes(p));
    }
    return s.n != 0 ? test_others(rows, p, &s) : answers;
}

AVX512_POPCNT static void avx512_probe_query(const uint8_t *rows, const struct probes *p,
                                             const tamis_hash *h, const tamis_hash *ahead, size_t n,
                                             uint8_t *bits)
{
    const struct probes own = *p; /* a copy that the stores cannot alias */
    for (size_t some; n >= 8; n -= some, h += some, bits += some / 8) {
        some = n < ASKED ? n / 8 * 8 : ASKED;
        const uint64_t answers = query_asked(rows, &own, h, ahead, some);
        memcpy(bits, &answers, some / 8);
        if (ahead != NULL) ahead += some;
    }
    if (n != 0) tamis__probe_query(rows, p, h, ahead, n, bits);
}

AVX512 static void probe_prefetch(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                  size_t n)
{
    const struct probes own = *p;
    for (; n >= 8; n -= 8, h += 8) {
        struct upcoming u = upcoming_open(h);
        prefetch_upcoming(rows, &own, &u, own.k);
    }
    if (n != 0) tamis__probe_prefetch(rows, p, h, n);
}

/* There is no scatter of bits, and each key must find what the keys before it set. So only the
 * positions are computed side by side. */
struct spots {
    uint64_t byte[64][8];
    uint8_t bit[64][8];
};

AVX512 static inline void find_spots(const struct probes *p, const tamis_hash *h, struct spots *s)
{
    const __m512i hi = high_halves(h), one = _mm512_set1_epi64(1), low = _mm512_set1_epi64(7);
    __m512i x = low_halves(h);
    for (uint32_t j = 0; j < p->k; j++, x = next_of_eight(x, hi)) {
        const __m512i at = probe_of_eight(p, x, j);
        const __m512i bit = _mm512_sllv_epi64(one, _mm512_and_si512(at, low));
        _mm512_storeu_si512(s->byte[j], _mm512_srli_epi64(at, 3));
        _mm_storel_epi64((__m128i *)(void *)s->bit[j], _mm512_cvtepi64_epi8(bit));
    }
}

AVX512 static void avx512_probe_add(uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                    const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    const struct probes own = *p; /* a copy that the stores cannot alias */
    struct spots s;
    for (; n >= 8; n -= 8, h += 8) {
        unsigned answers = 0;
        struct upcoming next = upcoming_open(ahead != NULL ? ahead : h);
        find_spots(&own, h, &s);
        for (unsigned l = 0; l < 8; l++) {
            unsigned missing = 0;
            if (ahead != NULL) prefetch_upcoming(rows, &own, &next, own.k * (l + 1) / 8);
            for (uint32_t j = 0; j < own.k; j++) {
                uint8_t *byte = rows + s.byte[j][l];
                const unsigned old = *byte, sum = old | s.bit[j][l];
                *byte = (uint8_t)sum;
                missing |= old ^ sum;
            }
            answers |= (unsigned)(missing == 0) << l;
        }
        *seen++ = (uint8_t)answers;
        if (ahead != NULL) ahead += 8;
    }
    if (n != 0) tamis__probe_add(rows, p, h, ahead, n, seen);
}

/* --- Compact lines ---------------------------------------------------------------------------- */

/* The line is a table of eight words, from which the top three bits of each position select. */
AVX512 static void avx512_compact_query(const uint8_t *table, uint64_t lines, uint32_t k,
                                        const tamis_hash *h, size_t n, uint8_t *bits)
{
    if (n < 4) {
        tamis__compact_query(table, lines, k, h, n, bits);
        return;
    }
    const __m512i one = _mm512_set1_epi64(1);
    struct powers powers;
    fill_powers(&powers, (k + 7) / 8 * 8);
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const __m512i line = load_line(table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES);
        const __m512i lo = _mm512_set1_epi64((long long)h[i].lo);
        const __m512i hi = _mm512_set1_epi64((long long)h[i].hi);
        unsigned missing = 0;
        for (unsigned j = 0; j < k; j += 8) {
            const __mmask8 live = (__mmask8)(k - j >= 8 ? 0xff : (1u << (k - j)) - 1);
            const __m512i x =
                _mm512_add_epi64(_mm512_mullo_epi64(lo, _mm512_loadu_si512(powers.lo + j)),
                                 _mm512_mullo_epi64(hi, _mm512_loadu_si512(powers.hi + j)));
            const __m512i at = _mm512_srli_epi64(x, 55);
            const __m512i words = _mm512_permutexvar_epi64(_mm512_srli_epi64(at, 6), line);
            missing |= _mm512_mask_testn_epi64_mask(live, words, _mm512_rolv_epi64(one, at));
        }
        bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)(missing == 0) << i % 8);
    }
}

/* --- SipHash, eight keys at once -------------------------------------------------------------- */

#define LANES 8
#define TARGET AVX512
#include "siphash_lanes.h"

#define COMMON                                                                                     \
    .name = "avx512", .probe_prefetch = probe_prefetch, .probe_add = avx512_probe_add,             \
    .probe_query = avx512_probe_query, .line_add = avx512_line_add,                                \
    .line_query = avx512_line_query, .line_query_any = avx512_line_query_any,                      \
    .line_single = &tamis__line_single_avx2, .packed_add = avx512_packed_add,                      \
    .compact_add = tamis__compact_add, .compact_query = avx512_compact_query,                      \
    .fuse_aim = tamis__fuse_aim_avx512, .fuse_query = tamis__fuse_ask_avx512,                      \
    .tally_add = tamis__tally_add_avx512, .registers_know = tamis__registers_know_avx512,          \
    .bits = TAMIS__BITS_PDEP, AVX512_LOCKED, .siphash = siphash_lanes_8,                           \
    .xxh3_words = tamis__xxh3_words_avx512, .xxh3_rows = tamis__xxh3_rows_avx512,                  \
    .xxh3_short = tamis__xxh3_short_avx512, .xxh3_long = tamis__xxh3_long_avx512

const struct kernels tamis__avx512 = {
    COMMON,
    .ribbon_aim = tamis__ribbon_aim_avx2,
    .ribbon_query = tamis__ribbon_ask_avx2,
    .ribbon_single = &tamis__ribbon_single_avx2,
    .ribbon_solve = tamis__ribbon_solve_avx2,
    .ribbon_sums = tamis__ribbon_sums_avx2,
};

const struct kernels tamis__avx512_bits = {
    COMMON,
    .ribbon_aim = tamis__ribbon_aim_avx512,
    .ribbon_query = tamis__ribbon_ask_avx512,
    .ribbon_single = &tamis__ribbon_single_avx2,
    .ribbon_solve = tamis__ribbon_solve_avx512,
    .ribbon_sums = tamis__ribbon_sums_avx512,
};

#endif
