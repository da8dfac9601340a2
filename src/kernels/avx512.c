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

AVX512 static void avx512_line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                                     const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (; n >= 8; n -= 8, h += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= avx512_query_one(table, lines, h[j]) << 8 * j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        if (ahead != NULL) ahead += 8;
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

AVX512 static void avx512_line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                                   const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    for (; n >= 8; n -= 8, h += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= avx512_add_one(table, lines, h[j]) << 8 * j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        if (ahead != NULL) ahead += 8;
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

/* A gather is no faster than eight loads, and there is no scatter of bits. So only the positions
 * are computed side by side. */
struct prober {
    struct powers powers;
    uint64_t starts[64]; /* start of each row */
    uint32_t k, rounded; /* rounded up to whole registers */
    __m512i m;
    bool is_short;
};

AVX512 static inline void prober_open(struct prober *r, const struct probes *p)
{
    r->k = p->k;
    r->rounded = (p->k + 7) / 8 * 8;
    r->m = _mm512_set1_epi64((long long)p->m);
    r->is_short = p->m >> 32 == 0;
    fill_powers(&r->powers, r->rounded);
    for (unsigned j = 0; j < r->rounded; j++) r->starts[j] = j * p->stride;
}

/* Stores the positions of a key, and some more after the last. */
AVX512 static inline void avx512_aim(const struct prober *r, tamis_hash h, uint64_t at[64])
{
    const __m512i lo = _mm512_set1_epi64((long long)h.lo), hi = _mm512_set1_epi64((long long)h.hi);
    for (unsigned j = 0; j < r->rounded; j += 8) {
        const __m512i x =
            _mm512_add_epi64(_mm512_mullo_epi64(lo, _mm512_loadu_si512(r->powers.lo + j)),
                             _mm512_mullo_epi64(hi, _mm512_loadu_si512(r->powers.hi + j)));
        const __m512i in_row = r->is_short ? mulhi_short(x, r->m) : mulhi(x, r->m);
        _mm512_storeu_si512(at + j, _mm512_add_epi64(_mm512_loadu_si512(r->starts + j), in_row));
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

/* Answers eight keys or more, at most ASKED. */
AVX512_POPCNT static uint64_t query_asked(const uint8_t *rows, const struct probes *p,
                                          const tamis_hash *h, size_t n)
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
    }
    return s.n != 0 ? test_others(rows, p, &s) : answers;
}

AVX512_POPCNT static void avx512_probe_query(const uint8_t *rows, const struct probes *p,
                                             const tamis_hash *h, size_t n, uint8_t *bits)
{
    const struct probes own = *p; /* a copy that the stores cannot alias */
    for (size_t some; n >= 8; n -= some, h += some, bits += some / 8) {
        some = n < ASKED ? n / 8 * 8 : ASKED;
        const uint64_t answers = query_asked(rows, &own, h, some);
        memcpy(bits, &answers, some / 8);
    }
    if (n != 0) tamis__probe_query(rows, p, h, n, bits);
}

AVX512 static void probe_prefetch(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                  size_t n)
{
    const struct probes own = *p;
    for (; n >= 8; n -= 8, h += 8) {
        const __m512i hi = high_halves(h);
        __m512i x = low_halves(h);
        for (uint32_t j = 0; j < own.k; j++, x = next_of_eight(x, hi)) {
            uint64_t at[8];
            _mm512_storeu_si512(at, _mm512_srli_epi64(probe_of_eight(&own, x, j), 3));
            for (unsigned l = 0; l < 8; l++) TAMIS__PREFETCH(rows + at[l]);
        }
    }
    if (n != 0) tamis__probe_prefetch(rows, p, h, n);
}

AVX512 static void avx512_probe_add(uint8_t *rows, const struct probes *p, const tamis_hash *h,
                                    size_t n, uint8_t *seen)
{
    if (n < 4) {
        tamis__probe_add(rows, p, h, n, seen);
        return;
    }
    struct prober r;
    prober_open(&r, p);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t at[8][64];
        unsigned answers = 0;
        const unsigned few = n - i < 8 ? (unsigned)(n - i) : 8;
        for (unsigned l = 0; l < few; l++) avx512_aim(&r, h[i + l], at[l]);
        for (unsigned l = 0; l < few; l++) {
            unsigned all = 1;
            for (uint32_t j = 0; j < r.k; j++) {
                uint8_t *byte = rows + (at[l][j] >> 3);
                all &= (unsigned)*byte >> (at[l][j] & 7);
                *byte = (uint8_t)(*byte | 1u << (at[l][j] & 7));
            }
            answers |= all << l;
        }
        seen[i / 8] = (uint8_t)answers;
    }
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

/* --- XXH3 of eight words at once -------------------------------------------------------------- */

AVX512 static inline void store_hashes(__m512i lo, __m512i hi, tamis_hash *out)
{
    const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi64(lo, first, hi));
    _mm512_storeu_si512(out + 4, _mm512_permutex2var_epi64(lo, second, hi));
}

/* Computes both halves of the 128-bit products x·m, as mulhi does. The low half takes two more
 * instructions, while a product of 64 bits takes three on Intel's processors. */
AVX512 static inline void product(__m512i x, __m512i m, __m512i *lo, __m512i *hi)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const __m512i xh = _mm512_srli_epi64(x, 32), mh = _mm512_srli_epi64(m, 32);
    const __m512i ll = _mm512_mul_epu32(x, m), lh = _mm512_mul_epu32(x, mh);
    const __m512i hl = _mm512_mul_epu32(xh, m), hh = _mm512_mul_epu32(xh, mh);
    const __m512i t = _mm512_add_epi64(hl, _mm512_srli_epi64(ll, 32));
    const __m512i w = _mm512_add_epi64(lh, _mm512_and_si512(t, low));
    *hi =
        _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(t, 32)), _mm512_srli_epi64(w, 32));
    *lo = _mm512_mask_blend_epi32(0x5555, _mm512_slli_epi64(w, 32), ll);
}

