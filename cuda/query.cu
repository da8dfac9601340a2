/* Queries. A device answers at the speed at which its memory delivers random lines, if enough of
 * them are requested at once and if one line is one request:
 *
 *   blocked  Each lane hashes its own key. Then, in four rounds, four lanes share a line: they get
 *            its number and the bits from the lane that owns the key, and load 16 bytes each. A
 *            warp so requests eight whole lines with one instruction, and one ballot has the
 *            answers for eight keys.
 *   fuse     Each of the 3 or 4 cells is in a line of its own, so each lane answers its own keys.
 *   ribbon   See ribbon.cu. */
#include "warp.h"

#define QUERY_BLOCK 128
/* The bounds make the compiler save registers, so that more warps wait for lines at a time. That
 * pays where the table is in the cache. Strings cannot do with 32 registers. */

template <int KEYS, typename Source>
__global__ void __launch_bounds__(KEYS == 2 ? QUERY_BLOCK : 512, KEYS == 2 ? 16 : 1)
    query_lines(const Source source, const uint64_t *__restrict__ cells, uint64_t lines,
                uint64_t n, uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31, part = lane & 3;
    const uint64_t first = first_of_warp(KEYS);
    if (first >= n) return;
    const ulonglong2 *table = (const ulonglong2 *)cells;
    uint32_t line[KEYS], answers = 0; /* word k of the answers is in lane k */
    uint64_t lo[KEYS];
    ulonglong2 got[KEYS][4];
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        const uint64_t i = first + 32 * k + lane;
        struct hash128 h = {0, 0};
        if (i < n) h = source.hash(source.get(i));
        line[k] = (uint32_t)line_of(h, lines);
        lo[k] = h.lo;
    }
#pragma unroll
    for (int k = 0; k < KEYS; k++)
#pragma unroll
        for (int r = 0; r < 4; r++)
            got[k][r] = __ldg(table + 4 * (uint64_t)__shfl_sync(FULL, line[k], r, 4) + part);
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        unsigned mine = 0;
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const uint32_t two = (uint32_t)(__shfl_sync(FULL, lo[k], r, 4) >> 12 * part);
            const bool has = (got[k][r].x >> (two & 63) & got[k][r].y >> (two >> 6 & 63) & 1) != 0;
            const unsigned votes = __ballot_sync(FULL, has);
            if (part == (unsigned)r) mine = votes;
        }
        const bool maybe = (mine >> (lane & ~3u) & 15) == 15 && first + 32 * k + lane < n;
        const unsigned word = __ballot_sync(FULL, maybe);
        if (lane == (unsigned)k) answers = word;
    }
    if (lane < KEYS) store_word(bits, first + 32 * lane, n, answers);
}

template <int KEYS, int D, typename Source>
__global__ void __launch_bounds__(512)
    query_fuse(const Source source, const __grid_constant__ struct table t, uint64_t n,
               uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp(KEYS);
    if (first >= n) return;
    struct hash128 h[KEYS];
    uint64_t cell[KEYS][D];
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        const uint64_t i = first + 32 * k + lane;
        h[k] = {0, 0};
        if (i < n) h[k] = source.hash(source.get(i));
        const uint64_t edge = fuse_edge(h[k], t.step), start = mulhi64(edge, t.starts);
#pragma unroll
        for (int j = 0; j < D; j++) cell[k][j] = fuse_cell(edge, start, t.log, j);
    }
#pragma unroll
    for (int k = 0; k < KEYS; k++)
#pragma unroll
        for (int j = 0; j < D; j++)
            cell[k][j] = fuse_read((const uint32_t *)t.cells, cell[k][j], t.bits);
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        uint64_t all = 0;
#pragma unroll
        for (int j = 0; j < D; j++) all ^= cell[k][j];
        const bool maybe = fuse_matches(all, h[k], t.bits) && first + 32 * k + lane < n;
        const unsigned word = __ballot_sync(FULL, maybe);
        if (lane == 0) store_word(bits, first + 32 * k, n, word);
    }
}

/* --- Starting --------------------------------------------------------------------------------- */

template <int KEYS, typename Source>
static void start_lines(const struct tamis_cuda *f, const Source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    const unsigned blocks = blocks_for(n, QUERY_BLOCK * KEYS, MOST_BLOCKS);
    query_lines<KEYS><<<blocks, QUERY_BLOCK, 0, stream>>>(source, f->table.cells, f->table.lines, n,
                                                         bits);
}

static void start_blocked(const struct tamis_cuda *f, const struct word_source &source, uint64_t n,
                          uint32_t *bits, cudaStream_t stream)
{
    start_lines<2>(f, source, n, bits, stream);
}

/* Other keys take so many registers that a thread has room for only one. */
template <typename Source>
static void start_blocked(const struct tamis_cuda *f, const Source &source, uint64_t n,
                          uint32_t *bits, cudaStream_t stream)
{
    start_lines<1>(f, source, n, bits, stream);
}

template <typename Source>
static void start_fuse(const struct tamis_cuda *f, const Source &source, uint64_t n,
                       uint32_t *bits, cudaStream_t stream)
{
    const unsigned block = 256, blocks = blocks_for(n, block * 2, MOST_BLOCKS);
    if (f->table.d == 3)
        query_fuse<2, 3><<<blocks, block, 0, stream>>>(source, f->table, n, bits);
    else
        query_fuse<2, 4><<<blocks, block, 0, stream>>>(source, f->table, n, bits);
}

tamis_status start_query(struct tamis_cuda *f, const struct keys *keys, uint8_t *bits,
                         cudaStream_t stream, tamis_error *why)
{
    const uint64_t n = keys->count;
    uint32_t *words = (uint32_t *)(void *)bits;
    if (n == 0) return TAMIS_OK;
    if (f->table.kind == TAMIS_RIBBON) {
        start_ribbon(f, keys, words, stream);
        return cuda_failed(f, cudaGetLastError(), "a query could not be started", why);
    }
    return with_source(f, keys, [&](auto source) {
        if (f->table.kind == TAMIS_BLOCKED)
            start_blocked(f, source, n, words, stream);
        else
            start_fuse(f, source, n, words, stream);
        return cuda_failed(f, cudaGetLastError(), "a query could not be started", why);
    });
}
