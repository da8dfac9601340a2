/* Queries. A device answers at the speed at which its memory delivers random lines, if enough of
 * them are requested at once and if one line is one request:
 *
 *   blocked  Each lane hashes its own key. Then, in four rounds, four lanes share a line: they get
 *            its number and the bits from the lane that owns the key, and load 16 bytes each. A
 *            warp so requests eight whole lines with one instruction, and one ballot has the
 *            answers for eight keys. One lane a line (four loads of 16 bytes each) reaches two
 *            thirds of the speed.
 *   fuse     Each of the 3 or 4 cells is in a line of its own, so each lane answers its own keys.
 *   ribbon   Eight lanes share a key, one column each. The few keys that a layer bumps go through
 *            the next layers four at a time. */
#include "source.h"

#define FULL 0xffffffffu

/* Bypasses the first-level cache, which random lines would only pass through. */
__device__ static ulonglong2 load_line(const ulonglong2 *p)
{
    ulonglong2 v;
    asm volatile("ld.global.nc.L1::no_allocate.v2.u64 {%0, %1}, [%2];"
                 : "=l"(v.x), "=l"(v.y)
                 : "l"(p));
    return v;
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

/* The first key of this warp, if each thread has KEYS of them. */
template <int KEYS> __device__ static uint64_t first_of_warp()
{
    return ((uint64_t)blockIdx.x * blockDim.x + (threadIdx.x & ~31u)) * KEYS;
}

template <int KEYS, bool CACHED, typename Source>
__global__ void __launch_bounds__(512)
    query_lines(const Source source, const uint64_t *__restrict__ cells, uint64_t lines,
                uint64_t n, uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31, part = lane & 3;
    const uint64_t first = first_of_warp<KEYS>();
    if (first >= n) return;
    const ulonglong2 *table = (const ulonglong2 *)cells;
    uint32_t line[KEYS];
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
        for (int r = 0; r < 4; r++) {
            const ulonglong2 *at = table + 4 * (uint64_t)__shfl_sync(FULL, line[k], r, 4) + part;
            got[k][r] = CACHED ? __ldg(at) : load_line(at);
        }
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
        const bool maybe =
            (mine >> (lane & ~3u) & 15) == 15 && first + 32 * k + lane < n;
        const unsigned word = __ballot_sync(FULL, maybe);
        if (lane == 0) store_word(bits, first + 32 * k, n, word);
    }
}