/* XXH3_len_4to8_128b of xxHash for a length of 8, in eight lanes. The constants are those of
 * xxHash: two words of the secret combined, PRIME64_1 + (8 << 2), and the multipliers of its
 * finalization. */
AVX512 static inline void hash_words(__m512i words, __m512i flip, tamis_hash *out)
{
    const __m512i prime = _mm512_set1_epi64((long long)UINT64_C(0x9e3779b185ebcaa7));
    const __m512i mix_lo = _mm512_set1_epi64((long long)UINT64_C(0x9fb21c651e98df25));
    const __m512i mix_hi = _mm512_set1_epi64((long long)UINT64_C(0x165667919e3779f9));
    const __m512i keyed = _mm512_xor_si512(words, flip);
    __m512i lo, hi;
    product(keyed, prime, &lo, &hi);
    hi = _mm512_add_epi64(hi, _mm512_slli_epi64(lo, 1));
    lo = _mm512_xor_si512(lo, _mm512_srli_epi64(hi, 3));
    lo = _mm512_mullo_epi64(_mm512_xor_si512(lo, _mm512_srli_epi64(lo, 35)), mix_lo);
    lo = _mm512_xor_si512(lo, _mm512_srli_epi64(lo, 28));
    hi = _mm512_mullo_epi64(_mm512_xor_si512(hi, _mm512_srli_epi64(hi, 37)), mix_hi);
    hi = _mm512_xor_si512(hi, _mm512_srli_epi64(hi, 32));
    store_hashes(lo, hi, out);
}

AVX512 static inline __m512i word_flip(uint64_t seed)
{
    const uint64_t mixed = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    return _mm512_set1_epi64((long long)(UINT64_C(0xc4f023344dc994ac) + mixed));
}

AVX512 static size_t xxh3_words(uint64_t seed, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i steps = _mm512_set_epi64(56, 48, 40, 32, 24, 16, 8, 0);
    const __m512i flip = word_flip(seed);
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        const __m512i a = _mm512_loadu_si512(keys + i), b = _mm512_loadu_si512(keys + i + 4);
        const __m512i from = _mm512_permutex2var_epi64(a, even, b);
        const __m512i lengths = _mm512_permutex2var_epi64(a, odd, b);
        if (_mm512_cmpneq_epi64_mask(lengths, _mm512_set1_epi64(8)) != 0) break;
        /* Usually the keys are an array, and one load is cheaper than a gather. */
        const __m512i in_a_row =
            _mm512_add_epi64(_mm512_set1_epi64((long long)(uintptr_t)keys[i].p), steps);
        const __m512i words = _mm512_cmpneq_epi64_mask(from, in_a_row) == 0
                                  ? _mm512_loadu_si512(keys[i].p)
                                  : gather_at(from);
        hash_words(words, flip, out + i);
    }
    return i;
}

