/* What the kernels of queries share: loads, and answers of a warp. */
#ifndef TAMIS_CUDA_WARP_H
#define TAMIS_CUDA_WARP_H

#include "source.h"

#define FULL 0xffffffffu
#define MOST_BLOCKS 0x7fffffffu

/* The first key of this warp, if each of its threads has `keys` of them. */
__device__ static uint64_t first_of_warp(unsigned keys)
{
    return ((uint64_t)blockIdx.x * blockDim.x + (threadIdx.x & ~31u)) * keys;
}

/* Writes the answers of 32 keys from key `at` on, of which there are n in all. The last word may
 * have fewer bytes. */
__device__ static void store_word(uint32_t *bits, uint64_t at, uint64_t n, uint32_t word)
{
    if (at >= n) return;
    if (n - at >= 32) {
        __stcs(bits + at / 32, word);
        return;
    }
    uint8_t *last = (uint8_t *)(bits + at / 32);
    for (unsigned i = 0; i < (n - at + 7) / 8; i++) last[i] = (uint8_t)(word >> 8 * i);
}

#endif
