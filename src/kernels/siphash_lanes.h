/* SipHash-2-4-128 of several keys at once, one in each lane of a vector. A kernel file includes
 * this file with LANES and TARGET (a function attribute) defined. It is plain C with the compilers'
 * vector types, so that one source serves all instruction sets.
 *
 * The lanes advance together, a block of 8 bytes at a time. A lane whose key has ended keeps its
 * state while the longer ones continue, so keys of similar length cost least. */

/* For example siphash_lanes_4: each includer has its own name. */
#define WITH_LANES(name, n) name##_##n
#define NAMED(name, n) WITH_LANES(name, n)
#define lanes NAMED(lanes, LANES)
#define siphash_group NAMED(siphash_group, LANES)
#define siphash_wipe NAMED(siphash_wipe, LANES)

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

#define ROTL(v, by) ((v) << (by) | (v) >> (64 - (by)))
#define ROUND                                                                                      \
    do {                                                                                           \
        v0 += v1, v1 = ROTL(v1, 13) ^ v0, v0 = ROTL(v0, 32);                                       \
        v2 += v3, v3 = ROTL(v3, 16) ^ v2;                                                          \
        v0 += v3, v3 = ROTL(v3, 21) ^ v0;                                                          \
        v2 += v1, v1 = ROTL(v1, 17) ^ v2, v2 = ROTL(v2, 32);                                       \
    } while (0)

/* Not inlined, so that all vectors with a part of the key that it keeps on the stack are in its own
 * frame, which siphash_wipe then overwrites. */
TARGET __attribute__((noinline)) static void siphash_group(const uint64_t key[2],
                                                           const tamis_bytes *keys, tamis_hash *out)
{
    const lanes none = {0};
    lanes v0 = none + (key[0] ^ UINT64_C(0x736f6d6570736575));
    lanes v1 = none + (key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee);
    lanes v2 = none + (key[0] ^ UINT64_C(0x6c7967656e657261));
    lanes v3 = none + (key[1] ^ UINT64_C(0x7465646279746573));
    lanes word, live;
    uint64_t last[LANES], words[LANES], lives[LANES];
    size_t blocks[LANES], most = 0, least = SIZE_MAX;
    for (unsigned i = 0; i < LANES; i++) {
        blocks[i] = keys[i].len / 8;
        last[i] = tamis__siphash_last(keys[i].p, keys[i].len);
        if (blocks[i] > most) most = blocks[i];
        if (blocks[i] < least) least = blocks[i];
    }
    for (size_t b = 0; b < least; b++) { /* every lane has a whole block */
        for (unsigned i = 0; i < LANES; i++)
            words[i] = tamis__get64((const uint8_t *)keys[i].p + 8 * b);
        memcpy(&word, words, sizeof word);
        v3 ^= word;
        ROUND;
        ROUND;
        v0 ^= word;
    }
    for (size_t b = least; b <= most; b++) {
        for (unsigned i = 0; i < LANES; i++) {
            words[i] = b < blocks[i] ? tamis__get64((const uint8_t *)keys[i].p + 8 * b) : last[i];
            lives[i] = b <= blocks[i] ? UINT64_MAX : 0;
        }
        memcpy(&word, words, sizeof word);
        memcpy(&live, lives, sizeof live);
        const lanes k0 = v0, k1 = v1, k2 = v2, k3 = v3;
        v3 ^= word;
        ROUND;
        ROUND;
        v0 ^= word;
        v0 = (v0 & live) | (k0 & ~live);
        v1 = (v1 & live) | (k1 & ~live);
        v2 = (v2 & live) | (k2 & ~live);
        v3 = (v3 & live) | (k3 & ~live);
    }
    v2 ^= 0xee;
    for (int i = 0; i < 4; i++) ROUND;
    const lanes lo = v0 ^ v1 ^ v2 ^ v3;
    v1 ^= 0xdd;
    for (int i = 0; i < 4; i++) ROUND;
    const lanes hi = v0 ^ v1 ^ v2 ^ v3;
    for (unsigned i = 0; i < LANES; i++) out[i] = (tamis_hash){lo[i], hi[i]};
}

/* Overwrites the frame of the last call, because a core dump would contain it. With gcc and clang
 * that frame takes less than 600 bytes. */
__attribute__((noinline)) static void siphash_wipe(void)
{
    uint8_t frame[1024];
    memset(frame, 0, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
}

TARGET static void NAMED(siphash_lanes, LANES)(const uint64_t key[2], const tamis_bytes *keys,
                                               size_t n, tamis_hash *out)
{
    size_t i = 0;
    for (; n - i >= LANES; i += LANES) siphash_group(key, keys + i, out + i);
    if (i > 0) siphash_wipe();
    for (; i < n; i++) out[i] = tamis__siphash(key, keys[i].p, keys[i].len);
}

#undef siphash_group
#undef siphash_wipe
#undef lanes
#undef NAMED
#undef WITH_LANES
#undef ROUND
#undef ROTL
