/* Kernels for AVX-512: a line of the blocked filter is one register, eight probes of a classic one are
 * another. Function-level target attributes, so that no compiler flag is needed; cpu.c hands this table out
 * only where the processor has the instructions. */
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

/* --- Lines ------------------------------------------------------------------------------------------------- */

/* One bit in each word: 1 rotated by the word's six bits of lo. A rotate takes its count modulo 64, so
 * the bits above need no mask. */
AVX512 static inline __m512i line_mask(uint64_t lo)
{
    const __m512i shifts = _mm512_set_epi64(42, 36, 30, 24, 18, 12, 6, 0);
    return _mm512_rolv_epi64(_mm512_set1_epi64(1),
                             _mm512_srlv_epi64(_mm512_set1_epi64((long long)lo), shifts));
}

/* In two halves: on Zen 4, waiting for a line with one load of 64 bytes costs a third more than with two
 * (6.6 against 4.9 ns a key in 120 MB), and where nothing waits it is the same. */
AVX512 static inline __m512i load_line(const uint8_t *line)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_load_si256((const __m256i *)(const void *)line)),
        _mm256_load_si256((const __m256i *)(const void *)(line + 32)), 1);
}

/* The words of a key's line that lack its bit. */
AVX512 static inline uint64_t query_one(const uint8_t *table, uint64_t lines, tamis_hash h)
{
    const uint8_t *line = table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES;
    return _mm512_testn_epi64_mask(load_line(line), line_mask(h.lo));
}

AVX512 static inline uint64_t add_to_line(uint8_t *line, uint64_t lo)
{
    const __m512i old = load_line(line), mask = line_mask(lo);
    _mm512_store_si512(line, _mm512_or_si512(old, mask));
    return _mm512_testn_epi64_mask(old, mask);
}

AVX512 static inline uint64_t add_one(uint8_t *table, uint64_t lines, tamis_hash h)
{
    return add_to_line(table + tamis__line_of(h, lines) * TAMIS__LINE_BYTES, h.lo);
}

/* From a byte of missing words for each of eight keys: which have none. */
AVX512 static inline uint8_t complete(uint64_t missing)
{
    const __m128i zero = _mm_setzero_si128();
    return (uint8_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_set_epi64x(-1, (long long)missing), zero));
}

AVX512 static void line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                              const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    for (; n >= 8; n -= 8, h += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= query_one(table, lines, h[j]) << 8 * j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        if (ahead != NULL) ahead += 8;
        *bits++ = complete(missing);
    }
    if (n == 0) return;
    *bits = 0;
    for (unsigned j = 0; j < n; j++) *bits |= (uint8_t)((query_one(table, lines, h[j]) == 0) << j);
}

AVX512 static void line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                            const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    for (; n >= 8; n -= 8, h += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= add_one(table, lines, h[j]) << 8 * j;
            if (ahead != NULL) TAMIS__PREFETCH(table + tamis__line_of(ahead[j], lines) * 64);
        }
        if (ahead != NULL) ahead += 8;
        *seen++ = complete(missing);
    }
    if (n == 0) return;
    *seen = 0;
    for (unsigned j = 0; j < n; j++) *seen |= (uint8_t)((add_one(table, lines, h[j]) == 0) << j);
}

AVX512 static void packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    for (; n >= 8; n -= 8, words += 8) {
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            missing |= add_to_line(tamis__packed_line(table, words[j]), words[j]) << 8 * j;
            if (n >= TAMIS__PACKED_AHEAD + 8)
                TAMIS__PREFETCH(tamis__packed_line(table, words[j + TAMIS__PACKED_AHEAD]));
        }
        *seen++ = complete(missing);
    }
    if (n == 0) return;
    *seen = 0;
    for (unsigned j = 0; j < n; j++)
        *seen |= (uint8_t)((add_to_line(tamis__packed_line(table, words[j]), words[j]) == 0) << j);
}

/* --- Probes ------------------------------------------------------------------------------------------------- */

/* Probe j of a key is x[j] = C^j·lo + (1 + C + ... + C^(j-1))·hi: the recurrence of tamis__next_probe,
 * unrolled, so that eight probes are computed side by side. */
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

/* High halves of the 128-bit products x·m, from four products of 32-bit halves. */
AVX512 static inline __m512i mulhi(__m512i x, __m512i m)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const __m512i xh = _mm512_srli_epi64(x, 32), mh = _mm512_srli_epi64(m, 32);
    const __m512i ll = _mm512_mul_epu32(x, m), lh = _mm512_mul_epu32(x, mh);
    const __m512i hl = _mm512_mul_epu32(xh, m), hh = _mm512_mul_epu32(xh, mh);
    const __m512i middle =
        _mm512_add_epi64(_mm512_add_epi64(_mm512_srli_epi64(ll, 32), _mm512_and_si512(lh, low)),
                         _mm512_and_si512(hl, low));
    return _mm512_add_epi64(
        _mm512_add_epi64(hh, _mm512_srli_epi64(lh, 32)),
        _mm512_add_epi64(_mm512_srli_epi64(hl, 32), _mm512_srli_epi64(middle, 32)));
}

/* The same for m below 2^32. */
AVX512 static inline __m512i mulhi_short(__m512i x, __m512i m)
{
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), m);
    return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(_mm512_mul_epu32(x, m), 32)),
                             32);
}