template <int KEYS, int D, typename Source>
__global__ void __launch_bounds__(512)
    query_fuse(const Source source, const __grid_constant__ struct table t, uint64_t n,
               uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp<KEYS>();
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

/* --- ribbon ----------------------------------------------------------------------------------- */

/* A key's window as its lane passes it to the eight lanes that read it. */
struct passed {
    uint64_t low, row;
    uint32_t packed; /* columns, where the last segment begins after the first, shift */
    uint32_t side;
};

__device__ static struct passed pass(const struct ribbon_window &w)
{
    return {w.low, w.row, w.columns | (uint32_t)(w.high - w.low) << 8 | w.shift << 16, w.side};
}

__device__ static struct passed receive(const struct passed &p, unsigned from)
{
    return {__shfl_sync(FULL, p.low, from), __shfl_sync(FULL, p.row, from),
            __shfl_sync(FULL, p.packed, from), __shfl_sync(FULL, p.side, from)};
}

/* Whether this lane's columns of the key agree: column c, whose words are given, c + 8, ... */
__device__ static bool columns_agree(const uint64_t *solution, const struct passed &p, unsigned c,
                                     uint64_t low, uint64_t high)
{
    const uint32_t columns = p.packed & 255, apart = p.packed >> 8 & 255, shift = p.packed >> 16;
    bool agree = c >= columns || ribbon_agrees(low, high, p.row, shift, p.side, c);
    for (c += 8; c < columns; c += 8)
        agree &= ribbon_agrees(table_word(solution + p.low + c),
                               table_word(solution + p.low + apart + c), p.row, shift, p.side, c);
    return agree;
}

/* The first layer, in which most keys are: eight rounds, of four keys each. Returns whether this
 * lane's key agrees. Keys that are elsewhere have no columns. */
__device__ static bool first_layer(const uint64_t *solution, const struct passed &mine)
{
    const unsigned lane = threadIdx.x & 31, c = lane & 7, group = lane & ~7u;
    uint64_t low[8], high[8];
    unsigned all = 0;
#pragma unroll
    for (unsigned r = 0; r < 8; r++) {
        const uint64_t at = __shfl_sync(FULL, mine.low, group + r);
        const uint32_t packed = __shfl_sync(FULL, mine.packed, group + r);
        low[r] = high[r] = 0;
        if (c >= (packed & 255)) continue;
        low[r] = table_word(solution + at + c);
        high[r] = table_word(solution + at + (packed >> 8 & 255) + c);
    }
#pragma unroll
    for (unsigned r = 0; r < 8; r++) {
        const struct passed p = receive(mine, group + r);
        const unsigned votes = __ballot_sync(FULL, columns_agree(solution, p, c, low[r], high[r]));
        if (c == r) all = votes >> group & 255;
    }
    return all == 255;
}

/* Any later layer, for the lanes in `todo`, four keys at a time. */
__device__ static bool later_layer(const uint64_t *solution, const struct passed &mine,
                                   unsigned todo)
{
    const unsigned lane = threadIdx.x & 31, c = lane & 7, group = lane >> 3;
    bool agrees = false;
    while (todo != 0) {
        unsigned rest = todo;
        for (unsigned g = 0; g < group; g++) rest &= rest - 1;
        const unsigned owner = rest != 0 ? __ffs((int)rest) - 1 : 32;
        __syncwarp();
        const struct passed p = receive(mine, owner & 31);
        uint64_t low = 0, high = 0;
        if (c < (p.packed & 255)) {
            low = table_word(solution + p.low + c);
            high = table_word(solution + p.low + (p.packed >> 8 & 255) + c);
        }
        const unsigned votes = __ballot_sync(FULL, columns_agree(solution, p, c, low, high));
#pragma unroll
        for (unsigned g = 0; g < 4; g++)
            if (__shfl_sync(FULL, owner, 8 * g) == lane) agrees = (votes >> 8 * g & 255) == 255;
        for (unsigned g = 0; g < 4; g++) todo &= todo - 1;
    }
    return agrees;
}

template <typename Source>
__global__ void __launch_bounds__(512)
    query_ribbon(const Source source, const __grid_constant__ struct table t, uint64_t n,
                 uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp<1>(), i = first + lane;
    if (first >= n) return;
    struct hash128 h = {0, 0};
    bool pending = i < n, maybe = false;
    if (pending) h = source.hash(source.get(i));
    for (uint32_t at = 0; at < t.layers && __any_sync(FULL, pending); at++) {
        const struct table_layer &l = t.layer[at];
        struct passed mine = {0, 0, 0, 0};
        bool here = false;
        if (pending) {
            const uint64_t start = ribbon_start(h, &l);
            here = !ribbon_bumps(&l, start);
            if (here) mine = pass(window_of(&l, h, start));
            else h = ribbon_next(h);
        }
        const unsigned todo = __ballot_sync(FULL, here);
        const bool agrees = at == 0 ? first_layer(l.solution, mine)
                                    : later_layer(l.solution, mine, todo);
        if (here) maybe = agrees;
        pending = pending && !here;
    }
    const unsigned word = __ballot_sync(FULL, maybe);
    if (lane == 0) store_word(bits, first, n, word);
}

/* --- Starting --------------------------------------------------------------------------------- */

#define MOST_BLOCKS 0x7fffffffu

template <int KEYS, bool CACHED, typename Source>
static void start_lines(const struct tamis_cuda *f, const Source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    const unsigned block = (unsigned)f->tuning.query_block;
    const unsigned blocks = blocks_for(n, (uint64_t)block * KEYS, MOST_BLOCKS);
    query_lines<KEYS, CACHED>
        <<<blocks, block, 0, stream>>>(source, f->table.cells, f->table.lines, n, bits);
}

/* Only keys of 8 bytes are so quick to hash that the number of keys of a thread matters. */
static void start_tuned(const struct tamis_cuda *f, const struct word_source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    switch (f->tuning.query_keys) {
    case 1: start_lines<1, false>(f, source, n, bits, stream); break;
    case 4: start_lines<4, false>(f, source, n, bits, stream); break;
    case 11: start_lines<1, true>(f, source, n, bits, stream); break;
    case 12: start_lines<2, true>(f, source, n, bits, stream); break;
    default: start_lines<2, false>(f, source, n, bits, stream); break;
    }
}

template <typename Source>
static void start_tuned(const struct tamis_cuda *f, const Source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    start_lines<1, false>(f, source, n, bits, stream);
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
    return with_source(f, keys, [&](auto source) {
        if (f->table.kind == TAMIS_BLOCKED)
            start_tuned(f, source, n, words, stream);
        else if (f->table.kind == TAMIS_FUSE)
            start_fuse(f, source, n, words, stream);
        else
            query_ribbon<<<blocks_for(n, 256, MOST_BLOCKS), 256, 0, stream>>>(source, f->table, n,
                                                                              words);
        return cuda_failed(f, cudaGetLastError(), "a query could not be started", why);
    });
}
