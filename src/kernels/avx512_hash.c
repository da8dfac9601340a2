/* XXH3 for AVX-512, of eight keys at once. */
#include "avx512.h"

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)

AVX512 static inline void store_hashes(__m512i lo, __m512i hi, tamis_hash *out)
{
    const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi64(lo, first, hi));
    _mm512_storeu_si512(out + 4, _mm512_permutex2var_epi64(lo, second, hi));
}

/* A constant in a register. GCC would load it again for each use, with instructions that compete
 * with the arithmetic. */
AVX512 static inline __m512i constant(uint64_t word)
{
    __m512i v = _mm512_set1_epi64((long long)word);
    __asm__("" : "+v"(v));
    return v;
}

/* XXH3_len_4to8_128b of xxHash for a length of 8, in eight lanes. The constants are those of
 * xxHash: two words of the secret combined with the seed, PRIME64_1 + (8 << 2), of which the upper
 * half is also alone, and the multipliers of its finalization. */
struct word_hash {
    __m512i flip, prime, prime_high, mix_lo, mix_hi, low;
};

AVX512 static inline struct word_hash word_hash_open(uint64_t seed)
{
    const uint64_t mixed = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    return (struct word_hash){.flip = constant(UINT64_C(0xc4f023344dc994ac) + mixed),
                              .prime = constant(UINT64_C(0x9e3779b185ebcaa7)),
                              .prime_high = constant(UINT64_C(0x9e3779b1)),
                              .mix_lo = constant(UINT64_C(0x9fb21c651e98df25)),
                              .mix_hi = constant(UINT64_C(0x165667919e3779f9)),
                              .low = constant(0xffffffff)};
}

/* Computes both halves of the 128-bit products with the prime, as mulhi does. The low half takes
 * two more instructions, while a product of 64 bits takes three on Intel's processors. */
AVX512 static inline void word_product(const struct word_hash *c, __m512i x, __m512i *lo,
                                       __m512i *hi)
{
    const __m512i xh = _mm512_srli_epi64(x, 32);
    const __m512i ll = _mm512_mul_epu32(x, c->prime), lh = _mm512_mul_epu32(x, c->prime_high);
    const __m512i hl = _mm512_mul_epu32(xh, c->prime), hh = _mm512_mul_epu32(xh, c->prime_high);
    const __m512i t = _mm512_add_epi64(hl, _mm512_srli_epi64(ll, 32));
    const __m512i w = _mm512_add_epi64(lh, _mm512_and_si512(t, c->low));
    *hi =
        _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(t, 32)), _mm512_srli_epi64(w, 32));
    *lo = _mm512_ternarylogic_epi64(_mm512_slli_epi64(w, 32), ll, c->low, 0xf8); /* a | (b & c) */
}

AVX512 static inline void hash_words(const struct word_hash *c, __m512i words, tamis_hash *out)
{
    __m512i lo, hi;
    word_product(c, _mm512_xor_si512(words, c->flip), &lo, &hi);
    hi = _mm512_add_epi64(hi, _mm512_slli_epi64(lo, 1));
    lo = _mm512_xor_si512(lo, _mm512_srli_epi64(hi, 3));
    lo = _mm512_mullo_epi64(_mm512_xor_si512(lo, _mm512_srli_epi64(lo, 35)), c->mix_lo);
    lo = _mm512_xor_si512(lo, _mm512_srli_epi64(lo, 28));
    hi = _mm512_mullo_epi64(_mm512_xor_si512(hi, _mm512_srli_epi64(hi, 37)), c->mix_hi);
    hi = _mm512_xor_si512(hi, _mm512_srli_epi64(hi, 32));
    store_hashes(lo, hi, out);
}

/* Usually keys are an array, and one load is cheaper than a gather. Reports whether each of eight
 * keys is 8 bytes after the one before and has its length. */
AVX512 static inline bool are_in_a_row(const tamis_bytes *keys)
{
    const __m512i first =
        _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)(const void *)keys));
    const __m512i a = _mm512_add_epi64(first, _mm512_set_epi64(0, 24, 0, 16, 0, 8, 0, 0));
    const __m512i b = _mm512_add_epi64(first, _mm512_set_epi64(0, 56, 0, 48, 0, 40, 0, 32));
    return _kortestz_mask8_u8(_mm512_cmpneq_epi64_mask(_mm512_loadu_si512(keys), a),
                              _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(keys + 4), b)) != 0;
}

/* Collects eight words of 8 bytes that are anywhere. False if a key has another length. */
AVX512 static inline bool collect_words(const tamis_bytes *keys, __m512i *words)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i a = _mm512_loadu_si512(keys), b = _mm512_loadu_si512(keys + 4);
    const __m512i lengths = _mm512_permutex2var_epi64(a, odd, b);
    if (_mm512_cmpneq_epi64_mask(lengths, _mm512_set1_epi64(8)) != 0) return false;
    *words = gather_at(_mm512_permutex2var_epi64(a, even, b));
    return true;
}

AVX512 size_t tamis__xxh3_words_avx512(uint64_t seed, const tamis_bytes *keys, size_t n,
                                       tamis_hash *out)
{
    const struct word_hash c = word_hash_open(seed);
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        __m512i words;
        if (keys[i].len == 8 && are_in_a_row(keys + i))
            words = _mm512_loadu_si512(keys[i].p);
        else if (!collect_words(keys + i, &words))
            break;
        hash_words(&c, words, out + i);
    }
    return i;
}

AVX512 size_t tamis__xxh3_rows_avx512(uint64_t seed, const uint8_t *words, size_t n,
                                      tamis_hash *out)
{
    const struct word_hash c = word_hash_open(seed);
    size_t i = 0;
    for (; n - i >= 8; i += 8) hash_words(&c, _mm512_loadu_si512(words + 8 * i), out + i);
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
AVX512 void tamis__xxh3_short_avx512(uint64_t seed, const uint8_t *const p[8], const uint64_t n[8],
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
AVX512 void tamis__xxh3_long_avx512(uint64_t seed, const uint8_t *const p[8], const uint64_t n[8],
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

#endif