AVX512 static size_t xxh3_rows(uint64_t seed, const uint8_t *words, size_t n, tamis_hash *out)
{
    const __m512i flip = word_flip(seed);
    size_t i = 0;
    for (; n - i >= 8; i += 8) hash_words(_mm512_loadu_si512(words + 8 * i), flip, out + i);
    return i;
}

/* Transposes eight rows of words into columns. */
AVX512 static inline void transpose(__m512i r[8])
{
    __m512i a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            b[4 * i + j] = _mm512_shuffle_i64x2(a[4 * i + j], a[4 * i + j + 2], 0x88);
            b[4 * i + j + 2] = _mm512_shuffle_i64x2(a[4 * i + j], a[4 * i + j + 2], 0xdd);
        }
    for (int j = 0; j < 4; j++) {
        r[j] = _mm512_shuffle_i64x2(b[j], b[j + 4], 0x88);
        r[j + 4] = _mm512_shuffle_i64x2(b[j], b[j + 4], 0xdd);
    }
}

/* Computes XXH3's mix16B: both halves of a 128-bit product, folded. */
AVX512 static inline __m512i mix(__m512i a, __m512i b, const uint64_t secret[2])
{
    const __m512i x = _mm512_xor_si512(a, _mm512_set1_epi64((long long)secret[0]));
    const __m512i y = _mm512_xor_si512(b, _mm512_set1_epi64((long long)secret[1]));
    return _mm512_xor_si512(mulhi(x, y), _mm512_mullo_epi64(x, y));
}

AVX512 static inline __m512i avalanche(__m512i x)
{
    const __m512i by = _mm512_set1_epi64((long long)UINT64_C(0x165667919e3779f9));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 37)), by);
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
}

/* XXH3_len_17to128_128b of xxHash ends like this. */
AVX512 static inline void finish_lanes(__m512i lo, __m512i hi, __m512i length, uint64_t seed,
                                       tamis_hash *out)
{
    const __m512i prime1 = _mm512_set1_epi64((long long)UINT64_C(0x9e3779b185ebca87));
    const __m512i prime2 = _mm512_set1_epi64((long long)UINT64_C(0xc2b2ae3d27d4eb4f));
    const __m512i prime4 = _mm512_set1_epi64((long long)UINT64_C(0x85ebca77c2b2ae63));
    const __m512i seeded = _mm512_sub_epi64(length, _mm512_set1_epi64((long long)seed));
    const __m512i sum = _mm512_add_epi64(
        _mm512_add_epi64(_mm512_mullo_epi64(lo, prime1), _mm512_mullo_epi64(hi, prime4)),
        _mm512_mullo_epi64(seeded, prime2));
    store_hashes(avalanche(_mm512_add_epi64(lo, hi)),
                 _mm512_sub_epi64(_mm512_setzero_si512(), avalanche(sum)), out);
}

AVX512 static inline __m512i scaled_length(__m512i length)
{
    return _mm512_mullo_epi64(length, _mm512_set1_epi64((long long)UINT64_C(0x9e3779b185ebca87)));
}

AVX512 static inline __m128i load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The first and the last 16 bytes of two keys. */
AVX512 static inline __m512i two_ends(const uint8_t *a, uint64_t a_length, const uint8_t *b,
                                      uint64_t b_length)
{
    const __m256i x =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(a)), load_16(a + a_length - 16), 1);
    const __m256i y =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(b)), load_16(b + b_length - 16), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1);
}