AVX512 static void probe_query(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                               size_t n, uint8_t *bits)
{
    if (n < 4) { /* too few to pay for the powers */
        tamis__probe_query(rows, p, h, n, bits);
        return;
    }
    const __m512i one = _mm512_set1_epi64(1), m = _mm512_set1_epi64((long long)p->m);
    const bool is_short = p->m >> 32 == 0;
    struct powers powers;
    uint64_t starts[64]; /* of the rows */
    fill_powers(&powers, (p->k + 7) / 8 * 8);
    for (unsigned j = 0; j < (p->k + 7) / 8 * 8; j++) starts[j] = j * p->stride;
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const __m512i lo = _mm512_set1_epi64((long long)h[i].lo);
        const __m512i hi = _mm512_set1_epi64((long long)h[i].hi);
        unsigned missing = 0;
        for (unsigned j = 0; j < p->k && missing == 0; j += 8) {
            const __mmask8 live = (__mmask8)(p->k - j >= 8 ? 0xff : (1u << (p->k - j)) - 1);
            const __m512i x =
                _mm512_add_epi64(_mm512_mullo_epi64(lo, _mm512_loadu_si512(powers.lo + j)),
                                 _mm512_mullo_epi64(hi, _mm512_loadu_si512(powers.hi + j)));
            const __m512i at = _mm512_add_epi64(_mm512_loadu_si512(starts + j),
                                                is_short ? mulhi_short(x, m) : mulhi(x, m));
            const __m512i words =
                _mm512_mask_i64gather_epi64(one, live, _mm512_srli_epi64(at, 6), rows, 8);
            missing = _mm512_mask_testn_epi64_mask(live, words, _mm512_rolv_epi64(one, at));
        }
        bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)(missing == 0) << i % 8);
    }
}

/* --- Compact lines ---------------------------------------------------------------------------------------------- */

/* The line is a table of eight words that the top three bits of each position pick from. */
AVX512 static void compact_query(const uint8_t *table, uint64_t lines, uint32_t k,
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

/* --- XXH3 of eight words at once ----------------------------------------------------------------------------------- */

/* XXH3_len_4to8_128b of xxHash for a length of 8, in eight lanes. The constants are its own: two words of
 * the secret combined, PRIME64_1 + (8 << 2), and the multipliers of its finalization. */
AVX512 static size_t xxh3_words(uint64_t seed, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i steps = _mm512_set_epi64(56, 48, 40, 32, 24, 16, 8, 0);
    const uint64_t mixed = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    const __m512i flip = _mm512_set1_epi64((long long)(UINT64_C(0xc4f023344dc994ac) + mixed));
    const __m512i prime = _mm512_set1_epi64((long long)UINT64_C(0x9e3779b185ebcaa7));
    const __m512i mix_lo = _mm512_set1_epi64((long long)UINT64_C(0x9fb21c651e98df25));
    const __m512i mix_hi = _mm512_set1_epi64((long long)UINT64_C(0x165667919e3779f9));
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        const __m512i a = _mm512_loadu_si512(keys + i), b = _mm512_loadu_si512(keys + i + 4);
        const __m512i from = _mm512_permutex2var_epi64(a, even, b);
        const __m512i lengths = _mm512_permutex2var_epi64(a, odd, b);
        if (_mm512_cmpneq_epi64_mask(lengths, _mm512_set1_epi64(8)) != 0) break;
        /* Mostly the keys are an array; one load is cheaper than a gather. */
        const __m512i in_a_row =
            _mm512_add_epi64(_mm512_set1_epi64((long long)(uintptr_t)keys[i].p), steps);
        const __m512i words = _mm512_cmpneq_epi64_mask(from, in_a_row) == 0
                                  ? _mm512_loadu_si512(keys[i].p)
                                  : _mm512_i64gather_epi64(from, NULL, 1);
        const __m512i keyed = _mm512_xor_si512(words, flip);
        __m512i lo = _mm512_mullo_epi64(keyed, prime), hi = mulhi(keyed, prime);
        hi = _mm512_add_epi64(hi, _mm512_slli_epi64(lo, 1));
        lo = _mm512_xor_si512(lo, _mm512_srli_epi64(hi, 3));
        lo = _mm512_mullo_epi64(_mm512_xor_si512(lo, _mm512_srli_epi64(lo, 35)), mix_lo);
        lo = _mm512_xor_si512(lo, _mm512_srli_epi64(lo, 28));
        hi = _mm512_mullo_epi64(_mm512_xor_si512(hi, _mm512_srli_epi64(hi, 37)), mix_hi);
        hi = _mm512_xor_si512(hi, _mm512_srli_epi64(hi, 32));
        _mm512_storeu_si512(
            out + i, _mm512_permutex2var_epi64(lo, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), hi));
        _mm512_storeu_si512(out + i + 4, _mm512_permutex2var_epi64(
                                             lo, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), hi));
    }
    return i;
}

/* --- SipHash, eight keys at once ------------------------------------------------------------------------------ */

#define LANES 8
#define TARGET AVX512
#include "siphash_lanes.h"

const struct kernels tamis__avx512 = {
    .name = "avx512",
    .probe_add = tamis__probe_add, /* there is no scatter of single bits */
    .probe_query = probe_query,
    .line_add = line_add,
    .line_query = line_query,
    .packed_add = packed_add,
    .compact_add = tamis__compact_add,
    .compact_query = compact_query,
    .siphash = siphash_lanes,
    .xxh3_words = xxh3_words,
};

#endif
