/* Limits: how many random lines the memory delivers, read just as the kernels read them, but
 * without keys, hashes and answers. Each is the best of several numbers of reads under way. */
#include "bench.h"

#include <algorithm>

#define LINES (UINT64_C(1) << 28)

/* A cheap random line for each number. */
__device__ static uint64_t random_line(uint64_t i, uint32_t lines)
{
    uint32_t x = (uint32_t)i * 0x9e3779b1u ^ (uint32_t)(i >> 32);
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    return (uint64_t)x * lines >> 32;
}

__device__ static ulonglong2 read16(const ulonglong2 *p)
{
    ulonglong2 v;
    asm volatile("ld.global.nc.L1::no_allocate.v2.u64 {%0, %1}, [%2];"
                 : "=l"(v.x), "=l"(v.y)
                 : "l"(p));
    return v;
}

template <int EACH>
__global__ void lines_of_four(const ulonglong2 *table, uint32_t lines, uint64_t *out)
{
    const uint64_t id = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, group = id / 4;
    ulonglong2 v[EACH];
    uint64_t sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        v[k] = read16(table + 4 * random_line(group * EACH + k, lines) + id % 4);
#pragma unroll
    for (int k = 0; k < EACH; k++) sum += v[k].x ^ v[k].y;
    if (sum == 0x123456789abcdef0) *out = sum; /* never, but the compiler does not know */
}

/* A warp reads 32 EACH keys, as many lines, which do not depend on the keys, and writes as many
 * bits. */
template <int EACH>
__global__ void lines_and_streams(const ulonglong2 *table, uint32_t lines,
                                  const unsigned long long *keys, uint32_t *bits)
{
    const uint64_t id = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t warp = id / 32, lane = id % 32;
    ulonglong2 v[4 * EACH];
    uint64_t sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) sum += __ldcs(keys + (warp * EACH + k) * 32 + lane);
#pragma unroll
    for (int k = 0; k < 4 * EACH; k++)
        v[k] = read16(table + id % 4 +
                      4 * random_line((warp * 4 * EACH + k) * 8 + lane / 4, lines));
#pragma unroll
    for (int k = 0; k < 4 * EACH; k++) sum += v[k].x ^ v[k].y;
    if (lane < EACH) __stcs(bits + warp * EACH + lane, (uint32_t)sum);
}

template <int EACH>
__global__ void lines_of_one(const uint32_t *table, uint32_t lines, uint64_t *out)
{
    const uint64_t id = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v[EACH], sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        v[k] = __ldg(table + 16 * random_line(id * EACH + k, lines) + (id & 15));
#pragma unroll
    for (int k = 0; k < EACH; k++) sum += v[k];
    if (sum == 0x12345678) *out = sum;
}

template <int EACH>
__global__ void pairs_of_eight(const uint64_t *table, uint32_t lines, uint64_t *out)
{
    const uint64_t id = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, group = id / 8;
    uint64_t v[2 * EACH], sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t *p = table + 8 * random_line(group * EACH + k, lines - 1) + id % 8;
        v[2 * k] = __ldg((const unsigned long long *)p);
        v[2 * k + 1] = __ldg((const unsigned long long *)p + 8);
    }
#pragma unroll
    for (int k = 0; k < 2 * EACH; k++) sum += v[k];
    if (sum == 0x123456789abcdef0) *out = sum;
}

template <int EACH> __global__ void atomics_of_eight(unsigned long long *table, uint32_t lines)
{
    const uint64_t id = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, group = id / 8;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        atomicOr(table + 8 * random_line(group * EACH + k, lines) + id % 8, 1ull << (id & 63));
}

/* Lines a second, if a group of `lanes` reads `each` of them. */
template <typename Kernel, typename... Arguments>
static double rate(unsigned lanes, unsigned each, Kernel kernel, Arguments... arguments)
{
    const unsigned blocks = (unsigned)(LINES / each * lanes / 256);
    const double s = seconds(3, [&] {
        kernel<<<blocks, 256>>>(arguments...);
        must(cudaGetLastError(), "a limit");
    });
    return (double)LINES / s;
}

double limit_lines(uint64_t bytes)
{
    array<ulonglong2> t(bytes / 16);
    array<uint64_t> out(1);
    const uint32_t lines = (uint32_t)(bytes / 64);
    must(cudaMemset(t.p, 0, bytes), "a limit");
    return std::max({rate(4, 2, lines_of_four<2>, t.p, lines, out.p),
                     rate(4, 4, lines_of_four<4>, t.p, lines, out.p),
                     rate(4, 8, lines_of_four<8>, t.p, lines, out.p)});
}

double limit_streamed(uint64_t bytes)
{
    array<ulonglong2> t(bytes / 16);
    array<unsigned long long> keys(LINES);
    array<uint32_t> bits(LINES / 32);
    const uint32_t lines = (uint32_t)(bytes / 64);
    must(cudaMemset(t.p, 0, bytes), "a limit");
    must(cudaMemset(keys.p, 0, LINES * 8), "a limit");
    return std::max({rate(1, 1, lines_and_streams<1>, t.p, lines, keys.p, bits.p),
                     rate(1, 2, lines_and_streams<2>, t.p, lines, keys.p, bits.p),
                     rate(1, 4, lines_and_streams<4>, t.p, lines, keys.p, bits.p)});
}

double limit_single(uint64_t bytes)
{
    array<uint32_t> t(bytes / 4);
    array<uint64_t> out(1);
    const uint32_t lines = (uint32_t)(bytes / 64);
    must(cudaMemset(t.p, 0, bytes), "a limit");
    return std::max({rate(1, 2, lines_of_one<2>, t.p, lines, out.p),
                     rate(1, 4, lines_of_one<4>, t.p, lines, out.p),
                     rate(1, 8, lines_of_one<8>, t.p, lines, out.p)});
}

double limit_pairs(uint64_t bytes)
{
    array<uint64_t> t(bytes / 8), out(1);
    const uint32_t lines = (uint32_t)(bytes / 64);
    must(cudaMemset(t.p, 0, bytes), "a limit");
    return std::max({rate(8, 1, pairs_of_eight<1>, t.p, lines, out.p),
                     rate(8, 2, pairs_of_eight<2>, t.p, lines, out.p),
                     rate(8, 4, pairs_of_eight<4>, t.p, lines, out.p),
                     rate(8, 8, pairs_of_eight<8>, t.p, lines, out.p)});
}

double limit_atomics(uint64_t bytes)
{
    array<unsigned long long> t(bytes / 8);
    const uint32_t lines = (uint32_t)(bytes / 64);
    must(cudaMemset(t.p, 0, bytes), "a limit");
    return std::max({rate(8, 1, atomics_of_eight<1>, t.p, lines),
                     rate(8, 4, atomics_of_eight<4>, t.p, lines),
                     rate(8, 8, atomics_of_eight<8>, t.p, lines)});
}