/* For lengths of 17 to 32: each word of both ends is in a register. */
AVX512 static void xxh3_short(uint64_t seed, const uint8_t *const p[8], const uint64_t n[8],
                              tamis_hash *out)
{
    const uint64_t secret[4] = {
        UINT64_C(0xbe4ba423396cfeb8) + seed, UINT64_C(0x1cad21f72c81017c) - seed,
        UINT64_C(0xdb979083e96dd4de) + seed, UINT64_C(0x1f67b3b7a4a44072) - seed};
    const __m512i r0 = two_ends(p[0], n[0], p[2], n[2]), r1 = two_ends(p[1], n[1], p[3], n[3]);
    const __m512i r2 = two_ends(p[4], n[4], p[6], n[6]), r3 = two_ends(p[5], n[5], p[7], n[7]);
    const __m512i even0 = _mm512_unpacklo_epi64(r0, r1), odd0 = _mm512_unpackhi_epi64(r0, r1);
    const __m512i even1 = _mm512_unpacklo_epi64(r2, r3), odd1 = _mm512_unpackhi_epi64(r2, r3);
    const __m512i w0 = _mm512_shuffle_i64x2(even0, even1, 0x88);
    const __m512i w1 = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
    const __m512i w2 = _mm512_shuffle_i64x2(even0, even1, 0xdd);
    const __m512i w3 = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
    const __m512i length = _mm512_loadu_si512(n);
    const __m512i lo = _mm512_add_epi64(scaled_length(length), mix(w0, w1, secret));
    const __m512i hi = mix(w2, w3, secret + 2);
    finish_lanes(_mm512_xor_si512(lo, _mm512_add_epi64(w2, w3)),
                 _mm512_xor_si512(hi, _mm512_add_epi64(w0, w1)), length, seed, out);
}

/* For lengths of 33 to 64: each word of the first and of the last 32 bytes is in a register. */
AVX512 static void xxh3_long(uint64_t seed, const uint8_t *const p[8], const uint64_t n[8],
                             tamis_hash *out)
{
    const uint64_t secret[8] = {
        UINT64_C(0xbe4ba423396cfeb8) + seed, UINT64_C(0x1cad21f72c81017c) - seed,
        UINT64_C(0xdb979083e96dd4de) + seed, UINT64_C(0x1f67b3b7a4a44072) - seed,
        UINT64_C(0x78e5c0cc4ee679cb) + seed, UINT64_C(0x2172ffcc7dd05a82) - seed,
        UINT64_C(0x8e2443f7744608b8) + seed, UINT64_C(0x4c263a81e69035e0) - seed};
    __m512i w[8];
    for (int i = 0; i < 8; i++)
        w[i] = _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p[i])),
            _mm256_loadu_si256((const __m256i *)(const void *)(p[i] + n[i] - 32)), 1);
    transpose(w);
    const __m512i length = _mm512_loadu_si512(n);
    __m512i lo = _mm512_add_epi64(scaled_length(length), mix(w[2], w[3], secret + 4));
    __m512i hi = mix(w[4], w[5], secret + 6);
    lo = _mm512_xor_si512(lo, _mm512_add_epi64(w[4], w[5]));
    hi = _mm512_xor_si512(hi, _mm512_add_epi64(w[2], w[3]));
    lo = _mm512_add_epi64(lo, mix(w[0], w[1], secret));
    hi = _mm512_add_epi64(hi, mix(w[6], w[7], secret + 2));
    finish_lanes(_mm512_xor_si512(lo, _mm512_add_epi64(w[6], w[7])),
                 _mm512_xor_si512(hi, _mm512_add_epi64(w[0], w[1])), length, seed, out);
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
    .tally_add = tamis__tally_add_avx512, AVX512_LOCKED, .siphash = siphash_lanes_8,               \
    .xxh3_words = xxh3_words, .xxh3_rows = xxh3_rows, .xxh3_short = xxh3_short,                    \
    .xxh3_long = xxh3_long

const struct kernels tamis__avx512 = {
    COMMON,
    .ribbon_aim = tamis__ribbon_aim_avx2,
    .ribbon_query = tamis__ribbon_ask_avx2,
    .ribbon_single = &tamis__ribbon_single_avx2,
    .ribbon_solve = tamis__ribbon_solve_avx2,
};

const struct kernels tamis__avx512_bits = {
    COMMON,
    .ribbon_aim = tamis__ribbon_aim_avx512,
    .ribbon_query = tamis__ribbon_ask_avx512,
    .ribbon_single = &tamis__ribbon_single_avx2,
    .ribbon_solve = tamis__ribbon_solve_avx512,
};

#endif
