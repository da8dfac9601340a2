/* SHA-256 (FIPS 180-4) for the browser's build, which has no nettle. */
#include "../guard/url/hash.h"

#include <string.h>

#define BLOCK 64u

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t get(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_word(uint8_t *p, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void absorb(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], s[8];
    for (unsigned i = 0; i < 16; i++) w[i] = get(block + 4 * i);
    for (unsigned i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        const uint32_t one =
            s[7] + (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
            choice + ROUNDS[i] + w[i];
        const uint32_t two =
            (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) + majority;
        for (unsigned j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += one;
        s[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++) state[i] += s[i];
}

void guard_hash(guard_span text, uint8_t hash[GUARD_HASH_SIZE])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *p = (const uint8_t *)text.bytes;
    size_t left = text.length;
    for (; left >= BLOCK; left -= BLOCK, p += BLOCK) absorb(state, p);
    /* A one bit, zeros, and the length in bits: in this block if there is room, otherwise in
     * another. */
    uint8_t end[2 * BLOCK] = {0};
    const size_t ends = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    const uint64_t bits = (uint64_t)text.length * 8;
    if (left > 0) memcpy(end, p, left);
    end[left] = 0x80;
    put_word(end + ends - 8, (uint32_t)(bits >> 32));
    put_word(end + ends - 4, (uint32_t)bits);
    for (size_t at = 0; at < ends; at += BLOCK) absorb(state, end + at);
    for (unsigned i = 0; i < 8; i++) put_word(hash + 4 * i, state[i]);
}
