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

/* How keys are loaded and answers are stored, which `bench-cuda --sweep` varies for keys of 8 bytes. */
enum { KEYS_STREAM, KEYS_EVICT, KEYS_PREFETCH };

template <int HOW> __device__ static uint64_t load_key(const unsigned long long *p)
{
    unsigned long long v;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (HOW == KEYS_EVICT) {
        uint64_t policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.u64 %0, [%1], %2;"
            : "=l"(v)
            : "l"(p), "l"(policy));
        return v;
    }
    if (HOW == KEYS_PREFETCH) {
        asm("ld.global.nc.L1::no_allocate.L2::256B.u64 %0, [%1];" : "=l"(v) : "l"(p));
        return v;
    }
#endif
    v = __ldcs(p);
    return v;
}

template <int HOW> struct hinted_source {
    struct word_source in;
    typedef uint64_t entry;
    __device__ entry get(uint64_t i) const { return load_key<HOW>(in.words + i); }
    __device__ struct hash128 hash(entry e) const { return in.hash(e); }
};

/* Where the keys of 8 bytes begin; NULL for all others. */
template <typename Source> __device__ static const void *first_word(const Source &)
{
    return NULL;
}
__device__ static const void *first_word(const struct word_source &s)
{
    return s.words;
}
template <int HOW> __device__ static const void *first_word(const hinted_source<HOW> &s)
{
    return s.in.words;
}

/* Asks for keys that a later block needs, many at a time, so that they are read from few rows of
 * the memory. */
__device__ static void ask_ahead(const void *data, uint64_t bytes, uint64_t at, uint32_t chunk,
                                 uint64_t ahead)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (data == NULL || chunk == 0 || at % chunk != 0 || at + ahead + chunk > bytes) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((const char *)data + at + ahead),
                 "r"(chunk));
#endif
}

/* Each lane has KEYS keys in each of ROUNDS rounds; all keys are loaded before the first. */
template <int KEYS, int ROUNDS, bool STREAM, typename Source>
__global__ void __launch_bounds__(512)
    query_lines(const Source source, const uint64_t *__restrict__ cells, uint64_t lines,
                uint64_t n, uint32_t *__restrict__ bits, uint32_t chunk, uint64_t ahead)
{
    const unsigned lane = threadIdx.x & 31, part = lane & 3;
    const uint64_t first = first_of_warp(KEYS * ROUNDS);
    if (first >= n) return;
    if (lane == 0) ask_ahead(first_word(source), 8 * n, 8 * first, chunk, ahead);
    const ulonglong2 *table = (const ulonglong2 *)cells;
    typename Source::entry entry[KEYS * ROUNDS];
    uint32_t answers = 0; /* word k of the answers is in lane k */
#pragma unroll
    for (int k = 0; k < KEYS * ROUNDS; k++) {
        entry[k] = {};
        if (first + 32 * k + lane < n) entry[k] = source.get(first + 32 * k + lane);
    }
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t line[KEYS];
        uint64_t lo[KEYS];
        ulonglong2 got[KEYS][4];
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            const struct hash128 h = source.hash(entry[round * KEYS + k]);
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
                const bool has =
                    (got[k][r].x >> (two & 63) & got[k][r].y >> (two >> 6 & 63) & 1) != 0;
                const unsigned votes = __ballot_sync(FULL, has);
                if (part == (unsigned)r) mine = votes;
            }
            const unsigned group = round * KEYS + k;
            const bool maybe =
                (mine >> (lane & ~3u) & 15) == 15 && first + 32 * group + lane < n;
            const unsigned word = __ballot_sync(FULL, maybe);
            if (lane == group) answers = word;
        }
    }
    if (lane < KEYS * ROUNDS) store_word<STREAM>(bits, first + 32 * lane, n, answers);
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

template <int KEYS, int ROUNDS, bool STREAM, typename Source>
static void start_lines(const struct tamis_cuda *f, const Source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    const unsigned block = (unsigned)f->tuning.query_block;
    const unsigned blocks = blocks_for(n, (uint64_t)block * KEYS * ROUNDS, MOST_BLOCKS);
    query_lines<KEYS, ROUNDS, STREAM><<<blocks, block, 0, stream>>>(
        source, f->table.cells, f->table.lines, n, bits, (uint32_t)f->tuning.chunk_kib << 10,
        (uint64_t)f->tuning.ahead_kib << 10);
}

/* Only keys of 8 bytes are so quick to hash that the number of keys of a thread matters. */
static void start_tuned(const struct tamis_cuda *f, const struct word_source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    const hinted_source<KEYS_EVICT> evict = {source};
    const hinted_source<KEYS_PREFETCH> prefetch = {source};
    switch (f->tuning.query_form) {
    case 1: start_lines<2, 1, false>(f, source, n, bits, stream); break;
    case 2: start_lines<2, 1, true>(f, evict, n, bits, stream); break;
    case 3: start_lines<2, 1, true>(f, prefetch, n, bits, stream); break;
    case 4: start_lines<2, 2, true>(f, source, n, bits, stream); break;
    case 5: start_lines<2, 4, true>(f, source, n, bits, stream); break;
    case 6: start_lines<2, 4, false>(f, evict, n, bits, stream); break;
    case 7: start_lines<1, 8, false>(f, evict, n, bits, stream); break;
    default: start_lines<2, 1, true>(f, source, n, bits, stream); break;
    }
}

template <typename Source>
static void start_tuned(const struct tamis_cuda *f, const Source &source, uint64_t n,
                        uint32_t *bits, cudaStream_t stream)
{
    start_lines<1, 1, true>(f, source, n, bits, stream);
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
            start_tuned(f, source, n, words, stream);
        else
            start_fuse(f, source, n, words, stream);
        return cuda_failed(f, cudaGetLastError(), "a query could not be started", why);
    });
}
